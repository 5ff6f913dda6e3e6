"""Content-addressed rounds, decisions and releases of a project."""

from agreement_pipeline.store.entries import (
    DECIDING as DECIDING,
    are_texts as are_texts,
    classifier_name as classifier_name,
    is_decided as is_decided,
    last_events as last_events,
    of_event as of_event,
    terms_name as terms_name,
)
from agreement_pipeline.store.erasure import (
    Erased as Erased,
    erase as erase,
)
from agreement_pipeline.store.migration import (
    migrate as migrate,
)
from agreement_pipeline.store.local import (
    digest_at as digest_at,
    digest_of as digest_of,
    names_in as names_in,
)
from agreement_pipeline.store.objects import (
    Bucket as Bucket,
    Folder as Folder,
    Listed as Listed,
)
from agreement_pipeline.store.store import (
    UNKNOWN_SETTINGS as UNKNOWN_SETTINGS,
    RoundVersion as RoundVersion,
    Store as Store,
    check_round_name as check_round_name,
    folder_at as folder_at,
    storage_at as storage_at,
)
