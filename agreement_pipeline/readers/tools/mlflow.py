"""MLflow: traces with their assessments, and evaluation tables.

Traces say who assessed them: people or models. An evaluation table says nobody. It has one judge,
who is named after the file. So a folder with a table for each judge shows several.
"""

from collections.abc import Iterator, Mapping
from typing import Any

from agreement_pipeline.readers.exports import Export
from agreement_pipeline.readers.submissions import Kind, Submission
from agreement_pipeline.readers.times import utc
from agreement_pipeline.readers.tool import Tool

KINDS: dict[str, Kind] = {"HUMAN": "human", "LLM_JUDGE": "model", "CODE": "model"}
SAID = ("/score", "/value")
NAMED = ("request_id", "trace_id", "id")
Data = Mapping[str, Any]


def of_traces(export: Export) -> Iterator[Submission]:
    """The assessments of all traces."""
    for place, record in export.records():
        info = record.get("info", record)
        name = info.get("trace_id") or info["request_id"]
        fields = {key: value for key, value in info.items() if not isinstance(value, (list, dict))}
        for number, each in enumerate(info.get("assessments") or (), 1):
            where = f"trace {name}, assessment {each.get('assessment_id') or number}"
            yield _assessment(each, name, where, place, fields)


def _assessment(said: Data, item: object, where: str, place: str, fields: Data) -> Submission:
    source, expected = said["source"], said.get("expectation")
    answer = (expected or said.get("feedback") or {}).get("value")
    question = said.get("assessment_name") or said["name"]
    span = said.get("span_id")
    return Submission(
        f"{item}/{span}" if span else item,
        source.get("source_id"),
        {question: None if isinstance(answer, (list, dict)) else answer},
        where,
        kind="gold" if expected else KINDS[source["source_type"]],
        created=utc(said.get("create_time"), place),
        updated=utc(said.get("last_update_time"), place),
        fields=fields,
    )


def of_tables(export: Export) -> Iterator[Submission]:
    """The scores of each evaluation table."""
    for path in export.files:
        for _, table in export.records_in(path):
            for number, cells in enumerate(table["data"], 1):
                row = dict(zip(table["columns"], cells, strict=True))
                yield Submission(
                    next((row[name] for name in NAMED if row.get(name)), number),
                    path.stem,
                    {question(name): row[name] for name in row if name.endswith(SAID)},
                    f"{path.stem}: row {number}",
                    fields={name: row[name] for name in row if "/" not in name},
                )


def question(column: str) -> str:
    """The question of a column of scores.

    >>> question("correctness/v1/score"), question("correctness/value")
    ('correctness/v1', 'correctness')
    """
    return column.rpartition("/")[0] if column.endswith(SAID) else column


def _is_table(export: Export) -> bool:
    columns = export.first.get("columns")
    named = isinstance(columns, list) and isinstance(export.first.get("data"), list)
    return named and any(str(each).endswith(SAID) for each in columns or ())


def _is_traces(export: Export) -> bool:
    first = export.first
    info = first["info"] if isinstance(first.get("info"), Mapping) else first
    return "assessments" in info and ("trace_id" in info or "request_id" in info)


MLFLOW_TRACES = Tool(
    "mlflow_traces",
    "MLflow's traces",
    _is_traces,
    of_traces,
    frozenset({"raters", "times", "gold", "predictions"}),
).register()
MLFLOW_TABLES = Tool(
    "mlflow_tables",
    "MLflow's evaluation tables",
    _is_table,
    of_tables,
    frozenset({"raters"}),
    question=question,
).register()
