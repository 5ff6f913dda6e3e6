"""Spark has the same rows of an export as DuckDB."""

from dataclasses import replace

import pytest

from agreement_pipeline.engine import duckdb_session, spark_session
from agreement_pipeline.readers import rows_of
from tests.readers.conftest import frame_in
from tests.readers.exports_of_tools import CASES


@pytest.mark.parametrize("name", ["label_studio", "argilla", "prodigy", "toloka"])
def test_spark_and_duckdb_have_the_same_rows(spark, name):
    case = CASES[name]
    columns = replace(case.columns, gold="gold") if name == "label_studio" else case.columns
    rules = replace(case.rules, strata=("kind",), rejected="left out")
    here, there = (
        rows_of(case.file, columns, rules=rules, session=session)
        for session in (duckdb_session(), spark_session())
    )
    assert frame_in(here).to_csv() == frame_in(there).to_csv()
    assert here.left_out == there.left_out
    assert here.classifiers == there.classifiers
