"""The page of a round says what the gate says, also of what only the store knows."""

import re
from datetime import UTC, datetime
from html import unescape

import pandas as pd
import pytest

from agreement_pipeline.evidence import PSEUDONYMS, round_table
from agreement_pipeline.evidence.page import NUMBERED
from agreement_pipeline.projects import Project, load_project, project_page, round_page
from agreement_pipeline.release import judge_round
from agreement_pipeline.store import Store

SETTINGS = """
project: demo
inbox: inbox
scale: {{categories: ["no", "yes"]}}
policy: {policy}
deliveries: independent
"""
LOOKED = """
policy: looked
version: 1
most_versions: 1
n_resamples: 1000
rules: [{measure: krippendorff_alpha}]
"""
N = 90


def rows(differ=()):
    """Three raters who agree on all items, but for the last one on some."""
    return pd.DataFrame(
        [
            (f"i{at}", rater, ("no", "yes")[(at + (rater == "chi" and at in differ)) % 2])
            for at in range(N)
            for rater in ("ana", "ben", "chi")
        ],
        columns=["item", "rater", "label"],
    )


@pytest.fixture
def project(tmp_path):
    (tmp_path / "configs/policies").mkdir(parents=True)
    (tmp_path / "configs/policies/looked.yaml").write_text(LOOKED)
    (tmp_path / "inbox").mkdir()

    def made(policy="standard", more=""):
        file = tmp_path / "configs/projects/demo.yaml"
        file.parent.mkdir(exist_ok=True)
        file.write_text(SETTINGS.format(policy=policy) + more)
        return Project(load_project(file))

    return made


def delivered(project, table):
    table.to_csv(project.inbox / "w1.csv", index=False)
    project.keep(*project.delivered("w1"))


def judged(project):
    """The reason codes of the gate, and the page."""
    by = project.policy, project.contract
    found, _ = judge_round(project.store, "w1", *by, **project.judged_under)
    on = datetime.now(UTC).date()
    return found.decision.codes, round_page(project, "w1", on=on, names=True)


def test_a_page_says_held_where_labels_were_given_again(project):
    delivered(project(), rows(differ=range(20)))
    delivered(project(), rows())
    codes, page = judged(project())
    assert codes == ("labels_given_again",)
    assert "No: held" in page
    assert "20 of 270 labels were changed" in page


def test_a_page_says_held_where_settings_or_deliveries_hold(project):
    delivered(project(), rows(differ=(0,)))
    assert "Yes: admitted" in judged(project())[1]
    codes, page = judged(project(more="exclude_raters: [dora]"))
    assert (codes, "No: held" in page) == (("read_otherwise",), True)
    delivered(project(), rows(differ=(1,)))
    codes, page = judged(project())
    assert (codes, "Yes: admitted" in page) == ((), True)
    codes, page = judged(project("looked"))
    assert (codes, "No: held" in page) == (("too_many_versions",), True)


def test_the_page_of_a_project_names_parts_of_raters_by_pseudonyms(project, tmp_path):
    rules = "[{measure: schouten_kappa, scope: rater}, {measure: cohen_kappa, scope: pair}]"
    looked = LOOKED.replace("[{measure: krippendorff_alpha}]", rules)
    (tmp_path / "configs/policies/looked.yaml").write_text(looked)
    found = project("looked")
    delivered(found, rows(differ=range(30)))
    judge_round(found.store, "w1", **found.terms)
    hidden, shown = project_page(found), project_page(found, names=True)
    for part in ("rater chi", "pair ana and chi"):
        assert part in shown
        assert part not in hidden
    assert "Cohen's κ of pair rater-" in unescape(hidden)
    assert "chi" not in re.findall(r"\w+", hidden)
    assert PSEUDONYMS in hidden
    assert PSEUDONYMS not in shown


def test_no_round_that_a_page_of_many_shows_has_names_of_raters(project, monkeypatch):
    """Names have numbers: w10 comes after w9, and not after w1."""
    found = project("looked")
    delivered(found, rows(differ=range(30)))
    assert PSEUDONYMS not in project_page(found)
    judge_round(found.store, "w1", **found.terms)
    ratings, one = found.store.ratings("w1"), round_table(found.store)
    monkeypatch.setattr(Store, "ratings", lambda *_: ratings)
    of_chi = one.assign(scope="rater chi", reason="rater chi differs")
    rounds = [of_chi.assign(round=f"w{n}") for n in range(1, 46)]
    page = project_page(found, rounds=pd.concat(rounds, ignore_index=True))
    assert "chi" not in re.findall(r"\w+", page)
    assert "w10" in page


def test_a_page_of_a_round_says_that_its_raters_have_pseudonyms(project):
    found, on = project(), datetime.now(UTC).date()
    delivered(found, rows(differ=(0,)))
    assert PSEUDONYMS in unescape(round_page(found, "w1", on=on))
    shown = unescape(round_page(found, "w1", on=on, names=True))
    assert PSEUDONYMS not in shown
    assert NUMBERED not in shown
