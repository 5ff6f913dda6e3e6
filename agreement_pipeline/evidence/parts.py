"""Agreement by category and by stratum, which categories are taken for each other, and whether the
label that trains would be given again.
"""

from collections.abc import Sequence

import numpy as np

from agreement_pipeline.estimates import Estimate, Scope, label_reliability
from agreement_pipeline.evidence.advice import coincidences, most_confused
from agreement_pipeline.evidence.figure import (
    Figure,
    Mark,
    build_interval_figure,
    build_matrix_figure,
)
from agreement_pipeline.evidence.judged import (
    JudgedRound,
    measure_scopes,
    share_by_category,
    sort_lowest_first,
)
from agreement_pipeline.evidence.section import (
    INTERVAL,
    ITEMS,
    NOTE,
    Answer,
    Grid,
    Row,
    build_grid,
    share_cell,
    value_and_interval,
)
from agreement_pipeline.evidence.tables import estimate_note
from agreement_pipeline.intervals import Inference
from agreement_pipeline.policy import Policy, select_judged_ratings
from agreement_pipeline.ratings import Array, Ratings
from agreement_pipeline.statistics import CategoryCounts
from agreement_pipeline.text import DIGITS, PERCENT, SENTENCE, in_words, number_in_table

MAX_INTERVALS_DRAWN, MOST_CONFUSED, MOST_PAIRS, RARE = 20, 12, 8, 0.05
WITHIN_STRATUM, ON_ROUND_RULER = "krippendorff_alpha", "stratum_alpha"
RARE_SAID = (
    "One category holds nearly all labels. Then chance agreement is high, and a few "
    "disagreements make a measure such as alpha low."
)
OF_STRATA = (
    "α of a stratum is read as if its items were a round of their own. The lowest of many is low "
    "by chance too."
)
SPEAKS_OF = (
    "The result is about raters like these, a new sample of them for each item. It does not say "
    "that a label is right."
)
OnRuler = dict[Scope, Estimate]


def answer_about_labels(judged_round: JudgedRound) -> Answer | None:
    _, by_item = judged_round.by_item
    of_label = _sentences_about_label(judged_round)
    if not isinstance(by_item, CategoryCounts):
        return Answer(of_label) if of_label else None
    estimates, shares, coincidence_matrix = (
        judged_round.categories,
        share_by_category(judged_round.ratings),
        coincidences(by_item),
    )
    kinds = "Each category against all others together, the lowest first."
    interval_chart = build_interval_figure(
        "Agreement by category",
        kinds,
        map(Mark.of, estimates[:MAX_INTERVALS_DRAWN]),
        "Krippendorff's α of the category",
    )
    rows: list[Row] = [
        [
            estimate.scope.name,
            *value_and_interval(estimate),
            share_cell(shares[estimate.scope.name]),
            estimate.undefined,
        ]
        for estimate in estimates
    ]
    columns = ("category", "agreement", "interval", "share of labels", "note")
    table = build_grid("Agreement on each category", columns, rows, "categories")
    pair, confusion_sentence = (
        most_confused(by_item),
        "No two raters gave an item different categories.",
    )
    if pair is not None and len(by_item.scale.names) == 2:
        confusion_sentence = "There are two categories, so all disagreement is between them."
    elif pair is not None:
        part = in_words(pair.share, PERCENT)
        confusion_sentence = (
            f"{part} of all pairs of differing labels are {pair.one} and {pair.other}."
        )
    figure, pairs = _build_confusions(by_item.scale.names, coincidence_matrix)
    return Answer(
        (
            _describe_lowest(estimates),
            confusion_sentence,
            *([RARE_SAID] if max(shares.values()) > 1 - RARE else []),
            *of_label,
        ),
        (*((interval_chart,) if estimates else ()), figure),
        tuple(shown_grid for shown_grid in (table, pairs) if shown_grid.rows),
    )


def _describe_lowest(estimates: Sequence[Estimate]) -> str:
    with_value = [estimate for estimate in estimates if estimate.value is not None]
    if not with_value:
        return "Agreement has no value on any category."
    if len(estimates) == 2:
        return "There are two categories, so agreement on one is agreement on the other."
    lowest = with_value[0]
    value = number_in_table(lowest.value, SENTENCE)
    if len({round(estimate.value or 0.0, DIGITS) for estimate in with_value}) == 1:
        category_phrase = (
            "every category" if len(with_value) == len(estimates) else "each category that was used"
        )
        return f"Raters agree alike on {category_phrase} (α {value})."
    above = [
        estimate for estimate in with_value[1:] if (estimate.low or -1.0) > (lowest.high or 1.0)
    ]
    if not above:
        highest = number_in_table(with_value[-1].value, SENTENCE)
        return (
            f"The values of the categories, from α {value} to {highest}, are no further apart than "
            "luck may have them."
        )
    certain = ", and its interval is below all others" if len(above) == len(with_value) - 1 else ""
    return f"Raters agree least on {lowest.scope.name} (α {value}){certain}."


def _build_confusions(names: Sequence[str], coincidence_matrix: Array) -> tuple[Figure, Grid]:
    row_totals = coincidence_matrix.sum(1)
    frequent = np.sort(np.argsort(-row_totals, kind="stable")[:MOST_CONFUSED])
    shares = coincidence_matrix / np.where(row_totals > 0, row_totals, np.nan)[:, None]
    left_out = ""
    if len(names) > MOST_CONFUSED:
        left_out = f" The {MOST_CONFUSED} most frequent of {len(names)} are drawn."
    figure = build_matrix_figure(
        "What another rater says of the same item",
        "A row is what one rater said, and a column what another said. "
        f"High numbers off the diagonal are confusions.{left_out}",
        [names[k] for k in frequent],
        shares[np.ix_(frequent, frequent)],
        "share of the row",
    )
    first_index, second_index = np.triu_indices(len(names), 1)
    disagreements = coincidence_matrix[first_index, second_index]
    order = [
        int(index)
        for index in np.argsort(-disagreements, kind="stable")
        if disagreements[index] > 0
    ]
    rows: list[Row] = [
        [
            names[first_index[index]],
            names[second_index[index]],
            share_cell(disagreements[index] / disagreements.sum()),
        ]
        for index in order
    ]
    columns = ("one rater", "another rater", "share of disagreements")
    return figure, build_grid("Confused with each other", columns, rows, "pairs", MOST_PAIRS)


def _sentences_about_label(judged_round: JudgedRound) -> tuple[str, ...]:
    """Whether another panel would give the label again, beside the raters' own agreement.

    A classifier's labels are another matter, and so are vectors.
    """
    ratings, policy = judged_round.ratings, judged_round.policy
    if policy.is_for_model_labels or ratings.scale.dimensions > 1:
        return ()
    label_estimate = label_reliability(
        select_judged_ratings(ratings, policy),
        trains=judged_round.trains,
        inference=Inference(policy.confidence_level, policy.n_resamples),
    )
    has_value = label_estimate.same_label is not None or label_estimate.reliability is not None
    return (*label_estimate.findings, SPEAKS_OF) if has_value else label_estimate.findings


def answer_about_strata(judged_round: JudgedRound) -> Answer | None:
    estimates, on_ruler = _estimates_in_strata(judged_round.ratings, judged_round.policy)
    if not estimates:
        return None
    marks = [
        Mark.of(estimate)
        for estimate in estimates[:MAX_INTERVALS_DRAWN]
        if estimate.value is not None
    ]
    says = "Intervals that do not overlap show a difference. If they overlap, there may be none."
    figure = build_interval_figure("Agreement in each stratum", says, marks, "Krippendorff's α")
    sentence = "No stratum has a value."
    if marks:
        subject = (
            "The only stratum"
            if len(estimates) == 1
            else f"The lowest observed of {len(estimates)} strata"
        )
        sentence = f"{subject} is {estimates[0].scope.name}: {marks[0].value_in_words}."
    return Answer(
        (sentence, OF_STRATA), (figure,) if marks else (), (_build_grid(estimates, on_ruler),)
    )


def build_strata_grid(ratings: Ratings, policy: Policy, *_: object) -> Grid | None:
    estimates, on_ruler = _estimates_in_strata(ratings, policy)
    return _build_grid(estimates, on_ruler) if estimates else None


def _estimates_in_strata(ratings: Ratings, policy: Policy) -> tuple[Sequence[Estimate], OnRuler]:
    if not ratings.strata:
        return (), {}
    measures = (WITHIN_STRATUM,) if ratings.scale.continuous else (WITHIN_STRATUM, ON_ROUND_RULER)
    estimates = measure_scopes(ratings, measures, policy, ("stratum",))
    on_ruler = {
        estimate.scope: estimate for estimate in estimates if estimate.measure == ON_ROUND_RULER
    }
    return sort_lowest_first(
        [estimate for estimate in estimates if estimate.measure == WITHIN_STRATUM]
    ), on_ruler


def _build_grid(estimates: Sequence[Estimate], on_ruler: OnRuler) -> Grid:
    lowest = estimates[0] if estimates[0].value is not None else None
    rows: list[Row] = [
        [
            estimate.scope.name,
            estimate.n_used,
            *value_and_interval(estimate),
            value_and_interval(on_ruler.get(estimate.scope))[0],
            "; ".join(
                filter(
                    None, ["lowest observed" if estimate is lowest else "", estimate_note(estimate)]
                )
            ),
        ]
        for estimate in estimates
    ]
    columns = {
        "stratum": "The part of the items.",
        "items": ITEMS,
        "α": "Krippendorff's α within the stratum.",
        "interval": INTERVAL,
        "on the round's ruler": "The same, with disagreement divided by that of the whole round.",
        "note": NOTE,
    }
    return build_grid("Agreement in each stratum, the lowest first", columns, rows, "strata")
