"""Draws that can be drawn again, and limits that are honest where there is little to draw from."""

import numpy as np
import pytest
from threadpoolctl import threadpool_limits

from agreement_pipeline.estimates import estimate, estimate_each
from agreement_pipeline.intervals import Inference, draw_reweighted, evidence
from agreement_pipeline.intervals import draws as intervals
from agreement_pipeline.intervals.draws import map_in_order, quantile_interval
from agreement_pipeline.measures import MEASURES
from agreement_pipeline.ratings import Scale
from agreement_pipeline.statistics import CategoryCounts, Clusters, LabelsByRater

TWO = Scale(("no", "yes"))
SEEN = CategoryCounts([[3, 0], [2, 1], [0, 3]], [4, 2, 4], scale=TWO)


def weights_of(statistic, n, seed):
    return np.vstack([block.weights for block in draw_reweighted(statistic, n, seed)])


def test_the_same_seed_gives_the_same_draws_and_another_one_others():
    assert (weights_of(SEEN, 50, 1) == weights_of(SEEN, 50, 1)).all()
    assert (weights_of(SEEN, 50, 1) != weights_of(SEEN, 50, 2)).any(1).all()


def test_a_shorter_run_is_the_beginning_of_a_longer_one_across_blocks_too(monkeypatch):
    monkeypatch.setattr(
        intervals, "CELLS_PER_BLOCK", 7 * 20
    )  # SEEN and its unseen rows are 7: blocks of 20 draws
    assert [block.weights.shape for block in draw_reweighted(SEEN, 50, 1)] == [
        (20, 7),
        (20, 7),
        (10, 7),
    ]
    longer = weights_of(SEEN, 100, 1)
    for n in (1, 20, 33, 50):
        assert (weights_of(SEEN, n, 1) == longer[:n]).all()
    assert len(np.unique(longer[:, 0])) == 100


def test_a_table_larger_than_a_block_is_drawn_one_by_one(monkeypatch):
    monkeypatch.setattr(intervals, "CELLS_PER_BLOCK", 3)
    assert [block.weights.shape for block in draw_reweighted(SEEN, 2, 1)] == [(1, 7), (1, 7)]


@pytest.mark.parametrize("cores", [None, 1, 2, 7])
def test_draws_are_the_same_and_in_order_however_many_cores_make_them(monkeypatch, cores):
    monkeypatch.setattr(intervals.os, "cpu_count", lambda: cores)
    monkeypatch.setattr(intervals, "CELLS_PER_BLOCK", 35)
    counts = CategoryCounts([[3, 0], [2, 1], [0, 3]], [10, 5, 10], scale=Scale(("no", "yes")))
    children = np.random.SeedSequence(3).spawn(20)
    masses = counts.with_unseen(3.0).weights
    expected = np.vstack(
        [
            np.random.Generator(np.random.SFC64(child)).standard_gamma(masses, size=(5, 7))
            for child in children
        ]
    )[:98]
    found = np.vstack([block.weights for block in draw_reweighted(counts, 98, 3)])
    assert found == pytest.approx(expected * 25 / expected.sum(1, keepdims=True), rel=1e-12)


def test_no_more_is_made_ahead_than_there_are_cores_and_what_fails_is_raised_in_its_place():
    begun = []

    def made(place):
        begun.append(place)
        if place == 6:
            raise ValueError("place 6")
        return place

    found = map_in_order(made, range(9), cores=3, ahead=3)
    assert [next(found), next(found)] == [0, 1]
    assert max(begun) <= 4
    assert [next(found) for _ in range(4)] == [2, 3, 4, 5]
    with pytest.raises(ValueError, match="place 6"):
        next(found)


def test_every_draw_weighs_as_much_as_the_items_and_on_average_as_they_were_seen():
    drawn = weights_of(SEEN, 20_000, 3)
    assert drawn.sum(1) == pytest.approx(np.full(20_000, 10.0))
    seen_and_unseen = np.array([4, 2, 4, 0.75, 0.75, 0.75, 0.75])
    assert drawn.mean(0) == pytest.approx(10 * seen_and_unseen / 13, abs=0.03)


@pytest.mark.parametrize("n", [1, 2, 3, 39, 40, 41, 200, 999, 1000, 1001, 2586, 10_000])
def test_limits_are_those_of_numpys_quantile_whatever_the_draws(n):
    rng = np.random.default_rng(n)
    plain, tied = rng.normal(size=n), rng.integers(3, size=n) / 7
    broken = np.where(
        rng.random(n) < 0.05,
        np.nan,
        np.where(rng.random(n) < 0.05, -np.inf, np.where(rng.random(n) < 0.05, np.inf, tied)),
    )
    for draws in (plain, tied, broken, np.full(n, np.nan), np.full(n, 0.25)):
        for lower, upper in [
            (0.025, 0.975),
            (0.005, 0.995),
            (0.05, 0.95),
            (0.0, 1.0),
            (0.5, 0.5),
            *np.sort(rng.random((5, 2)), axis=1),
        ]:
            low, high = quantile_interval(draws, lower, upper, (-np.inf, 1.0))
            assert low == np.quantile(
                np.where(np.isnan(draws), -np.inf, draws), lower, method="inverted_cdf"
            )
            assert high == np.quantile(
                np.where(np.isnan(draws), 1.0, draws), upper, method="inverted_cdf"
            )


def test_a_rare_category_that_was_always_agreed_on_is_not_certain_either():
    counts = CategoryCounts(
        [[3, 0, 0], [0, 3, 0], [0, 0, 3]], [60, 30, 3], scale=Scale(("a", "b", "rare"))
    )
    of_round, *_, rare = estimate_each(["specific_agreement"], counts)
    assert (rare.scope.name, rare.value) == ("rare", 1.0)
    assert rare.interval is not None
    assert rare.interval.low < 0.667
    assert of_round.interval is not None
    assert of_round.interval.low <= rare.interval.low


def items(rng, n, raters, clear, categories=2):
    """Items that all raters see alike with probability `clear`, and guess otherwise.

    Alpha in the population is `clear`.
    """
    truth = rng.integers(categories, size=(n, 1))
    guesses = rng.integers(categories, size=(n, raters))
    codes = np.where(rng.random((n, 1)) < clear, truth, guesses)
    return LabelsByRater(
        codes, scale=Scale(tuple("abcde"[:categories])), raters=[str(r) for r in range(raters)]
    )


@pytest.mark.parametrize(
    ("level", "categories"),
    [("nominal", 2), ("nominal", 5), ("ordinal", 5), ("interval", 5), ("ratio", 5)],
)
@pytest.mark.parametrize(("n", "clear"), [(20, 0.95), (50, 0.85)])
def test_the_lower_limit_lies_under_the_truth_as_often_as_it_says(n, clear, level, categories):
    rng, scale = np.random.default_rng(6), Scale(tuple(range(1, categories + 1)), level)
    covered = []
    for seed in range(200):
        codes = items(rng, n, 3, clear, categories=categories).codes
        found = estimate(
            "krippendorff_alpha",
            LabelsByRater(codes, scale=scale, raters="xyz").counts().merged(),
            Inference(n_resamples=400, seed=seed),
        )
        covered.append(found.interval is not None and found.interval.low <= clear)
    assert np.mean(covered) >= 0.975 - 3 * np.sqrt(0.975 * 0.025 / 200)


@pytest.mark.parametrize("level", ["nominal", "ordinal"])
@pytest.mark.parametrize("clusters", [None, Clusters.from_names(np.arange(40) % 12)])
def test_measures_of_one_table_share_their_draws_and_get_the_limits_that_each_gets_alone(
    monkeypatch, level, clusters
):
    scale = Scale((1, 2, 3), level)
    counts = CategoryCounts(
        np.random.default_rng(7).multinomial(3, (0.6, 0.3, 0.1), size=40),
        scale=scale,
        clusters=clusters,
    )
    records = (record for record in MEASURES.values() if record.needs == "counts")
    names = [record.name for record in records if record.defined_on(scale)]
    settings = Inference(n_resamples=500)
    alone = [estimate_each([name], counts, settings) for name in names]
    drawn = []
    monkeypatch.setattr(
        evidence,
        "draw_reweighted",
        lambda *args, **named: drawn.append(1) or draw_reweighted(*args, **named),
    )
    together = estimate_each(names, counts, settings)
    assert [(each.measure, each.interval) for each in together] == [
        (each.measure, each.interval) for found in alone for each in found
    ]
    assert len(drawn) == 1 or clusters is not None


def test_the_last_digits_of_limits_do_not_depend_on_the_threads_of_matrix_products():
    rng = np.random.default_rng(8)
    labels = items(rng, 3000, 5, 0.6, categories=5)
    codes = np.where(rng.random(labels.codes.shape) < 0.1, -1, labels.codes)
    panel = LabelsByRater(codes, scale=labels.scale, raters=labels.raters).merged()
    names = ("light_kappa", "shah_kappa_s")
    found = []
    for threads in (1, 2, 4):
        with threadpool_limits(threads, user_api="blas"):
            for method in ("smoothed_bayesian_bootstrap", "jackknife_log"):
                settings = Inference(n_resamples=500, method=method)
                found += [each.interval for each in estimate_each(names, panel, settings)]
    of_one_thread = found[: 2 * len(names)]
    assert found == of_one_thread * 3
