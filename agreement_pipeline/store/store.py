"""Content-addressed rounds in a folder or a bucket: what was delivered, decided and released, none of it ever overwritten.

::

    originals/<digest>/<name>                       the files as delivered
    rounds/<ratings digest>/<table digest>.parquet  the checked ratings
    log/, seals/                                    what happened, in order: what a round is now is what was ingested last
    releases/<name>/<version>/                      the training data

Bytes come first and the entry that speaks of them last, so that a writer killed at any point has changed nothing, or everything. Training data
alone come after their entry: none is ever seen that the log does not know.
"""

import hmac
import json
import os
import re
from collections.abc import Hashable, Iterator
from contextlib import contextmanager
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

import pandas as pd

from agreement_pipeline.errors import RatingsError, StoreError
from agreement_pipeline.ratings import (
    Ratings,
    Scale,
    kinds_in,
    parquet_bytes,
    parquet_table,
    ratings_of,
    ratings_table,
)
from agreement_pipeline.store import files
from agreement_pipeline.store.log import Log
from agreement_pipeline.store.storage import Folder, folder_at, storage_at
from agreement_pipeline.text import listed

NAME = re.compile(r"[A-Za-z0-9][A-Za-z0-9._-]{0,99}")
SALT = "salt"
SCALE = b"agreement_pipeline.scale"
RESTORE = "what was ingested is required. Restore it, or remove it and ingest again."


def check_round_name(name: str, what: str = "round") -> str:
    """`name`, once it is seen to be no path: it becomes the name of a file or folder.

    Raises
    ------
    StoreError
        It is not.
    """
    if not isinstance(name, str) or not NAME.fullmatch(name) or ".." in name:
        raise StoreError(
            f"{what} {name!r}: a name that could be a path found; 1 to 100 letters, digits, dots, underscores and hyphens are required, "
            f"the first a letter or digit and no two dots together. Rename the {what}."
        )
    return name


@dataclass(frozen=True)
class RoundVersion:
    """What a round is, or was.

    Attributes
    ----------
    round, source
        Its name, and the name of the file or folder as delivered.
    ratings_digest
        `Ratings.digest`: what was rated and how.
    original_digest
        SHA-256 of the file as delivered; of a folder, of the names and digests of its files.
    table_digest
        SHA-256 of the stored table, in which the raters have their names.
    """

    round: str
    ratings_digest: str
    original_digest: str
    source: str
    table_digest: str


class Store:
    """The rounds, decisions and releases of a project.

    Parameters
    ----------
    root
        The folder or the URL (`s3://bucket/folder`) that holds them; made when first written to.
    salt
        The key of the raters' pseudonyms; drawn once and kept in the store when omitted.

    Attributes
    ----------
    root
        The folder.
    storage
        What writes to it and reads from it.
    """

    def __init__(self, root: Folder | str, salt: bytes | None = None) -> None:
        self.root = folder_at(root)
        self.storage = storage_at(root)
        self._salt = salt
        self._log = Log(self.storage)

    @contextmanager
    def locked(self) -> Iterator[None]:
        """Keep every other writer waiting, and the log as it stands but for what is added here."""
        with self.storage.locked(), self._log.held():
            yield

    def ingest(
        self,
        round_name: str,
        ratings: Ratings,
        original: Path,
        *,
        original_digest: str | None = None,
    ) -> RoundVersion:
        """Keep a round: the original byte for byte, the checked ratings beside it; then the round is this version.

        The same bytes again change nothing. Where the digest of the original is given, its bytes must still have it.

        Raises
        ------
        StoreError
            The name is a path, what was kept before was edited, the original changed, or the ratings would not be read back as they are.
        """
        check_round_name(round_name)
        data = _bytes(ratings)
        _refuse_unstable(ratings, _ratings(data, f"ratings of round {round_name}"), round_name)
        source = Path(os.path.abspath(original))
        if not source.exists():
            raise StoreError(
                f"{source}: no such file found; the original is required. Check the path."
            )
        delivered = files.contents_of(source)
        version = RoundVersion(
            round_name,
            ratings.digest,
            files.digest_of(delivered),
            source.name,
            files.digest_of(data),
        )
        if version.original_digest != (original_digest or version.original_digest):
            raise StoreError(
                f"{source}: other bytes found than when its ratings were read; a file at rest is required. Ingest the round again."
            )
        with self.locked():
            self._keep_original(version, delivered)
            self._keep_table(version, data)
            self.record(
                "ingested",
                round_name,
                **{name: value for name, value in asdict(version).items() if name != "round"},
            )
        return version

    def rounds(self) -> tuple[str, ...]:
        """The rounds, by name."""
        return tuple(
            sorted({entry["round"] for entry in self.history() if entry["event"] == "ingested"})
        )

    def present(self, round_name: str) -> RoundVersion:
        """What a round is now: what was ingested last.

        Raises
        ------
        StoreError
            The store does not hold the round.
        """
        versions = self._arrived(check_round_name(round_name))
        if not versions:
            raise StoreError(
                f"{self.root}: no round {round_name!r} among {listed(self.rounds())}; a round that was ingested is required. Ingest it first."
            )
        return versions[-1]

    def versions(self, round_name: str) -> tuple[RoundVersion, ...]:
        """What a round has been, in the order of arrival; each version once."""
        return tuple(dict.fromkeys(self._arrived(round_name)))

    def ratings(self, round_name: str) -> Ratings:
        """The ratings of a round, read again from their bytes.

        Raises
        ------
        StoreError
            The store does not hold the round, or the bytes are not those that were stored.
        """
        return self.ratings_of(self.present(round_name))

    def ratings_of(self, version: RoundVersion) -> Ratings:
        """The ratings of a version of a round; errors as for `ratings`."""
        path, data = self.root / self._table(version), self.storage.read(self._table(version))
        if data is None:
            raise StoreError(
                f"{path}: no such file found; the ratings of round {version.round} are required. Restore it, or ingest the round again."
            )
        if files.digest_of(data) != version.table_digest:
            raise StoreError(
                f"{path}: other bytes than those stored found, so the ratings were edited; {RESTORE}"
            )
        ratings = _ratings(data, str(path))
        if ratings.digest != version.ratings_digest:
            raise StoreError(
                f"{path}: digest {ratings.digest[:12]} instead of {version.ratings_digest[:12]} found when read back; {RESTORE}"
            )
        return ratings

    def record(self, event: str, round_name: str, **facts: Any) -> None:
        """Add an entry to the log, unless the last one on the same subject says the same.

        Parameters
        ----------
        event
            ingested, decided, released or withdrawn.
        round_name
            The round, or the name of a release of several.
        facts
            Plain data.
        """
        check_round_name(round_name)
        with self.locked():
            self._log.append(event, round_name, facts)

    def history(self, round_name: str | None = None) -> tuple[dict[str, Any], ...]:
        """The log's entries, of one round or of all, in order.

        Raises
        ------
        StoreError
            An entry was edited or removed, as far as the log can show it.
        """
        every = self._log.entries()
        return (
            every
            if round_name is None
            else tuple(entry for entry in every if entry["round"] == round_name)
        )

    def in_force(self) -> tuple[dict[str, Any], ...]:
        """The entries of the releases that were let out and not withdrawn since, in order."""
        withdrawn = self.withdrawn()
        return tuple(
            entry
            for entry in self.history()
            if entry["event"] == "released" and entry["release"] not in withdrawn
        )

    def withdrawn(self) -> dict[str, dict[str, Any]]:
        """The releases that were withdrawn, each with the entry that says so."""
        return {
            called: entry
            for entry in self.history()
            if entry["event"] == "withdrawn"
            for called in entry["releases"]
        }

    def release_folder(self, name: str, version: str) -> Folder:
        """Where a version of a release has its place."""
        return (
            self.root
            / "releases"
            / check_round_name(name, "release")
            / check_round_name(version, "version")
        )

    def pseudonyms(self, ratings: Ratings) -> dict[str, str]:
        """What the raters of the panel are called outside the store: the same rater the same in every round, and no way back without the salt."""
        return {
            name: f"rater-{hmac.digest(self._key(), name.encode(), 'sha256').hex()[:12]}"
            for name in ratings.raters
        }

    def _key(self) -> bytes:
        kept = self._salt or self.storage.read(SALT)
        if kept == b"":
            raise StoreError(
                f"{self.root / SALT}: 0 bytes found; the key of the raters' pseudonyms is required. Restore it from a backup."
            )
        return kept or self._drawn_key()

    def _drawn_key(self) -> bytes:
        drawn = os.urandom(32)
        with self.locked():
            return drawn if self.storage.keep(SALT, drawn, secret=True) else self._key()

    def _arrived(self, round_name: str) -> tuple[RoundVersion, ...]:
        arrived = (entry for entry in self.history(round_name) if entry["event"] == "ingested")
        return tuple(
            RoundVersion(**{name: entry[name] for name in RoundVersion.__dataclass_fields__})
            for entry in arrived
        )

    def _keep_original(self, version: RoundVersion, delivered: bytes | dict[str, bytes]) -> None:
        name = f"originals/{version.original_digest}/{version.source}"
        kept = (
            self.storage.keep(name, delivered)
            if isinstance(delivered, bytes)
            else self.storage.keep_folder(name, delivered)
        )
        if not kept:
            raise StoreError(
                f"{self.root / name}: other bytes than those kept found, so the original was edited; {RESTORE}"
            )

    def _keep_table(self, version: RoundVersion, data: bytes) -> None:
        if not self.storage.keep(self._table(version), data):
            self.ratings_of(version)

    def _table(self, version: RoundVersion) -> str:
        return f"rounds/{version.ratings_digest}/{version.table_digest}.parquet"


def _bytes(ratings: Ratings) -> bytes:
    return parquet_bytes(
        ratings_table(ratings).replace_schema_metadata(
            {SCALE: json.dumps(ratings.scale.to_mapping(), sort_keys=True)}
        )
    )


def _ratings(data: bytes, source: str) -> Ratings:
    try:
        table = parquet_table(data)
        return ratings_of(
            table, Scale.from_mapping(json.loads(table.schema.metadata[SCALE])), source=source
        )
    except (RatingsError, KeyError, TypeError, ValueError) as cause:
        raise StoreError(f"{source}: not readable as ratings ({cause}); {RESTORE}") from None


def _refuse_unstable(given: Ratings, kept: Ratings, round_name: str) -> None:
    """Refuse ratings that would be read back as others: of numbers and times, a column keeps one kind."""
    if kept.digest == given.digest:
        return
    back = dict(_columns(kept))
    found = [
        f"column {name!r} with {kinds_in(values)}"
        for name, values in _columns(given)
        if values.to_csv() != back[name].to_csv()
    ]
    raise StoreError(
        f"ratings of round {round_name}: {' and '.join(found)} found, which would be read back as other values; values of one kind, and times of one "
        "time zone, are required. Write the column as text, which is kept as it stands."
    )


def _columns(ratings: Ratings) -> "Iterator[tuple[Hashable, pd.Series[Any]]]":
    yield from ratings.table.items()
    yield from ratings.contents.items()
