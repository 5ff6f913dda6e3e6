"""The codes of many texts, in the order in which each is first met if they are not too many.

Names that programs make often have one length. Then a few whole numbers hold each text, and one
number is made of these. Arrow puts such numbers into codes in half the time of texts. Two texts may
give the same number. So each text is compared with the text of its code in the end.
"""

from collections.abc import Sequence
from typing import Any

import numpy as np

WORD, MOST_WORDS, BLOCK = 8, 4, 1 << 20
MANY, PART_BITS = 1 << 22, 3
"""How many texts are put into codes in parts, and the bits that tell the parts apart."""
MULTIPLIER = np.uint64(0x9E3779B97F4A7C15)
"""An odd number, so that different numbers stay different when multiplied."""
Codes = np.ndarray[Any, np.dtype[np.int32]]
Words = np.ndarray[Any, np.dtype[np.uint64]]


def in_codes(column: Any) -> tuple[Codes, Any]:
    """The codes of an Arrow column of texts, -1 where one is missing, and its distinct texts.

    >>> import pyarrow as pa
    >>> codes, texts = in_codes(pa.chunked_array([["item-02", "item-01"], ["item-02"]]))
    >>> codes.tolist(), texts.to_pylist()
    ([0, 1, 0], ['item-02', 'item-01'])
    """
    blocks = _blocks(column)
    if not blocks:
        return np.empty(0, dtype=np.int32), column.combine_chunks()
    width = _width(blocks)
    found = _by_numbers(blocks, width) if width else None
    return found or _by_texts(column)


def _by_texts(column: Any) -> tuple[Codes, Any]:
    codes, texts = _encoded(column)
    return np.concatenate(codes), texts


def _by_numbers(blocks: Sequence[Any], width: int) -> tuple[Codes, Any] | None:
    """The codes of texts of one width. None if two of them give the same number."""
    codes, n_distinct = _codes_of_numbers([_number(_words(each, width)) for each in blocks])
    distinct = np.empty((len(_starts(width)), n_distinct), dtype="<u8")
    for block, places in zip(blocks, codes, strict=True):
        for known, words in zip(distinct, _words(block, width), strict=True):
            known[places] = words
    # The last words are equal if the numbers are, and all words before.
    differ = any(
        (known[places] != words).any()
        for block, places in zip(blocks, codes, strict=True)
        for known, words in zip(distinct[:-1], _words(block, width)[:-1], strict=True)
    )
    return None if differ else (np.concatenate(codes), _texts(distinct, width))


def _codes_of_numbers(numbers: Sequence[Words]) -> tuple[list[Codes], int]:
    """The codes of each block of numbers, and how many numbers there are.

    Very many come in parts, by their highest bits. Arrow's table of them would be very large.
    """
    import pyarrow as pa

    if sum(map(len, numbers)) < MANY:
        codes, distinct = _encoded(pa.chunked_array(numbers))
        return codes, len(distinct)
    codes, start = [np.empty(len(each), dtype=np.int32) for each in numbers], 0
    part_of = [(each >> np.uint64(64 - PART_BITS)).astype(np.uint8) for each in numbers]
    for part in range(1 << PART_BITS):
        rows = [np.flatnonzero(each == part) for each in part_of]
        # Arrow drops chunks without a number.
        some = [
            (code, each, at) for code, each, at in zip(codes, numbers, rows, strict=True) if len(at)
        ]
        if not some:
            continue
        found, distinct = _encoded(pa.chunked_array([each[at] for _, each, at in some]))
        for (code, _, at), of in zip(some, found, strict=True):
            code[at] = of + start
        start += len(distinct)
    return codes, start


def _encoded(column: Any) -> tuple[list[Codes], Any]:
    """The codes of each chunk of a column, and its distinct values."""
    import pyarrow.compute as pc

    chunks = pc.dictionary_encode(column).chunks
    # All chunks of one column share a dictionary, which the last one holds whole.
    return [each.indices.fill_null(-1).to_numpy() for each in chunks], chunks[-1].dictionary


def _blocks(column: Any) -> list[Any]:
    import pyarrow as pa

    chunks = column.cast(pa.large_string()).chunks
    return [each.slice(at, BLOCK) for each in chunks for at in range(0, len(each), BLOCK)]


def _width(blocks: Sequence[Any]) -> int:
    """How many bytes each text has. 0 if one is missing, or if numbers do not hold them."""
    width = int(np.diff(_ends(blocks[0])[:2])[0])
    fits = WORD <= width <= WORD * MOST_WORDS and all(
        each.null_count == 0 and (np.diff(_ends(each)) == width).all() for each in blocks
    )
    return width if fits else 0


def _ends(block: Any) -> np.ndarray[Any, np.dtype[np.int64]]:
    """Where each text begins, and where the last one ends."""
    ends = np.frombuffer(block.buffers()[1], dtype=np.int64)
    return ends[block.offset : block.offset + len(block) + 1]


def _starts(width: int) -> list[int]:
    """Where the words of a text begin. The last one ends with the text."""
    return [*range(0, width - WORD, WORD), width - WORD]


def _words(block: Any, width: int) -> list[Words]:
    """The bytes of texts of one width as whole numbers, where they lie."""
    first, letters = int(_ends(block)[0]), block.buffers()[2]
    return [
        np.ndarray(len(block), "<u8", letters, first + start, width) for start in _starts(width)
    ]


def _number(words: Sequence[Words]) -> Words:
    """One number for each text, which other texts hardly ever give."""
    number = np.zeros(len(words[0]), dtype=np.uint64)
    for word in words:
        number ^= word
        number *= MULTIPLIER
    return number


def _texts(words: Words, width: int) -> Any:
    """The Arrow array of texts with these words."""
    import pyarrow as pa

    letters = np.empty((words.shape[1], width), dtype=np.uint8)
    for start, word in zip(_starts(width), words, strict=True):
        letters[:, start : start + WORD] = word.view(np.uint8).reshape(-1, WORD)
    ends = np.arange(len(letters) + 1) * width
    return pa.Array.from_buffers(
        pa.large_string(), len(letters), [None, pa.py_buffer(ends), pa.py_buffer(letters)]
    )
