"""The cursor of a sensor: which rounds it asked for, and when it asks for them again."""

import json
from collections.abc import Collection, Iterable
from dataclasses import dataclass, field
from typing import Any

from agreement_pipeline.projects import Delivery

FIRST_WAIT, LONGEST_WAIT = 20.0, 86_400.0
"""Seconds."""


@dataclass
class Asked:
    """The rounds that were asked for, and what they are judged by.

    A round that is not decided yet is asked for again: after 20 seconds, then after twice as long
    each time, and each day at last. So a full disk or a network that fails is got over. If the
    fault lasts, the round is asked for again only after a day.

    Attributes
    ----------
    judged_by
        The digest of all that rounds are judged by. If it is another one, all is asked anew.
    rounds
        For each round: the digest of its bytes, how often it was asked for since its fault was
        known to last, and when it is next looked at. That is None for a round that is decided.
    """

    judged_by: str
    rounds: dict[str, dict[str, Any]] = field(default_factory=dict)

    @classmethod
    def of(cls, cursor: str | None, judged_by: str) -> "Asked":
        """What a cursor says. A cursor of other rules, or of another form, says nothing."""
        try:
            said = json.loads(cursor or "{}")
            return cls(judged_by, said["rounds"] if said["judged_by"] == judged_by else {})
        except (ValueError, KeyError, TypeError):
            return cls(judged_by)

    def to_cursor(self) -> str:
        """The cursor."""
        return json.dumps(vars(self), sort_keys=True)

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
        not_decided = {*self.resting(found, now), *(each.round for each in due)}
        decided = [each for each in found if each.round not in not_decided]
        self.rounds = {
            each.round: self.rounds[each.round] for each in found if each.round in self.rounds
        }
        for each in decided:
            self.rounds[each.round] = {"digest": each.digest, "tries": 0, "next": None}

    def ask(self, delivery: Delivery, now: float) -> None:
        """Note that a round is asked for now."""
        known = self._known(delivery)
        tries = known["tries"] + 1 if known else 1
        self._wait(delivery, tries, now + min(FIRST_WAIT * 2 ** (tries - 1), LONGEST_WAIT))

    def is_tried(self, delivery: Delivery) -> bool:
        """True if a round was asked for, and its fault is not known to last."""
        known = self._known(delivery)
        return known is not None and known["tries"] > 0

    def rest(self, delivery: Delivery, now: float) -> None:
        """Note that the fault of a round lasts."""
        self._wait(delivery, 0, now + LONGEST_WAIT)

    def _wait(self, delivery: Delivery, tries: int, until: float) -> None:
        self.rounds[delivery.round] = {"digest": delivery.digest, "tries": tries, "next": until}

    def _known(self, delivery: Delivery) -> dict[str, Any] | None:
        known = self.rounds.get(delivery.round)
        return known if known and known["digest"] == delivery.digest else None
