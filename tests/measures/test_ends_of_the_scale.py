"""One number far from the others does not make guessing look reliable."""

import numpy as np
import pandas as pd
import pytest

from agreement_pipeline import Rule, Scale
from agreement_pipeline.counting import RatingsCounting
from agreement_pipeline.estimates import applicable_measures, measure_ratings
from agreement_pipeline.intervals import Inference
from agreement_pipeline.readers import read
from agreement_pipeline.statistics import LabelsByRater
from tests.forms import FORMS

N = 100


def guesses(low, high):
    codes = np.random.default_rng(5).integers(low, high + 1, size=(N, 3))
    return [
        (f"i{i:03}", rater, int(label))
        for i, row in enumerate(codes)
        for rater, label in zip("abc", row, strict=True)
    ]


ROUNDS = {
    "a lone typo": ("interval", [*guesses(0, 2), ("typo", "a", 200)]),
    "a typo that meets a guess": (
        "interval",
        [*guesses(0, 2), ("typo", "a", 200), ("typo", "b", 1)],
    ),
    "a typo of two raters": ("interval", [*guesses(0, 2), ("typo", "a", 200), ("typo", "b", 200)]),
    "a lone zero among proportions": ("ratio", [*guesses(100, 110), ("typo", "a", 0)]),
}


@pytest.fixture(params=ROUNDS)
def read_round(request, tmp_path):
    level, rows = ROUNDS[request.param]
    path = tmp_path / "round.csv"
    pd.DataFrame(rows, columns=["item", "rater", "label"]).to_csv(path, index=False)
    return read(path, level=level)


def test_guessing_is_reliable_by_no_measure_that_corrects_for_chance(read_round):
    corrected = [name for name in applicable_measures(read_round) if FORMS[name].chance_corrected]
    # The rounds have no second group and no strata.
    names = [name for name in corrected if FORMS[name].needs not in ("groups", "strata")]
    found = list(measure_ratings(read_round, names, Inference(n_resamples=1000)))
    assert {each.measure for each in found} == set(names)
    verdicts = [
        verdict
        for name, scope in {(each.measure, each.scope.kind) for each in found}
        for verdict in Rule(name, scope, effect="warn").judge(found)
    ]
    assert [verdict.reason for verdict in verdicts if verdict.kind == "reliable"] == []


@pytest.mark.parametrize("name", ["gwet_ac2_quadratic", "brennan_prediger_linear"])
def test_a_scale_that_the_team_named_gives_a_value_and_one_read_off_the_ratings_a_reason(
    name, tmp_path
):
    path = tmp_path / "round.csv"
    pd.DataFrame(ROUNDS["a lone typo"][1], columns=["item", "rater", "label"]).to_csv(
        path, index=False
    )
    named = read(path, scale=Scale((0, 1, 2, 200), "interval"), level="interval")
    read_off = read(path, level="interval")
    assert (named.scale.declared, read_off.scale.declared) == (True, False)
    assert named.digest != read_off.digest
    assert FORMS[name].why_undefined(RatingsCounting().counts(named)) is None
    assert (
        FORMS[name]
        .why_undefined(RatingsCounting().counts(read_off))
        .startswith("the categories were read off the ratings")
    )
    assert np.isfinite(FORMS[name](RatingsCounting().counts(named)).value)
    assert np.isnan(FORMS[name](RatingsCounting().counts(read_off)).value)


@pytest.mark.parametrize("name", ["fleiss_kappa_quadratic", "conger_kappa_quadratic"])
@pytest.mark.parametrize("level", ["interval", "ratio"])
def test_kappa_is_not_read_off_an_end_that_nobody_compared(name, level):
    met, alone = [[0, 0, 1], [2, 2, 2], [1, -1, -1], [0, 2, 1]], [3, -1, -1]
    scale = Scale((1, 2, 3, 200), level)
    assert FORMS[name].why_undefined(statistic_of(name, met, scale)) is None
    assert np.isfinite(FORMS[name](statistic_of(name, met, scale)).value)
    assert (
        FORMS[name]
        .why_undefined(statistic_of(name, [*met, alone], scale))
        .startswith("the lowest or the highest number given is on no item with a second rating")
    )
    assert np.isnan(FORMS[name](statistic_of(name, [*met, alone], scale)).value)


@pytest.mark.parametrize("name", ["fleiss_kappa_linear", "conger_kappa_linear"])
def test_each_draw_of_weights_asks_for_itself_whether_the_ends_meet(name):
    of = statistic_of(name, [[0, 0, 1], [2, 2, 1], [2, -1, -1]], Scale((0, 1, 2), "interval"))
    value = FORMS[name](of.with_weights(np.array([[1.0, 1.0, 1.0], [1.0, 0.0, 1.0]]))).value
    assert np.isnan(value).tolist() == [False, True]


def statistic_of(name, rows, scale):
    patterns = LabelsByRater(rows, scale=scale, raters=tuple("abc"))
    return patterns if FORMS[name].needs == "patterns" else patterns.counts()
