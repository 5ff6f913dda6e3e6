"""Items in clusters, from the column of an export to the interval, the reason and the release.

No step on the way ignores the clusters.
"""

import hashlib
import json
import math

import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import stats

from agreement_pipeline.cli import main as cli
from agreement_pipeline.contract import Contract
from agreement_pipeline.engines import Memory
from agreement_pipeline.errors import AgreementError, RatingsError, ReleaseInvalidError
from agreement_pipeline.estimates import (
    applicable,
    basis_of,
    between_classifiers,
    between_raters,
    between_rounds,
    estimate,
    measure_ratings,
    shrunken_self_agreement,
    survey,
)
from agreement_pipeline.estimates.comparison import between_measures
from agreement_pipeline.estimates.differences import difference
from agreement_pipeline.estimates.sides import Side
from agreement_pipeline.intervals import Inference
from agreement_pipeline.measures import MEASURES, alternative_annotator_test
from agreement_pipeline.policy import Policy, Rule, assess
from agreement_pipeline.policy.items_needed import simulated_rounds
from agreement_pipeline.ratings import (
    Ratings,
    Scale,
    parquet_bytes,
    parquet_table,
    ratings_of,
    ratings_table,
)
from agreement_pipeline.readers import Columns, read
from agreement_pipeline.release import open_release, release_round
from agreement_pipeline.release.contents import as_json
from agreement_pipeline.statistics import (
    CategoryCounts,
    Clusters,
    LabelsByRater,
)
from agreement_pipeline.store import Store

TWO = Scale(("no", "yes"))
NUMBERS = Scale(None, "interval")
BARE = Contract.from_mapping(
    {name: entries[:1] for name, entries in Contract.default().to_mapping().items()}
)


def documents(seed=0, *, n=30, sentences=8, hard=0.3, alike=True):
    """Ratings of the sentences of documents.

    Every rater guesses in a hard document. Unless `alike`, raters guess at hard sentences.
    """
    rng = np.random.default_rng(seed)
    rows = []
    for document in range(n):
        all_hard = rng.random() < hard
        for sentence in range(sentences):
            guessed = all_hard if alike else rng.random() < hard
            truth = rng.integers(2)
            for rater in range(4):
                for occurrence in (1, 2) if sentence % 4 == 0 else (1,):
                    label = rng.integers(2) if guessed else truth
                    item = f"{document:03}-{sentence}"
                    rows.append(
                        (
                            item,
                            f"r{rater}",
                            TWO.names[label],
                            occurrence,
                            f"document {document}",
                            round(rng.random(), 1),
                        )
                    )
    return pd.DataFrame(
        rows, columns=["item", "rater", "label", "occurrence", "cluster", "confidence"]
    )


def ratings(frame, scale=TWO, classifiers=("r3",)):
    return Ratings.from_frame(frame, scale, classifiers=classifiers)


def _without(frame):
    return frame.drop(columns="cluster")


def numbers(frame):
    """The same as real numbers near 0 and near 1, on a scale without categories."""
    noise = np.random.default_rng(1).normal(0, 0.1, size=len(frame))
    return frame.assign(label=(frame["label"] == "yes") + noise).drop(columns="confidence")


def width(found):
    return found.interval.high - found.interval.low


# The column


def test_any_column_may_be_named_as_the_clusters(tmp_path):
    documents(n=3).rename(columns={"cluster": "document_id"}).to_csv(
        tmp_path / "export.csv", index=False
    )
    found = read(tmp_path / "export.csv", Columns(cluster="document_id"), scale=TWO)
    assert found.contents["cluster"].loc["002-5"] == "document 2"
    assert found.cluster_of.loc[["000-0", "000-7", "001-0", "002-3"]].tolist() == [0, 0, 1, 2]
    assert read(tmp_path / "export.csv", scale=TWO).cluster_of is None


def test_a_wide_table_has_clusters_too(tmp_path):
    (tmp_path / "wide.csv").write_text("item,doc,ana,ben\ni1,1,yes,no\ni2,1,no,\ni3,2,yes,yes\n")
    found = read(
        tmp_path / "wide.csv",
        Columns(cluster="doc", raters=("ana", "ben")),
        layout="wide",
        scale=TWO,
    )
    assert found.contents["cluster"].to_dict() == {"i1": "1", "i2": "1", "i3": "2"}
    assert found.raters == ("ana", "ben")


@pytest.mark.parametrize(
    ("row", "message"),
    [
        (
            "i2,ben,no,",
            r"export.csv: row 5, column 'doc': found no cluster, and others have one; "
            r"expected one for every item, or for none. Fill it in",
        ),
        ("i2,ben,no,  ", r"export.csv: row 5, column 'doc': found no cluster"),
        ("i3,ben,,", r"export.csv: row 5, column 'doc': found no cluster"),
        (
            "i2,ben,no,d9",
            r"export.csv: rows \[4, 5\], column 'doc': found item 'i2' in clusters "
            r"\['d2', 'd9'\]; expected one of each item. Correct",
        ),
    ],
)
def test_an_item_in_two_clusters_or_beside_others_in_none_is_refused(tmp_path, row, message):
    (tmp_path / "export.csv").write_text(
        f"item,rater,label,doc\ni1,ana,yes,d1\ni1,ben,yes,d1\ni2,ana,no,d2\n{row}\n"
    )
    with pytest.raises(RatingsError, match=message):
        read(tmp_path / "export.csv", Columns(cluster="doc"), scale=TWO)


@pytest.mark.parametrize("alike", ["Document 1", "document 1 ", "d\u043ecument 1"])
def test_clusters_that_print_alike_are_not_taken_for_several(tmp_path, alike):
    frame = documents(n=3, sentences=1)
    frame.loc[frame["item"] == "002-0", "cluster"] = alike
    frame.to_csv(tmp_path / "labels.csv", index=False)
    with pytest.raises(
        RatingsError,
        match=r"labels\.csv: .*column 'cluster'.*: found clusters .*, which print alike; "
        r"expected names that do not",
    ):
        read(tmp_path / "labels.csv", Columns(), scale=TWO)


def test_a_column_that_is_not_there_is_missed_by_name(tmp_path):
    documents(n=2).rename(columns={"cluster": "document_id"}).to_csv(
        tmp_path / "export.csv", index=False
    )
    with pytest.raises(
        RatingsError,
        match=r"found no columns \['text_id'\] .* Did you mean cluster: 'document_id'\?",
    ):
        read(tmp_path / "export.csv", Columns(cluster="text_id"), scale=TWO)


def test_numbers_and_their_text_name_the_same_cluster():
    frame = documents(n=3)
    frame["cluster"] = [
        int(name.split()[-1]) if number % 2 else name.split()[-1]
        for number, name in enumerate(frame["cluster"])
    ]
    assert ratings(frame).cluster_of.nunique() == 3


# The digest and the bytes


def test_the_digest_of_a_round_without_clusters_is_what_it_was_before_there_were_any():
    rows = [
        ("i1", "ana", "yes", 1),
        ("i1", "ben", "no", 1),
        ("i1", "ben", "yes", 2),
        ("i2", "ana", "no", 1),
        ("i2", "ben", "no", 1),
    ]
    frame = pd.DataFrame(rows, columns=["item", "rater", "label", "occurrence"])
    found = [
        ratings(each, classifiers=()).digest[:16]
        for each in (frame, frame.assign(text="t", gold="no"), frame.assign(confidence=0.5))
    ]
    assert found == [
        "420b433d439a8628",
        "a561171569c872f5",
        "331f5a46e4786dfa",
    ]  # computed by the version before


def test_the_digest_binds_which_items_stand_together_and_not_what_that_is_called():
    frame = documents(n=4)
    digest = ratings(frame).digest
    assert digest != ratings(_without(frame)).digest
    assert (
        digest
        == ratings(
            frame.assign(cluster=frame["cluster"].map(lambda name: f"z{9 - int(name[-1])}"))
        ).digest
    )
    assert (
        digest
        != ratings(
            frame.assign(cluster=frame["cluster"].where(frame["item"] != "000-0", "document 1"))
        ).digest
    )
    assert digest != ratings(frame.assign(cluster="one")).digest
    assert digest != ratings(frame.assign(text="t")).digest


def test_clusters_survive_a_table_of_bytes_and_other_names_of_raters():
    found = ratings(documents(n=3))
    again = ratings_of(ratings_table(found), TWO, source="here")
    assert again.contents.equals(found.contents)
    assert again.digest == found.digest == found.renamed({"r0": "zoe"}).digest


def test_the_store_gives_them_back(tmp_path):
    documents(n=3).to_csv(tmp_path / "export.csv", index=False)
    found = read(tmp_path / "export.csv", scale=TWO)
    store = Store(tmp_path / "store", salt=b"a salt for tests")
    store.ingest("r1", found, tmp_path / "export.csv")
    assert store.ratings("r1").cluster_of.equals(found.cluster_of)


# The interval


@pytest.mark.parametrize(
    "make", [ratings, lambda frame: ratings(numbers(frame), NUMBERS)], ids=["labels", "numbers"]
)
def test_every_estimate_counts_its_clusters_and_has_the_value_of_the_items_one_by_one(make):
    frame = documents()
    clustered, single = (make(each) for each in (frame, _without(frame)))
    names = applicable(single)
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
            for each in (frame, _without(frame))
        )
        wider.append(width(found) / width(plain))
    assert 0.95 < wider[1] < wider[0] < 1.45
    assert wider[1] < 1.15


def test_a_cluster_of_each_item_gives_the_interval_of_the_items():
    frame = documents(1, sentences=4)
    alone = frame.assign(cluster=frame["item"])
    names = [
        "krippendorff_alpha",
        "shah_kappa_s",
        "vanbelle_albert_kappa",
        "self_agreement",
        "campagner_cabitza_rho",
        "campagner_cabitza_rho_confidence",
    ]
    found, plain = (
        {(e.measure, e.scope): e for e in measure_ratings(ratings(each), names)}
        for each in (alone, _without(frame))
    )
    for key, each in found.items():
        assert each.n_clusters == each.n_used or each.undefined
        if plain[key].value is not None:
            assert tuple(each.interval) == pytest.approx(
                tuple(plain[key].interval), abs=0.012 + 0.06 * width(plain[key])
            )


def test_clusters_of_one_item_give_the_same_digits_row_by_row():
    rng = np.random.default_rng(2)
    seen = LabelsByRater(rng.integers(2, size=(40, 3)), scale=TWO, raters="abc")
    for method in ("smoothed_bayesian_bootstrap", "bca_bootstrap", "jackknife_t", "jackknife_log"):
        one_by_one, clustered = (
            estimate(
                "shah_kappa_s", seen, Inference(n_resamples=500, method=method), clusters=clusters
            )
            for clusters in (None, range(40))
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
            float(MEASURES["krippendorff_alpha"](Memory().counts(ratings(each))).value)
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
        found = assess(
            ratings(each, classifiers=()), Policy("p", 1, (Rule("krippendorff_alpha"),)), BARE
        )
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
        for each in (frame, _without(frame))
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


@settings(deadline=None, max_examples=10)
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
        clusters=Clusters.named(["d2", "d1", "d1", "d2"]),
    )
    found = counts.merged()
    rows = zip(
        found.clusters.places.tolist(), found.counts.tolist(), found.weights.tolist(), strict=True
    )
    assert list(rows) == [(0, [0, 2], 1), (0, [2, 0], 1), (1, [2, 0], 2)]


def test_statistics_in_clusters_are_not_added_as_if_theirs_were_others():
    patterns = LabelsByRater([[0, 0], [0, 1]], scale=TWO, raters="ab").merged()
    in_clusters = patterns.in_clusters(Clusters.named([0, 1]))
    for one, other in ((in_clusters, patterns), (patterns.counts(), in_clusters.counts())):
        with pytest.raises(RatingsError, match="statistics without clusters are required of a sum"):
            one + other


def test_clusters_of_other_rows_are_refused():
    with pytest.raises(RatingsError, match="one for each of 2 rows is required"):
        LabelsByRater([[0, 0], [0, 1]], scale=TWO, raters="ab", clusters=Clusters.named([0, 1, 1]))


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
        match=r"clusters: [12] missing names found; one is required for each row, or none for all",
    ):
        estimate("krippendorff_alpha", counts, clusters=names)


def test_a_few_large_clusters_are_not_taken_for_many():
    places, sizes = np.array([0, 0, 1, 2, 2]), np.array([60.0, 30.0, 8.0, 1.0, 1.0])
    clusters = Clusters(places, np.array([1.0, 2.0, 1.0]))
    held = [90, 4, 4, 2]
    readable = np.full(5, True)
    assert clusters.typical(sizes, readable) == pytest.approx(
        sum(each * each for each in held) / sum(held)
    )
    assert clusters.effective(sizes, readable) == pytest.approx(
        sum(held) ** 2 / sum(each * each for each in held)
    )
    assert Clusters(places, np.ones(3)).effective(
        np.array([5.0, 5, 10, 2, 8]), readable
    ) == pytest.approx(3)
    assert Clusters(places, np.ones(3)).typical(sizes, places > 0) == pytest.approx((64 + 4) / 10)


@pytest.mark.slow
def test_the_lower_limit_holds_where_one_cluster_holds_most_items():
    """One of 1,000 items and 99 of 5: a fifth of them are guessed throughout. True α: 0.8."""
    rng, sizes, above = np.random.default_rng(3), np.array([1000] + [5] * 99), 0
    places = np.repeat(np.arange(100), sizes)
    for number in range(150):
        guessed = np.repeat(rng.random(100) < 0.2, sizes)[:, None]
        codes = np.where(
            guessed, rng.integers(2, size=(len(places), 3)), rng.integers(2, size=(len(places), 1))
        )
        seen = LabelsByRater(codes, scale=TWO, raters=tuple("abc"), clusters=Clusters.named(places))
        above += (
            estimate(
                "krippendorff_alpha", seen, Inference(n_resamples=400, seed=number)
            ).interval.low
            > 0.8
        )
    assert above <= stats.binom.ppf(0.999, 150, 0.025)


@pytest.mark.slow
def test_whole_clusters_cover_what_items_drawn_one_by_one_do_not():
    truth = estimate(
        "percent_agreement",
        Memory().counts(ratings(documents(99, n=20_000, sentences=2), classifiers=())),
        Inference(n_resamples=100),
    ).value
    held = {True: 0, False: 0}
    for seed in range(200):
        frame = documents(1000 + seed, n=30, sentences=8)
        for clusters in held:
            seen = ratings(frame if clusters else _without(frame), classifiers=())
            found = next(measure_ratings(seen, ["percent_agreement"], Inference(n_resamples=400)))
            held[clusters] += found.interval.low <= truth <= found.interval.high
    assert held[True] / 200 > 0.95 - 3 * math.sqrt(0.95 * 0.05 / 200)
    assert held[False] / 200 < 0.8


# What cannot take clusters into account says so


def panel_of(ratings):
    return Memory().labels(ratings, ("r3",)).against("r3")


def test_a_test_of_items_one_by_one_is_not_made_on_clusters():
    frame = documents(8)
    assert alternative_annotator_test(panel_of(ratings(_without(frame)))).undefined is None
    found = alternative_annotator_test(panel_of(ratings(frame)))
    assert (found.winning_rate, found.comparisons) == (None, ())
    assert (
        found.undefined
        == "items come in clusters, but the test assumes that each is drawn independently"
    )


def test_raters_are_not_drawn_towards_the_pool_as_if_their_items_were_unlike():
    found = shrunken_self_agreement(Memory().replicated_labels(ratings(documents(8))))
    assert {estimate.undefined for estimate in found} == {
        "items come in clusters, and the beta distribution takes each as drawn by itself"
    }
    assert len(found) == 3


# Differences


def test_both_sides_of_a_difference_are_drawn_by_cluster():
    frame = documents(9)
    for compare in (
        lambda each: between_raters(
            each, "schouten_kappa", "r0", "r1", Inference(n_resamples=2000)
        ),
        lambda each: between_measures(
            each, "krippendorff_alpha", "self_agreement", Inference(n_resamples=2000)
        ),
        lambda each: between_measures(
            each, "krippendorff_alpha", "percent_agreement", Inference(n_resamples=2000)
        ),
        lambda each: between_classifiers(
            each, "vanbelle_albert_kappa", "r2", "r3", Inference(n_resamples=2000)
        ),
    ):
        found, plain = (
            compare(ratings(each, classifiers=("r2", "r3"))) for each in (frame, _without(frame))
        )
        assert found.value == pytest.approx(plain.value)
        assert width(found) > 1.15 * width(plain)
        assert "whole clusters" in found.method
        assert "whole clusters" not in plain.method


def test_two_rounds_are_paired_by_the_clusters_they_share():
    one = documents(10)
    again = one.assign(label=one["label"].where(one["rater"] != "r1", "no"))
    paired, plain = (
        between_rounds(*(ratings(drop(each)) for each in (one, again)), "krippendorff_alpha")
        for drop in (lambda f: f, _without)
    )
    assert (paired.n_shared, plain.n_shared) == (240, 240)
    assert width(paired) > 1.3 * width(plain)
    halves = [one[one["item"].str[-1].isin(list(digits))] for digits in ("0123", "4567")]
    together = between_rounds(*map(ratings, halves), "krippendorff_alpha")
    apart = between_rounds(
        ratings(halves[0]),
        ratings(halves[1].assign(cluster="other " + halves[1]["cluster"])),
        "krippendorff_alpha",
    )
    assert (together.n_shared, apart.n_shared) == (0, None)
    assert together.method.endswith("whole clusters; paired by cluster")
    assert together.value == pytest.approx(apart.value)
    assert width(together) < 0.85 * width(apart)


def test_rounds_that_share_items_and_not_their_clusters_are_not_compared():
    frame = documents(11, n=4)
    with pytest.raises(
        RatingsError,
        match="a round with clusters and one without found; both or neither are required",
    ):
        between_rounds(ratings(frame), ratings(_without(frame)), "krippendorff_alpha")
    other = frame.assign(cluster=frame["cluster"].where(frame["item"] != "000-0", "document 1"))
    with pytest.raises(
        RatingsError,
        match=r"items \['000-0'\] in different clusters of the two rounds found; "
        "one is required of each item",
    ):
        between_rounds(ratings(frame), ratings(other), "krippendorff_alpha")
    with pytest.raises(
        AgreementError,
        match="found 4 shared clusters; expected a measure of first labels on a list of categories",
    ):
        between_rounds(
            ratings(frame[frame["item"].str[-1] < "4"]),
            ratings(frame[frame["item"].str[-1] >= "4"]),
            "self_agreement",
        )


def test_a_difference_of_one_cluster_is_undefined_and_sides_in_other_clusters_are_refused():
    seen = LabelsByRater([[0, 0], [0, 1], [1, 1]], [4, 2, 4], scale=TWO, raters="ab")
    one, two = (seen.in_clusters(Clusters.named(names)) for names in ([0, 0, 0], [0, 0, 1]))
    found = difference(
        Side("a", "percent_agreement", one), Side("b", "shah_kappa_s", one), shared=10
    )
    assert found.undefined.startswith("a: agreement is read on items of 1 cluster; 2 are required")
    with pytest.raises(AgreementError, match="expected the same items row by row"):
        difference(
            Side("a", "percent_agreement", two), Side("b", "percent_agreement", seen), shared=10
        )


# Plans


def lower_limits(measure, population, n_items, n_rounds):
    rng = np.random.default_rng([3, n_items])
    rounds = simulated_rounds(population, n_items, n_rounds, rng)
    return np.array(
        [
            estimate(measure, each, Inference(n_resamples=1000, seed=number)).interval.low
            for number, each in enumerate(rounds)
        ]
    )


def test_a_round_of_whole_clusters_has_a_lower_limit_further_down():
    frame = documents(12, n=60, hard=0.1)
    single, whole = (
        basis_of(ratings(each), "krippendorff_alpha") for each in (_without(frame), frame)
    )
    by_item, by_cluster = (
        lower_limits("krippendorff_alpha", population, 480, 60) for population in (single, whole)
    )
    assert by_cluster.mean() < by_item.mean() - 0.03
    assert by_cluster.std() > 1.5 * by_item.std()


def test_a_population_of_clusters_of_one_item_is_that_of_the_items():
    rng = np.random.default_rng(13)
    single = LabelsByRater(
        np.where(
            rng.random((50, 3)) < 0.9, rng.integers(2, size=(50, 1)), rng.integers(2, size=(50, 3))
        ),
        scale=TWO,
        raters="abc",
    )
    one_by_one, whole = (
        lower_limits("shah_kappa_s", each, 40, 20)
        for each in (single, single.in_clusters(Clusters.named(range(50))))
    )
    assert whole == pytest.approx(one_by_one, abs=1e-12)


# Decision and release


def strict(**rule):
    return Policy("p", 1, (Rule("krippendorff_alpha", **rule),), n_resamples=2000)


def test_the_reason_says_how_many_clusters_and_how_many_more_would_decide():
    found = assess(ratings(documents(14, hard=0.15)), strict(), BARE).decision
    assert not found.admitted
    assert "on 240 items in 30 clusters: " in found.reasons[0]
    assert found.reasons[0].endswith(
        (
            "more clusters of items would decide, if agreement stays the same",
            "more clusters of items would not reach 0.8, if agreement stays the same",
        )
    )


def test_a_round_that_items_one_by_one_would_admit_waits_for_more_documents():
    frame = documents(17, n=40, sentences=20, hard=0.09)
    single, whole = (
        assess(ratings(each), strict(), BARE).decision for each in (_without(frame), frame)
    )
    assert single.admitted
    assert not whole.admitted
    assert "in 40 clusters" in whole.reasons[0]


@pytest.fixture
def clustered_release(tmp_path):
    """Where a round of whole documents was released to, and its ratings."""
    frame = documents(16, n=40, hard=0)
    frame.to_csv(tmp_path / "export.csv", index=False)
    store, released = (
        Store(tmp_path / "store", salt=b"a salt for tests"),
        ratings(frame, classifiers=()),
    )
    store.ingest("r1", released, tmp_path / "export.csv")
    return release_round(store, "r1", strict(), BARE, project="demo").path, released


def test_a_release_carries_its_clusters_and_derives_its_decision_from_them(clustered_release):
    path, released = clustered_release
    found = open_release(path)
    assert found.ratings["r1"].digest == released.digest
    assert found.annotations.groupby("item")["cluster"].first().loc["007-0"] == "document 7"
    report = json.loads((path / "agreement_report.json").read_text())
    assert report["rounds"]["r1"]["estimates"][0]["n_clusters"] == 40
    assert json.loads((path / "manifest.json").read_text())["rounds"][0]["columns"] == [
        "confidence",
        "cluster",
    ]


def test_a_release_whose_items_were_moved_to_other_clusters_is_refused(clustered_release):
    path, _ = clustered_release
    name = "annotations/train-00000-of-00001.parquet"
    table = parquet_table((path / name).read_bytes())
    at = table.column_names.index("cluster")
    data = parquet_bytes(
        table.set_column(at, table.schema.field("cluster"), [table["item"].to_pylist()])
    )
    (path / name).chmod(0o644)
    (path / name).write_bytes(data)
    manifest = json.loads((path / "manifest.json").read_text())
    manifest["files"][name] = {"sha256": hashlib.sha256(data).hexdigest(), "bytes": len(data)}
    (path / "manifest.json").chmod(0o644)
    (path / "manifest.json").write_bytes(as_json(manifest))
    with pytest.raises(ReleaseInvalidError, match="when derived again from the annotations"):
        open_release(path)


def test_a_contract_may_ask_for_clusters():
    entry = {
        "type": "expect_column_unique_value_count_to_be_between",
        "kwargs": {"column": "cluster", "min_value": 5},
        "description": "at least 5 documents are required",
        "meta": {"check": "documents", "when": "cluster"},
    }
    mapping = BARE.to_mapping()
    contract = Contract.from_mapping({**mapping, "items": [*mapping["items"], entry]})
    few, many, none = (
        contract.check(ratings(frame))[-1]
        for frame in (documents(n=4), documents(n=5), _without(documents(n=4)))
    )
    assert (few.passed, many.passed, none.passed) == (False, True, True)
    assert "column cluster was not delivered, so nothing was checked" in none.description


# The command line


def test_the_command_line_takes_the_column_of_clusters(tmp_path, capsys):
    documents(17).rename(columns={"cluster": "document"}).to_csv(
        tmp_path / "labels.csv", index=False
    )
    asked = [
        "measure",
        str(tmp_path / "labels.csv"),
        "--measure",
        "krippendorff_alpha",
        "--n-resamples",
        "500",
    ]
    widths = []
    for more in ([], ["--cluster", "document"]):
        assert cli([*asked, *more, "--format", "json"]) == 0
        found = json.loads(capsys.readouterr().out)[0]
        widths.append((found["n_clusters"], found["high"] - found["low"]))
    assert [n for n, _ in widths] == [None, 30]
    assert widths[1][1] > 1.5 * widths[0][1]
    assert cli([*asked, "--cluster", "document"]) == 0
    assert "clusters: 30" in capsys.readouterr().out
