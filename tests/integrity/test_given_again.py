"""Labels given again: counted beside slow loops, held where they are aimed, and not otherwise."""

from itertools import combinations, product

import numpy as np
import pandas as pd
import pytest

from agreement_pipeline.integrity import (
    find_changes_since,
    find_dropped_since,
    find_late_changes,
    given_again,
)
from agreement_pipeline.integrity.facts import FACTS
from agreement_pipeline.integrity.panel import Panel
from agreement_pipeline.ratings import Ratings, Scale
from benchmarks.studies.relabelling import (
    HONEST,
    RELABELLED,
    guessed_anew,
    held,
    looked_again,
    overwritten,
    rounds,
    third_by_design,
    third_where_disputed,
)

SCALE = Scale(("no", "yes"))
N_FEW = 5


def fact(name, ratings):
    return FACTS[name](Panel(ratings))


def few(rng, n_items=9):
    """Two raters and two labels. Some labels are known to have been changed."""
    rows = [
        (f"i{at}", rater, SCALE.names[rng.integers(2)], rng.random() < 0.4)
        for at in range(n_items)
        for rater in "ab"
    ]
    frame = pd.DataFrame(rows, columns=["item", "rater", "label", "changed"])
    other = frame["label"].map({"no": "yes", "yes": "no"})
    return frame.assign(last_label=other.where(frame["changed"], None))


def slow(frame):
    """How many choices of as many labels of each rater and category have so many disputed ones."""
    other = frame["label"].iloc[np.arange(len(frame)) ^ 1].to_numpy()
    disputed = (frame["label"] != other).tolist()
    strata = frame.groupby(["rater", "label"]).indices.values()
    changed = frame["changed"].tolist()
    found = sum(d and c for d, c in zip(disputed, changed, strict=True))
    ways = [
        [
            sum(disputed[at] for at in some)
            for some in combinations(each, sum(changed[e] for e in each))
        ]
        for each in strata
    ]
    counts = [sum(some) for some in product(*ways)]
    return found, np.mean(counts), np.mean([count >= found for count in counts])


@pytest.mark.parametrize("seed", range(5))
def test_chance_is_that_of_all_choices(seed):
    frame = few(np.random.default_rng(seed))
    changes = find_late_changes(Ratings.from_frame(frame.drop(columns="changed"), SCALE))
    found, expected, p = slow(frame)
    assert (changes.on_disputed, changes.changed) == (found, frame["changed"].sum())
    assert changes.expected == pytest.approx(expected)
    assert changes.p == pytest.approx(p)
    # with two raters and two labels, a change of a disputed label goes towards the other rater
    assert (changes.towards, changes.away) == (found, changes.changed - found)


def test_chance_of_very_many_changes_is_read_off_a_normal_distribution(monkeypatch):
    frame = few(np.random.default_rng(3), 2_000).drop(columns="changed")
    ratings = Ratings.from_frame(frame, SCALE)
    exact = find_late_changes(ratings)
    monkeypatch.setattr(given_again, "MAX_CHANGES_EXACT", 0)
    near = find_late_changes(ratings)
    assert near.expected == exact.expected
    assert near.p == pytest.approx(exact.p, abs=0.001)


def test_vectors_are_not_compared_with_those_delivered_before():
    plane = Scale(None, "multivariate interval", dimensions=2)
    rows = [(f"i{at}", rater, (at, 1.0)) for at in range(3) for rater in "ab"]
    frame = pd.DataFrame(rows, columns=["item", "rater", "label"])
    now, then = Ratings.from_frame(frame.iloc[:4], plane), Ratings.from_frame(frame, plane)
    assert find_changes_since(now, [then]) is None
    assert find_dropped_since(now, [then]) is None


def test_without_a_time_of_every_label_nobody_knows_who_were_first():
    rows = [(f"i{at}", rater, "no", "2026-01-01T09:00") for at in range(3) for rater in "abc"]
    frame = pd.DataFrame(rows, columns=["item", "rater", "label", "timestamp"]).drop(index=2)
    frame.loc[0, "timestamp"] = None
    found = fact("dispute_before_further_raters", Ratings.from_frame(frame, SCALE))
    assert found == (None, "not all labels have a time, so nothing was checked")


def test_only_what_is_changed_after_another_rater_counts():
    rows = [
        ("i1", "a", "no", "yes", "2026-01-01T09:00", "2026-01-01T09:30"),
        ("i1", "b", "yes", None, "2026-01-01T10:00", None),
        ("i2", "a", "no", "yes", "2026-01-01T09:00", "2026-01-01T10:30"),
        ("i2", "b", "yes", None, "2026-01-01T10:00", None),
    ]
    names = ["item", "rater", "label", "last_label", "timestamp", "changed_at"]
    changes = find_late_changes(Ratings.from_frame(pd.DataFrame(rows, columns=names), SCALE))
    assert (changes.n, changes.changed, changes.towards) == (4, 1, 1)


@pytest.mark.parametrize(
    ("given", "changed_at", "n"),
    [
        ("2026-01-01T09:00", "2026-01-01T09:30", 0),
        ("2026-01-01T09:00", "2026-01-01T10:00", 1),
        ("2026-01-01T09:00", "2025-12-31T09:00", 1),
        ("2026-01-01", "2026-01-01", 1),
        ("2026-01-01T09:00", "yesterday", 1),
        ("2026-01-01T18:00+09:00", "2026-01-01T04:30-05:00", 0),
    ],
)
def test_a_change_at_no_certain_time_counts_as_late(given, changed_at, n):
    """It may be of a day alone, or before the label was given, or no time."""
    other = given[:10] if len(given) == 10 else "2026-01-01T10:00"
    rows = [("i1", "a", "no", given, changed_at), ("i1", "b", "yes", other, None)]
    names = ["item", "rater", "label", "timestamp", "changed_at"]
    changes = find_late_changes(Ratings.from_frame(pd.DataFrame(rows, columns=names), SCALE))
    assert changes.changed == n


def test_changes_that_add_up_over_deliveries_are_found():
    each = next(rounds(looked_again, 1))
    first, last = (
        each.ratings("nothing", deliver=name).to_pandas().astype(str) for name in ("early", "last")
    )
    scale = each.ratings("nothing").scale
    pilot = first[first["item"] < "i030"].assign(item=lambda of: "pilot " + of["item"])
    deliveries = [pilot, first]
    for some in np.array_split(np.flatnonzero(first["label"] != last["label"]), 6):
        now = deliveries[-1].copy()
        now.loc[some, "label"] = last.loc[some, "label"]
        deliveries.append(now)
    *before, now = (Ratings.from_frame(of[["item", "rater", "label"]], scale) for of in deliveries)
    assert not find_changes_since(now, before[-1:]).is_aimed
    assert find_changes_since(now, before[:1]) is None
    assert find_changes_since(now, before).is_aimed


def test_rounds_without_a_rating_to_compare_are_not_checked():
    alone = pd.DataFrame(
        [("i", "a", "no", "yes")], columns=["item", "rater", "label", "last_label"]
    )
    assert fact("labels_changed_late", Ratings.from_frame(alone, SCALE)).value is None
    gold = alone.assign(gold=True, timestamp=1.0, changed_at="2")
    assert find_late_changes(Ratings.from_frame(gold, SCALE)) is None


def test_a_category_that_a_tool_wrote_again_is_no_choice():
    for each in rounds(HONEST["nothing was changed"], N_FEW):
        frame = each.ratings("times").to_pandas()
        rude = frame["label"] == "rude"
        frame = frame.assign(changed_at=np.where(rude, "2027-01-01", None))
        changes = find_late_changes(Ratings.from_frame(frame, each.ratings("times").scale))
        assert not changes.is_aimed
    # but a new category for half of what was disputed is one
    for each in rounds(overwritten, N_FEW):
        frame = each.ratings("first labels").to_pandas().drop(columns="last_label")
        disputed = frame.groupby("item", observed=True)["label"].transform("nunique") > 1
        half = frame["item"].isin(frame["item"][disputed].unique()[::2])
        label = frame["label"].astype(str).mask(half, "unsure")
        settled = frame.assign(label=label, changed_at=np.where(half, "2027-01-01", None))
        scale = Scale((*each.ratings("times").scale.names, "unsure"))
        assert find_late_changes(Ratings.from_frame(settled, scale)).is_aimed


def test_numbers_are_disputed_where_they_are_far_apart():
    rng = np.random.default_rng(1)
    true = np.repeat(rng.normal(size=300), 3)
    first = true + rng.normal(size=900) * np.repeat(rng.choice([0.1, 2], 300), 3)
    mean = (np.repeat(np.add.reduceat(first, range(0, 900, 3)), 3) - first) / 2
    far = np.abs(first - mean) > 1.5
    frame = pd.DataFrame(
        {
            "item": np.repeat(range(300), 3),
            "rater": np.tile(list("abc"), 300),
            "label": first,
            "last_label": [repr(float(m)) if f else None for m, f in zip(mean, far, strict=True)],
        }
    )
    changes = find_late_changes(Ratings.from_frame(frame, Scale(None, "interval")))
    assert changes.is_aimed
    assert (changes.changed, changes.towards, changes.away) == (far.sum(), far.sum(), 0)


def test_nothing_is_checked_where_nothing_is_carried():
    frame = pd.DataFrame([("i", "a", "no"), ("i", "b", "yes")], columns=["item", "rater", "label"])
    ratings = Ratings.from_frame(frame, SCALE)
    assert find_late_changes(ratings) is None
    for name in ("labels_changed_late", "changes_on_disputed_items"):
        assert fact(name, ratings).value is None
    assert fact("dispute_before_further_raters", ratings).value is None
    assert not ratings.are_first_labels_known
    assert Ratings.from_frame(frame.assign(changed_at=None), SCALE).are_first_labels_known


@pytest.mark.parametrize("made", [looked_again, overwritten, guessed_anew])
@pytest.mark.parametrize("carried", ["first labels", "two deliveries"])
def test_labels_given_again_where_raters_differ_are_found(made, carried):
    for each in rounds(made, N_FEW):
        ratings = each.ratings(carried)
        if carried == "first labels":
            changes = find_late_changes(ratings)
            assert fact("changes_on_disputed_items", ratings).value > 0.1
            assert fact("labels_changed_late", ratings).value == changes.changed / changes.n
        else:
            changes = find_changes_since(ratings, [each.ratings("nothing", deliver="early")])
        assert changes.is_aimed
        assert changes.p < 1e-6
        assert changes.towards > changes.away


def test_times_alone_tell_where_the_changed_items_agree_otherwise_than_others():
    assert held(guessed_anew, "times", N_FEW) == 100
    assert held(overwritten, "times", N_FEW) >= 60
    assert held(looked_again, "nothing", N_FEW) == 0


@pytest.mark.parametrize("name", [name for name in HONEST if "once more" not in name])
def test_an_honest_round_is_not_held(name):
    for carried in ("times", "first labels", "two deliveries"):
        assert held(HONEST[name], carried, N_FEW) == 0


def test_further_raters_are_told_only_if_their_items_are_chosen():
    name = "dispute_before_further_raters"
    for each in rounds(third_where_disputed, N_FEW):
        assert fact(name, each.ratings("times")).value > 0.5
    for each in rounds(third_by_design, N_FEW):
        assert fact(name, each.ratings("times")).value == 0
        assert fact(name, each.ratings("nothing")).value is None


def test_the_study_has_ten_kinds_of_honest_rounds():
    assert (len(RELABELLED), len(HONEST)) == (4, 10)
