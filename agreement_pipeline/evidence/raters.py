"""Raters: who stands out, and each beside the others, beside themselves and beside gold.

And classifiers, each beside the raters. The formal test is the alternative-annotator test.
"""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Literal, NamedTuple

import numpy as np
import pandas as pd
import pyarrow as pa

from agreement_pipeline.counting import counting_of
from agreement_pipeline.estimates import Estimate, Scope, Shown, alike_first, values_of
from agreement_pipeline.evidence.advice import NOBODY_COMPARED, who_differs
from agreement_pipeline.evidence.figure import Figure, Mark, intervals, matrix
from agreement_pipeline.evidence.judged import JudgedRound, measured
from agreement_pipeline.evidence.section import (
    INTERVAL,
    Answer,
    Cell,
    Detail,
    Grid,
    Row,
    grid,
    title_of,
    value_and_interval,
)
from agreement_pipeline.intervals import mean_interval_of_rows
from agreement_pipeline.measures import (
    MEASURES,
    AlternativeAnnotatorTest,
    alternative_annotator_test,
)
from agreement_pipeline.policy import Policy, Rule
from agreement_pipeline.ratings import (
    TEXT,
    Codes,
    Ratings,
    Scale,
    arrow_column,
    in_pandas,
    is_clock,
    seconds,
    whole,
)
from agreement_pipeline.statistics import rater_distances
from agreement_pipeline.text import (
    PERCENT,
    PROBABILITY,
    SENTENCE,
    WHOLE_PERCENT,
    counted,
    in_words,
    listed,
    number,
)

Kind = Literal["rater", "category"]
GOLD, MOST_SECONDS, DAY = "gold_accuracy", 3_600, 86_400.0
"""A longer time between two ratings is a pause."""
MOST_PAIRS, MOST_TOLD, MOST_ITEMS = 8, 3, 4
NEVER_AGAIN = "No rater met an item twice, so agreement with themselves is not known."
FAIR = (
    "A low number is a reason to talk, and no verdict on a person: items may be harder, or the "
    "guideline may allow two readings."
)
WHAT: dict[Kind, tuple[str, str]] = {
    "rater": ("their agreement with themselves", "their agreement with the others"),
    "category": ("agreement within raters", "agreement between raters"),
}
READINGS: dict[Kind, dict[tuple[bool, bool], str]] = {
    "rater": {
        (True, True): "agrees with themselves and with the others",
        (True, False): (
            "sure of their own reading: "
            "real subjectivity, or another understanding of the guideline"
        ),
        (False, True): (
            "agrees with the others but not with themselves: "
            "the items that came back may be harder than the rest"
        ),
        (False, False): (
            "agrees neither with themselves nor with the others: "
            "careless, or the items are ambiguous"
        ),
    },
    "category": {
        (True, True): "each rater keeps to one reading, and all to the same",
        (True, False): (
            "each rater keeps to their own reading: "
            "the guideline leaves it open, or it is a matter of taste"
        ),
        (False, True): (
            "raters agree on it more with each other than with themselves: "
            "the items that came back may be harder than the rest"
        ),
        (False, False): (
            "raters agree on it neither with themselves nor with each other: "
            "ambiguous, or given carelessly"
        ),
    },
}


OF_CLASSIFIERS = {
    "classifier": "The model.",
    "agreement": "Agreement of the model with the panel.",
    "interval": INTERVAL,
    "raters' lowest": "The lowest agreement of a rater with the rest of the panel.",
    "raters' highest": "The highest agreement of a rater with the rest of the panel.",
    "place": "Where the model stands beside the raters.",
    "winning rate": "The share of raters whom the model may replace.",
    "alternative-annotator test": "Whether the model may stand in for a rater.",
}
WITH_THEMSELVES = "Agreement of raters with themselves on items that came back."
WITH_OTHERS, READING = "Agreement with the other raters.", "How the numbers of the row read."
Band = Sequence[float]
Tests = Mapping[str, AlternativeAnnotatorTest]


class Comparison(NamedTuple):
    kind: Kind
    themselves: str
    others: str


def comparisons(scale: Scale, policy: Policy | None = None) -> tuple[Comparison, ...]:
    """Both measures are in the same terms, and weighted if the categories have an order.

    If the policy has a rule on the agreement of raters with themselves, its measure is compared: so
    a rater has one number for it, and one reading.
    """
    if scale.continuous:
        return ()
    weighted = "" if scale.level == "nominal" else "_quadratic"
    rules = () if policy is None else policy.rules
    own = (
        rule.measure
        for rule in sorted(rules, key=lambda rule: rule.scope != "rater")
        if MEASURES[rule.measure].needs == "replicates" and rule.scope in ("rater", "round")
    )
    themselves = next(own, f"test_retest_kappa{weighted}")
    found = [Comparison("rater", themselves, f"schouten_kappa{weighted}")]
    if scale.level in ("nominal", "ordinal"):
        of_category = "test_retest_kappa_by_category", "kappa_by_category"
        found.append(Comparison("category", *of_category))
    return tuple(found)


def themselves_and_others(
    ratings: Ratings, policy: Policy, shown: Shown | None = None
) -> Grid | None:
    compared = comparisons(ratings.scale, policy)
    if not compared:
        return None
    measures = [measure for _, *both in compared for measure in both]
    same = None if shown is None else shown.of_both()
    found = measured(ratings, measures, policy, ("rater", "category"), same)
    return joint_rows(found, compared, policy)


def joint_rows(
    estimates: Iterable[Estimate], compared: Sequence[Comparison], policy: Policy
) -> Grid:
    by_name = {(found.measure, found.scope): found for found in estimates}
    rows: list[Row] = []
    for each in compared:
        mine = [scope for name in each[1:] for measure, scope in by_name if measure == name]
        for scope in dict.fromkeys(scope for scope in mine if scope.kind == each.kind):
            both = by_name.get((each.themselves, scope)), by_name.get((each.others, scope))
            said = [Mark.of(found).said if found and found.interval else "" for found in both]
            rows.append([str(scope), *said, reading(each, *both, policy)])
    columns = {
        "scope": "The rater or the category.",
        "with themselves": WITH_THEMSELVES,
        "with the others": WITH_OTHERS,
        "reading": READING,
    }
    return grid("Agreement of raters with themselves and with the others", columns, rows)


def reading(
    compared: Comparison, themselves: Estimate | None, others: Estimate | None, policy: Policy
) -> str:
    """Agreement is high if its lower limit reaches the cut-off, and low if the upper limit is under
    it.

    Else the reading is *cannot tell*. The cut-off is the tentative one of the policy's rule on that
    measure and scope, or 0.667.
    """
    kind = compared.kind
    usual = [Rule(name, scope=kind, effect="warn") for name in compared[1:]]
    of_policy = {(rule.measure, rule.scope): rule for rule in reversed(policy.rules)}
    verdicts = [
        of_policy.get((rule.measure, rule.scope), rule).judge([] if found is None else [found])[0]
        for rule, found in zip(usual, (themselves, others), strict=True)
    ]
    high = {"reliable": True, "tentative": True, "unreliable": False}
    unknown = [
        f"{what} may lie on either side of {verdict.rule.tentative:g}"
        if verdict.kind == "inconclusive"
        else verdict.reason
        for what, verdict in zip(WHAT[kind], verdicts, strict=True)
        if verdict.kind not in high
    ]
    if unknown:
        return f"cannot tell: {'; '.join(unknown)}"
    first, second = (high[verdict.kind] for verdict in verdicts)
    return READINGS[kind][first, second]


def profiles(ratings: Ratings, policy: Policy, shown: Shown | None = None) -> Grid | None:
    """A row for each rater who is shown, in the order of names, since a rank would mislead."""
    if ratings.scale.continuous or len(ratings.raters) < 2:
        return None
    asked = shown or Shown.whole(ratings.raters)
    compared = comparisons(ratings.scale, policy)[0]
    measures = list(dict.fromkeys([*compared[1:], GOLD]))
    found = measured(ratings, measures, policy, ("rater",), asked)
    by_name = {(each.measure, each.scope.name): each for each in found}
    met_again = any(
        each.measure == compared.themselves and each.value is not None for each in found
    )
    uses = dict(_uses(ratings, asked.raters, policy.confidence_level))
    times, given = _seconds(ratings, asked.raters), ratings.n_by_rater
    n_items = ratings.without_earlier.n_rated
    rows: list[Row] = []
    for name in sorted({name for _, name in by_name} & {*asked.raters}):
        others, again, gold = (
            by_name.get((measure, name)) for measure in (compared.others, compared.themselves, GOLD)
        )
        rows.append(
            [
                name,
                given.get(name, 0),
                in_words(given.get(name, 0) / n_items, WHOLE_PERCENT),
                *value_and_interval(others),
                *value_and_interval(again),
                reading(compared, again, others, policy) if met_again else "",
                *value_and_interval(gold),
                *uses.get(name, ("", "")),
                times.get(name, ""),
            ]
        )
    columns = {
        "rater": "The rater.",
        "ratings": "How many ratings the row rests on.",
        "of items": "The share of all items that the rater rated.",
        "with the others": WITH_OTHERS,
        "interval": INTERVAL,
        "with themselves": WITH_THEMSELVES,
        "interval again": "The interval of the agreement with themselves.",
        "reading": READING,
        "right on gold": "The share of gold items on which the rater gave the right label.",
        "interval on gold": "The interval of the share of right labels.",
        "uses more": "Categories that the rater gives more often than others on the same items.",
        "uses less": "Categories that the rater gives less often than others on the same items.",
        "seconds": "The usual time between two ratings.",
    }
    return grid("Each rater beside the others", columns, rows, "raters")


def _uses(
    ratings: Ratings, shown: Sequence[str], level: float
) -> Iterator[tuple[str, tuple[str, str]]]:
    """The categories that a rater uses more and less than the others, if the interval leaves out 0.

    All categories of a rater have one level. None is named where items come in clusters, since the
    interval takes each as drawn by itself.
    """
    labels = counting_of(ratings).labels(ratings).with_scale(ratings.scale)
    names = labels.scale.names
    if labels.clusters is not None:
        return
    counts = labels.counts().counts
    each_level = 1 - (1 - level) / len(names)
    times = labels.weights.astype(int)
    for rater in {*shown} & {*labels.raters}:
        mine = labels.codes[:, [labels.raters.index(rater)]] == np.arange(len(names))
        rest = counts - mine
        both = (mine.sum(1) > 0) & (rest.sum(1) > 0) & (times > 0)
        if both.any():
            change = (mine[both] - rest[both] / rest[both].sum(1, keepdims=True)).T
            found = [mean_interval_of_rows(each, times[both], each_level) for each in change]
            more = [n for n, limits in zip(names, found, strict=True) if limits and limits.low > 0]
            less = [n for n, limits in zip(names, found, strict=True) if limits and limits.high < 0]
            yield rater, (", ".join(more), ", ".join(less))


def _seconds(ratings: Ratings, shown: Sequence[str]) -> Mapping[str, str]:
    if "timestamp" not in ratings.has:
        return {}
    found = in_pandas(ratings.first(["rater", "timestamp"], raters=shown, gold=True))
    if pd.api.types.is_numeric_dtype(found["timestamp"]):
        return {}
    times = pd.to_datetime(found["timestamp"], errors="coerce", utc=True, format="ISO8601")
    ordered = found.assign(time=times).dropna().sort_values(["rater", "time"])
    gaps = ordered.groupby("rater")["time"].diff().dt.total_seconds()
    usual = gaps[(gaps > 0) & (gaps <= MOST_SECONDS)].groupby(ordered["rater"]).median()
    return {str(name): f"{value:.0f}" for name, value in usual.items()}


def raters(judged: JudgedRound) -> Answer | None:
    if len(judged.raters) < 2:
        return None
    if judged.ratings.foreign_words:
        return Answer((NOBODY_COMPARED, _when_again(judged.ratings)))
    table = profiles(judged.ratings, judged.policy, judged.shown)
    pairs = [each for each in judged.pairs if each.value is not None][:MOST_PAIRS]
    named = {Scope.of_pair(*pair): pair for pair in judged.shown.pairs}
    told = [each.scope for each in pairs][:MOST_TOLD]
    few = judged.ratings.scale.continuous or len(judged.raters) < 3
    held = judged.assessment is not None and not judged.decision.admitted
    differs = judged.summary.who_differs if held else who_differs(judged.ratings)
    said = [differs or "The round is not held for disagreement, so nobody is named.", FAIR]
    if judged.shown.left_out():
        said.append(
            f"Shown are {len(judged.raters)} of {judged.shown.n_raters} raters: those who agree "
            "least with the others."
        )
    return Answer(
        (*said, _when_again(judged.ratings)),
        () if few else (_matrix(judged),),
        tuple(each for each in (table, _pairs(judged, pairs, told)) if each and each.rows),
        tuple(
            Detail(
                f"pair-{place}", f"{scope.name}: where they differ", _differ(judged, *named[scope])
            )
            for place, scope in enumerate(told, 1)
        ),
    )


def _when_again(ratings: Ratings) -> str:
    found = ratings.again(["at", "place", *({"timestamp"} & ratings.has)])
    again = repeats(found)
    if not len(again):
        return NEVER_AGAIN
    back = f"{counted(len(again), 'rating')} came back to a rater"
    times = seconds(in_pandas(found["timestamp"])) if "timestamp" in ratings.has else None
    if times is None or not is_clock(times):
        return f"{back}, and nobody knows when: there are no times that tell minutes."
    apart = np.abs(times[again] - times[again - 1])
    known = apart[~np.isnan(apart)]
    if not len(known):
        return f"{back}, and nobody knows when."
    soon = in_words(float((known < DAY).mean()), PERCENT)
    return f"{back}, {soon} of them in less than a day, when the label may be remembered."


def repeats(found: pa.Table) -> Codes:
    at, place = (found[name].to_numpy() for name in ("at", "place"))
    return np.flatnonzero((at[1:] == at[:-1]) & (place[1:] == place[:-1])) + 1


def _matrix(judged: JudgedRound) -> Figure:
    names = judged.raters
    panel = counting_of(judged.ratings).by_rater(judged.ratings)
    same = 1.0 - rater_distances(panel.select_raters(names)).of_pairs
    known = same[~np.isnan(same)]
    # The tenth under the lowest share, so that shades tell raters apart.
    lowest = min(0.9, np.floor(10 * known.min()) / 10) if len(known) else 0.0
    order = alike_first(same)
    return matrix(
        "Share of items with the same label",
        "Raters who agree stand beside each other, so camps show as blocks.",
        [names[i] for i in order],
        same[np.ix_(order, order)],
        "share of items with the same label",
        lowest,
    )


def _pairs(judged: JudgedRound, pairs: Sequence[Estimate], told: Sequence[Scope]) -> Grid | None:
    if not pairs:
        return None
    rows: list[Row] = [
        [
            Cell(each.scope.name, to=f"pair-{place}" if place <= len(told) else ""),
            *value_and_interval(each),
            each.n_used,
        ]
        for place, each in enumerate(pairs, 1)
    ]
    columns = ("raters", title_of(pairs[0].measure), "interval", "items")
    n = max(judged.shown.n_pairs, len(rows))
    return grid("Pairs who agree least", columns, rows, "pairs", n=n)


def _differ(judged: JudgedRound, one: str, other: str) -> Answer:
    two = sorted((one, other), key=judged.ratings.names.index)
    found = judged.ratings.first(["at", "item", "label"], raters=two)
    at, labels = whole(found["at"]), in_pandas(found["label"]).astype(TEXT).array
    both = np.flatnonzero(at[1:] == at[:-1])
    both = both[np.asarray(labels[both] != labels[both + 1])]
    items = found["item"].take(arrow_column(both)).to_pylist()
    apart = dict(zip(items, both.tolist(), strict=True))
    names = [name for name in judged.most_disputed if name in apart]
    shown = names[:MOST_ITEMS]
    rows: list[Row] = [
        [name, *(labels[apart[name] + two.index(rater)] for rater in (one, other)), text]
        for name, text in zip(shown, judged.texts_of(shown), strict=True)
    ]
    columns = ("item", one, other, "text")
    table = grid("The most disputed of them", columns, rows, "items", n=len(names))
    return Answer((f"They differ on {counted(len(names), 'item')}.",), tables=(table,))


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
    if judged.ratings.foreign_words:
        return Answer((NOBODY_COMPARED,))
    found, band, tests, table = _beside_raters(judged.ratings, judged.policy)
    places = {each.scope.name: _place(each, band) for each in found}
    said = [
        f"{name} is {place}{_in_full(place, tests.get(name))}"
        for name, place in places.items()
        if place
    ]
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
    return _beside_raters(ratings, policy)[-1] if ratings.classifiers else None


def _beside_raters(
    ratings: Ratings, policy: Policy
) -> tuple[Sequence[Estimate], Band, Tests, Grid]:
    measure, counting = compared_by(ratings.scale), counting_of(ratings)
    found = measured(ratings, [measure], policy, ("classifier",))
    band = sorted(values_of(ratings, measure, "rater").values())
    tests = {
        name: alternative_annotator_test(counting.by_rater(ratings, (name,)).against(name))
        for name in ratings.classifiers
    }
    return found, band, tests, beside_raters(found, band, tests)


def beside_raters(found: Sequence[Estimate], band: Band, tests: Tests) -> Grid:
    """A classifier is above the raters if its whole interval is above all their values, and below
    in the same way.
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
    return grid("Classifiers beside the raters", OF_CLASSIFIERS, rows, "classifiers")


def _place(found: Estimate, band: Band) -> str:
    if found.interval is None or not band:
        return ""
    if found.interval.low > band[-1]:
        return "above every rater"
    return "below every rater" if found.interval.high < band[0] else "among the raters"


def _in_full(place: str, test: AlternativeAnnotatorTest | None) -> str:
    if place == "among the raters":
        return ", as far as these items can tell."
    if place == "below every rater" and test is not None and test.passed:
        return (
            ". It passes the alternative-annotator test, which lets a model be worse than a rater "
            f"by ε = {test.epsilon:g}."
        )
    return "."


def _tested(test: AlternativeAnnotatorTest | None) -> tuple[str, str]:
    if test is None or test.winning_rate is None:
        return "", "" if test is None else f"undefined: {test.undefined}"
    reads = "may stand in for a rater" if test.passed else "not shown that it may stand in"
    return in_words(test.winning_rate, PROBABILITY), f"{reads} (ε = {test.epsilon:g})"
