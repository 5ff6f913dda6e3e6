"""Measures on more categories than are summed one by one, beside slow loops over labels."""

from itertools import combinations

import numpy as np
import pytest
from scipy.stats import entropy

from agreement_pipeline import Scale
from agreement_pipeline.measures import MEASURES
from agreement_pipeline.statistics import CategoryCounts, LabelsByRater

K, N = 30, 90
SCALE = Scale(tuple(f"c{k:02}" for k in range(K)))
BY_CATEGORY = (
    "category_agreement",
    "specific_agreement",
    "alpha_by_category",
    "kappa_by_category",
)


def panel(raters, seed=4):
    rng = np.random.default_rng(seed)
    truth = rng.integers(0, K - 1, N)
    codes = np.where(rng.random((N, raters)) < 0.7, truth[:, None], rng.integers(-1, K - 1, raters))
    codes[rng.random(codes.shape) < 0.1] = -1
    return LabelsByRater(
        codes, rng.integers(1, 4, N), scale=SCALE, raters=[f"r{r}" for r in range(raters)]
    )


def of_category(labels, k):
    """The four values of one category against the rest, label by label."""
    both = either = given = again = n = n_k = unlike = paired = unlike_share = items = share = 0.0
    rated = 0.0
    for row, w in zip(labels.codes, labels.weights, strict=True):
        here = [label == k for label in row if label >= 0]
        m, c = len(here), sum(here)
        rated += w * (m > 0)
        share += w * c / m if m else 0.0
        for one, other in combinations(here, 2):
            both += w * (one and other)
            either += w * (one or other)
        given += w * c * (m - 1) if m else 0.0
        again += w * c * (c - 1)
        if m >= 2:
            items, n, n_k = items + w, n + w * m, n_k + w * c
            unlike += w * 2 * c * (m - c) / (m - 1)
            unlike_share += w * 2 * c * (m - c) / (m * (m - 1))
            paired += w
    if not given:
        return (np.nan,) * 4
    alpha = 1 - (unlike / n) / (2 * n_k * (n - n_k) / (n * (n - 1)))
    pi = share / rated
    kappa = 1 - (unlike_share / paired) / (2 * pi * (1 - pi))
    return both / either, again / given, alpha, kappa


def test_values_by_category_are_those_of_loops():
    labels = panel(4)
    slow = np.array([of_category(labels, k) for k in range(K)]).T
    assert np.isnan(slow[:, -1]).all()
    for name, expected in zip(BY_CATEGORY, slow, strict=True):
        assert MEASURES[name](labels.counts()).value == pytest.approx(expected, nan_ok=True), name


@pytest.mark.parametrize("name", BY_CATEGORY)
def test_a_category_that_is_asked_for_alone_has_the_value_that_it_has_among_all(name):
    counts = panel(3).counts()
    weights = np.random.default_rng(1).gamma(counts.weights, size=(5, N))
    for k in (0, 7, K - 1):
        form = counts.with_unseen(3.0, k)
        drawn = np.concatenate([weights, np.ones((5, len(form.weights) - N))], axis=1)
        alone = MEASURES[name].function(form.with_weights(drawn)).value
        unseen = np.zeros((len(form.counts) - N, K))
        unseen[:, [k, (k + 1) % K]] = form.counts[N:]
        every = CategoryCounts(np.vstack([counts.counts, unseen]), scale=SCALE)
        whole = MEASURES[name].function(every.with_weights(drawn))
        assert alone[:, k] == pytest.approx(whole.value[:, k])
        assert np.isnan(np.delete(alone, k, axis=1)).all()


def test_measures_of_two_raters_are_those_of_their_table():
    labels = panel(2)
    table = np.zeros((K, K))
    for (one, other), w in zip(labels.codes, labels.weights, strict=True):
        if one >= 0 and other >= 0:
            table[one, other] += w
    p = table / table.sum()
    least = min(entropy(p.sum(0), base=2), entropy(p.sum(1), base=2))
    mutual = entropy(p.sum(0), base=2) + entropy(p.sum(1), base=2) - entropy(p.ravel(), base=2)
    b = (np.diagonal(table) ** 2).sum() / (table.sum(0) * table.sum(1)).sum()
    assert float(MEASURES["bangdiwala_b"](labels).value) == pytest.approx(b)
    assert float(MEASURES["information_agreement"](labels).value) == pytest.approx(mutual / least)
