"""What a label may be: refused at birth, in words, or known for good."""

import numpy as np
import pandas as pd
import pytest

from agreement_pipeline.errors import RatingsError
from agreement_pipeline.ratings import Scale, category_text


@pytest.mark.parametrize(
    ("categories", "level", "words"),
    [
        (("yes",), "nominal", r"found 1 category, \['yes'\]; expected at least two"),
        ((), "nominal", r"found 0 categories, \[\]; expected at least two"),
        (
            ("yes", "no", "yes"),
            "nominal",
            r"found category 'yes' twice; expected each once",
        ),
        ((1, 1.0, 2), "interval", r"found category 1.0 twice"),
        ((1, "1", 2), "nominal", r"found category '1' twice"),
        (
            ("low", "high"),
            "interval",
            "found category 'low' on the interval level; expected numbers there",
        ),
        (
            (1, float("inf")),
            "interval",
            "found category inf; expected finite numbers of at most .* on the interval level",
        ),
        (
            (1, -2e150),
            "interval",
            r"found category -2e\+150; expected finite numbers of at most 1e\+150 in size "
            "on the interval level",
        ),
        (
            (1, -1),
            "ratio",
            "found category -1; expected finite non-negative numbers .* on the ratio level",
        ),
        (("yes", None), "nominal", "found category None; expected a name or a number"),
        ((1, float("nan")), "ordinal", "found category nan; expected a name or a number"),
        ((1, pd.NA), "ratio", "found category <NA>; expected a name or a number"),
        (None, "nominal", "found no categories; expected a list of them on the nominal level"),
        (("a", "b"), "cardinal", "found level 'cardinal'; expected one of .*"),
        (("1", "1.0", "2"), "nominal", r"found categories \['1', '1.0'\], which are one label"),
        (("low", "1e3", "1000"), "ordinal", r"found categories \['1000', '1e3'\]"),
        (("b|a", "a|b"), "nominal", r"found categories \['a\|b', 'b\|a'\], which are one label"),
        ((1e-150, 2e-160), "interval", "found no number beyond 1e-150 in size; expected one of"),
    ],
)
def test_an_impossible_scale_is_refused_in_words(categories, level, words):
    with pytest.raises(RatingsError, match=words):
        Scale(categories, level)


@pytest.mark.parametrize(
    ("labels", "names"),
    [
        (["1", "1.0", "2.0"], ("1", "2")),
        ([1, 1.0, "2.0"], ("1", "2")),
        (["1.5", "10.0", "-3", "-0.0"], ("-3", "0", "1.5", "10")),
        (["9007199254740993", "9007199254740992.0"], ("9007199254740992", "9007199254740993")),
        (["1e+16", "10000000000000000", "3"], ("10000000000000000", "3")),
        (["01", "1"], ("01", "1")),
        (["01", "1.0"], ("01", "1.0")),
        (["1.10", "2.0"], ("1.10", "2.0")),
        (["1e3", "2"], ("1e3", "2")),
        (["nan", "1.0", "inf"], ("1.0", "inf", "nan")),
        (["joy|anger", "anger|joy", "|", "joy|"], ("", "anger|joy", "joy")),
    ],
)
def test_a_label_is_read_off_in_one_spelling(labels, names):
    assert Scale.from_labels(labels).names == names
    assert Scale.from_labels(Scale.from_labels(labels).names).names == names


ORDER = (
    r"expected numbers, since words have no order of their own\. "
    "Name the categories from the lowest to the highest"
)


@pytest.mark.parametrize(
    ("labels", "level", "words"),
    [
        (["1", "1.0", "none"], "nominal", r"found labels \['1', '1.0'\], which are one label"),
        (["1.1", "1.10"], "nominal", r"found labels \['1.1', '1.10'\]"),
        (["1e3", "1000"], "nominal", r"found labels \['1000', '1e3'\]"),
        (["1|2", "2.0|1"], "nominal", r"found labels \['1\|2', '1\|2.0'\]"),
        (["01", "1", "2"], "ordinal", r"found labels \['01', '1'\]"),
        (["low", "high"], "ordinal", ORDER),
        (["1", "nan"], "ordinal", ORDER),
        (["1", "inf"], "ordinal", ORDER),
    ],
)
def test_two_spellings_of_one_label_and_an_order_of_words_are_refused(labels, level, words):
    with pytest.raises(RatingsError, match=words):
        Scale.from_labels(labels, level)


def test_a_declared_category_keeps_its_name_and_is_found_in_every_spelling():
    scale = Scale(("1.0", "02", "b|a", "none "))
    assert scale.names == ("1.0", "02", "b|a", "none ")
    assert scale.places_of_labels(["1", "+1", "02", "a|b", "b|a|b", "none "]).tolist() == [
        0,
        0,
        1,
        2,
        2,
        3,
    ]
    assert scale.places_of_labels(["2", "none", "1.0.0", "01"]).tolist() == [-1, -1, -1, -1]


def test_whole_numbers_are_the_same_category_however_they_are_written():
    scale = Scale((1, 2.0, np.float64(3)), "ordinal")
    assert scale.names == ("1", "2", "3")
    assert [scale.position_of_label(label) for label in (1, "2", 3.0)] == [0, 1, 2]
    assert category_text(True) == "True"


@pytest.mark.parametrize("label", ["maybe", 4, "", None])
@pytest.mark.parametrize("scale", [Scale(("no", "yes")), Scale((1, 2), "interval")])
def test_a_label_that_is_not_on_the_scale_is_refused(label, scale):
    with pytest.raises(RatingsError, match=r"found label .*; expected one of \['(no|1)', '(yes|2)"):
        scale.position_of_label(label)


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
    assert scale.number_of_label("2.5") == 2.5
    with pytest.raises(RatingsError, match="expected finite non-negative numbers"):
        scale.number_of_label(-1)


@pytest.mark.parametrize("labels", [[-0.0, 0.0, 1.5], [0.0, -0.0, 1.5], [-0.0, 1.5], ["-0", 1.5]])
def test_minus_zero_is_zero_on_a_scale_of_numbers(labels):
    """-0.0 == 0.0, and the digest of a scale is that of its text."""
    scale = Scale.from_labels(labels, "interval")
    assert str(scale.to_mapping()["categories"]) == "[0.0, 1.5]"
