"""Make the rounds that the benchmarks measure, as Parquet, CSV or JSON Lines, block by block.

    python -m benchmarks.rounds FILE --items N [--raters R] [--missing SHARE]

A row is one rating: `item` (16 hexadecimal digits), `rater` (rater-1, …), `label` (five words).
If raters meet items again, a column `occurrence` numbers the meetings.
Most items are clear, so all raters know them. Raters guess the labels of the others.
Rows are shuffled over the whole file. Every value comes from a hash of its place.
So any size needs the memory of one block only, and the same options give the same table.
"""

import argparse
from collections.abc import Iterator
from pathlib import Path

import numpy as np
import pyarrow as pa
from pyarrow import csv, parquet

from benchmarks.cases import Round

LABELS = ("neutral", "positive", "negative", "mixed", "unclear")
NOISE = 0.4
BLOCK_ROWS = 1_000_000
OF_CELL, OF_ITEM, OF_TRUTH, OF_GUESS, OF_CLEAR, OF_MISSING = range(6)


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
        yield pa.table(_columns(made, cells))


def _columns(made: Round, cells: np.ndarray) -> dict[str, pa.Array]:
    """The columns of the ratings in some cells."""
    places, meetings = np.divmod(cells, np.uint64(made.meetings))
    items, raters = np.divmod(places, np.uint64(made.raters))
    columns = {
        "item": _identifiers(items),
        "rater": _taken([f"rater-{n + 1}" for n in range(made.raters)], raters),
        "label": _labels(made, items, cells),
    }
    return columns | ({"occurrence": pa.array(meetings + 1)} if made.meetings > 1 else {})


def _labels(made: Round, items: np.ndarray, cells: np.ndarray) -> pa.Array:
    """What each cell holds."""
    truth, guess = _shares(items, OF_TRUTH), _shares(cells, OF_GUESS)
    if made.labels == "numbers":
        return pa.array(truth + NOISE * guess)
    held = np.where(_shares(items, OF_CLEAR) < made.clear, truth, guess)
    codes = (held * len(LABELS)).astype(np.int64)
    return pa.array(codes + 1) if made.labels == "grades" else _taken(LABELS, codes)


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
    if path.suffix == ".jsonl":
        for block in blocks(made):
            block.to_pandas().to_json(unfinished, orient="records", lines=True, mode="a")
        return unfinished.rename(path)
    schema = pa.table(_columns(made, np.zeros(0, np.uint64))).schema
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
    for name, default in Round._field_defaults.items():
        parser.add_argument(f"--{name}", type=type(default), default=default)
    options = vars(parser.parse_args())
    written(options.pop("file"), Round(**options))


if __name__ == "__main__":
    main()
