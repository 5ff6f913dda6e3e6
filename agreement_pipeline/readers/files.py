"""Delivered files: a damaged one is refused, and a packed one is unpacked."""

import zlib
from codecs import BOM_UTF8
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from errno import EDQUOT, ENOSPC
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any, Literal, TextIO
from zipfile import BadZipFile, ZipFile, is_zipfile

import numpy as np

from agreement_pipeline.errors import RatingsError
from agreement_pipeline.ratings import LIMITS, Limits
from agreement_pipeline.text import as_valid_utf_8

UNFINISHED = (".part", ".partial", ".tmp", ".crdownload", ".download", "~")
WAIT = "Wait until it is complete, or export it again."
UTF_8 = "utf-8"
ENCODING_HINT = (
    "Or name the encoding of the table, as --encoding {} (encoding: {} among the columns of a "
    "project)."
)
START_BYTES = 65_536
FileKind = Literal["json", "xml", "parquet", "arrow", "workbook", "text"]
OF_EXCEL_97 = b"\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1"
"""A later workbook with a password begins so too."""
KIND_BY_MAGIC: dict[bytes, FileKind] = {
    b"PAR1": "parquet",
    b"PK\x03\x04": "workbook",
    OF_EXCEL_97: "workbook",
    b"\xff\xff\xff\xff": "arrow",
}
DATA_SET_FILES = INFO, STATE = "dataset_info.json", "state.json"
KIND_BY_FIRST_MARK: dict[bytes, FileKind] = {b"{": "json", b"[": "json", b"<": "xml"}
BLOCK_BYTES = 1_000_000
(LINE_FEED,) = b"\n"
ZIP = b"PK\x03\x04"
WORKBOOK_MEMBERS = ({"[Content_Types].xml"}, {"mimetype", "content.xml"})
FORM_AND_ENDING_BY_MAGIC = {b"\x1f\x8b": ("gzip", ".gz"), b"\x28\xb5\x2f\xfd": ("zstd", ".zst")}
CHUNK_BYTES = 1 << 20
MAX_ARCHIVE_FILES = 100_000
"""Each file of a ZIP file takes time, however small it is."""
DAMAGE_ERRORS = (BadZipFile, NotImplementedError, OSError, RuntimeError, EOFError, zlib.error)
DISK_FULL_ERRNOS = (ENOSPC, EDQUOT)
"""A full disk is no fault of the file."""


def count_line_feeds(block: bytes) -> int:
    """The line feeds. To count single bytes of many takes Python five times as long."""
    return int(np.count_nonzero(np.frombuffer(block, dtype=np.uint8) == LINE_FEED))


class CutOffError(RatingsError):
    """A file ends before its last record does."""


def refuse_odd_name(path: Path) -> None:
    if str(path) != (plain := as_valid_utf_8(str(path))):
        raise RatingsError(
            f"{plain}: found a name that is not UTF-8; expected one that is. Rename the file."
        )


def refuse_unfinished(path: Path) -> None:
    refuse_odd_name(path)
    if not path.exists():
        raise RatingsError(
            f"{path}: found no such file; expected an export or a table. Check the path."
        )
    if not path.is_file() and not path.is_dir():
        raise RatingsError(
            f"{path}: found a device, pipe or socket; expected a file. Save the table as a file."
        )
    for ending in UNFINISHED:
        if path.name.endswith(ending):
            raise RatingsError(
                f"{path.name}: found a name that ends in {ending!r}, as the name of a file that is "
                f"still being written or of a copy; expected a finished file. {WAIT} "
                "If it is complete, rename it."
            )


@dataclass(frozen=True)
class StableFile:
    """A file that must not change while it is read.

    Attributes
    ----------
    size, modified_ns
        Its bytes and the time of its last change, before it was read.
    n_skipped_lines
        How many of the first lines of a text are not read.
    """

    path: Path
    size: int
    modified_ns: int
    encoding: str = UTF_8
    n_skipped_lines: int = 0

    @classmethod
    def at_path(cls, path: Path, encoding: str = UTF_8, n_skipped_lines: int = 0) -> "StableFile":
        """The file as it is now: its size and the time of its last change."""
        with refusing_read_errors(path), path.open("rb"):
            status = path.stat()
        if not status.st_size:
            raise RatingsError(
                f"{path.name}: found 0 bytes; expected a table with at least one rating. "
                "Check that the export is complete."
            )
        return cls(path, status.st_size, status.st_mtime_ns, encoding, n_skipped_lines)

    def iterate_blocks(self) -> Iterator[bytes]:
        """The lines are whole, in UTF-8, and have no byte order mark."""
        name, n_lines, is_blank = self.path.name, self.n_skipped_lines, True
        with refusing_read_errors(self.path):
            for block in self._iterate_blocks_in_utf_8():
                if b"\0" in block:
                    line = n_lines + block.count(b"\n", 0, block.index(b"\0")) + 1
                    raise RatingsError(
                        f"{name}: line {line}: found a NUL byte; expected text. "
                        "Save the file as UTF-8 text (it may be UTF-16, or damaged). "
                        f"{ENCODING_HINT.format('utf-16', 'utf-16')}"
                    )
                if not block.isascii():
                    decode_text(block, name, n_lines)
                yield block
                n_lines += count_line_feeds(block)
                is_blank = is_blank and block.isspace()
        self.refuse_change()
        if is_blank:
            raise RatingsError(
                f"{name}: found nothing but blanks; expected a table with at least one rating. "
                "Check that the export is complete."
            )

    def _iterate_blocks_in_utf_8(self) -> Iterator[bytes]:
        mark, open_options = BOM_UTF8, dict[str, Any](mode="rb")
        if self.encoding != UTF_8:
            open_options = {"encoding": self.encoding, "newline": "\n"}
        try:
            with self.path.open(**open_options) as file:
                for _ in range(self.n_skipped_lines):
                    if not file.readline():
                        break
                while part := file.read(BLOCK_BYTES) + file.readline():
                    block: bytes = part if isinstance(part, bytes) else part.encode()
                    yield block.removeprefix(mark)
                    mark = b""
        except UnicodeError as error:
            raise RatingsError(
                f"{self.path.name}: found bytes that are no {self.encoding} ({error}); expected "
                "text in that encoding. Correct the encoding."
            ) from None

    def refuse_change(self) -> None:
        """Refuse the file if it has changed since."""
        with refusing_read_errors(self.path):
            current = self.path.stat()
        if (current.st_size, current.st_mtime_ns) != (self.size, self.modified_ns):
            raise RatingsError(
                f"{self.path.name}: found a change while the file was read ({self.size} bytes "
                f"before, {current.st_size} after); expected a finished file. {WAIT}",
                may_pass=True,
            )


@contextmanager
def refusing_read_errors(path: Path) -> Iterator[None]:
    """Refuse the file where the operating system raises an error."""
    try:
        yield
    except OSError as error:
        raise RatingsError(
            f"{path}: found a file that cannot be read ({error.strerror or error}); expected a "
            "readable file. Check its permissions and the disk."
        ) from None


def read_first_bytes(path: Path) -> bytes:
    with refusing_read_errors(path), path.open("rb") as file:
        return file.read(START_BYTES)


def detect_kind(path: Path) -> FileKind:
    """What kind of file it is, by its first bytes."""
    start = read_first_bytes(path)
    text = start.removeprefix(BOM_UTF8).lstrip()
    kinds = (kind for magic, kind in KIND_BY_MAGIC.items() if start.startswith(magic))
    return next(kinds, KIND_BY_FIRST_MARK.get(text[:1], "text"))


def no_row_error(source: str) -> RatingsError:
    return RatingsError(
        f"{source}: found no row of data; expected at least one rating. "
        "Check that the export is complete."
    )


def decode_text(data: bytes, source: str, lines_before: int = 0) -> str:
    """Bytes as text. Bytes that are no UTF-8 are refused with their line."""
    try:
        return data.decode()
    except UnicodeDecodeError as error:
        line = lines_before + data.count(b"\n", 0, error.start) + 1
        if error.reason == "unexpected end of data":
            raise RatingsError(
                f"{source}: line {line}: found the first byte 0x{data[error.start]:02x} of a "
                f"character at the end of the file; expected UTF-8 text that is whole. {WAIT}"
            ) from None
        raise RatingsError(
            f"{source}: line {line}: found byte 0x{data[error.start]:02x}, which is not UTF-8; "
            "expected UTF-8 text. Save the table as UTF-8. "
            f"{ENCODING_HINT.format('cp1252', 'cp1252')}"
        ) from None


@contextmanager
def open_text(
    path: Path, place: str, errors: str = "strict", newline: str | None = ""
) -> Iterator[TextIO]:
    """A file of UTF-8 text, whose errors name the line."""
    with path.open(encoding="utf-8-sig", errors=errors, newline=newline) as file:
        try:
            yield file
        except UnicodeDecodeError:
            decode_text(path.read_bytes(), place)
            raise


@contextmanager
def unpack_for_reading(path: Path, limits: Limits = LIMITS) -> Iterator[Path]:
    """What a ZIP file or a compressed file holds, for as long as it is read; else the path
    itself.
    """
    refuse_unfinished(path)
    form = detect_compression(path)
    if form is None:
        yield path
        return
    with TemporaryDirectory() as folder:
        place = Path(folder) / strip_compression_suffix(path.name)
        _unpack(path, form, place, limits)
        yield place


def detect_compression(path: Path) -> str | None:
    """How a file is packed: ZIP, gzip or zstd. None if it is not."""
    if not path.is_file():
        return None
    if is_zipfile(path):
        try:
            with ZipFile(path) as archive:
                names = {*archive.namelist()}
                return None if any(members <= names for members in WORKBOOK_MEMBERS) else "ZIP"
        except DAMAGE_ERRORS as error:
            raise RatingsError(
                f"{path.name}: found a damaged ZIP file or workbook ({error}); expected a whole "
                f"one. {WAIT}"
            ) from None
    start = read_first_bytes(path)
    if start.startswith(ZIP):
        raise RatingsError(  # the list of what it holds stands at its end
            f"{path.name}: found a ZIP file or workbook without its end; expected a whole one. "
            f"{WAIT}"
        )
    return next(
        (form for mark, (form, _) in FORM_AND_ENDING_BY_MAGIC.items() if start.startswith(mark)),
        None,
    )


def strip_compression_suffix(name: str) -> str:
    """The name without the ending of a compressed file.

    >>> strip_compression_suffix("2026-09.csv.gz"), strip_compression_suffix("2026-09.csv")
    ('2026-09.csv', '2026-09.csv')
    """
    ending_lengths = (
        len(ending)
        for _, ending in FORM_AND_ENDING_BY_MAGIC.values()
        if name.lower().endswith(ending)
    )
    return name[: len(name) - next(ending_lengths, 0)]


def _unpack(path: Path, form: str, place: Path, limits: Limits) -> None:
    likely_fault, step = "unfinished", WAIT
    try:
        if form == "ZIP":
            likely_fault, step = "encrypted", "Pack the folder again, without a password."
            with ZipFile(path) as archive:
                files = archive.infolist()
                if len(files) > MAX_ARCHIVE_FILES:
                    raise RatingsError(
                        f"{path.name}: found {len(files)} files; expected at most "
                        f"{MAX_ARCHIVE_FILES}. Check that the export is the right one."
                    )
                expanded = sum(member.file_size for member in files)
                limits.refuse_beyond("file_bytes", expanded, path.name, "bytes once unpacked")
                archive.extractall(place)
            return

        import pyarrow as pa

        expanded = 0
        with pa.input_stream(str(path), compression=form) as stream, place.open("wb") as out:
            while part := stream.read(CHUNK_BYTES):
                expanded += len(part)
                limits.refuse_beyond("file_bytes", expanded, path.name, "bytes or more, expanded")
                out.write(part)
    except DAMAGE_ERRORS as error:
        if getattr(error, "errno", None) in DISK_FULL_ERRNOS:
            raise
        raise RatingsError(
            f"{path.name}: found a damaged or {likely_fault} {form} file ({error}); expected a "
            f"whole one. {step}"
        ) from None
