"""What tests of suites have in common."""

from datetime import UTC, datetime

from agreement_pipeline.contract import Suite
from agreement_pipeline.yaml_files import Place

DELIVERED_AT = datetime(2026, 11, 28, tzinfo=UTC)


def entry(type_="expect_column_values_to_not_be_null", severity="critical", meta=None, **kwargs):
    kwargs = kwargs or {"column": "label"}
    return {"type": type_, "kwargs": kwargs, "severity": severity, "meta": meta or {}}


def suite_of(*entries, **meta):
    return Suite.from_mapping(
        {"expectations": [*entries], "meta": meta}, "ours", Place("ours.json")
    )
