"""Which statistics two rounds, classifiers, raters and measures are compared on."""

import numpy as np
import pandas as pd
import pytest

from agreement_pipeline.demo.rounds import CATEGORIES, CLASSIFIERS, simulate_round
from agreement_pipeline.errors import AgreementError, RatingsError
from agreement_pipeline.estimates import (
    compare,
    measure_ratings,
)
from agreement_pipeline.intervals import Inference
from agreement_pipeline.ratings import Ratings, Scale
from agreement_pipeline.readers import read

FEW = {"inference": Inference(n_resamples=1000)}
COLUMNS = ["item", "rater", "label"]


def ratings(name="w", *, items=None, **settings):
    frame = simulate_round(name, seed=5, n_items=120, **settings)
    return Ratings.from_frame(
        frame if items is None else frame[frame["item"].isin(items)],
        Scale(CATEGORIES),
        classifiers=tuple(CLASSIFIERS),
    )


@pytest.fixture(scope="module")
def clean():
    return ratings()


@pytest.fixture(scope="module")
def worse():
    """A round of the same items, in which one rater is careless."""
    return ratings(careless=("ana",))


def value(round_, measure, scope="round"):
    return next(
        found.value
        for found in measure_ratings(round_, [measure], Inference(n_resamples=1000))
        if str(found.scope) == scope
    )


@pytest.mark.parametrize(
    "measure", ["krippendorff_alpha", "shah_kappa_s", "category_agreement", "icc_1_1"]
)
def test_a_round_labelled_anew_is_compared_item_by_item(clean, worse, measure):
    level = {"level": "interval", "categories": (1, 2, 3)} if measure == "icc_1_1" else None
    one, other = (numbered(each) for each in (clean, worse)) if level else (clean, worse)
    found = compare(one, other, measure=measure, **FEW)
    assert found.value == pytest.approx(value(one, measure) - value(other, measure))
    assert found.n_shared == 120
    assert "paired by item" in found.method


def test_one_category_of_two_rounds_or_raters_is_compared(clean, worse):
    found = compare(clean, worse, measure="category_agreement", category="offensive", **FEW)
    assert found.value == pytest.approx(
        value(clean, "category_agreement", "category offensive")
        - value(worse, "category_agreement", "category offensive")
    )
    assert found.one == "category_agreement of category offensive of one round"
    themselves = compare(
        clean,
        between=("ben", "esra"),
        measure="test_retest_kappa_by_category",
        category="safe",
        **FEW,
    )
    assert themselves.one == "test_retest_kappa_by_category of category safe of rater ben"
    assert themselves.interval.low <= themselves.value <= themselves.interval.high


def numbered(round_):
    frame = round_.to_pandas().assign(
        label=round_.to_pandas()["label"].map(dict(zip(CATEGORIES, (1, 2, 3), strict=True)))
    )
    return Ratings.from_frame(frame, Scale((1, 2, 3), "interval"), classifiers=round_.classifiers)


def test_rounds_of_other_items_are_drawn_apart(clean):
    other = ratings("x", careless=("ana",))
    for measure in ("krippendorff_alpha", "self_agreement_unbiased", "cross_kappa"):
        found = compare(clean, other, measure=measure, **FEW)
        assert found.value == pytest.approx(value(clean, measure) - value(other, measure))
        assert (found.n_shared, "drawn apart" in found.method) == (None, True)


def test_rounds_that_share_some_items_are_paired_by_those(clean):
    kept = clean.rated_items().to_pylist()[:50]
    found = compare(
        clean, ratings(items=kept, careless=("ana",)), measure="krippendorff_alpha", **FEW
    )
    assert found.n_shared == 50
    assert found.value == pytest.approx(
        value(clean, "krippendorff_alpha")
        - value(ratings(items=kept, careless=("ana",)), "krippendorff_alpha")
    )


def test_pairing_narrows_what_is_said_of_the_same_items(clean, worse):
    renamed = Ratings.from_frame(
        worse.to_pandas().assign(item="other " + worse.to_pandas()["item"].astype(str)),
        worse.scale,
        classifiers=worse.classifiers,
    )
    paired, apart = (
        compare(
            clean, other, measure="krippendorff_alpha", inference=Inference(n_resamples=4000)
        ).interval
        for other in (worse, renamed)
    )
    assert paired.high - paired.low < apart.high - apart.low


@pytest.mark.parametrize("measure", ["gwet_ac1", "bennett_s", "bangdiwala_b", "krippendorff_alpha"])
@pytest.mark.parametrize("renamed", [False, True], ids=["the same items", "other items"])
def test_a_category_that_one_round_happens_not_to_show_is_no_difference(measure, renamed):
    """The second round has one rating more, of a new category and alone on its item.

    AC1 reads chance off all 121 ratings. Its value may therefore move by 1/100.
    """
    frame = pd.DataFrame(
        [
            (f"i{i}", r, "no" if (i + (r == "b" and i % 9 == 0)) % 3 else "yes")
            for i in range(60)
            for r in "ab"
        ],
        columns=COLUMNS,
    )
    more = pd.concat([frame, pd.DataFrame([("i60", "a", "unclear")], columns=COLUMNS)])
    more = more.assign(item="other " + more["item"].astype(str)) if renamed else more
    found = compare(
        *(Ratings.from_frame(each, Scale.from_labels(each["label"])) for each in (frame, more)),
        measure=measure,
        **FEW,
    )
    assert found.value == pytest.approx(0, abs=0.01 if measure == "gwet_ac1" else 1e-12)
    assert found.interval.low < 0 < found.interval.high


def test_categories_that_are_declared_stay_as_they_are():
    """AC1's chance on three categories is half of its chance on two.

    Chance is 1 / (K - 1) of the same sum (Gwet 2008). The number of declared categories decides.
    """
    frame = pd.DataFrame(
        [
            (f"i{i}", r, "no" if (i + (r == "b" and i % 9 == 0)) % 3 else "yes")
            for i in range(60)
            for r in "ab"
        ],
        columns=COLUMNS,
    )
    two, three = (
        Ratings.from_frame(frame, Scale(names))
        for names in (("no", "yes"), ("no", "unclear", "yes"))
    )
    share = (frame["label"] == "yes").mean()
    agreed = frame.pivot(index="item", columns="rater", values="label").pipe(
        lambda table: (table["a"] == table["b"]).mean()
    )
    chance = 2 * share * (1 - share)
    expected = (agreed - chance) / (1 - chance) - (agreed - chance / 2) / (1 - chance / 2)
    assert compare(two, three, measure="gwet_ac1", **FEW).value == pytest.approx(expected)


@pytest.mark.parametrize(
    ("measure", "words"),
    [
        ("shah_s", "expected one of the whole round"),
        ("self_agreement", "found 120 shared items; expected a measure of first labels"),
        ("cross_kappa", "found 120 shared items"),
    ],
)
def test_what_cannot_be_compared_over_rounds_is_refused(clean, worse, measure, words):
    with pytest.raises(AgreementError, match=words):
        compare(clean, worse, measure=measure)


def test_classifiers_are_compared_on_the_items_both_labelled(clean):
    found = compare(clean, between=("model_a", "model_b"), measure="shah_s", **FEW)
    assert found.value == pytest.approx(
        value(clean, "shah_s", "classifier model_a") - value(clean, "shah_s", "classifier model_b")
    )
    assert found.n_shared == 120
    assert found.one == "shah_s of classifier model_a"


@pytest.mark.parametrize("measure", ["schouten_kappa", "self_agreement_unbiased"])
def test_raters_are_compared_with_the_others_or_with_themselves(worse, measure):
    found = compare(worse, between=("ben", "ana"), measure=measure, **FEW)
    assert found.value == pytest.approx(
        value(worse, measure, "rater ben") - value(worse, measure, "rater ana")
    )
    assert found.value > 0


@pytest.fixture(scope="module")
def numbers():
    """Numbers of any size from three raters and two models, who meet every third item again."""
    error = {"ana": 0.3, "ben": 0.5, "cleo": 0.2, "good": 0.1, "bad": 1.5}
    rng = np.random.default_rng(8)
    rows = [
        (f"i{i}", rater, i % 7 + rng.normal(0, error[rater]), occurrence)
        for i in range(40)
        for rater in error
        for occurrence in (1, 2)[: 1 + (i % 3 == 0)]
        if (i + len(rater)) % 11
    ]
    frame = pd.DataFrame(rows, columns=["item", "rater", "label", "occurrence"])
    return Ratings.from_frame(frame, Scale(None, "interval"), classifiers=("good", "bad"))


def test_classifiers_are_compared_in_numbers(numbers):
    found = compare(numbers, between=("good", "bad"), measure="alpha_gain", **FEW)
    assert found.value == pytest.approx(
        value(numbers, "alpha_gain", "classifier good")
        - value(numbers, "alpha_gain", "classifier bad")
    )
    items = [
        set(numbers.first_ratings(["item"], raters=[name])["item"].to_pylist())
        for name in ("good", "bad")
    ]
    assert found.n_shared == len(items[0] & items[1])
    assert "paired by item" in found.method


@pytest.mark.parametrize("measure", ["alpha_gain", "test_retest_alpha"])
def test_raters_are_compared_in_numbers(numbers, measure):
    found = compare(numbers, between=("cleo", "ben"), measure=measure, **FEW)
    assert found.value == pytest.approx(
        value(numbers, measure, "rater cleo") - value(numbers, measure, "rater ben")
    )


def test_a_measure_of_complete_items_is_not_compared_on_others(numbers):
    frame = numbers.to_pandas().assign(item=lambda each: "other " + each["item"].astype(str))
    other = Ratings.from_frame(frame, numbers.scale, classifiers=numbers.classifiers)
    with pytest.raises(AgreementError, match="found items with missing ratings; expected none"):
        compare(numbers, other, measure="berry_mielke_r")


def test_rounds_without_classifiers_are_not_compared_by_groups(clean):
    panel = clean.to_pandas()[~clean.to_pandas()["rater"].isin(clean.classifiers)]
    alone = Ratings.from_frame(panel.assign(item="other " + panel["item"].astype(str)), clean.scale)
    with pytest.raises(
        AgreementError,
        match="found a measure of classifiers beside the panel, and 0 classifiers; expected",
    ):
        compare(clean, alone, measure="cross_kappa")


@pytest.mark.parametrize(
    ("measure", "one", "other", "words"),
    [
        (
            "gwet_ac1",
            "model_a",
            "model_b",
            "found a measure of the labels of all raters; expected a measure of one rater or "
            "classifier beside the panel. Choose",
        ),
        ("shah_s", "model_a", "model_a", "expected two different names of model_a, model_b"),
        ("shah_s", "model_a", "ana", "found classifier 'model_a' beside 'ana', which is none"),
        ("schouten_kappa", "ana", "nobody", "expected two different names of ana, ben"),
        (
            "gwet_ac1",
            "ana",
            "ben",
            "expected a measure of one rater or classifier beside the panel, or of raters beside "
            "themselves. Choose",
        ),
        (
            "cross_kappa",
            "ana",
            "ben",
            "found a measure of classifiers beside the panel; expected",
        ),
    ],
)
def test_what_cannot_be_compared_within_a_round_is_refused(clean, measure, one, other, words):
    with pytest.raises(AgreementError, match=words):
        compare(clean, between=(one, other), measure=measure)


def test_rounds_of_two_sessions_are_not_compared(tmp_path):
    path = tmp_path / "r.csv"
    path.write_text("item,rater,label\n1,ana,x\n1,ben,y\n2,ana,x\n2,ben,x\n")
    one, other = read(path), read(path, memory_limit="1GB")
    with pytest.raises(RatingsError, match="expected both in one session"):
        compare(one, other, **FEW)


@pytest.mark.parametrize("clusters", [False, True])
@pytest.mark.parametrize("listed", [None, Scale((0, 1, 2, 3, 4), "interval")])
def test_numbers_without_categories_are_paired_by_their_items(clusters, listed):
    random = np.random.default_rng(4)
    true = random.integers(0, 5, 90)
    said = {
        slips: np.clip(true[:, None] + random.choice([-1, 0, 1], (90, 3), p=slips), 0, 4)
        for slips in ((0.02, 0.96, 0.02), (0.1, 0.8, 0.1))
    }
    rows = [
        pd.DataFrame(
            [
                (f"i{item:02}", rater, int(given[item, at]), f"d{item // 3}")
                for item in items
                for at, rater in enumerate("abc")
            ],
            columns=[*COLUMNS, "cluster"],
        )
        for items, given in zip((range(80), range(10, 90)), said.values(), strict=True)
    ]
    rows = rows if clusters else [each.drop(columns="cluster") for each in rows]
    numbers = Scale(None, "interval")
    one, other = map(Ratings.from_frame, rows, (numbers, listed or numbers))
    found, turned = compare(one, other, **FEW), compare(other, one, **FEW)
    expected = value(one, "krippendorff_alpha") - value(other, "krippendorff_alpha")
    assert found.value == pytest.approx(expected)
    assert turned.value == pytest.approx(-expected)
    assert found.n_shared == 70
    assert f"paired by {'cluster' if clusters else 'item'}" in found.method
    assert found.low < expected < found.high
