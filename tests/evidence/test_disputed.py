"""Each item's share of all disagreement is that of a loop over pairs of ratings.

This holds at every level, with and without categories.
"""

from itertools import permutations

import numpy as np
import pandas as pd
import pytest

from agreement_pipeline.counting import RatingsCounting
from agreement_pipeline.evidence.disputed import (
    LONGEST_TEXT,
    MAX_RATERS_NAMED,
    alpha_rise_without_each_item,
    disputed,
    disputed_rows,
    labels_with_raters_by_item,
)
from agreement_pipeline.measures import MEASURES
from agreement_pipeline.policy import load_policy
from agreement_pipeline.ratings import Ratings, Scale
from agreement_pipeline.report import render_text, report_page
from agreement_pipeline.units import Marked, Span, UnitSettings, units_of
from tests.measures.loops import slow_difference

ALPHA = MEASURES["krippendorff_alpha"]
NUMBERS = (1.0, 2.0, 4.0, 5.0)
KINDS = [
    (level, listed)
    for level in ("nominal", "ordinal", "interval", "ratio")
    for listed in (True, False)
    if (level, listed) != ("nominal", False)
]


def said(seed, items=14, raters=4):
    rng = np.random.default_rng(seed)
    truth = rng.choice(NUMBERS, size=items)
    table = np.where(
        rng.random((items, raters)) < 0.6, truth[:, None], rng.choice(NUMBERS, size=(items, raters))
    )
    return [[x for x in row if rng.random() < 0.8] for row in table.tolist()]


def ratings_of(rows, level, listed=True, gold=()):
    numeric = level in ("interval", "ratio") or not listed
    frame = pd.DataFrame(
        [
            (f"i{u:02}", f"r{r}", x if numeric else f"{x:g}")
            for u, row in enumerate(rows)
            for r, x in enumerate(row)
        ]
    )
    frame = frame.set_axis(["item", "rater", "label"], axis=1)
    categories = (NUMBERS if numeric else tuple(f"{x:g}" for x in NUMBERS)) if listed else None
    return Ratings.from_frame(frame.assign(gold=frame["item"].isin(gold)), Scale(categories, level))


def spans_of(*marked):
    """Positions of one document as units: each tuple has the spans of a rater."""
    objects = [Marked("doc", f"r{at}", spans, extent=(40,)) for at, spans in enumerate(marked)]
    return units_of(objects, UnitSettings("spans"), Scale(("none", "PER", "ORG"))).ratings


def test_a_run_of_positions_holds_as_much_disagreement_as_it_has_positions():
    """Two raters differ on positions 0 to 9 and on position 20, as a loop over positions says."""
    ratings = spans_of((Span(0, 10, "PER"), Span(20, 24, "ORG")), (Span(21, 24, "ORG"),))
    pairs = (
        [("PER", "none")] * 10 + [("none", "none")] * 26 + [("ORG", "none")] + [("ORG",) * 2] * 3
    )
    rows = disputed_rows(ratings)
    assert rows["share"].tolist() == pytest.approx([10 / 11, 1 / 11])
    assert rows["disagreement"].sum() == pytest.approx(11 / 40)
    alpha, by = slow_alpha(pairs), alpha_rise_without_each_item(ratings)
    for run, left in (("0-10", pairs[10:]), ("20-21", pairs[:36] + pairs[37:])):
        assert by[f"doc {run}"] == pytest.approx(slow_alpha(left) - alpha)
    page = " ".join(report_page(ratings, load_policy("standard"), render=render_text).split())
    assert "Raters differ on 11 items of 40 (27.5%), in 2 runs of equal labels of 5." in page
    assert "Half of all disagreement comes from 1 run (20.0% of all)." in page
    assert "The round has 10 ratings of 5 runs of equal labels." in page
    assert "100.0% of the 40 items that raters labelled have two labels" in page


def slow_alpha(rows):
    given = [label for row in rows for label in row]
    observed = np.mean([one != other for one, other in rows])
    return 1 - observed / np.mean([one != other for one, other in permutations(given, 2)])


def table_of(ratings):
    return RatingsCounting().by_item(ratings)[1]


def looped(rows, level):
    """What each item adds to D_o, one pair of its ratings at a time."""
    pool = [x for row in rows if len(row) >= 2 for x in row]
    apart = slow_difference(level, pool)
    return {
        f"i{u:02}": sum(apart(a, b) for a, b in permutations(row, 2)) / (len(row) - 1) / len(pool)
        for u, row in enumerate(rows)
        if len(row) >= 2
    }


@pytest.mark.parametrize(("level", "listed"), KINDS)
@pytest.mark.parametrize("seed", range(3))
def test_an_items_disagreement_is_that_of_its_pairs_and_all_of_it_is_that_of_alpha(
    seed, level, listed
):
    rows = said(seed)
    ratings = ratings_of(rows, level, listed)
    found = disputed_rows(ratings)
    expected = {item: value for item, value in looped(rows, level).items() if value > 0}
    assert dict(zip(found["id"], found["disagreement"], strict=True)) == pytest.approx(
        expected, abs=1e-12
    )
    assert found["disagreement"].is_monotonic_decreasing
    assert found["disagreement"].sum() == pytest.approx(
        float(ALPHA(table_of(ratings)).observed), abs=1e-12
    )
    assert found["share"].sum() == pytest.approx(1.0)


def test_vectors_disagree_by_their_squared_distance():
    rows = [
        ("i1", "a", "0|0"),
        ("i1", "b", "3|4"),
        ("i2", "a", "1|1"),
        ("i2", "b", "1|2"),
        ("i3", "a", "5|5"),
    ]
    frame = pd.DataFrame(rows, columns=["item", "rater", "label"])
    found = disputed_rows(
        Ratings.from_frame(frame, Scale(None, "multivariate interval", dimensions=2))
    )
    assert found["id"].tolist() == ["i1", "i2"]
    assert found["disagreement"].tolist() == pytest.approx([25 * 2 / 4, 1 * 2 / 4])
    assert found["share"].tolist() == pytest.approx([25 / 26, 1 / 26])


def test_gold_items_do_not_count_and_what_each_rater_said_is_shown():
    ratings = ratings_of([[1.0, 2.0], [4.0, 4.0], [5.0, 1.0]], "nominal", gold=("i02",))
    found = disputed_rows(ratings)
    assert found[["id", "share", "resolution"]].values.tolist() == [["i00", 1.0, "tie"]]
    assert labels_with_raters_by_item(ratings, ["i00"]) == {"i00": "1: r0; 2: r1"}


def test_the_most_disputed_items_are_shown_in_words():
    shown = disputed(ratings_of([[1.0, 2.0], [4.0, 4.0], [5.0, 5.0, 1.0]], "nominal"))
    assert (shown["disputed_items"], shown["ties"]) == (2, 1)
    assert shown["most_disputed"].texts == [
        ["i00", "1: r0; 2: r1", "50.0%", "tie"],
        ["i02", "5: r0, r1; 1: r2", "50.0%", "plurality"],
    ]


def test_disputed_items_stand_with_their_text_and_a_long_text_is_cut():
    frame = pd.DataFrame(
        {
            "item": list("aabb"),
            "rater": list("xyxy"),
            "label": list("nynn"),
            "text": ["w" * 300] * 2 + ["short"] * 2,
        }
    )
    (row,) = disputed(Ratings.from_frame(frame, Scale(("n", "y"))))["most_disputed"].texts
    assert row == ["a", f"{'w' * (LONGEST_TEXT - 1)}…", "n: x; y: y", "100.0%", "tie"]


def test_without_disagreement_there_is_no_disputed_item():
    assert len(disputed_rows(ratings_of([[1.0, 1.0], [2.0, 2.0], [4.0]], "interval"))) == 0
    assert len(disputed_rows(ratings_of([[1.5, 1.5], [2.5, 2.5]], "interval", listed=False))) == 0


def test_of_many_raters_with_one_label_the_number_stands():
    n = 2 * MAX_RATERS_NAMED + 1
    few = disputed(ratings_of([[NUMBERS[r % 2] for r in range(n)]], "nominal"))
    assert few["most_disputed"].to_frame()["labels"].tolist() == [
        f"1: {MAX_RATERS_NAMED + 1} raters; 2: r1, r3, r5, r7, r9"
    ]
