from typing import get_args

import pandas as pd
import pytest

from agreement_pipeline.estimates import MAX_SHOWN, ShownRaters
from agreement_pipeline.evidence import JudgedRound
from agreement_pipeline.evidence.details import DETAILS, details
from agreement_pipeline.evidence.raters import answer_about_raters
from agreement_pipeline.measures import Question
from agreement_pipeline.policy import Policy
from agreement_pipeline.ratings import Ratings, Scale

POLICY = Policy.from_mapping(
    {"policy": "p", "version": 1, "rules": [{"measure": "krippendorff_alpha"}]}
)


@pytest.mark.parametrize("question", get_args(Question))
def test_numbers_without_categories_have_none_of_the_tables(question):
    frame = pd.DataFrame({"item": ["i", "i"], "rater": ["a", "b"], "label": [1.5, 2.0]})
    ratings = Ratings.from_frame(frame, Scale(None, "interval"))
    section = details(question, ratings, POLICY, [])
    assert {name: section[name] for name in DETAILS[question]} == dict.fromkeys(DETAILS[question])
    assert section["intervals"] is None
    assert section["estimates"].empty


def test_of_a_large_panel_the_same_raters_stand_beside_themselves_and_the_others():
    n = MAX_SHOWN + 2
    rows = [
        (f"i{i}", f"r{r:02}", "ny"[(i + (r + i) % n // 9) % 2], occurrence)
        for i in range(30)
        for r in range(n)
        for occurrence in (1, 2)
        if occurrence == 1 or i < 3 + r
    ]
    frame = pd.DataFrame(rows, columns=["item", "rater", "label", "occurrence"])
    ratings = Ratings.from_frame(frame, Scale(("n", "y")))
    shown = ShownRaters.choose(ratings)
    section = details("intra-rater", ratings, POLICY, [], shown)
    often = [f"r{r:02}" for r in reversed(range(n))][:MAX_SHOWN]
    joint = section["themselves_and_others"].to_frame()
    assert [scope for scope in joint["scope"] if scope.startswith("rater")] == [
        f"rater {name}" for name in often
    ]
    assert not (joint["with the others"] == "").any()
    assert section["left_out"].startswith(f"shown are {MAX_SHOWN} of {n} raters")


USE_OF_SCALE = {
    "use_of_scale",
    "categories_given_more_often",
    "categories_used_alike",
    "limits_of_agreement",
}


def labels_of(categories, n_raters=4, n_items=90):
    """The first rater gives the first category to every third item of another one."""
    rows = []
    for i in range(n_items):
        usual = i % len(categories)
        rows += [(f"i{i}", f"r{r:02}", categories[usual]) for r in range(1, n_raters)]
        rows.append((f"i{i}", "r00", categories[usual if i // len(categories) % 3 else 0]))
    return pd.DataFrame(rows, columns=["item", "rater", "label"])


def numbers_of(n_raters=4, n_items=40):
    rows = [
        (f"i{i}", f"r{r:02}", i + (i * 7 + r * 5) % 11 / 10 + r / 4)
        for i in range(n_items)
        for r in range(n_raters)
    ]
    return pd.DataFrame(rows, columns=["item", "rater", "label"])


@pytest.mark.parametrize(
    ("frame", "scale", "expected"),
    [
        (labels_of("ab"), Scale(("a", "b")), {"categories_given_more_often"}),
        (
            labels_of("abc", MAX_SHOWN + 2),
            Scale(("a", "b", "c")),
            {"categories_given_more_often", "categories_used_alike"},
        ),
        (numbers_of(), Scale(None, "interval"), {"limits_of_agreement"}),
        (numbers_of(MAX_SHOWN + 2), Scale(None, "ratio"), {"limits_of_agreement"}),
    ],
)
def test_how_raters_use_the_scale_is_said_as_on_the_page(frame, scale, expected):
    """Of a large panel too, though other tables show fewer raters than the page does."""
    ratings = Ratings.from_frame(frame, scale)
    section = details("inter-rater", ratings, POLICY, [], ShownRaters.choose(ratings))
    on_page = answer_about_raters(JudgedRound("p", "w1", ratings, POLICY, None))
    (folded,) = [detail for detail in on_page.details if detail.anchor == "use-of-scale"]
    shown = {name: content for name, content in section.items() if name in USE_OF_SCALE}
    assert shown.pop("use_of_scale") in on_page.sentences
    assert set(shown) == expected
    assert tuple(shown.values()) == folded.answer.tables


def test_nothing_is_said_of_the_scale_where_nothing_is_tested():
    frame = labels_of("abc")
    clustered = frame.assign(cluster=frame["item"].str[:2])
    one_rater = frame[frame["rater"] == "r00"]
    ordinal = Scale(None, "ordinal")
    for round_frame, scale in (
        (clustered, Scale(("a", "b", "c"))),
        (one_rater, Scale(("a", "b", "c"))),
        (numbers_of(), ordinal),
    ):
        section = details("inter-rater", Ratings.from_frame(round_frame, scale), POLICY, [])
        assert section["use_of_scale"] is None
        assert not USE_OF_SCALE - {"use_of_scale"} & set(section)
    for question in ("intra-rater", "classifier"):
        section = details(question, Ratings.from_frame(frame, Scale(("a", "b", "c"))), POLICY, [])
        assert not USE_OF_SCALE & set(section)


def test_of_raters_who_give_all_categories_alike_a_sentence_says_so_and_no_table_is_shown():
    frame = labels_of("abc")
    alike = Ratings.from_frame(frame[frame["rater"] != "r00"], Scale(("a", "b", "c")))
    section = details("inter-rater", alike, POLICY, [])
    none = "No rater gives a category more often than another, beyond chance."
    assert section["use_of_scale"] == none
    assert not USE_OF_SCALE - {"use_of_scale"} & set(section)
