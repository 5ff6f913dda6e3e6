"""A panel with a classifier apart: refused at birth, counted, widened by unseen rows."""

from collections import Counter

import numpy as np
import pytest

from agreement_pipeline.errors import RatingsError
from agreement_pipeline.estimates import estimate
from agreement_pipeline.intervals import Inference, compute_points
from agreement_pipeline.measures import MEASURES
from agreement_pipeline.ratings import Scale
from agreement_pipeline.statistics import Clusters, LabelsByRater

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
            lambda: patterns([[0, 1]]).with_classifier([0, 1], "m"),
            r"classifier's labels: found shape \(2,\); expected \(1,\)\. Give",
        ),
        (
            lambda: patterns([[0]] * 3).with_classifier([0, 1, 5], "m"),
            "labels: found 0 to 5; expected -1 to 1 for the scale",
        ),
        (lambda: patterns([[0]]).with_classifier([-7], "m"), "labels: found -7 to -7; expected"),
        (
            lambda: patterns([[0]]).with_classifier([0.9], "m"),
            "labels: found a fraction or no number; expected whole numbers from -1 to 1",
        ),
        (
            lambda: patterns([[0, 1]]).with_classifier([0], "y"),
            "found 'y' as classifier and in the panel; expected a name of its own",
        ),
        (
            lambda: (
                patterns([[0]]).with_classifier([0], "m")
                + patterns([[0]]).with_classifier([0], "n")
            ),
            r"found classifiers 'm' and 'n'; expected one\.",
        ),
    ],
)
def test_an_impossible_statistic_is_refused_in_words(make, words):
    with pytest.raises(RatingsError, match=words):
        make()


def test_a_panel_rests_on_the_items_that_it_and_the_classifier_rated():
    panel = RATED.with_classifier([0, 1, -1, 1], "m")
    assert (panel.n_items, panel.n_used, panel.n_ratings) == (6, 6, 8)


def test_one_rater_is_set_apart_from_the_rest():
    apart = patterns([[0, 1, -1], [1, 0, 1]], [1, 2]).with_rater_apart("y")
    assert (apart.classifier, apart.labels.tolist()) == ("y", [1, 0])
    assert (apart.panel.raters, apart.panel.codes.tolist()) == (("x", "z"), [[0, -1], [1, 1]])


def test_unseen_rows_of_a_panel_put_the_classifier_on_both_categories():
    panel = patterns([[0, 0], [1, 1]]).with_classifier([0, 1], "m")
    possible = panel.with_unseen(3.0)
    mass = possible.weights[2:]
    assert mass.sum() == pytest.approx(3)
    assert (
        mass[possible.labels[2:] == 0].sum()
        == mass[possible.labels[2:] == 1].sum()
        == pytest.approx(1.5)
    )


def test_what_the_classifier_never_met_adds_nothing_to_what_was_not_seen():
    codes, labels = [[0, 0, -1], [1, 0, -1], [1, -1, 1]], [0, 0, 1]
    known = LabelsByRater(codes, [4, 2, 3], scale=Scale("abc"), raters="xyz").with_classifier(
        labels, "m"
    )
    wide = np.full((20, 23), -1)
    wide[:, 3:] = 2  # many raters, and another category, on items without a label
    codes_of_both = np.vstack([np.column_stack([codes, np.full((3, 20), -1)]), wide])
    more = LabelsByRater(
        codes_of_both,
        [4, 2, 3] + [9] * 20,
        scale=Scale("abc"),
        raters=[*"xyz", *(f"r{r}" for r in range(20))],
    )
    alone, beside = (
        known.with_unseen(3.0),
        more.with_classifier(labels + [-1] * 20, "m").with_unseen(3.0),
    )
    assert beside.panel.codes[23:, :3].tolist() == alone.panel.codes[3:].tolist()
    assert (beside.panel.codes[23:, 3:] == -1).all()
    assert (beside.labels[23:].tolist(), beside.weights[23:].tolist()) == (
        alone.labels[3:].tolist(),
        alone.weights[3:].tolist(),
    )


def test_unseen_rows_have_a_pair_of_the_panel_where_some_item_with_a_label_has():
    panel = patterns([[0, -1, -1], [-1, 1, 1], [0, 0, 0]], [90, 1, 50]).with_classifier(
        [0, 1, -1], "m"
    )
    rows = panel.with_unseen(3.0).panel.codes[3:]
    assert set((rows >= 0).sum(1)) == {2}
    assert (rows[:, 0] == -1).all()


EXCHANGEABLE = [
    name for name, record in MEASURES.items() if record.needs == "panel" and record.exchangeable
]
LEVELS = {
    "ratio": (1.0, 2.0, 4.0),
    "ordinal": ("a", "b", "c"),
    "interval": (1.0, 2.0, 4.0),
    "nominal": ("a", "b", "c"),
}


def drawn(name, seed, raters=6, items=90):
    """A panel, and a classifier that left some items out.

    Each item meets about half of the panel. The classifier never met two of them.
    """
    rng = np.random.default_rng(seed)
    level = next(level for level in LEVELS if level in MEASURES[name].levels)
    truth = rng.integers(3, size=(items, 1))
    codes = np.where(
        rng.random((items, raters + 1)) < 0.75, truth, rng.integers(3, size=(items, raters + 1))
    )
    codes = np.where(rng.random(codes.shape) < [*[0.4] * raters, 0.1], -1, codes)
    codes[codes[:, -1] >= 0, 4:raters] = -1
    panel = LabelsByRater(
        codes[:, :-1],
        rng.integers(1, 4, size=items),
        scale=Scale(LEVELS[level], level),
        raters=[f"r{r}" for r in range(raters)],
    )
    return panel.with_classifier(codes[:, -1], "model")


def swapped(panel, seed):
    """The ratings of each item go to other raters, and the items are in another order."""
    rng = np.random.default_rng(seed)
    codes, order = rng.permuted(panel.panel.codes, axis=1), rng.permutation(len(panel.labels))
    patterns = LabelsByRater(
        codes[order], panel.weights[order], scale=panel.scale, raters=panel.panel.raters[::-1]
    )
    return patterns.with_classifier(panel.labels[order], "model")


def mass_of_splits(panel, seen):
    """The weight of what was not seen by counts and label, as a loop."""
    mass = Counter()
    for codes, label, weight in zip(
        panel.panel.codes[seen:], panel.labels[seen:], panel.weights[seen:], strict=True
    ):
        mass[tuple(sorted(code for code in codes.tolist() if code >= 0)), int(label)] += weight
    return mass


def test_without_who_said_what_rows_of_equal_ratings_and_label_are_one():
    found = (
        patterns([[0, 1, -1], [-1, 0, 1], [1, 0, -1], [1, 1, 1], [1, -1, 0]], [2, 5, 3, 4, 7])
        .with_classifier([0, 0, 1, 1, -1], "m")
        .without_rater_names()
        .merged()
    )
    assert (found.panel.codes.tolist(), found.labels.tolist()) == (
        [[1, 0, -1], [1, 0, -1], [1, 0, -1], [1, 1, 1]],
        [-1, 0, 1, 1],
    )
    assert found.weights.tolist() == [7, 7, 3, 4]


@pytest.mark.parametrize("name", EXCHANGEABLE)
def test_a_measure_that_does_not_ask_who_said_what_finds_the_same_without(name):
    for seed in range(5):
        panel = drawn(name, seed)
        named, unnamed = MEASURES[name](panel), MEASURES[name](panel.without_rater_names().merged())
        for one, other in zip(named, unnamed, strict=True):
            assert (one is None) == (other is None)
            assert one is None or one == pytest.approx(other, abs=1e-12)
        assert MEASURES[name].why_undefined(panel) is None


@pytest.mark.parametrize("seed", range(5))
def test_without_who_said_what_the_unseen_splits_weigh_what_they_did(seed):
    named = drawn("vanbelle_albert_kappa", seed)
    unnamed = named.without_rater_names().merged()
    for category in (None, 0, 1, 2):
        found = mass_of_splits(unnamed.with_unseen(3.0, category), len(unnamed.labels))
        expected = mass_of_splits(named.with_unseen(3.0, category), len(named.labels))
        assert found == pytest.approx(expected)
        assert len(unnamed.with_unseen(3.0, category).labels) - len(unnamed.labels) == len(expected)


@pytest.mark.parametrize("name", EXCHANGEABLE)
def test_an_estimate_without_who_said_what_speaks_of_the_raters_all_the_same(name):
    panel, record = drawn(name, 0), MEASURES[name]
    found = estimate(name, panel, Inference(n_resamples=200))
    assert (found.n_items, found.n_raters, found.n_ratings) == tuple(
        getattr(record.rests_on, count)(panel) for count in ("among", "n_raters", "ratings")
    )
    assert found.n_used == record.rests_on.n_items(panel)
    assert found.n_raters in (4, 6)  # never the most ratings that an item has
    assert found.value == pytest.approx(float(record(panel).value), abs=1e-12)


@pytest.mark.parametrize("name", EXCHANGEABLE)
def test_the_limits_are_the_same_to_the_last_digit_whoever_said_what_in_any_order(name):
    panel = drawn(name, 1)
    found, other = (
        estimate(name, each, Inference(n_resamples=500)) for each in (panel, swapped(panel, 2))
    )
    assert (found.value, found.interval) == (other.value, other.interval)
    assert (found.draws == other.draws).all()


def test_names_are_forgotten_where_nobody_asks_and_rows_of_different_clusters_stay_apart():
    panel = drawn("shah_s", 4)
    records = [MEASURES[name] for name in ("shah_s", "vanbelle_albert_kappa")]
    places = np.arange(len(panel.labels)) % 9
    for each, clusters in (
        (panel, np.zeros_like(places)),
        (panel.with_clusters(Clusters.from_names(places)), places),
    ):
        of_s, of_kappa = compute_points(records, each)
        assert (of_s.basis, of_s.statistic, of_kappa.statistic) == (each, each, each)
        rows = {
            (cluster, *sorted(codes), label)
            for cluster, codes, label in zip(
                clusters, panel.panel.codes.tolist(), panel.labels, strict=True
            )
        }
        assert len(of_kappa.basis.labels) == len(rows)
    assert len(np.unique(of_kappa.basis.clusters.places)) == 9
