"""Agreement of raters with themselves, against loops over their own labels."""

from itertools import permutations

import numpy as np
import pandas as pd
import pytest

from agreement_pipeline.contract import Contract
from agreement_pipeline.counting import OfRatings
from agreement_pipeline.estimates import measure_ratings
from agreement_pipeline.intervals import Inference
from agreement_pipeline.measures import MEASURES
from agreement_pipeline.policy import Policy, assess
from agreement_pipeline.ratings import Ratings, Scale
from agreement_pipeline.statistics import LabelsByRater, ReplicatedLabels

TABLE = """
A B
0/0/1/1/2/0 0
1/1 1/1/1
2/0 .
0 2/1/2
"""
CELLS = (["0", "0", "1", "1", "2", "0"], ["1", "1"], ["2", "0"], ["1", "1", "1"], ["2", "1", "2"])


@pytest.fixture
def replicates(tabled):
    return OfRatings().replicated_labels(tabled(TABLE, ("0", "1", "2")))


def test_self_agreement_is_the_chance_that_two_own_labels_drawn_with_return_agree(replicates):
    expected = np.mean([np.mean([a == b for a in cell for b in cell]) for cell in CELLS])
    assert MEASURES["self_agreement"](replicates).value == pytest.approx(expected, abs=1e-12)


def test_the_unbiased_form_draws_without_return(replicates):
    expected = np.mean([np.mean([a == b for a, b in permutations(cell, 2)]) for cell in CELLS])
    assert MEASURES["self_agreement_unbiased"](replicates).value == pytest.approx(
        expected, abs=1e-12
    )


def test_the_value_of_one_rater_rests_on_their_cells_alone(replicates):
    expected = np.mean([np.mean([a == b for a, b in permutations(cell, 2)]) for cell in CELLS[3:]])
    assert MEASURES["self_agreement_unbiased"](replicates.of("B")).value == pytest.approx(
        expected, abs=1e-12
    )


def test_the_unbiased_form_is_right_on_average_where_the_plug_in_form_is_too_high():
    # Three labels with shares (0.7, 0.3) have a true self-agreement of 0.58.
    # There is one item for each number of first labels, weighted by its probability.
    first = LabelsByRater(
        [[0]] * 4,
        [0.3**3, 3 * 0.7 * 0.3**2, 3 * 0.7**2 * 0.3, 0.7**3],
        scale=Scale(("no", "yes")),
        raters=("a",),
    )
    every_draw = ReplicatedLabels([[c, 3 - c] for c in range(4)], range(4), [0] * 4, first)
    assert MEASURES["self_agreement_unbiased"](every_draw).value == pytest.approx(0.58, abs=1e-12)
    assert MEASURES["self_agreement"](every_draw).value == pytest.approx(0.58 + 0.42 / 3, abs=1e-12)


def test_items_weigh_as_often_as_they_are_drawn(replicates):
    twice = replicates.reweighted(
        np.where(np.arange(replicates.weights.shape[-1]) == replicates.item[0], 2.0, 1.0)
    )
    values = [np.mean([a == b for a, b in permutations(cell, 2)]) for cell in CELLS]
    assert MEASURES["self_agreement_unbiased"](twice).value == pytest.approx(
        (values[0] + sum(values)) / 6, abs=1e-12
    )


def test_raters_of_the_round_who_met_no_item_again_are_named(tabled):
    ratings = tabled("A B C D\n0/1 0 1 .\n1/1 0/0 1 .", ("0", "1"))
    for name in ("self_agreement", "self_agreement_unbiased"):
        (of_all,) = measure_ratings(ratings, [name], Inference(n_resamples=100), scopes=("round",))
        assert of_all.raters_left_out == ("C",)
        assert all(
            not each.raters_left_out
            for each in measure_ratings(
                ratings, [name], Inference(n_resamples=100), scopes=("rater",)
            )
        )


def test_a_rater_of_earlier_rounds_alone_is_not_missed_in_this_one():
    rows = [
        ("i1", "ana", "0", 1, False),
        ("i1", "ana", "0", 2, True),
        ("i1", "ben", "0", 1, False),
        ("i1", "old", "1", 1, True),
    ]
    ratings = Ratings.from_frame(
        pd.DataFrame(rows, columns=["item", "rater", "label", "occurrence", "earlier"]),
        Scale(("0", "1")),
    )
    (found,) = measure_ratings(
        ratings, ["self_agreement"], Inference(n_resamples=100), scopes=("round",)
    )
    assert found.raters_left_out == ("ben",)


def test_a_policy_that_asks_for_every_rater_holds_a_round_of_which_one_has_no_replicates(tabled):
    rows = "\n".join(["0/0 0/0 0", "1/1 1/1 1"] * 60)
    ratings = tabled("A B C\n" + rows, ("0", "1"))
    rule = {"measure": "self_agreement_unbiased"}
    kinds = {}
    for every in (False, True):
        policy = Policy.from_mapping(
            {
                "policy": "p",
                "version": 1,
                "n_resamples": 1000,
                "passed_by_guessing": "The test asks about one measure alone.",
                "rules": [rule | {"every_rater": every}],
            }
        )
        decision = assess(ratings, policy, Contract.default()).decision
        kinds[every] = decision.verdicts[0].kind
    assert kinds == {False: "reliable", True: "not_evaluated"}
