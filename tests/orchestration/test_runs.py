"""A long step says in the run's log that it is at work, and a short one says nothing."""

import threading

import pytest

from agreement_pipeline.orchestration import runs as module
from agreement_pipeline.orchestration.runs import progress
from tests.orchestration.checks import GOOD


def test_a_long_step_says_that_it_is_at_work_and_then_that_it_is_done(monkeypatch):
    monkeypatch.setattr(module, "PATIENCE_SECONDS", 0.0)
    monkeypatch.setattr(module, "EVERY_SECONDS", 0.0)
    said, twice = [], threading.Event()

    def say(text):
        said.append(text)
        if len(said) == 2:
            twice.set()

    with progress(say, "acceptability of w1"):
        assert twice.wait(60)
    assert said[0] == "acceptability of w1: at work for 0 s"
    assert said[-1].startswith("acceptability of w1: done after ")


def test_a_short_step_says_nothing_and_an_error_goes_through(monkeypatch):
    said = []
    with pytest.raises(ValueError, match="mistake"), progress(said.append, "a step"):
        raise ValueError("a mistake")
    assert said == []


def test_the_steps_of_a_run_say_it_in_its_log(line, monkeypatch):
    monkeypatch.setattr(module, "PATIENCE_SECONDS", 0.0)
    line.deliver("w1", GOOD)
    result = line.run("w1", "annotations")
    said = [entry.user_message for entry in line.instance.all_logs(result.run_id)]
    assert any(text.startswith("annotations of w1: done after ") for text in said)
