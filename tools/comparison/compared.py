"""What two versions say, beside each other: equal, explained or different."""

import json
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from fnmatch import fnmatchcase
from pathlib import Path
from typing import Any

import yaml

Facts = Mapping[str, Any]
Said = Mapping[str, Mapping[str, Facts | None]]
"""The facts of each case, by the way in which it was read."""
NOTHING = "(not said)"


@dataclass(frozen=True)
class Explained:
    """A difference between versions that somebody reviewed.

    Parameters
    ----------
    case, what
        Patterns as in a shell. `case` is of the name of a case. `what` is of the way and the
        value, such as `opened: error`.
    why
        The fault that was repaired, or the change that was meant.
    """

    case: str
    what: str
    why: str

    def __post_init__(self) -> None:
        if not all((self.case, self.what, self.why)):
            raise ValueError(f"found {self}; expected a case, what differs, and why.")


@dataclass(frozen=True)
class Difference:
    """A value that two versions do not share."""

    case: str
    what: str
    old: str
    new: str

    def __str__(self) -> str:
        return f"{self.case} | {self.what}\n    {self.old}\n    {self.new}"


@dataclass
class Compared:
    """What a comparison found.

    Attributes
    ----------
    cases, values, equal, unread
        Counts by kind of case and way. `unread` counts cases that a version cannot read that way.
    explained, unexplained
        The differences, those that somebody explained apart.
    """

    cases: Counter[str] = field(default_factory=Counter)
    values: Counter[str] = field(default_factory=Counter)
    equal: Counter[str] = field(default_factory=Counter)
    unread: Counter[str] = field(default_factory=Counter)
    explained: dict[Explained, list[Difference]] = field(default_factory=dict)
    unexplained: list[Difference] = field(default_factory=list)

    def table(self) -> str:
        """How many values were compared and are equal, by kind of case and way."""
        rows: list[tuple[str, ...]] = [("", "cases", "values", "equal", "not read")]
        rows += [
            (
                row,
                *(f"{each[row]:,}" for each in (self.cases, self.values, self.equal, self.unread)),
            )
            for row in self.cases
        ]
        widths = [max(map(len, column)) for column in zip(*rows, strict=True)]
        return "\n".join(
            "  ".join(
                cell.ljust(width) if at == 0 else cell.rjust(width)
                for at, (cell, width) in enumerate(zip(row, widths, strict=True))
            )
            for row in rows
        )


def explanations(path: Path) -> list[Explained]:
    """The explained differences of a file."""
    said = yaml.safe_load(path.read_text(encoding="utf-8")) or []
    return [Explained(**each) for each in said]


def said_in(path: Path) -> Said:
    """What a worker wrote."""
    lines = path.read_text(encoding="utf-8").splitlines()
    return {each["name"]: each["ways"] for each in map(json.loads, lines)}


def compared(
    kinds: Mapping[str, str], old: Said, new: Said, known: Sequence[Explained] = ()
) -> Compared:
    """Compare what two versions say of some cases, whose kinds are given by name."""
    found = Compared()
    for name, kind in kinds.items():
        for way, facts in old[name].items():
            row, other = f"{kind}, {way}", new[name].get(way)
            found.cases[row] += 1
            if facts is None or other is None:
                found.unread[row] += 1
                continue
            keys = list(dict.fromkeys([*facts, *other]))
            found.values[row] += len(keys)
            differ = list(_differences(name, way, facts, other, keys))
            found.equal[row] += len(keys) - len(differ)
            _sort_out(differ, known, found)
    return found


def between_ways(said: Said) -> list[Difference]:
    """Where the two ways to read a case do not say the same: the first such value of each case."""
    found = []
    for name, ways in said.items():
        first, second = ways.get("read"), ways.get("opened")
        if first is not None and second is not None:
            differ = _differences(name, "read, opened", first, second, _shared(first, second))
            found += [next(differ, None)]
    return [each for each in found if each is not None]


def _shared(first: Facts, second: Facts) -> Iterable[str]:
    """What both ways say. If only one of them refuses the source, its error counts."""
    return (
        ("error",) if "error" in first or "error" in second else [k for k in second if k in first]
    )


def _differences(
    case: str, way: str, old: Facts, new: Facts, keys: Iterable[str]
) -> Iterator[Difference]:
    for key in keys:
        one, other = _written(old, key), _written(new, key)
        if one != other:
            yield Difference(case, f"{way}: {key}", one, other)


def _written(facts: Facts, key: str) -> str:
    """A value with all its digits."""
    return json.dumps(facts[key], sort_keys=True, ensure_ascii=False) if key in facts else NOTHING


def _sort_out(differ: Iterable[Difference], known: Sequence[Explained], found: Compared) -> None:
    for each in differ:
        for one in known:
            if fnmatchcase(each.case, one.case) and fnmatchcase(each.what, one.what):
                found.explained.setdefault(one, []).append(each)
                break
        else:
            found.unexplained.append(each)
