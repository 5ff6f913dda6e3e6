"""Agreement by category and by stratum, which categories are taken for each other, and whether the
label that trains would be given again.
"""

from collections.abc import Sequence

import numpy as np

from agreement_pipeline.estimates import Estimate, Scope, label_reliability
from agreement_pipeline.evidence.advice import coincidences, most_confused
from agreement_pipeline.evidence.figure import Figure, Mark, intervals, matrix
from agreement_pipeline.evidence.judged import JudgedRound, lowest_first, measured, shares_of
from agreement_pipeline.evidence.section import (
    INTERVAL,
    ITEMS,
    NOTE,
    Answer,
    Grid,
    Row,
    grid,
    share,
    value_and_interval,
)
from agreement_pipeline.evidence.tables import note
from agreement_pipeline.intervals import Inference
from agreement_pipeline.policy import Policy, judged_part
from agreement_pipeline.ratings import Array, Ratings
from agreement_pipeline.statistics import CategoryCounts
from agreement_pipeline.text import DIGITS, PERCENT, SENTENCE, in_words, number

MOST_DRAWN, MOST_CONFUSED, MOST_PAIRS, RARE = 20, 12, 8, 0.05
OWN, OF_ROUND = "krippendorff_alpha", "stratum_alpha"
RARE_SAID = (
    "One category holds nearly all labels. Then chance agreement is high, and a few "
    "disagreements make a measure such as alpha low."
)
OF_STRATA = (
    "α of a stratum is read as if its items were a round of their own. The lowest of many is low "
    "by chance too."
)
SPEAKS_OF = "It speaks of raters like these, drawn anew for each item, and not of a right label."
OnRuler = dict[Scope, Estimate]


def labels(judged: JudgedRound) -> Answer | None:
    _, said = judged.by_item
    of_label = _of_label(judged)
    if not isinstance(said, CategoryCounts):
        return Answer(of_label) if of_label else None
    found, shares, together = judged.categories, shares_of(judged.ratings), coincidences(said)
    kinds = "Each category is taken against all others together. The lowest stands on top."
    drawn = intervals(
        "Agreement by category",
        kinds,
        map(Mark.of, found[:MOST_DRAWN]),
        "Krippendorff's α of the category",
    )
    rows: list[Row] = [
        [
            each.scope.name,
            *value_and_interval(each),
            share(shares[each.scope.name]),
            each.undefined,
        ]
        for each in found
    ]
    columns = ("category", "agreement", "interval", "share of labels", "note")
    table = grid("Agreement on each category", columns, rows, "categories")
    pair, most = most_confused(said), "No two raters gave an item different categories."
    if pair is not None and len(said.scale.names) == 2:
        most = "There are two categories, so all disagreement is between them."
    elif pair is not None:
        part = in_words(pair.share, PERCENT)
        most = f"{part} of all pairs of differing labels are {pair.one} and {pair.other}."
    figure, pairs = _confusions(said.scale.names, together)
    return Answer(
        (
            _lowest(found),
            most,
            *([RARE_SAID] if max(shares.values()) > 1 - RARE else []),
            *of_label,
        ),
        (*((drawn,) if found else ()), figure),
        tuple(each for each in (table, pairs) if each.rows),
    )


def _lowest(found: Sequence[Estimate]) -> str:
    known = [each for each in found if each.value is not None]
    if not known:
        return "Agreement has no value on any category."
    if len(found) == 2:
        return "There are two categories, so agreement on one is agreement on the other."
    first = known[0]
    value = number(first.value, SENTENCE)
    if len({round(each.value or 0.0, DIGITS) for each in known}) == 1:
        every = "every category" if len(known) == len(found) else "each category that was used"
        return f"Raters agree alike on {every} (α {value})."
    above = [each for each in known[1:] if (each.low or -1.0) > (first.high or 1.0)]
    if not above:
        most = number(known[-1].value, SENTENCE)
        return (
            f"The values of the categories, from α {value} to {most}, are no further apart than "
            "luck may have them."
        )
    certain = ", and its interval lies under all others'" if len(above) == len(known) - 1 else ""
    return f"Raters agree least on {first.scope.name} (α {value}){certain}."


def _confusions(names: Sequence[str], together: Array) -> tuple[Figure, Grid]:
    whole = together.sum(1)
    kept = np.sort(np.argsort(-whole, kind="stable")[:MOST_CONFUSED])
    shares = together / np.where(whole > 0, whole, np.nan)[:, None]
    left_out = ""
    if len(names) > MOST_CONFUSED:
        left_out = f" The {MOST_CONFUSED} most frequent of {len(names)} are drawn."
    figure = matrix(
        "What another rater says of the same item",
        "A row is what one rater said, and a column what another said. "
        f"High numbers off the diagonal are confusions.{left_out}",
        [names[k] for k in kept],
        shares[np.ix_(kept, kept)],
        "share of the row",
    )
    one, other = np.triu_indices(len(names), 1)
    apart = together[one, other]
    order = [int(at) for at in np.argsort(-apart, kind="stable") if apart[at] > 0]
    rows: list[Row] = [
        [names[one[at]], names[other[at]], share(apart[at] / apart.sum())] for at in order
    ]
    columns = ("one rater", "another rater", "share of differing labels")
    return figure, grid("Taken for each other", columns, rows, "pairs", MOST_PAIRS)


def _of_label(judged: JudgedRound) -> tuple[str, ...]:
    """Whether another panel would give the label again, beside the raters' own agreement.

    A classifier's labels are another matter, and so are vectors.
    """
    ratings, policy = judged.ratings, judged.policy
    if policy.is_for_model_labels or ratings.scale.dimensions > 1:
        return ()
    found = label_reliability(
        judged_part(ratings, policy),
        trains=judged.trains,
        inference=Inference(policy.confidence_level, policy.n_resamples),
    )
    has_value = found.same_label is not None or found.reliability is not None
    return (*found.findings, SPEAKS_OF) if has_value else found.findings


def strata(judged: JudgedRound) -> Answer | None:
    own, on_ruler = _in_strata(judged.ratings, judged.policy)
    if not own:
        return None
    marks = [Mark.of(found) for found in own[:MOST_DRAWN] if found.value is not None]
    says = "Lines that lie far apart point to a difference. Lines that overlap leave it open."
    drawn = intervals("Agreement in each stratum", says, marks, "Krippendorff's α")
    said = "No stratum has a value."
    if marks:
        which = "The only stratum" if len(own) == 1 else f"The lowest observed of {len(own)} strata"
        said = f"{which} is {own[0].scope.name}: {marks[0].said}."
    return Answer((said, OF_STRATA), (drawn,) if marks else (), (_grid(own, on_ruler),))


def strata_grid(ratings: Ratings, policy: Policy, *_: object) -> Grid | None:
    own, on_ruler = _in_strata(ratings, policy)
    return _grid(own, on_ruler) if own else None


def _in_strata(ratings: Ratings, policy: Policy) -> tuple[Sequence[Estimate], OnRuler]:
    if not ratings.strata:
        return (), {}
    measures = (OWN,) if ratings.scale.continuous else (OWN, OF_ROUND)
    found = measured(ratings, measures, policy, ("stratum",))
    on_ruler = {each.scope: each for each in found if each.measure == OF_ROUND}
    return lowest_first([each for each in found if each.measure == OWN]), on_ruler


def _grid(own: Sequence[Estimate], on_ruler: OnRuler) -> Grid:
    lowest = own[0] if own[0].value is not None else None
    rows: list[Row] = [
        [
            found.scope.name,
            found.n_used,
            *value_and_interval(found),
            value_and_interval(on_ruler.get(found.scope))[0],
            "; ".join(filter(None, ["lowest observed" if found is lowest else "", note(found)])),
        ]
        for found in own
    ]
    columns = {
        "stratum": "The part of the items.",
        "items": ITEMS,
        "α": "Krippendorff's α within the stratum.",
        "interval": INTERVAL,
        "on the round's ruler": "The same, with disagreement divided by that of the whole round.",
        "note": NOTE,
    }
    return grid("Agreement in each stratum, the lowest first", columns, rows, "strata")
