"""Which deliveries came before a round, and what of the round came in them.

Earlier means earlier in the store's log: the rounds that came before this one came first, as they
are at present, and the earlier deliveries of this one.
"""

from collections.abc import Mapping
from typing import NamedTuple

from agreement_pipeline.large_files import digest_of_plain
from agreement_pipeline.projects.settings import ProjectSettings
from agreement_pipeline.ratings import (
    EarlierDelivery,
    ItemsInDelivery,
    Ratings,
    mark_first_deliveries,
)
from agreement_pipeline.release import find_relabelled_version, refuse_stale_sample
from agreement_pipeline.store import RoundVersion, Store, of_event


class DeliveriesBefore(NamedTuple):
    """The stored versions that came before a delivery of a round, in order, and its own stratum.

    A version of the same round has another name than the round, unless it came first.
    """

    versions: tuple[tuple[str, RoundVersion], ...]
    own_name: str


def digest_of_delivery(file_digest: str, predictions_digest: str) -> str:
    """Of a delivered file, and of the files with labels of models that are read with it."""
    if not predictions_digest:
        return file_digest
    return digest_of_plain([file_digest, predictions_digest])


def find_deliveries_before(
    store: Store, round_name: str, delivered_digest: str
) -> DeliveriesBefore:
    """If the same bytes came before, it is what came before them at that time, so that a delivery
    is split in the same way each time.
    """
    arrived = of_event("ingested", store.history())
    present = {entry["round"]: RoundVersion.from_entry(entry) for entry in arrived}
    rounds = [*present]
    earlier_rounds = rounds[: rounds.index(round_name)] if round_name in present else rounds
    versions = [(name, present[name]) for name in earlier_rounds]
    own_versions = dict[str, RoundVersion]()
    for entry in arrived:
        if entry["round"] == round_name:
            digest = entry.get("delivered_as", entry["original_digest"])
            if digest == delivered_digest:
                break
            own_versions.setdefault(digest, RoundVersion.from_entry(entry))
    versions += [
        (_stratum_name(round_name, n), version)
        for n, version in enumerate(own_versions.values(), 1)
    ]
    return DeliveriesBefore(tuple(versions), _stratum_name(round_name, len(own_versions) + 1))


def _stratum_name(round_name: str, delivery: int) -> str:
    return round_name if delivery == 1 else f"{round_name}, delivery {delivery}"


def split_delivery(
    ratings: Ratings,
    round_name: str,
    deliveries_before: DeliveriesBefore,
    store: Store,
    settings: ProjectSettings,
    not_stored: Mapping[str, Ratings],
) -> Ratings:
    """The ratings as a round of the project, with the delivery in which each item came first.

    The sample of a relabelled round has items that came before, and counts as if they had not.
    `not_stored` are rounds that come before this one and are in no store yet.
    """
    items = ItemsInDelivery(ratings)
    relabelled = find_relabelled_version(store, round_name, ratings)
    if relabelled is not None:
        refuse_stale_sample(store, relabelled, round_name, ratings)
        of_sample = [
            (name, each) for name, each in deliveries_before.versions if each.round == round_name
        ]
        deliveries_before, not_stored = deliveries_before._replace(versions=tuple(of_sample)), {}
    earlier = [
        EarlierDelivery(name, delivered_ratings, of_same_round=version.round == round_name)
        for name, version in deliveries_before.versions
        if (delivered_ratings := store.ratings_with(version, items)) is not None
    ]
    earlier += [
        EarlierDelivery(name, delivered_ratings) for name, delivered_ratings in not_stored.items()
    ]
    return mark_first_deliveries(
        ratings,
        earlier,
        deliveries_before.own_name,
        settings.deliveries,
        times_tell=settings.deliveries == "cumulative" or settings.replicates == "across",
        whole_clusters=settings.units is not None,
    )
