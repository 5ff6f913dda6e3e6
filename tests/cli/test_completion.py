"""A shell completes commands, options, choices, names of measures and files."""

import os
import shutil
import subprocess
import sys

import pytest

from agreement_pipeline.cli import main
from agreement_pipeline.intervals import METHODS
from agreement_pipeline.measures import MEASURES
from tests.cli.test_help import IN_ORDER

COMPLETE = "_AGREEMENT_PIPELINE_COMPLETE"
NAME = "agreement-pipeline"


@pytest.fixture
def complete(monkeypatch, capsys):
    """What a shell is told of a line; its last word is the one to complete."""

    def completed(shell, *words):
        monkeypatch.setenv(COMPLETE, f"{shell}_complete")
        monkeypatch.setenv("COMP_WORDS", " ".join([NAME, *words]))
        monkeypatch.setenv("COMP_CWORD", str(len(words)))
        with pytest.raises(SystemExit, match="0"):
            main([])
        return capsys.readouterr().out.splitlines()

    return completed


def of_bash(lines):
    """Pairs of kind and text."""
    return [tuple(line.split(",", 1)) for line in lines]


def of_zsh(lines):
    """Triples of kind, text and help."""
    return list(zip(lines[::3], lines[1::3], lines[2::3], strict=True))


def test_commands_are_completed_in_the_order_of_use(complete):
    assert of_bash(complete("bash", "")) == [("plain", name) for name in IN_ORDER]
    assert of_bash(complete("bash", "m")) == [("plain", "measure")]


def test_zsh_shows_what_each_command_is_for(complete):
    found = of_zsh(complete("zsh", ""))
    assert [text for _, text, _ in found] == IN_ORDER
    assert all(help_text.endswith(".") for _, _, help_text in found)


def test_options_are_completed(complete):
    assert of_bash(complete("bash", "measure", "t.csv", "--confidence")) == [
        ("plain", "--confidence"),
        ("plain", "--confidence-level"),
    ]
    (found,) = of_zsh(complete("zsh", "plan", "--preva"))
    assert found == ("plain", "--prevalence", "The share of each category.")


@pytest.mark.parametrize(
    ("words", "choices"),
    [
        (["judge", "--format", ""], ["table", "json", "markdown"]),
        (["measure", "--format", ""], ["table", "json"]),
        (["measure", "--layout", "w"], ["wide"]),
        (["measure", "--interval-method", ""], list(METHODS)),
        (["measure", "--level", "in"], ["interval"]),
        (["measure", "--scope", "ra"], ["rater"]),
        (["guide", "pl"], ["planning", "plans"]),
    ],
)
def test_choices_are_completed(complete, words, choices):
    assert of_bash(complete("bash", *words)) == [("plain", name) for name in choices]


@pytest.mark.parametrize("command", ["measure", "compare"])
def test_names_of_measures_are_completed(complete, command):
    found = [text for _, text in of_bash(complete("bash", command, "t.csv", "--measure", ""))]
    assert found == sorted({*MEASURES, "alpha"})
    assert of_bash(complete("bash", command, "--measure", "krippendorff_alp")) == [
        ("plain", "krippendorff_alpha")
    ]
    kinds = {kind for kind, _, _ in of_zsh(complete("zsh", command, "--measure", "f"))}
    assert kinds == {"plain"}


@pytest.mark.parametrize(
    ("words", "kind"),
    [
        (["measure", "lab"], "file"),
        (["compare", "a.csv", "lab"], "file"),
        (["judge", "--policy", "lab"], "file"),
        (["plan", "--plot", "lab"], "file"),
        (["verify", "lab"], "dir"),
        (["history", "--store", "lab"], "dir"),
        (["run", "--root", "lab"], "dir"),
    ],
)
def test_files_and_folders_are_left_to_the_shell(complete, words, kind):
    assert of_bash(complete("bash", *words)) == [(kind, "lab")]
    assert [found[0] for found in of_zsh(complete("zsh", *words))] == [kind]


def test_an_option_given_before_does_not_stop_completion(complete):
    words = ["measure", "t.csv", "--format", "json", "--format", ""]
    assert of_bash(complete("bash", *words)) == [("plain", "table"), ("plain", "json")]


@pytest.mark.parametrize("shell", ["bash", "zsh"])
def test_a_script_for_the_shell_is_printed(monkeypatch, capsys, shell):
    monkeypatch.setenv(COMPLETE, f"{shell}_source")
    with pytest.raises(SystemExit, match="0"):
        main([])
    script = capsys.readouterr().out
    assert f"{COMPLETE}={shell}_complete" in script
    assert NAME in script


@pytest.mark.skipif(shutil.which("bash") is None, reason="bash is not installed")
def test_bash_itself_completes_a_line(tmp_path):
    command = tmp_path / NAME
    command.write_text(
        f'#!/bin/sh\nexec "{sys.executable}" -m agreement_pipeline "$@"\n', encoding="utf-8"
    )
    command.chmod(0o755)
    asked = (
        f'eval "$({COMPLETE}=bash_source {NAME})"; '
        f"COMP_WORDS=({NAME} measure t.csv --measure krippendorff_alp); COMP_CWORD=4; "
        f'_agreement_pipeline_completion {NAME}; echo "${{COMPREPLY[@]}}"'
    )
    path = f"{tmp_path}{os.pathsep}{os.environ['PATH']}"
    found = subprocess.run(
        ["bash", "-c", asked],
        capture_output=True,
        text=True,
        check=True,
        env={**os.environ, "PATH": path, "PYTHONPATH": os.pathsep.join(sys.path)},
    )
    assert found.stdout.split() == ["krippendorff_alpha"]
