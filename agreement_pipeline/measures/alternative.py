"""May a model replace a rater? The advantage probability and the alternative-annotator test.

Leave one rater out and let the rest of the panel judge. On each item, is the model at least as
close to them as that rater? The test asks for each rater if the advantage is more than luck, after
allowing for the work that a model saves.
"""

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from agreement_pipeline.errors import PolicyError
from agreement_pipeline.measures.coefficient import Coefficient, ratio
from agreement_pipeline.measures.conditions import CLASSIFIER_NEVER_MET_A_PAIR, TWO_OF_THE_PANEL
from agreement_pipeline.measures.registry import always, register
from agreement_pipeline.ratings import LEVELS, Array, Flags
from agreement_pipeline.statistics import LabelsByRater, NumbersByRater, SomeRows, rows_from_array
from agreement_pipeline.students_t import lower_tail_probability
from agreement_pipeline.text import counted

Panel = LabelsByRater | NumbersByRater
TIE_FACTOR = 1 + 1e-9
"""Distances that differ by less are equal: 5.1 and 4.9 are equally far from 5."""


class Duels(NamedTuple):
    """The classifier against each rater on each row, three arrays of shape (P, R).

    `is_comparable` is True where the two can be compared, and the others where that one is at least
    as close.
    """

    is_comparable: Flags
    classifier: Flags
    rater: Flags


def find_duels(panel: Panel) -> Duels:
    """On labels, closer is whose label more of the others give; on numbers, by the distance."""
    if panel.holds == "numbers":
        return _duels_by_distance(panel.panel.values, panel.labels)
    codes, labels = panel.panel.codes, panel.labels[:, None]
    if panel.scale.numeric:
        scores = np.append(panel.scale.scores, np.nan)
        return _duels_by_distance(scores[codes][:, :, None], scores[labels])
    c = panel.panel.counts().counts
    is_comparable = (codes >= 0) & (labels >= 0) & (c.sum(1) >= 2)[:, None]
    with_classifier = (c * panel.label_indicators).sum(1)[:, None] - (codes == labels)
    with_rater = np.take_along_axis(c, np.maximum(codes, 0), 1) - 1
    return Duels(is_comparable, with_classifier >= with_rater, with_rater >= with_classifier)


def _duels_by_distance(values: Array, labels: Array) -> Duels:
    """Closer is whose root mean squared distance from the others is smaller."""
    is_rated = ~np.isnan(values[:, :, 0])
    is_comparable = is_rated & ~np.isnan(labels[:, :1]) & (is_rated.sum(1) >= 2)[:, None]
    classifier_distances, rater_distances = np.empty(is_rated.shape), np.empty(is_rated.shape)
    for j in range(values.shape[1]):
        other_ratings = np.delete(values, j, axis=1)
        classifier_distances[:, j] = _squared_distances(labels, other_ratings)
        rater_distances[:, j] = _squared_distances(values[:, j], other_ratings)
    return Duels(
        is_comparable,
        classifier_distances <= rater_distances * TIE_FACTOR,
        rater_distances <= classifier_distances * TIE_FACTOR,
    )


def _squared_distances(labels: Array, other_ratings: Array) -> Array:
    """The sum over an item's other ratings of the squared distance from its label (P,)."""
    return np.asarray(np.nansum((other_ratings - labels[:, None]) ** 2, axis=(1, 2)))


MIN_SHARING_RATERS = 3
CALDERON = "Calderon, N., Reichart, R. & Dror, R. (2025), doi:10.18653/v1/2025.acl-long.782"


@register(
    "Average advantage probability",
    question="classifier",
    needs="panel",
    bounds=(0.0, 1.0),
    undefined=(CLASSIFIER_NEVER_MET_A_PAIR,),
    levels=set(LEVELS),
    continuous=True,
    chance_corrected=False,
    sums_of_raters=always,
    rests_on=TWO_OF_THE_PANEL,
    convention="rater by rater, over the items that the rater, another of the panel and the "
    "classifier labelled; raters without such an item are left out",
    source=CALDERON,
    passed_by_guessing=True,
)
def advantage_probability(panel: Panel) -> Coefficient:
    r"""How often a classifier matches the other raters at least as well as the rater left out does.

    .. math:: \rho = \frac{1}{R} \sum_j \rho^f_j, \qquad
       \rho^f_j = \frac{1}{|I_j|} \sum_{i \in I_j} [S_j(f, i) \ge S_j(h_j, i)]

    :math:`I_j` are the items labelled by rater j, by another rater and by the classifier f.
    :math:`S_j(a, i)` is the share of the raters of item i other than j whose label is that of a. On
    a scale of numbers, it is the negative root of the mean squared distance from them. A tie counts
    for the classifier. Against raters who never agree with anybody, any label wins.

    Examples
    --------
    >>> round(float(advantage_probability(panel).value), 4)
    1.0
    """
    won, lost = panel.sums(_won_items_as_rows), panel.sums(_lost_items_as_rows)
    rho_j = ratio(won, won + lost)
    is_defined = ~np.isnan(rho_j)
    rho = ratio(np.where(is_defined, rho_j, 0.0).sum(-1), is_defined.sum(-1))
    return Coefficient(rho, observed=rho)


def _won_items_as_rows(panel: Panel) -> SomeRows:
    duels = panel.read_once(find_duels)
    return rows_from_array((duels.is_comparable & duels.classifier).astype(float))


def _lost_items_as_rows(panel: Panel) -> SomeRows:
    duels = panel.read_once(find_duels)
    return rows_from_array((duels.is_comparable & ~duels.classifier).astype(float))


class RaterComparison(NamedTuple):
    """The classifier against one rater, judged by the rest of the panel.

    The wins are shares of items on which the one matches the others at least as well as the other
    does; in clusters, the mean of their shares. `p_value` is that of the hypothesis that the rater
    wins more often by `epsilon` or more. `undefined` says why it is not tested.
    """

    rater: str
    n_items: int
    n_clusters: int | None
    classifier_wins: float | None
    rater_wins: float | None
    p_value: float | None
    rejected: bool = False
    undefined: str | None = None


@dataclass(frozen=True)
class AlternativeAnnotatorTest:
    """`winning_rate` is ω, the share of the tested raters against whom the classifier wins."""

    winning_rate: float | None
    comparisons: tuple[RaterComparison, ...]
    epsilon: float
    false_discovery_rate: float
    undefined: str | None = None

    @property
    def passed(self) -> bool:
        return self.winning_rate is not None and self.winning_rate >= 0.5


def alternative_annotator_test(
    panel: Panel,
    *,
    epsilon: float = 0.2,
    false_discovery_rate: float = 0.05,
    min_items: int = 30,
) -> AlternativeAnnotatorTest:
    r"""Test if a classifier may replace a rater of the panel, leaving out one rater at a time.

    For rater j, :math:`\rho^f_j` is as in `advantage_probability`. In :math:`\rho^h_j`, rater and
    classifier are exchanged. The test is between

    .. math:: H_0: \rho^f_j \le \rho^h_j - \epsilon \quad
       \text{against} \quad H_1: \rho^f_j > \rho^h_j - \epsilon

    It is the one-sided paired t test over items, or over the mean leads of clusters. A lead of the
    rater that is the same everywhere has the greatest probability of such a lead as its p-value.
    Benjamini and Yekutieli's procedure limits the false discovery rate. If ω is at least 1/2, the
    classifier may replace a rater.

    Parameters
    ----------
    epsilon
        What a rater costs more than the classifier, as a probability: 0.2 for experts, 0.15 for
        skilled raters and 0.1 for crowd workers.
    false_discovery_rate
        The expected share of rejections that are false.
    min_items
        A rater with fewer items, or clusters, is not tested. The t test needs about 30.

    Raises
    ------
    PolicyError
        A setting is out of its bounds.

    References
    ----------
    Calderon, N., Reichart, R. & Dror, R. (2025), doi:10.18653/v1/2025.acl-long.782
    Benjamini, Y. & Yekutieli, D. (2001), doi:10.1214/aos/1013699998

    Examples
    --------
    >>> from agreement_pipeline import Scale
    >>> codes, items = [[0, 0, 0], [0, 0, 1], [1, 0, 1], [1, 1, 1]], [20, 4, 4, 20]
    >>> panel = LabelsByRater(codes, items, scale=Scale(("no", "yes")), raters=("a", "b", "c"))
    >>> alternative_annotator_test(panel.with_classifier([0, 0, 1, 1], "model")).winning_rate
    1.0
    """
    _raise_if_settings_invalid(epsilon, false_discovery_rate, min_items)
    duels = panel.read_once(find_duels)
    raw_comparisons = [
        _compare_with_rater(panel, duels, j, epsilon, min_items)
        for j in range(panel.panel.n_raters)
    ]
    tested = [
        comparison.p_value for comparison in raw_comparisons if comparison.p_value is not None
    ]
    cutoff = largest_rejected_p_value(tested, false_discovery_rate)
    comparisons = tuple(
        comparison._replace(
            rejected=comparison.p_value is not None and comparison.p_value <= cutoff
        )
        for comparison in raw_comparisons
    )
    undefined_reason = _missing_rate_reason(comparisons, min_items)
    rate = None
    if undefined_reason is None:
        rate = sum(comparison.rejected for comparison in comparisons) / len(tested)
    return AlternativeAnnotatorTest(
        rate, comparisons, epsilon, false_discovery_rate, undefined_reason
    )


def _missing_rate_reason(comparisons: Sequence[RaterComparison], min_items: int) -> str | None:
    if all(comparison.p_value is None for comparison in comparisons):
        units = "items" if comparisons[0].n_clusters is None else "clusters with items"
        return (
            f"no rater has {min_items} {units} that another rater and the classifier also labelled"
        )
    n_sharing_raters = sum(comparison.n_items > 0 for comparison in comparisons)
    return (
        f"only {n_sharing_raters} raters share items with the classifier and another rater; "
        f"at least {MIN_SHARING_RATERS} are required"
        if n_sharing_raters < MIN_SHARING_RATERS
        else None
    )


def _compare_with_rater(
    panel: Panel, duels: Duels, j: int, epsilon: float, min_items: int
) -> RaterComparison:
    """Clusters count by their mean wins."""
    rater, is_comparable, clusters = (
        panel.panel.raters[j],
        duels.is_comparable[:, j],
        panel.clusters,
    )
    weights = np.where(is_comparable, panel.weights, 0.0)
    wins, rater_wins = duels.classifier[:, j].astype(float), duels.rater[:, j].astype(float)
    if clusters is not None:
        items = clusters.items_by_cluster(panel.weights, is_comparable)
        wins, rater_wins = (
            clusters.items_by_cluster(panel.weights, is_comparable & won[:, j])
            / np.where(items > 0, items, 1.0)
            for won in (duels.classifier, duels.rater)
        )
        weights = np.where(items > 0, clusters.times, 0.0)
    total = weights.sum()
    n = round(float(total))
    n_items = round(float(panel.weights @ is_comparable))
    n_clusters = None if clusters is None else n
    share, rater_share = (
        float(weights @ won / total) if total else None for won in (wins, rater_wins)
    )
    if n < min_items:
        reason = (
            f"only {counted(n, 'item')} {'was' if n == 1 else 'were'} also labelled by another "
            f"rater and the classifier; at least {min_items} are required"
            if clusters is None
            else f"only {n} clusters hold an item that another rater and the classifier also "
            f"labelled; at least {min_items} are required"
        )
        return RaterComparison(
            rater, n_items, n_clusters, share, rater_share, None, undefined=reason
        )
    p_value = one_sided_p_value(rater_wins - wins, weights, epsilon)
    return RaterComparison(rater, n_items, n_clusters, share, rater_share, p_value)


def _raise_if_settings_invalid(epsilon: float, false_discovery_rate: float, min_items: int) -> None:
    of_rate = "a number between 0 and 1", "Use 0.05, as is usual."
    for name, value, is_valid, expected, advice in (
        ("epsilon", epsilon, 0 <= epsilon <= 1, "0 to 1", "Use 0.2 for experts, as is usual."),
        ("false discovery rate", false_discovery_rate, 0 < false_discovery_rate < 1, *of_rate),
        ("min_items", min_items, min_items >= 2, "2 or more", "Use about 30, as the t test needs."),
    ):
        if not is_valid:
            raise PolicyError(
                f"alternative-annotator test: found {name} {value!r}; expected {expected}. {advice}"
            )


def one_sided_p_value(lead: Array, weights: Array, epsilon: float) -> float:
    """That of the t test, unless the lead never varies. A lead of at most 1 whose mean is `epsilon`
    takes a value c < 1 with probability `(1 - epsilon) / (1 - c)` at most.
    """
    n = weights.sum()
    mean = float(weights @ lead / n)
    variance = float(weights @ (lead - mean) ** 2 / (n - 1))
    if variance == 0:
        return min(1.0, (1 - epsilon) / (1 - mean)) ** float(n) if mean < 1 else 1.0
    return lower_tail_probability((mean - epsilon) / math.sqrt(variance / n), round(float(n)) - 1)


def largest_rejected_p_value(p_values: Sequence[float], rate: float) -> float:
    """The largest p-value that Benjamini and Yekutieli's procedure rejects; -1 if there is none."""
    ranks = range(1, len(p_values) + 1)
    harmonic = sum(1 / rank for rank in ranks)
    return max(
        (
            p
            for rank, p in zip(ranks, sorted(p_values), strict=True)
            if p <= rank * rate / (len(p_values) * harmonic)
        ),
        default=-1.0,
    )
