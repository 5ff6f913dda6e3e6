"""Ratings in order: what is looked up in blocks is what a loop over the rows finds."""

import numpy as np
import pandas as pd
import pytest

from agreement_pipeline.ratings import Ratings, Scale, blocks, row_order
from agreement_pipeline.ratings.blocks import counts, held, taken
from agreement_pipeline.ratings.row_order import is_in_order, of_whole_items


@pytest.fixture(autouse=True)
def small_parts(monkeypatch):
    """Parts of so few rows that these tables have several."""
    monkeypatch.setattr(blocks.parts, "__defaults__", (3,))
    monkeypatch.setattr(row_order.of_whole_items, "__defaults__", (3,))
    monkeypatch.setattr(row_order, "PART", 3)


def test_what_is_looked_up_block_by_block_is_what_a_loop_finds():
    codes = np.array([4, -1, 0, 2, 2, 4, 1], dtype=np.int8)
    values = np.array([10, 20, 30, 40, 50, 99])
    assert taken(values, codes).tolist() == [values[code] for code in codes]
    for n_codes in (6, blocks.FEW + 1):
        there = [code in codes.tolist() for code in range(n_codes)]
        assert held(codes, n_codes).tolist() == there
    known = codes[codes >= 0]
    assert counts(known, 6).tolist() == [known.tolist().count(code) for code in range(6)]
    assert taken(values, codes[:0]).tolist() == []
    assert counts(codes[:0], 2).tolist() == [0, 0]


def test_parts_hold_all_rows_of_their_items():
    item = np.array([0, 0, 0, 0, 1, 2, 2, 3, 5, 5])
    found = of_whole_items(item)
    assert np.concatenate([item[part] for part in found]).tolist() == item.tolist()
    each = [set(item[part].tolist()) for part in found]
    assert len(found) > 2
    assert sum(map(len, each)) == len(set(item.tolist()))


ROWS = [
    (f"i{item}", rater, label, occurrence)
    for item, rater, label, occurrence in [
        (0, "a", "x", 1),
        (0, "a", "y", 2),
        (0, "c", "x", 1),
        (1, "b", "y", 1),
        (1, "c", "x", 1),
        (2, "a", "x", 1),
        (2, "b", "y", 1),
        (2, "b", "x", 2),
        (2, "c", "y", 1),
    ]
]


def ratings(rows, **more):
    frame = pd.DataFrame(rows, columns=["item", "rater", "label", "occurrence"])
    return Ratings.from_frame(frame.assign(**more), Scale(("x", "y")))


def listed(found):
    columns = ["item", "rater", "label", "occurrence"]
    return list(found.table[columns].itertuples(index=False, name=None))


def test_shuffled_ratings_are_put_in_order():
    shuffled = np.random.default_rng(2).permutation(len(ROWS))
    time = [f"2026-01-0{n + 1}" for n in shuffled]
    found = ratings([ROWS[n] for n in shuffled], timestamp=time)
    assert listed(found) == ROWS
    assert found.table["timestamp"].tolist() == [f"2026-01-0{n + 1}" for n in range(len(ROWS))]


def test_raters_with_new_names_stand_in_the_order_of_these():
    names = {"a": "z", "b": "y", "c": "x"}
    found = ratings(ROWS).renamed(names)
    renamed = [(item, names[rater], label, n) for item, rater, label, n in ROWS]
    assert listed(found) == sorted(renamed, key=lambda row: (row[0], row[1], row[3]))
    assert found.digest == ratings(ROWS).digest


@pytest.mark.parametrize("place", [1, 2, 3, 4, 8])
def test_a_row_out_of_order_is_found_in_every_part_and_between_two(place):
    table = ratings(ROWS).table
    assert is_in_order(table)
    order = list(range(len(ROWS)))
    order[place - 1], order[place] = order[place], order[place - 1]
    assert not is_in_order(table.iloc[order])
    assert not is_in_order(table.iloc[[*range(place), *range(place - 1, len(ROWS))]])
