"""Spark has the same rows of an export as DuckDB."""

from dataclasses import replace

import pytest

from agreement_pipeline.engine import duckdb_session, spark_session
from agreement_pipeline.readers import load_rows
from tests.readers.exports_of_tools import CASES

pytestmark = pytest.mark.slow


def in_order(rows):
    """The rows of a table of cells, in the order of the source."""
    return rows.relation.query(f"SELECT * FROM {rows} ORDER BY nth").to_pydict()


@pytest.mark.parametrize("name", ["label_studio", "argilla", "prodigy", "toloka"])
def test_spark_and_duckdb_have_the_same_rows(spark, name):
    case = CASES[name]
    columns = replace(case.columns, gold="gold") if name == "label_studio" else case.columns
    rules = replace(case.rules, strata=("kind",), rejected="left out")
    here, there = (
        load_rows(case.file, columns, rules=rules, session=session)
        for session in (duckdb_session(), spark_session())
    )
    assert in_order(here) == in_order(there)
    assert in_order(here)["item"]
    assert here.left_out == there.left_out
    assert here.classifiers == there.classifiers
