"""Small rounds of every kind, for every registered measure."""

from dataclasses import dataclass, replace
from itertools import permutations

import numpy as np
from hypothesis import strategies as st

from agreement_pipeline.ratings import Scale
from agreement_pipeline.statistics import (
    CountsOfStratum,
    LabelsByRater,
    LabelsOfPanels,
    NumbersByRater,
    ReplicatedLabels,
    ReplicatedNumbers,
)

JUDGES = ("model", "judge")
NOMINAL = ("a", "b", "c", "d")
SCORES = (1.0, 2.0, 4.0, 5.0)
PLANE = np.array(
    [(1.0, 3.0), (2.0, 1.0), (4.0, 4.0), (5.0, 1.5), (np.nan, np.nan)]
)  # the last one is missing


def scale_of(level, k):
    if level == "multivariate interval":
        return Scale(None, level, dimensions=2)
    return Scale(SCORES[:k] if level in ("interval", "ratio") else NOMINAL[:k], level)


def raters_of(codes):
    return [f"r{r}" for r in range(codes.shape[1])]


def labels_of_one_rater(ratings):
    """What two raters of an item would say: all pairs of different raters are as likely."""
    if isinstance(ratings, NumbersByRater):
        numbers, is_given = ratings.values, ~np.isnan(ratings.values[:, :, 0])
    else:
        numbers = np.eye(len(ratings.scale.names))[ratings.codes]
        is_given = ratings.codes >= 0
    used = [u for u in range(len(numbers)) if is_given[u].sum() >= 2]
    rows = [numbers[u][is_given[u]] for u in used]
    apart = [
        np.mean([((a - b) ** 2).sum() / 2 for a, b in permutations(list(row), 2)]) for row in rows
    ]
    return LabelsOfPanels(
        np.array([row.mean(0) for row in rows]).reshape(len(rows), numbers.shape[-1]),
        [(row**2).sum(-1).mean() for row in rows],
        apart,
        ratings.weights[used],
        of_categories=isinstance(ratings, LabelsByRater),
    )


@dataclass(frozen=True)
class Table:
    """A small round of N items and R raters.

    - `codes`: first ratings (N, R).
    - `labels`: labels of two classifiers (N, 2).
    - `cells`: counts of replicates by (item, rater).
    - `weights`: weights of the items (N,).
    - `confidence`: confidence of the raters (N, R).
    """

    codes: np.ndarray
    labels: np.ndarray
    cells: dict
    weights: np.ndarray
    scale: Scale
    confidence: np.ndarray | float = 1.0

    def statistic(self, record):
        if record.needs == "replicates":
            return self.replicates()
        if record.needs == "gold":
            return self.panel()
        if record.needs == "label":
            return labels_of_one_rater(self.values() if self.scale.continuous else self.patterns())
        if record.needs == "panel":
            return (
                self.values().with_classifier(PLANE[self.labels[:, 0]], "model")
                if self.scale.continuous
                else self.panel()
            )
        if record.needs == "values" or self.scale.continuous:
            values = self.values()
            return values.items_rated_by_all() if record.crossed else values
        makers = {
            "counts": lambda: self.patterns().counts(),
            "patterns": self.patterns,
            "groups": self.groups,
            "confidence": self.confident,
            "strata": self.stratum,
        }
        return makers[record.needs]()

    def patterns(self):
        return LabelsByRater(
            self.codes, self.weights, scale=self.scale, raters=raters_of(self.codes)
        )

    def stratum(self):
        """The items with two ratings, or four, are the stratum."""
        counts = self.patterns().counts()
        return CountsOfStratum(counts, counts.sizes % 2 == 0)

    def panel(self):
        return self.patterns().with_classifier(self.labels[:, 0], "model")

    def groups(self):
        both = np.column_stack([self.codes, self.labels])
        raters = [*raters_of(self.codes), *JUDGES]
        everybody = LabelsByRater(both, self.weights, scale=self.scale, raters=raters)
        return everybody.merged().in_groups(JUDGES)

    def confident(self):
        return self.patterns().with_confidence(np.broadcast_to(self.confidence, self.codes.shape))

    def replicates(self):
        where = np.array(list(self.cells), dtype=int).reshape(-1, 2)
        counts = list(self.cells.values())
        if self.scale.continuous:
            most = max(map(sum, counts), default=0)
            said = [
                np.repeat([*range(len(cell)), -1], [*cell, most - sum(cell)]) for cell in counts
            ]
            values = PLANE[np.array(said, dtype=int).reshape(len(said), most)]
            return ReplicatedNumbers(
                values,
                where[:, 0],
                where[:, 1],
                self.weights,
                scale=self.scale,
                raters=raters_of(self.codes),
            )
        return ReplicatedLabels(
            np.array(counts, dtype=float).reshape(-1, len(self.scale.names)),
            where[:, 0],
            where[:, 1],
            self.patterns(),
        )

    def values(self):
        numbers = PLANE if self.scale.continuous else np.append(self.scale.scores, np.nan)
        return NumbersByRater(
            numbers[self.codes], self.weights, scale=self.scale, raters=raters_of(self.codes)
        )

    def value(self, record):
        return record(self.statistic(record)).value

    def items(self, order):
        """A table of these items in another order, or of some of them."""
        place = {int(old): new for new, old in enumerate(order)}
        cells = {(place[u], r): counts for (u, r), counts in self.cells.items() if u in place}
        confidence = np.broadcast_to(self.confidence, self.codes.shape)[order]
        return replace(
            self,
            codes=self.codes[order],
            labels=self.labels[order],
            cells=cells,
            weights=self.weights[order],
            confidence=confidence,
        )


@st.composite
def tables(draw, record, least_items=1, level=None):
    """A round of random ratings. What the measure does not look at is the same in each."""
    n, r, k = draw(st.integers(least_items, 6)), draw(st.integers(1, 4)), draw(st.integers(2, 4))
    code, stated = st.integers(-1, k - 1), st.sampled_from([0.0, 0.3, 1.0, np.nan])

    def of_items(*said):
        return np.array(draw(st.lists(st.tuples(*said), min_size=n, max_size=n)))

    codes = of_items(*[code] * r)
    of_classifiers = record.needs in ("gold", "panel", "groups")
    labels = of_items(code, code) if of_classifiers else np.zeros((n, 2), dtype=int)
    cells = draw(replicates(n, r, k)) if record.needs == "replicates" else {}
    weights = np.array(draw(st.lists(st.integers(1, 3), min_size=n, max_size=n)), dtype=float)
    scale = scale_of(level or draw(st.sampled_from(levels_of(record))), k)
    confidence = of_items(*[stated] * r) if record.needs == "confidence" else 1.0
    return Table(codes, labels, cells, weights, scale, confidence)


def replicates(n, r, k):
    """Counts of some cells that were met twice or more often."""
    counts = st.lists(st.integers(0, 4), min_size=k, max_size=k).filter(lambda cell: sum(cell) >= 2)
    places = st.tuples(st.integers(0, n - 1), st.integers(0, r - 1))
    return st.dictionaries(places, counts, max_size=6)


def levels_of(record):
    return sorted(record.levels)
