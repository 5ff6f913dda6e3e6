"""Rows of equal counts as one row, against the same rows drawn one by one."""

from functools import cache

import numpy as np
import pytest

from agreement_pipeline.estimates import estimate, estimate_each
from agreement_pipeline.intervals import METHODS, Inference, draw_reweighted
from agreement_pipeline.measures import MEASURES
from agreement_pipeline.measures.registry import never
from agreement_pipeline.ratings import Scale
from agreement_pipeline.statistics import (
    Clusters,
    LabelsByRater,
    equal_counts,
    merge_rows_of_equal_counts,
    rows_from_array,
)

K, R, ITEMS = 4, 5, 100_000
SCALE = Scale(tuple("abcd"))
MONTE_CARLO = 0.15
"""Four standard errors of the difference of two limits of 10,000 draws, in standard errors."""

LIMITED = (
    "shah_kappa_s",
    "shah_s",
    "advantage_probability",
    "light_kappa",
    "recall_beside_raters",
)
NAMES = [name for name, record in MEASURES.items() if record.sums_of_raters is not never]


@cache
def panel_of(items, *, missing=0.1, rare=0.06):
    """Five raters with habits of their own, and a model. The first always slips to a."""
    rng = np.random.default_rng(0)
    truth = rng.choice(K, p=[0.5, 0.3, 0.2 - rare, rare], size=(items, 1))
    slips = rng.random((items, R + 1)) < [0.3, 0.1, 0.15, 0.2, 0.1, 0.15]
    codes = np.where(slips, rng.integers(K, size=slips.shape), truth)
    codes[slips[:, 0], 0] = 0
    codes[:, :R][rng.random((items, R)) < [0, missing, missing, 5 * missing, missing]] = -1
    joint = LabelsByRater(codes, scale=SCALE, raters=(*"vwxyz", "model")).merged()
    return joint.select_raters(tuple("vwxyz")).with_classifier(joint.codes[:, R], "model")


def basis_of(name, items, **options):
    panel = panel_of(items, **options)
    return panel if MEASURES[name].needs == "panel" else panel.panel.merged()


def dense(rows, n):
    values = np.zeros((n, rows.values.shape[1]))
    values[rows.places] = rows.values
    return values


def test_the_measures_of_a_fixed_panel_are_among_them():
    assert {"shah_kappa_s", "conger_kappa_quadratic", "shah_s", "recall_by_category"} <= {*NAMES}
    assert {"light_kappa", "recall_beside_raters"} <= {*NAMES}
    assert {"cohen_kappa", "krippendorff_alpha", "vanbelle_albert_kappa"}.isdisjoint(NAMES)


@pytest.mark.parametrize("missing", [0, 0.1])
@pytest.mark.parametrize("name", NAMES)
def test_the_value_is_the_same_on_far_fewer_rows(name, missing):
    labels = basis_of(name, ITEMS, missing=missing)
    expected = MEASURES[name](labels)
    found = merge_rows_of_equal_counts(labels, MEASURES[name])
    assert 2 * (found.weights > 0).sum() <= len(labels.weights)
    assert found.n_items == ITEMS
    parts = MEASURES[name](found)
    assert parts.value == pytest.approx(expected.value, abs=1e-12)
    assert parts.observed == pytest.approx(expected.observed, abs=1e-12)


@pytest.mark.parametrize("name", NAMES)
def test_sums_of_who_gave_which_label_vary_as_if_each_row_was_drawn(name):
    labels = basis_of(name, ITEMS)
    found = merge_rows_of_equal_counts(labels, MEASURES[name])
    reads = [read(labels) for read in found.together.sums]
    seen = np.hstack([dense(rows, len(labels.codes)) for rows in reads])
    ours = np.hstack([*found.together.sums.values()])
    expected = np.zeros((seen.shape[1], seen.shape[1]))
    together = expected.copy()
    for row, items in zip(seen, labels.weights, strict=True):
        expected += items * np.outer(row, row)
    for place, (row, items) in enumerate(zip(ours, found.weights, strict=True)):
        together += np.outer(row, row) * (1 if place in found.places_of_normal_rows else items)
    assert together == pytest.approx(expected, abs=1e-4)


@pytest.mark.parametrize(
    ("name", "rare"),
    [*((name, 0.0005) for name in LIMITED), *((name, 0.06) for name in LIMITED[:2])],
)
def test_limits_are_those_of_rows_drawn_one_by_one(monkeypatch, name, rare):
    labels = basis_of(name, ITEMS, rare=rare)
    found = estimate(name, labels, Inference(seed=1))
    monkeypatch.setattr(equal_counts, "MIN_ITEMS", ITEMS + 1)
    slow = estimate(name, labels, Inference(seed=2))
    error = np.std(slow.draws)
    assert found.interval.low == pytest.approx(slow.interval.low, abs=MONTE_CARLO * error)
    assert found.interval.high == pytest.approx(slow.interval.high, abs=MONTE_CARLO * error)
    assert np.std(found.draws) == pytest.approx(error, rel=0.04)
    assert np.mean(found.draws) == pytest.approx(np.mean(slow.draws), abs=0.1 * error)


def test_rows_of_sums_over_few_items_stay_alone():
    labels = basis_of("shah_kappa_s", ITEMS, rare=0.0005)
    found = merge_rows_of_equal_counts(labels, MEASURES["shah_kappa_s"])
    totals = [(labels.codes == 3)[:, rater] @ labels.weights for rater in range(R)]
    small = [rater for rater in range(R) if totals[rater] < equal_counts.MIN_ITEMS_IN_A_SUM]
    assert small
    assert len(found.weights) < len(labels.weights)
    for rater in small:
        own = labels.weights[labels.codes[:, rater] == 3]
        assert sorted(found.weights[found.codes[:, rater] == 3]) == sorted(own)


def test_the_rows_of_how_sums_vary_have_normal_weights():
    labels = merge_rows_of_equal_counts(basis_of("shah_s", ITEMS), MEASURES["shah_s"])
    drawn = np.vstack([block.weights for block in draw_reweighted(labels, 2_000, 3)])
    normal = drawn[:, labels.places_of_normal_rows]
    assert normal.shape[1] >= (R - 1) * (K - 1)
    assert (labels.weights[labels.places_of_normal_rows] == 0).all()
    assert np.abs(normal.mean(0)).max() < 5 / np.sqrt(2_000)
    assert np.corrcoef(normal.T) == pytest.approx(np.eye(normal.shape[1]), abs=0.12)
    assert normal.std(0) == pytest.approx(np.ones(normal.shape[1]), abs=0.08)


OF_SINGLE_ITEMS = [
    name
    for name, method in METHODS.items()
    if method.leaves_out or method.scheme is None or method.scheme.whole_items
]


@pytest.mark.parametrize("method", OF_SINGLE_ITEMS)
def test_methods_that_read_single_items_keep_every_row(monkeypatch, method):
    labels = basis_of("shah_kappa_s", 2_000)
    inference = Inference(method=method, n_resamples=400)
    expected = estimate("shah_kappa_s", labels, inference)
    monkeypatch.setattr(equal_counts, "MIN_ITEMS", 0)
    assert estimate("shah_kappa_s", labels, inference) == expected


def few_items(labels):
    return labels, ITEMS + 1


def in_clusters(labels):
    return labels.with_clusters(Clusters.from_names(np.arange(len(labels.codes)) % 7)), 0


def in_groups(labels):
    return labels.panel.in_groups(("v", "w")), 0


def with_confidence(labels):
    return labels.panel.with_confidence(np.ones(labels.codes.shape)), 0


@pytest.mark.parametrize("of", [few_items, in_clusters, in_groups, with_confidence])
def test_other_rows_stay_as_they_are(monkeypatch, of):
    labels, fewest = of(panel_of(ITEMS))
    monkeypatch.setattr(equal_counts, "MIN_ITEMS", fewest)
    assert merge_rows_of_equal_counts(labels, MEASURES["shah_kappa_s"]) is labels


def test_rows_that_are_alike_already_stay_as_they_are():
    two = LabelsByRater([[0, 0], [1, 0]], [9_000, 4_000], scale=SCALE, raters="ab")
    assert merge_rows_of_equal_counts(two, MEASURES["shah_kappa_s"]) is two


def test_no_rater_whom_a_classifier_met_is_hidden_behind_the_rows_of_others():
    rows = [[0, 0, -1], [0, -1, 0], [1, 1, -1], [1, -1, 1], [0, 1, -1], [0, -1, 1], [-1, -1, 0]]
    items = [9_000, 1_000, 4_000, 1_000, 900, 900, 50]
    labels = LabelsByRater(rows, items, scale=SCALE, raters="abc")
    beside = labels.with_classifier([0, 0, 1, 1, 0, 0, 0], "model")
    assert merge_rows_of_equal_counts(beside, MEASURES["shah_s"]) is beside
    every = [[a, b, c] for a in (0, 1) for b in (0, 1) for c in (0, 1)]
    full = LabelsByRater(every, np.full(8, 2_000), scale=SCALE, raters="abc")
    both = full.with_classifier(np.zeros(8, dtype=int), "model")
    assert (merge_rows_of_equal_counts(both, MEASURES["shah_s"]).weights > 0).sum() == 4


def test_limits_depend_on_no_other_measure():
    labels, names = basis_of("shah_kappa_s", ITEMS), ["shah_kappa_s", "light_kappa"]
    alone = [estimate(name, labels, Inference()) for name in names]
    assert estimate_each(names, labels, Inference()) == alone
    assert [estimate(name, labels, Inference()) for name in names] == alone


def test_a_shorter_run_gives_the_first_resamples_of_a_longer_one():
    labels = merge_rows_of_equal_counts(basis_of("shah_s", ITEMS), MEASURES["shah_s"])
    longer = np.vstack([block.weights for block in draw_reweighted(labels, 100, 1)])
    shorter = np.vstack([block.weights for block in draw_reweighted(labels, 40, 1)])
    assert np.array_equal(shorter, longer[:40])


def test_rows_of_equal_counts_refuse_the_sums_of_other_measures():
    labels = merge_rows_of_equal_counts(basis_of("shah_kappa_s", ITEMS), MEASURES["shah_kappa_s"])
    with pytest.raises(TypeError, match="found a sum of another measure"):
        MEASURES["light_kappa"](labels)
    with pytest.raises(TypeError, match="found a sum of another measure"):
        labels.weighted_sums_of_rows(rows_from_array(np.ones((len(labels.codes), 1))))


def of_the_majority(errors):
    """A model that gives what most raters give, but for a few items on which it errs."""
    panel = panel_of(ITEMS, missing=0).panel.merged()
    counts = panel.counts().counts
    erred = np.flatnonzero((counts.max(1) == 4) & (panel.weights > 2 * errors))[:10]
    weights = panel.weights.copy()
    weights[erred] -= errors
    joint = LabelsByRater(
        np.vstack([panel.codes, panel.codes[erred]]),
        np.concatenate([weights, np.full(len(erred), errors)]),
        scale=SCALE,
        raters=tuple("vwxyz"),
    )
    labels = np.concatenate([counts.argmax(1), np.where(counts > 0, counts, R).argmin(1)[erred]])
    return joint.with_classifier(labels, "model")


def test_rare_losses_of_a_classifier_are_drawn_as_they_are(monkeypatch):
    panel = of_the_majority(errors=3)
    drawn = merge_rows_of_equal_counts(panel, MEASURES["advantage_probability"])
    for codes, label in zip(panel.codes[-10:], panel.labels[-10:], strict=True):
        same = (drawn.codes == codes).all(1) & (drawn.labels == label)
        assert drawn.weights[same].tolist() == [3]
    found = estimate("advantage_probability", panel, Inference(seed=1))
    monkeypatch.setattr(equal_counts, "MIN_ITEMS", ITEMS + 1)
    slow = estimate("advantage_probability", panel, Inference(seed=2))
    reach = (slow.interval.high - slow.interval.low) / 4
    assert found.interval.low == pytest.approx(slow.interval.low, abs=MONTE_CARLO * reach)
    assert found.interval.high == pytest.approx(slow.interval.high, abs=MONTE_CARLO * reach)
    assert np.max(found.draws) <= 1
