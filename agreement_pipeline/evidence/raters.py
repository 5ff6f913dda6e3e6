"""Raters: who stands out, and each beside the others, beside themselves and beside gold.

And classifiers, each beside the raters. The formal test is the alternative-annotator test.
"""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from types import MappingProxyType
from typing import Literal, NamedTuple

import numpy as np
import pandas as pd
import pyarrow as pa

from agreement_pipeline.counting import counting_for
from agreement_pipeline.estimates import (
    CategoryUse,
    Estimate,
    LimitsOfAgreement,
    MarginalHomogeneity,
    MeasurementError,
    Scope,
    ShownRaters,
    limits_of_agreement,
    marginal_homogeneity,
    measurement_error,
    order_raters_by_agreement,
    use_of_categories,
    value_by_scope,
)
from agreement_pipeline.evidence.advice import (
    NOBODY_COMPARED,
    describe_who_differs,
    find_measure_of_policy,
)
from agreement_pipeline.evidence.figure import (
    Figure,
    Mark,
    build_interval_figure,
    build_matrix_figure,
)
from agreement_pipeline.evidence.judged import JudgedRound, measure_scopes
from agreement_pipeline.evidence.section import (
    INTERVAL,
    Answer,
    Cell,
    Detail,
    Grid,
    Row,
    build_grid,
    measure_title,
    value_and_interval,
)
from agreement_pipeline.intervals import mean_interval_of_rows
from agreement_pipeline.measures import (
    MEASURES,
    AlternativeAnnotatorTest,
    alternative_annotator_test,
)
from agreement_pipeline.policy import Policy, Rule
from agreement_pipeline.ratings import (
    TEXT,
    Codes,
    Ratings,
    Scale,
    arrow_to_pandas,
    as_whole_numbers_or_missing,
    numbers_as_arrow,
    tells_minutes,
    times_as_seconds,
)
from agreement_pipeline.statistics import LabelsByRater, rater_distances
from agreement_pipeline.text import (
    PERCENT,
    PROBABILITY,
    SENTENCE,
    WHOLE_PERCENT,
    counted,
    in_words,
    interval,
    listed,
    number_in_table,
    p_in_words,
)

Kind = Literal["rater", "category"]
GOLD, MOST_SECONDS, DAY = "gold_accuracy", 3_600, 86_400.0
"""A longer time between two ratings is a pause."""
MOST_PAIRS, MOST_ITEMS, MAX_CATEGORIES = 8, 4, 20
MAX_PAIRS_DETAILED = 10
"""All pairs of five raters."""

PAIRS_PRINTED = 3
NUMBER = ".3g"
NO_REPEATS = "No rater met an item twice, so agreement with themselves is not known."
FAIR = (
    "A low number is a reason to talk, not a verdict on a person: items may be harder, or the "
    "guideline may allow two readings."
)
AGREEMENT_NAMES: dict[Kind, tuple[str, str]] = {
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
            "the repeated items may be harder than the rest"
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
            "the repeated items may be harder than the rest"
        ),
        (False, False): (
            "raters agree on it neither with themselves nor with each other: "
            "ambiguous, or given carelessly"
        ),
    },
}


OF_CLASSIFIERS = {
    "classifier": "The model.",
    "agreement": "Agreement of the model with the panel.",
    "interval": INTERVAL,
    "raters' lowest": "The lowest agreement of a rater with the rest of the panel.",
    "raters' highest": "The highest agreement of a rater with the rest of the panel.",
    "place": "Where the model stands among the raters.",
    "winning rate": "The share of raters whom the model may replace.",
    "alternative-annotator test": "Whether the model may stand in for a rater.",
}
WITH_THEMSELVES = "Agreement of raters with themselves on repeated items."
WITH_OTHERS, READING = "Agreement with the other raters.", "What the numbers of the row mean."
Band = Sequence[float]
Tests = Mapping[str, AlternativeAnnotatorTest]


class ComparedMeasures(NamedTuple):
    kind: Kind
    themselves: str
    others: str


def list_compared_measures(
    scale: Scale, policy: Policy | None = None
) -> tuple[ComparedMeasures, ...]:
    """Both measures are in the same terms, and weighted if the categories have an order.

    If the policy has a rule on the agreement of raters with themselves, its measure is compared: so
    a rater has one number for it, and one reading.
    """
    if scale.continuous:
        return ()
    weighted = "" if scale.level == "nominal" else "_quadratic"
    rules = () if policy is None else policy.rules
    rater_measures = (
        rule.measure
        for rule in sorted(rules, key=lambda rule: rule.scope != "rater")
        if MEASURES[rule.measure].needs == "replicates" and rule.scope in ("rater", "round")
    )
    themselves = next(rater_measures, f"test_retest_kappa{weighted}")
    compared = [ComparedMeasures("rater", themselves, f"schouten_kappa{weighted}")]
    if scale.level in ("nominal", "ordinal"):
        of_category = "test_retest_kappa_by_category", "kappa_by_category"
        compared.append(ComparedMeasures("category", *of_category))
    return tuple(compared)


def build_themselves_and_others_grid(
    ratings: Ratings, policy: Policy, shown_raters: ShownRaters | None = None
) -> Grid | None:
    compared = list_compared_measures(ratings.scale, policy)
    if not compared:
        return None
    measures = [measure for _, *measure_pair in compared for measure in measure_pair]
    shown_in_both = None if shown_raters is None else shown_raters.of_raters_with_replicates()
    estimates = measure_scopes(ratings, measures, policy, ("rater", "category"), shown_in_both)
    return build_joint_grid(estimates, compared, policy)


def build_joint_grid(
    estimates: Iterable[Estimate], compared: Sequence[ComparedMeasures], policy: Policy
) -> Grid:
    by_name = {(estimate.measure, estimate.scope): estimate for estimate in estimates}
    rows: list[Row] = []
    for comparison in compared:
        mine = [scope for name in comparison[1:] for measure, scope in by_name if measure == name]
        for scope in dict.fromkeys(scope for scope in mine if scope.kind == comparison.kind):
            pair = (
                by_name.get((comparison.themselves, scope)),
                by_name.get((comparison.others, scope)),
            )
            texts = [
                Mark.of(estimate).value_in_words if estimate and estimate.interval else ""
                for estimate in pair
            ]
            rows.append([str(scope), *texts, interpret_agreement(comparison, *pair, policy)])
    columns = {
        "scope": "The rater or the category.",
        "with themselves": WITH_THEMSELVES,
        "with the others": WITH_OTHERS,
        "reading": READING,
    }
    return build_grid("Agreement of raters with themselves and with the others", columns, rows)


def interpret_agreement(
    compared: ComparedMeasures, themselves: Estimate | None, others: Estimate | None, policy: Policy
) -> str:
    """Agreement is high if its lower limit reaches the cut-off, and low if the upper limit is under
    it.

    Else the reading is *cannot tell*. The cut-off is the tentative one of the policy's rule on that
    measure and scope, or 0.667.
    """
    kind = compared.kind
    default_rules = [Rule(name, scope=kind, effect="warn") for name in compared[1:]]
    of_policy = {(rule.measure, rule.scope): rule for rule in reversed(policy.rules)}
    verdicts = [
        of_policy.get((rule.measure, rule.scope), rule).judge(
            [] if estimate is None else [estimate]
        )[0]
        for rule, estimate in zip(default_rules, (themselves, others), strict=True)
    ]
    high = {"reliable": True, "tentative": True, "unreliable": False}
    unknown = [
        f"{agreement_name} may lie on either side of {verdict.rule.tentative:g}"
        if verdict.kind == "inconclusive"
        else verdict.reason
        for agreement_name, verdict in zip(AGREEMENT_NAMES[kind], verdicts, strict=True)
        if verdict.kind not in high
    ]
    if unknown:
        return f"cannot tell: {'; '.join(unknown)}"
    with_themselves, with_others = (high[verdict.kind] for verdict in verdicts)
    return READINGS[kind][with_themselves, with_others]


def build_profile_grid(
    ratings: Ratings, policy: Policy, shown_raters: ShownRaters | None = None
) -> Grid | None:
    """A row for each rater who is shown, in the order of names, since a rank would mislead."""
    if ratings.scale.continuous or len(ratings.raters) < 2:
        return None
    selection = shown_raters or ShownRaters.show_all(ratings.raters)
    compared = list_compared_measures(ratings.scale, policy)[0]
    measures = list(dict.fromkeys([*compared[1:], GOLD]))
    estimates = measure_scopes(ratings, measures, policy, ("rater",), selection)
    by_name = {(estimate.measure, estimate.scope.name): estimate for estimate in estimates}
    has_repeats = any(
        estimate.measure == compared.themselves and estimate.value is not None
        for estimate in estimates
    )
    uses = dict(_categories_over_and_underused(ratings, selection.raters, policy.confidence_level))
    times, n_by_rater = _median_seconds_by_rater(ratings, selection.raters), ratings.n_by_rater
    n_items = ratings.without_earlier.n_rated
    rows: list[Row] = []
    for name in sorted({name for _, name in by_name} & {*selection.raters}):
        with_others, with_themselves, gold = (
            by_name.get((measure, name)) for measure in (compared.others, compared.themselves, GOLD)
        )
        rows.append(
            [
                name,
                n_by_rater.get(name, 0),
                in_words(n_by_rater.get(name, 0) / n_items, WHOLE_PERCENT),
                *value_and_interval(with_others),
                *value_and_interval(with_themselves),
                interpret_agreement(compared, with_themselves, with_others, policy)
                if has_repeats
                else "",
                *value_and_interval(gold),
                *uses.get(name, ("", "")),
                times.get(name, ""),
            ]
        )
    columns = {
        "rater": "The rater.",
        "ratings": "How many ratings the row rests on.",
        "of items": "The share of all items that the rater rated.",
        "with the others": WITH_OTHERS,
        "interval": INTERVAL,
        "with themselves": WITH_THEMSELVES,
        "interval with themselves": "The interval of the agreement with themselves.",
        "reading": READING,
        "right on gold": "The share of gold items on which the rater gave the right label.",
        "interval on gold": "The interval of the share of right labels.",
        "uses more": "Categories that the rater gives more often than others on the same items.",
        "uses less": "Categories that the rater gives less often than others on the same items.",
        "seconds": "The median time between two ratings.",
    }
    return build_grid("Each rater beside the others", columns, rows, "raters")


def _categories_over_and_underused(
    ratings: Ratings, shown_raters: Sequence[str], level: float
) -> Iterator[tuple[str, tuple[str, str]]]:
    """The categories that a rater uses more and less than the others, if the interval leaves out 0.

    All categories of a rater have one level. None is named where items come in clusters, since the
    interval takes each as drawn by itself.
    """
    labels = counting_for(ratings).labels(ratings).with_scale(ratings.scale)
    names = labels.scale.names
    if labels.clusters is not None:
        return
    counts = labels.counts().counts
    each_level = 1 - (1 - level) / len(names)
    times = labels.weights.astype(int)
    for rater in {*shown_raters} & {*labels.raters}:
        mine = labels.codes[:, [labels.raters.index(rater)]] == np.arange(len(names))
        other_counts = counts - mine
        is_comparable = (mine.sum(1) > 0) & (other_counts.sum(1) > 0) & (times > 0)
        if is_comparable.any():
            change = (
                mine[is_comparable]
                - other_counts[is_comparable] / other_counts[is_comparable].sum(1, keepdims=True)
            ).T
            change_intervals = [
                mean_interval_of_rows(category_change, times[is_comparable], each_level)
                for category_change in change
            ]
            used_more = [
                n
                for n, limits in zip(names, change_intervals, strict=True)
                if limits and limits.low > 0
            ]
            used_less = [
                n
                for n, limits in zip(names, change_intervals, strict=True)
                if limits and limits.high < 0
            ]
            yield rater, (", ".join(used_more), ", ".join(used_less))


def _median_seconds_by_rater(ratings: Ratings, shown_raters: Sequence[str]) -> Mapping[str, str]:
    if "timestamp" not in ratings.has:
        return {}
    table = arrow_to_pandas(
        ratings.first_ratings(["rater", "timestamp"], raters=shown_raters, gold=True)
    )
    if pd.api.types.is_numeric_dtype(table["timestamp"]):
        return {}
    times = pd.to_datetime(table["timestamp"], errors="coerce", utc=True, format="ISO8601")
    ordered = table.assign(time=times).dropna().sort_values(["rater", "time"])
    gaps = ordered.groupby("rater")["time"].diff().dt.total_seconds()
    medians = gaps[(gaps > 0) & (gaps <= MOST_SECONDS)].groupby(ordered["rater"]).median()
    return {str(name): f"{value:.0f}" for name, value in medians.items()}


def answer_about_raters(judged_round: JudgedRound) -> Answer | None:
    if len(judged_round.raters) < 2:
        return None
    if judged_round.ratings.foreign_words:
        return Answer((NOBODY_COMPARED, _describe_repeat_timing(judged_round.ratings)))
    table = build_profile_grid(judged_round.ratings, judged_round.policy, judged_round.shown)
    use_of_scale = describe_use_of_scale(
        judged_round.ratings, judged_round.policy, judged_round.raters
    )
    pairs = [estimate for estimate in judged_round.pairs if estimate.value is not None][:MOST_PAIRS]
    pair_by_scope = {Scope.of_pair(*pair): pair for pair in judged_round.shown.pairs}
    detailed_scopes = [
        estimate.scope for estimate in judged_round.pairs if estimate.value is not None
    ][:MAX_PAIRS_DETAILED]
    lacks_matrix = judged_round.ratings.scale.continuous or len(judged_round.raters) < 3
    is_held = judged_round.assessment is not None and not judged_round.decision.admitted
    differs = (
        judged_round.summary.who_differs
        if is_held
        else describe_who_differs(judged_round.ratings, find_measure_of_policy(judged_round.policy))
    )
    details = [
        Detail(
            f"pair-{place}",
            f"{scope.name}: where they differ",
            _answer_about_differing_items(judged_round, *pair_by_scope[scope]),
        )
        for place, scope in enumerate(detailed_scopes, 1)
    ]
    other_pairs = [
        Detail("other-pairs", "Other pairs: where they differ", Answer((), (), (), rest), False)
        for rest in [tuple(details[PAIRS_PRINTED:])]
        if rest
    ]
    part_by_pair = {
        frozenset(pair_by_scope[scope]): detail.anchor
        for scope, detail in zip(detailed_scopes, details, strict=True)
    }
    sentences = [differs or "Disagreement does not hold this round, so no rater is named.", FAIR]
    if judged_round.shown.left_out_sentence():
        sentences.append(
            f"Shown are {len(judged_round.raters)} of {judged_round.shown.n_raters} raters: those "
            "who agree least with the others."
        )
    if use_of_scale.sentence:
        sentences.append(use_of_scale.sentence)
    return Answer(
        (*sentences, _describe_repeat_timing(judged_round.ratings)),
        () if lacks_matrix else (_build_agreement_matrix(judged_round, part_by_pair),),
        tuple(
            shown_table
            for shown_table in (table, _build_pair_grid(judged_round, pairs, detailed_scopes))
            if shown_table and shown_table.rows
        ),
        (*details[:PAIRS_PRINTED], *other_pairs, *_iterate_use_of_scale(use_of_scale.tables)),
    )


def _iterate_use_of_scale(tables: Mapping[str, Grid]) -> Iterator[Detail]:
    if tables:
        answer = Answer((), (), tuple(tables.values()))
        yield Detail("use-of-scale", "How raters use the scale", answer)


class UseOfScale(NamedTuple):
    """How raters use the scale: a sentence, and tables by their names in metadata.

    Where nothing is known, the sentence is empty. A table without rows is left out.
    """

    sentence: str = ""
    tables: Mapping[str, Grid] = MappingProxyType({})


def describe_use_of_scale(ratings: Ratings, policy: Policy, raters: Sequence[str]) -> UseOfScale:
    """Of categories, which rater gives one more often; of numbers, how far raters are apart.

    The tests take items as drawn one by one, so nothing is said where they come in clusters.
    """
    if len(raters) < 2:
        return UseOfScale()
    panel = counting_for(ratings).by_rater(ratings).select_raters(raters)
    level, scale = policy.confidence_level, panel.scale
    if panel.clusters is not None or "weight" in ratings.has:
        return UseOfScale()
    if isinstance(panel, LabelsByRater):
        if len(scale.names) > MAX_CATEGORIES:
            return UseOfScale()
        uses = use_of_categories(panel, level)
        sentence = describe_uses(uses, level) if uses else ""
        tables = {"categories_given_more_often": _build_uneven_use_grid(uses, level)}
        if len(scale.names) > 2:
            tables["categories_used_alike"] = _build_homogeneity_grid(marginal_homogeneity(panel))
    else:
        error = measurement_error(panel, level) if scale.level in ("interval", "ratio") else None
        if error is None:
            return UseOfScale()
        sentence = describe_error(error)
        tables = {"limits_of_agreement": _build_limits_grid(limits_of_agreement(panel, level))}
    return UseOfScale(sentence, {name: table for name, table in tables.items() if table.rows})


def describe_uses(uses: Sequence[CategoryUse], level: float) -> str:
    """Whether a rater gives a category more often than another, and the surest who does."""
    surely = [use for use in uses if use.p_holm <= 1 - level]
    if not surely:
        return "No rater gives a category more often than another, beyond chance."
    use = surely[0]
    (more, most), (less, least) = sorted(
        ((use.first, use.share_first), (use.second, use.share_second)), key=lambda side: -side[1]
    )
    n_pairs = len({(other.first, other.second) for other in surely}) - 1
    shares = f"{in_words(most, PERCENT)} of their {counted(use.n_items, 'item')}"
    rest = f" {counted(n_pairs, 'more pair')} differ like this." if n_pairs else ""
    return (
        f"{more} gives '{use.category}' more often than {less}: to {shares}, against "
        f"{in_words(least, PERCENT)}.{rest}"
    )


def _build_uneven_use_grid(uses: Sequence[CategoryUse], level: float) -> Grid:
    rows: list[Row] = [
        [
            *(use.first, use.second, use.category, use.n_items),
            *(in_words(share, PERCENT) for share in (use.share_first, use.share_second)),
            *(use.only_first, use.only_second),
            interval(*use.interval) if use.interval else "",
            p_in_words(use.p_holm),
        ]
        for use in uses
        if use.p_holm <= 1 - level
    ]
    columns = {
        "rater": "One rater.",
        "other": "Another rater.",
        "category": "A category that one of them gives more often.",
        "items": "The items that both rated.",
        "of the rater": "The share of these items to which the rater gives the category.",
        "of the other": "The share of them to which the other gives it.",
        "rater alone": "The items to which the rater alone gives it.",
        "other alone": "The items to which the other alone gives it.",
        "difference": "The interval of the difference of the two shares.",
        "p": "McNemar's test, allowing for all pairs and categories (Holm).",
    }
    return build_grid("Categories that one rater gives more often than another", columns, rows)


def _build_homogeneity_grid(tests: Sequence[MarginalHomogeneity]) -> Grid:
    rows: list[Row] = [
        [
            *(test.first, test.second, test.n_items),
            *(in_words(test.statistic, PROBABILITY), test.df, p_in_words(test.p_holm)),
        ]
        for test in sorted(tests, key=lambda test: test.p)
    ]
    columns = {
        "rater": "One rater.",
        "other": "Another rater.",
        "items": "The items that both rated.",
        "χ²": "Stuart and Maxwell's statistic.",
        "degrees of freedom": "How many categories may differ.",
        "p": "The p-value of both using all categories alike, allowing for all pairs (Holm).",
    }
    return build_grid(
        "Whether two raters use all categories alike", columns, rows, "pairs", MOST_PAIRS
    )


def describe_error(error: MeasurementError) -> str:
    """How far a rating lies from the mean of its item.

    >>> from agreement_pipeline.intervals import Interval
    >>> print(describe_error(MeasurementError(0.5, Interval(0.45, 0.55), 100, 300)))
    The standard error of measurement is 0.5 (0.45 to 0.55). If errors are normal, two raters of an item differ by 1.39 at most on 95% of items.
    """  # noqa: E501
    value, low, high, most = (
        number_in_table(each, NUMBER)
        for each in (error.value, *error.interval, error.repeatability)
    )
    return (
        f"The standard error of measurement is {value} ({low} to {high}). If errors are normal, "
        f"two raters of an item differ by {most} at most on 95% of items."
    )


def _build_limits_grid(pairs: Sequence[LimitsOfAgreement]) -> Grid:
    rows: list[Row] = [
        [
            *(pair.first, pair.second, pair.n_items),
            *(number_in_table(pair.bias, NUMBER), interval(*pair.bias_interval, NUMBER)),
            *(number_in_table(pair.low, NUMBER), interval(*pair.low_interval, NUMBER)),
            *(number_in_table(pair.high, NUMBER), interval(*pair.high_interval, NUMBER)),
        ]
        for pair in sorted(pairs, key=lambda pair: -(pair.high - pair.low))
    ]
    columns = {
        "rater": "One rater.",
        "other": "Another rater.",
        "items": "The items that both rated.",
        "bias": "The mean difference of the rater's numbers from those of the other.",
        "interval": INTERVAL,
        "low": "The lower limit of agreement: 95% of differences lie above it and under the upper.",
        "interval of low": "The interval of the lower limit.",
        "high": "The upper limit of agreement.",
        "interval of high": "The interval of the upper limit.",
    }
    return build_grid("Limits of agreement (Bland and Altman)", columns, rows, "pairs", MOST_PAIRS)


def _describe_repeat_timing(ratings: Ratings) -> str:
    table = ratings.replicated_ratings(["at", "place", *({"timestamp"} & ratings.has)])
    repeat_rows = seconds_to_repeats(table)
    if not len(repeat_rows):
        return NO_REPEATS
    n_repeats = counted(len(repeat_rows), "time")
    back = f"Raters met an item again {n_repeats}"
    times = (
        times_as_seconds(arrow_to_pandas(table["timestamp"]))
        if "timestamp" in ratings.has
        else None
    )
    if times is None or not tells_minutes(times):
        return f"{back}. The ratings have no times, so the gaps are unknown."
    gaps = np.abs(times[repeat_rows] - times[repeat_rows - 1])
    known_gaps = gaps[~np.isnan(gaps)]
    if not len(known_gaps):
        return f"{back}. The times do not tell the gaps."
    soon = in_words(float((known_gaps < DAY).mean()), PERCENT)
    return f"{back}, {soon} of them in less than a day, when the label may be remembered."


def seconds_to_repeats(table: pa.Table) -> Codes:
    item_index, place = (table[name].to_numpy() for name in ("at", "place"))
    return np.flatnonzero((item_index[1:] == item_index[:-1]) & (place[1:] == place[:-1])) + 1


def _build_agreement_matrix(
    judged_round: JudgedRound, part_by_pair: Mapping[frozenset[str], str]
) -> Figure:
    names = judged_round.raters
    panel = counting_for(judged_round.ratings).by_rater(judged_round.ratings)
    same_share = 1.0 - rater_distances(panel.select_raters(names)).of_pairs
    defined = same_share[~np.isnan(same_share)]
    # The tenth under the lowest share, so that shades tell raters apart.
    lowest = min(0.9, np.floor(10 * defined.min()) / 10) if len(defined) else 0.0
    order = order_raters_by_agreement(same_share)
    return build_matrix_figure(
        "Share of items with the same label",
        "Camps show as blocks. A cell leads to the items on which two raters differ.",
        [names[i] for i in order],
        same_share[np.ix_(order, order)],
        "share of items with the same label",
        lowest,
        part_by_pair,
    )


def _build_pair_grid(
    judged_round: JudgedRound, pairs: Sequence[Estimate], detailed_scopes: Sequence[Scope]
) -> Grid | None:
    if not pairs:
        return None
    rows: list[Row] = [
        [
            Cell(estimate.scope.name, to=f"pair-{place}" if place <= len(detailed_scopes) else ""),
            *value_and_interval(estimate),
            estimate.n_used,
        ]
        for place, estimate in enumerate(pairs, 1)
    ]
    columns = ("raters", measure_title(pairs[0].measure), "interval", "items")
    n = max(judged_round.shown.n_pairs, len(rows))
    return build_grid("Pairs who agree least", columns, rows, "pairs", n=n)


def _answer_about_differing_items(
    judged_round: JudgedRound, first_rater: str, second_rater: str
) -> Answer:
    two = sorted((first_rater, second_rater), key=judged_round.ratings.names.index)
    labels_table = judged_round.ratings.first_ratings(["at", "item", "label"], raters=two)
    item_index, labels = (
        as_whole_numbers_or_missing(labels_table["at"]),
        arrow_to_pandas(labels_table["label"]).astype(TEXT).array,
    )
    shared_rows = np.flatnonzero(item_index[1:] == item_index[:-1])
    shared_rows = shared_rows[np.asarray(labels[shared_rows] != labels[shared_rows + 1])]
    items = labels_table["item"].take(numbers_as_arrow(shared_rows)).to_pylist()
    row_by_item = dict(zip(items, shared_rows.tolist(), strict=True))
    names = [name for name in judged_round.most_disputed if name in row_by_item]
    shown_names = names[:MOST_ITEMS]
    rows: list[Row] = [
        [
            name,
            *(
                labels[row_by_item[name] + two.index(rater)]
                for rater in (first_rater, second_rater)
            ),
            text,
        ]
        for name, text in zip(shown_names, judged_round.texts_of(shown_names), strict=True)
    ]
    columns = ("item", first_rater, second_rater, "text")
    table = build_grid("The most disputed of them", columns, rows, "items", n=len(names))
    return Answer((f"They differ on {counted(len(names), 'item')}.",), tables=(table,))


def measure_between_raters(scale: Scale) -> str:
    """It is weighted if the categories have an order. If none are listed, it is the share of items
    on which somebody is at least as close to the others as the rater left out.
    """
    if scale.continuous:
        return "advantage_probability"
    return "schouten_kappa" if scale.level == "nominal" else "schouten_kappa_quadratic"


def answer_about_classifiers(judged_round: JudgedRound) -> Answer | None:
    if not judged_round.ratings.classifiers:
        return None
    if judged_round.ratings.foreign_words:
        return Answer((NOBODY_COMPARED,))
    estimates, band, tests, table = _compare_classifiers_with_raters(
        judged_round.ratings, judged_round.policy
    )
    places = {
        estimate.scope.name: _describe_place_in_band(estimate, band) for estimate in estimates
    }
    sentences = [
        f"{name} is {place}{_describe_place_and_test(place, tests.get(name))}"
        for name, place in places.items()
        if place
    ]
    unknown = f"The place of {listed(places)} is not certain."
    figures: tuple[Figure, ...] = ()
    if band and estimates:
        lowest, highest = (number_in_table(limit, SENTENCE) for limit in (band[0], band[-1]))
        figure = build_interval_figure(
            "Classifiers inside the band of the raters",
            f"The strokes are the lowest ({lowest}) and the highest ({highest}) of the raters. "
            "A line between them is a model that agrees with the panel as a rater does.",
            map(Mark.of, estimates),
            measure_title(measure_between_raters(judged_round.ratings.scale)),
            cutoffs=((band[0], "lowest rater"), (band[-1], "highest rater")),
        )
        figures = (figure,)
    return Answer(tuple(sentences) or (unknown,), figures, (table,))


def build_classifiers_grid(ratings: Ratings, policy: Policy, *_: object) -> Grid | None:
    return _compare_classifiers_with_raters(ratings, policy)[-1] if ratings.classifiers else None


def _compare_classifiers_with_raters(
    ratings: Ratings, policy: Policy
) -> tuple[Sequence[Estimate], Band, Tests, Grid]:
    measure, counting = measure_between_raters(ratings.scale), counting_for(ratings)
    estimates = measure_scopes(ratings, [measure], policy, ("classifier",))
    band = sorted(value_by_scope(ratings, measure, "rater").values())
    tests = {
        name: alternative_annotator_test(counting.by_rater(ratings, (name,)).with_rater_apart(name))
        for name in ratings.classifiers
    }
    return estimates, band, tests, build_beside_raters_grid(estimates, band, tests)


def build_beside_raters_grid(estimates: Sequence[Estimate], band: Band, tests: Tests) -> Grid:
    """A classifier is above the raters if its whole interval is above all their values, and below
    in the same way.
    """
    band_cells = [
        Cell(number_in_table(value, SENTENCE), value) for value in (*band[:1], *band[-1:])
    ]
    rows: list[Row] = [
        [
            estimate.scope.name,
            *value_and_interval(estimate),
            *(band_cells or ("", "")),
            _describe_place_in_band(estimate, band),
            *_test_result_in_words(tests.get(estimate.scope.name)),
        ]
        for estimate in estimates
    ]
    return build_grid("Classifiers beside the raters", OF_CLASSIFIERS, rows, "classifiers")


def _describe_place_in_band(estimate: Estimate, band: Band) -> str:
    if estimate.interval is None or not band:
        return ""
    if estimate.interval.low > band[-1]:
        return "above every rater"
    return "below every rater" if estimate.interval.high < band[0] else "among the raters"


def _describe_place_and_test(place: str, test: AlternativeAnnotatorTest | None) -> str:
    if place == "among the raters":
        return ", as far as these items can tell."
    if place == "below every rater" and test is not None and test.passed:
        return (
            ". It passes the alternative-annotator test, which lets a model be worse than a rater "
            f"by ε = {test.epsilon:g}."
        )
    return "."


def _test_result_in_words(test: AlternativeAnnotatorTest | None) -> tuple[str, str]:
    if test is None or test.winning_rate is None:
        return "", "" if test is None else f"undefined: {test.undefined}"
    reads = "may stand in for a rater" if test.passed else "not shown that it may stand in"
    return in_words(test.winning_rate, PROBABILITY), f"{reads} (ε = {test.epsilon:g})"
