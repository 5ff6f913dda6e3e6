"""A panel of many raters: some are shown, and what is left out is said."""

from itertools import combinations

import numpy as np
import pandas as pd
import pytest

from agreement_pipeline.contract import Contract
from agreement_pipeline.estimates import (
    MAX_SHOWN,
    ShownRaters,
    applicable_measures,
    measure_ratings,
    survey,
    value_by_scope,
)
from agreement_pipeline.intervals import Inference
from agreement_pipeline.measures import MEASURES
from agreement_pipeline.policy import Policy, assess
from agreement_pipeline.ratings import Ratings, Scale
from agreement_pipeline.statistics import by_rater

SCALE = Scale(("n", "y"))
FEW = Inference(n_resamples=400)
N_RATERS = 14


def frame(n_raters=N_RATERS, again=()):
    """The more often a rater is careless, the later their name."""
    rng = np.random.default_rng(3)
    truth = rng.integers(0, 2, 60)
    rows = [
        (f"i{i}", f"r{r:02}", "ny"[truth[i] ^ (rng.random() < r / 40)], 1)
        for i in range(60)
        for r in range(n_raters)
        if rng.random() < 0.8
    ]
    found = pd.DataFrame(rows, columns=["item", "rater", "label", "occurrence"])
    met = [
        found[found["rater"] == rater].head(times).assign(occurrence=2) for rater, times in again
    ]
    return pd.concat([found, *met])


def ratings(**options):
    return Ratings.from_frame(frame(**options), SCALE)


def test_the_only_pair_of_a_panel_is_shown_and_has_the_value_of_the_round():
    both = ratings(n_raters=2)
    found = survey(
        both, ["krippendorff_alpha"], FEW, scopes=("round", "pair"), shown=ShownRaters.choose(both)
    )
    values = {each.scope.kind: each.value for each in found}
    assert values.keys() == {"round", "pair"}
    assert values["pair"] == values["round"]


def agreement_by_pair(table):
    """The share of equal labels of every two raters, item by item."""
    wide = table[table["occurrence"] == 1].pivot(index="item", columns="rater", values="label")
    found = {}
    for one, other in combinations(sorted(wide), 2):
        both = wide[[one, other]].dropna()
        found[one, other] = ((both[one] == both[other]).sum(), len(both))
    return found


def one_of_each_kind(ratings):
    """A measure for each statistic that the ratings have."""
    return list({MEASURES[name].needs: name for name in applicable_measures(ratings)}.values())


def test_a_panel_that_is_not_large_is_shown_whole():
    small = ratings(n_raters=MAX_SHOWN)
    shown = ShownRaters.choose(small)
    assert shown.left_out_sentence() is None
    assert list(shown.raters) == sorted(small.raters)
    assert list(shown.pairs) == list(combinations(sorted(small.raters), 2))
    names = one_of_each_kind(small)
    assert survey(small, names, FEW, shown=shown) == survey(small, names, FEW)


def test_those_who_agree_least_are_shown():
    """Each is taken to agree on ten items more, so those who share few are not the first."""
    shown, pairs = ShownRaters.choose(ratings()), agreement_by_pair(frame())
    by_pair = sorted(pairs, key=lambda pair: ((pairs[pair][0] + 10) / (pairs[pair][1] + 10), pair))
    of_rater = {
        rater: np.array([both for pair, both in pairs.items() if rater in pair]).sum(0)
        for rater in ratings().raters
    }
    by_rater = sorted(
        of_rater, key=lambda rater: ((of_rater[rater][0] + 10) / (of_rater[rater][1] + 10), rater)
    )
    assert list(shown.pairs) == by_pair[:MAX_SHOWN]
    assert list(shown.raters) == by_rater[:MAX_SHOWN]


def test_pairs_who_share_no_item_are_not_counted():
    """Each of 14 raters shares an item with the next alone."""
    rows = [(f"i{r}", f"r{r + at:02}", "ny"[r % 2]) for r in range(13) for at in (0, 1)]
    crowd = pd.DataFrame(rows, columns=["item", "rater", "label"])
    shown = ShownRaters.choose(Ratings.from_frame(crowd, SCALE))
    assert (len(shown.pairs), shown.n_pairs) == (MAX_SHOWN, 13)


def test_those_who_met_most_items_again_are_shown():
    met = [(f"r{r:02}", 3 + r % 7) for r in range(12)]
    shown = ShownRaters.choose(ratings(again=met))
    often = sorted(met, key=lambda each: (-each[1], each[0]))
    assert list(shown.again) == [rater for rater, _ in often[:MAX_SHOWN]]
    assert shown.n_again == 12
    assert shown.of_raters_with_replicates().raters == shown.again


def test_what_is_left_out_is_said_in_words():
    pairs = N_RATERS * (N_RATERS - 1) // 2
    assert ShownRaters.choose(ratings()).left_out_sentence() == (
        f"shown are {MAX_SHOWN} of {N_RATERS} raters, those who agree least; "
        f"{MAX_SHOWN} of {pairs} pairs of raters, those who agree least. "
        "For all, use measure --scope rater --scope without --scope pair"
    )


def test_what_is_shown_is_estimated_as_if_all_were():
    many = ratings(again=[("r00", 9), ("r13", 9)])
    shown, names = ShownRaters.choose(many), one_of_each_kind(many)
    everything = {(each.measure, each.scope): each for each in survey(many, names, FEW)}
    some = survey(many, names, FEW, shown=shown)
    assert all(everything[each.measure, each.scope] == each for each in some)
    counted = {
        kind: {e.scope for e in some if e.scope.kind == kind} for kind in ("without", "pair")
    }
    assert {kind: len(scopes) for kind, scopes in counted.items()} == {
        "without": MAX_SHOWN,
        "pair": MAX_SHOWN,
    }
    assert len(some) < len(everything)


def test_a_rule_is_judged_on_every_rater_and_pair():
    many = ratings()
    rules = [
        {"measure": "schouten_kappa", "scope": "rater"},
        {"measure": "cohen_kappa", "scope": "pair"},
        {"measure": "krippendorff_alpha", "scope": "without"},
    ]
    policy = Policy.from_mapping({"policy": "p", "version": 1, "n_resamples": 4000, "rules": rules})
    judged = assess(many, policy, Contract.none()).estimates
    counted = [
        sum(each.scope.kind == kind for each in judged) for kind in ("rater", "pair", "without")
    ]
    assert counted == [N_RATERS, N_RATERS * (N_RATERS - 1) // 2, N_RATERS]


def test_values_alone_are_those_of_the_estimates():
    many = ratings()
    found = measure_ratings(many, ["schouten_kappa"], FEW, scopes=("rater",))
    assert value_by_scope(many, "schouten_kappa", "rater") == {
        each.scope: each.value for each in found
    }


def test_a_thousand_raters_of_few_items_are_measured_by_what_stays_defined():
    rng = np.random.default_rng(5)
    rows = [
        (f"i{i}", f"r{r}", "ny"[(i % 2) ^ (rng.random() < 0.1)])
        for i in range(1500)
        for r in rng.choice(1000, size=3, replace=False)
    ]
    crowd = Ratings.from_frame(pd.DataFrame(rows, columns=["item", "rater", "label"]), SCALE)
    names = ["krippendorff_alpha", "fleiss_kappa", "gwet_ac1", "light_kappa", "cohen_kappa"]
    found = {each.measure: each for each in measure_ratings(crowd, names, FEW, scopes=("round",))}
    assert [name for name in names if found[name].value is not None] == names[:3]
    assert found["light_kappa"].undefined == "two of the raters have no item in common"
    assert "use shah_kappa_s or light_kappa" in found["cohen_kappa"].undefined


@pytest.mark.parametrize("level", ["interval", "multivariate interval"])
def test_numbers_of_many_raters_are_shown_in_the_same_way(level):
    rng = np.random.default_rng(2)
    size = 2 if level.startswith("multi") else 1
    rows = [
        (f"i{i}", f"r{r:02}", tuple(i % 7 + r**3 * rng.normal(size=size)))
        for i in range(20)
        for r in range(12)
    ]
    table = pd.DataFrame(rows, columns=["item", "rater", "label"])
    if size == 1:
        table["label"] = [label[0] for label in table["label"]]
    numbers = Ratings.from_frame(table, Scale(None, level, dimensions=size))
    shown = ShownRaters.choose(numbers)
    assert shown.raters[0] == "r11"
    assert {"r00", "r01"}.isdisjoint(shown.raters)
    found = survey(numbers, ["krippendorff_alpha"], FEW, shown=shown)
    assert [e.scope.name for e in found if e.scope.kind == "without"] == list(shown.raters)


def test_in_a_crowd_a_rater_has_the_values_of_the_whole_table(monkeypatch):
    def of_raters():
        found = survey(both, names, FEW, scopes=("rater",))
        return [
            (each.measure, each.scope, each.n_items, each.n_raters, each.n_ratings, each.dropped)
            for each in found
        ], [each.value for each in found]

    both = ratings()
    names = [name for name, record in MEASURES.items() if record.needs == "panel"]
    whole, values = of_raters()
    assert {scope.name for _, scope, *_ in whole} == {*both.raters}
    monkeypatch.setattr(by_rater, "MAX_DENSE_CELLS", 0)
    in_crowd, same = of_raters()
    assert in_crowd == whole
    assert same == pytest.approx(values)
