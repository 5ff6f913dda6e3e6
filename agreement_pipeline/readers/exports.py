"""An export: a file, or a folder of files, as records of plain data."""

import csv
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Any, Literal, NamedTuple

from agreement_pipeline.errors import RatingsError
from agreement_pipeline.readers.files import UNFINISHED, CutOffError, readable, text_of
from agreement_pipeline.text import counted

FileKind = Literal["json", "xml", "parquet", "arrow", "excel", "text"]
MAGIC: tuple[tuple[bytes, FileKind], ...] = (
    (b"PAR1", "parquet"),
    (b"PK\x03\x04", "excel"),
    (b"\xff\xff\xff\xff", "arrow"),
)
MARKS: dict[bytes, FileKind] = {b"{": "json", b"[": "json", b"<": "xml"}
SEPARATORS = ",\t;|"
START, SAMPLE = 65_536, 20
DESCRIBING = INFO, STATE = "dataset_info.json", "state.json"
BATCH = 64
"""Rows of a Parquet file at a time: each may hold a text that the file keeps once."""


class Record(NamedTuple):
    """A record, and its place for errors."""

    place: str
    value: Mapping[str, Any]


@dataclass(eq=False)
class Export:
    """A file or a folder. Its format is found by its content, not by its name.

    Attributes
    ----------
    path
        Where it lies.
    at
        The place of the record that was read last, for errors.
    """

    path: Path
    at: str = ""

    @property
    def name(self) -> str:
        """The name, for errors."""
        return self.path.name

    @cached_property
    def files(self) -> tuple[Path, ...]:
        """The finished visible files, by name, without what describes a data set."""
        if not self.path.is_dir():
            return (self.path,)
        return tuple(
            each
            for each in sorted(self.path.rglob("*"))
            if each.is_file()
            and not any(part.startswith(".") for part in each.relative_to(self.path).parts)
            and not each.name.endswith(UNFINISHED)
            and not (each.name in DESCRIBING and each.parent in self.data_sets)
        )

    @cached_property
    def data_sets(self) -> frozenset[Path]:
        """The folders that Hugging Face's `save_to_disk` wrote."""
        described, stated = ({each.parent for each in self.path.rglob(name)} for name in DESCRIBING)
        return frozenset(described & stated)

    @cached_property
    def kind(self) -> FileKind:
        """What the first file is."""
        return kind_of(self.files[0]) if self.files else "text"

    @cached_property
    def first(self) -> Mapping[str, Any]:
        """The first record, or nothing if there is none that can be read."""
        return first_record(self.files[0]) if self.files else {}

    def records(self) -> Iterator[Record]:
        """All records of all files."""
        for path in self.files:
            yield from self.records_in(path)

    def records_in(self, path: Path) -> Iterator[Record]:
        """All records of a file."""
        for record in records_of(path, self.place(path)):
            self.at = record.place
            yield record

    def place(self, path: Path) -> str:
        """The name of a file in the export, for errors."""
        return str(path.relative_to(self.path)) if self.path.is_dir() else path.name


def kind_of(path: Path) -> FileKind:
    """What a file is, by its first bytes."""
    with readable(path), path.open("rb") as file:
        start = file.read(START)
    for magic, kind in MAGIC:
        if start.startswith(magic):
            return kind
    text = start.removeprefix(b"\xef\xbb\xbf").lstrip()
    return MARKS.get(text[:1], "text")


def first_record(path: Path) -> Mapping[str, Any]:
    """The first record of a file, or nothing if none can be read.

    Raises
    ------
    CutOffError
        The file ends within this record.
    """
    try:
        return next(records_of(path, path.name, "replace")).value
    except CutOffError:
        raise
    except (RatingsError, StopIteration):
        return {}


def records_of(path: Path, place: str, errors: str = "strict") -> Iterator[Record]:
    """The records of a file.

    Raises
    ------
    RatingsError
        The file cannot be read.
    """
    kind = kind_of(path)
    if kind == "json":
        from agreement_pipeline.readers.json_stream import json_objects

        for number, value in json_objects(path):
            yield Record(f"{place}: record {number}", value)
    elif kind in ("parquet", "arrow"):
        for number, value in enumerate(_columnar(path, kind), 1):
            yield Record(f"{place}: record {number}", value)
    elif kind == "text":
        yield from _delimited(path, place, errors)


def separator_in(path: Path, usual: str | None = None) -> str:
    """The separator of a file of delimited text: the usual one, if it parts the header.

    Else it is the mark that parts the first rows into equally many cells, if there is one. If no
    mark is usual, it is the one that parts the header into most cells.
    """
    with readable(path), path.open("rb") as file:
        start = file.read(START).decode("utf-8-sig", errors="replace")
    *lines, _ = [*start.splitlines(), ""][: SAMPLE + 1]
    return _separator(lines, usual)


def _separator(lines: Sequence[str], usual: str | None) -> str:
    """The separator of some lines.

    >>> _separator(["item;rater", "i1;ana"], ","), _separator(["item;rater", "ana"], ",")
    (';', ',')
    """
    if not lines or (usual and _widths(lines[:1], usual) != {1}):
        return usual or ","
    if usual is None:
        return max(SEPARATORS, key=lambda mark: max(_widths(lines[:1], mark), default=0))
    widths = {mark: _widths(lines, mark) for mark in SEPARATORS}
    one = [mark for mark, found in widths.items() if len(found) == 1 and found != {1}]
    return max(one, key=lambda mark: max(widths[mark]), default=usual)


def _widths(lines: Sequence[str], mark: str) -> set[int]:
    return {len(cells) for cells in csv.reader(lines, delimiter=mark) if cells}


def _delimited(path: Path, place: str, errors: str) -> Iterator[Record]:
    number = 1
    try:
        with path.open(encoding="utf-8-sig", errors=errors, newline="") as file:
            rows = csv.reader(file, delimiter=separator_in(path), strict=True)
            header = next(rows, [])
            for number, cells in enumerate(rows, 2):
                if cells:
                    where = f"{place}: row {number}"
                    yield Record(where, _row(header, cells, where))
    except UnicodeDecodeError:
        text_of(path.read_bytes(), path.name)
        raise
    except csv.Error as error:
        raise RatingsError(
            f"{place}: row {number + 1}: found text that is not readable as delimited text "
            f"({error}); expected quotes that close. Export the file again."
        ) from None


def _row(header: Sequence[str], cells: list[str], where: str) -> dict[str, Any]:
    if len(cells) != len(header):
        raise RatingsError(
            f"{where}: found {counted(len(cells), 'cell')}; expected {len(header)}, as in "
            "the header. If it is the last row, the file may be cut off. Export it again."
        )
    return dict(zip(header, cells, strict=True))


def _columnar(path: Path, kind: FileKind) -> Iterator[dict[str, Any]]:
    import pyarrow as pa
    import pyarrow.parquet as pq

    from agreement_pipeline.readers.class_labels import named_in_schema
    from agreement_pipeline.readers.parquet import footer_of

    try:
        if kind == "parquet":
            footer_of(path)
            file = pq.ParquetFile(path)
            batches, schema = file.iter_batches(BATCH), file.schema_arrow
        else:
            stream = pa.ipc.open_stream(pa.memory_map(str(path)))
            batches, schema = iter(stream), stream.schema
        named = named_in_schema(schema.metadata, path.name)
        for batch in batches:
            for row in batch.to_pylist():
                row.update({name: of(row[name]) for name, of in named.items() if name in row})
                yield row
    except (pa.ArrowException, OSError, UnicodeDecodeError) as error:
        raise RatingsError(
            f"{path.name}: found no whole {kind} file ({str(error).splitlines()[0]}); expected a "
            "finished one. Export it again."
        ) from None
