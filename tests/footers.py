"""Parquet files with another value somewhere in their footer."""

import io
from collections.abc import Iterator

import pyarrow as pa
import pyarrow.parquet as pq

Where = tuple[int, ...]


def written(columns: dict[str, list], **how: object) -> bytes:
    """A table as a Parquet file."""
    sink = io.BytesIO()
    pq.write_table(pa.table(columns), sink, **how)
    return sink.getvalue()


def text(value: bytes) -> bytes:
    """A text in Thrift's compact form."""
    return bytes([len(value)]) + value


def forged(data: bytes, changes: dict[Where, bytes]) -> bytes:
    """A file whose footer has other bytes for the values at some places.

    A place is the numbers of the fields on the way, and of the members of lists.
    """
    size = int.from_bytes(data[-8:-4], "little")
    footer = data[-8 - size : -8]
    found = {where: place for where, place, _ in _Walk(footer).struct(())}
    for where, put in sorted(changes.items(), key=lambda change: -found[change[0]][0]):
        begin, end = found[where]
        footer = footer[:begin] + put + footer[end:]
    return data[: -8 - size] + footer + len(footer).to_bytes(4, "little") + b"PAR1"


class _Walk:
    """Where each value of a footer begins and ends."""

    def __init__(self, data: bytes) -> None:
        self.data, self.at = data, 0

    def byte(self) -> int:
        self.at += 1
        return self.data[self.at - 1]

    def size(self) -> int:
        value = shift = 0
        while True:
            byte = self.byte()
            value |= (byte & 0x7F) << shift
            shift += 7
            if byte < 0x80:
                return value

    def struct(self, here: Where) -> Iterator[tuple[Where, tuple[int, int], int]]:
        field = 0
        while head := self.byte():
            field = field + (head >> 4) if head >> 4 else self.size() >> 1
            yield from self.value((*here, field), head & 15, in_list=False)

    def value(
        self, here: Where, kind: int, *, in_list: bool
    ) -> Iterator[tuple[Where, tuple[int, int], int]]:
        begin = self.at
        if kind in (1, 2):
            self.at += in_list
        elif kind == 3:
            self.at += 1
        elif kind in (4, 5, 6):
            self.size()
        elif kind == 7:
            self.at += 8
        elif kind == 8:
            length = self.size()
            self.at += length
        elif kind == 9:
            head = self.byte()
            length = head >> 4 if head < 0xF0 else self.size()
            for member in range(length):
                yield from self.value((*here, member), head & 15, in_list=True)
        else:
            yield from self.struct(here)
        yield here, (begin, self.at), kind
