"""The rounds in a project's inbox, and what of it cannot be read."""

import os
import shutil
import tempfile
import time
import weakref
from collections import Counter
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from functools import cached_property
from pathlib import Path, PurePosixPath
from typing import NamedTuple

from agreement_pipeline.errors import AgreementError, ProjectError
from agreement_pipeline.large_files import digest_of_plain
from agreement_pipeline.projects.deliveries import DeliveriesBefore, digest_of_delivery
from agreement_pipeline.projects.settings import ProjectSettings
from agreement_pipeline.readers import (
    DeliveredTable,
    read_rounds,
    refuse_odd_name,
    strip_compression_suffix,
)
from agreement_pipeline.store import Bucket, Folder, digest_at, names_in
from agreement_pipeline.text import as_valid_utf_8, natural_sort_key

AT_REST_SECONDS = 2.0
MAX_NAME_BYTES = 255
HIDDEN_PREFIXES = (".", "~$")
"""How files begin that nobody delivered, such as the mark that a workbook is open."""


class FileSeen(NamedTuple):
    """A delivered file. Another content has another `mark`.

    A program can choose when it was `modified`, in seconds since 1970, but not when it `changed`.
    """

    name: str
    modified: float
    changed: float
    mark: tuple[object, ...]


@dataclass(frozen=True)
class Delivery:
    """A round as it was delivered. In a bucket the digest is that of the sizes and ETags of its
    objects. `predictions_digest` is that of the files with labels of models, empty if there are
    none. `before` is what it was compared with when it was read, and `table` is what the suite of
    the project is asked of.
    """

    round: str
    path: Folder
    file_digest: str
    files: tuple[FileSeen, ...] = ()
    in_bucket: bool = False
    before: DeliveriesBefore | None = None
    table: DeliveredTable | None = field(default=None, compare=False)
    predictions_digest: str = ""

    @property
    def digest(self) -> str:
        """Of all that is read for the round."""
        return digest_of_delivery(self.file_digest, self.predictions_digest)

    @property
    def here(self) -> Path:
        """In a bucket there is no path before the delivery was fetched."""
        assert isinstance(self.path, Path)
        return self.path


class InboxContents(NamedTuple):
    """The rounds of an inbox, sorted; and why a round or a file cannot be read.

    What is `refused` keeps no other round from being read.
    """

    deliveries: dict[str, Delivery]
    refused: dict[str, str]


class _FileReading(NamedTuple):
    files: tuple[FileSeen, ...]
    round: str
    deliveries: tuple[Delivery, ...] = ()
    refusal: str = ""


@dataclass(frozen=True, eq=False)
class Inbox:
    """A file or folder on a disk where rounds arrive, or the folder of a bucket.

    A file is read again only if its size, its inode or one of its times is another, of which no
    program can choose the last. A file that changed in the last two seconds is read each time,
    since a clock may give two changes one time.
    """

    place: Folder
    settings: ProjectSettings
    root: Path = Path()
    _known: dict[str, _FileReading] = field(default_factory=dict, repr=False)
    _copies: dict[str, Path] = field(default_factory=dict, repr=False)
    _predictions: dict[Path, tuple[FileSeen, str]] = field(default_factory=dict, repr=False)

    @cached_property
    def _bucket(self) -> Bucket:
        return Bucket(str(self.place))

    def is_there(self) -> bool:
        place = self.place
        return place.exists() if isinstance(place, Path) else self._bucket.is_there()

    def look(self, only_round: str = "") -> InboxContents:
        """If `only_round` is named, no file of another one is read, unless files name the
        round of each row.
        """
        by_rows = self.settings.has_rounds_in_rows
        reading_by_name = {
            name: self._read_file(name, round_name, files)
            for name, files in self._files_by_round(only_round).items()
            for plain in [as_valid_utf_8(name)]
            for round_name in [
                Path(strip_compression_suffix(plain)).stem if files[0].name == name else plain
            ]
            if by_rows or only_round in ("", round_name)
        }
        if not only_round:
            self._known.clear()
        self._known.update(reading_by_name)
        all_deliveries = [
            replace(delivery, predictions_digest=self._digest_of_predictions(delivery.round))
            for reading in reading_by_name.values()
            for delivery in reading.deliveries
        ]
        refusals = {
            reading.round: reading.refusal
            for reading in reading_by_name.values()
            if reading.refusal
        }
        for name, count in sorted(Counter(delivery.round for delivery in all_deliveries).items()):
            if count > 1:
                refusals[name] = (
                    f"{self.place}: found round {name!r} in more than one file; "
                    "expected one file a round. Remove or rename one."
                )
        all_deliveries.sort(key=lambda delivery: natural_sort_key(delivery.round))
        return InboxContents(
            {
                delivery.round: delivery
                for delivery in all_deliveries
                if delivery.round not in refusals
            },
            refusals,
        )

    @contextmanager
    def fetched(self, delivery: Delivery) -> Iterator[Delivery]:
        """Errors name the object in the bucket, not its copy."""
        if not delivery.in_bucket:
            yield delivery
            return
        copy, url = self._copy_from_bucket(delivery), str(delivery.path)
        try:
            yield replace(delivery, path=copy)
        except AgreementError as error:
            message = str(error).replace(str(copy), url)
            if url not in message:
                without_copy_name = message.removeprefix(copy.name)
                message = (
                    f"{url}: {message}"
                    if without_copy_name == message
                    else f"{url}{without_copy_name}"
                )
            error.args = (message,)
            raise

    def _files_by_round(self, start: str) -> dict[str, tuple[FileSeen, ...]]:
        files_by_name: dict[str, list[FileSeen]] = {}
        place = self.place
        for file in (
            _iterate_files_on_disk(place)
            if isinstance(place, Path)
            else self._iterate_objects(start)
        ):
            files_by_name.setdefault(file.name.partition("/")[0], []).append(file)
        return {name: tuple(files) for name, files in files_by_name.items()}

    def _iterate_objects(self, start: str) -> Iterator[FileSeen]:
        for name, about in sorted(self._bucket.listed(start).items()):
            if not name.startswith(HIDDEN_PREFIXES):
                yield FileSeen(name, about.modified, about.modified, (about.size, about.tag))

    def _read_file(self, name: str, round_name: str, files: tuple[FileSeen, ...]) -> _FileReading:
        previous = self._known.get(name)
        if previous and previous.files == files:
            return previous
        last_change = max(max(file.modified, file.changed) for file in files)
        is_at_rest = time.time_ns() / 1e9 - last_change > AT_REST_SECONDS
        rounds: tuple[str, ...] = (round_name,)
        place, project_settings = self.place, self.settings
        in_bucket = not isinstance(place, Path)
        path: Folder = place if isinstance(place, Path) and place.is_file() else place / name
        try:
            if isinstance(path, Path):
                _raise_for_links_and_devices(path)
                digest = digest_at(path)
                if project_settings.has_rounds_in_rows:
                    reading_settings = (
                        project_settings.columns,
                        project_settings.limits,
                        project_settings.reader,
                    )
                    rounds = read_rounds(
                        path,
                        *reading_settings,
                        layout=project_settings.layout,
                        rules=project_settings.rules,
                    )
            else:
                _raise_for_object_names(self.place, files)
                tags = [[file.name, *file.mark] for file in files]
                digest = digest_of_plain(tags)
        except AgreementError as error:
            return _FileReading((), round_name, refusal=str(error))
        except OSError as error:
            words = f"{path}: found a file that cannot be read ({error.strerror or error}); "
            return _FileReading(
                (), round_name, refusal=f"{words}expected one that can. Correct its permissions."
            )
        deliveries = tuple(
            Delivery(round_read, path, digest, files, in_bucket) for round_read in rounds
        )
        return _FileReading(files if is_at_rest or in_bucket else (), round_name, deliveries)

    def _digest_of_predictions(self, round_name: str) -> str:
        """A file that is not there has no digest. It is refused when the round is read."""
        digest_by_model = {
            model: self._digest_of_file(Path(predicted.path_of_round(round_name, self.root).file))
            for model, predicted in sorted(self.settings.predictions.items())
        }
        return digest_of_plain(digest_by_model) if digest_by_model else ""

    def _digest_of_file(self, path: Path) -> str:
        """The file is read again only if it is another one, as a delivered file is."""
        current_file = next(_iterate_files_on_disk(path), None) if path.is_file() else None
        if current_file is None:
            return ""
        cached = self._predictions.get(path)
        if cached is None or cached[0] != current_file:
            cached = current_file, digest_at(path)
            if (
                time.time_ns() / 1e9 - max(current_file.modified, current_file.changed)
                <= AT_REST_SECONDS
            ):
                return cached[1]
            self._predictions[path] = cached
        return cached[1]

    def _copy_from_bucket(self, delivery: Delivery) -> Path:
        if delivery.file_digest not in self._copies:
            for copy in self._copies.values():
                _remove_folder_of_process(copy.parent, os.getpid())
            self._copies.clear()
            folder = Path(tempfile.mkdtemp(prefix="agreement-"))
            weakref.finalize(self, _remove_folder_of_process, folder, os.getpid())
            for file in delivery.files:
                (folder / file.name).parent.mkdir(parents=True, exist_ok=True)
                self._bucket.fetch(file.name, folder / file.name)
            if self.look(delivery.round).deliveries.get(delivery.round) != delivery:
                raise ProjectError(
                    f"{delivery.path}: found a change while it was fetched; expected objects that "
                    "do not change. It is fetched again later.",
                    may_pass=True,
                )
            self._copies[delivery.file_digest] = folder / delivery.path.name
        return self._copies[delivery.file_digest]


def _iterate_files_on_disk(inbox: Path) -> Iterator[FileSeen]:
    names, folder = [inbox.name], inbox.parent
    if not inbox.is_file():
        names, folder = os.listdir(inbox) if inbox.is_dir() else [], inbox
        names = [name for name in names if not name.startswith(HIDDEN_PREFIXES)]
    for name in sorted(names):
        place = folder / name
        is_folder = place.is_dir() and not place.is_symlink()
        for relative_name in (
            [f"{name}/{below}" for below in names_in(place)] if is_folder else [name]
        ):
            try:
                status = (folder / relative_name).lstat()
            except (FileNotFoundError, NotADirectoryError):  # it was removed meanwhile
                continue
            modified_ns, changed_ns = status.st_mtime_ns, status.st_ctime_ns
            mark = (status.st_size, status.st_dev, status.st_ino, modified_ns, changed_ns)
            yield FileSeen(relative_name, modified_ns / 1e9, changed_ns / 1e9, mark)


def _raise_for_links_and_devices(path: Path) -> None:
    """Refuse links, and pipes and devices: a reader would wait for them."""
    inner_paths = [path / name for name in names_in(path)]
    for entry in (path, *inner_paths):
        refuse_odd_name(entry)
        if entry.is_symlink():
            raise ProjectError(
                f"{entry}: found a link; expected the file itself, since a link can lead anywhere. "
                "Put the file into the inbox."
            )
        if not (entry.is_file() or entry.is_dir()):
            raise ProjectError(
                f"{entry}: found a device, pipe or socket; expected a file. "
                "Put a file in its place, or remove it."
            )


def _raise_for_object_names(inbox: Folder, files: tuple[FileSeen, ...]) -> None:
    folders = {str(above) for file in files for above in PurePosixPath(file.name).parents}
    for name, *_ in files:
        parts = name.split("/")
        if (
            name in folders
            or not {"", ".", ".."}.isdisjoint(parts)
            or "\0" in name
            or any(len(part.encode()) > MAX_NAME_BYTES for part in parts)
        ):
            raise ProjectError(
                f"{inbox}/{name}: found an object whose name is no path of a file; "
                f"expected no empty part, none of dots alone, {MAX_NAME_BYTES} bytes at most in "
                "each, and no object inside another. Rename the object."
            )


def _remove_folder_of_process(folder: Path, process: int) -> None:
    if os.getpid() == process:
        shutil.rmtree(folder, ignore_errors=True)
