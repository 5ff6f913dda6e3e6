"""Ratings that were delivered twice: what a decision says of them, and what it holds."""

import json
import random

import pandas as pd
import pytest

from agreement_pipeline.cli import main
from agreement_pipeline.policy import judge, load_policy
from agreement_pipeline.readers import Rules, read


def table(n_same=15, n_items=200, occurrences=False):
    """Raters who agree well, and rows that are there twice."""
    rng = random.Random(5)
    rows = []
    for item in range(n_items):
        right = rng.choice("ab")
        for rater in ("ana", "ben", "chi"):
            label = right if rng.random() < 0.98 else "ab"["ba".index(right)]
            rows.append((f"i{item:03}", rater, label, 1))
            if occurrences and item < 40:
                rows.append((f"i{item:03}", rater, label, 2))
    rows += rows[-n_same:] if n_same else []
    return pd.DataFrame(rows, columns=["item", "rater", "label", "occurrence"])


def checks_of(decision):
    return {each.check for each in decision.findings if each.table == "gate"}


@pytest.mark.parametrize("policy", ["standard", "exploratory"])
def test_same_label_twice_is_told(policy):
    plain = table().drop(columns="occurrence")
    decision = judge(read(plain), load_policy(policy))
    assert decision.admitted
    (told,) = [each for each in decision.findings if each.check == "duplicates"]
    assert told.description.startswith("15 ratings had the item, rater and label of another one")
    without = judge(read(plain.drop_duplicates()), load_policy(policy))
    assert "duplicates" not in checks_of(without)
    assert [each.to_mapping() for each in without.verdicts] == [
        each.to_mapping() for each in decision.verdicts
    ]


def test_rule_on_self_agreement_holds_until_it_is_stated():
    policy = load_policy("replicated")
    plain = table().drop(columns="occurrence")
    held = judge(read(plain), policy)
    assert "duplicates_not_declared" in held.codes
    for which in ("first", "last"):
        declared = judge(read(plain, rules=Rules(duplicates=which)), policy)
        assert "duplicates_not_declared" not in declared.codes
        assert "duplicates_left_out" in checks_of(declared)
    numbered = judge(read(table(occurrences=True)), policy)
    assert "duplicates_not_declared" not in numbered.codes
    assert "duplicates" in checks_of(numbered)
    assert "duplicates_not_declared" not in judge(read(plain.drop_duplicates()), policy).codes


def test_terminal_and_json_tell_the_same(tmp_path, capsys):
    path = tmp_path / "twice.csv"
    table().drop(columns="occurrence").to_csv(path, index=False)
    assert main(["judge", str(path), "--policy", "standard"]) == 0
    words = "15 ratings had the item, rater and label of another one"
    assert f"warning: {words}" in capsys.readouterr().out
    assert main(["judge", str(path), "--policy", "standard", "--format", "json"]) == 0
    findings = json.loads(capsys.readouterr().out)["findings"]
    assert any(words in each["description"] for each in findings)
