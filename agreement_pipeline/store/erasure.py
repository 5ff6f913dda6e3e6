"""A store made again without a rater or an item, because somebody asked for that.

Bytes of a store never change, so the rest is carried over into a new one::

    rounds with the subject     a table without it, under another digest; no original
    their delivered tables      the rows of other raters, and none if an item is erased
    releases of these rounds    a notice that they were withdrawn, and no other file
    their certificates          none: the classifier has to be certified again
    sentences on these rounds   none that has the name
    lists that draws were from  a list without the item, and without the digest of its text

No decision was taken on the new tables, so each of these rounds waits for one.
"""

import json
import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from functools import cached_property
from pathlib import Path
from typing import Any, NamedTuple

from agreement_pipeline.errors import StoreError
from agreement_pipeline.large_files import Content
from agreement_pipeline.readers import DeliveredTable
from agreement_pipeline.store.entries import WHOLE_STORE, Entry, of_event
from agreement_pipeline.store.local import digest_of
from agreement_pipeline.store.log import ENTRIES
from agreement_pipeline.store.objects import PROBE, Folder, Storage
from agreement_pipeline.store.store import (
    SALT,
    RoundVersion,
    Store,
    delivery_path,
    folder_at,
    table_from_ratings,
    table_ratings,
)
from agreement_pipeline.text import listed

RELEASES, ORIGINALS = "releases", "originals"
MANIFEST, POLICY, WITHDRAWN = "manifest.json", "policy.json", "WITHDRAWN.json"
# What may stand where a store has no entry yet, beside hidden files. A volume has the last.
ALLOWED_BEFORE_FIRST_ENTRY = {PROBE, SALT, "populations", "contents", "rounds", "lost+found"}
TEXT_FACTS = frozenset({"source", "reasons", "reason", "why", "description", "scope"})
SUBJECT_KIND_BY_FACT = {"items": "item", "name": "rater", "classifier": "rater"}
LOG_POSITION_FACTS = ("number", "previous", "index", "carried", "format")


class Erased(NamedTuple):
    subject: str
    rounds: tuple[str, ...]
    releases: tuple[str, ...]


@dataclass
class Erasure:
    """A subject in a store: the rater or the item (`kind`) of this name."""

    store: Store
    entries: tuple[Entry, ...]
    kind: str
    name: str
    subject: str

    @cached_property
    def versions(self) -> frozenset[RoundVersion]:
        with_subject = set[RoundVersion]()
        for version in {*map(RoundVersion.from_entry, self._entries_of("ingested"))}:
            ratings = self.store.ratings_of(version)
            names = ratings.everyone if self.kind == "rater" else ratings.rated_items().to_pylist()
            if self.name in names:
                with_subject.add(version)
        return frozenset(with_subject)

    @cached_property
    def rounds(self) -> frozenset[str]:
        return frozenset(version.round for version in self.versions)

    @cached_property
    def releases(self) -> dict[str, str]:
        digests = {(version.round, version.ratings_digest) for version in self.versions}
        return {
            entry["release"]: next(name for name, _ in affected)
            for entry in self._entries_of("released")
            if (affected := [version for version in entry["rounds"].items() if version in digests])
        }

    @property
    def is_in_a_draw(self) -> bool:
        new_entries = (self.without(entry)[0] for entry in self._entries_of("drawn"))
        return any(
            (new_entry["items"], new_entry["population_digest"])
            != (entry["items"], entry["population_digest"])
            for new_entry, entry in zip(new_entries, self._entries_of("drawn"), strict=True)
        )

    def without(self, entry: Entry) -> tuple[Entry, dict[str, Content]]:
        new_entry = {name: value for name, value in entry.items() if name not in LOG_POSITION_FACTS}
        if new_entry["event"] in ("drawn", "anchored") or self.rounds & {
            new_entry["round"],
            *new_entry.get("rounds", ()),
        }:
            new_entry = {name: self._replace_name(name, value) for name, value in new_entry.items()}
        if new_entry["event"] == "drawn" and new_entry.get("listed"):
            data = self._list_without(new_entry)
            n_items = sum(map(len, json.loads(data).values()))
            new_entry |= {"population_digest": digest_of(data), "population_items": n_items}
            lists: dict[str, Content] = {_population_path(new_entry): data}
            if "contents" in new_entry:
                contents_by_column = self._contents_without(new_entry)
                new_entry["contents"] = {
                    column: digest_of(content) for column, content in contents_by_column.items()
                }
                lists |= {
                    f"contents/{digest_of(content)}.json": content
                    for content in contents_by_column.values()
                }
            return new_entry, lists
        if new_entry["event"] != "ingested":
            return new_entry, {}
        version = RoundVersion.from_entry(entry)
        table = self.store.kept_table(version)
        if version in self.versions:
            place = f"{self.store.root}, round {version.round}, without {self.subject}"
            ratings = table_ratings(table, place, without=(self.kind, self.name))
            table = table_from_ratings(ratings)
            new_entry |= {"ratings_digest": ratings.digest, "table_digest": digest_of(table)}
        tables = {
            f"rounds/{new_entry['ratings_digest']}/{new_entry['table_digest']}.parquet": table
        }
        if not version.delivery_digest:
            return new_entry, tables
        delivery = self.store.kept_delivery(version)
        if version in self.versions and self.kind == "item":
            # There an item may have other names: those of its repetitions, or of its document.
            del new_entry["delivery_digest"]
            return new_entry, tables
        if version in self.versions:
            delivery = DeliveredTable.from_parquet(delivery, without_rater=self.name).to_parquet()
            new_entry["delivery_digest"] = digest_of(delivery)
        tables[delivery_path(new_entry["delivery_digest"])] = delivery
        return new_entry, tables

    def copy_files(self, target: Store, reason: str) -> None:
        for release, name in self.releases.items():
            notice = {"round": name, "reasons": [reason], "time": datetime.now(UTC).isoformat()}
            place = f"{RELEASES}/{release}/{WITHDRAWN}"
            with target.locked():
                if target.storage.read(place) is None:
                    target.storage.keep(place, (json.dumps(notice, indent=2) + "\n").encode())
        source, arrived = self.store.storage, self._entries_of("ingested")
        originals = {entry["original_digest"] for entry in arrived}
        originals -= {entry["original_digest"] for entry in arrived if self._is_about(entry)}
        results = {
            f"contracts/{entry['delivery']['suite_digest']}/"
            f"{entry['delivery']['delivery_digest']}-{entry['delivery']['results_digest']}.json"
            for entry in self._entries_of("decided")
            if not self._is_about(entry) and "results_digest" in entry.get("delivery", {})
        }
        attempts = [entry for entry in self._entries_of("certified") if not self._is_about(entry)]
        file_names = {f"certificates/{entry['certificate']}.json" for entry in attempts}
        file_names |= {
            f"anchors/{entry['labels']}.json"
            for entry in self._entries_of("anchored")
            if f"certificates/{entry['certificate']}.json" in file_names
        }
        for name in source.names():
            folder, _, below = name.partition("/")
            if (
                (folder == ORIGINALS and below.partition("/")[0] in originals)
                or (folder == RELEASES and "/".join(below.split("/")[:2]) not in self.releases)
                or name in file_names | results
            ):
                _copy_file(name, source, target.storage)

    def _entries_of(self, event: str) -> list[Entry]:
        return of_event(event, self.entries)

    def _is_about(self, entry: Entry) -> bool:
        return not self.rounds.isdisjoint({entry["round"], *entry.get("rounds", ())})

    def _read_list(self, draw: Entry, name: str, digest: str) -> bytes:
        data = self.store.storage.read(name)
        if data is None or digest_of(data) != digest:
            raise StoreError(
                f"{self.store.root / name}: found no list of what draw {draw['round']} was from, "
                "or another one; expected the list that was written. Restore it from a backup."
            )
        return data

    def _contents_without(self, draw: Entry) -> dict[str, bytes]:
        """The digests of the items' contents by column. A column of which nothing is left goes."""
        contents_by_column = {
            column: self._read_list(draw, f"contents/{digest}.json", digest)
            for column, digest in draw["contents"].items()
        }
        if self.kind != "item":
            return contents_by_column
        digests_by_column = {
            column: {item: digest for item, digest in json.loads(data).items() if item != self.name}
            for column, data in contents_by_column.items()
        }
        return {
            column: json.dumps(digest_by_item).encode()
            for column, digest_by_item in digests_by_column.items()
            if digest_by_item
        }

    def _list_without(self, draw: Entry) -> bytes:
        data = self._read_list(draw, _population_path(draw), draw["population_digest"])
        lists = json.loads(data)
        if self.kind != "item" or not any(self.name in items for items in lists.values()):
            return data
        remaining = {
            key: [item for item in items if item != self.name] for key, items in lists.items()
        }
        clustered = draw["design"] == "clustered"
        renamed = {
            items[0] if clustered else key: items for key, items in remaining.items() if items
        }
        return json.dumps(renamed).encode()

    def _replace_name(self, fact: str, value: Any) -> Any:
        if isinstance(value, dict):
            return {name: self._replace_name(name, element) for name, element in value.items()}
        if isinstance(value, list):
            return [self._replace_name(fact, element) for element in value]
        if SUBJECT_KIND_BY_FACT.get(fact) == self.kind and value == self.name:
            return self.subject
        if fact not in TEXT_FACTS or not isinstance(value, str):
            return value
        if value == self.name:
            return self.subject
        return f"left out, since it may name {self.subject}" if self.is_named(value) else value

    def is_named(self, text: str) -> bool:
        return bool(re.search(rf"(?<!\w){re.escape(self.name)}(?!\w)", text, re.IGNORECASE))


def _population_path(draw: Entry) -> str:
    return f"populations/{draw['population_digest']}.json"


def erase(
    old: Folder | str, new: Folder | str, kind: str, name: str, by: str, reason: str
) -> Erased:
    """Make a store again without a rater or an item.

    The old store is only read. It may be stopped at any time: until it is done, nobody can use the
    new store, and run again, it goes on. The last entries say what was erased, under a pseudonym,
    and which releases were withdrawn for that. Ratings with the subject are refused from then on.

    `kind` is `rater` or `item`. The log says `by` whom it was erased, and the `reason`.
    """
    source, target = Store(old), Store(new)
    _require_separate_place(old, target)
    target.log.carrying = True
    with source.reading():
        entries, head = source.history(), source.log.head
    if source.storage.read(SALT) is not None:
        _copy_file(SALT, source.storage, target.storage)
    erasure = Erasure(source, entries, kind, name, target.pseudonym(kind, name))
    if any(map(erasure.is_named, (by, reason))):
        raise StoreError(
            f"{old}: found the name of the {kind} in who asks, or why; expected neither to have "
            "it, since both stay in the log. Name a request by its number, and who carries it out."
        )
    if not erasure.versions and not erasure.is_in_a_draw:
        raise StoreError(
            f"{old}: found no {kind} {name!r} in any round; expected one with ratings, or "
            "an item of a list that was drawn from. "
            "Correct the name: `agreement-pipeline history` lists the rounds."
        )
    n_before = _carry_entries(old, target, entries, erasure.without)
    sentence = f"{erasure.subject} was erased, as {by} asked: {reason}"
    erasure.copy_files(target, sentence)
    if n_before <= len(entries):
        digests = sorted({version.ratings_digest for version in erasure.versions})
        facts = {
            "versions": digests,
            "entries": len(entries),
            "head": head,
            "by": by,
            "why": reason,
        }
        target.record("erased", WHOLE_STORE, subject=erasure.subject, **facts)
    withdrawn = target.withdrawn()
    for release, round_name in erasure.releases.items():
        if release not in withdrawn:
            target.record("withdrawn", round_name, releases=[release], reasons=[sentence])
    return Erased(erasure.subject, tuple(sorted(erasure.rounds)), tuple(erasure.releases))


def _carry_entries(
    old: Folder | str,
    target: Store,
    entries: Sequence[Entry],
    convert_entry: Callable[[Entry], tuple[Entry, dict[str, Content]]],
) -> int:
    """How many entries are added, since the new store does not have them yet.

    `convert_entry` gives an entry as the new log says it, and the tables that it names.
    """
    existing_entries = target.history()
    for number, entry in enumerate(entries, 1):
        new_entry, tables = convert_entry(entry)
        if number > len(existing_entries):
            with target.locked():
                for name, table in tables.items():
                    target.storage.keep(name, table)
                target.log.carry(number, new_entry)
        elif {name: existing_entries[number - 1].get(name) for name in new_entry} != new_entry:
            raise StoreError(
                f"{target.root}: found entry {number}, which does not come from {old}; "
                "expected no store, or one that an earlier attempt began. Name another place."
            )
    return len(existing_entries)


def _require_separate_place(old: Folder | str, target: Store) -> None:
    """Whoever deletes one of two stores must not delete the other one, or more, with it."""
    places = [
        place.resolve() if isinstance(place, Path) else place
        for place in (folder_at(old), target.root)
    ]
    shorter, longer = sorted((f"{place}/" for place in places), key=len)
    if shorter != longer and longer.startswith(shorter):
        raise StoreError(
            f"{target.root}: found one store inside the other, {old}; expected a place beside it. "
            "Name another place."
        )
    existing_names = () if target.storage.names(ENTRIES) else target.storage.names()
    names = {name.partition("/")[0] for name in existing_names if not name.startswith(".")}
    if unexpected := sorted(names - ALLOWED_BEFORE_FIRST_ENTRY):
        raise StoreError(
            f"{target.root}: found {listed(unexpected)}; expected an empty place, or a store that "
            "an earlier attempt began. Name another place."
        )


def _copy_file(name: str, source: Storage, target: Storage) -> None:
    content = source.copied(name)
    with target.locked():
        if content is None or not target.keep(name, content, secret=name == SALT):
            raise StoreError(
                f"{target.root / name}: found other bytes than in {source.root}, or nothing there; "
                "expected the same. Name another place for the new store."
            )
