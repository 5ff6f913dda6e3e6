"""What an asset that trains a model asks for: the release of a round, or the reason for none."""

from typing import NamedTuple

import dagster as dg

from agreement_pipeline.errors import ProjectError
from agreement_pipeline.orchestration.host import rounds_of
from agreement_pipeline.orchestration.outcomes import or_fail
from agreement_pipeline.projects import Project
from agreement_pipeline.release import Release, release_dataset, release_round
from agreement_pipeline.report import admitted_rounds
from agreement_pipeline.text import listed

_HOSTED: dict[str, Project] = {}
"""The projects of this code location. Their settings come from reviewed files, not from a run."""


class _Asked(NamedTuple):
    """A project, and the round of a run, if it has one."""

    project: Project
    round_name: str | None


def host(project: Project) -> None:
    """Remember a project, so that `release_of` finds it by its name."""
    _HOSTED[project.name] = project


def release_of(context: dg.AssetExecutionContext, project: str | None = None) -> Release:
    """The release that an asset may train on. The asset is held if its round is held.

    The round is judged again from its stored bytes, by the policy of the project. So no report in
    Dagster's event log opens it.

    Parameters
    ----------
    context
        The context of an asset with `partitions_def=rounds_of(project)`. The release is that of
        the partition's round.
    project
        The project of an asset without partitions. The release holds all admitted rounds.

    Raises
    ------
    dagster.Failure
        The round is held, was never delivered, or its bytes were edited. The reason is given, and
        the asset is not tried again.
    """
    return or_fail(context, lambda: _released(_asked(context, project)))


def released_round(project: Project, round_name: str) -> Release:
    """The release of one round, judged again."""
    return release_round(
        project.store,
        round_name,
        project.policy,
        project.contract,
        project=project.name,
        waivers=project.waivers,
        settings_digest=project.settings.reading_digest,
        adjudicated=project.adjudicated([round_name]),
    )


def released_dataset(project: Project) -> Release:
    """The release of all admitted rounds together, each judged again."""
    rounds = admitted_rounds(project.store)
    return release_dataset(
        project.store,
        rounds,
        project.policy,
        project.contract,
        project=project.name,
        waivers=project.waivers,
        settings_digest=project.settings.reading_digest,
        adjudicated=project.adjudicated(rounds),
    )


def _released(asked: _Asked) -> Release:
    if asked.round_name is None:
        return released_dataset(asked.project)
    return released_round(asked.project, asked.round_name)


def _asked(context: dg.AssetExecutionContext, named: str | None) -> _Asked:
    """The project that is named, or the one whose rounds are the partitions of the asset."""
    where = f"release_of in {context.asset_key.to_user_string()}"
    partitions = context.assets_def.partitions_def
    name = getattr(partitions, "name", None)
    of_rounds = next((each for each in _HOSTED if rounds_of(each).name == name), None)
    found = named or of_rounds
    if found not in _HOSTED:
        raise ProjectError(
            f"{where}: found {'no project' if found is None else repr(found)}; expected one of the "
            f"projects of this code location, {listed(sorted(_HOSTED))}. "
            "Give the asset partitions_def=rounds_of(project), or name the project."
        )
    if partitions is not None and found != of_rounds:
        raise ProjectError(
            f"{where}: found partitions {name!r}; expected {rounds_of(found).name!r}, or none. "
            "Give the asset partitions_def=rounds_of(project)."
        )
    return _Asked(_HOSTED[found], None if partitions is None else context.partition_key)
