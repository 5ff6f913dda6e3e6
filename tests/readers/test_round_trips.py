"""Exports that the tools' own packages wrote: `tools/round_trips/` writes them again."""

import pytest

from agreement_pipeline.readers import Columns, Rules, rows_of
from tests.readers.exports_of_tools import EXPORTS

NO_WORD = Rules(all_rounds=True, requires=())
CONTROLS = {
    "sentiment": {("1", "11"): "positive", ("1", "12"): "neutral", ("2", "11"): "negative"},
    "topics": {
        ("1", "11"): "price|service",
        ("1", "12"): "|",
        ("2", "11"): "delivery",
        ("2", "12"): "|",
    },
    "quality": {("1", "11"): "5", ("1", "12"): "4", ("2", "11"): "1"},
    "severity": {("1", "11"): "0.5", ("1", "12"): "10", ("2", "11"): "90"},
    "kind": {
        ("1", "11"): "complaint|praise > of staff",
        ("1", "12"): "praise > of goods",
        ("2", "11"): "complaint",
        ("2", "12"): "|",
    },
    "bought": {("1", "11"): "2026-01-02", ("1", "12"): "2026-01-03", ("2", "11"): "2026-01-02"},
}
"""What raters said, as `SAID` in `tools/round_trips/label_studio.py` has it."""
JSON_AND_TABLES = [".json", ".csv", ".tsv", "_json_min.json"]


def labels_in(path, question, columns=None):
    rows = rows_of(path, columns or Columns(label=question), rules=NO_WORD)
    assert rows.classifiers == ()
    found = [((row.item, row.rater), row.label) for row in rows.frame.itertuples()]
    assert len(dict(found)) == len(found)
    return dict(found)


@pytest.mark.parametrize("question", CONTROLS)
@pytest.mark.parametrize("ending", JSON_AND_TABLES)
def test_each_control_of_label_studio_is_read_alike_from_json_and_from_its_tables(ending, question):
    path = EXPORTS / "label_studio" / f"every_control{ending}"
    assert labels_in(path, question) == CONTROLS[question]
