"""Agreement of each rater with themselves and with the others, and what the two say together."""

from collections.abc import Iterable, Sequence
from typing import Literal, NamedTuple

import pandas as pd

from agreement_pipeline.estimates import Estimate, Scope, Shown
from agreement_pipeline.policy import Policy, Rule, Verdict
from agreement_pipeline.ratings import Ratings, Scale
from agreement_pipeline.report.measured import measured
from agreement_pipeline.report.tables import interval_text
from agreement_pipeline.text import number

Kind = Literal["rater", "category"]

COLUMNS = (
    "scope",
    "with themselves",
    "interval with themselves",
    "with the others",
    "interval with the others",
    "reading",
)


class Comparison(NamedTuple):
    """Two measures in the same terms, by rater or by category.

    One is the agreement of raters with themselves. The other is their agreement with each other.
    """

    kind: Kind
    themselves: str
    others: str

    @property
    def measures(self) -> tuple[str, str]:
        """Both measures."""
        return self.themselves, self.others


BY_RATER = Comparison("rater", "test_retest_kappa", "schouten_kappa")
BY_RATER_WEIGHTED = Comparison("rater", "test_retest_kappa_quadratic", "schouten_kappa_quadratic")
BY_CATEGORY = Comparison("category", "test_retest_kappa_by_category", "kappa_by_category")

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


def themselves_and_others(
    ratings: Ratings, policy: Policy, shown: Shown | None = None
) -> pd.DataFrame | None:
    """A row for each rater and each category, as in `joint_rows`.

    None if the scale lists no categories, since no pair of measures compares raters there.
    """
    compared = comparisons(ratings.scale)
    if not compared:
        return None
    measures = [measure for each in compared for measure in each.measures]
    same = None if shown is None else shown.of_both()
    found = measured(ratings, measures, policy, ("rater", "category"), same)
    return joint_rows(found, compared, policy)


def comparisons(scale: Scale) -> tuple[Comparison, ...]:
    """The measures to compare on a scale.

    They are weighted if the categories have an order. There are none if the scale lists no
    categories.
    """
    if scale.continuous:
        return ()
    by_rater = BY_RATER if scale.level == "nominal" else BY_RATER_WEIGHTED
    return (by_rater, BY_CATEGORY) if scale.level in ("nominal", "ordinal") else (by_rater,)


def joint_rows(
    estimates: Iterable[Estimate], compared: Sequence[Comparison], policy: Policy
) -> pd.DataFrame:
    """A row for each rater and each category: agreement within raters, between them, and a reading.

    The reading comes from the intervals, not from the values. Its cut-off is the tentative one of
    the policy's rule on that measure and scope. Without such a rule it is 0.667.

    - Agreement is high if the lower limit reaches the cut-off.
    - Agreement is low if the upper limit is under the cut-off.
    - In all other cases the reading is *cannot tell*.

    Parameters
    ----------
    estimates
        Those of the compared measures by rater and by category. Others are ignored.
    compared
        The pairs of measures.
    policy
        The policy whose cut-offs decide.

    Returns
    -------
    pandas.DataFrame
        Text, with the columns of `COLUMNS`.
    """
    by_name = {(found.measure, found.scope): found for found in estimates}
    rows = [
        _row(each, scope, by_name, policy) for each in compared for scope in _scopes(by_name, each)
    ]
    return pd.DataFrame(rows, columns=list(COLUMNS))


def _scopes(by_name: dict[tuple[str, Scope], Estimate], compared: Comparison) -> list[Scope]:
    """The raters or categories of both measures, in the order of the first."""
    return list(
        dict.fromkeys(
            scope
            for name in compared.measures
            for measure, scope in by_name
            if measure == name and scope.kind == compared.kind
        )
    )


def _row(
    compared: Comparison, scope: Scope, by_name: dict[tuple[str, Scope], Estimate], policy: Policy
) -> tuple[str, ...]:
    themselves, others = (by_name.get((name, scope)) for name in compared.measures)
    verdicts = [
        _verdict(name, found, compared.kind, policy)
        for name, found in zip(compared.measures, (themselves, others), strict=True)
    ]
    return (str(scope), *_shown(themselves), *_shown(others), _reading(compared.kind, *verdicts))


def _shown(found: Estimate | None) -> tuple[str, str]:
    return ("", "") if found is None else (number(found.value), interval_text(found))


def _verdict(measure: str, found: Estimate | None, kind: Kind, policy: Policy) -> Verdict:
    """The verdict of the policy's rule; if there is no such rule, of the usual cut-offs."""
    usual = Rule(measure, scope=kind, effect="warn")
    rule = next(
        (rule for rule in policy.rules if (rule.measure, rule.scope) == (measure, kind)), usual
    )
    return rule.judge([] if found is None else [found])[0]


def _reading(kind: Kind, themselves: Verdict, others: Verdict) -> str:
    unknown = [
        _unknown(what, verdict)
        for what, verdict in zip(WHAT[kind], (themselves, others), strict=True)
        if _high(verdict) is None
    ]
    if unknown:
        return f"cannot tell: {'; '.join(unknown)}"
    return READINGS[kind][_high(themselves) is True, _high(others) is True]


def _high(verdict: Verdict) -> bool | None:
    """True if agreement reaches the tentative cut-off; None if that is not known."""
    return {"reliable": True, "tentative": True, "unreliable": False}.get(verdict.kind)


def _unknown(what: str, verdict: Verdict) -> str:
    if verdict.kind == "inconclusive":
        return f"{what} may lie on either side of {verdict.rule.tentative:g}"
    return verdict.reason
