"""From marked items to units, which are ordinary ratings with the item as the cluster."""

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Any

import pandas as pd

from agreement_pipeline.errors import RatingsError
from agreement_pipeline.ratings import TEXT, Ratings, Scale
from agreement_pipeline.text import listed
from agreement_pipeline.units.marked import Marked, in_order, refuse_unknown
from agreement_pipeline.units.nothing import NONE
from agreement_pipeline.units.rule import RULES, Part, UnitSettings

MARKED = "marked"


@dataclass(frozen=True, eq=False)
class Units:
    """The units of a round.

    Parameters
    ----------
    rows
        One row a unit and rater: `item` (the unit), `rater`, `occurrence`, `label`, `cluster` (the
        item) and, where a unit stands for many, `weight`.
    scale
        What the labels may be.
    classifiers
        The raters that are models.
    part
        The part that was asked for.
    source
        The name of the source, for errors.
    """

    rows: pd.DataFrame
    scale: Scale
    classifiers: tuple[str, ...] = ()
    part: Part = "all"
    source: str = "units"

    @property
    def ratings(self) -> Ratings:
        """The units as checked ratings, or the part of them that was asked for."""
        if self.part == "marking":
            return self.marking
        return self.naming if self.part == "naming" else self._rated(self.rows, self.scale)

    @property
    def marking(self) -> Ratings:
        """Did they mark it: each unit with *marked* or *none*.

        Raises
        ------
        RatingsError
            The units are of objects that nobody marks, as rankings.
        """
        self._refuse_unmarked()
        label = self.rows["label"].astype(TEXT).where(self.rows["label"] == NONE, MARKED)
        return self._rated(self.rows.assign(label=label), Scale((NONE, MARKED)))

    @property
    def naming(self) -> Ratings:
        """Did they name it alike: the ratings of those who marked the unit.

        Raises
        ------
        RatingsError
            The units are of objects that nobody marks. Or there is one category only, or nobody
            marked anything.
        """
        self._refuse_unmarked()
        names = tuple(name for name in self.scale.names if name != NONE)
        rows = self.rows[self.rows["label"] != NONE]
        return self._rated(rows, Scale(names, declared=self.scale.declared))

    def _rated(self, rows: pd.DataFrame, scale: Scale) -> Ratings:
        there = {*rows["rater"]}
        classifiers = [name for name in self.classifiers if name in there]
        return Ratings.from_frame(rows, scale, classifiers=classifiers, source=self.source)

    def _refuse_unmarked(self) -> None:
        if NONE not in self.scale.names:
            raise RatingsError(
                f"{self.source}: found units with labels {listed(self.scale.names, 12)}; expected "
                "units of objects that raters mark. Read the agreement of the units themselves."
            )


def units_of(
    marked: Iterable[Marked],
    settings: UnitSettings,
    scale: Scale | None = None,
    *,
    source: str = "units",
) -> Units:
    """The units of marked items under a rule.

    Parameters
    ----------
    marked
        What each rater marked in each item that the rater opened.
    settings
        The kind of the objects, and the rule.
    scale
        The labels of the units, *none* too where raters mark objects. Of the part `naming`, the
        categories alone. None: it is read off the objects.
    source
        The name of the source, for errors.

    Raises
    ------
    RatingsError
        An object is of another kind or category, or an item is there twice by one rater.

    Examples
    --------
    >>> from agreement_pipeline.units import Marked, Span
    >>> ana = Marked("d1", "ana", (Span(0, 3, "PER"),), (10,))
    >>> ben = Marked("d1", "ben", (), (10,))
    >>> units = units_of([ana, ben], UnitSettings("spans"), Scale(("none", "PER", "ORG")))
    >>> units.rows[["item", "rater", "label", "weight"]].to_numpy().tolist()[:2]
    [['d1 0-3', 'ana', 'PER', 3], ['d1 0-3', 'ben', 'none', 3]]
    """
    each = in_order(marked)
    _refuse_others(each, settings.kind)
    rule = RULES[settings.rule]
    whole = _whole(each, settings, scale, source)
    if "part" in rule.settings:
        refuse_unknown(each, [name for name in whole.names if name != NONE])
    elif settings.members:
        refuse_unknown(each, settings.members)
    rows = rule.rows(each, settings, whole.names)
    models = sorted({one.rater for one in each if one.model})
    return Units(rows, whole, tuple(models), settings.part, source)


def _whole(
    marked: Sequence[Marked], settings: UnitSettings, scale: Scale | None, source: str
) -> Scale:
    """The scale of all parts of the units."""
    rule = RULES[settings.rule]
    if scale is None or settings.part == "marking":
        return rule.scale(marked, source)
    if settings.part == "naming":
        return Scale((NONE, *scale.names), declared=scale.declared)
    if "part" in rule.settings and NONE not in scale.names:
        raise RatingsError(
            f"scale: found categories {listed(scale.names, 12)} without {NONE!r}; expected it too, "
            "since it is the label of a rater who marked nothing. Add it to the categories."
        )
    return scale


def at_each(
    marked: Sequence[Marked],
    settings: UnitSettings,
    values: Iterable[float],
    scale: Scale | None = None,
) -> Iterator[tuple[float, Units]]:
    """The units at several similarities or steps, to show how a value moves with them.

    >>> from agreement_pipeline.units import Box, Marked
    >>> boxes = Box(0, 0, 4, 4, "cat"), Box(1, 0, 4, 4, "cat")
    >>> drawn = [Marked("i", name, (box,), (9, 9)) for name, box in zip("ab", boxes, strict=True)]
    >>> found = at_each(drawn, UnitSettings("boxes"), [0.5, 0.7])
    >>> [(least, len(units.rows)) for least, units in found]
    [(0.5, 2), (0.7, 4)]
    """
    name = "step" if "step" in RULES[settings.rule].settings else "at_least"
    for value in values:
        changed: dict[str, Any] = {name: value}
        yield value, units_of(marked, replace(settings, **changed), scale)


def _refuse_others(marked: Sequence[Marked], kind: str) -> None:
    for each in marked:
        for said in each.objects:
            if said.kind != kind:
                raise RatingsError(
                    f"{said.where}: found {said.kind}; expected {kind} only. "
                    "Choose the question that holds them, or correct the kind of the units."
                )
