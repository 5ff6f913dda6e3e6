"""The functions of the package as a notebook calls them.

A table or a path may stand for ratings, a short name for a measure, and a name or a path for a
policy. What is not ratings yet is read as `read_ratings` reads it. Long work says that it goes on.
"""

from collections.abc import Callable, Collection, Mapping
from functools import wraps
from inspect import getdoc, signature
from numbers import Integral, Real
from pathlib import Path
from types import MappingProxyType
from typing import TYPE_CHECKING, Any, ParamSpec, TypeVar

from agreement_pipeline import estimates, policy, report
from agreement_pipeline.contract import Contract
from agreement_pipeline.counting import CountedRatings, ItemCounts
from agreement_pipeline.errors import AgreementError, PolicyError
from agreement_pipeline.intervals import Inference
from agreement_pipeline.measures import SHORT
from agreement_pipeline.mistakes import Value, is_instance_of, refuse_unfit_values
from agreement_pipeline.progress import progress
from agreement_pipeline.ratings import Ratings, Trains
from agreement_pipeline.readers import read
from agreement_pipeline.text import listed

if TYPE_CHECKING:
    from agreement_pipeline.projects import Project
    from agreement_pipeline.release import Demands, Release
    from agreement_pipeline.store import Folder, Store

P = ParamSpec("P")
T = TypeVar("T")
read_ratings = read
ACCEPTED_INPUTS_NOTE = (
    "For ratings, you can give a table or a path, and for a measure or a policy its name. "
    "If a table has other columns than item, rater and label, read it with `read_ratings` first."
)


def _read_if_table(value: Any) -> Any:
    is_read = value is None or isinstance(value, Ratings | CountedRatings | ItemCounts)
    return value if is_read else read(value)


def _resolve_measure(value: Any) -> Any:
    return SHORT.get(value, value) if isinstance(value, str) else value


def _resolve_measures(value: Any) -> Any:
    names = [value] if isinstance(value, str) else value
    return names if names is None else [_resolve_measure(name) for name in names]


def _load_policy(value: Any) -> Any:
    if isinstance(value, str | Path):
        return policy.load_policy(value)
    if not isinstance(value, policy.Policy):
        raise PolicyError(
            f"policy: found {type(value).__name__}; expected a policy, its name or its file. "
            "Name one, as 'standard'."
        )
    return value


def _parse_trains(value: Any) -> Any:
    return Trains.from_mapping({"label": value}) if isinstance(value, str) else value


CONVERTERS: Mapping[str, Callable[[Any], Any]] = MappingProxyType(
    {
        **dict.fromkeys(("ratings", "other", "earlier"), _read_if_table),
        "measure": _resolve_measure,
        "measures": _resolve_measures,
        "policy": _load_policy,
        "trains": _parse_trains,
    }
)


def _build_collection_test(kind: type) -> Callable[[Any], bool]:
    def meets(value: Any) -> bool:
        is_several = isinstance(value, Collection) and not isinstance(value, str | Mapping)
        return is_several and all(isinstance(element, kind) for element in value)

    return meets


def _is_positive_integer(value: Any) -> bool:
    return isinstance(value, Integral) and int(value) > 0


def _are_scopes(value: Any) -> bool:
    scopes = [value] if isinstance(value, str) else value
    return isinstance(scopes, Collection) and all(
        scope in estimates.SCOPE_KINDS for scope in scopes
    )


VALUE_BY_ARGUMENT: Mapping[str, Value] = MappingProxyType(
    {
        **dict.fromkeys(
            ("expected", "probability"), Value("a number, as 0.9", is_instance_of(Real))
        ),
        "prevalence": Value("a list of numbers, as [0.9, 0.1]", _build_collection_test(Real)),
        "labels_an_item": Value(
            "a list of whole numbers, as [2, 3]", _build_collection_test(Integral)
        ),
        "n_rounds": Value("a whole number from 1", _is_positive_integer),
        "scopes": Value(f"some of {listed(estimates.SCOPE_KINDS, 9)}", _are_scopes),
        "inference": Value(
            "an Inference, as Inference(n_resamples=20_000)", is_instance_of(Inference)
        ),
        "contract": Value("a Contract", is_instance_of(Contract, type(None))),
        "waivers": Value("Waivers", is_instance_of(policy.Waivers)),
        "trains": Value("a label, as 'shares'", is_instance_of(str, Trains, type(None))),
    }
)


def _accept_notebook_values(function: Callable[P, T]) -> Callable[..., T]:
    """The function, which then takes tables, paths and names too, and says that it is at work."""
    expected = signature(function)

    @wraps(function)
    def called(*arguments: P.args, **named: P.kwargs) -> T:
        with progress(function.__name__):
            bound = expected.bind(*arguments, **named)
            refuse_unfit_values(VALUE_BY_ARGUMENT, bound.arguments, AgreementError)
            for name, argument in bound.arguments.items():
                if name in CONVERTERS:
                    bound.arguments[name] = CONVERTERS[name](argument)
            return function(*bound.args, **bound.kwargs)

    called.__doc__ = f"{getdoc(function)}\n\n{ACCEPTED_INPUTS_NOTE}"
    return called


measure = _accept_notebook_values(estimates.measure)
survey = _accept_notebook_values(estimates.survey)
label_reliability = _accept_notebook_values(estimates.label_reliability)
compare = _accept_notebook_values(estimates.compare)
judge = _accept_notebook_values(policy.judge)
plan = _accept_notebook_values(policy.plan)
report_page = _accept_notebook_values(report.report_page)


def release_round(project: "Project | str | Path", round_name: str) -> "Release":
    """Release the training data of a round of a project, if the policy of the project admits it.

    It does the same as a run in Dagster: it checks and stores the file in the project's inbox,
    records the decision, and writes the training data. If the round is held, its earlier release is
    withdrawn. If the release exists already, it is verified and returned.

    Parameters
    ----------
    project
        The YAML file of a project, `configs/projects/<name>.yaml`.
    round_name
        The name of a file in the inbox without its ending, or of a stored round.

    Returns
    -------
    Release
        `release.path` is its folder, and `release.train` has the rows to train on.

    Raises
    ------
    ReleaseHeldError
        The round is held. The message gives every reason.
    ProjectError, RatingsError, StoreError
        The project, the file of the round or the store cannot be used.
    """
    from agreement_pipeline.projects import Project, load_project

    with progress("release_round"):
        opened = project if isinstance(project, Project) else Project(load_project(Path(project)))
        opened.checked().ingest(round_name)
        return opened.release(round_name)


def open_release(
    path: "Folder | str",
    *,
    require: "policy.Policy | Demands | None" = None,
    store: "Store | None" = None,
) -> "Release":
    """Verify a release, and open it for training.

    Parameters
    ----------
    path
        The folder or the URL of the release.
    require
        A policy that the release must meet too, without waivers, or further demands.
    store
        The store of the release. Its log must be unchanged, and must say that the release is in
        force.

    Raises
    ------
    ReleaseInvalidError
        The release cannot be verified, the log does not have it, or a waiver is not allowed.
    ReleaseHeldError
        The release does not meet `require`.
    """
    from agreement_pipeline import models, release

    return release.open_release(path, require=require, store=store, auditor=models.ModelsAuditor())


def verify_release(path: "Folder | str", *, store: "Store | None" = None) -> "Release":
    """Verify a release: derive everything in it again from its annotations.

    This does not show who made the annotations. If an earlier version of this package wrote the
    release, the log of its `store` may prove the bytes instead. The training rows are derived again
    in any case, and `held_today` says whether today's code would hold the release.

    Raises
    ------
    ReleaseInvalidError
        A file is missing, extra or changed, something is derived differently, or the release was
        withdrawn.
    """
    from agreement_pipeline import models, release

    return release.verify_release(path, store=store, auditor=models.ModelsAuditor())
