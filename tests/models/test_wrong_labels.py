"""The share of wrong labels against slow loops over all majorities, and against scipy."""

from collections import Counter
from itertools import combinations

import numpy as np
import pandas as pd
import pytest
from scipy.stats import beta, binom

from agreement_pipeline import Ratings, Scale
from agreement_pipeline.models import items_to_draw, wrong_labels

SCALE = Scale(("a", "b", "c"))


def table(seed, n_items, n_labelled, n_raters, slips=0.3):
    """A classifier's labels of all items, and those of raters who often agree with it."""
    rng = np.random.default_rng(seed)
    said = rng.choice(SCALE.names, n_items)
    rows = [(f"i{n:03}", "model", label) for n, label in enumerate(said)]
    for n in rng.choice(n_items, n_labelled, replace=False):
        for rater in range(n_raters):
            other = rng.random() < slips
            rows.append((f"i{n:03}", f"r{rater}", rng.choice(SCALE.names) if other else said[n]))
    return rows


def ratings_of(rows):
    frame = pd.DataFrame(rows, columns=["item", "rater", "label"])
    return Ratings.from_frame(frame, SCALE, classifiers=["model"])


def wrong_share(labels, label, majority_of):
    """How many of all majorities of so many raters do not give a label to an item."""
    votes = [Counter(each)[label] for each in combinations(labels, majority_of)]
    return sum(count <= majority_of / 2 for count in votes) / len(votes)


def slowly(rows, majority_of, stratified):
    """The value, what a perfect classifier would score, and single raters against it."""
    said = {item: label for item, rater, label in rows if rater == "model"}
    given = {}
    for item, rater, label in rows:
        if rater != "model":
            given.setdefault(item, []).append(label)
    found = {}
    for item, labels in given.items():
        leading = max(SCALE.names, key=labels.count)
        found.setdefault(said[item] if stratified else "", []).append(
            (
                wrong_share(labels, said[item], majority_of),
                wrong_share(labels, leading, majority_of),
                1 - labels.count(leading) / len(labels),
            )
        )
    sizes = Counter(said.values()) if stratified else {"": len(said)}
    means = [sizes[name] * np.mean(each, axis=0) for name, each in found.items()]
    return np.sum(means, axis=0) / len(said)


@pytest.mark.parametrize("seed", range(6))
@pytest.mark.parametrize(("raters", "majority_of"), [(3, 3), (5, 3), (6, 5)])
@pytest.mark.parametrize("design", ["simple", "stratified"])
def test_the_shares_are_those_of_loops_over_all_majorities(seed, raters, majority_of, design):
    rows = table(seed, 90, 40, raters)
    found = wrong_labels(ratings_of(rows), majority_of, design=design)
    expected = slowly(rows, majority_of, design == "stratified")
    assert (found.value, found.perfect, found.apart) == pytest.approx(tuple(expected), abs=1e-12)
    assert found.value < found.upper <= 1
    assert (found.n_items, found.n_labels, found.n_raters) == (90, 40, raters)


@pytest.mark.parametrize("seed", range(4))
def test_the_limit_is_that_of_clopper_and_pearson_where_labels_are_right_or_wrong(seed):
    rows = table(seed, 200, 60, 3)
    found = wrong_labels(ratings_of(rows), 3, confidence_level=0.9)
    k = round(found.value * 60)
    assert found.upper == pytest.approx(beta.ppf(0.95, k + 1, 60 - k), abs=1e-9)


def test_the_limit_of_divided_majorities_is_at_least_as_far_as_the_value():
    found = wrong_labels(ratings_of(table(1, 300, 200, 5, slips=0.05)), 3)
    exact = beta.ppf(0.975, found.value * 200 + 1, 200 - found.value * 200)
    assert found.upper == pytest.approx(exact, abs=0.01)


@pytest.mark.parametrize(("most", "wrong"), [(0.05, 0.02), (0.1, 0.03), (0.02, 0.0)])
def test_the_planned_draw_is_the_smallest_that_passes_often_enough(most, wrong):
    def passes(n):
        wrong_of_n = np.arange(n)
        k = sum(beta.ppf(0.975, wrong_of_n + 1, n - wrong_of_n) < most)
        return k and binom.cdf(k - 1, n, wrong) >= 0.9

    assert items_to_draw(most, wrong) == next(n for n in range(1, 500) if passes(n))


@pytest.mark.parametrize(("raters", "why"), [(2, "fewer than 3 ratings"), (0, "labelled item")])
def test_without_enough_ratings_there_is_no_share(raters, why):
    rows = table(1, 90, 40, raters)
    found = wrong_labels(ratings_of(rows), 3)
    assert found.value is None
    assert found.upper is None
    assert why in found.undefined


def test_one_right_label_a_cluster_is_not_all_that_a_cluster_has():
    said = [(f"i{n:03}", "model", "a") for n in range(200)]
    panel = [
        (f"i{n:03}", f"r{rater}", "b" if n % 5 else "a") for n in range(100) for rater in range(3)
    ]
    frame = pd.DataFrame([*said, *panel], columns=["item", "rater", "label"])
    frame["cluster"] = frame["item"].str[1:].astype(int) // 5
    ratings = Ratings.from_frame(frame, SCALE, classifiers=["model"])
    found = wrong_labels(ratings, 3, design="clustered")
    assert found.value == pytest.approx(0.8)
    assert found.upper > 0.8
