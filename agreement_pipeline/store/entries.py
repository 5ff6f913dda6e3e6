"""What an entry of the log must say, and when two entries say the same."""

import re
from collections.abc import Callable, Iterable, Mapping
from functools import partial
from typing import Any, TypeVar

from agreement_pipeline.errors import StoreError
from agreement_pipeline.mistakes import is_number, whole
from agreement_pipeline.text import listed

Entry = dict[str, Any]
Said = TypeVar("Said", bound=Mapping[str, Any])

HERE = "log"
"""Where an entry on the whole store says that it happened. No round can be called so."""
SUBJECTS = {
    "ingested": "ratings",
    "decided": "decision",
    "released": "release",
    "withdrawn": "release",
    "drawn": "draw",
    "certified": "certificate",
    "anchored": "anchors",
    "adopted": "store",
    "erased": "store",
}
OF_EVERY_DECISION = (
    "decision",
    "ratings_digest",
    "policy_digest",
    "contract_digest",
    "settings_digest",
    "code_version",
    "waivers",
    "version",
)
DECIDING = (*OF_EVERY_DECISION, "silver", "classifiers", "delivery", "trains")
"""The last four stand in decisions on silver rounds, where the classifiers are known, where a suite
was asked of the delivery, and where the project says what trains."""
FACTS = {
    "ingested": (
        "ratings_digest",
        "original_digest",
        "source",
        "table_digest",
        "settings_digest",
    ),
    "decided": (*OF_EVERY_DECISION, "tentative", "verdicts", "findings", "policy"),
    "released": ("release", "rounds", "manifest_digest"),
    "withdrawn": ("releases", "reasons"),
    "drawn": (
        "population_digest",
        "population_items",
        "classifier",
        "labels_digest",
        "design",
        "strata",
        "seed",
        "items",
        "earlier",
        "reasons",
    ),
    "certified": (
        "certificate",
        "classifier",
        "identity_digest",
        "decision",
        "reasons",
        "rounds",
        "expires",
        "policy",
        "policy_digest",
    ),
    "anchored": ("certificate", "classifier", "labels", "day", "drifted"),
    "adopted": ("by",),
    "erased": ("subject", "versions", "entries", "head", "by", "why"),
}
WAIVED = ("round", "ratings_digest", "scope", "who", "why", "until")
BOUND = ("round", "ratings_digest", "contract_digest")
OWN = (
    *("number", "time", "event", "round", "previous", "index", "project", "location", "carried"),
    "format",
)
HALF = re.compile(r"[\ud800-\udfff]")


def is_text(value: object) -> bool:
    """False for half characters, which cannot be written."""
    return isinstance(value, str) and not HALF.search(value)


def are_texts(value: object) -> bool:
    return isinstance(value, list) and all(map(is_text, value))


def _is_flag(value: object) -> bool:
    return isinstance(value, bool)


def _are_each(said: Mapping[str, Callable[[Any], bool]], values: object) -> bool:
    return isinstance(values, list) and all(
        isinstance(value, dict)
        and all(name in value and is_so(value[name]) for name, is_so in said.items())
        for value in values
    )


def _is_named(kind: str, of: object) -> bool:
    return isinstance(of, dict) and is_text(of.get(kind)) and isinstance(of.get("version"), int)


VERDICT = dict.fromkeys(("measure", "effect", "verdict", "reason"), is_text) | dict.fromkeys(
    ("value", "low", "high"), lambda value: value is None or is_number(value)
)
FINDING = {
    "description": is_text,
    "severity": is_text,
    "passed": _is_flag,
}
TEXTS, COUNT = ("a list of texts", are_texts), ("a whole number from 1", whole(1))
KINDS: dict[str, tuple[str, Callable[[Any], bool]]] = {
    "entries": ("a whole number", lambda value: isinstance(value, int)),
    "from_versions": TEXTS,
    "versions": TEXTS,
    "releases": TEXTS,
    "items": TEXTS,
    "earlier": TEXTS,
    "population_items": COUNT,
    "strata": (
        "whole numbers by name",
        lambda of: isinstance(of, dict) and are_texts([*of]) and all(map(whole(1), of.values())),
    ),
    "reasons": TEXTS,
    "rounds": (
        "texts by name",
        lambda of: isinstance(of, dict) and bool(of) and are_texts([*of, *of.values()]),
    ),
    **{
        kind: (f"a {kind} with its name and version", partial(_is_named, kind))
        for kind in ("policy", "contract")
    },
    "silver": ("facts by name", lambda value: isinstance(value, dict)),
    "delivery": (
        "texts by name",
        lambda of: isinstance(of, dict) and are_texts([*of, *of.values()]),
    ),
    "classifiers": ("a list of classifiers", partial(_are_each, {"name": is_text})),
    "project": ("a text", is_text),
    "location": ("a text", is_text),
    **dict.fromkeys(("tentative", "drifted", "listed"), ("true or false", _is_flag)),
    "version": COUNT,
    "verdicts": ("a list of verdicts", partial(_are_each, VERDICT)),
    "findings": ("a list of findings", partial(_are_each, FINDING)),
}


def refuse_other_project(project: str | None, found: str | None, where: str) -> None:
    if project is not None and found is not None and found != project:
        raise StoreError(
            f"{where}: found a store of project {found!r}; expected one of project {project!r}, "
            "since a store belongs to one project. Give each project its own store."
        )


def refuse_other_location(location: str | None, found: str | None, where: str) -> None:
    """Another code location than the one that wrote last.

    Where none is named, none is wrong: the command line and Python name none.
    """
    if location is not None and found is not None and found != location:
        raise StoreError(
            f"{where}: found a store that code location {found!r} decides for; expected "
            f"{location!r}, since two that decide by different policies undo each other. Give each "
            "its own store, or hand this one over: "
            "agreement-pipeline store adopt STORE LOCATION."
        )


def lacking(entry: Entry) -> str | None:
    if str(entry.get("event")) not in FACTS:
        return "an event that is known"
    needed = ["round", "time", *FACTS[entry["event"]]]
    if missing := [name for name in needed if name not in entry]:
        return f"facts {listed(missing)}"
    texts = sorted({*needed} - {*KINDS, "waivers"})
    for name in (*texts, *(name for name in KINDS if name in entry)):
        words, holds = KINDS.get(name, ("a text", is_text))
        if not holds(entry[name]):
            return f"{words} as {name}"
    return _unbound(entry) if entry["event"] == "decided" else None


def _unbound(decided: Entry) -> str | None:
    if not _are_each({}, decided["waivers"]):
        return "a list of waivers"
    for n, waiver in enumerate(decided["waivers"], 1):
        of_check = "check" in waiver
        what = ("check", "contract_digest") if of_check else ("measure",)
        for name in (*WAIVED[:2], *what, *WAIVED[2:]):
            found = waiver.get(name)
            if not found or (name in BOUND and found != decided[name]):
                return f"{name} of waiver {n}, which is its subject"
    return None


def mentioned(entry: Entry) -> set[str]:
    found = {entry["round"], *entry.get("rounds", ()), *entry.get("releases", ())}
    found |= {classifier_name(each["name"]) for each in entry.get("classifiers", ())}
    for kind in ("policy", "contract") if entry["event"] in ("decided", "certified") else ():
        if kind in entry:
            found.add(terms_name(kind, entry[kind][kind], entry[kind]["version"]))
    return found


def terms_name(kind: str, name: str, version: int) -> str:
    """No round can be called so."""
    return f"{kind} {name} {version}"


def classifier_name(name: str) -> str:
    """No round can be called so."""
    return f"classifier {name}"


def of_event(event: str, entries: Iterable[Said]) -> list[Said]:
    return [entry for entry in entries if entry["event"] == event]


def last_events(history: Iterable[Said]) -> dict[str, dict[str, Said]]:
    """The last entry of each kind, by round."""
    last: dict[str, dict[str, Said]] = {}
    for entry in history:
        last.setdefault(entry["round"], {})[entry["event"]] = entry
    return last


def is_decided(last: Mapping[str, Mapping[str, Any]]) -> bool:
    arrived, decided = last.get("ingested"), last.get("decided")
    digests = ("ratings_digest", "settings_digest")
    if arrived is None or decided is None:
        return False
    return all(arrived[each] == decided[each] for each in digests)


def said_before(before: Iterable[Entry], event: str, round_name: str, told: Entry) -> bool:
    """Two decisions are the same if they rest on the same facts: their words follow from these."""
    same_subject = [
        entry
        for entry in before
        if entry["round"] == round_name and SUBJECTS[entry["event"]] == SUBJECTS[event]
    ]
    if not same_subject or same_subject[-1]["event"] != event:
        return False
    last = {name: value for name, value in same_subject[-1].items() if name not in OWN}
    names = DECIDING if event == "decided" else {*last, *told}
    return all(last.get(name) == told.get(name) for name in names)
