"""How a run says what became of its round: in its first line, and in its tags.

A round that is held and a file that is broken both end a run, with other tags and words.
"""

import threading
import time
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from types import MappingProxyType
from typing import Any, Protocol, TypeVar

import dagster as dg

from agreement_pipeline.errors import (
    PASSING,
    AgreementError,
    ReleaseHeldError,
    machine_fault_sentence,
    may_pass_later,
)
from agreement_pipeline.report import printable
from agreement_pipeline.store import Store

DECISION, REASON_TAG = "agreement_pipeline/decision", "agreement_pipeline/why"
ADMITTED, HELD, NOT_JUDGED = "admitted", "held", "not judged"
NOT_RELEASED = "not released"
UNRELEASED = "agreement_pipeline/unreleased"
"""The tag of a run that could not make a release. It names the project and the round, or none."""
FAULT, MAY_PASS, FAULT_LASTS = "agreement_pipeline/fault", "may pass", "lasts"
NOT_AGAIN = {"dagster/retry_on_asset_or_op_failure": "false"}
"""An instance with retries of runs must not make a run with this tag again."""
LONGEST_TAG = 300
PATIENCE_SECONDS, EVERY_SECONDS = 5.0, 30.0
Result = dg.MaterializeResult[None]


class RunContext(Protocol):
    """The run of an asset, or one that loads a value for an asset."""

    @property
    def instance(self) -> dg.DagsterInstance: ...

    @property
    def run(self) -> dg.DagsterRun: ...


T = TypeVar("T")


def run_or_fail(
    context: RunContext,
    step: Callable[[], T],
    if_held: Mapping[str, Any] = MappingProxyType({}),
    *,
    is_decided: bool = False,
) -> T:
    """An error of this package fails the asset with its reason, without retries.

    A step that meets a full disk or a network that fails may be tried again. The failure of a round
    that is held shows `if_held` too. A run that `is_decided` stays tagged with its decision.
    """
    try:
        return step()
    except ReleaseHeldError as error:
        tag_run(context, HELD, str(error), **{FAULT: FAULT_LASTS}, **NOT_AGAIN)
        raise build_failure(str(error), error.code, if_held) from None
    except AgreementError as error:
        _tag_run_with_fault(context, error, str(error), is_decided)
        raise build_failure(str(error), error.code) from error
    except PASSING as error:
        message = machine_fault_sentence(error)
        _tag_run_with_fault(context, error, message, is_decided)
        raise dg.Failure(description=printable(message)) from error


def unreleased_tag(project: str, round_name: str | None) -> dict[str, str]:
    """Without a round, it is about all admitted rounds together."""
    return {UNRELEASED: f"{project}/{round_name or ''}"}


def build_failure(
    message: str, code: str, extra_metadata: Mapping[str, Any] = MappingProxyType({})
) -> dg.Failure:
    """It is not tried again, since another try finds the same bytes."""
    return dg.Failure(
        description=printable(message),
        metadata={"reason_code": code, **extra_metadata},
        allow_retries=False,
    )


def tag_run(context: RunContext, decision: str, reason: str = "", **tags: str) -> None:
    reason = printable(reason)
    short = reason if len(reason) <= LONGEST_TAG else f"{reason[: LONGEST_TAG - 1]}…"
    context.instance.add_run_tags(
        context.run.run_id, {DECISION: decision, **({REASON_TAG: short} if short else {}), **tags}
    )


def _tag_run_with_fault(
    context: RunContext, error: BaseException, message: str, is_decided: bool
) -> None:
    """The sensor reads if the fault may pass by itself."""
    tags = {FAULT: MAY_PASS} if may_pass_later(error) else {FAULT: FAULT_LASTS, **NOT_AGAIN}
    if is_decided:
        context.instance.add_run_tags(context.run.run_id, tags)
    else:
        tag_run(context, NOT_JUDGED, message, **tags)


def begin_step(context: RunContext, store: Store) -> None:
    """What it does is done by the code location of its run."""
    _clear_tags_of_parent(context)
    bind_store_to_code_location(context, store)


def _clear_tags_of_parent(context: RunContext) -> None:
    """A run that is made again begins with the tags of the run before it, and with the reason why
    that one failed. Tags cannot be taken away.
    """
    if context.run.parent_run_id is None:
        return
    run = context.instance.get_run_by_id(context.run.run_id)
    if run is None or run.tags.get(DECISION) == ADMITTED:  # by a step before this one
        return
    inherited = [name for name in (DECISION, REASON_TAG, FAULT, UNRELEASED) if run.tags.get(name)]
    context.instance.add_run_tags(run.run_id, dict.fromkeys(inherited, ""))


def bind_store_to_code_location(context: RunContext, store: Store) -> None:
    """A run in Python has no code location."""
    origin = context.run.remote_job_origin
    store.log.location = (
        None if origin is None else origin.repository_origin.code_location_origin.location_name
    )


@contextmanager
def progress(say: Callable[[str], object], activity: str) -> Iterator[None]:
    """Say so after five seconds, and then every half minute. The time of a long step is said at the
    end.
    """
    finished, start = threading.Event(), time.monotonic()
    speaker = threading.Thread(
        target=_log_until_finished, args=(say, activity, finished, start), daemon=True
    )
    speaker.start()
    try:
        yield
    finally:
        finished.set()
        speaker.join()
    if (seconds := time.monotonic() - start) > PATIENCE_SECONDS:
        say(f"{activity}: done after {seconds:.0f} s")


def _log_until_finished(
    say: Callable[[str], object], activity: str, finished: threading.Event, start: float
) -> None:
    waiting = PATIENCE_SECONDS
    while not finished.wait(waiting):
        say(f"{activity}: at work for {time.monotonic() - start:.0f} s")
        waiting = EVERY_SECONDS
