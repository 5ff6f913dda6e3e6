import re

import pytest

from agreement_pipeline.contract import Contract
from agreement_pipeline.policy import Policy, assess
from agreement_pipeline.ratings import Ratings, Scale
from agreement_pipeline.report import JudgedRound, page_of_round
from agreement_pipeline.report.answer import Cell, grid
from agreement_pipeline.report.figure import Figure, Mark, Series

POLICY = Policy.from_mapping(
    {
        "policy": "p",
        "version": 1,
        "n_resamples": 1000,
        "rules": [{"measure": "krippendorff_alpha", "min_items": 5}],
    }
)
HOSTILE = "<script>alert(1)</script> **bold** [link](http://example.org)"
RATERS = ("ana", "<b>ben</b>", "cyd")


def rows():
    """Forty items that three raters label, and every fifth in dispute."""
    import pandas as pd

    return pd.DataFrame(
        [
            (f"i{item:02}", rater, label(item, place), f"text {item} {HOSTILE}")
            for item in range(40)
            for place, rater in enumerate(RATERS)
        ],
        columns=["item", "rater", "label", "text"],
    )


def label(item, place):
    usual = "<i>yes</i>" if item % 2 else "no"
    return {"no": "<i>yes</i>", "<i>yes</i>": "no"}[usual] if item % 5 == place else usual


@pytest.fixture(scope="module")
def judged():
    ratings = Ratings.from_frame(rows(), Scale(("no", "<i>yes</i>")))
    found = assess(ratings, POLICY, Contract.default())
    return JudgedRound("<u>project</u>", "week <1>", ratings, POLICY, found)


@pytest.fixture(scope="module")
def page(judged):
    return page_of_round(judged)


def test_text_from_the_data_stays_text(page):
    assert "<script>alert" not in page
    for tag in ("<b>ben", "<i>yes", "<u>project", "week <1>"):
        assert tag not in page
    assert "week &lt;1&gt;" in page


def test_a_page_names_nothing_outside_itself(page):
    assert not re.findall(r"(?:src|href)=\"(?!#)[^\"]*\"", page)
    assert not re.findall(r"url\(|@import|<link|<iframe|<object", page)
    assert "default-src 'none'" in page


def test_the_decision_and_its_reasons_stand_first(judged, page):
    first = page.index("Held: 1 verdict of rules that can hold a release fell short.")
    assert first < page.index("<table")
    assert judged.decision.reasons[0].replace("'", "&#39;") in page


def test_a_table_says_how_many_rows_it_leaves_out():
    found = grid("Items", ["item"], [[f"i{place}"] for place in range(45)], "items")
    assert (len(found.rows), found.left_out) == (40, "5 more items are not shown.")
    with pytest.raises(ValueError, match="at most 40 whole rows"):
        type(found)("Items", ("item",), ((Cell("i"),),) * 41)


@pytest.mark.parametrize("kind", ["intervals", "course", "matrix", "plane", "bars", "lines"])
def test_every_kind_of_figure_is_drawn_with_its_name_and_without_markup(kind):
    from xml.etree import ElementTree

    from agreement_pipeline.report.drawing import svg

    marks = (
        Mark("<b>one</b>", 0.5, 0.25, None, across=1.0, across_low=0.5),
        Mark("two", None),
        Mark("three", 0.75, 0.5, 1.0, across=2.0, tone="bad", cutoffs=(0.8,), crossed=True),
    )
    figure = Figure(kind, "A <i>title</i>", "What it says.", (Series("s", marks),))
    root = ElementTree.fromstring(svg(figure, "f"))
    assert [(each.get("id"), each.text) for each in root[:2]] == [
        ("f-title", "A <i>title</i>"),
        ("f-desc", "What it says."),
    ]
    assert root.get("aria-labelledby") == "f-title f-desc"
    assert "<b>" not in ElementTree.tostring(root, encoding="unicode")
