import shutil
import subprocess
from pathlib import Path

import pytest

from agreement_pipeline.cli import main
from tests.orchestration.conftest import ratings_frame

ROOT = Path(__file__).parents[2]
PROJECT = (
    "project: reviews\ninbox: inbox\npolicy: strict\n"
    "scale: {categories: [safe, offensive, hateful]}\n"
)
POLICY = "policy: strict\nversion: 1\nn_resamples: 1000\nrules:\n  - measure: krippendorff_alpha\n"


@pytest.fixture
def root(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A folder with one project. Dagster's home of another deployment is not touched."""
    monkeypatch.setenv("DAGSTER_HOME", str(tmp_path / "elsewhere"))
    for name, text in (("projects/reviews.yaml", PROJECT), ("policies/strict.yaml", POLICY)):
        path = tmp_path / "configs" / name
        path.parent.mkdir(parents=True)
        path.write_text(text)
    (tmp_path / "inbox").mkdir()
    return tmp_path


def test_run_judges_the_projects_that_are_there(root, capsys):
    ratings_frame(0.55).to_csv(root / "inbox/w1.csv", index=False)
    ratings_frame(0.99).replace("hateful", "hatefull").to_csv(root / "inbox/w2.csv", index=False)

    assert main(["run", "--root", str(root)]) == 2
    said = capsys.readouterr().out
    assert [line.split()[:3] for line in said.splitlines() if line.startswith("w")] == [
        ["w1", "held", "none"],
        ["w2", "not", "judged"],
    ]


def test_a_project_without_a_round_says_so_much(root, capsys):
    assert main(["run", "--root", str(root)]) == 0
    assert capsys.readouterr().out.startswith("reviews\n\nround ")


def test_the_ui_starts_when_the_demo_fails_and_its_error_is_seen(tmp_path):
    if shutil.which("make") is None:
        pytest.skip("make is not installed")
    commands = tmp_path / "venv/bin"
    commands.mkdir(parents=True)
    command = commands / "agreement-pipeline"
    command.write_text(
        """#!/bin/sh
        if [ "$1" = demo ]; then echo 'error: a round twice' >&2; exit 2; fi
        echo "started $@"
        """
    )
    command.chmod(0o755)
    (tmp_path / "venv/.runs").touch()
    done = subprocess.run(
        ["make", "ui", f"VENV={tmp_path / 'venv'}"],
        cwd=ROOT,
        capture_output=True,
        text=True,
        check=False,
    )

    assert (done.returncode, "started ui --root agreement-demo" in done.stdout) == (0, True)
    assert "error: a round twice" in done.stderr


def test_a_round_that_is_admitted_again_is_released_again(root, capsys):
    ratings_frame(0.97).to_csv(root / "inbox/w1.csv", index=False)
    file, policy = root / "configs/projects/reviews.yaml", root / "configs/policies/strict.yaml"
    lenient = (
        "policy: strict\nversion: 3\nn_resamples: 1000\nrules:\n  - measure: krippendorff_alpha\n"
    )
    strict = lenient.replace("3", "2") + "    reliable: 0.999\n"

    def decided():
        capsys.readouterr()
        assert main(["run", "--root", str(root)]) == 0
        (line,) = [each for each in capsys.readouterr().out.splitlines() if each.startswith("w1")]
        return line.split()[1:3]

    assert decided() == ["admitted", "released"]
    policy.write_text(strict)
    assert main(["reassess", str(file)]) == 0
    assert "not released" not in capsys.readouterr().out
    assert decided() == ["held", "withdrawn"]
    policy.write_text(lenient)
    assert main(["reassess", str(file)]) == 0
    assert "Admitted and not released: ['w1']." in capsys.readouterr().out
    assert decided() == ["admitted", "released"]
