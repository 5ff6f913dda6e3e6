"""Each classifier and each rater is compared with the rest of the panel. The formal test is the
alternative-annotator test.
"""

from collections.abc import Mapping, Sequence

from agreement_pipeline.counting import counting_of
from agreement_pipeline.estimates import Estimate, values_of
from agreement_pipeline.measures import AlternativeAnnotatorTest, alternative_annotator_test
from agreement_pipeline.policy import Policy
from agreement_pipeline.ratings import Ratings, Scale
from agreement_pipeline.report.figure import Figure, Mark, intervals
from agreement_pipeline.report.judged import JudgedRound, measured
from agreement_pipeline.report.section import (
    Answer,
    Cell,
    Grid,
    Row,
    grid,
    title_of,
    value_and_interval,
)
from agreement_pipeline.text import PROBABILITY, SENTENCE, in_words, listed, number

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
Band = Sequence[float]


def compared_by(scale: Scale) -> str:
    """It is weighted if the categories have an order. If none are listed, it is the share of items
    on which somebody is at least as close to the others as the rater left out.
    """
    if scale.continuous:
        return "advantage_probability"
    return "schouten_kappa" if scale.level == "nominal" else "schouten_kappa_quadratic"


def classifiers(judged: JudgedRound) -> Answer | None:
    if not judged.ratings.classifiers:
        return None
    found, band, table = _beside_raters(judged.ratings, judged.policy)
    far = {"among the raters": ", as far as these items can tell"}
    places = {each.scope.name: _place(each, band) for each in found}
    said = [f"{name} is {place}{far.get(place, '')}." for name, place in places.items() if place]
    unknown = f"The place of {listed(places)} cannot be told."
    figures: tuple[Figure, ...] = ()
    if band and found:
        lowest, highest = (number(each, SENTENCE) for each in (band[0], band[-1]))
        figure = intervals(
            "Classifiers inside the band of the raters",
            f"The strokes are the lowest ({lowest}) and the highest ({highest}) of the raters. "
            "A line between them is a model that agrees with the panel as a rater does.",
            map(Mark.of, found),
            title_of(compared_by(judged.ratings.scale)),
            cutoffs=((band[0], "lowest rater"), (band[-1], "highest rater")),
        )
        figures = (figure,)
    return Answer(tuple(said) or (unknown,), figures, (table,))


def classifiers_grid(ratings: Ratings, policy: Policy, *_: object) -> Grid | None:
    return _beside_raters(ratings, policy)[2] if ratings.classifiers else None


def _beside_raters(ratings: Ratings, policy: Policy) -> tuple[Sequence[Estimate], Band, Grid]:
    measure, counting = compared_by(ratings.scale), counting_of(ratings)
    found = measured(ratings, [measure], policy, ("classifier",))
    band = sorted(values_of(ratings, measure, "rater").values())
    tests = {
        name: alternative_annotator_test(counting.by_rater(ratings, (name,)).against(name))
        for name in ratings.classifiers
    }
    return found, band, beside_raters(found, band, tests)


def beside_raters(
    found: Sequence[Estimate], band: Band, tests: Mapping[str, AlternativeAnnotatorTest]
) -> Grid:
    """A classifier is above the raters if its whole interval is above all their values, and below
    in the same way. Else it is among them, as far as these items can tell.
    """
    ends = [Cell(number(value, SENTENCE), value) for value in (*band[:1], *band[-1:])]
    rows: list[Row] = [
        [
            each.scope.name,
            *value_and_interval(each),
            *(ends or ("", "")),
            _place(each, band),
            *_tested(tests.get(each.scope.name)),
        ]
        for each in found
    ]
    return grid("Classifiers beside the raters", COLUMNS, rows, "classifiers")


def _place(found: Estimate, band: Band) -> str:
    if found.interval is None or not band:
        return ""
    if found.interval.low > band[-1]:
        return "above every rater"
    return "below every rater" if found.interval.high < band[0] else "among the raters"


def _tested(test: AlternativeAnnotatorTest | None) -> tuple[str, str]:
    if test is None or test.winning_rate is None:
        return "", "" if test is None else f"undefined: {test.undefined}"
    reads = "may stand in for a rater" if test.passed else "not shown that it may stand in"
    return in_words(test.winning_rate, PROBABILITY), f"{reads} (ε = {test.epsilon:g})"
