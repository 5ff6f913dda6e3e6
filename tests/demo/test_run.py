"""The demo works in a folder of its own, whatever stands around it."""

import re
import shutil
from pathlib import Path

import pytest

from agreement_pipeline.cli import main
from agreement_pipeline.demo import run as demo_run
from agreement_pipeline.demo.run import MARK

GUIDE = Path(__file__).parents[2] / "docs/guide.md"
OWN_PROJECT = """project: moderation
inbox: inbox/moderation
policy: standard
scale: {categories: [safe, offensive, hateful]}
"""
OWN_ROUND = "item,rater,label\n" + "".join(
    f"post-{n},{rater},safe\n" for n in range(20) for rater in ("ana", "ben")
)


@pytest.fixture
def team(tmp_path, monkeypatch):
    """A folder with a team's own project `moderation` and its first round, which one works in."""
    files = {
        "configs/projects/moderation.yaml": OWN_PROJECT,
        "inbox/moderation/2026-W01.csv": OWN_ROUND,
        ".agreement/inbox/moderation/2026-W01.csv": OWN_ROUND,
    }
    for name, text in files.items():
        path = tmp_path / "team" / name
        path.parent.mkdir(parents=True)
        path.write_text(text)
    monkeypatch.chdir(tmp_path / "team")
    monkeypatch.setenv("DAGSTER_HOME", str(tmp_path / "team/dagster"))
    return tmp_path / "team"


@pytest.fixture
def without_runs(monkeypatch):
    monkeypatch.setattr(demo_run, "run_projects", lambda _: [])


def bytes_below(folder, without=None):
    """The bytes of each file, and nothing for a folder."""
    return {
        str(path.relative_to(folder)): path.read_bytes() if path.is_file() else None
        for path in folder.rglob("*")
        if without is None or without not in (path, *path.parents)
    }


@pytest.mark.slow
def test_demo_leaves_everything_around_its_folder_as_it_was(team, capsys):
    before = bytes_below(team)
    assert main(["demo"]) == 0
    assert bytes_below(team, without=team / "agreement-demo") == before
    said = capsys.readouterr().out
    assert "2026-W06  held, version 2  withdrawn" in said
    assert "agreement-demo/.agreement/store/moderation/releases" in said
    (shown,) = re.findall(r"```text\n(moderation: .*?)\n```", GUIDE.read_text(), re.DOTALL)
    assert shown in said


@pytest.mark.usefixtures("without_runs")
def test_demo_refuses_a_folder_that_it_did_not_make(team, capsys):
    before = bytes_below(team)
    assert main(["demo", "."]) == 2
    assert "found a folder that no demo made; expected an empty one" in capsys.readouterr().err
    assert bytes_below(team) == before


@pytest.mark.usefixtures("without_runs")
def test_demo_does_not_follow_a_link_out_of_its_folder(team, tmp_path, capsys):
    before = bytes_below(team)
    own = tmp_path / "own"
    own.symlink_to(team)
    assert main(["demo", str(own)]) == 2
    assert "found a link or a file; expected the folder of the demo" in capsys.readouterr().err
    again = tmp_path / "again"
    (again / ".agreement").mkdir(parents=True)
    (again / MARK).touch()
    (again / ".agreement/inbox").symlink_to(team / "inbox")
    assert main(["demo", str(again)]) == 2
    assert "leads out of the demo's folder" in capsys.readouterr().err
    assert bytes_below(team) == before


@pytest.mark.usefixtures("without_runs")
def test_demo_refuses_a_bundled_project_that_was_changed_to_write_elsewhere(
    team, tmp_path, monkeypatch, capsys
):
    configs = tmp_path / "configs"
    shutil.copytree(demo_run._bundled_configs(), configs)
    file = configs / "projects/moderation.yaml"
    file.write_text(
        file.read_text().replace(".agreement/inbox/moderation", str(team / "inbox/moderation"))
    )
    monkeypatch.setattr(demo_run, "_bundled_configs", lambda: configs)
    before = bytes_below(team)
    assert main(["demo", str(tmp_path / "own")]) == 2
    assert "leads out of the demo's folder" in capsys.readouterr().err
    assert bytes_below(team) == before


@pytest.mark.usefixtures("without_runs")
def test_demo_runs_again_in_the_folder_that_it_made(team):
    assert main(["demo", "trial"]) == 0
    project = team / "trial/configs/projects/moderation.yaml"
    project.write_text(OWN_PROJECT)
    assert main(["demo", "trial"]) == 0
    assert (
        project.read_bytes()
        == (demo_run._bundled_configs() / "projects/moderation.yaml").read_bytes()
    )
