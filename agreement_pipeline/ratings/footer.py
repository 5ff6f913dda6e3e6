"""What a Parquet file says of itself at its end, read before Arrow opens the file.

Arrow ends the whole process on some footers that nobody wrote by accident. So a footer is read
here first, and one that contradicts itself is refused.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, BinaryIO, NamedTuple

import pyarrow as pa

from agreement_pipeline.ratings.pages import pages
from agreement_pipeline.ratings.thrift import Compact, Fields, FooterError

MARK, ENCRYPTED = b"PAR1", b"PARE"
BYTE_ARRAY = 6
OPTIONAL, REPEATED = 1, 2

SCHEMA, ROWS, GROUPS, KEYS, WRITER, ENCRYPTION = 2, 3, 4, 5, 6, 8
"""The fields of a file."""
NAME, TYPE, REPETITION, CHILDREN = 4, 1, 3, 5
"""The fields of an element of the schema."""
CHUNKS, GROUP_ROWS = 1, 3
"""The fields of a row group."""
SAID, ENCRYPTED_CHUNK = 3, (8, 9)
"""The fields of a chunk."""
PATH, VALUES, UNPACKED, PACKED, DATA_AT, DICTIONARY_AT, SIZES = 3, 5, 6, 7, 9, 11, 16
"""The fields of what is said of a chunk."""
TEXT_BYTES, REPETITIONS, DEFINITIONS = 1, 2, 3
"""The fields of the sizes of a chunk."""

PLAIN_FILE = frozenset(range(1, 8))
PLAIN_GROUP = frozenset({1, 2, 3, 5, 6, 7})
PLAIN_CHUNK = frozenset(
    [(2,), (SAID,), *((SAID, field) for field in (1, 2, 3, 4, 5, 6, 7, 9, 10, 11, 13, 16))]
)
"""The fields that say no more than where the values are and how they are written."""


class Leaf(NamedTuple):
    """A column of a schema: its path, its physical type, and its highest levels."""

    path: str
    kind: int
    repeated: int
    defined: int


class Chunk(NamedTuple):
    """The values of a column in a row group, as the footer and the headers of its pages say.

    Attributes
    ----------
    group
        The number of the row group.
    path
        The path of the column.
    text
        True if the values are texts or bytes of any length.
    values
        The number of values.
    size
        The bytes of its pages once they are unpacked.
    largest
        Of these, the bytes of the largest page.
    coded, by_prefix
        True if the texts stand there once, or as what differs from the one before.
    statistics
        True if a page says more of its values than how they are written.
    said
        The fields that the footer has of the chunk.
    """

    group: int
    path: str
    text: bool
    values: int
    size: int
    largest: int
    coded: bool
    by_prefix: bool
    statistics: bool
    said: frozenset[tuple[int, ...]]


@dataclass(frozen=True, eq=False)
class Footer:
    """What a Parquet file says of itself. It does not contradict itself.

    Attributes
    ----------
    fields
        The fields of the file by number.
    leaves
        The columns, also those inside other columns.
    chunks
        The chunks of all row groups.
    """

    fields: Fields
    leaves: tuple[Leaf, ...]
    chunks: tuple[Chunk, ...]

    @classmethod
    def of(cls, source: Path | pa.NativeFile) -> "Footer":
        """The footer of a file.

        Raises
        ------
        FooterError
            It has none, or one that contradicts itself or the file.
        """
        if isinstance(source, Path):
            with source.open("rb") as file:
                return cls._of(file)
        return cls._of(source)

    @classmethod
    def _of(cls, file: BinaryIO | pa.NativeFile) -> "Footer":
        fields, size = _at_the_end(file)
        groups = _structs(fields, GROUPS)
        rows = sum(_whole(group, GROUP_ROWS) for group in groups)
        if _whole(fields, ROWS) != rows:
            raise FooterError(f"{fields[ROWS]} rows, and {rows} in its row groups")
        leaves = _schema(_structs(fields, SCHEMA))
        chunks = [
            _chunk(file, size, at, leaf, given)
            for at, group in enumerate(groups)
            for leaf, given in _by_column(at, group, leaves)
        ]
        return cls(fields, leaves, tuple(chunks))

    @property
    def keys(self) -> list[tuple[bytes, bytes]]:
        """The metadata, in their order. A key may stand there twice."""
        pairs = _structs(self.fields, KEYS) if KEYS in self.fields else ()
        return [(pair.get(1, b""), pair.get(2, b"")) for pair in pairs]

    @property
    def is_plain(self) -> bool:
        """True if it says no more than where the values are and how they are written."""
        return (
            self.fields.keys() <= PLAIN_FILE
            and all(group.keys() <= PLAIN_GROUP for group in _structs(self.fields, GROUPS))
            and all(each.said <= PLAIN_CHUNK and not each.statistics for each in self.chunks)
        )

    @property
    def rows(self) -> int:
        """The number of rows."""
        return int(self.fields[ROWS])

    @property
    def size(self) -> int:
        """The bytes of all pages once they are unpacked."""
        return sum(each.size for each in self.chunks)


def _at_the_end(file: BinaryIO | pa.NativeFile) -> tuple[Fields, int]:
    """The fields of a file, and its size."""
    size = file.seek(0, 2)
    file.seek(max(size - 8, 0))
    end = file.read(8)
    length = int.from_bytes(end[:4], "little")
    if end[4:] == ENCRYPTED:
        raise FooterError("encryption")
    if end[4:] != MARK or length + 12 > size:
        raise FooterError("no footer at its end")
    file.seek(size - 8 - length)
    fields = Compact(file.read(length)).struct()
    if ENCRYPTION in fields:
        raise FooterError("encryption")
    return fields, size


def _by_column(at: int, group: Fields, leaves: Sequence[Leaf]) -> Iterator[tuple[Leaf, Fields]]:
    """Each column and its chunk in a row group."""
    given = _structs(group, CHUNKS)
    if len(given) != len(leaves):
        raise FooterError(f"{len(given)} columns in row group {at}, and {len(leaves)} in all")
    return zip(leaves, given, strict=True)


def _chunk(file: BinaryIO | pa.NativeFile, size: int, at: int, leaf: Leaf, given: Fields) -> Chunk:
    if any(field in given for field in ENCRYPTED_CHUNK):
        raise FooterError("encryption")
    said = given.get(SAID)
    if not isinstance(said, dict):
        raise FooterError(f"nothing on column {leaf.path!r} of row group {at}")
    if not _is_path(said.get(PATH), leaf.path) or said.get(TYPE) != leaf.kind:
        raise FooterError(f"another column in the place of {leaf.path!r}")
    _refuse_sizes(said, leaf)
    begin = _begin(said)
    end = begin + _whole(said, PACKED)
    if end > size:
        raise FooterError(f"column {leaf.path!r} beyond its end")
    held = list(pages(file, begin, end))
    return Chunk(
        at,
        leaf.path,
        leaf.kind == BYTE_ARRAY,
        _whole(said, VALUES),
        max(_whole(said, UNPACKED), sum(page.size for page in held)),
        max((page.size for page in held), default=0),
        any(page.dictionary for page in held),
        any(page.by_prefix for page in held),
        any(page.statistics for page in held),
        frozenset([*((field,) for field in given), *((SAID, field) for field in said)]),
    )


def _begin(said: Fields) -> int:
    """Where the pages of a chunk begin. A chunk without values has no page of data, at 0."""
    places = [_whole(said, DATA_AT), _whole(said, DICTIONARY_AT) if DICTIONARY_AT in said else 0]
    return min((place for place in places if place), default=0)


def _schema(elements: Sequence[Fields]) -> tuple[Leaf, ...]:
    if not elements:
        raise FooterError("no schema")
    rest = iter(elements[1:])
    leaves = tuple(_leaves(rest, _whole(elements[0], CHILDREN), (), 0, 0))
    if next(rest, None) is not None:
        raise FooterError("more columns than its schema counts")
    return leaves


def _leaves(
    elements: Iterator[Fields], number: int, path: tuple[str, ...], repeated: int, defined: int
) -> Iterator[Leaf]:
    """The next columns of a schema, which stands there as a tree, depth first."""
    for _ in range(number):
        if (element := next(elements, None)) is None:
            raise FooterError("fewer columns than its schema counts")
        if len(path) > 100:
            raise FooterError("columns inside each other more than 100 deep")
        here = (*path, _text(element, NAME))
        repetition = element.get(REPETITION)
        levels = (
            repeated + (repetition == REPEATED),
            defined + (repetition in (OPTIONAL, REPEATED)),
        )
        if element.get(CHILDREN):
            yield from _leaves(elements, _whole(element, CHILDREN), here, *levels)
        else:
            yield Leaf(".".join(here), _whole(element, TYPE), *levels)


def _refuse_sizes(said: Fields, leaf: Leaf) -> None:
    sizes = said.get(SIZES, {})
    if not isinstance(sizes, dict):
        raise FooterError(f"sizes of column {leaf.path!r} that are none")
    if TEXT_BYTES in sizes and leaf.kind != BYTE_ARRAY:
        raise FooterError(f"the bytes of texts in column {leaf.path!r}, which has none")
    for field, highest in ((REPETITIONS, leaf.repeated), (DEFINITIONS, leaf.defined)):
        counted = sizes.get(field) or [0] * (highest + 1)
        if not isinstance(counted, list) or len(counted) != highest + 1:
            raise FooterError(f"a histogram of column {leaf.path!r} that does not fit its levels")


def _structs(fields: Fields, number: int) -> Sequence[Fields]:
    found = fields.get(number)
    if not isinstance(found, list) or not all(isinstance(each, dict) for each in found):
        raise FooterError(f"no list in field {number}")
    return found


def _whole(fields: Fields, number: int) -> int:
    found = fields.get(number)
    if type(found) is not int or found < 0:
        raise FooterError(f"no count in field {number}")
    return found


def _text(fields: Fields, number: int) -> str:
    found = fields.get(number)
    try:
        if isinstance(found, bytes):
            return found.decode()
    except UnicodeDecodeError:
        pass
    raise FooterError(f"no text in field {number}")


def _is_path(found: Any, path: str) -> bool:
    return (
        isinstance(found, list)
        and all(isinstance(part, bytes) for part in found)
        and b".".join(found) == path.encode()
    )
