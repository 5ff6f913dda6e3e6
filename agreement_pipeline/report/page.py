"""A page as data: what stands in it, whatever shows it."""

from collections.abc import Callable
from dataclasses import dataclass

from agreement_pipeline.report.answer import Answer, Cell
from agreement_pipeline.report.sections import PageSection


@dataclass(frozen=True)
class Part:
    """A section with its answer."""

    section: PageSection
    answer: Answer


@dataclass(frozen=True)
class Page:
    """A page.

    Attributes
    ----------
    kind, title
        What it is about.
    badge
        The decision or the state, in a word or two.
    lead
        What is said of the whole.
    parts
        Its sections.
    """

    kind: str
    title: str
    badge: Cell
    lead: tuple[str, ...]
    parts: tuple[Part, ...]


Render = Callable[[Page], str]
"""Shows a page: `as_html` or `as_text`."""
