"""Agreement in each stratum of the items, and which is the lowest."""

from collections.abc import Iterable, Mapping, Sequence

import pandas as pd

from agreement_pipeline.estimates import Estimate, Scope, Shown
from agreement_pipeline.policy import Policy
from agreement_pipeline.ratings import Ratings
from agreement_pipeline.report.measured import measured
from agreement_pipeline.report.tables import interval_text, note
from agreement_pipeline.text import number

OWN, OF_ROUND = "krippendorff_alpha", "stratum_alpha"
LOWEST = "lowest observed"


def strata(ratings: Ratings, policy: Policy, _shown: Shown | None = None) -> pd.DataFrame | None:
    """A row for each stratum, the lowest first; None if the items have no strata."""
    found = in_strata(ratings)
    if not found:
        return None
    return stratum_rows(*lowest_first(measured(ratings, found, policy, ("stratum",))))


def in_strata(ratings: Ratings) -> tuple[str, ...]:
    """The measures that strata are shown by. None if the items have no strata."""
    if not ratings.strata:
        return ()
    return (OWN,) if ratings.scale.continuous else (OWN, OF_ROUND)


def lowest_first(estimates: Iterable[Estimate]) -> tuple[list[Estimate], dict[Scope, Estimate]]:
    """The strata's own alphas, the lowest first, and those on the ruler of the round by scope."""
    found = list(estimates)
    on_ruler = {each.scope: each for each in found if each.measure == OF_ROUND}
    own = [each for each in found if each.measure == OWN]
    return sorted(own, key=lambda each: (each.value is None, each.value or 0.0)), on_ruler


def stratum_rows(own: Sequence[Estimate], on_ruler: Mapping[Scope, Estimate]) -> pd.DataFrame:
    """Estimates of strata as a table of text.

    The lowest of many strata is low by chance too. So its interval stands beside it.
    """
    return pd.DataFrame(
        {
            "stratum": found.scope.name,
            "items": str(found.n_used),
            "value": number(found.value),
            "interval": interval_text(found),
            "on the round's ruler": _value(on_ruler.get(found.scope)),
            "note": _note(found, place),
        }
        for place, found in enumerate(own)
    )


def _note(found: Estimate, place: int) -> str:
    lowest = LOWEST if place == 0 and found.value is not None else ""
    return "; ".join(said for said in (lowest, note(found)) if said)


def _value(found: Estimate | None) -> str:
    return "" if found is None else number(found.value)
