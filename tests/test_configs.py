"""The bundled projects, policies and rounds."""

from pathlib import Path

import pytest

from agreement_pipeline.counting import RatingsCounting
from agreement_pipeline.errors import ProjectError
from agreement_pipeline.estimates import estimate
from agreement_pipeline.intervals import Inference
from agreement_pipeline.measures import MEASURES
from agreement_pipeline.policy import load_policy
from agreement_pipeline.projects import load_project
from agreement_pipeline.readers import read

CONFIGS = Path(__file__).parents[1] / "configs"
POLICIES = sorted((CONFIGS / "policies").glob("*.yaml"))
PROJECTS = sorted((CONFIGS / "projects").glob("*.yaml"))


@pytest.fixture(scope="module")
def serology():
    """Williams' 28 specimens, read as their project file says."""
    project = load_project(CONFIGS / "projects" / "serology.yaml")
    return read(
        CONFIGS.parent / project.inbox / "williams-1976.csv",
        project.columns,
        layout=project.layout,
        scale=project.scale,
        classifiers=project.classifiers,
    )


def test_four_policies_and_four_projects_are_bundled():
    assert [path.stem for path in POLICIES] == ["moderation", "objects", "serology", "standard"]
    assert [path.stem for path in PROJECTS] == ["cells", "entities", "moderation", "serology"]


@pytest.mark.parametrize("path", POLICIES, ids=lambda path: path.stem)
def test_a_policy_is_named_after_its_file_and_says_why(path):
    policy = load_policy(path)
    assert policy.policy == path.stem
    assert policy.admit == ("reliable",)
    assert len(policy.description) > 100
    assert {(rule.reliable, rule.tentative) for rule in policy.rules if rule.effect == "hold"} == {
        (0.800, 0.667)
    }


@pytest.mark.parametrize("path", PROJECTS, ids=lambda path: path.stem)
def test_a_project_is_short_named_after_its_file_and_judged_by_a_bundled_policy(path):
    assert len(path.read_text().splitlines()) < 15
    project = load_project(path)
    assert project.project == path.stem
    assert (CONFIGS / "policies" / f"{project.policy}.yaml") in POLICIES


def test_a_misspelt_column_of_a_project_is_refused(tmp_path):
    path = tmp_path / "moderation.yaml"
    text = (CONFIGS / "projects" / "moderation.yaml").read_text()
    path.write_text(text.replace("rater: rater", "rather: annotator"))
    with pytest.raises(
        ProjectError,
        match=r"moderation.yaml:8: rather: found an unknown key; .*Did you mean 'rater'\?",
    ):
        load_project(path)


def test_the_serology_round_has_the_specimens_and_laboratories_of_the_table(serology):
    assert len(serology) == 28 * 4
    assert serology.raters == ("Ref-1", "Ref-2", "Ref-3")
    assert serology.classifiers == ("T",)
    by_hand = {"T": (16, 8, 4), "Ref-1": (16, 3, 9), "Ref-2": (12, 2, 14), "Ref-3": (12, 4, 12)}
    counts = serology.to_pandas().groupby(["rater", "label"], observed=True).size().unstack()
    assert {
        rater: tuple(int(counts.loc[rater, label]) for label in ("RE", "BL", "NR"))
        for rater in by_hand
    } == by_hand


@pytest.mark.parametrize(
    ("measure", "value"),
    [
        ("shah_kappa_s", 0.67908),
        ("fleiss_kappa", 0.67614),
        ("shah_s", 0.63576),
        ("vanbelle_albert_kappa", 0.55128),
    ],
)
def test_the_serology_round_gives_the_figures_that_follow_from_the_papers_definitions(
    serology, measure, value
):
    statistics = {
        "patterns": RatingsCounting().labels,
        "counts": RatingsCounting().counts,
        "panel": lambda ratings: RatingsCounting().labels(ratings, ("T",)).with_rater_apart("T"),
    }
    found = MEASURES[measure](statistics[MEASURES[measure].needs](serology))
    assert float(found.value) == pytest.approx(value, abs=5e-6)


def test_the_serology_round_is_too_small_to_be_admitted(serology):
    holding = load_policy(CONFIGS / "policies" / "serology.yaml").rules[0]
    (verdict,) = holding.judge(
        [estimate("shah_kappa_s", RatingsCounting().labels(serology), Inference(n_resamples=2000))]
    )
    assert verdict.kind == "inconclusive"
