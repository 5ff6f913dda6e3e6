"""The command `verify`."""

from collections.abc import Sequence

import click

from agreement_pipeline.cli.grouped import Command
from agreement_pipeline.cli.options import option, store_option
from agreement_pipeline.cli.output import say
from agreement_pipeline.cli.parameters import PLACE, full_name
from agreement_pipeline.errors import PolicyError, ReleaseHeldError, ReleaseInvalidError
from agreement_pipeline.policy import TENTATIVE, Policy, Rule
from agreement_pipeline.report import printable

REFUSED = {
    "release_invalid": 1,
    "release_unfinished": 10,
    "release_withdrawn": 11,
    "release_file_missing": 12,
    "release_file_extra": 13,
    "release_file_changed": 14,
    "release_not_derived": 15,
    "release_not_admitted": 16,
    "release_waiver_ended": 17,
    "release_not_in_log": 18,
    "held": 19,
    "release_reworded": 20,
}
DEMANDS = "Demands"
EXAMPLES = (
    "agreement-pipeline verify RELEASE --require 'alpha>=0.8' --store .agreement/store/moderation",
)


@click.command(cls=Command, examples=EXAMPLES)
@click.argument("release", type=PLACE, help="The folder or the URL of a release.")
@option(
    "--require",
    group=DEMANDS,
    multiple=True,
    metavar="DEMAND",
    help="A demand of your own, as alpha>=0.8. Repeat for more.",
)
@store_option(
    group=DEMANDS,
    help="The store of the release. Its log must say that the release is in force.",
)
def verify(release: str, require: Sequence[str], store: str | None) -> int:
    """Check a release from its own bytes.

    The exit status is 0 if the release is verified. Each reason to refuse a release has its
    own status: see docs/reasons.md.
    """
    from agreement_pipeline.release import open_release
    from agreement_pipeline.store import Store

    try:
        found = open_release(
            release, require=_required(require), store=Store(store) if store else None
        )
    except (ReleaseInvalidError, ReleaseHeldError) as error:
        say(printable(f"refused ({error.code}): {error}"))
        return REFUSED[error.code]
    rows = f"{len(found.labels.resolved)} training rows"
    tentative = "; admitted as tentative" if found.tentative else ""
    say(printable(f"verified: rounds {', '.join(found.rounds)}; {rows}{tentative}"))
    return 0


def _required(demands: Sequence[str]) -> Policy | None:
    """The policy of demands such as `alpha>=0.8`."""
    rules = tuple(_demand(text) for text in demands)
    harmless = "The trainer asks for more than the release's own policy."
    policy = "required of the trainer"
    return Policy(policy, 1, rules, passed_by_guessing=harmless) if rules else None


def _demand(text: str) -> Rule:
    name, _, cutoff = text.partition(">=")
    try:
        reliable = float(cutoff)
    except ValueError:
        raise PolicyError(
            f"--require {text}: found no cut-off; expected MEASURE>=NUMBER, as alpha>=0.8. "
            "Correct it."
        ) from None
    try:
        return Rule(full_name(name.strip()), reliable=reliable, tentative=min(reliable, TENTATIVE))
    except PolicyError as error:
        raise PolicyError(f"--require {text}: {error}") from None
