"""A round after an earlier one whose labels are numbers in another form."""

import pandas as pd
import pytest

from agreement_pipeline.engine import duckdb_session
from agreement_pipeline.errors import RatingsError
from agreement_pipeline.ratings import Ratings, Scale

OPEN, LISTED = Scale(None, "interval"), Scale((0.1, 1.0, 2.5), "interval")


def ratings(labels, scale):
    frame = pd.DataFrame({"item": list("ij"), "rater": ["a", "a"], "label": labels})
    return Ratings.from_frame(frame, scale)


@pytest.mark.parametrize("later", [OPEN, LISTED])
@pytest.mark.parametrize("earlier", [OPEN, LISTED])
def test_labels_are_the_same_numbers_with_and_without_categories(earlier, later):
    both = ratings([1.0, 2.5], later).preceded_by([ratings([0.1, 1.0], earlier)])
    rows = both.replicated_ratings(["item", "number", "earlier"]).to_pylist()
    assert [(row["item"], row["number"], row["earlier"]) for row in rows] == [
        ("i", 0.1, True),
        ("i", 1.0, False),
        ("j", 1.0, True),
        ("j", 2.5, False),
    ]


@pytest.mark.parametrize("earlier", [OPEN, Scale((0.1, 7.0), "interval")])
def test_a_number_that_is_no_category_of_the_later_round_is_refused(earlier):
    with pytest.raises(RatingsError, match=r"none of \['0.1', '1', '2.5'\]; expected the same"):
        ratings([1.0, 2.5], LISTED).preceded_by([ratings([0.1, 7.0], earlier)])


def test_an_earlier_round_may_be_in_another_session():
    later = ratings([1.0, 2.5], LISTED)
    frame = pd.DataFrame({"item": list("ij"), "rater": ["a", "a"], "label": [0.1, 1.0]})
    elsewhere = Ratings.from_frame(frame, LISTED, session=duckdb_session("500MB"))
    here = later.preceded_by([ratings([0.1, 1.0], LISTED)])
    assert later.preceded_by([elsewhere]).to_pandas().equals(here.to_pandas())
