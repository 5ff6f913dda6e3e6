"""What ratings answer of some raters, of their first rows and of the texts of items."""

import pandas as pd
import pytest

from agreement_pipeline.ratings import Ratings, Scale

ROWS = [
    ("i1", "ana", "yes", False, True, 7),
    ("i2", "ana", "no", False, False, 8),
    ("i2", "ben", "no", False, False, 8),
    ("i3", "ana", "no", False, False, None),
    ("i3", "cleo", "yes", False, False, None),
    ("i4", "cleo", "yes", True, False, 9),
]
COLUMNS = ["item", "rater", "label", "earlier", "gold", "text"]
RATINGS = Ratings.from_frame(
    pd.DataFrame(ROWS, columns=COLUMNS).astype({"text": "Int64"}), Scale(("no", "yes"))
)


def test_the_items_of_some_raters_are_counted_among_theirs():
    found = RATINGS.first_ratings(["item", "at", "place"], raters=["ben", "cleo"])
    assert found.to_pylist() == [
        {"item": "i2", "at": 0, "place": 1},
        {"item": "i3", "at": 1, "place": 2},
    ]
    assert RATINGS.first_ratings(["item"], raters=["ana"], gold=True)["item"].to_pylist() == [
        "i1",
        "i2",
        "i3",
    ]
    assert RATINGS.first_ratings(["item"], items=["i3"], raters=["ana"]).num_rows == 1
    assert RATINGS.first_ratings(["item"], raters=[]).num_rows == 0


@pytest.mark.parametrize("n_items", [0, 3, 250])
@pytest.mark.parametrize("n_raters", [0, 2, 30])
@pytest.mark.parametrize("gold", [True, False])
def test_some_items_are_told_alike_from_the_rows_of_items_and_from_those_of_ratings(
    n_items, n_raters, gold
):
    rows = [
        (f"i{item * 7919 % 300:03}", f"r{rater:02}", ("yes", "no", "maybe")[(item + rater) % 3])
        for item in range(300)
        for rater in range(30)
        if (item + 3 * rater) % 5
    ]
    frame = pd.DataFrame(rows, columns=["item", "rater", "label"])
    frame["gold"] = frame["item"].isin(["i001", "i170"])
    items, raters = (
        [f"{letter}{n:0{wide}}" for n in range(0, most)]
        for letter, wide, most in (("i", 3, n_items), ("r", 2, n_raters))
    )
    expected = frame[frame["item"].isin(items) & frame["rater"].isin(raters)]
    expected = expected[gold | ~expected["gold"]].sort_values(["item", "rater"])
    ratings = Ratings.from_frame(frame, Scale(("no", "yes", "maybe")))
    assert ratings.rated_items(items=()).to_pylist() == []
    for _ in range(2):
        found = ratings.first_ratings(
            ["item", "at", "rater", "label"], items=items, raters=raters, gold=gold
        )
        names = found["item"].to_pylist()
        assert names == expected["item"].tolist()
        assert found["rater"].to_pylist() == expected["rater"].tolist()
        assert found["label"].to_pylist() == expected["label"].tolist()
        assert found["at"].to_pylist() == [sorted({*names}).index(name) for name in names]
        _ = ratings.items_in_order


def test_labels_are_counted_with_those_of_gold_items_and_not_by_the_weight_of_items():
    rows = [("i1", "ana", "no"), ("i1", "ben", "yes"), ("i2", "ana", "yes"), ("i3", "ben", "yes")]
    frame = pd.DataFrame(rows, columns=["item", "rater", "label"])
    scale = Scale(("maybe", "no", "yes"))
    for more in ({}, {"gold": frame["item"] == "i2"}, {"weight": 5}, {"occurrence": 2}):
        ratings = Ratings.from_frame(frame.assign(**more), scale)
        assert ratings.n_by_category == {"no": 1, "yes": 3}
        assert ratings.places_of_used_categories.tolist() == [1, 2]


def test_items_of_gold_and_of_earlier_rounds_are_rated_too():
    assert (RATINGS.n_rated, RATINGS.without_earlier.n_rated, RATINGS.n_items) == (4, 3, 2)
    assert RATINGS.rated_items().to_pylist() == ["i1", "i2", "i3", "i4"]
    assert RATINGS.without_gold.without_earlier.rated_items().to_pylist() == ["i2", "i3"]


def test_the_ratings_that_a_rater_met_again_stand_in_the_order_of_all():
    rows = [
        ("i1", "ana", 1),
        ("i1", "ben", 1),
        ("i1", "ben", 2),
        ("i2", "ana", 3),
        ("i2", "ana", 4),
    ]
    frame = pd.DataFrame(rows, columns=["item", "rater", "occurrence"]).assign(label="no")
    found = Ratings.from_frame(frame, Scale(("no", "yes"))).replicated_ratings(
        ["at", "place", "occurrence"]
    )
    assert list(map(tuple, map(dict.values, found.to_pylist()))) == [
        (0, 1, 1),
        (0, 1, 2),
        (1, 0, 3),
        (1, 0, 4),
    ]


def test_the_first_rows_are_those_of_the_frame_with_its_types():
    whole, head = RATINGS.to_pandas(), RATINGS.head(2)
    own = whole.iloc[:2].assign(item=whole["item"].iloc[:2].cat.remove_unused_categories())
    assert head.equals(own)
    assert head.dtypes.equals(own.dtypes)


def test_what_a_file_gives_as_a_text_is_a_text():
    assert RATINGS.items(["text"])["text"].to_pylist() == ["7", "8", None, "9"]
