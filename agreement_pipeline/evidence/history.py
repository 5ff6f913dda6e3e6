"""The rounds of a project as its store remembers them."""

from collections.abc import Callable, Collection, Container, Hashable, Iterable, Mapping, Sequence
from types import MappingProxyType
from typing import TYPE_CHECKING, Any

import pandas as pd

from agreement_pipeline.contract import RESERVED_NAMES
from agreement_pipeline.evidence.figure import NAMES_OF_TONES, RoundLine, cut_text
from agreement_pipeline.evidence.tables import reason_without_numbers, value_in_words
from agreement_pipeline.text import (
    counted,
    in_words,
    interval,
    join_sentences,
    joined,
    listed,
    natural_sort_key,
    short_number,
)

if TYPE_CHECKING:
    from agreement_pipeline.policy import Policy
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
    "policy",
    "policy_digest",
    "what_is_new",
    "code",
    "needs",
    "tentative",
)
NUMBERS = ("value", "low", "high", "confidence_level", "needs", "tentative")
NOT_JUDGED, NONE = "not judged", "none"
DECISION_KEYS = ["round", "decision", "release", "policy"]
MAX_STEP_LENGTH = 220
MAX_LINES = 40
Entry = Mapping[str, Any]


def round_table(store: "Store", due: Mapping[str, str] = MappingProxyType({})) -> pd.DataFrame:
    """A row for each rule that can hold a release, in every round.

    - A round is *pending* if what was ingested last was not decided.
    - A release is *superseded* if its round has a newer version.
    - A round that is `due` was delivered but is not in the store as it came. It is *not judged*,
      for the reason that `due` gives. The decision on its earlier bytes stays in the table.
    """
    with store.reading():
        history, withdrawn = store.history(), store.withdrawn()
    return table_of_rows(rows_by_round(history, withdrawn), due)


def rows_by_round(
    history: Iterable[Entry], withdrawn: Container[str]
) -> dict[str, list[dict[str, Any]]]:
    by_round: dict[str, list[Entry]] = {}
    for entry in history:
        by_round.setdefault(entry["round"], []).append(entry)
    return {
        name: _rule_rows_of_round(name, entries, withdrawn)
        for name, entries in by_round.items()
        if any(entry["event"] == "ingested" for entry in entries)
    }


def table_of_rows(
    by_round: Mapping[str, Sequence[Entry]], due: Mapping[str, str] = MappingProxyType({})
) -> pd.DataFrame:
    nothing = {"decision": NOT_JUDGED, "release": NONE}
    first_row_by_round = {name: (*by_round.get(name, ()), nothing)[0] for name in due}
    not_judged = [
        _undecided_row(name, NOT_JUDGED, first_row_by_round[name]["release"], reason)
        for name, reason in due.items()
        if first_row_by_round[name]["decision"] != "pending"
    ]
    rows = [row for name in sorted(by_round) for row in by_round[name]] + not_judged
    rows.sort(key=lambda row: natural_sort_key(str(row["round"])))
    table = pd.DataFrame(rows, columns=list(COLUMNS)).astype(dict.fromkeys(NUMBERS, float))
    # Rows that an earlier build kept do not say what is new, nor which code a verdict has.
    texts = {name: table[name].astype(object).fillna("") for name in ("what_is_new", "code")}
    return table.assign(**texts)


def _rule_rows_of_round(
    name: str, entries: Sequence[Entry], withdrawn: Container[str]
) -> list[dict[str, Any]]:
    from agreement_pipeline.store import is_decided

    last_by_event, release = (
        {entry["event"]: entry for entry in entries},
        _release_state(entries, withdrawn),
    )
    if not is_decided(last_by_event):
        return [_undecided_row(name, "pending", release, "not decided yet")]
    decision = last_by_event["decided"]
    waived = {waiver.get("check") for waiver in decision["waivers"]}
    broken = [
        finding["description"]
        for finding in decision["findings"]
        if not finding["passed"]
        and finding["severity"] == "error"
        and finding.get("check") not in waived
    ]
    policy, contract = decision["policy"], decision.get("contract", {})
    terms = f"{policy['policy']}, version {policy['version']}"
    if contract.get("contract", NONE) not in RESERVED_NAMES:
        terms += f"; contract {contract['contract']}, version {contract['version']}"
    of_decision = {
        "round": decision["round"],
        "release": release,
        "decision": decision_word(decision["decision"], decision["tentative"]),
        "version": decision["version"],
        "broken": join_sentences(broken),
        "policy": terms,
        "policy_digest": decision["policy_digest"],
        "what_is_new": decision.get("what_is_new", ""),
    }
    verdict_columns = ("measure", "scope", "value", "low", "high", "verdict", "code")
    rules = policy.get("rules", ())
    rule_by_name = {(rule["measure"], rule.get("scope", "round")): rule for rule in rules}
    return [
        {
            **of_decision,
            "confidence_level": policy.get("confidence_level"),
            **{name: verdict.get(name, "") for name in verdict_columns},
            **_cutoffs(verdict, rule_by_name, policy),
            "reason": join_sentences([*broken, verdict["reason"]]),
        }
        for verdict in decision["verdicts"]
        if verdict["effect"] == "hold"
    ]


def _cutoffs(
    verdict: Entry, rule_by_name: Mapping[tuple[str, str], Entry], policy: Entry
) -> dict[str, float | None]:
    """What the policy of the decision asks of the lower limit, and its lower cut-off."""
    kind = verdict["scope"].partition(" ")[0]
    rule = rule_by_name.get((verdict["measure"], kind), {})
    needed = "tentative" if "tentative" in policy.get("admit", ()) else "reliable"
    return {"needs": rule.get(needed), "tentative": rule.get("tentative")}


def _undecided_row(name: str, decision: str, release: str, reason: str) -> dict[str, Any]:
    fields = {"round": name, "decision": decision, "release": release, "reason": reason}
    return {**dict.fromkeys(COLUMNS, ""), **dict.fromkeys(NUMBERS), "version": 0, **fields}


def _release_state(entries: Sequence[Entry], withdrawn: Container[str]) -> str:
    from agreement_pipeline.store import of_event

    released = of_event("released", entries)
    in_force = [entry["rounds"] for entry in released if entry["release"] not in withdrawn]
    if not in_force:
        return "withdrawn" if released else NONE
    arrived = of_event("ingested", entries)
    present = {entry["round"]: entry["ratings_digest"] for entry in arrived}
    return "released" if in_force[-1] == present else "superseded"


def decision_word(decision: str, tentative: bool) -> str:
    """The decision in a word or two.

    >>> decision_word("admitted", tentative=True), decision_word("held", tentative=False)
    ('admitted (tentative)', 'held')
    """
    return "admitted (tentative)" if tentative else decision


def admitted_rounds(store: "Store") -> tuple[str, ...]:
    from agreement_pipeline.store import is_decided, last_events

    return tuple(
        name
        for name, events in sorted(last_events(store.history()).items())
        if is_decided(events) and events["decided"]["decision"] == "admitted"
    )


def event_table(history: Iterable[Entry]) -> pd.DataFrame:
    return pd.DataFrame(
        {
            "entry": entry["number"],
            "time": entry["time"][:19].replace("T", " "),
            "event": entry["event"],
            "round": entry["round"],
            "what": DESCRIPTION_BY_EVENT[entry["event"]](entry),
            "why": join_sentences(
                [*map(str, entry.get("reasons", ())), entry.get("what_is_new", "")]
            ),
        }
        for entry in history
    )


DESCRIPTION_BY_EVENT: Mapping[str, Callable[[Any], str]] = {
    "ingested": lambda entry: f"{entry['source']}, {entry['ratings_digest'][:12]}",
    "decided": lambda entry: _decision_with_version(
        decision_word(entry["decision"], entry["tentative"]), entry
    ),
    "released": lambda entry: str(entry["release"]),
    "withdrawn": lambda entry: ", ".join(entry["releases"]),
    "drawn": lambda entry: f"{len(entry['items'])} of {counted(entry['population_items'], 'item')}",
    "certified": lambda entry: (
        f"{entry['classifier']}: {entry['decision']}, until {entry['expires']}"
    ),
    "adopted": lambda entry: (
        f"by code location {entry['by']}{_describe_requester(entry.get('who'))}"
    ),
    "erased": lambda entry: (
        f"{entry['subject']}, from {counted(len(entry['versions']), 'version')} of rounds, "
        f"as {entry['by']} asked: {entry['why']}"
    ),
    "anchored": lambda entry: (
        f"{entry['classifier']}: anchors labelled again{', drifted' * entry['drifted']}"
    ),
}


def _describe_requester(requester: str | None) -> str:
    """Logs of earlier versions do not say who asked for a change of a store."""
    return f", as {requester} asked" if requester else ""


def _decision_with_version(decision: str, entry: Mapping[Hashable, Any] | Entry) -> str:
    return f"{decision}, version {entry['version']}" if entry["version"] > 1 else decision


def rounds_in_words(rounds: pd.DataFrame) -> pd.DataFrame:
    has_value = rounds["value"].notna()
    is_repeat = rounds[["round", "decision"]].duplicated()
    decisions = [_decision_with_version(row["decision"], row) for row in rounds.to_dict("records")]
    with_decisions = rounds.assign(decision=pd.Series(decisions, index=rounds.index, dtype=object))
    intervals = [
        interval(low, high, separator="…")
        for low, high in zip(rounds["low"], rounds["high"], strict=True)
    ]
    return pd.DataFrame(
        {
            **{
                name: with_decisions[name].mask(is_repeat, "")
                for name in ("round", "decision", "release")
            },
            "measure": [describe_part(row["measure"], row) for row in rounds.to_dict("records")],
            "value": rounds["value"].map(in_words).where(has_value, ""),
            "interval": pd.Series(intervals, index=rounds.index, dtype=object).where(has_value, ""),
            "verdict": rounds["verdict"],
            "reason": [
                join_sentences(
                    [_reason_without_numbers(row), "" if is_again else row.get("what_is_new", "")]
                )
                for row, is_again in zip(rounds.to_dict("records"), is_repeat, strict=True)
            ],
        }
    )


def describe_part(measure: str, row: Mapping[Hashable, Any]) -> str:
    return measure if row["scope"] in ("", "round") else f"{measure} of {row['scope']}"


def _reason_without_numbers(row: Mapping[Hashable, Any]) -> str:
    if row["measure"] == "":
        return str(row["reason"])
    return "; ".join(filter(None, [row["broken"], reason_without_numbers(_describe_measure(row))]))


def _describe_measure(row: Mapping[Hashable, Any]) -> str:
    return str(row["reason"]).removeprefix(f"{row['broken']}; ")


def decisions_by_round(rounds: pd.DataFrame) -> pd.DataFrame:
    by_round = rounds.groupby(DECISION_KEYS, sort=False, dropna=False)
    decision_rows = [(*by[:2], _decision_reason(rows), *by[2:]) for by, rows in by_round]
    columns = ["round", "decision", "why", "release", "policy"]
    return pd.DataFrame(decision_rows[::-1], columns=columns, dtype=object)


def round_lines(rounds: pd.DataFrame, also: Collection[str] = ()) -> list[RoundLine]:
    """A line for each of the latest rounds, and for others that are named, the last round first.

    Of a round that was delivered again and is not judged, the line says so.
    """
    names = {*rounds["round"].unique()[-MAX_LINES:], *also}
    line_by_round: dict[str, RoundLine] = {}
    for _, rows in rounds[rounds["round"].isin(names)].groupby(
        DECISION_KEYS, sort=False, dropna=False
    ):
        line = _round_line(rows.to_dict("records"))
        line_by_round[line.round] = line
    return [*line_by_round.values()][::-1]


def _round_line(rows: Sequence[Mapping[Hashable, Any]]) -> RoundLine:
    first = rows[0]
    is_held = first["decision"] == "held"
    unmet_rows = [row for row in rows if not _is_met(row)] if is_held else []
    row = (unmet_rows or rows)[0]
    status = _decision_with_version(first["decision"], first)
    if first["release"] == "withdrawn":
        status += ", release withdrawn"
    value, low, high, needs, tentative = (
        None if pd.isna(row.get(name)) else float(row[name])
        for name in ("value", "low", "high", "needs", "tentative")
    )
    return RoundLine(
        str(first["round"]),
        status,
        NAMES_OF_TONES.get(first["decision"], "unknown"),
        _short_numbers(row, value, low, needs, is_met=not unmet_rows),
        ""
        if first["decision"].startswith("admitted")
        else cut_text(_what_helps(row), MAX_STEP_LENGTH),
        NAMES_OF_TONES.get(row["verdict"], "unknown"),
        value,
        low,
        high,
        tuple(sorted({cutoff for cutoff in (tentative, needs) if cutoff is not None})),
    )


def _is_met(row: Mapping[Hashable, Any]) -> bool:
    """A policy that admits tentative verdicts needs the lower cut-off alone."""
    needs = row.get("needs")
    is_enough = needs is not None and needs == row.get("tentative")
    return row["verdict"] == "reliable" or (is_enough and row["verdict"] == "tentative")


def _short_numbers(
    row: Mapping[Hashable, Any],
    value: float | None,
    low: float | None,
    needs: float | None,
    *,
    is_met: bool,
) -> str:
    from agreement_pipeline.evidence.section import measure_title

    if row["measure"] == "":
        return ""
    title = measure_title(row["measure"]).partition(", ")[0].removeprefix("Krippendorff's ")
    title = describe_part(title, row)
    if value is None:
        return f"{title} not measured"
    cutoffs = [] if needs is None else [needs]
    measured = f"{title} {short_number(value, cutoffs)}"
    if needs is None:
        return measured
    if low is not None and low >= needs:
        return f"{measured}, passes {short_number(needs)}" if is_met else measured
    if low is not None and value >= needs:
        return f"{measured}, may be {short_number(low, cutoffs)}, needs {short_number(needs)}"
    return f"{measured}, needs {short_number(needs)}"


def _what_helps(row: Mapping[Hashable, Any]) -> str:
    """What helps, in a sentence: the check that failed, the advice of the reason, or that of its
    code.
    """
    from agreement_pipeline.policy import REASONS

    if row["broken"]:
        return _sentence(str(row["broken"]).partition(": ")[2] or row["broken"])
    if row["measure"] == "":  # it begins with the name of a file
        return str(row["reason"])
    if row["verdict"] == "not_evaluated":
        return _sentence(reason_without_numbers(_describe_measure(row)))
    parts = reason_without_numbers(_describe_measure(row)).split("; ")
    if parts[0].startswith("lowest: "):
        parts.pop(0)
    reason = REASONS.get(row.get("code", ""))
    advice = "; ".join(parts[1:]) or (reason.helps.replace("`", "") if reason else parts[0])
    return _sentence(advice)


def _sentence(text: str) -> str:
    return f"{text[:1].upper()}{text[1:].removesuffix('.')}."


def describe_policy_change(rounds: pd.DataFrame, policy: "Policy") -> str:
    admitted = rounds[rounds["decision"].str.startswith("admitted")]
    on_other_policy = admitted[admitted["policy_digest"] != policy.digest].drop_duplicates("round")
    if on_other_policy.empty:
        return ""
    names = joined(
        f"{name} ({by})"
        for name, by in zip(on_other_policy["round"], on_other_policy["policy"], strict=True)
    )
    verb = "rests" if len(on_other_policy) == 1 else "rest"
    return (
        f"{counted(len(on_other_policy), 'admitted round')} {verb} on "
        f"another policy than today's {policy.policy}, version {policy.version}: {names}. "
        "The next reassessment judges them by today's."
    )


def _decision_reason(rows: pd.DataFrame) -> str:
    from agreement_pipeline.evidence.section import measure_title

    records = rows.to_dict("records")
    first_row = records[0]
    if first_row["measure"] == "":
        return str(first_row["reason"])
    broken = first_row["broken"]
    unmet = [row for row in records if not _is_met(row)]
    blocking = unmet if first_row["decision"] == "held" else []
    parts = [broken]
    for row in blocking or ([] if broken else records):
        title = measure_title(row["measure"])
        if row["verdict"] == "not_evaluated":
            parts.append(_describe_measure(row).replace(row["measure"], title))
        else:
            title = describe_part(title, row)
            value = value_in_words(row["value"], row["low"], row["high"])
            parts.append(" ".join(filter(None, [title, value, "is", row["verdict"]])))
    return join_sentences([*filter(None, parts), first_row.get("what_is_new", "")])


def describe_health(rounds: pd.DataFrame, late: str = "") -> str:
    """The state of all rounds in one line, with the reason why the next one is `late`.

    >>> describe_health(pd.DataFrame({"round": ["W1", "W2"], "decision": ["admitted", "held"]}))
    '1 of 2 rounds is admitted. The last one, W2, is held.'
    """
    if rounds.empty:
        return "No round has arrived yet."
    overdue = f" The next one is overdue: {late}." if late else ""
    last_round = rounds.iloc[-1]
    of_rounds = rounds.groupby("round")["decision"].last()
    good = int(of_rounds.str.startswith("admitted").sum())
    return (
        f"{good} of {len(of_rounds)} rounds {'is' if good == 1 else 'are'} admitted. "
        f"The last one, {last_round['round']}, is {last_round['decision']}.{overdue}"
    )


def round_counts(rounds: pd.DataFrame) -> dict[str, int]:
    held_rounds, not_judged = _rounds_held_and_undecided(rounds)
    names = rounds["round"].nunique()
    return {"rounds": names, "held_rounds": len(held_rounds), "not_judged": len(not_judged)}


def rounds_not_admitted(rounds: pd.DataFrame) -> tuple[str, ...]:
    held_rounds, not_judged = _rounds_held_and_undecided(rounds)
    parts = (
        (held_rounds, f"held: {', '.join(held_rounds)}"),
        (not_judged, f"not judged: {listed(not_judged)}; the table says why"),
    )
    return tuple(words for names, words in parts if names)


def _rounds_held_and_undecided(rounds: pd.DataFrame) -> tuple[list[str], list[str]]:
    decision = rounds["decision"]
    not_judged = decision == NOT_JUDGED
    is_held = ~decision.str.startswith("admitted") & ~not_judged
    return list(rounds.loc[is_held, "round"].unique()), list(
        rounds.loc[not_judged, "round"].unique()
    )
