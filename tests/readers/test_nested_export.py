"""The lines of the guide that take a nested export apart."""

import json
import re
import subprocess
import sys
from pathlib import Path

import pytest

from agreement_pipeline.readers import read

GUIDE = Path(__file__).parents[2] / "docs" / "guide" / "files-and-columns.md"


def annotation(who, choices, *, skipped=False, question="sentiment"):
    answer = {"type": "choices", "value": {"choices": choices}, "from_name": question}
    return {
        "completed_by": who,
        "was_cancelled": skipped,
        "result": []
        if skipped
        else [answer, {**answer, "value": {"rating": 4}, "from_name": "quality"}],
    }


def table_of_nested(folder, tasks):
    """The table that the guide's lines make of a nested export."""
    (recipe,) = re.findall(r"```python\n(import json\n.*?)```", GUIDE.read_text(), re.DOTALL)
    (folder / "export.json").write_text(json.dumps(tasks))
    subprocess.run([sys.executable, "-W", "error", "-c", recipe], cwd=folder, check=True)
    return folder / "2026-W31.jsonl"


def test_the_lines_of_the_guide_make_a_table_of_a_nested_export(rows_of, tmp_path):
    tasks = [
        {
            "id": 101,
            "annotations": [
                annotation(11, ["good"]),
                annotation(12, ["bad"]),
                annotation(13, ["good"], skipped=True),
            ],
        },
        {
            "id": 102,
            "annotations": [annotation(11, ["bad"]), annotation(12, ["good"], question="topic")],
        },
    ]
    ratings = read(table_of_nested(tmp_path, tasks))
    assert rows_of(ratings.table, "item", "rater", "label") == [
        ("101", "11", "good"),
        ("101", "12", "bad"),
        ("102", "11", "bad"),
    ]


@pytest.mark.parametrize(
    ("who", "choices", "words"),
    [
        (11, ["good", "bad"], "found 2 labels of rater '11' for item '101'"),
        ({"id": 11}, ["good"], "column 'rater': found {'id': '11'}; expected one value"),
    ],
)
def test_what_the_lines_of_the_guide_do_not_take_apart_is_refused(
    refusal, tmp_path, who, choices, words
):
    tasks = [{"id": 101, "annotations": [annotation(who, choices), annotation(12, ["bad"])]}]
    assert words in refusal(table_of_nested(tmp_path, tasks))
