"""A profile of each rater: agreement with the others, accuracy on gold, categories and speed.

Values are drawn towards the other raters, so that few labels say little.
"""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace

import numpy as np
import pandas as pd

from agreement_pipeline.counting import counting_of
from agreement_pipeline.estimates import (
    Drawn,
    Estimate,
    Shown,
    drawn_together,
    shrunken_self_agreement,
)
from agreement_pipeline.intervals import Inference, mean_interval
from agreement_pipeline.policy import Policy
from agreement_pipeline.ratings import Ratings, in_pandas
from agreement_pipeline.report.judged import JudgedRound, measured
from agreement_pipeline.report.section import (
    Answer,
    Grid,
    Row,
    grid,
    section,
    value_and_interval,
)
from agreement_pipeline.report.sections.classifiers import compared_by
from agreement_pipeline.statistics import seed_of
from agreement_pipeline.text import SENTENCE, WHOLE_PERCENT, counted, in_words, number

COLUMNS = (
    "rater",
    "ratings",
    "of items",
    "with the others",
    "interval",
    "drawn to all",
    "same label again",
    "right on gold",
    "interval on gold",
    "reads",
    "uses more",
    "uses less",
    "seconds",
)
GOLD = "gold_accuracy"
MOST_POOLED = 40
"""Of a larger panel, so many raters stand for all."""
MOST_SECONDS = 3_600
"""A longer time between two ratings is a pause."""
FAIR = (
    "Values are drawn towards all raters: the less is known of a rater, the more. "
    "With fewer than 30 items nobody is said to differ.",
    "A rater who differs is not wrong: they may see what others miss, or have harder items. "
    "Look at the guideline and at the items first.",
)


@section("Profiles of raters", "Does a rater differ from the others?", place=42)
def rater_profiles(judged: JudgedRound) -> Answer | None:
    """Each rater beside the others and beside gold. None if raters cannot be compared."""
    table = profiles(judged.ratings, judged.policy, judged.shown)
    if table is None:
        return None
    reads = [row[table.columns.index("reads")] for row in table.texts]
    lower, higher = (sum(word in said for said in reads) for word in ("lower", "higher"))
    said = "No rater differs from the others as far as anybody can tell."
    if lower + higher:
        shown = counted(len(reads), "rater")
        said = f"{shown} shown: {lower} below the others and {higher} above."
    return Answer((said, *FAIR), tables=(table,))


def profiles(ratings: Ratings, policy: Policy, shown: Shown | None = None) -> Grid | None:
    """A row for each rater. None if the scale lists no categories, or for a single rater.

    Of a large panel, some raters are `shown`. They are drawn towards raters from all over it.
    """
    if ratings.scale.continuous or len(ratings.raters) < 2:
        return None
    asked = shown or Shown.whole(ratings.raters)
    panel = counting_of(ratings).panel(ratings)
    # Raters from all over a panel: their places in the order of names say nothing of them.
    pool = panel[:: -(-len(panel) // MOST_POOLED)] if panel else ()
    every = replace(asked, raters=tuple(dict.fromkeys((*asked.raters, *pool))))
    measures = [compared_by(ratings.scale), GOLD]
    found = measured(ratings, measures, policy, ("rater",), every)
    gold = {each.scope.name: each for each in found if each.measure == GOLD}
    others = {each.scope.name: each for each in found if each.measure != GOLD}
    drawn, on_gold = (_drawn(each, asked.raters, pool) for each in (others, gold))
    again, uses = _again(ratings, policy), dict(_uses(ratings, policy.confidence_level))
    seconds, given = _seconds(ratings, asked.raters), ratings.n_by_rater
    n_items = ratings.without_earlier.n_rated
    rows: list[Row] = [
        [
            name,
            given.get(name, 0),
            in_words(given.get(name, 0) / n_items, WHOLE_PERCENT),
            *value_and_interval(others.get(name)),
            number(drawn[name].value, SENTENCE) if name in drawn else "",
            again.get(name, ""),
            *value_and_interval(gold.get(name)),
            _reads(drawn.get(name), on_gold.get(name)),
            *uses.get(name, ("", "")),
            seconds.get(name, ""),
        ]
        for name in sorted({*others, *gold} & {*asked.raters})
    ]
    return grid("Each rater beside the others", COLUMNS, rows, "raters")


def _drawn(
    found: Mapping[str, Estimate], shown: Sequence[str], pool: Sequence[str]
) -> Mapping[str, Drawn]:
    mine = (found[name] for name in shown if name in found)
    towards = (found[name] for name in pool if name in found)
    return {each.estimate.scope.name: each for each in drawn_together(mine, towards)}


def _again(ratings: Ratings, policy: Policy) -> Mapping[str, str]:
    """The agreement of raters with themselves, drawn towards that of all. Empty if undefined."""
    replicates = counting_of(ratings).replicated_labels(ratings)
    inference = Inference(policy.confidence_level, seed=seed_of(replicates))
    found = shrunken_self_agreement(replicates, inference)
    return {each.scope.name: number(each.value, SENTENCE) for each in found}


def _reads(agreement: Drawn | None, gold: Drawn | None) -> str:
    """Where a rater differs from the others, as far as the intervals tell."""
    said = ((agreement, "agrees"), (gold, "right on gold"))
    known = [(each.reads, what) for each, what in said if each is not None]
    differs = [f"{what}: {reads}" for reads, what in known if reads in ("lower", "higher")]
    if differs:
        return "; ".join(differs)
    few = any(reads == "too few to tell" for reads, _ in known) or not known
    return "too few to tell" if few else "like the others"


def _uses(ratings: Ratings, level: float) -> Iterator[tuple[str, tuple[str, str]]]:
    """Of each rater, the categories that they use more and less than the others on the same items.

    A category is named if its interval leaves out 0, with one level for all categories of a rater.
    None is named where items come in clusters, since the interval takes each as drawn by itself.
    """
    labels = counting_of(ratings).labels(ratings).with_scale(ratings.scale)
    names = labels.scale.names
    if labels.clusters is not None:
        return
    counts = labels.indicators.sum(1)
    each_level = 1 - (1 - level) / len(names)
    items = np.repeat(np.arange(len(labels.codes)), labels.weights.astype(int))
    for place, rater in enumerate(labels.raters):
        mine = labels.indicators[:, place]
        rest = counts - mine
        both = items[((mine.sum(1) > 0) & (rest.sum(1) > 0))[items]]
        if len(both):
            change = (mine[both] - rest[both] / rest[both].sum(1, keepdims=True)).T
            found = [mean_interval(each, np.arange(len(both)), each_level) for each in change]
            more = [n for n, limits in zip(names, found, strict=True) if limits and limits.low > 0]
            less = [n for n, limits in zip(names, found, strict=True) if limits and limits.high < 0]
            yield rater, (", ".join(more), ", ".join(less))


def _seconds(ratings: Ratings, shown: Sequence[str]) -> Mapping[str, str]:
    """The median time between two ratings of each of some raters, without pauses.

    Times are texts or dates. Empty where there are none.
    """
    if "timestamp" not in ratings.has:
        return {}
    found = in_pandas(ratings.first(["rater", "timestamp"], raters=shown, gold=True))
    if pd.api.types.is_numeric_dtype(found["timestamp"]):
        return {}
    times = pd.to_datetime(found["timestamp"], errors="coerce", utc=True, format="ISO8601")
    ordered = found.assign(time=times).dropna().sort_values(["rater", "time"])
    gaps = ordered.groupby("rater")["time"].diff().dt.total_seconds()
    usual = gaps[(gaps > 0) & (gaps <= MOST_SECONDS)].groupby(ordered["rater"]).median()
    return {str(name): f"{value:.0f}" for name, value in usual.items()}
