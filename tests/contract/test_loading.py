"""Great Expectations is loaded where it is asked. What ends the program is refused."""

import json
import os
import subprocess
import sys
import warnings

import pandas as pd
import pytest

from agreement_pipeline.contract import findings_of, validate_delivery
from agreement_pipeline.contract.gx import using_great_expectations
from agreement_pipeline.readers import read_delivered
from tests.contract.suites import DELIVERED_AT, entry, suite_of


def test_great_expectations_is_loaded_with_neither_the_package_nor_a_contract():
    program = """
import sys
import agreement_pipeline.cli.judge
from agreement_pipeline.contract import Contract, Suite
Contract.none()
print("great_expectations" in sys.modules)
"""
    here = {**os.environ, "PYTHONPATH": os.pathsep.join(sys.path)}
    command = [sys.executable, "-c", program]
    run = subprocess.run(command, capture_output=True, text=True, check=True, env=here)
    assert run.stdout == "False\n"


@pytest.fixture
def ended(tmp_path):
    """A process in which the import of Great Expectations ends the program, as if all went well."""
    package = tmp_path / "great_expectations"
    package.mkdir()
    (package / "__init__.py").write_text("import sys\n\nsys.exit(0)\n", encoding="utf-8")

    def run(*command):
        here = {**os.environ, "PYTHONPATH": os.pathsep.join([str(tmp_path), *sys.path])}
        return subprocess.run(
            [sys.executable, *command], capture_output=True, text=True, check=False, env=here
        )

    return run


SUITE = {"expectations": [entry()]}


def test_an_import_that_ends_the_program_is_refused_and_nothing_is_admitted(ended, tmp_path):
    table, suite = tmp_path / "w1.csv", tmp_path / "ours.json"
    rows = [f"i{n},{rater},{['safe', 'odd'][n % 2]}" for n in range(400) for rater in "ab"]
    table.write_text("\n".join(["item,rater,label", *rows]), encoding="utf-8")
    suite.write_text(json.dumps(SUITE), encoding="utf-8")
    for extra, status in (([], 0), (["--contract", str(suite)], 2)):
        words = ["judge", str(table), "--policy", "standard", *extra]
        program = f"from agreement_pipeline.cli import main\nraise SystemExit(main({words}))"
        run = ended("-c", program)
        assert run.returncode == status, run.stderr
        said = "Great Expectations: found that it ends the program (status 0); expected it to check"
        assert (said in run.stderr) == bool(extra)


WATCHED = """
import os, sys
touched = []
def watch(event, arguments):
    if event in ("socket.connect", "socket.getaddrinfo", "socket.sendto"):
        touched.append((event, arguments))
    if event == "open" and arguments[2] & (os.O_WRONLY | os.O_RDWR | os.O_CREAT):
        touched.append((event, arguments))

import pandas as pd
from agreement_pipeline import check_delivery

sys.addaudithook(watch)
check = check_delivery(sys.argv[1], sys.argv[2])
assert "great_expectations" in sys.modules
print(check.passed, [each for each in touched if "/here" in str(each) or each[0] != "open"])
open(os.devnull, "w").close()
assert touched, "the watch sees nothing"
"""


def test_a_suite_opens_no_connection_writes_nothing_here_and_says_nothing(tmp_path):
    table, suite, code = tmp_path / "w1.csv", tmp_path / "ours.json", tmp_path / "code.py"
    table.write_text("item,rater,label\ni1,a,yes\ni1,b,no\n", encoding="utf-8")
    suite.write_text(json.dumps(SUITE), encoding="utf-8")
    code.write_text(WATCHED, encoding="utf-8")
    folder = tmp_path / "here"
    folder.mkdir()
    here = {**os.environ, "PYTHONPATH": os.pathsep.join(filter(None, sys.path))}
    here |= {f"GX_CLOUD_{name}": "set" for name in ("ACCESS_TOKEN", "ORGANIZATION_ID", "BASE_URL")}
    command = [sys.executable, str(code), str(table), str(suite)]
    run = subprocess.run(command, capture_output=True, text=True, cwd=folder, env=here, check=False)
    assert (run.stdout, run.stderr) == ("True []\n", "")
    assert not [*folder.iterdir()]


def test_warnings_of_great_expectations_fail_nothing(monkeypatch):
    with using_great_expectations():
        import great_expectations

    entity = great_expectations.ExpectationSuite

    def warning_suite(**arguments):
        warnings.warn("old", DeprecationWarning, stacklevel=1)
        return entity(**arguments)

    monkeypatch.setattr(great_expectations, "ExpectationSuite", warning_suite)
    suite = suite_of(entry())
    frame = pd.DataFrame({"item": ["i"], "rater": ["a"], "label": ["yes"]})
    table = read_delivered(frame, suite.needed_columns)
    result = validate_delivery(suite, table, ("no", "yes"), DELIVERED_AT)
    assert [each.passed for each in findings_of(suite, result)] == [True]
