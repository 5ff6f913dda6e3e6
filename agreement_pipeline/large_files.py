import hashlib
import json
import os
import tempfile
import weakref
from collections.abc import Callable, Iterable, Iterator, Mapping
from pathlib import Path
from typing import BinaryIO

PART = 2**20


class LargeFile:
    """Bytes in a temporary file of this process. They never change.

    The file is removed when nothing refers to it any more. `TMPDIR` says where it lies. `digest` is
    SHA-256 of the bytes.

    Examples
    --------
    >>> whole = LargeFile(lambda path: path.write_bytes(b"abc"))
    >>> len(whole), whole.digest[:8], list(whole.iterate_parts())
    (3, 'ba7816bf', [b'abc'])
    """

    def __init__(self, write: Callable[[Path], object]) -> None:
        opened, path = tempfile.mkstemp(prefix="agreement-")
        os.close(opened)
        self.path = Path(path)
        weakref.finalize(self, _remove_if_of_process, path, os.getpid())
        write(self.path)
        with self.path.open("rb") as file:
            self.digest = hashlib.file_digest(file, "sha256").hexdigest()
        self._size = self.path.stat().st_size

    @classmethod
    def from_parts(cls, parts: Iterable[bytes]) -> "LargeFile":
        return cls(lambda path: _write_parts(path, parts))

    def __len__(self) -> int:
        return self._size

    def __eq__(self, other: object) -> bool:
        return isinstance(other, LargeFile) and self.digest == other.digest

    def __hash__(self) -> int:
        return hash(self.digest)

    def iterate_parts(self) -> Iterator[bytes]:
        with self.path.open("rb") as file:
            yield from iterate_file_parts(file)


Content = bytes | LargeFile
Files = Mapping[str, Content]


def digest_of_plain(data: object) -> str:
    """SHA-256 of plain data, whatever the order of their keys."""
    return hashlib.sha256(json.dumps(data, sort_keys=True).encode()).hexdigest()


def iterate_content_parts(content: Content) -> Iterable[bytes]:
    return [content] if isinstance(content, bytes) else content.iterate_parts()


def iterate_file_parts(file: BinaryIO) -> Iterator[bytes]:
    return iter(lambda: file.read(PART), b"")


def _write_parts(path: Path, parts: Iterable[bytes]) -> None:
    with path.open("wb") as file:
        file.writelines(parts)


def _remove_if_of_process(path: str, process: int) -> None:
    if os.getpid() == process:
        Path(path).unlink(missing_ok=True)
