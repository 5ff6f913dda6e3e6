"""The alternative-annotator test on numbers and on clusters, beside loops over items."""

import math

import numpy as np
import pytest
from scipy.stats import ttest_1samp

from agreement_pipeline import Scale
from agreement_pipeline.measures import MEASURES, alternative_annotator_test
from agreement_pipeline.statistics import Clusters, LabelsByRater, NumbersByRater

RATERS = ("a", "b", "c", "d")


def drawn(seed, n=90, missing=0.15, dimensions=1):
    """Numbers of four raters and a model, with gaps and ties. Shape (n, 5, dimensions)."""
    rng = np.random.default_rng(seed)
    truth = rng.normal(5, 2, size=(n, 1, dimensions))
    values = np.round(truth + rng.normal(0, 1, size=(n, 5, dimensions)), 1)
    values[rng.random((n, 5)) < missing] = np.nan
    return values


def panel_of(values, clusters=None):
    scale = (
        Scale(None, "interval")
        if values.shape[2] == 1
        else Scale(None, "multivariate interval", dimensions=values.shape[2])
    )
    numbers = NumbersByRater(values[:, :4], scale=scale, raters=RATERS, clusters=clusters)
    return numbers.with_classifier(values[:, 4], "model")


def rmse(one, others):
    return math.sqrt(
        sum(sum((x - y) ** 2 for x, y in zip(one, other, strict=True)) for other in others)
        / len(others)
    )


def wins(values, j):
    """For each item of rater j: its place, if the model wins, and if the rater wins."""
    for place, row in enumerate(values.tolist()):
        *panel, model = row
        others = [each for k, each in enumerate(panel) if k != j and not math.isnan(each[0])]
        if math.isnan(model[0]) or math.isnan(panel[j][0]) or not others:
            continue
        of_model, of_rater = -rmse(model, others), -rmse(panel[j], others)
        tied = math.isclose(of_model, of_rater, rel_tol=1e-9)
        yield place, tied or of_model > of_rater, tied or of_rater > of_model


@pytest.mark.parametrize("dimensions", [1, 3])
@pytest.mark.parametrize("seed", range(3))
def test_on_numbers_the_score_is_the_negative_root_mean_squared_error(seed, dimensions):
    values = drawn(seed, dimensions=dimensions)
    found = alternative_annotator_test(panel_of(values), epsilon=0.1)
    shares = []
    for j, compared in enumerate(found.comparisons):
        _, of_model, of_rater = np.array(list(wins(values, j))).T
        lead = of_rater - of_model
        assert compared.n_items == len(lead)
        assert compared.n_clusters is None
        assert compared.classifier_wins == pytest.approx(of_model.mean(), abs=1e-12)
        assert compared.rater_wins == pytest.approx(of_rater.mean(), abs=1e-12)
        expected = ttest_1samp(lead, 0.1, alternative="less").pvalue
        assert compared.p_value == pytest.approx(expected, abs=1e-12)
        shares.append(of_model.mean())
    value = MEASURES["advantage_probability"](panel_of(values)).value
    assert float(value) == pytest.approx(np.mean(shares), abs=1e-12)


def test_two_numbers_that_are_equally_far_are_tied():
    found = alternative_annotator_test(panel_of(np.array([[[5.0], [5.1], [5.0], [5.0], [4.9]]])))
    assert [each.classifier_wins for each in found.comparisons] == [0, 1, 0, 0]
    assert [each.rater_wins for each in found.comparisons] == [1, 1, 1, 1]


def test_listed_numbers_are_compared_as_numbers_and_categories_as_labels():
    codes = np.random.default_rng(4).integers(-1, 4, size=(80, 5))
    listed = LabelsByRater(
        codes[:, :4], scale=Scale((1.0, 2.0, 4.0, 9.0), "interval"), raters=RATERS
    ).with_classifier(codes[:, 4], "model")
    values = np.append([1.0, 2.0, 4.0, 9.0], np.nan)[codes][:, :, None]
    one, other = (alternative_annotator_test(each) for each in (listed, panel_of(values)))
    assert one == other
    ranked = LabelsByRater(codes[:, :4], scale=Scale(tuple("abcd"), "ordinal"), raters=RATERS)
    matching = alternative_annotator_test(ranked.with_classifier(codes[:, 4], "model"))
    assert matching.comparisons != one.comparisons


@pytest.mark.parametrize("seed", range(3))
def test_on_clusters_the_mean_lead_of_each_cluster_is_tested(seed):
    values = drawn(seed, n=240)
    names = np.random.default_rng(seed).integers(0, 50, size=240)
    panel = panel_of(values, Clusters.from_names([f"d{name}" for name in names]))
    found = alternative_annotator_test(panel, epsilon=0.1)
    for j, compared in enumerate(found.comparisons):
        held = {}
        for place, of_model, of_rater in wins(values, j):
            held.setdefault(names[place], []).append((of_model, of_rater))
        means = np.array([np.mean(each, axis=0) for each in held.values()])
        expected = ttest_1samp(means[:, 1] - means[:, 0], 0.1, alternative="less").pvalue
        assert compared.n_clusters == len(held)
        assert compared.n_items == sum(map(len, held.values()))
        assert compared.classifier_wins == pytest.approx(means[:, 0].mean(), abs=1e-12)
        assert compared.p_value == pytest.approx(expected, abs=1e-12)


def test_clusters_that_look_alike_count_as_often_as_they_occur():
    codes = np.random.default_rng(3).integers(0, 2, size=(120, 5))
    scale, names = Scale(("no", "yes")), np.repeat(np.arange(40), 3)
    panel = LabelsByRater(
        np.vstack([codes, codes])[:, :4],
        scale=scale,
        raters=RATERS,
        clusters=Clusters.from_names(np.concatenate([names, names + 40])),
    ).with_classifier(np.tile(codes[:, 4], 2), "model")
    once = LabelsByRater(
        codes[:, :4],
        np.full(120, 2.0),
        scale=scale,
        raters=RATERS,
        clusters=Clusters(names, np.full(40, 2.0)),
    ).with_classifier(codes[:, 4], "model")
    one, other = (alternative_annotator_test(each).comparisons for each in (panel, once))
    assert [each.n_clusters for each in one] == [each.n_clusters for each in other] == [80] * 4
    assert [each.p_value for each in one] == pytest.approx([each.p_value for each in other])


def test_a_rater_with_few_clusters_is_not_tested():
    values = drawn(2, n=200, missing=0.0)
    found = alternative_annotator_test(panel_of(values, Clusters.from_names(np.arange(200) // 20)))
    assert {each.undefined for each in found.comparisons} == {
        "only 10 clusters hold an item that another rater and the classifier also labelled; "
        "at least 30 are required"
    }
    assert found.undefined == (
        "no rater has 30 clusters with items that another rater and the classifier also labelled"
    )
