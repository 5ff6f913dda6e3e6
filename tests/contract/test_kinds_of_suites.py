"""Kinds of expectations, asked through a suite that Great Expectations wrote itself. Each passes
and fails with the counts that it gives alone on the same typed table.
"""

import json

import pandas as pd
import pytest

from agreement_pipeline.contract import Suite, findings_of, validate_delivery
from agreement_pipeline.contract.gx import using_great_expectations
from agreement_pipeline.readers import read_delivered
from tests.contract.suites import DELIVERED_AT

TABLE = pd.DataFrame(
    {
        "item": [f"i{at:02}" for at in range(20)],
        "rater": ["ana", "ben", "chi", "dan"] * 5,
        "label": ["yes", "no"] * 10,
        "lang": ["de"] * 15 + ["en"] * 5,
        "seconds": [float(at) for at in range(1, 21)],
        "twice": [2.0 * at for at in range(1, 21)],
        "number": list(range(1, 21)),
        "down": list(range(20, 0, -1)),
        "mail": ["x@y.de"] * 2 + [None] * 18,
        "day": ["d2026-11-01"] * 19 + ["soon"],
        "json": ['{"a": 1}'] * 19 + ["{"],
        "object": ['{"a": 1}'] * 20,
        "at": ["2026-11-01T10:00:00Z"] * 19 + ["2099-01-01T00:00:00Z"],
        "day_of_month": [f"day {at:02}" for at in range(1, 21)],
    }
)
SCHEMA = {"type": "object", "required": ["a"]}


def between(low, high):
    return {"min_value": low, "max_value": high}


C = {"column": "seconds"}
KINDS = [
    ("ExpectColumnDistinctValuesToBeInSet", {"column": "lang"}, {"value_set": ["de", "en"]},
     {"value_set": ["de"]}),
    ("ExpectColumnDistinctValuesToContainSet", {"column": "lang"}, {"value_set": ["de"]},
     {"value_set": ["fr"]}),
    ("ExpectColumnDistinctValuesToEqualSet", {"column": "lang"}, {"value_set": ["de", "en"]},
     {"value_set": ["de"]}),
    ("ExpectColumnKLDivergenceToBeLessThan", {"column": "lang"},
     {"partition_object": {"values": ["de", "en"], "weights": [0.75, 0.25]}, "threshold": 0.1},
     {"partition_object": {"values": ["de", "en"], "weights": [0.1, 0.9]}, "threshold": 0.1}),
    ("ExpectColumnMaxToBeBetween", C, between(20, 20), between(1, 2)),
    ("ExpectColumnMeanToBeBetween", C, between(10, 11), between(1, 2)),
    ("ExpectColumnMedianToBeBetween", C, between(10, 11), between(1, 2)),
    ("ExpectColumnMinToBeBetween", C, between(1, 1), between(2, 3)),
    ("ExpectColumnMostCommonValueToBeInSet", {"column": "lang"}, {"value_set": ["de"]},
     {"value_set": ["en"]}),
    ("ExpectColumnPairValuesAToBeGreaterThanB", {},
     {"column_A": "twice", "column_B": "seconds"}, {"column_A": "seconds", "column_B": "twice"}),
    ("ExpectColumnPairValuesToBeEqual", {}, {"column_A": "seconds", "column_B": "seconds"},
     {"column_A": "seconds", "column_B": "twice"}),
    ("ExpectColumnPairValuesToBeInSet", {"column_A": "lang", "column_B": "label"},
     {"value_pairs_set": [("de", "yes"), ("de", "no"), ("en", "yes"), ("en", "no")]},
     {"value_pairs_set": [("de", "yes")]}),
    ("ExpectColumnProportionOfUniqueValuesToBeBetween", C, between(1, 1), between(0, 0.5)),
    ("ExpectColumnProportionOfNonNullValuesToBeBetween", {"column": "mail"}, between(0, 0.1),
     between(0.9, 1)),
    ("ExpectColumnQuantileValuesToBeBetween", C,
     {"quantile_ranges": {"quantiles": [0.5], "value_ranges": [[9, 12]]}},
     {"quantile_ranges": {"quantiles": [0.5], "value_ranges": [[1, 2]]}}),
    ("ExpectColumnStdevToBeBetween", C, between(5, 6), between(0, 1)),
    ("ExpectColumnSumToBeBetween", C, between(210, 210), between(0, 1)),
    ("ExpectColumnToExist", {}, {"column": "lang"}, {"column": "nowhere"}),
    ("ExpectColumnUniqueValueCountToBeBetween", {"column": "lang"}, between(2, 2), between(5, 9)),
    ("ExpectColumnValueLengthsToBeBetween", {"column": "lang"}, between(2, 2), between(3, 9)),
    ("ExpectColumnValueLengthsToEqual", {"column": "lang"}, {"value": 2}, {"value": 3}),
    ("ExpectColumnValueZScoresToBeLessThan", {**C, "double_sided": True}, {"threshold": 3},
     {"threshold": 1}),
    ("ExpectColumnValuesToBeBetween", C, between(1, 20), between(3, 18)),
    ("ExpectColumnValuesToBeDateutilParseable", {"column": "day"}, {"mostly": 0.0},
     {"mostly": 1.0}),
    ("ExpectColumnValuesToBeDecreasing", {}, {"column": "down"}, C),
    ("ExpectColumnValuesToBeInSet", {"column": "lang"}, {"value_set": ["de", "en"]},
     {"value_set": ["de"]}),
    ("ExpectColumnValuesToBeInTypeList", {}, {**C, "type_list": ["float64"]},
     {**C, "type_list": ["int64"]}),
    ("ExpectColumnValuesToBeIncreasing", {}, C, {"column": "down"}),
    ("ExpectColumnValuesToBeJsonParseable", {"column": "json"}, {"mostly": 0.9}, {"mostly": 1.0}),
    ("ExpectColumnValuesToBeNull", {"column": "mail"}, {"mostly": 0.9}, {"mostly": 1.0}),
    ("ExpectColumnValuesToBeOfType", {}, {**C, "type_": "float64"}, {**C, "type_": "int64"}),
    ("ExpectColumnValuesToBeUnique", {}, {"column": "item"}, {"column": "lang"}),
    ("ExpectColumnValuesToMatchJsonSchema", {"column": "object"},
     {"json_schema": SCHEMA}, {"json_schema": {"type": "array"}}),
    ("ExpectColumnValuesToMatchRegex", {"column": "day"}, {"regex": "^(d2026|soon)"},
     {"regex": "^d2026"}),
    ("ExpectColumnValuesToMatchRegexList", {"column": "day"},
     {"regex_list": ["^d2026", "^soon"]}, {"regex_list": ["^x"]}),
    ("ExpectColumnValuesToMatchStrftimeFormat", {"column": "day"},
     {"strftime_format": "d%Y-%m-%d", "mostly": 0.9}, {"strftime_format": "d%Y-%m-%d"}),
    ("ExpectColumnValuesToNotBeInSet", {"column": "lang"}, {"value_set": ["fr"]},
     {"value_set": ["en"]}),
    ("ExpectColumnValuesToNotBeNull", {}, {"column": "lang"}, {"column": "mail"}),
    ("ExpectColumnValuesToNotMatchRegex", {"column": "day"}, {"regex": "@"}, {"regex": "soon"}),
    ("ExpectColumnValuesToNotMatchRegexList", {"column": "day"}, {"regex_list": ["@", "!"]},
     {"regex_list": ["soon"]}),
    ("ExpectCompoundColumnsToBeUnique", {}, {"column_list": ["item", "rater"]},
     {"column_list": ["lang", "label"]}),
    ("ExpectMulticolumnSumToEqual", {"column_list": ["seconds", "seconds"]},
     {"sum_total": 2, "mostly": 0.0}, {"sum_total": 2}),
    ("ExpectSelectColumnValuesToBeUniqueWithinRecord", {}, {"column_list": ["item", "rater"]},
     {"column_list": ["seconds", "number"]}),
    ("ExpectTableColumnCountToBeBetween", {}, between(14, 14), between(1, 2)),
    ("ExpectTableColumnCountToEqual", {}, {"value": 14}, {"value": 3}),
    ("ExpectTableColumnsToMatchOrderedList", {}, {"column_list": list(TABLE)},
     {"column_list": ["item"]}),
    ("ExpectTableColumnsToMatchSet", {}, {"column_set": ["item"], "exact_match": False},
     {"column_set": ["item"], "exact_match": True}),
    ("ExpectTableRowCountToBeBetween", {}, between(20, 20), between(1, 2)),
    ("ExpectTableRowCountToEqual", {}, {"value": 20}, {"value": 3}),
]  # fmt: skip


def written_by_great_expectations(which):
    """The suite whose expectations pass (0), or fail (1)."""
    import great_expectations as gx
    import great_expectations.expectations as gxe

    gx.get_context(mode="ephemeral")
    suite = gx.ExpectationSuite(name="kinds")
    for number, (kind, common, *arguments) in enumerate(KINDS):
        expectation = getattr(gxe, kind)(**common, **arguments[which], meta={"check": f"k{number}"})
        suite.add_expectation(expectation)
    return suite


def validated_alone(suite, frame):
    import great_expectations as gx

    source = gx.get_context(mode="ephemeral").data_sources.add_pandas("alone")
    whole = source.add_dataframe_asset("table").add_batch_definition_whole_dataframe("whole")
    batch = whole.get_batch(batch_parameters={"dataframe": frame})
    return batch.validate(suite, result_format="SUMMARY").results


@pytest.mark.parametrize(("which", "passes"), [(0, True), (1, False)])
@pytest.mark.parametrize("form", ["csv", "parquet"])
def test_each_kind_passes_and_fails_as_great_expectations_alone(which, passes, form, tmp_path):
    path = tmp_path / f"round.{form}"
    TABLE.to_csv(path, index=False) if form == "csv" else TABLE.to_parquet(path)
    with using_great_expectations():
        theirs = written_by_great_expectations(which)
    (tmp_path / "kinds.json").write_text(json.dumps(theirs.to_json_dict()))
    suite = Suite.load(tmp_path / "kinds.json")
    table = read_delivered(path, suite.needed_columns)
    result = validate_delivery(suite, table, ("yes", "no"), DELIVERED_AT)
    ours = {finding.check: finding for finding in findings_of(suite, result)}
    counts = {
        each["expectation_config"]["meta"]["check"]: each["result"] for each in result["results"]
    }

    with using_great_expectations():
        alone = validated_alone(theirs, table.columns.to_pandas())
    assert len(alone) == len(KINDS) == len({kind for kind, *_ in KINDS}) >= 45
    for each in alone:
        check = each.expectation_config.meta["check"]
        kind = KINDS[int(check[1:])][0]
        assert not each.exception_info.get("raised_exception"), kind
        assert (each.success, ours[check].passed) == (passes, passes), kind
        for name in ("element_count", "missing_count", "unexpected_count"):
            assert counts[check].get(name) == each.result.get(name), kind
        observed = each.result.get("observed_value")
        if isinstance(observed, int | float):
            assert counts[check]["observed_value"] == observed
