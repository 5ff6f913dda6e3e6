"""Releases as the values of assets: what trains loads them, and each is verified as it is loaded.

No file is read by its path. The lock judges the rounds again from their stored bytes and compares
the files of the release with what it derives. So nothing is loaded that was edited or forged.
"""

from collections.abc import Callable, Iterable, Mapping
from typing import Any, NamedTuple

import dagster as dg
import pyarrow as pa
import pyarrow.compute as pc

from agreement_pipeline.errors import ProjectError, ReleaseHeldError
from agreement_pipeline.orchestration.compat import definitions_around
from agreement_pipeline.orchestration.host import PROJECT, Host, rounds_of
from agreement_pipeline.orchestration.runs import begin_step, run_or_fail
from agreement_pipeline.projects import Project
from agreement_pipeline.ratings import Trains, arrow_to_pandas
from agreement_pipeline.release import Release
from agreement_pipeline.store import of_event
from agreement_pipeline.text import counted, joined, listed

Convert = Callable[[pa.Table], Any]


class LoadingRun(NamedTuple):
    """The run in which a value is loaded."""

    instance: dg.DagsterInstance
    run: dg.DagsterRun


class ReleaseIOManager(dg.IOManager):
    """Loads `training_data` and `release` of a project: as a DataFrame of pandas or Polars, as a
    table of Arrow or as a `Release`, whichever the input is annotated with.

    Several partitions load as one table, whose column `round` tells them apart. Rounds that are
    held, and items that rounds settle with different categories, are left out and counted in the
    log of the run.
    """

    def __init__(self, host: Host) -> None:
        self.host = host

    def handle_output(self, context: dg.OutputContext, obj: object) -> None:
        raise ProjectError(
            f"{context.asset_key.to_user_string()}: found a value of type {type(obj).__name__}; "
            "expected none, since only the lock of the project writes training data."
        )

    def load_input(self, context: dg.InputContext) -> Any:
        run, of_round = _find_loading_run(context), _only_round_of(context)
        if run is None:
            return self._load(context, of_round)
        run_or_fail(run, lambda: begin_step(run, self.host.project.store))
        to_decision = self.host.to_decision(of_round)
        return run_or_fail(run, lambda: self._load(context, of_round), to_decision)

    def _load(self, context: dg.InputContext, of_round: str | None) -> Any:
        requested_type, project = _find_type(context), self.host.project
        is_joint = context.asset_key == self.host.key("release")
        if is_joint or of_round is not None:
            release = _release_and_warn(project, None if is_joint else of_round, context.log)
            return (
                release
                if requested_type is Release
                else CONVERT[requested_type](release.train_arrow)
            )
        if requested_type is Release:
            raise ProjectError(
                f"{context.asset_key.to_user_string()}: found several rounds for one Release; "
                f"expected a table. Or load {self.host.key('release').to_user_string()}, the "
                "release of all admitted rounds together."
            )
        return CONVERT[requested_type](self._load_rounds(context))

    def _load_rounds(self, context: dg.InputContext) -> pa.Table:
        project, releases, left_out = self.host.project, list[Release](), dict[str, str]()
        stored_rounds = project.store.rounds()
        requested_rounds = (
            list(context.asset_partition_keys) if context.has_asset_partitions else stored_rounds
        )
        for name in requested_rounds:
            if name not in stored_rounds:
                left_out[name] = "no such round was delivered"
                continue
            try:
                releases.append(_release_and_warn(project, name, context.log))
            except ReleaseHeldError as error:
                left_out[name] = str(error)
        if not releases:
            raise ReleaseHeldError(
                f"{context.asset_key.to_user_string()}: found no admitted round among "
                f"{listed(requested_rounds)}; expected at least one. {' '.join(left_out.values())}"
            )
        log = context.log.warning if left_out else context.log.info
        words = f"{counted(len(releases), 'round')} loaded, {len(left_out)} left out"
        # Dagster takes no metadata of an input that has several partitions.
        log("; ".join([words, *(f"{name}: {reason}" for name, reason in left_out.items())]))
        tables = [release.train_arrow for release in releases]
        rows = pa.concat_tables(tables, promote_options="permissive")
        in_conflict = find_items_in_conflict(rows, project.settings.trains)
        if not in_conflict:
            return rows
        together = self.host.key("release").to_user_string()
        problem = (
            f"{context.asset_key.to_user_string()}: found "
            f"{counted(len(in_conflict), 'item')} with different labels in different rounds "
            f"({listed(in_conflict)})"
        )
        if project.policy.items_in_conflict == "refuse":
            raise ReleaseHeldError(
                f"{problem}; expected one label of each item. Adjudicate these items, or set "
                "items_in_conflict: unresolved in the policy."
            )
        kept_rows = rows.filter(pc.invert(pc.is_in(rows["id"], pa.array(in_conflict))))
        if not kept_rows.num_rows:
            raise ReleaseHeldError(f"{problem}; expected some with one label. Adjudicate them.")
        context.log.warning(f"{problem}. Their rows are left out, as {together} leaves them out.")
        return kept_rows


def find_items_in_conflict(rows: pa.Table, trains: Trains | None) -> list[str]:
    """The items that rounds settle with different categories. Numbers and shares are pooled.

    The place of a category may be another one on the scale of another round, so names are compared.
    """
    if "label_id" not in rows.column_names or (trains is not None and trains.label == "shares"):
        return []
    labels = rows.select(["id", "label"]).group_by("id").aggregate([("label", "count_distinct")])
    differs = pc.greater(labels["label_count_distinct"], 1)
    return sorted(labels["id"].filter(differs).to_pylist())


def _release_and_warn(
    project: Project, round_name: str | None, log: dg.DagsterLogManager
) -> Release:
    """The release of a round, or of all admitted ones. The log tells if it is a new one beside
    others.

    The lock refuses a release with other files than it derives. But beside one whose manifest says
    that it rests on something else it writes a new one, as after a change of the policy.
    """
    name = round_name or f"{project.name}.dataset"
    released_before = [
        entry["release"] for entry in of_event("released", project.store.history(name))
    ]
    release = project.release(round_name)
    release_name = f"{name}/{release.path.name}"
    if released_before and release_name not in released_before:
        log.warning(
            f"{release_name}: released as it was loaded, beside "
            f"{listed(dict.fromkeys(released_before))}. If nothing that decides "
            "was changed since, that one was edited: agreement-pipeline verify tells."
        )
    return release


def _to_polars(table: pa.Table) -> Any:
    import polars  # only where an asset asks for its tables

    return polars.from_arrow(table)


CONVERT: Mapping[object, Convert] = {
    "pandas.DataFrame": arrow_to_pandas,
    "polars.DataFrame": _to_polars,
    "polars.LazyFrame": lambda table: _to_polars(table).lazy(),
    "pyarrow.Table": lambda table: table,
}
"""From the training rows to the type that an input is annotated with."""


def _find_type(context: dg.InputContext) -> object:
    """`Release`, or a key of `CONVERT`. An input without an annotation is a DataFrame of pandas."""
    annotated = context.dagster_type.typing_type
    if annotated is Any:
        return "pandas.DataFrame"
    if annotated is Release:
        return Release
    package = getattr(annotated, "__module__", "").partition(".")[0]
    name = f"{package}.{getattr(annotated, '__name__', annotated)}"
    if name not in CONVERT:
        raise ProjectError(
            f"{context.asset_key.to_user_string()}: found an input of type {name}; expected one "
            f"of {listed([*CONVERT, 'agreement_pipeline.release.Release'])}. Annotate it so."
        )
    return name


def _only_round_of(context: dg.InputContext) -> str | None:
    """The round that the run itself is of. None if the input has several, or has none."""
    if not context.has_partition_key:
        return None
    partition = context.partition_key
    if context.has_asset_partitions and list(context.asset_partition_keys) != [partition]:
        return None
    return partition


def _find_loading_run(context: dg.InputContext) -> LoadingRun | None:
    """None outside of a run, as in a notebook."""
    try:
        step = context.step_context
    except dg.DagsterInvariantViolationError:
        return None
    return LoadingRun(step.instance, step.dagster_run)


class ReleaseIOManagerDefinition(dg.IOManagerDefinition):
    """Names its host, so that whoever looks for projects need not make the IO manager."""

    def __init__(self, host: Host) -> None:
        self.host, io_manager = host, ReleaseIOManager(host)
        super().__init__(resource_fn=lambda _: io_manager)


def hosts_in(definitions: Iterable[dg.AssetsDefinition]) -> dict[str, Host]:
    """The projects among some assets, by name."""
    hosts = dict[str, Host]()
    for definition in definitions:
        for spec in definition.specs:
            project = spec.metadata.get(PROJECT)
            resource = definition.resource_defs.get(f"{project}_releases")
            if isinstance(project, str) and isinstance(resource, ReleaseIOManagerDefinition):
                hosts.setdefault(project, resource.host)
    return hosts


def release_of(context: dg.AssetExecutionContext, project: str | None = None) -> Release:
    """The release that an asset may train on. The asset is held if its round is held.

    The round is judged again from its stored bytes, by the policy of the project. So no report in
    Dagster's event log opens it.

    Parameters
    ----------
    context
        The context of an asset. With `partitions_def=rounds_of(project)`, the release is that of
        the partition's round.
    project
        The project of an asset without partitions. The release holds all admitted rounds.

    Raises
    ------
    dagster.Failure
        The round is held or was never delivered, or its bytes were edited. It is not tried again.
    """
    host, name = run_or_fail(context, lambda: _find_host(context, project))
    run_or_fail(context, lambda: begin_step(context, host.project.store))
    to_decision = host.to_decision(name)
    return run_or_fail(
        context, lambda: _release_and_warn(host.project, name, context.log), to_decision
    )


def _find_host(context: dg.AssetExecutionContext, project: str | None) -> tuple[Host, str | None]:
    """The project that an asset asks for, and the round of its partition if it has partitions."""
    assets = sorted(key.to_user_string() for key in context.selected_asset_keys)
    place, hosts = f"release_of in {joined(assets)}", hosts_in(definitions_around(context))
    partitions = context.assets_def.partitions_def
    name = getattr(partitions, "name", None)
    of_rounds = next(
        (project_name for project_name in hosts if rounds_of(project_name).name == name), None
    )
    requested = project or of_rounds
    if requested not in hosts:
        raise ProjectError(
            f"{place}: found {'no project' if requested is None else repr(requested)}; "
            f"expected one of the projects around it, {listed(sorted(hosts))}. Give the asset "
            "partitions_def=rounds_of(project), or name the project; and let it depend on "
            "training_data or release of the project."
        )
    if partitions is not None and requested != of_rounds:
        raise ProjectError(
            f"{place}: found partitions {repr(name) if name else 'without a name'}; "
            f"expected {rounds_of(requested).name!r}, or none. "
            "Give the asset partitions_def=rounds_of(project)."
        )
    return hosts[requested], None if partitions is None else context.partition_key
