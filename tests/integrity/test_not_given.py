"""Ratings that were skipped or deleted where raters differ are found; gaps at random are not."""

import numpy as np
import pandas as pd
import pytest

from agreement_pipeline import Ratings, Scale
from agreement_pipeline.contract import Contract
from agreement_pipeline.integrity.facts import FACTS
from agreement_pipeline.integrity.panel import Panel
from agreement_pipeline.policy import assess, check_round
from benchmarks.studies.skipped import (
    FACT,
    HONEST,
    POLICY,
    dissent_gone,
    is_held,
    ratings_of,
    rounds,
    skipped,
)


def random(seed=0):
    return np.random.default_rng((8, seed))


def fact(ratings):
    return FACTS[FACT](Panel(ratings))


@pytest.mark.parametrize("n_items", [300, 1000])
def test_hard_items_that_were_skipped_hold_the_round(n_items):
    for seed in range(5):
        ratings = ratings_of(skipped(random(seed), n_items))
        decision = assess(ratings, POLICY, Contract.none()).decision
        assert not decision.admitted
        assert "contract:ratings_missing_at_random" in decision.codes


def test_the_same_rounds_with_all_ratings_are_judged_by_their_value():
    for seed in range(5):
        whole = ratings_of(skipped(random(seed), 300, 0.0))
        assert fact(whole).value is None
        decision = assess(whole, POLICY, Contract.none()).decision
        assert "contract:ratings_missing_at_random" not in decision.codes


def test_dissent_that_was_deleted_is_found_where_the_rest_of_it_shows():
    assert is_held(ratings_of(dissent_gone(random(), 2000)))


@pytest.mark.parametrize("kind", HONEST)
def test_gaps_by_design_or_at_random_hold_nothing(kind):
    assert not any(is_held(ratings) for ratings in rounds(HONEST[kind], 5))


def in_two_halves(rng, *columns):
    """Two raters of a hard half of the items, three of the other. The names follow no order."""
    n_items, rows = 1200, []
    for name in rng.permutation(n_items):
        hard = len(rows) >= 3 * n_items // 2
        truth, guessed = rng.integers(2), rng.random() < (0.4 if hard else 0.05)
        for rater in "ab" if hard else "abc":
            label = rng.integers(2) if guessed else truth
            rows.append((f"i{name:04}", rater, "ny"[label], "fi" if hard else "en", len(rows)))
    names = ["item", "rater", "label", "stratum:language", "timestamp"]
    frame = pd.DataFrame(rows, columns=names)
    frame["timestamp"] = pd.Timestamp("2026-01-01") + pd.to_timedelta(frame["timestamp"], "min")
    return Ratings.from_frame(frame[[*names[:3], *columns]], Scale(("n", "y")))


@pytest.mark.parametrize("column", ["stratum:language", "timestamp"])
def test_a_hard_language_or_a_hard_time_may_have_fewer_raters(column):
    for seed in range(3):
        assert fact(in_two_halves(random(seed))).value > 0
        assert fact(in_two_halves(random(seed), column)).value == 0


def test_the_words_count_the_items_that_lack_ratings():
    labels = np.zeros((120, 3), dtype=int)
    labels[::2] = 1
    labels[::6, 2] = -1
    labels[::6, 0] = 1 - labels[::6, 1]
    found = fact(ratings_of(labels))
    assert 0.4 < found.value < 0.8
    assert found.words.startswith("two raters differ on 20 of 20 items that lack ratings")


def test_numbers_and_clusters_are_compared_too():
    rng = random()
    rows = [
        (f"i{item:03}", rater, truth + rng.normal(0, 3 if hard else 0.1), f"d{item // per:03}")
        for per in [4]
        for item in range(1200)
        for hard in [item // per % 5 == 0]
        for truth in [rng.normal(0, 5)]
        for rater in "abc"
        if not (hard and rng.random() < 0.3)
    ]
    frame = pd.DataFrame(rows, columns=["item", "rater", "label", "cluster"])
    numbers = Scale(None, "interval")
    alone = fact(Ratings.from_frame(frame.drop(columns="cluster"), numbers))
    assert alone.value > 0.1
    together = fact(Ratings.from_frame(frame, numbers))
    assert together.value > 0.1
    n_lack = (frame.groupby("item").size() == 2).sum()
    assert f"of {n_lack} items" in alone.words
    assert f"of {n_lack} items" not in together.words


def test_two_vectors_differ_unless_they_are_one():
    rng = random()
    rows = [
        (f"i{item:03}", rater, (rng.normal(), rng.normal()))
        for item in range(200)
        for rater in ("ab" if item % 4 == 0 else "abc")
    ]
    frame = pd.DataFrame(rows, columns=["item", "rater", "label"])
    points = Scale(None, "multivariate interval", dimensions=2)
    found = fact(Ratings.from_frame(frame, points))
    assert found.value == 0
    assert "two raters differ on 50 of 50 items" in found.words


def beside_model(kind, n_items=600):
    """Three raters who err on an eighth of the items, and a model that copies them or looks."""
    rng, rows = random(), []
    for item in range(n_items):
        true = rng.integers(3)
        said = [true if rng.random() > 0.12 else rng.integers(3) for _ in range(3)]
        each = np.bincount(said, minlength=3)
        own = {
            "a rater": said[1],
            "the majority": each.argmax() if each.max() > 1 else said[0],
            "the truth": true,
            "alone": true if rng.random() > 0.1 else rng.integers(3),
        }[kind]
        rows += [
            (f"i{item}", name, "xyz"[label])
            for name, label in zip("abcm", [*said, own], strict=True)
        ]
    frame = pd.DataFrame(rows, columns=["item", "rater", "label"])
    return Ratings.from_frame(frame, Scale(("x", "y", "z")), classifiers=["m"])


@pytest.mark.parametrize(
    ("kind", "words"),
    [
        ("a rater", "'m' always says what 'b' says"),
        ("the majority", "'m' says what most raters say on all "),
        ("the truth", ""),
        ("alone", ""),
    ],
)
def test_a_judge_that_copies_is_named(kind, words):
    ratings = beside_model(kind)
    found = FACTS["classifiers_that_copy"](Panel(ratings))
    assert found.value == bool(words)
    assert found.words.startswith(words or "no classifier always follows")
    checks = {each.check: each for each in check_round(ratings, POLICY, Contract.none())}
    assert checks["classifiers_look_alone"].passed == (not words)
    assert not checks["classifiers_look_alone"].holds


def test_a_few_copied_labels_may_be_chance():
    assert FACTS["classifiers_that_copy"](Panel(beside_model("a rater", 30))).value == 0


def test_the_more_are_looked_at_the_more_must_be_copied():
    """A model follows rater b in all of 17 departures: enough beside two others, not beside 20."""

    def found(n_others):
        rows = [
            (f"i{item}", name, "no" if item < 17 and name in "bm" else "yes")
            for item in range(100)
            for name in ["b", "m", *(f"r{place}" for place in range(n_others))]
        ]
        frame = pd.DataFrame(rows, columns=["item", "rater", "label"])
        ratings = Ratings.from_frame(frame, Scale(("no", "yes")), classifiers=["m"])
        return FACTS["classifiers_that_copy"](Panel(ratings)).value

    assert 0.6**17 * 4 < 0.001 < 0.6**17 * 22
    assert (found(2), found(20)) == (1, 0)


def test_nothing_is_checked_of_two_raters_or_one_item():
    two = np.array([[0, 1], [1, -1], [0, 0]])
    assert fact(ratings_of(two)).value is None
    assert fact(ratings_of(two[1:2])).value is None
