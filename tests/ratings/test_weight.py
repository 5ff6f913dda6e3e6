"""An item may stand for many equal items."""

import pandas as pd
import pytest

from agreement_pipeline.counting import counting_for
from agreement_pipeline.errors import RatingsError
from agreement_pipeline.ratings import (
    ParquetRows,
    Ratings,
    RatingsRows,
    Scale,
    open_stored_cells,
    parquet_bytes,
    ratings_from_stored_cells,
)

YES = Scale(("no", "yes"))
ROWS = [("i", "a", "no"), ("i", "b", "yes"), ("j", "a", "yes"), ("j", "b", "yes")]


def rated(weights, scale=YES, labels=None):
    frame = pd.DataFrame(ROWS, columns=["item", "rater", "label"])
    if labels:
        frame["label"] = labels
    return Ratings.from_frame(frame.assign(weight=frame["item"].map(weights)), scale)


def many(weights):
    """Each item as often as it weighs."""
    rows = [
        (f"{item}{n}", rater, label) for item, rater, label in ROWS for n in range(weights[item])
    ]
    return Ratings.from_frame(pd.DataFrame(rows, columns=["item", "rater", "label"]), YES)


def test_an_item_that_weighs_five_is_five_items():
    weights = {"i": 5, "j": 2}
    found, slow = (counting_for(one).counts(one) for one in (rated(weights), many(weights)))
    assert found.counts.tolist() == slow.counts.tolist()
    assert found.weights.tolist() == slow.weights.tolist() == [2, 5]
    assert found.n_items == 7


def test_numbers_are_weighed_too():
    ratings = rated({"i": 5, "j": 2}, Scale(None, "interval"), [1.5, 2, 3, 4])
    assert sorted(counting_for(ratings).numbers(ratings).weights.tolist()) == [2, 5]


def test_two_rounds_are_put_side_by_side_with_the_weights():
    one, other = rated({"i": 5, "j": 2}), rated({"i": 5, "j": 2})
    first, second = counting_for(one).align_rounds(one, other)
    assert first.n_items == second.n_items == 7
    with pytest.raises(
        RatingsError,
        match=r"weight: found item 'j' with two weights in two rounds; expected one weight",
    ):
        counting_for(one).align_rounds(one, rated({"i": 5, "j": 3}))


def test_a_weight_is_in_the_digest_and_in_the_stored_rows():
    ratings = rated({"i": 5, "j": 2})
    assert len({ratings.digest, rated({"i": 5, "j": 3}).digest, many({"i": 1, "j": 1}).digest}) == 3
    stored = open_stored_cells(ParquetRows(parquet_bytes(RatingsRows(ratings))), "stored")
    again = ratings_from_stored_cells(stored, YES)
    assert again.items(["weight"])["weight"].to_pylist() == [5, 2]
    assert again.digest == ratings.digest


@pytest.mark.parametrize("weight", [0, -1, 1.5, "many", None])
def test_a_weight_is_a_whole_number_from_one(weight):
    with pytest.raises(RatingsError, match=r"column 'weight': found .* expected a whole number"):
        rated({"i": 5, "j": weight})


def test_an_item_has_one_weight():
    frame = pd.DataFrame(ROWS, columns=["item", "rater", "label"]).assign(weight=[1, 2, 3, 3])
    with pytest.raises(RatingsError, match="found 2 different contents of item 'i'"):
        Ratings.from_frame(frame, YES)
