"""Numbers and texts in files without a name, one after the other."""

from collections.abc import Sequence
from tempfile import TemporaryFile
from typing import Any

import numpy as np

from agreement_pipeline.mapped_files import mapped


class NumbersOnDisk:
    """Numbers of one kind."""

    def __init__(self, kind: type[np.generic]) -> None:
        self._kind, self._file = np.dtype(kind), _nameless()

    def add(self, values: np.ndarray[Any, Any]) -> None:
        """Write numbers after those before."""
        self._file.write(np.ascontiguousarray(values).tobytes())

    def array(self) -> np.ndarray[Any, Any]:
        """All of them."""
        self._file.seek(0)
        return np.fromfile(self._file, dtype=self._kind)

    def close(self) -> None:
        """Let go of the file."""
        self._file.close()


class TextsOnDisk:
    """Texts. The system reads what is looked at."""

    def __init__(self) -> None:
        self.count, self._size = 0, 0
        self._bytes, self._ends = _nameless(), _nameless()
        self._ends.write(np.zeros(1, dtype=np.int64).tobytes())

    def add(self, texts: Sequence[bytes]) -> None:
        """Write texts after those before."""
        self._add(np.cumsum(np.fromiter(map(len, texts), np.int64, len(texts))), b"".join(texts))

    def add_array(self, texts: Any) -> None:
        """Write the texts of an Arrow array of large strings. A missing one is an empty one."""
        _, ends, data = texts.buffers()
        places = np.frombuffer(ends, dtype=np.int64)[texts.offset : texts.offset + len(texts) + 1]
        first, last = int(places[0]), int(places[-1])
        self._add(places[1:] - first, memoryview(data)[first:last] if last > first else b"")

    def array(self, there: np.ndarray[Any, Any] | None = None) -> Any:
        """All of them, as an Arrow array that takes no memory of its own.

        If `there` is given, it says which of them are not missing.
        """
        import pyarrow as pa

        known = None if there is None else pa.array(there, pa.bool_()).buffers()[1]
        buffers = [known, *(pa.py_buffer(mapped(each)) for each in (self._ends, self._bytes))]
        return pa.Array.from_buffers(pa.large_string(), self.count, buffers)

    def close(self) -> None:
        """Let go of the files. The system keeps them as long as an array of them is there."""
        self._bytes.close()
        self._ends.close()

    def _add(self, ends: np.ndarray[Any, Any], data: bytes | memoryview) -> None:
        self._bytes.write(data)
        self._ends.write((ends + self._size).tobytes())
        self._size, self.count = self._size + len(data), self.count + len(ends)


def _nameless() -> Any:
    """A file that is gone when it is closed. Its owner closes it."""
    return TemporaryFile()
