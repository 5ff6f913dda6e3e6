"""The record of a measure, and what every record must say."""

import re

import numpy as np
import pytest

from agreement_pipeline.measures import MEASURES, Measure, ratio, register

every = pytest.mark.parametrize("record", MEASURES.values(), ids=list(MEASURES))


@every
def test_a_record_says_what_when_and_from_where(record: Measure):
    assert record.title
    assert record.convention
    assert record.source
    assert record.undefined, "no measure is defined on every table"
    assert record.bounds[0] < record.bounds[1]
    assert record.levels
    assert record.description.endswith(".")


@every
def test_the_documentation_gives_formula_range_source_and_an_example(record: Measure):
    words = record.function.__doc__ or ""
    for part in ("Parameters", "Returns", "Undefined", "References", "Examples", ">>>"):
        assert part in words, f"{record.name} does not document {part}"


@every
def test_reasons_are_half_sentences_that_follow_since(record: Measure):
    for condition in record.undefined:
        assert re.match(r"[a-z]", condition.reason), condition.reason
        assert not condition.reason.endswith("."), condition.reason


def test_a_name_cannot_be_taken_twice_nor_be_more_than_a_name():
    declare = register(
        "Title",
        question="inter-rater",
        needs="counts",
        bounds=(0, 1),
        undefined=(),
        source="s",
        convention="c",
    )

    def fleiss_kappa(counts):
        return counts

    def FleissKappa(counts):  # noqa: N802
        return counts

    for function in (fleiss_kappa, FleissKappa):
        with pytest.raises(
            ValueError,
            match=r"expected a new name in lower case letters, digits and underscores\.",
        ):
            declare(function)
    assert MEASURES["fleiss_kappa"].title == "Fleiss' κ"


def test_a_quotient_has_no_value_where_the_denominator_is_not_positive():
    assert ratio(1.0, 4.0) == 0.25
    assert np.isnan(ratio(np.array([1.0, 1.0, 0.0]), np.array([0.0, -2.0, 1e-13]))).all()
