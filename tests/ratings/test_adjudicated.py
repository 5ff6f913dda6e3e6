"""Adjudicated labels stand instead of the panel's, and change nothing else."""

import pandas as pd
import pytest

from agreement_pipeline import Ratings, Scale
from agreement_pipeline.errors import RatingsError
from agreement_pipeline.ratings import Adjudicated, consensus_frame

ROWS = [
    ("i1", "a", "yes"),
    ("i1", "b", "no"),
    ("i2", "a", "yes"),
    ("i2", "b", "yes"),
    ("i3", "a", "no"),
]


def ratings_of(rows, scale):
    return Ratings.from_frame(pd.DataFrame(rows, columns=["item", "rater", "label"]), scale)


def test_an_adjudicated_item_has_its_label_and_the_raters_votes_stay():
    ratings = ratings_of(ROWS, Scale(("no", "yes")))
    before, after = (
        consensus_frame(ratings, adjudicated=labels).set_index("id")
        for labels in (Adjudicated(), Adjudicated("d", {"i1": "no", "i2": "no", "i3": "no"}))
    )
    assert after["resolution"].tolist() == ["adjudicated"] * 3
    assert after["label"].tolist() == ["no"] * 3
    assert before["label"].tolist() == [None, "yes", None]
    same = ["soft_label", "votes", "n_raters", "entropy_bits"]
    pd.testing.assert_frame_equal(before[same], after[same])


def test_numbers_are_adjudicated_as_numbers():
    scale = Scale((1, 2, 4), "interval")
    ratings = ratings_of([("i", "a", 1), ("i", "b", 4)], scale)
    (row,) = consensus_frame(ratings, adjudicated=Adjudicated("d", {"i": "2"})).to_dict("records")
    assert (row["label"], row["resolution"]) == (2.0, "adjudicated")


@pytest.mark.parametrize(
    ("scale", "labels", "words"),
    [
        (Scale(("no", "yes")), {"i9": "no"}, "item 'i9' without a label of the panel"),
        (
            Scale(("no", "yes")),
            {"i1": "maybe"},
            r"found item 'i1' as 'maybe'; expected .* labels of the scale \['no', 'yes'\]. Correct",
        ),
        (
            Scale(("no", "yes")),
            {f"i{n}": "no" for n in range(90, 96)},
            "item 'i94' without a label of the panel; and 1 more; expected items that raters",
        ),
        (Scale((1, 2), "interval"), {"i1": "3"}, "item 'i1' as '3'"),
        (Scale((1, 2), "interval"), {"i1": "x"}, "item 'i1' as 'x'"),
        (Scale(None, "interval"), {"i1": "nan"}, "item 'i1' as 'nan'"),
    ],
)
def test_an_unknown_item_or_label_is_refused(scale, labels, words):
    numbers = {"no": 1, "yes": 2}
    rows = [(i, r, numbers[label] if scale.numeric else label) for i, r, label in ROWS]
    with pytest.raises(RatingsError, match=words):
        consensus_frame(ratings_of(rows, scale), adjudicated=Adjudicated("d", labels))
