"""What a team must hear of: a round that is held, broken, overdue, admitted and not released, or
whose release trained on gold items.
"""

from collections.abc import Mapping
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from functools import lru_cache
from html import escape
from types import MappingProxyType
from typing import Any, Literal
from urllib.parse import quote

from agreement_pipeline.errors import EXPECTED, in_a_sentence
from agreement_pipeline.estimates import Scope
from agreement_pipeline.evidence import (
    command_of_report,
    held_for_disagreement,
    shortened,
    who_differs,
)
from agreement_pipeline.large_files import digest_of_plain
from agreement_pipeline.policy import Policy
from agreement_pipeline.projects.project import Project
from agreement_pipeline.store import RoundVersion, Store, last_events, of_event
from agreement_pipeline.text import counted

Form = Literal["plain", "slack"]
What = Literal["held", "not judged", "overdue", "not released", "withdrawn", "down", "up again"]
TOGETHER = "all admitted rounds together"
DAY = 86_400
MOST_KEPT = 32
MOST_SAID = 2_000
TOLD = ("decision", "codes", "ratings_digest", "policy_digest")
"""If one of these facts of a decision changes, the team hears of the round again."""


@dataclass(frozen=True)
class Notice:
    """What a team is told once.

    `about` is the round. It is empty if the project itself is overdue, if all admitted rounds
    together are not released, or if no round can be looked at. A notice with another `state`,
    a digest of what is told, is another notice. `who` says who differs, if disagreement holds the
    round.
    """

    project: str
    about: str
    what: What
    why: tuple[str, ...]
    state: str
    withdrawn: bool = False
    who: str = ""
    steps: str = ""

    @property
    def text(self) -> str:
        of_all = {"not released": TOGETHER, "down": "the gate", "up again": "the gate"}
        subject = f"round {self.about}" if self.about else of_all.get(self.what, "the next round")
        who = f"{self.who} " if self.who else ""
        release = " and its release is withdrawn" if self.withdrawn else ""
        verb = "are" if subject == TOGETHER else "is"
        said = f"{self.project}: {subject} {verb} {self.what}{release}: {who}{'; '.join(self.why)}"
        steps = f". What to do now: {self.steps}" if self.steps else ""
        said = said.removesuffix(".") if steps else said
        most = MOST_SAID - len(steps)
        return f"{said if len(said) <= most else f'{said[: most - 1]}…'}{steps}"

    def body(self, form: Form) -> dict[str, Any]:
        if form == "slack":
            # Slack sees no link, no mention and no address in escaped text.
            return {"text": escape(self.text, quote=False)}
        return {
            "project": self.project,
            "round": self.about,
            "what": self.what,
            "why": list(self.why),
            "who_differs": self.who,
            "what_to_do": self.steps,
            "release_withdrawn": self.withdrawn,
            "text": self.text,
        }


def notices(
    project: Project,
    now: float,
    broken: Mapping[str, str],
    unreleased: Mapping[str, str] = MappingProxyType({}),
) -> list[Notice]:
    """What a team must hear of now.

    `unreleased` says why there is no release of each admitted round that has none. The release of
    all admitted rounds together stands under no name.
    """
    held, late = _held(project, project.store.log.head), overdue(project, now)
    unread = [
        Notice(project.name, name, "not judged", (why,), _digest([why]))
        for name, why in {**project.look().refused, **broken}.items()
    ]
    waiting = [
        Notice(project.name, name, "not released", (why,), _digest([why]))
        for name, why in unreleased.items()
    ]
    gold = _trained_on_gold(project, project.store.log.head)
    return [*held, *unread, *waiting, *gold, *([late] if late else [])]


def outage(project: str, since: float, why: str) -> Notice:
    """The rounds of the project cannot be looked at, so none is judged or released."""
    reason = f"nothing can be judged or released since {_minute(since)}: {why}"
    return Notice(project, "", "down", (reason,), _minute(since))


def recovery(project: str, since: float) -> Notice:
    """The end of an outage. Its rounds are judged by themselves, late."""
    reason = f"it had been down since {_minute(since)}"
    return Notice(project, "", "up again", (reason,), _minute(since))


def _minute(time: float) -> str:
    return f"{datetime.fromtimestamp(time, UTC):%Y-%m-%d %H:%M} UTC"


def with_who_differs(project: Project, notice: Notice) -> Notice:
    """If the policy or the ratings cannot be read, the notice says so, since it must arrive."""
    if notice.what != "held":
        return notice
    try:
        return replace(notice, who=_who_differs(project.store, notice))
    except EXPECTED as error:
        return replace(notice, who=f"Who differs is not known: {in_a_sentence(error)}")


def overdue(project: Project, now: float) -> Notice | None:
    """Entries that a wrong clock dated into the future do not count, and the notice says so."""
    allowed, by_a_wrong_clock = project.settings.overdue_after_days, 0
    for last in project.store.log.backwards("ingested"):
        days = (now - datetime.fromisoformat(last["time"]).timestamp()) / DAY
        if days >= -1:
            break
        by_a_wrong_clock += 1
    else:
        return None
    if days <= allowed:
        return None
    days_allowed = f"{allowed:g} {'day is' if allowed == 1 else 'days are'} allowed"
    why = f"the last one, {last['round']}, came {last['time'][:10]}, and {days_allowed}"
    if by_a_wrong_clock:
        why += f"; {counted(by_a_wrong_clock, 'round')} with a time in the future did not count"
    return Notice(project.name, "", "overdue", (why,), str(last["number"]))


@lru_cache(maxsize=MOST_KEPT)
def _held(project: Project, head: str) -> tuple[Notice, ...]:
    held = [
        (entry, "withdrawn" in events)
        for events in last_events(project.store.history()).values()
        if (entry := events.get("decided")) and entry["decision"] == "held"
    ]
    return tuple(
        Notice(
            project.name,
            entry["round"],
            "held",
            tuple(entry.get("reasons", ())),
            _state(entry),
            withdrawn,
            steps=_steps(project, entry["round"]),
        )
        for entry, withdrawn in sorted(held, key=lambda each: each[0]["number"])
    )


@lru_cache(maxsize=MOST_KEPT)
def _trained_on_gold(project: Project, _head: str) -> tuple[Notice, ...]:
    last_by_round = {entry["round"]: entry for entry in project.gold_withdrawals()}
    return tuple(
        Notice(
            project.name,
            name,
            "withdrawn",
            (
                *entry["reasons"],
                "a release without them is in force"
                if project.is_released(name)
                else "no release without them is in force yet",
            ),
            _digest(entry["releases"]),
        )
        for name, entry in last_by_round.items()
    )


def _steps(project: Project, round_name: str) -> str:
    url = project.settings.pages_url
    if project.settings.pages and url:
        return f"{url.rstrip('/')}/{quote(round_name)}.html"
    return command_of_report(project.name, round_name)


def _who_differs(store: Store, notice: Notice) -> str:
    history = store.history(notice.about)[::-1]
    decided = next(each for each in of_event("decided", history) if _state(each) == notice.state)
    policy = Policy.from_mapping(decided["policy"], source=f"the log of {store.root}")
    waived = {(each.get("measure"), str(Scope.parse(each["scope"]))) for each in decided["waivers"]}
    unmet = [
        each
        for each in decided["verdicts"]
        if each["verdict"] not in policy.admit and (each["measure"], each["scope"]) not in waived
    ]
    if not held_for_disagreement(unmet, policy):
        return ""
    judged = next(
        RoundVersion.from_entry(each)
        for each in of_event("ingested", history)
        if each["ratings_digest"] == decided["ratings_digest"]
    )
    ratings = store.ratings_of(judged)
    return who_differs(ratings.renamed(shortened(store.pseudonyms(ratings), ratings.classifiers)))


def _state(decided: Mapping[str, Any]) -> str:
    return _digest([decided.get(fact) for fact in TOLD])


def _digest(said: object) -> str:
    return digest_of_plain(said)[:12]
