"""The headers of the pages of a Parquet file, which say what it holds more truly than its end."""

from collections.abc import Iterator
from typing import Any, BinaryIO, NamedTuple

import pyarrow as pa

from agreement_pipeline.ratings.thrift import Compact, Fields, FooterError

DICTIONARY = 2
KIND, UNPACKED, PACKED, DATA, DATA_2 = 1, 2, 3, 5, 8
"""The fields of a page."""
ENCODING, STATISTICS = {DATA: 2, DATA_2: 4}, {DATA: 5, DATA_2: 8}
"""The fields of a page of data, in both forms."""
BY_PREFIX = 7
"""The encoding in which a text may repeat the one before it."""
USUAL, LARGEST = 1 << 10, 1 << 24
"""Bytes that nearly all headers fit in, and that each must fit in."""


class Page(NamedTuple):
    """A page.

    Attributes
    ----------
    size
        Its bytes once they are unpacked.
    dictionary
        True if it holds the texts that other pages refer to.
    by_prefix
        True if its texts may repeat parts of each other.
    statistics
        True if its header says more of its values than how they are written.
    """

    size: int
    dictionary: bool
    by_prefix: bool
    statistics: bool


def pages(file: BinaryIO | pa.NativeFile, begin: int, end: int) -> Iterator[Page]:
    """The pages between two places of a file.

    Raises
    ------
    RatingsError
        There is something else.
    """
    at = begin
    while at < end:
        header, length = _header(file, at)
        packed = _size(header, PACKED)
        yield _page(header, max(packed, _size(header, UNPACKED)))
        at += length + packed


def _page(header: Fields, size: int) -> Page:
    data = {form: header[form] for form in (DATA, DATA_2) if isinstance(header.get(form), dict)}
    return Page(
        size,
        header.get(KIND) == DICTIONARY,
        any(said.get(ENCODING[form]) == BY_PREFIX for form, said in data.items()),
        any(said.get(STATISTICS[form]) for form, said in data.items()),
    )


def _header(file: BinaryIO | pa.NativeFile, at: int) -> tuple[Fields, int]:
    """The header of a page and its length. More is read if it is unusually long."""
    for most in (USUAL, LARGEST):
        file.seek(at)
        data = file.read(most)
        found = Compact(data)
        try:
            return found.struct(), found.at
        except FooterError:
            if len(data) < most:
                raise
    raise FooterError(f"the header of a page of more than {LARGEST} bytes")


def _size(header: Fields, field: int) -> int:
    found: Any = header.get(field)
    if type(found) is not int or found < 0:
        raise FooterError("a page without a size")
    return found
