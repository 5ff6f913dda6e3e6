"""The rounds of a project: which were held and why, and how agreement moves over them."""

from collections.abc import Iterable, Sequence
from dataclasses import replace
from statistics import NormalDist

import pandas as pd

from agreement_pipeline.errors import AgreementError
from agreement_pipeline.estimates import (
    MIN_EARLIER_ROUNDS,
    ChartedRound,
    Difference,
    Drift,
    RoundReading,
    build_control_chart,
    compare,
    find_drift,
    find_registered_measure,
)
from agreement_pipeline.evidence.advice import NOBODY_COMPARED
from agreement_pipeline.evidence.figure import NAMES_OF_TONES, Figure, Mark, Series, Tone
from agreement_pipeline.evidence.history import (
    decisions_by_round,
    describe_health,
    describe_part,
    describe_policy_change,
    round_counts,
    round_lines,
    rounds_not_admitted,
)
from agreement_pipeline.evidence.judged import (
    JudgedProject,
    JudgedRound,
    ProjectState,
    RoundBefore,
)
from agreement_pipeline.evidence.section import (
    DECISION,
    INTERVAL,
    ITEMS,
    MEASURE,
    MOST_ROWS,
    NOTE,
    REASON,
    ROUND,
    VERDICT,
    Answer,
    Cell,
    Grid,
    Row,
    Section,
    build_grid,
    measure_title,
    share_cell,
)
from agreement_pipeline.evidence.tables import difference_rows, interval_text
from agreement_pipeline.intervals import Inference
from agreement_pipeline.policy import DEFAULT_MEASURE, Policy, Rule, find_headline_measure
from agreement_pipeline.ratings import Ratings
from agreement_pipeline.text import (
    SENTENCE,
    counted,
    in_words,
    interval,
    natural_sort_key,
    number_in_table,
)

MAX_ROUNDS_DRAWN, MOST_CHARTED, MAX_NAMES_LISTED = 40, 60, 8

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
    "If they change, alpha may change because of the items and not the raters."
)
DECISION_COLUMNS = {
    "round": ROUND,
    "decision": DECISION,
    "why": REASON,
    "release": "Whether the training data are released or withdrawn.",
    "policy": "The policy that decided, and its version.",
}
AGREEMENT = (
    "What the last held round, or else the last one, reached and needs; its interval beside the "
    "cut-offs; and the course of the rounds."
)
HELPS = "What lets the round pass, or what must be done first."
ORDER: tuple[Tone, ...] = ("bad", "partly", "unknown", "good")

SAME_ITEMS = (
    "Drift is read on items that both rounds share. The items are the same, so what differs is how "
    "they were judged."
)


def history(rounds: pd.DataFrame, policy: Policy, chart: Sequence[ChartedRound]) -> Section:
    """What stands below the lines of the rounds. The numbers count all rounds. The plot shows the
    policy's first rule that can hold a release.
    """
    holding_rule = next(rule for rule in policy.rules if rule.effect == "hold")
    names = rounds["round"].unique()
    latest = rounds[rounds["round"].isin(names[-MAX_ROUNDS_DRAWN:])]
    shown_note = (
        f"the last {MAX_ROUNDS_DRAWN} of {len(names)} rounds"
        if len(names) > MAX_ROUNDS_DRAWN
        else None
    )

    is_charted = any(point.limits for point in chart)
    return {
        "policy_changed": describe_policy_change(rounds, policy) or None,
        "decisions": build_grid(
            "Decisions", DECISION_COLUMNS, decisions_by_round(latest).values.tolist()
        ),
        "shown": shown_note,
        "plot": build_course_figure(rounds, holding_rule),
        "rules": _build_number_grid(latest),
        "control_chart": build_control_grid(chart) if is_charted else None,
        **round_counts(rounds),
    }


def _build_number_grid(rounds: pd.DataFrame) -> Grid:
    judged_rows = rounds[rounds["measure"] != ""].sort_values("round", kind="stable")
    rows: list[Row] = []
    for row in judged_rows.to_dict("records")[::-1]:
        value, limits = Cell(""), Cell("")
        if not pd.isna(row["value"]):
            value = Cell(in_words(row["value"]), row["value"])
            low = None if pd.isna(row["low"]) else row["low"]
            limits = Cell(interval(row["low"], row["high"]), low)
        verdict = str(row["verdict"]).replace("_", " ")
        measure = describe_part(measure_title(row["measure"]), row)
        rows.append([str(row["round"]), measure, value, limits, verdict])
    columns = {
        "round": ROUND,
        "measure": MEASURE,
        "value": "The value of the measure.",
        "interval": INTERVAL,
        "verdict": VERDICT,
    }
    return build_grid("The numbers of the figures, the last round first", columns, rows, "values")


def answer_about_rounds(judged_project: JudgedProject) -> Answer:
    if judged_project.rounds.empty:
        return Answer(("The store has no round.",))
    records = decisions_by_round(judged_project.rounds).to_dict("records")
    line_by_round = {line.round: line for line in round_lines(judged_project.rounds)}
    has_one_policy = len({row["policy"] for row in records}) == 1  # that of the section Method
    rows: list[Row] = []
    for row in records[:MOST_ROWS]:
        line = line_by_round[row["round"]]
        is_of_line = line.decision.startswith(row["decision"])
        rows.append(
            [
                Cell(row["round"], page=judged_project.pages.get(row["round"], "")),
                Cell(row["decision"], tone=NAMES_OF_TONES.get(row["decision"], "unknown")),
                Cell(line.numbers, line.value, line=line) if is_of_line else Cell(""),
                line.step if is_of_line and line.step != row["why"] else "",
                row["why"],
                row["release"],
                "" if has_one_policy else row["policy"],
            ]
        )
    columns = {
        "round": ROUND,
        "decision": DECISION,
        "agreement": AGREEMENT,
        "what helps": HELPS,
        **DECISION_COLUMNS,
    }
    table = build_grid("Rounds, the last one first", columns, rows, "rounds", n=len(records))
    policy_note = describe_policy_change(judged_project.rounds, judged_project.policy)
    states = (
        f"{sentence[0].upper()}{sentence[1:]}."
        for sentence in rounds_not_admitted(judged_project.rounds)
    )
    sentences = (
        describe_health(judged_project.rounds),
        *states,
        *([policy_note] if policy_note else []),
    )
    return Answer(sentences, tables=(table,))


def in_order_of_need(states: Iterable[ProjectState]) -> list[ProjectState]:
    """Projects, those that need somebody first."""
    return sorted(states, key=lambda state: (ORDER.index(state.tone), natural_sort_key(state.name)))


def build_state_grid(states: Sequence[ProjectState]) -> Grid:
    rows: list[Row] = [
        [
            Cell(state.name, page=state.page),
            Cell(state.words, tone=state.tone),
            Cell("")
            if state.line is None
            else Cell(
                state.line.numbers, state.line.value, line=state.line, trend=tuple(state.trend)
            ),
            state.step if state.step != state.why else "",
            _names_text(state.held),
            _names_text(state.waiting),
            state.last,
            state.why,
        ]
        for state in in_order_of_need(states)
    ]
    columns = {
        "project": "The project.",
        "state": "Whether the project needs somebody.",
        "agreement": AGREEMENT,
        "what helps": HELPS,
        "held": "The rounds that are held.",
        "waiting": "The rounds that wait for a decision.",
        "last round": "The round that came last, and its decision.",
        "why": REASON,
    }
    return build_grid("Projects, those that need somebody first", columns, rows, "projects")


def _names_text(names: Sequence[str]) -> str:
    n_earlier = len(names) - MAX_NAMES_LISTED
    latest_names = ", ".join(names[-MAX_NAMES_LISTED:])
    return latest_names if n_earlier <= 0 else f"{latest_names}, and {n_earlier} earlier ones"


def answer_about_course(judged_project: JudgedProject) -> Answer | None:
    holding = (rule for rule in judged_project.policy.rules if rule.effect == "hold")
    course_figures = (build_course_figure(judged_project.rounds, rule) for rule in holding)
    figures = tuple(figure for figure in course_figures if figure is not None)
    if not figures:
        return None
    cutoff_name = "lower" if "tentative" in judged_project.policy.admit else "upper"
    criterion = f"A round passes a rule if its whole line lies above the {cutoff_name} cut-off."
    explanation = (
        "The line is the interval. A round needs every rule that can hold a release, enough "
        "evidence for each, and every check that holds a round."
    )
    with_value = judged_project.rounds[judged_project.rounds["value"].notna()]
    return Answer((criterion, explanation), figures, (_build_number_grid(with_value),))


def build_course_figure(rounds: pd.DataFrame, rule: Rule) -> Figure | None:
    of_scope = rounds["scope"].map(lambda scope: str(scope).partition(" ")[0]) == rule.scope
    mine = rounds[(rounds["measure"] == rule.measure) & of_scope]
    mine = mine.sort_values("value", kind="stable").drop_duplicates("round")
    latest = mine.sort_values("round", kind="stable").tail(MAX_ROUNDS_DRAWN)
    if latest["value"].isna().all():
        return None
    is_cut = len(mine) > len(latest)
    overflow_note = f" The last {len(latest)} of {len(mine)} rounds are drawn." if is_cut else ""
    marks = []
    for row in latest.to_dict("records"):
        numbers = [row[name] for name in ("value", "low", "high")]
        value, low, high = (None if pd.isna(limit) else float(limit) for limit in numbers)
        tone = NAMES_OF_TONES.get(str(row["decision"]), "unknown")
        crossed = row.get("release") == "withdrawn"
        marks.append(Mark(str(row["round"]), value, low, high, tone=tone, crossed=crossed))
    title = measure_title(rule.measure)
    if rule.scope != "round":
        title = f"{title}, the lowest {rule.scope},"
    cutoffs = {
        rule.tentative: f"tentative from {rule.tentative:g}",
        rule.reliable: f"reliable from {rule.reliable:g}",
    }
    return Figure(
        "course",
        f"{title} by round",
        f"Colour and shape show the decision on the round, by all of its rules.{overflow_note}",
        (Series(rule.measure, tuple(marks)),),
        axis=title,
        cutoffs=tuple(sorted(cutoffs.items(), reverse=True)),
        legend=DECISIONS,
    )


def trend(rounds: pd.DataFrame, policy: Policy) -> tuple[float, ...]:
    """The values of the policy's first measure of whole rounds, in the order of the rounds."""
    is_headline = rounds["measure"] == find_headline_measure(policy)
    headline = rounds[is_headline & (rounds["scope"] == "round") & rounds["value"].notna()]
    return tuple(headline.drop_duplicates("round", keep="last")["value"].astype(float))


def charted(
    rounds: pd.DataFrame, policy: Policy, known_chart: Sequence[ChartedRound] = ()
) -> tuple[ChartedRound, ...]:
    """The rounds on a control chart of the first rule that reads whole rounds.

    The standard error of a round is half of its recorded interval, divided by the normal quantile
    of its level. `known_chart` is a chart of the same rounds or fewer.
    """
    headline_rows = rounds[
        (rounds["measure"] == find_headline_measure(policy)) & (rounds["scope"] == "round")
    ]
    required_columns = ["value", "low", "high", "confidence_level"]
    readable = headline_rows.dropna(subset=required_columns).drop_duplicates("round", keep="last")
    rows = sorted(readable.to_dict("records"), key=lambda row: natural_sort_key(str(row["round"])))
    readings = [
        RoundReading(str(row["round"]), row["value"], (row["high"] - row["low"]) / 2 / quantile)
        for row in rows
        if row["low"] < row["high"]
        for quantile in [NormalDist().inv_cdf((1 + row["confidence_level"]) / 2)]
    ]
    bounds = find_registered_measure(find_headline_measure(policy) or DEFAULT_MEASURE).bounds
    return build_control_chart(readings, known_chart, bounds)


def rounds_out_of_limits(chart: Sequence[ChartedRound]) -> tuple[str, ...]:
    return tuple(
        f"round {point.reading.round} is {dict(CHANGES)[_control_limit_tone(point)]}: "
        f"{number_in_table(point.reading.value, SENTENCE)}, and {_limits_in_words(point)} was "
        "expected"
        for point in reversed(chart)
        if point.is_out_of_limits
    )


def describe_last_round_on_chart(chart: Sequence[ChartedRound]) -> str:
    if any(point.limits for point in chart):
        return "No round is outside its limits."
    n_rounds = MIN_EARLIER_ROUNDS + 1
    return f"At least {n_rounds} rounds are needed to tell whether one is unusual."


def _control_limit_tone(point: ChartedRound) -> Tone:
    if point.limits is None:
        return "unknown"
    if not point.is_out_of_limits:
        return "plain"
    return "bad" if point.is_below_limits else "partly"


def _limits_in_words(point: ChartedRound) -> str:
    return "" if point.limits is None else interval(*point.limits)


def build_control_grid(chart: Sequence[ChartedRound]) -> Grid:
    rows: list[Row] = [
        [
            point.reading.round,
            number_in_table(point.reading.value, SENTENCE),
            number_in_table(point.centre, SENTENCE),
            _limits_in_words(point),
            dict(CHANGES)[_control_limit_tone(point)],
        ]
        for point in chart[::-1]
    ]
    columns = {
        "round": ROUND,
        "value": "The value of the measure.",
        "expected": "The value to expect after the rounds before.",
        "limits": "The limits of the control chart for a round of this size.",
        "reads": "How the round compares with those before it.",
    }
    return build_grid("Each round against those before, the latest first", columns, rows, "rounds")


def answer_about_control(judged_project: JudgedProject) -> Answer | None:
    measure, chart = (
        find_headline_measure(judged_project.policy),
        charted(judged_project.rounds, judged_project.policy),
    )
    if measure is None or not chart:
        return None
    marks = (
        Mark(point.reading.round, point.reading.value, low, high, tone=_control_limit_tone(point))
        for point in chart[-MOST_CHARTED:]
        for low, high in [point.limits or (None, None)]
    )
    figure = Figure(
        "course",
        f"{measure_title(measure)} of each round",
        "The line shows where a round was expected, from those before it.",
        (Series("rounds", tuple(marks)),),
        axis=measure_title(measure),
        legend=CHANGES,
    )
    sentences = rounds_out_of_limits(chart) or (describe_last_round_on_chart(chart),)
    return Answer((*sentences, CHART), (figure,), (build_control_grid(chart),))


def answer_about_prevalence(judged_project: JudgedProject) -> Answer | None:
    if len(judged_project.shares) < 2:
        return None
    shares = pd.DataFrame.from_dict(dict(judged_project.shares), orient="index").fillna(0.0)
    names = list(shares.sum().sort_values(ascending=False, kind="stable").index[:MAX_NAMES_LISTED])
    rows: list[Row] = [
        [name, *map(share_cell, values)]
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
                    Mark(round_name, float(value), across=float(place))
                    for place, (round_name, value) in enumerate(shares[name].items())
                ),
            )
            for name in names
        ),
        axis="share of labels",
        bounds=(0.0, 1.0),
    )
    table = build_grid("Share of each category by round", ("round", *names), rows, "rounds")
    return Answer((OF_SHARES,), (figure,), (table,))


def since(ratings: Ratings, name: str, round_before: RoundBefore | None, policy: Policy) -> Section:
    """Where the rounds cannot be compared, a text says why."""
    if round_before is None:
        return {}
    difference, drifted = (
        _estimate_difference_or_reason(ratings, name, round_before, policy),
        _build_drift_grid_or_reason(ratings, round_before),
    )
    rows = (
        difference if isinstance(difference, str) else pd.DataFrame(difference_rows([difference]))
    )
    return {"since_last_round": rows, "drift": drifted}


def _estimate_difference_or_reason(
    ratings: Ratings, name: str, round_before: RoundBefore, policy: Policy
) -> Difference | str:
    inference = Inference(policy.confidence_level, policy.n_resamples)
    measure, names = find_headline_measure(policy) or DEFAULT_MEASURE, (name, round_before.name)
    try:
        return compare(
            ratings, round_before.ratings, measure=measure, names=names, inference=inference
        )
    except AgreementError as error:
        return str(error)


def _build_drift_grid_or_reason(ratings: Ratings, round_before: RoundBefore) -> Grid | str:
    if ratings.foreign_words or round_before.ratings.foreign_words:
        return NOBODY_COMPARED
    try:
        shifts: Sequence[Drift] = find_drift(ratings, round_before.ratings)
    except AgreementError as error:
        return str(error)
    rows: list[Row] = [
        [
            str(shift.scope),
            shift.what,
            number_in_table(shift.value),
            interval_text(shift.interval),
            str(shift.n_items),
            shift.undefined or ("moved" if shift.moved else ""),
        ]
        for shift in sorted(shifts, key=lambda shift: not shift.moved)
    ]
    columns = {
        "of": "What the row is about.",
        "what": "What is compared with the round before.",
        "value": "The value now.",
        "interval": INTERVAL,
        "items": ITEMS,
        "note": NOTE,
    }
    return build_grid("Drift on the shared items", columns, rows)


def answer_since_the_round_before(judged_round: JudgedRound) -> Answer | None:
    if judged_round.before is None:
        return None
    difference = _estimate_difference_or_reason(
        judged_round.ratings, judged_round.name, judged_round.before, judged_round.policy
    )
    difference_text = (
        difference
        if isinstance(difference, str)
        else _difference_text(difference, judged_round.before.name)
    )
    drifted = _build_drift_grid_or_reason(judged_round.ratings, judged_round.before)
    if isinstance(drifted, str):
        reason = drifted.removeprefix("drift: ")
        return Answer((difference_text, f"Drift cannot be measured: {reason}"))
    moved_rows = tuple(row for row in drifted.rows if row[-1].text == "moved")
    table = replace(drifted, rows=moved_rows, left_out="")
    n = f"{len(moved_rows)} of {counted(len(drifted.rows), 'number')} moved."
    return Answer((difference_text, f"{SAME_ITEMS} {n}"), tables=(table,) if moved_rows else ())


def _difference_text(difference: Difference, name_before: str) -> str:
    if difference.value is None or difference.interval is None:
        return f"Agreement cannot be compared with {name_before}: {difference.undefined}."
    low, high = difference.interval
    reads = "is lower" if high < 0 else "is higher" if low > 0 else "may be the same"
    change = (
        f"{number_in_table(difference.value, SENTENCE)} "
        f"({interval(difference.low, difference.high)})"
    )
    shared = (
        ""
        if difference.n_shared is None
        else f" They share {counted(difference.n_shared, 'item')}."
    )
    note = (difference.note or "").replace("differs:", f"differs here and in {name_before}:")
    prevalence = f" But {note}." if note else ""
    return f"Agreement {reads}: it changed by {change} since {name_before}.{shared}{prevalence}"
