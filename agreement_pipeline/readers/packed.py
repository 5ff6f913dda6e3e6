"""ZIP files and compressed files, unpacked for as long as they are read."""

import zlib
from collections.abc import Iterator
from contextlib import contextmanager
from errno import EDQUOT, ENOSPC
from pathlib import Path
from tempfile import TemporaryDirectory
from zipfile import BadZipFile, ZipFile, is_zipfile

from agreement_pipeline.errors import RatingsError
from agreement_pipeline.ratings import LIMITS, Limits
from agreement_pipeline.readers.files import WAIT, readable

ZIP = b"PK\x03\x04"
WORKBOOK = "[Content_Types].xml"
COMPRESSED = {b"\x1f\x8b": ("gzip", ".gz"), b"\x28\xb5\x2f\xfd": ("zstd", ".zst")}
"""How a compressed file begins: the name of its form, and how its name ends."""
AT_ONCE = 1 << 20
MOST_FILES = 100_000
"""The most files of a ZIP file. Each takes time, however small it is."""
DAMAGED = (BadZipFile, NotImplementedError, OSError, RuntimeError, EOFError, zlib.error)
FULL = (ENOSPC, EDQUOT)
"""What the system says of a full disk, which is no fault of the file."""


@contextmanager
def unpacked(path: Path, limits: Limits = LIMITS) -> Iterator[Path]:
    """What a ZIP file or a compressed file holds, for as long as it is read.

    Anything else as it is.

    Raises
    ------
    RatingsError
        The file is damaged, or too large once it is unpacked.
    """
    _refuse_zip_without_end(path)
    if not is_packed(path):
        yield path
        return
    with TemporaryDirectory() as folder:
        place = Path(folder) / without_ending(path.name)
        if _form(path) is None:
            _extract(path, place, limits)
        else:
            _expand(path, place, limits)
        yield place


def is_packed(path: Path) -> bool:
    """True for a ZIP file that is no workbook, and for a compressed file."""
    if not path.is_file():
        return False
    if not is_zipfile(path):
        return _form(path) is not None
    with ZipFile(path) as packed:
        return WORKBOOK not in packed.namelist()


def without_ending(name: str) -> str:
    """The name of a file without the ending of a compressed one.

    >>> without_ending("2026-09.csv.gz"), without_ending("2026-09.csv")
    ('2026-09.csv', '2026-09.csv')
    """
    endings = [ending for _, ending in COMPRESSED.values()]
    found = next((ending for ending in endings if name.lower().endswith(ending)), "")
    return name[: len(name) - len(found)]


def _form(path: Path) -> str | None:
    """What a file is compressed with, by its first bytes."""
    start = _start(path)
    return next((form for mark, (form, _) in COMPRESSED.items() if start.startswith(mark)), None)


def _start(path: Path) -> bytes:
    with readable(path), path.open("rb") as file:
        return file.read(4)


def _refuse_zip_without_end(path: Path) -> None:
    """Refuse half a ZIP file: the list of what it holds stands at its end."""
    if path.is_file() and _start(path) == ZIP and not is_zipfile(path):
        raise RatingsError(
            f"{path.name}: found a ZIP file or workbook without its end; expected a whole one. "
            f"{WAIT}"
        )


def _extract(path: Path, place: Path, limits: Limits) -> None:
    with ZipFile(path) as packed:
        if (files := len(packed.namelist())) > MOST_FILES:
            raise RatingsError(
                f"{path.name}: found {files} files; expected at most {MOST_FILES}. "
                "Check that the export is the right one."
            )
        expanded = sum(each.file_size for each in packed.infolist())
        limits.refuse_beyond("file_bytes", expanded, path.name, "bytes once unpacked")
        try:
            packed.extractall(place)
        except DAMAGED as error:
            if getattr(error, "errno", None) in FULL:
                raise
            raise RatingsError(
                f"{path.name}: found a damaged or encrypted ZIP file ({error}); expected a whole "
                "one. Pack the folder again."
            ) from None


def _expand(path: Path, place: Path, limits: Limits) -> None:
    """Write the content of a compressed file. No more is written than the limit allows."""
    import pyarrow as pa

    expanded = 0
    try:
        with pa.input_stream(str(path), compression=_form(path)) as packed, place.open("wb") as out:
            while part := packed.read(AT_ONCE):
                expanded += len(part)
                limits.refuse_beyond("file_bytes", expanded, path.name, "bytes or more, expanded")
                out.write(part)
    except OSError as error:
        if error.errno in FULL:
            raise
        raise RatingsError(
            f"{path.name}: found a damaged or unfinished {_form(path)} file ({error}); "
            f"expected a whole one. {WAIT}"
        ) from None
