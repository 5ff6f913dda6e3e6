"""The study of silver rounds admits few bad ones and most good ones."""

import numpy as np
import pytest

from benchmarks.studies.silver import Situation, admitted, shares

pytestmark = pytest.mark.slow


def test_few_bad_rounds_and_most_good_ones_are_admitted():
    found = dict(shares(25, 390))
    assert len(found) == 12
    assert {share for at, share in found.items() if at.wrong == 0.08} == {0.0}
    assert max(share for at, share in found.items() if at.wrong == 0.05) <= 0.1
    assert min(share for at, share in found.items() if at.wrong == 0.02) >= 0.6


def test_a_round_with_few_drawn_items_is_not_admitted():
    assert not admitted(Situation(0.02, 3, "simple"), 10, np.random.default_rng(1))
