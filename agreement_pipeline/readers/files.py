"""The content of a delivered file; an unfinished or damaged file is refused."""

from codecs import BOM_UTF8
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

from agreement_pipeline.errors import RatingsError

UNFINISHED = (".part", ".partial", ".tmp", ".crdownload", ".download", "~")
"""How the name of a file ends while a program still writes the file."""
WAIT = "Wait until it is complete, or export it again."


class CutOffError(RatingsError):
    """A file ends before its last record does."""


def refuse_unfinished(path: Path) -> None:
    """Refuse a path to nothing, to a device, or to a file that its name calls unfinished.

    Raises
    ------
    RatingsError
        The path is one of these.
    """
    if not path.exists():
        raise RatingsError(
            f"{path}: found no such file; expected an export or a table. Check the path."
        )
    if not path.is_file() and not path.is_dir():
        raise RatingsError(
            f"{path}: found a device, pipe or socket; expected a file. Save the table as a file."
        )
    if path.name.endswith(UNFINISHED):
        ending = next(ending for ending in UNFINISHED if path.name.endswith(ending))
        raise RatingsError(
            f"{path.name}: found a name that ends in {ending!r}, as the name of a file that is "
            f"still being written or of a copy; expected a finished file. {WAIT} "
            "If it is complete, rename it."
        )


@dataclass(frozen=True)
class Steady:
    """A file that must not change while it is read.

    Attributes
    ----------
    path
        Where it is.
    was
        Its size in bytes and the time of its last change, before it was read.
    """

    path: Path
    was: tuple[int, int]

    @classmethod
    def at(cls, path: Path) -> "Steady":
        """The file at a path, before it is read.

        Raises
        ------
        RatingsError
            The file is empty or cannot be read.
        """
        with readable(path), path.open("rb"):
            was = _state(path)
        if not was[0]:
            raise RatingsError(
                f"{path.name}: found 0 bytes; expected a table with at least one rating. "
                "Check that the export is complete."
            )
        return cls(path, was)

    def refuse_change(self) -> None:
        """Refuse the file if it changed.

        Raises
        ------
        RatingsError
            It did, or it cannot be read any more.
        """
        with readable(self.path):
            now = _state(self.path)
        if now != self.was:
            raise RatingsError(
                f"{self.path.name}: found a change while the file was read ({self.was[0]} bytes "
                f"before, {now[0]} after); expected a finished file. {WAIT}",
                may_pass=True,
            )


@contextmanager
def readable(path: Path) -> Iterator[None]:
    """Whatever the system says of a file that cannot be read, as a refusal."""
    try:
        yield
    except OSError as error:
        raise RatingsError(
            f"{path}: found a file that cannot be read ({error.strerror or error}); expected a "
            "readable file. Check its permissions and the disk."
        ) from None


def _state(path: Path) -> tuple[int, int]:
    found = path.stat()
    return found.st_size, found.st_mtime_ns


def whole_bytes(path: Path) -> bytes:
    """The bytes of a file that did not change while they were read.

    Raises
    ------
    RatingsError
        The file changed or is empty, or it cannot be read.
    """
    file = Steady.at(path)
    with readable(path):
        data = path.read_bytes()
    file.refuse_change()
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
    refuse_nul(data, path.name)
    if data.isspace() or not data:
        raise blank(path.name)
    return data


def refuse_nul(data: bytes, source: str, lines_before: int = 0) -> None:
    """Refuse a part of a text that holds a NUL byte.

    Raises
    ------
    RatingsError
        It does.
    """
    if b"\0" in data:
        line = lines_before + data.count(b"\n", 0, data.index(b"\0")) + 1
        raise RatingsError(
            f"{source}: line {line}: found a NUL byte; expected text. "
            "Save the file as UTF-8 text (it may be UTF-16, or damaged)."
        )


def blank(source: str) -> RatingsError:
    """The refusal of a text of nothing but blanks."""
    return RatingsError(
        f"{source}: found nothing but blanks; expected a table with at least one rating. "
        "Check that the export is complete."
    )


def no_row(source: str) -> RatingsError:
    """The refusal of a table without a row of data."""
    return RatingsError(
        f"{source}: found no row of data; expected at least one rating. "
        "Check that the export is complete."
    )


def text_of(data: bytes, source: str, lines_before: int = 0) -> str:
    """Bytes as text.

    Raises
    ------
    RatingsError
        They are not UTF-8.
    """
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
            "expected UTF-8 text. Save the table as UTF-8."
        ) from None
