"""Training labels, checked against counting by hand."""

import math
from collections import Counter

import numpy as np
import pandas as pd
import pytest

from agreement_pipeline import Ratings, Scale
from agreement_pipeline.errors import RatingsError
from agreement_pipeline.ratings import consensus_frame

SCALE = Scale(("no", "maybe", "yes"))


def make_ratings(rows, scale=SCALE, classifiers=(), columns=("item", "rater", "label"), **more):
    return Ratings.from_frame(
        pd.DataFrame(rows, columns=list(columns)).assign(**more), scale, classifiers=classifiers
    )


def row(ratings, item):
    return consensus_frame(ratings).set_index("id").loc[item]


@pytest.mark.parametrize(
    ("labels", "resolution", "label"),
    [
        (["yes", "yes", "yes"], "unanimous", "yes"),
        (["yes", "no", "yes"], "plurality", "yes"),
        (["yes", "no", "yes", "maybe"], "plurality", "yes"),
        (["yes", "no"], "tie", None),
        (["yes", "no", "maybe"], "tie", None),
        (["yes"], "single", None),
    ],
)
def test_an_item_is_resolved_by_the_one_category_that_leads(labels, resolution, label):
    found = row(make_ratings([("i", f"r{n}", label) for n, label in enumerate(labels)]), "i")
    assert (found["resolution"], found["label"], found["n_raters"]) == (
        resolution,
        label,
        len(labels),
    )


def test_votes_shares_and_entropy_are_those_of_a_slow_loop():
    rng = np.random.default_rng(7)
    rows = [
        (f"i{i}", f"r{r}", SCALE.names[rng.integers(3)])
        for i in range(60)
        for r in range(4)
        if rng.random() < 0.8
    ]
    found = consensus_frame(make_ratings(rows)).set_index("id")
    assert list(found.index) == sorted({item for item, _, _ in rows})
    for item, line in found.iterrows():
        given = Counter(label for one, _, label in rows if one == item)
        shares = [given[name] / given.total() for name in SCALE.names]
        assert line["votes"] == [given[name] for name in SCALE.names]
        assert line["soft_label"] == pytest.approx(shares, abs=1e-15)
        assert line["entropy_bits"] == pytest.approx(
            -sum(p * math.log2(p) for p in shares if p), abs=1e-12
        )
        leading = [name for name in SCALE.names if given[name] == max(given.values())]
        assert line["label"] == (leading[0] if len(leading) == 1 and given.total() > 1 else None)


def test_replicates_and_earlier_ratings_neither_vote_nor_make_rows():
    rows = [
        ("i", "a", "yes", 1, True),
        ("i", "a", "no", 2, False),
        ("i", "a", "yes", 3, False),
        ("i", "b", "no", 1, False),
        ("j", "a", "yes", 1, True),
    ]
    found = consensus_frame(
        make_ratings(rows, columns=("item", "rater", "label", "occurrence", "earlier"))
    )
    assert found["id"].tolist() == ["i"]
    assert found["votes"].tolist() == [[2, 0, 0]]


def test_classifiers_never_vote():
    rows = [("i", "a", "yes"), ("i", "b", "no"), ("i", "model", "yes"), ("j", "model", "yes")]
    found = consensus_frame(make_ratings(rows, classifiers=["model"]))
    assert found["id"].tolist() == ["i"]
    assert found["resolution"].tolist() == ["tie"]


def test_gold_items_have_no_row_and_texts_are_carried_along():
    rows = [("i", "a", "yes"), ("i", "b", "yes"), ("j", "a", "no"), ("j", "b", "no")]
    found = consensus_frame(
        make_ratings(rows, gold=["no", "no", "yes", "yes"], text=["one", "one", "two", "two"]),
        "2026-11",
    )
    assert found[["id", "round", "text"]].to_dict("records") == [
        {"id": "i", "round": "2026-11", "text": "one"}
    ]


def test_on_an_interval_scale_the_label_is_the_mean_and_the_votes_stay():
    rows = [
        ("i", "a", 1),
        ("i", "b", 2),
        ("i", "c", 4),
        ("j", "a", 4),
        ("j", "b", 4),
        ("k", "a", 2),
    ]
    found = consensus_frame(make_ratings(rows, Scale((1, 2, 4), "interval")))
    assert found["label"].tolist() == [pytest.approx(7 / 3), 4.0, None]
    assert found["resolution"].tolist() == ["mean", "unanimous", "single"]
    assert found["votes"].tolist() == [[1, 1, 1], [0, 0, 2], [0, 1, 0]]


def test_a_continuous_scale_has_no_categories_to_vote_for():
    found = consensus_frame(
        make_ratings([("i", "a", 0.1), ("i", "b", 0.2), ("i", "c", 0.3)], Scale(None, "ratio"))
    )
    assert found.columns.tolist() == ["id", "round", "label", "n_raters", "resolution"]
    assert found["label"].tolist() == [pytest.approx(0.2)]


def test_a_mean_does_not_depend_on_what_the_raters_are_called():
    values = [0.1, 0.7, 1e16, 0.2, -1e16]
    one = make_ratings(
        [("i", f"r{n}", value) for n, value in enumerate(values)], Scale(None, "interval")
    )
    other = one.renamed({f"r{n}": f"r{9 - n}" for n in range(5)})
    assert (
        consensus_frame(one)["label"].tolist()
        == consensus_frame(other)["label"].tolist()
        == [pytest.approx(0.2)]
    )


def test_a_mean_is_exact():
    values = [0.1, 0.7, 1e16, 0.2, -1e16, 1e-300]
    found = make_ratings([("i", f"r{n}", v) for n, v in enumerate(values)], Scale(None, "interval"))
    assert consensus_frame(found)["label"].tolist() == [math.fsum(values) / 6]


def test_a_round_that_only_a_classifier_rated_has_no_rows():
    found = consensus_frame(make_ratings([("i", "model", "yes")], classifiers=["model"]))
    assert found.empty
    assert found.columns.tolist() == [
        "id",
        "round",
        "label",
        "label_id",
        "soft_label",
        "votes",
        "n_raters",
        "entropy_bits",
        "resolution",
    ]


def test_vectors_have_no_training_label():
    ratings = make_ratings(
        [("i1", rater, (1.0, 2.0)) for rater in "ab"],
        Scale(None, "multivariate interval", dimensions=2),
    )
    with pytest.raises(
        RatingsError,
        match="round r1: found labels of 2 dimensions; expected one dimension for training labels",
    ):
        consensus_frame(ratings, "r1")
