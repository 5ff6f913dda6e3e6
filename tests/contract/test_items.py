"""The table of items is what a slow loop over the ratings counts."""

import numpy as np
import pandas as pd
import pytest

from agreement_pipeline.contract import tables
from agreement_pipeline.contract.tables import items_of
from agreement_pipeline.ratings import Ratings, Scale

SCALE = Scale(("no", "yes", "maybe"))
CLASSIFIERS = ("model", "absent")


def random_table(random, n_rows):
    def some(values):
        return pd.Series([values[n] for n in random.integers(0, len(values), n_rows)], dtype=object)

    return pd.DataFrame(
        {
            "item": some(["a", "b", "c", "d", None]),
            "rater": some(["ann", "bob", "cy", "model", None]),
            "label": some(["no", "yes", "maybe", None]),
            "earlier": random.random(n_rows) < 0.4,
        }
    )


def by_loop(table):
    """What is said of each item, by reading one rating after the other."""
    met, own = {}, {}
    for row in table.itertuples():
        if row.item is None or row.rater in CLASSIFIERS:
            continue
        met.setdefault(row.item, []).append(row.rater)
        if not row.earlier:
            own.setdefault(row.item, {}).setdefault(row.rater, row.label)
    return [
        {
            "item": item,
            "n_raters": len(set(said) - {None}),
            "n_labels": len(set(said.values()) - {None}),
            "replicated": len(met[item]) > len(set(met[item])),
        }
        for item, said in sorted(own.items())
    ]


@pytest.mark.parametrize("n_rows", [0, 1, 3, 10, 40])
@pytest.mark.parametrize("seed", range(8))
@pytest.mark.parametrize("ordered", [True, False])
def test_items_are_counted_as_a_loop_counts_them(n_rows, seed, ordered):
    table = random_table(np.random.default_rng(seed), n_rows)
    if ordered:
        table = table.sort_values(["item", "rater"], ignore_index=True)
    table = table.astype(object).where(table.notna(), None).astype({"earlier": bool})
    found = items_of(Ratings(table, SCALE, CLASSIFIERS))
    assert found.to_dict("records") == by_loop(table)


@pytest.mark.parametrize("n_bits", [1, 2, 3])
def test_more_labels_than_one_number_has_bits_are_counted_too(monkeypatch, n_bits):
    monkeypatch.setattr(tables, "BITS", n_bits)
    table = random_table(np.random.default_rng(4), 60)
    assert items_of(Ratings(table, SCALE, CLASSIFIERS)).to_dict("records") == by_loop(table)


def test_as_many_labels_as_bits_are_told_apart():
    labels = [f"label-{number:02}" for number in range(tables.BITS)]
    rows = [("all", f"rater-{label}", label, False) for label in labels]
    rows += [("ends", "ann", labels[0], False), ("ends", "bob", labels[-1], False)]
    table = pd.DataFrame(rows, columns=["item", "rater", "label", "earlier"])
    found = items_of(Ratings(table, Scale(tuple(labels))))
    assert found.to_dict("records") == by_loop(table)


def test_items_are_counted_in_parts_of_whole_items(monkeypatch):
    monkeypatch.setattr(tables, "PART", 3)
    table = random_table(np.random.default_rng(8), 60)
    assert items_of(Ratings(table, SCALE, CLASSIFIERS)).to_dict("records") == by_loop(table)
