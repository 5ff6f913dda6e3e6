"""The rounds of a project, content-addressed, in a folder or a bucket::

    originals/<digest>/<name>                       the files as delivered
    rounds/<ratings digest>/<table digest>.parquet  the checked ratings
    deliveries/<digest>.parquet                     the delivered columns that a suite names
    contracts/<suite digest>/<delivery digest>-<digest>.json   what a suite found in them
    log/, segments/, index/                         the events, in order
    releases/<name>/<version>/                      the training data
    certificates/<digest>.json                      what classifiers were certified for
    populations/<digest>.json                       the items that draws were from
    contents/<digest>.json                          the digests of the texts that these had
    anchors/<digest>.json                           labels that they gave to anchors again

Nothing is ever overwritten. Bytes are written first and their log entry last, so a killed writer
has changed everything or nothing. Of training data the log entry is written first.
"""

import hmac
import json
import os
import re
from collections.abc import Callable, Collection, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, replace
from os import urandom
from pathlib import Path
from typing import TYPE_CHECKING, Any

from upath import UPath

from agreement_pipeline.errors import MISREAD, StoreError
from agreement_pipeline.large_files import Content
from agreement_pipeline.mistakes import value_in_message
from agreement_pipeline.ratings import (
    PART_UNIT_OF,
    ItemsInDelivery,
    Origin,
    ParquetRows,
    Ratings,
    RatingsRows,
    Scale,
    open_stored_cells,
    ratings_from_stored_cells,
    write_parquet_content,
)
from agreement_pipeline.store.decision_table import decision_table
from agreement_pipeline.store.entries import WHOLE_STORE, of_event
from agreement_pipeline.store.local import LocalStorage, digest_at, digest_of
from agreement_pipeline.store.log import Log
from agreement_pipeline.store.objects import Folder, ObjectStorage, Storage
from agreement_pipeline.text import listed

if TYPE_CHECKING:
    import pandas as pd

SALT = "salt"
DATASET = ".dataset"
RESERVED = ("index", "log", "originals", "releases", "rounds", "salt", "segments")
NAME = re.compile(r"[A-Za-z0-9][A-Za-z0-9._-]{0,99}")
SCALE, ORIGIN = b"agreement_pipeline.scale", b"agreement_pipeline.origin"
UNKNOWN_SETTINGS = "not known"
"""An older version kept no settings of the rounds that it read."""
RESTORE = "expected what was ingested. Restore it, or remove it and ingest again."


@dataclass(frozen=True)
class RoundVersion:
    """One version of a round.

    `table_digest` is that of the stored table, which has the names of the raters. `source` is the
    name of the file or folder as delivered. `original_digest` is its SHA-256, or that of its files'
    names and digests. `delivery_digest` is that of the kept delivered table, empty without one.
    """

    round: str
    ratings_digest: str
    original_digest: str
    source: str
    table_digest: str
    settings_digest: str
    delivery_digest: str = ""

    @classmethod
    def from_entry(cls, entry: Mapping[str, Any]) -> "RoundVersion":
        facts = {"delivery_digest": "", **entry}
        return cls(**{name: facts[name] for name in cls.__dataclass_fields__})

    @property
    def facts(self) -> dict[str, str]:
        """What the log says of it, beside the round."""
        log_facts = {name: value for name, value in vars(self).items() if name != "round"}
        if not self.delivery_digest:
            del log_facts["delivery_digest"]
        return log_facts


class Store:
    """The rounds, decisions and releases of a project.

    Parameters
    ----------
    root
        The folder or the URL (`s3://bucket/folder`). The first write makes it.
    salt
        The key of the raters' pseudonyms. By default the store draws it once and keeps it.
    project
        The project that the store belongs to: by default, the one that the log names.
    """

    def __init__(
        self, root: Folder | str, salt: bytes | None = None, *, project: str | None = None
    ) -> None:
        self.root = folder_at(root)
        self.storage = storage_at(root)
        self._salt = salt
        self.log = Log(self.storage, project)
        self._last_read: tuple[RoundVersion, Ratings] | None = None
        self._gold_names: dict[str, frozenset[str]] = {}

    @contextmanager
    def locked(self) -> Iterator[None]:
        """The log changes only by what is added inside."""
        with self.storage.locked(), self.log.hold(writing=True):
            yield

    @contextmanager
    def reading(self) -> Iterator[None]:
        """All reads inside see the log as it was at first."""
        with self.log.hold():
            yield

    def ingest(
        self,
        round_name: str,
        ratings: Ratings,
        original: Path,
        *,
        original_digest: str | None = None,
        settings_digest: str = "",
        delivered_as: str | None = None,
        predictions_digest: str = "",
        refuse_late: Callable[[], object] = lambda: None,
        delivered_table: Content | None = None,
    ) -> RoundVersion:
        """Keep the original of a round, byte for byte, and its checked ratings.

        This version is then the present one. If the same bytes are ingested again, nothing changes.
        If `original_digest` is given, the original must have it. `delivered_as` tells a delivery
        of unknown digest from others, and `predictions_digest` the files with labels of models that
        were read with it. `refuse_late` is called when nobody else can ingest. `delivered_table` is
        what a suite is asked of.
        """
        lower = check_round_name(round_name).lower()
        if lower in RESERVED or lower.endswith(DATASET):
            raise StoreError(
                f"round {round_name!r}: found a name that the store needs itself; expected another "
                f"than {', '.join(RESERVED)} and names that end in {DATASET}. Rename the round."
            )
        self.refuse_erased(ratings, f"{original}")
        table = table_from_ratings(ratings)
        source = Path(os.path.abspath(original))
        if not source.exists():
            raise StoreError(
                f"{source}: found no such file; expected the original. Check the path."
            )
        digests = ratings.digest, digest_at(source), source.name, digest_of(table)
        delivery_digest = "" if delivered_table is None else digest_of(delivered_table)
        version = RoundVersion(round_name, *digests, settings_digest, delivery_digest)
        if original_digest not in (None, version.original_digest):
            raise _changed_file_error(source)
        with self.locked():
            refuse_late()
            self._keep_original(version, source)
            if not self.storage.keep(self._table_path(version), table):
                self.ratings_of(version)
            if delivered_table is not None and not self.storage.keep(
                delivery_path(version.delivery_digest), delivered_table
            ):
                self.kept_delivery(version)
            self.record(
                "ingested",
                round_name,
                **version.facts,
                **({"delivered_as": delivered_as} if delivered_as else {}),
                **({"predictions_digest": predictions_digest} if predictions_digest else {}),
            )
        self._last_read = version, ratings
        return version

    def rounds(self) -> tuple[str, ...]:
        return tuple(sorted({entry["round"] for entry in of_event("ingested", self.history())}))

    def has(self, ratings_digest: str) -> bool:
        return bool(self.storage.names(f"rounds/{ratings_digest}"))

    def present(self, round_name: str) -> RoundVersion:
        versions = self._ingested_versions(check_round_name(round_name))
        if not versions:
            raise StoreError(
                f"{self.root}: found no round {round_name!r} among {listed(self.rounds())}; "
                "expected one that was judged and stored. Run `agreement-pipeline run`, or let "
                "Dagster judge it: `judge` stores nothing."
            )
        return versions[-1]

    def versions(self, round_name: str) -> tuple[RoundVersion, ...]:
        return tuple(dict.fromkeys(self._ingested_versions(round_name)))

    def ratings(self, round_name: str) -> Ratings:
        """The ratings of the present version of a round, for those who only look at them.

        If the bytes were read last, they are not read as ratings again.
        """
        version, remembered = self.present(round_name), self._last_read
        if remembered is None or remembered[0] != version:
            self._last_read = remembered = version, self.ratings_of(version)
        else:
            self.kept_table(version)
        return remembered[1]

    def ratings_of(self, version: RoundVersion) -> Ratings:
        path = self.root / self._table_path(version)
        ratings = table_ratings(self.kept_table(version), str(path))
        if ratings.digest != version.ratings_digest:
            raise StoreError(
                f"{path}: found digest {ratings.digest[:12]} instead of "
                f"{version.ratings_digest[:12]} when read back; {RESTORE}"
            )
        return ratings

    def ratings_with(self, version: RoundVersion, items: ItemsInDelivery) -> Ratings | None:
        """The ratings of a version. None if it has no rating of these items."""
        rows = ParquetRows(self.kept_table(version))
        if not items.are_in(open_stored_cells(rows, str(self.root / self._table_path(version)))):
            return None
        return self.ratings_of(version)

    def kept_table(self, version: RoundVersion) -> Content:
        """It is a StoreError if the table is gone or was edited."""
        path, table = (
            self.root / self._table_path(version),
            self.storage.copied(self._table_path(version)),
        )
        if table is None:
            raise StoreError(
                f"{path}: found no such file; expected the ratings of round {version.round}. "
                "Restore it, or ingest the round again."
            )
        if digest_of(table) != version.table_digest:
            raise StoreError(
                f"{path}: found other bytes than those stored, "
                f"so the ratings were edited; {RESTORE}"
            )
        return table

    def gold_names(self, version: RoundVersion) -> frozenset[str]:
        """The names of a version's gold items, and of the documents whose units are gold."""
        if version.table_digest not in self._gold_names:
            rows = ParquetRows(self.kept_table(version))
            columns = [name for name in ("item", PART_UNIT_OF) if name in rows.schema.names]
            names = set[str]()
            for part in (
                rows.iterate_row_groups([*columns, "gold"]) if "gold" in rows.schema.names else ()
            ):
                gold = part.filter(part["gold"])
                names.update(*(gold[column].drop_null().to_pylist() for column in columns))
            self._gold_names[version.table_digest] = frozenset(names)
        return self._gold_names[version.table_digest]

    def kept_delivery(self, version: RoundVersion) -> Content:
        """It is a StoreError if the delivered table is gone or was edited."""
        name = delivery_path(version.delivery_digest)
        path, table = self.root / name, self.storage.copied(name)
        if table is None or digest_of(table) != version.delivery_digest:
            problem = "no such file" if table is None else "other bytes than those stored"
            raise StoreError(
                f"{path}: found {problem}; expected the delivered table of round {version.round}. "
                "Restore it, or run the round again."
            )
        return table

    def arrived_at(self, version: RoundVersion) -> str:
        """When the delivery of this version first came, as the log says it."""
        arrived = of_event("ingested", self.history(version.round))
        digest = version.original_digest
        return str(next(entry["time"] for entry in arrived if entry["original_digest"] == digest))

    def record(self, event: str, round_name: str, **facts: Any) -> None:
        """See `Log.append`. `event` is one of those in `entries.SUBJECTS`."""
        check_round_name(round_name)
        with self.locked():
            self.log.append(event, round_name, facts)

    def history(self, round_name: str | None = None) -> tuple[dict[str, Any], ...]:
        """For all, the whole log is checked. For one round, see `Log.look`.

        An edited or removed entry is a StoreError.
        """
        if round_name is None:
            return self.log.entries()
        about = self.log.about(round_name)
        return tuple(entry for entry in about if entry["round"] == round_name)

    def decisions(self) -> "pd.DataFrame":
        """Every decision of the log: a row for each rule, the first decision first.

        `history --format parquet` writes the same table. `releases` are those in force of the
        ratings that the row speaks of.
        """
        frame: pd.DataFrame = decision_table(self.history()).to_pandas()
        return frame

    def releases_with(self, round_name: str) -> list[dict[str, Any]]:
        return [
            entry
            for entry in of_event("released", self.log.about(round_name))
            if round_name in entry["rounds"]
        ]

    def in_force(self, round_name: str | None = None) -> tuple[dict[str, Any], ...]:
        """The log entries of the releases that were not withdrawn, in order.

        Without a name these are all releases, and the whole log is checked.
        """
        with self.reading():
            if round_name is None:
                released, names = of_event("released", self.history()), None
            else:
                released = self.releases_with(round_name)
                names = [entry["release"] for entry in released]
            withdrawn = self.withdrawn(names)
        return tuple(entry for entry in released if entry["release"] not in withdrawn)

    def withdrawn(self, names: Collection[str] | None = None) -> dict[str, dict[str, Any]]:
        """The withdrawn releases, each with the log entry of its withdrawal.

        If no names are given, the whole log is checked.
        """
        return {
            release: entry
            for entry in of_event(
                "withdrawn", self.history() if names is None else self.log.about(*names)
            )
            for release in entry["releases"]
            if names is None or release in names
        }

    def release_folder(self, name: str, version: str) -> Folder:
        checked = check_round_name(name, "release"), check_round_name(version, "version")
        return self.root.joinpath("releases", *checked)

    def pseudonyms(self, ratings: Ratings) -> dict[str, str]:
        """A rater has the same pseudonym in every round.

        The key must not be gone while the log has a release.
        """
        return {name: self.pseudonym("rater", name) for name in ratings.raters}

    def pseudonym(self, kind: str, name: str) -> str:
        key = self._salt or self.storage.read(SALT)
        if key is None:
            with self.locked():
                released = of_event("released", self.history())
                key = self.storage.read(SALT)
                if key is None and released:
                    raise StoreError(
                        f"{self.root / SALT}: found no such file, and releases in the log; "
                        "expected the key of the raters' pseudonyms. Restore it from a backup."
                    )
                if key is None:
                    key = urandom(32)
                    self.storage.keep(SALT, key, secret=True)
        if not key:
            raise StoreError(
                f"{self.root / SALT}: found 0 bytes; expected the key of the raters' pseudonyms. "
                "Restore it from a backup."
            )
        self._salt = key
        return f"{kind}-{hmac.digest(key, name.encode(), 'sha256').hex()[:12]}"

    def _ingested_versions(self, round_name: str) -> tuple[RoundVersion, ...]:
        return tuple(map(RoundVersion.from_entry, of_event("ingested", self.history(round_name))))

    def refuse_erased(self, ratings: Ratings, place: str) -> None:
        subjects = {entry["subject"] for entry in of_event("erased", self.log.about(WHOLE_STORE))}
        for kind in {subject.partition("-")[0] for subject in subjects}:
            names = ratings.everyone if kind == "rater" else ratings.rated_items().to_pylist()
            pseudonyms = (self.pseudonym(kind, name) for name in names)
            if erased_name := next((name for name in pseudonyms if name in subjects), None):
                raise StoreError(
                    f"{place}: found {erased_name}, which was erased from {self.root} on request; "
                    f"expected no such {kind}. Export the round again without it. The entry "
                    "`erased` in the log says who asked for that, and why."
                )

    def _keep_original(self, version: RoundVersion, source: Path) -> None:
        name = f"originals/{version.original_digest}/{version.source}"
        if not self.storage.keep_copy(name, source, version.original_digest):
            if digest_at(source) != version.original_digest:
                raise _changed_file_error(source)
            raise StoreError(
                f"{self.root / name}: found other bytes than those kept, "
                f"so the original was edited; {RESTORE}"
            )

    def _table_path(self, version: RoundVersion) -> str:
        return f"rounds/{version.ratings_digest}/{version.table_digest}.parquet"


def delivery_path(delivery_digest: str) -> str:
    return f"deliveries/{delivery_digest}.parquet"


def folder_at(place: Folder | str) -> Folder:
    """A URL of an unknown protocol is a `StoreError`.

    >>> folder_at("file:///srv/store") == folder_at("/srv/store") == Path("/srv/store")
    True
    """
    if not isinstance(place, str):
        return place
    if place.startswith("file://") or "://" not in place:
        return Path(place.removeprefix("file://"))
    try:
        return UPath(place)
    except ValueError as cause:
        raise StoreError(
            f"{place}: found a URL that cannot be used ({cause}); "
            "expected a folder, or a URL such as s3://bucket/folder. Correct the URL."
        ) from None


def storage_at(place: Folder | str) -> Storage:
    """A storage that cannot refuse to overwrite is a `StoreError`."""
    folder = folder_at(place)
    if isinstance(folder, Path):
        return LocalStorage(folder)
    return ObjectStorage(folder)


def check_round_name(name: str, kind: str = "round") -> str:
    if not isinstance(name, str) or not NAME.fullmatch(name) or ".." in name:
        file_hint = ", or the file that it is named after" if kind == "round" else ""
        raise StoreError(
            f"{kind} {value_in_message(name)}: found a name that is not allowed; expected 1 to 100 "
            "letters, digits, dots, underscores and hyphens, the first a letter or digit, without "
            f"two dots in a row. Rename the {kind}{file_hint}."
        )
    return name


def table_from_ratings(ratings: Ratings) -> Content:
    part_by_key = {SCALE: ratings.scale, ORIGIN: ratings.origin}
    schema_metadata = {
        key: json.dumps(part.to_mapping(), sort_keys=True)
        for key, part in part_by_key.items()
        if part is not None
    }
    return write_parquet_content(RatingsRows(ratings), schema_metadata)


def table_ratings(
    table: Content, source: str, *, without: tuple[str, str] | None = None
) -> Ratings:
    """Checked again. They may be `without` a subject: the rows with a name in the column `rater` or
    `item`.
    """
    try:
        rows = ParquetRows(table)
        schema_metadata = rows.schema.metadata
        scale = Scale.from_mapping(json.loads(schema_metadata[SCALE]))
        origin = (
            Origin.from_mapping(json.loads(schema_metadata[ORIGIN]))
            if ORIGIN in schema_metadata
            else None
        )
        cells = open_stored_cells(rows, source)
        if without is not None:
            column, name = without
            test = f"{column} IS DISTINCT FROM {cells.relation.session.literal_sql(name)}"
            remaining = cells.relation.create_view(f"SELECT * FROM {cells.relation} WHERE {test}")
            cells = replace(cells, relation=remaining)
            if origin is not None and column == "rater":
                origin = origin.without_rater(name)
        return ratings_from_stored_cells(cells, scale, origin)
    except MISREAD as cause:
        raise StoreError(
            f"{source}: found no table that can be read as ratings ({cause}); {RESTORE}"
        ) from None


def _changed_file_error(original: Path) -> StoreError:
    return StoreError(
        f"{original}: found other bytes than when its ratings were read; "
        "expected a file that does not change. Ingest the round again.",
        may_pass=True,
    )
