"""Labels said again of an item: refused at birth, counted, added, widened by unseen rows."""

import numpy as np
import pytest

from agreement_pipeline.errors import RatingsError
from agreement_pipeline.estimates import estimate
from agreement_pipeline.intervals import Inference
from agreement_pipeline.ratings import Scale
from agreement_pipeline.statistics import Clusters, LabelsByRater, ReplicatedLabels

TWO = Scale(("no", "yes"))
RATED = LabelsByRater(
    [[0, 1, -1], [-1, -1, -1], [1, 1, 1], [0, -1, -1]], [2, 5, 3, 4], scale=TWO, raters="xyz"
)


def patterns(codes, weights=None, raters="xyz"):
    return LabelsByRater(codes, weights, scale=TWO, raters=raters[: np.shape(codes)[1]])


@pytest.mark.parametrize(
    ("make", "words"),
    [
        (
            lambda: ReplicatedLabels([[1, 0]], [0], [0], patterns([[0]])),
            "found a cell of fewer than two ratings; expected at least two",
        ),
        (
            lambda: ReplicatedLabels([[2, 0], [0, 2]], [0, 0], [0, 0], patterns([[0]])),
            r"found two cells of one item and rater \[\(0, 0\)\]; expected one\.",
        ),
        (
            lambda: ReplicatedLabels([[2, 0]], [1], [0], patterns([[0]])),
            r"item positions: found \[1\]; expected one from 0 to 0 for each of 1 cells",
        ),
        (
            lambda: ReplicatedLabels([[2, 0]], [0], [0, 0], patterns([[0]])),
            r"rater positions: found \[0, 0\]; expected one from 0 to 0 for each of 1 cells",
        ),
    ],
)
def test_an_impossible_statistic_is_refused_in_words(make, words):
    with pytest.raises(RatingsError, match=words):
        make()


def test_replicates_rest_on_the_items_met_again():
    again = ReplicatedLabels([[2, 0], [1, 2]], [0, 2], [1, 1], RATED)
    assert (again.n_items, again.n_used, again.n_ratings) == (5, 5, 2 * 2 + 3 * 3)


def test_replicates_of_two_rounds_add_by_the_names_of_raters():
    one = ReplicatedLabels([[2, 0]], [0], [1], patterns([[0, 0]], raters="xy"))
    other = ReplicatedLabels([[0, 3]], [0], [0], patterns([[1, 1]], raters="yz"))
    both = one + other
    assert both.raters == ("x", "y", "z")
    assert both.first.codes.tolist() == [[0, 0, -1], [-1, 1, 1]]
    assert (both.item.tolist(), both.rater.tolist()) == ([0, 1], [1, 1])


def test_unseen_replicates_are_split_within_raters_and_between_them():
    first = patterns([[0, 0, 0], [1, 1, 1]], [2, 1])
    seen = ReplicatedLabels([[2, 0], [2, 0], [0, 2]], [0, 0, 1], [0, 2, 2], first)
    possible = seen.with_unseen(3.0)
    assert possible.weights[2:].tolist() == [1, 1, 1]
    assert possible.counts[3:].tolist() == [[2, 0], [2, 0], [1, 1], [1, 1], [0, 2], [0, 2]]
    assert possible.rater[3:].tolist() == [0, 2] * 3
    assert possible.item[3:].tolist() == [2, 2, 3, 3, 4, 4]
    assert possible.first.codes[2:].tolist() == [[0, -1, 0], [0, -1, 1], [1, -1, 1]]


def test_without_replicates_nothing_is_added():
    none = ReplicatedLabels(np.empty((0, 2)), [], [], patterns([[0, 0]]))
    assert none.with_unseen(3.0) is none


def test_an_unseen_item_is_met_again_by_as_many_raters_as_a_typical_one_each_in_turn():
    first = patterns([[0, 0, 0], [1, 1, 1], [0, 0, 0]])
    possible = ReplicatedLabels([[2, 0], [0, 2], [2, 0]], [0, 1, 2], [0, 1, 2], first).with_unseen(
        3.0
    )
    assert possible.weights[3:].tolist() == pytest.approx([1 / 3] * 9)
    assert possible.item[3:].tolist() == list(range(3, 12))
    assert possible.rater[3:].tolist() == [0, 1, 2] * 3
    assert possible.counts[3:].tolist() == [[2, 0]] * 3 + [[1, 1]] * 3 + [[0, 2]] * 3
    assert possible.first.codes[3:].tolist() == [[0, 0, 0]] * 3 + [[0, 0, 1]] * 3 + [[1, 1, 1]] * 3


@pytest.mark.parametrize("measure", ["self_agreement_unbiased", "test_retest_alpha"])
def test_how_sure_perfect_replicates_are_does_not_depend_on_how_many_raters_share_them(measure):
    limits = []
    for n_raters in (1, 5, 20):
        item, rater = np.arange(100), np.arange(100) % n_raters
        codes = np.full((100, n_raters), -1)
        codes[item, rater] = item // n_raters % 2
        first = LabelsByRater(codes, scale=TWO, raters=[f"r{r}" for r in range(n_raters)])
        limits.append(
            estimate(
                measure,
                ReplicatedLabels(2 * np.eye(2)[codes[item, rater]], item, rater, first),
                Inference(n_resamples=4000),
            ).interval.low
        )
    assert limits == pytest.approx([limits[0]] * 3, abs=0.02)
    assert limits[0] < 0.98


def test_a_disagreement_of_a_rater_with_themselves_is_seen_as_often_as_cells_show_it():
    first = patterns([[0, 0, 0], [0, 1, -1], [1, 1, 0], [0, 0, 0]], [4, 3, 2, 1])
    counts = [[2, 0], [1, 1], [1, 1], [0, 2], [1, 1], [2, 1]]
    said = ReplicatedLabels(counts, [0, 0, 1, 1, 2, 3], [0, 1, 0, 1, 2, 0], first)
    possible = said.with_unseen(3.0)
    expected = []
    for row in range(4, len(possible.weights)):
        rarest = np.inf
        for cell in possible.counts[possible.item == row]:
            showing = [
                w for w, mix in zip(said.cell_weights, counts, strict=True) if (mix == cell).all()
            ]
            rarest = min(rarest, sum(showing) if (cell > 0).all() else 0)
        expected.append(rarest)
    assert max(expected) == 9
    assert said.times_seen(possible).tolist() == expected
    together = said.with_clusters(Clusters.from_names(["d", "d", "e", "e"]))
    assert not together.times_seen(possible).any()
