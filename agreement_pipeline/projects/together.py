"""The release of all admitted rounds together: which rounds belong into it, and is it made?"""

from collections.abc import Mapping
from dataclasses import dataclass
from functools import lru_cache
from typing import Any

from agreement_pipeline.errors import AgreementError
from agreement_pipeline.large_files import digest_of_plain
from agreement_pipeline.projects.project import Project
from agreement_pipeline.store import is_decided, last_events, of_event

MAX_REMEMBERED = 32
STATE_DIGITS = 16
DECIDED_BY = ("ratings_digest", "policy_digest", "contract_digest", "waivers")


@dataclass(frozen=True)
class JointRelease:
    """What the log says of the release of all admitted rounds.

    Attributes
    ----------
    rounds
        The admitted rounds, each with the digest of its present ratings.
    is_made
        True if a release of exactly these ratings is in force.
    state
        A digest of the decisions and the adjudicated labels that the release rests on, and of its
        licence and citation. Where it is as it was, the release would be the same.
    """

    rounds: Mapping[str, str]
    is_made: bool
    state: str

    @property
    def is_due(self) -> bool:
        return bool(self.rounds) and not self.is_made


def joint_release(project: Project) -> JointRelease:
    """Which rounds the project would release together now, and whether it did."""
    rounds, facts, is_made = _read_log(project, project.store.log.head)
    publication = project.settings.dataset.to_mapping()
    described = digest_of_plain(
        [facts, _describe_adjudicated(project, rounds), *([publication] * bool(publication))]
    )
    return JointRelease(rounds, is_made, described[:STATE_DIGITS])


@lru_cache(maxsize=MAX_REMEMBERED)
def _read_log(project: Project, _head: str) -> tuple[dict[str, str], dict[str, Any], bool]:
    """The admitted rounds with their ratings, what decided them, and if they are released.

    Sensors ask each half minute, and the log seldom has another head by then.
    """
    store, name = project.store, f"{project.name}.dataset"
    with store.reading():
        admitted = {
            round_name: events["decided"]
            for round_name, events in sorted(last_events(store.history()).items())
            if is_decided(events) and events["decided"]["decision"] == "admitted"
        }
        rounds = {
            admitted_round: decided["ratings_digest"]
            for admitted_round, decided in admitted.items()
        }
        released = of_event("released", store.history(name))
        withdrawn = store.withdrawn([entry["release"] for entry in released])
    in_force = [entry["rounds"] for entry in released if entry["release"] not in withdrawn]
    facts = {
        round_name: [decided.get(fact) for fact in DECIDED_BY]
        for round_name, decided in admitted.items()
    }
    return rounds, facts, in_force[-1:] == [rounds]


def _describe_adjudicated(project: Project, rounds: Mapping[str, str]) -> object:
    """Labels that cannot be read keep the release from being made, until they are corrected."""
    try:
        return {
            name: [answers.ratings_digest, dict(answers.labels)]
            for name, answers in project.adjudicated(rounds).items()
        }
    except AgreementError as error:
        return str(error)
