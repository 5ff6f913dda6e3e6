"""A store made again without a rater or an item, because somebody asked for that.

Bytes of a store never change, so the rest is carried over into a new one::

    rounds with the subject     a table without it, under another digest; no original
    their delivered tables      the rows of other raters, and none if an item is erased
    releases of these rounds    a notice that they were withdrawn, and no other file
    their certificates          none: the classifier has to be certified again
    sentences on these rounds   none that has the name
    lists that draws were from  a list without the item

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
from agreement_pipeline.store.entries import HERE, Entry, of_event
from agreement_pipeline.store.local import digest_of
from agreement_pipeline.store.log import ENTRIES
from agreement_pipeline.store.objects import PROBE, Folder, Storage
from agreement_pipeline.store.store import (
    SALT,
    RoundVersion,
    Store,
    delivery_path,
    folder_at,
    table_of,
    table_ratings,
)
from agreement_pipeline.text import listed

RELEASES, ORIGINALS = "releases", "originals"
MANIFEST, POLICY, WITHDRAWN = "manifest.json", "policy.json", "WITHDRAWN.json"
# What may stand where a store has no entry yet, beside hidden files. A volume has the last.
NOT_BEGUN = {PROBE, SALT, "populations", "rounds", "lost+found"}
TEXTS = frozenset({"source", "reasons", "reason", "why", "description", "scope"})
NAMES = {"items": "item", "name": "rater", "classifier": "rater"}
OF_A_LOG = ("number", "previous", "index", "carried", "format")


class Erased(NamedTuple):
    subject: str
    rounds: tuple[str, ...]
    releases: tuple[str, ...]


@dataclass
class Erasure:
    """A subject in a store: the rater or the item (`what`) of this name."""

    store: Store
    entries: tuple[Entry, ...]
    what: str
    name: str
    subject: str

    @cached_property
    def versions(self) -> frozenset[RoundVersion]:
        found = set[RoundVersion]()
        for version in {*map(RoundVersion.logged, self._of("ingested"))}:
            ratings = self.store.ratings_of(version)
            names = ratings.everyone if self.what == "rater" else ratings.rated().to_pylist()
            if self.name in names:
                found.add(version)
        return frozenset(found)

    @cached_property
    def rounds(self) -> frozenset[str]:
        return frozenset(each.round for each in self.versions)

    @cached_property
    def releases(self) -> dict[str, str]:
        digests = {(each.round, each.ratings_digest) for each in self.versions}
        return {
            entry["release"]: next(name for name, _ in had)
            for entry in self._of("released")
            if (had := [each for each in entry["rounds"].items() if each in digests])
        }

    @property
    def is_drawn(self) -> bool:
        without = (self.without(each)[0] for each in self._of("drawn"))
        return any(
            (said["items"], said["population_digest"]) != (each["items"], each["population_digest"])
            for said, each in zip(without, self._of("drawn"), strict=True)
        )

    def without(self, entry: Entry) -> tuple[Entry, dict[str, Content]]:
        said = {name: value for name, value in entry.items() if name not in OF_A_LOG}
        if said["event"] in ("drawn", "anchored") or self.rounds & {
            said["round"],
            *said.get("rounds", ()),
        }:
            said = {name: self._unsaid(name, value) for name, value in said.items()}
        if said["event"] == "drawn" and said.get("listed"):
            data = self._list_without(said)
            n_items = sum(map(len, json.loads(data).values()))
            said |= {"population_digest": digest_of(data), "population_items": n_items}
            return said, {_list_of(said): data}
        if said["event"] != "ingested":
            return said, {}
        version = RoundVersion.logged(entry)
        table = self.store.kept_table(version)
        if version in self.versions:
            place = f"{self.store.root}, round {version.round}, without {self.subject}"
            ratings = table_ratings(table, place, without=(self.what, self.name))
            table = table_of(ratings)
            said |= {"ratings_digest": ratings.digest, "table_digest": digest_of(table)}
        tables = {f"rounds/{said['ratings_digest']}/{said['table_digest']}.parquet": table}
        if not version.delivery_digest:
            return said, tables
        delivery = self.store.kept_delivery(version)
        if version in self.versions and self.what == "item":
            # There an item may have other names: those of its repetitions, or of its document.
            del said["delivery_digest"]
            return said, tables
        if version in self.versions:
            delivery = DeliveredTable.from_parquet(delivery, without_rater=self.name).to_parquet()
            said["delivery_digest"] = digest_of(delivery)
        tables[delivery_path(said["delivery_digest"])] = delivery
        return said, tables

    def copy_files(self, to: Store, reason: str) -> None:
        for called, name in self.releases.items():
            notice = {"round": name, "reasons": [reason], "time": datetime.now(UTC).isoformat()}
            place = f"{RELEASES}/{called}/{WITHDRAWN}"
            with to.locked():
                if to.storage.read(place) is None:
                    to.storage.keep(place, (json.dumps(notice, indent=2) + "\n").encode())
        of, arrived = self.store.storage, self._of("ingested")
        originals = {each["original_digest"] for each in arrived}
        originals -= {each["original_digest"] for each in arrived if self._is_about(each)}
        results = {
            f"contracts/{each['delivery']['suite_digest']}/"
            f"{each['delivery']['delivery_digest']}-{each['delivery']['results_digest']}.json"
            for each in self._of("decided")
            if not self._is_about(each) and "results_digest" in each.get("delivery", {})
        }
        certified = [each for each in self._of("certified") if not self._is_about(each)]
        kept = {f"certificates/{each['certificate']}.json" for each in certified}
        kept |= {
            f"anchors/{each['labels']}.json"
            for each in self._of("anchored")
            if f"certificates/{each['certificate']}.json" in kept
        }
        for name in of.names():
            folder, _, below = name.partition("/")
            if (
                (folder == ORIGINALS and below.partition("/")[0] in originals)
                or (folder == RELEASES and "/".join(below.split("/")[:2]) not in self.releases)
                or name in kept | results
            ):
                _copy_file(name, of, to.storage)

    def _of(self, event: str) -> list[Entry]:
        return of_event(event, self.entries)

    def _is_about(self, entry: Entry) -> bool:
        return not self.rounds.isdisjoint({entry["round"], *entry.get("rounds", ())})

    def _list_without(self, drawn: Entry) -> bytes:
        name, digest = _list_of(drawn), drawn["population_digest"]
        data = self.store.storage.read(name)
        if data is None or digest_of(data) != digest:
            raise StoreError(
                f"{self.store.root / name}: found no list of what draw {drawn['round']} was from, "
                "or another one; expected the list that was written. Restore it from a backup."
            )
        lists = json.loads(data)
        if self.what != "item" or not any(self.name in items for items in lists.values()):
            return data
        left = {key: [each for each in items if each != self.name] for key, items in lists.items()}
        clustered = drawn["design"] == "clustered"
        named = {items[0] if clustered else key: items for key, items in left.items() if items}
        return json.dumps(named).encode()

    def _unsaid(self, fact: str, value: Any) -> Any:
        if isinstance(value, dict):
            return {name: self._unsaid(name, each) for name, each in value.items()}
        if isinstance(value, list):
            return [self._unsaid(fact, each) for each in value]
        if NAMES.get(fact) == self.what and value == self.name:
            return self.subject
        if fact not in TEXTS or not isinstance(value, str):
            return value
        if value == self.name:
            return self.subject
        return f"left out, since it may name {self.subject}" if self.is_named(value) else value

    def is_named(self, text: str) -> bool:
        return bool(re.search(rf"(?<!\w){re.escape(self.name)}(?!\w)", text, re.IGNORECASE))


def _list_of(drawn: Entry) -> str:
    return f"populations/{drawn['population_digest']}.json"


def erase(old: Folder | str, new: Folder | str, what: str, name: str, by: str, why: str) -> Erased:
    """Make a store again without a rater or an item.

    The old store is only read. It may be stopped at any time: until it is done, nobody can use the
    new store, and run again, it goes on. The last entries say what was erased, under a pseudonym,
    and which releases were withdrawn for that. Ratings with the subject are refused from then on.

    `what` is `rater` or `item`. The log says `by` whom and `why` it was erased.
    """
    of, made = Store(old), Store(new)
    _refuse_place(old, made)
    made.log.carrying = True
    with of.reading():
        entries, head = of.history(), of.log.head
    if of.storage.read(SALT) is not None:
        _copy_file(SALT, of.storage, made.storage)
    found = Erasure(of, entries, what, name, made.pseudonym(what, name))
    if any(map(found.is_named, (by, why))):
        raise StoreError(
            f"{old}: found the name of the {what} in who asks, or why; expected neither to have "
            "it, since both stay in the log. Name a request by its number, and who carries it out."
        )
    if not found.versions and not found.is_drawn:
        raise StoreError(
            f"{old}: found no {what} {name!r} in any round; expected one with ratings, or "
            "an item of a list that was drawn from. "
            "Correct the name: `agreement-pipeline history` lists the rounds."
        )
    n_before = _carry_entries(old, made, entries, found.without)
    reason = f"{found.subject} was erased, as {by} asked: {why}"
    found.copy_files(made, reason)
    if n_before <= len(entries):
        digests = sorted({each.ratings_digest for each in found.versions})
        told = {"versions": digests, "entries": len(entries), "head": head, "by": by, "why": why}
        made.record("erased", HERE, subject=found.subject, **told)
    withdrawn = made.withdrawn()
    for called, round_name in found.releases.items():
        if called not in withdrawn:
            made.record("withdrawn", round_name, releases=[called], reasons=[reason])
    return Erased(found.subject, tuple(sorted(found.rounds)), tuple(found.releases))


def _carry_entries(
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


def _refuse_place(old: Folder | str, made: Store) -> None:
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


def _copy_file(name: str, of: Storage, to: Storage) -> None:
    content = of.copied(name)
    with to.locked():
        if content is None or not to.keep(name, content, secret=name == SALT):
            raise StoreError(
                f"{to.root / name}: found other bytes than in {of.root}, or nothing there; "
                "expected the same. Name another place for the new store."
            )
