"""May a classifier stand in for a rater? Its place among the raters, each held against the rest, and the alternative-annotator test."""

from collections.abc import Iterable, Mapping, Sequence

import pandas as pd

from agreement_pipeline.estimates import Estimate
from agreement_pipeline.measures import AlternativeAnnotatorTest
from agreement_pipeline.ratings import Scale
from agreement_pipeline.report.tables import interval_text, shown

COLUMNS = (
    "classifier",
    "agreement",
    "interval",
    "raters' lowest",
    "raters' highest",
    "place",
    "winning rate",
    "alternative-annotator test",
)


def compared_by(scale: Scale) -> str | None:
    """The measure in which classifiers and raters are held against the rest: weighted where categories have an order; none without categories."""
    if scale.continuous:
        return None
    return "schouten_kappa" if scale.level == "nominal" else "schouten_kappa_quadratic"


def standing_rows(
    estimates: Iterable[Estimate], measure: str, tests: Mapping[str, AlternativeAnnotatorTest]
) -> pd.DataFrame:
    """A row for each classifier: its agreement with the panel beside that of each rater with the others.

    A classifier is above or below the raters when its whole interval is on that side of all their values; else it is among them, as far as these
    items can tell.

    Parameters
    ----------
    estimates
        Those of the measure by classifier and by rater; others are passed over.
    measure
        The measure that is compared.
    tests
        The alternative-annotator test of each classifier.

    Returns
    -------
    pandas.DataFrame
        Text, with the columns of `COLUMNS`.
    """
    mine = [found for found in estimates if found.measure == measure]
    band = sorted(
        found.value for found in mine if found.scope.kind == "rater" and found.value is not None
    )
    rows = [
        (*_against(found, band), *_tested(tests.get(found.scope.name)))
        for found in mine
        if found.scope.kind == "classifier"
    ]
    return pd.DataFrame(rows, columns=list(COLUMNS))


def _against(found: Estimate, band: Sequence[float]) -> tuple[str, ...]:
    lowest, highest = (shown(band[0]), shown(band[-1])) if band else ("", "")
    return (
        found.scope.name,
        shown(found.value),
        interval_text(found),
        lowest,
        highest,
        _place(found, band),
    )


def _place(found: Estimate, band: Sequence[float]) -> str:
    if found.interval is None or not band:
        return ""
    low, high = found.interval
    if low > band[-1]:
        return "above every rater"
    return "below every rater" if high < band[0] else "among the raters"


def _tested(test: AlternativeAnnotatorTest | None) -> tuple[str, str]:
    if test is None or test.winning_rate is None:
        return "", "" if test is None else f"undefined: {test.undefined}"
    return (
        f"{test.winning_rate:.2f}",
        "may stand in for a rater" if test.passed else "may not stand in for a rater",
    )
