"""A panel and a classifier in numbers: refused at birth, counted, added, widened."""

import numpy as np
import pytest

from agreement_pipeline.errors import RatingsError
from agreement_pipeline.ratings import Scale
from agreement_pipeline.statistics import NumbersByRater

LINE, RATIO = Scale(None, "interval"), Scale(None, "ratio")
NAN = np.nan


def values(rows, weights=None, raters="xyz", scale=LINE):
    return NumbersByRater(rows, weights, scale=scale, raters=raters[: np.shape(rows)[1]])


@pytest.mark.parametrize(
    ("make", "words"),
    [
        (
            lambda: values([[0.5, 1.5]]).with_classifier([0.5], "m"),
            r"classifier's labels: found shape \(1,\); expected \(1, 1\)\. Give",
        ),
        (
            lambda: values([[0.5, 1.5]]).with_classifier([[np.inf]], "m"),
            r"row 1, column 'm': found \[inf\]",
        ),
        (
            lambda: values([[0.5]], scale=RATIO).with_classifier([[-1.0]], "m"),
            r"row 1, column 'm': found \[-1.0\] .*; expected finite non-negative numbers",
        ),
        (
            lambda: values([[0.5, 1.5]]).with_classifier([[1.0]], "y"),
            r"found raters \['x', 'y', 'y'\]; expected each name once\.",
        ),
        (
            lambda: (
                values([[0.5]]).with_classifier([[1.0]], "m")
                + values([[0.5]]).with_classifier([[1.0]], "n")
            ),
            r"found classifiers 'm' and 'n'; expected one\.",
        ),
    ],
)
def test_an_impossible_statistic_is_refused_in_words(make, words):
    with pytest.raises(RatingsError, match=words):
        make()


def test_a_panel_rests_on_the_items_that_it_and_the_classifier_rated():
    rated = values(
        [[0.5, 1.0, NAN], [NAN, NAN, NAN], [1.0, 1.5, 1.0], [0.1, NAN, NAN]], [2, 5, 3, 4]
    )
    panel = rated.with_classifier([[0.5], [1.0], [NAN], [1.0]], "m")
    assert (panel.n_items, panel.n_used, panel.n_ratings) == (6, 6, 8)


def test_one_rater_is_set_apart_from_the_rest():
    apart = values([[0.5, 1.0, NAN], [1.0, NAN, 2.0]], [1, 2]).with_rater_apart("y")
    assert (apart.classifier, apart.panel.raters) == ("y", ("x", "z"))
    assert apart.labels.ravel() == pytest.approx([1.0, NAN], nan_ok=True)
    assert apart.with_classifier_as_rater().raters == ("x", "z", "y")


def test_unseen_rows_of_a_panel_put_the_classifier_on_both_values():
    panel = values([[0.0, 0.0], [1.0, 1.0]]).with_classifier([[0.0], [1.0]], "m")
    possible = panel.with_unseen(3.0)
    mass = possible.weights[2:]
    assert mass.sum() == pytest.approx(3)
    labels, rows = possible.labels[2:, 0].round(12), possible.panel.values[2:, :, 0].round(12)
    assert mass[labels == 0].sum() == mass[labels == 1].sum() == pytest.approx(1.5)
    assert set(map(tuple, rows.tolist())) == {(0, 0), (0, 1), (1, 0), (1, 1)}


def test_items_the_classifier_never_met_change_nothing_of_what_it_has_not_seen():
    met = values([[0.5, 1.0], [1.0, 1.5], [2.0, 2.5]]).with_classifier([[0.5], [1.0], [2.5]], "m")
    more = values([[0.5, 1.0], [1.0, 1.5], [2.0, 2.5], [900.0, 950.0]]).with_classifier(
        [[0.5], [1.0], [2.5], [NAN]], "m"
    )
    one, other = met.with_unseen(3.0), more.with_unseen(3.0)
    assert one.panel.values[3:].tolist() == other.panel.values[4:].tolist()
    assert one.labels[3:].tolist() == other.labels[4:].tolist()
