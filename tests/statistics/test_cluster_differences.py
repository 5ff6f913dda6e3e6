"""Differences between rounds in clusters, and what clusters rule out."""

import pytest

from agreement_pipeline.counting import RatingsCounting
from agreement_pipeline.errors import AgreementError, RatingsError
from agreement_pipeline.estimates import compare
from agreement_pipeline.estimates.differences import Side, estimate_difference
from agreement_pipeline.intervals import Inference
from agreement_pipeline.measures import alternative_annotator_test
from agreement_pipeline.statistics import Clusters, LabelsByRater
from tests.statistics.documents import TWO, documents, ratings, width, without_clusters


def panel_of(ratings):
    return RatingsCounting().labels(ratings, ("r3",)).with_rater_apart("r3")


def test_a_test_of_items_in_clusters_is_made_on_their_means():
    frame = documents(8)
    one_by_one = alternative_annotator_test(panel_of(ratings(without_clusters(frame))))
    found = alternative_annotator_test(panel_of(ratings(frame)))
    assert {each.n_clusters for each in found.comparisons} == {30}
    assert [each.n_items for each in found.comparisons] == [
        each.n_items for each in one_by_one.comparisons
    ]
    assert all(
        here.p_value > there.p_value
        for here, there in zip(found.comparisons, one_by_one.comparisons, strict=True)
    )


# Differences


def test_both_sides_of_a_difference_are_drawn_by_cluster():
    frame = documents(9)
    for measure, between in (
        ("schouten_kappa", ("r0", "r1")),
        ("vanbelle_albert_kappa", ("r2", "r3")),
    ):
        found, plain = (
            compare(
                ratings(each, classifiers=("r2", "r3")),
                between=between,
                measure=measure,
                inference=Inference(n_resamples=2000),
            )
            for each in (frame, without_clusters(frame))
        )
        assert found.value == pytest.approx(plain.value)
        assert width(found) > 1.15 * width(plain)
        assert "whole clusters" in found.method
        assert "whole clusters" not in plain.method


def test_two_rounds_are_paired_by_the_clusters_they_share():
    one = documents(10)
    again = one.assign(label=one["label"].where(one["rater"] != "r1", "no"))
    paired, plain = (
        compare(*(ratings(drop(each)) for each in (one, again)), measure="krippendorff_alpha")
        for drop in (lambda f: f, without_clusters)
    )
    assert (paired.n_shared, plain.n_shared) == (240, 240)
    assert width(paired) > 1.3 * width(plain)
    halves = [one[one["item"].str[-1].isin(list(digits))] for digits in ("0123", "4567")]
    together = compare(*map(ratings, halves), measure="krippendorff_alpha")
    apart = compare(
        ratings(halves[0]),
        ratings(halves[1].assign(cluster="other " + halves[1]["cluster"])),
        measure="krippendorff_alpha",
    )
    assert (together.n_shared, apart.n_shared) == (0, None)
    assert together.method.endswith("whole clusters; paired by cluster")
    assert together.value == pytest.approx(apart.value)
    assert width(together) < 0.85 * width(apart)


def test_rounds_that_share_items_and_not_their_clusters_are_not_compared():
    frame = documents(11, n=4)
    with pytest.raises(
        RatingsError,
        match="found a round with clusters and one without; expected both or neither, since",
    ):
        compare(ratings(frame), ratings(without_clusters(frame)), measure="krippendorff_alpha")
    other = frame.assign(cluster=frame["cluster"].where(frame["item"] != "000-0", "document 1"))
    with pytest.raises(
        RatingsError,
        match=r"found item '000-0' in different clusters of the two rounds; "
        "expected one cluster for each item",
    ):
        compare(ratings(frame), ratings(other), measure="krippendorff_alpha")
    with pytest.raises(
        AgreementError,
        match="found 4 shared clusters; expected a measure of first labels, since the rounds are",
    ):
        compare(
            ratings(frame[frame["item"].str[-1] < "4"]),
            ratings(frame[frame["item"].str[-1] >= "4"]),
            measure="self_agreement",
        )


def test_a_difference_of_one_cluster_is_undefined_and_sides_in_other_clusters_are_refused():
    seen = LabelsByRater([[0, 0], [0, 1], [1, 1]], [4, 2, 4], scale=TWO, raters="ab")
    one, two = (seen.with_clusters(Clusters.from_names(names)) for names in ([0, 0, 0], [0, 0, 1]))
    found = estimate_difference(
        Side("a", "percent_agreement", one), Side("b", "shah_kappa_s", one), shared=10
    )
    assert found.undefined.startswith("a: agreement is read on items of 1 cluster; 2 are required")
    with pytest.raises(AgreementError, match="expected the same items row by row"):
        estimate_difference(
            Side("a", "percent_agreement", two), Side("b", "percent_agreement", seen), shared=10
        )
