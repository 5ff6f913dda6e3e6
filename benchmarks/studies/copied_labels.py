"""How often the labels of honest rounds pass for copies of others, and how often copies are seen.

Each line is for one kind of round. A round is an array of labels, with a row for each item and a
column for each rater. -1 stands for a label that is missing.
"""

from collections.abc import Callable, Iterator, Mapping
from typing import Any

import numpy as np

from agreement_pipeline.integrity.copied_rows import least_likely_number_of_copies
from benchmarks.studies.study import Asked, Cells, percent, seeded, study

Labels = np.ndarray[Any, Any]
Make = Callable[[np.random.Generator], Labels]


def panel(
    random: np.random.Generator,
    n_items: int,
    errors: list[float],
    n_categories: int = 3,
    prevalence: tuple[float, ...] | None = None,
    *,
    balanced: bool = False,
    neighbours: bool = False,
    hard: float = 0.0,
) -> Labels:
    """Raters with errors of their own, who all guess on a share of hard items."""
    truth = random.choice(n_categories, size=n_items, p=prevalence)
    if balanced:
        truth = np.arange(n_items) % n_categories
    guessed = random.random(n_items) < hard
    columns = []
    for error in errors:
        chance = np.where(guessed, 1 - 1 / n_categories, error)
        away = random.integers(1, n_categories, size=n_items)
        if neighbours:
            away = random.choice([1, n_categories - 1], size=n_items)
        columns.append((truth + (random.random(n_items) < chance) * away) % n_categories)
    return np.column_stack(columns)


def habits(random: np.random.Generator, n_items: int, n_raters: int, n_categories: int) -> Labels:
    """Each rater takes one category for another, always the same, on a fifth of its items."""
    truth = random.integers(n_categories, size=n_items)
    labels = np.repeat(truth[:, None], n_raters, axis=1)
    for rater in range(n_raters):
        wrong = (truth == random.integers(n_categories)) & (random.random(n_items) < 0.2)
        labels[wrong, rater] = (truth[wrong] + 1) % n_categories
    return labels


def some_raters(random: np.random.Generator, n_items: int, of: int, n_raters: int) -> Labels:
    labels = panel(random, n_items, [0.1] * of)
    absent = np.argsort(random.random((n_items, of)), axis=1) >= n_raters
    labels[absent] = -1
    return labels


def templates(random: np.random.Generator, n_items: int, n_templates: int) -> Labels:
    """Items of few sorts, each with its own chance that a rater says yes."""
    sort = random.integers(n_templates, size=n_items)
    chance = random.beta(0.3, 0.3, size=(n_templates, 4))[sort]
    return (random.random((n_items, 4)) < chance).astype(int)


def threads(random: np.random.Generator, n_threads: int) -> Labels:
    """Two to six posts of a thread look so much alike that half get the labels of the first."""
    firsts = panel(random, n_threads, [0.1] * 3)
    thread = np.repeat(np.arange(n_threads), random.integers(2, 7, size=n_threads))
    own = panel(random, len(thread), [0.1] * 3)
    return np.where((random.random(len(thread)) < 0.5)[:, None], firsts[thread], own)


def rubric(random: np.random.Generator, n_items: int) -> Labels:
    """Five grades, and raters who are one off on a third of the items."""
    return panel(random, n_items, [0.33] * 4, 5, neighbours=True)


HONEST: Mapping[str, Make] = {
    "Two raters, two categories, 100 items, 10 % of errors": lambda r: panel(r, 100, [0.1] * 2, 2),
    "the same, 2,000 items": lambda r: panel(r, 2_000, [0.1] * 2, 2),
    "the same, 20,000 items": lambda r: panel(r, 20_000, [0.1] * 2, 2),
    "Three raters, two categories, 2 % of errors, 400 items": lambda r: panel(
        r, 400, [0.02] * 3, 2
    ),
    "the same, of which 95 % are of one category": lambda r: panel(
        r, 400, [0.02] * 3, 2, (0.95, 0.05)
    ),
    "the same, 10,000 items": lambda r: panel(r, 10_000, [0.02] * 3, 2, (0.95, 0.05)),
    "Six raters, five categories, 5 % of errors, 400 items": lambda r: panel(r, 400, [0.05] * 6, 5),
    "the same, 5,000 items": lambda r: panel(r, 5_000, [0.05] * 6, 5),
    "the same, with equally many items of each category": lambda r: panel(
        r, 5_000, [0.05] * 6, 5, balanced=True
    ),
    "Twenty categories, twenty items of each, 1 % of errors": lambda r: panel(
        r, 400, [0.01] * 4, 20, balanced=True
    ),
    "Twenty categories, twenty items of each, no errors": lambda r: panel(
        r, 400, [0.0] * 4, 20, balanced=True
    ),
    "Six raters, two categories, 1,000 items, 20 % of errors": lambda r: panel(
        r, 1_000, [0.2] * 6, 2
    ),
    "Ten raters, two categories, 3,000 items, 10 % of errors": lambda r: panel(
        r, 3_000, [0.1] * 10, 2
    ),
    "Three raters, who guess on a tenth of the items": lambda r: panel(
        r, 1_000, [0.02] * 3, hard=0.1
    ),
    "Four raters, each with a habit of their own": lambda r: habits(r, 1_000, 4, 4),
    "the same, eight raters and 10,000 items": lambda r: habits(r, 10_000, 8, 4),
    "Three of eight raters an item": lambda r: some_raters(r, 1_000, 8, 3),
    "Two of twenty raters an item": lambda r: some_raters(r, 3_000, 20, 2),
    "Five sorts of items": lambda r: templates(r, 500, 5),
    "Fifty sorts of items": lambda r: templates(r, 2_000, 50),
    "Threads of posts that look alike": lambda r: threads(r, 200),
    "Five grades, one off on a third": lambda r: rubric(r, 600),
    "the same, 6,000 items": lambda r: rubric(r, 6_000),
    "Raters who guess": lambda r: r.integers(2, size=(500, 4)),
    "Raters who guess, five categories": lambda r: r.integers(5, size=(2_000, 3)),
}


def copied(labels: Labels, n_copied: int, n_copies: int) -> Labels:
    """The first items come again with the same labels, so that each is there `n_copies` times."""
    return np.concatenate([labels, *[labels[:n_copied]] * (n_copies - 1)])


COPIED: Mapping[str, Make] = {
    "20 items of six raters and five categories, twenty times": lambda r: copied(
        panel(r, 20, [0.1] * 6, 5), 20, 20
    ),
    "60 items of six raters and five categories, five times": lambda r: copied(
        panel(r, 60, [0.1] * 6, 5), 60, 5
    ),
    "200 items of three raters and three categories, twice": lambda r: copied(
        panel(r, 200, [0.1] * 3), 200, 2
    ),
    "200 items of six raters and five categories, twice": lambda r: copied(
        panel(r, 200, [0.1] * 6, 5), 200, 2
    ),
    "400 items, of which a quarter is there five times": lambda r: copied(
        panel(r, 400, [0.1] * 6, 5), 100, 5
    ),
    "400 items, of which a quarter is there twice": lambda r: copied(
        panel(r, 400, [0.1] * 6, 5), 100, 2
    ),
    "200 items of two raters and two categories, twice": lambda r: copied(
        panel(r, 200, [0.1] * 2, 2), 200, 2
    ),
}


def rows_on_which_raters_differ(labels: Labels) -> Labels:
    """How many items have each row of labels."""
    rows, n_items = np.unique(labels, axis=0, return_counts=True)
    highest = rows.max(axis=1)
    lowest = np.where(rows < 0, highest[:, None], rows).min(axis=1)
    return n_items[highest > lowest]


def passes_for_copies(labels: Labels) -> bool:
    n_items = rows_on_which_raters_differ(labels)
    return len(n_items) > 0 and least_likely_number_of_copies(n_items) is not None


@study("round | told, %", rounds=2_000, seeded=True)
def copied_labels(asked: Asked) -> Iterator[Cells]:
    """How often labels pass for copies: in rounds without any, and then with some."""
    for number, (name, make) in enumerate({**HONEST, **COPIED}.items()):
        rounds = seeded(make, asked.rounds, asked.seed, number)
        yield name, *percent(np.array([passes_for_copies(labels) for labels in rounds]))
