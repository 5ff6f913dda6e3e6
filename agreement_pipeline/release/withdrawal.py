"""The withdrawal of releases: a notice in the release, and an entry in the log."""

import json
from collections.abc import Callable, Iterable, Mapping, Sequence
from datetime import UTC, datetime
from typing import Any

from agreement_pipeline.release.contents import WITHDRAWN, as_json
from agreement_pipeline.store import RoundVersion, Store, are_texts

IN_THE_LOG = "the store's log has the reasons"


def withdraw_versions(
    store: Store,
    round_name: str,
    versions: Sequence[RoundVersion],
    reasons: Sequence[str],
    reworded: Callable[[], Sequence[str]],
) -> bool:
    """Withdraw every release in force that contains one of these versions of the round.

    True if there was one. Call only while the store is locked.

    The data stay in place, with a notice that gives the reasons `reworded`: releases have no
    names of raters. If there are none, the notice points to the log.

    The notices are written first, and the log entry last. If a writer is killed in between,
    the next decision adds the log entry.
    """
    digests = {version.ratings_digest for version in versions}
    found = list(
        dict.fromkeys(
            entry["release"]
            for entry in store.in_force(store.releases_with(round_name))
            if entry["rounds"][round_name] in digests
        )
    )
    said = (reworded() or [IN_THE_LOG]) if found else []
    for called in found:
        _notice(store, called, round_name, said, datetime.now(UTC).isoformat())
    if found:
        store.record("withdrawn", round_name, releases=found, reasons=list(reasons))
    return bool(found)


def reconcile(store: Store, rounds: Iterable[str]) -> None:
    """Make the notices and the log agree on the releases with these rounds.

    A notice that the log does not have gets its log entry. A removed notice that the log has
    is written again. Call only while the store is locked.
    """
    for entry, withdrawal in _disagreeing(store, rounds):
        if withdrawal is None:
            round_name, reasons = _noticed(store, entry)
            store.record("withdrawn", round_name, releases=[entry["release"]], reasons=reasons)
        else:
            _notice(store, entry["release"], withdrawal["round"], [IN_THE_LOG], withdrawal["time"])


def agrees(store: Store, rounds: Iterable[str]) -> bool:
    """True if the notices and the log agree on the releases with these rounds."""
    return not _disagreeing(store, rounds)


def _disagreeing(
    store: Store, rounds: Iterable[str]
) -> list[tuple[Mapping[str, Any], Mapping[str, Any] | None]]:
    """The last entry of each release with only one of notice and withdrawal; its withdrawal."""
    released = {entry["release"]: entry for name in rounds for entry in store.releases_with(name)}
    withdrawn = store.withdrawn(list(released))
    notices = store.storage.fetched(f"releases/{called}/{WITHDRAWN}" for called in released)
    return [
        (entry, withdrawn.get(called))
        for (called, entry), notice in zip(released.items(), notices.values(), strict=True)
        if (notice is None) == (called in withdrawn)
    ]


def _noticed(store: Store, entry: Mapping[str, Any]) -> tuple[str, list[str]]:
    """The round and the reasons in the notice of a release.

    If the notice cannot be read, the round is the first round of the release.
    """
    try:
        notice = json.loads(store.storage.read(f"releases/{entry['release']}/{WITHDRAWN}") or b"")
    except (ValueError, RecursionError):
        notice = None
    said = notice if isinstance(notice, dict) else {}
    round_name, reasons = said.get("round"), said.get("reasons")
    known = (
        round_name
        if isinstance(round_name, str) and round_name in entry["rounds"]
        else next(iter(entry["rounds"]))
    )
    return known, reasons if isinstance(reasons, list) and are_texts(reasons) else [
        f"a {WITHDRAWN} that cannot be read"
    ]


def _notice(store: Store, called: str, round_name: str, reasons: Sequence[str], time: str) -> None:
    """Write into a release that it was withdrawn, and why. An earlier notice stays."""
    store.storage.keep(
        f"releases/{called}/{WITHDRAWN}",
        as_json({"round": round_name, "reasons": list(reasons), "time": time}),
    )
