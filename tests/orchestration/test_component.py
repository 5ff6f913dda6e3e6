import re
from pathlib import Path
from types import SimpleNamespace

import dagster as dg
import pytest
import yaml
from pydantic import ValidationError

from agreement_pipeline import AnnotationProject
from agreement_pipeline.errors import PolicyError, ProjectError
from agreement_pipeline.orchestration import project_definitions
from agreement_pipeline.projects import ProjectSettings, load_project
from agreement_pipeline.ratings import Scale, Trains
from agreement_pipeline.readers import Columns, Limits, PredictionsFile, Rules
from agreement_pipeline.release import Publication
from agreement_pipeline.units import UnitSettings

PROJECT = """project: reviews
inbox: inbox
scale:
  level: nominal
  categories: [good, bad]
policy: strict
"""
POLICY = """policy: strict
version: 1
rules:
  - measure: krippendorff_alpha
    reliable: 0.8
"""


@pytest.fixture
def root(tmp_path: Path) -> Path:
    for name, text in (("projects/reviews.yaml", PROJECT), ("policies/strict.yaml", POLICY)):
        path = tmp_path / "configs" / name
        path.parent.mkdir(parents=True)
        path.write_text(text)
    (tmp_path / "inbox").mkdir()
    return tmp_path


def keys(definitions: dg.Definitions) -> set[dg.AssetKey]:
    return {spec.key for spec in definitions.resolve_all_asset_specs()}


def test_every_step_of_a_project_is_in_its_pool(root):
    definitions = project_definitions(load_project(root / "configs/projects/reviews.yaml"))
    steps = [each.op for each in definitions.resolve_asset_graph().assets_defs if each.keys]
    assert {step.name for step in steps} == {
        "reviews__round",
        "reviews__agreement_history",
        "reviews__release",
        "reviews__reassessment",
    }
    assert {step.pool for step in steps} == {"reviews_rounds"}


def test_yaml_python_and_component_give_the_same_definitions(root):
    from_yaml = project_definitions(load_project(root / "configs/projects/reviews.yaml"))
    settings = {
        "project": "reviews",
        "inbox": "inbox",
        "scale": {"categories": ["good", "bad"]},
        "policy": "strict",
        "root": str(root),
    }
    from_python = dg.build_defs_for_component(AnnotationProject(**settings))

    assert keys(from_yaml) == keys(from_python)
    assert dg.AssetKey(["reviews", "training_data"]) in keys(from_yaml)


@pytest.mark.filterwarnings(
    "ignore::dagster.BetaWarning"
)  # raised by Dagster's own loader of components
def test_the_component_loads_from_a_defs_folder(root):
    from dagster.components.testing import create_defs_folder_sandbox

    attributes = {
        "project": "reviews",
        "inbox": "inbox",
        "scale": {"categories": ["good", "bad"]},
        "policy": "strict",
        "root": str(root),
    }
    with create_defs_folder_sandbox() as sandbox:
        path = sandbox.scaffold_component(
            component_cls=AnnotationProject,
            defs_yaml_contents={
                "type": "agreement_pipeline.AnnotationProject",
                "attributes": attributes,
            },
        )
        with sandbox.load_component_and_build_defs(defs_path=path) as (_, definitions):
            assert dg.AssetKey(["reviews", "acceptability"]) in keys(definitions)


EVERY_KEY = """
project: reviews
description: Reviews
inbox: "{{ context.project_root }}/inbox"
scale: {level: ordinal, categories: [1, 2, "{{ 'three' }}"]}
layout: wide
columns: {item: post, raters: ["{{ 'ana' }}", ben]}
classifiers: ["{{ 'gpt' }}"]
optional_classifiers: [claude]
reader: table
where: {status: ["{{ 'done' }}"]}
exclude_raters: [gold]
replicate_of: null
replicates_share: text
rejected: left out
duplicates: last
requires: [times]
all_rounds: true
strata: ["{{ 'language' }}"]
keep: ["{{ 'source' }}"]
missing: ["{{ 'n/a' }}"]
same_label: [["{{ 'yes' }}", "1"]]
same_rater: [["{{ 'Ana' }}", ana]]
different_raters: [[Bo, bo]]
units: null
replicates: across
rounds: null
predictions: {"mistral": {file: "{round}.csv", item: "{{ 'post' }}"}}
deliveries: cumulative
policy: "{{ 'strict' }}"
contract: null
store: store
schedule: "{{ '0 7 * * 2' }}"
overdue_after_days: "{{ 3 }}"
settle_seconds: 1
alerts_url_from: REVIEWS_WEBHOOK
alerts_form: slack
heartbeat_url_from: REVIEWS_HEARTBEAT
automation: stopped
release: by_hand
dataset: {license: "{{ 'CC-BY-4.0' }}", cite_as: "Posts, 2026"}
adjudicated: adjudicated
pages: pages
pages_url: https://pages.example/toxicity
images: images
populations: populations
draw: "{{ 80 }}"
owners: [team:nlp]
limits: {rows: "{{ 9 }}"}
engine: "{{ 'duckdb' }}"
memory_limit: null
trains: "{{ 'median' }}"
root: .
"""


def test_every_key_of_a_project_is_resolved_from_yaml_with_templates():
    scope = {"context": SimpleNamespace(project_root="/here")}
    found = AnnotationProject.resolve_from_yaml(EVERY_KEY, scope=scope)

    # a project that is certified has one classifier, and none that may be absent
    alone = {"certified_by", "rounds_from", "adjudicate_in"}
    assert set(yaml.safe_load(EVERY_KEY)) == set(ProjectSettings.model_fields) - alone
    assert found.inbox == "/here/inbox"
    assert found.scale == Scale(("1", "2", "three"), "ordinal")
    assert found.columns == Columns(item="post", raters=("ana", "ben"))
    assert found.limits == Limits(rows=9)
    assert found.units is None
    assert (found.classifiers, found.owners) == (("gpt",), ("team:nlp",))
    assert found.rules == Rules(
        reader="table",
        where={"status": ("done",)},
        exclude_raters=("gold",),
        replicates_share="text",
        rejected="left out",
        duplicates="last",
        requires=("times",),
        all_rounds=True,
        strata=("language",),
        keep=("source",),
        missing=("n/a",),
        same_label=(("yes", "1"),),
        same_rater=(("Ana", "ana"),),
        different_raters=(("Bo", "bo"),),
        predictions={"mistral": PredictionsFile("{round}.csv", item="post")},
    )
    assert (found.schedule, found.overdue_after_days) == ("0 7 * * 2", 3)
    assert (found.engine, found.memory_limit) == ("duckdb", None)
    assert (found.release, found.automation) == ("by_hand", "stopped")
    assert found.dataset == Publication("CC-BY-4.0", "Posts, 2026")
    assert found.trains == Trains("median")


def test_units_of_a_project_are_resolved_from_yaml():
    text = "{project: p, inbox: i, scale: {categories: [none, DOSE]}, policy: standard, units: %s}"
    found = AnnotationProject.resolve_from_yaml(text % "{kind: spans, step: '{{ 2 }}'}")
    assert found.units == UnitSettings(kind="spans", step=2)


@pytest.mark.parametrize(
    ("wrong", "words"),
    [
        (EVERY_KEY.replace("[1, 2,", "[yes, no,"), "Input should be a valid string"),
        (EVERY_KEY.replace("item: post", "itme: post"), "Unexpected keyword argument"),
        (EVERY_KEY.replace("inbox:", "inbxo:"), "inbxo"),
        (EVERY_KEY.replace('"{{ 9 }}"', "0"), "found 0; expected a whole number from 1"),
        (EVERY_KEY.replace('"{{ 9 }}"', "true"), "found True; expected a whole number from 1"),
        (EVERY_KEY.replace("0 7 * * 2", "weekly"), "expected a cron expression of five fields"),
    ],
)
def test_a_mistake_in_the_yaml_of_a_component_is_refused(wrong, words):
    scope = {"context": SimpleNamespace(project_root="/here")}
    with pytest.raises(ValidationError, match=words):
        AnnotationProject.resolve_from_yaml(wrong, scope=scope)


NUMBERS = """
project: p
inbox: inbox
scale: {categories: ["250.10", "1e3", "0x1F", "None"]}
policy: standard
columns: {raters: ["1", "2"]}
layout: wide
classifiers: ["12"]
optional_classifiers: ["1_3"]
exclude_raters: ["True"]
strata: ["2024"]
where: {version: ["1.10"]}
"""


def test_texts_that_look_like_numbers_are_texts_as_they_are_in_a_project_s_file():
    """Dagster reads them as numbers and so on, also those without a template."""
    found = AnnotationProject.resolve_from_yaml(NUMBERS)
    assert found.scale.categories == ("250.10", "1e3", "0x1F", "None")
    assert found.columns.raters == ("1", "2")
    assert (found.classifiers, found.optional_classifiers) == (("12",), ("1_3",))
    assert (found.exclude_raters, found.strata) == (("True",), ("2024",))
    assert found.where == {"version": ("1.10",)}


@pytest.mark.parametrize(
    ("settings", "file", "words"),
    [
        ({"store": "inbox/kept"}, None, "store: found 'inbox/kept' inside the inbox 'inbox'"),
        ({"store": "./other/../inbox"}, None, "found './other/../inbox' inside the inbox"),
        ({}, "waivers/w1.yml", r"w1\.yml'\], which nothing reads"),
        ({}, "waivers/more/w1.yaml", r"w1\.yaml'\], which nothing reads"),
    ],
)
def test_a_component_is_refused_what_a_project_s_file_is_refused(root, settings, file, words):
    said = {"project": "reviews", "inbox": "inbox", "policy": "strict", "root": str(root)}
    if file is not None:
        (root / "configs" / file).parent.mkdir(parents=True)
        (root / "configs" / file).write_text("project: reviews")
    project = AnnotationProject(**said, scale={"categories": ["good", "bad"]}, **settings)
    with pytest.raises(ProjectError, match=words):
        dg.build_defs_for_component(project)


@pytest.mark.parametrize(
    "wrong",
    ["0 6 31 13 *", "0 6 31 4,6 *", "0 6 30 feb *", "60 6 * * 1", "0 6 * * 8", "0 x * * 1"],
)
def test_a_schedule_without_a_next_time_stops_the_definitions(root, wrong):
    path = root / "configs/projects/reviews.yaml"
    path.write_text(PROJECT + f"schedule: '{wrong}'\n")

    with pytest.raises(ProjectError, match=r"reviews: schedule: found '.*for a day that exists"):
        project_definitions(load_project(path))


@pytest.mark.parametrize(
    "schedule", ["0 6 29 2 *", "0 6 L * *", "*/15 8-18 * jan,JUL mon-fri", "0 22-2 1 * ?", "@daily"]
)
def test_a_schedule_that_dagster_takes_is_taken(root, schedule):
    path = root / "configs/projects/reviews.yaml"
    path.write_text(PROJECT + f"schedule: '{schedule}'\n")

    definitions = project_definitions(load_project(path))
    assert definitions.resolve_schedule_def("reviews_schedule").cron_schedule == schedule


@pytest.mark.parametrize(
    ("wrong", "line"),
    [
        (PROJECT.replace("inbox:", "inbxo:"), 2),
        (PROJECT.replace("  level:", "  levl:"), 4),
        (PROJECT.replace("level: nominal", "level: nomial"), 4),
        (PROJECT.replace("[good, bad]", "[yes, no]"), 5),
        (PROJECT.replace("[good, bad]", "[good]"), 3),
        (PROJECT.replace("[good, bad]", "[good, bad, good]"), 3),
        (PROJECT + "limits: {rows: 0}\n", 7),
        (PROJECT + "policy: other\n", 7),
        (PROJECT + "description: [unclosed\n", 8),
        (PROJECT + "description: &a x\nowners: [*a]\n", 7),
        (PROJECT + 'description: "{{ env.HOME }}"\n', 7),
        (PROJECT.replace("inbox: inbox", "inbox: \"{{ ''.__class__ }}\""), 2),
        (PROJECT + 'columns:\n  item: "{% if true %}"\n', 8),
        (PROJECT + "columns:\n  raters: ana\n", 8),
        (PROJECT + "schedule: weekly\n", 7),
        (PROJECT + "schedule: 0 6 * *\n", 7),
        (PROJECT + "schedule: '@reboot'\n", 7),
        (PROJECT + "overdue_after_days: 0\n", 7),
        (PROJECT + f"overdue_after_days: {10**20}\n", 7),
        (PROJECT + "settle_seconds: .nan\n", 7),
        (PROJECT + "settle_seconds: -1\n", 7),
        (PROJECT + "owners: [Dana]\n", 7),
        (PROJECT + 'store: "a\\0b"\n', 7),
        (PROJECT + f"store: {'x' * 201}\n", 7),
        (PROJECT + "contract: ../../elsewhere\n", 7),
        (PROJECT + "engine: polars\n", 7),
        (PROJECT + "memory_limit: much\n", 7),
        (PROJECT.replace("policy: strict", "policy: /etc/policy"), 6),
    ],
)
def test_a_mistake_in_a_project_file_is_named_with_its_line(root, wrong, line):
    path = root / "configs/projects/reviews.yaml"
    path.write_text(wrong)

    with pytest.raises(ProjectError, match=rf"reviews\.yaml:{line}"):
        load_project(path)


@pytest.mark.parametrize(
    ("wrong", "line", "words"),
    [
        (POLICY.replace("reliable:", "relable:"), 5, "unknown key"),
        (
            POLICY.replace("krippendorff_alpha", "kripendorff_alpha"),
            4,
            "did you mean 'krippendorff_alpha'",
        ),
        (POLICY.replace("0.8", "1.5"), 5, r"rules\[0\].reliable: found 1.5; expected 0.667 to 1"),
        (POLICY.replace("0.8", "0.5"), 5, r"rules\[0\].reliable: found 0.5; expected 0.667 to 1"),
        (POLICY.replace("version:", "verison:"), 2, "unknown key"),
    ],
)
def test_a_mistake_in_a_policy_stops_the_definitions_with_file_and_line(root, wrong, line, words):
    (root / "configs/policies/strict.yaml").write_text(wrong)

    with pytest.raises(PolicyError, match=rf"(?i)strict\.yaml:{line}.*{words}"):
        project_definitions(load_project(root / "configs/projects/reviews.yaml"))


@pytest.mark.parametrize(
    ("key", "line", "there", "wrong"),
    [
        ("policy", 6, ["other", "strict"], PROJECT.replace("policy: strict", "policy: strcit")),
        ("contract", 7, ["posts"], PROJECT + "contract: strcit\n"),
    ],
)
def test_a_policy_or_contract_that_is_not_there_is_named_with_the_project_s_line_and_those_that_are(
    root, key, line, there, wrong
):
    (root / "configs/policies/other.yaml").write_text(POLICY)
    (root / "configs/contracts/posts").mkdir(parents=True)
    path = root / "configs/projects/reviews.yaml"
    path.write_text(wrong)

    expected = rf"{key}: found 'strcit'; expected (none, or )?one of {re.escape(str(there))}"
    with pytest.raises(
        ProjectError, match=rf"configs/projects/reviews\.yaml:{line}: {expected}, those in "
    ):
        load_project(path)
    settings = {
        "project": "reviews",
        "inbox": "inbox",
        "scale": {"categories": ["good", "bad"]},
        "policy": "strict",
        "root": str(root),
        key: "strcit",
    }
    with pytest.raises(
        ProjectError,
        match=rf"project reviews: {expected}",
    ):
        project_definitions(ProjectSettings(**settings))


def test_nothing_in_a_project_file_is_evaluated(root):
    """Dagster evaluates templates in a component's file. A project's file is only data."""
    path, trace = root / "configs/projects/reviews.yaml", root / "evaluated"
    path.write_text(
        f"{PROJECT}description: \"{{{{ cycler.__init__.__globals__.os.mkdir('{trace}') }}}}\"\n"
    )

    with pytest.raises(
        ProjectError, match=r"reviews\.yaml:7: found a template; expected the value itself"
    ):
        load_project(path)
    assert not trace.exists()


def test_a_project_name_that_could_be_a_path_is_refused(root):
    path = root / "configs/projects/reviews.yaml"
    path.write_text(PROJECT.replace("project: reviews", "project: ../reviews"))

    with pytest.raises(ProjectError, match="lower case letter"):
        load_project(path)


def test_the_component_is_found_by_its_entry_point():
    from importlib.metadata import entry_points

    assert [
        point.value
        for point in entry_points(
            group="dagster_dg_cli.registry_modules", name="agreement_pipeline"
        )
    ] == ["agreement_pipeline"]


def test_rounds_and_bounds_are_read_from_yaml():
    text = (
        "{project: p, inbox: i.csv, scale: {categories: [a, b]}, policy: standard, "
        "rounds: {column: created, every: week}, where: {created: {from: '2026-11-02'}, who: [x]}}"
    )
    found = AnnotationProject.resolve_from_yaml(text)
    assert (found.rounds.column, found.rounds.every) == ("created", "week")
    assert found.where == {"created": {"from": "2026-11-02"}, "who": ("x",)}
