"""Make the rounds that the benchmarks measure, as Parquet or CSV, block by block.

    python -m benchmarks.rounds FILE --items N [--raters R] [--missing SHARE]

A row is one rating: `item` (16 hexadecimal digits), `rater` (rater-1, …), `label` (five words).
Two thirds of the items are clear, so all raters know them. Raters guess the labels of the others.
Rows are shuffled over the whole file. Every value comes from a hash of its place.
So any size needs the memory of one block only, and the same options give the same table.
"""

import argparse
from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

import numpy as np
import pyarrow as pa
from pyarrow import csv, parquet

LABELS = ("neutral", "positive", "negative", "mixed", "unclear")
CLEAR = 0.64
BLOCK_ROWS = 1_000_000
OF_CELL, OF_ITEM, OF_TRUTH, OF_GUESS, OF_CLEAR, OF_MISSING = range(6)


class Round(NamedTuple):
    """The size of a round: every rater rates every item, less a share of missing ratings."""

    items: int
    raters: int = 5
    missing: float = 0.0

    @property
    def cells(self) -> int:
        """How many ratings there are with the missing ones."""
        return self.items * self.raters


def _hashed(values: np.ndarray, kind: int, bits: int = 64) -> np.ndarray:
    """A one-to-one hash of whole numbers under 2 ** `bits`, another for each kind."""
    mask, shift = np.uint64((1 << bits) - 1), np.uint64(max(1, bits // 2))
    mixed = values.astype(np.uint64)
    for step, factor in enumerate((0x9E3779B97F4A7C15, 0xBF58476D1CE4E5B9, 0x94D049BB133111EB)):
        salt = np.uint64((kind + 1) * (step + 1) * 0x632BE59BD9B4E019 & int(mask))
        mixed = ((mixed ^ salt) * np.uint64(factor)) & mask
        mixed ^= mixed >> shift
    return mixed


def _shares(values: np.ndarray, kind: int) -> np.ndarray:
    """Numbers that look uniform between 0 and 1."""
    return _hashed(values, kind) / 2.0**64


def blocks(made: Round) -> Iterator[pa.Table]:
    """The ratings of a round in shuffled order, a block of rows at a time."""
    bits = max(2, (made.cells - 1).bit_length())
    for start in range(0, 1 << bits, BLOCK_ROWS):
        places = np.arange(start, min(start + BLOCK_ROWS, 1 << bits), dtype=np.uint64)
        cells = _hashed(places, OF_CELL, bits)
        cells = cells[cells < made.cells]
        cells = cells[_shares(cells, OF_MISSING) >= made.missing]
        items, raters = np.divmod(cells, np.uint64(made.raters))
        yield pa.table(
            {
                "item": _identifiers(items),
                "rater": _taken([f"rater-{n + 1}" for n in range(made.raters)], raters),
                "label": _taken(LABELS, codes(items, cells)),
            }
        )


def codes(items: np.ndarray, cells: np.ndarray) -> np.ndarray:
    """The code of the label that each cell holds."""
    true, guessed = (
        (_shares(values, kind) * len(LABELS)).astype(np.int64)
        for values, kind in ((items, OF_TRUTH), (cells, OF_GUESS))
    )
    return np.where(_shares(items, OF_CLEAR) < CLEAR, true, guessed)


def _identifiers(items: np.ndarray) -> pa.Array:
    """Names of items that show nothing of their order, as text of 16 hexadecimal digits."""
    pairs = np.frombuffer(bytes(range(256)).hex().encode(), "S2")
    text = pairs[_hashed(items, OF_ITEM).view(np.uint8)]
    ends = np.arange(len(items) + 1, dtype=np.int32) * 16
    return pa.StringArray.from_buffers(
        len(items), pa.py_buffer(ends), pa.py_buffer(np.ascontiguousarray(text))
    )


def _taken(names: tuple[str, ...] | list[str], places: np.ndarray) -> pa.Array:
    return pa.array(names, pa.string()).take(pa.array(places.astype(np.int64)))


def written(path: Path, made: Round) -> Path:
    """The file of a round; it is made if it is not there yet."""
    if path.exists():
        return path
    path.parent.mkdir(parents=True, exist_ok=True)
    unfinished = path.with_name(f"{path.name}.part")
    schema = pa.schema([(name, pa.string()) for name in ("item", "rater", "label")])
    writer = (
        csv.CSVWriter(unfinished, schema, write_options=csv.WriteOptions(quoting_style="none"))
        if path.suffix == ".csv"
        else parquet.ParquetWriter(
            unfinished, schema, compression="zstd", use_dictionary=["rater", "label"]
        )
    )
    with writer:
        for block in blocks(made):
            writer.write_table(block)
    return unfinished.rename(path)


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("file", type=Path)
    parser.add_argument("--items", type=int, required=True)
    parser.add_argument("--raters", type=int, default=5)
    parser.add_argument("--missing", type=float, default=0.0)
    options = parser.parse_args()
    written(options.file, Round(options.items, options.raters, options.missing))


if __name__ == "__main__":
    main()
