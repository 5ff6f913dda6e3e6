"""The cells of ratings as a source wrote them, in a table of a session. Errors name their rows.

A column of cells is text, whole numbers, floats or flags. A time may be anything.
"""

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from mmap import ACCESS_READ, MADV_DONTNEED, mmap
from tempfile import SpooledTemporaryFile
from typing import TYPE_CHECKING, Any, Literal

import numpy as np

from agreement_pipeline.engine import BATCH, Relation
from agreement_pipeline.ratings.arrays import PART_BYTES, column_of, packed, whole
from agreement_pipeline.ratings.scale import Codes, category_text
from agreement_pipeline.text import called

if TYPE_CHECKING:
    import pyarrow as pa

Kind = Literal["text", "whole", "float", "flag"]

STRATUM = "stratum:"
"""How the name of a column begins that tells strata of items apart."""
BLANKS = "".join(chr(code) for code in range(0x3001) if chr(code).isspace())
NUMBER = "[+-]?([0-9]+[.]?[0-9]*|[.][0-9]+)([eE][+-]?[0-9]+)?"
"""How a number may be spelt. All engines read such numbers alike."""
WHOLE = 9e18
SHOWN = 5
"""How many rows or values an error shows."""


@dataclass(frozen=True)
class Cells:
    """Ratings as they were written, a row each, not checked yet.

    Parameters
    ----------
    relation
        The cells under canonical names. `nth` is the order of the rows, `row` is how an error
        names one, and `column` the rater's column of a wide table.
    source
        The name of the source, for errors.
    columns
        What each column is called there.
    """

    relation: Relation
    source: str = "ratings"
    columns: Mapping[str, str] = field(default_factory=dict)

    @cached_property
    def kinds(self) -> dict[str, Kind]:
        """What the cells of each column are. The kinds of times are not told."""
        from pyarrow import types

        found: dict[str, Kind] = {}
        for each in self.relation.schema:
            if types.is_integer(each.type):
                found[each.name] = "whole"
            elif types.is_floating(each.type):
                found[each.name] = "float"
            elif types.is_boolean(each.type):
                found[each.name] = "flag"
            elif types.is_string(each.type) or types.is_large_string(each.type):
                found[each.name] = "text"
        return found

    @cached_property
    def names(self) -> tuple[str, ...]:
        """The columns that there are."""
        return tuple(self.relation.schema.names)

    def quoted(self, name: str) -> str:
        """A column as it stands in a query."""
        return self.relation.session.column(name)

    def text(self, name: str) -> str:
        """A cell as text. Whole numbers have no decimal point."""
        column, kind = self.quoted(name), self.kinds[name]
        if kind == "text":
            return column
        if kind == "flag":
            return f"CASE WHEN {column} THEN 'True' WHEN NOT {column} THEN 'False' END"
        text = f"CAST({column} AS STRING)"
        if kind == "whole":
            return text
        is_whole = f"{column} = FLOOR({column}) AND ABS({column}) < {WHOLE!r}"
        return f"CASE WHEN {is_whole} THEN CAST(CAST({column} AS BIGINT) AS STRING) ELSE {text} END"

    def number(self, name: str) -> str:
        """A cell as a number, or nothing."""
        column = self.quoted(name)
        if self.kinds[name] != "text":
            return f"CAST({column} AS DOUBLE)"
        return f"CASE WHEN {self.spelt(name)} THEN TRY_CAST({column} AS DOUBLE) END"

    def spelt(self, name: str, dimensions: int = 1) -> str:
        """A test of text: is it a number, or several of them with `|` between?"""
        pattern = "[|]".join([rf"\s*{NUMBER}\s*"] * dimensions)
        return self.relation.session.matches(self.quoted(name), f"^{pattern}$")

    def blank(self, name: str) -> str:
        """A test: is a cell missing, or nothing but blanks?"""
        if self.kinds[name] != "text":
            return f"({self.quoted(name)} IS NULL)"
        text = self.quoted(name)
        unusual = f"{text} < '!' OR {text} >= '\u0080'"
        blanks = self.relation.session.literal(BLANKS)
        return (
            f"({text} IS NULL OR CASE WHEN {unusual} THEN TRANSLATE({text}, {blanks}, '') = '' "
            "ELSE FALSE END)"
        )

    def among(self, name: str, values: Collection[object]) -> str:
        """A test: is a cell one of some values? None stands for a missing one."""
        known = [self.literal(each) for each in values if each is not None]
        tests = [f"{self.quoted(name)} IN ({', '.join(known)})"] if known else []
        tests += [f"{self.quoted(name)} IS NULL"] if None in values else []
        return f"({' OR '.join(tests) or 'FALSE'})"

    def called(self, name: str) -> str:
        """What a column is called in the source."""
        return self.columns.get(name, name).removeprefix(STRATUM)

    def any(self, test: str) -> bool:
        """True if a row meets a test."""
        found = self.relation.ask(f"SELECT 1 AS x FROM {self.relation} WHERE {test} LIMIT 1")
        return bool(found.num_rows)

    def at(self, test: str, *names: str) -> str:
        """The source, the rows that meet a test, and the columns, in words."""
        if "column" in self.names and {"rater", "label"} & {*names}:
            found, total = self._first(test, ["row", "column"])
            places = [f"row {row} column {column!r}" for row, column in found]
            more = f", … {total - SHOWN} more" if total > SHOWN else ""
            return f"{self.source}: {', '.join(places)}{more}"
        found, total = self._first(test, ["row"])
        rows = [row for (row,) in found]
        listed = called("row", [*rows, *range(total - len(rows))])
        return f"{self.source}: {listed}, {called('column', map(self.called, names))}"

    def found(self, test: str, name: str) -> list[object]:
        """The cells of the rows that meet a test. Only the first are told, the others counted."""
        table = self.relation
        some = table.ask(
            f"SELECT {self.quoted(name)} AS found FROM {table} WHERE {test} "
            f"ORDER BY nth, row LIMIT {SHOWN}"
        )["found"].to_pylist()
        total = table.ask(f"SELECT COUNT(*) AS n FROM {table} WHERE {test}")["n"][0].as_py()
        return [*some, *range(total - len(some))]

    def _first(self, test: str, names: Sequence[str]) -> tuple[list[tuple[Any, ...]], int]:
        """The distinct places of the first rows that meet a test, and how many there are."""
        table, keys = self.relation, ", ".join(map(self.relation.session.column, names))
        grouped = f"SELECT {keys}, MIN(nth) AS nth FROM {table} WHERE {test} GROUP BY {keys}"
        found = table.ask(f"SELECT * FROM ({grouped}) AS g ORDER BY nth, row LIMIT {SHOWN}")
        total = table.ask(f"SELECT COUNT(*) AS n FROM ({grouped}) AS g")["n"][0].as_py()
        return list(zip(*(found[name].to_pylist() for name in names), strict=True)), total

    def literal(self, value: object) -> str:
        """A value as it stands in a query."""
        if isinstance(value, str):
            return self.relation.session.literal(value)
        return repr(value) if isinstance(value, int) else f"CAST('{value!r}' AS DOUBLE)"


@dataclass(eq=False)
class Texts:
    """The texts of items, by the `nth` of a row that tells them. They are read when one is asked.

    Texts of many letters are put on disk, in a file that goes with them.

    Parameters
    ----------
    cells
        What tells them.
    known
        A row an item. Its column `text` is the `nth` of a row of the cells.
    """

    cells: Cells
    known: Relation

    def take(self, nth: "pa.Array") -> "pa.Array":
        """The texts of some rows. Missing where there is no row."""
        import pyarrow as pa
        import pyarrow.compute as pc

        rows, order, texts, data = self._read
        found = texts.take(column_of(order[np.searchsorted(rows, whole(nth), sorter=order[:-1])]))
        if isinstance(data, mmap):
            data.madvise(MADV_DONTNEED)
        return pc.if_else(pc.is_valid(nth), found, None).cast(pa.string())

    @cached_property
    def _read(self) -> "tuple[Codes, Codes, pa.Array, mmap | bytes]":
        """The rows that tell a text, their order, their texts and an empty one, and the bytes."""
        import pyarrow as pa

        cells, text, session = self.cells, self.cells.text("text"), self.cells.relation.session
        length = f"SELECT CAST(LENGTH({text}) AS DOUBLE) AS n FROM {cells.relation}"
        usual = f"SELECT SUM(n * n) / NULLIF(SUM(n), 0) AS n FROM ({length}) AS lengths"
        letters = cells.relation.ask(usual)["n"][0].as_py() or 0
        at_once = PART_BYTES // max(int(letters), PART_BYTES // BATCH) or 1
        told = f"nth IN (SELECT text FROM {self.known})"
        query = f"SELECT nth, {text} AS text FROM {cells.relation} WHERE {told}"
        rows, lengths = [np.empty(0, np.int64)], [np.empty(0, np.int64)]
        with SpooledTemporaryFile(PART_BYTES) as file:
            for batch in session.batches(query, at_once):
                sizes, said = packed(batch["text"])
                rows.append(whole(batch["nth"]))
                lengths.append(sizes)
                file.write(said)
            is_large = file.tell() > PART_BYTES
            file.seek(0)
            data = mmap(file.fileno(), 0, access=ACCESS_READ) if is_large else file.read()
        nth, ends = np.concatenate(rows), np.cumsum(np.concatenate([[0], *lengths, [0]]))
        texts = pa.LargeStringArray.from_buffers(
            len(nth) + 1, pa.py_buffer(ends), pa.py_buffer(data)
        )
        return nth, np.append(np.argsort(nth, kind="stable"), len(nth)), texts, data


def cells_in(batch: "pa.RecordBatch") -> "pa.RecordBatch":
    """A batch of Arrow as cells: what is no text, number, flag or time becomes text.

    Vectors of numbers have `|` between the numbers. No digit of them is lost.
    """
    import pyarrow as pa

    columns = [_cells_in(batch.column(at)) for at in range(batch.num_columns)]
    return pa.RecordBatch.from_arrays(columns, names=batch.schema.names)


def _cells_in(column: "pa.Array") -> "pa.Array":
    import pyarrow as pa
    from pyarrow import types

    if types.is_dictionary(column.type):
        column = column.dictionary_decode()
    kind = column.type
    if types.is_integer(kind) or types.is_floating(kind) or types.is_boolean(kind):
        return column
    if types.is_string(kind) or types.is_large_string(kind):
        return column
    if types.is_timestamp(kind) and kind.tz in (None, "UTC"):
        return column
    coded = column.dictionary_encode() if not types.is_list(kind) else None
    if coded is None:
        return pa.array([each and _vector(each) for each in column.to_pylist()], pa.string())
    texts = pa.array([*map(category_text, coded.dictionary.to_pylist())], pa.string())
    return texts.take(coded.indices)


def _vector(numbers: Sequence[Any]) -> str:
    return "|".join(repr(each) if isinstance(each, float) else str(each) for each in numbers)
