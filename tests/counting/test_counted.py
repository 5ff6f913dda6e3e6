"""What was counted once adds up to what one table of all ratings gives."""

from dataclasses import replace
from itertools import pairwise

import pytest

from agreement_pipeline.counting import CountedRatings, counting_for, sum_counted
from agreement_pipeline.errors import RatingsError
from agreement_pipeline.estimates import ShownRaters, applicable_measures, survey
from agreement_pipeline.intervals import Inference
from agreement_pipeline.readers import read
from tests.counting.tables import MADE, plain

INFERENCE = Inference(n_resamples=100)
COUNTED = (
    "missing",
    "replicates",
    "clusters with replicates and a classifier",
    "classifiers",
    "replicates of a classifier",
    "numbers of a classifier met again",
    "gold",
    "confidence",
    "confidence of replicates in CSV",
    "odd labels",
    "lists as sets",
    "lists as vectors",
    "numbers",
    "numbers met again",
)
"""A table for each statistic. How labels are spelt makes no difference to an estimate."""
KEPT = (
    *(name for name in COUNTED if "cluster" not in MADE[name].frame),
    "many raters",
    "odd names",
    "large whole numbers",
    "whole numbers and fractions",
    "lists of whole numbers",
    "numbers too small to square, beside others",
)
"""One part and another may have other raters, and other categories of every type."""


def parts_of(whole, n):
    """The ratings of the first items, of the next, and so on."""
    names, table = whole.rated_items().to_pylist(), whole.table
    starts = [part * len(names) // n for part in range(n + 1)]
    some = [names[start:end] for start, end in pairwise(starts)]
    tests = [f"item IN ({', '.join(map(whole.session.literal_sql, each))})" for each in some]
    return [
        replace(whole, table=table.create_view(f"SELECT * FROM {table} WHERE {test}"))
        for test in tests
    ]


def statistics(ratings):
    engine = counting_for(ratings)
    found = [engine.by_rater(ratings, ratings.classifiers), engine.by_rater(ratings)]
    if not ratings.scale.continuous:
        found += [engine.counts(ratings), engine.confident_labels(ratings)]
    return plain(found)


@pytest.fixture(params=COUNTED)
def made(request):
    return MADE[request.param]


@pytest.fixture(params=KEPT)
def unclustered(request):
    return MADE[request.param]


def test_one_round_counted_gives_the_estimates_of_its_ratings(made, tmp_path):
    ratings = read(made.source(tmp_path), **made.reading)
    measures, shown = applicable_measures(ratings), ShownRaters.choose(ratings, 20)
    counted, listed = (
        [
            replace(estimate, statistic=None, inference=None)  # not in the comparison of two
            for estimate in survey(source, measures, INFERENCE, shown=shown)
        ]
        for source in (CountedRatings.of(ratings), ratings)
    )
    assert plain(counted) == plain(listed)


def test_rounds_of_other_items_add_up_to_the_statistics_of_one_table(tmp_path, unclustered):
    whole = read(unclustered.source(tmp_path), **unclustered.reading)
    rounds = [CountedRatings.of(part) for part in parts_of(whole, 3)]
    kept = [CountedRatings.from_bytes(each.to_bytes()) for each in rounds]
    assert statistics(sum_counted(kept)) == statistics(whole)
    assert sum_counted(kept).raters == tuple(sorted(whole.raters))


def test_replicates_of_rounds_add_up(tmp_path):
    made = MADE["replicates"]
    whole = read(made.source(tmp_path), **made.reading)
    total = sum_counted([CountedRatings.of(part) for part in parts_of(whole, 3)])
    found, expected = (
        survey(
            each, applicable_measures(whole, "intra-rater"), INFERENCE, scopes=("round", "rater")
        )
        for each in (total, whole)
    )
    assert [each.value for each in found] == pytest.approx(
        [each.value for each in expected], rel=1e-12, nan_ok=True
    )


def test_the_bytes_are_those_of_the_statistics_alone(tmp_path):
    made = MADE["confidence"]
    ratings = read(made.source(tmp_path), **made.reading)
    kept = CountedRatings.of(ratings).to_bytes()
    assert CountedRatings.from_bytes(kept).to_bytes() == kept


def test_a_model_of_one_round_is_no_rater_of_another(tmp_path):
    path = MADE["missing"].source(tmp_path)
    one, other = read(path, classifiers=["r1"]), read(path)
    with pytest.raises(RatingsError, match="'r1' as a classifier of one round"):
        sum_counted([CountedRatings.of(one), CountedRatings.of(other)])


def test_rounds_in_clusters_do_not_add_up(tmp_path):
    made = MADE["clusters"]
    counted = CountedRatings.of(read(made.source(tmp_path), **made.reading))
    with pytest.raises(RatingsError, match="Put the ratings into one table first"):
        sum_counted([counted, counted])


def test_single_items_are_gone(tmp_path):
    path = MADE["missing"].source(tmp_path)
    counted = CountedRatings.of(read(path))
    for asked in ("items", "by_item"):
        with pytest.raises(RatingsError, match="a question about single items"):
            getattr(counting_for(counted), asked)(counted)
