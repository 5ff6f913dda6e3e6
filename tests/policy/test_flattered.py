"""A scale that flatters: noise does not pass for agreement by far labels or unused categories."""

from dataclasses import replace

import numpy as np
import pandas as pd
import pytest

from agreement_pipeline import Policy, Ratings, Rule, Scale
from agreement_pipeline.contract import Contract
from agreement_pipeline.estimates import Scope
from agreement_pipeline.policy import assess
from agreement_pipeline.policy.decision import recheck_without_flattery

CONTRACT = Contract.none()
ALPHA = Policy("standard", 1, (Rule("krippendorff_alpha", min_items=30),), n_resamples=1000)


def noise(n_items, n_far=0, far=999, seed=1):
    """Raters who draw 1 to 5 for each item, and some items that all give another number."""
    random = np.random.default_rng(seed)
    rows = [
        (f"i{i:04}", rater, float(far if i < n_far else random.integers(1, 6)))
        for i in range(n_items + n_far)
        for rater in "abc"
    ]
    return pd.DataFrame(rows, columns=["item", "rater", "label"])


def decided(frame, scale, policy=ALPHA):
    return assess(Ratings.from_frame(frame, scale), policy, CONTRACT).decision


@pytest.mark.parametrize(("n_items", "n_far"), [(300, 15), (500, 10), (300, 60)])
@pytest.mark.parametrize("categories", [None, (1, 2, 3, 4, 5, 999)])
def test_s14_noise_and_few_items_far_away_are_held(n_items, n_far, categories):
    found = decided(noise(n_items, n_far), Scale(categories, "interval"))
    assert found.codes == ("flattered",)
    (reason,) = found.reasons
    assert reason.startswith("krippendorff_alpha 1.000")
    assert f"without {n_far} items that carry " in reason
    assert "% of the expected disagreement it is unreliable" in reason


@pytest.mark.parametrize("n_far", [100, 300, 900])
@pytest.mark.parametrize("far", [999, -1000])
def test_n1_noise_and_many_items_far_away_are_held(n_far, far):
    found = decided(noise(300, n_far, far), Scale(None, "interval"))
    assert found.codes == ("flattered",)
    assert f"without {n_far} items that carry " in found.reasons[0]


@pytest.mark.parametrize(("far", "admitted"), [(999, False), (10, True)])
def test_of_three_numbers_one_is_far_if_it_can_be_no_score_beside_the_others(far, admitted):
    """Raters guess 0 or 1, and agree on the third number."""
    frame = noise(300, 300, far)
    frame["label"] = frame["label"].where(frame["label"] == far, frame["label"] % 2)
    found = decided(frame, Scale(None, "interval"))
    assert (found.admitted, found.codes) == (admitted, () if admitted else ("flattered",))


@pytest.mark.parametrize("seed", range(3))
def test_raters_who_agree_beside_many_far_items_are_admitted(seed):
    """Half of the items have a number far away, and on the others raters agree."""
    random = np.random.default_rng(seed)
    frame = noise(300, 300)
    truth = random.integers(1, 6, size=600) * 1.0
    own = truth[frame["item"].str[1:].astype(int)]
    slips = random.random(len(frame)) < 0.02
    frame["label"] = frame["label"].where(frame["label"] == 999, np.where(slips, 6 - own, own))
    assert decided(frame, Scale(None, "interval")).admitted


def test_numbers_on_both_ends_of_a_slider_are_not_far():
    random = np.random.default_rng(4)
    end = random.choice([0, 80], size=300)
    rows = [
        (f"i{i:04}", rater, float(end[i] + random.integers(0, 21)))
        for i in range(300)
        for rater in "abc"
    ]
    frame = pd.DataFrame(rows, columns=["item", "rater", "label"])
    assert decided(frame, Scale(None, "interval")).admitted


def test_agreement_that_does_not_rest_on_the_far_items_is_admitted():
    random = np.random.default_rng(2)
    frame = noise(300, 15)
    truth = random.integers(1, 6, size=315)
    slips = random.random(len(frame)) < 0.02
    own = truth[frame["item"].str[1:].astype(int)] * 1.0
    frame["label"] = frame["label"].where(frame["label"] == 999, np.where(slips, 6 - own, own))
    assert decided(frame, Scale(None, "interval")).admitted


@pytest.mark.parametrize(
    "measure", ["gwet_ac2_quadratic", "gwet_ac2_linear", "brennan_prediger_quadratic"]
)
def test_s15_noise_and_a_category_that_nobody_uses_are_held(measure):
    policy = Policy(
        "p", 1, (Rule(measure),), n_resamples=1000, passed_by_guessing="nobody trains on it"
    )
    found = decided(noise(300), Scale((1, 2, 3, 4, 5, 1000), "interval"), policy)
    assert found.codes == ("flattered",)
    assert "without 1 category that nobody uses" in found.reasons[0]


def test_s16_declared_categories_do_not_lift_a_measure_over_its_cut_off():
    random, names = np.random.default_rng(3), tuple(f"c{n:02}" for n in range(50))
    truth = random.integers(5, size=1000)
    rows = [
        (f"i{i:04}", r, names[truth[i] if random.random() < 0.855 else random.integers(5)])
        for i in range(1000)
        for r in "abc"
    ]
    frame = pd.DataFrame(rows, columns=["item", "rater", "label"])
    rule = Rule("bennett_s", reliable=0.72, tentative=0.667)
    policy = Policy("p", 1, (rule,), n_resamples=1000, passed_by_guessing="nobody trains on it")
    assert decided(frame, Scale(names), policy).codes == ("flattered",)
    assert decided(frame, Scale(names[:5]), policy).codes != ("flattered",)


def test_unused_categories_do_not_touch_alpha():
    rows = [(f"i{i:03}", r, "ab"[i % 2]) for i in range(200) for r in "xyz"]
    frame = pd.DataFrame(rows, columns=["item", "rater", "label"])
    assert decided(frame, Scale(("a", "b", "c", "d"))).admitted


def test_a_rare_number_on_which_raters_agree_is_no_flattery():
    rows = [(f"i{i:03}", r, float(i < 15)) for i in range(300) for r in "xyz"]
    frame = pd.DataFrame(rows, columns=["item", "rater", "label"])
    assert decided(frame, Scale((0, 1), "interval")).admitted


def looked_at(frame, scale, policy=ALPHA, **changed):
    """What becomes of the verdict on the round, if it were reliable, or as it is changed."""
    ratings = Ratings.from_frame(frame, scale)
    (verdict,) = policy.judge(assess(ratings, policy, CONTRACT).estimates)
    given = replace(verdict, kind="reliable", code="reliable", **changed)
    return given, recheck_without_flattery(given, ratings=ratings, policy=policy)


FEW_ITEMS = Policy("few", 1, (Rule("krippendorff_alpha", min_items=10),), n_resamples=1000)
FAR, INTERVAL = noise(300, 15), Scale(None, "interval")


def test_a_verdict_that_admits_nothing_is_left_as_it_is():
    ratings = Ratings.from_frame(FAR, INTERVAL)
    (verdict,) = ALPHA.judge(assess(ratings, ALPHA, CONTRACT).estimates)
    unmet = replace(verdict, kind="unreliable", code="unreliable")
    assert recheck_without_flattery(unmet, ratings=ratings, policy=ALPHA) is unmet


def test_a_verdict_on_a_part_of_the_round_is_left_as_it_is():
    given, found = looked_at(FAR, INTERVAL, scope=Scope.of_stratum("language", "en"))
    assert found is given


@pytest.mark.parametrize(("n_far", "code"), [(10, "flattered"), (11, "reliable")])
def test_a_quarter_of_the_items_is_still_few(n_far, code):
    """The far items carry just over half of the squared distances from the mean, all together."""
    frame = noise(40 - n_far, n_far, far=7.5)
    squares = (frame["label"] - frame["label"].mean()) ** 2
    carried = squares.groupby(frame["item"]).sum().sort_values()
    assert carried[-n_far + 1 :].sum() < carried.sum() / 2 <= carried[-n_far:].sum()
    assert looked_at(frame, INTERVAL, policy=FEW_ITEMS)[1].code == code
