"""One comparison of two rounds, or of two classifiers or raters of one round."""

from agreement_pipeline.counting import Rated, refuse_unread
from agreement_pipeline.errors import AgreementError
from agreement_pipeline.estimates.comparison import (
    between_classifiers,
    between_raters,
    between_rounds,
)
from agreement_pipeline.estimates.differences import Difference
from agreement_pipeline.estimates.estimating import DEFAULT
from agreement_pipeline.intervals import Inference
from agreement_pipeline.text import called

OF_ROUNDS, OF_NAMES = "krippendorff_alpha", "schouten_kappa"


def compare(
    ratings: Rated,
    other: Rated | None = None,
    *,
    between: tuple[str, str] | None = None,
    measure: str | None = None,
    category: str | None = None,
    names: tuple[str, str] = ("one round", "the other round"),
    common_prevalence: bool = False,
    inference: Inference = DEFAULT,
) -> Difference:
    """How much greater a measure is on one side than on the other, with its interval.

    The comparison is paired: items that both sides share get the same weights on both.

    Parameters
    ----------
    ratings
        A round.
    other
        Another round, if two rounds are compared.
    between
        The names of two classifiers, or of two raters, if two of the round are compared.
    measure
        A registered measure. None: `krippendorff_alpha` for rounds, `schouten_kappa` for names.
    category
        The category to compare, for a measure with a value for each category. None: the lowest.
    names
        What the rounds are called in the result.
    common_prevalence
        True: items are weighted so that each category is as common in both rounds.
    inference
        How the interval is found.

    Raises
    ------
    AgreementError
        Both `other` and `between` are given, or neither. Or a common prevalence is asked for
        without another round. Or `between` names a classifier and a
        rater. Or the measure cannot compare the sides.
    """
    refuse_unread(ratings)
    if (other is None) == (between is None):
        found = "neither another round" if other is None else "both another round"
        raise AgreementError(
            f"compare: found {found} {'nor' if other is None else 'and'} two names; "
            "expected one of them. Give another round, or two names of this one."
        )
    if between is not None:
        if common_prevalence:
            raise AgreementError(
                "compare: found a common prevalence and two names; expected it of two rounds, "
                "since names of one round have one panel. Leave it out."
            )
        return _between_names(ratings, *between, measure or OF_NAMES, inference, category)
    assert other is not None
    of_rounds = measure or OF_ROUNDS
    return between_rounds(
        ratings,
        other,
        of_rounds,
        inference,
        category=category,
        names=names,
        common_prevalence=common_prevalence,
    )


def _between_names(
    ratings: Rated,
    one: str,
    other: str,
    measure: str,
    inference: Inference,
    category: str | None,
) -> Difference:
    models = {one, other} & set(ratings.classifiers)
    if not models:
        return between_raters(ratings, measure, one, other, inference, category=category)
    _refuse_rater_beside(models, {one, other})
    return between_classifiers(ratings, measure, one, other, inference, category=category)


def _refuse_rater_beside(models: set[str], between: set[str]) -> None:
    if others := between - models:
        raise AgreementError(
            f"compare: found {called('classifier', models)} beside {min(others)!r}, which is none; "
            "expected two classifiers, or two raters of the panel. "
            "Name every model as a classifier when the ratings are read."
        )
