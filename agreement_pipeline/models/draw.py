"""Recorded draws: the items of a population that a panel labels, drawn before labels exist.

The items of each stratum are ordered by SHA-256 of the seed and their names, and the first are
drawn. Whole clusters are drawn by the names of their first items. So everybody can draw
again. The seed is SHA-256 of the log's last entry and the population, so nobody picks it.
Whoever can choose what is written into the log before, or what the population is, can try several.
So earlier draws stay in the log, and their lists in the store. A further draw states its reason if
an item of its population was drawn, or if more than a tenth of its items could have been.

A draw also binds what its items were: their texts and the other columns of contents. An item has
the same text if it differs only in how a file ends lines, in how Unicode composes letters, or in
white space at its ends.
"""

import hashlib
import json
from collections.abc import Collection, Mapping, Set
from dataclasses import dataclass, field
from itertools import chain
from math import sqrt
from types import MappingProxyType
from typing import Any

from agreement_pipeline.errors import DrawError
from agreement_pipeline.models.correction import (
    MAX_DRAWN_UNITS,
    UNITS,
    Design,
    clusters_of,
    only_classifier,
    refuse_design,
)
from agreement_pipeline.ratings import CONTENT_PREFIX, Ratings, contents_by_item
from agreement_pipeline.store import Store, digest_of, of_event
from agreement_pipeline.text import called, counted, joined, listed
from agreement_pipeline.yaml_files import validate_settings

MIN_UNITS_OF_STRATUM = 2
DEFAULT_RIGHT_SHARE = 0.9
"""How often a classifier is expected to be right, where nobody says."""
MAX_SHARE_IN_COMMON = 0.1
"""The most of a population that may have been in another one."""
NO_SHARES: Mapping[str, float] = MappingProxyType({})
CONTENT_DIGEST_LENGTH = 32
"""Hexadecimal digits, so 128 bits: nobody finds another text with the same ones."""
MAX_ITEMS_SHOWN = 3

DigestByItem = Mapping[str, str]
"""The digest of a text or another content of items. Items without one are left out."""


@dataclass(frozen=True)
class Draw:
    """Items of a population that were drawn at random, as the log has them.

    Attributes
    ----------
    population, population_digest, population_items
        The name of the population, its digest and its number of items. The digest depends on the
        items, and on the classifier's labels or the clusters by which they were drawn.
    classifier, labels_digest
        Whose labels are the strata, or who labelled the population when it was drawn from; and the
        digest of these labels. It is empty if they are numbers without categories.
    strata
        How many items of each of the classifier's labels. Otherwise, the one stratum has the name
        "": how many items, or clusters.
    seed
        What the draw follows from.
    earlier, reasons
        The seeds of earlier draws from this population or much of it, and why there were more: the
        reasons of these draws, and its own.
    listed
        True if the store has the population's items. Older versions kept none.
    contents
        The digest of the items' texts, and of each other column of contents, by its name. The store
        has the digest of each item. Empty if the population had none, and in draws of older
        versions, which bind ids and labels alone.
    """

    population: str
    population_digest: str
    population_items: int
    classifier: str
    labels_digest: str
    design: Design
    strata: Mapping[str, int]
    seed: str
    items: tuple[str, ...]
    earlier: tuple[str, ...] = ()
    reasons: tuple[str, ...] = ()
    listed: bool = False
    contents: Mapping[str, str] = field(default_factory=dict)

    @property
    def in_words(self) -> str:
        population_phrase = f"{self.population_items:,} items of {self.population}"
        words = f"{len(self.items):,} of {population_phrase}, {self.design}"
        if self.design == "clustered":
            words += f" ({counted(self.strata[''], 'cluster')})"
        if not self.earlier:
            return words
        return (
            f"{words}; after {counted(len(self.earlier), 'earlier draw')}: "
            f"{'; '.join(self.reasons)}"
        )

    def to_mapping(self) -> dict[str, Any]:
        of_texts = {name: [*getattr(self, name)] for name in ("items", "earlier", "reasons")}
        mapping = {**vars(self), "strata": dict(self.strata), **of_texts}
        # Draws of older versions have neither, and keep their digests.
        del mapping["listed"], mapping["contents"]
        if self.listed:
            mapping["listed"] = True
        if self.contents:
            mapping["contents"] = dict(self.contents)
        return mapping

    @classmethod
    def from_mapping(cls, data: Mapping[str, Any]) -> "Draw":
        return validate_settings(cls, data, "draw", DrawError)

    @classmethod
    def logged(cls, entry: Mapping[str, Any]) -> "Draw":
        recorded_draw = cls.from_mapping({**entry, "population": entry["round"]})
        derived = _draw_seed(entry["previous"], recorded_draw.population_digest)
        if not entry.get("carried") and recorded_draw.seed != derived:
            raise DrawError(
                f"draw of {recorded_draw.population}: found a seed that does not follow from the "
                "log; expected the one that nobody chose. Draw again, and say why.",
                "draw_not_derived",
            )
        return recorded_draw

    def is_from(self, population: Ratings) -> bool:
        has_classifier = self.classifier in population.classifiers
        return has_classifier and self.population_digest == _strata_digest(
            _build_strata(population, self.classifier, self.design)
        )

    def refuse_relabelled(self, population: Ratings, classifier: str) -> None:
        """A simple draw does not need the same labels for a correction. But a share of wrong labels
        means nothing if they were changed where people looked.
        """
        if self.labels_digest != _labels_digest(population, classifier):
            raise DrawError(
                f"draw of {self.population}: found other labels of {classifier!r} than it was "
                "drawn from; expected the same ones, since labels could be changed where people "
                "looked. Give the same labels, or draw from fresh items.",
                "draw_relabelled",
            )

    def compare_contents(
        self, population: Ratings, store: Store | None = None, classifier: str | None = None
    ) -> str:
        """Which columns of contents are as they were drawn from, and which nobody can compare.

        The items are those that the classifier labelled: others have no place in the draw. The
        store knows which items have other contents.

        Raises
        ------
        DrawError
            An item has another text than when it was drawn from, or none. Or the draw has a column
            that the population lacks, and the population one that the draw lacks, so that it may
            have been renamed (`draw_other_contents`).
        """
        labelled_by = only_classifier(population, classifier)
        digests_by_column = _digest_contents(population, _labelled_items(population, [labelled_by]))
        missing = sorted({*self.contents} - {*digests_by_column})
        added = sorted({*digests_by_column} - {*self.contents})
        if missing and added:
            raise DrawError(
                f"draw of {self.population}: found {_column_names(added)} and no "
                f"{_column_names(missing)}; expected {_column_names(missing)}, which the drawn "
                "table had, so that both can be compared. Call the column as it was called there.",
                "draw_other_contents",
            )
        compared = [column for column in self.contents if column not in missing]
        for column in compared:
            digest_by_item = digests_by_column[column]
            if digest_of(_serialize_contents(digest_by_item)) == self.contents[column]:
                continue
            items_phrase = "of some items"
            if store is not None:
                drawn = _load_contents(store, self, column)
                moved = [
                    item
                    for item in sorted({*drawn, *digest_by_item})
                    if drawn.get(item) != digest_by_item.get(item)
                ]
                items_phrase = f"of {_moved_items_phrase(moved, self.population_items)}"
            raise DrawError(
                f"draw of {self.population}: found another {_column_names([column])} "
                f"{items_phrase} than they had when they were drawn from; expected the same, "
                "since the labels belong to what was drawn from. Join labels and items again, or "
                "draw from fresh items.",
                "draw_other_contents",
            )
        if not self.contents:
            return "The draw recorded no texts, so it binds ids and labels alone"
        sentences = []
        if compared:
            sentences.append(f"Each item has the same {_column_names(compared)} as in the draw")
        if missing:
            sentences.append(f"Not compared with the draw: {_column_names(missing)}, absent here")
        if added:
            sentences.append(f"Not compared with the draw: {_column_names(added)}, absent there")
        return ". ".join(sentences)

    def refuse_others(
        self, ratings: Ratings, population: Ratings, classifier: str | None = None
    ) -> None:
        """Refuse labels of other items than were drawn, and another population.

        A simple draw is one of items, so any classifier may have labelled these.

        Raises
        ------
        DrawError
            The population is another one; the items do not follow from its seed; a drawn item has
            no label (`draw_missing`); an item was not drawn (`draw_added`); or both, so that items
            were replaced (`draw_replaced`).
        """
        strata = _build_strata(population, only_classifier(population, classifier), self.design)
        digest_and_size = _strata_digest(strata), sum(map(len, strata.values()))
        if digest_and_size != (self.population_digest, self.population_items):
            parts_by_design = {"stratified": "labels or items", "clustered": "clusters or items"}
            population_parts = parts_by_design.get(self.design, "items")
            if population.gold:
                population_parts += f", without its {counted(len(population.gold), 'gold item')}"
            raise DrawError(
                f"draw of {self.population}: found a population with other {population_parts}; "
                f"expected the {self.population_items:,} that were drawn from. Give the same "
                "population.",
                "draw_other_population",
            )
        if self.items != _select_items(_group_units(strata, self.design), self.strata, self.seed):
            raise DrawError(
                f"draw of {self.population}: found items that do not follow from the seed; "
                "expected those that nobody chose. Draw again, and say why.",
                "draw_not_derived",
            )
        panel = ratings.without_assisted
        labelled = {*panel.first_ratings(["item"], raters=panel.raters)["item"].to_pylist()}
        missing, added = sorted({*self.items} - labelled), sorted(labelled - {*self.items})
        if not (missing or added):
            return
        outside = f"outside of the {len(self.items):,} that were drawn"
        sides = (
            (missing, "without a label", "Label the missing items."),
            (added, outside, "Leave the others out."),
        )
        wrong = [
            f"{counted(len(items), 'item')} {problem}, as {items[0]!r}"
            for items, problem, _ in sides
            if items
        ]
        steps = " ".join(step for items, _, step in sides if items)
        code = "draw_replaced" if missing and added else "draw_missing" if missing else "draw_added"
        raise DrawError(
            f"draw of {self.population}: found {' and '.join(wrong)}; expected labels of the "
            f"{len(self.items):,} drawn items and of no others, since what is chosen is no random "
            f"sample. {steps}",
            code,
        )


def draw(
    store: Store,
    name: str,
    population: Ratings,
    n: int,
    *,
    design: Design = "simple",
    classifier: str | None = None,
    right: Mapping[str, float] = NO_SHARES,
    reason: str = "",
) -> Draw:
    r"""Draw items of a population at random, and write them into the log before they are labelled.

    Of the :math:`N_h` items with label h of the classifier, a stratified draw has
    :math:`n_h \propto N_h \sqrt{p_h (1 - p_h)}`, at least two and at most all. A label is right
    with probability :math:`p_h` (Neyman 1934, https://doi.org/10.2307/2342192).

    Parameters
    ----------
    n
        How many items, or clusters, are drawn: from 2 to 10,000.
    design
        *simple*; *stratified* by the classifier's labels; or *clustered*, whole clusters.
    classifier
        Who labelled the population. None: its only classifier.
    right
        How often the panel is expected to give the classifier's label, by label. 0.9 where nothing
        is said.
    reason
        Why there is one more draw from a population, or from much of one.

    Raises
    ------
    DrawError
        The population has too few items, or was drawn from before and no reason is given.
    StoreError
        The name is not allowed.
    """
    called_by = only_classifier(population, classifier)
    strata = _build_strata(population, called_by, design)
    if population.raters or (right and design != "stratified"):
        contents = "shares of labels" if right else f"labels of {listed(population.raters)}"
        raise DrawError(
            f"draw of {name}: found {contents}; expected items that nobody labelled but "
            "classifiers, and shares of labels in a stratified draw alone. Leave them out."
        )
    units = _group_units(strata, design)
    sizes = {label: len(units_of_label) for label, units_of_label in units.items()}
    n_items, unit = sum(map(len, strata.values())), UNITS[design]
    n_units = sum(sizes.values())
    min_units = sum(min(MIN_UNITS_OF_STRATUM, size) for size in sizes.values())
    if not min_units <= n <= min(n_units, MAX_DRAWN_UNITS):
        raise DrawError(
            f"draw of {name}: found {counted(n, unit)} to draw; expected from {min_units} to "
            f"{min(n_units, MAX_DRAWN_UNITS):,} of a population of {n_units:,}. Draw another "
            "number."
        )
    shares = _allocate_by_neyman(sizes, n, right)
    digest, everyone = _strata_digest(strata), {item for items in strata.values() for item in items}
    digests_by_column = _digest_contents(population, everyone)
    with store.locked():
        store.refuse_erased(population, f"draw of {name}")
        earlier = [
            earlier_draw
            for earlier_draw in draws(store)
            if _has_items_in_common(store, earlier_draw, everyone)
        ]
        if earlier and not reason.strip():
            n_items_phrase = counted(len(earlier[-1].items), "item")
            raise DrawError(
                f"draw of {name}: found an earlier draw of {n_items_phrase}, of "
                f"{earlier[-1].population}, from some of these items; expected one draw of a "
                "population, since the best of several is no random sample. Label the drawn "
                "items, which `draw` writes again if it is asked as before, or say why there "
                "must be another (--reason).",
                "draw_open",
            )
        seed = _draw_seed(store.log.head, digest)
        reasons = [
            earlier_reason for earlier_draw in earlier for earlier_reason in earlier_draw.reasons
        ]
        reasons.append(reason.strip())
        new_draw = Draw(
            name,
            digest,
            n_items,
            called_by,
            _labels_digest(population, called_by),
            design,
            shares,
            seed,
            _select_items(units, shares, seed),
            tuple(earlier_draw.seed for earlier_draw in earlier),
            tuple(dict.fromkeys(reasons)) if earlier else (),
            listed=True,
            contents={
                column: digest_of(_serialize_contents(digest_by_item))
                for column, digest_by_item in digests_by_column.items()
            },
        )
        store.storage.keep(f"populations/{digest}.json", _serialize_strata(strata))
        for column, digest_by_item in digests_by_column.items():
            file = f"contents/{new_draw.contents[column]}.json"
            store.storage.keep(file, _serialize_contents(digest_by_item))
        facts = new_draw.to_mapping()
        store.record("drawn", facts.pop("population"), **facts)
    return new_draw


def drawn_before(
    store: Store, name: str, population: Ratings, n: int, design: Design
) -> Draw | None:
    """The last draw from these items, if the same was asked for: by name, design, size and labels.

    None if there is no draw, or if the last one differs. Its tasks would be other ones if the
    items had other texts now, so these are refused.
    """
    store.refuse_erased(population, f"draw of {name}")
    everyone = _labelled_items(population)
    draws_of_items = (
        earlier_draw
        for earlier_draw in reversed(draws(store))
        if not everyone.isdisjoint(earlier_draw.items)
    )
    last_draw = next(draws_of_items, None)
    if last_draw is None or (last_draw.population, last_draw.design) != (name, design):
        return None
    if sum(last_draw.strata.values()) != n or not last_draw.is_from(population):
        return None
    last_draw.compare_contents(population, store, last_draw.classifier)
    return last_draw


def refuse_moved_contents(store: Store, ratings: Ratings, location: str) -> None:
    """Refuse items that were drawn or drawn from, if they have other contents in these ratings.

    People labelled the drawn texts, so their labels say nothing of others. Of an item that was
    drawn twice, they labelled the text of the last draw.
    """
    items = _labelled_items(ratings)
    recorded_draws = [each for each in draws(store) if not items.isdisjoint(each.items)]
    for column, digest_by_item in _digest_contents(ratings, items).items():
        bound = dict[str, tuple[str, str]]()
        listed_draws = [
            (recorded_draw, _load_contents(store, recorded_draw, column))
            for recorded_draw in recorded_draws
            if column in recorded_draw.contents
        ]
        for are_drawn in (False, True):
            for recorded_draw, drawn in listed_draws:
                names = items & drawn.keys()
                names = names.intersection(recorded_draw.items) if are_drawn else names
                bound |= {item: (drawn[item], recorded_draw.population) for item in names}
        moved = sorted(
            item for item, (digest, _) in bound.items() if digest_by_item.get(item) != digest
        )
        if moved:
            populations = joined(dict.fromkeys(bound[item][1] for item in moved))
            raise DrawError(
                f"{location}: found another {_column_names([column])} of "
                f"{_moved_items_phrase(moved, len(items))} than they had when they were "
                f"drawn from {populations}; expected the same, since the labels "
                "belong to what was drawn from. Join labels and items again.",
                "draw_other_contents",
            )


def draws(store: Store) -> tuple[Draw, ...]:
    return tuple(map(Draw.logged, of_event("drawn", store.history())))


def draw_of(store: Store, population: Ratings) -> Draw:
    """The last draw from a population, or else from some of its items.

    So a later draw from other items that has some of these does not take its place.
    """
    everyone = _labelled_items(population)
    draws_of_items = [
        earlier_draw for earlier_draw in draws(store) if not everyone.isdisjoint(earlier_draw.items)
    ]
    if not draws_of_items:
        raise DrawError(
            f"{store.root}: found no draw from these items in the log; expected one that was "
            "written before they were labelled. Draw items: "
            "agreement-pipeline draw POPULATION --n N --store STORE --output TASKS.csv.",
            "draw_absent",
        )
    return next(
        (
            earlier_draw
            for earlier_draw in reversed(draws_of_items)
            if earlier_draw.is_from(population)
        ),
        draws_of_items[-1],
    )


def _draw_seed(head: str, digest: str) -> str:
    return digest_of(f"{head}\n{digest}".encode())


def _build_strata(population: Ratings, classifier: str, design: Design) -> dict[str, list[str]]:
    """The items of each label, or of each cluster by its first item. A simple draw has one, ""."""
    columns = ["item", "label"] if design == "stratified" else ["item"]
    table = population.first_ratings(columns, raters=[classifier])
    items = table["item"].to_pylist()
    if design == "simple":
        return {"": items}
    refuse_design(population, design, "population", DrawError)
    clustered = design == "clustered"
    stratum_names = (
        clusters_of(population, table["item"]) if clustered else table["label"].to_pylist()
    )
    strata: dict[str, list[str]] = {}
    for item, name in zip(items, map(str, stratum_names), strict=True):
        strata.setdefault(name, []).append(item)
    items_by_name = (
        ((members[0], members) for members in strata.values()) if clustered else strata.items()
    )
    return dict(sorted(items_by_name))


def _has_items_in_common(store: Store, earlier_draw: Draw, population: Set[str]) -> bool:
    if not population.isdisjoint(earlier_draw.items):
        return True
    if not earlier_draw.listed:
        return False
    file = f"populations/{earlier_draw.population_digest}.json"
    content = store.storage.read(file) or b""
    if digest_of(content) != earlier_draw.population_digest:
        raise DrawError(
            f"{store.root / file}: found no list of the items of "
            f"{earlier_draw.population}, or another one; expected that of its draw. Restore it.",
            "draw_edited",
        )
    items = chain.from_iterable(json.loads(content).values())
    return len(population & {*items}) > MAX_SHARE_IN_COMMON * len(population)


def _labelled_items(population: Ratings, raters: Collection[str] | None = None) -> frozenset[str]:
    return frozenset(population.first_ratings(["item"], raters=raters)["item"].to_pylist())


def _digest_contents(ratings: Ratings, items: Collection[str]) -> dict[str, DigestByItem]:
    """What is known of each item by the name of the column. A column without values is none."""
    return {
        column: {
            item: digest_of(text.encode())[:CONTENT_DIGEST_LENGTH]
            for item, text in text_by_item.items()
        }
        for column, text_by_item in contents_by_item(ratings, items).items()
    }


def _serialize_contents(digest_by_item: DigestByItem) -> bytes:
    return json.dumps(digest_by_item, sort_keys=True, ensure_ascii=True).encode()


def _load_contents(store: Store, recorded_draw: Draw, column: str) -> dict[str, str]:
    digest = recorded_draw.contents[column]
    file = f"contents/{digest}.json"
    content = store.storage.read(file) or b""
    if digest_of(content) != digest:
        raise DrawError(
            f"{store.root / file}: found no list of the contents of {recorded_draw.population}, or "
            "another one; expected that of its draw. Restore it.",
            "draw_edited",
        )
    digest_by_item: dict[str, str] = json.loads(content)
    return digest_by_item


def _column_names(columns: Collection[str]) -> str:
    return joined(column.removeprefix(CONTENT_PREFIX) for column in columns)


def _moved_items_phrase(moved: Collection[str], n_items: int) -> str:
    return f"{len(moved):,} of {n_items:,} items, {listed(moved, MAX_ITEMS_SHOWN)},"


def _serialize_strata(strata: Mapping[str, list[str]]) -> bytes:
    return json.dumps(strata, ensure_ascii=True).encode()


def _strata_digest(strata: Mapping[str, list[str]]) -> str:
    return digest_of(_serialize_strata(strata))


def _labels_digest(population: Ratings, classifier: str) -> str:
    return (
        ""
        if population.scale.continuous
        else _strata_digest(_build_strata(population, classifier, "stratified"))
    )


def _group_units(
    strata: Mapping[str, list[str]], design: Design
) -> Mapping[str, dict[str, list[str]]]:
    """The units that can be drawn of each stratum, items or clusters, with the items of each."""
    if design == "clustered":
        return {"": dict(strata)}
    return {label: {item: [item] for item in items} for label, items in strata.items()}


def _select_items(
    units: Mapping[str, dict[str, list[str]]], shares: Mapping[str, int], seed: str
) -> tuple[str, ...]:
    """The drawn items by name: of each stratum, the first units in the order of their hashes."""

    def place(unit: str) -> bytes:
        return hashlib.sha256(f"{seed}\n{unit}".encode()).digest()

    return tuple(
        sorted(
            item
            for label, units_of_label in units.items()
            for unit in sorted(units_of_label, key=place)[: shares.get(label, 0)]
            for item in units_of_label[unit]
        )
    )


def _allocate_by_neyman(
    sizes: Mapping[str, int], n: int, right: Mapping[str, float]
) -> dict[str, int]:
    """The items of each stratum are n in all, at least two, and at most all of it.

    >>> _allocate_by_neyman({"no": 900, "yes": 100}, 100, {"no": 0.98, "yes": 0.7})
    {'no': 73, 'yes': 27}
    """
    if strange := sorted({*right} - {*sizes}):
        raise DrawError(
            f"draw: found shares of {called('label', strange)}; expected labels that the "
            f"classifier gave, {listed(sizes)}. Correct the label."
        )
    weights = {
        label: size * sqrt(max(share * (1 - share), 0.0001))
        for label, size in sizes.items()
        for share in [right.get(label, DEFAULT_RIGHT_SHARE)]
    }
    n_by_label = {label: min(MIN_UNITS_OF_STRATUM, size) for label, size in sizes.items()}
    for _ in range(n - sum(n_by_label.values())):
        open_ = [label for label, size in sizes.items() if n_by_label[label] < size]
        next_label = min(open_, key=lambda label: (n_by_label[label] / weights[label], label))
        n_by_label[next_label] += 1
    return n_by_label
