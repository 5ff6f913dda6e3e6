"""The first files of a project, from one of its exports."""

import json
import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from pathlib import Path

import pandas as pd

from agreement_pipeline.errors import RatingsError
from agreement_pipeline.readers import (
    Columns,
    Export,
    Reader,
    Rules,
    answers,
    probable_columns,
    read_marked,
    reader_of,
    rows_of,
    unnamed_columns,
    unpacked,
)
from agreement_pipeline.text import listed
from agreement_pipeline.units import UnitSettings, units_of

GUIDE = "docs/guide/project.md"
DOUBTS = {
    "ordinal": "whole numbers; interval if their distances matter",
    "interval": "numbers; add those that nobody chose yet",
    "nominal": "ordinal if the categories have an order, from the lowest",
}
"""What a team must look at in the level that was guessed."""
ITEM = re.compile(r"(.*[_-])?(doc|item|unit|sample|post|global|external)([_-]?(id|key))?|stem")
ROUND = re.compile(r"round|batch|wave|iteration")
REPLICATE = re.compile(r"(replicate|repeat|duplicate)s?[_-]of")
FEW, MOST, NONE = 10, 30, "|"
NEEDED = ("item", "rater", "label")
POLICY = """# The rules that judge {name}. docs/guide/policy.md explains every key.
policy: {name}
version: 1
description: The usual cut-offs. Please write what a wrong label costs.
admit: [reliable]
rules:
  - measure: {measure}
    reliable: 0.800
    tentative: 0.667
    min_items: 30
{of_replicates}"""
OF_REPLICATES = """  - measure: self_agreement_unbiased
    min_items: 20
    effect: warn
"""


@dataclass(frozen=True)
class Question:
    """A question of an export, the labels that were given in order, and their probable level.

    A label can be a set of labels. `units` is the kind of its label objects, if answers are
    objects.
    """

    name: str
    labels: tuple[str, ...]
    level: str
    sets: bool
    units: str = ""


@dataclass(frozen=True)
class Seen:
    """What was seen of an export, and what was guessed."""

    reader: Reader
    questions: tuple[Question, ...]
    columns: dict[str, str]
    replicates: dict[str, str] = field(default_factory=dict)
    models: tuple[str, ...] = ()
    unsure: tuple[str, ...] = ()


def first_files(export: Path, name: str, inbox: str) -> dict[str, str]:
    """The project files and the policies for an export, by their paths in configs/.

    Each question of the export is a project of its own.

    Raises
    ------
    RatingsError
        Nothing can be read of the export.
    """
    with unpacked(export) as path:
        reader = reader_of(path)
        seen = _of_table(path, reader) if reader.submissions is None else _of_tool(path, reader)
    files: dict[str, str] = {}
    for question in seen.questions:
        several = len(seen.questions) > 1
        project = f"{name}_{plain_name(question.name)}" if several else name
        files[f"projects/{project}.yaml"] = "\n".join(
            [*_project(project, question, seen, inbox), ""]
        )
        files[f"policies/{project}.yaml"] = POLICY.format(
            name=project,
            measure="alpha_masi" if question.sets else "krippendorff_alpha",
            of_replicates=OF_REPLICATES if seen.replicates else "",
        )
    return files


def plain_name(text: str) -> str:
    """A text as a project may be called.

    >>> plain_name("Batch 4711 (results)"), plain_name("4711")
    ('batch_4711_results', 'p_4711')
    """
    plain = re.sub(r"[^a-z0-9]+", "_", text.lower()).strip("_")[:40]
    return plain if plain[:1].isalpha() else f"p_{plain}"


def _project(name: str, question: Question, seen: Seen, inbox: str) -> Iterator[str]:
    """The lines of a project file."""
    reader, numbers = seen.reader, question.level == "interval"
    yield f"# {name}: written by `agreement-pipeline init`. {GUIDE} explains every key."
    yield from (f"# Please check: {guess}." for guess in seen.unsure)
    for lacking, why in reader.needs.items():
        yield f"# FILL IN `requires`: {reader.title} cannot show {lacking}. {why}"
    yield f"project: {name}"
    yield f"inbox: {json.dumps(inbox)}"
    yield f"reader: {reader.name}  # {reader.title}"
    columns = {**seen.columns, **({} if question.units else {"label": question.name})}
    if columns:
        named = ", ".join(f"{key}: {json.dumps(value)}" for key, value in columns.items())
        yield f"columns: {{{named}}}"
    if question.units:
        yield f"units: {{kind: {question.units}}}  # docs/guide/units.md says what a unit is"
    if question.units and "none" in reader.lacks:
        yield "requires: []  # every item of the file was opened by its rater: please check"
    yield "scale:"
    yield f"  level: {question.level}  # {DOUBTS[question.level]}"
    categories = [float(each) if numbers else each for each in question.labels]
    yield f"  categories: {json.dumps(categories, ensure_ascii=False)}  # those seen"
    yield from _of_items_and_raters(seen, "round" in columns)
    yield f"policy: {name}"


def _of_items_and_raters(seen: Seen, several_rounds: bool) -> Iterator[str]:
    for key, value in seen.replicates.items():
        yield f"{key}: {json.dumps(value)}  # items that come back, so that raters meet them again"
    if seen.replicates and several_rounds:
        yield "replicates: across  # they come back in later rounds"
    if not seen.replicates:
        yield "# replicate_of: FIELD  # the field that names the item which an item repeats"
    if seen.models:
        yield f"# Models of the export are classifiers by themselves: {', '.join(seen.models)}."
    else:
        yield "# classifiers: [MODEL]  # raters that are models"
    yield "# exclude_raters: [NAME]  # who gave known answers and is no rater"
    if seen.reader.needs:
        yield "# requires: []  # see above"
    yield "# where: {FIELD: [VALUE]}  # only rows with these values count"


def _of_tool(path: Path, reader: Reader) -> Seen:
    assert reader.submissions is not None
    names: dict[str, None] = {}
    known: dict[str, None] = {}
    for each in reader.submissions(Export(path)):
        names.update(dict.fromkeys(each.values))
        known.update(dict.fromkeys(each.fields))
    first = next(iter(names), None)
    if first is None:
        return _of_objects(path, reader, known)
    table = answers(path, first, known)
    fields = [name for name in known if name in table and name not in ("item", "rater")]
    columns, unsure = _columns_of(table, fields)
    questions = tuple(
        found
        for name in names
        # A field of the item, and no question: all submissions for an item say the same.
        if not (name in known and table.groupby("item")[name].nunique().max() <= 1)
        for found in [_question(name, answers(path, name)["label"])]
        if {*found.labels} - {NONE} and len(found.labels) <= MOST
    )
    if not questions:
        return _of_objects(path, reader, known)
    models = tuple(sorted(table["rater"][table["kind"] == "model"].unique()))
    replicates = _replicates(table, fields)
    return Seen(reader, questions, columns, replicates, models, unsure)


def _of_objects(path: Path, reader: Reader, fields: Iterable[str]) -> Seen:
    """An export in which all answers are label objects."""
    questions = tuple(
        Question(kind, labels, "nominal", False, kind)
        for kind in reader.kinds
        if (labels := _labels_of(path, kind))
    )
    if not questions:
        raise RatingsError(
            f"{path.name}: found no question with answers that are read; expected choices, a "
            "rating, a number, or objects that docs/guide/units.md lists. Export one of them."
        )
    table = answers(path, None, fields)
    named = [name for name in fields if name in table and name not in ("item", "rater")]
    columns, unsure = _columns_of(table, named)
    columns.pop("round", None)
    return Seen(reader, questions, columns, {}, (), unsure)


def _labels_of(path: Path, kind: str) -> tuple[str, ...]:
    """The labels of the units of a kind. None if nothing of the kind was marked."""
    marked = read_marked(path, kind, rules=Rules(requires=(), all_rounds=True))
    if not any(each.objects for each in marked):
        return ()
    return units_of(marked, UnitSettings(kind)).scale.names


def _of_table(path: Path, reader: Reader) -> Seen:
    header = [str(name) for name in Export(path).first]
    if not header:
        rows_of(path)  # Where the first row cannot be read, reading says why.
    columns = probable_columns(header)
    absent = [name for name in NEEDED if name not in columns]
    if absent:
        raise RatingsError(
            f"{path.name}: found no column for {listed(absent)} among {listed(header, 20)}; "
            "expected item, rater and label. Rename the columns, or write the project yourself: "
            "see docs/guide/project.md."
        )
    unsure = tuple(
        f"{name} is probably column {column!r}"
        for name, column in columns.items()
        if name != column
    )
    labels = pd.Series([row.value.get(columns["label"]) for row in Export(path).records()])
    question = _question(columns["label"], labels)
    named = Columns(columns["item"], columns["rater"], columns["label"])
    unsure += tuple(
        f"column {column!r} is read as {name}"
        for name, column in unnamed_columns(header, named).items()
    )
    again = next((name for name in header if REPLICATE.fullmatch(name)), None)
    replicates = {"replicate_of": again} if again else {}
    return Seen(reader, (question,), columns, replicates, (), unsure)


def _columns_of(
    table: pd.DataFrame, fields: Iterable[str]
) -> tuple[dict[str, str], tuple[str, ...]]:
    columns, unsure = {}, []
    items = [name for name in fields if ITEM.fullmatch(name.lower()) and _names(table, name)]
    if items:
        columns["item"] = items[0]
        unsure.append(f"the items are probably named by {items[0]!r}, not by the tool's own number")
    rounds = [name for name in fields if ROUND.fullmatch(name.lower())]
    filled = [name for name in rounds if table[name].notna().all()]
    if filled:
        columns["round"] = filled[0]
        unsure.append(f"each value of {filled[0]!r} is probably a round")
    return columns, tuple(unsure)


def _names(table: pd.DataFrame, name: str) -> bool:
    """True if a field names the items one by one."""
    pairs = table[["item", name]].drop_duplicates()
    return bool(
        pairs[name].notna().all()
        and not pairs["item"].duplicated().any()
        and not pairs[name].duplicated().any()
    )


def _replicates(table: pd.DataFrame, fields: Iterable[str]) -> dict[str, str]:
    named = [name for name in fields if REPLICATE.fullmatch(name.lower())]
    if named:
        return {"replicate_of": named[0]}
    texts = [name for name in fields if name == "text" and table[name].notna().all()]
    shared = [name for name in texts if table.groupby(name)["item"].nunique().max() > 1]
    return {"replicates_share": shared[0]} if shared else {}


def _question(name: str, given: pd.Series) -> Question:
    labels = sorted({str(each) for each in given.dropna()})
    sets = any("|" in label for label in labels)
    try:
        numbers = sorted({float(label) for label in labels})
    except ValueError:
        return Question(name, tuple(labels), "nominal", sets)
    ordered = tuple(sorted(labels, key=float))
    whole = all(each.is_integer() for each in numbers)
    level = "ordinal" if whole and len(numbers) <= FEW else "interval"
    return Question(name, ordered, level, False)
