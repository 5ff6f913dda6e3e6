"""Agreement by category, which categories are confused, and how often each was given."""

from itertools import combinations

import numpy as np

from agreement_pipeline.estimates import Estimate
from agreement_pipeline.ratings import Array
from agreement_pipeline.report.figure import Figure, Mark, bars_of_shares, intervals, matrix
from agreement_pipeline.report.judged import JudgedRound, differ, shares_of
from agreement_pipeline.report.section import (
    Answer,
    Cell,
    Detail,
    Grid,
    Row,
    grid,
    section,
    share,
    value_and_interval,
)
from agreement_pipeline.report.sections.items import items_table
from agreement_pipeline.statistics import CategoryCounts
from agreement_pipeline.text import PERCENT, SENTENCE, counted, in_words, number

MOST_DRAWN, MOST_PAIRS, MOST_ITEMS, MOST_CONFUSED = 20, 8, 8, 12
RARE = 0.05
RARE_SAID = (
    "One category holds nearly all labels. Then chance agreement is high, and a few "
    "disagreements make a measure such as alpha low. Read agreement by category as well."
)


@section("Categories", "Which categories do raters agree on, and which not?", place=30)
def categories(judged: JudgedRound) -> Answer | None:
    """Agreement on each category against all others, the lowest first."""
    found = judged.categories
    if not found:
        return None
    shown, shares = found[:MOST_DRAWN], shares_of(judged.ratings)
    ordered = "" if judged.ratings.scale.level == "nominal" else " Their order is left aside here."
    figure = intervals(
        "Agreement by category",
        "Each category is taken against all others together. "
        f"A line that lies further left is a category on which raters agree less.{ordered}",
        map(Mark.of, shown),
        "Krippendorff's α of the category",
    )
    rows: list[Row] = [
        [
            Cell(name, to=judged.anchor_of_category(name)),
            *value_and_interval(each),
            share(shares[name]),
            each.undefined,
        ]
        for each in found
        for name in [each.scope.name]
    ]
    columns = ("category", "agreement", "interval", "share of labels", "note")
    table = grid("Agreement and share of each category", columns, rows, "categories")
    details = tuple(_detail(judged, each) for each in shown)
    return Answer((_lowest(found),), (figure,), (table,), details)


def _lowest(found: tuple[Estimate, ...]) -> str:
    first = found[0]
    if len(found) == 2:
        return "There are two categories, so agreement on one is agreement on the other."
    if first.value is None:
        return "Agreement has no value on any category."
    if not differ(found):
        return f"Raters agree alike on every category (α {number(first.value, SENTENCE)})."
    said = f"Raters agree least on {first.scope.name} (α {number(first.value, SENTENCE)})"
    above = [each for each in found[1:] if (each.low or -1.0) > (first.high or 1.0)]
    certain = len(above) == len(found) - 1 and len(found) > 2
    return f"{said}{', and its interval lies under all others' if certain else ''}."


def _detail(judged: JudgedRound, found: Estimate) -> Detail:
    """What raters say instead of a category, who differs on it, and on which items."""
    name = found.scope.name
    category = judged.labels.names.index(name)
    _, said = judged.by_item
    assert isinstance(said, CategoryCounts)
    own = said.counts[:, category]
    places = [at for at in judged.most_disputed if own[at] > 0]
    title = f"Items in dispute that somebody called {name} ({counted(len(places), 'item')})"
    tables = (_pairs(judged, category), items_table(judged, places, title, MOST_ITEMS))
    answer = Answer((_instead(said, category),), tables=tuple(each for each in tables if each.rows))
    value = "no value" if found.value is None else f"α {number(found.value, SENTENCE)}"
    return Detail(judged.anchor_of_category(name), f"{name}: {value}", answer)


def _instead(said: CategoryCounts, category: int) -> str:
    own = said.counts[:, category]
    instead = own @ said.counts
    instead[category] = 0.0
    if not own.any():
        return "Nobody gave this category to an item that two raters labelled."
    if not instead.any():
        return "Wherever one rater gave this category, all others did."
    part = in_words(instead.max() / instead.sum(), PERCENT)
    most = said.scale.names[int(instead.argmax())]
    return f"Where raters differ on it, the other label is most often {most} ({part})."


def _pairs(judged: JudgedRound, category: int) -> Grid:
    """The pairs who differ on a category most often."""
    both, one = judged.labels.on_category(category)
    places = [pair for pair in combinations(range(len(one)), 2) if one[pair]]
    rows: list[Row] = []
    for pair in sorted(places, key=lambda pair: -one[pair]):
        names, apart = [judged.labellers[at] for at in pair], int(one[pair])
        together = int(both[pair])
        raters = Cell(" and ".join(names), to=judged.anchor_of_pair(*names))
        rows.append([raters, apart, together, share(apart / (apart + together))])
    columns = ("raters", "only one gave it", "both gave it", "differ")
    title = "Pairs of raters who differ on it most often"
    return grid(title, columns, rows, "pairs", MOST_PAIRS)


@section("Confusion", "Which categories do raters take for each other?", place=35)
def confusion(judged: JudgedRound) -> Answer | None:
    """How often two raters of an item give two categories, as a share of the first one's labels."""
    _, said = judged.by_item
    if not isinstance(said, CategoryCounts):
        return None
    together, names = coincidences(said), said.scale.names
    one, other = np.triu_indices(len(names), 1)
    order = np.argsort(-together[one, other], kind="stable")
    pairs = [(int(one[at]), int(other[at])) for at in order if together[one[at], other[at]] > 0]
    total = sum(together[pair] for pair in pairs) or 1.0
    rows: list[Row] = [
        [
            *(Cell(names[at], to=judged.anchor_of_category(names[at])) for at in pair),
            share(together[pair] / total),
        ]
        for pair in pairs
    ]
    most = "No two raters gave an item different categories."
    if pairs and len(names) == 2:
        most = "There are two categories, so all disagreement is between them."
    elif pairs:
        part = in_words(together[pairs[0]] / total, PERCENT)
        both = " and ".join(names[at] for at in pairs[0])
        most = f"{part} of all pairs of differing labels are {both}."
    columns = ("one rater", "another rater", "share of pairs of differing labels")
    title = "Categories that raters take for each other"
    table = grid(title, columns, rows, "pairs of categories")
    return Answer((most,), (_confused(names, together),), (table,))


def coincidences(said: CategoryCounts) -> Array:
    r"""How often two raters of an item gave two categories.

    Krippendorff's coincidence matrix: an item of m ratings adds each ordered pair of them with the
    weight 1/(m - 1).
    """
    use = said.pairable
    counts, m = said.counts[use], said.sizes[use]
    weighted = counts * (said.weights[use] / (m - 1))[:, None]
    together = counts.T @ weighted
    together[np.diag_indices_from(together)] -= weighted.sum(0)
    return np.asarray(together)


def _confused(names: tuple[str, ...], together: Array) -> Figure:
    whole = together.sum(1)
    kept = np.sort(np.argsort(-whole, kind="stable")[:MOST_CONFUSED])
    shares = together / np.where(whole > 0, whole, np.nan)[:, None]
    left_out = ""
    if len(names) > MOST_CONFUSED:
        left_out = f" The {MOST_CONFUSED} most frequent of {len(names)} are drawn."
    return matrix(
        "What another rater says of the same item",
        "A row is what one rater said, and a column what another said of the same item. "
        f"High numbers off the diagonal are confusions.{left_out}",
        [names[k] for k in kept],
        shares[np.ix_(kept, kept)],
        "share of the row",
    )


@section("Prevalence", "How often was each category given?", place=70)
def prevalence(judged: JudgedRound) -> Answer | None:
    """The share of each category among the labels of the panel."""
    if judged.ratings.scale.continuous:
        return None
    shares = sorted(shares_of(judged.ratings).items(), key=lambda each: -each[1])
    most = shares[0][1]
    names = [name for name, each in shares if each == most]
    part = f"{in_words(most, PERCENT)} of all labels"
    said = f"The most frequent category is {names[0]} ({part})."
    if len(names) > 1:
        said = f"The most frequent categories are {', '.join(names)} ({part} each)."
    rest = sum(each for _, each in shares[MOST_DRAWN:])
    others = [(f"{len(shares) - MOST_DRAWN} other categories", rest)] if rest else []
    figure = bars_of_shares(
        "Share of each category",
        "Labels of the panel are counted, without classifiers and without gold items.",
        [*shares[:MOST_DRAWN], *others],
        "share of labels",
    )
    rows: list[Row] = [[name, share(each)] for name, each in shares]
    table = grid("Share of each category", ("category", "share of labels"), rows, "categories")
    return Answer((said, *([RARE_SAID] if most > 1 - RARE else [])), (figure,), (table,))
