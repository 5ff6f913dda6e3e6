"""Waivers: a named person waives one verdict on one round, with a reason and an end date.

A waiver is valid for the ratings of one digest. It can never override a finding of the contract.
"""

import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, fields, replace
from datetime import date
from pathlib import Path
from typing import Annotated

from agreement_pipeline.errors import WaiverError
from agreement_pipeline.estimates import SCOPE_KINDS, Scope, registered
from agreement_pipeline.mistakes import CLOSED, Value, is_text, refuse_mistakes
from agreement_pipeline.policy.policy import Policy
from agreement_pipeline.policy.rules import MEASURE, Verdict
from agreement_pipeline.yaml_files import Place, read_yaml, validated

DIGEST = re.compile(r"[0-9a-f]{64}")
LEAST_SAID, LEAST_DIFFERENT = 10, 5
FILLERS = "\u115f\u1160\u3164\uffa0"
"""Letters that nobody sees."""
SAID = Value("text", is_text, "Write what the waiver is for.")
WHO = Value(
    "the visible name of a person",
    lambda who: isinstance(who, str) and who.isprintable() and _letters(who) > 1,
    "Write who answers for it.",
)
WHY = Value(
    f"a reason with {LEAST_SAID} letters or more",
    lambda why: (
        isinstance(why, str) and _letters(why) >= LEAST_SAID and len({*why}) >= LEAST_DIFFERENT
    ),
    "Write why it does no harm.",
)
BYTES = Value(
    "64 hexadecimal digits",
    lambda digest: isinstance(digest, str) and DIGEST.fullmatch(digest) is not None,
    "Copy them from the decision.",
)
DAY = Value(
    "a day, as 2027-01-31",
    lambda day: type(day) is date,
    "A waiver without an end would be a weaker policy.",
)
SCOPE = Value(
    f"one of {', '.join(SCOPE_KINDS)}, with a name if there are several",
    lambda scope: isinstance(scope, str) and scope.partition(" ")[0] in SCOPE_KINDS,
)


@dataclass(frozen=True)
class Waiver:
    """One verdict on one round that a person waives.

    Parameters
    ----------
    project, round, ratings_digest
        The project, its round, and the digest of the ratings, as a decision shows it.
    measure, scope
        The rule's measure, and what the verdict is about: `round`, or a kind and a name such as
        `rater ana`.
    who, why, until
        The person who answers for it, the reason, and the last day. The policy bounds it.

    Raises
    ------
    WaiverError
        Nobody is named, no reason is given, the digest is malformed, or the scope does not exist.
    PolicyError
        The measure does not exist.
    """

    __pydantic_config__ = CLOSED

    project: Annotated[str, SAID]
    round: Annotated[str, SAID]
    ratings_digest: Annotated[str, BYTES]
    measure: Annotated[str, MEASURE]
    who: Annotated[str, WHO]
    why: Annotated[str, WHY]
    until: Annotated[date, DAY]
    scope: Annotated[str, SCOPE] = "round"

    def __post_init__(self) -> None:
        if is_text(self.measure):
            registered(self.measure)
        refuse_mistakes(self, WaiverError)

    @classmethod
    def from_mapping(cls, data: object, *, source: str | Place = "waiver") -> "Waiver":
        """The waiver in plain data, as read from YAML or JSON.

        A WaiverError names every mistake with its place in `source`.
        """
        place = source if isinstance(source, Place) else Place(source)
        if isinstance(data, Mapping) and "until" in data:
            data = {**data, "until": _day(data["until"])}
        return validated(cls, data, place, WaiverError)

    def to_mapping(self) -> dict[str, str]:
        """The waiver as plain data. `from_mapping` makes it again."""
        return {each.name: str(getattr(self, each.name)) for each in fields(self)}

    def renamed(self, names: Mapping[str, str]) -> "Waiver":
        """A copy under other rater names."""
        return replace(self, scope=str(Scope.written(self.scope).renamed(names)))

    def turns(self, verdict: Verdict) -> bool:
        """True if this is the verdict that the waiver overrides."""
        return verdict.rule.effect == "hold" and (verdict.rule.measure, str(verdict.scope)) == (
            self.measure,
            str(Scope.written(self.scope)),
        )

    def refusal(
        self, policy: Policy, ratings_digest: str, on: date, verdicts: Iterable[Verdict]
    ) -> str | None:
        """Why the waiver is not valid on a day for these verdicts; None if it is valid."""
        named, days = f"policy {policy.policy}", policy.waiver_days
        spoken_of = "hold", self.measure, self.scope.partition(" ")[0]
        refusals = (
            (
                self.ratings_digest != ratings_digest,
                f"it is bound to ratings {self.ratings_digest[:12]}, "
                f"and these are {ratings_digest[:12]}",
            ),
            (on > self.until, f"it ended on {self.until}"),
            (
                (self.until - on).days > days,
                f"it ends on {self.until}, and {named} allows waivers for at most {days} days",
            ),
            (
                spoken_of not in [(each.effect, each.measure, each.scope) for each in policy.rules],
                f"{named} has no rule on {self.measure} of {self.scope} that can hold a release",
            ),
            (
                not any(map(self.turns, verdicts)),
                f"this round has no verdict on {self.measure} of {self.scope}",
            ),
        )
        return next((why for holds, why in refusals if holds), None)

    def __str__(self) -> str:
        return (
            f"waiver by {self.who} until {self.until} of {self.measure} of {self.scope} "
            f"({' '.join(self.why.split())})"
        )


@dataclass(frozen=True)
class Waivers:
    """The waivers that were written for a round, and the day on which it is judged."""

    written: tuple[Waiver, ...] = ()
    on: date = date.max

    def sorted_out(
        self, verdicts: Sequence[Verdict], policy: Policy, ratings_digest: str
    ) -> tuple[tuple[Waiver, ...], tuple[str, ...]]:
        """The waivers that override a verdict, and the refused waivers in words.

        A waiver of a verdict that the policy admits anyway is neither.
        """
        refusals = [
            (each, each.refusal(policy, ratings_digest, self.on, verdicts)) for each in self.written
        ]
        short = [verdict for verdict in verdicts if verdict.kind not in policy.admit]
        used = tuple(
            each for each, refusal in refusals if not refusal and any(map(each.turns, short))
        )
        return used, tuple(
            f"{each} is refused, since {refusal}" for each, refusal in refusals if refusal
        )

    def renamed(self, names: Mapping[str, str]) -> "Waivers":
        """A copy under other rater names."""
        return replace(self, written=tuple(each.renamed(names) for each in self.written))


NONE: Waivers = Waivers()


def for_round(waivers: Iterable[Waiver], round_name: str, on: date) -> Waivers:
    """The waivers of one round, for the day on which it is judged."""
    return Waivers(tuple(each for each in waivers if each.round == round_name), on)


def _letters(text: str) -> int:
    """How many letters and digits of a text can be seen."""
    return sum(character.isalnum() and character not in FILLERS for character in text)


def _day(said: object) -> object:
    """The day in a value from YAML or JSON. Text that is no day is returned as it is."""
    try:
        return date.fromisoformat(said) if isinstance(said, str) else said
    except ValueError:
        return said


def load_waiver(path: Path | str) -> Waiver:
    """The waiver in a YAML file. A WaiverError names every mistake with its line."""
    data, place = read_yaml(Path(path), WaiverError)
    return Waiver.from_mapping(data, source=place)
