"""Who is named, and who is not. The study in `benchmarks/studies/standing_out.py` has the rates."""

from dataclasses import replace
from itertools import combinations, pairwise, permutations, product

import numpy as np
import pytest
from scipy.stats import ttest_1samp

from agreement_pipeline import Scale
from agreement_pipeline.estimates import StandingOut, order_raters_by_agreement, standing_out
from agreement_pipeline.estimates.standing_out import (
    RaterWhoDiffers,
    _alpha_and_gradient,
    _find_large_rises,
    _Items,
)
from agreement_pipeline.measures import krippendorff_alpha
from agreement_pipeline.statistics import Clusters, LabelsByRater, NumbersByRater, rater_distances
from agreement_pipeline.students_t import lower_tail_probability
from benchmarks.studies.standing_out import (
    ALIKE,
    HABITS,
    N_ITEMS,
    SITUATIONS,
    names_in_rounds,
    panel,
    share,
)

SCALE = Scale(("a", "b"))
BOUNDS = ((0, 5), (0, 5), (95, 100), (80, 100), (0, 1), (90, 100), (60, 100), (0, 2))
"""In percent of rounds, in the order of the situations."""


@pytest.mark.parametrize(
    ("situation", "bounds"),
    list(zip(SITUATIONS, BOUNDS, strict=True)),
    ids=lambda each: getattr(each, "name", None),
)
def test_of_five_raters_the_right_one_is_named_as_often_as_promised(situation, bounds):
    assert bounds[0] <= share(situation, 5, 250) <= bounds[1]


def test_of_forty_raters_who_are_alike_nobody_is_named_and_one_at_chance_is():
    rng = np.random.default_rng(1)
    assert standing_out(panel(SITUATIONS[0], 40, rng)).finding == "nobody"
    (rater,) = standing_out(panel(SITUATIONS[2], 40, rng)).raters
    assert rater.name == "r00"


def loop_alpha(values, distance):
    """Alpha of rows of ratings, pair by pair; None is missing."""
    rows = [[x for x in row if x is not None] for row in values]
    rows = [row for row in rows if len(row) > 1]
    every = [x for row in rows for x in row]
    observed = sum(
        sum(distance(x, y) for x, y in permutations(row, 2)) / (len(row) - 1) for row in rows
    ) / len(every)
    expected = sum(distance(x, y) for x, y in permutations(every, 2))
    return 1 - observed / (expected / (len(every) * (len(every) - 1)))


def test_alpha_with_and_without_the_rater_is_that_of_pairs_counted_item_by_item():
    rng = np.random.default_rng(3)
    codes = panel(SITUATIONS[2], 5, rng).codes[:80].copy()
    codes[rng.random(codes.shape) < 0.1] = -1
    labels = LabelsByRater(codes, scale=Scale(("x", "y", "z")), raters=list("abcde"))
    (rater,) = standing_out(labels).raters
    rows = [[None if code < 0 else code for code in row] for row in codes.tolist()]

    def unequal(x, y):
        return float(x != y)

    expected = loop_alpha(rows, unequal), loop_alpha([row[1:] for row in rows], unequal)
    assert rater.name == "a"
    assert (rater.value, rater.value_without) == pytest.approx(expected)


@pytest.mark.parametrize("level", ["nominal", "ordinal", "interval", "ratio"])
@pytest.mark.parametrize("of_numbers", [False, True])
def test_the_points_of_a_level_are_as_far_apart_as_its_alpha_says(level, of_numbers):
    """Those of the ratio level to a thousandth."""
    rng = np.random.default_rng(8)
    if of_numbers:
        if level == "nominal":
            pytest.skip("numbers have an order")
        values = np.exp(rng.normal(0, 1, (60, 1)) + rng.normal(0, 0.3, (60, 4)))
        values[rng.random(values.shape) < 0.2] = np.nan
        values[:2] = [[0, 0, 0, 1], [0, 0, 0, 0]]
        ratings = NumbersByRater(values, scale=Scale(None, level), raters=list("abcd"))
        alpha = krippendorff_alpha(ratings).value
    else:
        codes = np.clip(rng.integers(0, 4, (60, 1)) + rng.integers(-1, 2, (60, 4)), 0, 3)
        codes[rng.random(codes.shape) < 0.2] = -1
        names = (0, 2, 3, 5) if level in ("interval", "ratio") else tuple("wxyz")
        ratings = LabelsByRater(codes, scale=Scale(names, level), raters=list("abcd"))
        alpha = krippendorff_alpha(ratings.counts()).value
    items = _Items.from_panel(ratings)
    found, gradient = _alpha_and_gradient(ratings.weights[items.rows] @ items.sums.moments)
    assert found == pytest.approx(alpha, abs=1e-3 if level == "ratio" else 1e-12)
    heavier = ratings.weights[items.rows] + 1e-6 * (np.arange(len(items.rows)) == 5)
    higher, _ = _alpha_and_gradient(heavier @ items.sums.moments)
    assert items.sums.moments[5] @ gradient == pytest.approx((higher - found) / 1e-6, abs=1e-6)


def test_the_luck_of_items_is_that_of_the_jackknife():
    """The rise of alpha over its error, with each item of a full panel left out in turn."""
    drawn = panel(SITUATIONS[2], 4, np.random.default_rng(11))
    rows = drawn.codes.tolist()

    def unequal(x, y):
        return float(x != y)

    def rise(some):
        return loop_alpha([row[1:] for row in some], unequal) - loop_alpha(some, unequal)

    rows = rows[:60]
    left_out = np.array([rise(rows[:item] + rows[item + 1 :]) for item in range(60)])
    error = np.sqrt(59 / 60 * ((left_out - left_out.mean()) ** 2).sum())
    labels = LabelsByRater(rows, scale=drawn.scale, raters=drawn.raters)
    _, (found, *_) = _find_large_rises(labels)
    assert (found.name, found.size) == ("r00", pytest.approx(rise(rows)))
    assert found.error == pytest.approx(error, rel=0.03)


def test_agreement_inside_camps_and_across_is_that_of_pairs_counted_item_by_item():
    rng = np.random.default_rng(6)
    codes = panel(SITUATIONS[5], 5, rng).codes.copy()
    codes[rng.random(codes.shape) < 0.1] = -1
    labels = LabelsByRater(codes, scale=Scale(("x", "y", "z")), raters=list("abcde"))
    camps = standing_out(labels).camps
    assert [each.raters for each in camps] == [("a", "c", "e"), ("b", "d")]
    mine, other = [0, 2, 4], [1, 3]
    rows = labels.codes.repeat(labels.weights.astype(int), axis=0)

    def shares(pairs):
        """The share of equal pairs in each item that has some; nan in others."""
        pairs = list(pairs)
        met = [[row[i] == row[j] for i, j in pairs if min(row[i], row[j]) >= 0] for row in rows]
        return np.array([np.mean(each) if each else np.nan for each in met])

    across = shares(product(mine, other))
    for camp, inside in zip(camps, (combinations(mine, 2), combinations(other, 2)), strict=True):
        within = shares(inside)
        both = ~np.isnan(within) & ~np.isnan(across)
        expected = within[both].mean(), across[both].mean()
        assert (camp.inside, camp.across) == pytest.approx(expected)


def test_a_small_difference_is_no_cause_whatever_the_number_of_items():
    rng = np.random.default_rng(4)
    drawn = panel(replace(SITUATIONS[4], n_items=100_000), 4, rng)
    assert standing_out(drawn).finding == "nobody"


def test_one_who_alone_gives_a_category_differs_and_without_them_alpha_is_undefined():
    labels = LabelsByRater(
        [[0, 0, 0, int(item < 8)] for item in range(200)], scale=SCALE, raters=list("abcd")
    )
    (rater,) = standing_out(labels).raters
    assert (rater.name, rater.value_without) == ("d", None)
    assert standing_out(labels).sentence == (
        "d differs from the rest: α is -0.01, and all others gave one and the same label. "
        "This does not say who is right."
    )


def test_nobody_is_named_for_four_items():
    """Alpha is .66, and 1 without the rater who never gives the rare category."""
    for n_rare, finding in ((4, "nobody"), (5, "raters")):
        codes = [[int(item < n_rare)] * 4 + [0] for item in range(300)]
        labels = LabelsByRater(codes, scale=SCALE, raters=list("abcde"))
        assert standing_out(labels).finding == finding


@pytest.mark.parametrize("habit", [0, 3, 7, 10, 14, 21], ids=[*HABITS].__getitem__)
def test_one_with_a_habit_that_few_labels_show_is_named(habit):
    names = names_in_rounds([*HABITS.values()][habit], 40)
    assert np.mean(["r00" in named for named in names]) >= 0.85
    assert not any({*named} - {"r00"} for named in names)


@pytest.mark.parametrize("population", [5, 7, 17, 20], ids=[*ALIKE].__getitem__)
def test_of_raters_who_are_alike_nobody_is_named(population):
    assert np.mean([*map(bool, names_in_rounds([*ALIKE.values()][population], 80))]) <= 0.025


def test_of_two_raters_and_of_few_items_nobody_can_tell():
    two = LabelsByRater([[0, 1]] * 90, scale=SCALE, raters=("a", "b"))
    few = LabelsByRater([[0, 0, 1]] * 29, scale=SCALE, raters=("a", "b", "c"))
    for each in (two, few):
        found = standing_out(each)
        assert (found.finding, found.raters, found.camps) == ("too few to tell", (), ())


def test_clusters_are_what_was_drawn_at_random():
    """One rater differs in one document of thirty sentences: that is one piece of evidence."""
    said = [[0, 0, 0, int(item < 30)] for item in range(300)]
    alone = LabelsByRater(said, scale=SCALE, raters=list("abcd"))
    assert standing_out(alone).finding == "raters"
    documents = Clusters.from_names([item // 30 for item in range(300)])
    within = LabelsByRater(said, scale=SCALE, raters=list("abcd"), clusters=documents)
    assert standing_out(within).finding == "too few to tell"


def test_one_large_cluster_among_many_small_ones_is_little_more_than_one():
    """One of 300 items and forty of one are 41 clusters, and say as much as 1.3 of one size."""
    said = [[0, 0, 0, int(item % 2)] for item in range(340)]
    uneven = Clusters.from_names([max(0, item - 299) for item in range(340)])
    alike = Clusters.from_names([item // 5 for item in range(340)])
    findings = [
        standing_out(
            LabelsByRater(said, scale=SCALE, raters=list("abcd"), clusters=clusters)
        ).finding
        for clusters in (uneven, alike)
    ]
    assert findings == ["too few to tell", "raters"]


def test_clusters_of_unequal_size_have_the_degrees_of_freedom_of_kishs_formula():
    """Thirty clusters of 30 items and a hundred of one are as many as 37 of one size."""
    sizes = np.repeat([30, 1], [30, 100])
    named, rng = np.repeat(np.arange(130), sizes), np.random.default_rng(14)
    codes = np.repeat(rng.integers(0, 2, (1_000, 1)), 4, axis=1)
    codes[:, 0] ^= rng.random(1_000) < rng.choice([0.0, 0.6], 130, p=[0.8, 0.2])[named]
    labels = LabelsByRater(codes, scale=SCALE, raters=list("abcd"))
    _, (alone,) = _find_large_rises(labels)
    clustered = LabelsByRater(
        codes, scale=SCALE, raters=list("abcd"), clusters=Clusters.from_names(named)
    )
    _, (rise,) = _find_large_rises(clustered)
    assert rise.units == round(sizes.sum() ** 2 / (sizes**2).sum()) == 37
    assert rise.size == pytest.approx(alone.size)

    def without(cluster):
        rows = codes[named != cluster]
        panels = [
            LabelsByRater(some, scale=SCALE, raters="abcd"[-some.shape[1] :])
            for some in (rows, rows[:, 1:])
        ]
        whole, rest = (float(krippendorff_alpha(each.counts()).value) for each in panels)
        return rest - whole

    left_out = np.array([without(cluster) for cluster in range(130)])
    error = np.sqrt(((left_out - rise.size) ** 2).sum() * 37 / 36)
    assert rise.error == pytest.approx(error, rel=0.1)
    assert rise.error > 2 * alone.error
    assert rise.p == pytest.approx(lower_tail_probability(-rise.size / rise.error, 36))


def test_numbers_have_raters_who_stand_out_and_camps_too():
    rng = np.random.default_rng(5)
    true = rng.normal(0, 3, (N_ITEMS, 1))
    values = true + rng.normal(0, 0.5, (N_ITEMS, 5))
    scale, raters = Scale(None, "interval"), list("abcde")
    alike = standing_out(NumbersByRater(values, scale=scale, raters=raters))
    assert alike.finding == "nobody"
    off, camps = values.copy(), values.copy()
    off[:, 2] = rng.normal(0, 3, N_ITEMS)
    camps[:, 3:] += rng.normal(0, 3, (N_ITEMS, 1))
    (found,) = standing_out(NumbersByRater(off, scale=scale, raters=raters)).raters
    assert found.name == "c"
    said = standing_out(NumbersByRater(camps, scale=scale, raters=raters))
    assert [each.raters for each in said.camps] == [("a", "b", "c"), ("d", "e")]


@pytest.mark.parametrize(("n_apart", "finding"), [(5, "nobody"), (6, "camps")])
def test_four_raters_may_stand_in_two_pairs_in_three_ways_and_chance_has_them_all(n_apart, finding):
    """The pairs differ on some items, and all agree on the others."""
    said = [[0, 0, 1, 1]] * n_apart + [[item % 2] * 4 for item in range(60 - n_apart)]
    gains = [1] * n_apart + [0] * (60 - n_apart)
    n_ways = len([*combinations("abcd", 2)]) // 2
    p = ttest_1samp(gains, 0, alternative="greater").pvalue
    assert (p <= 0.025 / n_ways) == (finding == "camps")
    assert p < 0.025 / (n_ways - 1)
    assert standing_out(LabelsByRater(said, scale=SCALE, raters=list("abcd"))).finding == finding


def test_the_sentence_says_who_against_whom_and_names_nobody_in_camps():
    found = standing_out(panel(SITUATIONS[5], 5, np.random.default_rng(6)))
    assert found.sentence.startswith("Two camps: r00, r02 and r04 against r01 and r03. ")
    assert found.sentence.endswith(" across.")
    assert StandingOut("nobody").sentence == (
        "No rater is known to differ from the rest: leaving any one of them out would not raise "
        "agreement by much, beyond chance."
    )
    assert StandingOut("too few to tell").sentence == (
        "No rater shares enough items, or clusters of them, with two others to say whether one of "
        "them differs from the rest."
    )


@pytest.mark.parametrize(
    ("n", "end"),
    [
        (4, "d differs from the rest: α is 0.50, and 0.90 without d. This does "),
        (5, "without d. So does e. This does "),
        (7, "without d. So do e, f and g. This does "),
        (20, "without d. So do e, f, g, h, i, j, k, l and 8 more. This does "),
    ],
)
def test_of_many_who_differ_only_the_first_are_told_with_alpha(n, end):
    found = tuple(RaterWhoDiffers(name, 0.5, 0.9) for name in "abcdefghijklmnopqrst"[:n])
    said = StandingOut("raters", found).sentence
    assert said.count("differs from the rest: α is 0.50") == 4
    assert said.endswith(f"{end}not say who is right.")
    assert "wrong" not in said


def test_many_items_of_many_raters_may_be_few_of_each():
    """All 80 items have eight raters, and each rater has 16 of them."""
    codes = [
        [item % 2 if (rater - item) % 40 < 8 else -1 for rater in range(40)] for item in range(80)
    ]
    found = standing_out(LabelsByRater(codes, scale=SCALE, raters=[f"r{n}" for n in range(40)]))
    assert found.finding == "too few to tell"
    assert found.sentence.startswith("No rater shares enough items")


def test_where_nobody_rated_nobody_can_tell():
    nothing = NumbersByRater(
        np.full((40, 5), np.nan), scale=Scale(None, "interval"), raters=list("abcde")
    )
    assert standing_out(nothing).finding == "too few to tell"


def test_raters_who_agree_stand_beside_each_other():
    labels = panel(SITUATIONS[5], 5, np.random.default_rng(6))
    order = order_raters_by_agreement(1 - rater_distances(labels).of_pairs)
    camp = [rater in (1, 3) for rater in order]
    assert sum(one != other for one, other in pairwise(camp)) == 1
