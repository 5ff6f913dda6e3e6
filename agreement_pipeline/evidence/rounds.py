"""The rounds of a project: which were held and why, and how agreement moves over them."""

from collections.abc import Sequence
from dataclasses import replace
from statistics import NormalDist

import pandas as pd

from agreement_pipeline.errors import AgreementError
from agreement_pipeline.estimates import (
    MIN_EARLIER_ROUNDS,
    Charted,
    Difference,
    Drift,
    Reading,
    compare,
    control_chart,
    drift,
    registered,
)
from agreement_pipeline.evidence.advice import NOBODY_COMPARED
from agreement_pipeline.evidence.figure import NAMES_OF_TONES, Figure, Mark, Series, Tone
from agreement_pipeline.evidence.history import (
    decisions,
    health,
    not_admitted,
    of_part,
    policy_changed,
    round_counts,
)
from agreement_pipeline.evidence.judged import (
    Before,
    JudgedProject,
    JudgedRound,
    ProjectState,
)
from agreement_pipeline.evidence.section import (
    DECISION,
    INTERVAL,
    ITEMS,
    MEASURE,
    MOST_ROWS,
    NOTE,
    ROUND,
    VERDICT,
    WHY,
    Answer,
    Cell,
    Glance,
    Grid,
    Row,
    Section,
    grid,
    share,
    title_of,
)
from agreement_pipeline.evidence.tables import difference_rows, interval_text
from agreement_pipeline.intervals import Inference
from agreement_pipeline.policy import USUAL_MEASURE, Policy, Rule, headline
from agreement_pipeline.ratings import Ratings
from agreement_pipeline.text import (
    SENTENCE,
    counted,
    in_words,
    interval,
    natural,
    number,
)

MOST_SHOWN, MOST_CHARTED, MOST_NAMED = 40, 60, 8

DECISIONS: tuple[tuple[Tone, str], ...] = (
    ("good", "admitted"),
    ("partly", "admitted (tentative)"),
    ("bad", "held"),
    ("unknown", "not decided"),
)
CHANGES: tuple[tuple[Tone, str], ...] = (
    ("plain", "within the limits"),
    ("bad", "lower than before"),
    ("partly", "higher than before"),
    ("unknown", f"fewer than {MIN_EARLIER_ROUNDS} rounds before"),
)
CHART = (
    "This is a control chart. Each round is compared with those before it. "
    "Its limits follow its own standard error, so a small round has wide limits."
)
OF_SHARES = (
    "Chance agreement depends on the shares. "
    "If they move, a change of alpha may come from the items and not from the raters."
)
DECISION_COLUMNS = {
    "round": ROUND,
    "decision": DECISION,
    "why": WHY,
    "release": "What became of the training data of the round.",
    "policy": "The policy that decided, and its version.",
}
ORDER: tuple[Tone, ...] = ("bad", "partly", "unknown", "good")

SAME_ITEMS = (
    "Drift is read on items that both rounds share. The items are the same, so what differs is how "
    "they were judged."
)


def history(
    rounds: pd.DataFrame, policy: Policy, chart: Sequence[Charted], late: str = ""
) -> Section:
    """The numbers count all rounds. The plots show the policy's first rule that can hold a
    release.
    """
    first = next(rule for rule in policy.rules if rule.effect == "hold")
    names = rounds["round"].unique()
    latest = rounds[rounds["round"].isin(names[-MOST_SHOWN:])]
    more = f"the last {MOST_SHOWN} of {len(names)} rounds" if len(names) > MOST_SHOWN else None

    figure = course_figure(rounds, first)
    return {
        "picture": None if figure is None else Glance(figure),
        "decisions": grid("Decisions", DECISION_COLUMNS, decisions(latest).values.tolist()),
        "shown": more,
        "health": health(rounds, late),
        "policy_changed": policy_changed(rounds, policy) or None,
        **round_counts(rounds),
        "larger_plot": figure,
        "rules": _numbers(latest),
        "control_chart": control_grid(chart),
    }


def _numbers(rounds: pd.DataFrame) -> Grid:
    judged = rounds[rounds["measure"] != ""].sort_values("round", kind="stable")
    rows: list[Row] = []
    for row in judged.to_dict("records")[::-1]:
        value, limits = Cell(""), Cell("")
        if not pd.isna(row["value"]):
            value = Cell(in_words(row["value"]), row["value"])
            low = None if pd.isna(row["low"]) else row["low"]
            limits = Cell(interval(row["low"], row["high"]), low)
        verdict = str(row["verdict"]).replace("_", " ")
        measure = of_part(title_of(row["measure"]), row)
        rows.append([str(row["round"]), measure, value, limits, verdict])
    columns = {
        "round": ROUND,
        "measure": MEASURE,
        "value": "The value of the measure.",
        "interval": INTERVAL,
        "verdict": VERDICT,
    }
    return grid("The numbers of the figures, the last round first", columns, rows, "values")


def rounds(judged: JudgedProject) -> Answer:
    if judged.rounds.empty:
        return Answer(("The store has no round.",))
    found = decisions(judged.rounds).to_dict("records")
    rows: list[Row] = [
        [
            Cell(row["round"], page=judged.pages.get(row["round"], "")),
            Cell(row["decision"], tone=NAMES_OF_TONES.get(row["decision"], "unknown")),
            row["why"],
            row["release"],
            row["policy"],
        ]
        for row in found[:MOST_ROWS]
    ]
    table = grid("Rounds, the last one first", DECISION_COLUMNS, rows, "rounds", n=len(found))
    changed = policy_changed(judged.rounds, judged.policy)
    states = (f"{each[0].upper()}{each[1:]}." for each in not_admitted(judged.rounds))
    said = (health(judged.rounds), *states, *([changed] if changed else []))
    return Answer(said, tables=(table,))


def state_grid(states: Sequence[ProjectState]) -> Grid:
    rows: list[Row] = [
        [
            Cell(each.name, page=each.page),
            Cell(each.words, tone=each.tone),
            _named(each.held),
            _named(each.waiting),
            each.last,
            each.why,
        ]
        for each in sorted(states, key=lambda each: (ORDER.index(each.tone), natural(each.name)))
    ]
    columns = {
        "project": "The project.",
        "state": "Whether somebody must look at the project.",
        "held": "The rounds that are held.",
        "waiting": "The rounds that wait for a decision.",
        "last round": "The round that came last, and its decision.",
        "why": WHY,
    }
    return grid("Projects, those that need somebody first", columns, rows, "projects")


def _named(names: Sequence[str]) -> str:
    more = len(names) - MOST_NAMED
    shown = ", ".join(names[-MOST_NAMED:])
    return shown if more <= 0 else f"{shown}, and {more} earlier ones"


def course(judged: JudgedProject) -> Answer | None:
    holding = (rule for rule in judged.policy.rules if rule.effect == "hold")
    drawn = (course_figure(judged.rounds, rule) for rule in holding)
    figures = tuple(figure for figure in drawn if figure is not None)
    if not figures:
        return None
    which = "lower" if "tentative" in judged.policy.admit else "upper"
    said = f"A rule is met if the line of the round stands above its {which} cut-off."
    rest = (
        "The line is the interval. A round needs every rule that can hold a release, enough "
        "evidence for each, and the data contract."
    )
    known = judged.rounds[judged.rounds["value"].notna()]
    return Answer((said, rest), figures, (_numbers(known),))


def course_figure(rounds: pd.DataFrame, rule: Rule) -> Figure | None:
    of_scope = rounds["scope"].map(lambda scope: str(scope).partition(" ")[0]) == rule.scope
    mine = rounds[(rounds["measure"] == rule.measure) & of_scope]
    mine = mine.sort_values("value", kind="stable").drop_duplicates("round")
    shown = mine.sort_values("round", kind="stable").tail(MOST_SHOWN)
    if shown["value"].isna().all():
        return None
    more = len(mine) > len(shown)
    last = f" The last {len(shown)} of {len(mine)} rounds are drawn." if more else ""
    marks = []
    for row in shown.to_dict("records"):
        numbers = [row[name] for name in ("value", "low", "high")]
        value, low, high = (None if pd.isna(each) else float(each) for each in numbers)
        tone = NAMES_OF_TONES.get(str(row["decision"]), "unknown")
        crossed = row.get("release") == "withdrawn"
        marks.append(Mark(str(row["round"]), value, low, high, tone=tone, crossed=crossed))
    title = title_of(rule.measure)
    if rule.scope != "round":
        title = f"{title}, the lowest {rule.scope},"
    cutoffs = {
        rule.tentative: f"tentative from {rule.tentative:g}",
        rule.reliable: f"reliable from {rule.reliable:g}",
    }
    return Figure(
        "course",
        f"{title} by round",
        f"Colour and shape say what was decided on the round, by all of its rules.{last}",
        (Series(rule.measure, tuple(marks)),),
        axis=title,
        cutoffs=tuple(sorted(cutoffs.items(), reverse=True)),
        legend=DECISIONS,
    )


def charted(
    rounds: pd.DataFrame, policy: Policy, known: Sequence[Charted] = ()
) -> tuple[Charted, ...]:
    """The rounds on a control chart of the first rule that reads whole rounds.

    The standard error of a round is half of its recorded interval, divided by the normal quantile
    of its level. `known` is a chart of the same rounds or fewer.
    """
    read = rounds[(rounds["measure"] == headline(policy)) & (rounds["scope"] == "round")]
    needed = ["value", "low", "high", "confidence_level"]
    readable = read.dropna(subset=needed).drop_duplicates("round", keep="last")
    rows = sorted(readable.to_dict("records"), key=lambda row: natural(str(row["round"])))
    readings = [
        Reading(str(row["round"]), row["value"], (row["high"] - row["low"]) / 2 / quantile)
        for row in rows
        if row["low"] < row["high"]
        for quantile in [NormalDist().inv_cdf((1 + row["confidence_level"]) / 2)]
    ]
    bounds = registered(headline(policy) or USUAL_MEASURE).bounds
    return control_chart(readings, known, bounds)


def fallen_out(chart: Sequence[Charted]) -> tuple[str, ...]:
    return tuple(
        f"round {each.reading.round} is {dict(CHANGES)[_change(each)]}: "
        f"{number(each.reading.value, SENTENCE)}, and {_limits(each)} was expected"
        for each in reversed(chart)
        if each.out
    )


def like_before(chart: Sequence[Charted]) -> str:
    if any(each.limits for each in chart):
        return "No round falls out of the chart."
    n_rounds = MIN_EARLIER_ROUNDS + 1
    return f"Fewer than {n_rounds} rounds cannot tell whether one falls out of the usual."


def _change(each: Charted) -> Tone:
    if each.limits is None:
        return "unknown"
    if not each.out:
        return "plain"
    return "bad" if each.lower else "partly"


def _limits(each: Charted) -> str:
    return "" if each.limits is None else interval(*each.limits)


def control_grid(chart: Sequence[Charted]) -> Grid:
    rows: list[Row] = [
        [
            each.reading.round,
            number(each.reading.value, SENTENCE),
            number(each.centre, SENTENCE),
            _limits(each),
            dict(CHANGES)[_change(each)],
        ]
        for each in chart[::-1]
    ]
    columns = {
        "round": ROUND,
        "value": "The value of the measure.",
        "expected": "The value that the rounds before let expect.",
        "limits": "The limits of the control chart for a round of this size.",
        "reads": "How the round reads beside those before it.",
    }
    return grid("Each round against those before, the latest first", columns, rows, "rounds")


def control(judged: JudgedProject) -> Answer | None:
    measure, chart = headline(judged.policy), charted(judged.rounds, judged.policy)
    if measure is None or not chart:
        return None
    marks = (
        Mark(each.reading.round, each.reading.value, low, high, tone=_change(each))
        for each in chart[-MOST_CHARTED:]
        for low, high in [each.limits or (None, None)]
    )
    figure = Figure(
        "course",
        f"{title_of(measure)} of each round",
        "The line of a round is what the rounds before let one expect.",
        (Series("rounds", tuple(marks)),),
        axis=title_of(measure),
        legend=CHANGES,
    )
    said = fallen_out(chart) or (like_before(chart),)
    return Answer((*said, CHART), (figure,), (control_grid(chart),))


def prevalence(judged: JudgedProject) -> Answer | None:
    if len(judged.shares) < 2:
        return None
    shares = pd.DataFrame.from_dict(dict(judged.shares), orient="index").fillna(0.0)
    names = list(shares.sum().sort_values(ascending=False, kind="stable").index[:MOST_NAMED])
    rows: list[Row] = [
        [name, *map(share, values)]
        for name, values in zip(shares.index, shares[names].to_numpy(), strict=True)
    ]
    figure = Figure(
        "lines",
        "Share of each category by round",
        "Labels of the panel are counted, without classifiers and without gold items.",
        tuple(
            Series(
                name,
                tuple(
                    Mark(each, float(value), across=float(place))
                    for place, (each, value) in enumerate(shares[name].items())
                ),
            )
            for name in names
        ),
        axis="share of labels",
        bounds=(0.0, 1.0),
    )
    table = grid("Share of each category by round", ("round", *names), rows, "rounds")
    return Answer((OF_SHARES,), (figure,), (table,))


def since(ratings: Ratings, name: str, before: Before | None, policy: Policy) -> Section:
    """Where the rounds cannot be compared, a text says why."""
    if before is None:
        return {}
    changed, drifted = _difference(ratings, name, before, policy), _drift(ratings, before)
    rows = changed if isinstance(changed, str) else pd.DataFrame(difference_rows([changed]))
    return {"since_last_round": rows, "drift": drifted}


def _difference(ratings: Ratings, name: str, before: Before, policy: Policy) -> Difference | str:
    inference = Inference(policy.confidence_level, policy.n_resamples)
    measure, names = headline(policy) or USUAL_MEASURE, (name, before.name)
    try:
        return compare(ratings, before.ratings, measure=measure, names=names, inference=inference)
    except AgreementError as error:
        return str(error)


def _drift(ratings: Ratings, before: Before) -> Grid | str:
    if ratings.foreign_words or before.ratings.foreign_words:
        return NOBODY_COMPARED
    try:
        found: Sequence[Drift] = drift(ratings, before.ratings)
    except AgreementError as error:
        return str(error)
    rows: list[Row] = [
        [
            str(each.scope),
            each.what,
            number(each.value),
            interval_text(each.interval),
            str(each.n_items),
            each.undefined or ("moved" if each.moved else ""),
        ]
        for each in sorted(found, key=lambda each: not each.moved)
    ]
    columns = {
        "of": "What the row is about.",
        "what": "What is compared with the round before.",
        "value": "The value now.",
        "interval": INTERVAL,
        "items": ITEMS,
        "note": NOTE,
    }
    return grid("Drift on the shared items", columns, rows)


def since_the_round_before(judged: JudgedRound) -> Answer | None:
    if judged.before is None:
        return None
    changed = _difference(judged.ratings, judged.name, judged.before, judged.policy)
    said = changed if isinstance(changed, str) else _changed(changed, judged.before.name)
    drifted = _drift(judged.ratings, judged.before)
    if isinstance(drifted, str):
        why = drifted.removeprefix("drift: ")
        return Answer((said, f"Nobody knows what drifted: {why}"))
    moved = tuple(row for row in drifted.rows if row[-1].text == "moved")
    table = replace(drifted, rows=moved, left_out="")
    n = f"{len(moved)} of {counted(len(drifted.rows), 'number')} moved."
    return Answer((said, f"{SAME_ITEMS} {n}"), tables=(table,) if moved else ())


def _changed(found: Difference, before: str) -> str:
    if found.value is None or found.interval is None:
        return f"Nobody knows whether agreement differs from {before}: {found.undefined}."
    low, high = found.interval
    reads = "is lower" if high < 0 else "is higher" if low > 0 else "may be the same"
    change = f"{number(found.value, SENTENCE)} ({interval(found.low, found.high)})"
    shared = "" if found.n_shared is None else f" They share {counted(found.n_shared, 'item')}."
    note = (found.note or "").replace("differs:", f"differs here and in {before}:")
    prevalence = f" But {note}." if note else ""
    return f"Agreement {reads}: it changed by {change} since {before}.{shared}{prevalence}"
