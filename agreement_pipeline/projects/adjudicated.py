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
    with path.open(encoding="utf-8-sig", newline="") as file:
        reader = csv.DictReader(file)
        missing = [name for name in NEEDED if name not in (reader.fieldnames or ())]
        if missing:
            raise ProjectError(
                f"{path}: found no column {listed(missing)}; expected {listed(NEEDED)}. "
                "Fill in the column label of what the command disputed writes."
            )
        rows = [(number, row) for number, row in enumerate(reader, 2) if row["label"]]
    return Adjudicated(_one_digest(path, rows), _labels(path, rows))


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
