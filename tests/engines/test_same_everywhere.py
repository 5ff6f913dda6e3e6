"""Every engine gives the same counts, digests and estimates, to the last bit."""

from dataclasses import fields, is_dataclass
from functools import cache

import numpy as np
import pandas as pd
import pytest

from agreement_pipeline import readers
from agreement_pipeline.counting import counting_of
from agreement_pipeline.estimates import applicable, between_rounds, survey
from agreement_pipeline.intervals import Inference
from agreement_pipeline.measures import MEASURES
from agreement_pipeline.readers import read
from tests.engines.sources import MADE, SHARED, source_of

pytestmark = pytest.mark.slow

ENGINES = ("duckdb", "spark")
INFERENCE = Inference(n_resamples=100)


@pytest.fixture(scope="module", params=[*SHARED, *MADE])
def source(request, tmp_path_factory):
    """A file, and how it is read."""
    return source_of(request, tmp_path_factory, MADE)


@pytest.fixture(scope="module")
def in_memory(source):
    path, reading = source
    return readers.read(path, **reading)


@pytest.fixture(scope="module")
def expected(in_memory):
    """What is answered in memory. It is the same for all engines, so it is computed once."""
    return cache(lambda question, *asked: plain(question(in_memory, *asked)))


@pytest.fixture(scope="module", params=ENGINES)
def queried(request, source):
    path, reading = source
    if request.param == "spark":
        request.getfixturevalue("spark")
        if path.suffix == ".jsonl":
            pytest.skip("Spark reads no JSON Lines here")
    return read(path, engine=request.param, **reading)


def plain(value):
    """A result with its arrays as bytes, for comparison to the last bit."""
    if isinstance(value, np.ndarray):
        if value.dtype.kind == "f":
            value = np.where(np.isnan(value), np.nan, value) + 0.0
        return value.dtype.kind, value.shape, np.ascontiguousarray(value).tobytes()
    if isinstance(value, pd.DataFrame):
        cells = value.astype(object).where(value.notna(), None)
        return value.index.tolist(), value.columns.tolist(), cells.to_numpy().tolist()
    if is_dataclass(value):
        return {field.name: plain(getattr(value, field.name)) for field in fields(value)}
    if isinstance(value, (tuple, list)):
        return [plain(each) for each in value]
    return value


def statistic(ratings, asked, *arguments):
    """What an engine says of ratings."""
    return getattr(counting_of(ratings), asked)(ratings, *arguments)


def estimates(ratings):
    """The estimates of every measure that is applicable. Of many raters, only those of counts."""
    few = len(ratings.raters) <= 50
    names = [name for name in applicable(ratings) if few or MEASURES[name].needs == "counts"]
    scopes = ("round", "category", "classifier") if few else ("round",)
    return [each.to_mapping() for each in survey(ratings, names, INFERENCE, scopes=scopes)]


def compared_with_itself(ratings):
    """The difference of a round and itself."""
    return between_rounds(ratings, ratings, "krippendorff_alpha", INFERENCE).to_mapping()


def test_the_ratings_say_the_same_of_themselves(in_memory, queried):
    names = ("scale", "classifiers", "raters", "gold", "cluster_names", "digest")
    assert {name: getattr(queried, name) for name in names} == {
        name: getattr(in_memory, name) for name in names
    }


@pytest.mark.parametrize(
    "asked", ["panel", "classifiers", "items", "by_rater", "replicates", "by_item", "said"]
)
def test_the_statistics_are_equal(expected, queried, asked):
    assert plain(statistic(queried, asked)) == expected(statistic, asked)


def test_statistics_of_labels_are_equal(in_memory, expected, queried):
    if in_memory.scale.continuous:
        pytest.skip("labels are numbers")
    for asked in ("counts", "confident_labels"):
        assert plain(statistic(queried, asked)) == expected(statistic, asked)


def test_classifiers_stand_beside_the_panel_alike(in_memory, expected, queried):
    found = statistic(queried, "by_rater", queried.classifiers)
    assert plain(found) == expected(statistic, "by_rater", in_memory.classifiers)


def test_what_classifiers_say_again_is_counted_alike(in_memory, expected, queried):
    for classifier in in_memory.classifiers:
        found = statistic(queried, "replicates", (classifier,))
        assert plain(found) == expected(statistic, "replicates", (classifier,))


def test_estimates_are_equal_to_the_last_bit(expected, queried):
    assert plain(estimates(queried)) == expected(estimates)


def test_two_rounds_are_compared_alike(in_memory, expected, queried):
    if in_memory.scale.continuous:
        pytest.skip("rounds of numbers are not paired")
    assert plain(compared_with_itself(queried)) == expected(compared_with_itself)
