import krippendorff
import numpy as np
import pytest

from agreement_pipeline import MEASURES, PanelPatterns, RatingPatterns, Scale

WITH, GAIN = MEASURES["alpha_with_classifier"], MEASURES["alpha_gain"]
SCALES = {level: Scale((1.0, 2.0, 5.0), level) for level in ("interval", "ratio")} | {level: Scale(("1", "2", "5"), level) for level in ("nominal", "ordinal")}


def panel_of(codes, level="nominal"):
    panel = RatingPatterns(codes[:, :-1], scale=SCALES[level], raters=[f"r{j}" for j in range(codes.shape[1] - 1)])
    return PanelPatterns(panel, codes[:, -1], "model")


def theirs(codes, level):
    data = np.where(codes < 0, np.nan, np.array([1.0, 2.0, 5.0])[codes]).T
    return krippendorff.alpha(data, level_of_measurement=level, value_domain=[1.0, 2.0, 5.0])


@pytest.mark.parametrize("level", SCALES)
@pytest.mark.parametrize("seed", range(3))
def test_both_are_krippendorffs_alpha_on_the_items_that_the_classifier_labelled(level, seed):
    codes = np.random.default_rng(seed).integers(-1, 3, size=(30, 4))
    labelled = codes[codes[:, -1] >= 0]
    joined, alone = theirs(labelled, level), theirs(labelled[:, :-1], level)
    assert float(WITH(panel_of(codes, level)).value) == pytest.approx(joined, abs=1e-12)
    assert float(GAIN(panel_of(codes, level)).value) == pytest.approx(joined - alone, abs=1e-12)


def test_a_classifier_that_follows_the_majority_adds_and_one_that_contradicts_it_takes():
    panel = np.array([[0, 0, 0]] * 6 + [[0, 0, 1]] * 3 + [[2, 2, 2]] * 6)
    following, contradicting = (np.column_stack([panel, labels]) for labels in (panel[:, 0], 2 - panel[:, 0]))
    assert float(GAIN(panel_of(following)).value) > 0 > float(GAIN(panel_of(contradicting)).value)


def test_a_panel_of_one_category_leaves_no_gain_but_an_alpha():
    panel = panel_of(np.array([[0, 0, 0], [0, 0, 1]]))
    assert GAIN.why_undefined(panel).startswith("the panel's ratings that meet another")
    assert WITH.why_undefined(panel) is None
    assert np.isnan(GAIN(panel).value)
    assert np.isfinite(WITH(panel).value)
