"""Items whose rows of labels are copies of other items'. Counts are checked by loops."""

import math
from collections import Counter
from pathlib import Path

import numpy as np
import pandas as pd
import pytest

from agreement_pipeline.integrity.copied_rows import (
    drop_copied_rows,
    find_copied_rows,
    most_likely_multiple,
)
from agreement_pipeline.integrity.facts import items_with_copied_labels
from agreement_pipeline.integrity.panel import Panel
from agreement_pipeline.policy import judge, load_policy
from agreement_pipeline.readers import Columns, read
from benchmarks.studies.copied_labels import (
    COPIED,
    HONEST,
    copied,
    panel,
    passes_for_copies,
    rows_on_which_raters_differ,
)

MAST = Path(__file__).parents[1] / "cases" / "copied_blocks"
SIX = Columns(raters=tuple(f"r{place}" for place in range(6)))
BLOCKS = panel(np.random.default_rng(3), 40, [0.1] * 6, 5)


def frame_of(labels, order=None):
    """A long table of an array of labels, in a random order of items."""
    names = [f"i{place:05}" for place in range(len(labels))]
    if order is not None:
        np.random.default_rng(order).shuffle(names)
    rows = [
        (name, f"r{rater}", "abcdefghij"[label])
        for name, row in zip(names, labels.tolist(), strict=True)
        for rater, label in enumerate(row)
        if label >= 0
    ]
    return pd.DataFrame(rows, columns=["item", "rater", "label"])


def rows_by_loop(frame):
    """How many items have each row of labels."""
    labels = {}
    for item, rater, label in frame.itertuples(index=False):
        labels.setdefault(item, []).append((rater, label))
    return Counter(tuple(sorted(row)) for row in labels.values())


def test_the_case_is_held():
    high = read(MAST / "mast_high.csv", SIX, layout="wide")
    decision = judge(high, load_policy("standard"))
    assert not decision.admitted
    assert decision.codes == ("labels_copied",)
    assert "since it rests on 20 items and the policy asks for 30" in decision.reasons[0]
    (told,) = [each for each in decision.findings if each.check == "labels_not_copied"]
    assert "380 items may copy others: each of 12 rows of labels occurs 20 times" in (
        told.description
    )


def test_one_item_of_each_copy_stays():
    high = read(MAST / "mast_high.csv", SIX, layout="wide")
    one = read(MAST / "mast_one.csv", SIX, layout="wide")
    rest = drop_copied_rows(high)
    assert rows_by_loop(rest.to_pandas()[["item", "rater", "label"]]) == rows_by_loop(
        one.to_pandas()[["item", "rater", "label"]]
    )


VARIANTS = {
    "in order": (copied(BLOCKS, 40, 10), {}),
    "in another order": (copied(BLOCKS, 40, 10), {"order": 1}),
    "three times": (copied(BLOCKS, 40, 3), {"order": 2}),
    "a hundred times": (copied(BLOCKS, 40, 100), {"order": 3}),
    "beside others": (
        np.concatenate([panel(np.random.default_rng(5), 60, [0.1] * 6, 5), copied(BLOCKS, 40, 7)]),
        {"order": 4},
    ),
    "by many raters": (copied(panel(np.random.default_rng(6), 60, [0.1] * 30, 2), 60, 4), {}),
    "with missing labels": (
        copied(np.where(np.random.default_rng(7).random(BLOCKS.shape) < 0.2, -1, BLOCKS), 40, 6),
        {"order": 5},
    ),
}


@pytest.mark.parametrize(("labels", "how"), VARIANTS.values(), ids=VARIANTS)
def test_rows_are_counted_as_by_a_loop(labels, how):
    frame = frame_of(labels, **how)
    ratings = read(frame)
    words, n_items = ratings.panel_rows
    rows = rows_by_loop(frame)
    assert sorted(n_items.tolist()) == sorted(rows.values())
    differing = {row: n for row, n in rows.items() if len({label for _, label in row}) > 1}
    found = n_items[ratings.rows_that_differ(words)]
    assert sorted(found.tolist()) == sorted(differing.values())
    assert sorted(rows_on_which_raters_differ(labels).tolist()) == sorted(differing.values())
    suspicious = find_copied_rows(ratings)
    assert suspicious is not None
    assert items_with_copied_labels(Panel(ratings)).value == suspicious.n_too_many
    kept = rows_by_loop(drop_copied_rows(ratings).to_pandas()[["item", "rater", "label"]])
    assert sum(rows.values()) - sum(kept.values()) == suspicious.n_too_many
    assert {*kept} == {*rows}


def test_a_classifier_and_gold_items_do_not_hide_copies():
    frame = frame_of(copied(BLOCKS, 40, 10))
    items = frame["item"].unique()
    model = pd.DataFrame({"item": items, "rater": "gpt", "label": np.resize([*"abc"], len(items))})
    both = pd.concat([frame, model]).assign(known="no")
    both.loc[both["item"] == items[0], "known"] = "yes"
    ratings = read(both, Columns(gold="known"), classifiers=["gpt"])
    without = read(frame[frame["item"] != items[0]])
    assert sorted(ratings.panel_rows[1].tolist()) == sorted(without.panel_rows[1].tolist())
    assert find_copied_rows(ratings).n_copies == 10


def test_clusters_and_numbers_are_not_looked_at():
    frame = frame_of(copied(BLOCKS, 40, 10))
    for other in (
        read(frame.assign(cluster=frame["item"])),
        read(frame.assign(label=np.arange(len(frame)) / 7), level="interval"),
    ):
        assert items_with_copied_labels(Panel(other)).value is None


@pytest.mark.parametrize("m", [2, 3, 5, 20, 100])
def test_chance_of_a_multiple_is_the_highest_of_any_mean(m):
    def chance(mean):
        sizes = np.arange(1, int(mean + 12 * math.sqrt(mean)) + 20)
        log_size = np.array([math.lgamma(size + 1) for size in sizes.tolist()])
        shares = np.exp(sizes * math.log(mean) - mean - log_size)
        return shares[sizes % m == 0].sum() / shares.sum()

    highest = max(chance(mean) for mean in np.geomspace(0.05, 30 * m, 300))
    assert most_likely_multiple(m) >= highest - 1e-3
    assert most_likely_multiple(m) <= highest + 0.02


@pytest.mark.parametrize("make", HONEST.values(), ids=HONEST)
def test_honest_rounds_are_not_told(make):
    assert not any(passes_for_copies(make(np.random.default_rng(seed))) for seed in range(5))


@pytest.mark.parametrize("name", list(COPIED)[:4])
def test_copies_are_told(name):
    told = [passes_for_copies(COPIED[name](np.random.default_rng(seed))) for seed in range(10)]
    assert sum(told) >= 8


def test_copies_that_change_no_verdict_are_told_alone():
    labels = copied(panel(np.random.default_rng(1), 1_500, [0.02] * 3), 1_500, 2)
    decision = judge(read(frame_of(labels)), load_policy("standard"))
    assert decision.admitted
    assert any(each.check == "labels_not_copied" and not each.passed for each in decision.findings)
