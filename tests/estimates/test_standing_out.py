"""Who is named, and who is not. The study in `benchmarks/studies/standing_out.py` has the rates."""

from itertools import combinations, pairwise, product

import numpy as np
import pytest
from scipy.stats import ttest_1samp

from agreement_pipeline import Scale
from agreement_pipeline.estimates import StandingOut, alike_first, standing_out
from agreement_pipeline.estimates.standing_out import GroupAgreement
from agreement_pipeline.statistics import Clusters, LabelsByRater, NumbersByRater, rater_distances
from agreement_pipeline.students_t import lower_tail
from benchmarks.studies.standing_out import N_ITEMS, SITUATIONS, panel, share

SCALE = Scale(("a", "b"))
BOUNDS = ((0, 5), (0, 5), (95, 100), (80, 100), (0, 1), (90, 100), (65, 100), (0, 2))
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
    (found,) = standing_out(panel(SITUATIONS[2], 40, rng)).found
    assert found.raters == ("r00",)


def test_the_shares_are_those_of_pairs_counted_item_by_item():
    rng = np.random.default_rng(3)
    codes = panel(SITUATIONS[2], 5, rng).codes.copy()
    codes[rng.random(codes.shape) < 0.1] = -1
    labels = LabelsByRater(codes, scale=Scale(("x", "y", "z")), raters=list("abcde"))
    (found,) = standing_out(labels).found
    own, rest = [], []
    for row in labels.codes.repeat(labels.weights.astype(int), axis=0):
        others = [said for said in row[1:] if said >= 0]
        if row[0] >= 0 and len(others) >= 2:
            own.append(np.mean([said == row[0] for said in others]))
            pairs = [(i, j) for i in range(len(others)) for j in range(i)]
            rest.append(np.mean([others[i] == others[j] for i, j in pairs]))
    assert (found.own, found.rest) == pytest.approx((np.mean(own), np.mean(rest)))


def test_agreement_inside_camps_and_across_is_that_of_pairs_counted_item_by_item():
    rng = np.random.default_rng(6)
    codes = panel(SITUATIONS[5], 5, rng).codes.copy()
    codes[rng.random(codes.shape) < 0.1] = -1
    labels = LabelsByRater(codes, scale=Scale(("x", "y", "z")), raters=list("abcde"))
    camps = standing_out(labels).found
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
        assert (camp.own, camp.rest) == pytest.approx(expected)


def test_a_small_difference_is_no_cause_whatever_the_number_of_items():
    rng = np.random.default_rng(4)
    said = np.zeros((200_000, 4), dtype=int)
    said[:, 0] = rng.random(len(said)) < 0.02
    labels = LabelsByRater(said, scale=SCALE, raters=list("abcd"))
    assert standing_out(labels).finding == "nobody"


def test_of_two_raters_and_of_few_items_nobody_can_tell():
    two = LabelsByRater([[0, 1]] * 90, scale=SCALE, raters=("a", "b"))
    few = LabelsByRater([[0, 0, 1]] * 29, scale=SCALE, raters=("a", "b", "c"))
    for each in (two, few):
        found = standing_out(each)
        assert (found.finding, found.found) == ("too few to tell", ())


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
    said = np.zeros((1_000, 4), dtype=int)
    said[:, 0] = rng.random(1_000) < rng.choice([0.0, 0.6], 130, p=[0.8, 0.2])[named]
    panel = LabelsByRater(
        said, scale=SCALE, raters=list("abcd"), clusters=Clusters.from_names(named)
    )
    apart = -said[:, 0]
    beyond = np.bincount(named, apart - apart.mean())

    def p(units):
        error = np.sqrt(units / (units - 1) * (beyond**2).sum()) / 1_000
        return lower_tail(apart.mean() / error, units - 1)

    units = round(sizes.sum() ** 2 / (sizes**2).sum())
    assert units == 37
    assert p(130) < 0.025 / 4 < p(units)
    assert standing_out(panel).finding == "nobody"


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
    (found,) = standing_out(NumbersByRater(off, scale=scale, raters=raters)).found
    assert found.raters == ("c",)
    said = standing_out(NumbersByRater(camps, scale=scale, raters=raters))
    assert [each.raters for each in said.found] == [("a", "b", "c"), ("d", "e")]


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
        "Nobody is known to stand out: no rater surely agrees less with the rest, and by 6.5 "
        "points of 100 or more."
    )
    assert StandingOut("too few to tell").sentence == (
        "No rater shares enough items, or clusters of them, with two others to tell whether one of "
        "them stands out."
    )


@pytest.mark.parametrize(
    ("n", "end"),
    [
        (4, "d differs from the rest: 50% of their labels equal another's, against 90% among "),
        (5, "the rest. So does e."),
        (7, "the rest. So do e, f and g."),
        (20, "the rest. So do e, f, g, h, i, j, k, l and 8 more."),
    ],
)
def test_of_many_who_differ_only_the_first_are_told_with_their_agreement(n, end):
    found = tuple(GroupAgreement((name,), 0.5, 0.9) for name in "abcdefghijklmnopqrst"[:n])
    said = StandingOut("raters", found).sentence
    assert said.count("differs from the rest: 50% of their labels") == 4
    assert end in said


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
    order = alike_first(1 - rater_distances(labels).of_pairs)
    camp = [rater in (1, 3) for rater in order]
    assert sum(one != other for one, other in pairwise(camp)) == 1
