import re
from dataclasses import replace
from html import escape
from typing import get_args
from xml.etree import ElementTree

import numpy as np
import pandas as pd
import pytest

from agreement_pipeline.contract import Contract
from agreement_pipeline.evidence import (
    JudgedProject,
    JudgedRound,
    build_project_page,
    build_round_page,
)
from agreement_pipeline.evidence.figure import Figure, Kind, Mark, Series
from agreement_pipeline.evidence.judged import number_by_rater
from agreement_pipeline.evidence.page import NUMBERED, OF_PROJECT, OF_ROUND, PSEUDONYMS
from agreement_pipeline.evidence.section import Cell, Grid, build_grid
from agreement_pipeline.policy import Rule, assess
from agreement_pipeline.ratings import Ratings, Scale
from agreement_pipeline.report import render_html, report_page
from agreement_pipeline.report.drawing import draw_svg
from tests.report.pages import HOSTILE, POLICY, RATERS, a_round, rows


@pytest.fixture(scope="module")
def judged():
    ratings = a_round()
    found = assess(ratings, POLICY, Contract.none())
    return JudgedRound("<u>project</u>", "week <1>", ratings, POLICY, found)


@pytest.fixture(scope="module")
def answers(judged):
    return {title: answer(judged) for title, answer in OF_ROUND.items()}


@pytest.fixture(scope="module")
def page(judged):
    return render_html(build_round_page(judged))


def test_text_from_the_data_stays_text(page):
    assert "<script>alert" not in page
    for tag in ("<b>ben", "<i>rude", "<u>project", "week <1>"):
        assert tag not in page
    assert "week &lt;1&gt;" in page
    assert HOSTILE.replace("<", "&lt;").replace(">", "&gt;") in page


def test_a_page_names_nothing_outside_itself(page):
    assert not re.findall(r"(?:src|href)=\"(?!#)[^\"]*\"", page)
    assert not re.findall(r"url\(|@import|<link|<iframe|<object", page)
    assert "default-src 'none'" in page


def test_every_link_of_a_page_leads_to_a_part_of_it(page):
    links = set(re.findall(r"href=\"#([^\"]+)\"", page))
    parts = re.findall(r"\sid=\"([^\"]+)\"", page)
    assert links <= set(parts)
    assert len(parts) == len(set(parts))


def test_the_decision_who_rated_and_what_to_do_stand_first(judged, page):
    first = page.index("Held: the only rule that can hold a release is not met.")
    assert first < page.index("What to do now") < page.index("<table")
    (verdict,) = judged.decision.unmet
    value, limits = verdict.estimate.value, verdict.estimate.interval
    said = f"{value:.3f} ({limits.low:.3f} to {limits.high:.3f}): 0.667 lies inside the interval"
    assert said in page
    assert page.index("Labelled by 4 raters") < page.index("<table")
    assert page.count("<li><b>") == len(judged.summary.steps) <= 3
    told = re.sub("</?span>", "", page)
    assert all(escape(step.by).replace("&#x27;", "&#39;") in told for step in judged.summary.steps)


def test_a_page_has_few_words():
    rng = np.random.default_rng(8)
    said = [
        (f"i{i:03}", f"r{r}", "ab"[(i + (rng.random() < 0.2)) % 2], f"some words of the item {i}")
        for i in range(400)
        for r in range(5)
    ]
    frame = pd.DataFrame(said, columns=["item", "rater", "label", "text"])
    page = report_page(Ratings.from_frame(frame, Scale(("a", "b"))), POLICY)
    shown = re.sub(r"<(style|script|svg).*?</\1>|<[^>]+>", " ", page, flags=re.DOTALL)
    assert len(shown.split()) <= 2_500


def test_every_figure_has_a_sentence_and_numbers_beside_it(answers):
    for name, answer in answers.items():
        # This round has neither strata nor a round before.
        if name in ("Strata", "Since the round before"):
            assert answer is None
            continue
        assert answer is not None, name
        assert all(figure.says and figure.title for figure in answer.figures), name
        assert not answer.figures or answer.tables, name


def test_the_confusions_are_those_of_all_pairs_of_labels(judged, answers):
    """Krippendorff's coincidences, counted pair by pair."""
    first = judged.ratings.first_ratings(["item", "rater", "label"]).to_pandas()
    people = first[~first["rater"].isin(["model"])]
    seen = {}
    for _, labels in people.groupby("item", observed=True)["label"]:
        said = list(labels)
        for i, one in enumerate(said):
            for other in said[:i] + said[i + 1 :]:
                seen[one, other] = seen.get((one, other), 0.0) + 1 / (len(said) - 1)
    apart = sum(n for (one, other), n in seen.items() if one != other)
    table = answers["Labels"].tables[1]
    assert len(table.rows) == len({frozenset(pair) for pair in seen if len({*pair}) == 2})
    for one, other, share in table.rows:
        expected = (
            seen.get((one.text, other.text), 0) + seen.get((other.text, one.text), 0)
        ) / apart
        assert share.by == pytest.approx(expected)
    figure = answers["Labels"].figures[1]
    for row in figure.series:
        whole = sum(n for (one, _), n in seen.items() if one == row.name)
        drawn = {mark.label: mark.value for mark in row.marks}
        assert drawn == pytest.approx(
            {name: seen.get((row.name, name), 0) / whole for name in drawn}
        )


def test_the_items_of_a_pair_are_those_on_which_they_differ(judged, answers):
    detail = answers["Raters"].details[0]
    one, other = detail.title.removesuffix(": where they differ").split(" and ")
    first = judged.ratings.first_ratings(["item", "rater", "label"]).to_pandas()
    first = first.set_index(["item", "rater"])["label"]
    differ = {
        item for item in judged.by_item[0].to_pylist() if first[item, one] != first[item, other]
    }
    assert detail.answer.sentences == (f"They differ on {len(differ)} items.",)
    for item, of_one, of_other, _ in detail.answer.tables[0].texts:
        assert item in differ
        assert (of_one, of_other) == (first[item, one], first[item, other])


def test_a_page_can_show_a_round_whose_model_rated_an_item_that_nobody_else_did(judged):
    alone = pd.DataFrame([{"item": "a", "rater": "model", "label": "safe", "occurrence": 1}])
    frame = pd.concat([alone, rows()], ignore_index=True)
    ratings = Ratings.from_frame(frame, judged.ratings.scale, classifiers=["model"])
    found = assess(ratings, POLICY, Contract.none())
    wider = replace(judged, ratings=ratings, assessment=found)
    assert OF_ROUND["Raters"](wider).tables[1] == OF_ROUND["Raters"](judged).tables[1]


def test_replicates_say_when_they_came_back(answers):
    assert (
        "Raters met an item again 48 times, 0.0% of them in less than a day, when the label may be "
        "remembered."
    ) in answers["Raters"].sentences


def test_a_raters_agreement_with_themselves_is_one_number_with_one_interval(judged, answers):
    """The policy's own rule on it stands in the table of rules and in that of raters."""
    rules, raters = answers["Rules"].tables[0], answers["Raters"].tables[0]
    of_rule = {
        row[1].text: (row[3].text, row[4].text)
        for row in rules.rows
        if row[0].text.startswith("Self-agreement")
    }
    at = raters.columns.index("with themselves")
    assert of_rule == {row[0].text: (row[at].text, row[at + 1].text) for row in raters.rows}


def test_the_rest_of_a_long_table_is_summed_up():
    found = build_grid("Items", ["item"], [[f"i{place}"] for place in range(45)], "items")
    assert (len(found.rows), found.left_out) == (40, "5 more items are not shown.")
    with pytest.raises(ValueError, match="at most 40 whole rows"):
        Grid("Items", ("item",), ((Cell("i"),),) * 41)


def test_raters_are_numbered_unless_their_names_are_asked_for():
    ratings = a_round()
    assert sorted(number_by_rater(ratings).values()) == [f"rater-{n}" for n in range(1, 5)]
    assert set(number_by_rater(ratings)) == set(RATERS)
    hidden = report_page(ratings, POLICY)
    assert not re.findall(r"\b(?:ana|cyd|dan)\b", hidden)
    assert NUMBERED in hidden
    shown = report_page(ratings, POLICY, names={})
    assert "dan" in shown
    named = report_page(ratings, POLICY, names={rater: f"rater-{rater[0]}" for rater in RATERS})
    assert PSEUDONYMS in named
    assert NUMBERED not in shown + named
    assert PSEUDONYMS not in shown + hidden


KINDS = get_args(Kind)


@pytest.mark.parametrize("kind", KINDS)
def test_every_kind_of_figure_is_drawn_with_its_name_and_without_markup(kind):
    marks = (
        Mark("<b>one</b>", 0.5, 0.25, None, across=1.0, across_low=0.5),
        Mark("two", None),
        Mark("three", 0.75, 0.5, 1.0, across=2.0, tone="bad", cutoffs=(0.8,), crossed=True),
    )
    figure = Figure(kind, "A <i>title</i>", "What it says.", (Series("s", marks),))
    root = ElementTree.fromstring(draw_svg(figure, "f"))
    assert [(each.get("id"), each.text) for each in root[:2]] == [
        ("f-title", "A <i>title</i>"),
        ("f-desc", "What it says."),
    ]
    assert root.get("aria-labelledby") == "f-title f-desc"
    assert "<b>" not in ElementTree.tostring(root, encoding="unicode")


SMALL = {
    "one item, one category": ([("i", "a", "x"), ("i", "b", "x")], ("x", "y"), "nominal"),
    "one rating": ([("i", "a", "x")], ("x", "y"), "nominal"),
    "ordered": ([("i", "a", 1), ("i", "b", 2), ("j", "a", 3)], (1, 2, 3), "ordinal"),
    "numbers": ([(f"i{n}", r, n + (r == "a")) for n in range(5) for r in "ab"], None, "interval"),
    "vectors": (
        [(f"i{n}", r, (n, n + (r == "a"))) for n in range(4) for r in "ab"],
        None,
        "multivariate interval",
    ),
}


@pytest.mark.parametrize("case", SMALL.values(), ids=SMALL)
def test_a_page_is_made_of_every_kind_of_round(case):
    said, categories, level = case
    frame = pd.DataFrame(said, columns=["item", "rater", "label"])
    scale = Scale(categories, level) if categories else Scale.from_labels(frame["label"], level)
    assert "<h1>ratings</h1>" in report_page(Ratings.from_frame(frame, scale), POLICY)


def row_of(name, decision, release, measure, verdict, *numbers):
    limits = dict(zip(("value", "low", "high"), numbers or [float("nan")] * 3, strict=True))
    said = {"round": name, "decision": decision, "release": release, "measure": measure}
    said |= {"scope": "round", "confidence_level": 0.95, "broken": "", "version": 1}
    said |= {"needs": 0.8, "tentative": 0.667, "code": verdict}
    said |= {"policy": f"{POLICY.policy}, version {POLICY.version}", "policy_digest": POLICY.digest}
    return {**said, **limits, "verdict": verdict, "reason": f"{measure}: {verdict}"}


@pytest.mark.parametrize(("n", "left_out"), [(2, False), (3, True)])
def test_the_top_says_that_the_table_has_the_reasons_that_it_leaves_out(n, left_out):
    """Two reasons are shown."""
    measures = ("krippendorff_alpha", "fleiss_kappa", "conger_kappa")
    rules = tuple(Rule(each, reliable=0.999, tentative=0.99) for each in measures[:n])
    page = report_page(a_round(), replace(POLICY, rules=rules))
    assert ("The table of rules has all reasons." in page) is left_out


def test_a_project_says_which_rounds_were_held_and_why():
    alpha, numbers = "krippendorff_alpha", (0.9, 0.85, 0.95)
    found = pd.DataFrame(
        [
            row_of("w1", "admitted", "released", alpha, "reliable", *numbers),
            row_of("w2", "held", "withdrawn", alpha, "reliable", *numbers),
            row_of("w2", "held", "withdrawn", "self_agreement", "not_evaluated"),
        ]
    )
    judged = JudgedProject("p", "about", POLICY, found, {}, {"w2": "w2.html"})
    page = render_html(build_project_page(judged))
    assert "1 of 2 rounds is admitted. The last one, w2, is held." in page
    assert "Held: w2." in page
    assert ">withdrawn</td>" in page
    assert 'href="w2.html"' in page
    overview, over_time = (OF_PROJECT[name](judged) for name in ("Rounds", "Agreement over rounds"))
    held = overview.tables[0].rows[0]
    assert [cell.text for cell in held][:2] == ["w2", "held"]
    by_column = dict(zip(overview.tables[0].columns, held, strict=True))
    assert by_column["agreement"].text == "Self-agreement SA not measured"
    assert by_column["why"].text == "Self-agreement SA: not_evaluated"
    assert [mark.crossed for mark in over_time.figures[0].marks] == [False, True]


@pytest.fixture(scope="module")
def crowd():
    """A hundred raters, of whom the first always says yes, and the page on them."""
    rng = np.random.default_rng(3)
    said = rng.choice(["no", "yes"], (30, 100), p=(0.8, 0.2))
    said[:, 0] = "yes"
    frame = pd.DataFrame(
        [(f"i{i}", f"r{r:03}", said[i, r]) for i in range(30) for r in range(100)],
        columns=["item", "rater", "label"],
    )
    return report_page(Ratings.from_frame(frame, Scale(("no", "yes"))), POLICY, names={})


def test_a_page_of_a_hundred_raters_shows_those_who_agree_least(crowd):
    tables = re.findall(r"<tbody>(.*?)</tbody>", crowd, re.DOTALL)
    assert max(table.count("<tr>") for table in tables) <= 40
    assert "Shown are 20 of 100 raters: those who agree least with the others." in crowd
    assert '<td class="name" data-head="uses more">yes</td>' in crowd
    assert set(re.findall(r"href=\"#([^\"]+)\"", crowd)) <= set(
        re.findall(r"\sid=\"([^\"]+)\"", crowd)
    )


def test_one_statistic_has_one_interval_on_a_page():
    """With two categories, agreement on each of them is that of the round."""
    rng = np.random.default_rng(5)
    said = [(f"i{i}", r, "no" if rng.random() < 0.7 else "yes") for i in range(40) for r in "abc"]
    frame = pd.DataFrame(said, columns=["item", "rater", "label"])
    policy = replace(POLICY, n_resamples=3_000)
    ratings = Ratings.from_frame(frame, Scale(("no", "yes")))
    found = assess(ratings, policy, Contract.none())
    (rule, *_) = found.decision.verdicts
    categories = JudgedRound("p", "w", ratings, policy, found).categories
    assert [each.interval for each in categories] == [pytest.approx(rule.estimate.interval)] * 2


def test_with_two_categories_none_is_called_the_lowest(crowd):
    assert "There are two categories, so agreement on one is agreement on the other." in crowd
    assert "Raters agree least on" not in crowd


def test_pairs_on_an_ordered_scale_are_compared_with_weights():
    frame = pd.DataFrame(
        [(f"i{n}", rater, (n + (rater == "a")) % 5) for n in range(10) for rater in "abc"],
        columns=["item", "rater", "label"],
    )
    ratings = Ratings.from_frame(frame, Scale((0, 1, 2, 3, 4), "ordinal"))
    found = assess(ratings, POLICY, Contract.none())
    judged = JudgedRound("", "ordered", ratings, POLICY, found)
    assert {each.measure for each in judged.pairs} == {"cohen_kappa_quadratic"}


def test_checks_of_the_contract_that_failed_stand_beside_the_rules(judged, answers):
    failed = {each.check for each in judged.decision.findings if not each.passed}
    shown = {row[0].text for table in answers["Rules"].tables[1:] for row in table.rows}
    assert shown == failed


def test_a_verdict_that_was_taken_back_says_why_it_is_not_met():
    """Two raters give numbers from 1 to 5 that have nothing in common, and 1000 on 8 items."""
    first, second = ([1000] * 8 + [1 + n % 5 for n in range(m, m * 200, m)] for m in (1, 3))
    given = zip(first, second, strict=False)
    rows = [(n, who, pair[at]) for n, pair in enumerate(given) for at, who in enumerate("ab")]
    frame = pd.DataFrame(rows, columns=["item", "rater", "label"])
    ratings = Ratings.from_frame(frame, Scale(None, "interval"))
    page = report_page(ratings, replace(POLICY, rules=(Rule("krippendorff_alpha"),)))
    assert re.search(
        r"the lower limit reaches 0\.8; without 8 items that carry \d+% of the expected "
        r"disagreement it is unreliable\.",
        page,
    )
    assert "The policy asks for a lower limit of 0.8." not in page
