"""Ways to get the labels of a model past the gate. Each is held for its reason, everywhere."""

import os
from collections.abc import Iterator
from datetime import UTC, datetime, timedelta
from importlib import import_module
from pathlib import Path
from shutil import copytree

import dagster as dg
import pandas as pd
import pytest

from agreement_pipeline import verify_release
from agreement_pipeline.cli import main
from agreement_pipeline.errors import CertificateError, ProjectError, ReleaseHeldError
from agreement_pipeline.models import draw
from agreement_pipeline.orchestration import project_definitions
from agreement_pipeline.projects import Project, load_project
from agreement_pipeline.release import decisions
from tests.models.silver import items, ratings_of, rows_of, said_of

pytestmark = pytest.mark.slow

SOON = datetime.now(UTC).date() + timedelta(days=90)
PEOPLE = """
project: {name}
inbox: inbox/{name}
scale: {{categories: ["no", "yes"]}}
classifiers: [judge]
policy: {policy}
"""
RULES = """
policy: rules
version: 1
n_resamples: 1000
rules: [{measure: krippendorff_alpha}]
classifiers: [{measure: vanbelle_albert_kappa, scope: classifier}]
"""
SILVER = RULES.replace("policy: rules", "policy: silver") + "silver: {most_wrong: 0.05}\n"


class Silver:
    """A project of silver rounds, beside the one of people that certifies its classifier."""

    def __init__(self, root: Path, instance: dg.DagsterInstance) -> None:
        self.root, self.instance = root, instance

    def certify(self) -> None:
        """Write both projects, and certify the classifier on a round of people."""
        self.write("configs/policies/rules.yaml", RULES)
        self.write("configs/policies/silver.yaml", SILVER)
        self.write("configs/classifiers/prompt.txt", "Is it rude?")
        self.write("configs/classifiers/judge.yaml", "name: judge\nmodel: m\nprompt: prompt.txt\n")
        for name, policy, more in (
            ("people", "rules", ""),
            ("silver", "silver", "certified_by: people\n"),
        ):
            text = PEOPLE.format(name=name, policy=policy) + more
            self.write(f"configs/projects/{name}.yaml", text)
        self.deliver("people", "r1", items(90), ("ana", "ben", "chi"))
        self.run("people", "r1")
        self.command("certify", "people", "--expires", str(SOON), "--policy", self.rules)

    @property
    def rules(self) -> str:
        return str(self.root / "configs/policies/rules.yaml")

    @property
    def with_populations(self) -> str:
        text = (self.root / "configs/projects/silver.yaml").read_text()
        return f"{text}populations: populations\ndraw: 80\n"

    def write(self, name: str, text: str) -> None:
        path = self.root / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)

    def project(self, name: str = "silver") -> Project:
        return Project(load_project(self.root / f"configs/projects/{name}.yaml"))

    def command(self, command: str, project: str, *more: str) -> None:
        identity = str(self.root / "configs/classifiers/judge.yaml")
        path = str(self.root / f"configs/projects/{project}.yaml")
        assert main([command, path, identity, *more]) == 0

    def deliver(
        self, project: str, name: str, labelled: object, raters: object = ("ana", "ben", "chi")
    ) -> None:
        rows = rows_of(items() if project == "silver" else labelled, "judge")
        for rater in raters:
            rows += rows_of(sorted(labelled), rater)
        frame = pd.DataFrame(rows)[["item", "rater", "label"]]
        path = self.root / "inbox" / project / f"{name}.csv"
        path.parent.mkdir(parents=True, exist_ok=True)
        frame.to_csv(path, index=False)

    def draw(self, reason: str = "") -> tuple[str, ...]:
        return draw(self.project().store, "s1", ratings_of(), 80, reason=reason).items

    def run(self, project: str, name: str | None, *assets: str, job: str = "round", **tags: str):
        settings = self.project(project).settings
        self.instance.add_dynamic_partitions(f"{project}_rounds", [name] if name else [])
        return (
            project_definitions(settings)
            .resolve_job_def(f"{project}_{job}")
            .execute_in_process(
                instance=self.instance,
                partition_key=name,
                raise_on_error=False,
                asset_selection=[dg.AssetKey([project, each]) for each in assets] or None,
                tags={key.replace("__", "/"): value for key, value in tags.items()},
            )
        )

    def shortest_ways_out(self) -> Iterator[bool]:
        """Whether the command lets a round out, and whether its asset alone does."""
        path = str(self.root / "configs/projects/silver.yaml")
        yield main(["judge", path, "--of-round", "s1"]) == 0
        self.run("silver", "s1", "annotations")
        yield self.run("silver", "s1", "training_data").success
        yield main(["judge", path]) == 0

    def ways_out(self) -> Iterator[bool]:
        """Whether each way out lets something out, or says that it may leave."""
        path = str(self.root / "configs/projects/silver.yaml")
        yield main(["judge", path, "--of-round", "s1"]) == 0
        first = self.run("silver", "s1")
        yield first.success
        yield self.run("silver", "s1", "training_data", dagster__backfill="all").success
        again = {"dagster__parent_run_id": first.run_id, "dagster__root_run_id": first.run_id}
        yield self.run("silver", "s1", "training_data", **again).success
        yield self.run("silver", None, job="release").success
        yield bool(self._in_python())
        yield main(["reassess", path]) == 0 and bool(self.in_force())
        self.run("silver", None, job="again")
        yield bool(self.in_force())
        yield main(["judge", path]) == 0

    def _in_python(self) -> bool:
        try:
            return bool(self.project().release("s1"))
        except ReleaseHeldError:
            return False

    def in_force(self) -> list[str]:
        return [entry["release"] for entry in self.project().store.in_force()]

    def codes(self) -> list[str]:
        decided = self.project().store.history("s1")
        return [entry for entry in decided if entry["event"] == "decided"][-1]["codes"]


@pytest.fixture(scope="module")
def certified(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The folder of both projects, once the classifier is certified."""
    root = tmp_path_factory.mktemp("certified")
    (root / "inbox/silver").mkdir(parents=True)
    with dg.DagsterInstance.ephemeral() as instance:
        Silver(root, instance).certify()
    return root


@pytest.fixture
def silver(certified: Path, tmp_path: Path, instance: dg.DagsterInstance) -> Silver:
    return Silver(copytree(certified, tmp_path, dirs_exist_ok=True), instance)


def as_it_should_be(silver: Silver, monkeypatch) -> None:
    silver.deliver("silver", "s1", silver.draw())


def changed_prompt(silver: Silver, monkeypatch) -> None:
    as_it_should_be(silver, monkeypatch)
    silver.write("configs/classifiers/prompt.txt", "Is it very rude?")


def replaced_item(silver: Silver, monkeypatch) -> None:
    drawn = {*silver.draw()}
    other = sorted({*items()} - drawn)[0]
    silver.deliver("silver", "s1", {*sorted(drawn)[1:], other})


def slipped_join(silver: Silver, monkeypatch) -> None:
    """Ids and labels are those of the draw, and an undrawn item has the text of another one."""
    names = items()
    texts = pd.DataFrame({"item": names, "text": [f"text of {name}" for name in names]})
    population = pd.DataFrame(rows_of(names, "judge"))[["item", "rater", "label"]].merge(texts)
    silver.write("population.csv", population.to_csv(index=False))
    asked = ["draw", str(silver.root / "population.csv"), "--n", "80", "--name", "s1"]
    assert main([*asked, "--store", str(silver.project().store.root)]) == 0
    (drawn,) = [entry["items"] for entry in silver.project().store.history("s1")]
    silver.deliver("silver", "s1", drawn)
    path = silver.root / "inbox/silver/s1.csv"
    first, second = sorted({*names} - {*drawn})[:2]
    moved = texts.replace({"item": {first: second, second: first}})
    pd.read_csv(path).merge(moved).to_csv(path, index=False)


def best_of_10_draws(silver: Silver, monkeypatch) -> None:
    silver.draw()
    draws = [silver.draw("another") for _ in range(9)]
    silver.deliver("silver", "s1", draws[-1])


def panel_of_models(silver: Silver, monkeypatch) -> None:
    silver.deliver("silver", "s1", silver.draw(), ("gpt-4o", "claude-opus", "gemini"))


def expired(silver: Silver, monkeypatch) -> None:
    as_it_should_be(silver, monkeypatch)
    monkeypatch.setattr(decisions, "today", lambda: SOON + timedelta(days=1))
    later = type("Later", (), {"now": lambda _: datetime(SOON.year + 1, 1, 1, tzinfo=UTC)})
    monkeypatch.setattr(import_module("agreement_pipeline.cli.judge"), "datetime", later)


def drifted(silver: Silver, monkeypatch) -> None:
    as_it_should_be(silver, monkeypatch)
    label_anchors_again(silver)


def label_anchors_again(silver: Silver) -> None:
    said = {"no": "yes", "yes": "no"}
    rows = rows_of(items(90), "judge", lambda item: said[said_of(item)])
    again = silver.root / "again.csv"
    pd.DataFrame(rows)[["item", "rater", "label"]].to_csv(again, index=False)
    identity = str(silver.root / "configs/classifiers/judge.yaml")
    project = str(silver.root / "configs/projects/people.yaml")
    assert main(["certify", project, identity, "--anchors", str(again)]) == 1


def not_certified(silver: Silver, monkeypatch) -> None:
    as_it_should_be(silver, monkeypatch)
    path = silver.root / "configs/projects/silver.yaml"
    path.write_text(path.read_text().replace("certified_by: people\n", ""))


def no_limit(silver: Silver, monkeypatch) -> None:
    as_it_should_be(silver, monkeypatch)
    path = silver.root / "configs/projects/silver.yaml"
    path.write_text(path.read_text().replace("policy: silver", "policy: rules"))


HELD = {
    not_certified: "silver_not_audited",
    no_limit: "silver_no_limit",
    changed_prompt: "certificate_other_prompt",
    replaced_item: "draw_replaced",
    slipped_join: "draw_other_contents",
    best_of_10_draws: "draw_again",
    panel_of_models: "certificate_panel_models",
    expired: "certificate_expired",
    drifted: "certificate_drifted",
}


def test_a_silver_round_as_it_should_be_leaves_on_every_way(silver, monkeypatch):
    as_it_should_be(silver, monkeypatch)
    assert all(silver.ways_out())
    assert silver.codes() == []
    (path,) = {entry for entry in silver.in_force() if entry.startswith("s1/")}
    train = verify_release(silver.project().store.root / "releases" / path).train
    assert (len(train), sum(train["resolution"] == "silver")) == (400, 320)


@pytest.mark.parametrize("attempt", [changed_prompt, expired], ids=lambda each: each.__name__)
def test_nothing_leaves_on_any_way(silver, monkeypatch, attempt):
    attempt(silver, monkeypatch)
    assert not any(silver.ways_out())
    assert silver.codes() == [HELD[attempt]]
    assert silver.in_force() == []


def test_the_history_of_both_projects_warns_of_a_certificate_that_has_ended(silver, monkeypatch):
    as_it_should_be(silver, monkeypatch)

    def answers(project):
        result = silver.run(project, None, "agreement_history", job="history")
        (found,) = (
            each
            for each in result.get_asset_check_evaluations()
            if each.check_name == "certificates_answer"
        )
        return found.passed, found.description

    assert all(answers(each)[0] for each in ("people", "silver"))
    label_anchors_again(silver)
    for each in ("people", "silver"):
        passed, said = answers(each)
        assert not passed
        assert "certificate_drifted" in said


def test_dagster_draws_once_from_each_population_before_people_label(silver):
    silver.write("configs/projects/silver.yaml", silver.with_populations)
    rows = pd.DataFrame(rows_of(items(), "judge"))[["item", "rater", "label"]]
    silver.write("populations/s1.csv", rows.to_csv(index=False))
    silver.write("populations/rest.csv", rows[100:].to_csv(index=False))

    def drawn():
        result = silver.run("silver", None, "drawn_items", job="draw")
        (event,) = result.asset_materializations_for_node("silver__drawn_items")
        return event.metadata

    shown = drawn()
    assert shown["items"].value == 80
    (refused,) = shown["populations_refused"].records
    assert refused.data["file"] == "s1.csv"
    assert "expected one draw of a population" in refused.data["why"]
    (tasks,) = (silver.root / "populations/tasks").iterdir()
    named = pd.read_csv(tasks)
    assert named.columns.tolist() == ["item", "text", "rater", "label", "draw"]
    assert drawn()["draws"].records == shown["draws"].records
    (entry,) = [each for each in silver.project().store.history() if each["event"] == "drawn"]
    assert [*named["item"]] == entry["items"]


def test_tasks_that_a_full_disk_cut_off_are_written_again(silver, monkeypatch):
    silver.write("configs/projects/silver.yaml", silver.with_populations)
    rows = pd.DataFrame(rows_of(items(), "judge"))[["item", "rater", "label"]]
    silver.write("populations/s1.csv", rows.to_csv(index=False))
    whole = Path.write_text

    def cut_off(path, text, **how):
        whole(path, text[:100], **how)
        raise OSError(28, "No space left on device")

    with monkeypatch.context() as full:
        full.setattr(Path, "write_text", cut_off)
        with pytest.raises(OSError, match="No space left"):
            list(silver.project().draws())
    list(silver.project().draws())
    (tasks,) = (silver.root / "populations/tasks").glob("*.csv")
    assert len(pd.read_csv(tasks)) == 80


def test_a_pipe_among_the_populations_is_named(silver):
    silver.write("configs/projects/silver.yaml", silver.with_populations)
    (silver.root / "populations").mkdir()
    os.mkfifo(silver.root / "populations/s1.csv")
    ((_, said),) = silver.project().draws()
    assert "s1.csv: found a device, pipe or socket; expected a file." in said


def test_a_folder_of_populations_that_is_not_there_is_refused(silver):
    silver.write("configs/projects/silver.yaml", silver.with_populations)
    with pytest.raises(ProjectError, match="expected the populations of silver"):
        next(silver.project().draws())


@pytest.mark.parametrize(
    "attempt",
    [each for each in HELD if each not in (changed_prompt, expired)],
    ids=lambda each: each.__name__,
)
def test_nothing_leaves_on_the_shortest_ways(silver, monkeypatch, attempt):
    """All ways ask the same lock, as the two attempts above show."""
    attempt(silver, monkeypatch)
    assert not any(silver.shortest_ways_out())
    assert silver.codes() == [HELD[attempt]]
    assert silver.in_force() == []


def test_the_check_of_the_labels_shows_its_numbers(silver, monkeypatch):
    as_it_should_be(silver, monkeypatch)
    result = silver.run("silver", "s1")
    (check,) = (
        each for each in result.get_asset_check_evaluations() if each.check_name == "silver_labels"
    )
    assert check.passed
    assert check.metadata["upper"].value == pytest.approx(0.0451, abs=1e-4)


def test_the_page_of_a_silver_round_says_what_the_gate_found(silver, monkeypatch, capsys):
    as_it_should_be(silver, monkeypatch)
    silver.run("silver", "s1")
    path = str(silver.root / "configs/projects/silver.yaml")
    assert main(["report", path, "s1"]) == 0
    assert "What the gate asks for beside the rules" in capsys.readouterr().out
    silver.write("configs/classifiers/prompt.txt", "Is it very rude?")
    assert main(["report", path, "s1"]) == 0
    assert "certificate_other_prompt" in capsys.readouterr().out


def test_silver_rounds_certify_nobody(silver, capsys):
    path, identity = (f"configs/{each}.yaml" for each in ("projects/silver", "classifiers/judge"))
    given = [str(silver.root / path), str(silver.root / identity)]
    assert main(["certify", *given, "--expires", str(SOON)]) == 2
    assert "Name the project people" in capsys.readouterr().err


def test_another_classifier_of_the_same_name_is_a_warning_where_people_labelled(silver):
    silver.write("configs/classifiers/prompt.txt", "Is it very rude?")
    silver.deliver("people", "r2", items(90, "k"), ("ana", "ben", "chi"))
    assert silver.run("people", "r2").success
    entries = silver.project("people").store.history("r2")
    findings = next(each for each in entries if each["event"] == "decided")["findings"]
    (known,) = (each for each in findings if each["check"] == "classifier_known")
    assert (known["passed"], known["severity"]) == (False, "warning")


@pytest.mark.parametrize(
    ("change", "words"),
    [
        (("certified_by: people", "certified_by: silver"), "with the project itself"),
        (("certified_by: people", "certified_by: nobody"), "nobody.yaml; expected one"),
        (("[judge]", "[judge, other]"), "beside 2 classifiers"),
        (("[judge]", "[other]"), "other.yaml; expected one"),
    ],
)
def test_a_project_that_cannot_be_certified_does_not_load(silver, change, words):
    path = silver.root / "configs/projects/silver.yaml"
    path.write_text(path.read_text().replace(*change))
    with pytest.raises(ProjectError, match=words):
        silver.project()


def test_a_file_that_says_another_name_is_refused(silver):
    path = silver.root / "configs/classifiers/judge.yaml"
    path.write_text(path.read_text().replace("judge", "other"))
    with pytest.raises(CertificateError, match="expected 'judge'"):
        _ = silver.project().judged_under
