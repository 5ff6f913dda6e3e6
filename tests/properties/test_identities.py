"""Identities between coefficients, which hold on any ratings.

One of them is the limit that a coefficient tends to.
"""

from itertools import combinations

import numpy as np
import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st
from sklearn.metrics import cohen_kappa_score, f1_score, jaccard_score
from statsmodels.stats.inter_rater import fleiss_kappa as fleiss_of_statsmodels

from agreement_pipeline.measures.gwet import gwet_ac2
from agreement_pipeline.measures.weighting import IDENTITY
from agreement_pipeline.ratings import Scale
from agreement_pipeline.statistics import LabelsByRater, ReplicatedLabels
from tests.forms import FORMS

K = 3
NOMINAL, ORDINAL, SCORES = (
    Scale(("a", "b", "c")),
    Scale(("a", "b", "c"), "ordinal"),
    Scale((0.0, 1.0, 5.0), "interval"),
)
quickly = settings(max_examples=40)


@st.composite
def codes(draw, raters=None, missing=False, least_items=1):
    """A table of items by raters, two raters or more."""
    n, r = draw(st.integers(least_items, 12)), raters or draw(st.integers(2, 5))
    code = st.integers(-1 if missing else 0, K - 1)
    return np.array(draw(st.lists(st.lists(code, min_size=r, max_size=r), min_size=n, max_size=n)))


def patterns(table, scale=NOMINAL, weights=None):
    return LabelsByRater(
        table, weights, scale=scale, raters=[f"r{r}" for r in range(table.shape[1])]
    )


def against_last(table, scale=NOMINAL):
    """The last rater apart from the others."""
    return patterns(table[:, :-1], scale).with_classifier(table[:, -1], "last")


def of(name, statistic):
    record = FORMS[name]
    return record(statistic.counts() if record.needs == "counts" else statistic)


def value(name, statistic):
    return float(of(name, statistic).value)


def same(one, other):
    return one == pytest.approx(other, abs=1e-9, nan_ok=True)


@quickly
@given(table=codes(raters=2))
def test_against_one_single_rater_vanbelle_and_alberts_and_schoutens_kappa_are_cohens(table):
    cohen = of("cohen_kappa", patterns(table))
    for name in ("vanbelle_albert_kappa", "schouten_kappa"):
        found = of(name, against_last(table))
        assert same(
            (float(found.observed), float(found.expected)),
            (float(cohen.observed), float(cohen.expected)),
        )
        assert same(float(found.value), float(cohen.value))


@quickly
@given(table=codes(raters=2))
def test_cohens_kappa_is_that_of_scikit_learn_where_it_has_one(table):
    assume(len(np.unique(table)) > 1)
    assert same(value("cohen_kappa", patterns(table)), cohen_kappa_score(table[:, 0], table[:, 1]))


@pytest.mark.parametrize(
    ("of_panel", "of_two"), [("shah_kappa_s", "cohen_kappa"), ("shah_kappa_s", "light_kappa")]
)
@quickly
@given(table=codes(raters=2, missing=True))
def test_the_kappa_of_a_fixed_panel_of_two_is_cohens(of_panel, of_two, table):
    assert same(value(of_panel, patterns(table)), value(of_two, patterns(table)))


@pytest.mark.parametrize("weights", ["linear", "quadratic"])
@quickly
@given(table=codes(raters=2, missing=True))
def test_the_weighted_kappa_of_a_fixed_panel_of_two_is_cohens(weights, table):
    assert same(
        value(f"conger_kappa_{weights}", patterns(table, ORDINAL)),
        value(f"cohen_kappa_{weights}", patterns(table, ORDINAL)),
    )


@quickly
@given(table=codes(missing=True))
def test_kappa_s_is_congers_kappa_whose_chance_is_mean_squares_less_variances(table):
    r = table.shape[1]
    assume((table >= 0).any(0).all())
    shares = np.array([[np.mean(column[column >= 0] == k) for k in range(K)] for column in table.T])
    congers = (shares.mean(0) ** 2 - shares.var(0, ddof=1) / r).sum()
    found = of("shah_kappa_s", patterns(table))
    assert same(float(found.expected), congers)
    assert same(value("conger_kappa", patterns(table)), float(found.value))


@quickly
@given(table=codes())
def test_chance_in_a_fixed_panel_is_at_most_pooled_and_equal_only_where_raters_use_categories_alike(
    table,
):
    """Theorem 1 of Shah (2011), the part that holds on any complete ratings."""
    fixed, pooled = (
        float(of(name, patterns(table)).expected) for name in ("shah_kappa_s", "fleiss_kappa")
    )
    alike = all((np.sort(column) == np.sort(table[:, 0])).all() for column in table.T)
    assert fixed <= pooled + 1e-12
    assert (pooled - fixed < 1e-12) == alike


@quickly
@given(table=codes(raters=2))
def test_fleiss_kappa_of_two_raters_is_scotts_pi_and_that_of_statsmodels(table):
    counts = patterns(table).counts()
    assert same(value("fleiss_kappa", patterns(table)), value("scott_pi", patterns(table)))
    assume(len(np.unique(table)) > 1)
    assert same(
        value("scott_pi", patterns(table)), fleiss_of_statsmodels(counts.counts.astype(int))
    )


@quickly
@given(table=codes())
def test_alpha_differs_from_pi_and_fleiss_kappa_by_one_part_in_the_number_of_ratings(table):
    """1 - α = (1 - κ) (n - 1) / n on complete ratings, n of them."""
    n = table.size
    assert same(
        1 - value("krippendorff_alpha", patterns(table)),
        (1 - value("fleiss_kappa", patterns(table))) * (n - 1) / n,
    )


@quickly
@given(table=codes())
def test_alpha_tends_to_pi_as_items_grow(table):
    pi = value("fleiss_kappa", patterns(table))
    assume(not np.isnan(pi))
    apart = [
        abs(
            value("krippendorff_alpha", patterns(table, weights=np.full(len(table), 10.0**power)))
            - pi
        )
        for power in (0, 3, 6)
    ]
    assert apart[2] <= apart[1] <= apart[0]
    assert apart[2] < 1e-6 * max(1, apart[0]) * table.size


@quickly
@given(table=codes(missing=True))
def test_ac2_without_weights_is_ac1(table):
    counts = patterns(table).counts()
    assert same(float(gwet_ac2(counts, IDENTITY).value), value("gwet_ac1", patterns(table)))


@quickly
@given(table=codes(missing=True))
def test_bennetts_s_is_percent_agreement_on_another_scale(table):
    assert same(
        value("bennett_s", patterns(table)),
        (K * value("percent_agreement", patterns(table)) - 1) / (K - 1),
    )


@quickly
@given(table=codes(raters=2))
def test_specific_agreement_is_the_f1_score_and_category_agreement_jaccards_score(table):
    specific, category = (
        of(name, patterns(table)).value for name in ("specific_agreement", "category_agreement")
    )
    for k in np.unique(table):
        assert same(specific[k], f1_score(table[:, 0] == k, table[:, 1] == k))
        assert same(category[k], jaccard_score(table[:, 0] == k, table[:, 1] == k))


@quickly
@given(table=codes(missing=True))
def test_category_agreement_is_specific_agreement_over_what_two_less_it_leaves(table):
    """Jaccard's index and Dice's: R = A / (2 - A)."""
    specific, category = (
        of(name, patterns(table)).value for name in ("specific_agreement", "category_agreement")
    )
    assert same(category, specific / (2 - specific))


@quickly
@given(table=codes())
def test_percent_agreement_is_specific_agreement_averaged_over_ratings(table):
    shares = np.bincount(table.ravel(), minlength=K) / table.size
    specific = np.nan_to_num(of("specific_agreement", patterns(table)).value)
    assert same(value("percent_agreement", patterns(table)), float(shares @ specific))


@quickly
@given(table=codes(least_items=2))
def test_with_equal_numbers_of_ratings_kraemers_kappa_is_fleiss(table):
    two = patterns(np.minimum(table, 1), Scale(("no", "yes")))
    assert same(value("kraemer_icc", two), value("fleiss_kappa", two))


@quickly
@given(table=codes(raters=2))
def test_cohens_quadratic_kappa_of_scores_is_lins_concordance(table):
    """Both are one minus the mean squared difference over its expected value.

    The expected value pairs every rating of one rater with any rating of the other.
    """
    kappa, ccc = (
        value("cohen_kappa_quadratic", patterns(table, SCORES)),
        FORMS["lin_ccc"](patterns(table, SCORES).as_numbers()),
    )
    assert same(kappa, float(ccc.value))


@quickly
@given(table=codes())
def test_congers_quadratic_kappa_of_scores_is_iota_and_lins_concordance_over_pairs(table):
    kappa = value("conger_kappa_quadratic", patterns(table, SCORES))
    for name in ("janson_olsson_iota", "lin_ccc"):
        assert same(kappa, float(FORMS[name](patterns(table, SCORES).as_numbers()).value))


@quickly
@given(table=codes())
def test_in_one_dimension_phi_is_r_and_its_closed_form_of_absolute_differences(table):
    numbers = SCORES.scores[table]
    observed = np.mean(
        [
            np.abs(numbers[:, s] - numbers[:, t]).mean()
            for s, t in combinations(range(table.shape[1]), 2)
        ]
    )
    expected = np.mean(
        [
            np.abs(numbers[:, s][:, None] - numbers[:, t]).mean()
            for s, t in combinations(range(table.shape[1]), 2)
        ]
    )
    phi, r = (
        float(FORMS[name](patterns(table, SCORES).as_numbers()).value)
        for name in ("um_phi", "berry_mielke_r")
    )
    assert same(phi, r)
    assert same(phi, 1 - observed / expected if expected else np.nan)


def pairs_agreeing(row, k):
    """How many pairs of an item's ratings are both category k."""
    return sum(a == b == k for a, b in combinations(row[row >= 0], 2))


@quickly
@given(table=codes(missing=True), data=st.data())
def test_s_is_one_exactly_when_the_classifier_always_names_a_category_the_panel_agrees_on_most(
    table, data
):
    most = [[pairs_agreeing(row, k) for k in range(K)] for row in table]
    best = np.array(
        [
            data.draw(st.sampled_from([k for k in range(K) if pairs[k] == max(pairs)]))
            for pairs in most
        ]
    )
    labels = np.where(
        data.draw(st.booleans()),
        best,
        data.draw(st.sampled_from([best, np.zeros(len(table), int), table[:, 0]])),
    )
    panel = patterns(table).with_classifier(labels, "model")
    s = value("shah_s", panel)
    assume(not np.isnan(s))
    always = all(
        pairs[label] == max(pairs)
        for pairs, label, row in zip(most, labels, table, strict=True)
        if label >= 0 and (row >= 0).sum() >= 2
    )
    assert (s == pytest.approx(1, abs=1e-12)) == always


@quickly
@given(table=codes(missing=True))
def test_vanbelle_and_alberts_kappa_is_schoutens_as_a_share_of_the_most_the_panel_allows(table):
    panel = against_last(table)
    va = of("vanbelle_albert_kappa", panel)
    assume(not np.isnan(va.value))
    assert same(
        float(va.value) * float(va.greatest - va.expected),
        value("schouten_kappa", panel) * float(1 - va.expected),
    )


@quickly
@given(
    cells=st.lists(st.lists(st.integers(0, K - 1), min_size=4, max_size=4), min_size=1, max_size=8)
)
def test_self_agreement_is_its_unbiased_form_and_one_mth_of_the_rest(cells):
    """Σ d² = U + (1 - U) / m on cells of m meetings each."""
    counts = np.array([[cell.count(k) for k in range(K)] for cell in cells], dtype=float)
    first = patterns(np.array([[cell[0]] for cell in cells]))
    replicates = ReplicatedLabels(
        counts, np.arange(len(cells)), np.zeros(len(cells), dtype=int), first
    )
    unbiased = value("self_agreement_unbiased", replicates)
    assert same(value("self_agreement", replicates), unbiased + (1 - unbiased) / 4)
