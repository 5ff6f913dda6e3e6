"""What an entry of the log must say, and when two entries say the same."""

import re
from collections.abc import Callable, Iterable, Mapping
from functools import partial
from typing import Any, TypeVar

from agreement_pipeline.errors import StoreError
from agreement_pipeline.mistakes import is_number, is_whole_number_between
from agreement_pipeline.text import listed

Entry = dict[str, Any]
AnyEntry = TypeVar("AnyEntry", bound=Mapping[str, Any])

WHOLE_STORE = "log"
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
DECISION_FACTS = (
    "decision",
    "ratings_digest",
    "policy_digest",
    "contract_digest",
    "settings_digest",
    "code_version",
    "waivers",
    "version",
)
DECIDING_FACTS = (*DECISION_FACTS, "silver", "classifiers", "delivery", "trains", "gold_items")
"""The last five stand in decisions on silver rounds, where the classifiers are known, where a suite
was asked of the delivery, where the project says what trains, and on rounds with gold items."""
FACTS_BY_EVENT = {
    "ingested": (
        "ratings_digest",
        "original_digest",
        "source",
        "table_digest",
        "settings_digest",
    ),
    "decided": (*DECISION_FACTS, "tentative", "verdicts", "findings", "policy"),
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
WAIVER_FACTS = ("round", "ratings_digest", "scope", "who", "why", "until")
REMEDY_FACTS = ("round", "ratings_digest", "remedied_by", "sample", "check", "who", "why", "until")
DECISION_BOUND_FACTS = ("round", "ratings_digest", "contract_digest", "policy_digest")
LOG_FIELDS = (
    *("number", "time", "event", "round", "previous", "index", "project", "location", "carried"),
    "format",
)
GOLD_ITEMS = "gold items"
"""By this name the log finds decisions on rounds with gold items, and withdrawals of releases that
trained on them. No round can be called so."""
SURROGATE = re.compile(r"[\ud800-\udfff]")


def is_text(value: object) -> bool:
    """False for half characters, which cannot be written."""
    return isinstance(value, str) and not SURROGATE.search(value)


def are_texts(value: object) -> bool:
    return isinstance(value, list) and all(map(is_text, value))


def _is_flag(value: object) -> bool:
    return isinstance(value, bool)


def _are_mappings_with(checks: Mapping[str, Callable[[Any], bool]], values: object) -> bool:
    return isinstance(values, list) and all(
        isinstance(value, dict)
        and all(name in value and is_so(value[name]) for name, is_so in checks.items())
        for value in values
    )


def _has_name_and_version(kind: str, value: object) -> bool:
    return (
        isinstance(value, dict)
        and is_text(value.get(kind))
        and isinstance(value.get("version"), int)
    )


VERDICT = dict.fromkeys(("measure", "effect", "verdict", "reason"), is_text) | dict.fromkeys(
    ("value", "low", "high"), lambda value: value is None or is_number(value)
)
FINDING = {
    "description": is_text,
    "severity": is_text,
    "passed": _is_flag,
}
TEXTS, COUNT = ("a list of texts", are_texts), ("a whole number from 1", is_whole_number_between(1))
CHECK_BY_FACT: dict[str, tuple[str, Callable[[Any], bool]]] = {
    "entries": ("a whole number", lambda value: isinstance(value, int)),
    "from_versions": TEXTS,
    "versions": TEXTS,
    "releases": TEXTS,
    "items": TEXTS,
    "earlier": TEXTS,
    "population_items": COUNT,
    "strata": (
        "whole numbers by name",
        lambda value: (
            isinstance(value, dict)
            and are_texts([*value])
            and all(map(is_whole_number_between(1), value.values()))
        ),
    ),
    "reasons": TEXTS,
    "rounds": (
        "texts by name",
        lambda value: (
            isinstance(value, dict) and bool(value) and are_texts([*value, *value.values()])
        ),
    ),
    **{
        kind: (f"a {kind} with its name and version", partial(_has_name_and_version, kind))
        for kind in ("policy", "contract")
    },
    "silver": ("facts by name", lambda value: isinstance(value, dict)),
    **dict.fromkeys(
        ("delivery", "contents"),
        (
            "texts by name",
            lambda value: isinstance(value, dict) and are_texts([*value, *value.values()]),
        ),
    ),
    "classifiers": ("a list of classifiers", partial(_are_mappings_with, {"name": is_text})),
    "project": ("a text", is_text),
    "location": ("a text", is_text),
    **dict.fromkeys(("tentative", "drifted", "listed"), ("true or false", _is_flag)),
    **dict.fromkeys(("version", "gold_items"), COUNT),
    "verdicts": ("a list of verdicts", partial(_are_mappings_with, VERDICT)),
    "findings": ("a list of findings", partial(_are_mappings_with, FINDING)),
}


def require_same_project(project: str | None, stored_project: str | None, place: str) -> None:
    if project is not None and stored_project is not None and stored_project != project:
        raise StoreError(
            f"{place}: found a store of project {stored_project!r}; expected one of project "
            f"{project!r}, since a store belongs to one project. Give each project its own store."
        )


def require_same_location(location: str | None, stored_location: str | None, place: str) -> None:
    """Another code location than the one that wrote last.

    Where none is named, none is wrong: the command line and Python name none.
    """
    if location is not None and stored_location is not None and stored_location != location:
        raise StoreError(
            f"{place}: found a store that code location {stored_location!r} decides for; expected "
            f"{location!r}, since two that decide by different policies undo each other. Give each "
            "its own store, or hand this one over: "
            "agreement-pipeline store adopt STORE LOCATION."
        )


def missing_facts_message(entry: Entry) -> str | None:
    """What an entry lacks, as half a sentence; None if it is whole."""
    if str(entry.get("event")) not in FACTS_BY_EVENT:
        return "an event that is known"
    required = ["round", "time", *FACTS_BY_EVENT[entry["event"]]]
    if missing := [name for name in required if name not in entry]:
        return f"facts {listed(missing)}"
    texts = sorted({*required} - {*CHECK_BY_FACT, "waivers"})
    for name in (*texts, *(name for name in CHECK_BY_FACT if name in entry)):
        words, holds = CHECK_BY_FACT.get(name, ("a text", is_text))
        if not holds(entry[name]):
            return f"{words} as {name}"
    return _unbound_waiver_message(entry) if entry["event"] == "decided" else None


def _unbound_waiver_message(decided: Entry) -> str | None:
    """What a waiver lacks of the facts that bind it to the decision; None if nothing."""
    if not _are_mappings_with({}, decided["waivers"]):
        return "a list of waivers"
    for n, waiver in enumerate(decided["waivers"], 1):
        if "remedied_by" in waiver:
            if unbound_fact := _unbound_remedy_fact(waiver, decided):
                return f"{unbound_fact} of waiver {n}, which is its subject"
            continue
        of_check = "check" in waiver
        digest = "policy_digest" if "policy_digest" in waiver else "contract_digest"
        subject_facts = ("check", digest) if of_check else ("measure",)
        for name in (*WAIVER_FACTS[:2], *subject_facts, *WAIVER_FACTS[2:]):
            value = waiver.get(name)
            if not value or (name in DECISION_BOUND_FACTS and value != decided[name]):
                return f"{name} of waiver {n}, which is its subject"
    return None


def _unbound_remedy_fact(remedy: Mapping[str, Any], decided: Entry) -> str | None:
    """The ratings that a remedy admits are those that were decided upon."""
    if missing := next((name for name in REMEDY_FACTS if not remedy.get(name)), None):
        return missing
    subject = {name: decided[name] for name in ("round", "ratings_digest")}
    return None if remedy["remedied_by"] == subject else "remedied_by"


def mentioned_names(entry: Entry) -> set[str]:
    """The rounds, releases, classifiers and policies of an entry, as the index names them."""
    names = {entry["round"], *entry.get("rounds", ()), *entry.get("releases", ())}
    names |= set() if entry.keys().isdisjoint(("gold_items", "gold_in")) else {GOLD_ITEMS}
    names |= {classifier_name(classifier["name"]) for classifier in entry.get("classifiers", ())}
    for kind in ("policy", "contract") if entry["event"] in ("decided", "certified") else ():
        if kind in entry:
            names.add(terms_name(kind, entry[kind][kind], entry[kind]["version"]))
    return names


def terms_name(kind: str, name: str, version: int) -> str:
    """No round can be called so."""
    return f"{kind} {name} {version}"


def classifier_name(name: str) -> str:
    """No round can be called so."""
    return f"classifier {name}"


def of_event(event: str, entries: Iterable[AnyEntry]) -> list[AnyEntry]:
    return [entry for entry in entries if entry["event"] == event]


def last_events(history: Iterable[AnyEntry]) -> dict[str, dict[str, AnyEntry]]:
    """The last entry of each kind, by round."""
    last_by_round: dict[str, dict[str, AnyEntry]] = {}
    for entry in history:
        last_by_round.setdefault(entry["round"], {})[entry["event"]] = entry
    return last_by_round


def is_decided(last_entries: Mapping[str, Mapping[str, Any]]) -> bool:
    arrived, decided = last_entries.get("ingested"), last_entries.get("decided")
    digests = ("ratings_digest", "settings_digest")
    if arrived is None or decided is None:
        return False
    return all(arrived[digest] == decided[digest] for digest in digests)


def is_repeated(
    earlier_entries: Iterable[Entry], event: str, round_name: str, facts: Entry
) -> bool:
    """Two decisions are the same if they rest on the same facts: their words follow from these."""
    same_subject = [
        entry
        for entry in earlier_entries
        if entry["round"] == round_name and SUBJECTS[entry["event"]] == SUBJECTS[event]
    ]
    if not same_subject or same_subject[-1]["event"] != event:
        return False
    last_facts = {name: value for name, value in same_subject[-1].items() if name not in LOG_FIELDS}
    names = DECIDING_FACTS if event == "decided" else {*last_facts, *facts}
    return all(last_facts.get(name) == facts.get(name) for name in names)
