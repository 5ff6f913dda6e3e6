"""The table of items is what a slow loop over the ratings counts."""

import numpy as np
import pandas as pd
import pytest

from agreement_pipeline.contract import validation
from agreement_pipeline.contract.validation import items_of
from agreement_pipeline.integrity.panel import Panel
from agreement_pipeline.ratings import Ratings, Scale

SCALE = Scale(("no", "yes", "maybe"))
CLASSIFIERS = ("model",)


def random_table(random, n_rows):
    def some(values):
        return [values[n] for n in random.integers(0, len(values), n_rows)]

    table = pd.DataFrame(
        {
            "item": some(["a", "b", "c", "d"]),
            "rater": some(["ann", "bob", "cy", "model"]),
            "label": some(["no", "yes", "maybe"]),
            "earlier": random.random(n_rows) < 0.4,
        }
    )
    return table.assign(occurrence=table.groupby(["item", "rater"]).cumcount() + 1)


def items_in(table, scale=SCALE):
    classifiers = set(CLASSIFIERS) & set(table["rater"])
    ratings = Ratings.from_frame(table, scale, classifiers=sorted(classifiers))
    return items_of(Panel(ratings), ()).to_dict("records")


def by_loop(table):
    """What is said of each item, by reading one rating after the other."""
    met, own = {}, {}
    for row in table.itertuples():
        if row.rater in CLASSIFIERS:
            continue
        met.setdefault(row.item, []).append(row.rater)
        if not row.earlier:
            own.setdefault(row.item, {}).setdefault(row.rater, row.label)
    return [
        {
            "item": item,
            "n_raters": len(said),
            "n_labels": len(set(said.values())),
            "replicated": len(met[item]) > len(set(met[item])),
        }
        for item, said in sorted(own.items())
    ]


@pytest.mark.parametrize("n_rows", [1, 3, 10, 40])
@pytest.mark.parametrize("seed", range(8))
@pytest.mark.parametrize("ordered", [True, False])
def test_items_are_counted_as_a_loop_counts_them(n_rows, seed, ordered):
    table = random_table(np.random.default_rng(seed), n_rows)
    if ordered:
        table = table.sort_values(["item", "rater", "occurrence"], ignore_index=True)
    assert items_in(table) == by_loop(table)


def test_very_many_labels_are_told_apart():
    labels = [f"label-{number:03}" for number in range(300)]
    rows = [("all", f"rater-{label}", label, False) for label in labels]
    rows += [("ends", "ann", labels[0], False), ("ends", "bob", labels[-1], False)]
    table = pd.DataFrame(rows, columns=["item", "rater", "label", "earlier"])
    assert items_in(table, Scale(tuple(labels))) == by_loop(table)


@pytest.mark.parametrize(
    ("scale", "labels"),
    [
        (Scale(None, "interval"), {"no": 0.0, "yes": -0.0, "maybe": 2.5}),
        (
            Scale(None, "multivariate interval", dimensions=2),
            {"no": (0.0, 1.0), "yes": (0.0, 2.0), "maybe": (1.0, 1.0)},
        ),
    ],
)
def test_labels_that_are_numbers_or_vectors_are_told_apart(scale, labels):
    table = random_table(np.random.default_rng(3), 40)
    table = table.assign(label=table["label"].map(labels))
    assert items_in(table, scale) == by_loop(table)


def test_items_are_counted_in_parts_of_whole_items(monkeypatch):
    monkeypatch.setattr(validation, "ROWS_PER_SLICE", 3)
    table = random_table(np.random.default_rng(8), 60)
    assert items_in(table) == by_loop(table)
