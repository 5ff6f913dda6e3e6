"""The kinds of source that a table may be kept as."""

import gzip
import json
import math
from collections.abc import Callable, Mapping
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import pandas as pd

FRAME = "frame"


def _text(frame: pd.DataFrame, separator: str = ",", **how: Any) -> str:
    written = frame.map(_cell)
    return str(written.to_csv(index=False, sep=separator, **how))


def _cell(value: Any) -> Any:
    """A cell as a spreadsheet would write it; a number keeps all its digits."""
    if isinstance(value, bool):
        return str(value).lower()
    return None if _missing(value) else value


def _missing(value: Any) -> bool:
    return value is None or (isinstance(value, float) and math.isnan(value))


def _records(frame: pd.DataFrame) -> str:
    rows = frame.astype(object).to_dict("records")
    return "".join(json.dumps(_given(row), ensure_ascii=False) + "\n" for row in rows)


def _given(row: Mapping[Any, Any]) -> dict[str, Any]:
    return {str(name): None if _missing(value) else value for name, value in row.items()}


def _encoded(encoding: str, **how: Any) -> Callable[[pd.DataFrame, Path], None]:
    def write(frame: pd.DataFrame, path: Path) -> None:
        path.write_bytes(_text(frame, **how).encode(encoding, errors="replace"))

    return write


def _lines(frame: pd.DataFrame, path: Path) -> None:
    path.write_text(_records(frame), encoding="utf-8")


def _gzipped(frame: pd.DataFrame, path: Path) -> None:
    text = _records(frame) if "jsonl" in path.name else _text(frame)
    path.write_bytes(gzip.compress(text.encode(), mtime=0))


def _zstandard(frame: pd.DataFrame, path: Path) -> None:
    frame.map(_cell).to_csv(path, index=False, compression="zstd")


def typed(frame: pd.DataFrame) -> pd.DataFrame:
    """The frame with a type for each column. Cells of several kinds become text."""
    found = frame.infer_objects()
    for name in found:
        kinds = {type(value) for value in found[name] if not _missing(value)}
        if len(kinds) > 1 and not kinds <= {int, float}:
            cells = [None if _missing(value) else str(value) for value in found[name]]
            found[name] = pd.Series(cells, index=found.index, dtype=object)
    return found


def _parquet(frame: pd.DataFrame, path: Path) -> None:
    typed(frame).to_parquet(path, index=False)


def _categorical(frame: pd.DataFrame, path: Path) -> None:
    """Parquet with dictionaries, as pandas writes categorical columns."""
    found = typed(frame)
    texts = [name for name in found if all(isinstance(value, str) for value in found[name])]
    found.astype(dict.fromkeys(texts, "category")).to_parquet(path, index=False)


def _excel(frame: pd.DataFrame, path: Path) -> None:
    frame.map(_cell).to_excel(path, index=False)


def _folder(frame: pd.DataFrame, path: Path) -> None:
    """A folder with two tables of the same columns."""
    path.mkdir()
    half = len(frame) // 2
    for name, part in {"a": frame[:half], "b": frame[half:]}.items():
        (path / f"{name}.csv").write_text(_text(part), encoding="utf-8")


FORMS: dict[str, tuple[str, Callable[[pd.DataFrame, Path], None]]] = {
    "CSV": ("csv", _encoded("utf-8")),
    "Parquet": ("parquet", _parquet),
    "JSON Lines": ("jsonl", _lines),
    FRAME: ("frame.parquet", _parquet),
    "TSV": ("tsv", _encoded("utf-8", separator="\t")),
    "semicolons": ("csv", _encoded("utf-8", separator=";")),
    "bars": ("txt", _encoded("utf-8", separator="|")),
    "all in quotes": ("csv", _encoded("utf-8", quoting=1)),
    "byte order mark": ("csv", _encoded("utf-8-sig")),
    "line ends of Windows": ("csv", _encoded("utf-8", lineterminator="\r\n")),
    "Parquet of categories": ("parquet", _categorical),
    "gzip": ("csv.gz", _gzipped),
    "JSON Lines in gzip": ("jsonl.gz", _gzipped),
    "Zstandard": ("csv.zst", _zstandard),
    "folder": ("folder", _folder),
}
"""Each kind of source, with the ending of its name and what writes it."""
OFTEN = ("CSV", "Parquet", "JSON Lines", FRAME)

if find_spec("openpyxl"):
    FORMS["Excel"] = ("xlsx", _excel)
