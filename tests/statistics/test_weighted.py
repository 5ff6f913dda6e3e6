"""What all statistics do: remember what was read off their rows, and keep raters' parts apart."""

import numpy as np
import pytest

from agreement_pipeline.errors import RatingsError
from agreement_pipeline.ratings import Scale
from agreement_pipeline.statistics import CategoryCounts, LabelsByRater
from agreement_pipeline.statistics.weighted import RowProperty

TWO = Scale(("no", "yes"))


def labels(raters="abc"):
    return LabelsByRater([[0, 0, 1], [1, 1, -1]], [2, 3], scale=TWO, raters=raters)


def test_what_depends_on_the_rows_alone_is_read_once_for_all_weights():
    seen = labels()
    drawn = seen.with_weights(np.array([[1.0, 0.0], [0.5, 2.0]]))
    assert drawn.indicators is seen.indicators
    assert drawn.counts().counts is seen.counts().counts
    assert drawn.counts().weights is drawn.weights


def test_other_rows_are_read_anew():
    seen = labels()
    assert seen.given.shape == (2, 3)
    assert seen.without("a").given.shape == (2, 2)
    assert seen.with_unseen(3.0).given.shape[0] > 2


def test_such_a_property_has_the_words_of_its_function():
    assert isinstance(CategoryCounts.sizes, RowProperty)
    assert CategoryCounts.sizes.__doc__ == "Ratings a row. Shape (P,)."


@pytest.mark.parametrize(
    "other",
    [
        lambda seen: seen.in_groups(("c",)),
        lambda seen: seen.with_confidence(np.full((2, 3), 0.5)),
    ],
    ids=["groups", "confidence"],
)
def test_labels_with_other_parts_do_not_add(other):
    with pytest.raises(
        RatingsError, match="found groups or confidence on one side alone; expected both"
    ):
        labels() + other(labels())


def test_labels_beside_a_classifier_do_not_add_to_labels_without_one():
    with pytest.raises(RatingsError, match=r"found classifiers 'm' and None; expected one\."):
        labels().with_classifier([0, 1], "m") + labels()


def test_one_classifier_apart_is_not_a_group_of_one():
    beside = labels().with_rater_apart("c")
    group = labels().in_groups(("c",))
    assert (beside.classifier, beside.second, beside.raters) == ("c", None, ("a", "b"))
    assert (group.classifier, group.second, group.raters) == (None, ("c",), ("a", "b", "c"))
    assert (beside.first_group_raters, beside.n_items) == (group.first_group_raters, group.n_items)
