"""The command `verify`."""

from collections.abc import Sequence
from typing import TYPE_CHECKING

import click

from agreement_pipeline.cli.demanded import demanded
from agreement_pipeline.cli.grouped import Command
from agreement_pipeline.cli.options import option, output_option, store_option
from agreement_pipeline.cli.output import as_json, say
from agreement_pipeline.cli.parameters import PLACE
from agreement_pipeline.cli.verified import in_words, mapping
from agreement_pipeline.errors import ReleaseHeldError, ReleaseInvalidError
from agreement_pipeline.report import printable

if TYPE_CHECKING:
    from agreement_pipeline.release import Release
    from agreement_pipeline.store import Store

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
    "release_waived": 21,
}
DEMANDS = "Demands"
EXAMPLES = (
    "agreement-pipeline verify RELEASE --require 'alpha>=0.8' --store .agreement/store/moderation",
    "agreement-pipeline verify RELEASE --require 'raters>=3' --no-waivers --format json",
)


@click.command(cls=Command, examples=EXAMPLES)
@click.argument("release", type=PLACE, help="The folder or the URL of a release.")
@option(
    "--require",
    group=DEMANDS,
    multiple=True,
    metavar="DEMAND",
    help="A demand of your own: alpha>=0.8, 'cohen_kappa of pair>=0.7', raters>=3, items>=100, "
    "policy=NAME or policy=NAME@VERSION. Repeat for more.",
)
@option(
    "--no-waivers", group=DEMANDS, is_flag=True, help="Refuse a release that rests on a waiver."
)
@store_option(
    group=DEMANDS,
    help="The store of the release. Its log must say that the release is in force.",
)
@output_option
def verify(
    release: str, require: Sequence[str], no_waivers: bool, store: str | None, output: str
) -> int:
    """Check a release from its own bytes.

    The exit status is 0 if the release is verified. Each reason to refuse a release has its
    own status: see docs/reasons.md.
    """
    from agreement_pipeline.release import open_release
    from agreement_pipeline.store import Store

    of = Store(store) if store else None
    demands = demanded(require, without_waivers=no_waivers)
    try:
        found = open_release(release, require=demands, store=of)
    except (ReleaseInvalidError, ReleaseHeldError) as error:
        _say_refused(error, output)
        return REFUSED[error.code]
    said = mapping(found, _superseded(found, of))
    say(as_json(said) if output == "json" else "\n".join(map(printable, in_words(said))))
    return 0


def _say_refused(error: ReleaseInvalidError | ReleaseHeldError, output: str) -> None:
    if output == "json":
        say(as_json({"verified": False, "code": error.code, "why": str(error)}))
    else:
        say(printable(f"refused ({error.code}): {error}"))


def _superseded(release: "Release", store: "Store | None") -> Sequence[str] | None:
    """The rounds that have a newer version. None if no store was asked."""
    from agreement_pipeline.release import superseded

    return None if store is None else superseded(release, store)
