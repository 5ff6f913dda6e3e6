from itertools import combinations

import numpy as np
import pytest
from sklearn.metrics import cohen_kappa_score

from agreement_pipeline import Scale
from agreement_pipeline.estimates import estimate, estimate_each
from agreement_pipeline.intervals import Inference, affordable_resamples, evidence
from agreement_pipeline.measures import cohen
from agreement_pipeline.measures.weighting import IDENTITY, LINEAR, QUADRATIC
from agreement_pipeline.statistics import KnownWeights, LabelsByRater, SeenRows
from tests.forms import FORMS

K = 4
SCALE = Scale(tuple("abcd"), "ordinal")
WEIGHTS = {
    "cohen_kappa": (None, IDENTITY),
    "cohen_kappa_linear": ("linear", LINEAR),
    "cohen_kappa_quadratic": ("quadratic", QUADRATIC),
}


def patterns_of(codes):
    return LabelsByRater(codes, scale=SCALE, raters=[f"r{j}" for j in range(np.shape(codes)[1])])


def value(name, codes):
    return float(FORMS[name](patterns_of(codes)).value)


def slow_kappa(codes, w, one=0, other=1):
    """Gwet's convention, item by item.

    Observed agreement uses the shared items. Expected agreement uses each rater's own items.
    """
    shared = [(row[one], row[other]) for row in codes if row[one] >= 0 and row[other] >= 0]
    observed = sum(w[a][b] for a, b in shared) / len(shared)
    shares = []
    for rater in (one, other):
        own = [row[rater] for row in codes if row[rater] >= 0]
        shares.append([own.count(k) / len(own) for k in range(K)])
    expected = sum(w[a][b] * shares[0][a] * shares[1][b] for a in range(K) for b in range(K))
    return (observed - expected) / (1 - expected)


@pytest.mark.parametrize("name", WEIGHTS)
@pytest.mark.parametrize("seed", range(5))
def test_on_complete_ratings_it_is_what_scikit_learn_computes(name, seed):
    rng = np.random.default_rng(seed)
    codes = rng.integers(0, K, size=(40, 2))
    codes[:25, 1] = codes[:25, 0]
    expected = cohen_kappa_score(
        codes[:, 0], codes[:, 1], labels=range(K), weights=WEIGHTS[name][0]
    )
    assert value(name, codes) == pytest.approx(expected, abs=1e-12)


@pytest.mark.parametrize("name", WEIGHTS)
@pytest.mark.parametrize("seed", range(5))
def test_with_missing_ratings_it_is_the_loop_over_items(name, seed):
    codes = np.random.default_rng(seed).integers(-1, K, size=(30, 2))
    assert value(name, codes) == pytest.approx(
        slow_kappa(codes.tolist(), WEIGHTS[name][1].weight_matrix(SCALE)), abs=1e-12
    )


def test_lights_kappa_is_the_mean_over_pairs():
    codes = np.random.default_rng(6).integers(-1, K, size=(30, 5))
    pairs = [
        slow_kappa(codes.tolist(), np.eye(K), one, other)
        for one, other in combinations(range(5), 2)
    ]
    assert value("light_kappa", codes) == pytest.approx(np.mean(pairs), abs=1e-12)


@pytest.mark.parametrize(
    "name",
    [
        *WEIGHTS,
        "scott_pi",
        "bangdiwala_b",
        "yule_y",
        "information_agreement",
        "information_agreement_c",
    ],
)
def test_more_than_two_raters_are_refused_in_words(name):
    three = patterns_of([[0, 0, 1], [1, 1, 1]])
    assert np.isnan(FORMS[name](three).value)
    assert (
        FORMS[name].why_undefined(three)
        == "there are not exactly two raters; use shah_kappa_s or light_kappa for more"
    )


def test_lights_kappa_has_no_value_when_two_raters_never_meet():
    patterns = patterns_of([[0, 0, -1], [1, 1, -1], [0, -1, 0], [1, -1, 1]])
    assert np.isnan(FORMS["light_kappa"](patterns).value)
    assert (
        FORMS["light_kappa"].why_undefined(patterns) == "two of the raters have no item in common"
    )


def test_lights_kappa_has_no_value_when_a_pair_uses_one_category():
    patterns = patterns_of([[0, 0, 0], [0, 0, 1]])
    assert np.isnan(FORMS["light_kappa"](patterns).value)
    assert (
        FORMS["light_kappa"]
        .why_undefined(patterns)
        .startswith("two of the raters gave the same category to all items that they share")
    )


@pytest.mark.parametrize("missing", [-1, 0])
def test_lights_kappa_of_resamples_is_that_of_each_of_them(missing):
    """Rows without weight show nothing, and a pair of one category has no value."""
    rng = np.random.default_rng(8)
    codes = rng.integers(missing, K, size=(9, 4))
    weights = rng.integers(0, 3, size=(60, 9)).astype(float)
    found = FORMS["light_kappa"](patterns_of(codes).with_weights(weights)).value
    for each, times in zip(found, weights.astype(int), strict=True):
        alone = patterns_of(np.repeat(codes, times, axis=0))
        met = [
            alone.codes[(alone.codes[:, pair] >= 0).all(1)][:, pair]
            for pair in map(list, combinations(range(4), 2))
        ]
        known = all(len(both) and (both != both.ravel()[0]).any() for both in met)
        pairs = [
            slow_kappa(alone.codes.tolist(), np.eye(K), one, other) if known else np.nan
            for one, other in combinations(range(4), 2)
        ]
        assert each == pytest.approx(np.mean(pairs), abs=1e-12, nan_ok=True)


def test_with_many_pairs_lights_kappa_is_drawn_less_often_and_says_so(monkeypatch):
    codes = np.random.default_rng(9).integers(0, 2, size=(40, 6))
    panel = LabelsByRater(codes, scale=Scale(("n", "y")), raters="abcdef")
    light = FORMS["light_kappa"]
    assert affordable_resamples(light, panel) >= 10_000
    for products, draws in ((40 * 15 * 900, 900), (1, 400)):
        monkeypatch.setattr(evidence, "MAX_PRODUCTS", products)
        assert affordable_resamples(light, panel) == draws
        found = estimate("light_kappa", panel, Inference())
        assert found.method.startswith(f"{draws} Dirichlet draws")


@pytest.mark.parametrize("cores", [1, 3])
def test_a_slow_measure_beside_others_is_the_same_as_alone(monkeypatch, cores):
    codes = np.random.default_rng(9).integers(0, 2, size=(40, 6))
    panel = LabelsByRater(codes, scale=Scale(("n", "y")), raters="abcdef")
    names = ["shah_kappa_s", "light_kappa", "krippendorff_alpha"]
    monkeypatch.setattr(evidence, "MAX_PRODUCTS", 1)
    alone = [estimate(name, panel, Inference()) for name in names]
    monkeypatch.setattr(evidence.os, "cpu_count", lambda: cores)
    assert estimate_each(names, panel, Inference()) == alone


@pytest.mark.parametrize("most", [0, cohen.MAX_REMEMBERED_SUMS])
@pytest.mark.parametrize("rows", ["strangers", "one category", "some of each"])
def test_light_with_one_more_row_is_that_of_the_whole_table_of_weights(rows, most, monkeypatch):
    """Pairs of few raters are summed in one way, and those of many in another."""
    monkeypatch.setattr(cohen, "MAX_REMEMBERED_SUMS", most)
    codes = {
        "strangers": [[0, 0, -1], [1, 0, -1], [-1, 1, 1], [-1, 0, 1]],
        "one category": [[0, 0, 1], [0, 0, 0], [0, 0, 2], [0, 0, 1]],
        "some of each": [[0, 1, 2], [2, 2, -1], [1, 0, 0], [2, 2, 2]],
    }[rows]
    scale, weights = Scale(tuple("xyz")), np.array([3.0, 1.0, 0.0, 0.5])
    form = LabelsByRater(codes, weights, scale=scale, raters=tuple("abc")).with_unseen(3.0)
    unseen = form.weights.shape[-1] - len(weights)
    plain = form.with_weights(np.hstack([np.tile(weights, (unseen, 1)), 2.0 * np.eye(unseen)]))
    expected = FORMS["light_kappa"](plain)
    found = FORMS["light_kappa"](
        plain.with_known_weights(KnownWeights(SeenRows(weights), np.arange(unseen)))
    )
    for part, slow in zip(found[:3], expected[:3], strict=True):
        assert part == pytest.approx(slow, abs=1e-12, nan_ok=True)
