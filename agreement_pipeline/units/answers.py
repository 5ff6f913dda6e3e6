"""Units of what raters choose and score: pairs of alternatives, labels of a set, criteria."""

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from itertools import chain, combinations
from math import comb
from typing import TYPE_CHECKING

import numpy as np
import pandas as pd

from agreement_pipeline.errors import RatingsError
from agreement_pipeline.ratings import PART_PREFIX, STRATUM, TEXT, Scale
from agreement_pipeline.text import listed
from agreement_pipeline.units.objects import (
    ANSWERS,
    Choice,
    ChosenSet,
    Marked,
    Preference,
    Ranking,
    Rubric,
)
from agreement_pipeline.units.positions import coded

if TYPE_CHECKING:
    from agreement_pipeline.units.units import UnitSettings

CHOICES: tuple[Choice, ...] = ("first", "second", "tie")
COLUMNS = ["item", "rater", "occurrence", "label", "cluster"]
ABOUT = ("criterion", "member", "shown")
CRITERION, MEMBER, SHOWN = (f"{STRATUM}{name}" for name in ABOUT)
PART_FIRST, PART_SECOND, PART_MEMBER, PART_CRITERION = (
    f"{PART_PREFIX}{name}" for name in ("first", "second", "member", "criterion")
)
BOTH_WAYS, OTHERS = "both ways", "the others"
MOST_MEMBERS = 50
"""So many members of sets, those ticked most often, are strata of their own. Others are one."""


def pairs(
    marked: Sequence[Marked], settings: "UnitSettings", labels: Sequence[str]
) -> pd.DataFrame:
    """The first of a pair is the one whose name sorts first, in whatever order it was shown. If it
    is known of all which was shown first, a stratum of units says so.
    """
    ranked = (
        sum(map(len, said.groups)) if isinstance(said, Ranking) else 2
        for each in marked
        for said in each.objects
    )
    n_pairs = sum(comb(n, 2) for n in ranked)
    if n_pairs > settings.most_pairs:
        raise RatingsError(
            f"{marked[0].where}: found {n_pairs} pairs of alternatives in all; expected "
            f"{settings.most_pairs} at most. Rank fewer, or raise most_pairs of the units."
        )
    units, alternatives = dict[str, int](), list[tuple[str, str]]()

    def place_of_unit(item: str, one: str, other: str) -> int:
        place = units.setdefault(f"{item} {one} : {other}", len(units))
        if place == len(alternatives):
            alternatives.append((one, other))
        return place

    each_pair = (
        (place_of_unit(each.item, one, other), n, choice, first)
        for n, each in enumerate(marked)
        for said in each.objects
        for one, other, choice, first in _compared(said)
    )
    found = np.fromiter(chain.from_iterable(each_pair), int, 4 * n_pairs)
    unit, seat, label, shown = found.reshape(-1, 4).T
    rows = pd.DataFrame(
        {
            "item": coded(unit, units),
            "rater": pd.Categorical([each.rater for each in marked])[seat],
            "occurrence": np.array([each.occurrence for each in marked], dtype=int)[seat],
            "label": coded(label, CHOICES),
            "cluster": pd.Categorical([each.item for each in marked])[seat],
            "shown": coded(shown, CHOICES),
            PART_FIRST: pd.Categorical([one for one, _ in alternatives])[unit],
            PART_SECOND: pd.Categorical([other for _, other in alternatives])[unit],
        }
    )
    if rows["shown"].isna().any() or rows["shown"].nunique() < 2:
        return rows
    by_unit = rows.groupby("item", sort=False, observed=True)["shown"]
    one_way = by_unit.transform("nunique") == 1
    return rows.assign(**{SHOWN: rows["shown"].astype(TEXT).where(one_way, BOTH_WAYS)})


def _compared(said: object) -> Iterator[tuple[str, str, int, int]]:
    ranks, order = dict[str, int](), tuple[str, ...]()
    if isinstance(said, Preference):
        order = said.first, said.second
        ranks = dict(zip(order, (said.choice == "second", said.choice == "first"), strict=True))
    elif isinstance(said, Ranking):
        order = said.shown
        ranks = {name: rank for rank, group in enumerate(said.groups) for name in group}
    turns = {name: turn for turn, name in enumerate(order)}
    for one, other in combinations(sorted(ranks), 2):
        difference = ranks[one] - ranks[other]
        shown = int(turns[one] > turns[other]) if turns else -1
        yield one, other, (difference > 0) + 2 * (difference == 0), shown


def members(
    marked: Sequence[Marked], settings: "UnitSettings", labels: Sequence[str]
) -> pd.DataFrame:
    """A row for each label of a set, each item and each rater who opened it: *yes* or *no*."""
    ticked = [
        {name for said in each.objects if isinstance(said, ChosenSet) for name in said.members}
        for each in marked
    ]
    often = Counter(name for names in ticked for name in sorted(names))
    every = settings.members or sorted(often)
    part = strata_of_members(every, often)
    found = [
        (
            f"{each.item} {label}",
            each.rater,
            each.occurrence,
            ANSWERS[label in names],
            each.item,
            part[label],
            label,
        )
        for each, names in zip(marked, ticked, strict=True)
        for label in every
    ]
    return pd.DataFrame(found, columns=[*COLUMNS, MEMBER, PART_MEMBER])


def strata_of_members(members: Sequence[str], often: Mapping[str, int]) -> dict[str, str]:
    """The stratum of each label of the sets, by how often each was ticked."""
    own = sorted(members, key=lambda name: (-often.get(name, 0), name))[:MOST_MEMBERS]
    return {name: name if name in own else OTHERS for name in members}


def criteria(
    marked: Sequence[Marked], settings: "UnitSettings", labels: Sequence[str]
) -> pd.DataFrame:
    wanted, scored = settings.criterion, list(_scored(marked))
    known = sorted({name for _, name, _ in scored})
    if wanted is not None and wanted not in known:
        raise RatingsError(
            f"criterion: found no score of {wanted!r} among {listed(known, 12)}; expected one. "
            "Correct the criterion."
        )
    found = [
        (f"{each.item} {name}", each.rater, each.occurrence, score, each.item, name, name)
        for each, name, score in scored
        if wanted in (None, name)
    ]
    return pd.DataFrame(found, columns=[*COLUMNS, CRITERION, PART_CRITERION])


def _scored(marked: Sequence[Marked]) -> Iterator[tuple[Marked, str, str]]:
    for each in marked:
        for said in each.objects:
            if isinstance(said, Rubric):
                yield from ((each, name, score) for name, score in said.scores.items())


def scale_of_scores(marked: Sequence[Marked], source: str) -> Scale:
    try:
        return Scale.from_labels([score for *_, score in _scored(marked)])
    except RatingsError as error:
        raise RatingsError(f"{source}: {error}") from None
