"""The files of rounds as they were delivered."""

import os
from pathlib import Path

from agreement_pipeline.errors import StoreError
from agreement_pipeline.store.files import digest_at
from agreement_pipeline.store.names import RoundVersion
from agreement_pipeline.store.storage import Storage
from agreement_pipeline.store.tables import RESTORE


def delivered_at(original: Path) -> Path:
    """The place of a delivered file or folder.

    Raises
    ------
    StoreError
        There is none.
    """
    source = Path(os.path.abspath(original))
    if not source.exists():
        raise StoreError(f"{source}: found no such file; expected the original. Check the path.")
    return source


def refuse_changed(original: Path, found: str, expected: str) -> None:
    """Refuse an original that is not the one that its ratings were read from.

    Raises
    ------
    StoreError
        Its digest is another one.
    """
    if found != expected:
        raise StoreError(
            f"{original}: found other bytes than when its ratings were read; "
            "expected a file that does not change. Ingest the round again.",
            may_pass=True,
        )


def keep_original(storage: Storage, version: RoundVersion, source: Path) -> None:
    """Keep the original of a version, byte for byte.

    Raises
    ------
    StoreError
        Other bytes were kept for it, or it changed meanwhile.
    """
    name = f"originals/{version.original_digest}/{version.source}"
    if not storage.keep_copy(name, source, version.original_digest):
        refuse_changed(source, digest_at(source), version.original_digest)
        raise StoreError(
            f"{storage.root / name}: found other bytes than those kept, "
            f"so the original was edited; {RESTORE}"
        )
