"""What became of each round of a store. It is kept beside the log, and after more entries only
their rounds are looked up again::

    standing/<version of the code>/<number of an entry>-<its digest>-<digest of the content>

No decision and no release reads it: it is there to be shown, and to tell what is decided.
"""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field, replace
from typing import Any

from pydantic import TypeAdapter, ValidationError

from agreement_pipeline.estimates import ChartedRound
from agreement_pipeline.evidence import rows_by_round
from agreement_pipeline.projects.deliveries import digest_of_delivery
from agreement_pipeline.store import Store, digest_of, is_decided, last_events, of_event
from agreement_pipeline.version import __version__

FOLDER = f"standing/{__version__}"
Rows = list[dict[str, Any]]
Entry = Mapping[str, Any]
UNBOUNDED = {"ser_json_inf_nan": "constants"}


@dataclass(frozen=True, eq=False)
class RoundStatuses:
    """What the log says of each round, up to a mark. `decided` has the digests of what was read."""

    __pydantic_config__ = UNBOUNDED

    mark: str
    rows: Mapping[str, Rows]
    decided: Mapping[str, tuple[str, str]]
    chart: tuple[ChartedRound, ...] = ()

    @classmethod
    def of(cls, store: Store, known_statuses: "RoundStatuses | None" = None) -> "RoundStatuses":
        with store.reading():
            later = None if known_statuses is None else store.log.following(known_statuses.mark)
            if known_statuses is None or later is None:
                entries = store.history()
                return cls(
                    store.log.mark,
                    rows_by_round(entries, store.withdrawn()),
                    _digests_by_decided_round(entries),
                )
            return known_statuses._extended_by(later, store) if later else known_statuses

    def _extended_by(self, later: Iterable[Entry], store: Store) -> "RoundStatuses":
        arrived = {entry["round"] for entry in of_event("ingested", later)}
        mentioned_rounds = {entry["round"] for entry in later}
        mentioned_rounds |= {
            release.split("/")[0] for entry in later for release in entry.get("releases", ())
        }
        changed_rounds = mentioned_rounds & {*self.rows, *arrived}
        entries = [entry for name in changed_rounds for entry in store.history(name)]
        released = [entry["release"] for entry in of_event("released", entries)]
        rows = rows_by_round(entries, store.withdrawn(released))
        unchanged = {
            name: digests for name, digests in self.decided.items() if name not in changed_rounds
        }
        return replace(
            self,
            mark=store.log.mark,
            rows={**self.rows, **rows},
            decided={**unchanged, **_digests_by_decided_round(entries)},
        )


STATUSES_ADAPTER = TypeAdapter(RoundStatuses)


@dataclass(eq=False)
class RoundStatusIndex:
    store: Store
    _last: RoundStatuses | None = field(default=None, repr=False)

    def refresh(self) -> RoundStatuses:
        self._last = RoundStatuses.of(self.store, self._last or self._load())
        return self._last

    def save(self, statuses: RoundStatuses) -> None:
        data = STATUSES_ADAPTER.dump_json(statuses)
        name = f"{statuses.mark}-{digest_of(data)}"
        with self.store.locked():
            older = [
                file_name for file_name in self.store.storage.names(FOLDER) if file_name != name
            ]
            self.store.storage.keep(f"{FOLDER}/{name}", data)
            self.store.storage.forget(f"{FOLDER}/{file_name}" for file_name in older)
        self._last = statuses

    def _load(self) -> RoundStatuses | None:
        name = max(self.store.storage.names(FOLDER), default="")
        data = self.store.storage.read(f"{FOLDER}/{name}") if name else None
        if data is None or not name.endswith(f"-{digest_of(data)}"):
            return None
        try:
            return STATUSES_ADAPTER.validate_json(data)
        except ValidationError:  # another build of this version wrote it in another form
            return None


def _digests_by_decided_round(history: Iterable[Entry]) -> dict[str, tuple[str, str]]:
    return {
        name: (
            digest_of_delivery(
                arrived.get("delivered_as", arrived["original_digest"]),
                arrived.get("predictions_digest", ""),
            ),
            arrived["settings_digest"],
        )
        for name, events in last_events(history).items()
        if (arrived := events.get("ingested")) and is_decided(events)
    }
