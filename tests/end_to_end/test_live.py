"""Rounds arrive at a running webserver and daemon, and are judged."""

import pytest

pytestmark = pytest.mark.slow


def test_a_dropped_file_is_run_by_the_sensor_and_judged(live):
    assert set(live.finished("good")) == {"SUCCESS"}
    assert set(live.finished("bad")) == {"FAILURE"}
    assert live.released() == {"good"}
