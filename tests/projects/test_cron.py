"""A cron expression that is accepted is one that Dagster accepts, and has a next time."""

import datetime
import itertools
import random

import pytest
from dagster._utils.schedules import get_next_cron_tick, is_valid_cron_schedule

from agreement_pipeline.projects.settings import is_cron_expression

PARTS = [
    *("*", "?", "L", "", "-", "/", ",", "*/0", "*/1", "*/5", "*/70", "0/2", "5/10", "1-5/2"),
    *("0", "00", "1", "5", "7", "8", "12", "13", "23", "24", "29", "30", "31", "32", "59", "60"),
    *("007", "-1", "1-3", "5-7", "6-0", "0-7", "3-1", "1,15", "1,,2", ",1", "30,31", "1-2-3"),
    *("mon", "MON", "sun-sat", "fri-mon", "mon-fri", "jan", "feb", "jan,jul", "dec-jan", "monday"),
    *("1#2", "W", "15W", "L-3", "1/", "*,5", "٣", "1.5", "x"),
]


def with_part(place, part):
    fields = ["0", "6", "1", "1", "1"]
    return " ".join([*fields[:place], part, *fields[place + 1 :]])


def expressions():
    """Every part in every field, and fields drawn from those parts that are accepted alone."""
    drawn = random.Random(5)
    fields = [
        [part for part in PARTS if is_cron_expression(with_part(place, part))] for place in range(5)
    ]
    yield from (with_part(place, part) for place, part in itertools.product(range(5), PARTS))
    for _ in range(2000):
        yield " ".join(map(drawn.choice, fields))
        yield " ".join(drawn.choice(PARTS) for _ in range(5))


def test_nothing_is_accepted_that_dagster_refuses():
    accepted = [each for each in expressions() if is_cron_expression(each)]
    assert len(accepted) > 1500
    assert [each for each in accepted if not is_valid_cron_schedule(each)] == []


def test_what_is_accepted_has_a_next_time():
    accepted = sorted({each for each in expressions() if is_cron_expression(each)})
    for each in random.Random(2).sample(accepted, 40):
        now = datetime.datetime(2026, 1, 1, tzinfo=datetime.UTC)
        assert get_next_cron_tick(each, now, "UTC") >= now


@pytest.mark.parametrize(
    "text",
    [
        "0 6 * * 1",
        "*/15 8-18 * * mon-fri",
        "0 0 1,15 jan,JUL *",
        "0 0 29 2 *",
        "0 0 31 4/1 *",
        "0 6 * * 7",
        "5/10 * * * *",
        "0  6 * * 1",
        "@daily",
        "@Weekly",
        "0 6 L * *",
        "0 6 1 * ?",
        "0 22-2 * * fri-mon",
    ],
)
def test_the_usual_expressions_are_accepted(text):
    assert is_cron_expression(text)
    assert is_valid_cron_schedule(text)


@pytest.mark.parametrize(
    "text",
    [
        "",
        "weekly",
        "@reboot",
        " @daily",
        "0 6 L,? 13 *",
        "0 ? * * *",
        "0 6 * L *",
        "0 6 * *",
        "0 0 6 * * 1",
        "0 6 30 2 *",
        "0 6 30,31 feb *",
        "0 6 31 4,6 *",
        "60 6 * * 1",
        "0 6 * * 8",
        "0 6 * 13 *",
        "0 6 0 * *",
        "0 6\t* * 1",
        "0 6 * * 1\n",
    ],
)
def test_what_is_no_expression_of_five_fields_for_a_day_that_exists_is_refused(text):
    assert not is_cron_expression(text)
