"""A release is opened for training: verified first, then checked against what is asked of it."""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field

import numpy as np

from agreement_pipeline.errors import ReleaseHeldError, ReleaseInvalidError
from agreement_pipeline.policy import Policy, assess, waived
from agreement_pipeline.ratings import Ratings
from agreement_pipeline.release.contents import Release
from agreement_pipeline.release.decisions import today
from agreement_pipeline.release.folder import read_folder
from agreement_pipeline.release.proof import prove
from agreement_pipeline.release.statements import Signed
from agreement_pipeline.release.tables import Member
from agreement_pipeline.store import Folder, Store, folder_at
from agreement_pipeline.version import __version__


@dataclass(frozen=True)
class Demands:
    """The demands of a trainer.

    Parameters
    ----------
    rules
        A policy that the annotations must meet too, without waivers. It has a limit of wrong
        labels (`silver`) if and only if a classifier gave the labels.
    least
        The fewest `raters` and `items` of each round.
    policy
        The policy that admitted the release: a name, or a name and a version.
    today
        True if today's code must admit the release too, by its own rules.
    signed
        The signed statement on the release, and the key that must have signed it.
    """

    rules: Policy | None = None
    least: Mapping[str, int] = field(default_factory=dict)
    policy: tuple[str, int | None] | None = None
    without_waivers: bool = False
    today: bool = False
    signed: Signed | None = None

    def refuse_unmet(self, release: Release) -> None:
        if self.signed is not None:
            self.signed.refuse_unsigned(release)
        waivers = [each for found in release.decisions.values() for each in found["waivers"]]
        if self.without_waivers and waivers:
            raise ReleaseInvalidError(
                f"{release.path}: found {len(waivers)} waivers, the first of "
                f"{waived(waivers[0])} by {waivers[0]['who']}; "
                "expected a release without waivers. Ask for one that the policy admits by itself.",
                "release_waived",
            )
        if self.today and release.held_today:
            said = (f"{name} ({'; '.join(why)})" for name, why in release.held_today.items())
            raise ReleaseInvalidError(
                f"{release.path}: found round {', '.join(said)}, which agreement_pipeline "
                f"{release.written_by} admitted and {__version__} would hold; expected one that "
                "today's code admits too. Judge the round again, or do not ask for --today.",
                "release_held_today",
            )
        for member in release.members:
            unmet = list(self._unmet(release, member))
            if unmet:
                raise ReleaseHeldError(
                    f"{release.path}: found round {member.round} {'; '.join(unmet)}; "
                    "expected a release that meets what you require. "
                    "Use another release, or require what it was released under."
                )

    def _unmet(self, release: Release, member: Member) -> Iterator[str]:
        by = release.policy
        if self.policy and self.policy not in ((by.policy, None), (by.policy, by.version)):
            yield f"admitted under policy {by.policy} version {by.version}"
        for what, count in counts(member.ratings).items():
            if count < self.least.get(what, 0):
                yield f"with {count} {what}, fewer than {self.least[what]}"
        if self.rules is not None:
            ratings, audit = member.ratings, member.audit
            also = [audit.finding(ratings, self.rules)] if audit else []
            decision = assess(ratings, self.rules, release.contract, also=also).decision
            if not decision.admitted:
                named = f"policy {self.rules.policy} version {self.rules.version}"
                yield f"held under {named} ({'; '.join(decision.reasons)})"


def open_release(
    path: Folder | str,
    *,
    require: Policy | Demands | None = None,
    store: Store | None = None,
) -> Release:
    """A release for training, verified first.

    Parameters
    ----------
    require
        A policy that the annotations must meet too, without waivers, or more demands.
    store
        The store of the release. Its log must be whole, and must say that the release is in force.

    Raises
    ------
    ReleaseInvalidError
        The release does not prove itself, the log does not have it, or a waiver is not allowed.
    ReleaseHeldError
        The release does not meet the demands.
    """
    release = verify_release(path, store=store)
    if require is not None:
        demands = Demands(require) if isinstance(require, Policy) else require
        demands.refuse_unmet(release)
    if store is not None and release.manifest_digest not in {
        entry["manifest_digest"] for entry in store.in_force()
    }:
        raise ReleaseInvalidError(
            f"{release.path}: found no such release in force in the log of {store.root}; "
            "expected a release as it was let out, and not withdrawn. "
            "Do not train on it; ask for the present release.",
            "release_not_in_log",
        )
    return release


def verify_release(path: Folder | str, *, store: Store | None = None) -> Release:
    """A release that has proved itself: everything in it is derived again from its annotations.

    It does not prove who made the annotations. Of a release that an earlier version of this package
    wrote, the log of its `store` may prove the bytes instead. Its training rows are derived in any
    case, and `held_today` says what today's code would hold.

    Raises
    ------
    ReleaseInvalidError
        A file is missing, extra or changed, something comes out differently, or it was withdrawn.
    """
    folder, logged = folder_at(path), None if store is None else _let_out(store)
    return prove(read_folder(folder), folder, today(), logged)


def _let_out(store: Store) -> set[str]:
    with store.reading():
        history, withdrawn = store.history(), store.withdrawn()
    admitted, found = set[tuple[str, str]](), set[str]()
    for entry in history:
        if entry["event"] == "decided":
            decided = entry["round"], entry["ratings_digest"]
            (admitted.add if entry["decision"] == "admitted" else admitted.discard)(decided)
        elif (
            entry["event"] == "released"
            and entry["release"] not in withdrawn
            and admitted.issuperset(entry["rounds"].items())
        ):
            found.add(entry["manifest_digest"])
    return found


def superseded(release: Release, store: Store) -> tuple[str, ...]:
    with store.reading():
        return tuple(
            name
            for name, ratings in release.ratings.items()
            if store.present(name).ratings_digest != ratings.digest
        )


def counts(ratings: Ratings) -> dict[str, int]:
    """The raters of the panel, and the items that two of them rated and that are not gold."""
    n_raters = np.bincount(ratings.first(["at"], raters=ratings.raters)["at"])
    return {"raters": len(ratings.raters), "items": int((n_raters >= 2).sum())}
