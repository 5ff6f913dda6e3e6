"""Real rounds: no critical check fails, and a warning is rare enough to be read.

AGREEMENT_REAL_ROUNDS names the folder that `benchmarks/studies` describes.
"""

import os
from pathlib import Path

import pytest

from agreement_pipeline.contract import Contract
from agreement_pipeline.policy import check_round, load_policy
from benchmarks.studies.real_rounds import ratings_of, rounds_in

FOLDER = os.environ.get("AGREEMENT_REAL_ROUNDS", "")
MOST_WARNED = 3

pytestmark = [
    pytest.mark.slow,
    pytest.mark.skipif(not FOLDER, reason="AGREEMENT_REAL_ROUNDS names no folder of real rounds"),
    pytest.mark.filterwarnings("ignore"),
]

POLICY = load_policy("standard")


def test_no_critical_check_fails_and_few_rounds_are_warned_about():
    warned = set()
    for path in sorted(Path(FOLDER).glob("*.csv")):
        for name, rows, scale in rounds_in(path):
            for found in check_round(ratings_of(rows, scale), POLICY, Contract.none()):
                assert not found.holds, (path.stem, name, found.description)
                if not found.passed:
                    warned.add(path.stem)
    assert len(warned) <= MOST_WARNED
