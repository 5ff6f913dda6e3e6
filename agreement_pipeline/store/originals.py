"""The files of rounds as they were delivered."""

import os
from pathlib import Path

from agreement_pipeline.errors import StoreError
from agreement_pipeline.store import files
from agreement_pipeline.store.names import RoundVersion
from agreement_pipeline.store.storage import Storage
from agreement_pipeline.store.tables import RESTORE

Delivered = bytes | dict[str, bytes]
"""The bytes of a file. For a folder: the bytes of its files, by name."""


def delivered_at(original: Path) -> tuple[str, Delivered]:
    """The name of a delivered file or folder, and its bytes.

    Raises
    ------
    StoreError
        There is none.
    """
    source = Path(os.path.abspath(original))
    if not source.exists():
        raise StoreError(f"{source}: found no such file; expected the original. Check the path.")
    return source.name, files.contents_of(source)


def keep_original(storage: Storage, version: RoundVersion, delivered: Delivered) -> None:
    """Keep the original of a version, byte for byte.

    Raises
    ------
    StoreError
        Other bytes were kept for it.
    """
    name = f"originals/{version.original_digest}/{version.source}"
    kept = (
        storage.keep(name, delivered)
        if isinstance(delivered, bytes)
        else storage.keep_folder(name, delivered)
    )
    if not kept:
        raise StoreError(
            f"{storage.root / name}: found other bytes than those kept, "
            f"so the original was edited; {RESTORE}"
        )
