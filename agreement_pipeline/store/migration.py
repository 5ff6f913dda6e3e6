"""A store that an older version wrote, carried over into a new one.

Until 0.5.0 the log was a file for each entry, with the seals beside it::

    log/<number>.json            what happened
    seals/<number>-<digest>      proves that the entry was kept

Entries named neither the settings that a round was read under, nor the number of its version, nor
the policy by name. Ratings had another digest. Their tables, originals and releases are as today.
"""

import json
from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Any

from agreement_pipeline.errors import StoreError
from agreement_pipeline.large_files import Content
from agreement_pipeline.ratings import Ratings
from agreement_pipeline.store.entries import Entry
from agreement_pipeline.store.log import ENTRIES, NAME, OLD_SEALS, Line, seal_name
from agreement_pipeline.store.storage import Folder, Storage, digest_of
from agreement_pipeline.store.store import SALT, Store, storage_at, table_of, table_ratings

RELEASES, ORIGINALS = "releases", "originals"
MANIFEST, POLICY = "manifest.json", "policy.json"
Terms = dict[str, tuple[str, dict[str, Any]]]
UNNAMED: tuple[str, dict[str, Any]] = "", {"policy": "not named", "version": 1}
"""The terms of a decision that no release tells by name."""


@dataclass
class Older:
    """What a store of an older version holds."""

    storage: Storage
    digests: dict[str, str] = field(default_factory=dict)
    """Today's digest of ratings, by the one that they had."""
    versions: dict[str, list[str]] = field(default_factory=dict)
    """The digests of each round's versions, as they arrived."""

    def lines(self) -> Iterator[Line]:
        """The entries of its log. Each must follow from the one before, and have its seal.

        Raises
        ------
        StoreError
            An entry is absent or edited, or the log is not one of an older version.
        """
        there = sorted(name for name in self.storage.names(ENTRIES) if NAME.fullmatch(name))
        seals = {*self.storage.names(OLD_SEALS)}
        if not there or not seals:
            raise StoreError(
                f"{self.storage.root}: found no log of an older version; expected entries in "
                f"{ENTRIES} and seals in {OLD_SEALS}. A store of this version needs no migration."
            )
        previous, read = "", self.storage.fetched(f"{ENTRIES}/{name}" for name in there)
        for number, data in enumerate(read.values(), 1):
            line = Line.of(data or b"")
            said = line.entry
            if (said.get("number"), said.get("previous")) != (number, previous):
                raise self._edited(number)
            if number < len(there) and seal_name(number, line.digest) not in seals:
                raise self._edited(number)
            previous = line.digest
            yield line
        if int(max(seals)[:8]) > len(there):
            raise self._edited(len(there) + 1)

    def ratings(self, ingested: Entry) -> Ratings:
        """The ratings of a version of a round. Their table must have its digest."""
        name = f"rounds/{ingested['ratings_digest']}/{ingested['table_digest']}.parquet"
        table = self.storage.copied(name)
        if table is None or digest_of(table) != ingested["table_digest"]:
            raise StoreError(
                f"{self.storage.root / name}: found no table, or another one; expected the ratings "
                f"of round {ingested['round']}. Restore it from a backup, and migrate again."
            )
        return table_ratings(table, str(self.storage.root / name))

    def copy(self, name: str, to: Storage) -> None:
        """Copy a file to another storage, byte by byte, unless it is there."""
        content = self.storage.copied(name)
        with to.locked():
            if content is not None and not to.keep(name, content, secret=name == SALT):
                raise StoreError(
                    f"{to.root / name}: found other bytes than in {self.storage.root}; expected "
                    "the same, or nothing. Name another place for the new store."
                )

    def terms(self) -> Terms:
        """The project, and the policy, by the digests of policies.

        They stand in the releases.
        """
        found: Terms = {}
        for name in self.storage.names(RELEASES):
            folder, _, file = name.rpartition("/")
            if file == MANIFEST:
                manifest, said = (
                    json.loads(self.storage.read(f"{RELEASES}/{folder}/{each}") or b"{}")
                    for each in (MANIFEST, POLICY)
                )
                found[manifest["policy_digest"]] = manifest["project"], said["policy"]
        return found

    def _edited(self, number: int) -> StoreError:
        return StoreError(
            f"{self.storage.root}: found entry {number} absent, or not as it was written; expected "
            "every entry with its seal. Restore the log from a backup, and migrate again."
        )


def migrate(old: Folder | str, new: Folder | str) -> int:
    """Carry a store of an older version over into a new one, and say how many entries it had.

    The old store is only read. Originals, releases and the key of pseudonyms are copied byte by
    byte. Each table is written again as it is written today, so its ratings have today's digest.
    Entries keep their times. The last entry says that the store was migrated, and from what.

    It may be stopped at any time. Run again, it checks what was carried over, and goes on.

    Raises
    ------
    StoreError
        The old store is not whole, or the new one holds something else.
    """
    older = Older(storage_at(old))
    lines, terms = [*older.lines()], older.terms()
    made = Store(new, project=next((project for project, *_ in terms.values()), None))
    before = made.history()
    for nth, line in enumerate(lines):
        said, tables = _as_today(older, line.entry, terms)
        if nth >= len(before):
            with made.locked():
                for name, table in tables.items():
                    made.storage.keep(name, table)
                made.log.carry(said)
        elif {name: before[nth].get(name) for name in said} != said:
            raise StoreError(
                f"{made.root}: found entry {nth + 1}, which does not come from "
                f"{older.storage.root}; expected no store, or one that an earlier migration began. "
                "Name another place."
            )
    for name in older.storage.names(ORIGINALS):
        older.copy(f"{ORIGINALS}/{name}", made.storage)
    older.copy(SALT, made.storage)
    # A manifest comes last, so no release can be opened before the notices of withdrawals.
    for name in sorted(older.storage.names(RELEASES), key=lambda name: name.endswith(MANIFEST)):
        older.copy(f"{RELEASES}/{name}", made.storage)
    versions = [line.entry["code_version"] for line in lines if "code_version" in line.entry]
    if len(before) <= len(lines):
        told = {
            "entries": len(lines),
            "head": lines[-1].digest,
            "from_versions": sorted({*versions}),
        }
        made.record("migrated", "store", **told)
    return len(lines)


def _as_today(older: Older, entry: Entry, terms: Terms) -> tuple[Entry, dict[str, Content]]:
    """An entry with the facts that are stated today, and the table that it names, if any."""
    tables: dict[str, Content] = {}
    said = {name: value for name, value in entry.items() if name not in ("number", "previous")}
    name, event = said["round"], said["event"]
    if event == "ingested":
        ratings = older.ratings(said)
        table = table_of(ratings)
        digest = digest_of(table)
        tables[f"rounds/{ratings.digest}/{digest}.parquet"] = table
        older.digests[said["ratings_digest"]] = ratings.digest
        versions = older.versions.setdefault(name, [])
        versions += [ratings.digest] if ratings.digest not in versions else []
        said |= {"ratings_digest": ratings.digest, "table_digest": digest, "settings_digest": ""}
    elif event == "decided":
        digest = older.digests[said["ratings_digest"]]
        said |= {
            "ratings_digest": digest,
            "settings_digest": "",
            "version": older.versions[name].index(digest) + 1,
            "policy": _named(terms.get(said["policy_digest"], UNNAMED)[1], said),
            "waivers": [{**each, "ratings_digest": digest} for each in said["waivers"]],
        }
    elif event == "released":
        said["rounds"] = {each: older.digests[was] for each, was in said["rounds"].items()}
    return said, tables


def _named(policy: dict[str, Any], decided: Entry) -> dict[str, Any]:
    """A policy as a decision names it: with the code that read it, since its digest was another."""
    return {**policy, "policy": f"{policy['policy']} of {decided['code_version']}"}
