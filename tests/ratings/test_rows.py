"""Ratings as rows, from what they answer: all ratings, and what is known of items."""

import pandas as pd
import pyarrow as pa
import pytest

from agreement_pipeline import Ratings, Scale
from agreement_pipeline.ratings import TEXT, RatingsRows, RowQueue
from agreement_pipeline.store import Store

YES = Scale(("no", "yes"))
ROWS = [
    ("b", "ana", "yes", 1, False, "text of b"),
    ("b", "gpt", "no", 1, False, "text of b"),
    ("b", "ana", "no", 2, True, "text of b"),
    ("a", "ben", "no", 1, True, None),
    ("d", "ana", "no", 1, False, "text of d"),
    ("c", None, None, 1, False, "nobody rated c"),
]
COLUMNS = ["item", "rater", "label", "occurrence", "earlier", "text"]


def known(**more):
    frame = pd.DataFrame(ROWS, columns=COLUMNS).assign(gold=[False] * 4 + [True, False])
    return Ratings.from_frame(frame.assign(**more), YES, classifiers=("gpt",))


def whole(rows):
    return pa.Table.from_batches(rows.to_batches(), rows.schema)


@pytest.mark.parametrize("kind", [object, TEXT, "category"])
def test_each_rating_stands_beside_what_is_known_of_its_item(kind):
    ratings = known()
    texts = pd.Series([row[-1] for row in ROWS]).astype(TEXT).astype(kind)
    (batch,) = known(text=texts).iterate_ratings(["at", "item", "text", "rater", "gold"])
    assert pa.Table.from_batches([batch]).to_pydict() == {
        "at": [0, 1, 1, 1, 2],
        "item": ["a", "b", "b", "b", "d"],
        "text": [None, "text of b", "text of b", "text of b", "text of d"],
        "rater": ["ben", "ana", "ana", "gpt", "ana"],
        "gold": [False, False, False, False, True],
    }
    assert ratings.rated_items().to_pylist() == ["a", "b", "d"]
    assert ratings.rated_items(items={"d", "c", "a"}).to_pylist() == ["a", "d"]
    assert ratings.without_gold.without_earlier.rated_items().to_pylist() == ["b"]


def test_items_without_a_rating_come_last():
    rows = RatingsRows(known())
    found = whole(rows).to_pylist()
    assert len(rows) == len(found) == 6
    assert [(row["item"], row["kind"]) for row in found[:4:3]] == [
        ("a", "panel"),
        ("b", "classifier"),
    ]
    unknown = dict.fromkeys(("rater", "kind", "label", "occurrence", "earlier"))
    assert found[-1] == {"item": "c", **unknown, "text": "nobody rated c", "gold": False}


def test_small_parts_give_the_same_rows(monkeypatch):
    frame = pd.concat([pd.DataFrame(ROWS, columns=COLUMNS)] * 1000)
    number = [f"{at // len(ROWS):04}" for at in range(len(frame))]
    ratings = Ratings.from_frame(frame.assign(item=number + frame["item"]), YES)
    sizes = [len(batch) for batch in RatingsRows(ratings).to_batches()]
    assert (sum(sizes), sizes[0], max(sizes)) == (6000, 64, 2048)
    rows = whole(RatingsRows(ratings))
    monkeypatch.setattr("agreement_pipeline.ratings.arrays.FIRST_PART_ROWS", 100_000)
    assert [len(batch) for batch in RatingsRows(ratings).to_batches()] == [5000, 1000]
    assert whole(RatingsRows(ratings)).equals(rows)


@pytest.mark.parametrize("most", [1, 20, 10**6])
def test_texts_are_the_same_on_disk_and_in_memory(most, monkeypatch):
    """They are read in the order of the rows, and asked for in the order of the items."""
    monkeypatch.setattr("agreement_pipeline.ratings.cells.PART_BYTES", most)
    ratings = known(text=["", "", "", "ä", None, "nobody rated c"])
    told = {"a": "ä", "b": "", "c": "nobody rated c", "d": None}
    found = ratings.items(["text"])
    assert dict(zip(*found.to_pydict().values(), strict=True)) == told
    assert ratings.items(["text"], names=["d", "c"])["text"].to_pylist() == [told["c"], None]
    assert [row["text"] for row in whole(RatingsRows(ratings)).to_pylist()] == [
        *("ä", "", "", "", None),
        told["c"],
    ]
    without = ratings.without_gold.items(["text"])
    assert without["item"].to_pylist() == ["a", "b", "c"]
    monkeypatch.undo()
    assert ratings.digest == known(text=["", "", "", "ä", None, "nobody rated c"]).digest


def test_items_without_any_text_may_have_a_column_of_texts():
    ratings = known(text=pd.Series([None] * 6, dtype=TEXT))
    assert ratings.items(["text"])["text"].to_pylist() == [None] * 4
    assert ratings.items(["text"], names=())["text"].type == pa.string()


@pytest.mark.parametrize("sizes", [(1, 1, 1, 9), (3, 9), (6,), (4, 4)])
def test_rows_are_taken_in_turn(sizes):
    table = pa.table({"n": range(6)})
    rows = RowQueue(pa.concat_tables([table.slice(0, 2), table.slice(2, 1), table.slice(3)]))
    parts = [rows.take_next(size) for size in sizes]
    assert pa.concat_tables(parts).equals(table)
    assert [len(part) for part in parts[:-1]] == list(sizes[:-1])
    assert not len(rows.take_next(1))


def test_texts_of_items_that_are_numbers_are_read_back_as_they_are_digested(tmp_path):
    texts = pd.DataFrame({"objects": ["a", 1.0, None], "numbers": [2.0, None, 0.5]})
    (original := tmp_path / "export.csv").write_bytes(b"as delivered")
    store = Store(tmp_path / "store")
    for name, said in texts.items():
        frame = pd.DataFrame({"item": ["a", "b", "c"], "rater": "ana", "label": "no", "text": said})
        ratings = Ratings.from_frame(frame, YES)
        found = store.ratings_of(store.ingest(str(name), ratings, original))
        assert found.items(["text"]).equals(ratings.items(["text"]))
    assert found.items(["text"])["text"].to_pylist() == ["2", None, "0.5"]
