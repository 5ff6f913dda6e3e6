"""Agreement in each stratum of the items, and which is the lowest."""

from collections.abc import Sequence

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
    if not ratings.strata:
        return None
    names = [OWN] if ratings.scale.continuous else [OWN, OF_ROUND]
    return stratum_rows(list(measured(ratings, names, policy, ("stratum",))))


def stratum_rows(estimates: Sequence[Estimate]) -> pd.DataFrame:
    """Estimates of strata as a table of text, the lowest first.

    The lowest of many strata is low by chance too. So its interval stands beside it.
    """
    on_ruler = {found.scope: found for found in estimates if found.measure == OF_ROUND}
    own = [found for found in estimates if found.measure == OWN]
    ordered = sorted(own, key=lambda found: (found.value is None, found.value or 0.0))
    return pd.DataFrame(
        {
            "stratum": found.scope.name,
            "items": str(found.n_used),
            "value": number(found.value),
            "interval": interval_text(found),
            "on the round's ruler": _on_ruler(on_ruler, found.scope),
            "note": _note(found, place),
        }
        for place, found in enumerate(ordered)
    )


def _note(found: Estimate, place: int) -> str:
    lowest = LOWEST if place == 0 and found.value is not None else ""
    return "; ".join(said for said in (lowest, note(found)) if said)


def _on_ruler(estimates: dict[Scope, Estimate], scope: Scope) -> str:
    return number(estimates[scope].value) if scope in estimates else ""
