"""The cursors of sensors: when a round is asked for again, and what its last run said."""

from dataclasses import replace
from pathlib import Path
from types import SimpleNamespace

import pytest

from agreement_pipeline.orchestration import alerts, sensors
from agreement_pipeline.orchestration.runs import REASON_TAG
from agreement_pipeline.orchestration.sensors import RoundCursor
from agreement_pipeline.projects import Delivery

W1 = Delivery("w1", Path("w1.csv"), "d" * 64)


def waits(asked, n):
    """The seconds to each next look of a round that is asked for n times."""
    found = []
    for now in range(n):
        asked.ask(W1, float(now))
        found.append(asked.rounds["w1"]["next"] - now)
    return found


def test_a_round_is_asked_for_after_20_seconds_and_then_after_twice_as_long():
    assert waits(RoundCursor("s"), 5) == [20, 40, 80, 160, 320]
    assert waits(RoundCursor("s"), 20)[-1] == 86_400
    assert waits(RoundCursor("s"), 1100)[-1] == 86_400


def test_a_webhook_that_never_answers_is_tried_each_hour():
    told = alerts.AlertCursor()
    assert [told.failed(0.0) for _ in range(1100)][6:] == [1920] + 1093 * [3600]


def test_a_round_that_was_decided_is_asked_for_as_if_for_the_first_time():
    asked = RoundCursor("s")
    waits(asked, 3)
    asked.settle([W1], [], 1e9)
    assert asked.rounds["w1"]["next"] is None
    assert waits(asked, 2) == [20, 40]


def test_a_round_whose_fault_lasts_is_asked_for_after_a_day_and_then_as_if_for_the_first_time():
    asked = RoundCursor("s")
    waits(asked, 3)
    asked.rest(W1, 0.0)
    assert asked.resting([W1], 86_399.0) == {"w1": W1.digest}
    assert asked.resting([W1], 86_400.0) == {}
    assert not asked.is_tried(W1)
    assert waits(asked, 2) == [20, 40]
    assert asked.is_tried(W1)


def test_other_bytes_and_other_rules_end_the_rest_of_a_round():
    asked = RoundCursor("s")
    asked.rest(W1, 0.0)
    assert RoundCursor.of(asked.to_cursor(), "s") == asked
    assert RoundCursor.of(asked.to_cursor(), "t").resting([W1], 1.0) == {}
    assert asked.resting([replace(W1, file_digest="e" * 64)], 1.0) == {}


def test_a_round_does_not_rest_for_longer_than_a_day_if_the_clock_is_put_back():
    asked = RoundCursor("s")
    asked.rest(W1, 1e9)
    assert asked.resting([W1], 1e9) == {"w1": W1.digest}
    assert asked.resting([W1], 1e9 - 1) == {}


OF_OTHER_ROUNDS = ("[]", "3", '{"w1": 3}', '{"w1": {}}', '{"w1": {"digest": "d", "tries": "1"}}')
OF_ROUNDS = [f'{{"judged_by": "s", "rounds": {rounds}}}' for rounds in OF_OTHER_ROUNDS]


@pytest.mark.parametrize(
    "cursor", [None, "", "[]", "1", '{"judged_by": "s"}', "no JSON", *OF_ROUNDS]
)
def test_a_cursor_of_another_form_says_nothing(cursor):
    assert RoundCursor.of(cursor, "s") == RoundCursor("s")


OF_NO_ALERTS = ['{"unknown": 1}', '{"states": 1}', '{"failures": "1"}', '{"next": []}']


@pytest.mark.parametrize("cursor", ["[]", '"x"', "1", "no JSON", *OF_NO_ALERTS])
def test_a_cursor_of_the_alerts_of_another_form_says_nothing(cursor):
    assert alerts.AlertCursor.of(cursor) == alerts.AlertCursor()


@pytest.mark.parametrize("cursor", [None, "", "[]", '"x"', "1", "no JSON"])
def test_a_cursor_of_adjudicated_labels_of_another_form_says_nothing(cursor):
    assert sensors.read_cursor(cursor) == {}


def test_the_last_run_says_why_a_delivery_is_broken():
    """The instance gives the newest run first."""
    runs = [SimpleNamespace(tags={REASON_TAG: why}) for why in ("newest", "older")]
    instance = SimpleNamespace(get_runs=lambda _, limit: runs[:limit])
    inbox = SimpleNamespace(deliveries={"w1": W1}, refused={})
    settings = SimpleNamespace(rounds_from=None)
    project = SimpleNamespace(
        name="reviews", look=lambda: inbox, due=lambda resting, seen: [W1], settings=settings
    )
    host = SimpleNamespace(upstream=None, project=project, is_asked_for_by_conditions=False)
    assert sensors.find_unjudged(SimpleNamespace(instance=instance), host) == {"w1": "newest"}
