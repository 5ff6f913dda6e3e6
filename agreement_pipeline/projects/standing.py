"""What became of each round of a store. It is kept beside the log, and after more entries only
their rounds are looked up again::

    standing/<version of the code>/<number of an entry>-<its digest>-<digest of the content>

No decision and no release reads it: it is there to be shown, and to tell what is decided.
"""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field, replace
from typing import Any

from pydantic import TypeAdapter, ValidationError

from agreement_pipeline.estimates import Charted
from agreement_pipeline.evidence import rows_by_round
from agreement_pipeline.projects.deliveries import digest_of_delivery
from agreement_pipeline.store import Store, digest_of, is_decided, last_events, of_event
from agreement_pipeline.version import __version__

FOLDER = f"standing/{__version__}"
Rows = list[dict[str, Any]]
Entry = Mapping[str, Any]
UNBOUNDED = {"ser_json_inf_nan": "constants"}


@dataclass(frozen=True, eq=False)
class Standing:
    """What the log says of each round, up to a mark. `decided` has the digests of what was read."""

    __pydantic_config__ = UNBOUNDED

    mark: str
    rows: Mapping[str, Rows]
    decided: Mapping[str, tuple[str, str]]
    chart: tuple[Charted, ...] = ()

    @classmethod
    def of(cls, store: Store, known: "Standing | None" = None) -> "Standing":
        with store.reading():
            later = None if known is None else store.log.following(known.mark)
            if known is None or later is None:
                entries = store.history()
                return cls(
                    store.log.mark, rows_by_round(entries, store.withdrawn()), _decided(entries)
                )
            return known._after(later, store) if later else known

    def _after(self, later: Iterable[Entry], store: Store) -> "Standing":
        arrived = {entry["round"] for entry in of_event("ingested", later)}
        named = {entry["round"] for entry in later}
        named |= {each.split("/")[0] for entry in later for each in entry.get("releases", ())}
        changed = named & {*self.rows, *arrived}
        entries = [entry for name in changed for entry in store.history(name)]
        released = [entry["release"] for entry in of_event("released", entries)]
        rows = rows_by_round(entries, store.withdrawn(released))
        others = {name: said for name, said in self.decided.items() if name not in changed}
        return replace(
            self,
            mark=store.log.mark,
            rows={**self.rows, **rows},
            decided={**others, **_decided(entries)},
        )


WRITTEN = TypeAdapter(Standing)


@dataclass(eq=False)
class Standings:
    store: Store
    _last: Standing | None = field(default=None, repr=False)

    def now(self) -> Standing:
        self._last = Standing.of(self.store, self._last or self._kept())
        return self._last

    def keep(self, standing: Standing) -> None:
        data = WRITTEN.dump_json(standing)
        name = f"{standing.mark}-{digest_of(data)}"
        with self.store.locked():
            older = [each for each in self.store.storage.names(FOLDER) if each != name]
            self.store.storage.keep(f"{FOLDER}/{name}", data)
            self.store.storage.forget(f"{FOLDER}/{each}" for each in older)
        self._last = standing

    def _kept(self) -> Standing | None:
        name = max(self.store.storage.names(FOLDER), default="")
        data = self.store.storage.read(f"{FOLDER}/{name}") if name else None
        if data is None or not name.endswith(f"-{digest_of(data)}"):
            return None
        try:
            return WRITTEN.validate_json(data)
        except ValidationError:  # another build of this version wrote it in another form
            return None


def _decided(history: Iterable[Entry]) -> dict[str, tuple[str, str]]:
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
