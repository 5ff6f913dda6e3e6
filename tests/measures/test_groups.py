import numpy as np
import pytest
from sklearn.metrics import cohen_kappa_score

from agreement_pipeline import Scale
from agreement_pipeline.estimates import estimate
from agreement_pipeline.measures.groups import cross_kappa, vanbelle_albert_group_kappa
from agreement_pipeline.measures.weighting import IDENTITY, WEIGHTINGS
from agreement_pipeline.statistics import LabelsByRater
from tests.forms import FORMS

K = 4
SCALE = Scale((0.0, 1.0, 3.0, 4.0), "ratio")
SINGLE_RATINGS = (
    "one group gave only one rating to each item that both rated, so its own disagreement was "
    "never seen; use vanbelle_albert_kappa for a single rater against a group"
)


def groups_of(codes, n_second=2, scale=SCALE):
    raters = tuple(f"r{j}" for j in range(np.shape(codes)[1]))
    return LabelsByRater(codes, scale=scale, raters=raters).in_groups(
        raters[len(raters) - n_second :]
    )


def met_by_both(codes, n_second):
    """The labels of each group by item, for the items that both rated."""
    n_first = len(codes[0]) - n_second
    both = [
        ([k for k in row[:n_first] if k >= 0], [k for k in row[n_first:] if k >= 0])
        for row in codes.tolist()
    ]
    return [(one, other) for one, other in both if one and other]


def slow_kappa(items, w):
    """Vanbelle and Albert's definitions as loops over pairs of ratings."""

    def agreement(one, other):
        return np.mean([w[a][b] for a in one for b in other])

    def share(group):
        return [
            np.mean([labels[group].count(k) / len(labels[group]) for labels in items])
            for k in range(K)
        ]

    expected = sum(w[a][b] * share(0)[a] * share(1)[b] for a in range(K) for b in range(K))
    greatest = np.mean([max(agreement(one, one), agreement(other, other)) for one, other in items])
    return (np.mean([agreement(one, other) for one, other in items]) - expected) / (
        greatest - expected
    )


def slow_cross_kappa(items):
    ratings = sum(len(one) + len(other) for one, other in items)
    observed = sum(
        (len(one) + len(other)) / ratings * np.mean([a != b for a in one for b in other])
        for one, other in items
    )
    every = [[k for labels in items for k in labels[group]] for group in (0, 1)]
    return 1 - observed / np.mean([a != b for a in every[0] for b in every[1]])


@pytest.mark.parametrize(
    "weighting", [IDENTITY, *WEIGHTINGS.values()], ids=["identity", *WEIGHTINGS]
)
@pytest.mark.parametrize("seed", range(3))
def test_with_missing_ratings_the_kappa_of_groups_is_the_loop_over_pairs(weighting, seed):
    codes = np.random.default_rng(seed).integers(-1, K, size=(25, 5))
    expected = slow_kappa(met_by_both(codes, 2), weighting.weight_matrix(SCALE))
    assert float(vanbelle_albert_group_kappa(groups_of(codes), weighting).value) == pytest.approx(
        expected, abs=1e-12
    )


@pytest.mark.parametrize("n_second", [1, 2, 3])
def test_with_missing_ratings_cross_kappa_is_the_loop_over_pairs(n_second):
    codes = np.random.default_rng(n_second).integers(-1, K, size=(25, 5))
    found = cross_kappa(groups_of(codes, n_second, Scale(tuple("abcd"))))
    assert float(found.value) == pytest.approx(
        slow_cross_kappa(met_by_both(codes, n_second)), abs=1e-12
    )


def test_of_one_against_one_cross_kappa_is_cohens():
    codes = np.random.default_rng(4).integers(0, K, size=(30, 2))
    found = cross_kappa(groups_of(codes, 1, Scale(tuple("abcd"))))
    assert float(found.value) == pytest.approx(
        cohen_kappa_score(codes[:, 0], codes[:, 1], labels=range(K)), abs=1e-12
    )


@pytest.mark.parametrize(
    "name",
    [
        "vanbelle_albert_group_kappa",
        *(f"vanbelle_albert_group_kappa_{name}" for name in WEIGHTINGS),
    ],
)
def test_groups_split_alike_agree_perfectly_and_no_split_agrees_better(name):
    alike = np.array([[0, 1, 1, 0], [2, 2, 2, 2], [1, 3, 3, 1]])
    assert float(FORMS[name](groups_of(alike)).value) == pytest.approx(1.0, abs=1e-12)
    rng = np.random.default_rng(5)
    for _ in range(300):
        scores = np.cumsum(rng.gamma(1, size=K))
        value = FORMS[name](
            groups_of(rng.integers(0, K, size=(3, 5)), 2, Scale(tuple(scores), "ratio"))
        ).value
        assert np.isnan(value) or value <= 1 + 1e-9


@pytest.mark.parametrize(
    ("codes", "n_second", "reason"),
    [
        ([[0, 1, 0], [1, 1, 1]], 1, SINGLE_RATINGS),
        ([[0, 1, 1, -1], [1, 1, -1, 1], [0, 0, -1, 0]], 2, SINGLE_RATINGS),
        ([[0, 1, 1, -1], [1, 1, -1, 1], [-1, -1, 0, 1]], 2, SINGLE_RATINGS),
        ([[0, -1, 1, 1], [-1, 1, 1, 0], [1, 1, -1, -1]], 2, SINGLE_RATINGS),
        ([[0, 1, 0], [1, 1, 1]], 0, "no item was rated by both groups"),
        ([[0, 1, -1, -1], [-1, -1, 1, 1]], 2, "no item was rated by both groups"),
        (
            [[0, 1, 1, 0], [1, 0, 0, 1]],
            2,
            "the greatest agreement that the groups allow is what chance alone would give",
        ),
    ],
)
def test_a_kappa_of_groups_without_a_value_says_why(codes, n_second, reason):
    groups = groups_of(codes, n_second, Scale(("no", "yes")))
    found = estimate("vanbelle_albert_group_kappa", groups)
    assert found.undefined == reason
    assert found.value is None


@pytest.mark.parametrize(
    "name", ["vanbelle_albert_group_kappa", "vanbelle_albert_group_kappa_linear", "cross_kappa"]
)
def test_a_classifier_that_shares_no_item_with_the_panel_changes_nothing(name):
    codes = [[0, 0, 0, -1], [0, 1, 0, -1], [1, 1, 1, -1], [1, 1, 0, -1], [-1, -1, -1, 1]]
    scale = Scale(("no", "yes"), "ordinal")
    with_it, without_it = (
        groups_of(codes, 2, scale),
        groups_of([row[:3] for row in codes], 1, scale),
    )
    assert FORMS[name].why_undefined(with_it) == FORMS[name].why_undefined(without_it)
    assert float(FORMS[name](with_it).value) == pytest.approx(
        float(FORMS[name](without_it).value), abs=1e-12, nan_ok=True
    )


def test_each_draw_asks_for_itself_whether_a_group_gave_an_item_two_ratings():
    groups = groups_of([[0, 0, 0, -1], [0, 1, 0, 1], [1, 1, 1, -1]], 2, Scale(("no", "yes")))
    draws = np.array([[1.0, 1.0, 1.0], [1.0, 0.0, 1.0]])
    value = vanbelle_albert_group_kappa(groups.with_weights(draws)).value
    assert np.isnan(value).tolist() == [False, True]
    record = FORMS["vanbelle_albert_group_kappa"]
    assert [record.why_undefined(groups.with_weights(draw)) for draw in draws] == [
        None,
        SINGLE_RATINGS,
    ]


def test_cross_kappa_of_one_category_has_no_value():
    groups = groups_of([[1, 1, 1], [1, -1, 1], [0, 0, -1]], 1, Scale(("no", "yes")))
    found = estimate("cross_kappa", groups)
    assert (
        found.undefined
        == "every rating of the items that both groups rated is of one category, so chance alone "
        "would give full agreement"
    )
