"""What people and models said of outputs: Inspect, Langfuse, MLflow and promptfoo.

An item is an output. A rater is a person, a scorer or an assertion. Inspect and promptfoo do not
say which of these are models, so a project names them in `classifiers`. They say what a judge was
given. MLflow names a judge after its model. Langfuse says nothing of it.
"""

import json
import math
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping
from typing import Any, NamedTuple

from agreement_pipeline.errors import RatingsError
from agreement_pipeline.mistakes import value_in_message
from agreement_pipeline.readers.exports import Export
from agreement_pipeline.readers.rows import (
    NO_FIELDS,
    Data,
    Kind,
    Submission,
)
from agreement_pipeline.readers.submissions import (
    describe_judge,
    first_inner_record,
    get_nested,
    read_flag,
    refuse_parts,
    tool,
)
from agreement_pipeline.text import listed

HEADER_FILE = "header.json"
LANGFUSE_NAMES = {
    "trace": ("traceId", "trace_id"),
    "observation": ("observationId", "observation_id"),
    "text": ("stringValue", "string_value"),
    "type": ("dataType", "data_type"),
    "author": ("authorUserId", "author_user_id"),
    "evaluator": ("evaluatorId", "evaluator_id"),
    "created": ("createdAt", "created_at", "timestamp"),
    "updated": ("updatedAt", "updated_at"),
}
AUTHOR_NAMES = {*LANGFUSE_NAMES["author"]}
KIND_BY_LANGFUSE_SOURCE: dict[str, Kind] = {"ANNOTATION": "human", "API": "model", "EVAL": "model"}
KIND_BY_MLFLOW_SOURCE: dict[str, Kind] = {
    "HUMAN": "human",
    "LLM_JUDGE": "model",
    "AI_JUDGE": "model",  # before it was renamed
    "CODE": "model",
}
GRADED_TYPES = (
    "llm-rubric",
    "factuality",
    "g-eval",
    "model-graded-closedqa",
    "model-graded-factuality",
)
GRADER_FAILURES = ("Could not extract JSON from", "API error", "API call error", "No output")
"""How the reason of a part begins whose grader gave no verdict, if it does not say so."""
VERDICT_SUFFIXES = ("/score", "/value")
NAME_COLUMNS = ("request_id", "trace_id", "id")


class _OutputGroups(NamedTuple):
    """What the outputs of an export tell together.

    Outputs of one test, such as those of several epochs or models, are a cluster. If tests share an
    output, such as a letter, only the question tells their items apart.
    """

    has_clusters: bool
    shares_outputs: bool

    @classmethod
    def from_outputs(cls, outputs: Iterable[tuple[str, str | None]]) -> "_OutputGroups":
        n_outputs, test_by_output = Counter[str](), dict[int, str]()
        shares_outputs = False
        for test, text in outputs:
            n_outputs[test] += 1
            if text is not None:
                shares_outputs |= test_by_output.setdefault(hash(text), test) != test
        return cls(max(n_outputs.values(), default=0) > 1, shares_outputs)

    def cluster_fields(self, test: str) -> dict[str, str]:
        return {"cluster": test} if self.has_clusters else {}

    def text_of_item(self, question: Any, output: str | None) -> str | None:
        if output is None or not self.shares_outputs:
            return output
        return f"{question if isinstance(question, str) else json.dumps(question)}\n\n{output}"


# Inspect's evaluation logs: JSON, or the packed form `.eval`


def _is_inspect(export: Export) -> bool:
    run = export.first_record.get("eval")
    is_log = isinstance(run, Mapping) and "task" in run
    return is_log or any(path.name == HEADER_FILE for path in export.files)


@tool(
    "inspect_ai",
    "Inspect's logs",
    _is_inspect,
    shows={"raters", "times"},
)
def read_inspect(export: Export) -> Iterator[Submission]:
    """A score is of a task, answered by a model in an epoch. One that was edited is as before.

    If a sample was answered more than once, its answers are one cluster.
    """
    groups = _OutputGroups.from_outputs(
        (f"{run['task']}/{sample['id']}", _output_text(sample.get("output")))
        for sample, run, _ in _iterate_samples(export)
    )
    for sample, run, place in _iterate_samples(export):
        yield from _iterate_score_submissions(sample, run, place, groups)


def _iterate_samples(export: Export) -> Iterator[tuple[Data, Data, str]]:
    """Each sample with its run and its place."""
    packed_folders = {path.parent for path in export.files if path.name == HEADER_FILE}
    for folder in sorted(packed_folders):
        ((_, header),) = export.records(folder / HEADER_FILE)
        for path in sorted((folder / "samples").glob("*.json")):
            for _, sample in export.records(path):
                yield sample, header["eval"], export.file_name_in_export(path)
    for path in export.files:
        if packed_folders.isdisjoint(path.parents):
            for place, log in export.records(path):
                for sample in log.get("samples") or ():
                    yield sample, log["eval"], place


def _iterate_score_submissions(
    sample: Data, run: Data, place: str, groups: _OutputGroups
) -> Iterator[Submission]:
    task, model, epoch = run["task"], run["model"], sample.get("epoch", 1)
    name = f"{task}/{model}/{run.get('run_id', place)}/{sample['id']}/{epoch}"
    question = sample.get("input")
    fields = {
        "task": task,
        "model": model,
        "sample": sample["id"],
        "epoch": epoch,
        "input": question if isinstance(question, str) else None,
        **groups.cluster_fields(f"{task}/{sample['id']}"),
        **(sample.get("metadata") or {}),
        "text": groups.text_of_item(question, _output_text(sample.get("output"))),
    }
    scores = sample.get("scores") or {}
    if not scores:
        yield Submission(name, None, {}, f"{place}: {name}", fields=fields)
    for scorer, score in scores.items():
        yield Submission(
            name,
            scorer,
            _leaf_values(_value_before_edits(score), "score"),
            f"{place}: {name}, {scorer}",
            created=run.get("created"),
            fields=fields,
            judge=_describe_scorer(scorer, run),
        )


def _output_text(output: Any) -> str | None:
    """The first answer of a model, whose parts that are no text are left out."""
    choices = get_nested(output, "choices")
    content = (
        get_nested(choices[0], "message", "content")
        if choices
        else get_nested(output, "completion")
    )
    if isinstance(content, list):
        texts = [part.get("text") for part in content if isinstance(part, Mapping)]
        content = "\n".join(text for text in texts if isinstance(text, str))
    return content if isinstance(content, str) and content else None


def _leaf_values(value: Any, question: str) -> dict[str, Any]:
    """The single values of a score, by the keys that lead to them.

    Inspect writes NaN for what was not scored. Several numbers without a name are no label.

    >>> _leaf_values({"tone": "C", "facts": {"dates": 1, "names": float("nan")}}, "score")
    {'tone': 'C', 'facts.dates': 1, 'facts.names': None}
    >>> _leaf_values([1, 2], "score")
    {'score': None}
    """
    if isinstance(value, Mapping):
        leaves: dict[str, Any] = {}
        for key, inner in value.items():
            for path, leaf in _leaf_values(inner, "").items():
                leaves[f"{key}.{path}" if path else key] = leaf
        return leaves
    is_unscored = isinstance(value, float) and math.isnan(value)
    return {question: None if is_unscored or isinstance(value, list) else value}


def _value_before_edits(score: Data) -> Any:
    """Whoever edits a score is not its scorer. The first step without a maker has its own value."""
    first_step: Data = next(iter(score.get("history") or ()), {})
    return (
        score["value"] if first_step.get("provenance") else first_step.get("value", score["value"])
    )


def _describe_scorer(name: str, run: Data) -> Data:
    """Nobody knows the model of a scorer that does not name a grader."""
    scorers = run.get("scorers") or ()
    options = [scorer.get("options") for scorer in scorers if scorer["name"].split("/")[-1] == name]
    scorer_options = (options[0] if options else None) or {}
    grader = get_nested(run, "model_roles", "grader")
    prompt = "\n".join(
        str(scorer_options[key]) for key in ("template", "instructions") if scorer_options.get(key)
    )
    model = scorer_options.get("model") or get_nested(grader, "model")
    if not model and name.startswith("model_graded"):
        model = run["model"]
    return describe_judge(model, prompt, called_with=get_nested(grader, "config"))


# Langfuse's scores: pages of the public interface, and files of scheduled exports


def _is_langfuse(export: Export) -> bool:
    score = first_inner_record(export.first_record, "data")
    is_score = all(
        any(field_name in score for field_name in LANGFUSE_NAMES[name])
        for name in ("trace", "type")
    )
    return is_score and "source" in score


@tool(
    "langfuse",
    "Langfuse's scores",
    _is_langfuse,
    column_endings=("traceId", "trace_id"),
    shows={"raters", "times", "predictions"},
)
def read_langfuse(export: Export) -> Iterator[Submission]:
    """A score of the source ANNOTATION is a person's. Others are models' or programs'."""
    for place, record in export.records():
        for score in record["data"] if isinstance(record.get("data"), list) else [record]:
            kind = _read_rater_kind(
                score["source"], KIND_BY_LANGFUSE_SOURCE, f"{place}, score {score['id']}"
            )
            is_person = kind == "human"
            trace, observation = (
                _read_renamed_field(score, "trace"),
                _read_renamed_field(score, "observation"),
            )
            if is_person and AUTHOR_NAMES.isdisjoint(score):
                raise RatingsError(
                    f"{place}, score {score['id']}: found an annotation in a scheduled export, "
                    "which never names its author; expected who gave each score, since agreement "
                    "is between raters. Read the scores of the API, GET /api/public/v2/scores, "
                    "which has authorUserId, and save its pages as JSON."
                )
            is_number = _read_renamed_field(score, "type") == "NUMERIC"
            yield Submission(
                observation or trace,
                _read_renamed_field(score, "author")
                if is_person
                else _read_renamed_field(score, "evaluator") or score["source"],
                {
                    score["name"]: score["value"]
                    if is_number
                    else _read_renamed_field(score, "text")
                },
                f"score {score['id']}",
                kind=kind,
                created=_read_renamed_field(score, "created"),
                updated=_read_renamed_field(score, "updated"),
                fields={"trace": trace, "observation": observation, "source": score["source"]},
            )


def _read_rater_kind(source: object, kinds: Mapping[str, Kind], place: str) -> Kind:
    if source not in (*kinds,):
        raise RatingsError(
            f"{place}: found the source {value_in_message(source)}; expected one of "
            f"{listed(kinds)}. "
            "Correct the record, or export again."
        )
    return kinds[str(source)]


def _read_renamed_field(score: Data, name: str) -> Any:
    values = (
        score[field_name]
        for field_name in LANGFUSE_NAMES[name]
        if score.get(field_name) not in (None, "")
    )
    return next(values, None)


# MLflow's traces with their assessments, and its evaluation tables


def _is_traces(export: Export) -> bool:
    trace_info = export.first_record.get("info")
    info = trace_info if isinstance(trace_info, Mapping) else export.first_record
    return "assessments" in info and ("trace_id" in info or "request_id" in info)


@tool(
    "mlflow_traces",
    "MLflow's traces",
    _is_traces,
    column_endings=("assessments",),
    shows={"raters", "times", "gold", "predictions"},
)
def read_traces(export: Export) -> Iterator[Submission]:
    for place, record in export.records():
        info = record.get("info", record)
        name = info.get("trace_id") or info["request_id"]
        fields = {key: value for key, value in info.items() if not isinstance(value, (list, dict))}
        for number, assessment in enumerate(info.get("assessments") or (), 1):
            assessment_place = (
                f"trace {name}, assessment {assessment.get('assessment_id') or number}"
            )
            source, expected = assessment["source"], assessment.get("expectation")
            answer = (expected or assessment.get("feedback") or {}).get("value")
            question = assessment.get("assessment_name") or assessment["name"]
            # One that is named after its model is called as openai:/gpt-4o.
            kind = _read_rater_kind(
                source["source_type"], KIND_BY_MLFLOW_SOURCE, f"{place}, {assessment_place}"
            )
            is_judge, judge = source["source_type"].endswith("_JUDGE"), source.get("source_id")
            yield Submission(
                f"{name}/{assessment['span_id']}" if assessment.get("span_id") else name,
                source.get("source_id"),
                {question: None if isinstance(answer, (list, dict)) else answer},
                assessment_place,
                kind="gold" if expected else kind,
                created=assessment.get("create_time"),
                updated=assessment.get("last_update_time"),
                fields=fields,
                judge=describe_judge(judge) if is_judge and ":/" in str(judge) else NO_FIELDS,
            )


def _is_evaluation_table(export: Export) -> bool:
    columns = export.first_record.get("columns")
    has_columns_and_data = isinstance(columns, list) and isinstance(
        export.first_record.get("data"), list
    )
    return has_columns_and_data and any(
        str(column).endswith(VERDICT_SUFFIXES) for column in columns or ()
    )


def question_of_column(column: str) -> str:
    """The question of a column.

    >>> question_of_column("correctness/v1/score"), question_of_column("correctness/value")
    ('correctness/v1', 'correctness')
    """
    return column.rpartition("/")[0] if column.endswith(VERDICT_SUFFIXES) else column


@tool(
    "mlflow_tables",
    "MLflow's evaluation tables",
    _is_evaluation_table,
    shows={"raters"},
    question=question_of_column,
)
def read_tables(export: Export) -> Iterator[Submission]:
    for path in export.files:
        for _, table in export.records(path):
            for number, cells in enumerate(table["data"], 1):
                row = dict(zip(table["columns"], cells, strict=True))
                yield Submission(
                    next((row[name] for name in NAME_COLUMNS if row.get(name)), number),
                    path.stem,
                    {
                        question_of_column(name): row[name]
                        for name in row
                        if name.endswith(VERDICT_SUFFIXES)
                    },
                    f"{path.stem}: row {number}",
                    fields={name: row[name] for name in row if "/" not in name},
                )


# promptfoo's results


def _is_promptfoo(export: Export) -> bool:
    record = export.first_record
    results = record.get("results")
    return _is_result(record) or (
        isinstance(results, Mapping) and isinstance(results.get("results"), list)
    )


def _is_result(record: Data) -> bool:
    """True for a line of its JSON Lines, which is one result."""
    return {"testIdx", "promptIdx", "provider"} <= record.keys()


class _Output(NamedTuple):
    """An output that was graded, with what its file says of the run."""

    name: str
    test: str
    model: str
    result: Data
    timestamp: Any
    config: Any
    place: str

    @property
    def text(self) -> str | None:
        response = self.result.get("response")
        output = response.get("output") if isinstance(response, Mapping) else None
        return output if isinstance(output, str) and output else None


def _iterate_outputs(export: Export) -> Iterator[_Output]:
    """Results of version 2 have no numbers of tests, so the test is what was put in."""
    for place, record in export.records():
        run, is_line = (
            record.get("evalId") or export.file_name_in_export(export.files[0]),
            _is_result(record),
        )
        summary = {} if is_line else record["results"]
        for number, result in enumerate([record] if is_line else summary["results"]):
            provider = result["provider"]
            provider = provider if isinstance(provider, Mapping) else {"id": provider}
            model = provider.get("label") or provider["id"]
            test = result.get("testIdx")
            if test is None:
                test = json.dumps(result.get("vars") or {}, sort_keys=True)
                name = f"{run}/{number}/{model}"
            else:
                name = f"{run}/{test}/{result['promptIdx']}/{model}"
            config = record.get("config")
            yield _Output(
                name, f"{run}/{test}", model, result, summary.get("timestamp"), config, place
            )


@tool(
    "promptfoo",
    "promptfoo's results",
    _is_promptfoo,
    shows={"raters", "times"},
)
def read_promptfoo(export: Export) -> Iterator[Submission]:
    """The file does not say which person rated, so all people are one rater, `human`.

    A part without an assertion, and one whose grader failed, is no verdict. If a test has several
    outputs, they are one cluster.
    """
    groups = _OutputGroups.from_outputs(
        (output.test, output.text) for output in _iterate_outputs(export)
    )
    for output in _iterate_outputs(export):
        put_in = output.result.get("vars") or get_nested(output.result, "prompt", "raw")
        fields = {
            **groups.cluster_fields(output.test),
            **(output.result.get("vars") or {}),
            "provider": output.model,
            "text": groups.text_of_item(put_in, output.text),
        }
        parts = get_nested(output.result, "gradingResult", "componentResults")
        if not parts:
            yield Submission(output.name, None, {}, f"output {output.name}", fields=fields)
        n_of_name: Counter[str] = Counter()
        for number, part in enumerate(parts or (), 1):
            assertion = part.get("assertion") or {}
            rater = assertion.get("metric") or assertion.get("type")
            if rater is None:
                part_place = f"output {output.name}, part {number}"
                yield Submission(output.name, None, {}, part_place, fields=fields)
                continue
            refuse_parts("rater", rater, f"{output.place}, output {output.name}")
            n_of_name[rater] += 1  # the second of a name is called `name 2`
            rater = rater if n_of_name[rater] == 1 else f"{rater} {n_of_name[rater]}"
            part_place = f"output {output.name}, {rater}"
            yield Submission(
                output.name,
                rater,
                _answer_of_result(part, part_place),
                part_place,
                created=output.timestamp,
                fields=fields,
                judge=_describe_assertion(assertion, output.config),
            )


def _answer_of_result(part: Data, place: str) -> dict[str, Any]:
    is_failure = get_nested(part.get("metadata"), "graderError") or (
        get_nested(part.get("assertion"), "type") in GRADED_TYPES
        and not part["pass"]
        and str(part.get("reason")).startswith(GRADER_FAILURES)
    )
    if is_failure:
        return {"pass": None, "score": None}
    verdict = part["pass"]
    if verdict is not None:
        verdict = "pass" if read_flag(verdict, "pass", place) else "fail"
    return {"pass": verdict, "score": part["score"]}


def _describe_assertion(assertion: Data, config: Any) -> Data:
    """A person's assertion has no more than a type."""
    default_options = (
        get_nested(config, "defaultTest", "options")
        if assertion.get("type") in GRADED_TYPES
        else None
    )
    provider = assertion.get("provider") or get_nested(default_options, "provider")
    grader = provider if isinstance(provider, Mapping) else {"id": provider}
    prompt = assertion.get("rubricPrompt") or get_nested(default_options, "rubricPrompt")
    prompt_text = prompt if isinstance(prompt, str) or not prompt else json.dumps(prompt)
    return describe_judge(
        grader.get("id"), prompt_text, assertion.get("value"), grader.get("config")
    )
