"""The first files of a project are one that runs, or say what to fill in."""

from dataclasses import replace
from shutil import copy, copytree

import pytest

from agreement_pipeline.errors import RatingsError
from agreement_pipeline.estimates import measure_ratings
from agreement_pipeline.intervals import Inference
from agreement_pipeline.policy import assess
from agreement_pipeline.projects import Project, draft_project_files, load_projects
from tests.readers.drawings import (
    argilla_spans,
    coco_boxes,
    conll_spans,
    cvat_boxes,
    doccano_spans,
    inception_spans,
    label_studio_spans,
    pascal_voc_boxes,
    prodigy_spans,
)
from tests.readers.exports_of_tools import CASES

pytestmark = pytest.mark.slow

RUNS = [name for name in CASES if not name.startswith("label_studio_") or "enterprise" in name]


def started(name, root):
    """The projects that the first files of an export make."""
    source = CASES[name].file
    inbox = root / "inbox"
    inbox.mkdir()
    if source.is_dir():
        copytree(source, inbox / "round-1")
    else:
        copy(source, inbox)
    files = draft_project_files(next(inbox.iterdir()), "reviews", "inbox")
    for path, text in files.items():
        place = root / "configs" / path
        place.parent.mkdir(parents=True, exist_ok=True)
        place.write_text(text)
    return [Project(each).checked() for each in load_projects(root / "configs" / "projects")]


@pytest.mark.parametrize("name", RUNS)
def test_an_export_gives_projects_that_run_unedited(name, tmp_path):
    projects = started(name, tmp_path)
    asked = {"ground_truth": 1, "prodigy": 1, "doccano": 1}.get(name, len(CASES[name].questions))
    assert len(projects) >= min(asked, 1)
    for project in projects:
        round_name = list(project.look().deliveries)[-1]
        delivery, ratings = project.delivered(round_name)
        assert project.keep(delivery, ratings).ratings_digest == ratings.digest
        policy = replace(project.policy, n_resamples=1000)
        assert assess(ratings, policy, project.contract).decision.reasons


@pytest.mark.parametrize("name", ["label_studio", "label_studio_enterprise", "argilla", "mturk"])
def test_a_project_of_init_gives_the_rounds_own_alpha(name, tmp_path):
    (project,) = (each for each in started(name, tmp_path) if each.name.endswith("sentiment"))
    _, ratings = project.delivered("2026-09")
    few = Inference(n_resamples=1000)
    (found,) = measure_ratings(ratings, ["krippendorff_alpha"], few, scopes=("round",))
    assert round(found.value, 4) == 0.5


def test_a_round_with_repetitions_is_preceded_by_the_round_before(tmp_path):
    (project,) = (
        each for each in started("label_studio", tmp_path) if each.name.endswith("sentiment")
    )
    project.keep(*project.delivered("2026-09"))
    _, ratings = project.delivered("2026-10")
    people = ratings.to_pandas()[ratings.to_pandas()["rater"].isin(ratings.raters)]
    assert people["earlier"].sum() == 5
    assert set(people["item"]) == {"doc-002", "doc-004"}


def test_one_question_is_one_project(tmp_path):
    names = [each.name for each in started("label_studio", tmp_path)]
    assert names == [f"reviews_{each}" for each in ("quality", "sentiment", "severity", "topics")]


def test_what_an_export_cannot_show_is_said_and_asked_for(tmp_path):
    (project, *_) = started("label_studio_csv", tmp_path)
    text = (tmp_path / "configs" / "projects" / f"{project.name}.yaml").read_text()
    for lacking in ("gold", "reviews"):
        assert f"# FILL IN `requires`: Label Studio CSV or JSON_MIN cannot show {lacking}." in text
    with pytest.raises(RatingsError, match=r"cannot show \['gold', 'reviews'\]"):
        project.delivered("2026-09")


def test_a_table_gives_a_project_too(tmp_path):
    path = tmp_path / "inbox.csv"
    path.write_text("post_id,annotator,category\n1,ana,yes\n1,ben,no\n")
    files = draft_project_files(path, "posts", "inbox")
    assert 'columns: {item: "post_id", rater: "annotator", label: "category"}' in "".join(
        files.values()
    )


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("item,rater,label\ni1,ana\n", "posts.csv: row 2: found 2 cells; expected 3"),
        ("item,rater,label,label\ni1,ana,a\n", "posts.csv: row 1: found column 'label' twice"),
    ],
)
def test_a_table_whose_first_row_is_broken_gives_no_project_and_says_why(text, words, tmp_path):
    (tmp_path / "posts.csv").write_text(text)
    with pytest.raises(RatingsError, match=f"^{words}"):
        draft_project_files(tmp_path / "posts.csv", "posts", "inbox")


@pytest.mark.parametrize(
    ("export", "labels"),
    [
        (label_studio_spans, ("none", "ORG", "PER")),
        (prodigy_spans, ("none", "ORG", "PER")),
        (doccano_spans, ("none", "ORG", "PER")),
        (argilla_spans, ("none", "ORG", "PER")),
        (coco_boxes, ("none", "cat", "dog")),
        (cvat_boxes, ("none", "cat", "dog")),
        (pascal_voc_boxes, ("none", "cat", "dog")),
        (conll_spans, ("none", "ORG", "PER")),
        (inception_spans, ("none", "ORG", "PER")),
    ],
)
def test_an_export_of_objects_gives_a_project_of_units(export, labels, tmp_path):
    source = export(tmp_path / "source")
    (tmp_path / "inbox").mkdir()
    if source.is_dir():
        copytree(source, tmp_path / "inbox" / "round-1")
    else:
        copy(source, tmp_path / "inbox" / f"round-1{source.suffix}")
    delivered = next((tmp_path / "inbox").iterdir())
    for path, text in draft_project_files(delivered, "people", "inbox").items():
        place = tmp_path / "configs" / path
        place.parent.mkdir(parents=True, exist_ok=True)
        place.write_text(text)
    (said,) = load_projects(tmp_path / "configs" / "projects")
    assert said.units.kind == ("spans" if "PER" in labels else "boxes")
    assert said.scale.names == labels
    _, ratings = Project(said).delivered("round-1")
    assert ratings.raters == ("ana", "ben")


@pytest.mark.parametrize("layout", ["long", "wide"])
def test_a_name_that_looks_like_a_model_is_asked_about(tmp_path, layout):
    rows = ["item,rater,label"]
    said = {}
    for item in range(9):
        rows += [f"i{item},{rater},yes" for rater in ("ana", "ben", "gpt-4o")]
    if layout == "wide":
        rows = ["item,ana,ben,gpt-4o", *(f"i{item},yes,no,yes" for item in range(9))]
        said = {"layout": "wide", "columns": {"raters": ["ana", "ben", "gpt-4o"]}}
    (tmp_path / "w1.csv").write_text("\n".join(rows) + "\n")
    question = 'Please check: Is gpt-4o a model? Then write classifiers: ["gpt-4o"].'
    asked = draft_project_files(tmp_path / "w1.csv", "reviews", "inbox", said)
    assert question in asked["projects/reviews.yaml"]
    known = draft_project_files(
        tmp_path / "w1.csv", "reviews", "inbox", {**said, "classifiers": ["gpt-4o"]}
    )
    assert "is gpt-4o a model" not in known["projects/reviews.yaml"]


def test_exports_that_repeat_each_other_are_asked_about(tmp_path):
    inbox = tmp_path / "data/reviews"
    inbox.mkdir(parents=True)
    rows = [f"i{item},{rater},{'ny'[item % 2]}" for item in range(40) for rater in "ab"]
    for name, n_items in (("w2", 20), ("w10", 30)):
        (inbox / f"{name}.csv").write_text("\n".join(["item,rater,label", *rows[: 2 * n_items]]))
    text = draft_project_files(inbox / "w10.csv", "reviews", "data/reviews/w10.csv")[
        "projects/reviews.yaml"
    ]
    assert "# Please check: w10.csv repeats 20 of the 20 items of w2.csv. " in text
    assert "`deliveries: cumulative`" in text
    assert 'inbox: "data/reviews"' in text
    (inbox / "w10.csv").write_text("\n".join(["item,rater,label", *rows[40:]]))
    alone = draft_project_files(inbox / "w10.csv", "reviews", "data/reviews/w10.csv")
    assert "w10.csv repeats" not in alone["projects/reviews.yaml"]
    assert 'inbox: "data/reviews/w10.csv"' in alone["projects/reviews.yaml"]
