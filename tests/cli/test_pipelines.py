"""What a pipeline calls, run as its runner runs it: each step in bash, until one fails."""

import os
import shlex
import subprocess
import sys

import pytest
import yaml

from agreement_pipeline.cli import main
from agreement_pipeline.cli.guide import PACKAGE
from tests.cli.rounds import unanimous

ROOT = PACKAGE.parent
PAGE = (ROOT / "docs/guide/pipelines.md").read_text()
BLOCKS = [yaml.safe_load(text.split("```")[0]) for text in PAGE.split("```yml\n")[1:]]
WORKFLOW, HOOKS, STAGES = BLOCKS
ACTION = yaml.safe_load((ROOT / "action.yml").read_text())


def steps_of_a_job(outputs):
    """The steps of the guide's workflow, with those of the action in its place.

    What a step's environment takes from an input or from an earlier step stands in its place.
    """
    for step in WORKFLOW["jobs"]["labels"]["steps"]:
        if "agreement" in step.get("uses", ""):
            inputs = {name: setting.get("default") for name, setting in ACTION["inputs"].items()}
            values = {f"inputs.{name}": text for name, text in (inputs | step["with"]).items()}
            for of_action in ACTION["runs"]["steps"]:
                if "run" in of_action:
                    known = values | outputs()
                    env = of_action.get("env", {})
                    yield (
                        of_action["run"],
                        {
                            name: known[text[len("${{ ") : -len(" }}")]]
                            for name, text in env.items()
                        },
                    )
        elif "run" in step:
            yield step["run"], {}


@pytest.fixture
def path(tmp_path):
    """The programs that a runner has: those of this environment, and a trainer that does little.

    `python -m venv` makes a folder of the same programs, and each call of pip leaves a line.
    """
    bin_ = tmp_path / "bin"
    bin_.mkdir()
    for name, words in (
        ("agreement-pipeline", f'exec "{sys.executable}" -m agreement_pipeline "$@"'),
        (
            "python",
            f"""case "$*" in
              "-c "*) exec "{sys.executable}" "$@" ;;
              "-m venv --clear "*) rm -rf "$4"; mkdir -p "$4"; cp -r "{bin_}" "$4/bin" ;;
              "-m pip "*) echo "$@" >> "{tmp_path}/pip.txt" ;;
              *) touch trained ;;
            esac""",
        ),
    ):
        (bin_ / name).write_text(f"#!/bin/bash\n{words}\n")
        (bin_ / name).chmod(0o755)
    return {"PATH": f"{bin_}:{os.environ['PATH']}", "PYTHONPATH": f"{ROOT}"}


@pytest.fixture
def run(tmp_path, path):
    """Runs the steps in a folder with `labels.csv`. Gives the status, and the summary."""
    summary, output = tmp_path / "summary.md", tmp_path / "output.txt"
    runner = {
        "GITHUB_ACTION_PATH": str(ROOT),
        "GITHUB_OUTPUT": str(output),
        "GITHUB_STEP_SUMMARY": str(summary),
        "RUNNER_TEMP": str(tmp_path),
        "RUNNER_OS": "Linux",
        "RUNNER_ARCH": "X64",
    }

    def outputs():
        lines = output.read_text().splitlines() if output.exists() else []
        pairs = (line.split("=", 1) for line in lines)
        return {f"steps.environment.outputs.{name}": value for name, value in pairs}

    def steps():
        for words, env in steps_of_a_job(outputs):
            done = subprocess.run(
                ["bash", "--noprofile", "--norc", "-e", "-o", "pipefail", "-c", words],
                cwd=tmp_path,
                env={**os.environ, **path, **env, **runner},
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


def test_the_environment_is_installed_once_and_again_if_half_of_it_is_there(run, tmp_path):
    unanimous(tmp_path, 500).rename(tmp_path / "labels.csv")
    for _ in range(2):
        assert run()[0] == 0
    installed = f"-m pip install --quiet {ROOT}"
    assert (tmp_path / "pip.txt").read_text().splitlines() == [installed]
    (tmp_path / "agreement-pipeline/installed").unlink()
    assert run()[0] == 0
    assert (tmp_path / "pip.txt").read_text().splitlines() == [installed] * 2


def test_other_code_takes_another_environment_from_the_cache(tmp_path, path):
    first, *_ = ACTION["runs"]["steps"]
    action = tmp_path / "action"
    (action / "agreement_pipeline").mkdir(parents=True)
    (action / "pyproject.toml").touch()
    keys = []
    for code in ("x = 1\n", "x = 1\n", "x = 2\n"):
        (action / "agreement_pipeline/module.py").write_text(code)
        output = tmp_path / "output.txt"
        output.write_text("")
        runner = {
            "GITHUB_ACTION_PATH": str(action),
            "GITHUB_OUTPUT": str(output),
            "RUNNER_TEMP": str(tmp_path),
        }
        subprocess.run(
            ["bash", "-e", "-o", "pipefail", "-c", first["run"]],
            env={**os.environ, **path, **runner},
            check=True,
        )
        keys.append(output.read_text())
    assert keys[0] == keys[1] != keys[2]


def test_a_misspelt_label_stops_every_door_of_the_guide(run, tmp_path, monkeypatch):
    table = unanimous(tmp_path, 500)
    text = table.read_text().replace(",yes\n", ",yess\n", 1)
    table.unlink()
    (tmp_path / "labels.csv").write_text(text)
    status, summary, _ = run()
    assert status == 2
    assert "yess" in summary
    (known,) = yaml.safe_load((ROOT / ".pre-commit-hooks.yaml").read_text())
    (mine,) = HOOKS["repos"][0]["hooks"]
    monkeypatch.chdir(tmp_path)
    assert main([*shlex.split(known["entry"])[1:], *mine["args"], "labels.csv"]) == 2


def test_a_held_round_ends_the_job_and_says_why(run, tmp_path):
    unanimous(tmp_path, 12).rename(tmp_path / "labels.csv")
    status, summary, _ = run()
    assert (status, (tmp_path / "trained").exists()) == (1, False)
    assert summary.startswith("### held: labels.csv\n\n- krippendorff\\_alpha")
    assert "What to do now:\n\n1. Label " in summary


def test_a_file_that_cannot_be_read_ends_the_job_too(run, tmp_path):
    (tmp_path / "labels.csv").write_text("item,rater,label\ni1,ana\n")
    status, summary, said = run()
    assert (status, (tmp_path / "trained").exists()) == (2, False)
    assert summary.startswith("### not judged: labels.csv\n\n- labels.csv: row 2: found 2 cells")
    assert "labels.csv" in said


def test_a_stricter_policy_ends_the_job(run, tmp_path, monkeypatch):
    unanimous(tmp_path, 500).rename(tmp_path / "labels.csv")
    (tmp_path / "strict.yaml").write_text(
        "policy: strict\nversion: 1\nrules:\n  - {measure: krippendorff_alpha, reliable: 0.999}\n"
    )
    (step,) = (each for each in WORKFLOW["jobs"]["labels"]["steps"] if "with" in each)
    monkeypatch.setitem(step["with"], "policy", "strict.yaml")
    status, summary, _ = run()
    assert (status, (tmp_path / "trained").exists()) == (1, False)
    assert summary.startswith("### held: labels.csv")


def test_names_of_files_and_options_are_no_commands(run, tmp_path, monkeypatch):
    names = [
        "a b.csv",
        "$(touch pwned).csv",
        "--help",
        "it's; touch pwned.csv",
        "`touch pwned`.csv",
    ]
    for name in names:
        table = unanimous(tmp_path, 500).read_text()
        (tmp_path / name).write_text(table.replace("label", "my label", 1))
    for name in ("v1.csv", "v2.csv"):
        (tmp_path / name).write_text(table.replace("label", "my label", 1))
    (step,) = (each for each in WORKFLOW["jobs"]["labels"]["steps"] if "with" in each)
    monkeypatch.setitem(step["with"], "files", "\n".join([*names, "v?.csv", ""]))
    monkeypatch.setitem(step["with"], "options", "--label=my label\n--categories=yes,no\n")
    status, summary, said = run()
    assert (status, said) == (0, "")
    judged = [line for line in summary.splitlines() if line.startswith("### admitted: ")]
    assert len(judged) == len(names) + 2
    assert not (tmp_path / "pwned").exists()
    monkeypatch.setitem(step["with"], "files", "")
    (tmp_path / "trained").unlink()
    assert run()[0] == 2
    assert not (tmp_path / "trained").exists()


def test_the_hook_holds_a_commit_with_a_table_that_is_held(tmp_path, monkeypatch):
    (known,) = yaml.safe_load((ROOT / ".pre-commit-hooks.yaml").read_text())
    (mine,) = HOOKS["repos"][0]["hooks"]
    assert mine["id"] == known["id"]
    for name, n_items in (("good.csv", 500), ("held.csv", 12)):
        unanimous(tmp_path, n_items).rename(tmp_path / name)
    monkeypatch.chdir(tmp_path)
    program, *words = [*shlex.split(known["entry"]), *mine["args"]]
    assert program == "agreement-pipeline"
    for names, status in ((["good.csv"], 0), (["good.csv", "held.csv"], 1), (["gone.csv"], 2)):
        assert main([*words, *names]) == status


def test_the_fixture_of_pytest_fails_a_test_with_the_reasons(tmp_path, path):
    code = PAGE.split("```python\n")[1].split("```")[0]
    header, body = code.split("\n\n\n")
    few = body.replace("test_labels", "test_few").replace("labels.csv", "few.csv")
    misspelt = body.replace("test_labels", "test_misspelt").replace("labels.csv", "misspelt.csv")
    (tmp_path / "test_all.py").write_text("\n\n\n".join([header, body, few, misspelt]))
    unanimous(tmp_path, 12).rename(tmp_path / "few.csv")
    table = unanimous(tmp_path, 500).rename(tmp_path / "labels.csv")
    wrong = table.read_text().replace(",yes\n", ",yess\n", 1)
    (tmp_path / "misspelt.csv").write_text(wrong)
    words = [sys.executable, "-m", "pytest", "-p", "agreement_pipeline.pytest_plugin"]
    done = subprocess.run(
        [*words, "-p", "no:cacheprovider", "-q", "test_all.py"],
        cwd=tmp_path,
        env={**os.environ, **path},
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 1
    assert "FAILED test_all.py::test_few" in done.stdout
    assert "FAILED test_all.py::test_misspelt" in done.stdout
    assert "yess" in done.stdout
    assert "2 failed, 1 passed" in done.stdout
    assert "held\n  krippendorff_alpha" in done.stdout


def test_the_stage_that_trains_waits_for_the_release():
    stages = STAGES["stages"]
    assert stages["release"]["metrics"][0] in stages["train"]["deps"]
    assert stages["release"]["cmd"].endswith("> release.json")
