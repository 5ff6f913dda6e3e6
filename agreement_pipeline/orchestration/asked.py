"""The cursor of a sensor: which rounds it asked for, and when it asks for them again."""

import json
from collections.abc import Collection, Iterable
from dataclasses import dataclass, field
from typing import Any

from agreement_pipeline.projects import Delivery

FIRST_WAIT, LONGEST_WAIT = 20.0, 86_400.0


@dataclass
class Asked:
    """The rounds that were asked for, under certain settings.

    A round that is not decided yet is asked for again: after 20 seconds, then after twice as long
    each time, and each day at last. So a full disk or a network that fails is got over.

    Attributes
    ----------
    settings
        The digest of the settings that rounds are read under. Under others, all is asked anew.
    rounds
        For each round: the digest of its bytes, how often it was asked for, and when it is next
        looked at. That is None for a round that is decided.
    """

    settings: str
    rounds: dict[str, dict[str, Any]] = field(default_factory=dict)

    @classmethod
    def of(cls, cursor: str | None, settings: str) -> "Asked":
        """What a cursor says. A cursor of other settings, or of another form, says nothing."""
        try:
            said = json.loads(cursor or "{}")
            return cls(settings, said["rounds"] if said["settings"] == settings else {})
        except (ValueError, KeyError, TypeError):
            return cls(settings)

    def to_cursor(self) -> str:
        """The cursor."""
        return json.dumps({"settings": self.settings, "rounds": self.rounds}, sort_keys=True)

    def resting(self, deliveries: Iterable[Delivery], now: float) -> dict[str, str]:
        """The digests of the rounds that need no look now."""
        return {
            each.round: each.digest
            for each in deliveries
            if (known := self._known(each)) and (known["next"] is None or now < known["next"])
        }

    def settle(self, deliveries: Iterable[Delivery], due: Collection[Delivery], now: float) -> None:
        """Note which of the rounds that were looked at are decided. Forget those that are gone."""
        found = list(deliveries)
        resting, waiting = self.resting(found, now), {each.round for each in due}
        decided = [each for each in found if each.round not in {*resting, *waiting}]
        self.rounds = {
            each.round: self.rounds[each.round] for each in found if each.round in self.rounds
        }
        for each in decided:
            self.rounds[each.round] = {"digest": each.digest, "tries": 0, "next": None}

    def ask(self, delivery: Delivery, now: float) -> None:
        """Note that a round is asked for now."""
        known = self._known(delivery)
        tries = known["tries"] + 1 if known else 1
        wait = min(FIRST_WAIT * 2 ** (tries - 1), LONGEST_WAIT)
        self.rounds[delivery.round] = {
            "digest": delivery.digest,
            "tries": tries,
            "next": now + wait,
        }

    def _known(self, delivery: Delivery) -> dict[str, Any] | None:
        known = self.rounds.get(delivery.round)
        return known if known and known["digest"] == delivery.digest else None
