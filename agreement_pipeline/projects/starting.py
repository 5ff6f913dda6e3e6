"""The first files of a project, from one of its exports."""

import json
import re
from collections.abc import Iterator
from pathlib import Path

from agreement_pipeline.projects.looking import Question, Seen, look
from agreement_pipeline.readers import unpacked

GUIDE = "docs/guide/project.md"


def first_files(export: Path, name: str, inbox: str) -> dict[str, str]:
    """The project files and the policies for an export, by their paths in configs/.

    Each question of the export is a project of its own.

    Raises
    ------
    RatingsError
        Nothing can be read of the export.
    """
    with unpacked(export) as path:
        seen = look(path)
    files: dict[str, str] = {}
    several = len(seen.questions) > 1
    for question in seen.questions:
        project = f"{name}_{plain_name(question.name)}" if several else name
        files[f"projects/{project}.yaml"] = _project(project, question, seen, inbox)
        files[f"policies/{project}.yaml"] = _policy(project, question, bool(seen.replicates))
    return files


def plain_name(text: str) -> str:
    """A text as a project may be called.

    >>> plain_name("Batch 4711 (results)"), plain_name("4711")
    ('batch_4711_results', 'p_4711')
    """
    plain = re.sub(r"[^a-z0-9]+", "_", text.lower()).strip("_")[:40]
    return plain if plain[:1].isalpha() else f"p_{plain}"


def _project(name: str, question: Question, seen: Seen, inbox: str) -> str:
    return "\n".join([*_head(name, seen), *_body(name, question, seen, inbox), ""])


def _head(name: str, seen: Seen) -> Iterator[str]:
    yield f"# {name}: written by `agreement-pipeline init`. {GUIDE} explains every key."
    for guess in seen.unsure:
        yield f"# Please check: {guess}."
    for lacking, why in seen.reader.needs.items():
        yield f"# FILL IN `requires`: {seen.reader.title} cannot show {lacking}. {why}"


def _body(name: str, question: Question, seen: Seen, inbox: str) -> Iterator[str]:
    label = {} if question.units else {"label": question.name}
    columns = {**seen.columns, **label}
    yield f"project: {name}"
    yield f"inbox: {json.dumps(inbox)}"
    yield f"reader: {seen.reader.name}  # {seen.reader.title}"
    if columns:
        yield f"columns: {_flow(columns)}"
    if question.units:
        yield f"units: {{kind: {question.units}}}  # docs/guide/units.md says what a unit is"
    if question.units and "none" in seen.reader.lacks:
        yield "requires: []  # every item of the file was opened by its rater: please check"
    yield "scale:"
    yield f"  level: {question.level}{_doubt(question)}"
    yield f"  categories: {json.dumps(_categories(question), ensure_ascii=False)}  # those seen"
    for key, value in seen.replicates.items():
        yield f"{key}: {json.dumps(value)}  # items that come back, so that raters meet them again"
    if seen.replicates and "round" in columns:
        yield "replicates: across  # they come back in later rounds"
    if not seen.replicates:
        yield "# replicate_of: FIELD  # the field that names the item which an item repeats"
    yield from _raters(seen)
    yield f"policy: {name}"


def _raters(seen: Seen) -> Iterator[str]:
    if seen.models:
        yield f"# Models of the export are classifiers by themselves: {', '.join(seen.models)}."
    else:
        yield "# classifiers: [MODEL]  # raters that are models"
    yield "# exclude_raters: [NAME]  # who gave known answers and is no rater"
    if seen.reader.needs:
        yield "# requires: []  # see above"
    yield "# where: {FIELD: [VALUE]}  # only rows with these values count"


def _doubt(question: Question) -> str:
    doubts = {
        "ordinal": "  # whole numbers; interval if their distances matter",
        "interval": "  # numbers; add those that nobody chose yet",
        "nominal": "  # ordinal if the categories have an order, from the lowest",
    }
    return doubts[question.level]


def _categories(question: Question) -> list[str | float]:
    if question.level == "interval":
        return [float(label) for label in question.labels]
    return list(question.labels)


def _policy(name: str, question: Question, replicates: bool) -> str:
    measure = "alpha_masi" if question.sets else "krippendorff_alpha"
    lines = [
        f"# The rules that judge {name}. docs/guide/policy.md explains every key.",
        f"policy: {name}",
        "version: 1",
        "description: The usual cut-offs. Please write what a wrong label costs.",
        "admit: [reliable]",
        "rules:",
        f"  - measure: {measure}",
        "    reliable: 0.800",
        "    tentative: 0.667",
        "    min_items: 30",
    ]
    if replicates:
        lines += ["  - measure: self_agreement_unbiased", "    min_items: 20", "    effect: warn"]
    return "\n".join([*lines, ""])


def _flow(columns: dict[str, str]) -> str:
    inside = ", ".join(f"{key}: {json.dumps(value)}" for key, value in columns.items())
    return f"{{{inside}}}"
