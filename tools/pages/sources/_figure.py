"""A printed figure beside our own."""

from dataclasses import dataclass, field
from typing import Literal

from agreement_pipeline.measures import Coefficient

Verdict = Literal["agrees", "misprint", "not reproducible", "holds", "does not hold"]


@dataclass(frozen=True)
class Figure:
    """A figure or a statement of a source, our own figure, and the verdict on the two.

    Attributes
    ----------
    where
        The place in the source.
    what
        The quantity.
    printed
        The figure as printed, or the statement.
    ours
        The value that follows from the definition; None without one.
    slip
        How a different printed figure arises, and the value that this gives.
    why
        Why the printed figure differs where no slip explains it. Where it agrees, a remark.
    holds
        True if a statement holds; None for a figure.
    """

    where: str
    what: str
    printed: str
    ours: float | tuple[float, ...] | None
    slip: tuple[str, float] | None = None
    why: str = ""
    holds: bool | None = None

    @property
    def verdict(self) -> Verdict:
        """The verdict from the numbers: a value agrees when it rounds to the printed figure."""
        if self.holds is not None:
            return "holds" if self.holds else "does not hold"
        if isinstance(self.ours, float) and rounds_to(self.ours, self.printed):
            return "agrees"
        return "misprint" if self.slip and _near(self.slip[1], self.printed) else "not reproducible"

    @property
    def verdict_in_words(self) -> str:
        """The verdict, with how the printed figure arises or why it does not."""
        if self.verdict == "misprint" and self.slip:
            how, value = self.slip
            rest = (
                ""
                if rounds_to(value, self.printed)
                else f", {abs(value - float(self.printed)):.4f} from the printed figure. "
                "This rest is unexplained"
            )
            return f"misprint: {how} gives {value:.6g}{rest}. {self.why}".strip()
        return f"{self.verdict}: {self.why}" if self.why else self.verdict


@dataclass(frozen=True)
class Source:
    """A document and its figures."""

    title: str
    citation: str
    figures: tuple[Figure, ...]
    note: str = field(default="")


def _near(value: float, printed: str) -> bool:
    """True if `value` is within two units of the last printed digit."""
    return abs(value - float(printed)) <= 2 * _unit(printed)


def _unit(printed: str) -> float:
    return float(10.0 ** -len(printed.partition(".")[2]))


def parts(found: Coefficient) -> dict[str, float]:
    """The coefficient and its parts that are not None, by name, as numbers."""
    return {name: float(part) for name, part in found._asdict().items() if part is not None}


def rounds_to(value: float, printed: str) -> bool:
    """True if `value` rounds to the printed decimal; a half may round either way.

    >>> rounds_to(0.67612, "0.676"), rounds_to(0.67908, "0.738"), rounds_to(0.72727, "0.73")
    (True, False, True)
    """
    return abs(value - float(printed)) <= _unit(printed) / 2 + 1e-12
