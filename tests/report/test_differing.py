"""Who differs most, and over which labels, is what a loop over pairs of ratings finds."""

from collections import Counter
from itertools import combinations

import numpy as np
import pandas as pd
import pytest

from agreement_pipeline.errors import StoreError
from agreement_pipeline.ratings import Ratings, Scale
from agreement_pipeline.report.differing import MOST_RATERS, differing_raters, most_differing

SCALE = Scale(("bad", "good", "odd"))


def drawn(seed, items=30, raters=5):
    rng = np.random.default_rng(seed)
    return [
        (f"i{i}", f"r{r}", SCALE.names[rng.integers(3)])
        for i in range(items)
        for r in range(raters)
        if rng.random() < 0.8
    ]


def ratings_of(rows):
    return Ratings.from_frame(pd.DataFrame(rows, columns=["item", "rater", "label"]), SCALE)


def looped(rows):
    """For each rater: comparisons, differences, and the differences by own and other label."""
    met, differ, over = Counter(), Counter(), {}
    by_item = {}
    for item, rater, label in rows:
        by_item.setdefault(item, []).append((rater, label))
    for said in by_item.values():
        for one, other in combinations(said, 2):
            for (mine, own), (_, theirs) in ((one, other), (other, one)):
                met[mine] += 1
                differ[mine] += own != theirs
                if own != theirs:
                    over.setdefault(mine, Counter())[own, theirs] += 1
    return met, differ, over


@pytest.mark.parametrize("seed", range(3))
def test_each_rater_is_compared_with_every_other_one(seed):
    rows = drawn(seed)
    met, differ, over = looped(rows)
    found = differing_raters(ratings_of(rows))
    assert dict(zip(found["rater"], found["differs in"], strict=True)) == {
        rater: f"{100 * differ[rater] / met[rater]:.1f}%" for rater in met
    }
    shares = [differ[rater] / met[rater] for rater in found["rater"]]
    assert shares == sorted(shares, reverse=True)
    for rater, words in zip(found["rater"], found["most often"], strict=True):
        most = max(over[rater].values())
        said = [
            f"says {own} where others say {other} ({most} of {differ[rater]})"
            for (own, other), n in over[rater].items()
            if n == most
        ]
        assert words in said


def test_a_rater_without_a_shared_item_comes_last_and_has_no_share():
    rows = [("i1", "a", "bad"), ("i1", "b", "good"), ("i2", "c", "odd")]
    found = differing_raters(ratings_of(rows))
    assert found.iloc[-1].tolist() == ["c", "", "0", ""]


def test_forty_raters_at_most_are_shown():
    rows = [("i1", f"r{r}", "bad") for r in range(MOST_RATERS + 5)]
    assert len(differing_raters(ratings_of(rows))) == MOST_RATERS


def test_numbers_without_categories_have_no_such_table():
    frame = pd.DataFrame({"item": ["i", "i"], "rater": ["a", "b"], "label": [1.5, 2.0]})
    assert differing_raters(Ratings.from_frame(frame, Scale(None, "interval"))) is None


def test_of_each_round_the_rater_who_differs_most_is_told():
    """Of 3 items two raters agree; a third differs on one item, and on all in the other round."""
    agreed = [(f"i{i}", rater, "good") for i in range(3) for rater in ("ana", "ben")]
    one = [*agreed, ("i0", "cleo", "bad"), ("i1", "cleo", "good"), ("i2", "cleo", "good")]
    every = [*agreed, *((f"i{i}", "dan", "odd") for i in range(3))]
    found = most_differing(["w1", "w2"], {"w1": ratings_of(one), "w2": ratings_of(every)}.get)
    assert found.to_dict("list") == {
        "round": ["w1", "w2"],
        "rater": ["cleo", "dan"],
        "differs in": ["33.3%", "100.0%"],
        "most often": [
            "says bad where others say good (2 of 2)",
            "says odd where others say good (6 of 6)",
        ],
    }


def test_a_round_whose_bytes_are_damaged_does_not_hide_the_others():
    def ratings(name):
        if name == "w1":
            raise StoreError("w1: found other bytes")
        return ratings_of([("i0", "ana", "good"), ("i0", "ben", "bad")])

    assert list(most_differing(["w1", "w2"], ratings)["round"]) == ["w2"]
