"""Plans for the label that trains: so many items by so many raters each, and what would help.

Rounds are drawn from what an earlier one shows, and judged by the rule as real ones are.

- **Means and shares** with any number of raters follow from the variance components of the earlier
  round. Items are drawn with their own means, pulled together to the variance that lies between
  items, and shares by a Dirichlet distribution.
- **A category** is planned for as many ratings as items of the earlier round have, or fewer: these
  are drawn from an item's own. More are not known.
"""

from collections.abc import Callable, Iterator, Mapping
from typing import NamedTuple

import numpy as np

from agreement_pipeline.counting import counting_for
from agreement_pipeline.errors import PolicyError
from agreement_pipeline.estimates import (
    Estimate,
    VarianceComponents,
    estimate_components_of_table,
    estimate_label,
    usual_panel_size,
)
from agreement_pipeline.intervals import Inference
from agreement_pipeline.policy.policy import Rule
from agreement_pipeline.ratings import Array, Ratings, TrainingLabel, Trains, default_label
from agreement_pipeline.statistics import CategoryCounts, NumbersByRater
from agreement_pipeline.text import in_words

RATERS_PLANNED = (2, 3, 4, 5, 6, 7, 9, 11, 15)
MIN_ITEMS_PLANNED_FROM = 50
N_ITEMS_OF_TRUTH = 20_000
RATERS_DIFFER = 0.25
"""Over this share of the error, habits of raters are worth more than further raters."""
NO_GAIN = 0.02
"""Panels that agree so little more often than single raters do not gain by more raters."""
MAX_WORTHWHILE_RATERS = 15

DrawRound = Callable[[np.random.Generator, int], CategoryCounts | NumbersByRater]


class LabelDesign(NamedTuple):
    """So many ratings of each item.

    Attributes
    ----------
    n_ratings
        Of each item.
    expected
        The value of the measure on very many items, or the least that it can be.
    draw
        A round of so many items.
    """

    n_ratings: int
    expected: float
    draw: DrawRound


def iterate_label_designs(
    earlier: Ratings, rule: Rule, trains: Trains | None, source_name: str
) -> Iterator[LabelDesign]:
    """The designs whose value follows from an earlier round."""
    label = trains.label if trains else default_label(earlier.scale)
    Trains(label).raise_if_unsuited(earlier.scale)
    designs = list(iterate_designs_of_measure(earlier, rule.measure, Trains(label)))
    if not designs:
        raise PolicyError(
            f"{source_name}: found no {MIN_ITEMS_PLANNED_FROM} items with ratings to plan {label} "
            "from; "
            "expected them. Plan from another round."
        )
    return iter(designs)


def iterate_designs_of_measure(
    earlier: Ratings, measure: str, trains: Trains
) -> Iterator[LabelDesign]:
    label, counting = trains.label, counting_for(earlier)
    if label in ("mean", "shares"):
        table = counting.by_rater(earlier)
        components = estimate_components_of_table(table)
        for n_ratings in RATERS_PLANNED:
            if label == "shares":
                draw = _draw_shares(counting.counts(earlier), components, n_ratings)
            else:
                draw = _draw_numbers(counting.numbers(earlier), components, n_ratings)
            yield LabelDesign(n_ratings, components.reliability(n_ratings), draw)
        return
    if earlier.scale.continuous:
        return
    counts = counting.counts(earlier)
    for n_ratings in RATERS_PLANNED:
        enough = counts.sizes >= n_ratings
        if counts.weights[enough].sum() < MIN_ITEMS_PLANNED_FROM:
            return
        draw = _draw_thinned(counts, n_ratings)
        estimate = estimate_label_measure(
            draw(np.random.default_rng(0), N_ITEMS_OF_TRUTH), measure, trains
        )
        if estimate.value is not None:
            yield LabelDesign(n_ratings, estimate.value, draw)


def estimate_label_measure(
    statistic: CategoryCounts | NumbersByRater, measure: str, trains: Trains
) -> Estimate:
    (label_estimate,) = estimate_label(statistic, [measure], Inference(n_resamples=2), trains)
    return label_estimate


def _draw_numbers(
    numbers: NumbersByRater, components: VarianceComponents, n_ratings: int
) -> DrawRound:
    """The items' means and the errors around them, in the size that the components give them."""
    values = numbers.values[..., 0]
    sizes = (~np.isnan(values)).sum(1)
    several = sizes >= 2
    means = np.array([np.nanmean(row) for row in values[several]])
    item_probabilities = numbers.weights[several] / numbers.weights[several].sum()
    centre = float(item_probabilities @ means)
    spread = float(np.sqrt(item_probabilities @ (means - centre) ** 2))
    means = centre + (means - centre) * np.sqrt(components.items) / max(spread, 1e-300)
    errors = values[several] - np.array([np.nanmean(row) for row in values[several]])[:, None]
    errors = errors[~np.isnan(errors)]
    errors = errors * np.sqrt(
        components.error_of_one_rating / max(float((errors**2).mean()), 1e-300)
    )
    raters = tuple(f"r{place}" for place in range(n_ratings))

    def draw(rng: np.random.Generator, n_items: int) -> NumbersByRater:
        drawn_means = means[rng.choice(len(means), n_items, p=item_probabilities)]
        drawn_errors = errors[rng.integers(len(errors), size=(n_items, n_ratings))]
        return NumbersByRater(
            drawn_means[:, None] + drawn_errors, scale=numbers.scale, raters=raters
        )

    return draw


def _draw_shares(
    counts: CategoryCounts, components: VarianceComponents, n_ratings: int
) -> DrawRound:
    category_shares = np.asarray(counts.weights_of_paired @ counts.counts, dtype=float)
    category_shares = category_shares / category_shares.sum()
    agreement = components.reliability(1)
    concentration = 1 / min(max(agreement, 1e-6), 1 - 1e-6) - 1

    def draw(rng: np.random.Generator, n_items: int) -> CategoryCounts:
        shares = rng.dirichlet(np.maximum(concentration * category_shares, 1e-9), n_items)
        rows = rng.multinomial(n_ratings, shares)
        return CategoryCounts(rows, scale=counts.scale).merged()

    return draw


def _draw_thinned(counts: CategoryCounts, n_ratings: int) -> DrawRound:
    enough = counts.sizes >= n_ratings
    rows, weights = counts.counts[enough].astype(np.int64), counts.weights[enough]
    chances: Array = weights / weights.sum()

    def draw(rng: np.random.Generator, n_items: int) -> CategoryCounts:
        n_by_item = rng.multinomial(n_items, chances)
        thinned_counts = [
            rng.multivariate_hypergeometric(row, n_ratings, size=n)
            for row, n in zip(rows, n_by_item.tolist(), strict=True)
            if n
        ]
        return CategoryCounts(np.vstack(thinned_counts), scale=counts.scale).merged()

    return draw


def advise_on_label(earlier: Ratings, cutoff: float, trains: Trains | None = None) -> str:
    """More raters, other raters, a clearer guideline, or nothing, as far as a round shows it."""
    label: TrainingLabel = trains.label if trains else default_label(earlier.scale)
    counting = counting_for(earlier)
    components = estimate_components_of_table(counting.by_rater(earlier))
    single_rater_reliability = components.reliability(1)
    if components.items <= 0:
        return (
            "Raters agree no more than by chance, so neither more items nor more raters help: a "
            "clearer guideline, other categories, or other raters."
        )
    if single_rater_reliability >= cutoff:
        return "One rater would do, so more raters an item are not needed."
    rater_share = (
        components.raters / components.error_of_one_rating
        if components.error_of_one_rating > 0
        else 0.0
    )
    habits_sentence = (
        f" {in_words(rater_share, '.0%')} of what raters differ by are habits of theirs, whatever "
        "the "
        "item: train them together, or choose others."
        if rater_share >= RATERS_DIFFER
        else ""
    )
    if label in ("mean", "shares"):
        n_needed = int(np.ceil(components.needed_ratings(cutoff)))
        enough_sentence = f"{n_needed} raters an item reach {cutoff:g} for {label} of ratings."
        too_many_sentence = (
            f"It takes {n_needed:,} raters an item to reach {cutoff:g}: a clearer guideline would "
            "help more."
        )
        sentence = enough_sentence if n_needed <= MAX_WORTHWHILE_RATERS else too_many_sentence
        return f"{sentence}{habits_sentence}"
    return f"{advise_on_panels(earlier, trains or Trains(label))}{habits_sentence}"


def advise_on_panels(earlier: Ratings, trains: Trains) -> str:
    gain = estimate_panel_gain(earlier, trains)
    if gain is None:
        return (
            "These ratings do not show whether more raters would help: have one rating more, or a "
            "second panel, on 300 items that are drawn by chance."
        )
    if gain <= NO_GAIN:
        return (
            "Panels agree hardly more often than single raters: items are clear to all, or not at "
            "all. More raters would not help, but a clearer guideline."
        )
    return f"Panels agree on {in_words(gain, '.0%')} more of the items than two raters do."


def describe_drawn_part_needed(label: TrainingLabel, items_by_ratings: Mapping[int, int]) -> str:
    """How many items to draw for one rating more, where plans are for items with even numbers of
    ratings. Empty if none is.

    >>> describe_drawn_part_needed("plurality", {3: 90, 4: 310})
    'Panels of 3 are compared on 310 drawn items with one rating more.'
    """
    if label not in ("plurality", "majority", "median"):
        return ""
    return " ".join(
        f"Panels of {n_ratings - 1} are compared on {n_items:,} drawn items with one rating more."
        for n_ratings, n_items in items_by_ratings.items()
        if n_ratings >= 4 and n_ratings % 2 == 0
    )


def estimate_panel_gain(earlier: Ratings, trains: Trains) -> float | None:
    """How much more often the largest panels that can be compared agree than two raters."""
    if earlier.scale.continuous or trains.label not in ("plurality", "majority", "median"):
        return None
    counts = counting_for(earlier).counts(earlier)
    panel_estimate = estimate_label_measure(counts, "label_agreement", trains)
    single_estimate = estimate_label_measure(counts, "label_agreement", Trains("one_rater"))
    if panel_estimate.value is None or single_estimate.value is None or panel_estimate.at_least:
        return None
    panel_size = usual_panel_size(counts.sizes, counts.weights, trains.label)
    return panel_estimate.value - single_estimate.value if panel_size > 2 else None
