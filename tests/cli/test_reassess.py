"""A project is judged again by today's policy, and shows what rests on another one."""

import re

import pytest
import yaml

from agreement_pipeline.cli import main
from agreement_pipeline.orchestration.sensors import shown_state
from agreement_pipeline.projects import Project, load_project, project_page
from agreement_pipeline.release import release_round
from tests.orchestration.conftest import POLICY, ratings_frame

PROJECT = """project: reviews
inbox: inbox
scale:
  level: nominal
  categories: [safe, offensive, hateful]
policy: strict
deliveries: independent
"""


@pytest.fixture
def written(tmp_path):
    """A project whose two rounds were admitted and released. Its policy can be written again."""

    def write(**changed):
        policies = tmp_path / "configs/policies"
        policies.mkdir(parents=True, exist_ok=True)
        (policies / "strict.yaml").write_text(yaml.safe_dump({**POLICY, **changed}))
        return Project(load_project(tmp_path / "configs/projects/reviews.yaml"))

    (tmp_path / "inbox").mkdir()
    (tmp_path / "configs/projects").mkdir(parents=True)
    (tmp_path / "configs/projects/reviews.yaml").write_text(PROJECT)
    (tmp_path / "configs/policies").mkdir()
    (tmp_path / "configs/policies/strict.yaml").write_text(yaml.safe_dump(POLICY))
    project = write()
    for name, agreement in (("w1", 1.0), ("w2", 0.97)):
        ratings_frame(agreement).to_csv(tmp_path / f"inbox/{name}.csv", index=False)
        project.keep(*project.delivered(name))
        release_round(
            project.store,
            name,
            project.policy,
            project.contract,
            project="reviews",
            settings_digest=project.settings.reading_digest,
        )
    return write


def stricter(cutoff):
    return [{"measure": "krippendorff_alpha", "min_items": 20, "reliable": cutoff}]


def test_rounds_that_rest_on_another_policy_are_named_until_they_are_judged_again(
    written, tmp_path, capsys
):
    before = written()
    file, state = f"{tmp_path}/configs/projects/reviews.yaml", shown_state(before, [])
    assert "another policy" not in project_page(before)
    changed = written(version=2, rules=stricter(0.95))
    assert shown_state(changed, []) != state
    words = (
        "2 admitted rounds rest on another policy than today&#39;s strict, version 2: "
        "w1 (strict, version 1) and w2 (strict, version 1)."
    )
    assert words in project_page(changed)

    assert main(["reassess", file]) == 0
    said = capsys.readouterr().out
    by = "by policy strict, version 2."
    assert f"2 rounds looked at, 2 decided anew, 1 changed or failed, {by}" in said
    assert "w2     admitted  held" in said
    assert re.search(r"w2 .* withdrawn$", said, re.MULTILINE)
    assert [entry["round"] for entry in changed.store.in_force()] == ["w1"]
    assert "another policy" not in project_page(changed)

    assert main(["reassess", file]) == 0
    said = capsys.readouterr().out
    assert f"2 rounds looked at, 0 decided anew, 0 changed or failed, {by}" in said


def test_a_round_that_cannot_be_read_is_named_and_ends_nothing(written, tmp_path, capsys):
    project = written(version=2, rules=stricter(0.95))
    table = next((tmp_path / ".agreement/store/reviews/rounds").rglob("*.parquet"))
    table.write_bytes(b"")
    assert main(["reassess", f"{tmp_path}/configs/projects/reviews.yaml"]) == 2
    said = capsys.readouterr().out
    assert "not judged" in said
    assert "so the ratings were edited" in " ".join(said.split())
    assert len(project.store.history()) > 6
