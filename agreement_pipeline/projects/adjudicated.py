"""The answers of adjudicators: files that a team puts into a folder, or a labelling server's."""

import csv
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import NamedTuple

from agreement_pipeline.errors import EXPECTED, ProjectError, error_in_a_sentence
from agreement_pipeline.ratings import STRATUM, Adjudicated, Scale
from agreement_pipeline.readers import COLUMNS, Columns, Export, Rules, read
from agreement_pipeline.sources import AdjudicateIn, DeliveryFolder, LabelStudio, ServerProject
from agreement_pipeline.text import called, counted, listed

REQUIRED_COLUMNS = ("item", "label", "ratings_digest")
TASK_COLUMNS = ("item", "ratings_digest")


def read_adjudicated(
    folder: Path, scale: Scale | None = None, rounds: Collection[str] | None = None
) -> dict[str, Adjudicated]:
    """The adjudicated labels of each round: a file a round, named after the round.

    A file is a table with the columns in `REQUIRED_COLUMNS`, or the export of a labelling tool
    whose labels are those of `scale`.
    """
    if not folder.is_dir():
        raise ProjectError(
            f"{folder}: found no such folder; expected the adjudicated labels. "
            "Correct adjudicated in the project, or make the folder."
        )
    path_by_round: dict[str, Path] = {}
    for path in sorted(folder.iterdir()):
        if path.name.startswith(".") or (rounds is not None and path.stem not in rounds):
            continue
        path_of_round = path_by_round.setdefault(path.stem, path)
        if path_of_round != path:
            raise ProjectError(
                f"{path}: found a second file of the round beside {path_of_round.name}; "
                "expected one file a round. Remove one."
            )
    return {name: read_answers(path, scale) for name, path in path_by_round.items()}


class RoundExchange(NamedTuple):
    """The project in which a round is adjudicated, and whether items or answers moved just now."""

    title: str
    url: str
    n_items: int
    n_answered: int
    is_changed: bool


class Exchange(NamedTuple):
    """Of each round, what a labelling server has of its adjudication, or why nothing moved."""

    rounds: Mapping[str, RoundExchange]
    failed: Mapping[str, str]


@dataclass(frozen=True)
class AdjudicationServer:
    """Projects of Label Studio in which disputed items are adjudicated, one for each version of a
    round, and the folder in which their answers are kept as files.
    """

    server: LabelStudio
    adjudicate_in: AdjudicateIn
    answers: DeliveryFolder
    columns: Columns
    _digests_without_disputes: set[str] = field(default_factory=set, repr=False, compare=False)

    def answers_path(self, round_name: str, ratings_digest: str) -> Path:
        return self.answers.place / f"{_version_name(round_name, ratings_digest)}.json"

    def exchange(
        self,
        digests: Mapping[str, str],
        tasks_of: Callable[[str], Sequence[Mapping[str, str]]],
        delivery_of: Callable[[str], Path],
    ) -> Exchange:
        """Push the disputed items of rounds that were not pushed yet, and take answers home.

        `digests` are those of the ratings of each round. A round whose own project is no longer on
        the server is passed over, since a project for its adjudicators is made like that one.
        """
        projects = self.server.list_projects()
        rounds: dict[str, RoundExchange] = {}
        failed: dict[str, str] = {}
        for round_name, digest in digests.items():
            title = self.adjudicate_in.title(round_name, digest)
            try:
                project = _only_project(projects, title, self.server.url)
                like = _only_project(projects, self.server.title_of(round_name), self.server.url)
                if project is not None and project.n_tasks:
                    rounds[round_name] = RoundExchange(
                        title,
                        self.server.page_of(project),
                        project.n_tasks,
                        project.n_finished,
                        self._take_answers(project, round_name, digest),
                    )
                elif (
                    like is not None
                    and digest not in self._digests_without_disputes
                    and not self.answers_path(round_name, digest).is_file()
                ):
                    if tasks := self._server_tasks(tasks_of(round_name), delivery_of(round_name)):
                        description = f"Disputed items of round {round_name}, ratings {digest}."
                        new_project = self.server.push_tasks(
                            project, title, description, like, tasks
                        )
                        page = self.server.page_of(new_project)
                        rounds[round_name] = RoundExchange(title, page, len(tasks), 0, True)
                    else:
                        self._digests_without_disputes.add(digest)
            except EXPECTED as error:
                failed[round_name] = error_in_a_sentence(error)
        return Exchange(rounds, failed)

    def _take_answers(self, project: ServerProject, round_name: str, digest: str) -> bool:
        version, name = self.server.answers_version(project), _version_name(round_name, digest)
        if not version:
            # Answers that were deleted on the server train no longer.
            return self.answers.remove(name)
        if self.answers.has_version(name, version):
            return False
        with self.answers.writing(name, ".json") as path:
            self.server.write_answers(project, path)
        self.answers.note_version(name, version)
        return True

    def _server_tasks(
        self, tasks: Sequence[Mapping[str, str]], delivery: Path
    ) -> list[dict[str, object]]:
        """Each with all that the task of the round showed, so that an adjudicator sees the same."""
        data_by_item = _data_by_item(delivery, {task["item"] for task in tasks}, self.columns.item)
        server_tasks: list[dict[str, object]] = []
        for task in tasks:
            about = {name: task[name] for name in ("item", "said", "ratings_digest")}
            data = data_by_item.get(task["item"])
            if data is None:
                raise ProjectError(
                    f"{delivery}: found no task of item {task['item']!r}; expected that of the "
                    "round as it was judged. Judge the round again.",
                    may_pass=True,
                )
            if conflicting_fields := [
                name for name in about if data.get(name, about[name]) != about[name]
            ]:
                raise ProjectError(
                    f"{delivery}: found the {called('field', conflicting_fields)} in the data of "
                    f"item {task['item']!r}; expected other names, since the tasks of adjudicators "
                    "have fields of these names. Rename the fields in Label Studio, or use "
                    "agreement-pipeline disputed.",
                )
            server_tasks.append({"data": {**data, **about}})
        return server_tasks


def _version_name(round_name: str, ratings_digest: str) -> str:
    return f"{round_name}-{ratings_digest[:8]}"


def _only_project(projects: Sequence[ServerProject], title: str, url: str) -> ServerProject | None:
    matching = [project for project in projects if project.title == title]
    if len(matching) > 1:
        raise ProjectError(
            f"{url}: found {len(matching)} projects {title!r}; expected one. Delete or rename the "
            "others in Label Studio."
        )
    return matching[0] if matching else None


def _data_by_item(
    delivery: Path, items: Collection[str], item_field: str
) -> dict[str, Mapping[str, object]]:
    """The data of these tasks in an export of Label Studio. An item is a task, if no field is."""
    data_by_item: dict[str, Mapping[str, object]] = {}
    for _, task in Export(delivery).records():
        data: Mapping[str, object] = task.get("data") or {}
        item = task.get("id") if item_field == COLUMNS.item else data.get(item_field)
        if str(item) in items:
            data_by_item.setdefault(str(item), data)
    return data_by_item


def refuse_as_round(path: Path) -> None:
    """Refuse answers to a list of disputed items as a round. They are resolutions, and no
    ratings.
    """
    values_to_search: list[object] = [Export(path).first_record]
    for value in values_to_search:
        if isinstance(value, Mapping):
            if TASK_COLUMNS[1] in value:
                raise ProjectError(
                    f"{path.name}: found answers to a list of disputed items; expected a round. "
                    "Put the file into the folder that adjudicated names: the answers train, and "
                    "do not count for agreement."
                )
            values_to_search += value.values()


def read_answers(path: Path, scale: Scale | None, question: str | None = None) -> Adjudicated:
    """The adjudicated labels in a file. `question` is that of an export which has several."""
    answers = list(
        _read_table(path) if path.suffix == ".csv" else _read_export(path, scale, question)
    )
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


def _read_table(path: Path) -> Iterator[tuple[str, Mapping[str, str]]]:
    header, *rows = _read_cells(path) or [[]]
    wrong = [name for name in REQUIRED_COLUMNS if header.count(name) != 1]
    if wrong:
        absent = [name for name in wrong if name not in header]
        problem = f"no {called('column', absent)}" if absent else f"{called('column', wrong)} twice"
        raise ProjectError(
            f"{path}: found {problem}; expected each of {listed(REQUIRED_COLUMNS)} once. Fill in "
            "the column label of what the command disputed writes."
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


def _read_cells(path: Path) -> list[list[str]]:
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


def _read_export(
    path: Path, scale: Scale | None, question: str | None
) -> Iterator[tuple[str, Mapping[str, str]]]:
    columns_read = COLUMNS if question is None else Columns(label=question)
    rules = Rules(strata=TASK_COLUMNS)
    answered = read(str(path), columns_read, scale=scale, usable=False, rules=rules)
    columns = {f"{STRATUM}{name}": name for name in TASK_COLUMNS}
    tasks = {
        task["item"]: {name: task[column] for column, name in columns.items()}
        for task in answered.items(list(columns)).to_pylist()
    }
    for rating in answered.first_ratings(["item", "rater", "label"], gold=True).to_pylist():
        task = rating["item"]
        place = f"task {task}, answer of {rating['rater']}"
        yield place, {**tasks[task], "label": str(rating["label"])}
