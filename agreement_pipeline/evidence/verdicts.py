"""The verdicts of a round, how it was judged, and how many items a plan asks for."""

import math
from collections.abc import Iterator, Sequence

import numpy as np

from agreement_pipeline.estimates import registered
from agreement_pipeline.evidence.figure import (
    NAMES_OF_TONES,
    Figure,
    Mark,
    Series,
    Tone,
    intervals,
)
from agreement_pipeline.evidence.judged import JudgedProject, JudgedRound
from agreement_pipeline.evidence.raters import repeats
from agreement_pipeline.evidence.section import (
    INTERVAL,
    MEASURE,
    VERDICT,
    WHY,
    Answer,
    Cell,
    Grid,
    Row,
    grid,
    number_cells,
    title_of,
)
from agreement_pipeline.evidence.summary import RuleResult
from agreement_pipeline.evidence.tables import without_numbers
from agreement_pipeline.policy import Decision, Plan, Policy, manner
from agreement_pipeline.ratings import MEANINGS
from agreement_pipeline.statistics import CategoryCounts
from agreement_pipeline.text import PERCENT, counted, in_words, listed, tenths

MOST_DRAWN = 6
READINGS: tuple[tuple[Tone, str], ...] = (
    ("good", "reliable"),
    ("partly", "tentative"),
    ("bad", "unreliable"),
    ("unknown", "cannot tell"),
)

KRIPPENDORFF = (
    "A verdict reads the interval and not the value. Data are reliable if the lower limit reaches "
    "the cut-off, and tentative if it reaches the lower one."
)
SOURCE = "Klie, Eckart de Castilho and Gurevych (2024), Computational Linguistics 50(3)"
NOT_KNOWN = "nothing that it needs is known of them"
AGAIN = "they tell agreement of raters with themselves"
UNKNOWN = {
    "how items were drawn": "at random, by search, or by a model?",
    "the version of the guideline": "name it, and where it can be read",
    "who the raters are": "experts, crowd, or students, and how they were trained",
}


def decided(found: Decision) -> str:
    if found.admitted:
        rest = "is met, or overridden by a waiver" if found.waived else "is met"
        return f"Admitted: every rule that can hold a release {rest}."
    holding, unmet = len({each.rule for each in found.holding}), {each.rule for each in found.unmet}
    which = f"{len(unmet)} of {holding} rules" if holding > 1 else "the only rule"
    of = f"{which} that can hold a release"
    why = (
        (len(unmet), f"{of} {'is' if len(unmet) == 1 else 'are'} not met"),
        (len(found.broken), f"{counted(len(found.broken), 'check')} failed"),
    )
    return f"Held: {' and '.join(words for n, words in why if n) or 'no rule admits it'}."


def against_cutoffs(policy: Policy, results: Sequence[RuleResult]) -> Figure | None:
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
    met = "shorter" if "tentative" in policy.admit else "longer"
    says = f"A rule is met if the whole line stands to the right of its {met} stroke."
    title = "Intervals against their cut-offs"
    shown = marks[:MOST_DRAWN]
    return intervals(title, says, shown, "agreement", legend=READINGS) if marks else None


def verdict_grid(results: Sequence[RuleResult]) -> Grid:
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
            without_numbers(result.reason),
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
        "why": WHY,
    }
    return grid("Each rule of the policy", columns, rows, "verdicts")


def rules(judged: JudgedRound) -> Answer:
    found = judged.decision
    results = sorted(judged.summary.results, key=lambda result: not result.holds)
    failed = sorted(
        (each for each in found.findings if not each.passed), key=lambda each: not each.holds
    )
    rows: list[Row] = [
        [
            each.check,
            "is waived" if found.waives(each) else "holds" if each.holds else "warns",
            each.description,
        ]
        for each in failed
    ]
    checks = grid("Checks that failed", ("check", "effect", "found"), rows, "checks")
    met: list[Row] = [[each.check, each.description] for each in found.met]
    asked = grid("What the gate asks for beside the rules", ("check", "found"), met, "asked")
    tables = (verdict_grid(results), *([asked] if met else []), *([checks] if rows else []))
    said = tuple(filter(None, (decided(found), found.repeated)))
    return Answer(said, tables=tables)


def method(judged: JudgedRound) -> Answer:
    """The policy in words, what does not count, and what a report on agreement must state.

    The points are those of Klie, Eckart de Castilho and Gurevych (2024).
    """
    found, policy = judged.decision, judged.policy
    left_out: list[Row] = [[what, n, why] for what, n, why in _excluded(judged) if n]
    between = any(why != NOT_KNOWN for *_, why in left_out)
    items = counted(judged.ratings.n_rated, "item")
    if "weight" in judged.ratings.has:
        items = f"{counted(judged.ratings.n_rated, 'run')} of equal labels"
    said = (
        *_words(policy),
        f"The round has {counted(len(judged.ratings), 'rating')} of {items}. "
        f"{'Some do not count between raters.' if between else 'All of them count.'}",
        f"The ratings do not show what the team must say: {', '.join(UNKNOWN)}.",
    )
    contract = found.contract_digest
    if found.contract is not None:
        name, version = found.contract
        contract = f"{name}, version {version} ({contract})"
    digests = {
        "ratings": found.ratings_digest,
        "policy": found.policy_digest,
        "contract": contract,
        "version of this package": found.code_version,
    }
    stated = Cell("stated", tone="good")
    unknown = Cell("the team must say", tone="unknown")
    points: list[Row] = [[what, stated, words] for what, words in _told(judged).items()]
    points += [[what, unknown, words] for what, words in UNKNOWN.items()]
    tables = (
        grid("What does not count", ("what", "how many", "why"), left_out, "reasons"),
        grid(f"What a report must state ({SOURCE})", ("point", "state", "what"), points),
        grid("What the decision rests on", ("what", "digest"), [*map(list, digests.items())]),
    )
    return Answer(said, tables=tuple(each for each in tables if each.rows))


def policy(judged: JudgedProject) -> Answer:
    rows = [
        [rule.measure, rule.question, registered(rule.measure).source]
        for rule in judged.policy.rules
    ]
    table = grid("The rules", ("measure", "what the rule asks", "source"), rows, "rules")
    return Answer(_words(judged.policy), tables=(table,))


def _words(policy: Policy) -> tuple[str, ...]:
    drawn = f" with {policy.n_resamples:,} resamples, and fewer for expensive measures"
    resamples = "" if policy.inference.interval_method.scheme is None else drawn
    return (
        f"Policy {policy.policy}, version {policy.version}, admits {' and '.join(policy.admit)}.",
        *([policy.description] if policy.description else []),
        manner(policy, None),
        f"Intervals come from the {policy.interval_method.replace('_', ' ')}{resamples}.",
        KRIPPENDORFF,
    )


def _told(judged: JudgedRound) -> dict[str, str]:
    policy, scale = judged.policy, judged.ratings.scale
    _, said = judged.by_item
    sizes = said.sizes if isinstance(said, CategoryCounts) else np.asarray(said.sizes)
    n_items = said.weights.sum()
    overlap = in_words(float(said.weights[sizes >= 2].sum() / n_items), PERCENT)
    adjudicated = "the label that most raters gave; a tie has no label"
    if judged.trains is not None:
        adjudicated = MEANINGS[judged.trains.label]
    elif scale.numeric:
        adjudicated = "the mean of the raters is the label"
    elif policy.is_for_model_labels:
        adjudicated = "the label that most raters gave; of other items, the classifier's"
    measures = "; ".join(
        f"{title_of(each)} ({registered(each).convention})"
        for each in dict.fromkeys(policy.measures)
    )
    return {
        "the measures": measures,
        "the level of measurement": scale.level,
        "which items the agreement rests on": (
            f"{overlap} of the {counted(round(n_items), 'item')} that raters labelled have two "
            f"labels or more; {sizes @ said.weights / n_items:.1f} labels an item"
        ),
        "the uncertainty": (
            f"{100 * policy.confidence_level:g}% intervals, by {policy.interval_method}"
        ),
        "how to read the number": f"cut-offs of policy {policy.policy}, version {policy.version}",
        "how labels are adjudicated": adjudicated,
    }


def _excluded(judged: JudgedRound) -> Iterator[tuple[str, int, str]]:
    ratings, own = judged.ratings, judged.ratings.without_earlier
    models = f"{listed(ratings.classifiers)}: compared with the panel, and never part of it"
    for reason, n in (ratings.origin.left_out if ratings.origin else {}).items():
        yield f"read as no rating: {reason}", n, "the settings or the export say so"
    yield "gold items", len(ratings.gold), "their label was known before"
    yield "ratings again", len(repeats(own.again(["at", "place"], gold=True))), AGAIN
    yield "ratings of earlier rounds", len(ratings) - len(own), AGAIN
    yield "classifiers", len(ratings.classifiers), models
    of_round = [each for each in judged.assessment.estimates if each.scope.kind == "round"]
    dropped = {
        (reason, n): found.measure for found in of_round for reason, n in found.dropped.items()
    }
    for (reason, n), name in dropped.items():
        yield f"items: {reason}", n, f"not read by {name}"
    for found in of_round:
        raters = f"raters in {found.measure}"
        yield raters, len({*found.raters_left_out}), NOT_KNOWN


def plan_figure(plans: Sequence[Plan]) -> Figure | None:
    series = tuple(
        Series(
            f"{found.measure}, {tenths(found.labels_an_item)} labels an item",
            tuple(Mark("", share, across=math.log10(n)) for n, share in found.curve),
        )
        for found in plans
        if found.curve
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
