"""Cells of the tables of a page: estimates, verdicts and what they are about."""

import re
from collections.abc import Iterable

from agreement_pipeline.estimates import Estimate, Scope, registered
from agreement_pipeline.policy import Verdict
from agreement_pipeline.report.answer import Cell
from agreement_pipeline.report.figure import NAMES_OF_TONES, Tone
from agreement_pipeline.text import DIGITS, SENTENCE, interval, number

LOWEST = re.compile(r" \(lowest: [^)]*\)")
"""What a reason says of the lowest category."""
READINGS: tuple[tuple[Tone, str], ...] = (
    ("good", "reliable"),
    ("partly", "tentative"),
    ("bad", "unreliable"),
    ("unknown", "cannot tell"),
)
"""The legend of verdicts."""


def title_of(measure: str) -> str:
    """The name of a measure for people.

    >>> title_of("krippendorff_alpha")
    "Krippendorff's α"
    """
    return registered(measure).title


def about(scope: Scope) -> str:
    """What an estimate is about. Raters and pairs need no word beside their names.

    >>> about(Scope("rater", "rater-0f6a")), about(Scope("category", "safe")), about(Scope("round"))
    ('rater-0f6a', 'category safe', 'round')
    """
    return scope.name if scope.kind in ("rater", "pair") and scope.name else str(scope)


def value_cell(found: Estimate | None) -> Cell:
    """The value of an estimate; empty if it has none."""
    value = None if found is None else found.value
    return Cell(number(value, SENTENCE), value)


def differ(found: Iterable[Estimate]) -> bool:
    """True if some of the values differ. Otherwise none is the lowest."""
    return len({round(each.value, DIGITS) for each in found if each.value is not None}) > 1


def interval_cell(found: Estimate | None) -> Cell:
    """The interval of an estimate, sorted by its lower limit."""
    if found is None or found.interval is None:
        return Cell("")
    return Cell(interval(found.low, found.high), found.low)


def verdict_cell(verdict: Verdict) -> Cell:
    """The kind of a verdict, with its mark."""
    return Cell(verdict.kind.replace("_", " "), tone=NAMES_OF_TONES[verdict.kind])


def without_numbers(reason: str) -> str:
    """A reason without its beginning, which repeats what stands in other columns.

    >>> without_numbers("specific_agreement (lowest: no) 0.580: the upper limit is under 0.667")
    'the upper limit is under 0.667'
    >>> without_numbers("alpha (lowest: DOSE, 90% on marking) 0.58 on 90 items: the upper limit")
    'lowest: DOSE, 90% on marking; the upper limit'
    """
    lowest = LOWEST.search(reason)
    said = LOWEST.sub("", reason).partition(": ")[2] or reason
    return said if lowest is None or "," not in lowest[0] else f"{lowest[0][2:-1]}; {said}"
