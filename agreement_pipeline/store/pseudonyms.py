"""The pseudonyms of raters, and their key."""

import hmac
import os
from collections.abc import Iterable

from agreement_pipeline.errors import StoreError
from agreement_pipeline.store.storage import Storage

SALT = "salt"


def pseudonyms_of(raters: Iterable[str], key: bytes) -> dict[str, str]:
    """A pseudonym for each rater. Without the key nobody can tell the name."""
    return {
        name: f"rater-{hmac.digest(key, name.encode(), 'sha256').hex()[:12]}" for name in raters
    }


def checked_key(key: bytes, where: str) -> bytes:
    """The key, if it is one.

    Raises
    ------
    StoreError
        The file of the key is empty.
    """
    if not key:
        raise StoreError(
            f"{where}: found 0 bytes; expected the key of the raters' pseudonyms. "
            "Restore it from a backup."
        )
    return key


def drawn_key(storage: Storage, *, may_draw: bool) -> bytes:
    """The key that another writer kept meanwhile, or a new one. Call only while locked.

    Raises
    ------
    StoreError
        There is no key, and a new one would give the raters of old releases new pseudonyms.
    """
    kept = storage.read(SALT)
    if kept is not None:
        return kept
    if not may_draw:
        raise StoreError(
            f"{storage.root / SALT}: found no such file, and releases in the log; "
            "expected the key of the raters' pseudonyms. Restore it from a backup."
        )
    drawn = os.urandom(32)
    storage.keep(SALT, drawn, secret=True)
    return drawn
