"""What a Parquet file says of itself, read before another library opens the file.

Two readers may understand a file differently if its footer contradicts its pages, and Arrow even
ends the whole process on some footers. So each column chunk is walked here page by page, and
whatever does not agree is refused. Chunks, filters and indexes must fill the file.
"""

import re
from collections import Counter
from collections.abc import Iterator, Sequence
from contextlib import nullcontext, suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Any, BinaryIO, Final, NamedTuple, TypeAlias

import numpy as np
import pyarrow as pa

FORMAT: Final = """
FileMetaData: 1 i32 version!, 2 [SchemaElement] schema!, 3 n64 num_rows!, 4 [RowGroup] row_groups!,
  5 [KeyValue] key_value_metadata, 6 binary created_by, 7 [ColumnOrder] column_orders,
  8 encryption encryption_algorithm, 9 encryption footer_signing_key_metadata
SchemaElement: 1 i32 type, 2 n32 type_length, 3 i32 repetition_type, 4 binary name!,
  5 n32 num_children, 6 i32 converted_type, 7 i32 scale, 8 i32 precision, 9 i32 field_id,
  10 LogicalType logicalType
LogicalType: 1 Empty STRING, 2 Empty MAP, 3 Empty LIST, 4 Empty ENUM, 5 DecimalType DECIMAL,
  6 Empty DATE, 7 TimeType TIME, 8 TimeType TIMESTAMP, 10 IntType INTEGER, 11 Empty UNKNOWN,
  12 Empty JSON, 13 Empty BSON, 14 Empty UUID, 15 Empty FLOAT16, 16 VariantType VARIANT,
  17 GeometryType GEOMETRY, 18 GeographyType GEOGRAPHY
DecimalType: 1 i32 scale!, 2 i32 precision!
TimeType: 1 bool isAdjustedToUTC!, 2 TimeUnit unit!
TimeUnit: 1 Empty MILLIS, 2 Empty MICROS, 3 Empty NANOS
IntType: 1 i8 bitWidth!, 2 bool isSigned!
VariantType: 1 i8 specification_version
GeometryType: 1 binary crs
GeographyType: 1 binary crs, 2 i32 algorithm
Empty:
ColumnOrder: 1 Empty TYPE_ORDER, 2 Empty IEEE_754_TOTAL_ORDER
KeyValue: 1 binary key!, 2 binary value
RowGroup: 1 [ColumnChunk] columns!, 2 n64 total_byte_size!, 3 n64 num_rows!,
  4 [SortingColumn] sorting_columns~, 5 i64 file_offset, 6 n64 total_compressed_size, 7 i16 ordinal
SortingColumn: 1 i32 column_idx!, 2 bool descending!, 3 bool nulls_first!
ColumnChunk: 1 binary file_path~, 2 i64 file_offset, 3 ColumnMetaData meta_data!,
  4 n64 offset_index_offset~, 5 n32 offset_index_length~, 6 n64 column_index_offset~,
  7 n32 column_index_length~, 8 encryption crypto_metadata, 9 encryption encrypted_column_metadata
ColumnMetaData: 1 i32 type!, 2 [i32] encodings!, 3 [binary] path_in_schema!, 4 i32 codec!,
  5 n64 num_values!, 6 n64 total_uncompressed_size!, 7 n64 total_compressed_size!,
  8 [KeyValue] key_value_metadata~, 9 n64 data_page_offset!, 10 n64 index_page_offset~,
  11 n64 dictionary_page_offset, 12 Statistics statistics~, 13 [PageEncodingStats] encoding_stats,
  14 n64 bloom_filter_offset~, 15 n32 bloom_filter_length~, 16 SizeStatistics size_statistics,
  17 GeospatialStatistics geospatial_statistics~
Statistics: 1 binary max, 2 binary min, 3 i64 null_count, 4 i64 distinct_count, 5 binary max_value,
  6 binary min_value, 7 bool is_max_value_exact, 8 bool is_min_value_exact, 9 i64 nan_count
PageEncodingStats: 1 i32 page_type!, 2 i32 encoding!, 3 i32 count!
SizeStatistics: 1 n64 unencoded_byte_array_data_bytes, 2 [i64] repetition_level_histogram,
  3 [i64] definition_level_histogram
GeospatialStatistics: 1 BoundingBox bbox, 2 [i32] geospatial_types
BoundingBox: 1 double xmin, 2 double xmax, 3 double ymin, 4 double ymax, 5 double zmin,
  6 double zmax, 7 double mmin, 8 double mmax
PageHeader: 1 i32 type!, 2 n32 uncompressed_page_size!, 3 n32 compressed_page_size!, 4 i32 crc,
  5 DataPageHeader data_page_header, 7 DictionaryPageHeader dictionary_page_header,
  8 DataPageHeaderV2 data_page_header_v2
DataPageHeader: 1 n32 num_values!, 2 i32 encoding!, 3 i32 definition_level_encoding!,
  4 i32 repetition_level_encoding!, 5 Statistics statistics
DictionaryPageHeader: 1 n32 num_values!, 2 i32 encoding!, 3 bool is_sorted
DataPageHeaderV2: 1 n32 num_values!, 2 n32 num_nulls!, 3 n32 num_rows!, 4 i32 encoding!,
  5 n32 definition_levels_byte_length!, 6 n32 repetition_levels_byte_length!,
  7 bool is_compressed, 8 Statistics statistics
BloomFilterHeader: 1 n32 numBytes!, 2 BloomFilterChoice algorithm!, 3 BloomFilterChoice hash!,
  4 BloomFilterChoice compression!
BloomFilterChoice: 1 Empty BLOCK
"""
"""The structs of the Parquet format: numbers, kinds and names of fields. `!` means required.

`n32` and `n64` are numbers that are never negative. `~` marks a field that says more than where the
values are and how they are written.
"""

MOST_VALUES = 8_000_000

BITS: Final = {"i16": 16, "i32": 32, "i64": 64, "n32": 32, "n64": 64}
KINDS: Final = {
    **{"i8": 3, "i16": 4, "i32": 5, "i64": 6, "n32": 5, "n64": 6},
    **{"double": 7, "binary": 8, "encryption": 12},
}
LIST, STRUCT = 9, 12
FIELD: Final = re.compile(r"(\d+) (\[?)(\w+)\]? (\w+)(!?)(~?)")

Fields = dict[str, Any]
File: TypeAlias = BinaryIO | pa.NativeFile


class FooterError(ValueError):
    """What is wrong with the description that a file gives of itself."""


class TwiceError(FooterError):
    pass


class Field(NamedTuple):
    many: str
    kind: str
    name: str
    required: str
    more: str


STRUCTS: Final = {
    name: {int(number): Field(*rest) for number, *rest in FIELD.findall(fields)}
    for name, fields in re.findall(r"(?ms)^(\w+):(.*?)(?=^\w|\Z)", FORMAT)
}


class Compact:
    """A reader of bytes. A struct is given as its fields by name.

    >>> Compact(bytes([0x18, 0x01, 0x6B, 0x18, 0x02, 0x6F, 0x6B, 0x00])).struct("KeyValue")
    {'key': b'k', 'value': b'ok'}
    """

    def __init__(self, data: bytes) -> None:
        self.data, self.at, self._left = data, 0, MOST_VALUES
        self.is_plain = True

    def struct(self, name: str) -> Fields:
        known, fields, number = STRUCTS[name], Fields(), 0
        while head := self._byte():
            number = number + (head >> 4) if head >> 4 else self._whole("i16")
            field = known.get(number)
            if field is None:
                raise FooterError(f"field {number} of {name}, which the format does not know")
            if field.name in fields:
                raise FooterError(f"field {field.name} of {name} twice")
            fields[field.name] = self._field(field, head & 15)
            self.is_plain &= not field.more
        for field in known.values():
            if field.required and field.name not in fields:
                raise FooterError(f"no field {field.name} in {name}")
        return fields

    def _field(self, field: Field, wire: int) -> Any:
        if field.kind == "encryption":
            raise FooterError("encryption")
        if field.kind == "bool" and wire in (1, 2):
            return wire == 1
        kind = KINDS.get(field.kind, STRUCT)
        if wire != (LIST if field.many else kind):
            raise FooterError(f"field {field.name} of kind {wire}")
        if not field.many:
            return self._value(field)
        head = self._byte()
        size = head >> 4 if head < 0xF0 else self.unsigned()
        if size > len(self.data) - self.at:
            raise FooterError(f"a list of {size} values in {len(self.data) - self.at} bytes")
        if size and head & 15 != kind:
            raise FooterError(f"field {field.name} of values of kind {head & 15}")
        return [self._value(field) for _ in range(size)]

    def _value(self, field: Field) -> Any:
        self._left -= 1
        if self._left < 0:
            raise FooterError(f"more than {MOST_VALUES} values")
        if field.kind in BITS:
            found = self._whole(field.kind)
            if found < 0 and field.kind.startswith("n"):
                raise FooterError(f"{field.name} of {found}")
            return found
        if field.kind == "binary":
            return self.take(self.unsigned())
        if field.kind == "double":
            return self.take(8)
        return self._byte() if field.kind == "i8" else self.struct(field.kind)

    def _whole(self, kind: str) -> int:
        """Readers would cut off what does not fit its kind."""
        number = self.unsigned()
        if number >> BITS[kind]:
            raise FooterError(f"a number of more than {BITS[kind]} bits")
        return (number >> 1) ^ -(number & 1)

    def unsigned(self) -> int:
        number = 0
        for place in range(0, 70, 7):
            part = self._byte()
            number |= (part & 0x7F) << place
            if part < 0x80:
                return number
        raise FooterError("a number of more than 10 bytes")

    def take(self, size: int) -> bytes:
        start, self.at = self.at, self.at + size
        if self.at > len(self.data):
            raise FooterError(f"{size} bytes where {len(self.data) - start} are left")
        return self.data[start : self.at]

    def _byte(self) -> int:
        if self.at >= len(self.data):
            raise FooterError("an end in the middle")
        self.at += 1
        return self.data[self.at - 1]


MARK, ENCRYPTED = b"PAR1", b"PARE"
BYTE_ARRAY = 6
REQUIRED, OPTIONAL, REPEATED = 0, 1, 2
DATA, DICTIONARY, DATA_2 = 0, 2, 3
HEADERS: Final = {
    DATA: "data_page_header",
    DICTIONARY: "dictionary_page_header",
    DATA_2: "data_page_header_v2",
}
LEVELS = 3
CODECS: Final = {1: "snappy", 2: "gzip", 4: "brotli", 6: "zstd", 7: "lz4_raw"}
BY_PREFIX = 7
USUAL, LARGEST = 1 << 10, 1 << 24
"""Bytes that nearly all headers of pages fit in, and that each must fit in."""
DEEPEST = 100
CONVERTED: Final = [
    *("STRING", "MAP", "MAP", "LIST", "ENUM", "DECIMAL", "DATE"),
    *("TIMEMILLIS", "TIMEMICROS", "TIMESTAMPMILLIS", "TIMESTAMPMICROS"),
    *(f"INTEGER{bits}{sign}" for sign in "us" for bits in (8, 16, 32, 64)),
    *("JSON", "BSON"),
]


class Leaf(NamedTuple):
    path: str
    names: tuple[bytes, ...]
    kind: int
    repeated: int
    defined: int


class Page(NamedTuple):
    at: int
    content: int
    end: int
    kind: int
    said: Fields
    size: int
    whole: int


class Chunk(NamedTuple):
    """The values of a column in a row group, as the footer and the headers of its pages say.

    Attributes
    ----------
    size, largest
        The bytes of its pages once they are unpacked, and of the largest page.
    coded, by_prefix
        True if the texts stand there once, or as what differs from the one before.
    is_plain
        True if its pages say no more of the values than how they are written.
    """

    group: int
    path: str
    text: bool
    values: int
    size: int
    largest: int
    coded: bool
    by_prefix: bool
    is_plain: bool
    begin: int
    end: int


@dataclass(frozen=True, eq=False)
class Footer:
    """What a Parquet file says of itself. It has one reading.

    `is_plain` is true if it says no more than where the values are and how they are written.
    """

    fields: Fields
    leaves: tuple[Leaf, ...]
    chunks: tuple[Chunk, ...]
    is_plain: bool

    @classmethod
    def of(cls, source: Path | pa.NativeFile) -> "Footer":
        with source.open("rb") if isinstance(source, Path) else nullcontext(source) as file:
            fields, is_plain, end = _at_the_end(file)
            groups = fields["row_groups"]
            _refuse_other("", fields, num_rows=sum(each["num_rows"] for each in groups))
            elements = iter(fields["schema"])
            if (root := next(elements, None)) is None:
                raise FooterError("no schema")
            leaves = tuple(_leaves(elements, root.get("num_children", 0), (), 0, 0))
            if next(elements, None) is not None:
                raise FooterError("more columns than its schema counts")
            chunks, pieces = list[Chunk](), list[tuple[int, int, str]]()
            for at, group in enumerate(groups):
                if len(group["columns"]) != len(leaves):
                    raise FooterError(f"{len(group['columns'])} columns in row group {at}")
                found = [
                    _chunk(file, end, at, group["num_rows"], leaf, given)
                    for leaf, given in zip(leaves, group["columns"], strict=True)
                ]
                begins = [each.begin for each in found if each.end > each.begin]
                _refuse_other(
                    f"row group {at}: ",
                    group,
                    file_offset=min(begins, default=len(MARK)),
                    total_compressed_size=sum(each.end - each.begin for each in found),
                    total_byte_size=sum(each.size for each in found),
                )
                chunks += found
                pieces += _pieces(file, found, group["columns"])
            _refuse_gaps(file, sorted(pieces), end)
        is_plain = is_plain and all(each.is_plain for each in chunks)
        return cls(fields, leaves, tuple(chunks), is_plain)

    @property
    def keys(self) -> list[tuple[bytes, bytes]]:
        pairs = self.fields.get("key_value_metadata", ())
        return [(pair["key"], pair.get("value", b"")) for pair in pairs]

    @property
    def rows(self) -> int:
        return int(self.fields["num_rows"])

    @property
    def size(self) -> int:
        return sum(each.size for each in self.chunks)


def _bytes(file: File, at: int, size: int) -> bytes:
    file.seek(at)
    return file.read(size)


def _at_the_end(file: File) -> tuple[Fields, bool, int]:
    size = file.seek(0, 2)
    begin, end = _bytes(file, 0, 4), _bytes(file, max(size - 8, 0), 8)
    length = int.from_bytes(end[:4], "little")
    if end[4:] == ENCRYPTED:
        raise FooterError("encryption")
    if begin != MARK or end[4:] != MARK or length + 12 > size:
        raise FooterError("no footer at its end, or no mark at its begin")
    found = Compact(_bytes(file, size - 8 - length, length))
    fields = found.struct("FileMetaData")
    if found.at != length:
        raise FooterError(f"{length - found.at} bytes after the end of the footer")
    return fields, found.is_plain, size - 8 - length


def _chunk(file: File, most: int, at: int, rows: int, leaf: Leaf, given: Fields) -> Chunk:
    said, where = given["meta_data"], f"column {leaf.path!r} of row group {at}: "
    if tuple(said["path_in_schema"]) != leaf.names or said["type"] != leaf.kind:
        raise FooterError(f"another column in the place of {leaf.path!r} in row group {at}")
    if "file_path" in given or "index_page_offset" in said:
        raise FooterError(f"{where}pages in another file, or a page that is an index")
    _refuse_sizes(said.get("size_statistics", {}), leaf)
    begin = said.get("dictionary_page_offset", said["data_page_offset"])
    end = begin + said["total_compressed_size"]
    if end > most:
        raise FooterError(f"{where}bytes {begin} to {end}, beyond the end of the pages at {most}")
    pages = list(_pages(file, where, begin, end))
    data = [page for page in pages if page.kind != DICTIONARY]
    _refuse_pages(where, said, pages, data, begin)
    if not leaf.repeated:
        _refuse_other(where, said, num_values=rows)
    if data and all(page.kind == DATA_2 for page in data):
        of_pages = {"num_rows": sum(page.said["num_rows"] for page in data)}
        _refuse_other(where, of_pages, num_rows=rows)
    _refuse_nulls(file, where, said, data, leaf)
    return Chunk(
        at,
        leaf.path,
        leaf.kind == BYTE_ARRAY,
        said["num_values"],
        sum(page.whole for page in pages),
        max((page.size for page in pages), default=0),
        len(data) < len(pages),
        any(page.said["encoding"] == BY_PREFIX for page in pages),
        not any(page.kind == DATA_2 or page.said.get("statistics") for page in pages),
        begin,
        end,
    )


def _pages(file: File, where: str, begin: int, end: int) -> Iterator[Page]:
    at = begin
    while at < end:
        header, length = _header(file, at)
        kind = header["type"]
        if header.keys() & {*HEADERS.values()} != {HEADERS.get(kind)}:
            raise FooterError(
                f"{where}a page of kind {kind} at byte {at}, with the header of another"
            )
        packed, size = header["compressed_page_size"], header["uncompressed_page_size"]
        content, said = at + length, header[HEADERS[kind]]
        yield Page(at, content, content + packed, kind, said, max(packed, size), length + size)
        at = content + packed
    if at != end:
        raise FooterError(f"{where}pages to byte {end} in the footer, and to {at} in the file")


def _header(file: File, at: int) -> tuple[Fields, int]:
    for most in (USUAL, LARGEST):
        found = Compact(_bytes(file, at, most))
        try:
            return found.struct("PageHeader"), found.at
        except FooterError:
            if len(found.data) < most:
                raise
    raise FooterError(f"the header of a page of more than {LARGEST} bytes")


def _refuse_pages(
    where: str, said: Fields, pages: Sequence[Page], data: Sequence[Page], begin: int
) -> None:
    kinds = [page.kind for page in pages]
    if DICTIONARY in kinds[1:] or ("dictionary_page_offset" in said and kinds[:1] != [DICTIONARY]):
        raise FooterError(f"{where}a dictionary that is not its first page, or none at {begin}")
    first = data[0].at if data else 0
    _refuse_other(
        where,
        said,
        data_page_offset=first if pages else said["data_page_offset"],
        total_uncompressed_size=sum(page.whole for page in pages),
        num_values=sum(page.said["num_values"] for page in data),
    )
    if "encoding_stats" in said:
        counted = Counter((page.kind == DICTIONARY, page.said["encoding"]) for page in pages)
        stated: Counter[tuple[bool, int]] = Counter()
        for each in said["encoding_stats"]:
            stated[each["page_type"] == DICTIONARY, each["encoding"]] += each["count"]
        if stated != counted:
            said_of = f"{stated} in the footer, and {counted} in the file"
            raise FooterError(f"{where}encodings of pages: {said_of}")


def _refuse_nulls(file: File, where: str, said: Fields, data: Sequence[Page], leaf: Leaf) -> None:
    """Refuse missing values that are counted otherwise than they stand there.

    DuckDB reads none of a chunk that is said to have missing values only, and Polars none in a page
    that is said to have none.
    """
    for page in data:
        if page.kind == DATA_2 and leaf.defined:
            _refuse_other(where, page.said, num_nulls=_nulls(file, said["codec"], page, leaf))
        if page.kind == DATA and leaf.defined:
            _refuse_other(where, page.said, definition_level_encoding=LEVELS)
        if page.kind == DATA and leaf.repeated:
            _refuse_other(where, page.said, repetition_level_encoding=LEVELS)
    statistics = said.get("statistics", {})
    if statistics.get("null_count") == said["num_values"] > 0:
        nulls = sum(_nulls(file, said["codec"], page, leaf) for page in data)
        _refuse_other(where, statistics, null_count=nulls)


def _nulls(file: File, codec: int, page: Page, leaf: Leaf) -> int:
    if not leaf.defined:
        return 0
    data, values = _bytes(file, page.content, page.end - page.content), page.said["num_values"]
    if page.kind == DATA_2:
        begin, size = (
            page.said[f"{name}_levels_byte_length"] for name in ("repetition", "definition")
        )
        levels = data[begin : begin + size]
    else:
        content = Compact(_unpacked(data, codec, page.whole - page.content + page.at))
        for _ in range(1 + bool(leaf.repeated)):
            levels = content.take(int.from_bytes(content.take(4), "little"))
    return int(values) - _highest(levels, leaf.defined, values)


def _unpacked(data: bytes, codec: int, size: int) -> bytes:
    if codec == 0:
        return data
    if codec not in CODECS:
        raise FooterError(f"only missing values in a column, packed by codec {codec}")
    try:
        return bytes(pa.Codec(CODECS[codec]).decompress(data, size, asbytes=True))
    except (pa.ArrowException, OSError) as error:
        raise FooterError(str(error)) from None


def _highest(levels: bytes, highest: int, values: int) -> int:
    width, found, rest = highest.bit_length(), 0, Compact(levels)
    while values > 0:
        head = rest.unsigned()
        if head & 1:
            bits = np.unpackbits(
                np.frombuffer(rest.take((head >> 1) * width), np.uint8), bitorder="little"
            ).reshape(-1, width)[:values]
            count, same = len(bits), int((bits @ (1 << np.arange(width)) == highest).sum())
        else:
            count = min(head >> 1, values)
            same = count * (int.from_bytes(rest.take((width + 7) // 8), "little") == highest)
        if not count:
            raise FooterError("a run of no levels")
        values, found = values - count, found + same
    return found


def _pieces(
    file: File, chunks: Sequence[Chunk], columns: Sequence[Fields]
) -> Iterator[tuple[int, int, str]]:
    for chunk, given in zip(chunks, columns, strict=True):
        name = f"column {chunk.path!r} of row group {chunk.group}"
        if chunk.end > chunk.begin:
            yield chunk.begin, chunk.end, name
        for index in ("offset_index", "column_index"):
            if begin := given.get(f"{index}_offset"):
                yield begin, begin + given.get(f"{index}_length", 0), f"{index} of {name}"
        if begin := given["meta_data"].get("bloom_filter_offset"):
            found = Compact(_bytes(file, begin, USUAL))
            size = found.struct("BloomFilterHeader")["numBytes"]
            yield begin, begin + found.at + size, f"bloom filter of {name}"


def _refuse_gaps(file: File, pieces: Sequence[tuple[int, int, str]], end: int) -> None:
    at = len(MARK)
    for begin, stop, name in [*pieces, (end, end, "the footer")]:
        if begin < at:
            raise FooterError(f"{name} at byte {begin}, where others end at {at}")
        if not _is_filling(_bytes(file, at, min(begin - at, LARGEST))):
            raise FooterError(f"bytes {at} to {begin} before {name}, which are nothing")
        at = stop


def _is_filling(data: bytes) -> bool:
    """True for what writers put between chunks: zeros, or the footer's words of them."""
    with suppress(FooterError):
        while data.strip(b"\0"):
            found = Compact(data)
            found.struct("ColumnMetaData" if data[0] & 15 == 5 else "ColumnChunk")
            data = data[found.at :]
    return not data.strip(b"\0")


def _leaves(
    elements: Iterator[Fields], number: int, path: tuple[bytes, ...], repeated: int, defined: int
) -> Iterator[Leaf]:
    names: set[str] = set()
    for _ in range(number):
        if (element := next(elements, None)) is None:
            raise FooterError("fewer columns than its schema counts")
        if len(path) > DEEPEST:
            raise FooterError(f"columns inside each other more than {DEEPEST} deep")
        here = (*path, element["name"])
        shown = _shown(here)
        if shown.casefold() in names:
            raise TwiceError(f"column {shown!r} twice, or in capitals and small letters")
        names.add(shown.casefold())
        repetition, children = element.get("repetition_type"), element.get("num_children", 0)
        if repetition not in (REQUIRED, OPTIONAL, REPEATED) or ("type" in element) == bool(
            children
        ):
            raise FooterError(f"column {shown!r} without one type, or with columns inside a type")
        if "logicalType" in element:
            _refuse_types(shown, element, element["logicalType"])
        levels = repeated + (repetition == REPEATED), defined + (repetition != REQUIRED)
        if children:
            yield from _leaves(elements, children, here, *levels)
        else:
            yield Leaf(shown, here, element["type"], *levels)


def _shown(names: Sequence[bytes]) -> str:
    try:
        return b".".join(names).decode()
    except UnicodeDecodeError:
        raise FooterError(f"the name {names[-1]!r} of a column, which is no text") from None


def _refuse_types(shown: str, element: Fields, newer: Fields) -> None:
    if len(newer) != 1:
        raise FooterError(f"column {shown!r} with {len(newer)} logical types")
    ((name, said),) = newer.items()
    detail = next(iter(said.get("unit", ())), "")
    if "bitWidth" in said:
        detail = f"{said['bitWidth']}{'us'[said['isSigned']]}"
    older = element.get("converted_type")
    if older is not None and dict(enumerate(CONVERTED)).get(older) != name + detail:
        raise FooterError(f"column {shown!r} of logical type {name} and converted type {older}")
    for field in ("scale", "precision"):
        if field in said and element.get(field, 0) != said[field]:
            raise FooterError(f"column {shown!r} with two values of {field}")


def _refuse_sizes(sizes: Fields, leaf: Leaf) -> None:
    if "unencoded_byte_array_data_bytes" in sizes and leaf.kind != BYTE_ARRAY:
        raise FooterError(f"the bytes of texts in column {leaf.path!r}, which has none")
    for name, highest in (("repetition", leaf.repeated), ("definition", leaf.defined)):
        counted = sizes.get(f"{name}_level_histogram")
        if counted and len(counted) != highest + 1:
            raise FooterError(f"a histogram of column {leaf.path!r} that does not fit its levels")


def _refuse_other(where: str, said: Fields, **derived: object) -> None:
    for name, value in derived.items():
        if said.get(name, value) != value:
            raise FooterError(f"{where}{name}: {said[name]} in the footer, and {value} in the file")
