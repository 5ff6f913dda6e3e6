"""Rules as data: the policy a round is judged by."""

import hashlib
import json
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, fields
from functools import cached_property
from pathlib import Path
from typing import Any, Literal, get_args

from agreement_pipeline.errors import PolicyError
from agreement_pipeline.estimates import Estimate
from agreement_pipeline.intervals import (
    DEFAULT_METHOD,
    METHODS,
    Inference,
    interval_method,
)
from agreement_pipeline.policy.rules import Kind, Rule, Verdict, number, one_of
from agreement_pipeline.policy.simultaneous import together
from agreement_pipeline.text import listed
from agreement_pipeline.yaml_files import Place, read_yaml

Familywise = Literal["none", "holm"]
FEWEST_ITEMS, MOST_ITEMS = 10, 1_000_000


@dataclass(frozen=True)
class Policy:
    """The rules a round is judged by.

    Parameters
    ----------
    policy, version
        Its name and number.
    rules
        At least one that holds; no two on the same measure and scope.
    admit
        The verdicts that let a round through. *reliable* alone, unless *tentative* is named too.
    confidence_level, n_resamples
        Of the intervals that are read.
    interval_method
        How they are found, and with it of whom they speak: *smoothed_bayesian_bootstrap* of these raters, *two_way_jackknife_log* of raters
        at large, whoever the next ones are. A method whose lower limit did not hold in the coverage study may not decide.
    familywise
        none: each verdict holds by itself, at its own level. holm: the verdicts of the rules that hold hold together, and those that do not stand beside the
        others are taken back.
    always_valid_at
        None: a round is judged once. A number: it may be judged at any time while it fills, and the limits, which hold all the time, are tightest
        at so many items, or clusters where items come in them.
    description
        Why the cut-offs are what they are: they follow from the cost of an error.

    Raises
    ------
    PolicyError
        See above.
    """

    policy: str
    version: int
    rules: tuple[Rule, ...]
    admit: tuple[Kind, ...] = ("reliable",)
    confidence_level: float = Inference.confidence_level
    n_resamples: int = Inference.n_resamples
    interval_method: str = DEFAULT_METHOD
    familywise: Familywise = "none"
    always_valid_at: int | None = None
    description: str = ""

    def __post_init__(self) -> None:
        if not any(rule.effect == "hold" for rule in self.rules):
            raise PolicyError(
                "no rule that holds found; at least one is required, or everything would be admitted. Give a rule effect: hold."
            )
        asked = [(rule.measure, rule.scope) for rule in self.rules]
        twice = sorted(
            {
                f"{measure} of the {scope}"
                for measure, scope in asked
                if asked.count((measure, scope)) > 1
            }
        )
        if twice:
            raise PolicyError(
                f"two rules on {listed(twice)} found; one is required. Keep the stricter one."
            )
        if "reliable" not in self.admit or not all(
            kind in ("reliable", "tentative") for kind in self.admit
        ):
            raise PolicyError(
                f"admit {list(self.admit)!r} found; reliable, or reliable and tentative, is required. Nothing else may be admitted."
            )
        if not 0.8 <= number("confidence_level", self.confidence_level) < 1:
            raise PolicyError(
                f"confidence_level {self.confidence_level:g} found; 0.8 or more and under 1 is required. 0.95 is usual."
            )
        if (
            isinstance(self.n_resamples, bool)
            or not isinstance(self.n_resamples, int)
            or not 1000 <= self.n_resamples <= 1_000_000
        ):
            raise PolicyError(
                f"n_resamples {self.n_resamples!r} found; a whole number from 1000 to 1000000 is required. 10000 is usual."
            )
        if not interval_method(self.interval_method).decides:
            deciding = " or ".join(name for name, method in METHODS.items() if method.decides)
            raise PolicyError(
                f"interval_method {self.interval_method!r} found; {deciding} is required. Others' limits do not hold: docs/intervals.md."
            )
        one_of("familywise", self.familywise, get_args(Familywise))
        if self.always_valid_at is not None:
            self._check_always_valid(self.always_valid_at)
        self.inference.refuse_too_few()

    def _check_always_valid(self, at: int) -> None:
        if isinstance(at, bool) or not isinstance(at, int) or not FEWEST_ITEMS <= at <= MOST_ITEMS:
            raise PolicyError(
                f"always_valid_at {at!r} found; a whole number of items (or clusters) from {FEWEST_ITEMS} to {MOST_ITEMS} is required. Correct it."
            )
        if interval_method(self.interval_method).population == "raters at large":
            found = f"always_valid_at with interval_method {self.interval_method}"
            raise PolicyError(
                f"{found} found; one of them is required, since a round gains items while it fills and not raters. Leave always_valid_at out."
            )

    @classmethod
    def from_mapping(cls, data: object, *, source: str | Place = "policy") -> "Policy":
        """The policy that plain data, as read from YAML, spell out.

        Raises
        ------
        PolicyError
            A key is unknown or missing, or a value is impossible; the message names `source` and the rule.
        """
        place = source if isinstance(source, Place) else Place(source)
        mapping = _mapping(data, place)
        _known(mapping, cls, place, required=("policy", "version", "rules"))
        if not isinstance(mapping["rules"], Sequence) or isinstance(mapping["rules"], str):
            raise PolicyError(
                f"{place / 'rules'}: rules {mapping['rules']!r} found; a list of rules is required. Write each rule as a list entry."
            )
        if not isinstance(mapping.get("admit", []), Sequence) or isinstance(
            mapping.get("admit", []), str
        ):
            raise PolicyError(
                f"{place / 'admit'}: admit {mapping['admit']!r} found; a list of verdicts is required. Write admit: [reliable]."
            )
        if (
            not isinstance(mapping["policy"], str)
            or isinstance(mapping["version"], bool)
            or not isinstance(mapping["version"], int)
        ):
            found = f"policy {mapping['policy']!r}, version {mapping['version']!r} found"
            raise PolicyError(
                f"{place / 'policy'}: {found}; a name and a whole number are required. Correct them."
            )
        if not isinstance(mapping.get("description", ""), str):
            raise PolicyError(
                f"{place / 'description'}: {type(mapping['description']).__name__} found; a text is required. Write why the cut-offs are what they are."
            )
        rules = tuple(
            _rule(rule, place / "rules" / number) for number, rule in enumerate(mapping["rules"])
        )
        rest = {**mapping, "rules": rules, "admit": tuple(mapping.get("admit", ("reliable",)))}
        return _made(cls, rest, str(place))  # type: ignore[no-any-return]

    def to_mapping(self) -> dict[str, Any]:
        """The policy as plain data, from which `from_mapping` makes it again."""
        return {
            **asdict(self),
            "rules": [asdict(rule) for rule in self.rules],
            "admit": list(self.admit),
        }

    @property
    def digest(self) -> str:
        """SHA-256 of all that decides; the description does not."""
        deciding = {key: value for key, value in self.to_mapping().items() if key != "description"}
        return hashlib.sha256(json.dumps(deciding, sort_keys=True).encode()).hexdigest()

    @cached_property
    def inference(self) -> Inference:
        """How the uncertainty of the estimates that it judges is inferred."""
        return Inference(
            self.confidence_level, self.n_resamples, self.interval_method, self.always_valid_at
        )

    @property
    def manner(self) -> str:
        """How a round is judged, in words: once or at any time, each verdict by itself or all together."""
        looks = (
            "once"
            if self.always_valid_at is None
            else f"at any time, always valid, tightest at {self.always_valid_at} items (or clusters)"
        )
        return f"judged {looks}; {'each verdict holds by itself' if self.familywise == 'none' else 'the verdicts hold together (Holm)'}"

    @property
    def measures(self) -> tuple[str, ...]:
        """The measures the rules speak of."""
        return tuple(sorted({rule.measure for rule in self.rules}))

    def judge(self, estimates: Sequence[Estimate]) -> tuple[Verdict, ...]:
        """The verdicts of all rules; holding together where the policy asks for that."""
        verdicts = tuple(verdict for rule in self.rules for verdict in rule.judge(estimates))
        return together(verdicts, self.inference.tail) if self.familywise == "holm" else verdicts


def _rule(data: object, place: Place) -> Rule:
    mapping = _mapping(data, place)
    _known(mapping, Rule, place, required=("measure",))
    return _made(Rule, mapping, f"{place}, rule {int(str(place.path[-1])) + 1}")  # type: ignore[no-any-return]


def _made(kind: type, values: Mapping[str, Any], where: str) -> Any:
    try:
        return kind(**values)
    except PolicyError as error:
        raise PolicyError(f"{where}: {error}") from None


def _mapping(data: object, place: Place) -> Mapping[str, Any]:
    if not isinstance(data, Mapping):
        raise PolicyError(
            f"{place}: {type(data).__name__} found; a mapping of keys to values is required. See configs/policies/standard.yaml."
        )
    return data


def _known(mapping: Mapping[str, Any], kind: type, place: Place, required: tuple[str, ...]) -> None:
    names = [field.name for field in fields(kind)]
    unknown = [key for key in mapping if key not in names]
    if unknown:
        raise PolicyError(
            f"{place / unknown[0]}: unknown key {listed(unknown)} found; {', '.join(names)} are known. Correct the spelling: nothing is ignored."
        )
    missing = [key for key in required if key not in mapping]
    if missing:
        raise PolicyError(
            f"{place}: no {listed(missing)} found; {', '.join(required)} are required. Add what is missing."
        )


def load_policy(path: Path) -> Policy:
    """The policy in a YAML file.

    Raises
    ------
    PolicyError
        The file cannot be read, or the policy is not one; the message names file and line.
    """
    data, place = read_yaml(path, PolicyError)
    return Policy.from_mapping(data, source=place)
