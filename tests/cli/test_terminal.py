"""What a person sees on a terminal, and what a program reads that is no terminal."""

import json
import os
import pty
import subprocess
import sys
import threading
from contextlib import suppress

import pytest

from agreement_pipeline import progress, readers
from agreement_pipeline.cli import main
from agreement_pipeline.readers import json_files
from tests.cli.rounds import SEROLOGY, WIDE, unanimous

JUDGE = ["judge", str(SEROLOGY), *WIDE, "--policy", "standard"]


def on_a_terminal(*words: str, columns: int = 80, **environment: str) -> str:
    """What a command writes to a terminal."""
    ours, theirs = pty.openpty()
    kept = {name: value for name, value in os.environ.items() if name != "NO_COLOR"}
    process = subprocess.Popen(
        [sys.executable, "-m", "agreement_pipeline", *words],
        stdout=theirs,
        stderr=theirs,
        stdin=subprocess.DEVNULL,
        env={**kept, "COLUMNS": str(columns), **environment},
    )
    os.close(theirs)
    said = b""
    with suppress(OSError):  # how Linux says that the terminal was left
        while part := os.read(ours, 65536):
            said += part
    process.wait()
    os.close(ours)
    return said.decode()


def test_a_table_is_as_wide_as_the_terminal_and_says_where_it_was_cut():
    said = on_a_terminal("measure", str(SEROLOGY), *WIDE, "--measure", "shah_kappa_s")
    lines = said[said.index("measure  ") :].splitlines()
    assert max(map(len, lines)) <= 80
    assert "…" in said


@pytest.mark.parametrize("plain", [{}, {"NO_COLOR": "1"}])
def test_a_decision_has_a_colour_on_a_terminal_unless_no_colour_is_wanted(plain):
    said = on_a_terminal(*JUDGE, **plain)
    assert ("\x1b[31mheld\x1b[0m" in said) == (not plain)
    assert "held" in said


def test_a_program_reads_no_colour_and_no_progress(capfd):
    assert main(JUDGE) == 1
    printed = capfd.readouterr()
    assert printed.out.startswith("held\n")
    assert "\x1b" not in printed.out + printed.err


def test_json_on_an_ascii_terminal_says_the_same(tmp_path):
    table = unanimous(tmp_path, 12).rename(tmp_path / "caf\u00e9\u2026.csv")
    asked = ["judge", str(table), "--policy", "standard", "--format", "json"]
    done = subprocess.run(
        [sys.executable, "-m", "agreement_pipeline", *asked],
        capture_output=True,
        env={**os.environ, "PYTHONIOENCODING": "ascii"},
        check=False,
    )
    assert json.loads(done.stdout.decode("ascii"))["file"] == str(table)


def test_an_ascii_terminal_is_shown_the_same_in_ascii():
    command = [sys.executable, "-m", "agreement_pipeline", "measure", str(SEROLOGY), *WIDE]
    asked = ["--measure", "shah_kappa_s", "--n-resamples", "400"]
    done = subprocess.run(
        [*command, *asked],
        capture_output=True,
        check=True,
        env={**os.environ, "PYTHONIOENCODING": "ascii"},
    )
    assert b" ... 0." in done.stdout


def test_a_reader_who_goes_away_leaves_the_exit_status_as_it_is():
    command = [sys.executable, "-m", "agreement_pipeline", *JUDGE]
    with subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE) as process:
        process.stdout.close()
        assert process.stderr.read() == b""
        assert process.wait() == 1


def test_what_takes_long_says_so_on_a_terminal_and_takes_it_away(monkeypatch, capsys):
    monkeypatch.setattr(progress, "PATIENCE_SECONDS", 0.01)
    monkeypatch.setattr(progress, "EVERY_SECONDS", 0.01)
    monkeypatch.setattr(sys.stderr, "isatty", lambda: True)
    with progress.progress("measure"):
        while "measure: at work for" not in capsys.readouterr().err:
            pass
    assert capsys.readouterr().err.endswith(progress.CLEAR)


def test_a_large_file_says_how_far_it_has_been_read(tmp_path, monkeypatch, capsys):
    monkeypatch.setattr(json_files, "LARGE_FILE_BYTES", 1)
    monkeypatch.setattr(progress, "PATIENCE_SECONDS", 0.01)
    monkeypatch.setattr(progress, "EVERY_SECONDS", 0.01)
    monkeypatch.setattr(sys.stderr, "isatty", lambda: True)
    path = tmp_path / "round.json"
    path.write_text('[{"a": 1}]' + " " * 4 * json_files.CHUNK_CHARACTERS)
    records = json_files.read_json_objects(path)
    next(records)
    with progress.progress("judge"):
        while " s, 25% of round.json" not in capsys.readouterr().err:
            pass
        assert list(records) == []
        while not capsys.readouterr().err.endswith(" s"):
            pass


def test_who_speaks_of_work_that_is_done_says_nothing_of_the_next(monkeypatch, capsys):
    """The first work ends, and the next begins, while somebody looks how far the first is."""
    looking, next_began = threading.Event(), threading.Event()

    def large_file_progress():
        looking.set()
        assert next_began.wait(10)
        return ""

    monkeypatch.setattr(readers, "large_file_progress", large_file_progress)
    monkeypatch.setattr(progress, "PATIENCE_SECONDS", 0.01)
    monkeypatch.setattr(progress, "EVERY_SECONDS", 0.01)
    monkeypatch.setattr(sys.stderr, "isatty", lambda: True)
    before = {*threading.enumerate()}
    with progress.progress("first"):
        assert looking.wait(10)
    (speaker,) = {*threading.enumerate()} - before
    monkeypatch.setattr(progress, "PATIENCE_SECONDS", 60)
    with progress.progress("next"):
        next_began.set()
        speaker.join(10)
        assert not speaker.is_alive()
    assert "first: at work" not in capsys.readouterr().err


def test_rules_that_only_warn_are_shown_met_or_not(tmp_path, capsys):
    policy = tmp_path / "policy.yaml"
    policy.write_text(
        "policy: p\nversion: 1\nrules:\n  - measure: krippendorff_alpha\n"
        "  - {measure: fleiss_kappa, effect: warn, reliable: 0.99, tentative: 0.98}\n"
        "  - {measure: percent_agreement, effect: warn, reliable: 0.1, tentative: 0.05}\n"
    )
    main(["judge", str(SEROLOGY), *WIDE, "--policy", str(policy)])
    said = capsys.readouterr().out
    assert "\n  warning: fleiss_kappa 0." in said
    assert "\n  met: percent_agreement 0." in said


@pytest.mark.parametrize(
    ("n", "reliable", "rest"),
    [(5, 0.1, "1 more rule is met"), (6, 0.999, "2 more rules are not met")],
)
def test_of_many_rules_that_only_warn_the_rest_is_counted(tmp_path, capsys, n, reliable, rest):
    """The six pairs of four raters and the round by other measures; ten are shown."""
    names = ("percent_agreement", "fleiss_kappa", "conger_kappa", "gwet_ac1")
    names = (*names, "brennan_prediger", "shah_kappa_s")[:n]
    scopes = [("percent_agreement", "pair"), *((name, "round") for name in names)]
    rules = [
        f"  - {{measure: {name}, scope: {scope}, effect: warn, reliable: {reliable}, "
        "tentative: 0.05}\n"
        for name, scope in scopes
    ]
    policy = tmp_path / "policy.yaml"
    first = "policy: p\nversion: 1\nrules:\n  - measure: krippendorff_alpha\n"
    policy.write_text(first + "".join(rules))
    main(["judge", str(SEROLOGY), *WIDE, "--policy", str(policy)])
    assert f": {rest}; --format json has them all\n" in capsys.readouterr().out
