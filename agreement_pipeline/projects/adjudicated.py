"""The answers of adjudicators, as tables that a team puts into a folder."""

import csv
from collections.abc import Mapping
from pathlib import Path

from agreement_pipeline.errors import ProjectError
from agreement_pipeline.ratings import Adjudicated
from agreement_pipeline.text import listed

NEEDED = ("item", "label", "ratings_digest")


def read_adjudicated(folder: Path) -> dict[str, Adjudicated]:
    """The adjudicated labels of each round: a CSV file a round, named after the round.

    Raises
    ------
    ProjectError
        There is no such folder, or a file is not what it must be.
    """
    if not folder.is_dir():
        raise ProjectError(
            f"{folder}: found no such folder; expected the adjudicated labels. "
            "Correct adjudicated in the project, or make the folder."
        )
    return {path.stem: _of_round(path) for path in sorted(folder.glob("*.csv"))}


def _of_round(path: Path) -> Adjudicated:
    header, given = _cells(path)
    missing = [name for name in NEEDED if header.count(name) != 1]
    if missing:
        raise ProjectError(
            f"{path}: found no column {listed(missing)}, or more than one; expected "
            f"{listed(NEEDED)} once each. Fill in the column label of what the command disputed "
            "writes."
        )
    rows = [(number, _row(path, number, header, cells)) for number, cells in given]
    rows = [(number, row) for number, row in rows if row["label"]]
    return Adjudicated(_one_digest(path, rows), _labels(path, rows))


def _cells(path: Path) -> tuple[list[str], list[tuple[int, list[str]]]]:
    """The header, and the cells of each row with the number of the row."""
    try:
        if not path.is_file():
            raise OSError("no file")
        with path.open(encoding="utf-8-sig", newline="") as file:
            rows = list(csv.reader(file, strict=True))
    except (OSError, UnicodeDecodeError, csv.Error) as error:
        raise ProjectError(
            f"{path}: found no readable table ({error}); expected CSV in UTF-8, with quotes that "
            "close. Save the file again."
        ) from None
    header = rows[0] if rows else []
    return header, [(at, row) for at, row in enumerate(rows[1:], 2) if row]


def _row(path: Path, number: int, header: list[str], cells: list[str]) -> dict[str, str]:
    if len(cells) != len(header):
        raise ProjectError(
            f"{path}: row {number}: found {len(cells)} cells; expected {len(header)}, as in the "
            "header. Complete the row, or quote the cell that holds a comma."
        )
    return dict(zip(header, cells, strict=True))


Rows = list[tuple[int, dict[str, str]]]


def _one_digest(path: Path, rows: Rows) -> str:
    digests = {row["ratings_digest"]: number for number, row in rows}
    if len(digests) > 1:
        raise ProjectError(
            f"{path}: rows {sorted(digests.values())}: found {len(digests)} digests of ratings; "
            "expected answers on one version of the round. Adjudicate the present version."
        )
    return next(iter(digests), "")


def _labels(path: Path, rows: Rows) -> Mapping[str, str]:
    found: dict[str, str] = {}
    for number, row in rows:
        if found.setdefault(row["item"], row["label"]) != row["label"]:
            raise ProjectError(
                f"{path}: row {number}: found label {row['label']!r} of item {row['item']!r}; "
                f"expected {found[row['item']]!r}, as in an earlier row. Keep one answer."
            )
    return found
