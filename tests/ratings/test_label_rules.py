"""The label of an item by each rule, against slow loops over its ratings."""

import random
import statistics
from collections import Counter

import pandas as pd
import pytest

from agreement_pipeline import Ratings, Scale
from agreement_pipeline.errors import RatingsError
from agreement_pipeline.ratings import RESOLUTIONS, LabelledRound, TrainingRows, Trains

WORDS = ("low", "middle", "high")
ORDINAL = Scale(WORDS, "ordinal")
NUMBERS = Scale((1, 2, 3, 4), "interval")
LABELS = ("plurality", "majority", "median", "mean", "shares", "one_rater", "adjudicated")


def ratings_of(labels_by_item, scale):
    rows = [
        (item, f"r{number}", label)
        for item, labels in labels_by_item.items()
        for number, label in enumerate(labels)
    ]
    frame = pd.DataFrame(rows, columns=["item", "rater", "label"]).astype({"label": object})
    return Ratings.from_frame(frame, scale)


def settle(labels_by_item, scale, trains):
    """The label, or None, and the resolution of each item."""
    rows = TrainingRows.build([LabelledRound("r1", ratings_of(labels_by_item, scale))], trains)
    values = rows.label.tolist()
    if not scale.numeric:
        values = [scale.label_values[place] for place in values]
    return {
        item: (None if hidden else value, RESOLUTIONS[resolution])
        for item, value, hidden, resolution in zip(
            rows.items, values, rows.has_no_label, rows.resolution, strict=True
        )
    }


def expected_of(labels, scale, kind):  # noqa: PLR0911  # a line for each case
    """By the words of the documentation, of one item."""
    categories = list(scale.label_values)
    leaders = Counter(labels).most_common()
    leader, most = leaders[0]
    is_tie = len(leaders) > 1 and leaders[1][1] == most
    if kind == "adjudicated":
        return None, "not_adjudicated"
    if kind == "one_rater":
        if len(labels) == 1:
            return labels[0], "one_rater"
        return expected_of(labels, scale, "mean" if scale.numeric else "plurality")
    if len(labels) == 1:
        return None, "single"
    if len(leaders) == 1:
        return leader, "unanimous"
    if kind == "shares":
        return (None if is_tie else leader), "shares"
    if kind == "mean":
        return pytest.approx(statistics.fmean(labels)), "mean"
    if kind == "median":
        if scale.numeric:
            return statistics.median(labels), "median"
        places = [categories.index(label) for label in labels]
        low, high = statistics.median_low(places), statistics.median_high(places)
        return (categories[low], "median") if low == high else (None, "tie")
    if is_tie:
        return None, "tie"
    if kind == "majority" and 2 * most <= len(labels):
        return None, "no_majority"
    return leader, "plurality"


@pytest.mark.parametrize("scale", [ORDINAL, NUMBERS], ids=["words", "numbers"])
@pytest.mark.parametrize("kind", LABELS)
def test_rules_give_what_a_loop_over_the_ratings_gives(kind, scale):
    if kind == "mean" and not scale.numeric:
        pytest.skip("words have no mean")
    draw = random.Random(1)
    labels_by_item = {
        f"i{n:03}": draw.choices(scale.label_values, k=draw.randint(1, 6)) for n in range(400)
    }
    found = settle(labels_by_item, scale, Trains(kind))
    assert {item: expected_of(labels, scale, kind) for item, labels in labels_by_item.items()} == (
        found
    )


def test_three_different_ratings_of_an_ordered_scale_have_a_middle():
    items = {"i": ["high", "low", "middle"], "j": ["low", "low"]}
    assert settle(items, ORDINAL, Trains("median"))["i"] == ("middle", "median")
    assert settle(items, ORDINAL, Trains("plurality"))["i"] == (None, "tie")


def test_shares_of_a_tie_train_without_a_label():
    ratings = ratings_of({"i": ["low", "high"], "j": ["low", "low", "high"]}, ORDINAL)
    rows = TrainingRows.build([LabelledRound("r1", ratings)], Trains("shares"))
    assert rows.rows_with_label.tolist() == [0, 1]
    assert rows.soft_label[0].tolist() == [0.5, 0, 0.5]
    assert rows.has_no_label.tolist() == [True, False]
    assert "1 tie trains by the shares alone, without a `label`." in rows.describe()


def test_shares_of_several_rounds_are_pooled():
    rounds = [
        LabelledRound(name, ratings_of({"i": [label] * 2, "j": ["low", "middle"]}, ORDINAL))
        for name, label in (("r1", "low"), ("r2", "high"))
    ]
    pooled = TrainingRows.build(rounds, Trains("shares"))
    assert pooled.soft_label[0].tolist() == [0.5, 0, 0.5]
    assert pooled.resolution[0] == RESOLUTIONS.index("shares")
    apart = TrainingRows.build(rounds, Trains("plurality"))
    assert apart.resolution[0] == RESOLUTIONS.index("conflict")


def test_one_rater_who_differs_from_herself_settles_nothing():
    rounds = [
        LabelledRound(name, ratings_of({"i": [label], "j": ["low"]}, ORDINAL))
        for name, label in (("r1", "low"), ("r2", "high"))
    ]
    rows = TrainingRows.build(rounds, Trains("one_rater"))
    assert [RESOLUTIONS[place] for place in rows.resolution] == ["conflict", "one_rater"]


@pytest.mark.parametrize(
    ("kind", "scale", "message"),
    [
        ("median", Scale(("a", "b")), "found median on the nominal level; expected an ordered"),
        ("mean", ORDINAL, "found mean on the ordinal level; expected an interval or ratio"),
        (
            "shares",
            Scale(None, "ratio"),
            "shares on the ratio level without categories; expected a",
        ),
        ("majority", Scale(None, "interval"), "expected a list of categories"),
    ],
)
def test_a_label_that_the_scale_does_not_have_is_refused(kind, scale, message):
    with pytest.raises(RatingsError, match=message):
        Trains(kind).raise_if_unsuited(scale)


def test_only_single_labels_need_a_word_on_the_overlap():
    with pytest.raises(RatingsError, match="found overlap beside label majority"):
        Trains("majority", "random_sample")
    with pytest.raises(RatingsError, match="found 'best'; expected"):
        Trains("best")
    assert Trains.from_mapping(Trains("one_rater", "random_sample").to_mapping()) == Trains(
        "one_rater", "random_sample"
    )


def test_the_description_counts_what_trains_and_what_does_not():
    items = {
        **{f"u{n}": ["low"] * 3 for n in range(5)},
        **{f"s{n}": ["high"] for n in range(3)},
        "tie": ["low", "high"],
    }
    rows = TrainingRows.build([LabelledRound("r1", ratings_of(items, ORDINAL))])
    first, singles, ties = rows.describe()
    assert first == (
        "The training label is the category that more raters of an item gave than any other (the "
        "project names no other label). 5 of 9 items train."
    )
    assert singles == (
        "3 of 9 items have one label and do not train, since nothing shows whether another rater "
        "would say the same. If the items with several labels are a random sample of the round, "
        "say `trains: {label: one_rater, overlap: random_sample}` in the project to train them."
    )
    assert (
        ties == "1 item does not train, because the most frequent categories are tied, and no "
        "adjudicator chose one."
    )
    rows = TrainingRows.build(
        [LabelledRound("r1", ratings_of(items, ORDINAL))], Trains("one_rater", "random_sample")
    )
    assert rows.describe()[0].endswith("8 of 9 items train.")
    assert rows.describe()[1].startswith("3 of 9 items have one label and train: the items with")
