"""What the sections of a page are answered from: a judged round, or the rounds of a project."""

from collections.abc import Sequence
from dataclasses import dataclass, field
from functools import cached_property

import pandas as pd

from agreement_pipeline.engines import engine_for
from agreement_pipeline.estimates import Estimate, Shown
from agreement_pipeline.policy import Assessment, Decision, Policy
from agreement_pipeline.ratings import Ratings
from agreement_pipeline.report.measured import measured
from agreement_pipeline.report.since import Before

MOST_RATERS = 20
"""Of a larger panel so many raters, and so many pairs, are shown."""


@dataclass(frozen=True, eq=False)
class JudgedRound:
    """A round with the decision on it. Its raters have the names that the page shows.

    Attributes
    ----------
    project, name
        The project, empty if there is none, and the round.
    ratings
        The ratings.
    policy
        The policy that judged it.
    assessment
        The decision, and the estimates that it rests on.
    before
        The round before, if there is one.
    """

    project: str
    name: str
    ratings: Ratings
    policy: Policy
    assessment: Assessment
    before: Before | None = None

    @property
    def decision(self) -> Decision:
        """The decision on the round."""
        return self.assessment.decision

    @cached_property
    def shown(self) -> Shown:
        """The raters and pairs that the page shows."""
        return Shown.of(self.ratings, MOST_RATERS)

    @cached_property
    def n_items(self) -> int:
        """The number of items that are rated in the round and are not gold."""
        return len(engine_for(self.ratings).items(self.ratings))

    @cached_property
    def texts(self) -> "pd.Series[str]":
        """The text of each item that has one."""
        contents = self.ratings.contents
        return contents["text"] if "text" in contents else pd.Series(dtype=str)

    def measured(self, measures: Sequence[str], *scopes: str) -> tuple[Estimate, ...]:
        """Estimates that are only looked at, of the raters and pairs that are shown."""
        return tuple(measured(self.ratings, measures, self.policy, scopes, self.shown))


@dataclass(frozen=True, eq=False)
class JudgedProject:
    """The rounds of a project as its store remembers them.

    Attributes
    ----------
    name, description
        The project, and what it is about.
    policy
        The policy that judges its rounds.
    rounds
        What `round_table` gives.
    """

    name: str
    description: str
    policy: Policy
    rounds: pd.DataFrame = field(repr=False)
