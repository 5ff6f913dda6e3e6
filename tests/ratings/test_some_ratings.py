"""What ratings answer of some raters, of their first rows and of the texts of items."""

import pandas as pd

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
    found = RATINGS.first(["item", "at", "place"], raters=["ben", "cleo"])
    assert found.to_pylist() == [
        {"item": "i2", "at": 0, "place": 1},
        {"item": "i3", "at": 1, "place": 2},
    ]
    assert RATINGS.first(["item"], raters=["ana"], gold=True)["item"].to_pylist() == [
        "i1",
        "i2",
        "i3",
    ]
    assert RATINGS.first(["item"], items=["i3"], raters=["ana"]).num_rows == 1
    assert RATINGS.first(["item"], raters=[]).num_rows == 0


def test_items_of_gold_and_of_earlier_rounds_are_rated_too():
    assert (RATINGS.n_rated, RATINGS.without_earlier.n_rated, RATINGS.n_items) == (4, 3, 2)
    assert RATINGS.rated().to_pylist() == ["i1", "i2", "i3", "i4"]
    assert RATINGS.without_gold.without_earlier.rated().to_pylist() == ["i2", "i3"]


def test_the_ratings_that_a_rater_met_again_stand_in_the_order_of_all():
    rows = [
        ("i1", "ana", 1),
        ("i1", "ben", 1),
        ("i1", "ben", 2),
        ("i2", "ana", 3),
        ("i2", "ana", 4),
    ]
    frame = pd.DataFrame(rows, columns=["item", "rater", "occurrence"]).assign(label="no")
    found = Ratings.from_frame(frame, Scale(("no", "yes"))).again(["at", "place", "occurrence"])
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
