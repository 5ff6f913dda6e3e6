"""The coverage study.

A slow enumeration finds the true values of its populations. A stopped run can continue.
"""

import math
from itertools import product

import numpy as np
import pandas as pd
import pytest

from agreement_pipeline.estimates import estimate
from agreement_pipeline.intervals import Inference
from agreement_pipeline.measures import MEASURES
from benchmarks import coverage_study as study
from benchmarks import populations
from benchmarks.admitted_study import beyond_chance, row_of, with_truth
from benchmarks.populations import Population, Sample
from benchmarks.studies import study as studies


def rounds(population):
    """Every way in which a panel and a classifier can rate an item, and its probability."""
    share, given = population.classes
    for labels in product(range(population.categories), repeat=population.raters + 1):
        yield (
            labels,
            sum(
                part * math.prod(theta[label] for label in labels)
                for part, theta in zip(share, given, strict=True)
            ),
        )


def enumerated(population):
    """The true values, item by item of a population without missing ratings."""
    k, r = population.categories, population.raters
    agree = s_o = s_max = va_o = va_max = 0.0
    p = np.zeros(k)
    for (*panel, label), probability in rounds(population):
        c = np.bincount(panel, minlength=k)
        together = c * (c - 1) / (r * (r - 1))
        p += probability * c / r
        agree += probability * together.sum()
        s_o, s_max = s_o + probability * together[label], s_max + probability * together.max()
        va_o, va_max = va_o + probability * c[label] / r, va_max + probability * c.max() / r
    p_e = (p * (1 - p)).sum() / (k - 1)
    s_e, va_e = (p**3).sum(), (p**2).sum()
    return {
        "alpha_nominal": 1 - (1 - agree) / (1 - va_e),
        "gwet_ac1": (agree - p_e) / (1 - p_e),
        "shah_s": (s_o - s_e) / (s_max - s_e),
        "vanbelle_albert_kappa": (va_o - va_e) / (va_max - va_e),
        "self_agreement_unbiased": agree,
    }


@pytest.mark.parametrize("model", ["hard items", "careless raters"])
@pytest.mark.parametrize(
    ("raters", "categories", "commonest"), [(2, 2, None), (3, 4, 0.8), (5, 2, 0.95), (4, 3, None)]
)
def test_true_values_are_those_of_every_possible_item(model, raters, categories, commonest):
    population = Population(100, raters, categories, commonest, model, 0.0, 0.7)
    expected = enumerated(population)
    assert {name: population.truths[name] for name in expected} == pytest.approx(expected)


@pytest.mark.parametrize(
    ("raters", "categories", "model"), [(3, 4, "hard items"), (5, 2, "careless raters")]
)
def test_large_samples_come_to_the_true_values_missing_ratings_and_replicates_included(
    monkeypatch, raters, categories, model
):
    monkeypatch.setattr(populations, "MOST_REPLICATED", 20_000)
    population = Population(40_000, raters, categories, 0.8, model, 0.2, 0.75)
    sample = Sample.drawn(population, np.random.default_rng(0))
    of = {
        "alpha_nominal": ("krippendorff_alpha", sample.counts("nominal")),
        "alpha_ordinal": ("krippendorff_alpha", sample.counts("ordinal")),
        "alpha_interval": ("krippendorff_alpha", sample.counts("interval")),
        "shah_s": ("shah_s", sample.panel()),
        "vanbelle_albert_kappa": ("vanbelle_albert_kappa", sample.panel()),
        "shah_kappa_s": ("shah_kappa_s", sample.patterns()),
        **{
            name: (name, sample.replicates())
            for name in ("self_agreement", "self_agreement_unbiased", "campagner_cabitza_rho")
        },
    }
    for name, truth in population.truths.items():
        measure, statistic = of.get(name, (name, sample.counts("nominal")))
        assert float(MEASURES[measure](statistic).value) == pytest.approx(truth, abs=0.02), name


def test_every_factor_is_spread_evenly_over_any_first_part_of_the_design():
    for cells in (60, 300):
        every = populations.design(cells)
        assert len(set(every)) == cells
        for factor, levels in (
            ("n", 6),
            ("raters", 4),
            ("categories", 3),
            ("commonest", 3),
            ("model", 2),
            ("missing", 2),
        ):
            counts = np.unique([str(getattr(each, factor)) for each in every], return_counts=True)[
                1
            ]
            assert len(counts) == levels
            assert abs(counts - cells / levels).max() <= 0.15 * cells
        assert 0.5 <= min(each.truth for each in every) < 0.56
        assert 0.89 < max(each.truth for each in every) <= 0.95


def test_raters_who_differ_agree_as_their_mean_skill_squared_says():
    population = Population(20_000, 400, 2, 0.8, "careless raters", 0.0, 0.81, spread=1.0)
    sample = Sample.drawn(population, np.random.default_rng(0))
    assert set(population.truths) == {"alpha_nominal", "fleiss_kappa", "shah_kappa_s", "gwet_ac1"}
    for name, measure in (("alpha_nominal", "krippendorff_alpha"), ("gwet_ac1", "gwet_ac1")):
        assert float(MEASURES[measure](sample.counts("nominal")).value) == pytest.approx(
            population.truths[name], abs=0.02
        )
    right = (sample.codes == (sample.codes.mean(1, keepdims=True) > 0.5)).mean(0)
    assert right.std() > 0.02


def test_after_the_populations_of_these_raters_come_those_of_raters_at_large():
    every = populations.design(360)
    assert every[:300] == populations.design(300)
    assert [each.spread > 0 for each in every] == [False] * 300 + [True] * 60
    for factor, levels in (
        ("n", 3),
        ("raters", 3),
        ("categories", 2),
        ("commonest", 2),
        ("spread", 3),
    ):
        counts = np.unique(
            [str(getattr(each, factor)) for each in every[300:]], return_counts=True
        )[1]
        assert len(counts) == levels
        assert abs(counts - 60 / levels).max() <= 9


def test_a_third_rater_asked_where_two_differ_moves_measures_as_every_item_by_hand_says():
    """Of four items, pairs (0, 0), (0, 1), (1, 0), (1, 1) of a guessed one: half need a third."""
    guessed = 0.4
    every, asked = populations.where_two_differ(guessed)
    three = asked.given.sum(1) == 3
    share = asked.weights / asked.weights.sum()
    assert share[three].sum() == pytest.approx(guessed / 2)
    assert (asked.codes[~three, 0] == asked.codes[~three, 1]).all()
    differing = share @ np.where(three, 2 / 3, 0)
    assert differing == pytest.approx(guessed / 2 * 2 / 3)
    of = MEASURES["percent_agreement"]
    assert float(of(asked.counts()).value) == pytest.approx(1 - differing)
    assert float(of(every.counts()).value) == pytest.approx(1 - guessed / 2)


def test_the_true_value_of_a_mixture_is_that_of_many_drawn_items():
    (camps,) = (each for each in populations.NAMED if "camps" in each.name)
    ((weights, _),) = camps.rounds(200_000, 1, 0)
    for name in camps.measures:
        found = MEASURES[name](camps.statistic(name, weights.astype(float))).value
        assert float(found) == pytest.approx(camps.truth(name), abs=0.01), name


def test_numbers_with_some_large_errors_have_their_true_value():
    for errors in populations.OPEN_SCALES:
        numbers = errors.drawn(100_000, np.random.default_rng(1))
        found = float(MEASURES["icc_1_1"](numbers).value)
        assert found == pytest.approx(errors.truth, abs=0.015), errors.name


def test_one_rater_in_seven_guesses_and_two_raters_agree_as_often_as_their_skills_say():
    rng = np.random.default_rng(0)
    rounds = [populations.with_guessers(1000, 2, rng) for _ in range(2000)]
    agree = np.mean(
        [each.weights[each.codes[:, 0] == each.codes[:, 1]].sum() / 1000 for each in rounds]
    )
    assert 2 * agree - 1 == pytest.approx(populations.TRUTH_OF_GUESSERS, abs=0.03)


def test_each_round_of_a_study_has_resamples_of_its_own(monkeypatch):
    """If all rounds had the same ones, their luck would be that of every round."""
    seeds = []

    def noted(measure, statistic, inference):
        seeds.append(inference.seed)
        return estimate(measure, statistic, inference)

    monkeypatch.setattr(studies, "estimate", noted)
    rounds = populations.guessed(0.1, 0.8, (60,), raters=3).statistics(studies.ALPHA, 60, 20)
    assert studies.limits(studies.ALPHA, rounds, Inference(n_resamples=50)).shape == (2, 20)
    assert len(set(seeds)) == len(seeds) > 10


def test_half_of_a_rare_category_overlooked_halves_alpha_of_it():
    """Of items of the rare category, two raters agree on a quarter and differ on half."""
    mixture = populations.overlooked(0.02, 0.5, (), 2)
    d_o, yes = 0.02 * 0.5, 0.02 * 0.5
    expected = 1 - d_o / (2 * yes * (1 - yes))
    assert mixture.truth("krippendorff_alpha") == pytest.approx(expected, abs=1e-6)


@pytest.mark.parametrize("measure", ["gwet_ac1", "shah_s", "vanbelle_albert_kappa"])
def test_a_population_is_moved_to_a_true_value_of_79(measure):
    designed = Population(60, 3, 2, 0.8, "careless raters", 0.0, 0.5)
    moved = with_truth(designed, measure)
    assert enumerated(moved)[measure] == pytest.approx(0.79, abs=1e-4)
    assert (moved.n, moved.prevalence.tolist()) == (60, pytest.approx([0.8, 0.2]))


def test_no_population_is_moved_where_chance_alone_gives_more():
    """All of AC1 is over 0.79 if nearly all items are of one category."""
    rare = Population(60, 3, 2, 0.95, "careless raters", 0.0, 0.5)
    assert with_truth(rare, "gwet_ac1") is None


def test_rounds_are_admitted_as_often_as_their_limits_say():
    """Nearly all limits of a truth of 1 are at 0.8 or more, and none of a truth of 0.3 is."""
    good, bad = (Population(250, 3, 2, None, "hard items", 0.0, truth) for truth in (1.0, 0.3))
    assert row_of(0, "fleiss_kappa", good, 10, 100)[-3:] == (10, 10, 10)
    assert row_of(0, "fleiss_kappa", bad, 10, 100)[-3:] == (10, 10, 0)


def test_holm_counts_the_populations_that_chance_does_not_explain():
    rows = pd.DataFrame({"rounds": [200, 200, 200], "admitted": [6, 12, 40]})
    assert beyond_chance(rows) == 2


SHORT = {"cells": range(2), "populations": 3, "draws": 100}


def test_a_run_that_was_stopped_is_taken_up_where_it_stopped(tmp_path):
    methods = ["bayesian_bootstrap", "jackknife_t", "item_bootstrap"]
    whole, parts = tmp_path / "whole.csv", tmp_path / "parts.csv"
    study.study(whole, passes=2, methods=methods, **SHORT)
    study.study(parts, passes=1, methods=methods[:1], **SHORT)
    study.study(parts, passes=2, methods=methods, share=(1, 2), **SHORT)
    study.study(parts, passes=2, methods=methods, share=(0, 2), **SHORT)
    before = parts.read_text()
    study.study(parts, passes=2, methods=methods, **SHORT)

    def plain(table):
        return sorted(row._replace(seconds=0.0) for row in study.rows_in(table))

    assert parts.read_text() == before
    assert str(plain(parts)) == str(plain(whole))


def test_a_short_run_has_every_method_and_measure_in_it(tmp_path):
    size = ["--cells", "3", "4", "--passes", "1", "--populations", "4", "--draws", "200"]
    study.main([*size, "--table", str(tmp_path / "short.csv")])
    rows = study.rows_in(tmp_path / "short.csv")
    assert {row.method for row in rows} == set(study.STUDIED)
    assert {row.measure for row in rows} == {
        name for measures in study.GROUPS.values() for name in measures
    }
    assert all(row.held_975 <= row.defined <= row.populations == 4 for row in rows)


def test_passes_are_summed_into_one_row_and_are_known_to_be_done(tmp_path):
    table, short = tmp_path / "table.csv", tmp_path / "short.csv"
    study.study(table, passes=3, methods=["jackknife_t"], **SHORT)
    rows, sums = study.rows_in(table), study.summed(study.rows_in(table))
    assert len(rows) == 3 * len(sums)
    for row in sums:
        mine = [each for each in rows if each[:4] == row[:4]]
        assert (row.first, row.passes, row.populations) == (0, 3, 9)
        assert [row.defined, row.held_95, row.held_975] == [
            sum(getattr(each, name) for each in mine) for name in ("defined", "held_95", "held_975")
        ]
    study.append(short, sums)
    assert study.done(short) == study.done(table)
    assert study.summed([*rows[:1], rows[0]._replace(first=2)]) == [
        rows[0],
        rows[0]._replace(first=2),
    ]


def test_the_lower_limit_holds_as_often_as_it_is_at_or_under_the_truth():
    population = populations.design()[4]
    samples = list(population.samples(5, [0, 0]))
    rows = {
        row.measure: row for row in study.rows_of(0, 4, population, ["jackknife_t"], samples, 50)
    }
    for level, held in ((0.90, "held_95"), (0.95, "held_975")):
        found = [
            estimate(
                "gwet_ac1",
                sample.counts("nominal"),
                Inference(confidence_level=level, method="jackknife_t"),
            )
            for sample in samples
        ]
        assert getattr(rows["gwet_ac1"], held) == sum(
            each.interval.low <= population.truths["gwet_ac1"] for each in found
        )
    assert rows["gwet_ac1"].populations == rows["gwet_ac1"].defined == 5


def test_where_raters_differ_the_methods_for_raters_at_large_are_studied(tmp_path):
    study.study(
        tmp_path / "table.csv",
        cells=[300],
        passes=1,
        populations=3,
        draws=100,
        methods=list(study.METHODS),
    )
    rows = study.rows_in(tmp_path / "table.csv")
    assert {row.method for row in rows} == set(study.AT_LARGE)
    assert {row.measure for row in rows} == {
        "alpha_nominal",
        "fleiss_kappa",
        "shah_kappa_s",
        "gwet_ac1",
    }
    assert all(row.defined == 3 for row in rows)
