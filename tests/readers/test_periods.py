"""Rounds are the periods of items' first times, and bounds are those of Python's own datetime."""

import json
from datetime import UTC, datetime

import pandas as pd
import pytest

from agreement_pipeline.errors import AgreementError, ProjectError, RatingsError
from agreement_pipeline.projects import Project
from agreement_pipeline.projects.settings import load_project
from agreement_pipeline.ratings import Scale
from agreement_pipeline.readers import RoundPeriods, Rules, read, read_rounds

SCALE = Scale(("n", "y"))
TIMES = (
    "2026-01-01T00:00:00Z",  # in the first week of 2026
    "2025-12-28T23:59:59Z",
    "2025-12-29",
    "2024-12-31 10:00",
    "2026-11-01T23:30:00-02:00",
    "2026-11-02T01:00:00+02:00",
    "2026-11-08T23:59:59.999999Z",
    "2026-11-09T00:00:00",
    "2026-02-29T00:00:00Z".replace("02-29", "02-28"),
    "2027-01-03T12:00:00Z",
)


def in_utc(text):
    found = datetime.fromisoformat(text)
    return found.astimezone(UTC) if found.tzinfo else found.replace(tzinfo=UTC)


OF_PERIOD = {
    "day": lambda at: at.strftime("%Y-%m-%d"),
    "week": lambda at: "{}-W{:02}".format(*at.isocalendar()),
    "month": lambda at: at.strftime("%Y-%m"),
    "quarter": lambda at: f"{at.year}-Q{(at.month + 2) // 3}",
    "year": lambda at: f"{at.year}",
}


def table(tmp_path, kind, times=TIMES):
    rows = pd.DataFrame(
        [
            (f"i{at}", rater, "ny"[at % 2], time, at)
            for at, time in enumerate(times)
            for rater in ("ana", "ben")
        ],
        columns=["item", "rater", "label", "created_at", "size"],
    )
    path = tmp_path / f"labels.{kind}"
    if kind == "csv":
        rows.to_csv(path, index=False)
    elif kind == "jsonl":
        rows.to_json(path, orient="records", lines=True)
    else:
        rows["created_at"] = pd.to_datetime([in_utc(time) for time in rows["created_at"]])
        rows.to_parquet(path)
    return path


@pytest.mark.parametrize("period", OF_PERIOD)
@pytest.mark.parametrize("kind", ["csv", "jsonl", "parquet"])
def test_a_table_is_cut_by_a_time_and_a_period(tmp_path, kind, period):
    path, rules = table(tmp_path, kind), Rules(rounds=RoundPeriods("created_at", period))
    expected = {f"i{at}": OF_PERIOD[period](in_utc(time)) for at, time in enumerate(TIMES)}
    assert read_rounds(path, rules=rules) == tuple(sorted({*expected.values()}))
    for name in {*expected.values()}:
        found = read(path, scale=SCALE, rules=rules, round_name=name)
        items = {item for item, own in expected.items() if own == name}
        assert {*found.rated_items().to_pylist()} == items


def test_an_item_is_in_the_round_of_its_first_time(tmp_path):
    path = tmp_path / "labels.csv"
    path.write_text(
        "item,rater,label,at\na,ana,y,2026-11-09\na,ben,y,2026-11-08\nb,ana,n,2026-11-09\n"
    )
    rules = Rules(rounds=RoundPeriods("at", "week"))
    found = read(path, scale=SCALE, rules=rules, round_name="2026-W45", usable=False)
    assert (found.rated_items().to_pylist(), found.raters) == (["a"], ("ana", "ben"))


def test_a_column_of_rounds_has_one_spelling_for_every_source(tmp_path):
    path = tmp_path / "tasks.json"
    tasks = [
        {
            "id": at,
            "predictions": [],
            "drafts": [],
            "data": {"text": f"t{at}", "week": f"W{45 + at // 3}"},
            "annotations": [
                {
                    "id": 10 * at + who,
                    "completed_by": who,
                    "was_cancelled": False,
                    "ground_truth": False,
                    "updated_at": "2026-11-03T10:00:00Z",
                    "created_at": "2026-11-03T10:00:00Z",
                    "result": [
                        {
                            "from_name": "label",
                            "to_name": "text",
                            "type": "choices",
                            "value": {"choices": ["ny"[at % 2]]},
                        }
                    ],
                }
                for who in (1, 2)
            ],
        }
        for at in range(6)
    ]
    path.write_text(json.dumps(tasks))
    rules = Rules(rounds=RoundPeriods("week"))
    assert read_rounds(path, rules=rules) == ("W45", "W46")
    assert read(path, scale=SCALE, rules=rules, round_name="W46").n_items == 3


@pytest.mark.parametrize(
    ("bounds", "meets"),
    [
        ({"from": "2026-01-01"}, lambda at: at >= in_utc("2026-01-01")),
        ({"before": "2026-11-02"}, lambda at: at < in_utc("2026-11-02")),
        (
            {"from": "2025-12-29", "before": "2026-11-02T00:00:00+02:00"},
            lambda at: in_utc("2025-12-29") <= at < in_utc("2026-11-02T00:00:00+02:00"),
        ),
    ],
)
@pytest.mark.parametrize("kind", ["csv", "parquet"])
def test_rows_within_bounds_of_time_count(tmp_path, kind, bounds, meets):
    found = read(table(tmp_path, kind), scale=SCALE, rules=Rules(where={"created_at": bounds}))
    expected = {f"i{at}" for at, time in enumerate(TIMES) if meets(in_utc(time))}
    assert {*found.rated_items().to_pylist()} == expected
    n_left_out = 2 * (len(TIMES) - len(expected))
    assert found.origin.left_out == {"where created_at": n_left_out}


def test_rows_within_bounds_of_numbers_count(tmp_path):
    rules = Rules(where={"size": {"from": 3, "before": 5}})
    found = read(table(tmp_path, "csv"), rules=rules)
    assert found.rated_items().to_pylist() == ["i3", "i4"]


@pytest.mark.parametrize(
    ("rules", "why"),
    [
        ({"rounds": RoundPeriods("size", "week")}, "found '0'; expected a time as 2026-11-03"),
        ({"where": {"created_at": {"from": 3}}}, "found a value that is no number"),
        ({"where": {"size": {"from": "2026-01-01"}}}, "found '0'; expected a time"),
        ({"rounds": RoundPeriods("nothing", "week")}, "nothing"),
    ],
)
def test_what_is_no_time_or_number_is_refused(tmp_path, rules, why):
    with pytest.raises(RatingsError, match=why):
        read(table(tmp_path, "csv"), rules=Rules(**rules))


@pytest.mark.parametrize(
    ("settings", "why"),
    [
        ("where: {at: {since: 2026-01-01}}", "where"),
        ("where: {at: {from: soon}}", "found 'soon'; expected a number, or a time"),
        ("where: {at: {from: 3, before: '2026-01-01'}}", "expected two numbers or two times"),
        ("where: {at: {}}", "expected `from`, `before` or both"),
        ("rounds: {column: at, every: fortnight}", "expected one of day, week"),
        ("rounds: {column: at}\nall_rounds: true", "found all_rounds beside it"),
        ("rounds: {column: at}\ncolumns: {round: week}", "found rounds beside columns.round"),
    ],
)
def test_settings_that_cannot_be_are_refused(tmp_path, settings, why):
    path = tmp_path / "configs/projects/p.yaml"
    path.parent.mkdir(parents=True)
    start = "project: p\ninbox: inbox\nscale: {categories: [n, y]}\npolicy: standard\n"
    path.write_text(start + settings)
    with pytest.raises(ProjectError, match=why):
        load_project(path)


def test_a_growing_table_is_a_round_a_week(tmp_path):
    path = tmp_path / "configs/projects/p.yaml"
    path.parent.mkdir(parents=True)
    path.write_text(
        "project: p\ninbox: labels.csv\nscale: {categories: [n, y]}\npolicy: standard\n"
        "rounds: {column: created_at, every: week}\n"
        "where: {created_at: {from: 2026-11-02, before: 2026-12-01}}\n"
    )
    rows = "".join(
        f"i{at}-{day},{rater},{'ny'[at % 2]},2026-11-{day:02}\n"
        for at in range(9)
        for day in (1, 3, 10, 17)
        for rater in ("ana", "ben")
    )
    (tmp_path / "labels.csv").write_text(f"item,rater,label,created_at\n{rows}")
    project = Project(load_project(path))
    assert [*project.look().deliveries] == ["2026-W45", "2026-W46", "2026-W47"]
    for name in project.look().deliveries:
        delivery, ratings = project.delivered(name)
        project.keep(delivery, ratings)
        assert (ratings.n_items, ratings.strata) == (9, {})
    with pytest.raises(AgreementError, match="2026-W44"):
        project.delivered("2026-W44")
