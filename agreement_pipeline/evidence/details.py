"""What the assets of a round show: tables, a plot and numbers, which Dagster's UI renders."""

from collections.abc import Callable, Collection, Iterable, Mapping, Sequence

import numpy as np
import pandas as pd

from agreement_pipeline.counting import counting_for
from agreement_pipeline.estimates import Estimate, ShownRaters
from agreement_pipeline.evidence.advice import NOBODY_COMPARED
from agreement_pipeline.evidence.figure import Figure, Mark, build_interval_figure
from agreement_pipeline.evidence.judged import MOST_RATERS, list_panel_raters
from agreement_pipeline.evidence.parts import build_strata_grid
from agreement_pipeline.evidence.raters import (
    build_classifiers_grid,
    build_profile_grid,
    build_themselves_and_others_grid,
    describe_use_of_scale,
)
from agreement_pipeline.evidence.section import (
    MOST_ROWS,
    Grid,
    Row,
    Section,
    build_grid,
    scope_in_words,
)
from agreement_pipeline.evidence.tables import estimate_rows
from agreement_pipeline.measures import Question
from agreement_pipeline.policy import Policy, Rule
from agreement_pipeline.ratings import Ratings, describe_lookalikes, group_lookalike_names
from agreement_pipeline.text import NO_LIMIT, listed

Detail = Callable[[Ratings, Policy, ShownRaters | None], Grid | None]

DETAILS: Mapping[Question, Mapping[str, Detail]] = {
    "inter-rater": {"strata": build_strata_grid, "rater_profiles": build_profile_grid},
    "intra-rater": {"themselves_and_others": build_themselves_and_others_grid},
    "classifier": {"standing_in": build_classifiers_grid},
}
PLOTTED = ("round", "classifier", "rater", "without")
MAX_INTERVALS_DRAWN = 40
SCOPES_OF_RATERS = ("rater", "without", "pair", "classifier")
OF_RATERS = ("rater_profiles", "themselves_and_others", "standing_in")


def delivery(ratings: Ratings, classifiers: Iterable[str]) -> Section:
    """A classifier without ratings was left out by the delivery, or its name is misspelt and it
    counts as a rater.
    """
    cluster = ratings.items(["cluster"])["cluster"] if "cluster" in ratings.has else None
    of_export: Section = {}
    if origin := ratings.origin:
        not_shown = ", ".join(origin.missing_capabilities()) or None
        of_export = {
            "read_as": origin.reader,
            "no_ratings": origin.left_out_in_words or None,
            "not_shown": not_shown,
        }
    absent = [name for name in classifiers if name not in ratings.classifiers]
    misspelt = (
        f"{listed(absent)}; if one is misspelt, it stands among the panel's raters "
        f"{listed(ratings.raters)}"
    )
    return {
        "items": ratings.n_rated,
        "raters": len(ratings.raters),
        "classifiers": len(ratings.classifiers),
        "clusters": None if cluster is None else len(cluster.unique()),
        **of_export,
        "raters_that_look_alike": "; ".join(
            map(describe_lookalikes, group_lookalike_names(ratings.everyone, numbers_alike=True))
        )
        or None,
        "classifiers_without_ratings": misspelt if absent else None,
    }


def patterns(ratings: Ratings) -> Section:
    if ratings.scale.continuous:
        return {"items": ratings.n_items, "ratings": ratings.n_of_panel}
    by_rater = counting_for(ratings).labels(ratings)
    by_category = by_rater.with_scale(ratings.scale).counts().merged()
    names = list(by_category.scale.names)
    counts = np.column_stack([by_category.counts, by_category.weights]).astype(int)
    order = pd.Series(counts[:, -1]).sort_values(ascending=False).index
    rows: list[Row] = [[*map(str, row)] for row in counts[order][:MOST_ROWS].tolist()]
    columns = dict.fromkeys(names, "How many raters gave this category.")
    of_items = "items"
    while of_items in columns:  # a category may have this name
        of_items = f"{of_items} in all"
    columns |= {of_items: "How many items show this row."}
    return {
        "items": ratings.n_items,
        "pairable_items": int(by_category.weights[by_category.pairable].sum()),
        "ratings": by_rater.n_ratings,
        "patterns_by_rater": len(by_rater.codes),
        "patterns_by_category": len(by_category.counts),
        "most_common": build_grid("Most common rows", columns, rows, n=len(counts)),
    }


def details(
    question: Question,
    ratings: Ratings,
    policy: Policy,
    estimates: Sequence[Estimate],
    shown_raters: ShownRaters | None = None,
) -> Section:
    """Where the words of raters do not meet, nothing is shown of any rater or model."""
    are_foreign = bool(ratings.foreign_words)
    tables = {
        name: NOBODY_COMPARED
        if are_foreign and name in OF_RATERS
        else table(ratings, policy, shown_raters)
        for name, table in DETAILS[question].items()
    }
    if are_foreign:
        estimates = [
            estimate for estimate in estimates if estimate.scope.kind not in SCOPES_OF_RATERS
        ]
    return {
        "left_out": None
        if shown_raters is None or are_foreign
        else shown_raters.left_out_sentence(),
        **headline_numbers(estimates, policy.measures),
        "intervals": interval_figure(estimates, policy),
        **tables,
        **(_use_of_scale(ratings, policy) if question == "inter-rater" and not are_foreign else {}),
        "estimates": pd.DataFrame(estimate_rows(estimates)),
    }


def _use_of_scale(ratings: Ratings, policy: Policy) -> Section:
    """The sentence and the tables of a page, on the raters of a page: p allows for all of them."""
    raters = list_panel_raters(ratings, ShownRaters.choose(ratings, MOST_RATERS))
    use_of_scale = describe_use_of_scale(ratings, policy, raters)
    return {"use_of_scale": use_of_scale.sentence or None, **use_of_scale.tables}


def interval_figure(estimates: Sequence[Estimate], policy: Policy) -> Figure | None:
    rules: dict[tuple[str, str], Rule] = {
        (rule.measure, rule.scope): rule for rule in reversed(policy.rules)
    }
    marks = []
    for estimate in estimates:
        if estimate.scope.kind in PLOTTED and estimate.interval is not None:
            rule = rules.get((estimate.measure, estimate.scope.kind))
            cutoffs = (rule.tentative, rule.reliable) if rule else ()
            label = f"{estimate.measure}: {scope_in_words(estimate.scope)}"
            marks.append(Mark.of(estimate, label, cutoffs=cutoffs))
    if not marks:
        return None
    n_more = len(marks) - MAX_INTERVALS_DRAWN
    overflow_note = f" {n_more} more stand in the table." if n_more > 0 else ""
    says = (
        "A long stroke is the reliable cut-off of a rule, a short one the tentative."
        f"{overflow_note}"
    )
    return build_interval_figure("Estimates", says, marks[:MAX_INTERVALS_DRAWN], "agreement")


def headline_numbers(estimates: Iterable[Estimate], measures: Collection[str]) -> Section:
    """The names are the same in every round. Sorted, they keep a value beside its limits."""
    numbers: Section = {}
    for estimate in estimates:
        is_headline = estimate.measure in measures and estimate.scope.kind in (
            "round",
            "classifier",
        )
        if estimate.value is None or not is_headline:
            continue
        name = f"{estimate.measure} {estimate.scope.name}".strip()
        numbers |= {
            f"{name} high": NO_LIMIT if estimate.high is None else estimate.high,
            f"{name} low": NO_LIMIT if estimate.low is None else estimate.low,
            f"{name} value": estimate.value,
        }
    return numbers
