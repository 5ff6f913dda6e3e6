"""A section of a page, and the decorator that registers it."""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Literal

from agreement_pipeline.report.answer import Answer
from agreement_pipeline.report.judged import JudgedProject, JudgedRound

Of = Literal["round", "project"]
AnswerOf = Callable[[JudgedRound], Answer | None] | Callable[[JudgedProject], Answer | None]


@dataclass(frozen=True)
class PageSection:
    """A section of a page.

    Attributes
    ----------
    name
        Its anchor in the page.
    title, question
        Its heading, and the question that it answers.
    place
        Where it stands. Sections with small numbers come first.
    of
        The page that it stands in: that of a round, or that of a project.
    answer
        Answers the question. None: the round or the project has nothing to say to it.
    """

    name: str
    title: str
    question: str
    place: int
    of: Of
    answer: Callable[..., Answer | None]


SECTIONS: dict[tuple[Of, str], PageSection] = {}
"""The sections by page and name."""


def section(
    title: str, question: str, *, place: int, of: Of = "round"
) -> Callable[[AnswerOf], AnswerOf]:
    """Register a function as a section. It has the name of the function, with hyphens."""

    def registered(function: AnswerOf) -> AnswerOf:
        name = function.__name__.strip("_").replace("_", "-")
        SECTIONS[of, name] = PageSection(name, title, question, place, of, function)
        return function

    return registered


def sections_of(of: Of) -> tuple[PageSection, ...]:
    """The sections of a page, in their order."""
    found = [each for each in SECTIONS.values() if each.of == of]
    return tuple(sorted(found, key=lambda each: (each.place, each.name)))
