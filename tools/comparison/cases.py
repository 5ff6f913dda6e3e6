"""What is compared: sources in a folder, each with how it is read."""

import json
from collections.abc import Iterable
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any

Plain = dict[str, Any]


@dataclass(frozen=True)
class Reading:
    """How a source is read, as plain data.

    Parameters
    ----------
    layout
        long, wide, counts or contingency.
    columns, rules
        The arguments of `Columns` and of `Rules`. The rule `units` is that of `UnitSettings`.
    categories, level
        The scale. None: it is read off the labels.
    classifiers, round_name
        As `read_ratings` takes them.
    """

    layout: str = "long"
    columns: Plain = field(default_factory=dict)
    rules: Plain = field(default_factory=dict)
    categories: list[Any] | None = None
    level: str = "nominal"
    classifiers: list[str] = field(default_factory=list)
    round_name: str | None = None


@dataclass(frozen=True)
class Case:
    """A source and how it is read and judged.

    Parameters
    ----------
    name
        Its number and, in words, what is special about it.
    kind
        table, broken, export or counts.
    source, earlier
        Paths in the folder of the cases. `earlier` is an earlier round with the same columns.
    reading, policy
        How it is read. The policy is a bundled one, or a file in the folder.
    as_frame
        True if the source is handed over as a DataFrame.
    """

    name: str
    kind: str
    source: str
    reading: Reading
    policy: str = "standard"
    as_frame: bool = False
    earlier: str | None = None

    def to_mapping(self) -> Plain:
        """The case as plain data. The worker reads it."""
        plain = asdict(self)
        return {**plain, **plain.pop("reading")}


def write_cases(cases: Iterable[Case], folder: Path) -> Path:
    """Write the list of cases beside their sources."""
    path = folder / "cases.json"
    path.write_text(json.dumps([each.to_mapping() for each in cases], indent=1), encoding="utf-8")
    return path
