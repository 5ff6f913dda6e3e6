"""From ratings to statistics: who is of the panel, and what counts."""

import numpy as np
import pandas as pd
import pytest

from agreement_pipeline.counting import RatingsCounting
from agreement_pipeline.errors import RatingsError
from agreement_pipeline.measures import MEASURES
from agreement_pipeline.ratings import Ratings, Scale
from agreement_pipeline.statistics import LabelsByRater, ReplicatedLabels

TABLE = """
A B C model
no no yes no
no no yes yes
yes . yes yes
yes/no yes/yes . .
no no yes no
"""


@pytest.fixture
def ratings(tabled):
    return tabled(TABLE, ("no", "yes"), classifiers=("model",))


def rows_of(patterns, raters):
    order = [patterns.raters.index(name) for name in raters]
    return dict(
        zip(map(tuple, patterns.codes[:, order].tolist()), patterns.weights.tolist(), strict=True)
    )


def groups_of(ratings):
    classifiers = RatingsCounting().classifiers(ratings)
    return RatingsCounting().labels(ratings, classifiers).in_groups(classifiers)


def test_equal_items_are_counted_once_with_their_number(ratings):
    counts = RatingsCounting().counts(ratings)
    assert dict(zip(map(tuple, counts.counts.tolist()), counts.weights.tolist(), strict=True)) == {
        (0, 2): 2,
        (2, 1): 3,
    }
    assert rows_of(RatingsCounting().labels(ratings), "ABC") == {
        (0, 0, 1): 3,
        (1, -1, 1): 1,
        (1, 1, -1): 1,
    }


def test_a_classifier_stands_beside_the_panel(ratings):
    panel = RatingsCounting().labels(ratings, ("model",)).with_rater_apart("model")
    order = [panel.panel.raters.index(name) for name in "ABC"]
    found = {
        (*row, label): w
        for row, label, w in zip(
            panel.panel.codes[:, order].tolist(),
            panel.labels.tolist(),
            panel.weights.tolist(),
            strict=True,
        )
    }
    assert found == {(0, 0, 1, 0): 2, (0, 0, 1, 1): 1, (1, -1, 1, 1): 1, (1, 1, -1, -1): 1}


def test_the_classifiers_are_one_group_and_the_panel_the_other(tabled):
    text = """
    A B model judge
    no no yes no
    yes . yes yes
    no no yes no
    """
    ratings = tabled(text, ("no", "yes"), classifiers=("model", "judge"))
    groups = groups_of(ratings)
    assert set(groups.first_group_raters) == {"A", "B"}
    assert set(groups.second) == {"model", "judge"}
    assert rows_of(groups, ["A", "B", "model", "judge"]) == {
        (0, 0, 1, 0): 2,
        (1, -1, 1, 1): 1,
    }
    renamed = groups_of(ratings.renamed({"model": "a judge", "judge": "z model", "A": "Z"}))
    assert renamed.codes.tolist() == groups.codes.tolist()
    assert renamed.second == tuple(
        {"model": "a judge", "judge": "z model"}[name] for name in groups.second
    )


def test_a_classifier_of_earlier_rounds_alone_is_in_no_group():
    rows = [
        ("i1", "ana", "no", False),
        ("i1", "ben", "no", False),
        ("i1", "model", "no", False),
        ("i2", "old", "yes", True),
    ]
    frame = pd.DataFrame(rows, columns=["item", "rater", "label", "earlier"])
    ratings = Ratings.from_frame(frame, Scale(("no", "yes")), classifiers=("model", "old"))
    assert groups_of(ratings).second == ("model",)


def test_items_met_again_keep_their_rows_and_the_others_are_made_distinct(ratings):
    replicates = RatingsCounting().replicates(ratings)
    assert rows_of(replicates.first, "ABC") == {(1, 1, -1): 1, (0, 0, 1): 3, (1, -1, 1): 1}
    cells = {
        (replicates.raters[r], *counts)
        for r, counts in zip(replicates.rater, replicates.counts.tolist(), strict=True)
    }
    assert cells == {("A", 1, 1), ("B", 0, 2)}
    assert set(replicates.item) == {0}


def test_one_row_an_item_and_distinct_rows_give_the_same_values(ratings):
    found = RatingsCounting().replicates(ratings)
    items = np.repeat(np.arange(len(found.weights)), found.weights.astype(int))
    spread = LabelsByRater(found.first.codes[items], scale=found.scale, raters=found.raters)
    one_a_row = ReplicatedLabels(
        found.counts, found.item, found.rater, spread
    )  # the first rows are the items met again
    for name in ("self_agreement", "campagner_cabitza_rho_robust"):
        assert MEASURES[name](one_a_row).value == pytest.approx(float(MEASURES[name](found).value))


def test_those_who_only_rated_in_earlier_rounds_speak_for_themselves_and_not_in_the_panel():
    frame = pd.DataFrame(
        [
            *(
                (item, rater, label, 1, False)
                for item, label in (("i1", "no"), ("i2", "yes"))
                for rater in ("ana", "ben")
            ),
            ("i1", "old", "no", 1, True),
            ("i1", "old", "yes", 2, True),
        ],
        columns=["item", "rater", "label", "occurrence", "earlier"],
    )
    ratings = Ratings.from_frame(frame, Scale(("no", "yes")))
    assert RatingsCounting().counts(ratings).n_raters == 2
    assert set(RatingsCounting().labels(ratings).raters) == {"ana", "ben"}
    assert MEASURES["shah_kappa_s"](RatingsCounting().labels(ratings)).value == pytest.approx(1.0)
    assert set(RatingsCounting().replicates(ratings).raters) == {"ana", "ben", "old"}
    assert RatingsCounting().replicates(ratings).rater.tolist() == [2]


@pytest.mark.parametrize("count", [RatingsCounting().counts, RatingsCounting().labels])
def test_labels_without_categories_are_not_counted(count):
    frame = pd.DataFrame(
        [("i1", "ana", 0.5), ("i1", "ben", 0.7)], columns=["item", "rater", "label"]
    )
    with pytest.raises(
        RatingsError,
        match="found the interval level without categories; "
        "expected a list of them to count labels",
    ):
        count(Ratings.from_frame(frame, Scale(None, "interval")))


def test_the_panels_of_two_rounds_stand_row_by_row_on_the_same_items(ratings, tabled):
    other = tabled("A D\nno yes\nyes yes\n. yes", ("no", "yes"))
    one, two = RatingsCounting().align_rounds(ratings, other)
    assert one.weights.tolist() == two.weights.tolist()
    columns = [
        one.codes[:, [one.raters.index(name) for name in "ABC"]],
        two.codes[:, [two.raters.index(name) for name in "AD"]],
    ]
    rows = sorted(zip(np.hstack(columns).tolist(), one.weights.tolist(), strict=True))
    assert rows == [
        ([0, 0, 1, -1, -1], 1),
        ([0, 0, 1, 0, 1], 1),
        ([0, 0, 1, 1, 1], 1),
        ([1, -1, 1, -1, 1], 1),
        ([1, 1, -1, -1, -1], 1),
    ]


def test_classifiers_stand_beside_the_panel_together(ratings):
    joint = RatingsCounting().labels(ratings, ratings.classifiers)
    assert set(joint.raters) == {"A", "B", "C", "model"}
    assert rows_of(joint, ("A", "B", "C", "model")) == {
        (0, 0, 1, 0): 2,
        (0, 0, 1, 1): 1,
        (1, -1, 1, 1): 1,
        (1, 1, -1, -1): 1,
    }


def test_numbers_said_again_are_kept_in_the_order_of_the_meetings_and_earlier_rounds_count():
    rows = [
        ("i1", "ana", 0.5, 2, False),
        ("i1", "ana", 0.25, 1, True),
        ("i1", "ben", 0.75, 1, False),
        ("i2", "ben", 1.5, 1, False),
        ("i2", "ben", 2.0, 3, False),
    ]
    frame = pd.DataFrame(
        [*rows, ("i2", "model", 9.0, 1, False), ("i2", "model", 9.0, 2, False)],
        columns=["item", "rater", "label", "occurrence", "earlier"],
    )
    found = RatingsCounting().replicates(
        Ratings.from_frame(frame, Scale(None, "interval"), classifiers=["model"])
    )
    said = {
        found.raters[r]: values.ravel().tolist()
        for r, values in zip(found.rater, found.values, strict=True)
    }
    assert said == {"ana": [0.25, 0.5], "ben": [1.5, 2.0]}
    assert (found.n_items, found.weights.tolist()) == (2, [1, 1])
    assert found.round_raters == ("ana", "ben")


def test_numbers_of_a_scale_with_categories_are_read_off_their_counts(tabled):
    ratings = tabled("A B\n1/3 2\n2 3/1/1", (1, 2, 3), "interval")
    found = RatingsCounting().replicates(ratings).as_numbers()
    said = {
        found.raters[r]: sorted(values[~np.isnan(values)].tolist())
        for r, values in zip(found.rater, found.values, strict=True)
    }
    assert said == {"A": [1, 3], "B": [1, 1, 3]}


def test_vectors_said_again_are_kept_whole():
    rows = [("i1", "ana", "1|2", 1), ("i1", "ana", "1|3", 2), ("i2", "ana", "5|5", 1)]
    frame = pd.DataFrame(rows, columns=["item", "rater", "label", "occurrence"])
    found = RatingsCounting().replicates(
        Ratings.from_frame(frame, Scale(None, "multivariate interval", dimensions=2))
    )
    assert found.values.tolist() == [[[1, 2], [1, 3]]]
