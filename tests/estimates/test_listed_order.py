"""The order in which nominal categories, rows or items are listed says nothing of agreement."""

import numpy as np
import pandas as pd
import pytest

from agreement_pipeline import Scale, readers
from agreement_pipeline.counting import CountedRatings, read_contingency, read_counts
from agreement_pipeline.estimates import (
    SCOPE_KINDS,
    applicable_measures,
    compare,
    measure,
    survey,
)
from agreement_pipeline.intervals import Inference
from agreement_pipeline.measures import MEASURES
from agreement_pipeline.ratings import Ratings
from agreement_pipeline.readers import read
from tests.counting.tables import met_again, ratings_of

LABELS = ("no", "maybe", "yes")
INFERENCE = Inference(n_resamples=20)
OF_COUNTS = ("krippendorff_alpha", "fleiss_kappa", "gwet_ac1", "category_agreement")
OF_NUMBERS = ("krippendorff_alpha", "cohen_kappa_quadratic", "icc_2_1", "self_agreement")
MODELS = ("r3", "r4")


def made(labels, **shape):
    """A round with everything that a measure may read."""
    return met_again(ratings_of(raters=5, labels=labels, **shape), labels).assign(
        confidence=lambda frame: [at % 9 / 8 for at in range(len(frame))],
        gold=lambda frame: frame["item"] < "i004",
        gold_label=lambda frame: np.where(frame["item"] < "i002", "yes", "no"),
        **{"stratum:language": lambda frame: np.where(frame["item"] < "i014", "de", "en")},
    )


FRAME, OF_TWO = made(LABELS, items=24), made(LABELS[::2], items=60, missing=0)


def listed(categories, level="nominal", frame=FRAME, classifiers=MODELS):
    """The ratings on a scale that lists its categories in this order."""
    return Ratings.from_frame(frame, Scale(categories, level), classifiers=classifiers)


def plain(found):
    """What is estimated, with every draw."""
    return {
        (each.measure, str(each.scope)): (
            each.value,
            each.interval,
            each.lowest,
            each.undefined,
            None if each.draws is None else each.draws.tobytes(),
        )
        for each in found
    }


def surveyed(ratings, measures=None, scopes=SCOPE_KINDS):
    return plain(
        survey(ratings, measures or applicable_measures(ratings), INFERENCE, scopes=scopes)
    )


@pytest.fixture(scope="module")
def as_first_listed():
    return surveyed(listed(LABELS))


def test_every_nominal_measure_is_compared(as_first_listed):
    of_two = surveyed(listed(("no", "yes"), frame=OF_TWO))
    assert surveyed(listed(("yes", "no"), frame=OF_TWO)) == of_two
    found = [*as_first_listed.items(), *of_two.items()]
    nominal = {name for name, record in MEASURES.items() if "nominal" in record.levels}
    assert {name for (name, _), (_, limits, *_) in found if limits} == nominal


def test_limits_do_not_follow_the_order_of_categories(as_first_listed):
    assert surveyed(listed(("maybe", "yes", "no"))) == as_first_listed


def test_nor_the_order_of_rows(as_first_listed):
    assert surveyed(listed(LABELS, frame=FRAME.sample(frac=1, random_state=7))) == as_first_listed


def test_nor_in_other_engines(as_first_listed, tmp_path):
    path = tmp_path / "ratings.parquet"
    frame = FRAME.drop(columns=["gold", "gold_label", "stratum:language"])
    frame.to_parquet(path, index=False)
    first, last = (Scale(names) for names in (LABELS, LABELS[::-1]))
    whole = None, ("round", "category", "classifier")
    expected = surveyed(readers.read(path, scale=first, classifiers=MODELS), *whole)
    in_memory = readers.read(path, scale=last, classifiers=MODELS)
    queried = read(path, engine="duckdb", scale=last, classifiers=MODELS)
    for ratings in (in_memory, queried, CountedRatings.of(in_memory)):
        assert surveyed(ratings, *whole) == expected


def test_numbers_may_be_listed_in_any_order():
    frame = FRAME.assign(label=FRAME["label"].map(dict(zip(LABELS, (1, 4, 2), strict=True))))
    frame = frame.drop(columns=["gold", "gold_label"])
    expected = surveyed(listed((1, 2, 4), "interval", frame), OF_NUMBERS)
    assert surveyed(listed((4, 1, 2), "interval", frame), OF_NUMBERS) == expected


def test_the_order_of_ordinal_categories_has_a_meaning():
    values = [
        measure(listed(order, "ordinal"), inference=INFERENCE).value
        for order in (LABELS, ("maybe", "no", "yes"))
    ]
    assert values[0] != values[1]


def test_tables_that_were_counted_may_list_their_categories_in_any_order():
    counts = pd.DataFrame({"item": range(4), "b": [3, 1, 0, 2], "c": [0, 2, 3, 0], "a": 0})
    met = pd.DataFrame({"": ["b", "c"], "b": [40, 5], "c": [3, 12]})
    for read_table, table, other in (
        (read_counts, counts, counts[["item", "a", "c", "b"]]),
        (read_contingency, met, met[["", "c", "b"]].iloc[::-1]),
    ):
        one, two = (
            surveyed(read_table(each), OF_COUNTS, ("round", "category")) for each in (table, other)
        )
        assert one == two


def test_differences_do_not_follow_it():
    def compared(categories):
        one = listed(categories)
        other = listed(categories, frame=FRAME[FRAME["item"] >= "i010"])
        apart = listed(categories, frame=FRAME.assign(item="j" + FRAME["item"]))
        return [
            compare(one, other, inference=INFERENCE),
            compare(one, apart, measure="category_agreement", inference=INFERENCE),
            compare(one, between=MODELS, inference=INFERENCE),
            compare(one, between=("r0", "r1"), inference=INFERENCE),
            compare(one, between=("r0", "r1"), measure="self_agreement", inference=INFERENCE),
        ]

    assert compared(LABELS) == compared(LABELS[::-1])


def test_categories_are_shown_as_they_are_listed():
    found = survey(listed(LABELS[::-1]), ["alpha_by_category"], INFERENCE, scopes=("category",))
    assert [each.scope.name for each in found] == list(LABELS[::-1])
