import math
from dataclasses import replace

from agreement_pipeline.estimates import Estimate, Scope
from agreement_pipeline.evidence.details import headline_numbers
from agreement_pipeline.intervals import Interval


def of(scope, low=0.7, high=0.9, undefined=None):
    value, interval = (0.8, Interval(low, high)) if undefined is None else (None, None)
    return Estimate("m", scope, value, interval, 0.95, "m", 50, 3, 150, undefined=undefined)


ROUND, MODEL, ANA = Scope("round"), Scope("classifier", "gpt"), Scope("rater", "ana")


def test_the_round_and_each_classifier_have_numbers_of_their_own_and_raters_have_none():
    assert headline_numbers([of(ROUND), of(MODEL, low=-math.inf), of(ANA)], ["m"]) == {
        "m value": 0.8,
        "m low": 0.7,
        "m high": 0.9,
        "m gpt value": 0.8,
        "m gpt low": "no limit",
        "m gpt high": 0.9,
    }


def test_sorted_names_keep_a_value_beside_its_limits():
    names = sorted(
        headline_numbers([of(ROUND), replace(of(ROUND), measure="m_weighted")], ["m", "m_weighted"])
    )
    assert names == [
        f"{m} {part}" for m in ("m", "m_weighted") for part in ("high", "low", "value")
    ]


def test_a_measure_that_the_policy_does_not_ask_for_has_no_series():
    assert headline_numbers([of(ROUND)], ["other"]) == {}


def test_what_is_undefined_has_no_numbers():
    found = [of(ROUND, undefined="no pair"), of(MODEL), of(ANA, undefined="no rating")]
    assert set(headline_numbers(found, ["m"])) == {"m gpt value", "m gpt low", "m gpt high"}
