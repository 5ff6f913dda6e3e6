"""The panel with a classifier apart: refused at birth, counted, and widened by what was not seen."""

import numpy as np
import pytest

from agreement_pipeline.errors import RatingsError
from agreement_pipeline.panel import PanelPatterns, against_the_rest
from agreement_pipeline.patterns import RatingPatterns
from agreement_pipeline.scale import Scale

TWO = Scale(("no", "yes"))
RATED = RatingPatterns([[0, 1, -1], [-1, -1, -1], [1, 1, 1], [0, -1, -1]], [2, 5, 3, 4], scale=TWO, raters="xyz")


def patterns(codes, weights=None, raters="xyz"):
    return RatingPatterns(codes, weights, scale=TWO, raters=raters[: np.shape(codes)[1]])


@pytest.mark.parametrize(
    ("make", "words"),
    [
        (lambda: PanelPatterns(patterns([[0, 1]]), [0, 1], "m"), r"labels of shape \(2,\) found; \(1,\) is required"),
        (lambda: PanelPatterns(patterns([[0]]), [0], "m") + PanelPatterns(patterns([[0]]), [0], "n"), "classifiers 'm' and 'n' found; one is required"),
    ],
)
def test_an_impossible_statistic_is_refused_in_words(make, words):
    with pytest.raises(RatingsError, match=words):
        make()


def test_a_panel_rests_on_the_items_that_it_and_the_classifier_rated():
    panel = PanelPatterns(RATED, [0, 1, -1, 1], "m")
    assert (panel.n_items, panel.n_used, panel.n_raters, panel.n_ratings) == (6, 6, 3, 8)


def test_one_rater_is_set_apart_from_the_rest():
    apart = against_the_rest(patterns([[0, 1, -1], [1, 0, 1]], [1, 2]), "y")
    assert (apart.classifier, apart.labels.tolist()) == ("y", [1, 0])
    assert (apart.panel.raters, apart.panel.codes.tolist()) == (("x", "z"), [[0, -1], [1, 1]])


def test_unseen_rows_of_a_panel_put_the_classifier_on_both_categories():
    panel = PanelPatterns(patterns([[0, 0], [1, 1]]), [0, 1], "m")
    possible = panel.with_unseen(3.0)
    mass = possible.weights[2:]
    assert mass.sum() == pytest.approx(3)
    assert mass[possible.labels[2:] == 0].sum() == mass[possible.labels[2:] == 1].sum() == pytest.approx(1.5)
