import sys
from errno import ENAMETOOLONG

import pytest

from agreement_pipeline.cli import main
from agreement_pipeline.errors import machine_fault_sentence
from agreement_pipeline.version import __version__


@pytest.mark.parametrize(
    "command",
    [
        ["measure", "x" * 5000 + ".csv"],
        ["reassess", "x" * 5000 + ".yaml"],
        ["verify", "x" * 5000],
        ["history", "--store", "x" * 5000],
    ],
    ids=lambda said: said[0],
)
def test_a_path_that_the_system_refuses_is_an_error_in_one_line(capsys, command):
    assert main(command) == 2
    (line,) = capsys.readouterr().err.splitlines()
    assert line.startswith("error: found a path of 5,00")
    assert line.endswith("xxx'…; expected one that the disk takes. Shorten it.")
    assert len(line) < 140


def test_a_refusal_of_the_system_that_tells_no_path_names_none():
    """Those of Arrow tell none."""
    assert machine_fault_sentence(OSError(ENAMETOOLONG, "Failed stat()ing path")).startswith(
        "found [Errno 36] Failed stat()ing path; expected files that can be read"
    )


@pytest.mark.parametrize(
    "command",
    [["verify", "foo://bucket"], ["history", "--store", "foo://bucket"]],
    ids=lambda said: said[0],
)
def test_a_url_that_nothing_here_reads_is_refused(capsys, command):
    assert main(command) == 2
    said = capsys.readouterr().err
    assert "foo://bucket: found a URL that cannot be used (Unsupported filesystem: 'foo'); " in said
    assert "expected a folder, or a URL such as s3://bucket/folder" in said


@pytest.mark.parametrize(
    ("words", "said"),
    [
        ([], "Missing command. See agreement-pipeline --help."),
        (
            ["jugde"],
            "No such command 'jugde'. (Did you mean one of: 'guide', 'judge'?). "
            "See agreement-pipeline --help.",
        ),
        (
            ["measure", "t.csv", "--scop", "json"],
            "No such option '--scop'. Did you mean '--scope'? "
            "See agreement-pipeline measure --help.",
        ),
        (
            ["measure"],
            "FILE: found nothing; expected a value. See agreement-pipeline measure --help.",
        ),
        (
            ["judge", "t.csv"],
            "t.csv: found a table without a policy; expected one. Name it, as --policy standard. "
            "See agreement-pipeline judge --help.",
        ),
        (
            ["plan", "--policy"],
            "Option '--policy' requires an argument. See agreement-pipeline plan --help.",
        ),
        (
            ["compare", "t.csv", "--between", "ana"],
            "Option '--between' requires 2 arguments. See agreement-pipeline compare --help.",
        ),
        (
            ["measure", "t.csv", "u.csv\x1b[2J"],
            "Got unexpected extra argument (u.csv\\x1b[2J). See agreement-pipeline measure --help.",
        ),
    ],
)
def test_a_wrong_command_line_is_answered_in_one_line(capsys, words, said):
    assert main(words) == 2
    printed = capsys.readouterr()
    assert not printed.out
    assert printed.err == f"error: {said}\n"


def test_the_version_is_printed(capsys):
    assert main(["--version"]) == 0
    assert capsys.readouterr().out == f"agreement-pipeline {__version__}\n"


def test_an_interrupt_ends_the_process_and_is_no_verdict(monkeypatch):
    def interrupted(*_):
        raise KeyboardInterrupt

    monkeypatch.setattr("agreement_pipeline.cli.judge.read_with_warnings", interrupted)
    with pytest.raises(KeyboardInterrupt):
        main(["judge", "t.csv", "--policy", "standard"])


def test_too_little_memory_is_said_in_a_sentence_and_no_failure_of_the_program(monkeypatch, capsys):
    def fails(*_):
        raise MemoryError

    monkeypatch.setattr("agreement_pipeline.cli.judge.read_with_warnings", fails)
    assert main(["judge", "t.csv", "--policy", "standard"]) == 2
    assert "found too little memory; expected enough" in capsys.readouterr().err


@pytest.mark.parametrize("failure", [ValueError("a\nb\x1b[2J"), SystemExit(0), KeyError("a")])
def test_a_failure_of_the_program_has_a_status_of_its_own(monkeypatch, capsys, failure):
    def fails(*_):
        raise failure

    monkeypatch.setattr("agreement_pipeline.cli.judge.read_with_warnings", fails)
    assert main(["judge", "t.csv", "--policy", "standard"]) == 70
    printed = capsys.readouterr()
    (line,) = printed.err.splitlines()
    assert not printed.out
    assert line.startswith(f"error: found {type(failure).__name__} (")
    assert "in cli/test_app.py, line" in line
    assert "\x1b" not in line


def test_a_library_that_cannot_be_loaded_is_no_verdict(monkeypatch, capsys):
    monkeypatch.setitem(sys.modules, "agreement_pipeline.cli.app", None)
    assert main(["judge", "t.csv", "--policy", "standard"]) == 70
    assert capsys.readouterr().err.startswith("error: found ModuleNotFoundError (")
