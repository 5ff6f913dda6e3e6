"""Every measure of counted ratings is undefined exactly when declared, and so is each resample."""

from functools import cache
from itertools import combinations_with_replacement, permutations, product

import numpy as np
import pytest

from agreement_pipeline import Scale
from agreement_pipeline.estimates import estimate
from agreement_pipeline.intervals import Inference
from agreement_pipeline.statistics import LabelsByRater
from tests.forms import FORMS
from tests.measures.panels import panel_of

SCALES = {
    "nominal": lambda k: Scale(tuple("abcd"[:k])),
    "ordinal": lambda k: Scale(tuple("abcd"[:k]), "ordinal"),
    "interval": lambda k: Scale((-1.0, 0.5, 2.0, 7.0)[:k], "interval"),
    "ratio": lambda k: Scale((0.0, 1.0, 3.0, 4.0)[:k], "ratio"),
}
SHAPES = [(1, 1, 2), (2, 1, 2), (2, 1, 3), (2, 2, 2), (2, 2, 3), (3, 1, 3), (3, 2, 2)]
COUNTED = {
    name: record
    for name, record in FORMS.items()
    if record.needs in ("counts", "patterns", "panel", "groups")
}
CASES = [
    (name, level)
    for name, record in COUNTED.items()
    for level in (SCALES if record.levels >= set(SCALES) else [max(record.levels)])
]


def codes_of(n_raters, n_items, n_categories):
    """Every table of that shape, up to the order of its items. A rating may be missing."""
    rows = list(product(range(-1, n_categories), repeat=n_raters))
    return (np.array(table) for table in combinations_with_replacement(rows, n_items))


def random_codes(rng):
    n_raters, n_items, n_categories = rng.integers(1, 5), rng.integers(1, 6), rng.integers(2, 5)
    codes = rng.integers(-1, rng.integers(1, n_categories + 1), size=(n_items, n_raters))
    return codes, int(n_categories)


def tables():
    rng = np.random.default_rng(20)
    for n_raters, n_items, n_categories in SHAPES:
        for codes in codes_of(n_raters, n_items, n_categories):
            yield codes, n_categories
    for _ in range(100):
        yield random_codes(rng)


TABLES = list(tables())


def with_raters_in_order(codes, needs):
    """The same for all tables that are equal but for the order of items and of raters.

    Nobody asks of counts which rater said what. `tests/properties` shows that no value depends on
    the names of raters. The classifier, and the second group, keep their places.
    """
    if needs == "counts":
        return tuple(sorted(map(tuple, np.sort(codes, 1))))
    n = codes.shape[1]
    others = {"patterns": 0, "panel": 1, "groups": n // 2}[needs]
    orders = ([*one, *range(n - others, n)] for one in permutations(range(n - others)))
    return min(tuple(sorted(map(tuple, codes[:, order].tolist()))) for order in orders)


@cache
def tables_for(needs):
    distinct = {(k, codes.shape, with_raters_in_order(codes, needs)): codes for codes, k in TABLES}
    return [(codes, k) for (k, *_), codes in distinct.items()]


def statistic(codes, scale, needs, weights=None):
    """A table of codes as the statistic that a measure needs.

    The last column is a panel's classifier. The last half of the columns is the second group.
    """
    if needs == "panel":
        return panel_of(codes, scale, weights)
    patterns = LabelsByRater(
        codes, weights, scale=scale, raters=[f"r{j}" for j in range(codes.shape[1])]
    )
    if needs == "groups":
        n_raters = codes.shape[1]
        return patterns.in_groups(patterns.raters[n_raters - n_raters // 2 :])
    return patterns if needs == "patterns" else patterns.counts()


@cache
def statistics(needs, level):
    """All tables as a statistic, made once for all measures that need it."""
    return [statistic(codes, SCALES[level](k), needs) for codes, k in tables_for(needs)]


@pytest.mark.parametrize(("name", "level"), CASES)
def test_the_value_is_nan_exactly_when_a_condition_is_declared_to_hold(name, level):
    record, undefined = FORMS[name], set()
    for of, (codes, k) in zip(
        statistics(record.needs, level), tables_for(record.needs), strict=True
    ):
        value, why = record(of).value, record.why_undefined(of)
        assert np.isnan(value).all() == (why is not None), (codes.tolist(), k, value, why)
        undefined.add(why is not None)
    assert undefined == {False, True}


@pytest.mark.parametrize(("name", "level"), CASES)
def test_a_row_without_weight_is_as_good_as_absent(name, level):
    record = FORMS[name]
    rng = np.random.default_rng(21)
    for _ in range(20):
        codes, k = random_codes(rng)
        ghost = rng.integers(-1, k, size=codes[:1].shape)
        scale = SCALES[level](k)
        alone = statistic(codes, scale, record.needs)
        haunted = statistic(
            np.vstack([codes, ghost]), scale, record.needs, np.append(np.ones(len(codes)), 0.0)
        )
        assert record.why_undefined(alone) == record.why_undefined(haunted)
        np.testing.assert_allclose(
            record(alone).value, record(haunted).value, rtol=1e-9, atol=1e-12
        )


@pytest.mark.parametrize(("name", "level"), CASES)
def test_a_value_comes_with_an_interval_around_it(name, level):
    record = FORMS[name]
    truth = np.random.default_rng(24).integers(0, 2, size=(80, 1))
    codes = np.where(np.random.default_rng(25).random((80, 4)) < 0.8, truth, 1 - truth)
    of = statistic(
        codes if record.needs in ("panel", "groups") else codes[:, :2],
        SCALES[level](2),
        record.needs,
    )
    found = estimate(name, of, Inference(n_resamples=200))
    assert found.interval.low < found.value < found.interval.high
