"""An inbox in a bucket: it is listed, and a round is fetched when it is read."""

import hashlib
import json
import os
import shutil
import tempfile
import weakref
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from functools import cached_property
from pathlib import Path, PurePosixPath
from typing import NamedTuple

from agreement_pipeline.errors import AgreementError, ProjectError
from agreement_pipeline.projects.deliveries import Delivery, FileSeen, Found, named_after, twice
from agreement_pipeline.store import Bucket, Folder, Listed

LONGEST_NAME = 255


@dataclass(frozen=True, eq=False)
class BucketInbox:
    """The folder of a bucket where rounds arrive. An object is a round, or a folder of objects.

    No object is read to find what is new: the list has the size and the ETag of each. So a list
    of a thousand objects is one request.
    """

    url: Folder
    _copies: dict[str, Path] = field(default_factory=dict, repr=False)
    _urls: dict[str, Folder] = field(default_factory=dict, repr=False)

    @cached_property
    def _bucket(self) -> Bucket:
        return Bucket(str(self.url))

    def is_there(self) -> bool:
        """True if there is such a bucket. It may be empty."""
        return self._bucket.is_there()

    def look(self) -> Found:
        """The rounds in the bucket, and what of it cannot be read."""
        return self._found("")

    def delivery(self, round_name: str) -> Delivery | None:
        """The delivery of one round, or None. No objects of other names are listed.

        Raises
        ------
        ProjectError
            The round is there twice, or cannot be fetched.
        """
        found = self._found(round_name)
        if round_name in found.refused:
            raise ProjectError(found.refused[round_name], may_pass=True)
        return found.deliveries.get(round_name)

    def fetched(self, delivery: Delivery) -> Delivery:
        """The delivery with a copy of its objects as its path. The last copy is kept.

        Raises
        ------
        ProjectError
            An object changed meanwhile.
        """
        if delivery.digest not in self._copies:
            self._forget()
            folder = Path(tempfile.mkdtemp(prefix="agreement-"))
            weakref.finalize(self, _remove, folder, os.getpid())
            self._fetch(delivery, folder)
            self._copies[delivery.digest] = folder / delivery.path.name
        return replace(delivery, path=self._copies[delivery.digest])

    @contextmanager
    def naming(self, delivery: Delivery) -> Iterator[None]:
        """Let errors name the object in the bucket, not its copy."""
        try:
            yield
        except AgreementError as error:
            url = str(self.url / delivery.path.name)
            said = str(error).replace(str(delivery.path), url)
            if url not in said:
                rest = said.removeprefix(delivery.path.name)
                said = f"{url}: {said}" if rest == said else f"{url}{rest}"
            error.args = (said,)
            raise

    def _fetch(self, delivery: Delivery, folder: Path) -> None:
        for each in delivery.files:
            (folder / each.name).parent.mkdir(parents=True, exist_ok=True)
            self._bucket.fetch(each.name, folder / each.name)
        if self.delivery(delivery.round) != delivery:
            raise ProjectError(
                f"{delivery.path}: found a change while it was fetched; expected objects that do "
                "not change. It is fetched again later.",
                may_pass=True,
            )

    def _forget(self) -> None:
        for copy in self._copies.values():
            _remove(copy.parent, os.getpid())
        self._copies.clear()

    def _found(self, start: str) -> Found:
        places = _places(self._bucket.listed(start))
        refused = twice(self.url, (each.round for each in places))
        refused |= {
            each.round: _no_path(f"{self.url}/{wrong}")
            for each in places
            if (wrong := each.unwritable())
        }
        found = {
            each.round: Delivery(
                each.round, self._url(each.name), _digest(each.objects), each.seen(), True
            )
            for each in sorted(places)
            if each.round not in refused
        }
        return Found(found, refused)

    def _url(self, name: str) -> Folder:
        """The URL of an object or a folder. It is made once, since that takes long."""
        if name not in self._urls:
            self._urls[name] = self.url / name
        return self._urls[name]


class _Place(NamedTuple):
    """A round: the name of its object or folder, and its objects by their names."""

    round: str
    name: str
    objects: Mapping[str, Listed]

    def seen(self) -> tuple[FileSeen, ...]:
        """When each object was written."""
        return tuple(
            FileSeen(name, about.modified, about.modified) for name, about in self.objects.items()
        )

    def unwritable(self) -> str | None:
        """The first object whose name cannot be the path of a file, if there is one."""
        inside = [name for name in self.objects if "/" in name]
        folders = {str(above) for name in inside for above in PurePosixPath(name).parents}
        return next((name for name in self.objects if name in folders or _is_no_path(name)), None)


def _places(objects: Mapping[str, Listed]) -> list[_Place]:
    """The rounds of these objects. An object in a folder belongs to the round of the folder."""
    found: dict[tuple[str, str], dict[str, Listed]] = {}
    for name, about in objects.items():
        first, folder, _ = name.partition("/")
        if not first.startswith("."):
            found.setdefault((first if folder else named_after(first), first), {})[name] = about
    return [_Place(*named, inside) for named, inside in found.items()]


def _is_no_path(name: str) -> bool:
    """True if a name leads elsewhere, or no file can be called so."""
    parts = name.split("/")
    return (
        not {"", ".", ".."}.isdisjoint(parts)
        or "\0" in name
        or any(len(each.encode()) > LONGEST_NAME for each in parts)
    )


def _no_path(url: str) -> str:
    return (
        f"{url}: found an object whose name is no path of a file; expected no empty part, none of "
        f"dots alone, {LONGEST_NAME} bytes at most in each, and no object inside another. "
        "Rename the object."
    )


def _digest(objects: Mapping[str, Listed]) -> str:
    """What tells these objects from others. Equal bytes that are sent again have the same."""
    said = [[name, about.size, about.tag] for name, about in sorted(objects.items())]
    return hashlib.sha256(json.dumps(said).encode()).hexdigest()


def _remove(folder: Path, process: int) -> None:
    """Remove a folder, unless this process was forked from the one whose folder it is."""
    if os.getpid() == process:
        shutil.rmtree(folder, ignore_errors=True)
