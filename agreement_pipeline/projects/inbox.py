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
from agreement_pipeline.readers import DeliveredTable, read_rounds, refuse_odd_name, without_ending
from agreement_pipeline.store import Bucket, Folder, digest_at, names_in
from agreement_pipeline.text import in_utf_8, natural

AT_REST_SECONDS = 2.0
LONGEST_NAME = 255
HIDDEN = (".", "~$")
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


class Found(NamedTuple):
    """The rounds of an inbox, sorted; and why a round or a file cannot be read.

    What is `refused` keeps no other round from being read.
    """

    deliveries: dict[str, Delivery]
    refused: dict[str, str]


class _Read(NamedTuple):
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
    _known: dict[str, _Read] = field(default_factory=dict, repr=False)
    _copies: dict[str, Path] = field(default_factory=dict, repr=False)
    _predictions: dict[Path, tuple[FileSeen, str]] = field(default_factory=dict, repr=False)

    @cached_property
    def _bucket(self) -> Bucket:
        return Bucket(str(self.place))

    def is_there(self) -> bool:
        place = self.place
        return place.exists() if isinstance(place, Path) else self._bucket.is_there()

    def look(self, only: str = "") -> Found:
        """If `only` one round is looked for, no file of another one is read, unless files name the
        round of each row.
        """
        by_rows = self.settings.has_rounds_in_rows
        read = {
            name: self._read(name, named, files)
            for name, files in self._files(only).items()
            for plain in [in_utf_8(name)]
            for named in [Path(without_ending(plain)).stem if files[0].name == name else plain]
            if by_rows or only in ("", named)
        }
        if not only:
            self._known.clear()
        self._known.update(read)
        every = [
            replace(each, predictions_digest=self._digest_of_predictions(each.round))
            for found in read.values()
            for each in found.deliveries
        ]
        refused = {found.round: found.refusal for found in read.values() if found.refusal}
        for name, count in sorted(Counter(each.round for each in every).items()):
            if count > 1:
                refused[name] = (
                    f"{self.place}: found round {name!r} in more than one file; "
                    "expected one file a round. Remove or rename one."
                )
        every.sort(key=lambda each: natural(each.round))
        return Found({each.round: each for each in every if each.round not in refused}, refused)

    @contextmanager
    def fetched(self, delivery: Delivery) -> Iterator[Delivery]:
        """Errors name the object in the bucket, not its copy."""
        if not delivery.in_bucket:
            yield delivery
            return
        copy, url = self._copy(delivery), str(delivery.path)
        try:
            yield replace(delivery, path=copy)
        except AgreementError as error:
            said = str(error).replace(str(copy), url)
            if url not in said:
                rest = said.removeprefix(copy.name)
                said = f"{url}: {said}" if rest == said else f"{url}{rest}"
            error.args = (said,)
            raise

    def _files(self, start: str) -> dict[str, tuple[FileSeen, ...]]:
        found: dict[str, list[FileSeen]] = {}
        place = self.place
        for file in _on_disk(place) if isinstance(place, Path) else self._objects(start):
            found.setdefault(file.name.partition("/")[0], []).append(file)
        return {name: tuple(files) for name, files in found.items()}

    def _objects(self, start: str) -> Iterator[FileSeen]:
        for name, about in sorted(self._bucket.listed(start).items()):
            if not name.startswith(HIDDEN):
                yield FileSeen(name, about.modified, about.modified, (about.size, about.tag))

    def _read(self, name: str, named: str, files: tuple[FileSeen, ...]) -> _Read:
        known = self._known.get(name)
        if known and known.files == files:
            return known
        last = max(max(each.modified, each.changed) for each in files)
        at_rest = time.time_ns() / 1e9 - last > AT_REST_SECONDS
        rounds: tuple[str, ...] = (named,)
        place, said = self.place, self.settings
        in_bucket = not isinstance(place, Path)
        path: Folder = place if isinstance(place, Path) and place.is_file() else place / name
        try:
            if isinstance(path, Path):
                _refuse_no_files(path)
                digest = digest_at(path)
                if said.has_rounds_in_rows:
                    how = (said.columns, said.limits, said.reader)
                    rounds = read_rounds(path, *how, layout=said.layout, rules=said.rules)
            else:
                _refuse_no_paths(self.place, files)
                tags = [[each.name, *each.mark] for each in files]
                digest = digest_of_plain(tags)
        except AgreementError as error:
            return _Read((), named, refusal=str(error))
        except OSError as error:
            words = f"{path}: found a file that cannot be read ({error.strerror or error}); "
            return _Read(
                (), named, refusal=f"{words}expected one that can. Correct its permissions."
            )
        found = tuple(Delivery(each, path, digest, files, in_bucket) for each in rounds)
        return _Read(files if at_rest or in_bucket else (), named, found)

    def _digest_of_predictions(self, round_name: str) -> str:
        """A file that is not there has no digest. It is refused when the round is read."""
        digest_by_model = {
            model: self._digest_of_file(Path(predicted.of_round(round_name, self.root).file))
            for model, predicted in sorted(self.settings.predictions.items())
        }
        return digest_of_plain(digest_by_model) if digest_by_model else ""

    def _digest_of_file(self, path: Path) -> str:
        """The file is read again only if it is another one, as a delivered file is."""
        seen = next(_on_disk(path), None) if path.is_file() else None
        if seen is None:
            return ""
        known = self._predictions.get(path)
        if known is None or known[0] != seen:
            known = seen, digest_at(path)
            if time.time_ns() / 1e9 - max(seen.modified, seen.changed) <= AT_REST_SECONDS:
                return known[1]
            self._predictions[path] = known
        return known[1]

    def _copy(self, delivery: Delivery) -> Path:
        if delivery.file_digest not in self._copies:
            for copy in self._copies.values():
                _remove(copy.parent, os.getpid())
            self._copies.clear()
            folder = Path(tempfile.mkdtemp(prefix="agreement-"))
            weakref.finalize(self, _remove, folder, os.getpid())
            for each in delivery.files:
                (folder / each.name).parent.mkdir(parents=True, exist_ok=True)
                self._bucket.fetch(each.name, folder / each.name)
            if self.look(delivery.round).deliveries.get(delivery.round) != delivery:
                raise ProjectError(
                    f"{delivery.path}: found a change while it was fetched; expected objects that "
                    "do not change. It is fetched again later.",
                    may_pass=True,
                )
            self._copies[delivery.file_digest] = folder / delivery.path.name
        return self._copies[delivery.file_digest]


def _on_disk(inbox: Path) -> Iterator[FileSeen]:
    names, folder = [inbox.name], inbox.parent
    if not inbox.is_file():
        names, folder = os.listdir(inbox) if inbox.is_dir() else [], inbox
        names = [name for name in names if not name.startswith(HIDDEN)]
    for name in sorted(names):
        place = folder / name
        is_folder = place.is_dir() and not place.is_symlink()
        for each in [f"{name}/{below}" for below in names_in(place)] if is_folder else [name]:
            try:
                said = (folder / each).lstat()
            except (FileNotFoundError, NotADirectoryError):  # it was removed meanwhile
                continue
            modified, changed = said.st_mtime_ns, said.st_ctime_ns
            mark = (said.st_size, said.st_dev, said.st_ino, modified, changed)
            yield FileSeen(each, modified / 1e9, changed / 1e9, mark)


def _refuse_no_files(path: Path) -> None:
    """Refuse links, and pipes and devices: a reader would wait for them."""
    inside = [path / name for name in names_in(path)]
    for each in (path, *inside):
        refuse_odd_name(each)
        if each.is_symlink():
            raise ProjectError(
                f"{each}: found a link; expected the file itself, since a link can lead anywhere. "
                "Put the file into the inbox."
            )
        if not (each.is_file() or each.is_dir()):
            raise ProjectError(
                f"{each}: found a device, pipe or socket; expected a file. "
                "Put a file in its place, or remove it."
            )


def _refuse_no_paths(inbox: Folder, files: tuple[FileSeen, ...]) -> None:
    folders = {str(above) for file in files for above in PurePosixPath(file.name).parents}
    for name, *_ in files:
        parts = name.split("/")
        if (
            name in folders
            or not {"", ".", ".."}.isdisjoint(parts)
            or "\0" in name
            or any(len(each.encode()) > LONGEST_NAME for each in parts)
        ):
            raise ProjectError(
                f"{inbox}/{name}: found an object whose name is no path of a file; "
                f"expected no empty part, none of dots alone, {LONGEST_NAME} bytes at most in "
                "each, and no object inside another. Rename the object."
            )


def _remove(folder: Path, process: int) -> None:
    if os.getpid() == process:
        shutil.rmtree(folder, ignore_errors=True)
