"""Estimates of a round's ratings, on every scope.

The assets, the command line, the lock and `verify` all use this module.
"""

from collections.abc import Callable, Container, Iterable, Iterator, Sequence
from dataclasses import replace
from functools import partial
from itertools import combinations

from agreement_pipeline.engines import engine_for
from agreement_pipeline.errors import AgreementError
from agreement_pipeline.estimates.estimates import Estimate
from agreement_pipeline.estimates.estimating import DEFAULT, estimate_each, registered
from agreement_pipeline.estimates.scope import ROUND, SCOPE_KINDS, Scope
from agreement_pipeline.intervals import DEFAULT_METHOD, Inference
from agreement_pipeline.measures import MEASURES
from agreement_pipeline.ratings import Rated, Scale
from agreement_pipeline.statistics import LabelsByRater, Statistic, seed_of
from agreement_pipeline.tables import Table

DETAILS = ("rater", "without", "pair")
DETAIL_RESAMPLES = 1_000
NAMED = ("rater", "pair")

Scoped = Iterator[tuple[Scope, Callable[[], Statistic]]]
"""Scopes, each with a function that makes its statistic.

With many raters there are many scopes. A statistic is made only if its scope is asked for.
"""


def applicable(ratings: Rated, question: str | None = None) -> tuple[str, ...]:
    """The registered measures that are defined on the ratings' scale, for one question or all."""
    return tuple(
        name
        for name, record in MEASURES.items()
        if record.defined_on(ratings.scale) and question in (None, record.question)
    )


def basis_of(ratings: Rated, measure: str) -> Statistic | None:
    """The statistic from which the round's own value of a measure is computed.

    None for a measure that has values only for parts of the round.
    """
    return next(
        (made() for scope, made in _SCOPES[registered(measure).needs](ratings) if scope == ROUND),
        None,
    )


def measure(
    ratings: Rated, measure: str = "krippendorff_alpha", inference: Inference = DEFAULT
) -> Estimate:
    """One measure of the whole round, with its interval.

    Parameters
    ----------
    ratings
        What `read_ratings` gives.
    measure
        The registered name of a measure that has a value for the whole round. For values of parts
        of the round, use `survey`.
    inference
        How the interval is found.

    Raises
    ------
    AgreementError
        The measure is not defined on the scale, or has no value for the whole round.

    Examples
    --------
    >>> import pandas as pd
    >>> from agreement_pipeline import read_ratings
    >>> rows = [(item, rater, "no") for item in range(9) for rater in ("ana", "ben")]
    >>> rows += [(9, "ana", "yes"), (9, "ben", "yes")]
    >>> ratings = read_ratings(pd.DataFrame(rows, columns=["item", "rater", "label"]))
    >>> measure(ratings).value
    1.0
    """
    require_defined(ratings.scale, measure)
    found = next(measure_ratings(ratings, [measure], inference, scopes=("round",)), None)
    if found is None:
        raise AgreementError(
            f"{measure}: found a measure of parts of a round; expected one with a value for the "
            "whole round. Use survey, which gives the value of each part."
        )
    return found


def require_defined(scale: Scale, measure: str) -> None:
    """Refuse a measure that is not defined on the scale.

    Raises
    ------
    AgreementError
        The measure is not defined at the scale's level of measurement.
    PolicyError
        The measure is not registered.
    """
    record = registered(measure)
    if not record.defined_on(scale):
        without = " without categories" if scale.continuous else ""
        raise AgreementError(
            f"{measure}: found level {scale.level}{without}; "
            f"expected one of {', '.join(sorted(record.levels))}. Choose another measure or level."
        )


def measure_ratings(
    ratings: Rated,
    measures: Iterable[str],
    inference: Inference = DEFAULT,
    *,
    scopes: Container[str] = SCOPE_KINDS,
) -> Iterator[Estimate]:
    """Estimates of the measures on every scope, or on the kinds of scope named.

    The seed of the resamples comes from the statistic, so equal statistics give equal limits. An
    expensive measure is estimated on the round alone. An estimate of a rater or a pair is about
    these raters, so its interval is never one for raters at large.
    """
    records = [
        record
        for record in map(registered, dict.fromkeys(measures))
        if record.defined_on(ratings.scale)
    ]
    at_large = inference.interval_method.population == "raters at large"
    for needs in dict.fromkeys(record.needs for record in records):
        for scope, made in (_of_named_counts if at_large and needs == "counts" else _SCOPES[needs])(
            ratings
        ):
            named = at_large and scope.kind in NAMED
            of_scope = replace(inference, method=DEFAULT_METHOD) if named else inference
            group = [
                record.name
                for record in records
                if record.needs == needs and (scope == ROUND or not record.expensive)
            ]
            if group and (scope.kind in scopes or (scope == ROUND and "category" in scopes)):
                statistic = made()
                seeded = replace(of_scope, seed=seed_of(statistic))
                found = estimate_each(group, statistic, seeded, scope=scope)
                yield from (
                    _naming_gold(each, ratings) for each in found if each.scope.kind in scopes
                )


def _naming_gold(found: Estimate, ratings: Rated) -> Estimate:
    """The estimate. If it has no value, its reason also says that gold items were not read."""
    if found.undefined is None or not ratings.gold:
        return found
    return replace(found, undefined=f"{found.undefined}, gold items apart")


def survey(
    ratings: Rated,
    measures: Sequence[str],
    inference: Inference = DEFAULT,
    *,
    scopes: Container[str] = SCOPE_KINDS,
    judged: Container[str] = (),
) -> Table[Estimate]:
    """Estimates on every scope, or on the kinds of scope named, for people to read.

    Single raters, pairs and the round without a rater are details. There are many of them, so their
    estimates use fewer resamples, and limits for a round that is judged once. But if a policy has
    rules on a kind of scope, name it in `judged`: its estimates are then those of `assess`.
    """
    asked = [kind for kind in SCOPE_KINDS if kind in scopes]
    details = [kind for kind in asked if kind in DETAILS and kind not in judged]
    others = [kind for kind in asked if kind not in details]
    whole = measure_ratings(ratings, measures, inference, scopes=others)
    once = replace(inference, always_valid_at=None)
    fewer = min(once.n_resamples, max(DETAIL_RESAMPLES, once.needed_resamples()))
    parts = measure_ratings(ratings, measures, replace(once, n_resamples=fewer), scopes=details)
    return Table((*whole, *parts))


def _of_counts(ratings: Rated) -> Scoped:
    if ratings.scale.continuous:
        yield from _of_values(ratings)
        return
    engine = engine_for(ratings)
    yield ROUND, partial(engine.counts, ratings)
    labels = engine.labels(ratings)
    for rater in sorted(labels.raters) if labels.n_raters > 2 else ():
        yield Scope("without", rater), partial(_counts_without, labels, rater)


def _of_named_counts(ratings: Rated) -> Scoped:
    """Counts with the raters' names, which methods for raters at large need."""
    if ratings.scale.continuous:
        yield from _of_values(ratings)
        return
    labels = engine_for(ratings).labels(ratings)
    yield ROUND, partial(_itself, labels)
    for rater in sorted(labels.raters) if labels.n_raters > 2 else ():
        yield Scope("without", rater), partial(labels.without, rater)


def _of_values(ratings: Rated) -> Scoped:
    numbers = engine_for(ratings).numbers(ratings)
    yield ROUND, partial(_itself, numbers)
    for rater in sorted(numbers.raters) if numbers.n_raters > 2 else ():
        yield Scope("without", rater), partial(numbers.without, rater)


def _of_patterns(ratings: Rated) -> Scoped:
    labels = engine_for(ratings).labels(ratings)
    yield ROUND, partial(_itself, labels)
    for pair in sorted(combinations(labels.raters, 2), key=sorted):
        yield Scope.of_pair(*pair), partial(_labels_of, labels, pair)


def _of_panel(ratings: Rated) -> Scoped:
    for classifier in ratings.classifiers:
        yield Scope("classifier", classifier), partial(_beside, ratings, classifier)
    everybody = engine_for(ratings).by_rater(ratings)
    for rater in sorted(everybody.raters) if everybody.n_raters > 2 else ():
        yield Scope("rater", rater), partial(everybody.against, rater)


def _of_groups(ratings: Rated) -> Scoped:
    if ratings.classifiers:
        yield ROUND, partial(_in_groups, ratings)


def _of_replicates(ratings: Rated) -> Scoped:
    replicates = engine_for(ratings).replicates(ratings)
    yield ROUND, partial(_itself, replicates)
    for rater in sorted(replicates.raters):
        yield Scope("rater", rater), partial(replicates.of, rater)


def _of_confidence(ratings: Rated) -> Scoped:
    confident = engine_for(ratings).confident_labels(ratings)
    yield ROUND, partial(_itself, confident)
    for pair in sorted(combinations(confident.raters, 2), key=sorted):
        yield Scope.of_pair(*pair), partial(confident.only, pair)


def _beside(ratings: Rated, classifier: str) -> Statistic:
    return engine_for(ratings).by_rater(ratings, (classifier,)).against(classifier)


def _in_groups(ratings: Rated) -> Statistic:
    engine = engine_for(ratings)
    classifiers = engine.classifiers(ratings)
    return engine.labels(ratings, classifiers).in_groups(classifiers)


def _counts_without(labels: LabelsByRater, rater: str) -> Statistic:
    return labels.without(rater).counts().merged()


def _labels_of(labels: LabelsByRater, pair: tuple[str, str]) -> Statistic:
    return labels.only(pair).merged()


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
