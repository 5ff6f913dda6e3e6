import json
from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass, field, fields
from difflib import get_close_matches
from shlex import quote
from typing import Annotated, Literal

from agreement_pipeline.errors import ProjectError, RatingsError
from agreement_pipeline.mistakes import Value, is_whole_number_between, refuse_mistakes
from agreement_pipeline.readers.time_forms import has_parts_of_a_day
from agreement_pipeline.text import called, counted, joined, listed

Layout = Literal["long", "wide"]

REQUIRED: dict[Layout, tuple[str, ...]] = {"long": ("item", "rater", "label"), "wide": ("item",)}
OPTIONAL = ("round", "occurrence", "confidence", "timestamp", "text", "cluster")
"""Columns that are read without being named. `gold` often is the right label, not yes or no."""
FORMAT_SETTINGS = ("encoding", "decimal", "sheet", "header_row", "time_format")
MIN_COLUMNS = 3  # columns: item, rater and label, or an item and two raters
LATER_HEADER_HINT = ", or name the row of the header (--header-row) if it is a later one"
FRAME = "DataFrame"
"""The place of errors about a table of Python, whose reader cannot give options of a command."""
MAX_RATERS_SHOWN = 20
RATERS = Value("a list of columns", lambda given: not isinstance(given, str), nested=True)
TIME_FORMAT = Value(
    "a time format with a year, a month and a day, as %d/%m/%Y %H:%M",
    lambda given: given is None or has_parts_of_a_day(given),
)
SYNONYM_BY_ROLE = {"occurrence": "replicate"}
USUAL_NAMES_BY_ROLE = {
    name: names.split()
    for name, names in {
        "item": "unit task sample example document doc specimen subject case post id",
        "rater": "annotator worker coder labeler labeller judge expert user reviewer",
        "label": "value category rating annotation class code response score",
        "cluster": "document doc conversation dialogue thread patient subject batch group source",
    }.items()
}
"""Errors propose these usual names; the reader never assumes them."""


def is_encoding(name: object) -> bool:
    """True for the name of an encoding of text.

    >>> is_encoding("cp1252"), is_encoding("base64"), is_encoding("latin-99")
    (True, False, False)
    """
    try:
        return isinstance(name, str) and bool(b" ".decode(name, "replace"))
    except (LookupError, ValueError):
        return False


@dataclass(frozen=True)
class Columns:
    """What the columns of a table are called, and how its cells are written.

    Parameters
    ----------
    item, rater, label
        The three columns that a long table must have. A wide table needs `item` alone.
    round, occurrence, confidence, timestamp, text, cluster
        None: the column with the same name as the parameter, if there is one.
    first_label, changed_at
        If raters edited labels later: the columns with their first label (`label` is then the last
        one), and with the time of the last edit. The first label is the rating, and the last one
        only trains. None: there is no such column.
    gold, assisted
        The columns that say yes if the right label of an item is known, and if a label began as a
        suggestion. None: there is no such column.
    gold_label
        The column with the right label of gold items.
    raters
        The columns of a wide table that are raters.
    models
        For each model, the column with its label for the item.
    encoding
        Of delimited text, such as cp1252.
    decimal
        The decimal sign of labels and confidences: a point or a comma.
    sheet
        The sheet of a workbook. None: its only one.
    header_row
        The row of delimited text or of a sheet that names the columns. Rows above are not read.
    time_format
        The format of times that could be read in several ways, in the directives of Python's
        `strptime`, such as `%d/%m/%Y %H:%M`. None: it follows from the times of the column.

    Raises
    ------
    ProjectError
        One column is named twice, or a value is not one of those described above.
    """

    item: str = "item"
    rater: str = "rater"
    label: str = "label"
    round: str | None = None
    occurrence: str | None = None
    confidence: str | None = None
    timestamp: str | None = None
    first_label: str | None = None
    changed_at: str | None = None
    text: str | None = None
    gold: str | None = None
    gold_label: str | None = None
    cluster: str | None = None
    assisted: str | None = None
    raters: Annotated[tuple[str, ...], RATERS] = ()
    models: Mapping[str, str] = field(default_factory=dict)
    encoding: Annotated[str, Value("an encoding of text, such as cp1252", is_encoding)] = "utf-8"
    decimal: Annotated[str, Value("a point or a comma", (".", ",").__contains__)] = "."
    sheet: str | None = None
    header_row: Annotated[
        int,
        Value(
            "a whole number from 1 to 1,048,576",
            is_whole_number_between(1, 1 << 20),
        ),
    ] = 1
    time_format: Annotated[str | None, TIME_FORMAT] = None

    def __post_init__(self) -> None:
        refuse_mistakes(self, ProjectError)
        unused = ("rater", "label") if self.raters else ()
        role_columns = [
            column for name, column in self.column_by_role.items() if name not in unused
        ]
        all_columns = [*role_columns, *self.raters, *self.models.values()]
        repeated = sorted({name for name in all_columns if all_columns.count(name) > 1})
        if repeated:
            raise ProjectError(
                f"columns: found {listed(repeated)} for two of them; expected a column for each. "
                "Correct one of the two."
            )

    @property
    def column_by_role(self) -> dict[str, str]:
        """The columns that are named, by their role."""
        return {
            attribute.name: value
            for attribute in fields(self)
            if attribute.name not in FORMAT_SETTINGS
            and isinstance(value := getattr(self, attribute.name), str)
        }

    @property
    def changed_format_settings(self) -> tuple[str, ...]:
        """The settings of how cells are written that are not the default."""
        defaults = {attribute.name: attribute.default for attribute in fields(self)}
        return tuple(name for name in FORMAT_SETTINGS if getattr(self, name) != defaults[name])

    def refuse_format_settings(self, source: str, kind: str, *allowed: str) -> None:
        """Refuse settings that a source of this kind does not read."""
        if wrong := [name for name in self.changed_format_settings if name not in allowed]:
            raise ProjectError(
                f"{source}: found {listed(wrong)} for {kind}; expected "
                f"{f'{listed(allowed)} at most' if allowed else 'none of them'}. Leave it out."
            )


COLUMNS = Columns()


def choose_columns(
    header: list[str], columns: Columns, layout: Layout, source: str
) -> dict[str, str]:
    """The column of each role, as named or under the very name. Missing ones are refused."""
    column_by_role = columns.column_by_role
    if layout == "wide":
        del column_by_role["rater"], column_by_role["label"]
    free = [name for name in header if name not in (*column_by_role.values(), *columns.raters)]
    missing = {name: column for name, column in column_by_role.items() if column not in header}
    if missing:
        nearest_by_role = {
            name: _nearest_column(name, column, free) for name, column in missing.items()
        }
        meant = ", ".join(
            f"{name}: {column!r}" for name, column in nearest_by_role.items() if column
        )
        names, wide = "(--item)", ""
        if layout == "long":
            names = "(--item, --rater, --label)"
            wide = ", or choose the layout wide (--layout wide) if each rater has one"
        later = LATER_HEADER_HINT if len(header) < MIN_COLUMNS else ""
        step = f"Name the columns {names}{wide}{later}."
        if not {*missing} & {*REQUIRED[layout]}:
            step = f"Correct what you name as {joined(missing)}."
        step = f"Did you mean {meant}?" if meant else step
        if source == FRAME:
            suggested_columns: dict[str, object] = {
                name: column or "…" for name, column in nearest_by_role.items()
            }
            raters = {"raters": columns.raters or ("…", "…")}
            suggested_columns = {
                **column_by_role,
                **suggested_columns,
                **(raters if layout == "wide" else {}),
            }
            step = f"Read it with {_example_read_call(suggested_columns, layout)}."
            if "…" in map(suggested_columns.get, ("rater", "label")):
                wide = _example_read_call({"item": suggested_columns["item"], **raters}, "wide")
                step = f"{step[:-1]}, or with {wide} if each rater has a column."
        raise RatingsError(
            f"{source}: found no {called('column', missing.values())} among {listed(header, 12)}; "
            f"expected {', '.join(REQUIRED[layout])} and every column that you name. {step}"
        )
    optional_columns = {
        name: name for name in OPTIONAL if name not in column_by_role and name in free
    }
    return column_by_role | optional_columns | guessed_columns(header, columns)


def _example_read_call(column_by_role: Mapping[str, object], layout: Layout) -> str:
    columns = ", ".join(
        f"{name}={column!r}" for name, column in column_by_role.items() if column != name
    )
    layout_argument = ', layout="wide"' if layout == "wide" else ""
    return f"read_ratings(frame, Columns({columns}){layout_argument})"


def guessed_columns(header: list[str], columns: Columns) -> dict[str, str]:
    """Columns that are read under another name, though nobody named them.

    >>> guessed_columns(["item", "rater", "label", "replicate"], COLUMNS)
    {'occurrence': 'replicate'}
    """
    used_columns = (*columns.column_by_role.values(), *columns.raters)
    return {
        name: column
        for name, column in SYNONYM_BY_ROLE.items()
        if name not in (*columns.column_by_role, *header)
        and column in header
        and column not in used_columns
    }


def choose_rater_columns(
    header: list[str], columns: Columns, column_by_role: Mapping[str, str], source: str
) -> list[str]:
    """The columns of a wide table that are raters. They must be named."""
    raters = list(columns.raters)
    missing = [name for name in raters if name not in header]
    if missing or "" in raters:
        finding = "a rater's column without a name"
        if missing:
            finding = f"no {called('column', missing)} among {listed(header, 12)}"
        raise RatingsError(
            f"{source}: found {finding}; "
            "expected a named column for each rater of a wide table. Correct the name "
            "(--raters or --predicted, or `raters` of the columns)."
        )
    if raters:
        return raters
    free = [name for name in header if name and name not in column_by_role.values()]
    if not free:
        raise RatingsError(
            f"{source}: found no column of a rater among {listed(header, 12)}; "
            "expected one for each rater. Check the export."
        )
    candidates, hidden = free[:MAX_RATERS_SHOWN], len(free) - MAX_RATERS_SHOWN
    hidden_note = f" ({counted(hidden, 'more column')} not shown)" if hidden > 0 else ""
    options = " ".join(f"--raters={quote(rater)}" for rater in candidates)
    in_project = f"columns: {{raters: {json.dumps(candidates, ensure_ascii=False)}}} in a project"
    step = f"{in_project}, or {options}"
    if source == FRAME:
        step = _example_read_call({**columns.column_by_role, "raters": tuple(candidates)}, "wide")
    raise RatingsError(
        f"{source}: found no column that is named as a rater's; expected the names of the raters' "
        "columns in a wide table, since other columns can hold dates or settled labels. "
        f"Name the raters among these{hidden_note}: {step}."
    )


def refuse_repeated_names(names: list[str], place: str) -> None:
    if len(set(names)) < len(names):
        repeated = sorted(name for name, times in Counter(names).items() if times > 1)
        later = LATER_HEADER_HINT if "" in repeated else ""
        raise RatingsError(
            f"{place}: found {called('column', repeated)} twice; expected each once. "
            f"Rename or remove one{later}."
        )


def guess_column_by_role(header: list[str]) -> dict[str, str]:
    """The columns of a long table that are probably the item, the rater and so on.

    >>> guess_column_by_role(["post_id", "annotator", "category", "doc"])
    {'item': 'doc', 'rater': 'annotator', 'label': 'category'}
    """
    column_by_role: dict[str, str] = {}
    for name in ("item", "rater", "label", "round", "occurrence"):
        free = [column for column in header if column not in column_by_role.values()]
        nearest = name if name in free else _nearest_column(name, name, free)
        if nearest and (name in REQUIRED["long"] or nearest == name):
            column_by_role[name] = nearest
    return column_by_role


def _nearest_column(role: str, column: str, free: list[str]) -> str | None:
    """The free column that is most likely meant by a name. None if none is near."""
    if role == "label":  # a column whose name ends in `id` names rows and holds no labels
        free = [candidate for candidate in free if not candidate.strip().lower().endswith("id")]
    column_by_plain_name = {
        candidate.strip()
        .lower()
        .replace("-", "_")
        .removesuffix("_id")
        .removesuffix("_name"): candidate
        for candidate in reversed(free)
    }
    known_matches = [
        column_by_plain_name[alias]
        for alias in (column.lower(), role, *USUAL_NAMES_BY_ROLE.get(role, ()))
        if alias in column_by_plain_name
    ]
    return next(iter(known_matches or get_close_matches(column, free, n=1, cutoff=0.75)), None)
