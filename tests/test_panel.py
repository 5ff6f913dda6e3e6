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
        (lambda: PanelPatterns(patterns([[0]] * 3), [0, 1, 5], "m"), "labels from 0 to 5 found; -1 to 1 are required by the scale"),
        (lambda: PanelPatterns(patterns([[0]]), [-7], "m"), "labels from -7 to -7 found"),
        (lambda: PanelPatterns(patterns([[0]]), [0.9], "m"), "labels: a fraction or no number found; whole numbers from -1 to 1"),
        (lambda: PanelPatterns(patterns([[0, 1]]), [0], "y"), "'y' found as classifier and in the panel; a name of its own is required"),
        (lambda: PanelPatterns(patterns([[0]]), [0], "m") + PanelPatterns(patterns([[0]]), [0], "n"), "classifiers 'm' and 'n' found; one is required"),
    ],
)
def test_an_impossible_statistic_is_refused_in_words(make, words):
    with pytest.raises(RatingsError, match=words):
        make()


def test_a_panel_rests_on_the_items_that_it_and_the_classifier_rated():
    panel = PanelPatterns(RATED, [0, 1, -1, 1], "m")
    assert (panel.n_items, panel.n_used, panel.n_raters, panel.n_ratings) == (6, 6, 2, 8)


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


def test_what_the_classifier_never_met_adds_nothing_to_what_was_not_seen():
    codes, labels = [[0, 0, -1], [1, 0, -1], [1, -1, 1]], [0, 0, 1]
    known = PanelPatterns(RatingPatterns(codes, [4, 2, 3], scale=Scale("abc"), raters="xyz"), labels, "m")
    wide = np.full((20, 23), -1)
    wide[:, 3:] = 2  # many raters, and another category, on items without a label
    codes_of_both = np.vstack([np.column_stack([codes, np.full((3, 20), -1)]), wide])
    more = RatingPatterns(codes_of_both, [4, 2, 3] + [9] * 20, scale=Scale("abc"), raters=[*"xyz", *(f"r{r}" for r in range(20))])
    alone, beside = known.with_unseen(3.0), PanelPatterns(more, labels + [-1] * 20, "m").with_unseen(3.0)
    assert beside.panel.codes[23:, :3].tolist() == alone.panel.codes[3:].tolist()
    assert (beside.panel.codes[23:, 3:] == -1).all()
    assert (beside.labels[23:].tolist(), beside.weights[23:].tolist()) == (alone.labels[3:].tolist(), alone.weights[3:].tolist())


def test_unseen_rows_have_a_pair_of_the_panel_where_some_item_with_a_label_has():
    panel = PanelPatterns(patterns([[0, -1, -1], [-1, 1, 1], [0, 0, 0]], [90, 1, 50]), [0, 1, -1], "m")
    rows = panel.with_unseen(3.0).panel.codes[3:]
    assert set((rows >= 0).sum(1)) == {2}
    assert (rows[:, 0] == -1).all()
