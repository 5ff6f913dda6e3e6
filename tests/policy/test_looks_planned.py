"""Plans for a policy that names its looks, and for one that does not."""

import json
import re

import pytest

from agreement_pipeline.cli import main
from agreement_pipeline.errors import PolicyError
from agreement_pipeline.intervals import Looks
from agreement_pipeline.policy import Policy, Rule, plan
from agreement_pipeline.policy.planning import build_assumed_population, plan_measure
from tests.policy.guessed_items import ALPHA


def test_a_plan_of_looks_says_by_which_look_enough_rounds_decide(tmp_path, capsys):
    """By the last look, no more rounds decide than on one judgement of a round of that size."""
    path = tmp_path / "looks.yaml"
    path.write_text(
        "policy: p\nversion: 1\nlooks: {at: [100, 200, 400], spending: pocock}\n"
        "rules:\n  - {measure: krippendorff_alpha}\n"
    )
    command = ["plan", "--policy", str(path), "--rounds", "100", "--format", "json"]
    assert main([*command, "--expected", "0.92"]) == 0
    found, said = capsys.readouterr()
    (found,) = json.loads(found)
    assert [n for n, _ in found["curve"]] == [100, 200, 400]
    shares = [share for _, share in found["curve"]]
    assert shares == sorted(shares)
    assert 0 < shares[0] < 0.9 <= found["decided"]
    assert found["n_items"] in (200, 400)
    assert said == ""
    population = build_assumed_population(ALPHA, 0.92, (0.5, 0.5), 3)
    judged = plan_measure(ALPHA, population, reliable=0.8, probability=0.9, n_rounds=100)
    assert found["n_items"] > judged.n_items
    assert main([*command, "--expected", "0.82"]) == 0
    (none,) = json.loads(capsys.readouterr().out)
    assert none["n_items"] is None
    assert re.fullmatch(r"by the last look, at 400, [0-9.]+% decide", none["impossible"])


def test_a_plan_for_one_look_says_what_a_second_would_cost(tmp_path, capsys):
    policy = tmp_path / "once.yaml"
    policy.write_text("policy: p\nversion: 1\nrules:\n  - {measure: krippendorff_alpha}\n")
    assert main(["plan", "--policy", str(policy), "--expected", "0.97", "--rounds", "100"]) == 0
    assert capsys.readouterr().err == (
        "Each plan is for a round that is judged once. A second look at the same round after more "
        "items raises the risk of a wrong admission from 2.5% to as much as 6.2%. Name the sizes "
        "as looks in the policy, set always_valid_at, or judge a fresh round.\n"
    )


def test_a_plan_of_looks_for_replicates_is_refused():
    looks = Policy(
        "p",
        1,
        (Rule("self_agreement_unbiased"),),
        looks=Looks((100, 200), "pocock"),
        passed_by_guessing="The test asks about one measure alone.",
    )
    with pytest.raises(PolicyError, match="found looks at 100 and 200"):
        plan(looks, expected=0.9, n_rounds=10)
