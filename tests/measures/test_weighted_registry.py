import json
from dataclasses import replace

import pytest

from agreement_pipeline import Policy, Rule
from agreement_pipeline.errors import PolicyError
from agreement_pipeline.estimates import find_registered_measure
from agreement_pipeline.measures import MEASURES, WEIGHTINGS, find_measure
from agreement_pipeline.measures.registry import FAMILIES
from agreement_pipeline.measures.weighting import IDENTITY, LINEAR


def test_a_weighted_measure_is_registered_once_under_each_name_and_described_by_its_function():
    record = MEASURES["gwet_ac2_linear"]
    assert record.name == "gwet_ac2_linear"
    assert record.title == "Gwet's AC2, linear weights"
    assert record.description.startswith("AC1 with credit for near misses")
    assert record.levels == LINEAR.levels
    assert "gwet_ac2" not in MEASURES


def test_every_family_has_names_for_linear_and_quadratic_weights():
    of_names = {
        name: record.weighting
        for name, record in MEASURES.items()
        if record.weighting not in (None, IDENTITY)
    }
    assert of_names == {
        f"{family}_{name}": WEIGHTINGS[name]
        for family in FAMILIES
        for name in ("linear", "quadratic")
    }


@pytest.mark.parametrize("family", FAMILIES)
@pytest.mark.parametrize("distance", WEIGHTINGS)
def test_any_distance_may_follow_the_name_of_a_family(family, distance):
    record = find_measure(f"{family}_{distance}")
    assert record is find_measure(f"{family}_{distance}") is find_registered_measure(record.name)
    assert (record.name, record.weighting) == (f"{family}_{distance}", WEIGHTINGS[distance])
    rule = Rule(record.name, effect="warn", tentative=0.5, reliable=0.6)
    policy = Policy("p", 1, (Rule("krippendorff_alpha"), rule))
    assert Policy.from_mapping(json.loads(json.dumps(policy.to_mapping()))) == policy


@pytest.mark.parametrize(
    "name", ["cohen_kappa_cosine", "krippendorff_alpha_linear", "_linear", "linear", "cohen_kappa_"]
)
def test_a_name_that_no_family_and_distance_make_is_refused(name):
    assert find_measure(name) is None
    with pytest.raises(PolicyError, match=f"measure: found '{name}'; expected one of the"):
        find_registered_measure(name)


@pytest.mark.parametrize(
    ("alias", "name"), [("conger_kappa", "shah_kappa_s"), ("brennan_prediger", "bennett_s")]
)
def test_another_name_of_a_measure_says_of_which_and_is_the_same_otherwise(alias, name):
    record = MEASURES[alias]
    assert (record.name, record.alias_of, record.computed_as) == (alias, name, name)
    assert MEASURES[name].computed_as == name
    assert replace(record, name=name, alias_of=None) == MEASURES[name]
