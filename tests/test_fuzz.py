"""Hostile bytes for seconds; `python tests/fuzzing.py MINUTES` goes on for longer."""

import warnings

import pytest
from hypothesis import HealthCheck, given, settings

from tests.fuzzing import checks

NAMES = ("csv", "csv cells", "tsv", "json lines", "json cells", "parquet", "parquet types", "policy", "waiver", "release")


@pytest.fixture(scope="module")
def fuzzed(tmp_path_factory):
    return checks(tmp_path_factory.mktemp("fuzz"))


def test_everything_that_is_fuzzed_is_tested(fuzzed):
    assert set(fuzzed) == set(NAMES)


@pytest.mark.parametrize("name", NAMES)
def test_hostile_bytes_are_refused_and_nothing_that_was_changed_is_opened(fuzzed, name):
    strategy, check = fuzzed[name]

    @settings(max_examples=12, deadline=None, database=None, suppress_health_check=list(HealthCheck))
    @given(strategy)
    def hold(drawn):
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            check(drawn)

    hold()
