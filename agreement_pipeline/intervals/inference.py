"""How uncertainty is inferred: the settings of intervals, checked when they are made."""

from dataclasses import dataclass

from agreement_pipeline.errors import PolicyError
from agreement_pipeline.intervals.always_valid import critical_value, draws_needed, mixture
from agreement_pipeline.intervals.distributions import NORMAL, fewest_draws
from agreement_pipeline.intervals.methods import (
    DEFAULT_METHOD,
    IntervalMethod,
    interval_method,
)


@dataclass(frozen=True)
class Inference:
    """How uncertainty is inferred.

    Parameters
    ----------
    confidence_level
        The probability with which an interval holds the true value, between 0 and 1.
    n_resamples
        How many resamples are drawn. Expensive measures use fewer.
    method
        The name of an interval method, one of `METHODS`.
    always_valid_at
        None for a round that is judged once. A number asks for limits that hold however often a
        round is judged while it fills. They are tightest at this number of items, or clusters.
    seed
        Of the resamples.

    Raises
    ------
    PolicyError
        One of the settings is impossible, or always valid limits are asked for raters at large.

    Examples
    --------
    >>> Inference().needed_resamples(), Inference(always_valid_at=500).needed_resamples()
    (400, 17398)
    """

    confidence_level: float = 0.95
    n_resamples: int = 10_000
    method: str = DEFAULT_METHOD
    always_valid_at: int | None = None
    seed: int | tuple[int, ...] = 0

    def __post_init__(self) -> None:
        self._refuse_impossible()
        if self.always_valid_at is not None:
            self._refuse_never_valid(self.always_valid_at)

    def _refuse_impossible(self) -> None:
        if not 0 < self.confidence_level < 1:
            raise PolicyError(
                f"confidence_level: found {self.confidence_level!r}; "
                "expected more than 0 and less than 1. 0.95 is usual."
            )
        if self.n_resamples < 1:
            raise PolicyError(
                f"n_resamples: found {self.n_resamples!r}; expected a whole number from 1. "
                "10000 is usual."
            )
        interval_method(self.method)

    def _refuse_never_valid(self, items: int) -> None:
        if items < 1:
            raise PolicyError(
                f"always_valid_at: found {items!r}; "
                "expected a number of items (or clusters) from 1. Correct it."
            )
        if self.interval_method.population == "raters at large":
            raise PolicyError(
                f"always_valid_at: found method {self.method}; expected one for these raters, "
                "since a round gains items and not raters. Choose another method."
            )

    @property
    def interval_method(self) -> IntervalMethod:
        """The method of that name."""
        return interval_method(self.method)

    @property
    def tail(self) -> float:
        """The probability with which one limit may be wrong."""
        return (1 - self.confidence_level) / 2

    def needed_resamples(self, n_together: int = 1) -> int:
        """The fewest resamples of which ten lie beyond each limit.

        Of `n_together` verdicts that hold together, the first must meet a smaller tail.
        """
        alpha = 1 - self.confidence_level
        once = fewest_draws(self.tail / n_together)
        if self.always_valid_at is None:
            return once
        tightest = critical_value(mixture(1, alpha), alpha / n_together)
        return max(draws_needed(self.confidence_level), fewest_draws(NORMAL.cdf(-tightest)))

    def refuse_too_few(self, n_together: int = 1) -> None:
        """Refuse resamples of which fewer than ten would lie beyond each limit.

        Raises
        ------
        PolicyError
            There are fewer than `needed_resamples`.
        """
        needed = self.needed_resamples(n_together)
        if self.n_resamples < needed:
            verdicts = f", {n_together} verdicts together" if n_together > 1 else ""
            always = "" if self.always_valid_at is None else ", always_valid_at"
            raise PolicyError(
                f"n_resamples: found {self.n_resamples} with "
                f"confidence_level {self.confidence_level:g}{verdicts}{always}; "
                f"expected {needed} or more, so that ten resamples lie beyond each limit. "
                "Raise n_resamples."
            )

    def too_few(self, n_draws: int) -> bool:
        """True if a measure is so expensive that fewer than the needed resamples were drawn."""
        return 0 < n_draws < min(self.n_resamples, fewest_draws(self.tail))

    def refuse_other_methods(self, where: str) -> None:
        """Refuse settings that a difference or a shrunken value does not have.

        Raises
        ------
        PolicyError
            The method is not the default one, or limits are always valid.
        """
        if self.method != DEFAULT_METHOD or self.always_valid_at is not None:
            always = "" if self.always_valid_at is None else ", always_valid_at"
            raise PolicyError(
                f"{where}: found method {self.method}{always}; "
                f"expected {DEFAULT_METHOD}, judged once. Leave the others out."
            )
