"""Shah's and Vanbelle and Albert's coefficients against scikit-learn and the papers' equations."""

from itertools import permutations

import numpy as np
import pytest
from sklearn.metrics import cohen_kappa_score

from agreement_pipeline.measures import MEASURES
from agreement_pipeline.ratings import Scale
from agreement_pipeline.statistics import LabelsByRater

ABC = Scale(("a", "b", "c"))


def drawn(seed, raters, missing):
    rng = np.random.default_rng(seed)
    codes = np.where(
        rng.random((30, raters)) < 0.6,
        rng.integers(3, size=(30, 1)),
        rng.integers(3, size=(30, raters)),
    )
    return np.where(rng.random(codes.shape) < missing, -1, codes)


def panel_of(codes, labels=None):
    patterns = LabelsByRater(codes, scale=ABC, raters=[f"r{r}" for r in range(codes.shape[1])])
    return patterns if labels is None else patterns.with_classifier(labels, "model")


def share(column, category):
    return np.mean(column[column >= 0] == category)


def pair_chance(codes, category):
    return np.mean(
        [
            share(codes[:, p], category) * share(codes[:, q], category)
            for p, q in permutations(range(codes.shape[1]), 2)
        ]
    )


@pytest.mark.parametrize("seed", range(5))
def test_kappa_s_of_two_raters_is_the_cohen_kappa_of_scikit_learn(seed):
    codes = drawn(seed, 2, 0.0)
    assert MEASURES["shah_kappa_s"](panel_of(codes)).value == pytest.approx(
        cohen_kappa_score(codes[:, 0], codes[:, 1]), abs=1e-12
    )


@pytest.mark.parametrize("missing", [0.0, 0.3])
@pytest.mark.parametrize("seed", range(5))
def test_kappa_s_is_equations_2_and_4_as_loops(seed, missing):
    codes = drawn(seed, 4, missing)
    a_o = np.mean(
        [
            np.mean([a == b for a, b in permutations(row[row >= 0], 2)])
            for row in codes
            if (row >= 0).sum() >= 2
        ]
    )
    a_e = sum(pair_chance(codes, k) for k in range(3))
    found = MEASURES["shah_kappa_s"](panel_of(codes))
    assert (found.observed, found.expected, found.value) == pytest.approx(
        (a_o, a_e, (a_o - a_e) / (1 - a_e)), abs=1e-12
    )


def equations_6_to_8(codes, labels):
    met = (labels >= 0) & ((codes >= 0).sum(1) >= 2)
    codes, labels = codes[met], labels[met]
    extent = [
        [np.mean([a == b == k for a, b in permutations(row[row >= 0], 2)]) for k in range(3)]
        for row in codes
    ]
    a_o = np.mean([of_item[label] for of_item, label in zip(extent, labels, strict=True)])
    a_e = sum(np.mean(labels == k) * pair_chance(codes, k) for k in range(3))
    return a_o, a_e, np.mean([max(of_item) for of_item in extent])


@pytest.mark.parametrize("missing", [0.0, 0.3])
@pytest.mark.parametrize("seed", range(5))
def test_s_is_equations_6_to_8_as_loops(seed, missing):
    codes, labels = drawn(seed, 4, missing), drawn(seed + 100, 1, missing)[:, 0]
    a_o, a_e, a_max = equations_6_to_8(codes, labels)
    found = MEASURES["shah_s"](panel_of(codes, labels))
    assert (found.observed, found.expected, found.greatest) == pytest.approx(
        (a_o, a_e, a_max), abs=1e-12
    )
    assert found.value == pytest.approx((a_o - a_e) / (a_max - a_e), abs=1e-12)


def test_a_panel_rater_who_met_none_of_the_classifiers_items_leaves_s_as_it_is():
    codes, labels = drawn(3, 3, 0.0), drawn(103, 1, 0.0)[:, 0]
    elsewhere = np.column_stack([codes, np.full(len(codes), -1)])
    only_hers = np.array([[-1, -1, -1, 2]] * 5)
    more = panel_of(np.vstack([elsewhere, only_hers]), np.concatenate([labels, [-1] * 5]))
    assert MEASURES["shah_s"](more).value == pytest.approx(
        float(MEASURES["shah_s"](panel_of(codes, labels)).value), abs=1e-12
    )


@pytest.mark.parametrize("n_items", range(1, 6))
def test_who_is_of_the_panel_is_read_off_each_draw_by_itself(n_items):
    rng = np.random.default_rng(n_items)
    codes, labels = drawn(n_items, 4, 0.4)[:n_items], rng.integers(3, size=n_items)
    draws = rng.integers(0, 2, size=(40, n_items)).astype(float)
    together = MEASURES["shah_s"](panel_of(codes, labels).with_weights(draws))
    for b, draw in enumerate(draws):
        alone = MEASURES["shah_s"](panel_of(codes[draw > 0], labels[draw > 0]))
        parts = [
            (whole[b], float(part)) for whole, part in zip(together[:4], alone[:4], strict=True)
        ]
        assert [whole for whole, _ in parts] == pytest.approx(
            [part for _, part in parts], abs=1e-12, nan_ok=True
        )
