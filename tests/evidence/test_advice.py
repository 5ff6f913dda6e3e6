"""What to do now, who rated and who differs: in the same words wherever they stand."""

import json
import re
import shlex
from dataclasses import replace

import numpy as np
import pandas as pd
import pytest
import yaml

from agreement_pipeline import read_ratings
from agreement_pipeline.cli import main
from agreement_pipeline.counting import counting_for, queried
from agreement_pipeline.errors import RatingsError
from agreement_pipeline.estimates import standing_out
from agreement_pipeline.evidence import find_measure_that_holds, summarize
from agreement_pipeline.evidence.advice import (
    coincidences,
    describe_who_differs,
    describe_who_rated,
    find_measure_of_policy,
    most_confused,
)
from agreement_pipeline.policy import Policy, Rule, judge, load_policy, plan
from agreement_pipeline.ratings import Ratings, Scale, names_like_models
from agreement_pipeline.report import report_page
from agreement_pipeline.statistics import CategoryCounts

SCALE, RATERS = Scale(("safe", "rude", "hateful")), ("ana", "ben", "cyd", "dan", "eve")
ALPHA = Rule("krippendorff_alpha", min_items=30)


def ratings_of(n_items=300, errors=0.02, odd=0.02, raters=RATERS, again=0, **more):
    """Everybody makes some errors, and the first rater others; some items come back to all."""
    rng = np.random.default_rng(7)
    rows = []
    for item in range(n_items):
        for place, rater in enumerate(raters):
            wrong = rng.random() < (odd if place == 0 else errors)
            said = SCALE.names[(item + wrong) % 2]
            rows += [
                (f"i{item:03}", rater, said, meeting) for meeting in (1, 2)[: 1 + (item < again)]
            ]
    frame = pd.DataFrame(rows, columns=["item", "rater", "label", "occurrence"])
    return Ratings.from_frame(frame, SCALE, **more)


def judged(ratings, *rules, **more):
    policy = Policy("standard", 1, rules or (ALPHA,), n_resamples=1000)
    return summarize(ratings, policy, judge(ratings, policy), **more)


def test_a_round_held_for_disagreement_names_who_differs_and_what_to_settle():
    held = judged(ratings_of(odd=0.5, raters=RATERS[:4]), project="p q", name="w1")
    assert held.who_differs.startswith("ana differs from the rest: ")
    first, second = held.steps
    assert first.what == 'Settle "safe" or "rude" in the guideline.'
    assert re.match(r"Raters differ on \d+ items\. Discuss the most disputed ones\.$", first.why)
    assert first.by == "agreement-pipeline disputed 'p q' w1"
    assert second.what == "Then label fresh items."
    assert second.by == (
        "agreement-pipeline plan --policy standard --expected 0.85 --prevalence 0.50,0.50 "
        "--labels-an-item 4"
    )


def test_where_raters_are_too_many_to_compare_nobody_is_named_and_a_rule_on_them_is_refused(
    monkeypatch,
):
    ratings = ratings_of(odd=0.5)
    assert describe_who_differs(ratings).startswith("ana")
    monkeypatch.setattr(queried, "MANY_RATERS", 4)
    monkeypatch.setattr(queried, "MAX_CELLS", 20)
    ratings = ratings_of(odd=0.5)
    assert describe_who_differs(ratings) == "5 raters are too many to compare each with the others."
    assert judge(ratings, Policy("p", 1, (ALPHA,))).verdicts[0].estimate.value is not None
    pairs = Policy("p", 1, (replace(ALPHA, scope="without"),))
    with pytest.raises(RatingsError, match=r"found 5 raters, and \d+ different rows .* at most 20"):
        judge(ratings, pairs)


def test_of_three_raters_nobody_is_named_if_two_are_too_near_each_other():
    """They may be one person, and then the third differs from one voice alone."""
    assert describe_who_differs(ratings_of(odd=0.5, raters=RATERS[:3])).endswith(
        "nobody is named. See the check raters_independent."
    )


def test_of_copies_who_are_the_majority_nobody_else_is_named():
    rng = np.random.default_rng(3)
    rows = []
    for item in range(300):
        right = int(rng.integers(3))

        def label(right=right):
            return SCALE.names[(right + (rng.random() < 0.13) * int(rng.integers(1, 3))) % 3]

        copied = label()
        rows += [(f"i{item}", rater, label()) for rater in "xyz"]
        rows += [(f"i{item}", f"c{place}", copied) for place in range(5)]
    ratings = Ratings.from_frame(pd.DataFrame(rows, columns=["item", "rater", "label"]), SCALE)
    assert standing_out(counting_for(ratings).by_rater(ratings)).finding == "raters"
    assert describe_who_differs(ratings).endswith(
        "nobody is named. See the check raters_independent."
    )


def test_beside_a_rater_and_their_copy_nobody_is_named():
    """Four raters err alike often. The fifth repeats the first, so the others seem to differ."""
    rng, rows = np.random.default_rng(7), []
    for item in range(300):
        said = [SCALE.names[(item + (rng.random() < 0.25)) % 2] for _ in range(4)]
        rows += [(f"i{item:03}", *each) for each in zip(RATERS[:5], [*said, said[0]], strict=True)]
    frame = pd.DataFrame(rows, columns=["item", "rater", "label"])
    ratings = Ratings.from_frame(frame, SCALE)
    assert standing_out_finds(ratings) == "raters"
    said = judged(ratings, name="labels.csv").who_differs
    assert said.startswith("Some raters agree far more with each other than with the rest, so ")
    assert not any(rater in said.split() for rater in RATERS)


def test_without_replicates_nobody_is_named_and_the_step_is_to_bring_items_back():
    again = Rule("self_agreement_unbiased", min_items=20)
    ratings = ratings_of(odd=0.12)
    held = judged(ratings, ALPHA, again, name="labels.csv")
    assert [each.code for each in held.decision.unmet] == ["undefined"]
    assert standing_out_finds(ratings) == "raters"
    assert held.who_differs == ""
    (step,) = held.steps
    assert step.what == "Show raters some items a second time."
    assert "about 62 labels in all, by each rater" in step.why
    assert step.by == "agreement-pipeline guide replicates"


def test_a_round_too_small_for_full_agreement_says_how_many_items_that_would_need():
    agreed = ratings_of(n_items=30, errors=0, odd=0, raters=RATERS[:2])
    (step,) = judged(agreed, name="labels.csv").steps
    (least,) = re.findall(r"Under (\d+) items, not even full agreement would be enough\.", step.why)
    assert 30 < int(least) < 45
    larger = ratings_of(n_items=60, errors=0.05, odd=0.05, raters=RATERS[:2])
    steps = judged(larger, name="labels.csv").steps
    assert steps
    assert not any("not even full agreement" in step.why for step in steps)


@pytest.mark.parametrize("far", [False, True])
def test_no_step_asks_for_fewer_items_than_full_agreement_needs(far):
    """One item alone, and numbers of which one lies far from the others."""
    rng = np.random.default_rng(9)
    rows = [("i0", "ana", "safe"), ("i0", "ben", "rude")]
    if far:
        rows = [
            (f"i{item}", rater, 999 if item == 5 else round(rng.normal(3, 1), 1))
            for item in range(60)
            for rater in ("ana", "ben")
        ]
    scale = Scale(tuple(sorted({label for *_, label in rows})), "interval") if far else SCALE
    frame = pd.DataFrame(rows, columns=["item", "rater", "label"])
    (step,) = judged(Ratings.from_frame(frame, scale)).steps
    (n,) = re.findall(r"about ([\d,]+) (?:more )?items", step.what)
    (least,) = re.findall(r"Under (\d+) items, not even full agreement would be enough\.", step.why)
    if far:
        assert int(least) <= int(n) < 1.02 * int(least) + 10
    else:
        assert int(n) + frame["item"].nunique() == int(least)
        assert "chance" not in step.why


def test_under_limits_that_are_always_valid_a_round_may_grow():
    rules = [{"measure": "krippendorff_alpha"}]
    said = {"policy": "always", "version": 1, "n_resamples": 20_000, "always_valid_at": 500}
    policy, ratings = Policy.from_mapping({**said, "rules": rules}), ratings_of(100, 0.04, 0.04)
    held = summarize(ratings, policy, judge(ratings, policy), name="t.csv")
    (step,), fresh_round = held.steps, held.decision.verdicts[0].fresh_round
    n_more = fresh_round.n - 100
    assert step.what == f"Label about {n_more:,} more items, drawn in the same way."
    assert step.why.startswith(
        f"With {fresh_round.n:,} in all, it decides with a chance of {fresh_round.chance:.0%}, "
        "if agreement is over 0.8. Under "
    )


def test_with_planned_looks_the_step_goes_to_the_next_one_or_to_a_fresh_round():
    looks = {"at": [100, 200], "spending": "obrien_fleming"}
    rules = [{"measure": "krippendorff_alpha"}]
    said = {"policy": "looks", "version": 1, "n_resamples": 20_000, "looks": looks, "rules": rules}
    policy, steps = Policy.from_mapping(said), {}
    for n_items in (60, 100, 200):
        ratings = ratings_of(n_items, 0.04, 0.04, RATERS[:3])
        (steps[n_items],) = summarize(ratings, policy, judge(ratings, policy), name="t.csv").steps
    assert steps[60].what == "Label about 40 more items, drawn in the same way."
    assert steps[100].what == "Label about 100 more items, drawn in the same way."
    assert steps[60].why.startswith("The next look is at 100 items. Under 100 items, ")
    assert steps[100].why == "The next look is at 200 items."
    assert steps[200].what == "Label a fresh round."


def standing_out_finds(ratings):
    return standing_out(counting_for(ratings).by_rater(ratings)).finding


def test_too_few_items_name_nobody_and_say_how_many_more():
    held = judged(ratings_of(n_items=25, odd=0.5))
    assert held.who_differs == ""
    (step,) = held.steps
    assert step.what == "Label about 5 more items, drawn in the same way."
    assert step.by.startswith("agreement-pipeline plan --policy standard --expected 0.")


def test_a_value_over_the_cut_off_asks_for_the_items_of_its_plan():
    ratings = ratings_of(n_items=60, errors=0.03, odd=0.03)
    held = judged(ratings)
    (step,) = held.steps
    (n,) = re.findall(
        r"^Label a fresh round of about (\d+) items, drawn in the same way\.$", step.what
    )
    (chance,) = re.findall(
        r"^A round of this size decides with a chance of (\d+)%, if agreement is over 0\.8\. "
        "It may be judged halfway",
        step.why,
    )
    assert f"`looks: {{at: [{int(n) // 2}, {n}]}}` and `n_resamples: 6556`." in step.why
    (planned,) = plan(held.policy, ratings)
    assert (planned.n_items, f"{planned.decided:.0%}") == (int(n), f"{chance}%")
    assert held.who_differs == ""


def test_what_the_contract_found_comes_first_and_there_are_three_steps_at_most():
    again = Rule("self_agreement_unbiased", min_items=20)
    few = Rule("krippendorff_alpha", scope="rater", min_raters=9, effect="hold")
    copied = ratings_of(400, 0.15, 0.15, raters=("ana", "ben", "cyd")).to_pandas()
    twin = copied[copied["rater"] == "ben"].assign(rater="twin")
    ratings = Ratings.from_frame(pd.concat([copied, twin]), SCALE)
    held = judged(ratings, ALPHA, again, few, project="p", name="w1")
    assert "raters_not_copied" in [each.check for each in held.decision.broken]
    first, second, third = held.steps
    assert first.what == "Correct what failed: raters_not_copied."
    assert first.by == "agreement-pipeline report configs/projects/p.yaml w1"
    assert second.what.startswith("Settle ")
    assert third.what == "Then label fresh items."


def test_what_a_check_of_the_gate_needs_stands_in_a_sentence():
    policy, ratings = load_policy("silver-standard"), ratings_of()
    held = summarize(ratings, policy, judge(ratings, policy))
    assert held.steps[0].why == (
        "Needed: a project that says `certified_by`; or a policy without `silver` if people gave "
        "the labels."
    )


def test_raters_who_met_enough_items_again_and_differ_from_themselves_need_another_step():
    again = Rule("self_agreement_unbiased", min_items=20)
    frame = ratings_of(again=300).to_pandas()
    back = frame["occurrence"] == 2
    frame.loc[back, "label"] = np.random.default_rng(9).choice(SCALE.names[:2], back.sum())
    held = judged(Ratings.from_frame(frame, SCALE), ALPHA, again)
    assert [each.code for each in held.decision.unmet] == ["unreliable"]
    (step,) = held.steps
    assert step.what == "Meet the rule on self_agreement_unbiased."
    assert step.why.startswith("What helps: a better guideline, other raters or other categories")


def test_each_value_is_compared_with_the_cut_off_of_its_own_scope():
    strict = Rule("krippendorff_alpha", scope="pair", reliable=0.9, effect="hold")
    policy = Policy("standard", 1, (ALPHA, strict), n_resamples=1000)
    said = {"measure": "krippendorff_alpha", "effect": "hold", "verdict": "inconclusive"}
    assert not find_measure_that_holds([said | {"scope": "round", "value": 0.85}], policy)
    assert find_measure_that_holds([said | {"scope": "round", "value": 0.75}], policy)
    assert find_measure_that_holds([said | {"scope": 'pair ana and "b c"', "value": 0.85}], policy)


def measured(bias=3.0, spread=1.0, errors=1.0):
    """300 numbers by each of five raters, of whom the first has a bias and other errors."""
    rng = np.random.default_rng(8)
    values = rng.normal(0, errors, (300, 5))
    values[:, 0] = values[:, 0] * spread + bias
    values = (values + rng.normal(0, 1.5, (300, 1))).round(3)
    rows = [
        (f"i{item:03}", rater, value)
        for item, row in enumerate(values)
        for rater, value in zip(RATERS, row, strict=True)
    ]
    frame = pd.DataFrame(rows, columns=["item", "rater", "label"])
    return Ratings.from_frame(frame, Scale(None, "interval"))


CONSISTENCY = Rule("icc_3_1", min_items=30)


def test_who_differs_is_asked_of_the_coefficient_that_holds_the_round():
    """A constant bias costs alpha much, and consistency nothing."""
    biased, noisy = measured(), measured(bias=0, spread=4)
    assert judged(biased, ALPHA).who_differs.startswith("ana differs from the rest: α is ")
    assert judged(biased, CONSISTENCY).who_differs.startswith("No rater is known to differ ")
    assert judged(biased, CONSISTENCY, ALPHA).who_differs.startswith("No rater is known ")
    assert judged(biased, ALPHA, CONSISTENCY).who_differs.startswith("ana differs ")
    (verdict,) = judged(noisy, CONSISTENCY).decision.unmet
    sentence = judged(noisy, CONSISTENCY).who_differs
    assert sentence.startswith(
        f"ana differs from the rest: icc_3_1 is {verdict.estimate.value:.2f}, and 0."
    )


def test_of_two_measures_the_one_that_holds_says_who_differs():
    held = judged(measured(errors=0.4), CONSISTENCY, ALPHA)
    assert [verdict.rule.measure for verdict in held.decision.unmet] == ["krippendorff_alpha"]
    assert held.who_differs.startswith("ana differs from the rest: α is ")


def test_the_page_of_an_admitted_round_asks_the_coefficient_of_its_policy():
    ratings, policy = measured(errors=0.4), Policy("p", 1, (CONSISTENCY,), n_resamples=1000)
    assert judge(ratings, policy).admitted
    assert "No rater is known to differ from the rest" in report_page(ratings, policy)
    assert find_measure_of_policy(policy) == "icc_3_1"
    assert find_measure_of_policy(Policy("p", 1, (ALPHA, CONSISTENCY))) == "krippendorff_alpha"


def test_if_one_category_prevails_more_of_the_others_are_drawn_and_that_is_another_mix():
    rng = np.random.default_rng(3)
    said = np.where(rng.random((400, 3)) < 0.03, "rude", "safe")
    rows = [
        (f"i{item}", rater, label)
        for item, row in enumerate(said)
        for rater, label in zip("abc", row, strict=True)
    ]
    frame = pd.DataFrame(rows, columns=["item", "rater", "label"])
    _, step = judged(Ratings.from_frame(frame, SCALE)).steps
    assert step.what == "Then label fresh items."
    assert step.why.startswith(
        "Draw more items of other categories than safe; agreement is then that of the new mix. "
    )
    assert step.by == "agreement-pipeline guide planning"


@pytest.mark.parametrize(
    ("n_items", "cutoff"),
    [(300, 0.9), (300, 0.99), (25, 0.95)],
)
def test_the_command_of_a_plan_runs_whatever_the_cut_off(n_items, cutoff, tmp_path, capsys):
    """Of 300 items agreement is under the cut-off. Twenty-five are too few."""
    rule = replace(ALPHA, reliable=cutoff)
    file = tmp_path / "own.yaml"
    policy = Policy("own", 1, (rule,), n_resamples=1000)
    file.write_text(yaml.safe_dump(policy.to_mapping()), encoding="utf-8")
    ratings = ratings_of(n_items, errors=0.3)
    held = summarize(ratings, policy, judge(ratings, policy), policy_name=str(file))
    program, *words = shlex.split(held.steps[-1].by)
    assert program == "agreement-pipeline"
    assert main([*words, "--rounds", "100", "--format", "json"]) == 0
    (found,) = json.loads(capsys.readouterr().out)
    assert found["impossible"] is None
    assert found["n_items"] > 25


def test_a_page_looks_once_for_who_differs_and_says_it_in_two_places(monkeypatch):
    found = []

    def counted(panel, measure):
        found.append(standing_out(panel, measure))
        return found[-1]

    monkeypatch.setattr("agreement_pipeline.evidence.advice.standing_out", counted)
    policy = Policy("standard", 1, (ALPHA,), n_resamples=1000)
    page = report_page(ratings_of(errors=0.1, odd=0.5, raters=RATERS[:3]), policy)
    assert len(found) == 1
    assert page.count("rater-1 differs from the rest: ") == 2


def test_a_verdict_of_a_code_that_no_table_knows_gives_its_reason_as_the_step():
    ratings = ratings_of(n_items=20, errors=0.0, odd=0.0)
    held = judged(ratings)
    (verdict,) = held.decision.unmet
    unknown = replace(verdict, code="new_code", reason="nobody knows why")
    other = summarize(ratings, held.policy, replace(held.decision, unmet=(unknown,)))
    (step,) = other.steps
    assert (step.what, step.why) == ("Meet the rule on krippendorff_alpha.", "nobody knows why.")


def in_languages(sizes, guessed):
    """Two raters agree on items of each language, but differ on all of one."""
    rows = []
    for name, n in sizes.items():
        for i in range(n):
            for at, rater in enumerate("ab"):
                wrong = name == guessed and (i // 2 + at) % 2
                rows.append((f"{name}{i}", rater, SCALE.names[(i + wrong) % 2], name))
    frame = pd.DataFrame(rows, columns=["item", "rater", "label", "stratum:language"])
    return Ratings.from_frame(frame, SCALE)


def test_more_items_are_not_asked_for_if_a_weak_part_would_hold_the_larger_round():
    held = judged(in_languages({"de": 60, "en": 60, "fr": 12}, "fr"))
    assert [each.code for each in held.decision.unmet] == ["tentative"]
    (step,) = held.steps
    assert step.what == "Fix the weak part first."
    assert step.why.startswith("1 of 3 parts under 0.8: on stratum language=fr it is ")
    assert step.why.endswith(". With more items like these, this holds the round.")


def test_no_items_are_asked_for_where_agreement_on_a_stratum_is_low_which_is_named():
    """The plan is for the rule of the round, whose cut-off is higher than that of the strata."""
    each = Rule("krippendorff_alpha", scope="stratum", reliable=0.7)
    held = judged(in_languages({"de": 200, "en": 200, "fr": 38}, "fr"), ALPHA, each)
    unmet = {str(of.scope): of.estimate.value for of in held.decision.unmet}
    assert unmet["round"] > 0.8
    assert unmet["stratum language=fr"] < 0
    first, second, *others = held.steps
    assert first.why.startswith("Agreement is low on stratum language=fr. Raters differ on ")
    assert second.what == "Then label fresh items."
    assert "--expected 0.85 " in second.by
    assert others == []


def test_the_stratum_that_lacks_most_items_says_how_many():
    rule = Rule("krippendorff_alpha", scope="stratum", min_items=50)
    step, *_ = judged(in_languages({"de": 45, "en": 60, "fr": 20}, ""), rule).steps
    assert step.what == "Label about 30 more items of stratum language=fr, drawn in the same way."


def test_items_come_back_to_the_raters_who_lack_them():
    """The first of three raters met 30 items again, and the others none."""
    frame = ratings_of(raters=RATERS[:3]).to_pandas()
    again = frame[frame["rater"] == "ana"].head(30).assign(occurrence=2)
    ratings = Ratings.from_frame(pd.concat([frame, again]), SCALE)
    (step,) = judged(ratings, ALPHA, Rule("self_agreement_unbiased", scope="rater")).steps
    assert "Repeat about 62 labels in all, by ben and cyd, " in step.why


def test_a_check_that_failed_is_named_once_and_its_sentence_ends():
    rows = [(n, who, "ny"[n % 2]) for n in range(30) for who in ("ana", "ben@b.org")]
    frame = pd.DataFrame(rows, columns=["item", "rater", "label"])
    ratings = Ratings.from_frame(frame, Scale(("n", "y")))
    found = judged(ratings).decision
    finding = next(each for each in found.findings if each.check == "rater_without_email")
    broken = replace(
        found, admitted=False, findings=(replace(finding, severity="error"),) * 2, unmet=()
    )
    policy = Policy("standard", 1, (ALPHA,), n_resamples=1000)
    (step,) = summarize(ratings, policy, broken).steps
    assert step.what == "Correct what failed: rater_without_email."
    assert step.why.startswith("30 of 60 rows fail; ")
    assert step.why.endswith("which is personal data. 1 more check failed too.")


def test_an_admitted_round_has_nothing_to_do():
    admitted = judged(ratings_of(errors=0.0, odd=0.0))
    assert admitted.decision.admitted
    assert admitted.steps == ()
    assert admitted.who_differs == ""


def test_who_rated_tells_people_from_models():
    ratings = ratings_of(
        n_items=40, raters=("ana", "ben", "gpt-4o", "judge"), classifiers=["judge"]
    )
    assert describe_who_rated(ratings) == (
        "Labelled by 3 raters (ana, ben and gpt-4o): 40 items, 3 labels an item. Compared "
        "with 1 model (judge). Of 3 categories, nobody used 'hateful'. Is gpt-4o a model? Then "
        "name it as a classifier."
    )
    several = ratings_of(n_items=9, raters=("ana", "ben", "claude-3", "gpt-4o"))
    assert describe_who_rated(several).endswith(
        "Are claude-3 and gpt-4o models? Then name them as classifiers."
    )
    assert names_like_models(
        ["claude", "Claudette", "claude-3-opus", "Abbot", "robot", "qwen2"]
    ) == (
        "claude-3-opus",
        "qwen2",
    )


def test_most_confused_are_the_two_categories_that_differing_pairs_share_most():
    said = CategoryCounts([[2, 1, 0], [1, 0, 1], [0, 3, 0]], [5, 2, 7], scale=SCALE)
    found = most_confused(said)
    together = coincidences(said)
    assert (found.one, found.other, found.n_items) == ("safe", "rude", 5)
    assert found.share == pytest.approx(together[0, 1] / np.triu(together, 1).sum())
    assert most_confused(CategoryCounts([[3, 0, 0]], scale=SCALE)) is None


@pytest.mark.parametrize(("taken", "least", "most"), [(0.0, 0, 10), (0.5, 60, 100)])
def test_two_categories_stand_out_if_they_are_taken_for_each_other_beyond_luck(taken, least, most):
    """In 15 % of the labels a rater guesses. Of these, a share takes safe for rude and back."""
    rng, found = np.random.default_rng(8), 0
    for _ in range(100):
        truth = rng.integers(0, 3, (150, 1))
        guess = rng.integers(0, 3, (150, 4))
        is_taken = (rng.random((150, 4)) < taken) & (truth < 2)
        wrong = np.where(is_taken, 1 - truth, guess)
        said = np.where(rng.random((150, 4)) < 0.15, wrong, truth)
        counts = np.stack([(said == each).sum(1) for each in range(3)], axis=1)
        found += most_confused(CategoryCounts(counts, scale=SCALE)).stands_out
    assert least <= found <= most


def test_no_two_categories_are_to_be_settled_if_luck_explains_them():
    rng = np.random.default_rng(8)
    truth = rng.integers(0, 3, 150)
    names = np.array(SCALE.names)
    rows = [
        (n, rater, names[rng.integers(0, 3) if rng.random() < 0.3 else truth[n]])
        for n in range(150)
        for rater in "abcd"
    ]
    frame = pd.DataFrame(rows, columns=["item", "rater", "label"])
    first, _ = judged(Ratings.from_frame(frame, SCALE)).steps
    assert first.what == "Discuss the items on which raters differ."


def test_labels_that_print_alike_are_written_as_one_and_not_settled_in_the_guideline():
    said = [("Safe", "safe "), ("rude", "rude")] * 60
    rows = [(n, rater, pair[at]) for n, pair in enumerate(said) for at, rater in enumerate("ab")]
    frame = pd.DataFrame(rows, columns=["item", "rater", "label"])
    scale = Scale(("Safe", "rude", "safe "))
    (step,) = judged(Ratings.from_frame(frame, scale)).steps
    assert step.what == "Write labels that print alike as one, such as 'Safe' and 'safe '."
    assert step.why == "100% of disagreements are between these two, on 60 items."
    assert step.by.startswith("agreement-pipeline judge ")


def test_two_categories_are_not_to_be_settled_if_they_hold_little_of_the_disagreement():
    """Each of 30 items has two labels of its own, so each pair has a thirtieth."""
    rows = [(n, rater, f"c{n if rater == 'a' else n + 1}") for n in range(30) for rater in "ab"]
    frame = pd.DataFrame(rows, columns=["item", "rater", "label"])
    first, _ = judged(Ratings.from_frame(frame, Scale([f"c{n}" for n in range(31)]))).steps
    assert first.what == "Discuss the items on which raters differ."


def test_who_rated_tells_categories_that_nobody_named_or_used():
    frame = pd.DataFrame(
        [("i1", "ana", "yes"), ("i1", "ben", "no"), ("i2", "ana", "0"), ("i2", "ben", "no")],
        columns=["item", "rater", "label"],
    )
    assert describe_who_rated(read_ratings(frame)).endswith(
        "2 labels an item. The categories are those that occur: '0', 'no' and 'yes'."
    )
    every = Scale(("yes", "no", "0", "1"))
    assert describe_who_rated(read_ratings(frame, scale=every)).endswith(
        "2 labels an item. Of 4 categories, nobody used '1'."
    )
    used = Scale(("yes", "no", "0"))
    assert describe_who_rated(read_ratings(frame, scale=used)).endswith(" 2 labels an item.")
    sizes = read_ratings(frame.assign(label=[1.0, 2.0, 3.0, 2.5]), scale=Scale(None, "interval"))
    assert describe_who_rated(sizes) == "Labelled by 2 raters (ana and ben): 2 items."
