"""Texts have one dtype, whichever pandas is installed."""

import re
from pathlib import Path

import pandas as pd
import pyarrow as pa
import pytest

import agreement_pipeline
from agreement_pipeline import Ratings, Scale, read_ratings
from agreement_pipeline.ratings import TEXT, RatingsRows, arrow_to_pandas, parquet_bytes

PACKAGE = Path(agreement_pipeline.__file__).parent
KNOWN = pd.DataFrame(
    {
        "item": ["i1", "i1", "i2"],
        "rater": ["ana", "ben", "ana"],
        "label": ["yes", "no", "yes"],
        "drawn": ["0 4", None, None],
        "timestamp": ["2026-11-01", None, "2026-11-02"],
        "text": ["a", "a", None],
        "stratum:language": ["de", "de", "en"],
    }
)


@pytest.mark.parametrize("kind", [pa.string(), pa.large_string()])
def test_texts_of_arrow_keep_what_is_missing(kind):
    given = pa.array(["a", None, "nan"], kind)
    for found in (
        arrow_to_pandas(pa.chunked_array([given])),
        arrow_to_pandas(pa.table({"t": given}))["t"],
    ):
        assert found.dtype == TEXT
        assert found.isna().tolist() == [False, True, False]


@pytest.mark.parametrize("name", ["item", "rater", "label"])
def test_times_in_a_frame_are_texts_as_where_it_is_read(name):
    times = pd.to_datetime(["2026-01-01 10:30", "2026-01-02 00:00"])
    said = {"item": ["a", "b", "a", "b"], "rater": ["x", "x", "y", "y"], "label": [*"pqpp"]}
    said[name] = [times[at] for at in ([0, 0, 1, 1] if name == "rater" else [0, 1, 0, 1])]
    frame = pd.DataFrame(said)
    texts = ("2026-01-01 10:30:00", "2026-01-02 00:00:00")
    found = Ratings.from_frame(frame, Scale(texts if name == "label" else ("p", "q")))
    assert set(found.to_pandas()[name]) == {*texts}
    assert found.digest == read_ratings(frame, scale=found.scale).digest


@pytest.mark.parametrize("kind", [object, TEXT])
def test_ratings_have_the_same_digest_and_bytes_from_texts_and_from_python_objects(kind):
    given, again = (
        Ratings.from_frame(frame, Scale(("no", "yes"))) for frame in (KNOWN, KNOWN.astype(kind))
    )
    assert given.digest == again.digest
    assert parquet_bytes(RatingsRows(given)) == parquet_bytes(RatingsRows(again))


def test_no_dtype_has_a_name_that_pandas_2_reads_as_another_one():
    by_name = re.compile(r"""(?:dtype=|astype\()['"]?str\b""")
    files = sorted(PACKAGE.rglob("*.py"))
    assert [path for path in files if by_name.search(path.read_text(encoding="utf-8"))] == []
