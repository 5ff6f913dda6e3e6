from dataclasses import replace

import pytest

from agreement_pipeline import MEASURES
from agreement_pipeline.measures import measure
from agreement_pipeline.measures._weights import IDENTITY, LINEAR, WEIGHTINGS

FAMILIES = [
    *("cohen_kappa", "conger_kappa", "fleiss_kappa", "gwet_ac2", "brennan_prediger"),
    *(
        "schouten_kappa",
        "vanbelle_albert_kappa",
        "vanbelle_albert_group_kappa",
        "test_retest_kappa",
    ),
]


def test_a_weighted_measure_is_registered_once_under_each_name_and_described_by_its_function():
    record = MEASURES["gwet_ac2_linear"]
    assert record.name == "gwet_ac2_linear"
    assert record.title == "Gwet's AC2, linear weights"
    assert record.description.startswith("AC1 with credit for near misses")
    assert record.levels == LINEAR.levels
    assert "gwet_ac2" not in MEASURES


def test_every_family_that_weighs_near_misses_has_every_weighting():
    of_names = {
        name: record.weighting
        for name, record in MEASURES.items()
        if record.weighting not in (None, IDENTITY)
    }
    assert of_names == {
        f"{family}_{name}": weighting
        for family in FAMILIES
        for name, weighting in WEIGHTINGS.items()
    }


@pytest.mark.parametrize(
    ("alias", "name"), [("conger_kappa", "shah_kappa_s"), ("brennan_prediger", "bennett_s")]
)
def test_another_name_of_a_measure_says_of_which_and_is_the_same_otherwise(alias, name):
    record = MEASURES[alias]
    assert (record.name, record.alias_of, record.computed_as) == (alias, name, name)
    assert MEASURES[name].computed_as == name
    assert replace(record, name=name, alias_of=None) == MEASURES[name]


def test_a_name_is_registered_once():
    settings = {
        "question": "inter-rater",
        "needs": "counts",
        "bounds": (0, 1),
        "undefined": (),
        "source": "none",
        "convention": "none",
    }
    with pytest.raises(
        ValueError, match=r"measure 'fleiss_kappa': found .*; expected a new name in"
    ):
        measure("Again", weightings={"fleiss_kappa": LINEAR}, **settings)(lambda counts: counts)
