"""A project that names an engine reads its rounds by it, and decides as any other."""

import json

import pandas as pd
import pytest
from pydantic import ValidationError

from agreement_pipeline.engine import duckdb_session
from agreement_pipeline.errors import ProjectError, RatingsError
from agreement_pipeline.projects import Project, ProjectSettings, load_project
from agreement_pipeline.readers import Columns, Rules, read
from agreement_pipeline.release import judge_round
from agreement_pipeline.units import UnitSettings
from tests.counting.tables import Made, met_again, ratings_of
from tests.readers.drawings import label_studio_spans

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
DUCKDB = {"engine": "duckdb", "memory_limit": "300MB"}
SPARK = {"engine": "spark"}
"""How a project names its engine."""


def on(*duckdb, spark):
    """The cases of a test on DuckDB, and the one for which Spark goes another way.

    `test_same_everywhere` and `test_exports` compare all other sources in Spark.
    """
    cases = [pytest.param(DUCKDB, each, id=f"duckdb-{each}") for each in duckdb]
    return [*cases, pytest.param(SPARK, spark, id=f"spark-{spark}", marks=pytest.mark.slow)]


@pytest.fixture
def engine(request):
    """What a project says of its engine."""
    if request.param["engine"] == "spark":
        request.getfixturevalue("spark")
    return request.param


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
    judged, _ = judge_round(
        project.store,
        name,
        project.policy,
        project.contract,
        settings_digest=project.settings.reading_digest,
    )
    return judged.decision.to_mapping(), version


@pytest.mark.parametrize(("engine", "form"), on(*ROUNDS, spark="parquet"), indirect=["engine"])
def test_decisions_and_digests_are_equal_on_all_engines(project, engine, form):
    usual, named = project(), project(**engine)
    ROUNDS[form].source(usual.inbox)
    expected = decided(usual, "ratings")
    assert decided(named, "ratings") == expected
    assert named.due() == ()


@pytest.mark.parametrize(
    "engine", [DUCKDB, pytest.param(SPARK, marks=pytest.mark.slow)], indirect=True
)
def test_a_round_of_a_file_with_several_and_a_folder_of_files_are_read_alike(project, engine):
    weeks = [SAID.assign(week=week).drop(columns="confidence") for week in ("w1", "w2")]
    for settings in ({"columns": {"round": "week"}, "inbox": "inbox/all.csv"}, {}):
        usual, named = project(**settings), project(**engine, **settings)
        if settings:
            pd.concat(weeks).to_csv(usual.inbox, index=False)
        else:
            (usual.inbox / "all.csv").unlink()
            (usual.inbox / "w2").mkdir()
            for part in (0, 1):
                half = weeks[1][part::2].drop(columns=["week", "text"])
                half.to_csv(usual.inbox / f"w2/{part}.csv", index=False)
        assert named.delivered("w2")[1].digest == usual.delivered("w2")[1].digest


TOLD = {
    "strata and right labels": (
        {"strata": ["lang"], "columns": {"gold": "known", "gold_label": "right"}},
        {},
    ),
    "assisted labels, models and rules": (
        {
            "columns": {"assisted": "hint", "models": {"m": "guess"}},
            "where": {"status": ["done"]},
            "exclude_raters": ["r0"],
        },
        {},
    ),
    "replicates": ({"replicate_of": "repeats"}, {}),
    "all rounds": ({"all_rounds": True}, {"round": lambda frame: frame["item"].str[2]}),
}


ALONE = {
    "strata": {"strata": ["lang"]},
    "right labels": {"columns": {"gold": "known", "gold_label": "right"}},
    "assisted labels": {"columns": {"assisted": "hint"}},
    "models": {"columns": {"models": {"m": "guess"}}},
    "where": {"where": {"status": ["done"]}},
    "raters": {"exclude_raters": ["r0"]},
    "replicates": {"replicate_of": "repeats"},
}


def told_frame(**more):
    """Ratings with all columns that settings name."""
    number = SAID["item"].str[1:].astype(int)
    known = number % 10 == 0
    return SAID.drop(columns="text").assign(
        lang=(number % 3).map({0: "de", 1: "en", 2: "fr"}),
        known=known,
        right=known.map({True: "yes", False: None}),
        hint=[at % 4 == 0 for at in range(len(SAID))],
        guess=(number % 2).map({0: "no", 1: "yes"}),
        status=[("draft", "done")[number % 7 > 0] for number in number],
        repeats=[f"i{at - 45:03}" if at >= 45 else None for at in number],
        **more,
    )


@pytest.mark.parametrize("name", ALONE)
def test_each_setting_by_itself_changes_what_is_read(project, name):
    frame = told_frame().drop(columns="cluster" if name == "replicates" else "repeats")
    frame.to_csv(project().inbox / "w1.csv", index=False)
    without, found = (project(**each).delivered("w1")[1] for each in ({}, ALONE[name]))
    assert found.digest != without.digest


def test_only_a_project_that_says_so_reads_all_rounds_of_a_file_as_one(project):
    told_frame(**TOLD["all rounds"][1]).to_csv(project().inbox / "w1.csv", index=False)
    with pytest.raises(RatingsError, match="found 9 rounds"):
        project().delivered("w1")
    assert project(all_rounds=True).delivered("w1")[1].n_items == 90


@pytest.mark.parametrize(
    ("engine", "name"),
    on(*TOLD, spark="assisted labels, models and rules"),
    indirect=["engine"],
)
def test_what_a_project_says_of_its_rounds_is_read_alike(project, engine, name):
    settings, more = TOLD[name]
    frame = told_frame(**more)
    frame = frame.drop(columns="cluster" if name == "replicates" else "repeats")
    usual, named = project(**settings), project(**engine, **settings)
    frame.to_csv(usual.inbox / "w1.csv", index=False)
    expected, found = usual.delivered("w1")[1], named.delivered("w1")[1]
    assert found.engine == engine["engine"]
    assert found.digest == expected.digest
    assert found.origin == expected.origin
    if name != "all rounds":
        assert expected.digest != project(store="bare").delivered("w1")[1].digest


@pytest.mark.parametrize("engine", [DUCKDB], indirect=True)
def test_a_wide_table_is_read_alike(project, engine):
    settings = {"layout": "wide", "classifiers": (), "columns": {"raters": ["r0", "r1", "r2"]}}
    usual, named = project(**settings), project(**engine, **settings)
    SAID.pivot(index="item", columns="rater", values="label").to_csv(usual.inbox / "w1.csv")
    expected, found = usual.delivered("w1")[1], named.delivered("w1")[1]
    assert (found.engine, found.digest) == (engine["engine"], expected.digest)


@pytest.mark.parametrize("engine", [DUCKDB], indirect=True)
def test_the_export_of_a_tool_is_read_alike(project, engine):
    settings = {"classifiers": (), "requires": []}
    usual, named = project(**settings), project(**engine, **settings)
    results = [
        {"type": "choices", "from_name": "said", "to_name": "text", "value": {"choices": [label]}}
        for label in LABELS
    ]
    tasks = [
        {
            "id": number,
            "data": {"text": f"text {number}"},
            "annotations": [
                {"id": 10 * number + at, "completed_by": at, "result": [results[(number + at) % 3]]}
                for at in range(1, 4)
            ],
        }
        for number in range(1, 9)
    ]
    (usual.inbox / "w1.json").write_text(json.dumps(tasks))
    expected, found = usual.delivered("w1")[1], named.delivered("w1")[1]
    assert (found.engine, found.digest) == (engine["engine"], expected.digest)
    assert len(found) == 24


@pytest.mark.parametrize(
    ("engine", "rule"), on("positions", "matched", spark="matched"), indirect=["engine"]
)
def test_units_are_put_where_the_project_says(tmp_path, engine, rule):
    path = label_studio_spans(tmp_path)
    rules = Rules(units=UnitSettings("spans", rule=rule), requires=())
    usual, named = (read(path, Columns(item="name"), rules=rules, **said) for said in ({}, engine))
    assert (named.engine, named.digest) == (engine["engine"], usual.digest)
    if engine["engine"] == "duckdb":
        assert named.session is duckdb_session("300MB")


def test_the_limit_of_the_memory_is_that_of_the_engine(project):
    found = project(memory_limit="300MB")
    Made(SAID).source(found.inbox)
    assert found.delivered("ratings")[1].session is duckdb_session("300MB")


@pytest.mark.parametrize(
    ("settings", "words"),
    [
        ({"engine": "polars"}, "'auto', 'duckdb' or 'spark'"),
        ({"engine": "memory"}, "'auto', 'duckdb' or 'spark'"),
        ({"memory_limit": "much"}, "found 'much'; expected a size such as 500MB or 4GB"),
        ({"engine": "spark", "memory_limit": "1GB"}, "found memory_limit for the engine spark"),
    ],
)
def test_an_engine_that_there_is_not_is_refused_before_a_round_comes(project, settings, words):
    with pytest.raises(ValidationError, match=words):
        project(**settings)


def test_a_project_file_that_asks_too_much_of_an_engine_is_refused_with_its_name(tmp_path):
    path = tmp_path / "configs/projects/p.yaml"
    path.parent.mkdir(parents=True)
    path.write_text(
        "project: p\ninbox: i\nscale: {categories: [a, b]}\npolicy: standard\n"
        "engine: spark\nmemory_limit: 1GB\n"
    )
    with pytest.raises(ProjectError, match=r"p\.yaml:1: found memory_limit for the engine spark"):
        load_project(path)


def test_more_ratings_than_the_limit_are_refused(project):
    found = project(limits={"rows": 100})
    Made(SAID).source(found.inbox)
    with pytest.raises(
        RatingsError, match=r"ratings\.parquet: found \d+ rows; expected at most 100"
    ):
        found.delivered("ratings")


def test_a_round_is_not_read_again_because_another_engine_is_named(project):
    usual, named = project(), project(engine="duckdb", memory_limit="1GB")
    assert named.settings.reading_digest == usual.settings.reading_digest
    assert named.judged_by != usual.judged_by
