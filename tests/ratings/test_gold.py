"""Agreement is read on what may be released, so gold items are in no measure."""

import pandas as pd
import pytest

from agreement_pipeline.estimates import applicable_measures, compare, measure_ratings
from agreement_pipeline.intervals import Inference
from agreement_pipeline.policy import judge, load_policy
from agreement_pipeline.ratings import Ratings, Scale

SCALES = {
    "nominal": (Scale(("a", "b", "c")), lambda n: "abc"[n % 3]),
    "interval": (Scale((1, 2, 3), "interval"), lambda n: n % 3 + 1),
    "numbers": (Scale(None, "ratio"), lambda n: n % 7 + 0.5),
    "vectors": (Scale(None, "multivariate interval", dimensions=2), lambda n: (n % 5, n % 3)),
    "sets": (Scale(("a", "b", "a|b"), "nominal"), lambda n: ("a", "b", "a|b")[n % 3]),
}


def frame_of(label, gold_agrees=True):
    """Three people and a model on 40 items, some again and some in an earlier round.

    The last 25 items are gold. On these all agree, and a fourth person joins them.
    """
    rows = []
    for n in range(40):
        gold = n >= 15
        for r, rater in enumerate(("ana", "ben", "chi", "model", *(["dee"] if gold else []))):
            for occurrence in (1, 2) if n % 2 else (1,):
                slips = not (gold and gold_agrees) and (7 * n + 5 * r + 3 * occurrence) % 4 == 0
                rows.append(
                    (
                        f"i{n:02}",
                        rater,
                        label(n + slips),
                        occurrence,
                        n % 5 == 1 and occurrence == 1,
                        gold,
                        0.25 * (1 + (n + r) % 4),
                        f"c{n % 6}",
                    )
                )
    return pd.DataFrame(
        rows,
        columns=[
            "item",
            "rater",
            "label",
            "occurrence",
            "earlier",
            "gold",
            "confidence",
            "cluster",
        ],
    )


def estimated(frame, scale):
    ratings = Ratings.from_frame(frame, scale, classifiers=("model",))
    found = measure_ratings(ratings, applicable_measures(ratings), Inference(n_resamples=20))
    return {(each.measure, str(each.scope)): each for each in found}


@pytest.mark.parametrize("name", [name for name in SCALES if name != "nominal"])
def test_every_measure_is_that_of_the_ratings_without_the_gold_items(name):
    scale, label = SCALES[name]
    frame = frame_of(label)
    found, without = (
        estimated(frame, scale),
        estimated(frame[~frame["gold"]].drop(columns="gold"), scale),
    )
    assert found.keys() == without.keys()
    for key, each in found.items():
        other = without[key]
        assert each.value == (
            None if other.value is None else pytest.approx(other.value, rel=1e-12, abs=1e-12)
        ), key
        assert (each.n_items, each.n_raters, each.n_ratings) == (
            other.n_items,
            other.n_raters,
            other.n_ratings,
        ), key
        assert each.undefined == (other.undefined and f"{other.undefined}, gold items apart")
    counted = estimated(frame.drop(columns="gold"), scale)
    assert any(
        counted[key].value != each.value for key, each in found.items() if each.value is not None
    )


@pytest.mark.parametrize("name", SCALES)
def test_of_gold_items_alone_every_measure_is_undefined_and_says_so(name):
    scale, label = SCALES[name]
    found = estimated(frame_of(label).assign(gold=True), scale)
    assert found
    assert all(
        each.value is None and each.undefined.endswith(", gold items apart")
        for each in found.values()
    )


def test_names_and_raters_an_item_are_looked_at_on_gold_items_too():
    frame = frame_of(SCALES["nominal"][1]).drop(columns=["earlier", "cluster"])
    checks = {"item_without_email", "rater_without_email", "raters_per_item"}
    of_all, of_gold = (
        {
            finding.check: finding.description
            for finding in judge(Ratings.from_frame(each, SCALES["nominal"][0]), policy).findings
        }
        for policy in [load_policy("standard")]
        for each in (frame.drop(columns="gold"), frame)
    )
    assert checks <= of_all.keys()
    assert {check: of_all[check] for check in checks} == {check: of_gold[check] for check in checks}


def test_two_rounds_share_no_item_that_is_gold_in_one_of_them():
    scale, label = SCALES["nominal"]
    frame = frame_of(label, gold_agrees=False).drop(columns=["earlier", "cluster"])
    ordinary, gold = (
        Ratings.from_frame(each, scale) for each in (frame.drop(columns="gold"), frame)
    )
    assert compare(ordinary, ordinary, inference=Inference(n_resamples=20)).n_shared == 40
    assert compare(ordinary, gold, inference=Inference(n_resamples=20)).n_shared == 15
