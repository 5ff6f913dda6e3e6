"""The command that opens the Dagster UI. Dagster itself is not started here."""

import os
import sys
from importlib import import_module
from pathlib import Path

import dagster as dg
import pytest

from agreement_pipeline.cli import main

ui_module = import_module("agreement_pipeline.cli.ui")
PROJECT = """\
project: reviews
inbox: inbox
scale: {categories: ["no", "yes"]}
policy: standard
"""


@pytest.fixture
def root(tmp_path):
    (tmp_path / "configs/projects").mkdir(parents=True)
    (tmp_path / "inbox").mkdir()
    (tmp_path / "configs/projects/reviews.yaml").write_text(PROJECT)
    return tmp_path


@pytest.fixture
def started(monkeypatch):
    """The commands that would have taken the place of this process, with their environments."""
    calls = []
    monkeypatch.setattr(os, "execve", lambda *call: calls.append(call))
    return calls


def test_dagster_is_started_on_the_projects_and_the_instance_of_run(root, started, monkeypatch):
    monkeypatch.setenv("DAGSTER_HOME", "/of/another/deployment")
    main(["ui", "--root", str(root), "--port", "3001"])
    ((program, arguments, environment),) = started
    assert program == sys.executable
    assert arguments[1:4] == ["-m", "dagster", "dev"]
    assert arguments[-4:] == ["--host", "127.0.0.1", "--port", "3001"]
    assert environment["AGREEMENT_ROOT"] == str(root)
    home = Path(environment["DAGSTER_HOME"])
    assert home == root / ".agreement/dagster"
    with dg.DagsterInstance.from_config(str(home)) as instance:
        assert instance.get_runs() == []


def test_folder_without_projects_is_refused(tmp_path, started, capsys):
    assert main(["ui", "--root", str(tmp_path)]) == 2
    assert "expected a project's YAML file" in capsys.readouterr().err
    assert started == []


def test_missing_extra_is_named(root, started, monkeypatch, capsys):
    monkeypatch.setattr(ui_module, "find_spec", lambda _: None)
    assert main(["ui", "--root", str(root)]) == 2
    assert "pip install 'agreement-pipeline[ui]'" in capsys.readouterr().err
    assert started == []
