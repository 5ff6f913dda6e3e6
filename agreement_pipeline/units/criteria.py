"""Criteria: each criterion of a rubric is a unit. A criterion with a scale of its own is chosen."""

from collections.abc import Sequence

import pandas as pd

from agreement_pipeline.errors import RatingsError
from agreement_pipeline.ratings import Scale
from agreement_pipeline.text import listed
from agreement_pipeline.units.marked import Marked
from agreement_pipeline.units.objects import Rubric
from agreement_pipeline.units.rule import UnitRule, UnitSettings, register


def rows(marked: Sequence[Marked], settings: UnitSettings, labels: Sequence[str]) -> pd.DataFrame:
    """A row for each criterion and each rater who scored it."""
    scored = [
        (each, name, score)
        for each in marked
        for said in each.objects
        if isinstance(said, Rubric)
        for name, score in said.scores.items()
    ]
    wanted, known = settings.criterion, sorted({name for _, name, _ in scored})
    if wanted is not None and wanted not in known:
        raise RatingsError(
            f"criterion: found no score of {wanted!r} among {listed(known, 12)}; expected one. "
            "Correct the criterion."
        )
    found = [
        (f"{each.item} {name}", each.rater, each.occurrence, score, each.item)
        for each, name, score in scored
        if wanted in (None, name)
    ]
    return pd.DataFrame(found, columns=["item", "rater", "occurrence", "label", "cluster"])


def _scale(marked: Sequence[Marked], source: str) -> Scale:
    """The scores that were given, on the nominal level."""
    scores = [
        score
        for each in marked
        for said in each.objects
        if isinstance(said, Rubric)
        for score in said.scores.values()
    ]
    try:
        return Scale.from_labels(scores)
    except RatingsError as error:
        raise RatingsError(f"{source}: {error}") from None


CRITERIA = register(
    UnitRule(
        "criteria",
        "each criterion of a rubric",
        frozenset({"rubrics"}),
        frozenset({"criterion"}),
        rows,
        _scale,
    )
)
