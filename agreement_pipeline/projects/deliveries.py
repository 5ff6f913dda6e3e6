"""The rounds in a project's inbox, and which of them are due."""

import hashlib
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from agreement_pipeline.errors import ProjectError
from agreement_pipeline.projects.settings import ProjectSettings
from agreement_pipeline.readers import read_rounds
from agreement_pipeline.store import Store
from agreement_pipeline.text import listed


@dataclass(frozen=True)
class Delivery:
    """A round as it was delivered: its file, and the digest of the file's bytes."""

    round: str
    path: Path
    digest: str


def deliveries_in(inbox: Path, settings: ProjectSettings) -> dict[str, Delivery]:
    """The rounds in the inbox by name, sorted.

    Raises
    ------
    ProjectError
        Two files hold the same round.
    RatingsError
        A file's rounds cannot be read.
    """
    found = [each for path in _files(inbox) for each in _in_file(path, settings)]
    times = Counter(delivery.round for delivery in found)
    twice = sorted(name for name, count in times.items() if count > 1)
    if twice:
        raise ProjectError(
            f"{inbox}: found rounds {listed(twice)} in two files; expected one file a round. "
            "Remove or rename one."
        )
    return {each.round: each for each in sorted(found, key=lambda each: each.round)}


def is_decided(delivery: Delivery, store: Store) -> bool:
    """True if the store's latest bytes of the round are the delivered ones, and were decided."""
    history = store.history(delivery.round)
    arrived = [entry["original_digest"] for entry in history if entry["event"] == "ingested"]
    judged = [entry["event"] for entry in history if entry["event"] in ("ingested", "decided")]
    return arrived[-1:] == [delivery.digest] and judged[-1] == "decided"


def times_arrived(round_name: str, store: Store) -> int:
    """How often a round has come, each time with other bytes than the time before."""
    return sum(entry["event"] == "ingested" for entry in store.history(round_name))


def _files(inbox: Path) -> list[Path]:
    if inbox.is_file():
        return [inbox]
    if not inbox.is_dir():
        return []
    return sorted(
        path for path in inbox.iterdir() if path.is_file() and not path.name.startswith(".")
    )


def _in_file(path: Path, settings: ProjectSettings) -> Iterator[Delivery]:
    with path.open("rb") as file:
        digest = hashlib.file_digest(file, "sha256").hexdigest()
    columns = settings.columns
    names = read_rounds(path, columns, settings.limits) if columns.round else (path.stem,)
    for name in names:
        yield Delivery(name, path, digest)
