"""Units of what raters choose and score: pairs of alternatives, labels of a set, criteria."""

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from itertools import chain, combinations
from math import comb

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
from agreement_pipeline.units.positions import categorical_of_names
from agreement_pipeline.units.settings import UnitSettings

CHOICES: tuple[Choice, ...] = ("first", "second", "tie")
COLUMNS = ["item", "rater", "occurrence", "label", "cluster"]
ABOUT = ("criterion", "member", "shown")
CRITERION, MEMBER, SHOWN_ORDER = (f"{STRATUM}{name}" for name in ABOUT)
PART_FIRST, PART_SECOND, PART_MEMBER, PART_CRITERION = (
    f"{PART_PREFIX}{name}" for name in ("first", "second", "member", "criterion")
)
BOTH_WAYS, OTHER_MEMBERS = "both ways", "the others"
MAX_MEMBER_STRATA = 50
"""So many members of sets, those ticked most often, are strata of their own. Others are one."""


def build_pair_rows(
    marked: Sequence[Marked], settings: UnitSettings, labels: Sequence[str]
) -> pd.DataFrame:
    """A row for each pair of alternatives that an answer compares. The first of a pair is the one
    whose name sorts first, in whatever order it was shown. If it is known of all which was shown
    first, a stratum of units says so.
    """
    ranked = (
        sum(map(len, label_object.groups)) if isinstance(label_object, Ranking) else 2
        for answer in marked
        for label_object in answer.objects
    )
    n_pairs = sum(comb(n, 2) for n in ranked)
    if n_pairs > settings.most_pairs:
        raise RatingsError(
            f"{marked[0].where}: found {n_pairs} pairs of alternatives in all; expected "
            f"{settings.most_pairs} at most. Rank fewer, or raise most_pairs of the units."
        )
    units, alternatives = dict[str, int](), list[tuple[str, str]]()

    def place_of_unit(item: str, first_name: str, second_name: str) -> int:
        place = units.setdefault(f"{item} {first_name} : {second_name}", len(units))
        if place == len(alternatives):
            alternatives.append((first_name, second_name))
        return place

    each_pair = (
        (place_of_unit(answer.item, first_name, second_name), n, choice, display_order)
        for n, answer in enumerate(marked)
        for label_object in answer.objects
        for first_name, second_name, choice, display_order in _iterate_compared_pairs(label_object)
    )
    numbers = np.fromiter(chain.from_iterable(each_pair), int, 4 * n_pairs)
    unit, seat, label, shown_order = numbers.reshape(-1, 4).T
    rows = pd.DataFrame(
        {
            "item": categorical_of_names(unit, units),
            "rater": pd.Categorical([answer.rater for answer in marked])[seat],
            "occurrence": np.array([answer.occurrence for answer in marked], dtype=int)[seat],
            "label": categorical_of_names(label, CHOICES),
            "cluster": pd.Categorical([answer.item for answer in marked])[seat],
            "shown": categorical_of_names(shown_order, CHOICES),
            PART_FIRST: pd.Categorical([first_name for first_name, _ in alternatives])[unit],
            PART_SECOND: pd.Categorical([second_name for _, second_name in alternatives])[unit],
        }
    )
    if rows["shown"].isna().any() or rows["shown"].nunique() < 2:
        return rows
    by_unit = rows.groupby("item", sort=False, observed=True)["shown"]
    has_one_order = by_unit.transform("nunique") == 1
    return rows.assign(**{SHOWN_ORDER: rows["shown"].astype(TEXT).where(has_one_order, BOTH_WAYS)})


def _iterate_compared_pairs(label_object: object) -> Iterator[tuple[str, str, int, int]]:
    """The two names, which one is better, and which was shown first, as places among `CHOICES`."""
    ranks, order = dict[str, int](), tuple[str, ...]()
    if isinstance(label_object, Preference):
        order = label_object.first, label_object.second
        ranks = dict(
            zip(
                order,
                (label_object.choice == "second", label_object.choice == "first"),
                strict=True,
            )
        )
    elif isinstance(label_object, Ranking):
        order = label_object.shown
        ranks = {name: rank for rank, group in enumerate(label_object.groups) for name in group}
    turns = {name: turn for turn, name in enumerate(order)}
    for first_name, second_name in combinations(sorted(ranks), 2):
        difference = ranks[first_name] - ranks[second_name]
        shown_order = int(turns[first_name] > turns[second_name]) if turns else -1
        yield first_name, second_name, (difference > 0) + 2 * (difference == 0), shown_order


def build_member_rows(
    marked: Sequence[Marked], settings: UnitSettings, labels: Sequence[str]
) -> pd.DataFrame:
    """A row for each label of a set, each item and each rater who opened it: *yes* or *no*."""
    ticked = [
        {
            name
            for label_object in answer.objects
            if isinstance(label_object, ChosenSet)
            for name in label_object.members
        }
        for answer in marked
    ]
    count_by_member = Counter(name for names in ticked for name in sorted(names))
    all_members = settings.members or sorted(count_by_member)
    part = strata_of_members(all_members, count_by_member)
    unit_rows = [
        (
            f"{answer.item} {label}",
            answer.rater,
            answer.occurrence,
            ANSWERS[label in names],
            answer.item,
            part[label],
            label,
        )
        for answer, names in zip(marked, ticked, strict=True)
        for label in all_members
    ]
    return pd.DataFrame(unit_rows, columns=[*COLUMNS, MEMBER, PART_MEMBER])


def strata_of_members(
    build_member_rows: Sequence[str], count_by_member: Mapping[str, int]
) -> dict[str, str]:
    """The stratum of each label of the sets, by how often each was ticked."""
    frequent = sorted(build_member_rows, key=lambda name: (-count_by_member.get(name, 0), name))[
        :MAX_MEMBER_STRATA
    ]
    return {name: name if name in frequent else OTHER_MEMBERS for name in build_member_rows}


def build_criterion_rows(
    marked: Sequence[Marked], settings: UnitSettings, labels: Sequence[str]
) -> pd.DataFrame:
    """A row for each criterion, item and rater."""
    criterion, scored = settings.criterion, list(_iterate_scores(marked))
    known_criteria = sorted({name for _, name, _ in scored})
    if criterion is not None and criterion not in known_criteria:
        raise RatingsError(
            f"criterion: found no score of {criterion!r} among {listed(known_criteria, 12)}; "
            "expected one. Correct the criterion."
        )
    unit_rows = [
        (f"{answer.item} {name}", answer.rater, answer.occurrence, score, answer.item, name, name)
        for answer, name, score in scored
        if criterion in (None, name)
    ]
    return pd.DataFrame(unit_rows, columns=[*COLUMNS, CRITERION, PART_CRITERION])


def _iterate_scores(marked: Sequence[Marked]) -> Iterator[tuple[Marked, str, str]]:
    """Each score with its answer and its criterion."""
    for answer in marked:
        for label_object in answer.objects:
            if isinstance(label_object, Rubric):
                yield from ((answer, name, score) for name, score in label_object.scores.items())


def scale_of_scores(marked: Sequence[Marked], source: str) -> Scale:
    try:
        return Scale.from_labels([score for *_, score in _iterate_scores(marked)])
    except RatingsError as error:
        raise RatingsError(f"{source}: {error}") from None
