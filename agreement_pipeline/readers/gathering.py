"""A table that grows row by row, in little memory: texts are on disk, and codes in memory.

Every so many rows become arrays of numbers. So no Python object is kept for a row.
"""

from collections.abc import Collection, Iterable, Sequence
from contextlib import closing
from hashlib import blake2b
from typing import Any, Protocol

import numpy as np
import pandas as pd

from agreement_pipeline.errors import RatingsError
from agreement_pipeline.mapped_files import let_go
from agreement_pipeline.ratings import TEXT, Coded, given_back
from agreement_pipeline.readers.on_disk import NumbersOnDisk, TextsOnDisk

AT_ONCE, LETTERS = 8_192, 4_000_000
"""How many rows are Python objects at once, and of how many letters."""
DIGEST, FEW = 16, 128
ZONED = "zoned:"
"""How the name of a column begins that says which times of another have a zone."""


class Growing:
    """The columns of a table that grows row by row.

    Parameters
    ----------
    names
        Its columns.
    texts
        The columns of texts. Each distinct text is kept once, on disk.
    times
        The columns of times, as `times.utc` writes them.
    flags
        The columns of yes, no and None.
    unlike
        The columns of texts of which no two should be the same.
    """

    def __init__(
        self,
        names: Iterable[str],
        texts: Collection[str] = (),
        times: Collection[str] = (),
        flags: Collection[str] = (),
        unlike: Collection[str] = (),
    ) -> None:
        self._parts: dict[str, _Part] = {}
        for name in names:
            if name in times:
                self._parts[name] = _Times()
            elif name in flags:
                self._parts[name] = _Flags()
            elif name in texts:
                self._parts[name] = _Texts(unlike=name in unlike)
            else:
                self._parts[name] = _Objects()
        self._new: list[Sequence[Any]] = []
        self._letters = 0

    def __enter__(self) -> "Growing":
        return self

    def __exit__(self, *_: object) -> None:
        for part in self._parts.values():
            part.close()

    def append(self, row: Sequence[Any]) -> None:
        """Add a row: a value of each column, in their order."""
        self._new.append(row)
        self._letters += sum([len(each) for each in row if type(each) is str])
        if len(self._new) >= AT_ONCE or self._letters >= LETTERS:
            self._settle()

    def frame(self) -> pd.DataFrame:
        """The table. Texts are categorical, and times have a column beside them."""
        self._settle()
        columns: dict[str, Any] = {}
        for name in list(self._parts):
            with closing(self._parts.pop(name)) as part:
                columns.update(part.columns(name))
        given_back()
        return pd.DataFrame(columns, copy=False)

    def _settle(self) -> None:
        """Put the last rows with those before."""
        for part, values in zip(self._parts.values(), zip(*self._new, strict=True), strict=False):
            part.add(values)
        self._new.clear()
        self._letters = 0


def plain(frame: pd.DataFrame) -> pd.DataFrame:
    """A table that grew, with all its texts and times as texts."""
    zoned = [name for name in frame if str(name).startswith(ZONED)]
    columns = {name: _plain(frame, str(name)) for name in frame if name not in zoned}
    return pd.DataFrame(columns, index=frame.index)


def texts_of_times(times: pd.Series, ending: str) -> pd.Series:
    """Times as `times.utc` writes them, with the mark of a zone or without.

    >>> texts_of_times(pd.Series(["2026-09-02"], dtype="datetime64[us]"), "Z").tolist()
    ['2026-09-02T00:00:00.000000Z']
    """
    import pyarrow as pa
    import pyarrow.compute as pc

    values = pa.array(times, pa.timestamp("us"), from_pandas=True)
    with closing(TextsOnDisk()) as written:
        for start in range(0, len(values), AT_ONCE):
            part = pc.strftime(values.slice(start, AT_ONCE), f"%Y-%m-%dT%H:%M:%S{ending}")
            written.add_array(part.cast(pa.large_string()))
        texts = written.array(times.notna().to_numpy())
    return pd.Series(pd.array(texts, dtype=TEXT), index=times.index)


def hashes_of(texts: pd.Series) -> np.ndarray[Any, np.dtype[np.int64]]:
    """A number for each text of a column. Equal texts have equal numbers."""
    found = np.empty(len(texts), dtype=np.int64)
    for start in range(0, len(texts), AT_ONCE):
        part = texts.iloc[start : start + AT_ONCE].tolist()
        found[start : start + len(part)] = list(map(hash, part))
        let_go()
    return found


def _plain(frame: pd.DataFrame, name: str) -> pd.Series:
    column = frame[name]
    if isinstance(column.dtype, pd.CategoricalDtype):
        return column.astype(TEXT)
    if isinstance(column.dtype, pd.BooleanDtype):
        return column.astype(object).where(column.notna(), None)
    if ZONED + name not in frame:
        return column
    zoned = frame[ZONED + name]
    return texts_of_times(column, "Z").where(zoned, texts_of_times(column, ""))


class _Part(Protocol):
    """A column that grows."""

    def add(self, values: Sequence[Any]) -> None:
        """Add values. They are not kept as they are."""

    def columns(self, name: str) -> dict[str, Any]:
        """The whole column, and what stands beside it."""

    def close(self) -> None:
        """Let go of its files."""


class _Objects:
    """A column of anything."""

    def __init__(self) -> None:
        self.values: list[Any] = []

    def add(self, values: Sequence[Any]) -> None:
        self.values.extend(values)

    def columns(self, name: str) -> dict[str, Any]:
        return {name: pd.Series(self.values, dtype=object)}

    def close(self) -> None:
        self.values = []


class _Flags:
    """A column of yes, no and None."""

    def __init__(self) -> None:
        self.said = NumbersOnDisk(np.int8)

    def add(self, values: Sequence[Any]) -> None:
        self.said.add(np.array([-1 if each is None else each for each in values], dtype=np.int8))

    def columns(self, name: str) -> dict[str, Any]:
        said = self.said.array()
        return {name: pd.arrays.BooleanArray(said > 0, said < 0)}

    def close(self) -> None:
        self.said.close()


class _Times:
    """A column of times: microseconds, and whether they have a zone."""

    def __init__(self) -> None:
        self.times, self.zoned = NumbersOnDisk(np.int64), NumbersOnDisk(np.bool_)

    def add(self, values: Sequence[Any]) -> None:
        import pyarrow as pa
        import pyarrow.compute as pc

        written = pa.array(values, pa.string())
        times = pc.utf8_rtrim(written, "Z").cast(pa.timestamp("us"))
        self.times.add(times.to_numpy(zero_copy_only=False))
        self.zoned.add(pc.ends_with(written, "Z").fill_null(False).to_numpy(False))

    def columns(self, name: str) -> dict[str, Any]:
        return {name: self.times.array().view("M8[us]"), ZONED + name: self.zoned.array()}

    def close(self) -> None:
        self.times.close()
        self.zoned.close()


def _in_bytes(texts: Iterable[str]) -> list[bytes]:
    try:
        return [text.encode() for text in texts]
    except UnicodeEncodeError as error:
        half = error.object[error.start]
        raise RatingsError(
            f"an export: found half a character (\\u{ord(half):04x}) in "
            f"{error.object.replace(half, '?')[:40]!r}; expected whole characters. "
            "Export the file again."
        ) from None


class _Texts:
    """A column of texts in codes."""

    def __init__(self, unlike: bool) -> None:
        self.unlike = unlike
        self.places = NumbersOnDisk(np.int32)
        self.digests = bytearray()
        self.distinct = TextsOnDisk()

    def add(self, values: Sequence[Any]) -> None:
        known: dict[str, int] = {}
        start = self.distinct.count
        places = [
            -1 if text is None else start + known.setdefault(text, len(known)) for text in values
        ]
        self.places.add(np.array(places, dtype=np.int32))
        encoded = _in_bytes(known)
        self.distinct.add(encoded)
        if not self.unlike:
            for text in encoded:
                self.digests += blake2b(text, digest_size=DIGEST).digest()

    def columns(self, name: str) -> dict[str, Any]:
        codes, texts = self.places.array(), self.distinct.array()
        first, again = _first_of_each(self.digests, self.distinct.count, self.unlike)
        if first is not None:
            texts = _taken(texts, first)
            small = np.int8 if len(first) < FEW else np.int32
            codes = np.append(again, -1).astype(small)[codes]
        return {name: Coded(codes, pd.Index(pd.array(texts, dtype=TEXT))).categorical()}

    def close(self) -> None:
        self.places.close()
        self.distinct.close()


def _first_of_each(digests: bytes | bytearray, count: int, unlike: bool) -> tuple[Any, Any]:
    """The first place of each distinct text, and the number of the text at each place.

    Both are None if no text comes again.
    """
    if unlike or not count:
        return None, None
    halves = np.frombuffer(digests, dtype=np.uint64).reshape(count, 2)
    order = np.lexsort((np.arange(count), halves[:, 1], halves[:, 0]))
    new = np.append(True, (halves[order[1:]] != halves[order[:-1]]).any(axis=1))
    if new.all():
        return None, None
    earliest = order[new]
    of_place = np.empty(count, dtype=np.int64)
    of_place[order] = earliest[np.cumsum(new) - 1]
    first = np.sort(earliest)
    return first, np.searchsorted(first, of_place)


def _taken(texts: Any, places: Any) -> Any:
    """Some texts, on disk too."""
    with closing(TextsOnDisk()) as found:
        for start in range(0, len(places), AT_ONCE):
            found.add_array(texts.take(places[start : start + AT_ONCE]))
            let_go()
        return found.array()
