"""The verdicts of a round, how it was judged, and how many items a plan asks for."""

import math
from collections.abc import Iterator, Sequence

import numpy as np

from agreement_pipeline.estimates import find_registered_measure
from agreement_pipeline.evidence.figure import (
    NAMES_OF_TONES,
    Figure,
    Mark,
    Series,
    Tone,
    build_interval_figure,
)
from agreement_pipeline.evidence.judged import JudgedProject, JudgedRound
from agreement_pipeline.evidence.raters import seconds_to_repeats
from agreement_pipeline.evidence.section import (
    INTERVAL,
    MEASURE,
    REASON,
    VERDICT,
    Answer,
    Cell,
    Grid,
    Row,
    build_grid,
    measure_title,
    number_cells,
)
from agreement_pipeline.evidence.summary import RuleResult
from agreement_pipeline.evidence.tables import reason_without_numbers
from agreement_pipeline.policy import Decision, Plan, Policy, describe_manner
from agreement_pipeline.ratings import MEANINGS
from agreement_pipeline.statistics import CategoryCounts
from agreement_pipeline.text import PERCENT, count_to_one_decimal, counted, in_words, joined, listed

MAX_VERDICTS_DRAWN = 6
READINGS: tuple[tuple[Tone, str], ...] = (
    ("good", "reliable"),
    ("partly", "tentative"),
    ("bad", "unreliable"),
    ("unknown", "cannot tell"),
)

KRIPPENDORFF = (
    "The interval decides, not the value: it is reliable if its lower limit reaches the upper "
    "cut-off, and tentative if it reaches the lower one."
)
SOURCE = "Klie, Eckart de Castilho and Gurevych (2024), Computational Linguistics 50(3)"
NOT_KNOWN = "nothing is known that it needs"
REPEATS_REASON = "they show how far raters agree with themselves"
UNKNOWN = {
    "how items were drawn": "at random, by search, or by a model?",
    "the version of the guideline": "name it, and where it can be read",
    "who the raters are": "experts, crowd, or students, and how they were trained",
}


def decision_sentence(decision: Decision) -> str:
    if decision.admitted:
        condition = "is met, or overridden by a waiver" if decision.waived else "is met"
        return f"Admitted: every rule that can hold a release {condition}."
    holding, unmet = (
        len({verdict.rule for verdict in decision.holding_verdicts}),
        {verdict.rule for verdict in decision.unmet},
    )
    rules_text = f"{len(unmet)} of {holding} rules" if holding > 1 else "the only rule"
    subject = f"{rules_text} that can hold a release"
    parts = (
        (len(unmet), f"{subject} {'is' if len(unmet) == 1 else 'are'} not met"),
        (len(decision.broken), f"{counted(len(decision.broken), 'check')} failed"),
    )
    return f"Held: {' and '.join(words for n, words in parts if n) or 'no rule admits it'}."


def build_cutoff_figure(policy: Policy, results: Sequence[RuleResult]) -> Figure | None:
    marks = [
        Mark(
            f"{result.title}: {result.about}",
            result.value,
            result.low,
            result.high,
            tone=NAMES_OF_TONES[result.kind],
            cutoffs=(result.tentative, result.reliable),
        )
        for result in sorted(results, key=lambda result: not result.is_unmet)
        if result.holds and result.value is not None
    ]
    stroke = "shorter" if "tentative" in policy.admit else "longer"
    says = f"A rule passes if the whole line lies to the right of its {stroke} dash."
    title = "Intervals against their cut-offs"
    shown_marks = marks[:MAX_VERDICTS_DRAWN]
    return (
        build_interval_figure(title, says, shown_marks, "agreement", legend=READINGS)
        if marks
        else None
    )


def build_verdict_grid(results: Sequence[RuleResult]) -> Grid:
    rows: list[Row] = [
        [
            result.title,
            result.about,
            Cell(result.kind.replace("_", " "), tone=NAMES_OF_TONES[result.kind]),
            *number_cells(
                result.value, result.low, result.high, (result.tentative, result.reliable)
            ),
            Cell(f"{result.reliable:g} ({result.tentative:g})", result.reliable),
            "holds" if result.holds else "warns",
            reason_without_numbers(result.reason),
        ]
        for result in results
    ]
    columns = {
        "measure": MEASURE,
        "of": "What the rule is about.",
        "verdict": VERDICT,
        "value": "The value of the measure.",
        "interval": INTERVAL,
        "cut-off (tentative)": "What the interval must reach, and for a tentative verdict.",
        "effect": "Whether the rule can hold a release, or only warns.",
        "why": REASON,
    }
    return build_grid("Each rule of the policy", columns, rows, "verdicts")


def answer_about_rules(judged_round: JudgedRound) -> Answer:
    decision = judged_round.decision
    results = sorted(judged_round.summary.results, key=lambda result: not result.holds)
    failed = sorted(
        (finding for finding in decision.findings if not finding.passed),
        key=lambda finding: not finding.holds,
    )
    rows: list[Row] = [
        [
            finding.check,
            "is waived" if decision.waives(finding) else "holds" if finding.holds else "warns",
            finding.description,
        ]
        for finding in failed
    ]
    checks = build_grid("Checks that failed", ("check", "effect", "found"), rows, "checks")
    gate_rows: list[Row] = [[finding.check, finding.description] for finding in decision.met]
    gate_table = build_grid(
        "What the gate asks for beside the rules", ("check", "found"), gate_rows, "asked"
    )
    tables = (
        build_verdict_grid(results),
        *([gate_table] if gate_rows else []),
        *([checks] if rows else []),
    )
    sentences = tuple(filter(None, (decision_sentence(decision), decision.repeat_rate_sentence)))
    return Answer(sentences, tables=tables)


def answer_about_method(judged_round: JudgedRound) -> Answer:
    """The policy in words, what does not count, and what a report on agreement must state.

    The points are those of Klie, Eckart de Castilho and Gurevych (2024).
    """
    decision, policy = judged_round.decision, judged_round.policy
    left_out: list[Row] = [
        [subject, n, reason] for subject, n, reason in _iterate_excluded(judged_round) if n
    ]
    some_excluded = any(reason != NOT_KNOWN for *_, reason in left_out)
    items = counted(judged_round.ratings.n_rated, "item")
    if "weight" in judged_round.ratings.has:
        items = f"{counted(judged_round.ratings.n_rated, 'run')} of equal labels"
    sentences = (
        *_policy_in_words(policy),
        f"The round has {counted(len(judged_round.ratings), 'rating')} of {items}. "
        f"{'Some do not count between raters.' if some_excluded else 'All of them count.'}",
        f"Only the team can say {joined(UNKNOWN)}.",
    )
    contract = decision.contract_digest
    if decision.contract is not None:
        name, version = decision.contract
        contract = f"{name}, version {version} ({contract})"
    digests = {
        "ratings": decision.ratings_digest,
        "policy": decision.policy_digest,
        "contract": contract,
        "version of this package": decision.code_version,
    }
    stated = Cell("stated", tone="good")
    unknown = Cell("the team must say", tone="unknown")
    points: list[Row] = [
        [point, stated, words] for point, words in _stated_points(judged_round).items()
    ]
    points += [[point, unknown, words] for point, words in UNKNOWN.items()]
    tables = (
        build_grid("What does not count", ("what", "how many", "why"), left_out, "reasons"),
        build_grid(f"What a report must state ({SOURCE})", ("point", "state", "what"), points),
        build_grid("What the decision rests on", ("what", "digest"), [*map(list, digests.items())]),
    )
    return Answer(sentences, tables=tuple(table for table in tables if table.rows))


def answer_about_policy(judged_project: JudgedProject) -> Answer:
    rows = [
        [rule.measure, rule.question, find_registered_measure(rule.measure).source]
        for rule in judged_project.policy.rules
    ]
    table = build_grid("The rules", ("measure", "what the rule asks", "source"), rows, "rules")
    return Answer(_policy_in_words(judged_project.policy), tables=(table,))


def _policy_in_words(policy: Policy) -> tuple[str, ...]:
    resample_text = f" with {policy.n_resamples:,} resamples, and fewer for expensive measures"
    resamples = "" if policy.inference.interval_method.scheme is None else resample_text
    return (
        f"Policy {policy.policy}, version {policy.version}, admits a round if its verdicts are "
        f"{' or '.join(policy.admit)}.",
        *([policy.description] if policy.description else []),
        describe_manner(policy, None),
        f"Intervals come from the {policy.interval_method.replace('_', ' ')}{resamples}.",
        KRIPPENDORFF,
    )


def _stated_points(judged_round: JudgedRound) -> dict[str, str]:
    policy, scale = judged_round.policy, judged_round.ratings.scale
    _, by_item = judged_round.by_item
    sizes = by_item.sizes if isinstance(by_item, CategoryCounts) else np.asarray(by_item.sizes)
    n_items = by_item.weights.sum()
    overlap = in_words(float(by_item.weights[sizes >= 2].sum() / n_items), PERCENT)
    adjudicated = "the label that most raters gave; a tie has no label"
    if judged_round.trains is not None:
        adjudicated = MEANINGS[judged_round.trains.label]
    elif scale.numeric:
        adjudicated = "the mean of the raters is the label"
    elif policy.is_for_model_labels:
        adjudicated = "the label that most raters gave; of other items, the classifier's"
    measures = "; ".join(
        f"{measure_title(measure)} ({find_registered_measure(measure).convention})"
        for measure in dict.fromkeys(policy.measures)
    )
    return {
        "the measures": measures,
        "the level of measurement": scale.level,
        "which items the agreement rests on": (
            f"{overlap} of the {counted(round(n_items), 'item')} that raters labelled have two "
            f"labels or more; {sizes @ by_item.weights / n_items:.1f} labels an item"
        ),
        "the uncertainty": (
            f"{100 * policy.confidence_level:g}% intervals, by {policy.interval_method}"
        ),
        "how to read the number": f"cut-offs of policy {policy.policy}, version {policy.version}",
        "how labels are adjudicated": adjudicated,
    }


def _iterate_excluded(judged_round: JudgedRound) -> Iterator[tuple[str, int, str]]:
    ratings, this_round = judged_round.ratings, judged_round.ratings.without_earlier
    models = f"{listed(ratings.classifiers)}: compared with the panel, and never part of it"
    for reason, n in (ratings.origin.left_out if ratings.origin else {}).items():
        yield f"read as no rating: {reason}", n, "the settings or the export say so"
    yield "gold items", len(ratings.gold), "their label was known before"
    yield (
        "ratings again",
        len(seconds_to_repeats(this_round.replicated_ratings(["at", "place"], gold=True))),
        REPEATS_REASON,
    )
    yield "ratings of earlier rounds", len(ratings) - len(this_round), REPEATS_REASON
    yield "classifiers", len(ratings.classifiers), models
    of_round = [
        estimate for estimate in judged_round.assessment.estimates if estimate.scope.kind == "round"
    ]
    dropped = {
        (reason, n): estimate.measure
        for estimate in of_round
        for reason, n in estimate.dropped.items()
    }
    for (reason, n), name in dropped.items():
        yield f"items: {reason}", n, f"not read by {name}"
    for estimate in of_round:
        raters = f"raters in {estimate.measure}"
        yield raters, len({*estimate.raters_left_out}), NOT_KNOWN


def build_plan_figure(plans: Sequence[Plan]) -> Figure | None:
    series = tuple(
        Series(
            f"{plan.measure}, {count_to_one_decimal(plan.labels_an_item)} labels an item",
            tuple(Mark("", share, across=math.log10(n)) for n, share in plan.curve),
        )
        for plan in plans
        if plan.curve
    )
    if not series:
        return None
    return Figure(
        "lines",
        "What number of items would have decided",
        "Each point is a simulation of rounds like this one: "
        "the share of them whose lower limit reaches the cut-off.",
        series,
        axis="share of rounds that decide",
        other_axis="items",
        cutoffs=((plans[0].probability, f"{plans[0].probability:.0%}"),),
        bounds=(0.0, 1.0),
        by_powers=True,
    )
