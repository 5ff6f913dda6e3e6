"""Eliasziw's reliabilities against loops over the analysis of variance; the balance they need."""

import numpy as np
import pytest

from agreement_pipeline.counting import RatingsCounting
from agreement_pipeline.estimates import estimate
from agreement_pipeline.intervals import Inference
from agreement_pipeline.measures import MEASURES
from agreement_pipeline.ratings import Scale
from agreement_pipeline.statistics import ReplicatedNumbers

NAMES = ("inter_random", "inter_fixed", "intra_random", "intra_fixed")
RECORDS = {name: MEASURES[f"eliasziw_{name}"] for name in NAMES}


def drawn(seed, n=8, t=3, m=4, raters=1.0, interaction=1.0, meetings=1.0):
    rng = np.random.default_rng(seed)
    between = (
        rng.normal(0, 3, size=(n, 1, 1))
        + rng.normal(0, raters, size=(1, t, 1))
        + rng.normal(0, interaction, size=(n, t, 1))
    )
    return between + rng.normal(0, meetings, size=(n, t, m))


def replicates(table, weights=None):
    n, t, m = table.shape
    where = np.indices((n, t)).reshape(2, -1)
    weights = np.ones(n) if weights is None else weights
    return ReplicatedNumbers(
        table.reshape(n * t, m),
        *where,
        weights,
        scale=Scale(None, "interval"),
        raters=[f"r{r}" for r in range(t)],
    )


def looped(table):
    n, t, m = table.shape
    mean = table.mean()
    mss = sum(m * t * (table[i].mean() - mean) ** 2 for i in range(n)) / (n - 1)
    msr = sum(m * n * (table[:, j].mean() - mean) ** 2 for j in range(t)) / (t - 1)
    rest = sum(
        m * (table[i, j].mean() - table[i].mean() - table[:, j].mean() + mean) ** 2
        for i in range(n)
        for j in range(t)
    )
    mssr = rest / ((n - 1) * (t - 1))
    mse = sum(
        (table[i, j, k] - table[i, j].mean()) ** 2
        for i in range(n)
        for j in range(t)
        for k in range(m)
    ) / (n * t * (m - 1))
    s, r, sr, fixed = (
        (mss - mssr) / (m * t),
        (msr - mssr) / (m * n),
        (mssr - mse) / m,
        (mss - mse) / (m * t),
    )
    of_fixed = fixed + (t - 1) * sr / t + mse
    return {
        "inter_random": s / (s + r + sr + mse),
        "inter_fixed": (fixed - sr / t) / of_fixed,
        "intra_random": (s + r + sr) / (s + r + sr + mse),
        "intra_fixed": (fixed + (t - 1) * sr / t) / of_fixed,
    }


@pytest.mark.parametrize("name", NAMES)
@pytest.mark.parametrize(("n", "t", "m"), [(8, 3, 4), (5, 2, 2), (20, 4, 3)])
def test_the_four_are_the_sources_formulas_as_loops(name, n, t, m):
    table = drawn(n, n, t, m)
    found = RECORDS[name](replicates(table))
    assert float(found.value) == pytest.approx(looped(table)[name], abs=1e-12)
    weights = np.random.default_rng(1).integers(1, 4, size=n)
    assert float(RECORDS[name](replicates(table, weights)).value) == pytest.approx(
        looped(np.repeat(table, weights, axis=0))[name], abs=1e-12
    )


@pytest.mark.parametrize(
    ("table", "reason"),
    [
        ("A B\n0 1\n1 0", "no rater met an item twice"),
        (
            "A B\n0/1 1/1\n1/0 0",
            "the raters with replicates did not all rate the same items equally often",
        ),
        (
            "A B\n0/1 1/1\n1/0 0/0/1",
            "the raters with replicates did not all rate the same items equally often",
        ),
        ("A B\n0/1 1/1\n1 0", "fewer than two raters have replicates of two items"),
        ("A B\n0/1 1\n1/0 0", "fewer than two raters have replicates of two items"),
        ("A B\n1/1 1/1\n1/1 1/1", "the estimated variance is not positive"),
    ],
)
@pytest.mark.parametrize("name", NAMES)
def test_without_a_balanced_design_there_is_no_value_and_the_reason_says_so(
    tabled, name, table, reason
):
    counts = RatingsCounting().replicates(tabled(table, ("0", "1"), "interval"))
    assert RECORDS[name].why_undefined(counts) == reason
    assert np.isnan(RECORDS[name](counts).value)


def test_raters_without_replicates_are_left_out_and_named(tabled):
    counts = RatingsCounting().replicates(
        tabled("A B C\n0/2 1/3 1\n4/6 6/8 5", (0, 1, 2, 3, 4, 5, 6, 8), "interval")
    )
    assert float(RECORDS["inter_random"](counts).value) == pytest.approx(10 / 12.25)
    assert RECORDS["inter_random"].raters_left_out(counts) == ("C",)


@pytest.mark.parametrize("seed", range(4))
def test_of_fixed_raters_neither_is_under_minus_one_whatever_the_weights(seed):
    rng = np.random.default_rng(seed)
    n, t, m = rng.integers(2, 5), rng.integers(2, 4), rng.integers(2, 4)
    for scales in rng.choice([0.0, 0.1, 1.0], size=(40, 4)):
        items, raters, both, meetings = (
            scale * rng.normal(size=shape)
            for scale, shape in zip(
                scales, [(n, 1, 1), (1, t, 1), (n, t, 1), (n, t, m)], strict=True
            )
        )
        of = replicates(items + raters + both + meetings)
        for each in (of, of.with_unseen(3.0)):
            shares = rng.dirichlet(np.full(each.weights.shape[-1], 0.3), size=50)
            for name in ("inter_fixed", "intra_fixed"):
                value = RECORDS[name](
                    each.with_weights(shares * rng.choice([1.1, n, n + 3.0], size=(50, 1)))
                ).value
                assert np.nanmin(value, initial=1.0) >= RECORDS[name].bounds[0] - 1e-9 == -1 - 1e-9


def test_of_two_raters_apart_on_every_item_and_meetings_apart_in_every_cell_they_reach_minus_one():
    apart = np.array([[[1.0, 1.0], [-1.0, -1.0]], [[-1.0, -1.0], [1.0, 1.0]]])
    assert float(RECORDS["inter_fixed"](replicates(apart)).value) == pytest.approx(-1.0)
    assert float(RECORDS["intra_fixed"](replicates(apart.swapaxes(1, 2))).value) == pytest.approx(
        -1.0
    )


def test_of_random_raters_both_may_lie_under_minus_one():
    """Two raters of two items that have the same mean.

    On each item the raters are half a unit to either side of the mean. They change sides on the
    second item. Their replicates are one unit to either side of that.

    MSS and MSR are 0, and the variance of a rating is (1 - 2/n) MSSR / 4 + MSE / 2. That is MSE / 2
    on two items, and 5/12 on 1.3 items.
    """
    sides, meetings = np.array([[0.5, -0.5], [-0.5, 0.5]])[:, :, None], np.array([1.0, -1.0])
    two, fewer = replicates(sides + meetings), replicates(sides + meetings, [0.65, 0.65])
    assert float(RECORDS["intra_random"](two).value) == pytest.approx(-1.0)
    assert float(RECORDS["intra_random"](fewer).value) == pytest.approx((5 / 12 - 2) / (5 / 12))
    assert float(RECORDS["inter_random"](replicates(2 * sides + 0.1 * meetings)).value) < -1
    assert RECORDS["inter_random"].bounds[0] == RECORDS["intra_random"].bounds[0] == -np.inf


def unbalanced():
    """Both raters rated items 0 to 4 twice and 5 to 7 three times. One rated 8 and 9 twice."""
    cells = [(item, rater, 3 if item >= 5 else 2) for item in range(8) for rater in (0, 1)] + [
        (8, 0, 2),
        (9, 0, 2),
    ]
    numbers = (
        np.random.default_rng(6).normal(size=(len(cells), 3)) + np.arange(len(cells))[:, None] / 2
    )
    numbers[[place for place, cell in enumerate(cells) if cell[2] == 2], 2] = np.nan
    item, rater, _ = zip(*cells, strict=True)
    return ReplicatedNumbers(
        numbers, item, rater, np.ones(10), scale=Scale(None, "interval"), raters=("a", "b")
    )


DRAWS = {
    "twice": [1, 2, 0.5, 1, 1, 0, 0, 0, 0, 0],
    "twice, fewer": [0, 2, 0.5, 0, 1, 0, 0, 0, 0, 0],
    "three times": [0, 0, 0, 0, 0, 1, 1, 2, 0, 0],
    "both": [1, 1, 1, 1, 1, 1, 1, 1, 0, 0],
    "one rater": [0, 0, 0, 0, 0, 0, 0, 0, 1, 1],
    "one item": [3, 0, 0, 0, 0, 0, 0, 0, 0, 0],
    "none": [0] * 10,
}


@pytest.mark.parametrize("name", NAMES)
def test_each_draw_of_weights_has_the_design_of_its_own_items(name):
    design = unbalanced()
    together = RECORDS[name](design.with_weights(np.array(list(DRAWS.values()), dtype=float)))
    for place, (case, draw) in enumerate(DRAWS.items()):
        alone = design.with_weights(np.array(draw, dtype=float))
        found = RECORDS[name](alone)
        for part in ("value", "observed", "expected"):
            assert float(getattr(together, part)[place]) == pytest.approx(
                float(getattr(found, part)), rel=1e-12, abs=1e-12, nan_ok=True
            )
        assert np.isnan(together.value[place]) == (RECORDS[name].why_undefined(alone) is not None)
        assert np.isfinite(together.value[place]) == (
            case in ("twice", "twice, fewer", "three times", "one item")
        )


@pytest.mark.parametrize("name", NAMES)
def test_a_number_far_from_the_others_does_not_blur_the_draws_without_it(name):
    table = drawn(4)
    near = RECORDS[name](replicates(table)).value
    with_far = np.concatenate([table, np.full((1, *table.shape[1:]), 1e9)])
    draws = np.array([[1.0] * 8 + [0.0], [1.0] * 9])
    assert float(RECORDS[name](replicates(with_far, draws)).value[0]) == pytest.approx(
        float(near), rel=1e-9
    )


@pytest.mark.parametrize("name", NAMES)
def test_each_has_an_interval_around_it(name):
    found = estimate(f"eliasziw_{name}", replicates(drawn(3, n=60)), Inference(n_resamples=500))
    assert found.interval.low < found.value <= found.interval.high
