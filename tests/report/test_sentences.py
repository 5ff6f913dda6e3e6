"""Sentences of pages that are easily false: ties, two raters, a category that nobody gave."""

from dataclasses import replace

import numpy as np
import pandas as pd
import pytest

from agreement_pipeline.contract import Contract
from agreement_pipeline.policy import Policy, Rule, assess
from agreement_pipeline.ratings import Ratings, Scale
from agreement_pipeline.report import JudgedRound
from agreement_pipeline.report.figure import Figure, Mark, Series
from agreement_pipeline.report.sections import sections_of, verdicts
from agreement_pipeline.report.terminal import drawn
from tests.report.pages import POLICY

RULE = Rule("krippendorff_alpha")


@pytest.fixture(autouse=True)
def _few_simulations(monkeypatch):
    monkeypatch.setattr(verdicts, "N_ROUNDS", 5)


def judged(ratings, policy=POLICY):
    return JudgedRound("", "w1", ratings, policy, assess(ratings, policy, Contract.default()))


def answer(name, *said):
    """The answer of a section on a round."""
    (found,) = (each.answer(judged(*said)) for each in sections_of("round") if each.name == name)
    return found


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
    assert answer("raters", alike).sentences[0] == "All agree alike with the others (κ 1.000)."
    assert answer("pairs", alike).sentences == ("All pairs agree alike (Cohen's κ 1.000).",)
    said = answer("categories", alike).sentences
    assert said == ("Raters agree alike on every category (α 1.000).",)
    assert answer("where-to-look", alike).sentences == ("There is no disagreement to talk about.",)


def test_of_two_categories_and_raters_none_is_a_place_to_look():
    rows = answer("where-to-look", TWO).tables[0].rows
    assert [row[0].text for row in rows] == ["item"]


def test_a_single_pair_is_not_called_the_lowest():
    assert answer("pairs", TWO).sentences == ("a and b are the only pair (Cohen's κ 0.900).",)


def test_categories_that_are_equally_frequent_are_all_named():
    assert answer("prevalence", TWO).sentences[0] == (
        "The most frequent categories are no, yes (50.0% of all labels each)."
    )


def test_a_category_that_nobody_gave_is_not_said_to_be_shared():
    ratings = labelled(40, "abc", {0, 1}, ("no", "yes", "never"))
    details = {each.title: each.answer for each in answer("categories", ratings).details}
    assert details["never: no value"].sentences == (
        "Nobody gave this category to an item that two raters labelled.",
    )


@pytest.mark.parametrize(("level", "words"), [(0.975, "97.5% intervals"), (0.999, "99.9% interv")])
def test_the_checklist_rounds_no_confidence_level(level, words):
    policy = replace(POLICY, confidence_level=level, n_resamples=20_000)
    rows = {row[0].text: row[2].text for row in answer("checklist", TWO, policy).tables[0].rows}
    assert rows["the uncertainty"].startswith(words)
    assert rows["how to read the number"] == "cut-offs of policy pages, version 1"


def test_a_method_without_resamples_is_not_said_to_have_some():
    policy = Policy("p", 1, (RULE,), interval_method="two_way_jackknife_log")
    ratings = labelled(40, "abcd", {0, 1})
    said = " ".join(answer("method", ratings, policy).sentences)
    assert "Intervals come from the two way jackknife log." in said
    assert "resamples" not in said
    assert "with 1,000 resamples" in " ".join(answer("method", ratings).sentences)


def test_a_plan_from_a_held_round_says_what_it_takes_for_granted():
    said = answer("power", TWO).sentences
    assert "This takes the value here for the true one" in said[1]
    assert "A second look at the same round after more items raises the risk" in said[2]


def test_a_round_that_looks_do_not_decide_is_not_said_to_lie_under_the_cut_off():
    ratings = labelled(40, "ab", {0, 1})
    looks = Policy.from_mapping(
        {
            "policy": "p",
            "version": 1,
            "looks": {"at": [20, 40], "spending": "pocock"},
            "rules": [{"measure": "krippendorff_alpha"}],
        }
    )
    first = answer("power", ratings, looks).sentences[0]
    assert first.startswith("Krippendorff's α: too few rounds like this one would decide, since by")
    assert "under the cut-off" not in first


def test_a_classifier_is_among_the_raters_only_as_far_as_the_items_tell():
    rng = np.random.default_rng(3)
    rows = [
        (f"i{item:02}", rater, int((item % 2) ^ (rng.random() < 0.15)))
        for item in range(40)
        for rater in ("a", "b", "c", "model")
    ]
    frame = pd.DataFrame(rows, columns=["item", "rater", "label"])
    ratings = Ratings.from_frame(frame, Scale((0, 1)), classifiers=["model"])
    assert answer("classifiers", ratings).sentences == (
        "model is among the raters, as far as these items can tell.",
    )


def test_strokes_that_have_names_are_called_by_them():
    marks = (Mark("model", 0.5, 0.4, 0.6),)
    band = ((0.3, "lowest rater"), (0.7, "highest rater"))
    figure = Figure("intervals", "Models", "", (Series("s", marks),), cutoffs=band)
    assert drawn(figure).splitlines()[-1] == "| highest rater, : lowest rater"
