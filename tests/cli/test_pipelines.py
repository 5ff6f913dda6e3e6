"""The steps of the guide's pipeline, run as a runner runs them: each in bash, until one fails."""

import os
import subprocess
import sys

import pytest
import yaml

from agreement_pipeline.cli.guide import PACKAGE
from tests.cli.rounds import unanimous

PAGE = (PACKAGE.parent / "docs/guide/pipelines.md").read_text()
WORKFLOW, STAGES = (yaml.safe_load(text.split("```")[0]) for text in PAGE.split("```yml\n")[1:])


@pytest.fixture
def run(tmp_path):
    """Runs the steps in a folder with `labels.csv`. Gives the status, and the summary."""
    bin_, package = tmp_path / "bin", PACKAGE.parent
    bin_.mkdir()
    for name, words in (
        ("agreement-pipeline", f'exec "{sys.executable}" -m agreement_pipeline "$@"'),
        ("python", "touch trained"),
        ("pip", "exit 0"),
    ):
        (bin_ / name).write_text(f"#!/bin/bash\n{words}\n")
        (bin_ / name).chmod(0o755)
    summary = tmp_path / "summary.md"
    given = {"PATH": f"{bin_}:{os.environ['PATH']}", "PYTHONPATH": f"{package}"}

    def steps():
        for step in WORKFLOW["jobs"]["labels"]["steps"]:
            if "run" in step:
                done = subprocess.run(
                    ["bash", "-e", "-o", "pipefail", "-c", step["run"]],
                    cwd=tmp_path,
                    env={**os.environ, **given, "GITHUB_STEP_SUMMARY": str(summary)},
                    capture_output=True,
                    text=True,
                    check=False,
                )
                if done.returncode:
                    return done.returncode, summary.read_text(), done.stderr
        return 0, summary.read_text(), ""

    return steps


def test_an_admitted_round_is_trained_on(run, tmp_path):
    unanimous(tmp_path, 500).rename(tmp_path / "labels.csv")
    status, summary, _ = run()
    assert (status, (tmp_path / "trained").exists()) == (0, True)
    assert summary.startswith("### admitted: labels.csv\n\n- krippendorff\\_alpha 1.000")
    assert "| krippendorff\\_alpha, round | 1.000" in summary


def test_a_held_round_ends_the_job_and_says_why(run, tmp_path):
    unanimous(tmp_path, 12).rename(tmp_path / "labels.csv")
    status, summary, _ = run()
    assert (status, (tmp_path / "trained").exists()) == (1, False)
    assert summary.startswith("### held: labels.csv\n\n- krippendorff\\_alpha")
    assert "What to do now:\n\n1. Label " in summary


def test_a_file_that_cannot_be_read_ends_the_job_too(run, tmp_path):
    (tmp_path / "labels.csv").write_text("item,rater,label\ni1,ana\n")
    status, summary, said = run()
    assert (status, summary, (tmp_path / "trained").exists()) == (2, "", False)
    assert "labels.csv" in said


def test_the_stage_that_trains_waits_for_the_decision():
    stages = STAGES["stages"]
    assert stages["judge"]["metrics"][0] in stages["train"]["deps"]
    assert stages["judge"]["cmd"].endswith("> decision.json")
