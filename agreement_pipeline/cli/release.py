from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from agreement_pipeline.cli.options import FILE, REFUSED_STATUS, command, output_option
from agreement_pipeline.cli.output import as_json, say
from agreement_pipeline.errors import ReleaseHeldError
from agreement_pipeline.report import printable
from agreement_pipeline.text import counted, joined

if TYPE_CHECKING:
    from agreement_pipeline.projects import Project
    from agreement_pipeline.release import Release


@command(
    "agreement-pipeline release configs/projects/moderation.yaml 2026-W01",
    "agreement-pipeline release configs/projects/moderation.yaml --format json",
)
@click.argument("project", type=FILE, help="A project's YAML file.")
@click.argument(
    "round_name",
    metavar="[ROUND]",
    required=False,
    help="A round in the inbox or in the store. By default, all admitted rounds together.",
)
@output_option
def release(project: Path, round_name: str | None, output: str) -> int:
    """Release the training data of a round, if the policy of its project admits it.

    This is what a run in Dagster does: the file in the inbox is checked and stored, the decision is
    recorded, and the training data are written to the store. If the round is held, what was
    released of it before is withdrawn.

    The exit status is 0 if there is a release, and its folder is printed. It is 1 if the round is
    held, and 2 if it could not be judged.
    """
    from agreement_pipeline.projects import Project, load_project

    opened = Project(load_project(project)).checked()
    n_withdrawals = len(opened.gold_withdrawals())
    try:
        if round_name is not None:
            opened.ingest(round_name)
        new_release = opened.release(round_name)
    except ReleaseHeldError as error:
        other_releases = _release_without_gold(opened, n_withdrawals)
        if output == "json":
            facts = {"released": False, "code": error.code, "why": str(error), **other_releases}
            say(as_json(facts))
        else:
            say(printable(f"held: {error}"))
            if round_name is not None:
                judge_command = f"agreement-pipeline judge {project} --of-round {round_name}"
                say(printable(f"  {judge_command} says what to do now"))
            _say_of_others(other_releases)
        return REFUSED_STATUS
    other_releases = _release_without_gold(opened, n_withdrawals)
    facts = {**_release_facts(new_release), **other_releases}
    if output == "json":
        say(as_json(facts))
    else:
        say("\n  ".join(map(printable, _facts_in_words(facts))))
        _say_of_others(other_releases)
    return 0


def _release_without_gold(project: "Project", n_withdrawals: int) -> dict[str, Any]:
    """What became of releases of other rounds that trained on gold items of this one. Nothing if
    there were none.
    """
    withdrawals = project.gold_withdrawals()[n_withdrawals:]
    if not withdrawals:
        return {}
    releases = project.release_without_gold()
    return {
        "withdrawn": [reason for entry in withdrawals for reason in entry["reasons"]],
        "released_anew": {
            name: str(release.path)
            for name, release in releases.items()
            if not isinstance(release, str)
        },
        "not_released_anew": {
            name: release for name, release in releases.items() if isinstance(release, str)
        },
    }


def _say_of_others(facts: Mapping[str, Any]) -> None:
    for reason in facts.get("withdrawn", ()):
        say(printable(f"withdrawn: {reason}"))
    for name, path in facts.get("released_anew", {}).items():
        say(printable(f"released anew: round {name}: {path}"))
    for name, message in facts.get("not_released_anew", {}).items():
        say(printable(f"not released anew: round {name}: {message}"))


def _release_facts(release: "Release") -> dict[str, Any]:
    labels = release.labels
    return {
        "released": True,
        "path": str(release.path),
        "project": release.project,
        "rounds": list(release.rounds),
        "training_rows": len(labels.rows_with_label),
        "without_label": int(labels.rows_without_label.sum()),
        "with_one_rating": int(
            (labels.is_resolved_as("single") | labels.is_resolved_as("one_rater")).sum()
        ),
        "trains": release.trains and release.trains.to_mapping(),
        "what_trains": list(release.what_trains),
        "tentative": release.tentative,
        "policy": release.policy.policy,
        "policy_version": release.policy.version,
        "policy_digest": release.policy.digest,
        "manifest_digest": release.manifest_digest,
    }


def _facts_in_words(facts: Mapping[str, Any]) -> Iterator[str]:
    yield f"released: {facts['path']}"
    left_out = facts["without_label"]
    unlabelled = f"; {counted(left_out, 'item')} without a label" if left_out else ""
    tentative = "; admitted as tentative" if facts["tentative"] else ""
    yield f"{counted(facts['training_rows'], 'training row')}{unlabelled}{tentative}"
    yield from facts["what_trains"]
    rounds = f"{'round' if len(facts['rounds']) == 1 else 'rounds'} {joined(facts['rounds'])}"
    yield f"{rounds}; policy {facts['policy']}, version {facts['policy_version']}"
