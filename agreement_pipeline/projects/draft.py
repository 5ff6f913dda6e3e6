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
from agreement_pipeline.evidence import ask_whether_models
from agreement_pipeline.projects.inbox import HIDDEN_PREFIXES
from agreement_pipeline.ratings import (
    AS_PERCENT,
    Level,
    Scale,
    are_any_numbers,
    arrow_to_pandas,
    count_set_labels,
    describe_doubtful_labels,
    describe_lookalikes,
    find_misspelt,
    group_lookalike_names,
    guess_level,
    is_blank,
    is_number,
    labels_of_sets,
    meaning_of_label,
    names_like_models,
    placeholders_among,
    refuse_absent_classifiers,
)
from agreement_pipeline.readers import (
    Columns,
    Export,
    Limits,
    Reader,
    Rows,
    Rules,
    find_unread_time,
    guess_column_by_role,
    guessed_columns,
    load_rows,
    read_answers,
    read_first_rows,
    read_header,
    read_marked,
    select_reader,
    strip_compression_suffix,
    unpack_for_reading,
)
from agreement_pipeline.text import counted, joined, listed, natural_sort_key
from agreement_pipeline.units import ANSWERS, CHOICES, UnitSettings, units_of

GUIDE = "agreement-pipeline guide project"
NO_SETTINGS: Mapping[str, Any] = MappingProxyType({})
USUAL_MIN_ITEMS = 30
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
    r"|(?<!\d)(0?[1-9]|[12]\d|3[01])[-_.](0?[1-9]|1[0-2])[-_.](19|20)\d\d(?!\d)"
    r"|(?<![a-z])(jan|feb|mar|apr|may|jun|jul|aug|sep|oct|nov|dec)[a-z]*[-_. ]?(19|20)\d\d(?!\d)"
    r"|(?<![a-z])(kw|cw|week)[-_. ]?\d{1,2}(?!\d)",
    re.I,
)
"""A day, a month or a week, perhaps with a time, in the name of a file."""

LETTER = re.compile(r"[^\W\d_]")
AT_A_TIME = re.compile(r"[-_ ]at[-_ ](?=(19|20)\d\d-\d\d-\d\d).*")
"""What Label Studio adds to the name of a project: the time of the export, and a part of a key."""
ROUND = re.compile(r"round|batch|wave|iteration")
REPLICATE = re.compile(r"(replicate|repeat|duplicate)s?[_-]of")
MAX_CATEGORIES = 30
OPTIONAL_ROLES = ("text", "timestamp", "confidence")
MIN_COLUMNS_GUESSED = 3
MAX_ROWS_SEEN = 20_000
MAX_RATERS_GUESSED = 20
MIN_TEXT_LENGTH = 25
MOST_CELLS = 0.9
"""The share of cells or rows that must look like a role of a column for it to be proposed."""

SLACK = 0.02
TIME = re.compile(
    r"(\d{4}[-/.]\d{1,2}[-/.]\d{1,2}|\d{1,2}[-/.]\d{1,2}[-/.](19|20)?\d{2})([T ]+\d{1,2}:\d{2}.*)?$"
)
EMPTY_SET = "|"
SHOWN_LABELS = 5
MAX_EXPORTS_COMPARED = 20
DATASET_HINTS = (
    "# dataset:  # what releases say of the data: agreement-pipeline guide releases",
    "#   license: CC-BY-4.0",
    "#   use_cases: what it is for, and what it is not for",
    "#   limitations: where it does not hold",
    "#   biases: whom or what it shows too much or too little",
    "#   social_impact: whom it may help or harm",
    "#   personal_data: none, or which and how it is protected",
    "#   synthetic_data: false",
    "#   derived_from: [the URL or the name of each dataset it was made from]",
    "#   collected: how and when its items were collected",
)
POLICY = """# The rules that judge {name}. agreement-pipeline guide policy explains every key.
policy: {name}
version: 1
description: The usual cut-offs. Please write what a wrong label costs.
admit: [reliable]
rules:
  - measure: {measure}
    reliable: 0.800
    tentative: 0.667
    min_items: {min_items}
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
class ExportFacts:
    reader: Reader
    questions: tuple[Question, ...]
    columns: dict[str, Any]
    given_settings: Mapping[str, Any]
    replicates: dict[str, str] = field(default_factory=dict)
    models: tuple[str, ...] = ()
    unsure: tuple[str, ...] = ()
    n_items: int = USUAL_MIN_ITEMS


def _min_items(n_items: int) -> str:
    """The fewest items that the policy asks for, which the export itself has."""
    if n_items >= USUAL_MIN_ITEMS:
        return str(USUAL_MIN_ITEMS)
    return f"{n_items}  # as many as the export has; {USUAL_MIN_ITEMS} or more are usual"


def draft_project_files(
    export: Path, name: str, inbox: str, given_settings: Mapping[str, Any] = NO_SETTINGS
) -> dict[str, str]:
    """The project files and the policies for an export, by their paths in configs/.

    Each question of the export is a project of its own. The `given_settings` of the export stand
    under the keys of a project, and are not guessed.
    """
    with unpack_for_reading(export) as path:
        given_columns = Columns(**given_settings.get("columns", {}))
        reader = select_reader(path, given_settings.get("reader"), given_columns)
        read_facts = _read_table if reader.submissions is None else _read_tool_export
        export_facts = read_facts(path, reader, given_settings)
    if repeated := _question_about_repeated_items(export, export_facts):
        export_facts = replace(export_facts, unsure=(*export_facts.unsure, repeated))
        folder = Path(inbox).parent
        inbox = inbox if folder == Path() else str(folder)
    files: dict[str, str] = {}
    for question in export_facts.questions:
        several = len(export_facts.questions) > 1
        project = f"{name}_{plain_name(question.name)}" if several else name
        files[f"projects/{project}.yaml"] = "\n".join(
            [*_iterate_project_lines(project, question, export_facts, inbox), ""]
        )
        files[f"policies/{project}.yaml"] = POLICY.format(
            name=project,
            min_items=_min_items(export_facts.n_items),
            measure="alpha_masi" if question.sets else "krippendorff_alpha",
            of_replicates=OF_REPLICATES
            if export_facts.replicates or "replicate_of" in given_settings
            else "",
        )
    return files


def _question_about_repeated_items(export: Path, export_facts: ExportFacts) -> str:
    """The question whether exports are cumulative, if one in this folder repeats another.

    They are compared in the order of their names. Empty if none has over half of its items from
    the one before, since such a delivery is not held.
    """
    if not export.is_file():
        return ""
    exports = [
        path
        for path in sorted(export.parent.iterdir(), key=lambda path: natural_sort_key(path.name))
        if path.is_file()
        and path.suffix == export.suffix
        and not path.name.startswith(HIDDEN_PREFIXES)
    ]
    question, items_by_export = "", dict[str, frozenset[str]]()
    for path in exports[-MAX_EXPORTS_COMPARED:] if len(exports) > 1 else ():
        with suppress(AgreementError):  # it is no export of this project
            items_by_export[path.name] = _read_item_names(path, export_facts)
    for (older, older_items), (newer, items) in pairwise(items_by_export.items()):
        n_repeated = len(older_items & items)
        if 2 * n_repeated > len(items):
            question = (
                f"{newer} repeats {n_repeated:,} of the {counted(len(older_items), 'item')} of "
                f"{older}. If each export also contains the earlier ones, say `deliveries: "
                "cumulative`: then a round is what is new. If items come back on purpose, say "
                "`deliveries: independent`"
            )
    return question


def _read_item_names(export: Path, export_facts: ExportFacts) -> frozenset[str]:
    question, given_settings = export_facts.questions[0], export_facts.given_settings
    columns = dict(export_facts.columns)
    if question.name and not question.units:
        columns["label"] = question.name
    rules = {
        name: given_settings[name] for name in given_settings if name in Rules.__dataclass_fields__
    }
    if question.units:
        rules.setdefault("units", UnitSettings(question.units))
    rows = load_rows(
        export,
        Columns(**columns),
        given_settings.get("layout", "long"),
        Limits(**given_settings.get("limits", {})),
        Rules(**{**rules, "requires": (), "reader": export_facts.reader.name}),
    )
    with rows.reading():
        return frozenset(rows.distinct_texts("item"))


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
    stem = Path(strip_compression_suffix(export.name)).stem
    folders = (folder.name for folder in export.resolve().parents)
    for name in (AT_A_TIME.sub("", stem), *folders):
        undated = DATED.sub("", name).strip(" -_.")
        if LETTER.search(undated):
            return undated
    return "labels"


def _iterate_project_lines(
    name: str, question: Question, export_facts: ExportFacts, inbox: str
) -> Iterator[str]:
    reader, numbers = export_facts.reader, question.level in ("interval", "ratio")
    yield f"# {name}: written by `agreement-pipeline init`. {GUIDE} explains every key."
    yield from (f"# Please check: {guess}." for guess in export_facts.unsure)
    for lacking_part, reason in (
        reader.needs.items() if "requires" not in export_facts.given_settings else ()
    ):
        yield f"# FILL IN `requires`: {reader.title} cannot show {lacking_part}. {reason}"
    if question.placeholders:
        quoted_names = joined(map(repr, question.placeholders))
        placeholder_list = _as_yaml(list(question.placeholders))
        pronoun = "it" if len(question.placeholders) == 1 else "them"
        yield (
            f"# FILL IN `missing` or `categories`: {quoted_names} may say that nobody gave a "
            f"label. Then write missing: {placeholder_list}. If raters may choose {pronoun}, add "
            f"{pronoun} to categories. Until then, such labels are refused."
        )
    if len(question.labels) == 1 and not question.units:
        yield (
            f"# FILL IN `categories`: {question.labels[0]!r} is the only label that occurs. Name "
            "the others that raters may give."
        )
    yield f"project: {name}"
    yield f"inbox: {_as_yaml(inbox)}  # or the folder of the rounds: a file or a folder each"
    yield f"reader: {reader.name}  # {reader.title}"
    columns = dict(export_facts.columns)
    if question.name and not question.units:
        columns["label"] = question.name
    if columns:
        columns_text = ", ".join(f"{key}: {_as_yaml(value)}" for key, value in columns.items())
        yield f"columns: {{{columns_text}}}"
    yield from (
        f"{key}: {_as_yaml(value)}"
        for key, value in export_facts.given_settings.items()
        if key not in ("columns", "scale", "units", "reader")
    )
    if question.units:
        units = export_facts.given_settings.get("units", UnitSettings(question.units))
        default_settings = asdict(UnitSettings(units.kind))
        changed_settings = {
            key: value for key, value in asdict(units).items() if value != default_settings[key]
        }
        settings = "".join(f", {key}: {_as_yaml(value)}" for key, value in changed_settings.items())
        yield (f"units: {{kind: {units.kind}{settings}}}  # agreement-pipeline guide units")
    is_table = reader.submissions is None
    if (
        question.units
        and not is_table
        and "none" in reader.lacks
        and "requires" not in export_facts.given_settings
    ):
        yield "requires: []  # every item of the file was opened by its rater: please check"
    scale = export_facts.given_settings.get("scale", {})
    no_order = question.units not in ("", "rubrics")
    yield "scale:"
    yield f"  level: {question.level}" + (
        "" if "level" in scale or no_order else f"  # {DOUBTS[question.level]}"
    )
    labels = (float(label) if numbers else label for label in question.labels)
    categories = list(dict.fromkeys(labels))
    of_units = question.labels in (CHOICES, ANSWERS) and question.units
    observed_note = "" if "categories" in scale or of_units else "  # those seen"
    if question.level == "multivariate interval":
        yield f"  dimensions: {Scale.from_labels(question.labels, question.level).dimensions}"
    elif numbers and observed_note and are_any_numbers({*map(float, question.labels)}):
        yield "  # any number may be a label; list categories if raters choose among few"
    else:
        yield f"  categories: {_as_yaml(categories)}{observed_note}"
    yield from _replicate_and_hint_lines(export_facts, "round" in columns)
    yield f"policy: {name}"


def _as_yaml(value: object) -> str:
    return json.dumps(value, ensure_ascii=False, default=asdict)


def _replicate_and_hint_lines(export_facts: ExportFacts, several_rounds: bool) -> Iterator[str]:
    for key, value in export_facts.replicates.items():
        yield f"{key}: {_as_yaml(value)}  # items that come back, so that raters meet them again"
    if (
        export_facts.replicates or "replicate_of" in export_facts.given_settings
    ) and several_rounds:
        yield "replicates: across  # they come back in later rounds"
    hints = {
        "replicate_of": "FIELD  # the field that names the item which an item repeats",
        "classifiers": "[MODEL]  # raters that are models",
        "exclude_raters": "[NAME]  # who gave known answers and is no rater",
        "requires": "[]  # see above",
        "where": "{FIELD: [VALUE]}  # only rows with these values count",
        "deliveries": "cumulative  # if each export also contains the earlier ones; or independent",
        "rounds": "{column: FIELD, every: week}  # if one file grows: its rounds by their times",
    }
    if export_facts.models:
        models = ", ".join(export_facts.models)
        yield f"# Models of the export are classifiers by themselves: {models}."
        del hints["classifiers"]
    if export_facts.replicates:
        del hints["replicate_of"]
    if not export_facts.reader.needs:
        del hints["requires"]
    if several_rounds:
        del hints["rounds"]
    yield from (
        f"# {key}: {hint}" for key, hint in hints.items() if key not in export_facts.given_settings
    )
    if "dataset" not in export_facts.given_settings:
        yield from DATASET_HINTS


def _read_tool_export(path: Path, reader: Reader, given_settings: Mapping[str, Any]) -> ExportFacts:
    assert reader.submissions is not None
    asked_question = given_settings.get("columns", {}).get("label")
    names: dict[str, None] = {}
    known_fields: dict[str, None] = {}
    for submission in reader.submissions(Export(path)):
        names.update(dict.fromkeys(submission.values))
        known_fields.update(dict.fromkeys(submission.fields))
    first_question = next(iter(names), None)
    if first_question is None or "units" in given_settings:
        return _read_objects(
            path, reader, known_fields, given_settings, asked_question or first_question
        )
    if asked_question is not None and asked_question not in names:
        raise RatingsError(
            f"{path.name}: found no question {asked_question!r} among {listed(names, 20)}; "
            "expected one of these. Correct the name of the label."
        )
    table = read_answers(path, first_question, known_fields)
    fields = [name for name in known_fields if name in table and name not in ("item", "rater")]
    columns, unsure = _guess_columns(table, fields, given_settings)
    questions = tuple(
        question
        for name in ([asked_question] if asked_question else names)
        # A field of the item, and no question: all submissions for an item say the same.
        if not (name in known_fields and table.groupby("item")[name].nunique().max() <= 1)
        for question in [
            _guess_question(name, read_answers(path, name)["label"].dropna(), given_settings)
        ]
        if {*question.labels} - {EMPTY_SET} and len(question.labels) <= MAX_CATEGORIES
    )
    if not questions:
        return _read_objects(
            path, reader, known_fields, given_settings, asked_question or first_question
        )
    is_model = table["kind"] == "model"
    models = tuple(sorted(table["rater"][is_model].unique()))
    replicates = {} if "replicate_of" in given_settings else _guess_replicates(table, fields)
    unsure += _ask_about_raters(table["rater"].unique(), given_settings, path, known_models=models)
    n_items = table["item"].nunique()
    return ExportFacts(
        reader, questions, columns, given_settings, replicates, models, unsure, n_items
    )


def _read_objects(
    path: Path,
    reader: Reader,
    fields: Iterable[str],
    given_settings: Mapping[str, Any],
    label: str | None,
) -> ExportFacts:
    units_to_try = (
        [given_settings["units"]] if "units" in given_settings else map(UnitSettings, reader.kinds)
    )
    questions = []
    for units in units_to_try:
        columns = Columns(**given_settings.get("columns", {}))
        marked = read_marked(path, units.kind, columns, rules=Rules(requires=(), all_rounds=True))
        labels = (
            units_of(marked, units).scale.names
            if any(marked_item.objects for marked_item in marked)
            else ()
        )
        if labels:
            questions.append(Question(units.kind, labels, "nominal", False, units.kind))
    if not questions:
        raise RatingsError(
            f"{path.name}: found no question with answers that are read; expected choices, a "
            "rating, a number, or objects that `agreement-pipeline guide units` lists. "
            "Export one of them."
        )
    table = read_answers(path, label, fields)
    fields_in_table = [name for name in fields if name in table and name not in ("item", "rater")]
    named_columns, unsure = _guess_columns(table, fields_in_table, given_settings)
    unsure += _ask_about_raters(table["rater"].unique(), given_settings, path)
    named_columns.pop("round", None)
    n_items = table["item"].nunique()
    return ExportFacts(
        reader, tuple(questions), named_columns, given_settings, unsure=unsure, n_items=n_items
    )


def _read_table(path: Path, reader: Reader, given_settings: Mapping[str, Any]) -> ExportFacts:
    """A table is read whole. So whatever is wrong with it is refused, with the next step."""
    given_columns = given_settings.get("columns", {})
    header = read_header(path, Columns(**given_columns))
    is_wide = given_settings.get("layout") == "wide"
    used_columns = [*given_columns.values(), *given_columns.get("raters", ())]
    guessed: dict[str, Any] = {
        name: column
        for name, column in guess_column_by_role(header).items()
        if name not in given_columns
        and column not in used_columns
        and not (is_wide and name in ("rater", "label"))
    }
    if not is_wide:
        known = {**{name: name for name in OPTIONAL_ROLES if name in header}, **given_columns}
        known |= guessed
        by_values = _guess_by_values(path, header, known, given_columns)
        guessed |= {name: column for name, column in by_values.items() if name not in known}
    columns = Columns(**guessed, **given_columns)
    unsure = [
        f"{name} is probably column {column!r}"
        for name, column in guessed.items()
        if name != column
    ]
    rows = load_rows(
        path,
        columns,
        "wide" if is_wide else "long",
        Limits(**given_settings.get("limits", {})),
        Rules(
            **{
                rule: given_settings[rule]
                for rule in given_settings
                if rule in Rules.__dataclass_fields__
            }
        ),
    ).read_through()
    label = rows.text_sql("label")
    times = rows.relation.query(
        f"SELECT {label} AS label, COUNT(*) AS n FROM {rows} WHERE {label} IS NOT NULL GROUP BY 1"
    )
    counts = {row["label"]: row["n"] for row in times.to_pylist() if not is_blank(row["label"])}
    labels = [*counts]
    if "categories" not in given_settings.get("scale", {}):
        slips = find_misspelt(count_set_labels(counts))
        unsure += [*slips.values(), *describe_doubtful_labels(labels, slips)]
    if any(map(COMMA.fullmatch, labels)):
        unsure.append("some labels have a comma; if it is a decimal comma, give --decimal ,")
    if any(map(AS_PERCENT.fullmatch, labels)):
        unsure.append("some labels have the sign %; if they are numbers, take it off")
    if (time := find_unread_time(rows)) is not None:
        unsure.append(
            f"times such as {time!r} cannot be read; give --time-format '%d/%m/%Y %H:%M', or as "
            "they are written"
        )
    unsure += [
        f"column {column!r} is read as {name}"
        for name, column in guessed_columns(header, columns).items()
    ]
    rater = rows.text_sql("rater")
    rater_column = rows.relation.query(f"SELECT DISTINCT {rater} AS rater FROM {rows}")["rater"]
    raters = rater_column.to_pylist()
    if None in raters:
        unsure.append("some rows name no rater; fill them in or drop them")
    unsure += _ask_about_raters(filter(None, raters), given_settings, path)
    if "duplicates" not in given_settings:
        unsure += _ask_about_repeated_ratings(rows)
    label_sets = () if {"units", "scale"} & {*given_settings} else labels_of_sets(labels)
    if label_sets:
        unsure = [doubt for doubt in unsure if "counts as one label" not in doubt]
        unsure.append(
            f"cells hold several of {len(label_sets)} labels ({joined(label_sets, SHOWN_LABELS)}), "
            "and each is judged by itself; leave units out if each combination is a category"
        )
    name = "" if is_wide else columns.label
    replicate_column = next((column for column in header if REPLICATE.fullmatch(column)), None)
    replicates = (
        {"replicate_of": replicate_column}
        if replicate_column and "replicate_of" not in given_settings
        else {}
    )
    all_columns = {**guessed, **given_columns}
    units = (
        given_settings["units"].kind if "units" in given_settings else "sets" if label_sets else ""
    )
    if units:
        question = Question(name, ANSWERS, "nominal", False, units)
    else:
        all_columns.pop("label", None)
        question = _guess_question(name, labels, given_settings)
    return ExportFacts(
        reader,
        (question,),
        all_columns,
        given_settings,
        replicates,
        unsure=tuple(unsure),
        n_items=len(rows.distinct_texts("item")),
    )


def _guess_by_values(
    path: Path, header: list[str], known: Mapping[str, str], given_columns: Mapping[str, Any]
) -> dict[str, str]:
    """What columns are for by their values, in any language: of those roles that no name told.

    Nearly every item meets a rater once, so these two name a row together. A label has few values.
    A text says the same wherever its item stands. A time has a day, and a confidence is a share.
    """
    if len(header) < MIN_COLUMNS_GUESSED:
        return {}
    table = arrow_to_pandas(read_first_rows(path, Columns(**given_columns), MAX_ROWS_SEEN))
    texts = {
        name: table[name].where(~table[name].map(is_blank, na_action="ignore").eq(True))
        for name in table
        if name not in given_columns.get("raters", ())
    }
    free = [name for name in texts if name not in known.values() and texts[name].notna().any()]
    n_distinct = {name: texts[name].nunique() for name in texts}
    guessed: dict[str, str] = {}
    times = [name for name in free if _share_matching(texts[name], TIME) > MOST_CELLS]
    words = [name for name in free if name not in times]
    role = {name: column for name, column in known.items() if column in texts}

    def raters_once(item: str, rater: str) -> float:
        return len(table[[item, rater]].drop_duplicates()) / len(table)

    items = [role["item"]] if "item" in role else [n for n in words if texts[n].notna().all()]
    raters = [role["rater"]] if "rater" in role else [n for n in words if texts[n].notna().all()]
    pairs = [
        (raters_once(item, rater), -texts[item].str.len().mean(), item, rater)
        for item in items
        for rater in raters
        if n_distinct[item] > n_distinct[rater] >= 2
        and n_distinct[item] < len(table)
        and n_distinct[rater] <= max(MAX_RATERS_GUESSED, n_distinct[item] / 2)
    ]
    best_pairs = [pair for pair in pairs if pair[0] > max(MOST_CELLS, max(pairs)[0] - SLACK)]
    if best_pairs:
        *_, item, rater = max(best_pairs, key=lambda pair: pair[1])
        guessed |= {"item": item, "rater": rater}
    item = role.get("item", guessed.get("item", ""))
    free = [name for name in free if name not in guessed.values()]
    if item in texts:
        by_item = {name: table.groupby(item)[name].nunique().max() for name in free}
        of_item = [name for name in free if by_item[name] <= 1 and n_distinct[name] > 1]
        texts_of_item = [n for n in of_item if texts[n].str.len().mean() >= MIN_TEXT_LENGTH]
        guessed |= {"text": texts_of_item[0]} if texts_of_item else {}
    times = [name for name in times if name in free]
    guessed |= {"timestamp": times[0]} if len(times) == 1 else {}
    free = [name for name in free if name not in (*guessed.values(), *times)]
    if "label" not in role:
        labels = [name for name in free if 2 <= n_distinct[name] <= MAX_CATEGORIES]
        in_words = [name for name in labels if not texts[name].dropna().map(is_number).all()]
        guessed |= {"label": (in_words or labels)[0]} if labels else {}
    shares = [name for name in free if name != guessed.get("label") and _is_share(texts[name])]
    guessed |= {"confidence": shares[0]} if len(shares) == 1 else {}
    return guessed


def _share_matching(texts: pd.Series, form: re.Pattern[str]) -> float:
    present = texts.dropna()
    return float(present.str.strip().map(form.match).notna().mean()) if len(present) else 0.0


def _is_share(texts: pd.Series) -> bool:
    """Confidences are numbers from 0 to 1, of which some are neither."""
    present = texts.dropna()
    if present.empty or not present.map(is_number).all():
        return False
    numbers = present.astype(float)
    return bool(numbers.between(0, 1).all() and not numbers.isin((0.0, 1.0)).all())


def _ask_about_repeated_ratings(rows: Rows) -> Iterator[str]:
    """Whether some rows have the item and rater of another one, which an error or a decision on
    self-agreement would ask about later.
    """
    names = ["item", "rater", *({"occurrence", "round"} & {*rows.names})]
    keys = ", ".join(map(rows.text_sql, names))
    label = rows.text_sql("label")
    groups = (
        f"SELECT COUNT(*) AS n, COUNT(DISTINCT {label}) AS n_labels FROM {rows} "
        f"WHERE {label} IS NOT NULL GROUP BY {keys} HAVING COUNT(*) > 1"
    )
    counts = rows.relation.query(
        "SELECT COALESCE(SUM(n - 1), 0) AS again, "
        f"COALESCE(SUM(CASE WHEN n_labels > 1 THEN 1 ELSE 0 END), 0) AS differ FROM ({groups}) AS g"
    ).to_pylist()[0]
    n_again, n_differ = int(counts["again"]), int(counts["differ"])
    if n_again:
        rows_repeat = f"{n_again} row{' repeats' if n_again == 1 else 's repeat'}"
        differ = f" ({n_differ} with another label)" if n_differ else ""
        yield (
            f"{rows_repeat} the item and rater of another one{differ}. If raters met these items "
            "again, name the column that numbers the occurrences; if the rows are duplicates, "
            "write duplicates: first, or last"
        )


def _ask_about_raters(
    raters: Iterable[str],
    given_settings: Mapping[str, Any],
    path: Path,
    known_models: Collection[str] = (),
) -> tuple[str, ...]:
    """A classifier that was named must be among the raters, or no round of the project could be
    read.
    """
    rater_names, classifiers = sorted(raters), given_settings.get("classifiers", ())
    refuse_absent_classifiers(classifiers, rater_names, path.name)
    models = [
        name for name in names_like_models(rater_names) if name not in (*classifiers, *known_models)
    ]
    unsure = [
        f"raters {describe_lookalikes(group)} print alike; if they are one rater, write "
        "same_rater: "
        f"[{_as_yaml(group)}], else different_raters: [{_as_yaml(group)}]"
        for group in group_lookalike_names(rater_names, numbers_alike=True)
        if not Rules(
            different_raters=given_settings.get("different_raters", ())
        ).declares_different(group)
    ]
    if models:
        models_text = ", ".join(map(_as_yaml, models))
        unsure.append(f"{ask_whether_models(models)} Then write classifiers: [{models_text}]")
    return tuple(unsure)


def _guess_columns(
    table: pd.DataFrame, fields: Iterable[str], given_settings: Mapping[str, Any]
) -> tuple[dict[str, Any], tuple[str, ...]]:
    columns, unsure = dict(given_settings.get("columns", {})), list[str]()
    items = [name for name in fields if ITEM.fullmatch(name.lower()) and _names_items(table, name)]
    if items and "item" not in columns:
        columns["item"] = items[0]
        unsure.append(f"the items are probably named by {items[0]!r}, not by the tool's own number")
    rounds = [name for name in fields if ROUND.fullmatch(name.lower())]
    complete_fields = [name for name in rounds if table[name].notna().all()]
    if complete_fields:
        columns["round"] = complete_fields[0]
        unsure.append(f"each value of {complete_fields[0]!r} is probably a round")
    return columns, tuple(unsure)


def _names_items(table: pd.DataFrame, name: str) -> bool:
    pairs = table[["item", name]].drop_duplicates()
    return bool(
        pairs[name].notna().all()
        and not pairs["item"].duplicated().any()
        and not pairs[name].duplicated().any()
    )


def _guess_replicates(table: pd.DataFrame, fields: Iterable[str]) -> dict[str, str]:
    replicate_fields = [name for name in fields if REPLICATE.fullmatch(name.lower())]
    if replicate_fields:
        return {"replicate_of": replicate_fields[0]}
    texts = [name for name in fields if name == "text" and table[name].notna().all()]
    shared = [name for name in texts if table.groupby(name)["item"].nunique().max() > 1]
    return {"replicates_share": shared[0]} if shared else {}


def _guess_question(
    name: str, raw_labels: Iterable[object], given_settings: Mapping[str, Any]
) -> Question:
    scale = given_settings.get("scale", {})
    distinct_labels = {label for label in map(str, raw_labels) if not is_blank(label)}
    placeholders = () if "categories" in scale else placeholders_among(distinct_labels)
    real_labels = sorted(distinct_labels.difference(placeholders), reverse=True)
    labels_by_meaning = sorted(
        {meaning_of_label(label, sets=True): label for label in real_labels}.values()
    )
    labels = tuple(scale.get("categories", labels_by_meaning))
    numeric = all(map(is_number, labels))
    if "categories" not in scale and numeric:
        labels = tuple(sorted(labels, key=float))
    level: Level = scale.get("level", guess_level(labels))
    if "categories" in scale:
        Scale(labels, level)
    elif level not in ("nominal", "ordinal"):
        Scale.from_labels(labels, level)
    sets = not numeric and any("|" in set_label for set_label in labels)
    return Question(name, labels, level, sets, placeholders=placeholders)
