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
AUTHOR = {*LANGFUSE["author"]}
SOURCES: dict[str, Kind] = {"ANNOTATION": "human", "API": "model", "EVAL": "model"}
MLFLOW: dict[str, Kind] = {
    "HUMAN": "human",
    "LLM_JUDGE": "model",
    "AI_JUDGE": "model",  # before it was renamed
    "CODE": "model",
}
GRADED = ("llm-rubric", "factuality", "g-eval", "model-graded-closedqa", "model-graded-factuality")
GRADER_FAILURES = ("Could not extract JSON from", "API error", "API call error", "No output")
"""How the reason of a part begins whose grader gave no verdict, if it does not say so."""
SAID = ("/score", "/value")
NAMED = ("request_id", "trace_id", "id")


class _Told(NamedTuple):
    """What the outputs of an export tell together.

    Outputs of one test, such as those of several epochs or models, are a cluster. If tests share an
    output, such as a letter, only the question tells their items apart.
    """

    has_clusters: bool
    shares_outputs: bool

    @classmethod
    def of(cls, outputs: Iterable[tuple[str, str | None]]) -> "_Told":
        n_outputs, test_by_output = Counter[str](), dict[int, str]()
        shares_outputs = False
        for test, text in outputs:
            n_outputs[test] += 1
            if text is not None:
                shares_outputs |= test_by_output.setdefault(hash(text), test) != test
        return cls(max(n_outputs.values(), default=0) > 1, shares_outputs)

    def cluster(self, test: str) -> dict[str, str]:
        return {"cluster": test} if self.has_clusters else {}

    def text(self, question: Any, output: str | None) -> str | None:
        if output is None or not self.shares_outputs:
            return output
        return f"{question if isinstance(question, str) else json.dumps(question)}\n\n{output}"


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
    """A score is of a task, answered by a model in an epoch. One that was edited is as before.

    If a sample was answered more than once, its answers are one cluster.
    """
    told = _Told.of(
        (f"{run['task']}/{sample['id']}", _output_text(sample.get("output")))
        for sample, run, _ in _samples(export)
    )
    for sample, run, place in _samples(export):
        yield from _scores(sample, run, place, told)


def _samples(export: Export) -> Iterator[tuple[Data, Data, str]]:
    """Each sample with its run and its place."""
    packed = {path.parent for path in export.files if path.name == HEADER}
    for folder in sorted(packed):
        ((_, header),) = export.records(folder / HEADER)
        for path in sorted((folder / "samples").glob("*.json")):
            for _, sample in export.records(path):
                yield sample, header["eval"], export.place(path)
    for path in export.files:
        if packed.isdisjoint(path.parents):
            for place, log in export.records(path):
                for sample in log.get("samples") or ():
                    yield sample, log["eval"], place


def _scores(sample: Data, run: Data, place: str, told: _Told) -> Iterator[Submission]:
    task, model, epoch = run["task"], run["model"], sample.get("epoch", 1)
    name = f"{task}/{model}/{run.get('run_id', place)}/{sample['id']}/{epoch}"
    question = sample.get("input")
    fields = {
        "task": task,
        "model": model,
        "sample": sample["id"],
        "epoch": epoch,
        "input": question if isinstance(question, str) else None,
        **told.cluster(f"{task}/{sample['id']}"),
        **(sample.get("metadata") or {}),
        "text": told.text(question, _output_text(sample.get("output"))),
    }
    scores = sample.get("scores") or {}
    if not scores:
        yield Submission(name, None, {}, f"{place}: {name}", fields=fields)
    for scorer, score in scores.items():
        yield Submission(
            name,
            scorer,
            _leaves(_before_edits(score), "score"),
            f"{place}: {name}, {scorer}",
            created=run.get("created"),
            fields=fields,
            judge=_scorer(scorer, run),
        )


def _output_text(output: Any) -> str | None:
    """The first answer of a model, whose parts that are no text are left out."""
    choices = at(output, "choices")
    content = at(choices[0], "message", "content") if choices else at(output, "completion")
    if isinstance(content, list):
        texts = [part.get("text") for part in content if isinstance(part, Mapping)]
        content = "\n".join(text for text in texts if isinstance(text, str))
    return content if isinstance(content, str) and content else None


def _leaves(value: Any, question: str) -> dict[str, Any]:
    """The single values of a score, by the keys that lead to them.

    Inspect writes NaN for what was not scored. Several numbers without a name are no label.

    >>> _leaves({"tone": "C", "facts": {"dates": 1, "names": float("nan")}}, "score")
    {'tone': 'C', 'facts.dates': 1, 'facts.names': None}
    >>> _leaves([1, 2], "score")
    {'score': None}
    """
    if isinstance(value, Mapping):
        leaves: dict[str, Any] = {}
        for key, inner in value.items():
            for path, leaf in _leaves(inner, "").items():
                leaves[f"{key}.{path}" if path else key] = leaf
        return leaves
    is_unscored = isinstance(value, float) and math.isnan(value)
    return {question: None if is_unscored or isinstance(value, list) else value}


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
    column_endings=("traceId", "trace_id"),
    shows={"raters", "times", "predictions"},
)
def langfuse(export: Export) -> Iterator[Submission]:
    """A score of the source ANNOTATION is a person's. Others are models' or programs'."""
    for place, record in export.records():
        for score in record["data"] if isinstance(record.get("data"), list) else [record]:
            kind = _kind(score["source"], SOURCES, f"{place}, score {score['id']}")
            is_person = kind == "human"
            trace, observation = _of(score, "trace"), _of(score, "observation")
            if is_person and AUTHOR.isdisjoint(score):
                raise RatingsError(
                    f"{place}, score {score['id']}: found an annotation in a scheduled export, "
                    "which never names its author; expected who gave each score, since agreement "
                    "is between raters. Read the scores of the API, GET /api/public/v2/scores, "
                    "which has authorUserId, and save its pages as JSON."
                )
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
    column_endings=("assessments",),
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
    first = export.first
    results = first.get("results")
    return _is_result(first) or (
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
        said = response.get("output") if isinstance(response, Mapping) else None
        return said if isinstance(said, str) and said else None


def _outputs(export: Export) -> Iterator[_Output]:
    """Results of version 2 have no numbers of tests, so the test is what was put in."""
    for place, record in export.records():
        run, is_line = record.get("evalId") or export.place(export.files[0]), _is_result(record)
        whole = {} if is_line else record["results"]
        for number, result in enumerate([record] if is_line else whole["results"]):
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
                name, f"{run}/{test}", model, result, whole.get("timestamp"), config, place
            )


@tool(
    "promptfoo",
    "promptfoo's results",
    _is_promptfoo,
    shows={"raters", "times"},
)
def promptfoo(export: Export) -> Iterator[Submission]:
    """The file does not say which person rated, so all people are one rater, `human`.

    A part without an assertion, and one whose grader failed, is no verdict. If a test has several
    outputs, they are one cluster.
    """
    told = _Told.of((output.test, output.text) for output in _outputs(export))
    for output in _outputs(export):
        put_in = output.result.get("vars") or at(output.result, "prompt", "raw")
        fields = {
            **told.cluster(output.test),
            **(output.result.get("vars") or {}),
            "provider": output.model,
            "text": told.text(put_in, output.text),
        }
        parts = at(output.result, "gradingResult", "componentResults")
        if not parts:
            yield Submission(output.name, None, {}, f"output {output.name}", fields=fields)
        n_of_name: Counter[str] = Counter()
        for number, part in enumerate(parts or (), 1):
            assertion = part.get("assertion") or {}
            rater = assertion.get("metric") or assertion.get("type")
            if rater is None:
                where = f"output {output.name}, part {number}"
                yield Submission(output.name, None, {}, where, fields=fields)
                continue
            refuse_parts("rater", rater, f"{output.place}, output {output.name}")
            n_of_name[rater] += 1  # the second of a name is called `name 2`
            rater = rater if n_of_name[rater] == 1 else f"{rater} {n_of_name[rater]}"
            where = f"output {output.name}, {rater}"
            yield Submission(
                output.name,
                rater,
                _verdict(part, where),
                where,
                created=output.timestamp,
                fields=fields,
                judge=_assertion(assertion, output.config),
            )


def _verdict(part: Data, where: str) -> dict[str, Any]:
    is_failure = at(part.get("metadata"), "graderError") or (
        at(part.get("assertion"), "type") in GRADED
        and not part["pass"]
        and str(part.get("reason")).startswith(GRADER_FAILURES)
    )
    if is_failure:
        return {"pass": None, "score": None}
    verdict = part["pass"]
    if verdict is not None:
        verdict = "pass" if flag(verdict, "pass", where) else "fail"
    return {"pass": verdict, "score": part["score"]}


def _assertion(said: Data, config: Any) -> Data:
    """A person's assertion has no more than a type."""
    usual = at(config, "defaultTest", "options") if said.get("type") in GRADED else None
    provider = said.get("provider") or at(usual, "provider")
    own = provider if isinstance(provider, Mapping) else {"id": provider}
    prompt = said.get("rubricPrompt") or at(usual, "rubricPrompt")
    written = prompt if isinstance(prompt, str) or not prompt else json.dumps(prompt)
    return judge_of(own.get("id"), written, said.get("value"), own.get("config"))
