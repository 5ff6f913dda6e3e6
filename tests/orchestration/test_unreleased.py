"""A release that could not be made says why, wherever one looks."""

import dagster as dg
import pytest

from agreement_pipeline.cli import main
from agreement_pipeline.orchestration import alerts
from agreement_pipeline.orchestration.runs import DECISION, REASON_TAG
from tests.orchestration.conftest import ratings_frame

pytestmark = pytest.mark.slow
RELEASE, TRAINING_DATA = (
    dg.AssetKey(["reviews", "release"]),
    dg.AssetKey(["reviews", "training_data"]),
)
DIFFERENT_TEXTS = "found items ['i003'] with different texts in different rounds"


def texts(blanks=""):
    frame = ratings_frame(0.99).assign(text=lambda ratings: "about " + ratings["item"])
    frame.loc[frame["item"] == "i003", "text"] += blanks
    return frame


def judge_twins(line):
    """Two admitted rounds whose texts differ in one trailing space."""
    for name, frame in (("w1", texts()), ("w2", texts(" "))):
        line.deliver(name, frame)
        line.decide(name)


def release(line):
    job = line.definitions.resolve_job_def("reviews_release")
    return job.execute_in_process(instance=line.instance, raise_on_error=False)


def last_evaluation(line, key, check):
    (record,) = line.instance.event_log_storage.get_asset_check_execution_history(
        dg.AssetCheckKey(key, check), limit=1
    )
    return record.event.dagster_event.event_specific_data


def last_observation(line, key):
    (record,) = line.instance.fetch_observations(key, limit=1).records
    return record.asset_observation


class Told:
    """The messages that the alert sensor posts, one a tick."""

    def __init__(self, line, monkeypatch):
        self.line, self.cursor, self.texts = line, None, []
        monkeypatch.setenv("REVIEWS_WEBHOOK", "https://example.invalid")
        monkeypatch.setattr(alerts, "post", lambda _, body: self.texts.append(body["text"]))

    def tick(self):
        self.texts.clear()
        context = dg.build_sensor_context(instance=self.line.instance, cursor=self.cursor)
        self.line.definitions.resolve_sensor_def("reviews_alerts")(context)
        self.cursor = context.cursor
        return list(self.texts)


def test_the_release_of_all_rounds_says_why_it_could_not_be_made(make_line, monkeypatch):
    line = make_line(alerts_url_from="REVIEWS_WEBHOOK")
    told = Told(line, monkeypatch)
    judge_twins(line)
    assert told.tick() == []
    run = release(line)
    assert not run.success
    assert DIFFERENT_TEXTS in last_observation(line, RELEASE).metadata["release"].value
    answer = last_evaluation(line, RELEASE, "released_together")
    assert not answer.passed
    assert DIFFERENT_TEXTS in answer.description
    tags = line.instance.get_run_by_id(run.run_id).tags
    assert tags[DECISION] == "not released"
    assert DIFFERENT_TEXTS in tags[REASON_TAG]
    (text,) = told.tick()
    assert text.startswith("reviews: all admitted rounds together are not released: ")
    assert DIFFERENT_TEXTS in text
    assert told.tick() == []

    line.deliver("w2", texts().assign(text=lambda frame: frame["text"].str.strip()))
    line.decide("w2")
    assert release(line).success
    assert last_evaluation(line, RELEASE, "released_together").passed
    assert told.tick() == []


def test_an_admitted_round_says_why_it_could_not_be_released(make_line, monkeypatch):
    line = make_line(adjudicated="answers", alerts_url_from="REVIEWS_WEBHOOK")
    (line.root / "answers").mkdir()
    (line.root / "answers/w1.csv").write_text("item,label\ni003,hateful\n")
    told = Told(line, monkeypatch)
    line.deliver("w1", ratings_frame(0.99))
    run = line.decide("w1")
    assert not run.success
    assert "ratings_digest" in last_observation(line, TRAINING_DATA).metadata["release"].value
    assert "ratings_digest" in last_evaluation(line, TRAINING_DATA, "in_force").description
    (text,) = told.tick()
    assert text.startswith("reviews: round w1 is not released: ")
    assert "ratings_digest" in text


def test_a_withdrawal_is_seen_at_the_release_of_all_rounds(line):
    line.deliver("w1", ratings_frame(0.99))
    line.decide("w1")
    assert release(line).success
    assert last_evaluation(line, RELEASE, "released_together").passed
    line.deliver("w1", ratings_frame(0.55))
    line.decide("w1")
    answer = last_evaluation(line, RELEASE, "released_together")
    assert not answer.passed
    assert answer.description.startswith("round w1 is withdrawn: ")


@pytest.fixture
def two_rounds(tmp_path, monkeypatch):
    """A project whose two rounds are good, and in a text of the second is a trailing space."""
    (tmp_path / "configs/projects").mkdir(parents=True)
    (tmp_path / "configs/projects/posts.yaml").write_text(
        "project: posts\ninbox: inbox\npolicy: exploratory\ndeliveries: independent\n"
        "scale: {categories: [safe, offensive, hateful]}\n"
    )
    (tmp_path / "inbox").mkdir()
    texts().to_csv(tmp_path / "inbox/w1.csv", index=False)
    texts(" ").to_csv(tmp_path / "inbox/w2.csv", index=False)
    monkeypatch.chdir(tmp_path)
    return tmp_path


def test_run_says_what_it_could_not_release_and_ends_with_2(two_rounds, capsys):
    for _ in range(2):  # it is tried again, and not forgotten
        assert main(["run"]) == 2
        said = capsys.readouterr().out
        (line,) = [each for each in said.splitlines() if each.startswith("not released: ")]
        assert line.startswith("not released: all admitted rounds together: ")
        assert DIFFERENT_TEXTS in line
    texts().to_csv(two_rounds / "inbox/w2.csv", index=False)
    assert main(["run"]) == 0
    assert "not released" not in capsys.readouterr().out


def test_run_ends_with_1_only_if_a_new_round_is_held(two_rounds, capsys):
    ratings_frame(0.4).to_csv(two_rounds / "inbox/w2.csv", index=False)
    assert main(["run"]) == 1
    assert main(["run"]) == 0
    assert "held" in capsys.readouterr().out


def test_a_release_that_trained_on_gold_of_another_round_is_told_and_made_anew(
    make_line, monkeypatch
):
    line = make_line(
        alerts_url_from="REVIEWS_WEBHOOK", columns={"gold": "known"}, deliveries="independent"
    )
    told = Told(line, monkeypatch)
    frame = ratings_frame(0.99)
    gold = sorted({*frame["item"]})[:3]
    line.deliver("w1", frame.assign(known=False))
    assert line.decide("w1").success
    assert told.tick() == []
    line.deliver("w2", frame.assign(known=frame["item"].isin(gold)))
    assert line.decide("w2").success
    (withdrawal,) = line.project.gold_withdrawals()
    assert withdrawal["gold_in"] == ["w2"]
    (released,) = line.project.store.in_force("w1")
    assert released["release"] not in withdrawal["releases"]
    assert last_evaluation(line, TRAINING_DATA, "in_force").passed
    (text,) = told.tick()
    assert text.startswith("reviews: the release of round w1 is withdrawn: 3 items of w1/")
    assert text.endswith("a new release without them is in force")
    assert told.tick() == []


def test_run_says_which_release_trained_on_gold_of_another_round(two_rounds, capsys):
    settings = two_rounds / "configs/projects/posts.yaml"
    settings.write_text(f"{settings.read_text()}columns: {{gold: known}}\n")
    (two_rounds / "inbox/w2.csv").unlink()
    texts().assign(known=False).to_csv(two_rounds / "inbox/w1.csv", index=False)
    assert main(["run"]) == 0
    assert "withdrawn" not in capsys.readouterr().out
    frame = texts()
    frame = frame.assign(known=frame["item"].isin(["i003", "i005"]))
    frame.to_csv(two_rounds / "inbox/w2.csv", index=False)
    assert main(["run"]) == 0
    lines = [line for line in capsys.readouterr().out.splitlines() if "withdrawn: " in line]
    assert len(lines) == 2, "the release of the round, and that of all rounds together"
    assert all("2 items of " in line and "are gold in round w2" in line for line in lines)
