"""A time with a day that no calendar has is refused with its row and its column."""

import pandas as pd
import pytest

from agreement_pipeline.readers import Columns, read

NO_DAYS = [
    "31.02.2026",
    "2026-99-01",
    "2026-02-30T10:00+01:00",
    "32.1.2026 10:00",
    "2/30/2026",
    "30/2/2026",
    "0000-00-00",
]
DAYS = {
    "28.02.2026": "2026-02-28",
    "12.31.2026 5:00 PM": "2026-12-31 17:00:00",
    "1.2.2026 10:30": "2026-02-01 10:30:00",
    "2026-02-28T10:00-01:00": None,
    "2/28/2026": "2026-02-28",
    "28/2/2026 9:00": "2026-02-28 09:00:00",
    "1/2/2026 9:00": None,
    "yesterday": None,
    "1795658727.5": None,
    "1.2": None,
}


def table(time):
    return pd.DataFrame(
        {"item": ["i", "i"], "rater": ["a", "b"], "label": ["x", "y"], "when": ["2026-01-01", time]}
    )


def said(source, engine="auto"):
    return read(source, Columns(timestamp="when"), engine=engine).iterate_ratings(["timestamp"])


@pytest.mark.parametrize("time", NO_DAYS)
def test_a_day_that_no_calendar_has_is_refused(refusal, tmp_path, time):
    path = tmp_path / "r.csv"
    table(time).to_csv(path, index=False)
    words = f"r.csv: row 3, column 'when': found [{time!r}]; expected a day of the calendar."
    assert refusal(path, Columns(timestamp="when")).startswith(words)


@pytest.mark.parametrize(("time", "iso"), DAYS.items())
def test_any_other_time_is_read_or_kept_as_it_is_written(time, iso):
    (batch,) = said(table(time))
    assert batch["timestamp"].to_pylist() == ["2026-01-01", iso or time]


def test_a_time_of_a_row_without_a_label_does_not_matter():
    frame = pd.concat([table("2026-01-02"), table("31.02.2026").assign(label=None)])
    assert len(read(frame, Columns(timestamp="when"))) == 2


@pytest.mark.slow
def test_spark_refuses_the_same_days_and_no_other(spark, refusal):
    for time in NO_DAYS:
        assert "a day of the calendar" in refusal(
            table(time), Columns(timestamp="when"), engine="spark"
        )
    every = pd.concat([table(time).assign(item=time) for time in DAYS])
    assert sum(batch.num_rows for batch in said(every, "spark")) == 2 * len(DAYS)
