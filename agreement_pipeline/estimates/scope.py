"""Scopes: what an estimate is about."""

from collections.abc import Mapping
from typing import Literal, NamedTuple, get_args

ScopeKind = Literal["round", "category", "rater", "without", "pair", "classifier", "stratum"]
SCOPE_KINDS: tuple[str, ...] = get_args(ScopeKind)


class Scope(NamedTuple):
    """What an estimate is about.

    - the whole round
    - one category
    - one rater, or a pair of raters
    - the round without one rater
    - one classifier
    - one stratum of the items, such as a language

    >>> str(Scope("rater", "ana")), str(ROUND)
    ('rater ana', 'round')
    """

    kind: str
    name: str = ""

    @classmethod
    def of_pair(cls, one: str, other: str) -> "Scope":
        """Two raters, in any order."""
        return cls("pair", " and ".join(sorted((one, other))))

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
        if self.kind == "pair":
            words = self.name.split(" and ")
            splits = (
                (" and ".join(words[:n]), " and ".join(words[n:])) for n in range(1, len(words))
            )
            return next(
                (
                    Scope.of_pair(names[one], names[other])
                    for one, other in splits
                    if one in names and other in names
                ),
                self,
            )
        return (
            self._replace(name=names.get(self.name, self.name))
            if self.kind in ("rater", "without")
            else self
        )

    def __str__(self) -> str:
        return f"{self.kind} {self.name}" if self.name else self.kind


ROUND = Scope("round")
