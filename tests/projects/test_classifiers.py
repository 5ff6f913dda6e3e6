"""Classifiers are told from raters by their names."""

import pytest

from agreement_pipeline.errors import RatingsError
from agreement_pipeline.projects.project import classifiers_among


@pytest.mark.parametrize(
    ("raters", "named", "found"),
    [
        (["ana", "gpt"], ["gpt"], ("gpt",)),
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
    assert classifiers_among(["ana", "ANA"], "w1.csv", [], "reviews", ["gpt"]) == ()


@pytest.mark.parametrize("raters", [["ana", "modle_a"], [1.0, 2.0]])
def test_a_classifier_that_rated_nothing_is_refused_since_it_may_be_misspelt(raters):
    with pytest.raises(
        RatingsError,
        match=r"w1\.csv: found no rating by classifier 'model_a' among those of the raters "
        ".*; expected ratings by every classifier. Correct classifiers in project reviews, or name "
        "it in optional_classifiers",
    ):
        classifiers_among(raters, "w1.csv", ["model_a"], "reviews")


@pytest.mark.parametrize(
    ("raters", "ending"),
    [(["ana", "modle_a"], "optional_classifiers. Did you mean 'modle_a'?"), (["ana"], "ers.")],
)
def test_a_rater_with_nearly_the_name_of_a_classifier_is_proposed(raters, ending):
    with pytest.raises(RatingsError) as caught:
        classifiers_among(raters, "w1.csv", ["model_a"], "reviews")
    assert str(caught.value).endswith(ending)


def test_an_optional_classifier_may_be_there_or_not():
    for raters, found in ((["ana", "gpt"], ("gpt",)), (["ana", "ben"], ())):
        assert classifiers_among(raters, "w1.csv", [], "reviews", optional=["gpt"]) == found


def test_two_classifiers_that_print_alike_are_no_raters_of_the_panel():
    found = classifiers_among(["ana", "gpt-4", "GPT-4"], "w1.csv", ["gpt-4", "GPT-4"], "reviews")
    assert found == ("GPT-4", "gpt-4")
