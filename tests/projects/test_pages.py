"""The page of a round says what the gate says, also of what only the store knows."""

from datetime import UTC, datetime

import pandas as pd
import pytest

from agreement_pipeline.projects import Project, load_project, round_page
from agreement_pipeline.release import judge_round

SETTINGS = """
project: demo
inbox: inbox
scale: {{categories: ["no", "yes"]}}
policy: {policy}
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
