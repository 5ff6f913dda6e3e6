"""The answers of adjudicators, as files that a team puts into a folder."""

import csv
from collections.abc import Collection, Iterator, Mapping
from pathlib import Path

from agreement_pipeline.errors import ProjectError
from agreement_pipeline.ratings import STRATUM, Adjudicated, Scale
from agreement_pipeline.readers import Export, Rules, read
from agreement_pipeline.text import called, counted, listed

NEEDED = ("item", "label", "ratings_digest")
OF_TASK = ("item", "ratings_digest")


def read_adjudicated(
    folder: Path, scale: Scale | None = None, rounds: Collection[str] | None = None
) -> dict[str, Adjudicated]:
    """The adjudicated labels of each round: a file a round, named after the round.

    A file is a table with the columns in `NEEDED`, or the export of a labelling tool whose labels
    are those of `scale`.
    """
    if not folder.is_dir():
        raise ProjectError(
            f"{folder}: found no such folder; expected the adjudicated labels. "
            "Correct adjudicated in the project, or make the folder."
        )
    found: dict[str, Path] = {}
    for path in sorted(folder.iterdir()):
        if path.name.startswith(".") or (rounds is not None and path.stem not in rounds):
            continue
        first = found.setdefault(path.stem, path)
        if first != path:
            raise ProjectError(
                f"{path}: found a second file of the round beside {first.name}; "
                "expected one file a round. Remove one."
            )
    return {name: _of_round(path, scale) for name, path in found.items()}


def refuse_as_round(path: Path) -> None:
    """Refuse answers to a list of disputed items as a round. They are resolutions, and no
    ratings.
    """
    inside: list[object] = [Export(path).first_record]
    for each in inside:
        if isinstance(each, Mapping):
            if OF_TASK[1] in each:
                raise ProjectError(
                    f"{path.name}: found answers to a list of disputed items; expected a round. "
                    "Put the file into the folder that adjudicated names: the answers train, and "
                    "do not count for agreement."
                )
            inside += each.values()


def _of_round(path: Path, scale: Scale | None) -> Adjudicated:
    answers = list(_of_table(path) if path.suffix == ".csv" else _of_export(path, scale))
    digests = {answer["ratings_digest"]: place for place, answer in answers}
    if len(digests) > 1:
        raise ProjectError(
            f"{path}: {'; '.join(sorted(digests.values()))}: found {len(digests)} digests of "
            "ratings; expected answers on one version of the round. Adjudicate the present version."
        )
    labels: dict[str, str] = {}
    for place, answer in answers:
        item, label = answer["item"], answer["label"]
        if labels.setdefault(item, label) != label:
            raise ProjectError(
                f"{path}: {place}: found label {label!r} of item {item!r}; "
                f"expected {labels[item]!r}, as in an earlier answer. Keep one answer."
            )
    return Adjudicated(next(iter(digests), ""), labels)


def _of_table(path: Path) -> Iterator[tuple[str, Mapping[str, str]]]:
    header, *rows = _cells(path) or [[]]
    wrong = [name for name in NEEDED if header.count(name) != 1]
    if wrong:
        absent = [name for name in wrong if name not in header]
        found = f"no {called('column', absent)}" if absent else f"{called('column', wrong)} twice"
        raise ProjectError(
            f"{path}: found {found}; expected each of {listed(NEEDED)} once. Fill in the column "
            "label of what the command disputed writes."
        )
    for number, cells in enumerate(rows, 2):
        if cells and len(cells) != len(header):
            raise ProjectError(
                f"{path}: row {number}: found {counted(len(cells), 'cell')}; expected "
                f"{len(header)}, as in the header. Complete the row, or quote the cell that holds "
                "a comma."
            )
        row = dict(zip(header, cells, strict=False))
        if row.get("label"):
            yield f"row {number}", row


def _cells(path: Path) -> list[list[str]]:
    try:
        if not path.is_file():
            raise OSError("no file")
        with path.open(encoding="utf-8-sig", newline="") as file:
            return list(csv.reader(file, strict=True))
    except (OSError, UnicodeDecodeError, csv.Error) as error:
        raise ProjectError(
            f"{path}: found no readable table ({error}); expected CSV in UTF-8, with quotes that "
            "close. Save the file again."
        ) from None


def _of_export(path: Path, scale: Scale | None) -> Iterator[tuple[str, Mapping[str, str]]]:
    answered = read(str(path), scale=scale, usable=False, rules=Rules(strata=OF_TASK))
    columns = {f"{STRATUM}{name}": name for name in OF_TASK}
    tasks = {
        task["item"]: {name: task[column] for column, name in columns.items()}
        for task in answered.items(list(columns)).to_pylist()
    }
    for rating in answered.first(["item", "rater", "label"], gold=True).to_pylist():
        task = rating["item"]
        place = f"task {task}, answer of {rating['rater']}"
        yield place, {**tasks[task], "label": str(rating["label"])}
