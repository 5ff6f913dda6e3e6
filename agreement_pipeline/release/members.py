"""The rounds of a release."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from functools import cached_property

from agreement_pipeline.contract import Contract
from agreement_pipeline.policy import NONE, Assessment, Policy, Waivers, assess
from agreement_pipeline.ratings import NOT_ADJUDICATED, Adjudicated, Ratings, overruled
from agreement_pipeline.text import listed


@dataclass(frozen=True, eq=False)
class Member:
    """A round of a release.

    Attributes
    ----------
    round, original_digest, version
        The name of the round, the digest of the file it was delivered in, and how many different
        ratings came under this name up to these.
    ratings
        The ratings of the round, under the raters' pseudonyms. An item that is gold in any
        round of the release is gold here.
    assessment
        The estimates on these ratings, and the decision of the policy.
    adjudicated
        The labels that somebody chose after the raters had differed. The decision reads none.
    """

    round: str
    original_digest: str
    version: int
    ratings: Ratings
    assessment: Assessment
    adjudicated: Adjudicated = NOT_ADJUDICATED

    @classmethod
    def assessed(
        cls,
        round_name: str,
        original_digest: str,
        ratings: Ratings,
        policy: Policy,
        contract: Contract,
        waivers: Waivers = NONE,
        *,
        version: int = 1,
    ) -> "Member":
        """The round, judged from its ratings."""
        assessment = assess(ratings, policy, contract, waivers, version=version)
        return cls(round_name, original_digest, version, ratings, assessment)

    @cached_property
    def overruled(self) -> tuple[int, int]:
        """On how many items the adjudicator overrules all raters, and on how many they agree."""
        return overruled(self.ratings, self.adjudicated) if self.adjudicated.labels else (0, 0)


def gold_in(rounds: Iterable[Ratings]) -> frozenset[str]:
    """The items that are gold in at least one round. They are gold in the whole release."""
    return frozenset().union(*(ratings.gold for ratings in rounds))


def called(members: Sequence[Member]) -> str:
    """The names of the rounds, for an error."""
    return f"rounds {listed([member.round for member in members])}"
