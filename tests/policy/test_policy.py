"""Policies as data: what is refused, in words and with its line."""

import pytest

from agreement_pipeline.errors import PolicyError
from agreement_pipeline.estimates import Scope
from agreement_pipeline.policy import BUNDLED, Policy, Rule, load_policy
from tests.policy.verdicts import found

MANY_MISTAKES = """policy: p
version: true
admit: [reliable, inconclusive]
rules:
  - measure: gwet_ac1
    min_items: 0
    scope: round
    tentative: yes
  - measure: gwet_ac2
    flor: 0.8
n_resample: 1000
"""


def test_a_policy_file_is_refused_with_every_mistake_and_its_line(tmp_path):
    path = tmp_path / "many.yaml"
    path.write_text(MANY_MISTAKES)
    with pytest.raises(PolicyError) as caught:
        load_policy(path)
    mistakes = str(caught.value).split(f"{path}:")[1:]
    assert [each.split(";")[0] for each in mistakes] == [
        "2: version: found True",
        "3: admit: found ['reliable', 'inconclusive']",
        "6: rules[0].min_items: found 0",
        "8: rules[0].tentative: found True",
        "9: rules[1].measure: found 'gwet_ac2'",
        "10: rules[1].flor: found an unknown key",
        "11: n_resample: found an unknown key",
    ]


def test_a_cutoff_out_of_bounds_is_named_with_its_own_line(tmp_path):
    path = tmp_path / "strict.yaml"
    rule = "  - measure: krippendorff_alpha\n    reliable: 1.1\n    tentative: 0.5\n"
    path.write_text(f"policy: p\nversion: 1\nrules:\n{rule}")
    with pytest.raises(
        PolicyError, match=r"strict.yaml:5: rules\[0\].reliable: found 1.1;"
    ) as said:
        load_policy(path)
    assert "strict.yaml:6: rules[0].tentative: found 0.5;" in str(said.value)


def test_too_few_resamples_are_named_with_their_line(tmp_path):
    path = tmp_path / "fine.yaml"
    rules = "rules: [{measure: krippendorff_alpha}]\n"
    path.write_text(f"policy: p\nversion: 1\n{rules}confidence_level: 0.9999\nn_resamples: 5000\n")
    with pytest.raises(PolicyError, match=r"fine.yaml:5: n_resamples: found 5000 with"):
        load_policy(path)


def test_whole_numbers_stay_whole_in_the_canonical_form():
    rule = {"measure": "krippendorff_alpha", "reliable": 1, "tentative": 1}
    (made,) = Policy.from_mapping({**GOOD, "rules": [rule]}).to_mapping()["rules"]
    assert (type(made["reliable"]), type(made["tentative"])) == (int, int)


GOOD = {"policy": "p", "version": 1, "rules": [{"measure": "krippendorff_alpha"}]}


@pytest.mark.parametrize(
    ("changes", "words"),
    [
        (
            {"rules": []},
            "rules: found no rule that can hold a release; "
            "expected at least one, or everything would be admitted",
        ),
        (
            {"rules": [{"measure": "gwet_ac1", "effect": "warn"}]},
            "rules: found no rule that can hold a release",
        ),
        ({"rules": "krippendorff_alpha"}, "rules: found 'krippendorff_alpha'; expected a list"),
        (
            {"rules": ["krippendorff_alpha"]},
            r"rules\[0\]: found 'krippendorff_alpha'; expected a mapping of keys and values",
        ),
        ({"rules": [{"scope": "round"}]}, r"rules\[0\].measure: found nothing; expected a value"),
        (
            {"rules": GOOD["rules"] * 2},
            r"rules: found two rules \['krippendorff_alpha_of_round'\]; expected one rule",
        ),
        ({"admit": []}, r"admit: found \[\]; expected \[reliable\] or \[reliable, tentative\]"),
        (
            {"admit": ["tentative"]},
            r"admit: found \['tentative'\]; expected \[reliable\] or \[reliable, tentative\]",
        ),
        ({"admit": ["reliable", "inconclusive"]}, "Nothing else may be admitted"),
        ({"admit": [["reliable"]]}, r"admit\[0\]: found \['reliable'\]; expected 'reliable', "),
        ({"admit": "reliable"}, "admit: found 'reliable'; expected a list"),
        (
            {"confidence_level": 0.5},
            "confidence_level: found 0.5; expected 0.8 or more, and under 1",
        ),
        ({"confidence_level": 1}, "confidence_level: found 1; expected 0.8 or more"),
        (
            {"n_resamples": 10},
            "n_resamples: found 10; expected a whole number from 1000 to 1000000",
        ),
        ({"n_resamples": 1e4}, "n_resamples: found 10000.0; expected a whole number"),
        (
            {"interval_method": "bootstrap"},
            "interval_method: found 'bootstrap'; expected smoothed_bayesian_bootstrap or ",
        ),
        ({"interval_method": ["jackknife_t"]}, "interval_method: found .*; expected smoothed"),
        (
            {"interval_method": "item_bootstrap"},
            "interval_method: found 'item_bootstrap'; "
            "expected smoothed_bayesian_bootstrap or tail_adaptive_bootstrap or "
            "two_way_jackknife_log",
        ),
        ({"version": "1"}, "version: found '1'; expected a whole number"),
        ({"policy": 3}, "policy: found 3; expected text"),
        ({"policy": " "}, "policy: found ' '; expected text. Name the policy."),
        ({"description": {"why": "risk"}}, "description: found {'why': 'risk'}; expected text"),
        ({"polcy": "p"}, "polcy: found an unknown key; .* Did you mean 'policy'?"),
    ],
)
def test_an_impossible_policy_is_refused_in_words(changes, words):
    with pytest.raises(PolicyError, match=words):
        Policy.from_mapping({**GOOD, **changes})


@pytest.mark.parametrize("key", ["policy", "version", "rules"])
def test_a_policy_without_a_needed_key_is_refused(key):
    with pytest.raises(
        PolicyError, match=f"^policy: {key}: found nothing; expected a value. Add the key {key}"
    ):
        Policy.from_mapping({name: value for name, value in GOOD.items() if name != key})


@pytest.mark.parametrize("data", [None, [], "policy"])
def test_what_is_no_mapping_is_no_policy(data):
    with pytest.raises(
        PolicyError, match=r"^policy: found .*; expected a mapping of keys and values"
    ):
        Policy.from_mapping(data)


def full():
    rules = [
        {"measure": "krippendorff_alpha", "min_items": 50},
        {"measure": "gwet_ac1", "scope": "pair", "effect": "warn", "reliable": 0.9},
    ]
    return {
        "policy": "p",
        "version": 3,
        "rules": rules,
        "admit": ["reliable", "tentative"],
        "confidence_level": 0.9,
        "description": "why",
    }


def test_plain_data_make_the_same_policy_again():
    policy = Policy.from_mapping(full())
    again = Policy.from_mapping(policy.to_mapping())
    assert (again, again.digest) == (policy, policy.digest)
    assert policy.measures == ("gwet_ac1", "krippendorff_alpha")


def test_a_bundled_policy_has_a_new_version_where_its_rules_change():
    """A new key has its default in `USUAL_VALUES`: policies without it keep their digest."""
    policies = {name: load_policy(name) for name in BUNDLED}
    assert {name: (each.version, each.digest[:12]) for name, each in policies.items()} == {
        "classifier-standard": (1, "8cdd140b3a9f"),
        "exploratory": (2, "525b1e5c7ec4"),
        "replicated": (2, "2d87733a51de"),
        "silver-standard": (1, "b11d2bf99c53"),
        "standard": (2, "d6ddef587f92"),
    }


def test_the_digest_is_of_all_that_decides_and_not_of_the_description():
    policy = Policy.from_mapping(full())
    assert Policy.from_mapping({**full(), "description": "other words"}).digest == policy.digest
    changed = [
        {"version": 4},
        {"policy": "q"},
        {"admit": ["reliable"]},
        {"confidence_level": 0.95},
        {"n_resamples": 20_000},
        {"interval_method": "two_way_jackknife_log"},
        {"rules": full()["rules"][:1]},
    ]
    assert (
        len(
            {
                policy.digest,
                *(Policy.from_mapping({**full(), **change}).digest for change in changed),
            }
        )
        == 8
    )


def test_a_policy_gives_the_verdicts_of_all_its_rules():
    policy = Policy.from_mapping(full())
    pair = found(0.95, 1.0, measure="gwet_ac1", scope=Scope("pair", "ana and ben"))
    assert [(v.rule.measure, v.kind) for v in policy.judge([found(0.7, 0.9), pair])] == [
        ("krippendorff_alpha", "tentative"),
        ("gwet_ac1", "reliable"),
    ]


@pytest.mark.parametrize(("level", "draws"), [(0.99, 1_999), (0.9999, 199_999)])
def test_limits_further_out_than_the_draws_can_tell_are_refused(level, draws):
    rules = (Rule("krippendorff_alpha"),)
    with pytest.raises(
        PolicyError,
        match=rf"n_resamples: found {draws} with confidence_level {level}; "
        rf"expected {draws + 1} or more",
    ):
        Policy("strict", 1, rules, confidence_level=level, n_resamples=draws)
    assert Policy(
        "strict", 1, rules, confidence_level=level, n_resamples=draws + 1
    ).inference.tail == pytest.approx((1 - level) / 2)


def test_a_policy_with_the_name_and_version_of_a_bundled_one_decides_as_it_does(tmp_path):
    """Pages name a policy by these two."""
    own, text = tmp_path / "own.yaml", BUNDLED["standard"].read_text()
    own.write_text(text)
    assert load_policy(own) == load_policy("standard")
    lower = text.replace("reliable: 0.8", "reliable: 0.7")
    own.write_text(lower)
    with pytest.raises(PolicyError) as caught:
        load_policy(own)
    assert str(caught.value) == (
        f"{own}:1: found 'standard', version 2, which decides otherwise than the bundled policy "
        "of that name; expected a name of its own, since pages name a policy. Rename it."
    )
    for old, new in (("policy: standard", "policy: ours"), ("version: 2", "version: 3")):
        own.write_text(lower.replace(old, new))
        assert load_policy(own).rules[0].reliable == 0.7


def test_a_misspelt_name_is_answered_with_the_bundled_policies():
    with pytest.raises(PolicyError) as caught:
        load_policy("standrad")
    assert str(caught.value) == (
        "standrad: found no such file, and no bundled policy of that name; expected a YAML file, "
        "or one of classifier-standard, exploratory, replicated, silver-standard, standard. "
        "Did you mean 'standard'?"
    )
