"""Each rater beside the others and beside themselves, and what the two say together."""

from collections.abc import Iterable, Mapping, Sequence
from typing import Literal, NamedTuple

import numpy as np

from agreement_pipeline.estimates import Estimate, Shown
from agreement_pipeline.policy import Policy, Rule, Verdict
from agreement_pipeline.ratings import Ratings, Scale
from agreement_pipeline.report.figure import Figure, Mark, Series, intervals
from agreement_pipeline.report.judged import (
    JudgedRound,
    differ,
    measured,
    of_raters,
    shares_by_name,
)
from agreement_pipeline.report.section import (
    Answer,
    Cell,
    Detail,
    Grid,
    Row,
    grid,
    section,
    share,
    value_and_interval,
)
from agreement_pipeline.statistics import CategoryCounts
from agreement_pipeline.text import PERCENT, SENTENCE, counted, in_words, number

Kind = Literal["rater", "category"]
NEVER_AGAIN = "No rater met an item twice, so agreement with themselves is not known."
LOWEST_BY_CHANCE = "The lowest of many is low by chance too, so read the intervals."
MANY = 6
FAIR = (
    "A low number is a reason to talk, and no verdict on a person. "
    "It can come from the items that a rater got, or from a guideline that allows two readings."
)
WHAT: dict[Kind, tuple[str, str]] = {
    "rater": ("their agreement with themselves", "their agreement with the others"),
    "category": ("agreement within raters", "agreement between raters"),
}
READINGS: dict[Kind, dict[tuple[bool, bool], str]] = {
    "rater": {
        (True, True): "agrees with themselves and with the others",
        (True, False): (
            "sure of their own reading: "
            "real subjectivity, or another understanding of the guideline"
        ),
        (False, True): (
            "agrees with the others but not with themselves: "
            "the items that came back may be harder than the rest"
        ),
        (False, False): (
            "agrees neither with themselves nor with the others: "
            "careless, or the items are ambiguous"
        ),
    },
    "category": {
        (True, True): "each rater keeps to one reading, and all to the same",
        (True, False): (
            "each rater keeps to their own reading: "
            "the guideline leaves it open, or it is a matter of taste"
        ),
        (False, True): (
            "raters agree on it more with each other than with themselves: "
            "the items that came back may be harder than the rest"
        ),
        (False, False): (
            "raters agree on it neither with themselves nor with each other: "
            "ambiguous, or given carelessly"
        ),
    },
}
"""What it says if agreement with themselves, and with the others, is high."""


class Comparison(NamedTuple):
    """Two measures in the same terms, by rater or by category: within raters, and between them."""

    kind: Kind
    themselves: str
    others: str


def comparisons(scale: Scale) -> tuple[Comparison, ...]:
    """The measures to compare on a scale. None if the scale lists no categories."""
    by_rater = of_raters(scale)
    found = [] if by_rater is None else [Comparison("rater", *by_rater)]
    if scale.level in ("nominal", "ordinal"):
        of_category = "test_retest_kappa_by_category", "kappa_by_category"
        found.append(Comparison("category", *of_category))
    return tuple(found)


def themselves_and_others(
    ratings: Ratings, policy: Policy, shown: Shown | None = None
) -> Grid | None:
    """A row for each rater and each category, as in `joint_rows`.

    None if the scale lists no categories, since no pair of measures compares raters there.
    """
    compared = comparisons(ratings.scale)
    if not compared:
        return None
    measures = [measure for _, *both in compared for measure in both]
    same = None if shown is None else shown.of_both()
    found = measured(ratings, measures, policy, ("rater", "category"), same)
    return joint_rows(found, compared, policy)


def joint_rows(
    estimates: Iterable[Estimate], compared: Sequence[Comparison], policy: Policy
) -> Grid:
    """A row for each rater and each category: agreement within raters, between them, and a reading.

    Parameters
    ----------
    estimates
        Those of the compared measures by rater and by category. Others are ignored.
    compared
        The pairs of measures.
    policy
        The policy whose cut-offs decide.
    """
    by_name = {(found.measure, found.scope): found for found in estimates}
    rows: list[Row] = []
    for each in compared:
        mine = [scope for name in each[1:] for measure, scope in by_name if measure == name]
        for scope in dict.fromkeys(scope for scope in mine if scope.kind == each.kind):
            both = by_name.get((each.themselves, scope)), by_name.get((each.others, scope))
            cells = [cell for found in both for cell in value_and_interval(found)]
            rows.append([str(scope), *cells, reading(each, *both, policy)])
    columns = (
        "scope",
        "with themselves",
        "interval with themselves",
        "with the others",
        "interval with the others",
        "reading",
    )
    return grid("Agreement of raters with themselves and with the others", columns, rows)


def reading(
    compared: Comparison, themselves: Estimate | None, others: Estimate | None, policy: Policy
) -> str:
    """What agreement within raters and agreement between them say together.

    It comes from the intervals, not from the values. Its cut-off is the tentative one of the
    policy's rule on that measure and scope. Without such a rule it is 0.667.

    - Agreement is high if the lower limit reaches the cut-off.
    - Agreement is low if the upper limit is under the cut-off.
    - In all other cases the reading is *cannot tell*.
    """
    kind = compared.kind
    usual = [Rule(name, scope=kind, effect="warn") for name in compared[1:]]
    verdicts = [
        _verdict(rule, found, policy)
        for rule, found in zip(usual, (themselves, others), strict=True)
    ]
    high = {"reliable": True, "tentative": True, "unreliable": False}
    unknown = [
        f"{what} may lie on either side of {verdict.rule.tentative:g}"
        if verdict.kind == "inconclusive"
        else verdict.reason
        for what, verdict in zip(WHAT[kind], verdicts, strict=True)
        if verdict.kind not in high
    ]
    if unknown:
        return f"cannot tell: {'; '.join(unknown)}"
    first, second = (high[verdict.kind] for verdict in verdicts)
    return READINGS[kind][first, second]


def _verdict(usual: Rule, found: Estimate | None, policy: Policy) -> Verdict:
    """The verdict of the policy's rule; if there is no such rule, of the usual cut-offs."""
    same = (usual.measure, usual.scope)
    mine = (rule for rule in policy.rules if (rule.measure, rule.scope) == same)
    return next(mine, usual).judge([] if found is None else [found])[0]


@section("Raters", "Who agrees with the others, and with themselves?", place=40)
def raters(judged: JudgedRound) -> Answer | None:
    """Agreement of each rater with the others and with themselves, and what the two say."""
    if not judged.with_others and not judged.with_themselves:
        return None
    return Answer(
        tuple(_said(judged)),
        tuple(_figures(judged)),
        (_table(judged),),
        tuple(_detail(judged, name) for name in judged.raters),
    )


def _said(judged: JudgedRound) -> list[str]:
    known = [each for each in judged.with_others.values() if each.value is not None]
    lowest = number(known[0].value, SENTENCE) if known else ""
    least = (
        f"The lowest agreement of a rater with the others is κ {lowest}."
        if differ(known)
        else f"All agree alike with the others (κ {lowest})."
    )
    of_how_many = (
        f"Shown are {len(judged.raters)} of {judged.shown.n_raters} raters: those who agree least "
        "with the others."
    )
    said = {
        least: bool(known),
        FAIR: True,
        LOWEST_BY_CHANCE: len(judged.ratings.raters) >= MANY,
        NEVER_AGAIN: not _met_again(judged),
        of_how_many: bool(judged.shown.left_out()),
    }
    return [sentence for sentence, holds in said.items() if holds]


def _met_again(judged: JudgedRound) -> bool:
    return any(each.value is not None for each in judged.with_themselves.values())


def _figures(judged: JudgedRound) -> list[Figure]:
    """The plane of both numbers; agreement with the others alone if nobody met an item again."""
    again = judged.with_themselves
    both = [
        Mark.of(
            again[name],
            across=found.value,
            across_low=found.low,
            across_high=found.high,
        )
        for name, found in judged.with_others.items()
        if name in again and again[name].value is not None
    ]
    plane = Figure(
        "plane",
        "Agreement with the others and with themselves",
        "Upper right: agrees with all. Upper left: sure of a reading that others do not share. "
        "Below: does not agree with themselves. The items may be ambiguous, or the work careless.",
        (Series("raters", tuple(both)),),
        axis="with themselves",
        other_axis="with the others",
        cutoffs=((0.667, "0.667"),),
    )
    others = intervals(
        "Agreement with the others",
        "Lines that lie far apart point to a difference. Lines that overlap leave it open.",
        map(Mark.of, judged.with_others.values()),
        "κ of a rater with the others",
    )
    some_alone = len(both) < len(judged.with_others)
    return [*([plane] if both else []), *([others] if some_alone else [])]


def _table(judged: JudgedRound) -> Grid:
    others, again = judged.with_others, judged.with_themselves
    (compared, *_) = comparisons(judged.ratings.scale)
    rows: list[Row] = []
    for name in dict.fromkeys([*others, *again]):
        both = again.get(name), others.get(name)
        rows.append(
            [
                Cell(name, to=judged.anchor_of_rater(name)),
                *value_and_interval(others.get(name)),
                *value_and_interval(again.get(name)),
                _usual(judged, name),
                reading(compared, *both, judged.policy) if _met_again(judged) else "",
            ]
        )
    columns = (
        "rater",
        "with the others",
        "interval",
        "with themselves",
        "interval again",
        "usual label",
        "reading",
    )
    return grid("Raters, those who agree least with the others first", columns, rows, "raters")


def shares_of_rater(judged: JudgedRound, name: str) -> Mapping[str, tuple[float, float]]:
    """The share of each category among a rater's labels, and among the others' on these items.

    Empty if the scale has no categories, or if nobody else rated the items.
    """
    _, said = judged.by_item
    if not isinstance(said, CategoryCounts) or name not in judged.raters:
        return {}
    codes = judged.labels.codes[:, judged.raters.index(name)]
    mine = codes >= 0
    own = np.bincount(codes[mine], minlength=said.counts.shape[1]).astype(float)
    others = said.counts[mine].sum(0) - own
    if not others.sum():
        return {}
    names = said.scale.names
    first, second = shares_by_name(names, own), shares_by_name(names, others)
    return {each: (first[each], second[each]) for each in names}


def _usual(judged: JudgedRound, name: str) -> Cell:
    """The most frequent label of a rater: one label alone tells of somebody who did not look."""
    found = shares_of_rater(judged, name)
    if not found:
        return Cell("")
    category = max(found, key=lambda each: found[each][0])
    most = found[category][0]
    return Cell(f"{category} ({in_words(most, PERCENT)})", most)


def _detail(judged: JudgedRound, name: str) -> Detail:
    tables = tuple(each for each in (_shares(judged, name), _pairs(judged, name)) if each.rows)
    n = int((judged.labels.codes[:, judged.raters.index(name)] >= 0).sum())
    said = f"{name} labelled {counted(n, 'item')}."
    return Detail(judged.anchor_of_rater(name), name, Answer((said,), tables=tables))


def _shares(judged: JudgedRound, name: str) -> Grid:
    """How often a rater gives each category, beside all raters on the same items."""
    found = shares_of_rater(judged, name)
    rows: list[Row] = [[category, *map(share, both)] for category, both in found.items()]
    columns = ("category", "share of their labels", "share of the others' on the same items")
    return grid(f"What {name} gives more often than the others", columns, rows, "categories")


def _pairs(judged: JudgedRound, name: str) -> Grid:
    """The pairs of a rater that the page tells of."""
    apart, place = judged.apart.of_pairs, judged.labellers.index
    rows: list[Row] = []
    for pair in judged.told_pairs:
        value = float(apart[place(pair[0]), place(pair[1])])
        if name in pair and not np.isnan(value):
            other = pair[0] if pair[1] == name else pair[1]
            anchor = judged.anchor_of_pair(*pair)
            rows.append([Cell(other, to=anchor), Cell(in_words(value, SENTENCE), value)])
    what = "mean squared distance" if judged.ratings.scale.continuous else "share of labels apart"
    return grid(f"How far {name} is from others", ("other rater", what), rows)
