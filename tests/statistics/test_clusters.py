"""Intervals of items in clusters."""

import math

import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import stats

from agreement_pipeline.contract import Contract
from agreement_pipeline.counting import RatingsCounting
from agreement_pipeline.errors import RatingsError
from agreement_pipeline.estimates import applicable_measures, estimate, measure_ratings, survey
from agreement_pipeline.intervals import Inference
from agreement_pipeline.measures import MEASURES
from agreement_pipeline.policy import Policy, Rule, assess
from agreement_pipeline.ratings import Scale
from agreement_pipeline.statistics import CategoryCounts, Clusters, LabelsByRater
from tests.statistics.documents import (
    NOTHING_BOUNDED,
    TWO,
    documents,
    ratings,
    width,
    without_clusters,
)

NUMBERS = Scale(None, "interval")


def numbers(frame):
    """The labels as real numbers near 0 and near 1, on a scale without categories."""
    noise = np.random.default_rng(1).normal(0, 0.1, size=len(frame))
    return frame.assign(label=(frame["label"] == "yes") + noise).drop(columns="confidence")


@pytest.mark.parametrize(
    "make", [ratings, lambda frame: ratings(numbers(frame), NUMBERS)], ids=["labels", "numbers"]
)
def test_every_estimate_counts_its_clusters_and_has_the_value_of_the_items_one_by_one(make):
    frame = documents()
    clustered, single = (make(each) for each in (frame, without_clusters(frame)))
    names = applicable_measures(single)
    found, plain = (
        {(e.measure, e.scope): e for e in survey(each, names, Inference(n_resamples=1000))}
        for each in (clustered, single)
    )
    assert found.keys() == plain.keys()
    ratios = []
    for key, with_clusters in found.items():
        without = plain[key]
        assert (with_clusters.undefined, with_clusters.n_items, with_clusters.n_used) == (
            without.undefined,
            without.n_items,
            without.n_used,
        )
        assert (without.n_clusters, "whole clusters" in without.method) == (None, False)
        assert with_clusters.undefined or (
            with_clusters.n_clusters == 30
            if not with_clusters.dropped
            else 2 <= with_clusters.n_clusters <= 30
        )
        assert "whole clusters" in with_clusters.method
        if without.value is not None:
            assert with_clusters.value == pytest.approx(without.value, abs=1e-9)
            ratios += (
                [width(with_clusters) / width(without)]
                if math.isfinite(width(without)) and width(without) > 0
                else []
            )
    assert len(ratios) > 40
    assert np.median(ratios) > 1.5
    assert min(ratios) > 0.85


def test_clusters_hardly_widen_an_interval_where_items_are_unlike_and_clusters_are_many():
    """With few, what was not seen is as large as three clusters, and not as three items."""
    wider = []
    for n in (60, 500):
        frame = documents(3, n=n, alike=False)
        found, plain = (
            next(measure_ratings(ratings(each), ["krippendorff_alpha"]))
            for each in (frame, without_clusters(frame))
        )
        wider.append(width(found) / width(plain))
    assert 0.95 < wider[1] < wider[0] < 1.45
    assert wider[1] < 1.15


def test_clusters_of_one_item_give_the_same_digits_row_by_row():
    rng = np.random.default_rng(2)
    seen = LabelsByRater(rng.integers(2, size=(40, 3)), scale=TWO, raters="abc")
    for method in ("smoothed_bayesian_bootstrap", "bca_bootstrap", "jackknife_t", "jackknife_log"):
        one_by_one, clustered = (
            estimate("shah_kappa_s", each, Inference(n_resamples=500, method=method))
            for each in (seen, seen.with_clusters(Clusters.from_names(range(40))))
        )
        assert tuple(clustered.interval) == pytest.approx(tuple(one_by_one.interval), abs=1e-12)


def test_the_jackknife_over_clusters_is_that_of_a_loop():
    frame = documents(4, n=12, sentences=3)
    found = next(
        measure_ratings(ratings(frame), ["krippendorff_alpha"], Inference(method="jackknife_t"))
    )
    left = [frame[frame["cluster"] != name] for name in sorted(frame["cluster"].unique())]
    alphas = np.array(
        [
            float(MEASURES["krippendorff_alpha"](RatingsCounting().counts(ratings(each))).value)
            for each in left
        ]
    )
    reach = stats.t.ppf(0.975, 11) * math.sqrt(11 / 12 * ((alphas - alphas.mean()) ** 2).sum())
    assert tuple(found.interval) == pytest.approx(
        (found.value - reach, min(1.0, found.value + reach))
    )


def test_clusters_are_those_on_whose_items_agreement_is_read():
    frame = documents(5, n=4, sentences=2)
    once = frame[(frame["cluster"] != "document 3") | (frame["rater"] == "r0")]
    found = next(measure_ratings(ratings(once), ["krippendorff_alpha"]))
    assert (found.n_items, found.n_used, found.n_clusters) == (8, 6, 3)


def test_of_one_cluster_nothing_is_said_of_others():
    frame = documents(6, n=3, sentences=20, hard=0)
    once = frame[(frame["cluster"] == "document 0") | (frame["rater"] == "r0")]
    why = "agreement is read on items of 1 cluster; 2 are required for an interval"
    for each in (frame.assign(cluster="all"), once):
        policy = Policy("p", 1, (Rule("krippendorff_alpha"),), integrity=NOTHING_BOUNDED)
        found = assess(ratings(each, classifiers=()), policy, Contract.none())
        assert [estimate.undefined for estimate in found.estimates] == [why]
        assert not found.decision.admitted
        assert found.decision.codes == ("undefined",)


def test_raters_at_large_are_asked_about_with_whole_clusters():
    frame = documents(7)
    found, plain = (
        next(
            measure_ratings(
                ratings(each, classifiers=()),
                ["krippendorff_alpha"],
                Inference(method="two_way_jackknife"),
            )
        )
        for each in (frame, without_clusters(frame))
    )
    assert width(found) > 1.2 * width(plain)


@st.composite
def clustered(draw):
    """Ratings of up to six items in up to three clusters."""
    cells = draw(
        st.lists(
            st.tuples(st.integers(0, 5), st.sampled_from("abc"), st.integers(1, 2)),
            unique=True,
            min_size=4,
            max_size=24,
        )
    )
    of = [draw(st.integers(0, 2)) for _ in range(6)]
    rows = [
        (f"i{item}", rater, draw(st.sampled_from(TWO.names)), occurrence, f"d{of[item]}")
        for item, rater, occurrence in cells
    ]
    return pd.DataFrame(rows, columns=["item", "rater", "label", "occurrence", "cluster"])


@settings(max_examples=10)
@given(frame=clustered(), data=st.data())
def test_neither_the_order_of_rows_nor_names_of_raters_and_clusters_matter(frame, data):
    names = [
        "krippendorff_alpha",
        "shah_kappa_s",
        "schouten_kappa",
        "self_agreement",
        "test_retest_alpha",
    ]
    raters = dict(zip("abc", data.draw(st.permutations(["p0", "p1", "p2"])), strict=True))
    others = dict(
        zip(["d0", "d1", "d2"], data.draw(st.permutations(["e0", "e1", "e2"])), strict=True)
    )
    moved = frame.assign(
        rater=frame["rater"].map(raters), cluster=frame["cluster"].map(others)
    ).iloc[data.draw(st.permutations(range(len(frame))))]
    back = {new: old for old, new in raters.items()}

    def found(each, called):
        return {
            (
                e.measure,
                e.scope.kind,
                " and ".join(
                    sorted(called.get(part, part) for part in e.scope.name.split(" and "))
                ),
            ): (e.value, e.interval, e.n_clusters)
            for e in measure_ratings(
                ratings(each, classifiers=()), names, Inference(n_resamples=50)
            )
        }

    assert found(moved, back) == found(frame, {})


def test_equal_rows_of_different_clusters_stay_apart():
    counts = CategoryCounts(
        [[2, 0], [0, 2], [2, 0], [2, 0]],
        scale=TWO,
        clusters=Clusters.from_names(["d2", "d1", "d1", "d2"]),
    )
    found = counts.merged()
    rows = zip(
        found.clusters.places.tolist(), found.counts.tolist(), found.weights.tolist(), strict=True
    )
    assert list(rows) == [(0, [0, 2], 1), (0, [2, 0], 1), (1, [2, 0], 2)]


def test_statistics_in_clusters_are_not_added_as_if_theirs_were_others():
    patterns = LabelsByRater([[0, 0], [0, 1]], scale=TWO, raters="ab").merged()
    in_clusters = patterns.with_clusters(Clusters.from_names([0, 1]))
    for one, other in ((in_clusters, patterns), (patterns.counts(), in_clusters.counts())):
        with pytest.raises(RatingsError, match="expected statistics without clusters in a sum"):
            one + other


def test_clusters_of_other_rows_are_refused():
    with pytest.raises(
        RatingsError, match=r"clusters: found shape \(3,\); expected one for each of 2 rows"
    ):
        LabelsByRater(
            [[0, 0], [0, 1]], scale=TWO, raters="ab", clusters=Clusters.from_names([0, 1, 1])
        )


@pytest.mark.parametrize(
    "names",
    [
        [np.nan, np.nan, 1.0, 2.0],
        ["a", float("nan"), "b", "c"],
        ("a", "b", None, "c"),
        pd.Series(["a", "b", pd.NA, "c"], dtype=object),
    ],
)
def test_rows_whose_cluster_is_not_named_are_not_taken_for_one_cluster(names):
    counts = CategoryCounts([[2, 0], [1, 1], [0, 2], [2, 0]], scale=TWO)
    with pytest.raises(
        RatingsError,
        match=r"clusters: found (1 missing name|2 missing names); expected one for each row, or "
        "none for all",
    ):
        counts.with_clusters(Clusters.from_names(names))
