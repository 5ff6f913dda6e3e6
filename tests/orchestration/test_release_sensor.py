"""The release of all admitted rounds follows admissions and withdrawals by itself."""

import time
from types import SimpleNamespace
from uuid import uuid4

import dagster as dg
import pytest

from agreement_pipeline.orchestration.sensors import (
    LONGEST_WAIT,
    MAX_WAIT_FOR_RUNS_SECONDS,
    ReleaseCursor,
)
from agreement_pipeline.store import of_event
from tests.orchestration.conftest import ratings_frame

pytestmark = pytest.mark.slow


class Days:
    """Ticks of the sensor at times of our choice. Each run that it asks for is made at once."""

    def __init__(self, line, monkeypatch) -> None:
        self.line, self.cursor, self.now = line, None, time.time()
        clock = SimpleNamespace(time=lambda: self.now)
        monkeypatch.setattr("agreement_pipeline.orchestration.sensors.time", clock)

    def tick(self, after: float = 30) -> dg.SensorResult | dg.SkipReason:
        self.now += after
        definitions = self.line.definitions
        context = dg.build_sensor_context(self.line.instance, self.cursor, definitions=definitions)
        answer = definitions.resolve_sensor_def("reviews_admitted_rounds")(context)
        self.cursor = context.cursor
        if isinstance(answer, dg.SensorResult):
            self.cursor = answer.cursor
            for request in answer.run_requests:
                definitions.resolve_job_def("reviews_release").execute_in_process(
                    instance=self.line.instance, tags=request.tags, raise_on_error=False
                )
        return answer

    def runs(self, n_ticks: int = 4, after: float = 30) -> int:
        """How many runs so many ticks ask for."""
        answers = [self.tick(after) for _ in range(n_ticks)]
        return sum(len(each.run_requests) for each in answers if isinstance(each, dg.SensorResult))

    def released_rounds(self) -> list[list[str]]:
        """The rounds of each release of the dataset that is in force, oldest first."""
        store = self.line.project.store
        released = of_event("released", store.history("reviews.dataset"))
        withdrawn = store.withdrawn()
        return [sorted(e["rounds"]) for e in released if e["release"] not in withdrawn]


@pytest.fixture
def days(line, monkeypatch):
    return Days(line, monkeypatch)


def judge(line, name, agreement, **frame):
    line.deliver(name, ratings_frame(agreement, **frame))
    line.decide(name)


def test_each_admission_is_followed_by_one_release(line, days):
    assert days.runs() == 0
    judge(line, "w1", 0.99)
    assert (days.runs(), days.released_rounds()) == (1, [["w1"]])
    judge(line, "w2", 0.98, seed=2)
    assert (days.runs(), days.released_rounds()) == (1, [["w1"], ["w1", "w2"]])
    assert days.runs(10) == 0


def test_a_held_round_is_never_released(line, days):
    judge(line, "w1", 0.55)
    assert (days.runs(), days.released_rounds()) == (0, [])
    judge(line, "w2", 0.99)
    assert (days.runs(), days.released_rounds()) == (1, [["w2"]])


def test_rounds_that_come_together_are_released_once(line, days):
    for number in (1, 2, 3):
        judge(line, f"w{number}", 0.99, seed=number)
        assert isinstance(days.tick(after=10), dg.SkipReason)
    assert days.runs() == 1
    assert days.released_rounds() == [["w1", "w2", "w3"]]


def test_after_a_withdrawal_what_is_left_is_released(line, days):
    judge(line, "w1", 0.99)
    judge(line, "w2", 0.98, seed=2)
    assert days.runs() == 1
    judge(line, "w1", 0.55)
    assert days.released_rounds() == []
    assert (days.runs(), days.released_rounds()) == (1, [["w2"]])
    judge(line, "w2", 0.55)
    assert (days.runs(), days.released_rounds()) == (0, [])
    judge(line, "w2", 0.98, seed=2)
    assert (days.runs(), days.released_rounds()) == (1, [["w2"]])


def test_a_policy_that_admits_less_today_releases_nothing_it_does_not_admit(line, days):
    judge(line, "w1", 0.97)
    judge(line, "w2", 0.99, seed=2)
    line.write_policy(
        {
            "policy": "strict",
            "version": 2,
            "n_resamples": 1000,
            "rules": [{"measure": "krippendorff_alpha", "min_items": 20, "reliable": 0.9}],
        }
    )
    assert days.runs(8) == 2
    assert days.released_rounds() == [["w2"]]


def test_a_lost_cursor_makes_nothing_twice(line, days):
    judge(line, "w1", 0.99)
    assert days.runs() == 1
    head = line.project.store.log.head
    days.cursor = None
    assert days.runs() == 0
    days.cursor = '{"state": 7}'
    assert days.runs() == 0
    line.definitions.resolve_job_def("reviews_release").execute_in_process(instance=line.instance)
    assert line.project.store.log.head == head


def test_while_a_round_is_judged_the_release_waits_but_not_for_ever(line, days):
    judge(line, "w1", 0.99)
    line.instance.add_run(
        dg.DagsterRun(
            job_name="reviews_round", run_id=str(uuid4()), status=dg.DagsterRunStatus.STARTED
        )
    )
    assert days.runs() == 0
    assert days.runs(1, after=MAX_WAIT_FOR_RUNS_SECONDS) == 1


@pytest.mark.parametrize(
    ("error", "within_a_day"),
    [(OSError(28, "No space left on device"), 13), (ValueError("a mistake of ours"), 13)],
)
def test_a_fault_that_may_pass_is_tried_again_ever_less_often(
    line, days, monkeypatch, error, within_a_day
):
    judge(line, "w1", 0.99)

    def fail(*_, **__):
        raise error

    with monkeypatch.context() as patch:
        patch.setattr("agreement_pipeline.projects.project.release_dataset", fail)
        runs = days.runs(6 * 24, after=600)
        assert 5 < runs <= within_a_day
    assert days.runs(1, after=LONGEST_WAIT) == 1
    assert days.released_rounds() == [["w1"]]


def test_what_only_people_can_mend_is_tried_once_a_day_and_when_a_round_changes(line, days):
    texts = ratings_frame(0.99).assign(text=lambda frame: "about " + frame["item"])
    for name in ("w1", "w2"):
        line.deliver(name, texts)
        line.decide(name)
        texts.loc[texts["item"] == "i003", "text"] += " "
    assert days.runs(6) == 1
    assert "could not be made" in days.tick().skip_message
    assert days.runs(1, after=LONGEST_WAIT + 1) == 1
    line.deliver("w2", texts.assign(text=texts["text"].str.strip()))
    line.decide("w2")
    assert (days.runs(), days.released_rounds()) == (1, [["w1", "w2"]])


def test_changed_answers_of_adjudicators_are_released(make_line, monkeypatch):
    line = make_line(adjudicated="answers")
    (line.root / "answers").mkdir()
    days = Days(line, monkeypatch)
    judge(line, "w1", 0.99)
    assert days.runs() == 1
    digest = line.project.store.present("w1").ratings_digest
    (line.root / "answers/w1.csv").write_text(f"item,label,ratings_digest\ni003,hateful,{digest}\n")
    assert days.runs() == 1
    assert days.runs() == 0


def test_a_project_that_releases_by_hand_has_no_such_sensor(make_line):
    line = make_line(release="by_hand")
    names = {each.name for each in line.definitions.get_repository_def().sensor_defs}
    assert "reviews_admitted_rounds" not in names


@pytest.mark.parametrize("cursor", ["", "[]", '{"state": 1}', '{"tries": -1}', "nonsense"])
def test_a_cursor_of_another_form_is_as_none(cursor):
    assert ReleaseCursor.of(cursor) == ReleaseCursor()
