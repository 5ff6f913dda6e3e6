"""A store that an older version wrote, carried over into a new one.

Until 0.5.0 the log was a file for each entry, with the seals beside it::

    log/<number>.json            what happened
    seals/<number>-<digest>      proves that the entry was kept

Entries named neither the settings that a round was read under, nor the number of its version, nor
the policy by name. Ratings had another digest. Their tables, originals and releases are as today.
"""

import json
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, NamedTuple

from agreement_pipeline.errors import StoreError
from agreement_pipeline.large_files import Content
from agreement_pipeline.store.entries import HERE, Entry, of_event
from agreement_pipeline.store.local import digest_of, kinds_in
from agreement_pipeline.store.log import ENTRIES, KEPT, NAME, OLD_SEALS, Line, seal_name
from agreement_pipeline.store.objects import PROBE, Folder, Storage
from agreement_pipeline.store.store import (
    SALT,
    UNKNOWN_SETTINGS,
    Store,
    folder_at,
    storage_at,
    table_of,
    table_ratings,
)
from agreement_pipeline.text import listed

RELEASES, ORIGINALS = "releases", "originals"
MANIFEST, POLICY, WITHDRAWN = "manifest.json", "policy.json", "WITHDRAWN.json"
# What may stand where a store has no entry yet, beside hidden files. A volume has the last.
NOT_BEGUN = {PROBE, SALT, "populations", "rounds", "lost+found"}
Terms = dict[str, tuple[str, dict[str, Any]]]
UNNAMED: tuple[str, dict[str, Any]] = "", {"policy": "not named", "version": 1}


class Migrated(NamedTuple):
    """`waived` are waivers bound to digests of before: the round, the old digest, and today's."""

    n_entries: int
    waived: tuple[tuple[str, str, str], ...]


@dataclass
class Older:
    storage: Storage
    digests: dict[str, str] = field(default_factory=dict)
    versions: dict[str, list[str]] = field(default_factory=dict)

    @property
    def lines(self) -> list[Line]:
        there = sorted(name for name in self.storage.names(ENTRIES) if NAME.fullmatch(name))
        seals = set(filter(KEPT.fullmatch, self.storage.names(OLD_SEALS)))
        if not there or not seals:
            raise StoreError(
                f"{self.storage.root}: found no log of an older version; expected entries in "
                f"{ENTRIES} and their seals in {OLD_SEALS}. Correct the place. A store whose seals "
                "are in log/seals needs no migration."
            )
        found, read = list[Line](), self.storage.fetched(f"{ENTRIES}/{name}" for name in there)
        for number, data in enumerate(read.values(), 1):
            line = Line.of(data or b"")
            follows = number, found[-1].digest if found else ""
            if (line.entry.get("number"), line.entry.get("previous")) != follows:
                raise self._edited(number)
            found.append(line)
        wanted = [seal_name(number, line.digest) for number, line in enumerate(found, 1)]
        if wrong := seals.symmetric_difference(wanted) - ({wanted[-1]} - seals):
            raise self._edited(int(min(wrong)[:8]))
        return found

    def refuse_unread(self, entries: Sequence[Entry]) -> None:
        """Refuse links and pipes, lost or edited originals, and notices that the log lacks."""
        root = self.storage.root
        kinds = kinds_in(root) if isinstance(root, Path) else ()
        if others := [name for name, kind in kinds if kind == "other"]:
            raise StoreError(
                f"{root}: found {listed(others)}, links or things of another kind; expected "
                "files and folders. Copy the store with what its links lead to."
            )
        withdrawn = {
            called for each in of_event("withdrawn", entries) for called in each["releases"]
        }
        noticed = {
            name.removesuffix(f"/{WITHDRAWN}")
            for name in self.storage.names(RELEASES)
            if name.endswith(f"/{WITHDRAWN}")
        }
        if lost := noticed - withdrawn:
            raise StoreError(
                f"{root}: found {listed(sorted(lost))} withdrawn by a notice, and in force by the "
                "log; expected both to say the same. Judge its rounds once more with the version "
                "that wrote the store."
            )
        for each in of_event("ingested", entries):
            place = f"{ORIGINALS}/{each['original_digest']}/{each['source']}"
            inside = {name: f"{place}/{name}" for name in self.storage.names(place)}
            content = (
                {name: self.storage.copied(at) or b"" for name, at in inside.items()}
                if inside
                else self.storage.copied(place)
            )
            if content is None or digest_of(content) != each["original_digest"]:
                raise StoreError(
                    f"{root}: found no original of round {each['round']}, or another one; expected "
                    f"{each['source']} as it was delivered. Restore it from a backup."
                )

    def terms(self, entries: Sequence[Entry]) -> Terms:
        """The project, and the policy by its digest, stand in the releases that the log proves."""
        found: Terms = {}
        for each in of_event("released", entries):
            folder = f"{RELEASES}/{each['release']}"
            written = self.storage.read(f"{folder}/{MANIFEST}") or b""
            policy = self.storage.read(f"{folder}/{POLICY}") or b""
            if digest_of(written) == each["manifest_digest"]:
                manifest = json.loads(written)
                if manifest["files"][POLICY]["sha256"] == digest_of(policy):
                    said = manifest["project"], json.loads(policy)["policy"]
                    found[manifest["policy_digest"]] = said
        return found

    def _edited(self, number: int) -> StoreError:
        return StoreError(
            f"{self.storage.root}: found entry {number} absent, or not as it was written; expected "
            "every entry with its seal. Restore the log from a backup, and migrate again."
        )


def migrate(old: Folder | str, new: Folder | str, by: str = "") -> Migrated:
    """Carry a store of an older version over into a new one.

    The old store is only read. Each table is written again as it is written today, so its ratings
    have today's digest. All else is copied. The last entry says from what and `by` whom it was
    migrated.

    It may be stopped at any time. Until it is done, nobody can use the new store. Run again, it
    checks what was carried over, and goes on.
    """
    older = Older(storage_at(old))
    lines = older.lines
    entries = [line.entry for line in lines]
    older.refuse_unread(entries)
    terms = older.terms(entries)
    made = Store(new, project=next((project for project, _ in terms.values()), None))
    refuse_place(old, made)
    made.log.carrying = True
    n_before = carry_entries(old, made, entries, lambda entry: _as_today(older, entry, terms))
    for name in older.storage.names(ORIGINALS):
        copy_file(f"{ORIGINALS}/{name}", older.storage, made.storage)
    if older.storage.read(SALT) is not None:
        copy_file(SALT, older.storage, made.storage)
    # A manifest comes last, so no release can be opened before the notices of withdrawals.
    for name in sorted(older.storage.names(RELEASES), key=lambda name: name.endswith(MANIFEST)):
        copy_file(f"{RELEASES}/{name}", older.storage, made.storage)
    if n_before <= len(lines):
        versions = sorted({each["code_version"] for each in entries if "code_version" in each})
        told = {
            "entries": len(lines),
            "head": lines[-1].digest,
            "from_versions": versions,
            "by": by,
        }
        made.record("migrated", HERE, **told)
    waived = {
        (each["round"], each["ratings_digest"], older.digests[each["ratings_digest"]])
        for each in entries
        if each.get("waivers")
    }
    return Migrated(len(lines), tuple(sorted(waived)))


def carry_entries(
    old: Folder | str,
    made: Store,
    entries: Sequence[Entry],
    carried: Callable[[Entry], tuple[Entry, dict[str, Content]]],
) -> int:
    """How many entries are added, since the new store does not have them yet.

    `carried` gives an entry as the new log says it, and the tables that it names.
    """
    before = made.history()
    for number, entry in enumerate(entries, 1):
        said, tables = carried(entry)
        if number > len(before):
            with made.locked():
                for name, table in tables.items():
                    made.storage.keep(name, table)
                made.log.carry(number, said)
        elif {name: before[number - 1].get(name) for name in said} != said:
            raise StoreError(
                f"{made.root}: found entry {number}, which does not come from {old}; "
                "expected no store, or one that an earlier attempt began. Name another place."
            )
    return len(before)


def refuse_place(old: Folder | str, made: Store) -> None:
    """Whoever deletes one of two stores must not delete the other one, or more, with it."""
    places = [
        each.resolve() if isinstance(each, Path) else each for each in (folder_at(old), made.root)
    ]
    one, other = sorted((f"{each}/" for each in places), key=len)
    if one != other and other.startswith(one):
        raise StoreError(
            f"{made.root}: found one store inside the other, {old}; expected a place beside it. "
            "Name another place."
        )
    there = () if made.storage.names(ENTRIES) else made.storage.names()
    names = {name.partition("/")[0] for name in there if not name.startswith(".")}
    if others := sorted(names - NOT_BEGUN):
        raise StoreError(
            f"{made.root}: found {listed(others)}; expected an empty place, or a store that an "
            "earlier attempt began. Name another place."
        )


def copy_file(name: str, of: Storage, to: Storage) -> None:
    content = of.copied(name)
    with to.locked():
        if content is None or not to.keep(name, content, secret=name == SALT):
            raise StoreError(
                f"{to.root / name}: found other bytes than in {of.root}, or nothing there; "
                "expected the same. Name another place for the new store."
            )


def _as_today(older: Older, entry: Entry, terms: Terms) -> tuple[Entry, dict[str, Content]]:
    tables: dict[str, Content] = {}
    said = {name: value for name, value in entry.items() if name not in ("number", "previous")}
    name, event = said["round"], said["event"]
    if event == "ingested":
        at = f"rounds/{said['ratings_digest']}/{said['table_digest']}.parquet"
        place, table = older.storage.root / at, older.storage.copied(at)
        if table is None or digest_of(table) != said["table_digest"]:
            raise StoreError(
                f"{place}: found no table, or another one; expected the ratings "
                f"of round {name}. Restore it from a backup, and migrate again."
            )
        ratings = table_ratings(table, str(place))
        table = table_of(ratings)
        digest = digest_of(table)
        tables[f"rounds/{ratings.digest}/{digest}.parquet"] = table
        older.digests[said["ratings_digest"]] = ratings.digest
        versions = older.versions.setdefault(name, [])
        versions += [ratings.digest] if ratings.digest not in versions else []
        said |= {
            "ratings_digest": ratings.digest,
            "table_digest": digest,
            "settings_digest": UNKNOWN_SETTINGS,
        }
    elif event == "decided":
        digest = older.digests[said["ratings_digest"]]
        # with the code that read it, since its digest was another
        policy = terms.get(said["policy_digest"], UNNAMED)[1]
        policy = {**policy, "policy": f"{policy['policy']} of {said['code_version']}"}
        said |= {
            "ratings_digest": digest,
            "settings_digest": UNKNOWN_SETTINGS,
            "version": older.versions[name].index(digest) + 1,
            "policy": policy,
            "waivers": [{**each, "ratings_digest": digest} for each in said["waivers"]],
        }
    elif event == "released":
        said["rounds"] = {each: older.digests.get(was, was) for each, was in said["rounds"].items()}
    return said, tables
