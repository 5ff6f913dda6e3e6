"""A command loads the libraries that it needs, and no others."""

import os
import subprocess
import sys

import pytest

from agreement_pipeline.cli.app import PURPOSES

RATINGS = {"numpy", "pandas", "pyarrow"}
OTHERS = {
    "boto3",
    "dagster",
    "duckdb",
    "fsspec",
    "great_expectations",
    "matplotlib",
    "pyspark",
    "rich",
    "sklearn",
    "sqlalchemy",
    "tabulate",
    "upath",
}
RUN = """
import sys

from agreement_pipeline.cli import main

try:
    main(sys.argv[1:])
finally:
    print(*sys.modules, file=sys.stderr)
"""
EACH = """
import os
import sys

import pandas  # which a command may load, and which takes most of the time

from agreement_pipeline.cli import main

for name in sys.argv[1:]:
    if os.fork() == 0:
        main([name, "--help"])
        print(name, *sys.modules, file=sys.stderr, flush=True)
        os._exit(0)
    os.wait()
"""
ROWS = ["item,rater,label", *(f"{n},{rater},{'ab'[n % 2]}" for n in range(8) for rater in "xyz")]


@pytest.fixture
def loaded_by(tmp_path):
    """The libraries that a fresh process holds after a command, run in a folder of its own."""
    (tmp_path / "labels.csv").write_text("\n".join(ROWS), encoding="utf-8")

    def loaded(*words, **environment):
        run = subprocess.run(
            [sys.executable, "-c", RUN, *words],
            capture_output=True,
            text=True,
            check=True,
            cwd=tmp_path,
            env={**os.environ, "PYTHONPATH": os.pathsep.join(sys.path), **environment},
        )
        return {name.split(".")[0] for name in run.stderr.splitlines()[-1].split()}

    return loaded


@pytest.mark.parametrize("words", [["--help"], ["--version"]])
def test_what_needs_no_ratings_loads_no_library_but_click(loaded_by, words):
    loaded = loaded_by(*words)
    assert "click" in loaded
    assert not loaded & {*RATINGS, *OTHERS, "scipy", "yaml"}


def test_completing_the_name_of_a_command_loads_no_library_but_click(loaded_by):
    loaded = loaded_by(
        _AGREEMENT_PIPELINE_COMPLETE="bash_complete",
        COMP_WORDS="agreement-pipeline m",
        COMP_CWORD="1",
    )
    assert "click" in loaded
    assert not loaded & {*RATINGS, *OTHERS, "scipy", "yaml"}


def test_the_help_of_a_command_loads_no_engine_and_nothing_to_orchestrate():
    run = subprocess.run(
        [sys.executable, "-c", EACH, *PURPOSES],
        capture_output=True,
        text=True,
        check=True,
        env={**os.environ, "PYTHONPATH": os.pathsep.join(sys.path)},
    )
    loaded = {name: modules for name, *modules in map(str.split, run.stderr.splitlines())}
    assert loaded.keys() == PURPOSES.keys()
    roots = {name: {each.split(".")[0] for each in modules} for name, modules in loaded.items()}
    assert {name: found & {*OTHERS, "scipy"} for name, found in roots.items()} == {
        name: set() for name in PURPOSES
    }


def test_measuring_loads_no_suite_and_nothing_to_orchestrate(loaded_by):
    loaded = loaded_by("measure", "labels.csv")
    assert loaded >= {"numpy", "pyarrow", "duckdb"}
    assert not loaded & OTHERS - {"duckdb"}


def test_text_is_escaped_without_a_client_of_a_network():
    """`xml.sax` would load one, in a tenth of the time that a decision takes."""
    code = "import sys, agreement_pipeline.report.drawing; print(*sys.modules)"
    run = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert "xml.sax" not in run.stdout.split()
