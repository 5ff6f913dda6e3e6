"""promptfoo's results as JSON: an item is an output, and a rater is an assertion or a person.

The file does not say which assertions are models, so a project names them in `classifiers`.
It does not say either which person rated, so all people are one rater, `human`.
"""

from collections import Counter
from collections.abc import Iterator, Mapping
from typing import Any

from agreement_pipeline.readers.exports import Export
from agreement_pipeline.readers.submissions import Submission
from agreement_pipeline.readers.times import utc
from agreement_pipeline.readers.tool import Tool

PASS, SCORE = "pass", "score"
Data = Mapping[str, Any]


def submissions(export: Export) -> Iterator[Submission]:
    """The answers of all assertions to all outputs."""
    for place, record in export.records():
        run = record.get("evalId") or place
        results = record["results"]
        for each in results["results"]:
            yield from _output(each, str(run), utc(results.get("timestamp"), place))


def _output(result: Data, run: str, time: str | None) -> Iterator[Submission]:
    provider = result["provider"]
    model = provider.get("label") or provider["id"]
    name = f"{run}/{result['testIdx']}/{result['promptIdx']}/{model}"
    fields = {"provider": model, **(result.get("vars") or {})}
    met: Counter[str] = Counter()
    parts = (result.get("gradingResult") or {}).get("componentResults") or ()
    if not parts:
        yield Submission(name, None, {}, f"output {name}", fields=fields)
    for part in parts:
        rater = _rater(part.get("assertion") or {}, met)
        yield Submission(
            name,
            rater,
            {PASS: PASS if part["pass"] else "fail", SCORE: part["score"]},
            f"output {name}, {rater}",
            created=time,
            fields=fields,
        )


def _rater(assertion: Data, met: Counter[str]) -> str:
    """The metric of an assertion, or its type. The second of a name is called `name 2`."""
    name = str(assertion.get("metric") or assertion["type"])
    met[name] += 1
    return name if met[name] == 1 else f"{name} {met[name]}"


def _is_promptfoo(export: Export) -> bool:
    results = export.first.get("results")
    return isinstance(results, Mapping) and isinstance(results.get("results"), list)


PROMPTFOO = Tool(
    "promptfoo",
    "promptfoo's results",
    _is_promptfoo,
    submissions,
    frozenset({"raters", "times"}),
).register()
