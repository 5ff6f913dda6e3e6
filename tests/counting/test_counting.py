"""What counts ratings chooses labels or numbers by the scale."""

from collections import Counter

import numpy as np
import pandas as pd
import pytest

from agreement_pipeline.counting import counting_for, require_ratings
from agreement_pipeline.errors import RatingsError
from agreement_pipeline.ratings import Ratings, Scale, group_raters_by_shared_items
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
    counting, continuous = counting_for(ratings), ratings.scale.continuous
    first, again = (NumbersByRater, ReplicatedNumbers) if continuous else (None, None)
    assert type(counting.by_rater(ratings)) is (first or LabelsByRater)
    assert type(counting.replicates(ratings)) is (again or ReplicatedLabels)
    items, of_items = counting.by_item(ratings)
    assert type(of_items) is (first or CategoryCounts)
    assert (items.to_pylist(), len(of_items.weights)) == (["i1", "i2"], 2)


def test_it_is_known_who_rated_what_in_the_round_itself(ratings):
    counting = counting_for(ratings)
    assert sorted(counting.panel(ratings)) == ["ana", "ben"]
    assert counting.classifiers(ratings) == ("model",)
    assert counting.items(ratings) == ("i1", "i2")


def test_classifiers_asked_for_stand_in_the_last_columns(ratings):
    beside = counting_for(ratings).by_rater(ratings, ("model",)).with_rater_apart("model")
    assert (beside.classifier, sorted(beside.raters)) == ("model", ["ana", "ben"])
    assert (beside.n_items, beside.n_ratings) == (1, 1)


@pytest.mark.parametrize("given", [pd.DataFrame(), "ratings.csv", None])
def test_what_was_not_read_is_refused(given):
    with pytest.raises(
        RatingsError, match=r"^ratings: found \w+; expected what read_ratings gives"
    ):
        require_ratings(given)


def test_a_crowd_of_whom_few_meet_is_counted_as_one_by_one():
    draw, names = np.random.default_rng(3), [f"r{at:03d}" for at in range(250)]
    rows = [
        (f"i{item:03d}", names[rater], draw.choice(["no", "so", "yes"]), item % 7 == 0)
        for item in range(400)
        for rater in draw.choice(10, 3, replace=False) + 10 * (item % 24)
    ]
    frame = pd.DataFrame(rows, columns=["item", "rater", "label", "gold"])
    scale = Scale(("no", "so", "yes"))
    ratings = Ratings.from_frame(frame.sample(frac=1, random_state=1), scale, classifiers=["r007"])
    assert ratings.n_by_rater == Counter(rater for _, rater, _, _ in rows)
    assert ratings.n_by_category == Counter(label for _, _, label, _ in rows)
    said: dict[str, list[str]] = {}
    for item, rater, label, gold in rows:
        if not gold and rater != "r007":
            said.setdefault(item, []).append(label)
    mixes = Counter(tuple(map(labels.count, scale.names)) for labels in said.values())
    counts = counting_for(ratings).counts(ratings)
    found = zip(counts.counts.tolist(), counts.weights.tolist(), strict=True)
    assert {tuple(row): weight for row, weight in found} == mixes
    not_gold = {rater for _, rater, _, gold in rows if not gold}
    assert counts.n_raters == len(not_gold - {"r007"})
    assert {*counting_for(ratings).panel(ratings)} == not_gold - {"r007"}
    together = [
        [name for name in names[at : at + 10] if name in not_gold] for at in range(0, 240, 10)
    ]
    assert [list(team) for team in group_raters_by_shared_items(ratings)] == [
        [name for name in team if name != "r007"] for team in together
    ]
