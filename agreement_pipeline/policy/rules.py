"""One demand on one measure, and the verdicts it gives on estimates.

After Krippendorff's rule the interval is read, not the value: data are reliable when the lower limit clears the cut-off, and never
relied upon when it reaches under 0.667.
"""

import math
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from functools import partial
from typing import Any, Literal, get_args

from agreement_pipeline.errors import PolicyError
from agreement_pipeline.estimates import SCOPE_KINDS, Estimate, Scope, ScopeKind, registered
from agreement_pipeline.intervals import ExpandedPercentiles, Interval
from agreement_pipeline.text import listed

RELIABLE, TENTATIVE = 0.800, 0.667
DIGITS = 9
HALVINGS = 50

Kind = Literal["reliable", "tentative", "unreliable", "inconclusive", "not_evaluated"]
Effect = Literal["hold", "warn"]


@dataclass(frozen=True)
class Rule:
    """One demand on one measure.

    Parameters
    ----------
    measure
        A registered measure.
    scope
        round, category, rater, without (a rater left out), pair or classifier: which of its estimates are judged, each by itself.
    reliable, tentative
        The cut-offs that the lower limit must reach. A rule that holds a release may not set either under 0.667.
    min_items, min_raters
        Under these counts, of items that agreement is read on and of raters who rated one, the estimate is not evaluated.
    every_rater
        Is an estimate not evaluated when it leaves out a rater of the round, whose replicates, or confidence, are missing or show nothing?
    effect
        hold: the release waits for this rule. warn: it is shown and holds nothing, which is all that some measures may.

    Raises
    ------
    PolicyError
        The measure is not registered or may not hold a release, a cut-off is outside its bounds, or every rater is asked for where each is judged by herself or
        none could be left out.
    """

    measure: str
    scope: ScopeKind = "round"
    reliable: float = RELIABLE
    tentative: float = TENTATIVE
    min_items: int = 2
    min_raters: int = 1
    every_rater: bool = False
    effect: Effect = "hold"

    def __post_init__(self) -> None:
        one_of("scope", self.scope, SCOPE_KINDS)
        one_of("effect", self.effect, get_args(Effect))
        self._check_effect()
        floor = TENTATIVE if self.effect == "hold" else registered(self.measure).bounds[0]
        ceiling = registered(self.measure).bounds[1]
        for name in ("tentative", "reliable"):
            cutoff = number(name, getattr(self, name))
            if not floor <= cutoff <= ceiling:
                raise PolicyError(
                    f"{name} cut-off {cutoff:g} found; {floor:g} to {ceiling:g} is required of {self.measure}"
                    f"{' in a rule that holds a release' if self.effect == 'hold' else ''}. Correct the cut-off."
                )
        if self.tentative > self.reliable:
            raise PolicyError(
                f"tentative cut-off {self.tentative:g} above reliable {self.reliable:g} found; at most that is required. Swap them."
            )
        for name in ("min_items", "min_raters"):
            count = getattr(self, name)
            if isinstance(count, bool) or not isinstance(count, int) or count < 1:
                raise PolicyError(
                    f"{name} {count!r} found; a whole number from 1 is required. Correct it."
                )
        self._check_every_rater()

    def _check_effect(self) -> None:
        why = registered(self.measure).cannot_hold
        if why and self.effect == "hold":
            raise PolicyError(
                f"effect hold of {self.measure} found; warn is required, since {why}."
            )

    def _check_every_rater(self) -> None:
        if not isinstance(self.every_rater, bool):
            raise PolicyError(
                f"every_rater {self.every_rater!r} found; true or false is required. Correct it."
            )
        if self.every_rater and (
            registered(self.measure).needs not in ("replicates", "confidence")
            or self.scope not in ("round", "category")
        ):
            need = "a measure of replicates or confidence, of the round or category, is required"
            raise PolicyError(
                f"every_rater of {self.measure} of the {self.scope} found; {need}. Leave it out."
            )

    def judge(self, estimates: Iterable[Estimate]) -> tuple["Verdict", ...]:
        """A verdict on each estimate this rule speaks of; one *not_evaluated* when there is none."""
        mine = [e for e in estimates if e.measure == self.measure and e.scope.kind == self.scope]
        if not mine:
            reason = f"{self.measure} of the {self.scope}: not evaluated, since no {self.scope} estimate of it exists for this round"
            return (Verdict(self, Scope(self.scope), "not_evaluated", reason, code="no_estimate"),)
        return tuple(self._verdict(e) for e in mine)

    def _verdict(self, estimate: Estimate) -> "Verdict":
        if estimate.undefined is not None or estimate.interval is None or estimate.value is None:
            return Verdict(
                self,
                estimate.scope,
                "not_evaluated",
                f"{_subject(estimate)}: undefined, since {estimate.undefined}",
                code="undefined",
            )
        for what, found, least in (
            ("items", estimate.n_used, self.min_items),
            ("raters", estimate.n_raters, self.min_raters),
        ):
            if found < least:
                reason = f"{_subject(estimate)} {in_words(estimate.value)}: not evaluated, since it rests on {found} {what} and the policy asks for {least}"
                return Verdict(
                    self,
                    estimate.scope,
                    "not_evaluated",
                    reason,
                    code=f"too_few_{what}",
                    estimate=estimate,
                )
        if self.every_rater and estimate.raters_left_out:
            evidence = (
                "replicates"
                if registered(self.measure).needs == "replicates"
                else "statements of confidence"
            )
            who = f"it leaves out {listed(estimate.raters_left_out)}, of whom {evidence} are missing or show nothing, and the policy asks for every rater"
            reason = f"{_subject(estimate)} {in_words(estimate.value)}: not evaluated, since {who}"
            return Verdict(
                self,
                estimate.scope,
                "not_evaluated",
                reason,
                code="raters_left_out",
                estimate=estimate,
            )
        kind = self._kind(estimate.interval)
        reason = self._reason(estimate, estimate.value, estimate.interval, kind) + self._advice(
            estimate, estimate.value, estimate.interval, kind
        )
        return Verdict(self, estimate.scope, kind, reason, code=kind, estimate=estimate)

    def _kind(self, interval: Interval) -> Kind:
        low, high = interval
        if low >= self.reliable:
            return "reliable"
        if low >= self.tentative:
            return "tentative"
        return "unreliable" if high < self.tentative else "inconclusive"

    def _reason(self, estimate: Estimate, value: float, interval: Interval, kind: Kind) -> str:
        q = estimate.miss_probability(self.reliable)
        limits = f"{100 * estimate.confidence_level:g}% interval {_limit(interval.low)} to {_limit(interval.high)}"
        found = f"{_subject(estimate)} {in_words(value)}, {limits}{_at_any_time(estimate)} on {_items(estimate)}"
        said = {
            "reliable": f"the lower limit reaches {self.reliable:g}",
            "tentative": f"the lower limit reaches {self.tentative:g} but not {self.reliable:g}",
            "unreliable": f"the upper limit is under {self.tentative:g}",
            "inconclusive": f"could be under {self.tentative:g} and could be above",
        }[kind]
        return f"{found}: {said}" + ("" if q is None else f" (q = {in_words(q, '.2f')})")

    def _advice(self, estimate: Estimate, value: float, interval: Interval, kind: Kind) -> str:
        """How many more items (or clusters) at this agreement would bring the lower limit to the cut-off.

        That of raters at large is not brought there: as far as it comes of the raters, it is the same on any number of items.
        """
        n, what = (
            (estimate.n_used, "items")
            if estimate.n_clusters is None
            else (estimate.n_clusters, "clusters of items")
        )
        if kind == "inconclusive" and estimate.without_limits:
            return f"; no limits: {estimate.without_limits}"
        if (
            kind not in ("tentative", "inconclusive")
            or interval.low <= registered(self.measure).bounds[0]
        ):
            return ""
        if round(value - self.reliable, DIGITS) <= 0:
            return f"; more {what} alone would not reach {self.reliable:g} at this agreement"
        if estimate.population == "raters at large":
            return "; for raters at large more items alone may never decide, and more raters would narrow the interval"
        tail, known = (1 - estimate.confidence_level) / 2, estimate.distribution
        kept = (
            partial(known.relative_reach, tail) if isinstance(known, ExpandedPercentiles) else _all
        )
        times = times_as_many(value, interval, self.reliable, kept)
        return (
            f"; about {max(1, round(n * (times - 1)))} more {what} at this agreement would decide"
        )


def _all(times: float) -> float:
    """Limits that reach as far on few items as on many."""
    return 1.0


def times_as_many(
    value: float, interval: Interval, cutoff: float, kept: Callable[[float], float] = _all
) -> float:
    r"""How many times the items, at the same agreement, would bring the lower limit to a cut-off between the two.

    The half-width h of the interval shrinks with the root of their number. How far its middle lies under the value shrinks with the number itself,
    since it comes of what was not seen and of the skewness of what was: :math:`\theta - c = k(t) (h / \sqrt{t} + (\theta - low - h) / t)`,
    where k is what is `kept` of the reach that limits have because the items are few.

    >>> round(times_as_many(0.9, Interval(0.7, 1.1), 0.8), 6), round(times_as_many(0.9, Interval(0.7, 0.9), 0.8), 6)
    (4.0, 2.618034)
    """
    above, below = round(value - cutoff, DIGITS), round(value - interval.low, DIGITS)
    half = min(round((interval.high - interval.low) / 2, DIGITS), below)
    lean = below - half
    low, high = 1.0, ((half + math.sqrt(half**2 + 4 * lean * above)) / (2 * above)) ** 2
    for _ in range(HALVINGS):
        middle = (low + high) / 2
        low, high = (
            (low, middle)
            if kept(middle) * (half / math.sqrt(middle) + lean / middle) <= above
            else (middle, high)
        )
    return high


@dataclass(frozen=True)
class Verdict:
    """A rule met an estimate.

    Attributes
    ----------
    rule, scope
        Which demand, and of what.
    kind
        *reliable*: the lower limit reaches the upper cut-off; *tentative*: it reaches the lower one; *unreliable*: the upper limit is under
        the lower one; *inconclusive*: anything else; *not_evaluated*: undefined, or evidence is missing.
    reason
        The same in words and numbers.
    code
        A stable name for the reason.
    estimate
        What was judged, if there was something.
    """

    rule: Rule
    scope: Scope
    kind: Kind
    reason: str
    code: str
    estimate: Estimate | None = None

    def to_mapping(self) -> dict[str, Any]:
        """The verdict as plain data."""
        found = self.estimate
        return {
            "measure": self.rule.measure,
            "scope": str(self.scope),
            "effect": self.rule.effect,
            "verdict": self.kind,
            "code": self.code,
            "reason": self.reason,
            "value": found.value if found else None,
            "low": found.low if found else None,
            "high": found.high if found else None,
            "q_reliable": found.miss_probability(self.rule.reliable) if found else None,
            "q_tentative": found.miss_probability(self.rule.tentative) if found else None,
            "n_items": found.n_used if found else None,
        }


def _subject(estimate: Estimate) -> str:
    of = {"round": "", "without": f" {estimate.scope}"}.get(
        estimate.scope.kind, f" of {estimate.scope}"
    )
    return f"{estimate.measure}{of}{f' (lowest: {estimate.lowest})' if estimate.lowest else ''}"


def in_words(value: float, form: str = ".3f") -> str:
    """A number as it is worded, once the last digits are gone, in which machines differ.

    >>> in_words(0.9375), in_words(math.nextafter(0.9375, 0)), f"{math.nextafter(0.9375, 0):.3f}"
    ('0.938', '0.938', '0.937')
    >>> in_words(-1e-17), f"{-1e-17:.3f}"
    ('0.000', '-0.000')
    """
    return format(round(value, DIGITS) + 0.0, form)


def _limit(limit: float) -> str:
    return in_words(limit) if math.isfinite(limit) else "no limit"


def _at_any_time(estimate: Estimate) -> str:
    if estimate.always_valid_at is None:
        return ""
    return f" (always valid{f', tightest at {estimate.always_valid_at}' if estimate.without_limits else ''})"


def _items(estimate: Estimate) -> str:
    others = f" of {estimate.n_items} items (the others have {' or '.join(estimate.dropped)})"
    clusters = "" if estimate.n_clusters is None else f" in {estimate.n_clusters} clusters"
    items = f"{estimate.n_used}{others if estimate.dropped else ' items'}{clusters}"
    return items + (
        f", leaving out {listed(estimate.raters_left_out)}" if estimate.raters_left_out else ""
    )


def one_of(name: str, value: object, among: tuple[str, ...]) -> None:
    """Refuse a value that is none of those."""
    if value not in among:
        raise PolicyError(
            f"{name} {value!r} found; one of {', '.join(among)} is required. Correct it."
        )


def number(name: str, value: object) -> float:
    """The value as a number, if it is one."""
    if isinstance(value, bool) or not isinstance(value, (int, float)):
        raise PolicyError(f"{name} {value!r} found; a number is required. Correct it.")
    try:
        return float(value)
    except OverflowError:
        raise PolicyError(
            f"{name} of more than 300 digits found; a number that can be computed with is required. Correct it."
        ) from None
