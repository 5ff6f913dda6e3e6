"""Ratings that an engine read, brought into memory, are those that the memory reads."""

import pandas as pd
import pytest

from agreement_pipeline import readers
from agreement_pipeline.engines import duckdb, gathered, read
from agreement_pipeline.engines.session import Unreadable
from agreement_pipeline.ratings import Scale
from agreement_pipeline.readers import Columns
from agreement_pipeline.store.tables import table_of
from tests.engines.sources import MADE, PLAIN, SHARED, Made, met_again, ratings_of, source_of

TIMES = [f"2026-09-0{1 + at % 9}T12:00:00Z" if at % 5 else None for at in range(len(PLAIN))]
ALSO = {
    "times": Made(PLAIN.assign(timestamp=TIMES)),
    "times in CSV": Made(PLAIN.assign(timestamp=TIMES), "csv"),
    "texts, clusters and gold in JSON Lines": Made(
        PLAIN.assign(
            text="said of " + PLAIN["item"],
            cluster=PLAIN["item"].str[:3],
            known=PLAIN["item"] < "i010",
        ),
        "jsonl",
        {"columns": Columns(gold="known")},
    ),
    "numbers of a scale": Made(
        PLAIN.assign(label=PLAIN["label"].map({"no": 1.5, "maybe": -2.0, "yes": 4.0})),
        reading={"scale": Scale((1.5, -2.0, 4.0), "interval")},
    ),
    "rounds with texts": Made(
        met_again(PLAIN, ("no", "yes")).assign(round=lambda frame: frame["item"].str[2]),
        "csv",
        {"round_name": "3"},
    ),
}
EVERY = {**MADE, **ALSO}


@pytest.fixture(scope="module", params=[*SHARED, *EVERY])
def source(request, tmp_path_factory):
    """A file, and how it is read."""
    return source_of(request, tmp_path_factory, EVERY)


@pytest.mark.parametrize("engine", ["duckdb", pytest.param("spark", marks=pytest.mark.slow)])
def test_they_are_stored_as_the_same_bytes(request, source, engine):
    path, reading = source
    if engine == "spark":
        request.getfixturevalue("spark")
        if path.suffix == ".jsonl":
            pytest.skip("Spark reads no JSON Lines here")
    found, expected = gathered(read(path, engine=engine, **reading)), readers.read(path, **reading)

    pd.testing.assert_frame_equal(found.table, expected.table)
    pd.testing.assert_frame_equal(found.contents, expected.contents)
    assert (found.scale, found.classifiers) == (expected.scale, expected.classifiers)
    assert (found.origin, found.digest) == (expected.origin, expected.digest)
    assert bytes(table_of(found)) == bytes(table_of(expected))


def test_items_that_go_on_in_the_next_batch_are_one(tmp_path, monkeypatch):
    monkeypatch.setattr(duckdb, "BATCH", 2048)
    path = Made(ratings_of(items=3000)).written(tmp_path)
    found, expected = gathered(read(path, engine="duckdb")), readers.read(path)
    assert len(found.table) > 4 * duckdb.BATCH
    pd.testing.assert_frame_equal(found.table, expected.table)


@pytest.mark.parametrize("column", ["timestamp", "text"])
def test_what_memory_would_not_keep_as_text_is_refused(tmp_path, column):
    frame = PLAIN.assign(**{column: PLAIN["item"].str[1:].astype(int)})
    path = Made(frame).written(tmp_path)
    with pytest.raises(Unreadable, match=f"{column}: found values that are no text; expected text"):
        gathered(read(path, engine="duckdb"))
