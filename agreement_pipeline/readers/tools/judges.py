"""What people and models said of outputs: Inspect, Langfuse, MLflow and promptfoo.

An item is an output. A rater is a person, a scorer or an assertion. Inspect and promptfoo do not
say which of these are models, so a project names them in `classifiers`. They say what a judge was
given. MLflow names a judge after its model. Langfuse says nothing of it.
"""

import json
from collections import Counter
from collections.abc import Iterator, Mapping
from typing import Any

from agreement_pipeline.errors import RatingsError
from agreement_pipeline.mistakes import shown
from agreement_pipeline.readers.exports import Export
from agreement_pipeline.readers.submissions import (
    Data,
    Kind,
    Nothing,
    Submission,
    at,
    flag,
    judge_of,
    refuse_parts,
    tool,
    within,
)
from agreement_pipeline.text import listed

HEADER = "header.json"
LANGFUSE = {
    "trace": ("traceId", "trace_id"),
    "observation": ("observationId", "observation_id"),
    "text": ("stringValue", "string_value"),
    "type": ("dataType", "data_type"),
    "author": ("authorUserId", "author_user_id"),
    "evaluator": ("evaluatorId", "evaluator_id"),
    "created": ("createdAt", "created_at", "timestamp"),
    "updated": ("updatedAt", "updated_at"),
}
SOURCES: dict[str, Kind] = {"ANNOTATION": "human", "API": "model", "EVAL": "model"}
MLFLOW: dict[str, Kind] = {
    "HUMAN": "human",
    "LLM_JUDGE": "model",
    "AI_JUDGE": "model",  # before it was renamed
    "CODE": "model",
}
GRADED = ("llm-rubric", "factuality", "g-eval", "model-graded-closedqa", "model-graded-factuality")
SAID = ("/score", "/value")
NAMED = ("request_id", "trace_id", "id")


# Inspect's evaluation logs: JSON, or the packed form `.eval`


def _is_inspect(export: Export) -> bool:
    run = export.first.get("eval")
    is_log = isinstance(run, Mapping) and "task" in run
    return is_log or any(path.name == HEADER for path in export.files)


@tool(
    "inspect_ai",
    "Inspect's logs",
    _is_inspect,
    shows={"raters", "times"},
)
def inspect(export: Export) -> Iterator[Submission]:
    """A score is of a task, answered by a model in an epoch. One that was edited is as before."""
    packed = {path.parent for path in export.files if path.name == HEADER}
    for folder in sorted(packed):
        ((_, header),) = export.records(folder / HEADER)
        for path in sorted((folder / "samples").glob("*.json")):
            for _, sample in export.records(path):
                yield from _sample(sample, header["eval"], export.place(path))
    for path in export.files:
        if packed.isdisjoint(path.parents):
            for place, log in export.records(path):
                for sample in log.get("samples") or ():
                    yield from _sample(sample, log["eval"], place)


def _sample(sample: Data, run: Data, place: str) -> Iterator[Submission]:
    task, model, epoch = run["task"], run["model"], sample.get("epoch", 1)
    name = f"{task}/{model}/{run.get('run_id', place)}/{sample['id']}/{epoch}"
    fields = {
        "task": task,
        "model": model,
        "sample": sample["id"],
        "epoch": epoch,
        "text": sample["input"] if isinstance(sample.get("input"), str) else None,
        **(sample.get("metadata") or {}),
    }
    scores = sample.get("scores") or {}
    if not scores:
        yield Submission(name, None, {}, f"{place}: {name}", fields=fields)
    for scorer, score in scores.items():
        value = _before_edits(score)
        if isinstance(value, list):
            value = None  # several numbers, of which none has a name, are no label
        yield Submission(
            name,
            scorer,
            value if isinstance(value, Mapping) else {"score": value},
            f"{place}: {name}, {scorer}",
            created=run.get("created"),
            fields=fields,
            judge=_scorer(scorer, run),
        )


def _before_edits(score: Data) -> Any:
    """Whoever edits a score is not its scorer. The first step without a maker has its own value."""
    first: Data = next(iter(score.get("history") or ()), {})
    return score["value"] if first.get("provenance") else first.get("value", score["value"])


def _scorer(name: str, run: Data) -> Data:
    """Nobody knows the model of a scorer that does not name a grader."""
    scorers = run.get("scorers") or ()
    options = [each.get("options") for each in scorers if each["name"].split("/")[-1] == name]
    said, grader = (options[0] if options else None) or {}, at(run, "model_roles", "grader")
    prompt = "\n".join(str(said[key]) for key in ("template", "instructions") if said.get(key))
    model = said.get("model") or at(grader, "model")
    if not model and name.startswith("model_graded"):
        model = run["model"]
    return judge_of(model, prompt, called_with=at(grader, "config"))


# Langfuse's scores: pages of the public interface, and files of scheduled exports


def _is_langfuse(export: Export) -> bool:
    score = within(export.first, "data")
    is_score = all(any(each in score for each in LANGFUSE[name]) for name in ("trace", "type"))
    return is_score and "source" in score


@tool(
    "langfuse",
    "Langfuse's scores",
    _is_langfuse,
    shows={"raters", "times", "predictions"},
)
def langfuse(export: Export) -> Iterator[Submission]:
    """A score of the source ANNOTATION is a person's. Others are models' or programs'."""
    for place, record in export.records():
        for score in record["data"] if isinstance(record.get("data"), list) else [record]:
            kind = _kind(score["source"], SOURCES, f"{place}, score {score['id']}")
            is_person = kind == "human"
            trace, observation = _of(score, "trace"), _of(score, "observation")
            is_number = _of(score, "type") == "NUMERIC"
            yield Submission(
                observation or trace,
                _of(score, "author") if is_person else _of(score, "evaluator") or score["source"],
                {score["name"]: score["value"] if is_number else _of(score, "text")},
                f"score {score['id']}",
                kind=kind,
                created=_of(score, "created"),
                updated=_of(score, "updated"),
                fields={"trace": trace, "observation": observation, "source": score["source"]},
            )


def _kind(source: object, kinds: Mapping[str, Kind], where: str) -> Kind:
    if source not in (*kinds,):
        raise RatingsError(
            f"{where}: found the source {shown(source)}; expected one of {listed(kinds)}. "
            "Correct the record, or export again."
        )
    return kinds[str(source)]


def _of(score: Data, name: str) -> Any:
    there = (score[each] for each in LANGFUSE[name] if score.get(each) not in (None, ""))
    return next(there, None)


# MLflow's traces with their assessments, and its evaluation tables


def _is_traces(export: Export) -> bool:
    said = export.first.get("info")
    info = said if isinstance(said, Mapping) else export.first
    return "assessments" in info and ("trace_id" in info or "request_id" in info)


@tool(
    "mlflow_traces",
    "MLflow's traces",
    _is_traces,
    shows={"raters", "times", "gold", "predictions"},
)
def traces(export: Export) -> Iterator[Submission]:
    for place, record in export.records():
        info = record.get("info", record)
        name = info.get("trace_id") or info["request_id"]
        fields = {key: value for key, value in info.items() if not isinstance(value, (list, dict))}
        for number, each in enumerate(info.get("assessments") or (), 1):
            where = f"trace {name}, assessment {each.get('assessment_id') or number}"
            source, expected = each["source"], each.get("expectation")
            answer = (expected or each.get("feedback") or {}).get("value")
            named = each.get("assessment_name") or each["name"]
            # One that is named after its model is called as openai:/gpt-4o.
            kind = _kind(source["source_type"], MLFLOW, f"{place}, {where}")
            is_judge, judge = source["source_type"].endswith("_JUDGE"), source.get("source_id")
            yield Submission(
                f"{name}/{each['span_id']}" if each.get("span_id") else name,
                source.get("source_id"),
                {named: None if isinstance(answer, (list, dict)) else answer},
                where,
                kind="gold" if expected else kind,
                created=each.get("create_time"),
                updated=each.get("last_update_time"),
                fields=fields,
                judge=judge_of(judge) if is_judge and ":/" in str(judge) else Nothing,
            )


def _is_table(export: Export) -> bool:
    columns = export.first.get("columns")
    named = isinstance(columns, list) and isinstance(export.first.get("data"), list)
    return named and any(str(each).endswith(SAID) for each in columns or ())


def question(column: str) -> str:
    """The question of a column.

    >>> question("correctness/v1/score"), question("correctness/value")
    ('correctness/v1', 'correctness')
    """
    return column.rpartition("/")[0] if column.endswith(SAID) else column


@tool(
    "mlflow_tables",
    "MLflow's evaluation tables",
    _is_table,
    shows={"raters"},
    question=question,
)
def tables(export: Export) -> Iterator[Submission]:
    for path in export.files:
        for _, table in export.records(path):
            for number, cells in enumerate(table["data"], 1):
                row = dict(zip(table["columns"], cells, strict=True))
                yield Submission(
                    next((row[name] for name in NAMED if row.get(name)), number),
                    path.stem,
                    {question(name): row[name] for name in row if name.endswith(SAID)},
                    f"{path.stem}: row {number}",
                    fields={name: row[name] for name in row if "/" not in name},
                )


# promptfoo's results


def _is_promptfoo(export: Export) -> bool:
    results = export.first.get("results")
    return isinstance(results, Mapping) and isinstance(results.get("results"), list)


@tool(
    "promptfoo",
    "promptfoo's results",
    _is_promptfoo,
    shows={"raters", "times"},
)
def promptfoo(export: Export) -> Iterator[Submission]:
    """The file does not say which person rated, so all people are one rater, `human`."""
    for place, record in export.records():
        run, results = record.get("evalId") or place, record["results"]
        for each in results["results"]:
            provider = each["provider"]
            model = provider.get("label") or provider["id"]
            name = f"{run}/{each['testIdx']}/{each['promptIdx']}/{model}"
            fields = {"provider": model, **(each.get("vars") or {})}
            parts = at(each, "gradingResult", "componentResults")
            if not parts:
                yield Submission(name, None, {}, f"output {name}", fields=fields)
            met: Counter[str] = Counter()
            for part in parts or ():
                said = part.get("assertion") or {}
                rater = said.get("metric") or said["type"]
                refuse_parts("rater", rater, f"{place}, output {name}")
                met[rater] += 1  # the second of a name is called `name 2`
                rater = rater if met[rater] == 1 else f"{rater} {met[rater]}"
                where = f"output {name}, {rater}"
                verdict = part["pass"]
                if verdict is not None:
                    verdict = "pass" if flag(verdict, "pass", where) else "fail"
                yield Submission(
                    name,
                    rater,
                    {"pass": verdict, "score": part["score"]},
                    where,
                    created=results.get("timestamp"),
                    fields=fields,
                    judge=_assertion(said, record.get("config")),
                )


def _assertion(said: Data, config: Any) -> Data:
    """A person's assertion has no more than a type."""
    usual = at(config, "defaultTest", "options") if said.get("type") in GRADED else None
    provider = said.get("provider") or at(usual, "provider")
    own = provider if isinstance(provider, Mapping) else {"id": provider}
    prompt = said.get("rubricPrompt") or at(usual, "rubricPrompt")
    written = prompt if isinstance(prompt, str) or not prompt else json.dumps(prompt)
    return judge_of(own.get("id"), written, said.get("value"), own.get("config"))
