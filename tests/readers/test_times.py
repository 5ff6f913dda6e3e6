"""A rater's meetings with an item are in the order of their instants, however these are told."""

from datetime import date

import numpy as np
import pandas as pd
import pyarrow as pa
import pytest

from agreement_pipeline.ratings import TEXT, arrow_to_pandas, times_as_seconds
from agreement_pipeline.readers import Rules, read

UTC = ["2026-10-25T00:30Z", "2026-10-25T01:15Z"]
BERLIN = [str(each) for each in pd.to_datetime(UTC).tz_convert("Europe/Berlin")]
TIMES = {
    "the end of summer time": (BERLIN, "first"),
    "two zones": (["2026-10-31 23:45:00+00:00", "2026-11-01 00:30:00+01:00"], "second"),
    "days of two zones": (["2026-10-31T23:45:00-0500", "2026-11-01T00:30:00 +01"], "second"),
    "minutes": (["2026-10-25T01:30Z", "2026-10-25T02:15+01:00"], "second"),
    "a fraction": (["2026-10-25T02:15:00Z", "2026-10-25T02:15:00.5Z"], "first"),
    "nanoseconds": ([f"2026-10-25 02:15:00.12345678{n}+01:00" for n in (9, 1)], "second"),
    "one instant": (["2026-10-25T01:15:00Z", "2026-10-25T00:15:00-01:00"], "first"),
    "no zone": (["2026-10-25T02:30:00", "2026-10-25 02:15:00"], "second"),
    "a zone beside none": (["2026-10-25T02:30:00+02:00", "2026-10-25T02:15:00"], "second"),
    "no time": (["2026-10-25T24:30:00+02:00", "2026-10-25T24:15:00+01:00"], "second"),
}
TOLD = list(TIMES)[:7]
"""Times that all tell their instants. One time that does not would change the order of them all."""
RULES = Rules(replicate_of="of")


def met_twice(times, name=""):
    """Items that two raters met twice, at these times."""
    return pd.DataFrame(
        {
            "item": [f"{name} i", f"{name} j"] * 2,
            "of": [None, f"{name} i"] * 2,
            "rater": ["a", "a", "b", "b"],
            "label": ["first", "second"] * 2,
            "timestamp": pd.Series([*times, *times], dtype=object),
        }
    )


def first_label(source):
    return read(source, rules=RULES).first_ratings(["label"])["label"].to_pylist()


@pytest.mark.parametrize(("times", "label"), TIMES.values(), ids=TIMES)
@pytest.mark.parametrize("form", ["frame", "csv"])
def test_the_earlier_instant_is_the_first_meeting(form, times, label, tmp_path):
    frame, path = met_twice(times), tmp_path / "r.csv"
    frame.to_csv(path, index=False)
    assert first_label(frame if form == "frame" else path) == [label] * 2


@pytest.mark.slow
@pytest.mark.parametrize("names", [TOLD, *([name] for name in TIMES if name not in TOLD)], ids=str)
def test_the_earlier_instant_is_the_first_meeting_in_spark(spark, names):
    frame = pd.concat([met_twice(TIMES[name][0], name) for name in names])
    first = read(frame, rules=RULES, engine="spark").first_ratings(["item", "label"]).to_pylist()
    assert len(first) == 2 * len(names)
    assert {each["item"]: each["label"] for each in first} == {
        f"{name} i": TIMES[name][1] for name in names
    }


@pytest.mark.parametrize("zone", [None, "Europe/Berlin"])
def test_times_of_a_frame_are_in_order_too(zone):
    times = pd.to_datetime(UTC).tz_convert(zone)
    frame = met_twice(UTC).assign(timestamp=[*times, *times])
    assert first_label(frame) == ["first"] * 2
    assert first_label(frame.iloc[::-1]) == ["first"] * 2


def test_the_order_of_times_changes_no_time():
    (told,) = {
        *read(met_twice(BERLIN), rules=RULES).first_ratings(["timestamp"])["timestamp"].to_pylist()
    }
    assert told == BERLIN[0]


@pytest.mark.parametrize("year", ["0000", "0001", "9999"])
def test_a_year_far_away_is_a_time_as_others_are(year):
    times = pd.Series([f"{year}-12-31T00:00:00Z", "1970-01-01T00:00:01.5Z", None], dtype=TEXT)
    days = (np.datetime64(f"{year}-12-31") - np.datetime64("1970-01-01")).astype(int)
    # Before pandas 3, such a time is not known.
    far = np.nan if pd.__version__.startswith("2.") else days * 86_400
    assert times_as_seconds(times).tolist() == pytest.approx([far, 1.5, np.nan], nan_ok=True)


@pytest.mark.parametrize(
    "kind", [pa.float64(), pa.int64(), pa.date32(), pa.timestamp("us"), pa.string(), pa.null()]
)
def test_times_that_are_all_missing_are_not_known_whatever_their_kind(kind):
    """The replicates of a round may have none, though other ratings have."""
    for n in (0, 2):
        times = arrow_to_pandas(pa.chunked_array([pa.nulls(n, kind)]))
        assert np.isnan(times_as_seconds(times)).tolist() == [True] * n


def test_days_of_arrow_are_times():
    days = arrow_to_pandas(pa.chunked_array([pa.array([date(1970, 1, 3), None])]))
    assert times_as_seconds(days).tolist() == pytest.approx([2 * 86_400, np.nan], nan_ok=True)
