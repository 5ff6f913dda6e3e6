import numpy as np
import pytest
from sklearn.metrics import cohen_kappa_score

from agreement_pipeline.measures import MEASURES
from agreement_pipeline.measures.isolated import strict_majority
from tests.measures.panels import panel_of

KAPPA = MEASURES["consensus_kappa"]


@pytest.mark.parametrize("seed", range(3))
def test_it_is_scikit_learns_kappa_of_the_classifier_and_the_majority(seed):
    codes = np.random.default_rng(seed).integers(-1, 3, size=(60, 6))
    truth, labels = [], []
    for *panel, label in codes.tolist():
        given = [k for k in panel if k >= 0]
        most = max(range(3), key=given.count)
        if label >= 0 and given.count(most) > len(given) / 2:
            truth.append(most)
            labels.append(label)
    assert float(KAPPA(panel_of(codes)).value) == pytest.approx(
        cohen_kappa_score(truth, labels, labels=range(3)), abs=1e-12
    )


def test_the_majority_is_more_than_half():
    panel = panel_of([[0, 0, 1, 0], [0, 1, -1, 0], [0, 1, 2, 0], [1, -1, -1, 0], [-1, -1, -1, 0]])
    assert strict_majority(panel).tolist() == [0, -1, -1, 1, -1]


def test_without_a_majority_anywhere_there_is_no_value():
    panel = panel_of([[0, 1, 0], [1, 2, 1]])
    assert np.isnan(KAPPA(panel).value)
    assert (
        KAPPA.why_undefined(panel)
        == "the classifier labelled no item on which more than half of the panel agree"
    )


def test_one_category_throughout_gives_no_value():
    panel = panel_of([[0, 0, 0], [1, 2, 1]])
    assert np.isnan(KAPPA(panel).value)
    assert (
        KAPPA.why_undefined(panel)
        == "the classifier and the majority gave one and the same category throughout"
    )
