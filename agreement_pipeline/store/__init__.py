"""Content-addressed rounds, decisions and releases of a project."""

from agreement_pipeline.store.decision_table import decision_table
from agreement_pipeline.store.entries import (
    DECIDING_FACTS,
    GOLD_ITEMS,
    are_texts,
    classifier_name,
    is_decided,
    last_events,
    of_event,
    terms_name,
)
from agreement_pipeline.store.erasure import Erased, erase
from agreement_pipeline.store.local import digest_at, digest_of, names_in
from agreement_pipeline.store.objects import Bucket, Folder, Listed
from agreement_pipeline.store.samples import arrival_of, draw_items, order_of_items
from agreement_pipeline.store.store import (
    UNKNOWN_SETTINGS,
    RoundVersion,
    Store,
    check_round_name,
    folder_at,
    storage_at,
)

__all__ = [
    "DECIDING_FACTS",
    "GOLD_ITEMS",
    "UNKNOWN_SETTINGS",
    "Bucket",
    "Erased",
    "Folder",
    "Listed",
    "RoundVersion",
    "Store",
    "are_texts",
    "arrival_of",
    "check_round_name",
    "classifier_name",
    "decision_table",
    "digest_at",
    "digest_of",
    "draw_items",
    "erase",
    "folder_at",
    "is_decided",
    "last_events",
    "names_in",
    "of_event",
    "order_of_items",
    "storage_at",
    "terms_name",
]
