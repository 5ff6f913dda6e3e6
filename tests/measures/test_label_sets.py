import numpy as np
import pandas as pd
import pytest

from agreement_pipeline import Ratings, Scale
from agreement_pipeline.counting import RatingsCounting
from agreement_pipeline.estimates import survey
from agreement_pipeline.intervals import Inference
from agreement_pipeline.measures import MEASURES
from agreement_pipeline.readers import read
from agreement_pipeline.statistics import CategoryCounts
from tests.measures.loops import slow_alpha

alpha_masi, alpha_jaccard = MEASURES["alpha_masi"], MEASURES["alpha_jaccard"]


def jaccard(one, other):
    return 1 - len(one & other) / len(one | other) if one | other else 0


def masi(one, other):
    if one == other:
        monotonicity = 1
    elif one < other or other < one:
        monotonicity = 2 / 3
    else:
        monotonicity = 1 / 3 if one & other else 0
    return 1 - (1 - jaccard(one, other)) * monotonicity


def counted(items):
    rows = [
        (f"i{i}", f"r{r}", frozenset(labels))
        for i, ratings in enumerate(items)
        for r, labels in enumerate(ratings)
    ]
    table = pd.DataFrame(rows, columns=["item", "rater", "label"])
    return RatingsCounting().counts(Ratings.from_frame(table, Scale.from_labels(table["label"])))


def random_items(rng):
    labels = np.array(list("abcd"))
    return [
        [frozenset(labels[rng.random(4) < 0.4].tolist()) for _ in range(rng.integers(1, 5))]
        for _ in range(25)
    ]


@pytest.mark.parametrize(("measure", "distance"), [(alpha_masi, masi), (alpha_jaccard, jaccard)])
def test_alpha_of_sets_is_the_mean_distance_over_pairs_of_ratings(measure, distance):
    items = random_items(np.random.default_rng(1))
    assert any(not labels for ratings in items for labels in ratings)
    assert measure(counted(items)).value == pytest.approx(slow_alpha(items, distance)[0], rel=1e-12)


def test_the_masi_distances_of_passonneau():
    a, ab, abc, bc, empty = (frozenset(labels) for labels in ("a", "ab", "abc", "bc", ""))
    expected = {
        (a, a): 0,
        (a, ab): 1 - 1 / 2 * 2 / 3,
        (ab, abc): 1 - 2 / 3 * 2 / 3,
        (ab, bc): 1 - 1 / 3 * 1 / 3,
        (a, bc): 1,
        (empty, a): 1,
        (empty, empty): 0,
    }
    for (one, other), distance in expected.items():
        assert masi(one, other) == pytest.approx(distance)
        names = dict.fromkeys("|".join(sorted(labels)) for labels in (one, other))
        pair = np.eye(3)[: len(names)].sum(0) * (2 if one == other else 1)
        scale = Scale((*names, *"yz")[:3])
        assert alpha_masi(CategoryCounts([pair, [0, 0, 2]], scale=scale)).observed == pytest.approx(
            distance / 2
        )


ORDERS = ("a|b", "b|a", "c", "|", "c|a|b")


@pytest.mark.parametrize("form", ["lists", "tuples", "text", "sets"])
def test_the_order_of_the_labels_of_a_set_matters_to_no_measure(form):
    rng = np.random.default_rng(3)
    said = [
        (item, rater, ORDERS[first if rng.random() < 0.6 else rng.integers(5)])
        for item, first in enumerate(rng.integers(5, size=40))
        for rater in "xyz"
    ]
    table = pd.DataFrame(said, columns=["item", "rater", "label"])
    in_order = table.assign(
        label=table["label"].map(
            lambda text: "|".join(sorted(filter(None, text.split("|")))) or "|"
        )
    )
    made = {
        "text": str,
        "lists": lambda text: [each for each in text.split("|") if each],
        "tuples": lambda text: tuple(filter(None, text.split("|"))),
        "sets": lambda text: frozenset(text.split("|")) - {""},
    }[form]
    inference = Inference(n_resamples=400)
    found, expected = (
        [
            each.to_mapping()
            for each in survey(read(frame), ["alpha_masi", "krippendorff_alpha"], inference)
        ]
        for frame in (table.assign(label=table["label"].map(made)), in_order)
    )
    assert found == expected
    assert read(table).scale.names == ("", "a|b", "a|b|c", "c")


@pytest.mark.parametrize("measure", [alpha_masi, alpha_jaccard])
def test_on_single_labels_it_is_the_nominal_alpha(measure):
    rng = np.random.default_rng(2)
    counts = CategoryCounts(
        rng.integers(0, 4, (20, 3)), rng.gamma(1, size=(4, 20)), scale=Scale(("a", "b", "c"))
    )
    assert measure(counts).value == pytest.approx(
        MEASURES["krippendorff_alpha"](counts).value, rel=1e-12
    )


@pytest.mark.parametrize("measure", [alpha_masi, alpha_jaccard])
@pytest.mark.parametrize(
    ("items", "reason"),
    [
        ([[{"a"}], [{"b"}]], "no item has two ratings"),
        (
            [[{"a", "b"}, {"b", "a"}], [{"c"}]],
            "every rating that can be compared with another is the same set of labels",
        ),
    ],
)
def test_alpha_of_sets_is_undefined_for_a_reason_exactly_where_it_has_no_value(
    measure, items, reason
):
    assert measure.why_undefined(counted(items)).startswith(reason)
    assert np.isnan(measure(counted(items)).value)


def test_sets_in_a_table_become_their_labels_in_order_and_the_empty_set_is_a_rating():
    table = pd.DataFrame(
        {"item": ["i", "i", "i"], "rater": list("xyz"), "label": [{"b", "a"}, frozenset(), None]}
    )
    scale = Scale(("", "a|b"))
    found = Ratings.from_frame(table, scale).first_ratings(["label"])
    assert found["label"].to_pylist() == ["a|b", ""]
    assert Scale.from_labels(table["label"]).categories == scale.categories
