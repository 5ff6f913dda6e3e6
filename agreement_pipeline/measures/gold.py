"""Accuracy on gold items, whose right label was known before.

Gold items are put among the others, and all other measures leave them out. Where nearly all gold
items have one label, a rater who never looks is nearly always right. So choose gold items of every
category.
"""

from agreement_pipeline.measures.coefficient import Coefficient, ratio
from agreement_pipeline.measures.registry import UndefinedCondition, UsedRows, register
from agreement_pipeline.statistics import LabelsByRater


@register(
    "Accuracy on gold items",
    question="classifier",
    needs="gold",
    bounds=(0.0, 1.0),
    undefined=(
        UndefinedCondition(
            "nobody rated a gold item whose right label is known",
            lambda gold: not (gold.weights[gold.readable] > 0).any(),
        ),
    ),
    chance_corrected=False,
    passed_by_guessing=True,
    rests_on=UsedRows(lambda gold: gold.readable, "no known label, or no rating"),
    convention="every rating of a gold item counts once",
    source=(
        "Snow, R., O'Connor, B., Jurafsky, D. & Ng, A. (2008), Cheap and Fast - But is it Good?, "
        "section 5, https://aclanthology.org/D08-1027"
    ),
)
def gold_accuracy(ratings: LabelsByRater) -> Coefficient:
    r"""The share of ratings of gold items that give the right label.

    .. math:: A = \frac{\sum_u \sum_r [x_{ur} = g_u]}{\sum_u m_u}

    :math:`x_{ur}` is the label of rater r for gold item u, :math:`g_u` is the right one, and
    :math:`m_u` is the number of ratings of the item.

    Examples
    --------
    >>> said = LabelsByRater([[0, 0], [0, 1], [1, -1]], scale=Scale(("no", "yes")), raters="ab")
    >>> float(gold_accuracy(said.with_classifier([0, 0, 1], "gold")).value)
    0.8
    """
    counts = ratings.panel.counts().counts
    used = ratings.weights_of(ratings.labelled)
    a = ratio(used @ (counts * ratings.label_indicators).sum(1), used @ counts.sum(1))
    return Coefficient(a, observed=a)
