"""How uncertainty is inferred: the settings of intervals, checked when they are made."""

from dataclasses import dataclass
from numbers import Integral, Real

from agreement_pipeline.errors import PolicyError
from agreement_pipeline.intervals.distributions import (
    NORMAL,
    TOO_FEW_DRAWS,
    Bounds,
    BoundsOnly,
    ConfidenceDistribution,
    WiderOf,
    min_draws,
)
from agreement_pipeline.intervals.looks import (
    AlwaysValid,
    Looks,
    build_at_look,
    critical_value,
    min_always_valid_draws,
    mixture_variance,
)
from agreement_pipeline.intervals.methods import (
    DEFAULT_METHOD,
    Evidence,
    IntervalMethod,
    find_interval_method,
)

NEGLIGIBLE_SPENDING_SHARE = 0.01
"""The share of the tail under which a look decides in no round that matters."""


@dataclass(frozen=True)
class Inference:
    """How intervals are computed.

    Parameters
    ----------
    confidence_level
        In which share of rounds an interval should contain the true value, between 0 and 1.
    n_resamples, seed
        How many resamples are drawn, and their seed. Expensive measures use fewer.
    method
        One of `METHODS`.
    always_valid_at
        The limits are valid however often a round is judged while it grows. They are narrowest at
        this number of items, or clusters. None: a round is judged once.
    looks
        The sizes at which a growing round is judged. The limits are valid at all of them together;
        at other sizes, they are the bounds of the measure.
    judged_on
        The number of items, or of clusters, of the whole round, if a part of it is estimated.
    lower_only
        True if only lower limits are read. Then an upper limit is the measure's greatest value, and
        much less is computed.

    Raises
    ------
    PolicyError
        One of the settings is impossible. Or limits for several looks are asked for raters at
        large, or of both kinds.

    Examples
    --------
    >>> Inference().min_resamples(), Inference(always_valid_at=500).min_resamples()
    (400, 17398)
    """

    confidence_level: float = 0.95
    n_resamples: int = 10_000
    method: str = DEFAULT_METHOD
    always_valid_at: int | None = None
    looks: Looks | None = None
    judged_on: int | None = None
    lower_only: bool = False
    seed: int | tuple[int, ...] = 0

    def __post_init__(self) -> None:
        tightest_n, several = self.always_valid_at, self.several_looks
        if not (isinstance(self.confidence_level, Real) and 0 < self.confidence_level < 1):
            raise PolicyError(
                f"confidence_level: found {self.confidence_level!r}; "
                "expected more than 0 and less than 1. 0.95 is usual."
            )
        if not (isinstance(self.n_resamples, Integral) and self.n_resamples >= 1):
            raise PolicyError(
                f"n_resamples: found {self.n_resamples!r}; expected a whole number from 1. "
                "10000 is usual."
            )
        if tightest_n is not None and not (isinstance(tightest_n, Real) and tightest_n >= 1):
            raise PolicyError(
                f"always_valid_at: found {tightest_n!r}; "
                "expected a number of items (or clusters) from 1. Correct it."
            )
        if tightest_n is not None and self.looks is not None:
            raise PolicyError(
                f"looks: found looks at {list(self.looks.at)} and always_valid_at {tightest_n}; "
                "expected one of them. Leave one out."
            )
        if self.interval_method.is_of_raters_at_large and several:
            raise PolicyError(
                f"{several}: found method {self.method}; expected one for these raters, "
                "since a round gains items and not raters. Choose another method."
            )

    @property
    def interval_method(self) -> IntervalMethod:
        return find_interval_method(self.method)

    @property
    def tail(self) -> float:
        return (1 - self.confidence_level) / 2

    @property
    def several_looks(self) -> str | None:
        if self.looks is not None:
            return "looks"
        return None if self.always_valid_at is None else "always_valid_at"

    @property
    def _and_looks(self) -> str:
        return f", {self.several_looks}" if self.several_looks else ""

    def min_resamples(self, n_together: int = 1) -> int:
        """The fewest resamples of which ten lie beyond each limit.

        Of `n_together` verdicts that hold together, the first must meet a smaller tail. A look that
        spends nearly nothing needs none: on fewer resamples its limits are the bounds.
        """
        alpha, tail = 1 - self.confidence_level, self.tail / n_together
        single_look_draws = min_draws(tail)
        if self.looks is not None:
            spending = (
                look_tail
                for look_tail in self.looks.tails(tail)
                if look_tail >= NEGLIGIBLE_SPENDING_SHARE * tail
            )
            return max(single_look_draws, *map(min_draws, spending))
        if self.always_valid_at is None:
            return single_look_draws
        tightest = critical_value(mixture_variance(1, alpha), alpha / n_together)
        return max(min_always_valid_draws(self.confidence_level), min_draws(NORMAL.cdf(-tightest)))

    def require_enough_resamples(self, n_together: int = 1) -> None:
        n_needed = self.min_resamples(n_together)
        if self.n_resamples < n_needed:
            verdicts = f", {n_together} verdicts together" if n_together > 1 else ""
            sooner = ", look later first, or spend as pocock" if self.looks else ""
            raise PolicyError(
                f"n_resamples: found {self.n_resamples} with "
                f"confidence_level {self.confidence_level:g}{verdicts}{self._and_looks}; "
                f"expected {n_needed} or more, so that ten resamples lie beyond each limit. "
                f"Raise n_resamples{sooner}."
            )

    def has_too_few(self, n_draws: int) -> bool:
        return 0 < n_draws < min(self.n_resamples, min_draws(self.tail))

    def require_default_method(self, subject: str) -> None:
        if self.method != DEFAULT_METHOD or self.several_looks:
            raise PolicyError(
                f"{subject}: found method {self.method}{self._and_looks}; "
                f"expected {DEFAULT_METHOD}, judged once. Leave the others out."
            )


def build_confidence_distribution(
    evidence: Evidence, inference: Inference, bounds: Bounds, judged_on: int
) -> ConfidenceDistribution:
    method = inference.interval_method
    if inference.has_too_few(len(evidence.draws)):
        return BoundsOnly(bounds, TOO_FEW_DRAWS)
    single_look = method.distribution(evidence, bounds)
    many_items = single_look
    if inference.always_valid_at is not None:
        many_items = (method.distribution_of_many or method.distribution)(evidence, bounds)
    return build_for_looks(single_look, many_items, inference, bounds, judged_on, evidence.n)


def build_for_looks(
    single_look: ConfidenceDistribution,
    many_items: ConfidenceDistribution,
    inference: Inference,
    bounds: Bounds,
    judged_on: int,
    n: float,
) -> ConfidenceDistribution:
    """What is known of a round that is judged once, or at the looks that inference plans.

    `many_items` has no correction for few items, and serves limits that are always valid. `n` is
    the number of items, or of equally large clusters, that show agreement.
    """
    if inference.looks is not None:
        return build_at_look(single_look, inference.looks, judged_on, bounds)
    if inference.always_valid_at is None:
        return single_look
    information = n * mixture_variance(inference.always_valid_at, 1 - inference.confidence_level)
    return WiderOf(AlwaysValid(many_items, bounds, information), single_look)
