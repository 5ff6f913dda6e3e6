"""The first files of a project, from one of its exports."""

import json
import re
from collections.abc import Collection, Iterable, Iterator, Mapping
from contextlib import suppress
from dataclasses import asdict, dataclass, field, replace
from itertools import pairwise
from pathlib import Path
from types import MappingProxyType
from typing import Any

import pandas as pd

from agreement_pipeline.errors import AgreementError, RatingsError
from agreement_pipeline.evidence import asked_of_models
from agreement_pipeline.projects.inbox import HIDDEN
from agreement_pipeline.ratings import (
    AS_PERCENT,
    Level,
    Scale,
    are_any_numbers,
    count_set_labels,
    described,
    doubtful,
    is_blank,
    is_number,
    labels_of_sets,
    like_models,
    lookalikes,
    meaning,
    misspelt,
    placeholders_among,
    probable_level,
    refuse_absent,
)
from agreement_pipeline.readers import (
    Columns,
    Export,
    Limits,
    Reader,
    Rows,
    Rules,
    answers,
    header_of,
    probable_columns,
    read_marked,
    reader_of,
    rows_of,
    unnamed_columns,
    unpacked,
    unread_time,
    without_ending,
)
from agreement_pipeline.text import counted, joined, listed, natural
from agreement_pipeline.units import ANSWERS, CHOICES, UnitSettings, units_of

GUIDE = "agreement-pipeline guide project"
NOTHING: Mapping[str, Any] = MappingProxyType({})
NO_TEXTS = {"false", "no", "null", "off", "on", "true", "yes"}  # in YAML
COMMA = re.compile(r"[+-]?[0-9]*,[0-9]+")
DOUBTS = {
    "ordinal": "whole numbers; interval if their distances matter",
    "interval": "numbers whose distances matter",
    "nominal": "ordinal if the categories have an order, from the lowest",
}
ITEM = re.compile(r"(.*[_-])?(doc|item|unit|sample|post|global|external)([_-]?(id|key))?|stem")
DATED = re.compile(
    r"(?<!\d)(19|20)\d\d[-_.]?(w\d\d|(0[1-9]|1[0-2])([-_.]?(0[1-9]|[12]\d|3[01]))?)"
    r"([-_t ]?([01]\d|2[0-3])[-_h.]?[0-5]\d([-_m.]?[0-5]\d)?)?(?!\d)"
    r"|(?<!\d)(0?[1-9]|[12]\d|3[01])[-_.](0?[1-9]|1[0-2])[-_.](19|20)\d\d(?!\d)",
    re.I,
)
"""A day, a month or a week of ISO 8601, perhaps with a time, in the name of a file."""
AT_A_TIME = re.compile(r"[-_ ]at[-_ ](?=(19|20)\d\d-\d\d-\d\d).*")
"""What Label Studio adds to the name of a project: the time of the export, and a part of a key."""
ROUND = re.compile(r"round|batch|wave|iteration")
REPLICATE = re.compile(r"(replicate|repeat|duplicate)s?[_-]of")
MOST, NONE = 30, "|"
SHOWN_LABELS = 5
MAX_EXPORTS_COMPARED = 20
POLICY = """# The rules that judge {name}. agreement-pipeline guide policy explains every key.
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

    The question of a wide table has no name. `units` is the kind of its label objects, if any.
    `placeholders` are labels that may say that nobody gave one. They are not among the others.
    """

    name: str
    labels: tuple[str, ...]
    level: Level
    sets: bool
    units: str = ""
    placeholders: tuple[str, ...] = ()


@dataclass(frozen=True)
class Seen:
    reader: Reader
    questions: tuple[Question, ...]
    columns: dict[str, Any]
    said: Mapping[str, Any]
    replicates: dict[str, str] = field(default_factory=dict)
    models: tuple[str, ...] = ()
    unsure: tuple[str, ...] = ()


def first_files(
    export: Path, name: str, inbox: str, said: Mapping[str, Any] = NOTHING
) -> dict[str, str]:
    """The project files and the policies for an export, by their paths in configs/.

    Each question of the export is a project of its own. What is `said` of the export stands under
    the keys of a project, and is not guessed.
    """
    with unpacked(export) as path:
        written = Columns(**said.get("columns", {}))
        reader = reader_of(path, said.get("reader"), written)
        of = _of_table if reader.submissions is None else _of_tool
        seen = of(path, reader, said)
    if repeated := _repeated_items(export, seen):
        seen = replace(seen, unsure=(*seen.unsure, repeated))
        folder = Path(inbox).parent
        inbox = inbox if folder == Path() else str(folder)
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
            of_replicates=OF_REPLICATES if seen.replicates or "replicate_of" in said else "",
        )
    return files


def _repeated_items(export: Path, seen: Seen) -> str:
    """The question whether exports are cumulative, if one in this folder repeats another.

    They are compared in the order of their names. Empty if none has over half of its items from
    the one before, since such a delivery is not held.
    """
    if not export.is_file():
        return ""
    exports = [
        each
        for each in sorted(export.parent.iterdir(), key=lambda each: natural(each.name))
        if each.is_file() and each.suffix == export.suffix and not each.name.startswith(HIDDEN)
    ]
    question, named = "", dict[str, frozenset[str]]()
    for each in exports[-MAX_EXPORTS_COMPARED:] if len(exports) > 1 else ():
        with suppress(AgreementError):  # it is no export of this project
            named[each.name] = _item_names(each, seen)
    for (older, before), (newer, items) in pairwise(named.items()):
        n_repeated = len(before & items)
        if 2 * n_repeated > len(items):
            question = (
                f"{newer} repeats {n_repeated:,} of the {counted(len(before), 'item')} of {older}. "
                "If each export holds all before it, say `deliveries: cumulative`: then a round is "
                "what is new. If each stands for itself, say `deliveries: independent`"
            )
    return question


def _item_names(export: Path, seen: Seen) -> frozenset[str]:
    question, said = seen.questions[0], seen.said
    columns = dict(seen.columns)
    if question.name and not question.units:
        columns["label"] = question.name
    rules = {name: said[name] for name in said if name in Rules.__dataclass_fields__}
    if question.units:
        rules.setdefault("units", UnitSettings(question.units))
    rows = rows_of(
        export,
        Columns(**columns),
        said.get("layout", "long"),
        Limits(**said.get("limits", {})),
        Rules(**{**rules, "requires": (), "reader": seen.reader.name}),
    )
    with rows.reading():
        return frozenset(rows.distinct("item"))


def plain_name(text: str) -> str:
    """A name that a project may have.

    >>> plain_name("Batch 4711 (results)"), plain_name("4711")
    ('batch_4711_results', 'p_4711')
    """
    plain = re.sub(r"[^a-z0-9]+", "_", text.lower()).strip("_")[:40]
    return plain if plain[:1].isalpha() and plain not in NO_TEXTS else f"p_{plain}"


def undated_name(export: Path) -> str:
    """What an export is called beside the date in its name, which the next export has not.

    >>> undated_name(Path("in/reviews-2026-W48.csv")), undated_name(Path("in/2026-11-23.csv"))
    ('reviews', 'in')
    >>> undated_name(Path("project-7-at-2026-11-22-10-03-1f2e3d4c.json"))  # Label Studio's name
    'project-7'
    """
    stem = Path(without_ending(export.name)).stem
    rest = DATED.sub("", AT_A_TIME.sub("", stem)).strip(" -_.")
    return rest or export.resolve().parent.name or stem


def _project(name: str, question: Question, seen: Seen, inbox: str) -> Iterator[str]:
    reader, numbers = seen.reader, question.level in ("interval", "ratio")
    yield f"# {name}: written by `agreement-pipeline init`. {GUIDE} explains every key."
    yield from (f"# Please check: {guess}." for guess in seen.unsure)
    for lacking, why in reader.needs.items() if "requires" not in seen.said else ():
        yield f"# FILL IN `requires`: {reader.title} cannot show {lacking}. {why}"
    if question.placeholders:
        named = joined(map(repr, question.placeholders))
        written = _in_yaml(list(question.placeholders))
        is_one = len(question.placeholders) == 1
        yield (
            f"# FILL IN `missing` or `categories`: {named} may say that nobody gave a label. Then "
            f"write missing: {written}. If raters may choose {'it' if is_one else 'them'}, add "
            f"{'it' if is_one else 'them'} to categories. Until then, such labels are refused."
        )
    if len(question.labels) == 1 and not question.units:
        yield (
            f"# FILL IN `categories`: {question.labels[0]!r} is the only label that occurs. Name "
            "the others that raters may give."
        )
    yield f"project: {name}"
    yield f"inbox: {_in_yaml(inbox)}  # or the folder of the rounds: a file or a folder each"
    yield f"reader: {reader.name}  # {reader.title}"
    columns = dict(seen.columns)
    if question.name and not question.units:
        columns["label"] = question.name
    if columns:
        named = ", ".join(f"{key}: {_in_yaml(value)}" for key, value in columns.items())
        yield f"columns: {{{named}}}"
    yield from (
        f"{key}: {_in_yaml(value)}"
        for key, value in seen.said.items()
        if key not in ("columns", "scale", "units", "reader")
    )
    if question.units:
        units = seen.said.get("units", UnitSettings(question.units))
        usual = asdict(UnitSettings(units.kind))
        own = {key: value for key, value in asdict(units).items() if value != usual[key]}
        settings = "".join(f", {key}: {_in_yaml(value)}" for key, value in own.items())
        yield (f"units: {{kind: {units.kind}{settings}}}  # agreement-pipeline guide units")
    is_table = reader.submissions is None
    if question.units and not is_table and "none" in reader.lacks and "requires" not in seen.said:
        yield "requires: []  # every item of the file was opened by its rater: please check"
    scale = seen.said.get("scale", {})
    no_order = question.units not in ("", "rubrics")
    yield "scale:"
    yield f"  level: {question.level}" + (
        "" if "level" in scale or no_order else f"  # {DOUBTS[question.level]}"
    )
    labels = (float(each) if numbers else each for each in question.labels)
    categories = list(dict.fromkeys(labels))
    of_units = question.labels in (CHOICES, ANSWERS) and question.units
    seen_only = "" if "categories" in scale or of_units else "  # those seen"
    if question.level == "multivariate interval":
        yield f"  dimensions: {Scale.from_labels(question.labels, question.level).dimensions}"
    elif numbers and seen_only and are_any_numbers({*map(float, question.labels)}):
        yield "  # any number may be a label; list categories if raters choose among few"
    else:
        yield f"  categories: {_in_yaml(categories)}{seen_only}"
    yield from _of_items_and_raters(seen, "round" in columns)
    yield f"policy: {name}"


def _in_yaml(value: object) -> str:
    return json.dumps(value, ensure_ascii=False, default=asdict)


def _of_items_and_raters(seen: Seen, several_rounds: bool) -> Iterator[str]:
    for key, value in seen.replicates.items():
        yield f"{key}: {_in_yaml(value)}  # items that come back, so that raters meet them again"
    if (seen.replicates or "replicate_of" in seen.said) and several_rounds:
        yield "replicates: across  # they come back in later rounds"
    hints = {
        "replicate_of": "FIELD  # the field that names the item which an item repeats",
        "classifiers": "[MODEL]  # raters that are models",
        "exclude_raters": "[NAME]  # who gave known answers and is no rater",
        "requires": "[]  # see above",
        "where": "{FIELD: [VALUE]}  # only rows with these values count",
        "deliveries": "cumulative  # if each export holds all before it; or independent",
        "rounds": "{column: FIELD, every: week}  # if one file grows: its rounds by their times",
    }
    if seen.models:
        yield f"# Models of the export are classifiers by themselves: {', '.join(seen.models)}."
        del hints["classifiers"]
    if seen.replicates:
        del hints["replicate_of"]
    if not seen.reader.needs:
        del hints["requires"]
    if several_rounds:
        del hints["rounds"]
    yield from (f"# {key}: {hint}" for key, hint in hints.items() if key not in seen.said)


def _of_tool(path: Path, reader: Reader, said: Mapping[str, Any]) -> Seen:
    assert reader.submissions is not None
    asked = said.get("columns", {}).get("label")
    names: dict[str, None] = {}
    known: dict[str, None] = {}
    for each in reader.submissions(Export(path)):
        names.update(dict.fromkeys(each.values))
        known.update(dict.fromkeys(each.fields))
    first = next(iter(names), None)
    if first is None or "units" in said:
        return _of_objects(path, reader, known, said, asked or first)
    if asked is not None and asked not in names:
        raise RatingsError(
            f"{path.name}: found no question {asked!r} among {listed(names, 20)}; expected one of "
            "these. Correct the name of the label."
        )
    table = answers(path, first, known)
    fields = [name for name in known if name in table and name not in ("item", "rater")]
    columns, unsure = _columns_of(table, fields, said)
    questions = tuple(
        found
        for name in ([asked] if asked else names)
        # A field of the item, and no question: all submissions for an item say the same.
        if not (name in known and table.groupby("item")[name].nunique().max() <= 1)
        for found in [_question(name, answers(path, name)["label"].dropna(), said)]
        if {*found.labels} - {NONE} and len(found.labels) <= MOST
    )
    if not questions:
        return _of_objects(path, reader, known, said, asked or first)
    is_model = table["kind"] == "model"
    models = tuple(sorted(table["rater"][is_model].unique()))
    replicates = {} if "replicate_of" in said else _replicates(table, fields)
    unsure += _of_raters(table["rater"].unique(), said, path, known=models)
    return Seen(reader, questions, columns, said, replicates, models, unsure)


def _of_objects(
    path: Path, reader: Reader, fields: Iterable[str], said: Mapping[str, Any], label: str | None
) -> Seen:
    every = [said["units"]] if "units" in said else map(UnitSettings, reader.kinds)
    questions = []
    for units in every:
        columns = Columns(**said.get("columns", {}))
        marked = read_marked(path, units.kind, columns, rules=Rules(requires=(), all_rounds=True))
        labels = units_of(marked, units).scale.names if any(each.objects for each in marked) else ()
        if labels:
            questions.append(Question(units.kind, labels, "nominal", False, units.kind))
    if not questions:
        raise RatingsError(
            f"{path.name}: found no question with answers that are read; expected choices, a "
            "rating, a number, or objects that `agreement-pipeline guide units` lists. "
            "Export one of them."
        )
    table = answers(path, label, fields)
    named = [name for name in fields if name in table and name not in ("item", "rater")]
    named_as, unsure = _columns_of(table, named, said)
    unsure += _of_raters(table["rater"].unique(), said, path)
    named_as.pop("round", None)
    return Seen(reader, tuple(questions), named_as, said, unsure=unsure)


def _of_table(path: Path, reader: Reader, said: Mapping[str, Any]) -> Seen:
    """A table is read whole. So whatever is wrong with it is refused, with the next step."""
    given = said.get("columns", {})
    header = header_of(path, Columns(**given))
    is_wide = said.get("layout") == "wide"
    taken = [*given.values(), *given.get("raters", ())]
    guessed: dict[str, Any] = {
        name: column
        for name, column in probable_columns(header).items()
        if name not in given
        and column not in taken
        and not (is_wide and name in ("rater", "label"))
    }
    columns = Columns(**guessed, **given)
    unsure = [
        f"{name} is probably column {column!r}"
        for name, column in guessed.items()
        if name != column
    ]
    rows = rows_of(
        path,
        columns,
        "wide" if is_wide else "long",
        Limits(**said.get("limits", {})),
        Rules(**{each: said[each] for each in said if each in Rules.__dataclass_fields__}),
    ).read_through()
    label = rows.text("label")
    times = rows.relation.ask(
        f"SELECT {label} AS label, COUNT(*) AS n FROM {rows} WHERE {label} IS NOT NULL GROUP BY 1"
    )
    counts = {row["label"]: row["n"] for row in times.to_pylist() if not is_blank(row["label"])}
    labels = [*counts]
    if "categories" not in said.get("scale", {}):
        slips = misspelt(count_set_labels(counts))
        unsure += [*slips.values(), *doubtful(labels, slips)]
    if any(map(COMMA.fullmatch, labels)):
        unsure.append("some labels have a comma; if it is a decimal comma, give --decimal ,")
    if any(map(AS_PERCENT.fullmatch, labels)):
        unsure.append("some labels have the sign %; if they are numbers, take it off")
    if (time := unread_time(rows)) is not None:
        unsure.append(
            f"times such as {time!r} cannot be read; give --time-format '%d/%m/%Y %H:%M', or as "
            "they are written"
        )
    unsure += [
        f"column {column!r} is read as {name}"
        for name, column in unnamed_columns(header, columns).items()
    ]
    rater = rows.text("rater")
    found = rows.relation.ask(f"SELECT DISTINCT {rater} AS rater FROM {rows}")["rater"]
    raters = found.to_pylist()
    if None in raters:
        unsure.append("some rows name no rater; fill them in or drop them")
    unsure += _of_raters(filter(None, raters), said, path)
    if "duplicates" not in said:
        unsure += _of_repeated_ratings(rows)
    label_sets = () if {"units", "scale"} & {*said} else labels_of_sets(labels)
    if label_sets:
        unsure = [each for each in unsure if "counts as one label" not in each]
        unsure.append(
            f"cells hold several of {len(label_sets)} labels ({joined(label_sets, SHOWN_LABELS)}), "
            "and each is judged by itself; leave units out if each combination is a category"
        )
    name = "" if is_wide else columns.label
    again = next((each for each in header if REPLICATE.fullmatch(each)), None)
    replicates = {"replicate_of": again} if again and "replicate_of" not in said else {}
    named = {**guessed, **given}
    units = said["units"].kind if "units" in said else "sets" if label_sets else ""
    if units:
        question = Question(name, ANSWERS, "nominal", False, units)
    else:
        named.pop("label", None)
        question = _question(name, labels, said)
    return Seen(reader, (question,), named, said, replicates, (), tuple(unsure))


def _of_repeated_ratings(rows: Rows) -> Iterator[str]:
    """Whether some rows have the item and rater of another one, which an error or a decision on
    self-agreement would ask about later.
    """
    names = ["item", "rater", *({"occurrence", "round"} & {*rows.names})]
    keys = ", ".join(map(rows.text, names))
    label = rows.text("label")
    groups = (
        f"SELECT COUNT(*) AS n, COUNT(DISTINCT {label}) AS n_labels FROM {rows} "
        f"WHERE {label} IS NOT NULL GROUP BY {keys} HAVING COUNT(*) > 1"
    )
    found = rows.relation.ask(
        "SELECT COALESCE(SUM(n - 1), 0) AS again, "
        f"COALESCE(SUM(CASE WHEN n_labels > 1 THEN 1 ELSE 0 END), 0) AS differ FROM ({groups}) AS g"
    ).to_pylist()[0]
    n_again, n_differ = int(found["again"]), int(found["differ"])
    if n_again:
        rows_repeat = f"{n_again} row{' repeats' if n_again == 1 else 's repeat'}"
        differ = f" ({n_differ} with another label)" if n_differ else ""
        yield (
            f"{rows_repeat} the item and rater of another one{differ}. If raters met these items "
            "again, name the column that numbers the occurrences; if the rows are duplicates, "
            "write duplicates: first, or last"
        )


def _of_raters(
    raters: Iterable[str], said: Mapping[str, Any], path: Path, known: Collection[str] = ()
) -> tuple[str, ...]:
    """A classifier that was named must be among the raters, or no round of the project could be
    read.
    """
    every, named = sorted(raters), said.get("classifiers", ())
    refuse_absent(named, every, path.name)
    models = [name for name in like_models(every) if name not in (*named, *known)]
    unsure = [
        f"raters {described(group)} print alike; if they are one rater, write same_rater: "
        f"[{_in_yaml(group)}], else different_raters: [{_in_yaml(group)}]"
        for group in lookalikes(every)
        if not Rules(different_raters=said.get("different_raters", ())).declares_different(group)
    ]
    if models:
        written = ", ".join(map(_in_yaml, models))
        unsure.append(f"{asked_of_models(models)} Then write classifiers: [{written}]")
    return tuple(unsure)


def _columns_of(
    table: pd.DataFrame, fields: Iterable[str], said: Mapping[str, Any]
) -> tuple[dict[str, Any], tuple[str, ...]]:
    columns, unsure = dict(said.get("columns", {})), list[str]()
    items = [name for name in fields if ITEM.fullmatch(name.lower()) and _names(table, name)]
    if items and "item" not in columns:
        columns["item"] = items[0]
        unsure.append(f"the items are probably named by {items[0]!r}, not by the tool's own number")
    rounds = [name for name in fields if ROUND.fullmatch(name.lower())]
    filled = [name for name in rounds if table[name].notna().all()]
    if filled:
        columns["round"] = filled[0]
        unsure.append(f"each value of {filled[0]!r} is probably a round")
    return columns, tuple(unsure)


def _names(table: pd.DataFrame, name: str) -> bool:
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


def _question(name: str, given: Iterable[object], said: Mapping[str, Any]) -> Question:
    scale = said.get("scale", {})
    every = {label for label in map(str, given) if not is_blank(label)}
    placeholders = () if "categories" in scale else placeholders_among(every)
    seen = sorted(every.difference(placeholders), reverse=True)
    once = sorted({meaning(label, sets=True): label for label in seen}.values())
    labels = tuple(scale.get("categories", once))
    numeric = all(map(is_number, labels))
    if "categories" not in scale and numeric:
        labels = tuple(sorted(labels, key=float))
    level: Level = scale.get("level", probable_level(labels))
    if "categories" in scale:
        Scale(labels, level)
    elif level not in ("nominal", "ordinal"):
        Scale.from_labels(labels, level)
    sets = not numeric and any("|" in each for each in labels)
    return Question(name, labels, level, sets, placeholders=placeholders)
