"""Shares and means of a population, from ratings."""

from itertools import combinations
from time import process_time

import numpy as np
import pandas as pd
import pytest

from agreement_pipeline import Ratings, Scale, read_ratings
from agreement_pipeline.errors import RatingsError
from agreement_pipeline.models import correct
from agreement_pipeline.models.correction import majority_shares
from agreement_pipeline.models.prediction_powered import OfRaters, Stratum
from tests.models.tables import ratings_of, simulated


@pytest.fixture
def tables():
    return simulated(np.random.default_rng(1))


def by_category(found):
    return {each.category: each for each in found}


def means_of(panel, category="yes"):
    frame = pd.DataFrame(panel, columns=["item", "rater", "label"])
    return frame["label"].eq(category).groupby(frame["item"]).mean()


def test_each_share_is_corrected(tables):
    population, panel = tables
    found = by_category(correct(ratings_of(population + panel)))
    assert [*found] == ["no", "yes"]
    labels = means_of(panel)
    said = np.array([label == "yes" for *_, label in population], dtype=float)
    places = np.array([int(item[1:]) for item in labels.index])
    expected = Stratum(np.ones(len(said)), said, places, labels.to_numpy())
    yes = found["yes"]
    assert yes.value == pytest.approx(expected.value, abs=1e-12)
    assert yes.tuning == pytest.approx((expected.tuned,))
    assert yes.classical == pytest.approx(labels.mean())
    assert yes.uncorrected == pytest.approx(said.mean())
    assert (yes.n_items, yes.n_labels, yes.n_ratings) == (400, 60, 180)
    assert yes.interval.low < yes.value < yes.interval.high
    assert 60 < yes.effective_labels < 400
    assert found["no"].value == pytest.approx(1 - yes.value, abs=1e-12)


def test_the_population_may_be_a_table_of_its_own(tables):
    population, panel = tables
    one = correct(ratings_of(population + panel))
    two = correct(ratings_of(panel, classifiers=()), ratings_of(population))
    assert [*one] == [*two]


def test_an_item_counts_once_however_many_raters_it_has(tables):
    population, panel = tables
    item = panel[0][0]
    more = [(item, f"s{place}", "yes") for place in range(40)]
    found = by_category(correct(ratings_of(population + panel + more)))["yes"]
    assert found.classical == pytest.approx(means_of(panel + more).mean())


def test_another_category_of_the_panel_has_a_share_too(tables):
    population, panel = tables
    panel = [*panel[:-3], *((item, rater, "unsure") for item, rater, _ in panel[-3:])]
    labels = ratings_of(panel, Scale(("no", "yes", "unsure")), classifiers=())
    found = by_category(correct(labels, ratings_of(population)))["unsure"]
    assert found.uncorrected == 0
    assert found.classical == pytest.approx(1 / 60)
    assert found.tuning == (0.0,)


def test_labels_that_began_as_a_suggestion_do_not_count(tables):
    population, panel = tables
    frame = pd.DataFrame(population + panel, columns=["item", "rater", "label"])
    frame["assisted"] = frame["item"].eq(panel[0][0]) & frame["rater"].ne("model")
    found = correct(Ratings.from_frame(frame, Scale(("no", "yes")), classifiers=["model"]))
    assert found[0].n_labels == 59


def test_of_several_classifiers_one_is_named(tables):
    population, panel = tables
    other = [(item, "other", "no") for item, *_ in population]
    both = ratings_of(population + other + panel, classifiers=("model", "other"))
    with pytest.raises(RatingsError, match=r"found classifiers \['model', 'other'\]"):
        correct(both)
    assert by_category(correct(both, classifier="other"))["yes"].uncorrected == 0
    with pytest.raises(RatingsError, match="expected 'ana'"):
        correct(both, classifier="ana")


# Which number it is


@pytest.mark.parametrize("n", [3, 4, 5, 7])
@pytest.mark.parametrize("majority_of", [1, 3])
def test_a_majority_is_the_mean_over_all_choices_of_raters(n, majority_of):
    said = np.arange(n + 1)
    expected = [
        np.mean(
            [
                sum(some) > majority_of / 2
                for some in combinations([1] * s + [0] * (n - s), majority_of)
            ]
        )
        for s in said
    ]
    found = majority_shares(said.astype(float), np.full(n + 1, n), majority_of)
    assert found == pytest.approx(expected)


def test_a_majority_is_another_target(tables):
    population, panel = tables
    ratings = ratings_of(population + panel)
    pairs, most = (by_category(correct(ratings, majority_of=r))["yes"] for r in (None, 3))
    assert (pairs.target, most.target) == ("pairs", "majority of 3")
    assert most.classical == pytest.approx((means_of(panel) > 0.5).mean())
    single = by_category(correct(ratings, majority_of=1))["yes"]
    assert single.value == pytest.approx(pairs.value)


@pytest.mark.parametrize("majority_of", [0, 2, -1])
def test_an_even_panel_may_be_divided(tables, majority_of):
    with pytest.raises(RatingsError, match="expected 1, 3, 5 or more"):
        correct(ratings_of([*tables[0], *tables[1]]), majority_of=majority_of)


# Means


def numeric(rng, n_items=200, n=50):
    said = rng.integers(1, 6, n_items)
    population = [(f"i{place:03}", "model", int(label)) for place, label in enumerate(said)]
    panel = [
        (f"i{place:03}", rater, int(np.clip(said[place] + rng.integers(-1, 2), 1, 5)))
        for place in range(n)
        for rater in ("ana", "ben")
    ]
    return population, panel


def test_a_numeric_scale_has_a_mean():
    population, panel = numeric(np.random.default_rng(2))
    (found,) = correct(ratings_of(population + panel, Scale((1, 2, 3, 4, 5), "interval")))
    assert found.category is None
    assert found.classical == pytest.approx(np.mean([label for *_, label in panel]))
    assert 1 <= found.interval.low < found.value < found.interval.high <= 5
    assert found.effective_labels > 100


def test_other_units_of_a_scale_give_the_same_numbers_in_them():
    population, panel = numeric(np.random.default_rng(2))
    small = [(item, rater, label * 1e-13) for item, rater, label in population + panel]
    scale = Scale(tuple(place * 1e-13 for place in (1, 2, 3, 4, 5)), "interval")
    (one,) = correct(ratings_of(population + panel, Scale((1, 2, 3, 4, 5), "interval")))
    (other,) = correct(ratings_of(small, scale))
    assert other.value == pytest.approx(one.value * 1e-13, rel=1e-9)
    assert [*other.interval] == pytest.approx([each * 1e-13 for each in one.interval], rel=1e-6)
    assert other.effective_labels == pytest.approx(one.effective_labels)


@pytest.mark.parametrize(
    "scale",
    [Scale(None, "interval"), Scale((1, 2, 3, 4, 5), "interval", declared=False)],
    ids=["any number", "numbers that were read off"],
)
def test_without_ends_of_the_scale_no_limits_hold(scale):
    population, panel = numeric(np.random.default_rng(3))
    (found,) = correct(ratings_of(population + panel, scale))
    assert found.value is None
    assert "no lowest and highest number" in found.undefined
    assert found.why_not_effective == found.undefined


def test_numbers_have_no_majority():
    population, panel = numeric(np.random.default_rng(4))
    scale = Scale((1, 2, 3, 4, 5), "interval")
    (found,) = correct(ratings_of(population + panel, scale), majority_of=1)
    assert found.undefined == "numbers have no majority"


# How items were drawn


def test_strata_are_the_classifiers_labels(tables):
    population, panel = tables
    found = by_category(correct(ratings_of(population + panel), design="stratified"))["yes"]
    labels, said = means_of(panel), {item: label for item, _, label in population}
    shares = pd.Series(said).value_counts(normalize=True)
    by_label = labels.groupby(labels.index.map(said)).mean()
    assert found.value == pytest.approx((by_label * shares).sum())
    assert found.classical == pytest.approx(found.value)
    assert found.tuning == (0.0, 0.0)


def test_whole_clusters_are_drawn(tables):
    population, panel = tables
    cluster = {item: f"d{int(item[1:]) // 5:02}" for item, *_ in population}
    rng = np.random.default_rng(5)
    drawn = {f"d{place:02}" for place in rng.choice(80, 30, replace=False)}
    panel = [
        (item, "ana", label if rng.random() < 0.9 else "yes")
        for item, _, label in population
        if cluster[item] in drawn
    ]
    found = by_category(
        correct(ratings_of(population + panel, cluster=cluster), design="clustered")
    )["yes"]
    assert found.n_labels == 150
    assert found.classical == pytest.approx(means_of(panel).mean())
    units = pd.DataFrame(population, columns=["item", "rater", "label"])
    units = units["label"].eq("yes").groupby(units["item"].map(cluster)).agg(["size", "sum"])
    sums = means_of(panel).groupby(lambda item: cluster[item]).sum()
    expected = Stratum(
        units["size"].to_numpy(dtype=float),
        units["sum"].to_numpy(dtype=float),
        units.index.get_indexer(sums.index),
        sums.to_numpy(),
    )
    assert found.value == pytest.approx(expected.value, abs=1e-12)


def test_a_cluster_that_is_labelled_in_part_was_not_drawn_whole(tables):
    population, panel = tables
    cluster = {item: f"d{int(item[1:]) // 5:02}" for item, *_ in population}
    found = correct(ratings_of(population + panel, cluster=cluster), design="clustered")
    assert all("labelled in part" in each.undefined for each in found)


def test_clusters_must_be_known(tables):
    with pytest.raises(RatingsError, match="no clusters in the population"):
        correct(ratings_of([*tables[0], *tables[1]]), design="clustered")


# Undefined, with a reason


@pytest.mark.parametrize(
    ("panel", "design", "majority_of", "why"),
    [
        ([], "simple", None, "0 labelled items, and 2 are needed"),
        ([("i0000", "ana", "yes")], "simple", None, "1 labelled item, and 2 are needed"),
        ([], "stratified", None, "0 labelled items among those labelled 'no', and 2 are needed"),
        (
            [("i0000", "ana", "yes"), ("i0001", "ana", "no")],
            "simple",
            3,
            "2 labelled items have fewer than 3 ratings, as 'i0000'",
        ),
    ],
)
def test_too_few_labels_give_no_value(tables, panel, design, majority_of, why):
    ratings = ratings_of(tables[0] + panel)
    for found in correct(ratings, design=design, majority_of=majority_of):
        assert found.undefined == why
        assert (found.value, found.interval, found.effective_labels) == (None, None, None)
        assert found.uncorrected is not None


def test_a_label_of_one_item_needs_that_item():
    rows = [(f"i{place:02}", "model", "no" if place else "yes") for place in range(50)]
    panel = [(f"i{place:02}", "ana", "no") for place in range(20)]
    assert correct(ratings_of(rows + panel), design="stratified")[1].value == 0
    found = correct(ratings_of(rows + panel[1:]), design="stratified")[1]
    assert found.undefined == "0 labelled items among those labelled 'yes', and 1 is needed"


def test_labels_that_do_not_vary_have_no_effective_number():
    rows = [(f"i{place:02}", "model", "no") for place in range(50)]
    rows += [(f"i{place:02}", "ana", "no") for place in range(30)]
    found = by_category(correct(ratings_of(rows)))["yes"]
    assert (found.value, found.interval.low) == (0, 0)
    assert found.interval.high == pytest.approx(0.116, abs=0.003)
    assert found.effective_labels is None
    assert found.why_not_effective == "the corrected labels do not vary"


def test_items_outside_the_population_are_refused(tables):
    population, panel = tables
    with pytest.raises(RatingsError, match="found item 'strange' with labels of the panel"):
        correct(ratings_of([*population, *panel, ("strange", "ana", "no")]))


def test_labels_are_spelt_in_one_way_in_both_tables(tables):
    population, panel = tables
    capitals = [(item, rater, label.capitalize()) for item, rater, label in panel]
    labels = ratings_of(capitals, Scale(("No", "Yes")), classifiers=())
    with pytest.raises(RatingsError, match="print alike, and are different: 'No' and 'no'"):
        correct(labels, ratings_of(population))
    both = Scale(("no", "yes", "No", "Yes"))
    assert len(correct(ratings_of(capitals, both, ()), ratings_of(population, both))) == 4


def test_numbers_and_categories_are_not_compared(tables):
    _, panel = numeric(np.random.default_rng(6))
    labels = ratings_of(panel, Scale((1, 2, 3, 4, 5), "interval"), classifiers=())
    with pytest.raises(RatingsError, match="labels of different kinds"):
        correct(labels, ratings_of(tables[0]))


def test_numbers_and_vectors_are_not_compared():
    population, panel = numeric(np.random.default_rng(6))
    numbers, vectors = Scale(None, "interval"), Scale(None, "multivariate interval", dimensions=2)
    pairs = [(item, rater, (label, label)) for item, rater, label in population]
    with pytest.raises(RatingsError, match="labels of different kinds or of several numbers"):
        correct(ratings_of(panel, numbers, ()), ratings_of(pairs, vectors))


def test_an_unknown_design_is_refused(tables):
    with pytest.raises(RatingsError, match="expected one of simple, stratified, clustered"):
        correct(ratings_of([*tables[0], *tables[1]]), design="stratifed")


def test_strata_of_any_number_are_refused():
    population, panel = numeric(np.random.default_rng(7))
    ratings = ratings_of(population + panel, Scale(None, "interval"))
    with pytest.raises(RatingsError, match="found numbers without categories"):
        correct(ratings, design="stratified")


def test_what_is_found_is_plain_data(tables):
    found = correct(ratings_of([*tables[0], *tables[1]]))
    said = found[1].to_mapping()
    assert said["category"] == "yes"
    assert said["tuning"] == [*found[1].tuning]
    assert found.to_frame()["classical_low"].tolist() == [
        each.classical_interval.low for each in found
    ]


# Which raters it is about


def test_other_raters_widen_the_interval_and_change_no_value(tables):
    ratings = ratings_of([*tables[0], *tables[1]])
    these, others = (
        by_category(correct(ratings, raters=raters))["yes"]
        for raters in ("these raters", "raters at large")
    )
    assert (others.value, others.effective_labels) == (these.value, these.effective_labels)
    assert others.interval.low < these.interval.low
    assert others.interval.high > these.interval.high
    assert others.classical_interval.high > these.classical_interval.high
    assert (others.raters, others.n_raters) == ("raters at large", 3)


def test_the_error_of_raters_is_a_jackknife_over_them(tables):
    population, panel = tables
    names = sorted({rater for _, rater, _ in panel})
    left = [
        by_category(correct(ratings_of(population + [row for row in panel if row[1] != name])))[
            "yes"
        ]
        for name in names
    ]
    found = OfRaters.without_each([(each.value, each.classical) for each in left])
    values = np.array([each.value for each in left])
    assert found.corrected == pytest.approx(
        np.sqrt((len(names) - 1) / len(names) * ((values - values.mean()) ** 2).sum())
    )
    assert found.n_raters == 3


@pytest.mark.parametrize(
    ("raters", "why"),
    [
        (("r0", "r1"), "2 raters, and others need 3 to be known"),
        (("r0", "r1", "r2"), "1 labelled item has fewer than 2 ratings, as 'i0002'"),
    ],
)
def test_what_others_would_say_needs_three_raters_and_two_ratings_an_item(tables, raters, why):
    population, panel = tables
    first = panel[0][0]
    panel = [row for row in panel if row[1] in raters and (row[0] != first or row[1] == "r0")]
    for found in correct(ratings_of(population + panel), raters="raters at large"):
        assert found.undefined == why


@pytest.mark.slow
def test_a_million_items_take_less_than_three_seconds_of_a_processor(tmp_path):
    rng, n = np.random.default_rng(8), 1_000_000
    items = np.char.add("item-", np.arange(n).astype(str))
    said = rng.choice(["no", "yes", "unsure"], n)
    drawn = np.repeat(rng.choice(n, 500, replace=False), 3)
    table = {"item": items, "rater": np.full(n, "model"), "label": said}
    pd.DataFrame(table).to_parquet(tmp_path / "population.parquet")
    raters = np.tile(["ana", "ben", "cleo"], 500)
    panel = pd.DataFrame({"item": items[drawn], "rater": raters, "label": said[drawn]})
    scale = Scale(("no", "yes", "unsure"))
    start = process_time()
    population = read_ratings(
        tmp_path / "population.parquet", scale=scale, classifiers=["model"], usable=False
    )
    found = correct(Ratings.from_frame(panel, scale), population)
    assert process_time() - start < 3
    assert [each.n_items for each in found] == [n] * 3
