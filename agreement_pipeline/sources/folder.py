"""The folder in which the deliveries of a source are kept, as files, until they are stored."""

import json
import os
import time
import uuid
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path

from agreement_pipeline.store import check_round_name, digest_at

ABANDONED_AFTER_SECONDS = 86_400.0
VERSIONS = ".versions.json"
ENDINGS = (".parquet", ".json")


@dataclass(frozen=True)
class DeliveryFolder:
    place: Path

    @contextmanager
    def writing(self, name: str, ending: str) -> Iterator[Path]:
        """A path to write the delivery `name` to. It takes its place when it is complete.

        The same bytes as before leave the file that is there, with its times.
        """
        check_round_name(name)
        self.place.mkdir(parents=True, exist_ok=True)
        self._remove_abandoned()
        # An inbox passes over names that begin with a dot.
        unfinished = self.place / f".{name}-{uuid.uuid4().hex}.part"
        try:
            yield unfinished
            self._replace(unfinished, name, ending)
        finally:
            unfinished.unlink(missing_ok=True)

    def remove(self, name: str) -> bool:
        """Remove the file of a delivery. False if there is none."""
        paths = [self.place / f"{name}{ending}" for ending in ENDINGS]
        present = [path for path in paths if path.is_file()]
        for path in present:
            path.unlink(missing_ok=True)
        return bool(present)

    def has_version(self, name: str, version: str) -> bool:
        """True if the file of a delivery is there, and was written of this version."""
        is_there = any((self.place / f"{name}{ending}").is_file() for ending in ENDINGS)
        return is_there and self._versions().get(name) == version

    def note_version(self, name: str, version: str) -> None:
        unfinished = self.place / f".{name}-{uuid.uuid4().hex}.part"
        unfinished.write_text(json.dumps({**self._versions(), name: version}, sort_keys=True))
        unfinished.replace(self.place / VERSIONS)

    def _versions(self) -> dict[str, object]:
        """A file of another form says nothing: rounds are then written once more."""
        try:
            versions = json.loads((self.place / VERSIONS).read_text(encoding="utf-8"))
        except (OSError, ValueError):
            return {}
        return versions if isinstance(versions, dict) else {}

    def _replace(self, unfinished: Path, name: str, ending: str) -> None:
        target = self.place / f"{name}{ending}"
        if target.is_file() and digest_at(target) == digest_at(unfinished):
            return
        with unfinished.open("rb+") as file:
            os.fsync(file.fileno())
        unfinished.replace(target)
        # A project that changed its source would have the round in two files.
        for other_ending in ENDINGS:
            if other_ending != ending:
                (self.place / f"{name}{other_ending}").unlink(missing_ok=True)

    def _remove_abandoned(self) -> None:
        """Remove what processes that were killed left behind."""
        for path in self.place.glob(".*.part"):
            with suppress(FileNotFoundError):
                if time.time() - path.stat().st_mtime > ABANDONED_AFTER_SECONDS:
                    path.unlink()
