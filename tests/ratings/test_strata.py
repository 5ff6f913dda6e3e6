"""The strata of items: what is refused, what the digest binds, and the items of one stratum."""

import pandas as pd
import pytest

from agreement_pipeline.errors import RatingsError
from agreement_pipeline.ratings import Ratings, Scale
from agreement_pipeline.store import Store
from tests.ratings.test_digest import COLUMNS, FRAME, NAMES, slow_digest

SCALE = Scale(("no", "yes"))
ROWS = [
    ("i1", "ana", "yes", "de"),
    ("i1", "ben", "no", "de"),
    ("i2", "ana", "no", "en"),
    ("i2", "ben", "no", "en"),
    ("i3", "model", "no", "fr"),
    ("i3", "ana", "no", "fr"),
]


def frame_of(rows=ROWS, column="stratum:language"):
    return pd.DataFrame(rows, columns=["item", "rater", "label", column])


def ratings_of(frame=None, **more):
    return Ratings.from_frame(frame_of() if frame is None else frame, SCALE, **more)


def changed(row, value):
    return frame_of([(*each[:3], value) if at == row else each for at, each in enumerate(ROWS)])


@pytest.mark.parametrize(
    ("frame", "words"),
    [
        (
            changed(1, "en"),
            r"ratings: rows \[1, 2\], column 'language': found item 'i1' in strata \['de', 'en'\]; "
            "expected one of each item",
        ),
        (changed(4, " "), "row 5, column 'language': found no stratum; expected one for every"),
        (changed(4, None), "row 5, column 'language': found no stratum"),
        (changed(5, "ＦＲ"), "found strata .* which print alike"),
        (
            frame_of([(f"i{n}", "ana", "no", f"l{n}") for n in range(201)]),
            "column 'language': found 201 strata; expected 200 at most",
        ),
    ],
)
def test_an_item_has_exactly_one_stratum_of_each_column(frame, words):
    with pytest.raises(RatingsError, match=words):
        ratings_of(frame)


def test_strata_are_those_of_rated_items_that_are_not_gold():
    ratings = ratings_of(frame_of().assign(gold=["yes"] * 2 + ["no"] * 4))
    assert ratings.strata == {"language": ("en", "fr")}
    assert ratings_of().strata == {"language": ("de", "en", "fr")}
    assert ratings_of(frame_of().drop(columns="stratum:language")).strata == {}


def test_some_strata_are_a_round_of_their_own():
    part = ratings_of(classifiers=("model",)).select_strata("language", ("de", "en"))
    alone = ratings_of(frame_of(ROWS[:4]))
    assert part.digest == alone.digest
    assert (part.raters, part.classifiers) == (("ana", "ben"), ())


def test_the_digest_binds_the_stratum_of_each_item_and_the_name_of_its_column():
    names = {"10": "x", "9": "y", "i1": "x", "é,\n": "x"}
    frame = FRAME.assign(**{"stratum:source": FRAME["item"].map(names)})
    tables = (
        FRAME[COLUMNS],
        frame,
        frame.assign(**{"stratum:source": "x"}),
        frame.rename(columns={"stratum:source": "stratum:language"}),
        frame.assign(**{"stratum:language": "x"}),
    )
    found = [Ratings.from_frame(each, NAMES, classifiers=("model",)).digest for each in tables]
    assert len(set(found)) == len(tables)
    assert found[0] == slow_digest(FRAME, NAMES, ("model",))


def test_a_store_keeps_strata(tmp_path):
    (tmp_path / "export.csv").write_text("as delivered")
    store, ratings = Store(tmp_path / "store"), ratings_of(classifiers=("model",))
    store.ingest("w1", ratings, tmp_path / "export.csv")
    kept = store.ratings("w1")
    assert (kept.strata, kept.digest) == (ratings.strata, ratings.digest)
