"""A fact about a whole round, and the decorator that registers it."""

from collections.abc import Callable
from typing import NamedTuple

from agreement_pipeline.contract.facts.panel import Panel


class Fact(NamedTuple):
    """A number about a round.

    Attributes
    ----------
    value
        The number. None if the round has nothing that it could be about.
    words
        What was found, or why there is nothing.
    """

    value: float | None
    words: str


FACTS: dict[str, Callable[[Panel], Fact]] = {}
"""From the name of a fact to the function that finds it in a round."""


def fact(function: Callable[[Panel], Fact]) -> Callable[[Panel], Fact]:
    """Register a function as a fact under its own name.

    Contracts can then ask for it as a column of the table `round`.
    """
    FACTS[function.__name__] = function
    return function
