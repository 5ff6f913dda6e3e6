"""The whole content of a delivered file; an unfinished or damaged file is refused."""

from codecs import BOM_UTF8
from pathlib import Path

from agreement_pipeline.errors import RatingsError

UNFINISHED = (".part", ".partial", ".tmp", ".crdownload", ".download", "~")
"""How the name of a file ends while a program still writes the file."""
WAIT = "Wait until it is complete, or export it again."


def refuse_unfinished(path: Path) -> None:
    """Refuse a path to nothing, to a device, or to a file that its name calls unfinished.

    Raises
    ------
    RatingsError
        The path is one of these.
    """
    if not path.exists():
        raise RatingsError(f"{path}: found no such file; expected a table. Check the path.")
    if not path.is_file() and not path.is_dir():
        raise RatingsError(
            f"{path}: found a device, pipe or socket; expected a file. Save the table as a file."
        )
    if path.name.endswith(UNFINISHED):
        ending = next(ending for ending in UNFINISHED if path.name.endswith(ending))
        raise RatingsError(
            f"{path.name}: found a name ending in {ending!r}, which means that the file is still "
            f"being written; expected a finished file. {WAIT}"
        )


def whole_bytes(path: Path) -> bytes:
    """The bytes of a file that did not change while they were read.

    Raises
    ------
    RatingsError
        The file changed or is empty, or it cannot be read.
    """
    try:
        before = path.stat()
        data = path.read_bytes()
        after = path.stat()
    except OSError as error:
        raise RatingsError(
            f"{path}: found a file that cannot be read ({error.strerror}); expected a readable "
            "file. Check its permissions and the disk."
        ) from None
    if (before.st_size, before.st_mtime_ns) != (after.st_size, after.st_mtime_ns):
        raise RatingsError(
            f"{path.name}: found a change while the file was read ({before.st_size} bytes before, "
            f"{after.st_size} after); expected a finished file. {WAIT}"
        )
    if not data:
        raise RatingsError(
            f"{path.name}: found 0 bytes; expected a table with at least one rating. "
            "Check that the export is complete."
        )
    return data


def whole_text(path: Path) -> str:
    """The text of a file that did not change while it was read, without a byte order mark.

    Raises
    ------
    RatingsError
        The file cannot be read whole as UTF-8 text, or it is blank.
    """
    return text_of(text_bytes(path), path.name)


def text_bytes(path: Path) -> bytes:
    """The bytes of a file of text, without a byte order mark.

    Raises
    ------
    RatingsError
        The file changed while it was read, is blank, or holds a NUL byte.
    """
    data = whole_bytes(path).removeprefix(BOM_UTF8)
    if b"\0" in data:
        line = data.count(b"\n", 0, data.index(b"\0")) + 1
        raise RatingsError(
            f"{path.name}: line {line}: found a NUL byte; expected text. "
            "Save the file as UTF-8 text (it may be UTF-16, or damaged)."
        )
    if data.isspace() or not data:
        raise RatingsError(
            f"{path.name}: found nothing but blanks; expected a table with at least one rating. "
            "Check that the export is complete."
        )
    return data


def text_of(data: bytes, source: str) -> str:
    """Bytes as text.

    Raises
    ------
    RatingsError
        They are not UTF-8.
    """
    try:
        return data.decode()
    except UnicodeDecodeError as error:
        line = data.count(b"\n", 0, error.start) + 1
        raise RatingsError(
            f"{source}: line {line}: found byte 0x{data[error.start]:02x}, which is not UTF-8; "
            "expected UTF-8 text. Save the table as UTF-8."
        ) from None
