"""The rounds of a project as its store remembers them."""

from typing import Any

import pandas as pd

from agreement_pipeline.store import Store

COLUMNS = ("round", "decision", "release", "measure", "value", "low", "high", "verdict", "reason")


def round_table(store: Store) -> pd.DataFrame:
    """One row for each demand that holds, of every round: what was found, the verdict, the decision and its reasons.

    A round stands there with its latest decision. A round that was ingested and not yet decided is *pending*.
    """
    rows = [row for round_name in store.rounds() for row in _rows(store, round_name)]
    table = pd.DataFrame(rows, columns=list(COLUMNS))
    return table.astype(dict.fromkeys(("value", "low", "high"), float))


def round_text(rounds: pd.DataFrame) -> pd.DataFrame:
    """The same table in words, for people: a round's name and decision once, the limits as one interval."""
    known = rounds["value"].notna()
    again = rounds["round"].duplicated()
    low, high = (rounds[name].map("{:.3f}".format).where(rounds[name].notna(), "no limit") for name in ("low", "high"))
    return pd.DataFrame(
        {
            **{name: rounds[name].mask(again, "") for name in ("round", "decision", "release")},
            "measure": rounds["measure"],
            "value": rounds["value"].map("{:.3f}".format).where(known, ""),
            "interval": (low + "…" + high).where(known, ""),
            "verdict": rounds["verdict"],
            "reason": rounds["reason"].map(_without_numbers),
        }
    )


def admitted_rounds(store: Store) -> tuple[str, ...]:
    """The rounds whose latest decision admits them. Whoever releases them judges them again."""
    decisions = ((round_name, latest(store, round_name, "decided")) for round_name in store.rounds())
    return tuple(round_name for round_name, decision in decisions if decision and decision["decision"] == "admitted")


def latest(store: Store, round_name: str, *events: str) -> dict[str, Any] | None:
    """The last entry of the round's log that is one of `events`."""
    entries = [entry for entry in store.history(round_name) if entry["event"] in events]
    return entries[-1] if entries else None


def _without_numbers(reason: str) -> str:
    """A reason less its beginning, which says what the other columns say."""
    return reason.partition(": ")[2] or reason


def _rows(store: Store, round_name: str) -> list[dict[str, Any]]:
    decision = latest(store, round_name, "decided")
    if decision is None:
        nothing = {"measure": "", "value": None, "low": None, "high": None, "verdict": ""}
        return [{"round": round_name, "decision": "pending", "release": _release(store, round_name), **nothing, "reason": "not decided yet"}]
    holding = [verdict for verdict in decision["verdicts"] if verdict["effect"] == "hold"]
    return [_row(store, round_name, decision, verdict) for verdict in holding]


def _row(store: Store, round_name: str, decision: dict[str, Any], verdict: dict[str, Any]) -> dict[str, Any]:
    return {
        "round": round_name,
        "measure": verdict["measure"],
        "value": verdict["value"],
        "low": verdict["low"],
        "high": verdict["high"],
        "verdict": verdict["verdict"],
        "decision": "admitted (tentative)" if decision["tentative"] else decision["decision"],
        "reason": _reason(decision, verdict),
        "release": _release(store, round_name),
    }


def _reason(decision: dict[str, Any], verdict: dict[str, Any]) -> str:
    broken = [finding["description"] for finding in decision["findings"] if not finding["passed"] and finding["severity"] == "error"]
    return "; ".join([*broken, verdict["reason"]])


def _release(store: Store, round_name: str) -> str:
    last = latest(store, round_name, "released", "withdrawn")
    if last is None:
        return "none"
    return "released" if last["event"] == "released" else "withdrawn"
