"""A classifier that is used through a cut of an ordered scale is judged on the cut."""

from dataclasses import replace

import pandas as pd
import pytest

from agreement_pipeline import Ratings, Scale
from agreement_pipeline.errors import PolicyError, RatingsError
from agreement_pipeline.models import look_again, open_certificate
from agreement_pipeline.policy import Policy, Rule
from agreement_pipeline.ratings import dichotomize
from tests.models.silver import JUDGE, RULES, certified, refused

FIVE = Scale(("1", "2", "3", "4", "5"), "ordinal")
QUADRATIC = replace(
    RULES,
    policy="on the scale",
    classifiers=(Rule("vanbelle_albert_kappa_quadratic", "classifier", min_items=30),),
)
AT_FOUR = replace(RULES, policy="on the cut", cut=4)
EVERY = ["1", "2", "3", "4", "5"]


def scored(said, n=150, scale=FIVE):
    """People who agree but on two items, and what the classifier says where they say a score."""
    rows = []
    for item in range(n):
        score = EVERY[item % 5]
        other = EVERY[(item + 1) % 5]
        rows += [
            {"item": f"i{item:03}", "rater": rater, "label": other if late and item < 2 else score}
            for rater, late in (("ana", False), ("ben", False), ("chi", True))
        ]
        rows.append({"item": f"i{item:03}", "rater": "judge", "label": said(score, item)})
    return Ratings.from_frame(pd.DataFrame(rows), scale, classifiers=["judge"])


def good_scale_bad_flag(score, item):
    """Always within one point of the panel; but a third of what is 4 there is 3 here."""
    return "3" if score == "4" and item % 3 else score


def bad_scale_good_flag(score, item):
    """Right on which side of 4 a score is, and on nothing else."""
    return "1" if score in "123" else "4"


@pytest.fixture
def with_round(store, original):
    def ingest(said):
        store.ingest("r1", scored(said), original)
        return store

    return ingest


@pytest.mark.parametrize(
    ("said", "on_scale", "on_cut"),
    [(good_scale_bad_flag, True, False), (bad_scale_good_flag, False, True)],
)
def test_the_verdict_is_of_the_cut_and_not_of_the_scale(with_round, said, on_scale, on_cut):
    store = with_round(said)
    assert certified(store, rules=QUADRATIC).certified is on_scale
    found = certified(store, rules=AT_FOUR, reason="on the cut")
    assert found.certified is on_cut
    assert "on the cut at 4, and not on the scale," in found.statement


def test_a_certificate_of_a_cut_has_two_sides_and_is_derived_again(with_round):
    found = certified(with_round(bad_scale_good_flag), rules=AT_FOUR)
    assert found.scale == Scale(("under 4", "4 or more"))
    (of_round,) = found.rounds.values()
    assert of_round["domain"]["label"] == ["4 or more", "under 4"]


def test_a_certificate_of_a_cut_answers_for_its_sides_alone(with_round):
    store = with_round(bad_scale_good_flag)
    found = certified(store, rules=AT_FOUR)
    ratings = scored(bad_scale_good_flag)
    assert "under 4" in refused("certificate_other_labels", open_certificate, store, JUDGE, ratings)
    again = open_certificate(store, JUDGE, dichotomize(ratings, 4))
    assert again.to_mapping() == found.to_mapping()


def test_anchors_are_read_on_the_cut(with_round):
    store = with_round(bad_scale_good_flag)
    certified(store, rules=AT_FOUR)
    assert look_again(store, JUDGE, scored(good_scale_bad_flag)).drifted
    refused("certificate_drifted", open_certificate, store, JUDGE)


def test_a_cut_of_numbers_needs_no_categories():
    said = pd.DataFrame({"item": list("abc"), "rater": "ana", "label": [0.2, 0.5, 0.9]})
    ratings = dichotomize(Ratings.from_frame(said, Scale(None, "interval")), 0.5)
    said = ratings.first_ratings(["label"])["label"].to_pylist()
    assert said == ["under 0.5", "0.5 or more", "0.5 or more"]


@pytest.mark.parametrize(
    ("scale", "cut", "words"),
    [
        (Scale(tuple(EVERY)), 4, "found a scale that is nominal"),
        (FIVE, 1, "found the lowest category"),
        (FIVE, 6, "found label 6; expected one of"),
    ],
)
def test_a_cut_that_is_none_is_refused(store, original, scale, cut, words):
    store.ingest("r1", scored(lambda score, _: score, scale=scale), original)
    with pytest.raises(RatingsError, match=words):
        certified(store, rules=replace(RULES, cut=cut))


def test_a_cut_stands_in_a_policy_with_rules_for_classifiers():
    assert Policy.from_mapping(AT_FOUR.to_mapping()) == AT_FOUR
    assert "cut" not in RULES.to_mapping()
    with pytest.raises(PolicyError, match="cut: found 4; expected none without rules"):
        replace(AT_FOUR, classifiers=())
    with pytest.raises(PolicyError, match="cut: found ''; expected a category"):
        replace(AT_FOUR, cut="")
