"""Rules on the label that trains: what one panel shows of it, and what a fourth rating adds."""

from dataclasses import replace
from functools import cache

import numpy as np
import pandas as pd
import pytest

from agreement_pipeline import Policy, Ratings, Rule, Scale
from agreement_pipeline.contract import Contract
from agreement_pipeline.errors import PolicyError
from agreement_pipeline.policy import assess
from agreement_pipeline.ratings import Trains

LABEL = Rule("label_reliability", "label")
POLICY = Policy("label", 1, (LABEL,), n_resamples=1000)
CONTRACT = Contract.none()


@cache
def ratings_with(error, sizes, seed=0, values=("no", "yes")):
    """Items with so many raters, each drawn from twenty, who err alike on every item."""
    random = np.random.default_rng(seed)
    rows = []
    for item, size in enumerate(sizes):
        truth = random.integers(len(values))
        raters = random.choice(20, size, replace=False)
        for rater in raters:
            wrong = (truth + random.integers(1, len(values))) % len(values)
            label = wrong if random.random() < error else truth
            rows.append((f"i{item:04}", f"r{rater}", values[label]))
    frame = pd.DataFrame(rows, columns=["item", "rater", "label"])
    return Ratings.from_frame(frame, Scale(values))


def decided(ratings, policy=POLICY, trains=None):
    return assess(ratings, policy, CONTRACT, trains=trains).decision


def with_fourth(n_items, n_drawn):
    return (*(4 for _ in range(n_drawn)), *(3 for _ in range(n_items - n_drawn)))


def test_one_panel_shows_a_floor_and_the_reason_says_what_would_show_more():
    decision = decided(ratings_with(0.06, (3,) * 300))
    (verdict,) = decision.verdicts
    assert not decision.admitted
    assert (verdict.kind, str(verdict.scope)) == ("tentative", "label")
    assert verdict.reason.startswith("label_reliability of label at least 0.7")
    assert "to 1.0" in verdict.reason
    assert "have 300 items drawn at random rated by 4 raters each" in verdict.reason


def test_a_fourth_rating_on_drawn_items_admits_what_the_floor_could_not():
    decision = decided(ratings_with(0.06, with_fourth(500, 300)))
    (verdict,) = decision.verdicts
    assert decision.admitted
    assert verdict.estimate.n_used == 300
    assert verdict.estimate.dropped == {"fewer than 4 ratings": 200}
    true = 1 - 6 * (0.06 * 0.94) ** 2 - 8 * (0.06 * 0.94) ** 3
    assert verdict.estimate.low < 2 * true - 1 < verdict.estimate.high
    alpha = replace(POLICY, rules=(Rule("krippendorff_alpha"),))
    assert not decided(ratings_with(0.06, with_fourth(500, 300)), alpha).admitted


def test_shares_of_many_poor_raters_are_reliable_where_one_of_them_is_not():
    ratings = ratings_with(0.2, (15,) * 150)
    alpha = replace(POLICY, rules=(Rule("krippendorff_alpha"),))
    assert decided(ratings, trains=Trains("shares")).admitted
    assert decided(ratings, alpha).codes == ("unreliable",)


def test_raters_who_guess_are_held():
    for trains in (None, Trains("shares")):
        decision = decided(ratings_with(0.5, (4,) * 300), trains=trains)
        assert decision.codes == ("unreliable",)


def test_a_label_without_a_value_holds():
    decision = decided(ratings_with(0.02, (3,) * 300), trains=Trains("adjudicated"))
    assert decision.codes == ("undefined",)
    assert "let a second adjudicator answer a drawn part" in decision.reasons[0]
    shared = replace(
        POLICY, rules=(LABEL, Rule("label_agreement", "label")), passed_by_guessing="It is."
    )
    decision = decided(ratings_with(0.02, (4,) * 300), shared, Trains("shares"))
    assert [verdict.kind for verdict in decision.verdicts] == ["reliable", "not_evaluated"]
    assert not decision.admitted


def test_more_ratings_where_raters_differed_hold():
    """Then items with more ratings are no random sample of the round."""
    frame = ratings_with(0.06, (3,) * 600).to_pandas()
    differ = frame.groupby("item", observed=True)["label"].transform("nunique") > 1
    fourth = frame[differ].drop_duplicates("item").assign(rater="fourth")
    others = frame[~differ].drop_duplicates("item").head(40).assign(rater="fourth")
    table = pd.concat([frame, fourth, others])[["item", "rater", "label"]]
    decision = decided(Ratings.from_frame(table, Scale(("no", "yes"))))
    assert decision.codes == ("ratings_chosen",)


def test_a_stratum_whose_label_is_poor_is_not_hidden():
    good, poor = (
        ratings_with(error, (4,) * n, seed).to_pandas()
        for error, n, seed in ((0.01, 900, 1), (0.35, 100, 2))
    )
    poor["item"] = "p" + poor["item"].astype(str)
    table = pd.concat([good.assign(stratum="en"), poor.assign(stratum="de")])
    table = table[["item", "rater", "label", "stratum"]]
    ratings = Ratings.from_frame(
        table.rename(columns={"stratum": "stratum:lang"}), Scale(("no", "yes"))
    )
    (verdict,) = decided(ratings).verdicts
    assert (verdict.kind, verdict.code) == ("inconclusive", "weak_part")
    assert "lang=de" in verdict.reason


def test_rules_on_the_label_have_its_scope_and_its_measures():
    with pytest.raises(PolicyError, match="scope: found 'round'; expected label for label_rel"):
        Rule("label_reliability")
    with pytest.raises(PolicyError, match="expected another scope than label for krippendorff"):
        Rule("krippendorff_alpha", "label")
    with pytest.raises(PolicyError, match=r"about these raters for .*label_reliability"):
        Policy("large", 1, (LABEL,), interval_method="two_way_jackknife_log")
    assert "of the label that trains reach 0.8" in LABEL.question


def test_limits_of_several_looks_are_wider():
    ratings = ratings_with(0.12, with_fourth(500, 300))
    once, always = (
        decided(ratings, policy).verdicts[0].estimate
        for policy in (
            replace(POLICY, n_resamples=20_000),
            replace(POLICY, n_resamples=20_000, always_valid_at=300),
        )
    )
    assert always.low < once.low < once.value
    assert always.high > once.high
