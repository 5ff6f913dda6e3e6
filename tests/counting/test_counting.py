"""What counts ratings chooses labels or numbers by the scale."""

import pandas as pd
import pytest

from agreement_pipeline.counting import counting_of, refuse_unread
from agreement_pipeline.errors import RatingsError
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


def test_numbers_are_counted_only_if_the_scale_has_no_categories(ratings):
    counting, continuous = counting_of(ratings), ratings.scale.continuous
    first, again = (NumbersByRater, ReplicatedNumbers) if continuous else (None, None)
    assert type(counting.by_rater(ratings)) is (first or LabelsByRater)
    assert type(counting.replicates(ratings)) is (again or ReplicatedLabels)
    items, of_items = counting.by_item(ratings)
    assert type(of_items) is (first or CategoryCounts)
    assert (items, len(of_items.weights)) == (("i1", "i2"), 2)


def test_it_is_known_who_rated_what_in_the_round_itself(ratings):
    counting = counting_of(ratings)
    assert sorted(counting.panel(ratings)) == ["ana", "ben"]
    assert counting.classifiers(ratings) == ("model",)
    assert counting.items(ratings) == ("i1", "i2")


def test_classifiers_asked_for_stand_in_the_last_columns(ratings):
    beside = counting_of(ratings).by_rater(ratings, ("model",)).against("model")
    assert (beside.classifier, sorted(beside.raters)) == ("model", ["ana", "ben"])
    assert (beside.n_items, beside.n_ratings) == (1, 1)


@pytest.mark.parametrize("given", [pd.DataFrame(), "ratings.csv", None])
def test_what_was_not_read_is_refused(given):
    with pytest.raises(
        RatingsError, match=r"^ratings: found \w+; expected what read_ratings gives"
    ):
        refuse_unread(given)
