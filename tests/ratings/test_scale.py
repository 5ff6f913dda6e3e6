"""What a label may be: refused at birth, in words, or known for good."""

import numpy as np
import pandas as pd
import pytest

from agreement_pipeline.errors import RatingsError
from agreement_pipeline.ratings import Scale, category_text


@pytest.mark.parametrize(
    ("categories", "level", "words"),
    [
        (("yes",), "nominal", r"1 category found, \['yes'\]; at least two are required"),
        ((), "nominal", "0 category found"),
        (
            ("yes", "no", "yes"),
            "nominal",
            r"categories \['yes'\] found twice; each is required once",
        ),
        ((1, 1.0, 2), "interval", r"categories \[1.0\] found twice"),
        ((1, "1", 2), "nominal", r"categories \['1'\] found twice"),
        (
            ("low", "high"),
            "interval",
            "category 'low' found on the interval level; numbers are required there",
        ),
        (
            (1, float("inf")),
            "interval",
            "category inf found; the interval level requires finite numbers",
        ),
        (
            (1, -2e150),
            "interval",
            r"category -2e\+150 found; the interval level requires finite numbers up to 1e\+150 in size",
        ),
        (
            (1, -1),
            "ratio",
            "category -1 found; the ratio level requires finite non-negative numbers",
        ),
        (("yes", None), "nominal", "category None found; a name or a number is required"),
        ((1, float("nan")), "ordinal", "category nan found; a name or a number is required"),
        ((1, pd.NA), "ratio", "category <NA> found; a name or a number is required"),
        (None, "nominal", "no categories found; the nominal level requires a list of them"),
        (("a", "b"), "cardinal", "level 'cardinal' found; one of .* is required"),
    ],
)
def test_an_impossible_scale_is_refused_in_words(categories, level, words):
    with pytest.raises(RatingsError, match=words):
        Scale(categories, level)


def test_whole_numbers_are_the_same_category_however_they_are_written():
    scale = Scale((1, 2.0, np.float64(3)), "ordinal")
    assert scale.names == ("1", "2", "3")
    assert [scale.index(label) for label in (1, "2", 3.0)] == [0, 1, 2]
    assert category_text(True) == "True"


@pytest.mark.parametrize("label", ["maybe", 4, "", None])
def test_a_label_that_is_not_on_the_scale_is_refused(label):
    with pytest.raises(RatingsError, match=r"label .* found; one of \['no', 'yes'\] is required"):
        Scale(("no", "yes")).index(label)


def test_text_that_is_no_number_is_refused_on_an_interval_scale():
    with pytest.raises(RatingsError, match=r"label 'two' found; one of \['1', '2'\] is required"):
        Scale((1, 2), "interval").index("two")


def test_scores_are_the_categories_values_or_their_ranks():
    assert Scale(("low", "middle", "high"), "ordinal").scores.tolist() == [1, 2, 3]
    assert Scale((0.5, 2), "ratio").scores.tolist() == [0.5, 2]
    assert Scale(None, "interval").scores.tolist() == []


def test_a_scale_read_off_labels_puts_names_in_text_order_and_numbers_in_numeric_order():
    assert Scale.from_labels(["b", "a", None, "b", float("nan"), pd.NA]).names == ("a", "b")
    assert Scale.from_labels([10, 9, 2], "interval").categories == (2.0, 9.0, 10.0)
    assert Scale.from_labels(["10", "9", "2"], "ordinal").names == ("2", "9", "10")


@pytest.mark.parametrize("level", ["nominal", "ordinal", "interval", "ratio"])
def test_categories_read_off_labels_are_not_declared_and_so_make_another_scale(level):
    read_off, named = Scale.from_labels([1, 2], level), Scale((1, 2), level)
    assert (read_off.declared, named.declared) == (False, True)
    assert read_off.categories == named.categories
    assert read_off != named


@pytest.mark.parametrize("labels", [["low", "high"], ["1", "nan"], ["1", "inf"]])
def test_an_order_of_words_is_not_guessed(labels):
    with pytest.raises(
        RatingsError,
        match=r"words have no order of their own. Name the categories from the lowest to the highest",
    ):
        Scale.from_labels(labels, "ordinal")


@pytest.mark.parametrize(
    "scale",
    [
        Scale(("no", "yes")),
        Scale((1, 2), "ordinal"),
        Scale((0.5, 1), "ratio"),
        Scale(None, "interval"),
        Scale.from_labels([1, 2], "ratio"),
    ],
)
def test_plain_data_make_the_same_scale_again(scale):
    assert Scale.from_mapping(scale.to_mapping()) == scale


def test_a_continuous_scale_takes_any_finite_number_and_no_other():
    scale = Scale(None, "ratio")
    assert scale.continuous
    assert scale.number("2.5") == 2.5
    with pytest.raises(RatingsError, match="finite non-negative numbers"):
        scale.number(-1)
