import numpy as np
import pytest
from scipy.stats import ttest_1samp
from statsmodels.stats.multitest import multipletests

from agreement_pipeline.errors import PolicyError
from agreement_pipeline.measures import MEASURES, alternative_annotator_test
from agreement_pipeline.measures.alternative import largest_rejected_p_value, one_sided_p_value
from tests.measures.panels import panel_of


def round_of(seed, n_items=150, n_raters=5, skill=0.7, model=0.8, missing=0.2):
    rng = np.random.default_rng(seed)
    truth = rng.integers(0, 3, size=(n_items, 1))
    skills = np.array([skill] * n_raters + [model])
    codes = np.where(
        rng.random((n_items, n_raters + 1)) < skills,
        truth,
        rng.integers(0, 3, size=(n_items, n_raters + 1)),
    )
    return np.where(rng.random(codes.shape) < missing, -1, codes)


def duels(codes, j):
    """True where the model, and where the rater, matches the others at least as well.

    On the items that rater j, another rater and the classifier labelled.
    """
    model_wins, rater_wins = [], []
    for *panel, model in codes.tolist():
        others = [label for k, label in enumerate(panel) if k != j and label >= 0]
        if model < 0 or panel[j] < 0 or not others:
            continue
        model_score = np.mean([label == model for label in others])
        rater_score = np.mean([label == panel[j] for label in others])
        model_wins.append(model_score >= rater_score)
        rater_wins.append(rater_score >= model_score)
    return np.array(model_wins, dtype=float), np.array(rater_wins, dtype=float)


@pytest.mark.parametrize("seed", range(4))
def test_the_advantage_probability_is_the_mean_over_raters_of_the_loop_over_items(seed):
    codes = round_of(seed)
    by_rater = [duels(codes, j)[0].mean() for j in range(5)]
    assert float(MEASURES["advantage_probability"](panel_of(codes)).value) == pytest.approx(
        np.mean(by_rater), abs=1e-12
    )


def test_raters_whom_nobody_met_are_left_out_of_the_mean():
    codes = np.array([[0, 0, -1, 0], [0, 1, -1, 1], [-1, -1, 2, 2]])
    expected = np.mean([duels(codes, j)[0].mean() for j in (0, 1)])
    assert float(MEASURES["advantage_probability"](panel_of(codes)).value) == pytest.approx(
        expected, abs=1e-14
    )


@pytest.mark.parametrize("epsilon", [0.0, 0.1, 0.2])
@pytest.mark.parametrize("seed", range(4))
def test_the_test_is_scipys_paired_t_test_and_statsmodels_false_discovery_rate(seed, epsilon):
    codes = round_of(seed, skill=0.75, model=0.75)
    found = alternative_annotator_test(panel_of(codes), epsilon=epsilon)
    expected = []
    for j, comparison in enumerate(found.comparisons):
        model_wins, rater_wins = duels(codes, j)
        expected.append(ttest_1samp(rater_wins - model_wins, epsilon, alternative="less").pvalue)
        assert comparison.n_items == len(model_wins)
        assert comparison.classifier_wins == pytest.approx(model_wins.mean(), abs=1e-12)
        assert comparison.rater_wins == pytest.approx(rater_wins.mean(), abs=1e-12)
        assert comparison.p_value == pytest.approx(expected[-1], abs=1e-12)
    rejected = multipletests(expected, alpha=0.05, method="fdr_by")[0]
    assert [comparison.rejected for comparison in found.comparisons] == rejected.tolist()
    assert found.winning_rate == pytest.approx(rejected.mean(), abs=1e-14)


@pytest.mark.parametrize("seed", range(20))
def test_the_false_discovery_rate_is_held_as_statsmodels_holds_it(seed):
    p_values = np.random.default_rng(seed).random(12) ** 3 / 10
    cutoff = largest_rejected_p_value(p_values.tolist(), 0.05)
    assert (p_values <= cutoff).tolist() == multipletests(p_values, alpha=0.05, method="fdr_by")[
        0
    ].tolist()


def test_items_that_look_alike_count_as_often_as_they_occur():
    codes = np.random.default_rng(5).integers(-1, 3, size=(30, 4))
    weights = np.random.default_rng(6).integers(1, 6, size=30)
    once, repeated = (
        alternative_annotator_test(panel_of(codes, weights=weights)),
        alternative_annotator_test(panel_of(np.repeat(codes, weights, axis=0))),
    )
    assert once.winning_rate == repeated.winning_rate
    for one, other in zip(once.comparisons, repeated.comparisons, strict=True):
        assert one.n_items == other.n_items
        assert one.p_value == pytest.approx(other.p_value, abs=1e-12)


def test_a_good_model_passes_and_a_guessing_one_does_not():
    good, guessing = (
        alternative_annotator_test(panel_of(round_of(7, model=skill, missing=0.0)))
        for skill in (0.9, 0.0)
    )
    assert good.winning_rate == 1
    assert good.passed
    assert guessing.winning_rate == 0
    assert not guessing.passed


def test_a_rater_with_few_items_is_not_tested_and_says_so():
    codes = round_of(8, missing=0.0)
    codes[20:, 0] = -1
    found = alternative_annotator_test(panel_of(codes))
    first, *others = found.comparisons
    assert first.p_value is None
    assert not first.rejected
    assert (
        first.undefined == "only 20 items were also labelled by another rater and the classifier; "
        "at least 30 are required"
    )
    codes[1:, 0] = -1
    one, *_ = alternative_annotator_test(panel_of(codes)).comparisons
    assert one.undefined.startswith("only 1 item was also labelled by another rater and the class")
    assert all(comparison.p_value is not None for comparison in others)
    assert found.winning_rate == sum(comparison.rejected for comparison in others) / 4


def test_when_no_rater_can_be_tested_there_is_no_winning_rate_but_a_reason():
    found = alternative_annotator_test(panel_of([[0, 0, 0], [1, 1, 1]]))
    assert found.winning_rate is None
    assert not found.passed
    assert (
        found.undefined
        == "no rater has 30 items that another rater and the classifier also labelled"
    )


@pytest.mark.parametrize("epsilon", [0.0, 0.1, 0.2, 1.0])
@pytest.mark.parametrize("lead", [-1, 0, 1])
def test_a_lead_that_never_varies_has_its_greatest_chance_under_the_hypothesis(lead, epsilon):
    # The shares of leads -1 and 0; the rest of each law is lead 1.
    shares = np.stack(np.meshgrid(*[np.linspace(0, 1, 101)] * 2), -1).reshape(-1, 2)
    laws = np.column_stack([shares, 1 - shares.sum(1)])
    laws = laws[(laws[:, 2] > -1e-12) & (laws @ [-1, 0, 1] >= epsilon - 1e-12)]
    assert one_sided_p_value(np.full(4, float(lead)), np.ones(4), epsilon) == pytest.approx(
        laws[:, lead + 1].max() ** 4, abs=1e-9
    )


def test_a_panel_of_two_is_compared_and_has_no_winning_rate():
    found = alternative_annotator_test(panel_of(np.tile([[0, 0, 0], [1, 1, 1]], (40, 1))))
    assert all(comparison.rejected for comparison in found.comparisons)
    assert (found.winning_rate, found.passed) == (None, False)
    assert found.undefined == (
        "only 2 raters share items with the classifier and another rater; at least 3 are required"
    )


@pytest.mark.parametrize(
    ("argument", "message"),
    [
        ({"epsilon": 1.5}, "found epsilon 1.5; expected 0 to 1"),
        (
            {"false_discovery_rate": 0.0},
            "found false discovery rate 0.0; expected a number between",
        ),
        ({"min_items": 1}, "found min_items 1; expected 2 or more"),
    ],
)
def test_impossible_demands_are_refused(argument, message):
    with pytest.raises(PolicyError, match=message):
        alternative_annotator_test(panel_of([[0, 0, 0]]), **argument)
