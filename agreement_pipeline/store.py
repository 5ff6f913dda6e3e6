"""Content-addressed rounds in a folder: what was delivered, what was decided and what was released, none of it ever overwritten.

::

    originals/<digest>/<name>                       the files as delivered
    rounds/<ratings digest>/<table digest>.parquet  the checked ratings
    present/<round>.json                            which of them a round is now
    log.jsonl                                       what happened, in order
    releases/<name>/<version>/                      the training data
"""

import hmac
import json
import os
import re
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any

from agreement_pipeline import files, log
from agreement_pipeline.errors import RatingsError, StoreError, listed
from agreement_pipeline.ratings import Ratings
from agreement_pipeline.scale import Scale
from agreement_pipeline.tables import parquet_bytes, parquet_table, ratings_of, ratings_table

NAME = re.compile(r"[A-Za-z0-9][A-Za-z0-9._-]{0,99}")
SCALE = b"agreement_pipeline.scale"
RESTORE = "what was ingested is required. Restore it, or remove it and ingest again."
UNSTABLE = "the digest of the ratings given is required. Give timestamps as times of one kind."


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


@dataclass(frozen=True, eq=False)
class Store:
    """The rounds, decisions and releases of a project.

    Parameters
    ----------
    root
        The folder that holds them; made when first written to.
    salt
        The key of the raters' pseudonyms; drawn once and kept in the folder when omitted.
    """

    root: Path
    salt: bytes | None = field(default=None, repr=False)
    _lock: files.Lock = field(init=False, repr=False)

    def __post_init__(self) -> None:
        object.__setattr__(self, "root", Path(self.root))
        object.__setattr__(self, "_lock", files.Lock(self.root / ".lock"))

    @contextmanager
    def locked(self) -> Iterator[None]:
        """Keep every other writer waiting."""
        with self._lock.held():
            yield

    def ingest(self, round_name: str, ratings: Ratings, original: Path) -> RoundVersion:
        """Keep a round: the original byte for byte, the checked ratings beside it; then the round is this version.

        The same bytes again change nothing.

        Raises
        ------
        StoreError
            The name is a path, what was kept before was edited, or the ratings would not be read back as they are.
        """
        check_round_name(round_name)
        data = _bytes(ratings)
        _refuse_changed(_ratings(data, f"ratings of round {round_name}"), ratings.digest, f"ratings of round {round_name}", UNSTABLE)
        with self.locked():
            source = Path(os.path.abspath(original))
            version = RoundVersion(round_name, ratings.digest, self._keep_original(source), source.name, files.digest_of(data))
            self._keep_table(version, data)
            self._point_to(version)
        return version

    def rounds(self) -> tuple[str, ...]:
        """The rounds, by name."""
        return tuple(sorted(path.stem for path in (self.root / "present").glob("*.json") if NAME.fullmatch(path.stem)))

    def present(self, round_name: str) -> RoundVersion:
        """What a round is now.

        Raises
        ------
        StoreError
            The store does not hold the round.
        """
        pointer = self._pointer(round_name)
        if not pointer.exists():
            raise StoreError(f"{self.root}: no round {round_name!r} among {listed(self.rounds())}; a round that was ingested is required. Ingest it first.")
        try:
            version = RoundVersion(**json.loads(pointer.read_bytes()))
        except (ValueError, TypeError):
            version = None
        if version is None or version.round != round_name:
            raise StoreError(f"{pointer}: no version of round {round_name} found in it; what ingesting wrote is required. Ingest the round again.")
        return version

    def versions(self, round_name: str) -> tuple[RoundVersion, ...]:
        """What a round has been, in the order of arrival; each version once."""
        arrived = (entry for entry in self.history(round_name) if entry["event"] == "ingested")
        return tuple(dict.fromkeys(RoundVersion(**{name: entry[name] for name in RoundVersion.__dataclass_fields__}) for entry in arrived))

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
        path = self._table(version)
        if not path.exists():
            raise StoreError(f"{path}: no such file found; the ratings of round {version.round} are required. Restore it, or ingest the round again.")
        data = path.read_bytes()
        if files.digest_of(data) != version.table_digest:
            raise StoreError(f"{path}: other bytes than those stored found, so the ratings were edited; {RESTORE}")
        ratings = _ratings(data, str(path))
        _refuse_changed(ratings, version.ratings_digest, str(path), RESTORE)
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
            log.append(self.root / "log.jsonl", event, round_name, facts)

    def history(self, round_name: str | None = None) -> tuple[dict[str, Any], ...]:
        """The log's entries, of one round or of all, in order.

        Raises
        ------
        StoreError
            An entry was edited or removed.
        """
        every = log.entries(self.root / "log.jsonl")
        return every if round_name is None else tuple(entry for entry in every if entry["round"] == round_name)

    def release_folder(self, name: str, version: str) -> Path:
        """Where a version of a release has its place."""
        return self.root / "releases" / check_round_name(name, "release") / check_round_name(version, "version")

    def release_folders(self) -> tuple[Path, ...]:
        """Every release there is, withdrawn ones included."""
        return tuple(sorted(path.parent for path in (self.root / "releases").glob("[!.]*/[!.]*/manifest.json")))

    def pseudonyms(self, ratings: Ratings) -> dict[str, str]:
        """What the raters of the panel are called outside the store: the same rater the same in every round, and no way back without the salt."""
        return {name: f"rater-{hmac.digest(self._key(), name.encode(), 'sha256').hex()[:12]}" for name in ratings.raters}

    def _key(self) -> bytes:
        if self.salt is not None:
            return self.salt
        path = self.root / "salt"
        with self.locked():
            if not path.exists():
                files.write(path, os.urandom(32), mode=0o600)
            return path.read_bytes()

    def _keep_original(self, source: Path) -> str:
        if not source.exists():
            raise StoreError(f"{source}: no such file found; the original is required. Check the path.")
        partial = self.root / "originals" / ".partial"
        try:
            files.copy(source, partial)
            digest = files.digest_at(partial)
            kept = self.root / "originals" / digest / source.name
            if not kept.exists():
                files.into_place(partial, kept)
            elif files.digest_at(kept) != digest:
                raise StoreError(f"{kept}: other bytes than those kept found, so the original was edited; {RESTORE}")
        finally:
            files.remove(partial)
        return digest

    def _keep_table(self, version: RoundVersion, data: bytes) -> None:
        if self._table(version).exists():
            self.ratings_of(version)
        else:
            files.write(self._table(version), data)

    def _point_to(self, version: RoundVersion) -> None:
        pointer, data = self._pointer(version.round), json.dumps(asdict(version), indent=2, sort_keys=True).encode()
        if pointer.exists() and pointer.read_bytes() == data:
            return
        facts = asdict(version)
        self.record("ingested", facts.pop("round"), **facts)
        files.write(pointer, data)

    def _table(self, version: RoundVersion) -> Path:
        return self.root / "rounds" / version.ratings_digest / f"{version.table_digest}.parquet"

    def _pointer(self, round_name: str) -> Path:
        return self.root / "present" / f"{check_round_name(round_name)}.json"


def _bytes(ratings: Ratings) -> bytes:
    return parquet_bytes(ratings_table(ratings).replace_schema_metadata({SCALE: json.dumps(ratings.scale.to_mapping(), sort_keys=True)}))


def _ratings(data: bytes, source: str) -> Ratings:
    try:
        table = parquet_table(data)
        return ratings_of(table, Scale.from_mapping(json.loads(table.schema.metadata[SCALE])), source=source)
    except (RatingsError, KeyError, TypeError, ValueError) as cause:
        raise StoreError(f"{source}: not readable as ratings ({cause}); {RESTORE}") from None


def _refuse_changed(ratings: Ratings, digest: str, where: str, required: str) -> None:
    if ratings.digest != digest:
        raise StoreError(f"{where}: digest {ratings.digest[:12]} instead of {digest[:12]} found when read back; {required}")
