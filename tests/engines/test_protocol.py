"""Engines are registered, and each chooses labels or numbers by the scale."""

import inspect

import pandas as pd
import pytest

from agreement_pipeline.counting import counting_of
from agreement_pipeline.engines import ENGINES, Engine
from agreement_pipeline.ratings import Ratings, Scale
from agreement_pipeline.statistics import (
    CategoryCounts,
    LabelsByRater,
    NumbersByRater,
    ReplicatedLabels,
    ReplicatedNumbers,
)

ROWS = [
    ("i1", "ana", 1.0, 1),
    ("i1", "ana", 2.0, 2),
    ("i1", "ben", 1.0, 1),
    ("i2", "ana", 2.0, 1),
    ("i2", "model", 2.0, 1),
]


def ratings_on(scale):
    frame = pd.DataFrame(ROWS, columns=["item", "rater", "label", "occurrence"])
    return Ratings.from_frame(frame, scale, classifiers=["model"])


@pytest.fixture(params=[(1.0, 2.0), None], ids=["categories", "numbers"])
def ratings(request):
    return ratings_on(Scale(request.param, "interval"))


def asked():
    return {name for name, _ in inspect.getmembers(Engine, inspect.isfunction) if name[0] != "_"}


@pytest.mark.parametrize("engine", ENGINES.values(), ids=ENGINES)
def test_an_engine_does_all_that_is_asked_of_one(engine):
    assert {name for name in asked() if callable(getattr(engine, name, None))} == asked()


def test_the_engine_of_ratings_is_a_registered_one(ratings):
    assert counting_of(ratings) in ENGINES.values()


def test_an_engine_gives_numbers_only_if_the_scale_has_no_categories(ratings):
    engine, continuous = counting_of(ratings), ratings.scale.continuous
    first, again = (NumbersByRater, ReplicatedNumbers) if continuous else (None, None)
    assert type(engine.by_rater(ratings)) is (first or LabelsByRater)
    assert type(engine.replicates(ratings)) is (again or ReplicatedLabels)
    items, of_items = engine.by_item(ratings)
    assert type(of_items) is (first or CategoryCounts)
    assert (items, len(of_items.weights)) == (("i1", "i2"), 2)


def test_an_engine_knows_who_rated_what_in_the_round_itself(ratings):
    engine = counting_of(ratings)
    assert sorted(engine.panel(ratings)) == ["ana", "ben"]
    assert engine.classifiers(ratings) == ("model",)
    assert engine.items(ratings) == ("i1", "i2")


def test_classifiers_asked_for_stand_in_the_last_columns(ratings):
    beside = counting_of(ratings).by_rater(ratings, ("model",)).against("model")
    assert (beside.classifier, sorted(beside.raters)) == ("model", ["ana", "ben"])
    assert (beside.n_items, beside.n_ratings) == (1, 1)
