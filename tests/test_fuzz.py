"""Hostile bytes for seconds; `python -m tests.fuzzing MINUTES` goes on for longer."""

import warnings

import pytest
from hypothesis import HealthCheck, given, settings

from agreement_pipeline import ReleaseHeldError
from agreement_pipeline.contract import Contract
from agreement_pipeline.projects import load_project
from tests.fuzzing import checks, judging, running, taken_through
from tests.hostile import PROJECT, SUITE

NAMES = (
    "csv",
    "csv cells",
    "tsv",
    "json lines",
    "json cells",
    "parquet types",
    "gzip",
    "zstd",
    "exports of tools",
    "exports of objects",
    "policy",
    "waiver",
    "contract",
    "project",
    "release",
)


@pytest.fixture(scope="module")
def fuzzed(tmp_path_factory):
    return checks(tmp_path_factory.mktemp("fuzz"))


def test_everything_that_is_fuzzed_is_tested(fuzzed):
    assert set(fuzzed) == set(NAMES)


@pytest.mark.parametrize("name", NAMES)
def test_hostile_bytes_are_refused_and_nothing_that_was_changed_is_opened(fuzzed, name):
    strategy, check = fuzzed[name]

    @settings(
        max_examples=12, deadline=None, database=None, suppress_health_check=list(HealthCheck)
    )
    @given(strategy)
    def hold(drawn):
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            check(drawn)

    hold()


def test_a_project_that_is_not_changed_reaches_the_gate_and_is_held_there(tmp_path):
    running(tmp_path)(PROJECT.encode())
    with pytest.raises(ReleaseHeldError, match="round r1: held, since krippendorff_alpha"):
        taken_through(load_project(next(tmp_path.rglob("demo.yaml"))), tmp_path)


def test_a_suite_that_is_not_changed_is_asked(tmp_path):
    judging(tmp_path)(SUITE.encode())
    suite = Contract.load(tmp_path / "strict.yaml").suite
    assert [entry.check for entry in suite.entries] == [
        "known_labels",
        "no_address",
        "confidence_range",
        "rows_delivered",
    ]
