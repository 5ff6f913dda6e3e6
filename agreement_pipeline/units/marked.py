from collections.abc import Collection, Iterable, Sequence
from dataclasses import dataclass
from itertools import pairwise

from agreement_pipeline.errors import RatingsError
from agreement_pipeline.ratings import Scale
from agreement_pipeline.text import counted, listed
from agreement_pipeline.units.objects import (
    AREAS,
    ROUNDING,
    Area,
    ChosenSet,
    LabelObject,
    Segment,
    Span,
    frame_of,
)
from agreement_pipeline.units.places import NONE


@dataclass(frozen=True)
class Marked:
    """The label objects of one rater in one item that the rater opened.

    Parameters
    ----------
    objects
        What the rater marked. Nothing is an answer too.
    extent
        The length of a text or recording, or the width and height of an image. Empty if unknown.
    occurrence
        1, 2, … if the rater met the item again.

    Raises
    ------
    RatingsError
        An object lies outside the item, or is there twice.
    """

    item: str
    rater: str
    objects: tuple[LabelObject, ...]
    extent: tuple[float, ...] = ()
    where: str = "marked objects"
    occurrence: int = 1
    model: bool = False

    @property
    def is_empty(self) -> bool:
        """True if the item is known to have nothing to mark: it is no unit and no cluster."""
        return bool(self.extent) and not all(self.extent)

    def __post_init__(self) -> None:
        seen = set()
        for each in self.objects:
            if isinstance(each, AREAS):
                self._refuse_outside(each)
                if (each.geometry, each.category) in seen:
                    raise RatingsError(
                        f"{each.where}: found {each.category!r} at {each.place} twice by rater "
                        f"{self.rater!r}; expected each object once. Drop the repetition."
                    )
                seen.add((each.geometry, each.category))

    @property
    def areas(self) -> tuple[Area, ...]:
        return tuple(each for each in self.objects if isinstance(each, AREAS))

    def _refuse_outside(self, area: Area) -> None:
        _, right, _, bottom = frame_of(area)
        ends = (right,) if isinstance(area, Span | Segment) else (right, bottom)
        if self.extent and any(
            end > most + ROUNDING for end, most in zip(ends, self.extent, strict=True)
        ):
            size, reach = (
                " by ".join(f"{each:.10g}" for each in many) for many in (self.extent, ends)
            )
            raise RatingsError(
                f"{area.where}: found {area.category!r} at {area.place}, which reaches to {reach} "
                f"in an item of {size}; expected an object inside it. Mark it again, or export the "
                "item with it."
            )


def in_order(marked: Iterable[Marked]) -> list[Marked]:
    each = sorted(marked, key=_key)
    for one, other in pairwise(each):
        if _key(one) == _key(other):
            raise RatingsError(
                f"{other.where}: found item {other.item!r} twice by rater {other.rater!r}; "
                "expected it once. Number the occurrences, or drop the repetition."
            )
    return each


def refuse_unknown(marked: Iterable[Marked], categories: Collection[str]) -> None:
    for each in marked:
        for said in each.objects:
            unknown = sorted(_named(said) - {*categories})
            if unknown:
                raise RatingsError(
                    f"{said.where}: found category {unknown[0]!r}; expected one of "
                    f"{listed(categories, 12)}. Correct it, or add it to the scale."
                )


def _named(said: LabelObject) -> set[str]:
    if isinstance(said, ChosenSet):
        return {*said.members}
    return {said.category} if isinstance(said, AREAS) else set()


def extents_of(marked: Sequence[Marked]) -> dict[str, tuple[float, ...]]:
    found: dict[str, tuple[float, ...]] = {}
    for each in marked:
        known = found.get(each.item) or each.extent
        found[each.item] = known
        if each.extent and known != each.extent:
            raise RatingsError(
                f"{each.where}: found item {each.item!r} of size {listed(each.extent)}, and "
                f"{listed(known)} elsewhere; expected one size. "
                "Give every content an item of its own."
            )
    return found


def scale_of_areas(marked: Sequence[Marked], source: str) -> Scale:
    names = sorted({area.category for each in marked for area in each.areas})
    if not names:
        raise RatingsError(
            f"{source}: found no marked object in {counted(len(marked), 'answer')}; expected one, "
            "to know the categories. Name the categories."
        )
    return Scale((NONE, *names), declared=False)


def _key(marked: Marked) -> tuple[str, str, int]:
    return marked.item, marked.rater, marked.occurrence
