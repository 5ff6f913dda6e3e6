"""A classifier against what most of the panel say.

A common shortcut takes the majority's label as the truth and computes Cohen's kappa with it. The
shortcut ignores how divided the panel was. It also leaves out the items without a majority, which
are the hard ones. `shah_s` and `vanbelle_albert_kappa` do neither.
"""

import numpy as np

from agreement_pipeline.measures.coefficient import Coefficient
from agreement_pipeline.measures.cohen import cohen_kappa
from agreement_pipeline.measures.conditions import NO_PAIRABLE_ITEM, ONE_CATEGORY
from agreement_pipeline.measures.registry import Condition, RestsOn, register
from agreement_pipeline.ratings import MISSING, Codes
from agreement_pipeline.statistics import LabelsByRater


def strict_majority(panel: LabelsByRater) -> Codes:
    """The category that more than half of an item's raters give; shape (P,); -1 without one."""
    c = panel.panel.counts().counts
    return np.where(2 * c.max(1) > c.sum(1), c.argmax(1), MISSING)


def _with_majority(panel: LabelsByRater) -> LabelsByRater:
    """The majority and the classifier as two raters of the items that have both."""
    codes = np.column_stack([strict_majority(panel), panel.labels])
    codes[(codes == MISSING).any(1)] = MISSING
    return LabelsByRater(
        codes, panel.weights, scale=panel.scale, raters=("majority", str(panel.classifier))
    )


@register(
    "Cohen's κ against the majority",
    question="classifier",
    needs="panel",
    bounds=(-1.0, 1.0),
    undefined=(
        Condition(
            "the classifier labelled no item on which more than half of the panel agree",
            lambda panel: NO_PAIRABLE_ITEM.holds(_with_majority(panel)),
        ),
        Condition(
            "the classifier and the majority gave one and the same category throughout",
            lambda panel: ONE_CATEGORY.holds(_with_majority(panel)),
        ),
    ),
    levels={"nominal", "ordinal"},
    exchangeable=True,
    rests_on=RestsOn(lambda panel: _with_majority(panel).readable, "no majority of the panel"),
    convention=(
        "over the items that the classifier labelled and on which more than half of the raters who "
        "rated them agree; all other items are left out"
    ),
    source=(
        "Cohen, J. (1960), doi:10.1177/001316446002000104; against the majority: Soeken & Prescott "
        "(1986), doi:10.1097/00005650-198608000-00008"
    ),
)
def consensus_kappa(panel: LabelsByRater) -> Coefficient:
    r"""Agreement of a classifier beyond chance with the strict majority of the panel.

    .. math:: \kappa = \frac{p_o - p_e}{1 - p_e}

    The majority is treated as one rater, as in Cohen's kappa. Items without a strict majority are
    left out. These are the hard items, so the value holds for the others only.

    Examples
    --------
    >>> from agreement_pipeline import Scale
    >>> from agreement_pipeline.statistics import LabelsByRater
    >>> panel = LabelsByRater(
    ...     [[0, 0, 0], [0, 0, 1], [1, 1, 1]], scale=Scale(("no", "yes")), raters=("a", "b", "c")
    ... )
    >>> round(float(consensus_kappa(panel.with_classifier([0, 1, 1], "model")).value), 4)
    0.4
    """
    return cohen_kappa(_with_majority(panel))
