"""Two groups of raters: refused at birth, counted, added, and widened by what was not seen."""

import pytest

from agreement_pipeline.errors import RatingsError
from agreement_pipeline.estimates import ROUND, measure_ratings
from agreement_pipeline.intervals import Inference
from agreement_pipeline.policy import Rule
from agreement_pipeline.ratings import Scale
from agreement_pipeline.statistics import LabelsByRater

TWO = Scale(("no", "yes"))


def patterns(codes, weights=None, raters="abmn", scale=TWO):
    return LabelsByRater(codes, weights, scale=scale, raters=tuple(raters))


@pytest.mark.parametrize("second", [("m", "x"), ("m", "m")])
def test_a_second_group_of_others_or_of_one_rater_twice_is_refused(second):
    with pytest.raises(
        RatingsError,
        match=r"labels by rater: second group: found \['m', '[mx]'\]; "
        r"expected raters of the columns, each once\. Correct",
    ):
        patterns([[0, 0, 0, 0]]).in_groups(second)


def test_groups_know_what_they_rest_on():
    groups = patterns(
        [[0, 1, 1, -1], [-1, -1, 0, 0], [1, -1, 1, 1], [0, 0, -1, -1]], [2, 5, 3, 4]
    ).in_groups(("m", "n"))
    assert groups.first_group_raters == ("a", "b")
    assert groups.readable.tolist() == [True, False, True, False]
    assert (groups.n_items, groups.n_used, groups.n_ratings) == (5, 5, 2 * 2 + 3)
    first, second = groups.group_counts
    assert first.tolist() == [[1, 1], [0, 0], [0, 1], [2, 0]]
    assert second.tolist() == [[0, 1], [2, 0], [0, 2], [0, 0]]


def test_groups_of_two_rounds_add_by_the_names_of_raters_and_stay_side_by_side():
    one = patterns([[0, 1, 1], [0, 1, 1]], [1, 2], "abm").in_groups(("m",))
    other = patterns([[1, 0, 0]], [4], "cnm").in_groups(("m", "n"))
    both = one + other
    assert both.raters == ("a", "b", "c", "m", "n")
    assert both.second == ("m", "n")
    assert both.codes.tolist() == [[-1, -1, 1, 0, 0], [0, 1, -1, 1, -1]]
    assert both.weights.tolist() == [4, 3]


def test_a_rater_who_changes_groups_is_refused():
    one = patterns([[0, 1]], raters="am").in_groups(("m",))
    with pytest.raises(
        RatingsError, match=r"found \['m'\] in both groups; expected one group for each rater\."
    ):
        one + patterns([[0, 1]], raters="mn").in_groups(("n",))
    with pytest.raises(
        RatingsError, match=r"found a sum over different scales .*; expected one scale"
    ):
        one + patterns([[0, 1]], raters="am", scale=Scale(("a", "b", "c"))).in_groups(("m",))


def test_unseen_items_hold_groups_at_one_within_and_at_odds_between_them():
    groups = patterns([[0, 0, 0, 0], [1, 1, 1, 1]], [3, 2]).in_groups(("m", "n")).with_unseen(3.0)
    assert groups.weights.sum() == pytest.approx(8)
    unseen = {tuple(row) for row in groups.codes[2:].tolist()}
    assert {(0, 0, 1, 1), (1, 1, 0, 0), (0, 1, 1, 0), (0, 0, 0, 0), (1, 1, 1, 1)} <= unseen


ONE_CLASSIFIER = """
A B C model
no no yes no
yes yes yes yes
no no no yes
yes no yes yes
"""
TWO_CLASSIFIERS = "\n".join(
    line + extra
    for line, extra in zip(
        ONE_CLASSIFIER.strip().splitlines(), (" judge", " no", " yes", " no", " no"), strict=True
    )
)


def found_of_groups(ratings):
    return list(
        measure_ratings(
            ratings, ["vanbelle_albert_group_kappa", "cross_kappa"], Inference(n_resamples=100)
        )
    )


def test_a_round_sets_the_panel_against_all_its_classifiers_once(tabled):
    ratings = tabled(TWO_CLASSIFIERS, ("no", "yes"), classifiers=("model", "judge"))
    kappa, cross = found_of_groups(ratings)
    assert (kappa.scope, cross.scope) == (ROUND, ROUND)
    assert kappa.undefined is cross.undefined is None
    assert (kappa.n_items, kappa.n_raters, kappa.n_ratings) == (4, 3, 12)


def test_with_one_classifier_the_kappa_of_groups_holds_a_round_and_names_the_measure_to_take(
    tabled,
):
    found = found_of_groups(tabled(ONE_CLASSIFIER, ("no", "yes"), classifiers=("model",)))
    (verdict,) = Rule("vanbelle_albert_group_kappa").judge(found)
    assert verdict.kind == "not_evaluated"
    assert "vanbelle_albert_kappa for a single rater against a group" in verdict.reason
    assert found[1].value is not None


def test_a_round_without_classifiers_has_no_second_group(tabled):
    assert found_of_groups(tabled(ONE_CLASSIFIER, ("no", "yes"))) == []
    (verdict,) = Rule("cross_kappa").judge([])
    assert verdict.kind == "not_evaluated"
