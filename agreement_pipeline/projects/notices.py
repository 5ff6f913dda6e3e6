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

from agreement_pipeline.errors import EXPECTED, error_in_a_sentence
from agreement_pipeline.estimates import Scope
from agreement_pipeline.evidence import (
    command_of_report,
    describe_who_differs,
    find_measure_that_holds,
    shorten_pseudonyms,
)
from agreement_pipeline.large_files import digest_of_plain
from agreement_pipeline.policy import Policy
from agreement_pipeline.projects.project import Project
from agreement_pipeline.store import RoundVersion, Store, last_events, of_event
from agreement_pipeline.text import counted

Form = Literal["plain", "slack"]
NoticeKind = Literal[
    "held", "not judged", "overdue", "not released", "withdrawn", "down", "up again"
]
JOINT_RELEASE_NAME = "all admitted rounds together"
SECONDS_PER_DAY = 86_400
MAX_REMEMBERED = 32
MAX_TEXT_LENGTH = 2_000
STATE_FACTS = ("decision", "codes", "ratings_digest", "policy_digest")
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
    what: NoticeKind
    why: tuple[str, ...]
    state: str
    withdrawn: bool = False
    who: str = ""
    steps: str = ""

    @property
    def text(self) -> str:
        of_all = {
            "not released": JOINT_RELEASE_NAME,
            "down": "the project",
            "up again": "the project",
        }
        subject = f"round {self.about}" if self.about else of_all.get(self.what, "the next round")
        if self.what == "withdrawn":
            subject = f"the release of {subject}"
        who_sentence = f"{self.who} " if self.who else ""
        release = " and its release is withdrawn" if self.withdrawn else ""
        verb = "are" if subject == JOINT_RELEASE_NAME else "is"
        reasons = "; ".join(self.why)
        sentence = f"{self.project}: {subject} {verb} {self.what}{release}: {who_sentence}{reasons}"
        steps = f". What to do now: {self.steps}" if self.steps else ""
        sentence = sentence.removesuffix(".") if steps else sentence
        max_length = MAX_TEXT_LENGTH - len(steps)
        if len(sentence) > max_length:
            sentence = f"{sentence[: max_length - 1]}…"
        return f"{sentence}{steps}"

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
    current_time: float,
    broken: Mapping[str, str],
    unreleased: Mapping[str, str] = MappingProxyType({}),
) -> list[Notice]:
    """What a team must hear of now.

    `unreleased` says why there is no release of each admitted round that has none. The release of
    all admitted rounds together stands under no name.
    """
    held_notices, late = (
        _held_notices(project, project.store.log.head),
        build_overdue_notice(project, current_time),
    )
    unread = [
        Notice(project.name, name, "not judged", (reason,), _digest_of_plain([reason]))
        for name, reason in {**project.look().refused, **broken}.items()
    ]
    waiting = [
        Notice(project.name, name, "not released", (reason,), _digest_of_plain([reason]))
        for name, reason in unreleased.items()
    ]
    gold = _gold_notices(project, project.store.log.head)
    return [*held_notices, *unread, *waiting, *gold, *([late] if late else [])]


def build_outage_notice(project: str, down_since: float, problem: str) -> Notice:
    """The rounds of the project cannot be looked at, so none is judged or released."""
    description = f"nothing can be judged or released since {_format_minute(down_since)}: {problem}"
    return Notice(project, "", "down", (description,), _format_minute(down_since))


def build_recovery_notice(project: str, down_since: float) -> Notice:
    """The end of an outage. Its rounds are judged by themselves, late."""
    description = f"it was down since {_format_minute(down_since)}"
    return Notice(project, "", "up again", (description,), _format_minute(down_since))


def _format_minute(time: float) -> str:
    return f"{datetime.fromtimestamp(time, UTC):%Y-%m-%d %H:%M} UTC"


def with_who_differs(project: Project, notice: Notice) -> Notice:
    """If the policy or the ratings cannot be read, the notice says so, since it must arrive."""
    if notice.what != "held":
        return notice
    try:
        return replace(notice, who=_describe_who_differs(project.store, notice))
    except EXPECTED as error:
        return replace(notice, who=f"Who differs is not known: {error_in_a_sentence(error)}")


def build_overdue_notice(project: Project, current_time: float) -> Notice | None:
    """Entries that a wrong clock dated into the future do not count, and the notice says so."""
    allowed, by_a_wrong_clock = project.settings.overdue_after_days, 0
    for last_entry in project.store.log.backwards("ingested"):
        days = (
            current_time - datetime.fromisoformat(last_entry["time"]).timestamp()
        ) / SECONDS_PER_DAY
        if days >= -1:
            break
        by_a_wrong_clock += 1
    else:
        return None
    if days <= allowed:
        return None
    reason = (
        f"the last one, {last_entry['round']}, came on {last_entry['time'][:10]}, more than "
        f"{allowed:g} {'day' if allowed == 1 else 'days'} ago"
    )
    if by_a_wrong_clock:
        reason += f"; {counted(by_a_wrong_clock, 'round')} with a time in the future did not count"
    return Notice(project.name, "", "overdue", (reason,), str(last_entry["number"]))


@lru_cache(maxsize=MAX_REMEMBERED)
def _held_notices(project: Project, head: str) -> tuple[Notice, ...]:
    held_entries = [
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
            _state_digest(entry),
            withdrawn,
            steps=_steps_for_round(project, entry["round"]),
        )
        for entry, withdrawn in sorted(held_entries, key=lambda held_entry: held_entry[0]["number"])
    )


@lru_cache(maxsize=MAX_REMEMBERED)
def _gold_notices(project: Project, _head: str) -> tuple[Notice, ...]:
    last_by_round = {entry["round"]: entry for entry in project.gold_withdrawals()}
    return tuple(
        Notice(
            project.name,
            name,
            "withdrawn",
            (
                *entry["reasons"],
                "a new release without them is in force"
                if project.is_released(name)
                else "no new release without them is in force yet",
            ),
            _digest_of_plain(entry["releases"]),
        )
        for name, entry in last_by_round.items()
    )


def _steps_for_round(project: Project, round_name: str) -> str:
    url = project.settings.pages_url
    if project.settings.pages and url:
        return f"{url.rstrip('/')}/{quote(round_name)}.html"
    return command_of_report(project.name, round_name)


def _describe_who_differs(store: Store, notice: Notice) -> str:
    history = store.history(notice.about)[::-1]
    decided = next(
        entry for entry in of_event("decided", history) if _state_digest(entry) == notice.state
    )
    policy = Policy.from_mapping(decided["policy"], source=f"the log of {store.root}")
    waived = {
        (waiver.get("measure"), str(Scope.parse(waiver.get("scope", "round"))))
        for waiver in decided["waivers"]
    }
    unmet = [
        verdict
        for verdict in decided["verdicts"]
        if verdict["verdict"] not in policy.admit
        and (verdict["measure"], verdict["scope"]) not in waived
    ]
    measure = find_measure_that_holds(unmet, policy)
    if measure is None:
        return ""
    version = next(
        RoundVersion.from_entry(entry)
        for entry in of_event("ingested", history)
        if entry["ratings_digest"] == decided["ratings_digest"]
    )
    ratings = store.ratings_of(version)
    return describe_who_differs(
        ratings.renamed(shorten_pseudonyms(store.pseudonyms(ratings), ratings.classifiers)),
        measure,
    )


def _state_digest(decided: Mapping[str, Any]) -> str:
    return _digest_of_plain([decided.get(fact) for fact in STATE_FACTS])


def _digest_of_plain(value: object) -> str:
    return digest_of_plain(value)[:12]
