"""Projects in somebody else's code location: policies, keys, trainers, scaffolding."""

import re

import dagster as dg
import pytest
import yaml
from dagster.components.core.snapshot import get_package_entry_snap
from dagster.components.testing import create_defs_folder_sandbox
from dagster_shared.serdes.objects.package_entry import EnvRegistryKey

from agreement_pipeline import AllProjects, AnnotationProject, release_of, rounds_of
from agreement_pipeline.errors import PolicyError, ProjectError
from agreement_pipeline.orchestration import project_definitions
from agreement_pipeline.policy import BUNDLED, load_policy
from agreement_pipeline.projects import Project
from agreement_pipeline.release import Release
from tests.orchestration.checks import BAD, GOOD
from tests.orchestration.conftest import POLICY

pytestmark = pytest.mark.slow


@pytest.mark.parametrize("name", BUNDLED)
def test_a_project_may_name_a_bundled_policy_and_needs_no_file(line, name):
    settings = line.settings.model_copy(update={"policy": name})
    assert Project(settings).checked().policy == load_policy(BUNDLED[name])


def test_a_file_with_the_name_of_a_bundled_policy_may_not_decide_otherwise(line):
    """Else the bundled policy would stand in for the file on the day that the file is lost."""
    settings = line.settings.model_copy(update={"policy": "standard"})
    own = line.root / "configs/policies/standard.yaml"
    own.write_text(BUNDLED["standard"].read_text())
    assert Project(settings).checked().policy.policy == "standard"
    own.write_text(yaml.safe_dump({**POLICY, "policy": "standard"}))
    with pytest.raises(
        PolicyError,
        match=r"standard\.yaml: found a policy that decides otherwise than the bundled policy "
        "'standard'; expected another name",
    ):
        project_definitions(settings)


def moved(spec: dg.AssetSpec) -> dg.AssetSpec:
    return spec.replace_attributes(
        key=spec.key.with_prefix("labels"),
        group_name="annotation",
        owners=["team:nlp"],
        tags={**spec.tags, "tier": "gold"},
    )


def test_keys_groups_tags_and_owners_are_the_hosts_and_everything_still_runs(line):
    definitions = project_definitions(line.settings, moved)
    specs = definitions.resolve_all_asset_specs()
    assert {spec.key.path[0] for spec in specs} == {"labels"}
    assert {(spec.group_name, *spec.owners, spec.tags["tier"]) for spec in specs} == {
        ("annotation", "team:nlp", "gold")
    }
    job = definitions.resolve_job_def("reviews_round")
    line.instance.add_dynamic_partitions("reviews_rounds", ["w1"])
    for frame, success in ((GOOD, True), (BAD, False)):
        line.deliver("w1", frame)
        result = job.execute_in_process(
            instance=line.instance, partition_key="w1", raise_on_error=False
        )
        assert result.success == success
        assert {each.asset_key.path[0] for each in result.get_asset_check_evaluations()} == {
            "labels"
        }


def test_a_translation_may_not_change_what_an_asset_does(line):
    with pytest.raises(ProjectError, match="translation: found automation_condition; expected"):
        project_definitions(
            line.settings,
            lambda spec: spec.replace_attributes(
                automation_condition=dg.AutomationCondition.eager()
            ),
        )


@pytest.mark.filterwarnings("ignore::dagster.BetaWarning")  # of Dagster's loader of components
@pytest.mark.parametrize(
    ("step", "words"),
    [
        (
            {
                "attributes": {
                    "group_name": "labels",
                    "owners": ["team:nlp"],
                    "metadata": {"a": "b"},
                }
            },
            None,
        ),
        ({"attributes": {"automation_condition": "{{ dg.AutomationCondition.eager() }}"}}, None),
        ({"attributes": {"deps": ["other"]}}, "found deps; expected only group_name"),
        (
            {"target": "key:*", "attributes": {"kinds": ["table"], "skippable": True}},
            "post_processing of 'key:\\*': found skippable; expected",
        ),
        ({"attributes": {"code_version": "1"}}, "found code_version; expected"),
        (
            {"attributes": {"partitions_def": {"type": "daily", "start_date": "2026-01-01"}}},
            "found partitions_def; expected",
        ),
        (
            {"operation": "replace", "attributes": {"metadata": {"a": "b"}}},
            "found operation: replace for metadata; expected merge",
        ),
    ],
)
def test_post_processing_works_or_is_refused(line, step, words):
    content = {
        "type": "agreement_pipeline.AnnotationProject",
        "attributes": {
            "project": "reviews",
            "inbox": "inbox",
            "scale": {"categories": ["good", "bad"]},
            "policy": "strict",
            "root": str(line.root),
        },
        "post_processing": {"assets": [{"target": "*", **step}]},
    }
    with create_defs_folder_sandbox() as sandbox:
        path = sandbox.scaffold_component(
            component_cls=AnnotationProject, defs_yaml_contents=content
        )
        if words is not None:
            with (
                pytest.raises(Exception, match="AnnotationProject") as raised,
                sandbox.load_component_and_build_defs(defs_path=path),
            ):
                pass
            assert isinstance(raised.value.__cause__, ProjectError)
            assert re.search(words, str(raised.value.__cause__))
            return
        with sandbox.load_component_and_build_defs(defs_path=path) as (_, definitions):
            (spec,) = (
                spec
                for spec in definitions.resolve_all_asset_specs()
                if spec.key == dg.AssetKey(["reviews", "training_data"])
            )
    for name, value in step["attributes"].items():
        if name == "automation_condition":
            assert spec.automation_condition is not None
        elif name == "metadata":
            assert {**spec.metadata, **value} == spec.metadata
            assert spec.metadata["agreement_pipeline/project"] == "reviews"
        else:
            assert getattr(spec, name) == value


TRANSLATED = """
project: reviews
inbox: inbox
scale: {categories: [good, bad]}
policy: standard
translation:
  key: "labels/{{ project }}/{{ spec.key.path[-1] }}"
  group_name: annotation
  owners: ["team:nlp"]
  tags: {tier: gold}
"""


@pytest.mark.filterwarnings("ignore::dagster.BetaWarning")
def test_a_component_says_its_translation_in_yaml(tmp_path):
    (tmp_path / "inbox").mkdir()
    found = AnnotationProject.resolve_from_yaml(f"{TRANSLATED}root: {tmp_path}")
    specs = dg.build_defs_for_component(found).resolve_all_asset_specs()
    assert dg.AssetKey(["labels", "reviews", "training_data"]) in {spec.key for spec in specs}
    assert {(spec.group_name, *spec.owners, spec.tags["tier"]) for spec in specs} == {
        ("annotation", "team:nlp", "gold")
    }


@pytest.mark.parametrize("component", [AnnotationProject, AllProjects])
def test_component_and_its_fields_are_described_for_the_docs_of_dg(component):
    properties = component.model().model_json_schema()["properties"]
    texts = [field.get("description") for field in properties.values()]
    assert all(texts)
    assert len({*texts}) == len(texts)
    snapshot = get_package_entry_snap(
        EnvRegistryKey("agreement_pipeline", component.__name__), component
    )
    assert snapshot.summary.endswith(".")
    assert "----" not in snapshot.description
    assert snapshot.tags == ["annotation", "data-quality"]


def trainer(trained: list[Release], **more: object) -> dg.AssetsDefinition:
    @dg.asset(**more)
    def model(context: dg.AssetExecutionContext) -> None:
        trained.append(release_of(context))

    return model


OF_ROUNDS = {
    "partitions_def": rounds_of("reviews"),
    "deps": [dg.AssetKey(["reviews", "training_data"])],
}


def trained_on(line, frame, **more: object) -> tuple[dg.ExecuteInProcessResult, list[Release]]:
    line.deliver("w1", frame)
    line.decide("w1")
    trained: list[Release] = []
    return train(
        line, trainer(trained, **more), "w1" if "partitions_def" in more else None
    ), trained


def train(
    line, model: dg.AssetsDefinition, round_name: str | None = None
) -> dg.ExecuteInProcessResult:
    """Run an asset of a code location that has the project too."""
    own = dg.Definitions(assets=[model], jobs=[dg.define_asset_job("train", selection=[model])])
    job = dg.Definitions.merge(own, line.definitions).resolve_job_def("train")
    return job.execute_in_process(
        instance=line.instance, partition_key=round_name, raise_on_error=False
    )


def said(result: dg.ExecuteInProcessResult) -> str:
    failed = next(event for event in result.all_events if event.is_step_failure)
    return failed.event_specific_data.user_failure_data.description


def test_a_trainer_gets_the_release_of_its_round(line):
    result, trained = trained_on(line, GOOD, **OF_ROUNDS)
    assert result.success
    assert (trained[0].rounds, trained[0].path.parent.name) == (("w1",), "w1")


def test_a_trainer_is_held_when_its_round_is_though_its_release_was_there_before(line):
    trained_on(line, GOOD, **OF_ROUNDS)
    result, trained = trained_on(line, BAD, **OF_ROUNDS)
    assert (result.success, trained) == (False, [])
    assert said(result).startswith("round w1: held, since krippendorff_alpha 0.")


def test_a_forged_materialization_opens_nothing_for_a_trainer(line):
    trained_on(line, BAD, **OF_ROUNDS)
    line.instance.report_runless_asset_event(
        dg.AssetMaterialization(dg.AssetKey(["reviews", "training_data"]), partition="w1")
    )
    result, trained = trained_on(line, BAD, **OF_ROUNDS)
    assert (result.success, trained) == (False, [])


def test_a_trainer_of_an_unknown_project_is_told_which_there_are(line):
    result, trained = trained_on(line, GOOD, deps=OF_ROUNDS["deps"])
    assert trained == []
    assert said(result).startswith("release_of in model: found no project; expected one of the ")
    assert "['reviews']" in said(result)


def test_a_trainer_of_other_partitions_is_told_whose_it_needs(line):
    @dg.asset(partitions_def=dg.StaticPartitionsDefinition(["w1"]), deps=OF_ROUNDS["deps"])
    def model(context: dg.AssetExecutionContext) -> None:
        release_of(context, "reviews")

    assert said(train(line, model, "w1")).startswith(
        "release_of in model: found partitions without a name; expected 'reviews_rounds', or none."
    )


def test_a_trainer_of_several_assets_gets_the_release_of_its_round(line):
    line.deliver("w1", GOOD)
    line.decide("w1")
    trained: list[Release] = []
    specs = [dg.AssetSpec(name, **OF_ROUNDS) for name in ("model", "card")]

    @dg.multi_asset(specs=specs)
    def model(context: dg.AssetExecutionContext):
        trained.append(release_of(context))
        yield from (dg.MaterializeResult(asset_key=each.key) for each in specs)

    assert train(line, model, "w1").success
    assert trained[0].rounds == ("w1",)


def test_a_trainer_without_partitions_gets_all_admitted_rounds(line):
    line.deliver("w2", BAD)
    line.decide("w2")
    line.deliver("w1", GOOD)
    line.decide("w1")

    @dg.asset(deps=[dg.AssetKey(["reviews", "release"])])
    def model(context: dg.AssetExecutionContext) -> None:
        assert release_of(context, "reviews").rounds == ("w1",)

    assert train(line, model).success
