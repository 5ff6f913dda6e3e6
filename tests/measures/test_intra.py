"""Agreement of raters with themselves, against loops over their own labels."""

from itertools import permutations

import numpy as np
import pandas as pd
import pytest

from agreement_pipeline.counting import RatingsCounting
from agreement_pipeline.estimates import measure_ratings
from agreement_pipeline.intervals import Inference
from agreement_pipeline.measures import MEASURES
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
    return RatingsCounting().replicates(tabled(TABLE, ("0", "1", "2")))


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
    assert MEASURES["self_agreement_unbiased"](
        replicates.cells_of_rater("B")
    ).value == pytest.approx(expected, abs=1e-12)


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
