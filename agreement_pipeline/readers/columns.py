"""What the columns of a table are called."""

import json
from collections.abc import Mapping
from dataclasses import dataclass, fields
from difflib import get_close_matches
from shlex import quote
from typing import Literal

from agreement_pipeline.errors import ProjectError, RatingsError
from agreement_pipeline.text import listed

Layout = Literal["long", "wide"]

REQUIRED: dict[Layout, tuple[str, ...]] = {"long": ("item", "rater", "label"), "wide": ("item",)}
OPTIONAL = ("round", "occurrence", "confidence", "timestamp", "text", "cluster")
"""What is read without being named; `gold` keeps items out of a release, and many a file calls the right label so."""
CANDIDATES = 20
ALSO = {"occurrence": "replicate"}
KNOWN_AS = {
    "item": (
        "unit",
        "task",
        "sample",
        "example",
        "document",
        "doc",
        "specimen",
        "subject",
        "case",
        "id",
    ),
    "rater": (
        "annotator",
        "worker",
        "coder",
        "labeler",
        "labeller",
        "judge",
        "expert",
        "user",
        "reviewer",
    ),
    "label": ("value", "category", "rating", "annotation", "class", "code", "response", "score"),
    "cluster": (
        "document",
        "doc",
        "conversation",
        "dialogue",
        "thread",
        "patient",
        "subject",
        "batch",
        "group",
        "source",
    ),
}
"""What exports call these columns: named in errors, never taken for granted."""


@dataclass(frozen=True)
class Columns:
    """What the columns of a table are called.

    Parameters
    ----------
    item, rater, label
        The three that a long table must have; a wide one needs `item` alone.
    round, occurrence, confidence, timestamp, text, cluster
        None: the column of that very name, if there is one.
    gold
        Is an item's label known already, yes or no? None: no column says so.
    raters
        In a wide table, the columns that are raters: one of dates or of settled labels would be taken for one more, were they not named.

    Raises
    ------
    ProjectError
        One column is named twice.
    """

    item: str = "item"
    rater: str = "rater"
    label: str = "label"
    round: str | None = None
    occurrence: str | None = None
    confidence: str | None = None
    timestamp: str | None = None
    text: str | None = None
    gold: str | None = None
    cluster: str | None = None
    raters: tuple[str, ...] = ()

    def __post_init__(self) -> None:
        named = [*self.named.values(), *self.raters]
        twice = sorted({name for name in named if named.count(name) > 1})
        if twice:
            raise ProjectError(
                f"columns: {listed(twice)} found for two of them; one column each is required. Correct one of the two."
            )

    @property
    def named(self) -> dict[str, str]:
        """The columns that have a name, by what they hold."""
        return {
            field.name: value
            for field in fields(self)
            if isinstance(value := getattr(self, field.name), str)
        }

    @classmethod
    def from_mapping(cls, data: object, source: object = "columns") -> "Columns":
        """The columns that plain data, as read from YAML, name.

        Raises
        ------
        ProjectError
            A key is unknown, or a value is no name; the message names `source`.
        """
        if not isinstance(data, Mapping):
            raise ProjectError(
                f"{source}: {type(data).__name__} found; a mapping such as item: post_id is required. Name the columns."
            )
        known = [field.name for field in fields(cls)]
        unknown = [key for key in data if key not in known]
        if unknown:
            raise ProjectError(
                f"{source}: unknown key {listed(unknown)} found; {', '.join(known)} are known.{_meant(unknown[0], known)}"
            )
        for key, value in data.items():
            if not (_names(value) if key == "raters" else _name(value)):
                raise ProjectError(
                    f"{source}: {key} {value!r} found; {'a list of column names' if key == 'raters' else 'a column name'} is required. Put it in quotes."
                )
        return cls(**{**data, "raters": tuple(data.get("raters", ()))})


COLUMNS = Columns()


def chosen_columns(
    header: list[str], columns: Columns, layout: Layout, source: str
) -> dict[str, str]:
    """The columns of the file to read, by what they hold.

    Raises
    ------
    RatingsError
        One that is required or named is not in the file.
    """
    named = {
        name: column
        for name, column in columns.named.items()
        if layout == "long" or name not in ("rater", "label")
    }
    free = [name for name in header if name not in (*named.values(), *columns.raters)]
    missing = {name: column for name, column in named.items() if column not in header}
    if missing:
        raise RatingsError(
            f"{source}: columns {listed(missing.values())} not found among {listed(header, 12)}; "
            f"{', '.join(REQUIRED[layout])} and every column named by you are required. {_next_step(missing, free, layout)}"
        )
    for name in OPTIONAL:
        if name not in named and (
            found := next((each for each in (name, ALSO.get(name)) if each in free), None)
        ):
            named[name] = found
    return named


def rater_columns(
    header: list[str], columns: Columns, chosen: Mapping[str, str], source: str
) -> list[str]:
    """The columns of a wide table that are raters.

    Raises
    ------
    RatingsError
        None is named, one is not in the file, or one has no name.
    """
    raters, free = (
        list(columns.raters),
        [name for name in header if name and name not in chosen.values()],
    )
    missing = [name for name in raters if name not in header]
    if raters and not missing and "" not in raters:
        return raters
    if missing or raters:
        found = (
            f"columns {listed(missing)} not found among {listed(header, 12)}"
            if missing
            else "a rater's column without a name found"
        )
        raise RatingsError(
            f"{source}: {found}; a named column for each rater is required in a wide table. Correct the raters' columns."
        )
    if not free:
        raise RatingsError(
            f"{source}: no column of a rater found among {listed(header, 12)}; one for each rater is required. Check the export."
        )
    shown, more = (
        free[:CANDIDATES],
        f" ({len(free) - CANDIDATES} more columns are not shown)" if len(free) > CANDIDATES else "",
    )
    raise RatingsError(
        f"{source}: no column named as a rater's; the columns of raters are required by name in a wide table, since others hold dates or settled labels. "
        f"Name those of these that are{more}: columns: {{raters: {json.dumps(shown, ensure_ascii=False)}}} in a project, or {' '.join(map(_as_option, shown))}."
    )


def _as_option(rater: str) -> str:
    return f"--raters={quote(rater)}"


def _next_step(missing: Mapping[str, str], free: list[str], layout: Layout) -> str:
    meant = {name: near for name, column in missing.items() if (near := _near(name, column, free))}
    if meant:
        return f"Did you mean {', '.join(f'{name}: {near!r}' for name, near in meant.items())}?"
    return f"Say what the columns are called{', or that the layout is wide if each rater has one' if layout == 'long' else ''}."


def _near(name: str, column: str, free: list[str]) -> str | None:
    """Which of the file's other columns may be the one that was not found."""
    free = [each for each in free if name != "label" or not _numbers_rows(each)]
    plain = {
        each.strip().lower().replace("-", "_").removesuffix("_id").removesuffix("_name"): each
        for each in reversed(free)
    }
    known = next(
        (plain[each] for each in (column.lower(), name, *KNOWN_AS.get(name, ())) if each in plain),
        None,
    )
    return known or next(iter(get_close_matches(column, free, n=1, cutoff=0.75)), None)


def _numbers_rows(column: str) -> bool:
    """Is it an id by its name? An annotation's names a row, and is no label."""
    return column.strip().lower().endswith("id")


def _meant(name: object, known: list[str]) -> str:
    near = get_close_matches(str(name), known, n=1)
    return f" Did you mean {near[0]!r}?" if near else " Correct the spelling: nothing is ignored."


def _name(value: object) -> bool:
    return isinstance(value, str) and value != ""


def _names(value: object) -> bool:
    return isinstance(value, (list, tuple)) and all(_name(each) for each in value)
