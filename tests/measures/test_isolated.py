from functools import cache

import numpy as np
import pytest
from sklearn.metrics import cohen_kappa_score

from agreement_pipeline import Scale
from agreement_pipeline.measures import weighting as weightings
from agreement_pipeline.measures.isolated import schouten_kappa, vanbelle_albert_kappa
from agreement_pipeline.measures.weighting import IDENTITY, LINEAR, QUADRATIC, WEIGHTINGS, Weighting
from agreement_pipeline.statistics import LabelsByRater
from tests.forms import FORMS
from tests.measures.panels import panel_of

K = 3
SCALE = Scale((0.0, 1.0, 4.0), "interval")


def shares_of(row):
    labels = [k for k in row[:-1] if k >= 0]
    return [labels.count(k) / len(labels) for k in range(K)]


def slow_parts(rows, w):
    """Observed, expected and greatest agreement of the last column with the others' shares."""
    met = [row for row in rows if row[-1] >= 0 and max(row[:-1]) >= 0]
    with_each = [
        [sum(w[j][k] * shares_of(row)[k] for k in range(K)) for j in range(K)] for row in met
    ]
    observed = np.mean([agreement[row[-1]] for agreement, row in zip(with_each, met, strict=True)])
    x = [np.mean([row[-1] == j for row in met]) for j in range(K)]
    y = [np.mean([shares_of(row)[k] for row in met]) for k in range(K)]
    expected = sum(w[j][k] * x[j] * y[k] for j in range(K) for k in range(K))
    return observed, expected, np.mean([max(agreement) for agreement in with_each])


@pytest.mark.parametrize("weighting", [IDENTITY, *WEIGHTINGS.values()])
@pytest.mark.parametrize("seed", range(3))
def test_with_missing_ratings_the_kappas_are_the_loop_over_items(weighting, seed):
    codes = np.random.default_rng(seed).integers(-1, K, size=(30, 4))
    observed, expected, greatest = slow_parts(codes.tolist(), weighting.weight_matrix(SCALE))
    assert float(vanbelle_albert_kappa(panel_of(codes, SCALE), weighting).value) == pytest.approx(
        (observed - expected) / (greatest - expected), abs=1e-12
    )
    assert float(schouten_kappa(panel_of(codes, SCALE), weighting).value) == pytest.approx(
        (observed - expected) / (1 - expected), abs=1e-12
    )


@pytest.mark.parametrize(
    ("weighting", "theirs"), [(IDENTITY, None), (LINEAR, "linear"), (QUADRATIC, "quadratic")]
)
@pytest.mark.parametrize("kappa", [vanbelle_albert_kappa, schouten_kappa])
def test_one_against_one_is_cohens_kappa(kappa, weighting, theirs):
    codes = np.random.default_rng(8).integers(0, K, size=(30, 2))
    panel = panel_of(codes, Scale(tuple("abc"), "ordinal"))
    assert float(kappa(panel, weighting).value) == pytest.approx(
        cohen_kappa_score(codes[:, 1], codes[:, 0], labels=range(K), weights=theirs), abs=1e-12
    )


def test_williams_index_is_the_loop_over_pairs():
    codes = np.random.default_rng(9).integers(-1, K, size=(30, 5))
    with_rater, within = [], []
    for *panel, model in codes.tolist():
        labels = [k for k in panel if k >= 0]
        if model < 0 or len(labels) < 2:
            continue
        with_rater.append(np.mean([k == model for k in labels]))
        within.append(
            np.mean([a == b for i, a in enumerate(labels) for j, b in enumerate(labels) if i != j])
        )
    found = FORMS["williams_index"](panel_of(codes, Scale(tuple("abc"))))
    assert float(found.value) == pytest.approx(np.mean(with_rater) / np.mean(within), abs=1e-12)


def test_a_panel_that_never_agrees_leaves_williams_index_without_a_value():
    panel = panel_of([[0, 1, 0], [1, 2, 1]], Scale(tuple("abc")))
    assert np.isnan(FORMS["williams_index"](panel).value)
    assert (
        FORMS["williams_index"].why_undefined(panel)
        == "the panel never agrees with itself on an item that the classifier labelled"
    )


def test_the_condition_of_a_weighted_kappa_is_read_under_its_own_weights():
    """To a panel split between the ends, the middle category is worth as much as an end.

    That holds with linear weights. Without weights the middle category is worth nothing.
    """
    panel = panel_of([[0, 2, 1], [0, 2, 0]], Scale(tuple("abc"), "ordinal"))
    assert FORMS["vanbelle_albert_kappa_linear"].why_undefined(panel) is not None
    assert FORMS["vanbelle_albert_kappa"].why_undefined(panel) is None
    assert np.isnan(FORMS["vanbelle_albert_kappa_linear"](panel).value)
    assert float(FORMS["vanbelle_albert_kappa"](panel).value) == pytest.approx(0.0, abs=1e-14)


@pytest.mark.parametrize(
    "weighting",
    [each for each in vars(weightings).values() if isinstance(each, Weighting)],
    ids=lambda each: each.title,
)
def test_every_weighting_is_a_squared_distance_so_that_schoutens_kappa_is_never_under_minus_one(
    weighting,
):
    rng = np.random.default_rng(41)
    for k in range(2, 8):
        apart = 1 - weighting.weight_matrix(
            Scale(tuple(np.cumsum(rng.uniform(0.1, 3, size=k)) - 0.1), "ratio")
        )
        centring = np.eye(k) - 1 / k
        assert np.linalg.eigvalsh(-centring @ apart @ centring).min() > -1e-9


@pytest.mark.parametrize("weighting", [IDENTITY, LINEAR, QUADRATIC])
def test_schoutens_kappa_reaches_minus_one_where_the_classifier_always_says_the_other_pole(
    weighting,
):
    panel = LabelsByRater([[0, 0], [2, 2]], scale=SCALE, raters="ab")
    assert float(
        schouten_kappa(panel.with_classifier([2, 0], "model"), weighting).value
    ) == pytest.approx(-1.0)


GUESSING = {
    name: record
    for name, record in FORMS.items()
    if record.needs == "panel" and record.chance_corrected
}


@cache
def panel_and_guesses(accuracy):
    """Labels of 200,000 items by raters who are right that often, and by a guessing classifier."""
    rng = np.random.default_rng(31)
    truth = rng.choice(3, size=(200_000, 1), p=[0.5, 0.3, 0.2])
    codes = np.where(
        rng.random((200_000, 3)) < accuracy, truth, rng.integers(0, 3, size=(200_000, 3))
    )
    rows, weights = np.unique(
        np.column_stack([codes, rng.choice(3, size=200_000, p=[0.2, 0.2, 0.6])]),
        axis=0,
        return_counts=True,
    )
    panel = LabelsByRater(
        rows[:, :-1], weights.astype(float), scale=Scale((1.0, 2.0, 5.0), "interval"), raters="abc"
    )
    return panel.with_classifier(rows[:, -1], "model")


@pytest.mark.parametrize("accuracy", [1.0, 0.7])
@pytest.mark.parametrize("name", GUESSING)
def test_where_zero_is_said_to_be_the_value_of_guessing_a_guessing_classifier_gets_it(
    name, accuracy
):
    assert abs(float(GUESSING[name](panel_and_guesses(accuracy)).value)) < 0.02


def test_guessing_gets_a_third_against_a_unanimous_panel_and_passes_unseen_among_twelve():
    codes = np.repeat([[0], [1]], 2, axis=0)
    panels = {
        n: LabelsByRater(
            np.repeat(codes, n, axis=1), [50] * 4, scale=Scale("ab"), raters="abcdefghijkl"[:n]
        )
        for n in (3, 12)
    }
    unanimous = {n: panel.with_classifier([0, 1] * 2, "m") for n, panel in panels.items()}
    assert float(FORMS["shah_s"](unanimous[3]).value) == pytest.approx(1 / 3, abs=1e-12)
    assert float(FORMS["vanbelle_albert_kappa"](unanimous[3]).value) == pytest.approx(0, abs=1e-12)
    assert float(FORMS["alpha_with_classifier"](unanimous[12]).value) > 0.8
