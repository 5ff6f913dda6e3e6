"""A round whose ratings depend on what was said is not judged by a measure that this biases."""

import numpy as np
import pandas as pd
import pytest

from agreement_pipeline import Policy, Ratings, Rule, Scale
from agreement_pipeline.estimates import measure_ratings
from agreement_pipeline.evidence.tables import estimate_note
from agreement_pipeline.policy import judge

TWO = Scale(("no", "yes"))


def a_round(third_where_two_differ):
    """Of 300 items, raters guess 23.5 %; a third rater rates all items, or those that differ."""
    rng = np.random.default_rng(4)
    guessed = rng.random((300, 1)) < 0.235
    said = np.where(guessed, rng.random((300, 3)) < 0.5, rng.random((300, 1)) < 0.5)
    rows = [
        (f"i{item:03}", rater, ("no", "yes")[int(yes)])
        for item, of_item in enumerate(said)
        for rater, yes in zip("abc", of_item, strict=True)
        if rater != "c" or of_item[0] != of_item[1] or not third_where_two_differ
    ]
    return Ratings.from_frame(pd.DataFrame(rows, columns=["item", "rater", "label"]), TWO)


@pytest.mark.parametrize("measure", ["fleiss_kappa", "gwet_ac1", "shah_kappa_s"])
def test_a_rule_that_holds_is_not_evaluated_on_chosen_ratings_and_one_that_warns_says_so(measure):
    strict = Policy("p", 1, (Rule(measure),), passed_by_guessing="both categories are common")
    decision = judge(a_round(True), strict)
    assert (decision.admitted, decision.codes) == (False, ("ratings_chosen",))
    assert "items with more ratings differ in how much their raters agree (p < 0.01)" in str(
        decision.reasons
    )
    (fair,) = judge(a_round(False), strict).verdicts
    assert fair.kind != "not_evaluated"
    assert "more ratings" not in fair.reason
    loose = Policy("p", 1, (Rule("krippendorff_alpha"), Rule(measure, effect="warn")))
    alpha, warned = judge(a_round(True), loose).verdicts
    assert alpha.kind != "not_evaluated"
    assert "more ratings" not in alpha.reason
    assert warned.kind != "not_evaluated"
    assert "which biases this measure; krippendorff_alpha is biased far less" in warned.reason


def test_an_estimate_that_chosen_ratings_bias_says_so_wherever_it_is_shown():
    names = ["krippendorff_alpha", "fleiss_kappa"]
    alpha, fleiss = measure_ratings(a_round(True), names, scopes=("round",))
    assert (alpha.misled, estimate_note(alpha)) == (None, "")
    assert estimate_note(fleiss).startswith(
        "ratings chosen: items with more ratings differ in how much"
    )
    assert next(fleiss.rows())["misled"] == fleiss.misled
    fair = next(measure_ratings(a_round(False), names[1:], scopes=("round",)))
    assert (fair.misled, estimate_note(fair)) == (None, "")


def test_alpha_moves_little_where_other_measures_take_the_round_for_much_better():
    names = ["krippendorff_alpha", "fleiss_kappa", "gwet_ac1"]
    alpha, *others = (
        [found.value for found in measure_ratings(a_round(chosen), names, scopes=("round",))]
        for chosen in (False, True)
    )
    moved = np.array(others[0]) - np.array(alpha)
    assert abs(moved[0]) < 0.03
    assert (moved[1:] > 0.05).all()
