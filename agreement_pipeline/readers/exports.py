"""An export: a file, or a folder of files, as records of plain data."""

from codecs import BOM_UTF8
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Any, Literal, NamedTuple

from agreement_pipeline.errors import RatingsError
from agreement_pipeline.readers.delimited import delimited_rows
from agreement_pipeline.readers.files import UNFINISHED, CutOffError, start_of

FileKind = Literal["json", "xml", "parquet", "arrow", "excel", "text"]
MAGIC: dict[bytes, FileKind] = {
    b"PAR1": "parquet",
    b"PK\x03\x04": "excel",
    b"\xff\xff\xff\xff": "arrow",
}
MARKS: dict[bytes, FileKind] = {b"{": "json", b"[": "json", b"<": "xml"}
DESCRIBING = INFO, STATE = "dataset_info.json", "state.json"


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
        """The first record, or nothing if there is none that can be read.

        Raises
        ------
        CutOffError
            The file ends within this record.
        """
        if not self.files:
            return {}
        try:
            return next(records_of(self.files[0], self.files[0].name, "replace")).value
        except CutOffError:
            raise
        except (RatingsError, StopIteration):
            return {}

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

    def folders(self, path: Path) -> tuple[str, ...]:
        """The folders of the export in which a file lies."""
        return path.relative_to(self.path).parts[:-1] if path != self.path else ()


def kind_of(path: Path) -> FileKind:
    """What a file is, by its first bytes."""
    start = start_of(path)
    text = start.removeprefix(BOM_UTF8).lstrip()
    known = (kind for magic, kind in MAGIC.items() if start.startswith(magic))
    return next(known, MARKS.get(text[:1], "text"))


def records_of(path: Path, place: str, errors: str = "strict") -> Iterator[Record]:
    """The records of a file.

    Raises
    ------
    RatingsError
        The file cannot be read.
    """
    kind = kind_of(path)
    if kind == "text":
        for number, row in delimited_rows(path, place, errors):
            yield Record(f"{place}: row {number}", row)
    elif kind == "json":
        from agreement_pipeline.readers.json_files import json_objects

        for number, value in json_objects(path):
            yield Record(f"{place}: record {number}", value)
    elif kind in ("parquet", "arrow"):
        from agreement_pipeline.readers.parquet import columnar_rows

        for number, value in enumerate(columnar_rows(path, kind), 1):
            yield Record(f"{place}: record {number}", value)
