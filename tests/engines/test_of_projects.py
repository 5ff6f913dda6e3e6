"""A project that names an engine reads its rounds by it, and decides as any other."""

import json

import pandas as pd
import pytest
from agreement_pipeline.engines import opening
from pydantic import ValidationError

from agreement_pipeline.errors import ProjectError, RatingsError
from agreement_pipeline.projects import Project, ProjectSettings
from agreement_pipeline.projects import project as projects
from agreement_pipeline.projects.files import load_project
from agreement_pipeline.release import judge_round
from tests.engines.sources import Made, met_again, ratings_of

LABELS = ("no", "maybe", "yes")
SAID = ratings_of(items=90, labels=LABELS).assign(
    cluster=lambda frame: frame["item"].str[:3],
    confidence=lambda frame: [None if at % 7 == 0 else at % 11 / 10 for at in range(len(frame))],
    timestamp=lambda frame: [f"2026-09-01T12:{at % 60:02}:00Z" for at in range(len(frame))],
    text=lambda frame: "said of " + frame["item"],
)
ROUNDS = {
    "parquet": Made(SAID),
    "csv": Made(met_again(SAID, LABELS), "csv"),
    "jsonl": Made(SAID, "jsonl"),
}
OF_ENGINE = ["duckdb", pytest.param("spark", marks=pytest.mark.slow)]
"""The engines that are no memory."""


@pytest.fixture
def project(tmp_path):
    """A project with a store of its own for each engine."""

    def made(**settings):
        (tmp_path / "inbox").mkdir(exist_ok=True)
        said = {
            "project": "p",
            "inbox": "inbox",
            "policy": "standard",
            "scale": {"categories": LABELS},
            "classifiers": ("r3",),
            "root": str(tmp_path),
            "store": f"store-{settings.get('engine', 'auto')}",
        }
        return Project(ProjectSettings(**{**said, **settings}))

    return made


def decided(project, name):
    """What becomes of a round: the decision on it, and the digests of what is kept."""
    version = project.keep(*project.delivered(name))
    decision, _ = judge_round(
        project.store,
        name,
        project.policy,
        project.contract,
        settings_digest=project.settings.reading_digest,
    )
    return decision.to_mapping(), version


@pytest.mark.parametrize("form", ROUNDS)
@pytest.mark.parametrize("engine", ["memory", *OF_ENGINE])
def test_decisions_and_digests_are_equal_on_all_engines(
    request, project, monkeypatch, engine, form
):
    if engine == "spark":
        request.getfixturevalue("spark")
        if form == "jsonl":
            pytest.skip("Spark reads no JSON Lines here")
    usual, named = project(), project(engine=engine)
    ROUNDS[form].written(usual.inbox)
    expected = decided(usual, "ratings")
    if engine != "memory":
        monkeypatch.setattr(projects, "read", None)
    assert decided(named, "ratings") == expected
    assert named.due() == ()


@pytest.mark.parametrize("engine", OF_ENGINE)
def test_a_round_of_a_file_with_several_and_a_folder_of_files_are_read_alike(
    request, project, engine
):
    if engine == "spark":
        request.getfixturevalue("spark")
    weeks = [SAID.assign(week=week).drop(columns="confidence") for week in ("w1", "w2")]
    for settings in ({"columns": {"round": "week"}, "inbox": "inbox/all.csv"}, {}):
        usual, named = project(**settings), project(engine=engine, **settings)
        if settings:
            pd.concat(weeks).to_csv(usual.inbox, index=False)
        else:
            (usual.inbox / "all.csv").unlink()
            (usual.inbox / "w2").mkdir()
            for part in (0, 1):
                half = weeks[1][part::2].drop(columns=["week", "text"])
                half.to_csv(usual.inbox / f"w2/{part}.csv", index=False)
        assert named.delivered("w2")[1].digest == usual.delivered("w2")[1].digest


def test_the_limit_of_the_memory_is_that_of_the_engine(project, monkeypatch):
    asked = []
    session = opening.duckdb_session
    monkeypatch.setattr(
        opening, "duckdb_session", lambda limit: asked.append(limit) or session(limit)
    )
    found = project(engine="duckdb", memory_limit="300MB")
    Made(SAID).written(found.inbox)
    found.delivered("ratings")
    assert asked == ["300MB"]


@pytest.mark.parametrize(
    ("settings", "words"),
    [
        ({"strata": ["lang"]}, "found strata for the engine duckdb; expected a plain table"),
        ({"columns": {"gold_label": "right"}}, "found right labels of gold items for the engine"),
        ({"columns": {"assisted": "hint"}}, "found assisted labels for the engine duckdb"),
        ({"columns": {"models": {"m": "said"}}}, "found rules or models for the engine duckdb"),
        ({"where": {"status": ["done"]}}, "found rules or models for the engine duckdb"),
        ({"units": {"kind": "spans"}}, "found rules or models for the engine duckdb"),
        ({"all_rounds": True}, "found all_rounds for the engine duckdb"),
        ({"layout": "wide"}, "found the layout wide for the engine duckdb; expected a plain"),
        ({"engine": "polars"}, "'auto', 'memory', 'duckdb' or 'spark'"),
        ({"memory_limit": "much"}, "found 'much'; expected a size such as 500MB or 4GB"),
        ({"engine": "auto", "memory_limit": "1GB"}, "found memory_limit for the engine auto"),
        ({"engine": "spark", "memory_limit": "1GB"}, "found memory_limit for the engine spark"),
    ],
)
def test_what_the_engine_can_never_read_is_refused_before_a_round_comes(project, settings, words):
    with pytest.raises(ValidationError, match=words):
        project(**{"engine": "duckdb", **settings})


def test_a_project_file_that_asks_too_much_of_an_engine_is_refused_with_its_name(tmp_path):
    path = tmp_path / "configs/projects/p.yaml"
    path.parent.mkdir(parents=True)
    path.write_text(
        "project: p\ninbox: i\nscale: {categories: [a, b]}\npolicy: standard\n"
        "engine: spark\nstrata: [lang]\n"
    )
    with pytest.raises(ProjectError, match=r"p\.yaml:1: found strata for the engine spark"):
        load_project(path)


def test_the_export_of_a_tool_is_refused_when_it_comes(project):
    found = project(engine="duckdb")
    task = {"id": 1, "data": {"text": "x"}, "annotations": []}
    (found.inbox / "w1.json").write_text(json.dumps([task]))
    with pytest.raises(RatingsError, match="found the export of a tool for the engine duckdb"):
        found.delivered("w1")


def test_a_file_that_the_engine_would_pass_over_is_refused(project):
    found = project(engine="duckdb")
    (found.inbox / "w1").mkdir()
    SAID.to_csv(found.inbox / "w1/a.csv", index=False)
    SAID.assign(item="other").to_csv(found.inbox / "w1/b.txt", index=False)
    with pytest.raises(RatingsError, match=r"w1: found file 'b\.txt' beside the tables that the"):
        found.delivered("w1")


def test_more_ratings_than_the_limit_are_refused(project):
    found = project(engine="duckdb", limits={"rows": 100})
    Made(SAID).written(found.inbox)
    with pytest.raises(RatingsError, match=r"ratings\.parquet: found \d+ ratings or more; expec"):
        found.delivered("ratings")


def test_a_round_is_not_read_again_because_another_engine_is_named(project):
    usual, named = project(), project(engine="duckdb", memory_limit="1GB")
    assert named.settings.reading_digest == usual.settings.reading_digest
    assert named.judged_by != usual.judged_by
