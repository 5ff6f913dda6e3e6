"""May a model replace a rater? The advantage probability and the alternative-annotator test.

Leave one rater out and let the rest of the panel judge. On each item, is the model at least as
close to them as the rater who was left out? The advantage probability is the share of items on
which it is. The share is taken over each rater's items, and then averaged over the raters.

The test is made for each rater. It asks if the advantage is more than luck, after allowing for the
work that a model saves. It keeps false discoveries rare over all raters together.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from agreement_pipeline.errors import PolicyError
from agreement_pipeline.measures._duels import Duels, Panel, duels_of
from agreement_pipeline.measures._leads import leads_of, p_value_of, rejected_up_to
from agreement_pipeline.measures.coefficient import Coefficient, ratio
from agreement_pipeline.measures.conditions import CLASSIFIER_NEVER_MET_A_PAIR, TWO_OF_THE_PANEL
from agreement_pipeline.measures.registry import always, register
from agreement_pipeline.ratings import LEVELS
from agreement_pipeline.statistics import SomeRows, every_row

LEAST_RATERS = 3
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

    Here :math:`I_j` are the items labelled by rater j, by another rater and by the classifier f.
    The score :math:`S_j(a, i)` looks at the raters of item i other than j. It is the share of them
    whose label is that of a. On a scale of numbers, it is the negative root of the mean squared
    distance of a from them. A tie counts for the classifier. Against raters who never agree with
    anybody, any label wins.

    Examples
    --------
    >>> from agreement_pipeline import Scale
    >>> from agreement_pipeline.statistics import LabelsByRater
    >>> codes, scale = [[0, 0, 0], [0, 0, 1], [1, 1, 1]], Scale(("no", "yes"))
    >>> panel = LabelsByRater(codes, scale=scale, raters=("a", "b", "c"))
    >>> round(float(advantage_probability(panel.with_classifier([0, 1, 1], "model")).value), 4)
    1.0
    """
    won, lost = panel.sums(_won), panel.sums(_lost)
    rho_j = ratio(won, won + lost)
    met = ~np.isnan(rho_j)
    rho = ratio(np.where(met, rho_j, 0.0).sum(-1), met.sum(-1))
    return Coefficient(rho, observed=rho)


def _won(panel: Panel) -> SomeRows:
    """The duels in which the classifier is at least as close as the rater."""
    duels = duels_of(panel)
    return every_row((duels.held & duels.classifier).astype(float))


def _lost(panel: Panel) -> SomeRows:
    """The duels in which the rater is closer."""
    duels = duels_of(panel)
    return every_row((duels.held & ~duels.classifier).astype(float))


class RaterComparison(NamedTuple):
    """The classifier against one rater, judged by the rest of the panel.

    Attributes
    ----------
    rater, n_items
        The rater, and the number of items compared.
    n_clusters
        The number of clusters that hold such an item. None if items come one by one.
    classifier_wins, rater_wins
        The share of items on which the one matches the others at least as well as the other does.
        In clusters, the mean of the shares of all clusters. None without items.
    p_value
        Of the hypothesis that the rater wins more often by `epsilon` or more. None if not tested.
    rejected
        True if that hypothesis is rejected. The classifier then wins against this rater.
    undefined
        Why the hypothesis is not tested.
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
    """The result of the alternative-annotator test.

    Attributes
    ----------
    winning_rate
        ω, the share of the tested raters against whom the classifier wins. None if there is no such
        share.
    comparisons
        One comparison for each rater.
    epsilon, false_discovery_rate
        The settings of the test.
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
        """True if the classifier wins against at least half of the tested raters."""
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

    It is the one-sided paired t test over items. If items come in clusters, the mean lead of each
    cluster is taken first, and the test is over clusters. So all clusters count alike. The test
    cannot judge a lead of the rater that is the same everywhere. The p-value is then the greatest
    probability of such a lead.

    The winning rate ω is the share of raters whose hypothesis is rejected. Benjamini and
    Yekutieli's procedure limits the false discovery rate. If ω is at least 1/2, the classifier may
    replace a rater.

    Parameters
    ----------
    panel
        As in `advantage_probability`, with weights of shape (P,) or (N,).
    epsilon
        What a rater costs more than the classifier, as a probability. The authors use 0.2 for
        experts, 0.15 for skilled raters and 0.1 for crowd workers.
    false_discovery_rate
        The expected share of rejections that are false.
    min_items
        A rater with fewer items, or clusters, is not tested and does not enter the winning rate.
        The t test needs about 30.

    Returns
    -------
    AlternativeAnnotatorTest
        The winning rate and the comparisons. In two cases there is no winning rate, and
        `undefined` says why:

        - no rater could be tested;
        - the panel has fewer than the three raters that the authors ask for.

    Raises
    ------
    PolicyError
        When epsilon is not from 0 to 1, or the false discovery rate is not between 0 and 1. Also
        when fewer than two items are asked for.

    References
    ----------
    Calderon, N., Reichart, R. & Dror, R. (2025). ACL 2025, 16051-16081.
    https://doi.org/10.18653/v1/2025.acl-long.782, arXiv:2501.10970
    Benjamini, Y. & Yekutieli, D. (2001). The control of the false discovery rate in multiple
    testing under dependency. Annals of Statistics 29(4), 1165-1188.
    https://doi.org/10.1214/aos/1013699998

    Examples
    --------
    >>> from agreement_pipeline import Scale
    >>> from agreement_pipeline.statistics import LabelsByRater
    >>> codes, items = [[0, 0, 0], [0, 0, 1], [1, 0, 1], [1, 1, 1]], [20, 4, 4, 20]
    >>> panel = LabelsByRater(codes, items, scale=Scale(("no", "yes")), raters=("a", "b", "c"))
    >>> alternative_annotator_test(panel.with_classifier([0, 0, 1, 1], "model")).winning_rate
    1.0
    """
    _check(epsilon, false_discovery_rate, min_items)
    duels = duels_of(panel)
    compared = [_compared(panel, duels, j, epsilon, min_items) for j in range(panel.panel.n_raters)]
    tested = [comparison.p_value for comparison in compared if comparison.p_value is not None]
    cutoff = rejected_up_to(tested, false_discovery_rate)
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
        units = "items" if comparisons[0].n_clusters is None else "clusters with items"
        return (
            f"no rater has {min_items} {units} that another rater and the classifier also labelled"
        )
    met = sum(each.n_items > 0 for each in comparisons)
    return (
        f"only {met} raters share items with the classifier and another rater; "
        f"at least {LEAST_RATERS} are required"
        if met < LEAST_RATERS
        else None
    )


def _compared(panel: Panel, duels: Duels, j: int, epsilon: float, least: int) -> RaterComparison:
    rater = panel.panel.raters[j]
    leads = leads_of(panel, duels, j)
    n_items = round(float(panel.weights @ duels.held[:, j]))
    n_clusters = None if panel.clusters is None else leads.n
    if leads.n < least:
        reason = (
            f"only {leads.n} items were also labelled by another rater and the classifier; "
            f"at least {least} are required"
            if n_clusters is None
            else f"only {leads.n} clusters hold an item that another rater and the classifier also "
            f"labelled; at least {least} are required"
        )
        return RaterComparison(rater, n_items, n_clusters, *leads.shares, None, undefined=reason)
    p_value = p_value_of(leads.rater - leads.classifier, leads.weights, epsilon)
    return RaterComparison(rater, n_items, n_clusters, *leads.shares, p_value)


def _check(epsilon: float, false_discovery_rate: float, min_items: int) -> None:
    if not 0 <= epsilon <= 1:
        raise PolicyError(
            f"alternative-annotator test: found epsilon {epsilon!r}; expected 0 to 1. "
            "Use 0.2 for experts, as is usual."
        )
    if not 0 < false_discovery_rate < 1:
        raise PolicyError(
            f"alternative-annotator test: found false discovery rate {false_discovery_rate!r}; "
            "expected a number between 0 and 1. Use 0.05, as is usual."
        )
    if min_items < 2:
        raise PolicyError(
            f"alternative-annotator test: found min_items {min_items!r}; expected 2 or more. "
            "Use about 30, as the t test needs."
        )
