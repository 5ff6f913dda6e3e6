"""What holds of every registered measure on any table, including one registered tomorrow."""

from dataclasses import replace
from itertools import product

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from agreement_pipeline.measures import MEASURES
from agreement_pipeline.measures.registry import never
from agreement_pipeline.ratings import LARGEST, Scale
from agreement_pipeline.statistics import NumbersByRater, ReplicatedNumbers
from tests.forms import FORMS
from tests.properties.tables import Table, labels_of_one_rater, levels_of, scale_of, tables

pytestmark = pytest.mark.slow


def of_measures(wanted=lambda record: True, among=FORMS):
    chosen = {name: record for name, record in among.items() if wanted(record)}
    return pytest.mark.parametrize("record", chosen.values(), ids=list(chosen))


every_measure = of_measures()
every_function = of_measures(among=MEASURES)
"""Weights and order are the business of a function, whatever distance it is given."""
# Half a minute in all, however many measures there are.
quickly = settings(max_examples=max(8, 400 // len(FORMS)))


def of_denominator(record):
    """The reasons of a measure that hold wherever it has no value and nothing else holds."""
    return {condition.reason for condition in record.undefined if condition.holds is never}


@every_measure
@quickly
@given(data=st.data())
def test_a_value_lies_within_its_bounds_and_is_missing_exactly_for_a_declared_reason(record, data):
    statistic = data.draw(tables(record)).statistic(record)
    found, why = record(statistic), record.why_undefined(statistic)
    there = found.value[~np.isnan(found.value)]
    assert (there >= record.bounds[0] - 1e-9).all()
    assert (there <= record.bounds[1] + 1e-9).all()
    assert bool(there.size) == (why is None)
    if why not in of_denominator(record):
        return
    if found.expected is None or found.greatest is None:
        assert float(found.greatest if found.expected is None else found.expected) == 0
    else:
        assert float(found.greatest - found.expected) <= 1e-9


def small(codes, labels, cells=(), weight=1.0):
    """A table of two categories: what raters said of each item, and what two classifiers said."""
    weights = np.full(len(codes), weight)
    return Table(np.array(codes), np.array(labels), dict(cells), weights, scale_of("nominal", 2))


DEGENERATE = {
    "one category": small([[0, 0]] * 3, [[0, 0]] * 3, {(0, 0): [2, 0], (0, 1): [2, 0]}),
    "one rater": small([[0], [1]], [[0, 0], [1, 1]], {(0, 0): [1, 1]}),
    "no pairs": small([[0, -1], [-1, 1]], [[0, -1], [1, 1]], {(0, 0): [1, 1], (1, 1): [1, 1]}),
    "pairs of one category": small([[0, 0], [-1, 1]], [[0, 0], [1, 0]], {(0, 0): [2, 0]}),
    "a pair of one category": small(
        [[0, 0, -1], [1, -1, 0], [-1, 1, 1]], [[0, 0], [0, 0], [-1, 1]], {(0, 0): [1, 1]}
    ),
    "a silent rater": small([[0, 1, -1], [1, 1, -1]], [[0, -1], [1, -1]], {(0, 2): [1, 1]}),
    "classifier never met": small([[0, 1], [-1, -1]], [[-1, -1], [1, 0]]),
    "no replicates": small([[0, 1], [1, 1]], [[0, 0], [1, 0]]),
    "nothing at all": small([[-1, -1]] * 2, [[-1, -1]] * 2),
    "weightless": small([[0, 1], [1, 1]], [[0, 0], [1, 1]], {(0, 0): [1, 1]}, weight=0.0),
}


@every_measure
def test_on_a_degenerate_table_a_value_is_missing_for_a_declared_reason_or_there(record):
    for (what, table), level in product(DEGENERATE.items(), levels_of(record)):
        statistic = replace(table, scale=scale_of(level, 2)).statistic(record)
        has_value = bool((~np.isnan(record(statistic).value)).any())
        assert has_value == (record.why_undefined(statistic) is None), (what, level)


NOT_AGREEMENT = {
    "alpha_influence": "a difference of two agreements, 0 where both are perfect",
    "alpha_gain": "a difference of two agreements, 0 where both are perfect",
    "recall_beside_raters": "a difference of two shares, 0 where both are perfect",
    "precision_beside_raters": "a difference of two shares, 0 where both are perfect",
    "williams_index": "a ratio of two agreements, 1 where both are perfect",
    "advantage_probability": "how often the classifier does as well as a rater: a comparison, "
    "in which perfect raters and classifier tie",
}


@of_measures(lambda record: record.name not in NOT_AGREEMENT)
@quickly
@given(data=st.data())
def test_perfect_agreement_gives_the_greatest_value(record, data):
    level = data.draw(st.sampled_from(levels_of(record)))
    again = data.draw(st.lists(st.integers(0, 1), max_size=4))
    sizes = data.draw(st.permutations([(k, raters) for k in (2, 3, 4) for raters in (2, 3, 4)]))
    perfect = (
        unanimous(level, k, raters, again) for k, raters in sizes
    )  # some measures are for two raters or two categories
    table = next(each for each in perfect if record.why_undefined(each.statistic(record)) is None)
    assert table.value(record) == pytest.approx(
        np.broadcast_to(record.bounds[1], table.value(record).shape), abs=1e-9
    )


def unanimous(level, k, raters, again):
    """Items of every category, with one more item for each category in `again`.

    All raters give it at every meeting, and so do the classifiers.
    """
    categories = [*range(k), *again]
    codes = np.repeat(np.array(categories)[:, None], raters, axis=1)
    cells = {
        (u, r): [4 * (c == label) for c in range(k)]
        for u, label in enumerate(categories)
        for r in range(raters)
    }
    return Table(
        codes, np.repeat(codes[:, :1], 2, axis=1), cells, np.ones(len(codes)), scale_of(level, k)
    )


def renamed(table, order):
    """The table with its raters in another order, and so under other names."""
    cells = {(u, order.index(r)): counts for (u, r), counts in table.cells.items()}
    confidence = np.broadcast_to(table.confidence, table.codes.shape)[:, order]
    return replace(table, codes=table.codes[:, order], cells=cells, confidence=confidence)


def swapped(table, places):
    """The table in which raters swapped their ratings of each item."""
    confidence = np.broadcast_to(table.confidence, table.codes.shape)
    return replace(
        table,
        codes=np.take_along_axis(table.codes, places, 1),
        confidence=np.take_along_axis(confidence, places, 1),
    )


def spread(table):
    """The table with each item as often as it weighs."""
    order = np.repeat(np.arange(len(table.codes)), table.weights.astype(int))
    cells = {
        (new, r): counts
        for new, old in enumerate(order)
        for (u, r), counts in table.cells.items()
        if u == old
    }
    confidence = np.broadcast_to(table.confidence, table.codes.shape)[order]
    ones = np.ones(len(order))
    return Table(table.codes[order], table.labels[order], cells, ones, table.scale, confidence)


@every_function
@quickly
@given(data=st.data())
def test_neither_order_nor_names_nor_items_counted_together_change_a_value(record, data):
    table = data.draw(tables(record))
    items, raters = (data.draw(st.permutations(range(n))) for n in table.codes.shape)
    changed = {
        "items in another order": table.items(list(items)),
        "raters under other names": renamed(table, list(raters)),
        "each item as often as it weighs": spread(table),
    }
    if record.exchangeable:
        places = [data.draw(st.permutations(raters)) for _ in table.codes]
        changed["exchangeable raters swap their ratings"] = swapped(table, np.array(places))
    expected = pytest.approx(table.value(record), abs=1e-9, nan_ok=True)
    for what, other in changed.items():
        assert other.value(record) == expected, what


@of_measures(lambda record: "nominal" in record.levels)
@quickly
@given(data=st.data())
def test_on_the_nominal_level_the_names_of_categories_do_not_matter(record, data):
    table = data.draw(tables(record, level="nominal"))
    k = len(table.scale.names)
    new = np.array([*data.draw(st.permutations(range(k))), -1])  # the last one keeps -1 missing
    cells = {
        place: [counts[list(new[:k]).index(c)] for c in range(k)]
        for place, counts in table.cells.items()
    }
    renamed = replace(table, codes=new[table.codes], labels=new[table.labels], cells=cells)
    before = table.value(record)
    expected = before[[list(new[:k]).index(c) for c in range(k)]] if record.per_category else before
    assert renamed.value(record) == pytest.approx(expected, abs=1e-9, nan_ok=True)


@of_measures(lambda record: "interval" in record.levels)
@quickly
@given(
    data=st.data(),
    factor=st.sampled_from([1e-6, 0.5, 3.0, 1e6]),
    shift=st.sampled_from([-10.0, 0.0, 7.0]),
)
def test_on_the_interval_level_unit_and_zero_do_not_matter(record, data, factor, shift):
    table = data.draw(tables(record, level="interval"))
    moved = Scale(
        tuple(factor * score + factor * shift for score in table.scale.categories), "interval"
    )
    assert replace(table, scale=moved).value(record) == pytest.approx(
        table.value(record), abs=1e-7, nan_ok=True
    )


@every_function
@quickly
@given(data=st.data())
def test_statistics_of_two_halves_add_up_and_a_leading_axis_of_weights_is_a_loop(record, data):
    table = data.draw(tables(record, least_items=2))
    cut = data.draw(st.integers(1, len(table.codes) - 1))
    halves = [
        table.items(list(part)).statistic(record)
        for part in (range(cut), range(cut, len(table.codes)))
    ]
    together, whole = halves[0] + halves[1], table.statistic(record)
    assert together.n_items == whole.n_items
    # Labels of panels are those of items, and no ratings.
    assert record.needs == "label" or together.n_ratings == whole.n_ratings
    assert record(together).value == pytest.approx(record(whole).value, abs=1e-9, nan_ok=True)

    rng = np.random.default_rng(data.draw(st.integers(0, 99)))
    draws = rng.gamma(whole.weights, size=(4, len(whole.weights)))
    draws[1:] *= rng.random(draws[1:].shape) < 0.7  # some items have no weight in some draws
    at_once = record(whole.with_weights(draws))
    singly = [record(whole.with_weights(draw)) for draw in draws]
    for part in ("value", "observed", "expected", "greatest"):
        if getattr(singly[0], part) is not None:
            stacked = np.stack(
                [np.broadcast_to(getattr(one, part), one.value.shape) for one in singly]
            )
            assert np.broadcast_to(getattr(at_once, part), stacked.shape) == pytest.approx(
                stacked, abs=1e-9, nan_ok=True
            )


def random_numbers(record, level, size=1.0):
    """Six items of four raters, or six cells of four meetings, on a scale without categories."""
    rng = np.random.default_rng(0)
    scale = Scale(None, level, dimensions=2 if level == "multivariate interval" else 1)
    numbers = size * rng.random((6, 1, scale.dimensions)) * rng.random((6, 4, scale.dimensions))
    if record.needs == "replicates":  # each of two raters gives each item two of its four numbers
        return ReplicatedNumbers(
            numbers.reshape(12, 2, -1),
            np.repeat(range(6), 2),
            [0, 1] * 6,
            np.ones(6),
            scale=scale,
            raters="ab",
        )
    if record.needs == "panel":
        return NumbersByRater(numbers[:, :3], scale=scale, raters="abc").with_classifier(
            numbers[:, 3], "model"
        )
    by_rater = NumbersByRater(numbers, scale=scale, raters="abcd")
    return labels_of_one_rater(by_rater) if record.needs == "label" else by_rater


of_numbers = of_measures(lambda record: record.needs == "values" or record.continuous)


@of_numbers
def test_a_draw_that_gives_no_item_weight_has_no_value_and_leaves_the_others_theirs(record):
    for level in record.levels - {"nominal"}:
        statistic = random_numbers(record, level)
        found = record(statistic.with_weights(np.array([np.ones(6), np.zeros(6)]))).value
        assert found == pytest.approx([float(record(statistic).value), np.nan], nan_ok=True)
        assert not np.isnan(found[0])


@of_numbers
def test_numbers_of_any_size_have_the_value_of_small_ones_and_finite_parts(record):
    for level in record.levels - {"nominal"}:
        found = record(random_numbers(record, level, size=LARGEST))
        assert found.value == pytest.approx(record(random_numbers(record, level)).value, rel=1e-9)
        assert np.isfinite(
            [part for part in (found.observed, found.expected) if part is not None]
        ).all()
