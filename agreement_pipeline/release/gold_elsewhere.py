"""Gold items of the other rounds of a project, on which no release may train.

An item is matched by its name, and a unit also by its document.
"""

from collections.abc import Collection, Iterable, Mapping, Set

import pyarrow as pa
import pyarrow.compute as pc

from agreement_pipeline.errors import StoreError, error_in_a_sentence
from agreement_pipeline.ratings import PART_UNIT_OF, ParquetRows, Ratings
from agreement_pipeline.release.gold import GoldElsewhere
from agreement_pipeline.release.tables import TRAIN, UNRESOLVED
from agreement_pipeline.release.tables_to_form_3 import UNRESOLVED_TO_FORM_3
from agreement_pipeline.release.training_table import UNIT_OF
from agreement_pipeline.store import GOLD_ITEMS, RoundVersion, Store, of_event
from agreement_pipeline.text import counted

GoldNames = Mapping[RoundVersion, frozenset[str]]
"""The names of the gold items, and of the documents of gold units, by the round that has them."""


def gold_names_of(store: Store, versions: Iterable[RoundVersion]) -> GoldNames:
    """Rounds without gold items are left out."""
    names_by_version = {version: store.gold_names(version) for version in versions}
    return {version: names for version, names in names_by_version.items() if names}


def gold_names_of_other_rounds(store: Store, rounds: Collection[str]) -> GoldNames:
    """Of every round but these, as it was last judged, whether it was admitted or held."""
    versions = list[RoundVersion]()
    with store.reading():
        about_gold = of_event("decided", store.log.about(GOLD_ITEMS))
        for name in dict.fromkeys(entry["round"] for entry in about_gold):
            if name in rounds:
                continue
            *_, decided = of_event("decided", store.history(name))
            if "gold_items" in decided:
                versions.append(_decided_version(store, name, decided["ratings_digest"]))
        return gold_names_of(store, versions)


def _decided_version(store: Store, round_name: str, ratings_digest: str) -> RoundVersion:
    """An erasure gives versions other digests, and decisions keep theirs."""
    for version in reversed(store.versions(round_name)):
        if version.ratings_digest == ratings_digest:
            return version
    raise StoreError(
        f"round {round_name}: found no version {ratings_digest[:12]}, that its last decision was "
        "taken on; expected it, since it has gold items, on which no other round may train. "
        "Judge this round again."
    )


def find_gold_elsewhere(
    round_name: str, ratings: Ratings, gold: GoldNames, own_gold: Set[str]
) -> dict[str, GoldElsewhere]:
    """The items of a round that other rounds call gold, by the round that does. Those of `own_gold`
    are left out.
    """
    gold_of_others = {
        version: names for version, names in gold.items() if version.round != round_name
    }
    if not gold_of_others:
        return {}
    items = ratings.rated_items().to_pylist()
    documents = dict[str, str]()
    if PART_UNIT_OF in ratings.has:
        table = ratings.items([PART_UNIT_OF])
        documents = dict(
            zip(*(table[name].to_pylist() for name in table.column_names), strict=True)
        )
    elsewhere = {}
    for version, names in sorted(gold_of_others.items(), key=lambda pair: pair[0].round):
        called_gold = [
            item
            for item in items
            if (item in names or documents.get(item) in names) and item not in own_gold
        ]
        if called_gold:
            elsewhere[version.round] = GoldElsewhere(
                version.ratings_digest, tuple(sorted(called_gold))
            )
    return elsewhere


def warn_of_gold_elsewhere(store: Store, round_name: str, ratings: Ratings) -> list[str]:
    """What the page of a round says of its items that other rounds call gold."""
    try:
        gold = gold_names_of_other_rounds(store, [round_name])
    except StoreError as error:
        return [
            "which of its items are gold in other rounds is not known: "
            f"{error_in_a_sentence(error)}"
        ]
    elsewhere = find_gold_elsewhere(round_name, ratings, gold, ratings.gold)
    counts = {name: len(called_gold.items) for name, called_gold in elsewhere.items()}
    return [
        f"{counted(count, 'item')} {'is' if count == 1 else 'are'} gold in round {name}, "
        f"so {'it does' if count == 1 else 'they do'} not train"
        for name, count in counts.items()
    ]


def count_gold_trained(store: Store, release: str, gold: GoldNames) -> dict[str, int]:
    """How many items of a release are gold in another round or in a later version, by that round.

    Only items that the release does not know as gold stand in its tables of items. A table that is
    not there counts as empty: such a release is not complete, or it was withdrawn.
    """
    counts = dict.fromkeys((version.round for version in gold), 0)
    for path in (TRAIN, UNRESOLVED, UNRESOLVED_TO_FORM_3):
        content = store.storage.copied(f"releases/{release}/{path}")
        if content is None:
            continue
        rows = ParquetRows(content)
        columns = [name for name in ("id", UNIT_OF) if name in rows.schema.names]
        for part in rows.iterate_row_groups(columns):
            for version, names in gold.items():
                of_gold = pa.array(sorted(names), pa.string())
                masks = [pc.is_in(part[name].cast(pa.string()), of_gold) for name in columns]
                is_gold = masks[0] if len(masks) == 1 else pc.or_(*masks)
                counts[version.round] += pc.sum(is_gold).as_py() or 0
    return {round_name: count for round_name, count in counts.items() if count}
