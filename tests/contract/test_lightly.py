"""Great Expectations finds the same, loaded lightly or in full."""

import json
import os
import subprocess
import sys

import pytest

from agreement_pipeline.contract.lightly import LEFT_OUT, LOADED_LATER

CHECKED = """
import json
import sys

from agreement_pipeline.contract import Contract, load_lightly
from agreement_pipeline.readers import read

if sys.argv[1] == "lightly":
    load_lightly()
loaded = sorted(sys.modules)
rows = [(f"item {n}", name, "ab"[(n + len(name)) % 7 == 0]) for n in range(60) for name in RATERS]
contract = Contract.from_mapping({"rows": [each("rows", *one) for one in ROWS], "items": DEFAULT})
findings = contract.check(read(table(rows)))
print(json.dumps({"loaded": loaded, "findings": [repr(found) for found in findings]}))
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


def table(rows):
    return pd.DataFrame(rows, columns=["item", "rater", "label"])
"""


@pytest.fixture(scope="module")
def found(tmp_path_factory):
    """What a fresh process finds, with Great Expectations loaded in each of both ways."""
    program = tmp_path_factory.mktemp("lightly") / "check.py"
    program.write_text(SETTING + CHECKED, encoding="utf-8")

    def in_a_process(how):
        command = [sys.executable, str(program), how]
        here = {**os.environ, "PYTHONPATH": os.pathsep.join(sys.path)}
        run = subprocess.run(command, capture_output=True, text=True, check=True, env=here)
        return json.loads(run.stdout)

    return {how: in_a_process(how) for how in ("lightly", "in full")}


def test_the_findings_are_the_same(found):
    assert found["lightly"]["findings"] == found["in full"]["findings"]
    said = " ".join(found["lightly"]["findings"])
    assert said.count("passed=False") == 7
    assert "could not be run" not in said


def test_what_a_table_does_not_need_is_not_loaded(found):
    loaded = set(found["lightly"]["loaded"])
    assert "great_expectations" in loaded
    assert not loaded & {*LEFT_OUT, *LOADED_LATER}
