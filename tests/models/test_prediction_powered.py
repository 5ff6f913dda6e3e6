"""The estimate is that of PPI++, and its limits hold on few labels."""

import json
from pathlib import Path
from statistics import NormalDist

import numpy as np
import pytest

from agreement_pipeline.intervals import share_interval
from agreement_pipeline.models.prediction_powered import Stratum, prediction_powered

CASES = json.loads((Path(__file__).parent / "ppi_python.json").read_text(encoding="utf-8"))


def stratum(labels, predicted, others):
    """Items of which the first are drawn."""
    every = np.array([*predicted, *others], dtype=float)
    n = len(labels)
    return Stratum(np.ones(len(every)), every, np.arange(n), np.array(labels, dtype=float))


def simulated(rng, n=60, n_items=600, share=0.3, right=0.9):
    true = rng.random(n_items) < share
    said = np.where(rng.random(n_items) < right, true, ~true).astype(float)
    return stratum(true[:n], said[:n], said[n:])


def test_the_estimate_and_its_error_are_those_of_the_authors_package():
    for number, case in enumerate(CASES):
        found = stratum(case["labels"], case["predicted"], case["others"])
        low, high = case["interval"]
        error = (high - low) / 2 / NormalDist().inv_cdf(0.95)
        assert found.value == pytest.approx(case["value"], abs=1e-9), number
        assert found.variances[1] ** 0.5 == pytest.approx(error, abs=1e-9), number


def slowly(groups):
    """PPI++ of units with sizes, unit by unit: the estimate and both variances."""
    total = sum(sum(sizes) for sizes, *_ in groups)
    value, classical, corrected = 0.0, 0.0, 0.0
    for sizes, predicted, drawn, labels in groups:
        units = range(len(sizes))
        others = [c for c in units if c not in drawn]
        inside, outside = sum(sizes[c] for c in drawn), sum(sizes[c] for c in others)
        y, f = sum(labels.values()) / inside, sum(predicted[c] for c in drawn) / inside
        u = sum(predicted[c] for c in others) / outside
        every = sum(predicted) / sum(sizes)
        per = inside / len(drawn)
        covariance = 0.0
        for c in drawn:
            covariance += (labels[c] - y * sizes[c]) * (predicted[c] - f * sizes[c]) / per**2
        spread = sum((predicted[c] - every * sizes[c]) ** 2 for c in units)
        spread /= (sum(sizes) / len(sizes)) ** 2 * (len(sizes) - 1)
        weight = covariance / len(drawn) / ((1 + len(drawn) / len(others)) * spread)
        weight = min(max(weight, 0.0), 1.0)
        share, n = sum(sizes) / total, len(drawn)
        value += share * (y + weight * (u - f))
        classical += share**2 * sum((labels[c] - y * sizes[c]) ** 2 for c in drawn) / per**2 / n**2
        rectified = 0.0
        for c in drawn:
            apart = labels[c] - y * sizes[c] - weight * (predicted[c] - f * sizes[c])
            rectified += (apart / per) ** 2 / n**2
        imputed = sum((predicted[c] - u * sizes[c]) ** 2 for c in others)
        imputed *= weight**2 / (outside / len(others)) ** 2 / len(others) ** 2
        corrected += share**2 * (rectified + imputed)
    return value, classical, corrected


def made(rng, n_units, n, clustered):
    sizes = rng.integers(1, 9, n_units) if clustered else np.ones(n_units, dtype=int)
    predicted = np.array([rng.binomial(size, 0.4) for size in sizes])
    drawn = np.sort(rng.choice(n_units, n, replace=False))
    labels = np.array([rng.binomial(sizes[c], 0.2 + 0.6 * predicted[c] / sizes[c]) for c in drawn])
    return sizes, predicted, drawn, labels


@pytest.mark.parametrize("seed", range(12))
@pytest.mark.parametrize("clustered", [False, True], ids=["items", "clusters"])
@pytest.mark.parametrize("n_strata", [1, 3])
def test_strata_and_clusters_are_those_of_a_slow_loop(seed, clustered, n_strata):
    rng = np.random.default_rng(seed)
    tables = [made(rng, 80, int(rng.integers(8, 30)), clustered) for _ in range(n_strata)]
    value, classical, corrected = slowly(
        [
            (s.tolist(), p.tolist(), d.tolist(), dict(zip(d.tolist(), y.tolist(), strict=True)))
            for s, p, d, y in tables
        ]
    )
    found = prediction_powered(
        [Stratum(s.astype(float), p.astype(float), d, y.astype(float)) for s, p, d, y in tables],
        0.95,
    )
    assert found.corrected.value == pytest.approx(value, abs=1e-12)
    assert found.times == pytest.approx(classical / corrected, rel=1e-9)


@pytest.mark.parametrize("n", [5, 30, 200])
@pytest.mark.parametrize("share", [0, 0.1, 0.5, 1])
def test_without_a_classifier_the_limits_are_those_of_clopper_and_pearson(n, share):
    n_ones = round(share * n)
    found = stratum([1] * n_ones + [0] * (n - n_ones), [0] * n, [0] * 50)
    exact = share_interval(n_ones, n, 0.95)
    one = prediction_powered([found], 0.95)
    assert [*one.classical.interval] == pytest.approx([*exact], abs=0.002 + 0.02 / n**0.5)
    assert one.corrected == one.classical
    assert one.tuning == (0.0,)


def test_a_good_classifier_narrows_the_interval_and_a_useless_one_does_not_widen_it():
    rng = np.random.default_rng(3)
    ratio = {}
    for right in (0.5, 0.98):
        widths = []
        for _ in range(30):
            found = prediction_powered([simulated(rng, n=200, right=right)], 0.95)
            widths.append([high - low for _, (low, high) in found[:2]])
        corrected, classical = np.mean(widths, axis=0)
        ratio[right] = corrected / classical
    assert ratio[0.98] < 0.6
    assert ratio[0.5] < 1.03


def test_errors_that_no_drawn_item_shows_stay_possible():
    rng = np.random.default_rng(4)
    perfect = simulated(rng, n=30, right=1.0)
    value, (low, high) = prediction_powered([perfect], 0.95).corrected
    assert value - low > 0.05
    assert high - value > 0.05


@pytest.mark.parametrize("label", [0.1, 1 / 3, 0.7])
def test_rounding_is_no_difference_between_labels(label):
    found = stratum([label] * 30, [label] * 30, [label] * 37)
    assert found.tuned == 0
    assert found.variances == (0, 0)


def test_a_population_that_is_labelled_whole_has_its_own_mean():
    rng = np.random.default_rng(5)
    whole = simulated(rng, n=600)
    found = prediction_powered([whole], 0.95)
    assert found.corrected.value == pytest.approx(whole.labels.mean())
    assert found.tuning == (0.0,)


def test_on_many_labels_the_estimate_agrees_with_that_of_rogan_and_gladen():
    """(apparent share + specificity - 1) / (sensitivity + specificity - 1)."""
    one = simulated(np.random.default_rng(6), n=20_000, n_items=400_000)
    positive, said = one.labels == 1, one.predicted[one.drawn] == 1
    sensitivity, specificity = said[positive].mean(), (~said[~positive]).mean()
    expected = (one.predicted.mean() + specificity - 1) / (sensitivity + specificity - 1)
    found = prediction_powered([one], 0.95).corrected
    assert found.value == pytest.approx(expected, abs=0.003)
    assert found.interval.low < expected < found.interval.high


@pytest.mark.parametrize("seed", range(8))
def test_estimates_and_limits_stay_inside_the_scale(seed):
    rng = np.random.default_rng(seed)
    n, share = int(rng.integers(2, 12)), rng.random() * 0.2
    found = prediction_powered([simulated(rng, n=n, share=share, right=0.6)], 0.95)
    for value, (low, high) in found[:2]:
        assert 0 <= low <= value <= high <= 1


@pytest.mark.parametrize(
    ("n", "share", "right"), [(30, 0.02, 0.9), (30, 0.3, 0.98), (200, 0.1, 0.9)]
)
def test_the_limits_hold_on_few_labels(n, share, right):
    """In 150 rounds, 5 % of misses give more than 17 in one of a thousand studies."""
    rng, missed, widths = np.random.default_rng(9), 0, np.zeros(2)
    for _ in range(150):
        one = simulated(rng, n=n, n_items=4_000, share=share, right=right)
        found = prediction_powered([one], 0.95)
        low, high = found.corrected.interval
        missed += not low <= share <= high
        widths += [high - low, found.classical.interval.high - found.classical.interval.low]
    assert missed <= 17
    assert widths[0] < 1.02 * widths[1]
