"""A round judged every night.

Looking often has a cost. Always valid limits pay for it.
"""

import pytest

from agreement_pipeline.intervals import Inference
from benchmarks.populations import Population
from benchmarks.studies import failures
from benchmarks.studies.failures import GROWING, looked_at
from benchmarks.studies.study import Asked


@pytest.mark.slow
def test_a_limit_of_one_night_is_ever_above_the_truth_far_more_often_than_an_always_valid_one(
    monkeypatch,
):
    """An 80 % interval may miss on one side in a tenth of 100 rounds.

    By chance up to sixteen rounds may miss, which is two standard errors more.
    """
    monkeypatch.setattr(failures, "NIGHTS", range(40, 601, 40))
    careless = Population(600, *GROWING["3 raters, 2 categories, careless raters"])
    once, always = looked_at(careless, Asked(100, Inference(0.8, 1_000)))
    assert once[:, -1].sum() <= 16
    assert once.any(1).sum() >= 20
    assert always.any(1).sum() <= 16
