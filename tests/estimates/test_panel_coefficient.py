"""Who differs by a coefficient of a fixed panel, and who by alpha."""

from itertools import combinations

import numpy as np
import pytest
from scipy.stats import binom
from sklearn.metrics import cohen_kappa_score

from agreement_pipeline import Scale
from agreement_pipeline.estimates import panel_coefficient, standing_out
from agreement_pipeline.estimates.panel_coefficient import PanelCoefficient, find_panel_measure
from agreement_pipeline.estimates.standing_out import _find_large_rises
from agreement_pipeline.intervals import leave_out_groups
from agreement_pipeline.measures import MEASURES
from agreement_pipeline.statistics import Clusters, LabelsByRater, NumbersByRater
from benchmarks.studies.standing_out import BY_COEFFICIENT, names_in_rounds

NAMES = ("ana", "ben", "cyd", "dan", "eve")


def numbers_of(values, clusters=None):
    raters = NAMES[: np.shape(values)[1]]
    return NumbersByRater(values, scale=Scale(None, "interval"), raters=raters, clusters=clusters)


def labels_of(codes, clusters=None):
    scale, raters = Scale(("x", "y", "z")), NAMES[: np.shape(codes)[1]]
    return LabelsByRater(codes, scale=scale, raters=raters, clusters=clusters)


def draw_numbers(n_items=120, n_raters=4, spread_of_first=3.0, bias_of_first=0.0, seed=1):
    rng = np.random.default_rng(seed)
    errors = rng.normal(0, 1, (n_items, n_raters))
    errors[:, 0] = errors[:, 0] * spread_of_first + bias_of_first
    return rng.normal(0, 3, (n_items, 1)) + errors


def draw_codes(n_items=120, n_raters=4, errors_of_first=0.5, seed=2):
    rng = np.random.default_rng(seed)
    errors = np.where(np.arange(n_raters) == 0, errors_of_first, 0.1)
    true = rng.integers(0, 3, (n_items, 1))
    is_wrong = rng.random((n_items, n_raters)) < errors
    return np.where(is_wrong, rng.integers(0, 3, (n_items, n_raters)), true)


def loop_icc(rows, *, consistency):
    """The two-way analysis of variance, rating by rating."""
    n, k = len(rows), len(rows[0])
    items = [sum(row) / k for row in rows]
    raters = [sum(row[r] for row in rows) / n for r in range(k)]
    mean = sum(items) / n
    bms = k * sum((item - mean) ** 2 for item in items) / (n - 1)
    jms = n * sum((rater - mean) ** 2 for rater in raters) / (k - 1)
    ems = sum(
        (rows[i][r] - items[i] - raters[r] + mean) ** 2 for i in range(n) for r in range(k)
    ) / ((n - 1) * (k - 1))
    habits = 0 if consistency else k * (jms - ems) / n
    return (bms - ems) / (bms + (k - 1) * ems + habits)


def loop_conger(rows):
    """Observed and chance agreement pair by pair of raters."""
    pairs = [*combinations(range(len(rows[0])), 2)]
    observed = sum(sum(row[a] == row[b] for row in rows) / len(rows) for a, b in pairs)
    by_chance = sum(
        sum(row[a] == other[b] for row in rows for other in rows) / len(rows) ** 2 for a, b in pairs
    )
    return (observed - by_chance) / (len(pairs) - by_chance)


def loop_light(rows):
    columns = [*zip(*rows, strict=True)]
    return np.mean([cohen_kappa_score(a, b) for a, b in combinations(columns, 2)])


LOOPS = {
    "icc_2_1": lambda rows: loop_icc(rows, consistency=False),
    "icc_3_1": lambda rows: loop_icc(rows, consistency=True),
    "conger_kappa": loop_conger,
    "light_kappa": loop_light,
}


def panel_of(name, n_items=120):
    return (
        numbers_of(draw_numbers(n_items))
        if name.startswith("icc")
        else labels_of(draw_codes(n_items))
    )


def rows_of(panel):
    return panel.cell_values.reshape(len(panel.weights), -1).tolist()


@pytest.mark.parametrize("name", LOOPS)
def test_the_value_with_and_without_the_rater_is_that_of_a_slow_loop(name):
    panel, loop = panel_of(name), LOOPS[name]
    (rater,) = standing_out(panel, name).raters
    rows = rows_of(panel)
    assert rater.name == "ana"
    assert rater.value == pytest.approx(loop(rows))
    assert rater.value_without == pytest.approx(loop([row[1:] for row in rows]))
    assert rater.sentence.startswith(f"ana differs from the rest: {name} is 0.")


@pytest.mark.parametrize("name", LOOPS)
def test_the_luck_of_items_is_that_of_each_left_out_in_turn(name):
    n = 40
    panel, loop = panel_of(name, n), LOOPS[name]
    coefficient = PanelCoefficient.from_panel(MEASURES[name], panel)
    rows = rows_of(panel)

    def rise(some):
        return loop([row[1:] for row in some]) - loop(some)

    left_out = np.array([rise(rows[:item] + rows[item + 1 :]) for item in range(n)])
    error = np.sqrt((n - 1) / n * ((left_out - left_out.mean()) ** 2).sum())
    assert coefficient.rise(NAMES[1:4]) == pytest.approx(rise(rows))
    assert coefficient.error_of_rise(NAMES[1:4], n) == (pytest.approx(error), n)


def test_the_luck_of_clusters_has_the_degrees_of_freedom_of_kishs_formula():
    sizes = np.repeat([6, 1], [20, 30])
    places = np.repeat(np.arange(50), sizes)
    values = draw_numbers(len(places))
    panel = numbers_of(values, Clusters.from_names(places))
    (rise,) = _find_large_rises(panel, PanelCoefficient.from_panel(MEASURES["icc_3_1"], panel))[1]

    def without(place):
        rows = values[places != place].tolist()
        return LOOPS["icc_3_1"]([row[1:] for row in rows]) - LOOPS["icc_3_1"](rows)

    left_out = np.array([without(place) for place in range(50)])
    units = round(sizes.sum() ** 2 / (sizes**2).sum())
    squares = ((left_out - left_out.mean()) ** 2).sum() * (49 / 50) ** 2
    assert (rise.name, rise.units) == ("ana", units)
    assert rise.error == pytest.approx(np.sqrt(units / (units - 1) * squares))


@pytest.mark.parametrize("clusters", [None, Clusters.from_names(np.arange(3_000) // 3)])
def test_of_many_items_groups_are_left_out_whatever_the_names_of_raters(clusters, monkeypatch):
    panel = numbers_of(draw_numbers(3_000), clusters)
    renamed = NumbersByRater(
        panel.values[:, ::-1], scale=panel.scale, raters=("z", "y", "x", "w"), clusters=clusters
    )
    in_groups = PanelCoefficient.from_panel(MEASURES["icc_3_1"], panel)
    error, units = in_groups.error_of_rise(NAMES[1:4], 3_000)
    assert units == panel_coefficient.N_GROUPS
    again = PanelCoefficient.from_panel(MEASURES["icc_3_1"], renamed)
    assert again.error_of_rise(("z", "y", "x"), 3_000) == (pytest.approx(error), units)
    monkeypatch.setattr(panel_coefficient, "MAX_WEIGHTS", 10**8)
    one_by_one = PanelCoefficient.from_panel(MEASURES["icc_3_1"], panel)
    assert error == pytest.approx(one_by_one.error_of_rise(NAMES[1:4], 3_000)[0], rel=0.35)


def test_groups_of_labels_do_not_depend_on_the_names_of_raters(monkeypatch):
    monkeypatch.setattr(panel_coefficient, "MAX_WEIGHTS", 0)
    codes = draw_codes(400)
    errors = []
    for order in ([0, 1, 2, 3], [2, 0, 3, 1]):
        panel = labels_of(codes[:, order]).merged()
        coefficient = PanelCoefficient.from_panel(MEASURES["conger_kappa"], panel)
        others = [name for name, column in zip(panel.raters, order, strict=True) if column]
        errors.append(coefficient.error_of_rise(others, 400))
    assert errors[0] == (pytest.approx(errors[1][0]), 40)


def test_each_item_and_each_cluster_is_in_one_group():
    codes = draw_codes(90)
    for clusters in (None, Clusters.from_names(np.arange(90) // 2)):
        panel = labels_of(codes, clusters)
        blocks = [weights for weights, _ in leave_out_groups(panel, 20, 0)]
        left_out = panel.weights - np.concatenate(blocks)
        assert left_out.shape == (20, 90)
        assert (left_out.sum(0) == 1).all()
        unit_size = 1 if clusters is None else 2
        assert {*left_out.sum(1)} <= {4, 5} if unit_size == 1 else {*left_out.sum(1)} <= {4, 6}
        if clusters is not None:
            assert (left_out[:, ::2] == left_out[:, 1::2]).all()


def test_a_constant_bias_is_no_cause_where_consistency_is_read_and_is_one_of_alpha():
    biased = numbers_of(draw_numbers(300, spread_of_first=1, bias_of_first=3))
    for name in ("icc_3_1", "icc_3_k"):
        assert standing_out(biased, name).finding == "nobody"
    for name in ("krippendorff_alpha", "icc_1_1", "icc_2_1", "icc_2_k", "lin_ccc"):
        assert [rater.name for rater in standing_out(biased, name).raters] == ["ana"]
    noisy = numbers_of(draw_numbers(300))
    for name in ("krippendorff_alpha", "icc_2_1", "icc_3_1", "icc_3_k", "janson_olsson_iota"):
        assert [rater.name for rater in standing_out(noisy, name).raters] == ["ana"]


def test_two_camps_that_a_constant_parts_are_none_where_consistency_is_read():
    rng = np.random.default_rng(5)
    alike = rng.normal(0, 3, (300, 1)) + rng.normal(0, 0.5, (300, 4))
    shifted = numbers_of(alike + np.array([0, 0, 4, 4]))
    assert standing_out(shifted).finding == "camps"
    assert standing_out(shifted, "icc_3_1").finding == "nobody"
    parted = alike.copy()
    parted[:, 2:] += rng.normal(0, 3, (300, 1))
    for name in ("krippendorff_alpha", "icc_3_1"):
        assert standing_out(numbers_of(parted), name).finding == "camps"


def test_a_rater_is_compared_on_the_items_that_all_rated():
    """The first rates the hard items alone, and does so as well as the others."""
    rng = np.random.default_rng(6)
    is_hard = np.arange(400) % 2 == 0
    values = rng.normal(0, 3, (400, 1)) + rng.normal(0, 1, (400, 4)) * np.where(
        is_hard[:, None], 3, 0.5
    )
    values[~is_hard, 0] = np.nan
    panel = numbers_of(values)
    assert standing_out(panel, "icc_3_1").finding == "nobody"
    coefficient = PanelCoefficient.from_panel(MEASURES["icc_3_1"], panel)
    rows = values[is_hard].tolist()
    assert coefficient.value(panel.raters) == pytest.approx(LOOPS["icc_3_1"](rows))
    assert coefficient.value(panel.raters[1:]) == pytest.approx(
        LOOPS["icc_3_1"]([row[1:] for row in rows])
    )


def test_one_who_alone_gives_a_category_differs_and_without_them_there_is_no_value():
    labels = labels_of([[0, 0, 0, int(item < 8)] for item in range(200)])
    found = standing_out(labels, "conger_kappa")
    (rater,) = found.raters
    assert (rater.name, rater.value_without) == ("dan", None)
    assert found.sentence.startswith("dan differs from the rest: conger_kappa is ")
    assert " and all others gave one and the same label. " in found.sentence


def test_where_the_coefficient_takes_too_long_or_has_no_value_alpha_says_who_differs(monkeypatch):
    values = draw_numbers()
    values[np.arange(120), np.arange(120) % 4] = np.nan
    no_item_of_all = standing_out(numbers_of(values), "icc_3_1")
    assert [rater.coefficient for rater in no_item_of_all.raters] == ["α"]
    assert no_item_of_all.sentence.endswith(
        " who is right. This was found with α, because icc_3_1 has no value."
    )
    monkeypatch.setattr(panel_coefficient, "MAX_CELLS", 1_000)
    too_long = standing_out(numbers_of(draw_numbers(spread_of_first=1)), "icc_3_1")
    assert too_long.finding == "nobody"
    assert too_long.sentence.endswith(
        "beyond chance. This was found with α, because icc_3_1 without each rater takes too long "
        "for 4 raters on 120 items."
    )


def test_alpha_is_asked_unless_raters_are_compared_by_name_in_linear_time():
    inter_rater = [name for name, measure in MEASURES.items() if measure.question == "inter-rater"]
    found = {name: find_panel_measure(name) for name in [*inter_rater, "self_agreement_unbiased"]}
    assert {name: measure.name for name, measure in found.items() if measure} == {
        "light_kappa": "light_kappa",
        "shah_kappa_s": "shah_kappa_s",
        "conger_kappa": "conger_kappa",
        "conger_kappa_linear": "conger_kappa_linear",
        "conger_kappa_quadratic": "conger_kappa_quadratic",
        "icc_2_1": "icc_2_1",
        "icc_2_k": "icc_2_1",
        "icc_3_1": "icc_3_1",
        "icc_3_k": "icc_3_1",
        "lin_ccc": "lin_ccc",
        "janson_olsson_iota": "janson_olsson_iota",
    }


@pytest.mark.parametrize("title", [each for each in BY_COEFFICIENT if each.startswith("alike")])
def test_of_raters_who_are_alike_at_most_one_in_forty_rounds_names_somebody(title):
    name, population = BY_COEFFICIENT[title]
    n_rounds = 40 if population.n_items > 1_000 else 160
    n_named = sum(map(bool, names_in_rounds(population, n_rounds, name)))
    assert n_named <= binom.ppf(0.999, n_rounds, 0.025)


CAUSES = [title for title in BY_COEFFICIENT if not title.startswith("alike")]


@pytest.mark.parametrize("title", CAUSES)
def test_one_with_errors_is_named_and_one_with_a_bias_only_where_it_costs_agreement(title):
    name, population = BY_COEFFICIENT[title]
    names = names_in_rounds(population, 40, name)
    assert not any({*named} - {"r00"} for named in names)
    costs_nothing = name == "icc_3_1" and getattr(population, "bias", 0) > 0
    n_named = sum("r00" in named for named in names)
    assert n_named <= 2 if costs_nothing else n_named >= 36
