"""Writes docs/measures.md from the registry, or checks that it is up to date.

`python -m agreement_pipeline.report.measures_page [--check] PATH`
"""

import argparse
import inspect
import math
import re
import sys
from collections.abc import Sequence
from pathlib import Path

from agreement_pipeline.measures import MEASURES, Measure
from agreement_pipeline.scale import LEVELS

QUESTIONS = {
    "inter-rater": "Do the raters agree with each other?",
    "intra-rater": "Does each rater agree with herself?",
    "classifier": "Does a classifier agree with the panel?",
}

INTRODUCTION = """# Measures

<!-- Written by `python -m agreement_pipeline.report.measures_page docs/measures.md`; edit the docstrings instead. -->

Every measure below can be named in a policy, is computed in the assets, and is printed by `agreement-pipeline measure`.
A measure that has no value says why; it is never 0, 1 or NaN.
"""


def measures_page() -> str:
    """The page: for each question a table of its measures, then each measure with its formula."""
    return "\n".join([INTRODUCTION, *(_chapter(question, title) for question, title in QUESTIONS.items())])


def _chapter(question: str, title: str) -> str:
    measures = sorted((record for record in MEASURES.values() if record.question == question), key=lambda record: record.name)
    rows = [f"| [`{m.name}`](#{m.name}) | {m.title} | {m.description} |" for m in measures]
    return "\n".join([f"## {title}\n", "| name | measure | what it measures |", "| --- | --- | --- |", *rows, "", *(_section(m) for m in measures)])


def _section(record: Measure) -> str:
    facts = {
        "Range": f"{_bound(record.bounds[0])} to {_bound(record.bounds[1])}{'; 0 is chance' if record.chance_corrected else '; guessing does not give 0'}",
        "Levels": ", ".join(level for level in LEVELS if level in record.levels),
        "Raters": "interchangeable" if record.exchangeable else "fixed, by name",
        "Missing ratings": record.convention,
        "Undefined": "; ".join(f"when {condition.reason}" for condition in record.undefined),
        "Source": record.source,
    }
    return "\n".join([f"### {record.name}\n", f"*{record.title}.* {_prose(record)}\n", *(f"- **{name}:** {fact}." for name, fact in facts.items()), ""])


def _prose(record: Measure) -> str:
    """The docstring up to its parameters, its formulas in the form that GitHub renders."""
    text = inspect.cleandoc(record.function.__doc__ or "").split("\nParameters\n")[0].strip()
    text = re.sub(r"^\.\. math:: (.*?)(?=\n\n|\Z)", lambda found: _formula(found[1]), text, flags=re.DOTALL | re.MULTILINE)
    return re.sub(r":math:`(.+?)`", r"$\1$", text)


def _formula(source: str) -> str:
    return f"```math\n{' '.join(line.strip() for line in source.splitlines())}\n```"


def _bound(value: float) -> str:
    return "no bound" if math.isinf(value) else f"{value:g}"


def main(arguments: Sequence[str] | None = None) -> int:
    """Write the page, or compare it; the exit status is 1 when it is stale."""
    parser = argparse.ArgumentParser(description="Write the page of measures from the registry.")
    parser.add_argument("path", type=Path)
    parser.add_argument("--check", action="store_true", help="compare only")
    options = parser.parse_args(arguments)
    if not options.check:
        options.path.write_text(measures_page(), encoding="utf-8")
        return 0
    if options.path.exists() and options.path.read_text(encoding="utf-8") == measures_page():
        return 0
    sys.stderr.write(f"{options.path}: not what the registry says; an up-to-date page is required. Run python -m {__spec__.name} {options.path}\n")
    return 1


if __name__ == "__main__":
    sys.exit(main())
