"""The plan of a policy on the command line."""

import json
import re

import numpy as np
import pytest

from agreement_pipeline import Scale
from agreement_pipeline.cli import main
from agreement_pipeline.estimates import estimate
from agreement_pipeline.evidence import plan_rows
from agreement_pipeline.intervals import Inference
from agreement_pipeline.policy.planning import plan_measure
from agreement_pipeline.statistics import CategoryCounts
from tests.policy.guessed_items import ALPHA

pytestmark = pytest.mark.slow


@pytest.fixture
def policy(tmp_path):
    path = tmp_path / "policy.yaml"
    path.write_text(
        "policy: p\nversion: 1\nrules:\n  - {measure: krippendorff_alpha, min_items: 20}\n"
        "  - {measure: gwet_ac1, effect: warn, tentative: 0.5}\n"
    )
    return path


def test_the_command_line_plans_from_expectations_and_draws_the_curves(tmp_path, policy, capsys):
    options = ("--rounds", "100", "--labels-an-item", "2", "--labels-an-item", "4")
    command = ["plan", "--policy", str(policy), *options, "--expected"]
    assert main([*command, "0.95", "--format", "json", "--plot", str(tmp_path / "plan.svg")]) == 0
    two, four = json.loads(capsys.readouterr().out)
    assert (two["measure"], two["labels_an_item"], four["labels_an_item"]) == (ALPHA, 2, 4)
    assert isinstance(two["labels_an_item"], int)
    assert two["n_items"] > four["n_items"]
    assert (tmp_path / "plan.svg").read_text().startswith("<svg ")
    assert main([*command, "0.99"]) == 0
    head, _, *rows = capsys.readouterr().out.splitlines()
    named = "measure  expected  cut-off  labels an item  at least  items  labels  decides  note"
    assert head.split() == named.split()
    assert [row.split()[3] for row in rows] == ["2", "4"]


@pytest.mark.parametrize("labels", ["-1", "0", "1", "2.5", "nan"])
def test_a_plan_needs_two_labels_an_item(policy, capsys, labels):
    assert main(["plan", "--policy", str(policy), "--labels-an-item", labels]) == 2
    assert f"found {labels}; expected a whole number from 2, since" in capsys.readouterr().err


def test_no_empty_file_is_left_where_nothing_can_be_drawn(tmp_path, policy, capsys):
    assert (
        main(
            [
                "plan",
                "--policy",
                str(policy),
                "--expected",
                "0.6",
                "--rounds",
                "100",
                "--plot",
                str(tmp_path / "plan.svg"),
            ]
        )
        == 0
    )
    said = capsys.readouterr()
    assert "none would do" in said.out
    assert "plan.svg: not written, since no rounds were simulated" in said.err
    assert not (tmp_path / "plan.svg").exists()


def test_the_command_line_plans_from_an_earlier_round(tmp_path, policy, capsys):
    table = tmp_path / "round.csv"
    table.write_text(
        "item,rater,label\n"
        + "".join(f"{i},{rater},{'yn'[i % 2]}\n" for i in range(40) for rater in "abc")
    )
    command = ["plan", str(table), "--policy", str(policy), "--rounds", "100"]
    assert main([*command, "--format", "json"]) == 0
    (found,) = json.loads(capsys.readouterr().out)
    assert found["expected"] == 1.0
    few, many = found["between"]
    assert 20 <= few < found["n_items"] < many < 700
    assert main(command) == 0
    assert f"{few} to {many} items may be needed" in capsys.readouterr().out


def test_how_many_items_are_needed_is_not_known_from_too_small_a_round(tmp_path, policy, capsys):
    table = tmp_path / "round.csv"
    table.write_text("item,rater,label\n1,a,y\n1,b,y\n2,a,n\n2,b,n\n")
    assert main(["plan", str(table), "--policy", str(policy), "--rounds", "100"]) == 0
    said = capsys.readouterr().out
    assert "too small to plan from" in said
    assert " not known " in said
    assert "none would do" not in said


@pytest.mark.parametrize(
    "option", [["--expected", "0.9"], ["--prevalence", "0.9,0.1"], ["--labels-an-item", "5"]]
)
def test_what_is_expected_without_a_table_is_refused_beside_one(tmp_path, policy, capsys, option):
    table = tmp_path / "round.csv"
    table.write_text("item,rater,label\n1,a,y\n1,b,y\n2,a,n\n2,b,n\n")
    assert main(["plan", str(table), "--policy", str(policy), *option]) == 2
    assert (
        f"found a table with ['{option[0]}']; expected a table, or what to assume without one."
        in capsys.readouterr().err
    )


@pytest.mark.parametrize(
    "option",
    [
        ["--level", "ordinal"],
        ["--categories", "a,b,c"],
        ["--cluster", "doc"],
        ["--classifier", "m"],
        ["--limit", "rows=9"],
    ],
)
def test_what_reads_a_table_is_refused_where_there_is_none(policy, capsys, option):
    assert main(["plan", "--policy", str(policy), "--expected", "0.9", *option]) == 2
    assert (
        f"plan without a table: found ['{option[0]}']; expected a table to read with it,"
        in capsys.readouterr().err
    )


@pytest.mark.parametrize("value", ["85", "nan", "0,85", "inf"])
def test_a_value_that_no_agreement_has_is_not_planned_for(policy, capsys, value):
    assert main(["plan", "--policy", str(policy), "--expected", value]) == 2
    said = capsys.readouterr().err
    assert re.match(rf"error: --expected: found '?{value}'?; expected a", said)


@pytest.mark.parametrize("name", ["plan.png", "plan", "missing/plan.svg"])
def test_curves_are_drawn_as_svg_into_a_folder_that_is_there(tmp_path, policy, capsys, name):
    assert main(["plan", "--policy", str(policy), "--plot", str(tmp_path / name)]) == 2
    assert (
        f"{name}; expected a name ending in .svg, in an existing folder." in capsys.readouterr().err
    )


def test_a_plan_from_a_round_without_a_value_is_refused(tmp_path, policy, capsys):
    table = tmp_path / "round.csv"
    table.write_text("item,rater,label\n1,a,y\n1,b,y\n2,a,y\n2,b,y\n3,a,n\n")
    assert main(["plan", str(table), "--policy", str(policy)]) == 2
    assert (
        "found no value of krippendorff_alpha; expected one to plan from" in capsys.readouterr().err
    )


REPLICATES = "item,rater,label,occurrence\n" + "".join(
    f"{i},{rater},{'yn'[i % 2]},{meeting}\n"
    for i in range(10)
    for rater in "abc"
    for meeting in range(1, 1 + (1 if rater == "c" else 2))
)


@pytest.mark.parametrize(
    ("rule", "words"),
    [
        (
            "{measure: krippendorff_alpha, min_raters: 4}",
            "krippendorff_alpha: found 3 raters; expected 4, as the rule asks",
        ),
        (
            "{measure: self_agreement_unbiased, every_rater: true}",
            "found nothing to read of raters ['c']; expected every rater, as the rule asks",
        ),
    ],
)
def test_a_plan_from_a_round_whose_raters_the_rule_does_not_read_is_refused(
    tmp_path, capsys, rule, words
):
    policy, table = tmp_path / "policy.yaml", tmp_path / "round.csv"
    said = "passed_by_guessing: nobody trains on it"
    policy.write_text(f"policy: p\nversion: 1\n{said}\nrules:\n  - {rule}\n")
    table.write_text(REPLICATES)
    assert main(["plan", str(table), "--policy", str(policy), "--occurrence", "occurrence"]) == 2
    assert words in capsys.readouterr().err


def test_the_command_line_plans_at_the_policys_own_level(tmp_path, capsys):
    command = ["plan", "--expected", "0.97", "--rounds", "100", "--format", "json", "--policy"]
    plain, both, by_rater = (
        tmp_path / name for name in ("plain.yaml", "both.yaml", "by_rater.yaml")
    )
    head = "policy: p\nversion: 1\nconfidence_level: 0.8\nn_resamples: 6000\n"
    plain.write_text(f"{head}rules:\n  - {{measure: krippendorff_alpha}}\n")
    both.write_text(
        f"{head}familywise: holm\nalways_valid_at: 100\nrules:\n"
        "  - {measure: krippendorff_alpha}\n  - {measure: gwet_ac1}\n"
    )
    by_rater.write_text(
        f"{head}familywise: holm\nrules:\n"
        "  - {measure: krippendorff_alpha}\n  - {measure: self_agreement, scope: rater}\n"
    )
    found = {}
    for path in (plain, both):
        assert main([*command, str(path)]) == 0
        found[path.stem] = json.loads(capsys.readouterr().out)[0]["n_items"]
    assert found["both"] > found["plain"]
    assert main([*command, str(by_rater)]) == 2
    assert (
        "the number of verdicts that hold together is unknown otherwise" in capsys.readouterr().err
    )


def test_a_policy_for_raters_at_large_is_not_planned_for_in_items(tmp_path, capsys):
    path = tmp_path / "at_large.yaml"
    path.write_text(
        "policy: p\nversion: 1\ninterval_method: two_way_jackknife_log\n"
        "rules:\n  - {measure: krippendorff_alpha}\n"
    )
    assert main(["plan", "--expected", "0.95", "--rounds", "100", "--policy", str(path)]) == 2
    assert "expected a method for these raters" in capsys.readouterr().err


def test_a_policy_whose_rules_hold_nothing_of_the_round_is_not_planned_for(tmp_path, capsys):
    path = tmp_path / "pairs.yaml"
    rule = "{measure: cohen_kappa, scope: pair}"
    guess = "passed_by_guessing: One rule by pairs is what this test is about.\n"
    path.write_text(f"policy: p\nversion: 1\n{guess}rules:\n  - {rule}\n")
    assert main(["plan", "--policy", str(path), "--expected", "0.9"]) == 2
    assert "found no rule of the round that can hold a release" in capsys.readouterr().err


def test_of_a_measure_of_every_category_the_lowest_is_planned_for(tmp_path, capsys):
    """Of 40 pairs of ratings 22 are of yes twice and 12 of no twice.

    Raters agree on no in 2 x 12 of 30 ratings and on yes in 2 x 22 of 50. Nobody gives maybe.
    """
    counts = CategoryCounts(
        [[0, 2, 0], [2, 0, 0], [1, 1, 0]],
        [22, 12, 6],
        scale=Scale(("no", "yes", "maybe"), declared=False),
    )
    settings = {"probability": 0.8, "n_rounds": 100}
    found = plan_measure("specific_agreement", counts, reliable=0.7, **settings)
    assert found.expected == pytest.approx(24 / 30)
    rare = CategoryCounts([[0, 2], [2, 0], [1, 1]], [22, 12, 6], scale=Scale(("no", "yes")))
    rounds = (
        np.random.default_rng(2)
        .multinomial(found.n_items, rare.weights / 40, size=300)
        .astype(float)
    )
    limits = [
        estimate(
            "specific_agreement", rare.with_weights(each), Inference(n_resamples=400, seed=seed)
        ).interval.low
        for seed, each in enumerate(rounds)
    ]
    assert np.mean(np.array(limits) >= 0.7) == pytest.approx(0.8, abs=0.1)
    path = tmp_path / "policy.yaml"
    path.write_text("policy: p\nversion: 1\nrules:\n  - {measure: specific_agreement}\n")
    assert (
        main(
            [
                "plan",
                "--expected",
                "0.9",
                "--prevalence",
                "0.7,0.3",
                "--rounds",
                "100",
                "--format",
                "json",
                "--policy",
                str(path),
            ]
        )
        == 0
    )
    (told,) = json.loads(capsys.readouterr().out)
    assert told["expected"] == pytest.approx(0.9)
    assert told["n_items"] > 0


def test_the_command_line_draws_as_many_as_the_policys_level_asks_for(tmp_path, capsys):
    path = tmp_path / "sure.yaml"
    path.write_text(
        "policy: p\nversion: 1\nconfidence_level: 0.99\nrules:\n  - {measure: krippendorff_alpha}\n"
    )
    assert (
        main(
            [
                "plan",
                "--expected",
                "0.97",
                "--rounds",
                "100",
                "--format",
                "json",
                "--policy",
                str(path),
            ]
        )
        == 0
    )
    assert json.loads(capsys.readouterr().out)[0]["n_items"] < 1000


def test_labels_are_counted_as_many_an_item_as_there_are_in_the_mean(tmp_path, policy, capsys):
    """399 items of 3 ratings and one of 6 are 1,203 ratings, 3.0075 an item.

    9 items of 3 ratings and one of 2 are 2.9 an item.
    """
    few, many = (
        CategoryCounts([[3, 0], [0, 3], last], weights, scale=Scale(("n", "y")))
        for last, weights in (([2, 0], [5, 4, 1]), ([6, 0], [200, 199, 1]))
    )
    found = [
        plan_measure(ALPHA, each, reliable=0.8, probability=0.8, min_items=425, n_rounds=50)
        for each in (few, many)
    ]
    assert [(each.labels_an_item, each.n_items, each.n_ratings) for each in found] == [
        (2.9, 425, 1233),
        (3.0075, 425, 1279),
    ]
    assert [row["labels an item"] for row in plan_rows(found)] == ["2.9", "3"]
    table = tmp_path / "round.csv"
    table.write_text(
        "item,rater,label\n"
        + "".join(
            f"{i},{rater},{'yn'[i % 2]}\n"
            for i in range(40)
            for rater in ("ab" if i % 10 == 0 else "abc")
        )
    )
    assert (
        main(["plan", str(table), "--policy", str(policy), "--rounds", "100", "--format", "json"])
        == 0
    )
    (told,) = json.loads(capsys.readouterr().out)
    assert told["labels_an_item"] == 2.9
    assert told["n_ratings"] == -(-told["n_items"] * 29 // 10)


def documents(tmp_path, n_documents):
    """Two raters, and four items in each document. They differ on one item of each tenth document.

    A document has one label, so its items tell little more than one of them.
    """
    path = tmp_path / "documents.csv"
    rows = []
    for doc in range(n_documents):
        label = "yn"[doc % 2]
        other = "ny"[doc % 2] if doc % 10 == 0 else label
        for item in range(4):
            last = other if item == 0 else label
            rows += [f"{doc}-{item},a,{label},{doc}", f"{doc}-{item},b,{last},{doc}"]
    path.write_text("item,rater,label,doc\n" + "\n".join(rows) + "\n")
    return str(path)


@pytest.mark.parametrize("looks", [False, True], ids=["one look", "looks"])
def test_a_plan_from_clusters_tells_their_number_beside_the_items(
    tmp_path, policy, capsys, monkeypatch, looks
):
    """`judge` counts clusters, and here each has four items of two labels. Looks count them too."""
    monkeypatch.setattr("agreement_pipeline.policy.planning.find_min_items", lambda *_: 9)
    if looks:
        policy.write_text(policy.read_text() + "looks: {at: [40, 80], spending: pocock}\n")
    asked = ["plan", documents(tmp_path, 80), "--policy", str(policy), "--rounds", "100"]
    assert main([*asked, "--cluster", "doc", "--format", "json"]) == 0
    told = json.loads(capsys.readouterr().out)[0]
    assert told["n_items"] / 4 == pytest.approx(told["n_clusters"], abs=0.5)
    assert told["n_ratings"] == 2 * told["n_items"]
    assert told["least"] == 36
    if looks:
        assert told["n_clusters"] in (40, 80)
        assert [n for n, _ in told["curve"]] == [160, 320]
    assert main([*asked, "--cluster", "doc"]) == 0
    row = capsys.readouterr().out.splitlines()[2]
    assert f" 36 in 9 clusters  {told['n_items']} in {told['n_clusters']} clusters  " in row
    assert main([*asked, "--format", "json"]) == 0
    assert json.loads(capsys.readouterr().out)[0]["n_clusters"] is None


def test_a_last_look_that_is_not_enough_is_told_in_clusters(tmp_path, policy, capsys):
    policy.write_text(policy.read_text() + "looks: {at: [20, 24], spending: pocock}\n")
    asked = ["plan", documents(tmp_path, 80), "--policy", str(policy), "--rounds", "100"]
    main([*asked, "--cluster", "doc", "--format", "json"])
    why = json.loads(capsys.readouterr().out)[0]["impossible"]
    assert why.startswith("by the last look, at 24 clusters, ")
