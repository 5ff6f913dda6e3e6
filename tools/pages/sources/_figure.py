"""A printed figure beside ours."""

from dataclasses import dataclass, field
from typing import Literal

from agreement_pipeline.measures import Coefficient

Verdict = Literal["agrees", "misprint", "not reproducible", "holds", "does not hold"]


@dataclass(frozen=True)
class Figure:
    """A figure, or a statement, of a source; ours; and what is to be said of the two.

    Attributes
    ----------
    where, what
        The place in the source, and the quantity.
    printed
        The figure as printed, or the statement.
    ours
        What follows from the definition: the value, or where none can be had, None.
    slip
        Where the print differs: how it arises, and what that gives.
    why
        Where the print differs and no slip explains it, why; where it agrees, a remark.
    holds
        Of a statement: whether it does.
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
        """Read off the numbers: a value agrees when it rounds to the print."""
        if self.holds is not None:
            return "holds" if self.holds else "does not hold"
        if isinstance(self.ours, float) and rounds_to(self.ours, self.printed):
            return "agrees"
        return "misprint" if self.slip and _near(self.slip[1], self.printed) else "not reproducible"

    @property
    def verdict_in_words(self) -> str:
        """The verdict, and how the print arises or why it does not."""
        if self.verdict == "misprint" and self.slip:
            how, value = self.slip
            rest = (
                ""
                if rounds_to(value, self.printed)
                else f", {abs(value - float(self.printed)):.4f} from the print, which stays unexplained"
            )
            return f"misprint: {how} gives {value:.6g}{rest}. {self.why}".strip()
        return f"{self.verdict}: {self.why}" if self.why else self.verdict


@dataclass(frozen=True)
class Source:
    """A document, and its figures."""

    title: str
    citation: str
    figures: tuple[Figure, ...]
    note: str = field(default="")


def _near(value: float, printed: str) -> bool:
    """Whether `value` is within two units of the last printed digit."""
    return abs(value - float(printed)) <= 2 * _unit(printed)


def _unit(printed: str) -> float:
    return float(10.0 ** -len(printed.partition(".")[2]))


def parts(found: Coefficient) -> dict[str, float]:
    """The coefficient and those of its parts that it has, by name, as numbers."""
    return {name: float(part) for name, part in found._asdict().items() if part is not None}


def rounds_to(value: float, printed: str) -> bool:
    """Whether `value` is the printed decimal, rounded either way at a half.

    >>> rounds_to(0.67612, "0.676"), rounds_to(0.67908, "0.738"), rounds_to(0.72727, "0.73")
    (True, False, True)
    """
    return abs(value - float(printed)) <= _unit(printed) / 2 + 1e-12
