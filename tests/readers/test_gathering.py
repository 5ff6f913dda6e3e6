"""A table that grows row by row is the table of all its rows."""

import numpy as np
import pandas as pd
import pytest

from agreement_pipeline.errors import RatingsError
from agreement_pipeline.readers import gathering
from agreement_pipeline.readers.gathering import Growing, plain
from agreement_pipeline.readers.json_stream import json_objects
from agreement_pipeline.readers.tools import latest

ROWS = [
    {
        "name": f"i{n}",
        "kind": None if n % 5 == 0 else "ab"[n % 2],
        "few": "x",
        "seconds": None if n % 3 else n / 2,
        "nothing": None,
    }
    for n in range(100)
]


def grown(rows, **columns):
    with Growing(rows[0], **columns) as table:
        for row in rows:
            table.append(tuple(row.values()))
        return table.frame()


@pytest.mark.parametrize("at_once", [1, 7, 100, 1000])
def test_it_does_not_matter_how_many_rows_are_kept_at_once(monkeypatch, at_once):
    monkeypatch.setattr(gathering, "AT_ONCE", at_once)
    frame = grown(ROWS, texts=["name", "kind", "few", "nothing"], unlike=["name"])
    assert frame["name"].tolist() == [row["name"] for row in ROWS]
    assert frame["kind"].isna().tolist() == [row["kind"] is None for row in ROWS]
    assert frame["kind"].dropna().tolist() == [row["kind"] for row in ROWS if row["kind"]]
    assert frame["few"].tolist() == ["x"] * 100
    assert frame["seconds"].tolist() == [row["seconds"] for row in ROWS]
    assert frame["nothing"].isna().all()
    sizes = [len(frame[name].cat.categories) for name in ("name", "kind", "few", "nothing")]
    assert sizes == [100, 2, 1, 0]


@pytest.mark.parametrize("at_once", [1, 3, 1000])
def test_a_text_that_comes_again_is_kept_once(monkeypatch, at_once):
    monkeypatch.setattr(gathering, "AT_ONCE", at_once)
    said = ["b", "", "é", "b", "a", None, "é", "😀", "a"]
    (column,) = grown([{"text": each} for each in said], texts=["text"]).items()
    assert column[1].cat.categories.tolist() == ["b", "", "é", "a", "😀"]
    assert [None if pd.isna(each) else each for each in column[1]] == said


def test_many_texts_keep_their_order(monkeypatch):
    monkeypatch.setattr(gathering, "AT_ONCE", 16)
    said = [f"text {n * 7919 % 500}" for n in range(2000)]
    column = grown([{"text": each} for each in said], texts=["text"])["text"]
    assert column.cat.categories.tolist() == list(dict.fromkeys(said))
    assert column.tolist() == said


def test_times_come_back_as_they_were_written():
    said = [
        "2026-09-01T08:00:00.000001Z",
        None,
        "0001-01-01T00:00:00.000000",
        "9999-12-31T23:59:59.999999Z",
    ]
    frame = grown([{"at": each} for each in said], times=["at"])
    assert frame["at"].dtype == "datetime64[us]"
    assert [None if pd.isna(each) else each for each in plain(frame)["at"]] == said


def test_a_table_without_rows_has_its_columns():
    with Growing(["a", "b", "c"], texts=["b"], times=["c"]) as table:
        assert list(plain(table.frame())) == ["a", "b", "c"]


def test_the_last_submission_is_that_of_a_slow_loop():
    rng = np.random.default_rng(1)
    times = [None, "2026-09-01", "2026-09-02", "2026-09-03"]
    frame = pd.DataFrame(
        {
            "item": rng.choice(["i", "j", "k"], 60),
            "rater": rng.choice(["ana", "ben"], 60),
            "created": rng.choice(np.array(times, dtype=object), 60),
            "updated": rng.choice(np.array(times, dtype=object), 60),
        }
    )
    best = {}
    for at, row in enumerate(frame.itertuples()):
        time = row.updated if isinstance(row.updated, str) else row.created
        key, found = (row.item, row.rater), (time if isinstance(time, str) else "", at)
        best[key] = max(best.get(key, found), found)
    expected = [at in {place for _, place in best.values()} for at in range(60)]
    for name in ("created", "updated"):
        frame[name] = frame[name].astype("datetime64[us]")
    assert latest(frame, ["item", "rater"]).tolist() == expected


def test_half_a_character_is_refused_and_shown():
    with Growing(["a"], texts=["a"]) as table:
        table.append(("to \ud800day",))
        with pytest.raises(RatingsError, match=r"half a character \(\\ud800\) in 'to \?day'"):
            table.frame()


def test_half_a_character_in_a_json_export_names_the_record(tmp_path):
    path = tmp_path / "export.json"
    path.write_text(r'[{"a": "\ud83d\ude00"}, {"a": ["to \uD800day"]}]')
    with pytest.raises(RatingsError, match=r"^export\.json: record 2: found half a character"):
        list(json_objects(path))
