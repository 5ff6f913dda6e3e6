"""Great Expectations finds the same when a contract loads it. What ends the program is refused."""

import json
import os
import subprocess
import sys

import pytest

from agreement_pipeline.contract.gx import LOADED_LATER
from tests.contract.tables import entry

CHECKED = """
import json
import os
import sys

from agreement_pipeline.contract import Contract
from agreement_pipeline.readers import read

loaded = sorted(sys.modules)
rows = [(f"item {n}", name, "ab"[(n + len(name)) % 7 == 0]) for n in range(60) for name in RATERS]
for how in ("by itself", "in full"):
    if os.fork() == 0:
        if how == "in full":
            import great_expectations
        told = {"rows": [each("rows", *one) for one in ROWS], "items": DEFAULT}
        findings = Contract.from_mapping(told).check(read(table(rows)))
        said = {"after": sorted(sys.modules), "findings": list(map(repr, findings))}
        said |= {"loaded": loaded, "fields": fields_of_all()}
        print(json.dumps({how: said}), flush=True)
        os._exit(0)
    os.wait()
"""
SETTING = """
import pandas as pd

RATERS = ("ana", "ben", "carla")
SHARES = {"values": ["a", "b"], "weights": [0.5, 0.5]}
ROWS = [
    ("expect_column_kl_divergence_to_be_less_than",
     {"column": "label", "partition_object": SHARES, "threshold": 0.1}),
    ("expect_column_distinct_values_to_be_in_set", {"column": "label", "value_set": ["a"]}),
    ("expect_column_values_to_match_regex", {"column": "item", "regex": "^item [0-9]$"}),
    ("expect_column_value_lengths_to_be_between", {"column": "rater", "max_value": 4}),
    ("expect_compound_columns_to_be_unique", {"column_list": ["item", "rater"]}),
    ("expect_column_unique_value_count_to_be_between", {"column": "rater", "max_value": 2}),
    ("expect_table_row_count_to_be_between", {"min_value": 181}),
    ("expect_column_most_common_value_to_be_in_set", {"column": "label", "value_set": ["b"]}),
]


def each(table, kind, kwargs):
    words = {"description": kind, "meta": {"check": kind}, "severity": "warning"}
    return {"type": kind, "kwargs": kwargs, **words}


DEFAULT = [each("items", "expect_table_row_count_to_equal", {"value": 60})]


def fields_of_all():  # what each expectation asks for, and how each field is checked
    from great_expectations.expectations import registry

    kinds = registry.list_registered_expectation_implementations()
    return {kind: fields_of(registry.get_expectation_impl(kind)) for kind in sorted(kinds)}


def fields_of(expectation):
    return [
        [repr(field), repr(field.field_info), sorted(field.class_validators)]
        + [len(each or ()) for each in (field.pre_validators, field.validators,
                                        field.post_validators)]
        for field in expectation.__fields__.values()
    ]


def table(rows):
    return pd.DataFrame(rows, columns=["item", "rater", "label"])
"""


@pytest.fixture(scope="module")
def found(tmp_path_factory):
    """What processes find if a contract loads Great Expectations, and if the user did.

    Both are forks of a fresh one.
    """
    program = tmp_path_factory.mktemp("loaded") / "check.py"
    program.write_text(SETTING + CHECKED, encoding="utf-8")
    command = [sys.executable, str(program)]
    here = {**os.environ, "PYTHONPATH": os.pathsep.join(sys.path)}
    run = subprocess.run(command, capture_output=True, text=True, check=True, env=here)
    by_itself, in_full = map(json.loads, run.stdout.splitlines())
    return by_itself | in_full


def test_findings_and_what_expectations_ask_for_are_the_same(found):
    by_itself, in_full = found["by itself"], found["in full"]
    assert by_itself["findings"] == in_full["findings"]
    assert by_itself["fields"] == in_full["fields"]
    assert len(in_full["fields"]) > 50
    said = " ".join(by_itself["findings"])
    assert said.count("passed=False") == 7
    assert "could not be run" not in said


def test_plots_are_loaded_with_neither_the_package_nor_a_contract(found):
    by_itself, in_full = found["by itself"], found["in full"]
    assert "great_expectations" not in by_itself["loaded"]
    assert "great_expectations" in by_itself["after"]
    assert {*LOADED_LATER} <= {*in_full["after"]}
    assert "altair" not in by_itself["after"]


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
