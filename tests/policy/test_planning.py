"""A planned round decides as often as promised, on rounds that another simulation makes."""

import json
import re
from dataclasses import replace
from statistics import NormalDist

import numpy as np
import pytest
from scipy import stats

from agreement_pipeline import Scale
from agreement_pipeline.cli import main
from agreement_pipeline.errors import PolicyError
from agreement_pipeline.estimates import estimate
from agreement_pipeline.intervals import Inference
from agreement_pipeline.measures import MEASURES
from agreement_pipeline.policy import assumed, items_needed, plan_measure
from agreement_pipeline.policy.items_needed import simulated_rounds
from agreement_pipeline.report import plan_rows
from agreement_pipeline.statistics import CategoryCounts, LabelsByRater, ReplicatedLabels

ALPHA = "krippendorff_alpha"
MANY = 10**6


def rounds_of_clear_and_guessed_items(rng, clear, prevalence, n_raters, n_items):
    """Counts by category. An item is clear to all raters with that probability, or each guesses."""
    truth = rng.choice(len(prevalence), p=prevalence, size=(n_items, 1))
    guesses = rng.choice(len(prevalence), p=prevalence, size=(n_items, n_raters))
    codes = np.where(rng.random((n_items, 1)) < clear, truth, guesses)
    rows, times = np.unique(
        (codes[:, :, None] == np.arange(len(prevalence))).sum(1), axis=0, return_counts=True
    )
    return CategoryCounts(
        rows, times, scale=Scale(tuple("abcdefgh"[: len(prevalence)])), n_raters=n_raters
    )


@pytest.mark.slow
@pytest.mark.parametrize("prevalence", [(0.5, 0.5), (0.8, 0.2), (0.95, 0.05)])
def test_a_planned_round_decides_as_often_as_promised(prevalence):
    found = plan_measure(ALPHA, assumed(ALPHA, 0.85, prevalence, 3), reliable=0.8, probability=0.9)
    rng = np.random.default_rng(20261121)
    rounds = [
        rounds_of_clear_and_guessed_items(rng, 0.85, prevalence, 3, found.n_items)
        for _ in range(2_000)
    ]
    limits = [
        estimate(ALPHA, each, Inference(n_resamples=1_000, seed=number)).interval.low
        for number, each in enumerate(rounds)
    ]
    assert np.mean(np.array(limits) >= 0.8) == pytest.approx(found.decided, abs=0.02)
    assert found.decided == pytest.approx(0.9, abs=0.015)


@pytest.mark.parametrize("prevalence", [(0.5, 0.5), (0.7, 0.2, 0.1)])
@pytest.mark.parametrize(
    "measure",
    [
        ALPHA,
        "fleiss_kappa",
        "shah_kappa_s",
        "gwet_ac1",
        "self_agreement_unbiased",
        "percent_agreement",
    ],
)
def test_the_assumed_population_has_the_expected_value(measure, prevalence):
    population = assumed(measure, 0.9, prevalence, 3)
    shares = population.weights / population.weights.sum()
    assert shares.sum() == pytest.approx(1)
    assert float(MEASURES[measure](population.reweighted(shares * MANY)).value) == pytest.approx(
        0.9, abs=1e-5
    )


def test_under_the_assumption_alpha_is_the_share_of_clear_items():
    counts = rounds_of_clear_and_guessed_items(
        np.random.default_rng(1), 0.8, (0.6, 0.4), 3, 400_000
    )
    assert float(MEASURES[ALPHA](counts).value) == pytest.approx(0.8, abs=0.005)
    population = assumed(ALPHA, 0.8, (0.6, 0.4), 3)
    shares = {
        tuple(row): weight
        for row, weight in zip(
            population.counts.astype(int).tolist(), population.weights, strict=True
        )
    }
    assert shares[(3, 0)] == pytest.approx(0.8 * 0.6 + 0.2 * 0.6**3, abs=1e-6)
    assert shares[(2, 1)] == pytest.approx(0.2 * 3 * 0.6**2 * 0.4, abs=1e-6)


def test_more_items_decide_more_often_and_more_agreement_needs_fewer():
    good, better = (assumed(ALPHA, expected, (0.5, 0.5), 3) for expected in (0.86, 0.92))
    found = plan_measure(ALPHA, good, reliable=0.8, probability=0.8, n_rounds=200)
    assert (
        found.n_items
        > plan_measure(ALPHA, better, reliable=0.8, probability=0.8, n_rounds=200).n_items
    )
    numbers, shares = zip(*found.curve, strict=True)
    assert numbers == tuple(sorted(numbers))
    assert shares[0] < 0.1
    assert shares[-1] >= 0.8
    assert found.n_ratings == 3 * found.n_items


def test_chance_hardly_moves_a_plan(monkeypatch):
    """Of rounds of n items the share Φ(0.11 √n - 2) decides. Only 2,000 rounds are seen.

    For 0.9, 890 items are enough, whatever is seen.
    """
    rng = np.random.default_rng(5)

    def seen(judging, population, n_items, n_rounds, seed):
        return rng.random(n_rounds) < NormalDist().cdf(0.11 * np.sqrt(n_items) - 2)

    monkeypatch.setattr(items_needed, "_estimates", seen)
    monkeypatch.setattr(items_needed, "_reaches", lambda decided, judging: decided)
    found = [
        plan_measure(ALPHA, assumed(ALPHA, 0.85, (0.5, 0.5), 3), reliable=0.8, probability=0.9)
        for _ in range(200)
    ]
    items = np.array([each.n_items for each in found])
    happened = np.array([min(n for n, share in each.curve if share >= 0.9) for each in found])
    assert items.mean() == pytest.approx(890, rel=0.005)
    assert items.std() < 0.015 * 890
    assert items.std() < 0.7 * happened.std()
    assert np.mean([each.decided for each in found]) == pytest.approx(0.9, abs=0.002)


@pytest.mark.parametrize("probability", [0, 1, 1.5, float("nan")])
def test_a_probability_that_no_round_can_reach_is_refused(probability):
    with pytest.raises(
        PolicyError, match=r"probability: found .*; expected more than 0 and less than 1"
    ):
        plan_measure(
            ALPHA, assumed(ALPHA, 0.9, (0.5, 0.5), 3), reliable=0.8, probability=probability
        )


def test_no_number_of_items_makes_agreement_out_of_disagreement():
    found = plan_measure(ALPHA, assumed(ALPHA, 0.78, (0.5, 0.5), 2), reliable=0.8, probability=0.9)
    assert (found.n_items, found.n_ratings, found.decided) == (None, None, None)
    assert "more items would only make that surer" in found.impossible


def test_a_rule_that_asks_for_items_gets_them():
    unanimous = CategoryCounts([[3, 0], [0, 3]], [5, 5], scale=Scale(("n", "y")))
    assert (
        plan_measure(
            ALPHA, unanimous, reliable=0.8, probability=0.9, min_items=100, n_rounds=100
        ).n_items
        == 100
    )


def test_a_round_decides_only_where_agreement_is_read_on_as_many_items_as_the_rule_asks_for():
    """Of unanimous items one in five has a second rating.

    Then 500 items give at least the 100 that are asked for in about half of the rounds.
    """
    lonely = CategoryCounts([[3, 0], [0, 3], [1, 0]], [1, 1, 8], scale=Scale(("n", "y")))
    found = plan_measure(ALPHA, lonely, reliable=0.8, probability=0.9, min_items=100, n_rounds=400)
    assert stats.binom.sf(99, found.n_items, 0.2) == pytest.approx(0.9, abs=0.05)
    assert found.decided == pytest.approx(stats.binom.sf(99, found.n_items, 0.2), abs=0.05)


def test_ten_unanimous_items_are_too_few_and_the_plan_says_how_many_would_do():
    unanimous = CategoryCounts([[3, 0], [0, 3]], [5, 5], scale=Scale(("n", "y")))
    assert estimate(ALPHA, unanimous).interval.low < 0.8
    found = plan_measure(ALPHA, unanimous, reliable=0.8, probability=0.9, n_rounds=500)
    assert 10 < found.n_items < 100
    rng = np.random.default_rng([99, found.n_items])
    limits = [
        estimate(ALPHA, each, Inference(n_resamples=1000, seed=number)).interval.low
        for number, each in enumerate(simulated_rounds(unanimous, found.n_items, 500, rng))
    ]
    assert np.mean(np.array(limits) >= 0.8) >= 0.85


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        ((ALPHA, 0.9, (0.5, 0.6), 3), "two shares or more"),
        ((ALPHA, 0.9, (1.0,), 3), "two shares or more"),
        ((ALPHA, -0.5, (0.5, 0.5), 3), "that raters who know or guess can have"),
        (("shah_s", 0.9, (0.5, 0.5), 3), "Plan from an earlier round"),
        (("shah_kappa_s", 0.9, tuple([0.1] * 10), 6), "Plan for fewer raters"),
        (("shah_kappa_s", 0.9, (0.5, 0.5), 1000), "Plan for fewer raters"),
        ((ALPHA, 0.9, tuple([0.01] * 100), 1000), "Plan for fewer raters"),
        ((ALPHA, 0.9, (0.5, 0.5), 1001), "labels an item: found 1001; expected 2 to 1000"),
        ((ALPHA, 0.9, (0.5, 0.5), 10**9), "expected 2 to 1000"),
    ],
)
def test_what_cannot_be_assumed_is_refused(arguments, words):
    with pytest.raises(PolicyError, match=words):
        assumed(*arguments)


def test_as_many_labels_an_item_as_may_be_have_the_value_expected():
    population = assumed(ALPHA, 0.9, (0.5, 0.5), 1000)
    assert MEASURES[ALPHA](population.reweighted(population.weights * 1e9)).value == pytest.approx(
        0.9, abs=1e-6
    )


@pytest.fixture
def policy(tmp_path):
    path = tmp_path / "policy.yaml"
    path.write_text(
        "policy: p\nversion: 1\nrules:\n  - {measure: krippendorff_alpha, min_items: 20}\n"
        "  - {measure: gwet_ac1, effect: warn, tentative: 0.5}\n"
    )
    return path


def test_the_command_line_plans_from_expectations_and_draws_the_curves(tmp_path, policy, capsys):
    command = [
        "plan",
        "--policy",
        str(policy),
        "--expected",
        "0.95",
        "--rounds",
        "100",
        "--labels-an-item",
        "2",
        "--labels-an-item",
        "4",
    ]
    assert main([*command, "--format", "json", "--plot", str(tmp_path / "plan.png")]) == 0
    two, four = json.loads(capsys.readouterr().out)
    assert (two["measure"], two["labels_an_item"], four["labels_an_item"]) == (ALPHA, 2, 4)
    assert isinstance(two["labels_an_item"], int)
    assert two["n_items"] > four["n_items"]
    assert (tmp_path / "plan.png").read_bytes().startswith(b"\x89PNG")
    assert main(command) == 0
    head, _, *rows = capsys.readouterr().out.splitlines()
    assert head.split() == [
        "measure",
        "expected",
        "cut-off",
        "labels",
        "an",
        "item",
        "items",
        "labels",
        "decides",
        "note",
    ]
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
                str(tmp_path / "plan.png"),
            ]
        )
        == 0
    )
    said = capsys.readouterr()
    assert "none would do" in said.out
    assert "plan.png: not written, since no rounds were simulated" in said.err
    assert not (tmp_path / "plan.png").exists()


def test_the_command_line_plans_from_an_earlier_round(tmp_path, policy, capsys):
    table = tmp_path / "round.csv"
    table.write_text(
        "item,rater,label\n"
        + "".join(f"{i},{rater},{'yn'[i % 2]}\n" for i in range(10) for rater in "abc")
    )
    assert (
        main(["plan", str(table), "--policy", str(policy), "--rounds", "100", "--format", "json"])
        == 0
    )
    (found,) = json.loads(capsys.readouterr().out)
    assert found["expected"] == 1.0
    assert 20 <= found["n_items"] < 100


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


@pytest.mark.parametrize("name", ["plan.svg", "plan", "missing/plan.png"])
def test_curves_are_drawn_as_png_into_a_folder_that_is_there(tmp_path, policy, capsys, name):
    assert main(["plan", "--policy", str(policy), "--plot", str(tmp_path / name)]) == 2
    assert (
        f"{name}; expected a name ending in .png, in an existing folder." in capsys.readouterr().err
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
    policy.write_text(f"policy: p\nversion: 1\nrules:\n  - {rule}\n")
    table.write_text(REPLICATES)
    assert main(["plan", str(table), "--policy", str(policy), "--occurrence", "occurrence"]) == 2
    assert words in capsys.readouterr().err


def test_a_plan_for_several_verdicts_together_or_many_looks_asks_for_more_items():
    population = assumed(ALPHA, 0.9, (0.5, 0.5), 3)
    settings = {"reliable": 0.8, "probability": 0.8, "n_rounds": 100}
    few = Inference(confidence_level=0.8, n_resamples=3000)
    once, together, always = (
        plan_measure(ALPHA, population, inference, **settings, n_together=n)
        for inference, n in ((few, 1), (few, 5), (replace(few, always_valid_at=100), 1))
    )
    assert once.n_items < together.n_items
    assert once.n_items < always.n_items


def test_a_plan_at_holms_first_level_is_that_of_the_level_itself():
    """Of five verdicts the first has to meet 0.02, the tail of a 96 % interval.

    One verdict alone has to meet 0.1.
    """
    population = assumed(ALPHA, 0.9, (0.5, 0.5), 3)
    settings = {"reliable": 0.8, "probability": 0.8, "n_rounds": 200}
    five = plan_measure(ALPHA, population, Inference(0.8, 1000), **settings, n_together=5)
    alone = plan_measure(ALPHA, population, Inference(0.96, 1000), **settings)
    shares, others = dict(five.curve), dict(alone.curve)
    both = sorted(n for n in shares.keys() & others.keys() if 0 < shares[n] < 1)
    assert len(both) >= 3
    assert [shares[n] for n in both] == pytest.approx(
        [others[n] for n in both], abs=0.025
    )  # a draw more or less may decide a round


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


def test_of_a_measure_of_every_category_the_lowest_is_planned_for(tmp_path, capsys):
    """Of 40 pairs of ratings 22 are of yes twice and 12 of no twice.

    Raters agree on no in 2 x 12 of 30 ratings and on yes in 2 x 22 of 50. Nobody gives maybe.
    """
    counts = CategoryCounts(
        [[0, 2, 0], [2, 0, 0], [1, 1, 0]], [22, 12, 6], scale=Scale(("no", "yes", "maybe"))
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
            "specific_agreement", rare.reweighted(each), Inference(n_resamples=400, seed=seed)
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


def test_a_population_in_which_a_measure_has_no_value_is_refused():
    lonely = CategoryCounts([[1, 0], [0, 1]], [5, 5], scale=Scale(("n", "y")))
    for measure in (ALPHA, "specific_agreement"):
        with pytest.raises(
            PolicyError,
            match=f"{measure}: found no value in the population; expected one to plan from",
        ):
            plan_measure(measure, lonely, reliable=0.8, probability=0.9)


@pytest.mark.parametrize(
    ("settings", "n_together", "found", "needed"),
    [
        (
            {},
            4,
            "found 1000 with confidence_level 0.95, 4 verdicts together",
            1600,
        ),  # ten beyond 0.025 / 4
        (
            {"always_valid_at": 200},
            1,
            "found 1000 with confidence_level 0.95, always_valid_at",
            17398,
        ),
        (
            {"always_valid_at": 200, "n_resamples": 18_000},
            4,
            "found 18000 with confidence_level 0.95, 4 verdicts together, always_valid_at",
            None,
        ),
        ({"confidence_level": 0.99}, 1, "found 1000 with confidence_level 0.99", 2000),
    ],
)
def test_draws_that_cannot_tell_the_level_are_refused(settings, n_together, found, needed):
    with pytest.raises(
        PolicyError,
        match=f"n_resamples: {found}; expected {needed or '[0-9]+'} or more, "
        "so that ten resamples lie beyond each limit",
    ):
        plan_measure(
            ALPHA,
            assumed(ALPHA, 0.95, (0.5, 0.5), 3),
            Inference(**{"n_resamples": 1000} | settings),
            reliable=0.8,
            probability=0.9,
            n_together=n_together,
        )


def test_as_few_draws_as_are_required_find_a_number_of_items():
    population = assumed(ALPHA, 0.95, (0.5, 0.5), 3)
    assert (
        plan_measure(
            ALPHA,
            population,
            Inference(n_resamples=1600),
            reliable=0.8,
            probability=0.8,
            n_rounds=50,
            n_together=4,
        ).n_items
        < 1000
    )


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
    assert list(plan_rows(found)["labels an item"]) == ["2.9", "3"]
    table = tmp_path / "round.csv"
    table.write_text(
        "item,rater,label\n"
        + "".join(
            f"{i},{rater},{'yn'[i % 2]}\n"
            for i in range(10)
            for rater in ("ab" if i == 0 else "abc")
        )
    )
    assert (
        main(["plan", str(table), "--policy", str(policy), "--rounds", "100", "--format", "json"])
        == 0
    )
    (told,) = json.loads(capsys.readouterr().out)
    assert told["labels_an_item"] == 2.9
    assert told["n_ratings"] == -(-told["n_items"] * 29 // 10)


def test_labels_of_items_met_again_and_of_a_group_are_counted():
    """Two raters meet five of ten items twice, 20 labels.

    A group of two rates ten items that the other group rates too.
    """
    scale, codes = Scale(("n", "y")), np.array([[0, 0], [1, 1]] * 5)
    first = LabelsByRater(codes, scale=scale, raters=("a", "b"))
    item, rater = np.repeat(np.arange(5), 2), np.tile([0, 1], 5)
    again = ReplicatedLabels(2 * np.eye(2)[codes[item, rater]], item, rater, first)
    everybody = LabelsByRater(np.hstack([codes, codes[:, :1]]), scale=scale, raters=("a", "b", "m"))
    groups = everybody.merged().in_groups(("m",))
    settings = {"reliable": 0.8, "probability": 0.8, "n_rounds": 20}
    assert plan_measure("self_agreement", again, **settings).labels_an_item == 2
    assert plan_measure("cross_kappa", groups, **settings).labels_an_item == 2
