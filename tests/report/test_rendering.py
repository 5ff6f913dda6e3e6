"""What is shown of a judged round was computed when it was judged: showing it computes nothing."""

import sys
from contextlib import contextmanager
from pathlib import Path

import pytest

import agreement_pipeline
from agreement_pipeline.cli.judge import summary_as_markdown, summary_lines
from agreement_pipeline.estimates import ShownRaters, survey
from agreement_pipeline.evidence import (
    RoundBefore,
    details,
    disputed,
    judge_page,
    patterns,
    since,
    summarize,
)
from agreement_pipeline.orchestration.checks import policy_results
from agreement_pipeline.orchestration.metadata import decision_metadata, rendered
from agreement_pipeline.policy import judge
from agreement_pipeline.projects import Notice
from agreement_pipeline.ratings import Ratings, Scale
from agreement_pipeline.report import render_html, render_text
from tests.report.pages import CATEGORIES, POLICY, rows

PACKAGE = Path(agreement_pipeline.__file__).parent
COMPUTING = ("engine", "ratings", "statistics", "counting", "measures", "intervals", "estimates")
QUESTIONS = ("inter-rater", "intra-rater", "classifier")


@pytest.fixture(scope="module")
def ratings():
    """A round with strata, replicates and a model, which is held for disagreement."""
    frame = rows()
    languages = frame["item"].map(lambda item: "de" if int(item[1:]) % 3 else "en")
    frame = frame.assign(**{"stratum:language": languages})
    return Ratings.from_frame(frame, Scale(CATEGORIES), classifiers=["model"])


@pytest.fixture(scope="module")
def before():
    frame = rows(24)
    return Ratings.from_frame(frame, Scale(CATEGORIES), classifiers=["model"])


@contextmanager
def computing(found):
    """The functions of rooms that compute, which run meanwhile."""

    def note(frame, event, _):
        path = frame.f_code.co_filename
        if event == "call" and path.startswith(f"{PACKAGE}/"):
            room = Path(path).relative_to(PACKAGE).parts[0]
            if room in COMPUTING and frame.f_code.co_name != "<module>":
                found.add(f"{room}: {frame.f_code.co_qualname}")

    sys.setprofile(note)
    try:
        yield
    finally:
        sys.setprofile(None)


def test_the_profile_sees_what_computes(ratings):
    found = set()
    with computing(found):
        judge(ratings, POLICY)
    assert {each.split(":")[0] for each in found} >= {"counting", "measures", "estimates"}


def test_the_pages_of_a_round_compute_nothing_while_they_are_rendered(ratings, before):
    page = judge_page(ratings, POLICY, project="p", name="w2", before=RoundBefore("w1", before))
    assert {"Since the round before", "Labels", "Raters", "Items", "Strata", "Models"} <= {
        title for title, _ in page.parts
    }
    found = set()
    with computing(found):
        html, text = render_html(page), render_text(page)
    assert found == set()
    assert "What to do now" in html
    assert "What to do now" in text


def test_the_ui_the_terminal_and_an_alert_compute_nothing_of_a_summary(ratings):
    summary = summarize(ratings, POLICY, judge(ratings, POLICY), "p", "w2")
    notice = Notice("p", "w2", "held", summary.decision.reasons, "", who=summary.who_differs)
    found = set()
    with computing(found):
        metadata = decision_metadata(summary, {})
        checks = [*policy_results(summary)]
        lines = [*summary_lines(summary, ())]
        markdown = summary_as_markdown(summary, "w2.csv", ())
        told, _ = (notice.body(form) for form in ("plain", "slack"))
    assert found == set()
    assert metadata["decision"] == "held"
    assert [check.passed for check in checks][:1] == [False]
    assert lines[0] == "held"
    assert markdown.startswith("### held: w2.csv")
    assert summary.who_differs in told["text"]


@pytest.mark.parametrize("question", QUESTIONS)
def test_the_assets_of_agreement_compute_nothing_while_they_are_rendered(ratings, question):
    shown = ShownRaters.choose(ratings)
    measures = {
        "inter-rater": ["krippendorff_alpha"],
        "intra-rater": ["self_agreement_unbiased"],
        "classifier": ["schouten_kappa"],
    }
    estimates = survey(
        ratings, measures[question], POLICY.inference, scopes=("round", "rater"), shown=shown
    )
    section = details(question, ratings, POLICY, estimates, shown)
    found = set()
    with computing(found):
        metadata = rendered(section)
    assert found == set()
    assert "estimates" in metadata


def test_the_tables_of_items_compute_nothing_while_they_are_rendered(ratings, before):
    sections = (
        disputed(ratings),
        patterns(ratings),
        since(ratings, "w2", RoundBefore("w1", before), POLICY),
    )
    found = set()
    with computing(found):
        metadata = [rendered(section) for section in sections]
    assert found == set()
    assert "most_disputed" in metadata[0]
    assert "most_common" in metadata[1]
    assert {"since_last_round", "drift"} <= {*metadata[2]}
