"""All rounds in few words: what was decided on each and why, and the state of the whole."""

from collections.abc import Hashable, Mapping
from typing import Any

import pandas as pd

from agreement_pipeline.text import in_words, interval


def decisions(rounds: pd.DataFrame) -> pd.DataFrame:
    """Each round with its decision, why it was made, and its release. The last round first."""
    by_round = rounds.groupby(["round", "decision", "release"], sort=False)
    said = [(*map(str, key), _why(rows)) for key, rows in by_round]
    return pd.DataFrame(
        [(name, decision, why, release) for name, decision, release, why in reversed(said)],
        columns=["round", "decision", "why", "release"],
    )


def rules_of(rounds: pd.DataFrame) -> pd.DataFrame:
    """A row for each rule that can hold a release, in every round. The last round first."""
    judged = rounds[rounds["measure"] != ""].iloc[::-1]
    return pd.DataFrame(
        {
            "round": judged["round"],
            "measure": judged["measure"],
            "value": [_value(row) for row in judged.to_dict("records")],
            "verdict": judged["verdict"],
        }
    )


def health(rounds: pd.DataFrame, late: str = "") -> str:
    """The state of all rounds in one line, with the reason why the next one is `late`.

    >>> health(pd.DataFrame({"round": ["W1", "W2"], "decision": ["admitted", "held"]}))
    '1 of 2 rounds is admitted. The last one, W2, is held.'
    """
    if rounds.empty:
        return "No round has arrived yet."
    overdue = f" The next one is overdue: {late}." if late else ""
    last = rounds.iloc[-1]
    of_rounds = rounds.groupby("round")["decision"].last()
    good = int(of_rounds.str.startswith("admitted").sum())
    return (
        f"{good} of {len(of_rounds)} rounds {'is' if good == 1 else 'are'} admitted. "
        f"The last one, {last['round']}, is {last['decision']}.{overdue}"
    )


def _why(rows: pd.DataFrame) -> str:
    """What holds a round. If it is admitted: the values that it is admitted on."""
    records = rows.to_dict("records")
    if rows["measure"].iloc[0] == "":
        return str(rows["reason"].iloc[0])
    held = rows["decision"].iloc[0] == "held"
    unmet = [row for row in records if held and row["verdict"] != "reliable"]
    broken = list(filter(None, rows["broken"].iloc[:1]))
    shown = unmet or ([] if broken else records)
    return "; ".join([*broken, *(_value_and_verdict(row) for row in shown)])


def _value_and_verdict(row: Mapping[Hashable, Any]) -> str:
    """The verdict on a value; if there is none, why."""
    if row["verdict"] == "not_evaluated":
        return str(row["reason"]).removeprefix(f"{row['broken']}; ")
    value = _value(row)
    return f"{row['measure']} {value + ' ' if value else ''}is {row['verdict']}"


def _value(row: Mapping[Hashable, Any]) -> str:
    if pd.isna(row["value"]):
        return ""
    return f"{in_words(row['value'])} ({interval(row['low'], row['high'], between=' … ')})"
