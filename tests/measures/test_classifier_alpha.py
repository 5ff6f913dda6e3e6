import krippendorff
import numpy as np
import pytest

from agreement_pipeline import Scale
from agreement_pipeline.estimates import measure_ratings
from agreement_pipeline.intervals import Inference
from agreement_pipeline.measures import MEASURES
from agreement_pipeline.statistics import LabelsByRater, NumbersByRater
from tests.measures.loops import slow_alpha

WITH, GAIN, INFLUENCE = (
    MEASURES[f"alpha_{name}"] for name in ("with_classifier", "gain", "influence")
)
SCALES = {level: Scale((1.0, 2.0, 5.0), level) for level in ("interval", "ratio")} | {
    level: Scale(("1", "2", "5"), level) for level in ("nominal", "ordinal")
}


def panel_of(codes, level="nominal"):
    panel = LabelsByRater(
        codes[:, :-1], scale=SCALES[level], raters=[f"r{j}" for j in range(codes.shape[1] - 1)]
    )
    return panel.with_classifier(codes[:, -1], "model")


def in_numbers(codes, level):
    numbers = np.where(codes < 0, np.nan, np.array([1.0, 2.0, 5.0])[codes])
    panel = NumbersByRater(
        numbers[:, :-1],
        scale=Scale(None, level),
        raters=[f"r{j}" for j in range(codes.shape[1] - 1)],
    )
    return panel.with_classifier(numbers[:, -1:], "model")


def theirs(codes, level):
    data = np.where(codes < 0, np.nan, np.array([1.0, 2.0, 5.0])[codes]).T
    return krippendorff.alpha(data, level_of_measurement=level, value_domain=[1.0, 2.0, 5.0])


@pytest.mark.parametrize("level", SCALES)
@pytest.mark.parametrize("seed", range(3))
def test_both_are_krippendorffs_alpha_on_the_items_that_the_classifier_labelled(level, seed):
    codes = np.random.default_rng(seed).integers(-1, 3, size=(30, 4))
    labelled = codes[codes[:, -1] >= 0]
    paired = labelled[(labelled[:, :-1] >= 0).sum(1) >= 2]
    assert float(WITH(panel_of(codes, level)).value) == pytest.approx(
        theirs(labelled, level), abs=1e-12
    )
    assert float(GAIN(panel_of(codes, level)).value) == pytest.approx(
        theirs(paired, level) - theirs(paired[:, :-1], level), abs=1e-12
    )


def test_a_panel_of_one_category_leaves_no_gain_but_an_alpha():
    panel = panel_of(np.array([[0, 0, 0], [0, 0, 1]]))
    assert GAIN.why_undefined(panel) == (
        "on the items that the classifier labelled, "
        "all ratings of the panel that can be compared are of one category"
    )
    assert WITH.why_undefined(panel) is None
    assert np.isnan(GAIN(panel).value)
    assert np.isfinite(WITH(panel).value)


@pytest.mark.parametrize("level", SCALES)
@pytest.mark.parametrize("seed", range(3))
def test_the_influence_of_a_rater_is_alpha_of_all_less_alpha_of_the_others_on_every_item(
    seed, level
):
    codes = np.random.default_rng(seed).integers(-1, 3, size=(30, 4))
    expected = theirs(codes, level) - theirs(codes[:, :-1], level)
    assert float(INFLUENCE(panel_of(codes, level)).value) == pytest.approx(expected, abs=1e-12)
    assert float(GAIN(panel_of(codes, level)).value) != pytest.approx(expected, abs=1e-6)


@pytest.mark.parametrize("level", ["ordinal", "interval", "ratio"])
@pytest.mark.parametrize("record", [WITH, GAIN, INFLUENCE], ids=lambda record: record.name)
def test_all_three_are_the_same_where_the_scale_lists_no_categories(record, level):
    codes = np.random.default_rng(9).integers(-1, 3, size=(30, 4))
    assert float(record(in_numbers(codes, level)).value) == pytest.approx(
        float(record(panel_of(codes, level)).value), abs=1e-10
    )


def looped_alpha(items):
    return slow_alpha(items, lambda one, other: ((one - other) ** 2).sum())[0]


@pytest.mark.parametrize("seed", range(3))
def test_all_three_are_loops_over_pairs_of_vectors(seed):
    rng = np.random.default_rng(seed)
    vectors = rng.normal(size=(15, 1, 2)) * [1.0, 30.0] + rng.normal(size=(15, 4, 2)) * [0.5, 10.0]
    vectors[rng.random((15, 4)) < 0.4] = np.nan
    panel = NumbersByRater(
        vectors[:, :3], scale=Scale(None, "multivariate interval", dimensions=2), raters="abc"
    )
    statistic = panel.with_classifier(vectors[:, 3], "model")
    given = [[rating for rating in row if not np.isnan(rating[0])] for row in vectors]
    of_panel = [[rating for rating in row[:3] if not np.isnan(rating[0])] for row in vectors]
    labelled = [place for place in range(15) if not np.isnan(vectors[place, 3, 0])]
    paired = [place for place in labelled if len(of_panel[place]) >= 2]
    assert 1 < len(paired) < len(labelled) < 15
    assert float(WITH(statistic).value) == pytest.approx(
        looped_alpha([given[place] for place in labelled]), abs=1e-12
    )
    gain = looped_alpha([given[place] for place in paired]) - looped_alpha(
        [of_panel[place] for place in paired]
    )
    assert float(GAIN(statistic).value) == pytest.approx(gain, abs=1e-12)
    assert float(INFLUENCE(statistic).value) == pytest.approx(
        looped_alpha(given) - looped_alpha(of_panel), abs=1e-12
    )


def test_the_influence_of_each_rater_has_an_interval_from_paired_draws_that_finds_the_careless_one(
    tabled,
):
    rng = np.random.default_rng(6)
    truth = rng.integers(2, size=200)
    rows = [
        [t if rng.random() < accuracy else 1 - t for accuracy in (0.95, 0.95, 0.95, 0.6)]
        for t in truth
    ]
    ratings = tabled("A B C D\n" + "\n".join(" ".join(map(str, row)) for row in rows), ("0", "1"))
    found = {
        each.scope.name: each
        for each in measure_ratings(
            ratings, ["alpha_influence"], Inference(n_resamples=1000), scopes=("rater",)
        )
    }
    assert found["D"].interval.high < 0
    assert all(found[name].interval.low > 0 for name in "ABC")
    apart = {
        each.scope.name: each
        for each in measure_ratings(
            ratings,
            ["krippendorff_alpha"],
            Inference(n_resamples=1000),
            scopes=("round", "without"),
        )
    }
    unpaired = (apart[""].interval.high - apart[""].interval.low) + (
        apart["D"].interval.high - apart["D"].interval.low
    )
    assert found["D"].interval.high - found["D"].interval.low < unpaired


def test_an_influence_without_a_value_says_why():
    alone = panel_of(np.array([[0, -1, 1], [-1, 1, 1]]))
    assert INFLUENCE.why_undefined(alone) == "no item has two ratings by the other raters"
    constant = panel_of(np.array([[0, 0, 1], [0, 0, 1]]))
    assert (
        INFLUENCE.why_undefined(constant)
        == "the other raters gave one single category to all items that two of them rated"
    )
    assert np.isnan(INFLUENCE(constant).value)
