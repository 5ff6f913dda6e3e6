"""Seldom labels that resemble a common one are told; all others are not."""

import pandas as pd
import pytest

from agreement_pipeline import Scale, read_ratings
from agreement_pipeline.errors import RatingsError
from agreement_pipeline.ratings import describe_doubtful_labels, find_misspelt

SLIPS = ["spma", "spm", "spamm", "spab", "Spam", "spam ", "sp\u0430m", "sapm"]
NO_SLIPS = ["ham", "spaghetti", "mapss", "s", "sp", "no"]


@pytest.mark.parametrize("label", SLIPS)
def test_a_slip_is_told(label):
    (told,) = find_misspelt({label: 2, "spam": 20, "ham": 50}).values()
    assert told == f"label {label!a} (2 times) resembles 'spam' (20 times)"


@pytest.mark.parametrize("label", NO_SLIPS)
def test_another_word_is_none(label):
    assert find_misspelt({label: 1, "spam": 100}) == {}


def test_what_is_not_seldom_or_beside_nothing_common_is_none():
    assert find_misspelt({"spma": 3, "spam": 100}) == {}
    assert find_misspelt({"spma": 2, "spam": 19}) == {}
    assert find_misspelt({"spma": 1, "spam": 9}) == {}


def test_short_labels_and_numbers_are_told_apart_by_a_letter():
    assert find_misspelt({"no": 1, "yo": 100}) == {}
    assert find_misspelt({"grade 1": 1, "grade 2": 100}) == {}
    assert find_misspelt({"1000": 1, "1001": 100}) == {}
    assert [*find_misspelt({"NO": 1, "no": 100})] == ["NO"]


def test_the_most_common_one_is_told():
    (told,) = find_misspelt({"spma": 1, "spam": 30, "Spam": 40}).values()
    assert told.endswith("resembles 'Spam' (40 times)")


def test_labels_that_were_told_as_slips_are_not_told_to_print_alike_again():
    counts = {"Spam": 1, "spam": 58, "ham": 121, "HAM": 44}
    assert [*find_misspelt(counts)] == ["Spam"]
    assert list(describe_doubtful_labels(counts, find_misspelt(counts))) == [
        "labels 'HAM' and 'ham' print alike; if they mean the same, write one, or --same-label "
        'HAM=ham (same_label: [["HAM", "ham"]] in a project)'
    ]


def test_labels_of_one_rater_in_capitals_are_told_in_one_line():
    labels = [each for label in "abcdef" for each in (label * 4, label.upper() * 4)]
    (sentence,) = describe_doubtful_labels(labels)
    assert "labels 'AAAA' and 'aaaa', 'BBBB' and 'bbbb'," in sentence
    assert "and 2 more groups print alike; if they mean the same, write one" in sentence
    assert sentence.count("--same-label") == 4


@pytest.mark.parametrize(
    "several", ["joy, fear", "joy;fear", "joy,fear", "['joy', 'fear']", '["joy", "fear"]']
)
def test_several_labels_in_one_are_told_once(several):
    alone = ["joy", "fear", "|"] if several[0] != "[" else ["['joy']", '["fear"]', "[]"]
    (told,) = describe_doubtful_labels([*alone, several])
    assert told == (
        f"label {several!r} counts as one label; if it is several ones, write them as joy|fear"
    )


def test_a_set_that_is_written_as_one_and_a_label_with_a_comma_are_not_told():
    fine = ["joy", "fear", "joy|fear", "none", "sorry, no", "sorry", "1,5", ""]
    assert list(describe_doubtful_labels(fine)) == []


@pytest.mark.parametrize(
    ("label", "words"),
    [("ne\u0301", r" 'ne\u0301' and 'n\xe9' print alike."), ("nee", "")],
)
def test_a_label_that_prints_as_a_category_is_told_from_it(label, words):
    rows = [("i1", "ana", label), ("i1", "ben", "yes")]
    frame = pd.DataFrame(rows, columns=["item", "rater", "label"])
    with pytest.raises(RatingsError) as refusal:
        read_ratings(frame, scale=Scale(("n\xe9", "yes")))
    expected = f"found label '{label}'; expected one of ['n\xe9', 'yes']. Correct the label or add "
    assert str(refusal.value).endswith(f"{expected}it to the scale.{words}")
