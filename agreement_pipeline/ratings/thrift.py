"""Thrift's compact protocol, read as plain values and within bounds.

A Parquet file describes itself in it. The bytes may be anything, so each size is checked before
it is believed.
"""

from typing import Any, Final

MOST_VALUES = 8_000_000
"""The most values that one description may have."""

DEEPEST = 24
TRUE, FALSE, BYTE, DOUBLE, BINARY, LIST, SET, MAP, STRUCT = 1, 2, 3, 7, 8, 9, 10, 11, 12
WHOLE: Final = (4, 5, 6)
LONGEST_NUMBER = 10

Fields = dict[int, Any]


class FooterError(ValueError):
    """What is wrong with the description that a file gives of itself."""


class Compact:
    """A reader of bytes. Structs are given as their fields by number.

    >>> Compact(bytes([0x15, 0x04, 0x18, 0x02, 0x6F, 0x6B, 0x00])).struct()
    {1: 2, 2: b'ok'}
    """

    def __init__(self, data: bytes) -> None:
        self.data, self.at, self._left = data, 0, MOST_VALUES

    def struct(self, depth: int = 0) -> Fields:
        """The next struct.

        Raises
        ------
        FooterError
            The bytes are none, or it is larger or deeper than is allowed.
        """
        if depth > DEEPEST:
            raise FooterError(f"values inside each other more than {DEEPEST} deep")
        fields: Fields = {}
        number = 0
        while head := self._byte():
            step, kind = head >> 4, head & 15
            number = number + step if step else self._signed()
            if number in fields:
                raise FooterError(f"field {number} twice")
            fields[number] = kind == TRUE if kind in (TRUE, FALSE) else self._value(kind, depth)
        return fields

    def _value(self, kind: int, depth: int) -> Any:
        self._left -= 1
        if self._left < 0:
            raise FooterError(f"more than {MOST_VALUES} values")
        if kind in WHOLE:
            return self._signed()
        if kind == BINARY:
            return self._take(self._unsigned())
        if kind == STRUCT:
            return self.struct(depth + 1)
        if kind in (LIST, SET):
            return self._list(depth + 1)
        if kind in (TRUE, FALSE, BYTE):
            return self._byte()
        if kind == DOUBLE:
            return self._take(8)
        raise FooterError(f"a value of kind {kind}")

    def _list(self, depth: int) -> list[Any]:
        if depth > DEEPEST:
            raise FooterError(f"values inside each other more than {DEEPEST} deep")
        head = self._byte()
        size = head >> 4 if head < 0xF0 else self._unsigned()
        if size > len(self.data) - self.at:
            raise FooterError(f"a list of {size} values in {len(self.data) - self.at} bytes")
        kind = head & 15
        return [self._value(kind, depth) for _ in range(size)]

    def _signed(self) -> int:
        number = self._unsigned()
        return (number >> 1) ^ -(number & 1)

    def _unsigned(self) -> int:
        number = self._byte()
        if number < 0x80:
            return number
        number &= 0x7F
        for place in range(1, LONGEST_NUMBER):
            part = self._byte()
            number |= (part & 0x7F) << 7 * place
            if part < 0x80:
                return number
        raise FooterError(f"a number of more than {LONGEST_NUMBER} bytes")

    def _take(self, size: int) -> bytes:
        start, self.at = self.at, self.at + size
        if self.at > len(self.data):
            raise FooterError(f"{size} bytes where {len(self.data) - start} are left")
        return self.data[start : self.at]

    def _byte(self) -> int:
        if self.at >= len(self.data):
            raise FooterError("an end in the middle")
        self.at += 1
        return self.data[self.at - 1]
