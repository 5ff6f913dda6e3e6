"""Scopes: what an estimate is about."""

import json
import re
from collections.abc import Mapping
from typing import Literal, NamedTuple, get_args

ScopeKind = Literal["round", "category", "rater", "without", "pair", "classifier", "stratum"]
SCOPE_KINDS: tuple[str, ...] = get_args(ScopeKind)
PAIR = re.compile(r'("(?:[^"\\]|\\.)*"|.+?) and ("(?:[^"\\]|\\.)*"|.+)', re.DOTALL)


class Scope(NamedTuple):
    """What an estimate is about.

    It is the whole round, one category, one rater, a pair of raters, the round without one rater,
    one classifier, or one stratum of the items, such as a language.

    >>> str(Scope("rater", "ana")), str(ROUND)
    ('rater ana', 'round')
    >>> str(Scope.of_pair("ben", "a and b"))
    'pair "a and b" and ben'
    """

    kind: str
    name: str = ""

    @classmethod
    def of_pair(cls, one: str, other: str) -> "Scope":
        """Two raters, in any order."""
        return cls("pair", " and ".join(map(quoted, sorted((one, other)))))

    @classmethod
    def written(cls, text: str) -> "Scope":
        """The scope that is written so.

        >>> Scope.written('rater "a and b"')
        Scope(kind='rater', name='a and b')
        """
        kind, _, name = text.partition(" ")
        return cls(kind, name if kind == "pair" else _unquoted(name))

    @classmethod
    def of_stratum(cls, column: str, name: str) -> "Scope":
        """One stratum of a column.

        >>> str(Scope.of_stratum("language", "de"))
        'stratum language=de'
        """
        return cls("stratum", f"{column}={name}")

    @classmethod
    def of_small_strata(cls, column: str, n: int) -> "Scope":
        """Some strata of a column that are too small to be judged one by one."""
        return cls("stratum", f"{column}, {n} small ones as one")

    def renamed(self, names: Mapping[str, str]) -> "Scope":
        """The scope under other rater names. Raters without a new name keep their old one."""
        if self.kind == "pair" and (pair := PAIR.fullmatch(self.name)):
            one, other = (_unquoted(each) for each in pair.groups())
            return Scope.of_pair(names.get(one, one), names.get(other, other))
        return (
            self._replace(name=names.get(self.name, self.name))
            if self.kind in ("rater", "without")
            else self
        )

    def __str__(self) -> str:
        name = self.name if self.kind == "pair" else quoted(self.name)
        return f"{self.kind} {name}" if self.name else self.kind


def quoted(name: str) -> str:
    r"""A name as a scope shows it: in quotes if it could be taken for something else.

    >>> print(quoted("ana"), quoted("a and b"), quoted("ana\n- ben"))
    ana "a and b" "ana\n- ben"
    """
    plain = name.isprintable() and not name.startswith('"') and " and " not in f" {name} "
    written = name if plain else json.dumps(name, ensure_ascii=False)
    return "".join(each if each.isprintable() else json.dumps(each)[1:-1] for each in written)


def _unquoted(written: str) -> str:
    try:
        return str(json.loads(written)) if written.startswith('"') else written
    except ValueError:
        return written


ROUND = Scope("round")
