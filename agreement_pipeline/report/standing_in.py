"""May a classifier stand in for a rater? Its place among the raters, and the formal test.

Each classifier and each rater is compared with the rest of the panel. The test is the
alternative-annotator test.
"""

from collections.abc import Iterable, Mapping, Sequence

import pandas as pd

from agreement_pipeline.counting import counting_of
from agreement_pipeline.estimates import Estimate, Shown, values_of
from agreement_pipeline.measures import AlternativeAnnotatorTest, alternative_annotator_test
from agreement_pipeline.policy import Policy
from agreement_pipeline.ratings import Ratings, Scale
from agreement_pipeline.report.measured import measured
from agreement_pipeline.report.tables import interval_text
from agreement_pipeline.text import PROBABILITY, in_words, number

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


def standing_in(
    ratings: Ratings, policy: Policy, _shown: Shown | None = None
) -> pd.DataFrame | None:
    """A row for each classifier, as in `standing_rows`.

    Every rater is in the band, but only the band is shown. None if the round has no classifier.
    """
    if not ratings.classifiers:
        return None
    measure = compared_by(ratings.scale)
    counting = counting_of(ratings)
    tests = {
        name: alternative_annotator_test(counting.by_rater(ratings, (name,)).against(name))
        for name in ratings.classifiers
    }
    band = values_of(ratings, measure, "rater").values()
    return standing_rows(measured(ratings, [measure], policy, ("classifier",)), band, tests)


def compared_by(scale: Scale) -> str:
    """The measure that compares classifiers and raters with the rest of the panel.

    It is weighted if the categories have an order. If no categories are listed, it is the share of
    items on which somebody is at least as close to the others as the rater left out.
    """
    if scale.continuous:
        return "advantage_probability"
    return "schouten_kappa" if scale.level == "nominal" else "schouten_kappa_quadratic"


def standing_rows(
    classifiers: Iterable[Estimate],
    raters: Iterable[float],
    tests: Mapping[str, AlternativeAnnotatorTest],
) -> pd.DataFrame:
    """A row for each classifier: its agreement with the panel beside that of the raters.

    A classifier is above the raters if its whole interval is above all their values. Below is
    decided in the same way. In all other cases it is among them, as far as these items can tell.

    Parameters
    ----------
    classifiers
        The estimate of each classifier's agreement with the panel.
    raters
        The value of each rater, by the same measure.
    tests
        The alternative-annotator test of each classifier.

    Returns
    -------
    pandas.DataFrame
        Text, with the columns of `COLUMNS`.
    """
    band = sorted(raters)
    rows = [
        (*_against(found, band), *_tested(tests.get(found.scope.name))) for found in classifiers
    ]
    return pd.DataFrame(rows, columns=list(COLUMNS))


def _against(found: Estimate, band: Sequence[float]) -> tuple[str, ...]:
    lowest, highest = (number(band[0]), number(band[-1])) if band else ("", "")
    return (
        found.scope.name,
        number(found.value),
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
    reads = "may stand in for a rater" if test.passed else "not shown that it may stand in"
    return in_words(test.winning_rate, PROBABILITY), f"{reads} (ε = {test.epsilon:g})"
