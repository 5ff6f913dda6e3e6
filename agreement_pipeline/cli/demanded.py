"""The demands of a trainer, as `verify --require` reads them."""

import re
from collections.abc import Sequence
from functools import partial
from typing import TYPE_CHECKING

from agreement_pipeline.cli.parameters import full_name
from agreement_pipeline.errors import PolicyError
from agreement_pipeline.policy import TENTATIVE, Policy, Rule

if TYPE_CHECKING:
    from agreement_pipeline.release import Demands

REQUIRED = partial(
    Policy,
    "required of the trainer",
    1,
    passed_by_guessing="The trainer asks for more than the release's own policy.",
)
COUNTED = re.compile(r"(?P<what>raters|items)\s*>=\s*(?P<least>[0-9]+)")
OF_POLICY = re.compile(r"policy\s*=\s*(?P<name>[^@]+?)(?:@(?P<version>[0-9]+))?")


def demanded(texts: Sequence[str], *, without_waivers: bool) -> "Demands":
    """The demands in texts such as `alpha>=0.8`, `raters>=3` and `policy=standard@2`.

    Raises
    ------
    PolicyError
        A text is no demand.
    """
    from agreement_pipeline.release import Demands

    counted = [match for text in texts if (match := COUNTED.fullmatch(text.strip()))]
    named = [match for text in texts if (match := OF_POLICY.fullmatch(text.strip()))]
    known = {match.string for match in (*counted, *named)}
    rules = tuple(_rule(text) for text in texts if text.strip() not in known)
    if len(named) > 1:
        raise PolicyError(
            f"--require: found {len(named)} policies; expected one, since a release has one. "
            "Correct it."
        )
    version = named[0]["version"] if named else None
    return Demands(
        REQUIRED(rules) if rules else None,
        {match["what"]: int(match["least"]) for match in counted},
        (named[0]["name"], int(version) if version else None) if named else None,
        without_waivers,
    )


def _rule(text: str) -> Rule:
    subject, _, cutoff = text.partition(">=")
    name, _, scope = subject.strip().partition(" of ")
    try:
        reliable = float(cutoff)
    except ValueError:
        raise PolicyError(
            f"--require {text}: found no cut-off; expected MEASURE>=NUMBER, as alpha>=0.8. "
            "Correct it."
        ) from None
    try:
        return Rule(
            full_name(name.strip()),
            scope=scope.strip() or "round",  # type: ignore[arg-type]  # the rule refuses others
            reliable=reliable,
            tentative=min(reliable, TENTATIVE),
        )
    except PolicyError as error:
        raise PolicyError(f"--require {text}: {error}") from None
