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
    fewest_draws,
)
from agreement_pipeline.intervals.looks import (
    AlwaysValid,
    Looks,
    at_look,
    critical_value,
    draws_needed,
    mixture,
)
from agreement_pipeline.intervals.methods import (
    DEFAULT_METHOD,
    Evidence,
    IntervalMethod,
    interval_method,
)

NEARLY_NOTHING = 0.01
"""The share of the tail under which a look decides in no round that matters."""


@dataclass(frozen=True)
class Inference:
    """How uncertainty is inferred.

    Parameters
    ----------
    confidence_level
        In which share of rounds an interval should hold the true value, between 0 and 1.
    n_resamples, seed
        How many resamples are drawn, and their seed. Expensive measures use fewer.
    method
        One of `METHODS`.
    always_valid_at
        A number asks for limits that hold however often a round is judged while it fills. They are
        tightest at this number of items, or clusters.
    looks
        A plan asks for limits that hold at all its looks together. At other sizes, they are the
        bounds.
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
    >>> Inference().needed_resamples(), Inference(always_valid_at=500).needed_resamples()
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
        at, several = self.always_valid_at, self.several_looks
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
        if at is not None and not (isinstance(at, Real) and at >= 1):
            raise PolicyError(
                f"always_valid_at: found {at!r}; "
                "expected a number of items (or clusters) from 1. Correct it."
            )
        if at is not None and self.looks is not None:
            raise PolicyError(
                f"looks: found looks at {list(self.looks.at)} and always_valid_at {at}; "
                "expected one of them. Leave one out."
            )
        if self.interval_method.at_large and several:
            raise PolicyError(
                f"{several}: found method {self.method}; expected one for these raters, "
                "since a round gains items and not raters. Choose another method."
            )

    @property
    def interval_method(self) -> IntervalMethod:
        return interval_method(self.method)

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

    def needed_resamples(self, n_together: int = 1) -> int:
        """The fewest resamples of which ten lie beyond each limit.

        Of `n_together` verdicts that hold together, the first must meet a smaller tail. A look that
        spends nearly nothing needs none: on fewer resamples its limits are the bounds.
        """
        alpha, tail = 1 - self.confidence_level, self.tail / n_together
        once = fewest_draws(tail)
        if self.looks is not None:
            spending = (each for each in self.looks.tails(tail) if each >= NEARLY_NOTHING * tail)
            return max(once, *map(fewest_draws, spending))
        if self.always_valid_at is None:
            return once
        tightest = critical_value(mixture(1, alpha), alpha / n_together)
        return max(draws_needed(self.confidence_level), fewest_draws(NORMAL.cdf(-tightest)))

    def refuse_too_few(self, n_together: int = 1) -> None:
        needed = self.needed_resamples(n_together)
        if self.n_resamples < needed:
            verdicts = f", {n_together} verdicts together" if n_together > 1 else ""
            sooner = ", look later first, or spend as pocock" if self.looks else ""
            raise PolicyError(
                f"n_resamples: found {self.n_resamples} with "
                f"confidence_level {self.confidence_level:g}{verdicts}{self._and_looks}; "
                f"expected {needed} or more, so that ten resamples lie beyond each limit. "
                f"Raise n_resamples{sooner}."
            )

    def too_few(self, n_draws: int) -> bool:
        return 0 < n_draws < min(self.n_resamples, fewest_draws(self.tail))

    def refuse_other_methods(self, where: str) -> None:
        if self.method != DEFAULT_METHOD or self.several_looks:
            raise PolicyError(
                f"{where}: found method {self.method}{self._and_looks}; "
                f"expected {DEFAULT_METHOD}, judged once. Leave the others out."
            )


def what_is_known(
    evidence: Evidence, inference: Inference, bounds: Bounds, judged_on: int
) -> ConfidenceDistribution:
    method = inference.interval_method
    if inference.too_few(len(evidence.draws)):
        return BoundsOnly(bounds, TOO_FEW_DRAWS)
    once = method.distribution(evidence, bounds)
    if inference.looks is not None:
        return at_look(once, inference.looks, judged_on, bounds)
    if inference.always_valid_at is None:
        return once
    of_many = (method.distribution_of_many or method.distribution)(evidence, bounds)
    information = evidence.n * mixture(inference.always_valid_at, 1 - inference.confidence_level)
    return WiderOf(AlwaysValid(of_many, bounds, information), once)
