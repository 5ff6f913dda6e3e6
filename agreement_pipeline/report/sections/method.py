"""How a round was judged, what a report on agreement must state, and what was excluded."""

from collections.abc import Iterator

import numpy as np

from agreement_pipeline.estimates import registered
from agreement_pipeline.policy import Policy, manner
from agreement_pipeline.report.judged import JudgedProject, JudgedRound
from agreement_pipeline.report.section import Answer, Cell, Grid, Row, grid, section, title_of
from agreement_pipeline.report.sections.replicates import repeats
from agreement_pipeline.statistics import CategoryCounts
from agreement_pipeline.text import PERCENT, counted, in_words, listed

KRIPPENDORFF = (
    "A verdict reads the interval and not the value. Data are reliable if the lower limit reaches "
    "the cut-off, and tentative if it reaches the lower one."
)
SOURCE = "Klie, Eckart de Castilho and Gurevych (2024), Computational Linguistics 50(3)."
AGAIN = "they tell agreement of raters with themselves"


@section("Method and policy", "By which rules, measures and intervals was it judged?", place=90)
def method(judged: JudgedRound) -> Answer:
    """The policy in words, its measures with their sources, and what the decision rests on."""
    found, scale = judged.decision, judged.ratings.scale
    facts = [
        ["level of measurement", scale.level],
        ["categories", "none" if scale.categories is None else ", ".join(scale.names)],
        ["digest of the ratings", found.ratings_digest],
        ["digest of the policy", found.policy_digest],
        ["digest of the contract", found.contract_digest],
        ["version of this package", found.code_version],
    ]
    made = grid("What the decision rests on", ("what", "value"), facts)
    return Answer(_words(judged.policy), tables=(_measures(judged.policy), made))


@section("Method and policy", "By which rules were rounds judged?", place=90, of="project")
def policy(judged: JudgedProject) -> Answer:
    """The present policy in words, and its measures with their sources."""
    return Answer(_words(judged.policy), tables=(_measures(judged.policy),))


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


def _measures(policy: Policy) -> Grid:
    rules = [(rule, registered(rule.measure)) for rule in policy.rules]
    rows = [[rule.measure, rule.question, each.convention, each.source] for rule, each in rules]
    columns = ("measure", "what the rule asks", "missing ratings", "source")
    return grid("The rules and their measures", columns, rows, "rules")


@section("Checklist", "Does this report state what a report on agreement must?", place=95)
def checklist(judged: JudgedRound) -> Answer:
    """Each point that reports on datasets often leave out, and what this one says to it.

    After Klie, Eckart de Castilho and Gurevych (2024).
    """
    why = judged.policy.description
    told = {**_told(judged), **({"why these cut-offs": why} if why else {})}
    asked = {
        "why these cut-offs": "write a description into the policy",
        "how items were drawn": "at random, by search, or by a model?",
        "the version of the guideline": "name it, and where it can be read",
        "who the raters are, and how they were trained": "experts, crowd, or students?",
    }
    missing = [what for what in asked if what not in told]
    stated = Cell("stated", tone="good")
    unknown = Cell("the team must say", tone="unknown")
    rows: list[Row] = [
        [what, stated if what in told else unknown, words]
        for what, words in {**told, **{what: asked[what] for what in missing}}.items()
    ]
    said = (
        f"{len(told)} of {len(rows)} points are stated here. "
        f"The ratings do not show the others: {'; '.join(missing)}."
    )
    table = grid("Points to state", ("point", "state", "what"), rows)
    return Answer((said, f"The points are those of {SOURCE}"), tables=(table,))


def _told(judged: JudgedRound) -> dict[str, str]:
    policy, ratings = judged.policy, judged.ratings
    _, said = judged.by_item
    sizes = said.sizes if isinstance(said, CategoryCounts) else np.asarray(said.sizes)
    overlap = in_words(float((sizes >= 2).mean()), PERCENT)
    adjudicated = "the label that most raters gave; a tie has no label"
    if ratings.scale.numeric:
        adjudicated = "the mean of the raters is the label"
    return {
        "the measure, and not a percentage alone": ", ".join(
            dict.fromkeys(map(title_of, policy.measures))
        ),
        "the level of measurement": ratings.scale.level,
        "the number of items": counted(ratings.n_items, "item"),
        "the number of raters": counted(len(ratings.raters), "rater"),
        "which items the agreement rests on": (
            f"{overlap} of items have two labels or more; {sizes.mean():.1f} labels an item"
        ),
        "the uncertainty": (
            f"{100 * policy.confidence_level:g}% intervals, by {policy.interval_method}"
        ),
        "how to read the number": f"cut-offs of policy {policy.policy}, version {policy.version}",
        "what was excluded": "see What was excluded",
        "how labels are adjudicated": adjudicated,
    }


@section("What was excluded", "Which ratings do not count in agreement, and why?", place=92)
def excluded(judged: JudgedRound) -> Answer:
    """Counts of gold items, single ratings, replicates, earlier ratings and classifiers."""
    rows: list[Row] = [[what, n, why] for what, n, why in _excluded(judged) if n]
    n = len(judged.ratings)
    said = f"The round has {n:,} ratings of {judged.ratings.n_items:,} items."
    if not rows:
        return Answer((f"{said} All of them count.",))
    table = grid("What does not count", ("what", "how many", "why"), rows, "reasons")
    return Answer((f"{said} Some do not count in agreement between raters.",), tables=(table,))


def _excluded(judged: JudgedRound) -> Iterator[tuple[str, int, str]]:
    ratings, own = judged.ratings, judged.ratings.without_earlier
    models = f"{listed(ratings.classifiers)}: compared with the panel, and never part of it"
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
        yield raters, len({*found.raters_left_out}), "nothing that it needs is known of them"
