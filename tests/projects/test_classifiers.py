"""Classifiers are told from raters by their names."""

import pytest

from agreement_pipeline.errors import RatingsError
from agreement_pipeline.projects.classifiers import classifiers_among


@pytest.mark.parametrize(
    ("raters", "named", "found"),
    [
        (["ana", "gpt"], ["gpt", "absent"], ("gpt",)),
        ([1.0, 2.0], ["2"], ("2",)),
        ([1.0, 2.0], ["2.0"], ("2",)),
        (["2", 2.0], ["2.0"], ("2",)),
        ([1, 2], [], ()),
    ],
)
def test_the_named_classifiers_among_the_raters_are_found(raters, named, found):
    assert classifiers_among(raters, "w1.csv", named, "reviews") == found


@pytest.mark.parametrize("written", ["GPT-4", " gpt-4", "\uff47pt-4", "g\u0440t-4"])
def test_a_rater_of_the_panel_who_prints_like_a_classifier_is_refused(written):
    with pytest.raises(RatingsError) as caught:
        classifiers_among(["ana", written], "w1.csv", ["gpt-4"], "reviews")
    assert str(caught.value) == (
        f"w1.csv: found rater {written!a} in the panel, who prints like classifier 'gpt-4'; "
        "expected the classifier's name as the ratings have it. Correct classifiers in project "
        "reviews, or rename the rater."
    )


def test_two_raters_who_print_alike_are_no_classifiers():
    assert classifiers_among(["ana", "ANA"], "w1.csv", ["gpt"], "reviews") == ()
