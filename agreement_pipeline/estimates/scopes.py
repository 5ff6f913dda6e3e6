"""Estimates of a round's ratings, on every scope.

The assets and the command line measure ratings here. The lock and the trainer's check do too.
"""

from collections.abc import Callable, Container, Iterable, Iterator, Sequence
from dataclasses import replace
from functools import partial
from itertools import combinations

from agreement_pipeline.engines import memory
from agreement_pipeline.estimates.estimates import Estimate
from agreement_pipeline.estimates.estimating import DEFAULT, estimate_each, registered
from agreement_pipeline.estimates.scope import ROUND, SCOPE_KINDS, Scope
from agreement_pipeline.intervals import DEFAULT_METHOD, Inference
from agreement_pipeline.measures import MEASURES
from agreement_pipeline.ratings import Ratings
from agreement_pipeline.statistics import (
    RatingPatterns,
    Statistic,
    against_the_rest,
    merged,
    merged_codes,
    value_against_the_rest,
)

DETAILS = ("rater", "without", "pair")
DETAIL_RESAMPLES = 1_000
NAMED = ("rater", "pair")

Scoped = Iterator[tuple[Scope, Callable[[], Statistic]]]
"""Scopes, each with a function that makes its statistic.

Many raters have many scopes, and most of them are never asked for.
"""


def applicable(ratings: Ratings, question: str | None = None) -> tuple[str, ...]:
    """The registered measures that are defined on the ratings' scale, of one question or all."""
    return tuple(
        name
        for name, record in MEASURES.items()
        if record.defined_on(ratings.scale) and question in (None, record.question)
    )


def basis_of(ratings: Ratings, measure: str) -> Statistic | None:
    """The statistic from which the round's own value of a measure is computed.

    None for a measure that speaks only of parts of the round.
    """
    return next(
        (made() for scope, made in _SCOPES[registered(measure).needs](ratings) if scope == ROUND),
        None,
    )


def measure_ratings(
    ratings: Ratings,
    measures: Iterable[str],
    inference: Inference = DEFAULT,
    *,
    scopes: Container[str] = SCOPE_KINDS,
) -> Iterator[Estimate]:
    """Estimates of the measures on every scope, or on the kinds of scope named.

    Resamples are seeded from the ratings' digest, so equal ratings give equal limits. An expensive
    measure is estimated on the round alone. An estimate of a rater or a pair speaks of named
    raters, so its interval is never one of raters at large.
    """
    records = [
        record
        for record in map(registered, dict.fromkeys(measures))
        if record.defined_on(ratings.scale)
    ]
    seeded = replace(inference, seed=int(ratings.digest[:16], 16))
    at_large = inference.interval_method.population == "raters at large"
    for needs in dict.fromkeys(record.needs for record in records):
        for scope, made in (_of_named_counts if at_large and needs == "counts" else _SCOPES[needs])(
            ratings
        ):
            named = at_large and scope.kind in NAMED
            of_scope = replace(seeded, method=DEFAULT_METHOD) if named else seeded
            group = [
                record.name
                for record in records
                if record.needs == needs and (scope == ROUND or not record.expensive)
            ]
            if group and (scope.kind in scopes or (scope == ROUND and "category" in scopes)):
                found = estimate_each(group, made(), of_scope, scope=scope)
                yield from (
                    _naming_gold(each, ratings) for each in found if each.scope.kind in scopes
                )


def _naming_gold(found: Estimate, ratings: Ratings) -> Estimate:
    """The estimate. If it has no value, its reason also says that gold items were not read."""
    if found.undefined is None or not ratings.gold:
        return found
    return replace(found, undefined=f"{found.undefined}, gold items apart")


def survey(
    ratings: Ratings,
    measures: Sequence[str],
    inference: Inference = DEFAULT,
    *,
    scopes: Container[str] = SCOPE_KINDS,
    judged: Container[str] = (),
) -> Iterator[Estimate]:
    """Estimates on every scope, or on the kinds of scope named, for people to read.

    Details are single raters, pairs and the round without a rater. There are many of them. So they
    use fewer resamples and the limits of a round that is judged once. Details of a kind that a
    policy has `judged` are exactly what `assess` finds.
    """
    asked = [kind for kind in SCOPE_KINDS if kind in scopes]
    details = [kind for kind in asked if kind in DETAILS and kind not in judged]
    others = [kind for kind in asked if kind not in details]
    yield from measure_ratings(ratings, measures, inference, scopes=others)
    once = replace(inference, always_valid_at=None)
    fewer = min(once.n_resamples, max(DETAIL_RESAMPLES, once.needed_resamples()))
    yield from measure_ratings(ratings, measures, replace(once, n_resamples=fewer), scopes=details)


def _of_counts(ratings: Ratings) -> Scoped:
    if ratings.scale.continuous:
        yield from _of_values(ratings)
        return
    yield ROUND, partial(memory.category_counts, ratings)
    patterns = memory.rating_patterns(ratings)
    for rater in sorted(patterns.raters) if patterns.n_raters > 2 else ():
        yield Scope("without", rater), partial(_counts_without, patterns, rater)


def _of_named_counts(ratings: Ratings) -> Scoped:
    """Counts with the raters' names, which methods for raters at large need."""
    if ratings.scale.continuous:
        yield from _of_values(ratings)
        return
    patterns = memory.rating_patterns(ratings)
    yield ROUND, partial(_itself, patterns)
    for rater in sorted(patterns.raters) if patterns.n_raters > 2 else ():
        yield Scope("without", rater), partial(patterns.without, rater)


def _of_values(ratings: Ratings) -> Scoped:
    values = memory.rating_values(ratings)
    yield ROUND, partial(_itself, values)
    for rater in sorted(values.raters) if values.n_raters > 2 else ():
        yield Scope("without", rater), partial(values.without, rater)


def _of_patterns(ratings: Ratings) -> Scoped:
    patterns = memory.rating_patterns(ratings)
    yield ROUND, partial(_itself, patterns)
    for pair in sorted(combinations(patterns.raters, 2), key=sorted):
        yield Scope.of_pair(*pair), partial(_codes_of, patterns, pair)


def _of_panel(ratings: Ratings) -> Scoped:
    if ratings.scale.continuous:
        yield from _of_panel_values(ratings)
        return
    for classifier in ratings.classifiers:
        yield Scope("classifier", classifier), partial(memory.panel_patterns, ratings, classifier)
    patterns = memory.rating_patterns(ratings)
    for rater in sorted(patterns.raters) if patterns.n_raters > 2 else ():
        yield Scope("rater", rater), partial(against_the_rest, patterns, rater)


def _of_groups(ratings: Ratings) -> Scoped:
    if ratings.classifiers:
        yield ROUND, partial(memory.group_patterns, ratings)


def _of_panel_values(ratings: Ratings) -> Scoped:
    for classifier in ratings.classifiers:
        yield Scope("classifier", classifier), partial(memory.panel_values, ratings, classifier)
    values = memory.rating_values(ratings)
    for rater in sorted(values.raters) if values.n_raters > 2 else ():
        yield Scope("rater", rater), partial(value_against_the_rest, values, rater)


def _of_replicates(ratings: Ratings) -> Scoped:
    replicates = (
        memory.replicate_values(ratings)
        if ratings.scale.continuous
        else memory.replicate_counts(ratings)
    )
    yield ROUND, partial(_itself, replicates)
    for rater in sorted(replicates.raters):
        yield Scope("rater", rater), partial(replicates.of, rater)


def _of_confidence(ratings: Ratings) -> Scoped:
    confident = memory.confident_patterns(ratings)
    yield ROUND, partial(_itself, confident)
    for pair in sorted(combinations(confident.raters, 2), key=sorted):
        yield Scope.of_pair(*pair), partial(confident.only, pair)


def _counts_without(patterns: RatingPatterns, rater: str) -> Statistic:
    return merged(patterns.without(rater).counts())


def _codes_of(patterns: RatingPatterns, pair: tuple[str, str]) -> Statistic:
    return merged_codes(patterns.only(pair))


def _itself(statistic: Statistic) -> Statistic:
    return statistic


_SCOPES = {
    "counts": _of_counts,
    "patterns": _of_patterns,
    "panel": _of_panel,
    "groups": _of_groups,
    "replicates": _of_replicates,
    "values": _of_values,
    "confidence": _of_confidence,
}
