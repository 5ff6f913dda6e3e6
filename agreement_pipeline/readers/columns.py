import json
from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass, field, fields
from difflib import get_close_matches
from shlex import quote
from typing import Annotated, Literal

from agreement_pipeline.errors import ProjectError, RatingsError
from agreement_pipeline.mistakes import Value, refuse_mistakes, whole
from agreement_pipeline.readers.time_forms import has_parts_of_a_day
from agreement_pipeline.text import called, counted, joined, listed

Layout = Literal["long", "wide"]

REQUIRED: dict[Layout, tuple[str, ...]] = {"long": ("item", "rater", "label"), "wide": ("item",)}
OPTIONAL = ("round", "occurrence", "confidence", "timestamp", "text", "cluster")
"""Columns that are read without being named. `gold` often is the right label, not yes or no."""
WRITTEN = ("encoding", "decimal", "sheet", "header_row", "time_format")
FEWEST = 3  # columns: item, rater and label, or an item and two raters
LATER_ROW = ", or name the row of the header (--header-row) if it is a later one"
FRAME = "DataFrame"
"""The place of errors about a table of Python, whose reader cannot give options of a command."""
CANDIDATES = 20
RATERS = Value("a list of columns", lambda given: not isinstance(given, str), nested=True)
TIME_FORMAT = Value(
    "a time format with a year, a month and a day, as %d/%m/%Y %H:%M",
    lambda given: given is None or has_parts_of_a_day(given),
)
ALSO = {"occurrence": "replicate"}
KNOWN_AS = {
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
        None: the column of that very name, if there is one.
    first_label, changed_at
        The columns with the label that a rater gave first, if `label` is the last one, and with the
        time of the last change. The first is then the rating, and the last one only trains. None:
        no column says so.
    gold, assisted
        The columns that say yes if an item's label is known already, and if a label began as a
        suggestion. None: no column says so.
    gold_label
        The column with the right label of gold items.
    raters
        The columns of a wide table that are raters.
    models
        Of each model, the column with its label for the item.
    encoding
        Of delimited text, such as cp1252.
    decimal
        The decimal sign of labels and confidences: a point or a comma.
    sheet
        The sheet of a workbook. None: its only one.
    header_row
        The row of delimited text or of a sheet that names the columns. Rows above are not read.
    time_format
        How times are written that could be read in several ways, in the directives of Python's
        `strptime`, such as `%d/%m/%Y %H:%M`. None: the column tells it.

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
    header_row: Annotated[int, Value("a whole number from 1 to 1,048,576", whole(1, 1 << 20))] = 1
    time_format: Annotated[str | None, TIME_FORMAT] = None

    def __post_init__(self) -> None:
        refuse_mistakes(self, ProjectError)
        unused = ("rater", "label") if self.raters else ()
        told = [column for name, column in self.named.items() if name not in unused]
        named = [*told, *self.raters, *self.models.values()]
        twice = sorted({name for name in named if named.count(name) > 1})
        if twice:
            raise ProjectError(
                f"columns: found {listed(twice)} for two of them; expected a column for each. "
                "Correct one of the two."
            )

    @property
    def named(self) -> dict[str, str]:
        return {
            each.name: value
            for each in fields(self)
            if each.name not in WRITTEN and isinstance(value := getattr(self, each.name), str)
        }

    @property
    def written(self) -> tuple[str, ...]:
        usual = {each.name: each.default for each in fields(self)}
        return tuple(name for name in WRITTEN if getattr(self, name) != usual[name])

    def refuse_written(self, source: str, what: str, *but: str) -> None:
        if wrong := [name for name in self.written if name not in but]:
            raise ProjectError(
                f"{source}: found {listed(wrong)} for {what}; expected "
                f"{f'{listed(but)} at most' if but else 'none of them'}. Leave it out."
            )


COLUMNS = Columns()


def chosen_columns(
    header: list[str], columns: Columns, layout: Layout, source: str
) -> dict[str, str]:
    named = columns.named
    if layout == "wide":
        del named["rater"], named["label"]
    free = [name for name in header if name not in (*named.values(), *columns.raters)]
    missing = {name: column for name, column in named.items() if column not in header}
    if missing:
        near = {name: _near(name, column, free) for name, column in missing.items()}
        meant = ", ".join(f"{name}: {column!r}" for name, column in near.items() if column)
        names, wide = "(--item)", ""
        if layout == "long":
            names = "(--item, --rater, --label)"
            wide = ", or choose the layout wide (--layout wide) if each rater has one"
        later = LATER_ROW if len(header) < FEWEST else ""
        step = f"Name the columns {names}{wide}{later}."
        if not {*missing} & {*REQUIRED[layout]}:
            step = f"Correct what you name as {joined(missing)}."
        step = f"Did you mean {meant}?" if meant else step
        if source == FRAME:
            given: dict[str, object] = {name: column or "…" for name, column in near.items()}
            raters = {"raters": columns.raters or ("…", "…")}
            given = {**named, **given, **(raters if layout == "wide" else {})}
            step = f"Read it with {_reading(given, layout)}."
            if "…" in map(given.get, ("rater", "label")):
                wide = _reading({"item": given["item"], **raters}, "wide")
                step = f"{step[:-1]}, or with {wide} if each rater has a column."
        raise RatingsError(
            f"{source}: found no {called('column', missing.values())} among {listed(header, 12)}; "
            f"expected {', '.join(REQUIRED[layout])} and every column that you name. {step}"
        )
    own = {name: name for name in OPTIONAL if name not in named and name in free}
    return named | own | unnamed_columns(header, columns)


def _reading(named: Mapping[str, object], layout: Layout) -> str:
    columns = ", ".join(f"{name}={column!r}" for name, column in named.items() if column != name)
    how = ', layout="wide"' if layout == "wide" else ""
    return f"read_ratings(frame, Columns({columns}){how})"


def unnamed_columns(header: list[str], columns: Columns) -> dict[str, str]:
    """Columns that are read under another name, though nobody named them.

    >>> unnamed_columns(["item", "rater", "label", "replicate"], COLUMNS)
    {'occurrence': 'replicate'}
    """
    taken = (*columns.named.values(), *columns.raters)
    return {
        name: column
        for name, column in ALSO.items()
        if name not in (*columns.named, *header) and column in header and column not in taken
    }


def rater_columns(
    header: list[str], columns: Columns, chosen: Mapping[str, str], source: str
) -> list[str]:
    raters = list(columns.raters)
    missing = [name for name in raters if name not in header]
    if missing or "" in raters:
        found = "a rater's column without a name"
        if missing:
            found = f"no {called('column', missing)} among {listed(header, 12)}"
        raise RatingsError(
            f"{source}: found {found}; "
            "expected a named column for each rater of a wide table. Correct the name "
            "(--raters or --predicted, or `raters` of the columns)."
        )
    if raters:
        return raters
    free = [name for name in header if name and name not in chosen.values()]
    if not free:
        raise RatingsError(
            f"{source}: found no column of a rater among {listed(header, 12)}; "
            "expected one for each rater. Check the export."
        )
    shown, hidden = free[:CANDIDATES], len(free) - CANDIDATES
    more = f" ({counted(hidden, 'more column')} not shown)" if hidden > 0 else ""
    options = " ".join(f"--raters={quote(rater)}" for rater in shown)
    in_project = f"columns: {{raters: {json.dumps(shown, ensure_ascii=False)}}} in a project"
    step = f"{in_project}, or {options}"
    if source == FRAME:
        step = _reading({**columns.named, "raters": tuple(shown)}, "wide")
    raise RatingsError(
        f"{source}: found no column that is named as a rater's; expected the names of the raters' "
        "columns in a wide table, since other columns can hold dates or settled labels. "
        f"Name the raters among these{more}: {step}."
    )


def refuse_twice(names: list[str], where: str) -> None:
    if len(set(names)) < len(names):
        twice = sorted(name for name, times in Counter(names).items() if times > 1)
        later = LATER_ROW if "" in twice else ""
        raise RatingsError(
            f"{where}: found {called('column', twice)} twice; expected each once. "
            f"Rename or remove one{later}."
        )


def probable_columns(header: list[str]) -> dict[str, str]:
    """The columns of a long table that are probably the item, the rater and so on.

    >>> probable_columns(["post_id", "annotator", "category", "doc"])
    {'item': 'doc', 'rater': 'annotator', 'label': 'category'}
    """
    found: dict[str, str] = {}
    for name in ("item", "rater", "label", "round", "occurrence"):
        free = [each for each in header if each not in found.values()]
        near = name if name in free else _near(name, name, free)
        if near and (name in REQUIRED["long"] or near == name):
            found[name] = near
    return found


def _near(name: str, column: str, free: list[str]) -> str | None:
    if name == "label":  # a column whose name ends in `id` names rows and holds no labels
        free = [each for each in free if not each.strip().lower().endswith("id")]
    plain = {
        each.strip().lower().replace("-", "_").removesuffix("_id").removesuffix("_name"): each
        for each in reversed(free)
    }
    usual = [
        plain[each] for each in (column.lower(), name, *KNOWN_AS.get(name, ())) if each in plain
    ]
    return next(iter(usual or get_close_matches(column, free, n=1, cutoff=0.75)), None)
