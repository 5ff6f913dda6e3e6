"""Waivers: a person takes one verdict on one round upon themselves, by name, for a reason and for a time.

A waiver is bound to the bytes of the round, by the digest of its ratings, and ends by itself. It turns a verdict, never a finding of the data
contract and never a digest.
"""

import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, fields, replace
from datetime import date
from pathlib import Path

from agreement_pipeline.errors import WaiverError
from agreement_pipeline.estimates import SCOPE_KINDS, Scope, registered
from agreement_pipeline.policy.policy import Policy
from agreement_pipeline.policy.rules import Verdict
from agreement_pipeline.text import listed
from agreement_pipeline.yaml_files import Place, read_yaml

DIGEST = re.compile(r"[0-9a-f]{64}")


@dataclass(frozen=True)
class Waiver:
    """One verdict on one round, taken upon oneself.

    Parameters
    ----------
    project, round
        Whose round it is.
    ratings_digest
        Of the ratings it was written for, 64 hexadecimal digits; a decision shows it.
    measure, scope
        The rule's measure, and what the verdict speaks of: `round`, or a kind and a name, as in `rater ana`.
    who, why
        Who answers for it, and the reason.
    until
        The last day on which it holds.

    Raises
    ------
    WaiverError
        Nobody is named, no reason is given, the digest is none, or no such measure or scope exists.
    """

    project: str
    round: str
    ratings_digest: str
    measure: str
    who: str
    why: str
    until: date
    scope: str = "round"

    def __post_init__(self) -> None:
        for name in ("project", "round", "ratings_digest", "measure", "scope", "who", "why"):
            said = getattr(self, name)
            if not isinstance(said, str) or not said.strip():
                raise WaiverError(
                    f"{name} {said!r} found; a text is required. Write who answers for what, and why."
                )
        if not DIGEST.fullmatch(self.ratings_digest):
            raise WaiverError(
                f"ratings_digest {self.ratings_digest!r} found; 64 hexadecimal digits are required. Copy them from the decision."
            )
        if type(self.until) is not date:
            raise WaiverError(
                f"until {self.until!r} found; a day is required, as 2027-01-31. A waiver without an end would be a weaker policy."
            )
        if self.scope.partition(" ")[0] not in SCOPE_KINDS:
            raise WaiverError(
                f"scope {self.scope!r} found; one of {', '.join(SCOPE_KINDS)}, and a name where there are several, is required."
            )
        registered(self.measure)

    @classmethod
    def from_mapping(cls, data: object, *, source: str | Place = "waiver") -> "Waiver":
        """The waiver that plain data, as read from YAML or JSON, spell out.

        Raises
        ------
        WaiverError
            A key is unknown or missing, or a value is impossible; the message names `source`.
        """
        place = source if isinstance(source, Place) else Place(source)
        names = [each.name for each in fields(cls)]
        if not isinstance(data, Mapping):
            raise WaiverError(
                f"{place}: {type(data).__name__} found; a mapping with {', '.join(names)} is required. See docs/guide.md."
            )
        unknown = [key for key in data if key not in names]
        if unknown:
            raise WaiverError(
                f"{place / unknown[0]}: unknown key {listed(unknown)} found; {', '.join(names)} are known. Nothing is ignored."
            )
        missing = [name for name in names if name not in data and name != "scope"]
        if missing:
            raise WaiverError(
                f"{place}: no {listed(missing)} found; {', '.join(names)} are required. Add what is missing."
            )
        try:
            return cls(**{**data, "until": _day(data["until"])})
        except ValueError as error:
            raise WaiverError(f"{place}: {error}") from None

    def to_mapping(self) -> dict[str, str]:
        """The waiver as plain data, from which `from_mapping` makes it again."""
        return {each.name: str(getattr(self, each.name)) for each in fields(self)}

    def renamed(self, names: Mapping[str, str]) -> "Waiver":
        """The same waiver under other rater names."""
        kind, _, name = self.scope.partition(" ")
        return replace(self, scope=str(Scope(kind, name).renamed(names)))

    def turns(self, verdict: Verdict) -> bool:
        """Is this the verdict it speaks of?"""
        return verdict.rule.effect == "hold" and (verdict.rule.measure, str(verdict.scope)) == (
            self.measure,
            self.scope,
        )

    def refusal(self, policy: Policy, ratings_digest: str, on: date) -> str | None:
        """Why it does not hold for these ratings under this policy on that day; None when it does."""
        asked = [
            rule
            for rule in policy.rules
            if rule.effect == "hold"
            and (rule.measure, rule.scope) == (self.measure, self.scope.partition(" ")[0])
        ]
        if self.ratings_digest != ratings_digest:
            return f"it is bound to ratings {self.ratings_digest[:12]}, and these are {ratings_digest[:12]}"
        if on > self.until:
            return f"it ended on {self.until}"
        return (
            None
            if asked
            else f"policy {policy.policy} has no rule on {self.measure} of {self.scope} that holds"
        )

    def __str__(self) -> str:
        return f"waiver by {self.who} until {self.until} of {self.measure} of {self.scope} ({self.why})"


@dataclass(frozen=True)
class Waivers:
    """The waivers written for a round, and the day on which they are read."""

    written: tuple[Waiver, ...] = ()
    on: date = date.max

    def sorted_out(
        self, verdicts: Sequence[Verdict], policy: Policy, ratings_digest: str
    ) -> tuple[tuple[Waiver, ...], tuple[str, ...]]:
        """Those that turn one of the verdicts; and, in words, those that are refused."""
        refusals = [(each, each.refusal(policy, ratings_digest, self.on)) for each in self.written]
        used = tuple(
            each
            for each, refusal in refusals
            if refusal is None and any(each.turns(verdict) for verdict in verdicts)
        )
        return used, tuple(
            f"{each} is refused, since {refusal}" for each, refusal in refusals if refusal
        )

    def renamed(self, names: Mapping[str, str]) -> "Waivers":
        """The same waivers under other rater names."""
        return replace(self, written=tuple(each.renamed(names) for each in self.written))


NONE = Waivers()


def for_round(waivers: Iterable[Waiver], round_name: str, on: date) -> Waivers:
    """Those of a round of the project, read on a day."""
    return Waivers(tuple(each for each in waivers if each.round == round_name), on)


def _day(said: object) -> object:
    """A day as YAML reads it, or as JSON writes it."""
    return date.fromisoformat(said) if isinstance(said, str) else said


def load_waiver(path: Path) -> Waiver:
    """The waiver in a YAML file.

    Raises
    ------
    WaiverError
        The file cannot be read, or the waiver is not one; the message names file and line.
    """
    data, place = read_yaml(path, WaiverError)
    return Waiver.from_mapping(data, source=place)
