"""May a model stand in for a rater? The advantage probability, and the alternative-annotator test built on it.

Leave one rater out and let the rest of the panel judge: on each item, is the model at least as near to them as the rater left out? The advantage
probability is how often it is, over the items of each rater and then over the raters. The test asks, rater by rater and allowing for the
work that a model saves, whether the advantage is more than luck, and keeps false discoveries rare over all raters together.
"""

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from agreement_pipeline.errors import PolicyError
from agreement_pipeline.measures._student import lower_tail
from agreement_pipeline.measures.conditions import CLASSIFIER_NEVER_MET_A_PAIR, TWO_OF_THE_PANEL
from agreement_pipeline.measures.registry import Coefficient, measure, ratio
from agreement_pipeline.ratings import Array
from agreement_pipeline.statistics import LabelsByRater

LEAST_RATERS = 3
IN_CLUSTERS = "items come in clusters, and the test takes each as drawn by itself"
CALDERON = "Calderon, N., Reichart, R. & Dror, R. (2025), doi:10.18653/v1/2025.acl-long.782"


@measure(
    "Average advantage probability",
    question="classifier",
    needs="panel",
    bounds=(0.0, 1.0),
    undefined=(CLASSIFIER_NEVER_MET_A_PAIR,),
    levels={"nominal", "ordinal"},
    chance_corrected=False,
    rests_on=TWO_OF_THE_PANEL,
    convention="rater by rater over the items that she, another of the panel and the classifier labelled; raters without such an item are left out",
    source=CALDERON,
)
def advantage_probability(panel: LabelsByRater) -> Coefficient:
    r"""How often a classifier matches the rest of the panel at least as well as a rater left out of it does.

    .. math:: \rho = \frac{1}{R} \sum_j \rho^f_j, \qquad \rho^f_j = \frac{1}{|I_j|} \sum_{i \in I_j} [S_j(f, i) \ge S_j(h_j, i)]

    where :math:`I_j` are the items that rater j, another rater and the classifier f labelled, and :math:`S_j(a, i)` is the share of the
    raters of item i other than j whose label is that of a. A tie counts for the classifier: against raters who never agree with anybody,
    any label at all wins.

    Parameters
    ----------
    panel
        panel codes of shape (P, R), classifier labels of shape (P,), weights of shape (..., P).

    Returns
    -------
    Coefficient
        value of shape (...), from 0 to 1. Undefined when the classifier labelled no item that two of the panel rated.

    References
    ----------
    Calderon, N., Reichart, R. & Dror, R. (2025). The alternative annotator test for LLM-as-a-judge: how to statistically justify replacing
    human annotators with LLMs. ACL 2025, 16051-16081. https://doi.org/10.18653/v1/2025.acl-long.782, arXiv:2501.10970

    Examples
    --------
    >>> from agreement_pipeline import LabelsByRater, Scale
    >>> panel = LabelsByRater([[0, 0, 0], [0, 0, 1], [1, 1, 1]], scale=Scale(("no", "yes")), raters=("a", "b", "c"))
    >>> round(float(advantage_probability(panel.with_classifier([0, 1, 1], "model")).value), 4)
    1.0
    """
    duels = _duels(panel)
    rho_j = ratio(panel.weights @ (duels.held & duels.classifier), panel.weights @ duels.held)
    met = ~np.isnan(rho_j)
    rho = ratio(np.where(met, rho_j, 0.0).sum(-1), met.sum(-1))
    return Coefficient(rho, observed=rho)


class RaterComparison(NamedTuple):
    """The classifier against one rater, before the rest of the panel.

    Attributes
    ----------
    rater, n_items
        Who, and on how many items.
    classifier_wins, rater_wins
        The shares of items on which the classifier, and the rater, match the others at least as well as the opponent; None without items.
    p_value
        Of the hypothesis that the rater wins more often by `epsilon` or more; None where it is not tested.
    rejected
        Is that hypothesis rejected, so that the classifier wins against this rater?
    undefined
        Why it is not tested.
    """

    rater: str
    n_items: int
    classifier_wins: float | None
    rater_wins: float | None
    p_value: float | None
    rejected: bool = False
    undefined: str | None = None


@dataclass(frozen=True)
class AlternativeAnnotatorTest:
    """What the alternative-annotator test found.

    Attributes
    ----------
    winning_rate
        ω, the share of the tested raters against whom the classifier wins; None where there is no such share.
    comparisons
        Rater by rater.
    epsilon, false_discovery_rate
        What was asked.
    undefined
        Why there is no winning rate.
    """

    winning_rate: float | None
    comparisons: tuple[RaterComparison, ...]
    epsilon: float
    false_discovery_rate: float
    undefined: str | None = None

    @property
    def passed(self) -> bool:
        """Does the classifier win against half of the tested raters or more?"""
        return self.winning_rate is not None and self.winning_rate >= 0.5


def alternative_annotator_test(
    panel: LabelsByRater,
    *,
    epsilon: float = 0.2,
    false_discovery_rate: float = 0.05,
    min_items: int = 30,
) -> AlternativeAnnotatorTest:
    r"""Test whether a classifier may stand in for the raters of a panel, one rater after the other left out.

    For rater j, with :math:`\rho^f_j` as in `advantage_probability` and :math:`\rho^h_j` the same with rater and classifier exchanged,

    .. math:: H_0: \rho^f_j \le \rho^h_j - \epsilon \quad \text{against} \quad H_1: \rho^f_j > \rho^h_j - \epsilon

    is tested by the one-sided paired t test over items; where the lead of the rater is the same on every item, which the t test cannot judge, by
    the greatest probability of that. The winning rate ω is the share of raters whose hypothesis is rejected when the
    false discovery rate is held by Benjamini and Yekutieli's procedure; at 1/2 or more the classifier may replace a rater.

    Parameters
    ----------
    panel
        panel codes of shape (P, R), classifier labels of shape (P,), weights of shape (P,).
    epsilon
        What a rater costs more than the classifier, in probability: the authors use 0.2 for experts, 0.15 for skilled raters and 0.1 for
        crowd workers.
    false_discovery_rate
        The expected share of false rejections.
    min_items
        A rater with fewer items is not tested, since the t test needs about 30, and does not enter the winning rate.

    Returns
    -------
    AlternativeAnnotatorTest
        Without a winning rate, and saying why, when no rater could be tested, the panel has fewer than the three raters that the authors
        ask for, or items come in clusters, since the test takes each as drawn by itself.

    Raises
    ------
    PolicyError
        epsilon is not from 0 to 1, the false discovery rate is not between, or fewer than two items are asked for.

    References
    ----------
    Calderon, N., Reichart, R. & Dror, R. (2025). ACL 2025, 16051-16081. https://doi.org/10.18653/v1/2025.acl-long.782, arXiv:2501.10970
    Benjamini, Y. & Yekutieli, D. (2001). The control of the false discovery rate in multiple testing under dependency.
    Annals of Statistics 29(4), 1165-1188. https://doi.org/10.1214/aos/1013699998

    Examples
    --------
    >>> from agreement_pipeline import LabelsByRater, Scale
    >>> codes, items = [[0, 0, 0], [0, 0, 1], [1, 0, 1], [1, 1, 1]], [20, 4, 4, 20]
    >>> panel = LabelsByRater(codes, items, scale=Scale(("no", "yes")), raters=("a", "b", "c"))
    >>> alternative_annotator_test(panel.with_classifier([0, 0, 1, 1], "model")).winning_rate
    1.0
    """
    _check(epsilon, false_discovery_rate, min_items)
    if panel.clusters is not None:
        return AlternativeAnnotatorTest(
            None, (), epsilon, false_discovery_rate, undefined=IN_CLUSTERS
        )
    duels = _duels(panel)
    compared = [_compared(panel, duels, j, epsilon, min_items) for j in range(panel.panel.n_raters)]
    tested = [comparison.p_value for comparison in compared if comparison.p_value is not None]
    cutoff = _rejected_up_to(tested, false_discovery_rate)
    comparisons = tuple(
        each._replace(rejected=each.p_value is not None and each.p_value <= cutoff)
        for each in compared
    )
    reason = _why_without_rate(comparisons, min_items)
    if reason is not None:
        return AlternativeAnnotatorTest(
            None, comparisons, epsilon, false_discovery_rate, undefined=reason
        )
    return AlternativeAnnotatorTest(
        sum(each.rejected for each in comparisons) / len(tested),
        comparisons,
        epsilon,
        false_discovery_rate,
    )


def _why_without_rate(comparisons: Sequence[RaterComparison], min_items: int) -> str | None:
    if all(each.p_value is None for each in comparisons):
        return f"no rater has {min_items} items that another rater and the classifier labelled too"
    met = sum(each.n_items > 0 for each in comparisons)
    return (
        f"{met} raters whom the classifier and another rater met; {LEAST_RATERS} are required"
        if met < LEAST_RATERS
        else None
    )


class _Duels(NamedTuple):
    """By pattern and rater, shape (P, R): may they be compared, does the classifier match the others as well or better, does the rater?"""

    held: NDArray[np.bool_]
    classifier: NDArray[np.bool_]
    rater: NDArray[np.bool_]


def _duels(panel: LabelsByRater) -> _Duels:
    codes, labels = panel.panel.codes, panel.labels[:, None]
    c = panel.panel.counts().counts
    held = (codes >= 0) & (labels >= 0) & (c.sum(1) >= 2)[:, None]
    with_classifier = (c * panel.label_indicators).sum(1)[:, None] - (codes == labels)
    with_rater = np.take_along_axis(c, np.maximum(codes, 0), 1) - 1
    return _Duels(held, with_classifier >= with_rater, with_rater >= with_classifier)


def _compared(
    panel: LabelsByRater, duels: _Duels, j: int, epsilon: float, min_items: int
) -> RaterComparison:
    weights = np.where(duels.held[:, j], panel.weights, 0.0)
    n = round(float(weights.sum()))
    if n < min_items:
        reason = f"{n} items that another rater and the classifier labelled too; {min_items} are required"
        return RaterComparison(
            panel.panel.raters[j], n, *_shares(weights, duels, j), p_value=None, undefined=reason
        )
    lead = duels.rater[:, j].astype(float) - duels.classifier[:, j]
    return RaterComparison(
        panel.panel.raters[j],
        n,
        *_shares(weights, duels, j),
        p_value=_p_value(lead, weights, epsilon),
    )


def _shares(weights: Array, duels: _Duels, j: int) -> tuple[float | None, float | None]:
    n = weights.sum()
    return (
        (float(weights @ duels.classifier[:, j] / n), float(weights @ duels.rater[:, j] / n))
        if n
        else (None, None)
    )


def _p_value(lead: Array, weights: Array, epsilon: float) -> float:
    """Of the hypothesis that the mean lead is `epsilon` or more, by the t test; of a lead that never varies, the greatest its probability can be.

    A lead of at most 1 whose mean is `epsilon` takes a value c < 1 with probability (1 - epsilon) / (1 - c) at most.
    """
    n = weights.sum()
    mean = float(weights @ lead / n)
    variance = float(weights @ (lead - mean) ** 2 / (n - 1))
    if variance == 0:
        return min(1.0, (1 - epsilon) / (1 - mean)) ** float(n) if mean < 1 else 1.0
    return lower_tail((mean - epsilon) / math.sqrt(variance / n), round(float(n)) - 1)


def _rejected_up_to(p_values: Sequence[float], rate: float) -> float:
    """The largest p-value that Benjamini and Yekutieli's procedure rejects; under 0 where it rejects none."""
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


def _check(epsilon: float, false_discovery_rate: float, min_items: int) -> None:
    if not 0 <= epsilon <= 1:
        raise PolicyError(
            f"alternative-annotator test: epsilon {epsilon!r} found; 0 to 1 is required. Experts are usually given 0.2."
        )
    if not 0 < false_discovery_rate < 1:
        raise PolicyError(
            f"alternative-annotator test: false discovery rate {false_discovery_rate!r} found; a number between 0 and 1 is required. 0.05 is usual."
        )
    if min_items < 2:
        raise PolicyError(
            f"alternative-annotator test: min_items {min_items!r} found; 2 or more are required. The t test needs about 30."
        )
