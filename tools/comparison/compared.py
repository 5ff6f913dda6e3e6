"""What two versions say, beside each other: equal, explained or different."""

import json
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from fnmatch import fnmatchcase
from pathlib import Path
from typing import Any

import yaml

Facts = Mapping[str, Any]
Said = Mapping[str, Facts]
"""The facts of each case."""
NOTHING = "(not said)"


@dataclass(frozen=True)
class Explained:
    """A difference between versions that somebody reviewed.

    Parameters
    ----------
    case, what
        Patterns as in a shell. `case` is of the name of a case, and `what` of the value, such as
        `error`.
    why
        The fault that was repaired, or the change that was meant.
    """

    case: str
    what: str
    why: str

    def __post_init__(self) -> None:
        if not all((self.case, self.what, self.why)):
            raise ValueError(f"found {self}; expected a case, what differs, and why.")

    def explains(self, found: "Difference") -> bool:
        """True if it is about this difference."""
        return fnmatchcase(found.case, self.case) and fnmatchcase(found.what, self.what)


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
    cases, values, equal
        Counts by kind of case.
    explained, unexplained
        The differences, those that somebody explained apart.
    """

    cases: Counter[str] = field(default_factory=Counter)
    values: Counter[str] = field(default_factory=Counter)
    equal: Counter[str] = field(default_factory=Counter)
    explained: dict[Explained, list[Difference]] = field(default_factory=dict)
    unexplained: list[Difference] = field(default_factory=list)

    def table(self) -> str:
        """How many values were compared and are equal, by kind of case."""
        lines = [f"{'':9}{'cases':>8}{'values':>10}{'equal':>10}"]
        lines += [
            f"{kind:9}{self.cases[kind]:8,}{self.values[kind]:10,}{self.equal[kind]:10,}"
            for kind in self.cases
        ]
        return "\n".join(lines)


def explanations(path: Path) -> list[Explained]:
    """The explained differences of a file."""
    said = yaml.safe_load(path.read_text(encoding="utf-8")) or []
    return [Explained(**each) for each in said]


def said_in(path: Path) -> Said:
    """What a worker wrote."""
    lines = path.read_text(encoding="utf-8").splitlines()
    return {each["name"]: each["facts"] for each in map(json.loads, lines)}


def compared(
    kinds: Mapping[str, str], old: Said, new: Said, known: Sequence[Explained] = ()
) -> Compared:
    """Compare what two versions say of some cases, whose kinds are given by name."""
    found = Compared()
    for name, kind in kinds.items():
        keys = list(dict.fromkeys([*old[name], *new[name]]))
        differ = [
            Difference(name, key, *said)
            for key in keys
            if len(set(said := (_written(old[name], key), _written(new[name], key)))) == 2
        ]
        found.cases[kind] += 1
        found.values[kind] += len(keys)
        found.equal[kind] += len(keys) - len(differ)
        for each in differ:
            why = next((one for one in known if one.explains(each)), None)
            if why:
                found.explained.setdefault(why, []).append(each)
            else:
                found.unexplained.append(each)
    return found


def _written(facts: Facts, key: str) -> str:
    """A value with all its digits."""
    return json.dumps(facts[key], sort_keys=True, ensure_ascii=False) if key in facts else NOTHING
