"""Great Expectations is loaded where it is asked. What ends the program is refused."""

import json
import os
import subprocess
import sys

import pytest

from tests.contract.tables import entry


def test_great_expectations_is_loaded_with_neither_the_package_nor_a_contract():
    program = """
import sys
import agreement_pipeline.cli.judge
from agreement_pipeline.contract import Contract, Suite
Contract.default()
print("great_expectations" in sys.modules)
"""
    here = {**os.environ, "PYTHONPATH": os.pathsep.join(sys.path)}
    command = [sys.executable, "-c", program]
    run = subprocess.run(command, capture_output=True, text=True, check=True, env=here)
    assert run.stdout == "False\n"


ENDED = """
from agreement_pipeline.cli import main
from agreement_pipeline.contract import Contract
from agreement_pipeline.errors import ContractError
from agreement_pipeline.ratings import Ratings, Scale
import pandas as pd

frame = pd.DataFrame({"item": ["a", "a"], "rater": ["x", "y"], "label": ["no", "yes"]})
try:
    print("nothing raised", Contract.from_mapping(CONTRACT).check(Ratings.from_frame(frame, SCALE)))
except ContractError as error:
    print(error)
"""


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


PROJECT = """\
project: own
inbox: inbox
scale: {level: nominal, categories: [safe, odd]}
columns: {item: item, rater: rater, label: label}
policy: standard
contract: own
"""
UNUSUAL = entry(
    "unusual", "expect_column_median_to_be_between", {"column": "occurrence", "min_value": 1}
)
"""Only Great Expectations can answer it."""


def test_an_import_that_ends_the_program_is_refused(ended):
    contract = {"rows": [UNUSUAL], "items": [entry()]}
    first = f'SCALE, CONTRACT = Scale(("no", "yes")), {contract!r}\n'
    run = ended("-c", ENDED.replace("frame =", f"{first}frame =", 1))
    assert run.returncode == 0, run.stderr
    said = "Great Expectations: found that it ends the program (status 0); expected it to check"
    assert run.stdout.startswith(said)


@pytest.mark.parametrize(("extra", "status"), [([], 0), ([UNUSUAL], 2)])
def test_a_round_is_not_admitted_when_the_import_ends_the_program(ended, tmp_path, extra, status):
    """The usual contract does not need it."""
    contract = tmp_path / "configs" / "contracts" / "own"
    contract.mkdir(parents=True)
    (contract / "rows.yaml").write_text(json.dumps([entry(), *extra]), encoding="utf-8")
    (contract / "items.yaml").write_text(json.dumps([entry("on_items")]), encoding="utf-8")
    rows = [f"i{n},{rater},{['safe', 'odd'][n % 2]}" for n in range(400) for rater in "ab"]
    inbox = tmp_path / "inbox"
    inbox.mkdir()
    (inbox / "w1.csv").write_text("\n".join(["item,rater,label", *rows]), encoding="utf-8")
    project = tmp_path / "configs" / "projects" / "own.yaml"
    project.parent.mkdir()
    project.write_text(PROJECT, encoding="utf-8")
    words = ["judge", str(project)]
    run = ended("-c", f"from agreement_pipeline.cli import main\nraise SystemExit(main({words}))")
    assert run.returncode == status, run.stderr
    assert ("ends the program" in run.stderr) == bool(extra)
