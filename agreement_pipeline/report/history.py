"""The rounds of a project as its store remembers them."""

from collections.abc import Container, Iterable, Mapping, Sequence
from functools import partial
from types import MappingProxyType
from typing import TYPE_CHECKING, Any

import pandas as pd

from agreement_pipeline.estimates import Charted
from agreement_pipeline.policy import Policy
from agreement_pipeline.report.cells import without_numbers
from agreement_pipeline.report.control import control_rows
from agreement_pipeline.report.decisions import decisions, health, rules_of
from agreement_pipeline.report.figures import history_figure
from agreement_pipeline.report.glance import glance
from agreement_pipeline.report.section import Section
from agreement_pipeline.text import in_words, interval, listed

if TYPE_CHECKING:
    from agreement_pipeline.store import Store

COLUMNS = (
    "round",
    "decision",
    "version",
    "release",
    "measure",
    "scope",
    "value",
    "low",
    "high",
    "confidence_level",
    "verdict",
    "reason",
    "broken",
)
NOT_JUDGED, NONE = "not judged", "none"
MOST_SHOWN = 40
"""Of so many rounds, the last ones, each is shown."""


def round_table(store: "Store", due: Mapping[str, str] = MappingProxyType({})) -> pd.DataFrame:
    """A row for each rule that can hold a release, in every round.

    A row has the value, the verdict, the latest decision on the round and its reasons, and how
    many versions of the round came. A limit is missing if there is none.

    - A round is *pending* if what was ingested last was not decided.
    - The contract's checks that hold a round stand in `broken`.
    - A release is *superseded* if its round has a newer version.
    - A round that is `due` was delivered but is not in the store as it came. It is *not judged*,
      for the reason that `due` gives. The decision on its earlier bytes stays in the table.
    """
    with store.reading():
        history, withdrawn = store.history(), store.withdrawn()
    return table_of_rows(rows_by_round(history, withdrawn), due)


def rows_by_round(
    history: Iterable[Mapping[str, Any]], withdrawn: Container[str]
) -> dict[str, list[dict[str, Any]]]:
    """The rows of each round that was ingested, from log entries. Its own must be among them."""
    entered: dict[str, list[Mapping[str, Any]]] = {}
    for entry in history:
        entered.setdefault(entry["round"], []).append(entry)
    return {
        name: _rows(name, entries, withdrawn)
        for name, entries in entered.items()
        if any(entry["event"] == "ingested" for entry in entries)
    }


def table_of_rows(
    by_round: Mapping[str, Sequence[Mapping[str, Any]]],
    due: Mapping[str, str] = MappingProxyType({}),
) -> pd.DataFrame:
    """The table of `round_table`, from the rows of each round."""
    nothing = {"decision": NOT_JUDGED, "release": NONE}
    known = {name: (*by_round.get(name, ()), nothing)[0] for name in due}
    not_judged = [
        _undecided(name, NOT_JUDGED, known[name]["release"], why)
        for name, why in due.items()
        if known[name]["decision"] != "pending"
    ]
    rows = [row for name in sorted(by_round) for row in by_round[name]] + not_judged
    rows.sort(key=lambda row: str(row["round"]))
    table = pd.DataFrame(rows, columns=list(COLUMNS))
    return table.astype(dict.fromkeys(("value", "low", "high", "confidence_level"), float))


def round_text(rounds: pd.DataFrame) -> pd.DataFrame:
    """The rounds in words, for people.

    A round's name and decision are written once, and both limits as one interval.
    """
    known = rounds["value"].notna()
    again = rounds[["round", "decision"]].duplicated()
    decision = [
        f"{said}, version {version}" if version > 1 else said
        for said, version in zip(rounds["decision"], rounds["version"], strict=True)
    ]
    shown = rounds.assign(decision=pd.Series(decision, index=rounds.index, dtype=object))
    intervals = [
        interval(low, high, between="…")
        for low, high in zip(rounds["low"], rounds["high"], strict=True)
    ]
    return pd.DataFrame(
        {
            **{name: shown[name].mask(again, "") for name in ("round", "decision", "release")},
            "measure": rounds["measure"],
            "value": rounds["value"].map(in_words).where(known, ""),
            "interval": pd.Series(intervals, index=rounds.index, dtype=object).where(known, ""),
            "verdict": rounds["verdict"],
            "reason": rounds["reason"]
            .map(without_numbers)
            .where(rounds["measure"] != "", rounds["reason"]),
        }
    )


def history(
    rounds: pd.DataFrame,
    policy: Policy,
    chart: Sequence[Charted],
    late: str = "",
) -> Section:
    """The last rounds at a glance, the decision on each and why, then all the rest.

    Of many rounds the last ones are shown, and the numbers count all. The plots show the measure of
    the policy's first rule that can hold a release. `chart` is their control chart, and `late`
    says why the next round is overdue.
    """
    first = next(rule for rule in policy.rules if rule.effect == "hold")
    names = rounds["round"].unique()
    latest = rounds[rounds["round"].isin(names[-MOST_SHOWN:])]
    more = f"the last {MOST_SHOWN} of {len(names)} rounds" if len(names) > MOST_SHOWN else None
    return {
        "picture": partial(glance, rounds, first),
        "decisions": decisions(latest),
        "shown": more,
        "health": health(rounds, late),
        **round_counts(rounds),
        "larger_plot": partial(history_figure, rounds, first),
        "rules": rules_of(latest),
        "control_chart": control_rows(chart[: -MOST_SHOWN - 1 : -1]),
    }


def round_counts(rounds: pd.DataFrame) -> Section:
    """How many rounds there are, how many are held and how many were not judged."""
    return {
        "rounds": int(rounds["round"].nunique()),
        "held_rounds": len(_held(rounds)),
        "not_judged": len(_decided_as(rounds, NOT_JUDGED)),
    }


def not_admitted(rounds: pd.DataFrame) -> tuple[str, ...]:
    """Which rounds are held and which were not judged, in words; empty if all are admitted."""
    held, not_judged = _held(rounds), _decided_as(rounds, NOT_JUDGED)
    said = (
        (held, f"held: {', '.join(held)}"),
        (not_judged, f"not judged: {listed(not_judged)}; the table says why"),
    )
    return tuple(words for found, words in said if found)


def event_table(history: Iterable[Mapping[str, Any]]) -> pd.DataFrame:
    """The entries of a log as text, one row each."""
    return pd.DataFrame(
        {
            "entry": entry["number"],
            "time": entry["time"][:19].replace("T", " "),
            "event": entry["event"],
            "round": entry["round"],
            "what": _what(entry),
            "why": "; ".join(map(str, entry.get("reasons", ()))),
        }
        for entry in history
    )


def admitted_rounds(store: "Store") -> tuple[str, ...]:
    """The rounds whose latest version is admitted. A release judges each of them again."""
    from agreement_pipeline.store import is_decided

    history = store.history()
    last: dict[str, dict[str, dict[str, Any]]] = {}
    for entry in history:
        last.setdefault(entry["round"], {})[entry["event"]] = entry
    return tuple(
        name
        for name in _ingested(history)
        if is_decided(last[name]) and last[name]["decided"]["decision"] == "admitted"
    )


def decision_word(decision: str, tentative: bool) -> str:
    """The decision in a word or two.

    >>> decision_word("admitted", tentative=True), decision_word("held", tentative=False)
    ('admitted (tentative)', 'held')
    """
    return "admitted (tentative)" if tentative else decision


def _ingested(history: Iterable[Mapping[str, Any]]) -> list[str]:
    return sorted({entry["round"] for entry in history if entry["event"] == "ingested"})


def _decided_as(rounds: pd.DataFrame, decision: str) -> list[str]:
    return list(rounds.loc[rounds["decision"] == decision, "round"].unique())


def _held(rounds: pd.DataFrame) -> list[str]:
    """The rounds with a decision that does not admit them, or with none yet."""
    decision = rounds["decision"]
    held = ~decision.str.startswith("admitted") & (decision != NOT_JUDGED)
    return list(rounds.loc[held, "round"].unique())


def _what(entry: Mapping[str, Any]) -> str:
    """What was ingested, decided, released or withdrawn."""
    if entry["event"] == "withdrawn":
        return ", ".join(entry["releases"])
    if entry["event"] == "decided":
        later = f", version {entry['version']}" if entry["version"] > 1 else ""
        return decision_word(entry["decision"], entry["tentative"]) + later
    return (
        str(entry["release"])
        if entry["event"] == "released"
        else f"{entry['source']}, {entry['ratings_digest'][:12]}"
    )


def _rows(
    round_name: str, entries: Sequence[Mapping[str, Any]], withdrawn: Container[str]
) -> list[dict[str, Any]]:
    from agreement_pipeline.store import is_decided

    last, release = {entry["event"]: entry for entry in entries}, _release(entries, withdrawn)
    if not is_decided(last):
        return [_undecided(round_name, "pending", release, "not decided yet")]
    decision = last["decided"]
    holding = [verdict for verdict in decision["verdicts"] if verdict["effect"] == "hold"]
    return [{"release": release, **_row(decision, verdict)} for verdict in holding]


def _undecided(round_name: str, decision: str, release: str, reason: str) -> dict[str, Any]:
    numbers = dict.fromkeys(("value", "low", "high", "confidence_level"))
    nothing = {"measure": "", "scope": "", **numbers, "verdict": ""}
    return {
        "round": round_name,
        "decision": decision,
        "version": 0,
        "release": release,
        **nothing,
        "reason": reason,
        "broken": "",
    }


def _row(decision: Mapping[str, Any], verdict: Mapping[str, Any]) -> dict[str, Any]:
    return {
        "round": decision["round"],
        "measure": verdict["measure"],
        "scope": verdict["scope"],
        "value": verdict["value"],
        "low": verdict["low"],
        "high": verdict["high"],
        "confidence_level": decision["policy"]["confidence_level"],
        "verdict": verdict["verdict"],
        "decision": decision_word(decision["decision"], decision["tentative"]),
        "version": decision["version"],
        "reason": "; ".join([*_broken(decision), verdict["reason"]]),
        "broken": "; ".join(_broken(decision)),
    }


def _broken(decision: Mapping[str, Any]) -> list[str]:
    return [
        finding["description"]
        for finding in decision["findings"]
        if not finding["passed"] and finding["severity"] == "error"
    ]


def _release(entries: Sequence[Mapping[str, Any]], withdrawn: Container[str]) -> str:
    """What became of the release of a round."""
    released = [entry for entry in entries if entry["event"] == "released"]
    in_force = [entry["rounds"] for entry in released if entry["release"] not in withdrawn]
    if not in_force:
        return "withdrawn" if released else NONE
    arrived = [entry for entry in entries if entry["event"] == "ingested"]
    present = {entry["round"]: entry["ratings_digest"] for entry in arrived}
    return "released" if in_force[-1] == present else "superseded"
