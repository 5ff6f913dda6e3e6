"""Thrift's compact protocol, read as the structs of the Parquet format and within bounds.

A Parquet file describes itself in it. The bytes may be anything, so each size is checked before
it is believed. A field of another kind or with an unknown number is refused: some readers would
skip it and others would not.
"""

import re
from typing import Any, Final, NamedTuple

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
  4 [SortingColumn] sorting_columns, 5 i64 file_offset, 6 n64 total_compressed_size, 7 i16 ordinal
SortingColumn: 1 i32 column_idx!, 2 bool descending!, 3 bool nulls_first!
ColumnChunk: 1 binary file_path, 2 i64 file_offset, 3 ColumnMetaData meta_data!,
  4 n64 offset_index_offset, 5 n32 offset_index_length, 6 n64 column_index_offset,
  7 n32 column_index_length, 8 encryption crypto_metadata, 9 encryption encrypted_column_metadata
ColumnMetaData: 1 i32 type!, 2 [i32] encodings!, 3 [binary] path_in_schema!, 4 i32 codec!,
  5 n64 num_values!, 6 n64 total_uncompressed_size!, 7 n64 total_compressed_size!,
  8 [KeyValue] key_value_metadata, 9 n64 data_page_offset!, 10 n64 index_page_offset,
  11 n64 dictionary_page_offset, 12 Statistics statistics, 13 [PageEncodingStats] encoding_stats,
  14 n64 bloom_filter_offset, 15 n32 bloom_filter_length, 16 SizeStatistics size_statistics,
  17 GeospatialStatistics geospatial_statistics
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

`n32` and `n64` are numbers that are never negative.
"""

MOST_VALUES = 8_000_000
"""The most values that one description may have."""

BITS: Final = {"i16": 16, "i32": 32, "i64": 64, "n32": 32, "n64": 64}
KINDS: Final = {
    **{"i8": 3, "i16": 4, "i32": 5, "i64": 6, "n32": 5, "n64": 6},
    **{"double": 7, "binary": 8, "encryption": 12},
}
LIST, STRUCT = 9, 12
FIELD: Final = re.compile(r"(\d+) \[?(\w+)(\]?) (\w+)(!?)")

Fields = dict[str, Any]


class FooterError(ValueError):
    """What is wrong with the description that a file gives of itself."""


class Field(NamedTuple):
    """A field of a struct: the kind of its values, whether it is a list of them, and its name."""

    kind: str
    many: bool
    name: str
    required: bool

    @property
    def wire(self) -> int:
        """The number of its kind in the bytes."""
        return LIST if self.many else KINDS.get(self.kind, STRUCT)


def _structs() -> dict[str, dict[int, Field]]:
    lines = FORMAT.replace("\n  ", " ").strip().splitlines()
    return {
        name: {
            int(number): Field(kind, bool(many), field, bool(required))
            for number, kind, many, field, required in FIELD.findall(fields)
        }
        for name, _, fields in (line.partition(":") for line in lines)
    }


STRUCTS: Final = _structs()


class Compact:
    """A reader of bytes. A struct is given as its fields by name.

    >>> Compact(bytes([0x18, 0x01, 0x6B, 0x18, 0x02, 0x6F, 0x6B, 0x00])).struct("KeyValue")
    {'key': b'k', 'value': b'ok'}
    """

    def __init__(self, data: bytes) -> None:
        self.data, self.at, self._left = data, 0, MOST_VALUES

    def struct(self, name: str) -> Fields:
        """The next struct, which the format calls by this name.

        Raises
        ------
        FooterError
            The bytes are none, or it is larger than is allowed.
        """
        known, fields, number = STRUCTS[name], Fields(), 0
        while head := self._byte():
            step, wire = head >> 4, head & 15
            number = number + step if step else self._whole("i16")
            field = known.get(number)
            if field is None:
                raise FooterError(f"field {number} of {name}, which the format does not know")
            if field.name in fields:
                raise FooterError(f"field {field.name} of {name} twice")
            fields[field.name] = self._field(field, wire)
        if missing := [
            each.name for each in known.values() if each.required and each.name not in fields
        ]:
            raise FooterError(f"no field {missing[0]} in {name}")
        return fields

    def _field(self, field: Field, wire: int) -> Any:
        if field.kind == "encryption":
            raise FooterError("encryption")
        if field.kind == "bool" and wire in (1, 2):
            return wire == 1
        if wire != field.wire:
            raise FooterError(f"field {field.name} of kind {wire}")
        return self._list(field) if field.many else self._value(field)

    def _list(self, field: Field) -> list[Any]:
        head = self._byte()
        size = head >> 4 if head < 0xF0 else self.unsigned()
        if size > len(self.data) - self.at:
            raise FooterError(f"a list of {size} values in {len(self.data) - self.at} bytes")
        if size and head & 15 != KINDS.get(field.kind, STRUCT):
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
        """A whole number. Readers would cut off what does not fit its kind."""
        number = self.unsigned()
        if number >> BITS[kind]:
            raise FooterError(f"a number of more than {BITS[kind]} bits")
        return (number >> 1) ^ -(number & 1)

    def unsigned(self) -> int:
        """The next whole number, which has no sign."""
        number = place = 0
        while place < 70:
            part = self._byte()
            number |= (part & 0x7F) << place
            if part < 0x80:
                return number
            place += 7
        raise FooterError("a number of more than 10 bytes")

    def take(self, size: int) -> bytes:
        """The next bytes."""
        start, self.at = self.at, self.at + size
        if self.at > len(self.data):
            raise FooterError(f"{size} bytes where {len(self.data) - start} are left")
        return self.data[start : self.at]

    def _byte(self) -> int:
        if self.at >= len(self.data):
            raise FooterError("an end in the middle")
        self.at += 1
        return self.data[self.at - 1]
