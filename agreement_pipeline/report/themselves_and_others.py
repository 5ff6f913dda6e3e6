"""Agreement of each rater with herself beside her agreement with the others, and what the two say together."""

from collections.abc import Iterable, Sequence
from typing import Literal, NamedTuple

import pandas as pd

from agreement_pipeline.estimates import Estimate, Scope
from agreement_pipeline.policy import Policy, Rule, Verdict
from agreement_pipeline.ratings import Scale
from agreement_pipeline.report.tables import interval_text, shown

Kind = Literal["rater", "category"]


class Comparison(NamedTuple):
    """Two measures in the same terms: of raters with themselves, and of raters with each other; by rater or by category."""

    kind: Kind
    herself: str
    others: str


BY_RATER = Comparison("rater", "test_retest_kappa", "schouten_kappa")
BY_RATER_WEIGHTED = Comparison("rater", "test_retest_kappa_quadratic", "schouten_kappa_quadratic")
BY_CATEGORY = Comparison("category", "test_retest_kappa_by_category", "kappa_by_category")

READINGS: dict[Kind, dict[tuple[bool, bool], str]] = {
    "rater": {
        (True, True): "agrees with herself and with the others",
        (
            True,
            False,
        ): "sure of a reading of her own: real subjectivity, or another understanding of the guideline",
        (
            False,
            True,
        ): "agrees with the others but not with herself: the items she met again may be harder than the rest",
        (
            False,
            False,
        ): "agrees neither with herself nor with the others: careless, or the items are ambiguous",
    },
    "category": {
        (True, True): "each rater keeps to it, and all to the same",
        (
            True,
            False,
        ): "each rater keeps to a reading of her own: the guideline leaves it open, or it is a matter of taste",
        (
            False,
            True,
        ): "raters agree on it better than with themselves: the items met again may be harder than the rest",
        (
            False,
            False,
        ): "raters keep to it neither by themselves nor together: ambiguous, or given carelessly",
    },
}


def comparisons(scale: Scale) -> tuple[Comparison, ...]:
    """The measures to compare on a scale: unweighted where categories have no order; none where a scale lists no categories."""
    if scale.continuous:
        return ()
    by_rater = BY_RATER if scale.level == "nominal" else BY_RATER_WEIGHTED
    return (by_rater, BY_CATEGORY) if scale.level in ("nominal", "ordinal") else (by_rater,)


def joint_rows(
    estimates: Iterable[Estimate], compared: Sequence[Comparison], policy: Policy
) -> pd.DataFrame:
    """A row for each rater and each category: agreement within raters, agreement between them, and the reading of both.

    The intervals are read, not the values, against the cut-offs of the policy's rule on that measure and scope, or where it has none, 0.667.
    Agreement is high when the lower limit reaches the tentative cut-off, and low when the upper limit is under it. Where an interval lies on
    both sides of it, or there is none, the reading is that it cannot be told.

    Parameters
    ----------
    estimates
        Those of the compared measures by rater and by category; others are passed over.
    compared
        Which measures stand beside each other.
    policy
        Whose cut-offs decide.

    Returns
    -------
    pandas.DataFrame
        Text: `scope`, `with herself`, `interval`, `with the others`, `their interval` and `reading`.
    """
    by_name = {(found.measure, found.scope): found for found in estimates}
    rows = [
        _row(each, scope, by_name, policy) for each in compared for scope in _scopes(by_name, each)
    ]
    return pd.DataFrame(
        rows,
        columns=[
            "scope",
            "with herself",
            "interval",
            "with the others",
            "their interval",
            "reading",
        ],
    )


def _scopes(by_name: dict[tuple[str, Scope], Estimate], compared: Comparison) -> list[Scope]:
    """Whom the estimates of the two measures speak of, in the order of the first."""
    return list(
        dict.fromkeys(
            scope
            for name in compared[1:]
            for measure, scope in by_name
            if measure == name and scope.kind == compared.kind
        )
    )


def _row(
    compared: Comparison, scope: Scope, by_name: dict[tuple[str, Scope], Estimate], policy: Policy
) -> tuple[str, ...]:
    herself, others = (by_name.get((name, scope)) for name in compared[1:])
    verdicts = [
        _verdict(name, found, compared.kind, policy)
        for name, found in zip(compared[1:], (herself, others), strict=True)
    ]
    return (str(scope), *_shown(herself), *_shown(others), _reading(compared.kind, *verdicts))


def _shown(found: Estimate | None) -> tuple[str, str]:
    return ("", "") if found is None else (shown(found.value), interval_text(found))


def _verdict(measure: str, found: Estimate | None, kind: Kind, policy: Policy) -> Verdict:
    """What the policy's rule says of the estimate; where there is no such rule, the usual cut-offs."""
    usual = Rule(measure, scope=kind, effect="warn")
    rule = next(
        (rule for rule in policy.rules if (rule.measure, rule.scope) == (measure, kind)), usual
    )
    return rule.judge([] if found is None else [found])[0]


def _reading(kind: Kind, herself: Verdict, others: Verdict) -> str:
    who = {
        "rater": ("her agreement with herself", "her agreement with the others"),
        "category": ("agreement within raters", "agreement between raters"),
    }
    open_questions = [
        _open(name, verdict)
        for name, verdict in zip(who[kind], (herself, others), strict=True)
        if _high(verdict) is None
    ]
    if open_questions:
        return f"cannot tell: {'; '.join(open_questions)}"
    return READINGS[kind][_high(herself) is True, _high(others) is True]


def _high(verdict: Verdict) -> bool | None:
    """Whether agreement clears the tentative cut-off; None where that cannot be told."""
    return {"reliable": True, "tentative": True, "unreliable": False}.get(verdict.kind)


def _open(name: str, verdict: Verdict) -> str:
    if verdict.kind == "inconclusive":
        return f"{name} may lie on either side of {verdict.rule.tentative:g}"
    return verdict.reason
