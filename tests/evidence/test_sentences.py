"""Sentences of pages that are easily false: ties, two raters, a category that nobody gave."""

from dataclasses import replace

import numpy as np
import pandas as pd
import pytest

from agreement_pipeline.contract import Contract
from agreement_pipeline.estimates import ROUND, Estimate
from agreement_pipeline.evidence import JudgedRound, RuleResult
from agreement_pipeline.evidence.advice import describe_who_rated
from agreement_pipeline.evidence.figure import Figure, Mark, Series
from agreement_pipeline.evidence.page import OF_ROUND
from agreement_pipeline.evidence.section import build_grid
from agreement_pipeline.evidence.verdicts import build_verdict_grid
from agreement_pipeline.intervals import Interval
from agreement_pipeline.policy import Policy, Rule, Silver, assess
from agreement_pipeline.ratings import Ratings, Scale
from agreement_pipeline.readers import Rules, read
from agreement_pipeline.report.terminal import draw_ascii
from tests.report.pages import POLICY

RULE = Rule("krippendorff_alpha")


def judged(ratings, policy=POLICY):
    return JudgedRound("", "w1", ratings, policy, assess(ratings, policy, Contract.none()))


def answer(name, *said):
    """The answer of a section on a round."""
    return OF_ROUND[name](judged(*said))


def labelled(n, raters, differs, categories=("no", "yes")):
    """Half of the items are no and half are yes. The first rater differs on some items."""
    rows = [
        (f"i{item:03}", rater, ("no", "yes")[(item + (rater == "a" and item in differs)) % 2])
        for item in range(n)
        for rater in raters
    ]
    return Ratings.from_frame(
        pd.DataFrame(rows, columns=["item", "rater", "label"]), Scale(categories)
    )


TWO = labelled(40, "ab", {0, 1})


def test_where_all_agree_alike_nothing_is_the_lowest():
    rows = [(f"i{item}", rater, "xyz"[item % 3]) for item in range(30) for rater in "abc"]
    frame = pd.DataFrame(rows, columns=["item", "rater", "label"])
    alike = Ratings.from_frame(frame, Scale(("x", "y", "z")))
    said = answer("Labels", alike).sentences
    assert said[:2] == (
        "Raters agree alike on every category (α 1.000).",
        "No two raters gave an item different categories.",
    )
    assert answer("Items", alike).sentences == ("No item has two different labels.",)
    said = answer("Raters", labelled(40, "abcd", set())).sentences[0]
    assert said.startswith("No rater is known to differ from the rest: ")


@pytest.mark.parametrize(
    ("errors", "begins"), [({"z": 8}, "The values of"), ({"z": 2}, "Raters agree least on z (")]
)
def test_a_category_is_the_lowest_only_if_its_interval_lies_under_another(errors, begins):
    """Rater a takes each tenth item of a category for another one, or more of some category."""
    names, rows = "xyzw", []
    for item in range(480):
        label, turn = names[item % 4], item // 4
        other = names[(item + 1 + turn // 10 % 3) % 4]
        differs = turn % 10 == 0 or (label in errors and turn % errors[label] == 0)
        rows += [(f"i{item:03}", "a", other if differs else label), (f"i{item:03}", "b", label)]
    frame = pd.DataFrame(rows, columns=["item", "rater", "label"])
    said = answer("Labels", Ratings.from_frame(frame, Scale(tuple(names)))).sentences[0]
    assert said.startswith(begins)


def test_a_category_that_nobody_used_is_none_on_which_raters_agree():
    said = answer("Labels", labelled(40, "abc", {0, 1}, ("no", "yes", "never"))).sentences
    assert said[0].startswith("Raters agree alike on each category that was used (α 0.")


def test_of_two_categories_none_is_the_lowest_and_of_two_raters_none_stands_out():
    said = answer("Labels", TWO).sentences
    assert said[0] == "There are two categories, so agreement on one is agreement on the other."
    assert said[1] == "There are two categories, so all disagreement is between them."
    few = "Disagreement does not hold this round, so no rater is named."
    assert answer("Raters", TWO).sentences[0] == few
    apart = answer("Raters", labelled(40, "ab", {*range(20)}))
    assert apart.sentences[0].startswith("No rater shares enough items, or clusters of them, ")


def test_ratings_that_the_settings_leave_out_are_counted():
    frame = labelled(40, "abc", {0}).to_pandas()[["item", "rater", "label"]].astype(str)
    ratings = read(frame, rules=Rules(exclude_raters=("c",)))
    (row, *_) = answer("Method", ratings).tables[0].rows
    assert [cell.text for cell in row[:2]] == ["read as no rating: excluded rater", "40"]


def test_a_category_that_nobody_gave_has_no_value_and_says_why():
    ratings = labelled(40, "abc", {0, 1}, ("no", "yes", "never"))
    (row,) = [row for row in answer("Labels", ratings).tables[0].texts if row[0] == "never"]
    assert row[1:4] == ["", "", "0.0%"]
    assert row[4]


@pytest.mark.parametrize(("level", "words"), [(0.975, "97.5% intervals"), (0.999, "99.9% interv")])
def test_the_checklist_rounds_no_confidence_level(level, words):
    policy = replace(POLICY, confidence_level=level, n_resamples=20_000)
    rows = {row[0].text: row[2].text for row in answer("Method", TWO, policy).tables[-2].rows}
    assert rows["the uncertainty"].startswith(words)
    assert rows["how to read the number"] == "cut-offs of policy pages, version 1"


def test_a_method_without_resamples_is_not_said_to_have_some():
    policy = Policy("p", 1, (RULE,), interval_method="two_way_jackknife_log")
    ratings = labelled(40, "abcd", {0, 1})
    said = " ".join(answer("Method", ratings, policy).sentences)
    assert "Intervals come from the two way jackknife log." in said
    assert "resamples" not in said
    assert "with 1,000 resamples" in " ".join(answer("Method", ratings).sentences)


def test_a_classifier_is_among_the_raters_only_as_far_as_the_items_tell():
    rng = np.random.default_rng(3)
    rows = [
        (f"i{item:02}", rater, int((item % 2) ^ (rng.random() < 0.15)))
        for item in range(40)
        for rater in ("a", "b", "c", "model")
    ]
    frame = pd.DataFrame(rows, columns=["item", "rater", "label"])
    ratings = Ratings.from_frame(frame, Scale((0, 1)), classifiers=["model"])
    assert answer("Models", ratings).sentences == (
        "model is among the raters, as far as these items can tell.",
    )


def test_strokes_that_have_names_are_called_by_them():
    marks = (Mark("model", 0.5, 0.4, 0.6),)
    band = ((0.3, "lowest rater"), (0.7, "highest rater"))
    figure = Figure("intervals", "Models", "", (Series("s", marks),), cutoffs=band)
    assert draw_ascii(figure).splitlines()[-1] == "| highest rater, : lowest rater"


def test_items_that_only_a_model_labelled_are_no_items_that_raters_could_differ_on():
    of_people = labelled(20, "abc", {3, 4}).to_pandas()[["item", "rater", "label"]]
    rows = [(f"i{item:03}", "m", ("no", "yes")[item % 2]) for item in range(200)]
    of_model = pd.DataFrame(rows, columns=of_people.columns)
    both = Ratings.from_frame(
        pd.concat([of_people, of_model]), Scale(("no", "yes")), classifiers=["m"]
    )
    said = answer("Items", both).sentences
    assert said[0] == "Raters differ on 2 items of 20 (10.0%)."
    stated = str([table.rows for table in answer("Method", both).tables])
    assert "100.0% of the 20 items that raters labelled have two labels or more" in stated


@pytest.mark.parametrize("n_disputed", [2, 6, 12])
def test_few_disputed_items_that_are_alike_are_not_said_to_hold_all_disagreement(n_disputed):
    """Half of the disagreement lies on half of them, however few of all items that is."""
    said = answer("Items", labelled(240, "ab", {*range(n_disputed)})).sentences
    assert "It is held by few" not in said[1]


def test_a_few_items_with_far_numbers_hold_most_of_the_disagreement():
    rng = np.random.default_rng(3)
    rows = [
        (f"i{item}", rater, round(rng.normal(item % 7, 0.2) + 9 * (item < 3) * (rater == "b"), 2))
        for item in range(60)
        for rater in "ab"
    ]
    frame = pd.DataFrame(rows, columns=["item", "rater", "label"])
    said = answer("Items", Ratings.from_frame(frame, Scale(None, "interval"))).sentences
    assert said[1].endswith(" It is held by few items: discuss these.")


def test_half_of_disagreement_that_lies_on_equal_items_is_on_half_of_them():
    """Fourteen times 1/14 add up to less than 1/2 after seven in floating point."""
    said = answer("Items", labelled(120, "ab", {*range(14)})).sentences
    assert said[0] == "Raters differ on 14 items of 120 (11.7%)."
    assert said[1] == "Half of all disagreement comes from 7 items (5.8% of all)."


def test_the_method_counts_one_item_and_the_items_of_all_ratings():
    one = labelled(1, "ab", {0})
    found = answer("Method", one)
    assert "The round has 2 ratings of 1 item. All of them count." in found.sentences
    rows = {row[0].text: row[2].text for row in found.tables[-2].rows}
    assert rows["which items the agreement rests on"].startswith("100.0% of the 1 item that ")
    gold = labelled(40, "abc", {0}).with_gold(frozenset({"i000", "i001"}))
    said = answer("Method", gold).sentences
    assert "The round has 120 ratings of 40 items. Some do not count between raters." in said


def test_a_rule_without_replicates_leaves_all_ratings_to_agreement_between_raters():
    policy = Policy("p", 1, (RULE, Rule("self_agreement_unbiased")), n_resamples=1000)
    found = answer("Method", labelled(40, "abc", {0}), policy)
    assert "The round has 120 ratings of 40 items. All of them count." in found.sentences
    assert found.tables[0].texts[0][:2] == ["raters in self_agreement_unbiased", "3"]


def test_one_is_said_of_one_item_row_or_label():
    assert build_grid("Items", ["item"], [["i1"], ["i2"]], "items", max_rows=1).left_out == (
        "1 more is not shown."
    )
    assert "1 label an item" in describe_who_rated(labelled(1, "a", set()))


def test_a_page_rounds_no_limit_to_a_cut_off_that_it_does_not_reach():
    near = Estimate(RULE.measure, ROUND, 0.85, Interval(0.79996, 0.9), 0.95, "m", 100, 3, 300)
    (verdict,) = RULE.judge([near])
    decision = judged(labelled(9, "ab", set())).decision
    (row,) = build_verdict_grid([RuleResult.of(verdict, POLICY, decision, ())]).texts
    assert row[3:6] == ["0.850", "0.79996 to 0.900", "0.8 (0.667)"]
    assert Mark.of(near, cutoffs=RULE.cutoffs).value_in_words == "0.850 (0.79996 to 0.900)"


def test_a_round_that_a_classifier_labelled_takes_its_label_where_raters_give_none():
    policy = Policy("p", 1, (RULE,), n_resamples=1000, silver=Silver(most_wrong=0.05))
    rows = {row[0].text: row[2].text for row in answer("Method", TWO, policy).tables[-2].rows}
    told = "the label that most raters gave; of other items, the classifier's"
    assert rows["how labels are adjudicated"] == told
