"""Times are read in the forms that people and programs write, where the column is unambiguous."""

from datetime import UTC, datetime, timedelta
from email.utils import format_datetime

import pandas as pd
import pytest

from agreement_pipeline import judge, load_policy
from agreement_pipeline.errors import ProjectError, RatingsError
from agreement_pipeline.ratings import find_unread_times, times_as_seconds
from agreement_pipeline.readers import Columns, Rules, read
from agreement_pipeline.readers.time_forms import has_parts_of_a_day

AFTERNOON = "2026-11-28T14:03:00"
FORMS = {
    "German": ("28.11.2026 14:03", AFTERNOON),
    "German with seconds": ("28.11.2026 14:03:05", "2026-11-28T14:03:05"),
    "German with a comma": ("28.11.2026, 14:03:05", "2026-11-28T14:03:05"),
    "German of two digits": ("28.11.26 14:03", AFTERNOON),
    "German, all under 13": ("01.02.2026 14:03", "2026-02-01T14:03:00"),
    "German in words": ("28. November 2026 um 14:03 Uhr", AFTERNOON),
    "March in German": ("3. März 2026, 14:03", "2026-03-03T14:03:00"),
    "United States": ("11/28/2026 2:03 PM", AFTERNOON),
    "United States, midnight": ("11/28/2026 12:03 AM", "2026-11-28T00:03:00"),
    "United States, noon": ("11/28/2026 12:03 PM", "2026-11-28T12:03:00"),
    "United States, 24 hours": ("11/28/2026 14:03", AFTERNOON),
    "United States, all under 13": ("1/2/2026, 2:03:05 PM", "2026-01-02T14:03:05"),
    "a narrow space": ("11/28/2026, 2:03:05\u202fPM", "2026-11-28T14:03:05"),
    "Excel of the United States": ("11/28/26 14:03", AFTERNOON),
    "Britain": ("28/11/2026 14:03", AFTERNOON),
    "Australia": ("28/11/2026, 2:03:05 pm", "2026-11-28T14:03:05"),
    "one day and month": ("11/11/2026 14:03", "2026-11-11T14:03:00"),
    "dashes": ("28-11-2026 14:03", AFTERNOON),
    "RFC 2822": ("Sat, 28 Nov 2026 14:03:05 +0100", "2026-11-28T13:03:05"),
    "RFC 2822 in Greenwich": ("28 Nov 2026 14:03:05 GMT", "2026-11-28T14:03:05"),
    "Mechanical Turk": ("Wed Nov 18 10:22:33 PST 2026", "2026-11-18T18:22:33"),
    "C": ("Wed Nov 18 10:22:33 2026", "2026-11-18T10:22:33"),
    "JavaScript": (
        "Sat Nov 28 2026 14:03:05 GMT+0100 (Central European Standard Time)",
        "2026-11-28T13:03:05",
    ),
    "Apache": ("28/Nov/2026:14:03:05 +0100", "2026-11-28T13:03:05"),
    "words": ("November 28th, 2026 at 2:03 PM", AFTERNOON),
    "Oracle": ("28-NOV-2026 14:03:05", "2026-11-28T14:03:05"),
    "BigQuery": ("2026-11-28 14:03:05.25 UTC", "2026-11-28T14:03:05.250000"),
    "Python's log": ("2026-11-28 14:03:05,250", "2026-11-28T14:03:05.250000"),
    "year first": ("2026/11/28 14:03", AFTERNOON),
    "digits alone": ("20261128140305", "2026-11-28T14:03:05"),
    "serial of Excel": ("46354.5854166667", AFTERNOON),
    "epoch": ("1795874585", "2026-11-28T14:03:05"),
    "epoch in milliseconds": ("1795874585000", "2026-11-28T14:03:05"),
    "ISO": ("2026-11-28T14:03:05+01:00", "2026-11-28T13:03:05"),
}
UNREAD = {
    "day or month": "01/02/2026 10:00",
    "day, month or year": "26/11/28 10:00",
    "a zone of several": "Sat, 28 Nov 2026 14:03:05 IST",
    "no day": "14:03",
    "am of a column that tells nothing else": "1/2/2026, 2:03:05 pm",
    "an hour that no clock has": "2026-11-28T24:30:00Z",
    "words": "last Tuesday",
}


def rated_at(times):
    """Two raters of as many items as there are times."""
    items = [f"i{at}" for at in range(len(times))]
    rows = {"item": [*items, *items], "rater": ["a"] * len(times) + ["b"] * len(times)}
    labels = ["yes", "no"] * len(times)
    return pd.DataFrame(
        {**rows, "label": labels, "timestamp": pd.Series([*times] * 2, dtype=object)}
    )


def instants(ratings):
    found = ratings.first_ratings(["item", "rater", "timestamp"]).to_pandas()
    ordered = found[found["rater"] == "a"]["timestamp"]
    start = datetime(1970, 1, 1)
    return [str((start + timedelta(seconds=s)).isoformat()) for s in times_as_seconds(ordered)]


@pytest.mark.parametrize(("text", "instant"), FORMS.values(), ids=FORMS)
@pytest.mark.parametrize("source", ["frame", "csv"])
def test_a_time_is_read_in_its_form(source, text, instant, tmp_path):
    frame, path = rated_at([text, text]), tmp_path / "r.csv"
    frame.to_csv(path, index=False)
    ratings = read(frame if source == "frame" else path)
    assert find_unread_times(ratings) is None
    assert instants(ratings) == [instant] * 2


@pytest.mark.slow
def test_spark_reads_the_same_forms(spark):
    told = {name: form for name, form in FORMS.items() if "epoch" not in name and name != "ISO"}
    for text, instant in told.values():
        assert instants(read(rated_at([text]), engine="spark", usable=False)) == [instant]


@pytest.mark.parametrize("text", UNREAD.values(), ids=UNREAD)
def test_a_time_that_is_not_clear_stays_as_it_is_and_is_counted(text):
    ratings = read(rated_at([text, text, "2026-11-28T14:03:05Z"]))
    assert find_unread_times(ratings) == (4, 6, text)
    assert ratings.first_ratings(["timestamp"])["timestamp"].to_pylist().count(text) == 4


def test_the_whole_column_tells_which_number_is_the_day():
    assert instants(read(rated_at(["01/02/2026 10:00", "13/02/2026 10:00"]))) == [
        "2026-02-01T10:00:00",
        "2026-02-13T10:00:00",
    ]
    assert instants(read(rated_at(["01/02/2026 10:00", "02/13/2026 10:00"]))) == [
        "2026-01-02T10:00:00",
        "2026-02-13T10:00:00",
    ]


def test_a_folder_of_tables_is_one_column(tmp_path):
    for name, time in (("a", "01/02/2026 10:00"), ("b", "13/02/2026 10:00")):
        rated_at([time]).assign(item=name).to_csv(tmp_path / f"{name}.csv", index=False)
    ratings = read(tmp_path)
    assert instants(ratings) == ["2026-02-01T10:00:00", "2026-02-13T10:00:00"]


def test_days_that_contradict_each_other_are_not_read():
    ratings = read(rated_at(["01/13/2026 10:00", "13/02/2026 10:00"]))
    assert find_unread_times(ratings).n == 4


def test_a_time_beside_numbers_is_counted():
    assert find_unread_times(read(rated_at(["1795874585", "28.11.2026 14:03"]))).n == 2


def test_the_column_of_changes_tells_the_day_too():
    frame = rated_at(["01/02/2026 10:00"]).assign(edited="13/02/2026 10:00")
    ratings = read(frame, Columns(changed_at="edited"))
    assert instants(ratings) == ["2026-02-01T10:00:00"]
    assert {*ratings.first_ratings(["changed_at"])["changed_at"].to_pylist()} == {
        "2026-02-13 10:00:00"
    }


TIME_FORMATS = {
    "%d/%m/%Y %H:%M": ("01/02/2026 10:00", "2026-02-01T10:00:00"),
    "%m/%d/%Y %H:%M": ("01/02/2026 10:00", "2026-01-02T10:00:00"),
    "%m/%d/%y %I:%M %p": ("1/2/26 10:00 pm", "2026-01-02T22:00:00"),
    "%y/%m/%d": ("26/11/08", "2026-11-08T00:00:00"),
    "%Y-%d-%m %H:%M:%S": ("2026-02-01 10:00:00", "2026-01-02T10:00:00"),
    "%d-%b-%y %I.%M.%S.%f %p": ("28-NOV-26 02.03.05.25 PM", "2026-11-28T14:03:05.250000"),
    "[%Y.%m.%d] %H^%M": ("[2026.11.28] 14^03", AFTERNOON),
    "%A, %d %B %Y %H:%M %z": ("Saturday, 28 November 2026 14:03 +0100", "2026-11-28T13:03:00"),
}


@pytest.mark.parametrize("time_format", TIME_FORMATS)
def test_a_time_format_says_how_times_are_written(time_format):
    text, instant = TIME_FORMATS[time_format]
    ratings = read(rated_at([text]), Columns(time_format=time_format))
    assert find_unread_times(ratings) is None
    assert instants(ratings) == [instant]


def test_a_time_format_that_no_time_has_is_refused(tmp_path):
    path = tmp_path / "r.csv"
    rated_at(["01/02/2026 10:00"]).to_csv(path, index=False)
    with pytest.raises(RatingsError, match=r"r\.csv: rows \[2, 3\], column 'timestamp': found "):
        read(path, Columns(time_format="%d-%m-%Y"))


@pytest.mark.parametrize("time_format", ["", "%d/%m", "%d/%m/%Y %q", "%d/%d/%m/%Y", "day", 3])
def test_a_time_format_without_one_day_is_refused(time_format):
    assert not has_parts_of_a_day(time_format)
    with pytest.raises(ProjectError, match=r"time_format: found .*; expected a time format with"):
        Columns(time_format=time_format)


def as_serial(time):
    return str((time - datetime(1899, 12, 30)) / timedelta(days=1))


WRITTEN = {
    "ISO": datetime.isoformat,
    "German": lambda time: time.strftime("%d.%m.%Y %H:%M:%S"),
    "United States": lambda time: time.strftime("%m/%d/%Y %I:%M:%S %p"),
    "Britain": lambda time: time.strftime("%d/%m/%Y %H:%M:%S"),
    "RFC 2822": lambda time: format_datetime(time.replace(tzinfo=UTC)),
    "Mechanical Turk": lambda time: time.strftime("%a %b %d %H:%M:%S PST %Y"),
    "serial of Excel": as_serial,
}


def given_again(after, write, first_day=20):
    """Two raters who agree, and who meet 100 items again. Items come ten minutes apart."""
    start, rows = datetime(2026, 3, first_day, 9), []
    for at in range(100):
        label = "yes" if at % 2 else "no"
        for place, rater in enumerate("ab"):
            time = start + timedelta(minutes=10 * at, seconds=7 * place)
            own = "no" if at % 50 == 7 * place else label
            rows.append((f"i{at}", rater, own, 1, write(time)))
            rows.append((f"i{at}", rater, own, 2, write(time + after)))
    return pd.DataFrame(rows, columns=["item", "rater", "label", "occurrence", "timestamp"])


def decided(frame, columns=None):
    ratings = read(frame, columns or Columns())
    return judge(ratings, load_policy("replicated"))


@pytest.mark.parametrize("form", WRITTEN)
def test_replicates_of_one_second_later_are_held_whatever_the_form(form):
    decision = decided(given_again(timedelta(seconds=1), WRITTEN[form]))
    assert "contract:replicates_apart" in decision.codes


@pytest.mark.parametrize("form", WRITTEN)
def test_replicates_of_two_weeks_later_are_admitted_whatever_the_form(form):
    assert decided(given_again(timedelta(days=14, minutes=5), WRITTEN[form])).codes == ()


def test_a_policy_that_rests_on_times_holds_what_it_cannot_read():
    frame = given_again(timedelta(seconds=1), WRITTEN["Britain"], first_day=2)
    assert decided(frame).codes == ("times_not_read",)
    (finding,) = [each for each in decided(frame).findings if each.check == "times_not_read"]
    assert (
        "400 of 400 times could not be read, such as '02/03/2026 09:00:00'" in finding.description
    )
    assert "--time-format" in finding.description
    told = decided(frame, Columns(time_format="%d/%m/%Y %H:%M:%S"))
    assert "contract:replicates_apart" in told.codes
    assert "times_not_read" not in told.codes


def test_a_single_time_that_cannot_be_read_is_enough():
    frame = given_again(timedelta(days=14, minutes=5), WRITTEN["ISO"])
    frame.loc[17, "timestamp"] = "yesterday"
    assert decided(frame).codes == ("times_not_read",)


def test_other_policies_are_only_told():
    frame = given_again(timedelta(seconds=1), WRITTEN["Britain"], first_day=2)
    decision = judge(read(frame[frame["occurrence"] == 1]), load_policy("replicated"))
    assert "times_not_read" not in decision.codes
    decision = judge(read(frame), load_policy("standard"))
    assert decision.admitted
    assert [each.severity for each in decision.findings if each.check == "times_not_read"] == [
        "warning"
    ]


def test_a_rater_meets_items_in_the_order_of_rows_if_times_cannot_be_read():
    """01/03 comes before 13/02 in the order of texts, and after it in time."""
    frame = pd.DataFrame(
        {
            "item": ["i", "j"] * 2,
            "of": [None, "i"] * 2,
            "rater": ["a", "a", "b", "b"],
            "label": ["first", "second"] * 2,
            "timestamp": ["13/02/2026 10:00", "01/03/2026 10:00"] * 2,
        }
    )
    assert (
        read(frame, rules=Rules(replicate_of="of")).first_ratings(["label"])["label"].to_pylist()
        == ["first"] * 2
    )
    unread = frame.assign(timestamp=["05/02/2026 10:00", "01/03/2026 10:00"] * 2)
    ratings = read(unread, rules=Rules(replicate_of="of"))
    assert ratings.first_ratings(["label"])["label"].to_pylist() == ["first"] * 2
