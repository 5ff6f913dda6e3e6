"""What the page on deliveries says of its study."""

import numpy as np
import pytest

from agreement_pipeline.ratings import EarlierDelivery, mark_first_deliveries
from benchmarks.studies import deliveries


@pytest.mark.parametrize("new_share", deliveries.NEW_SHARES)
def test_the_share_of_new_items_is_that_of_the_bad_weeks_export(new_share):
    weeks = deliveries.project(np.random.default_rng(1), new_share, 0.5)
    export = np.concatenate(weeks[: deliveries.BAD_WEEK])
    assert len(weeks[deliveries.BAD_WEEK - 1]) / len(export) == pytest.approx(new_share, abs=0.01)
    earlier = [EarlierDelivery("w4", deliveries.ratings_of(weeks[: deliveries.BAD_WEEK - 1]))]
    undeclared = mark_first_deliveries(deliveries.ratings_of([export]), earlier, "w5")
    assert 2 * undeclared.origin.unchanged > undeclared.n_items


def test_a_cumulative_week_is_its_new_items():
    weeks = deliveries.project(np.random.default_rng(2), 0.2, 0.5)[:5]
    earlier = [EarlierDelivery("w4", deliveries.ratings_of(weeks[:4]))]
    found = mark_first_deliveries(deliveries.ratings_of(weeks), earlier, "w5", "cumulative")
    assert (found.n_items, found.strata) == (deliveries.ITEMS_A_WEEK, {})


@pytest.mark.parametrize("alpha", deliveries.BAD_ALPHAS)
def test_simulated_raters_have_the_true_alpha(alpha):
    """By hand: labels of two raters are equal by more than chance in a share of alpha."""
    labels = deliveries.labelled(np.random.default_rng(3), 40_000, alpha)
    equal = np.mean(labels[:, 0] == labels[:, 1])
    assert (equal - 1 / 3) / (2 / 3) == pytest.approx(alpha, abs=0.02)
