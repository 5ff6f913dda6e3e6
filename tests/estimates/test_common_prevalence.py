"""Two rounds whose prevalence differs: what is said, and the comparison at a common prevalence."""

import itertools
import math

import numpy as np
import pandas as pd
import pytest

from agreement_pipeline.errors import AgreementError
from agreement_pipeline.estimates import compare
from agreement_pipeline.intervals import Inference
from agreement_pipeline.ratings import Ratings, Scale

FEW = Inference(n_resamples=1000)
RIGHT = {"no": 0.96, "yes": 0.94}
"""How often a rater labels an item of each category rightly."""


def chances(prevalence, raters):
    """Every combination of labels and how likely it is, if errors are independent."""
    for labels in itertools.product(("no", "yes"), repeat=raters):
        likely = {
            truth: share
            * math.prod(RIGHT[truth] if y == truth else 1 - RIGHT[truth] for y in labels)
            for truth, share in (("no", 1 - prevalence), ("yes", prevalence))
        }
        yield labels, likely


def expected(prevalence, raters=3, n=4000, first=0):
    """A round that shows each combination as often as is expected."""
    counts = ((labels, round(n * sum(p.values()))) for labels, p in chances(prevalence, raters))
    items = [labels for labels, times in counts for _ in range(times)]
    rows = [(first + i, r, y) for i, labels in enumerate(items) for r, y in enumerate(labels)]
    frame = pd.DataFrame(rows, columns=["item", "rater", "label"])
    return Ratings.from_frame(frame, Scale(("no", "yes")))


def alpha(prevalence):
    """Krippendorff's alpha of such raters, from two ratings of an item at a time."""
    differ = same = 0.0
    yes = 0.0
    for labels, likely in chances(prevalence, 2):
        share = sum(likely.values())
        differ, same = (differ + share, same) if len(set(labels)) > 1 else (differ, same + share)
        yes += share * labels.count("yes") / 2
    assert differ + same == pytest.approx(1)
    return 1 - differ / (2 * yes * (1 - yes))


@pytest.fixture(scope="module")
def rounds():
    return expected(0.5), expected(0.2, first=10_000)


def test_a_difference_that_is_one_of_prevalence_is_said_to_be_one(rounds):
    found = compare(*rounds, inference=FEW)
    assert found.values == pytest.approx((alpha(0.5), alpha(0.2)), abs=0.002)
    assert found.interval.low > 0
    shares = [0.5 * 0.94 + 0.5 * 0.04, 0.2 * 0.94 + 0.8 * 0.04]
    assert [each[1] for each in (found.prevalences.one, found.prevalences.other)] == pytest.approx(
        shares, abs=0.001
    )
    assert found.note == "prevalence differs: no 0.51 and 0.78, yes 0.49 and 0.22"
    assert found.to_mapping()["prevalences"]["differing"] == ["no", "yes"]


def test_at_a_common_prevalence_raters_who_err_alike_agree_alike(rounds):
    found = compare(*rounds, common_prevalence=True, inference=FEW)
    assert found.common_prevalence == pytest.approx({"no": 0.65, "yes": 0.35}, abs=0.002)
    assert found.values == pytest.approx([alpha(0.35)] * 2, abs=0.003)
    assert found.interval.low < 0 < found.interval.high
    assert found.prevalence == "both no 0.65, yes 0.35"
    assert found.method.endswith("at a common prevalence")


def test_rounds_of_one_prevalence_are_not_said_to_differ(rounds):
    again = expected(0.5, n=2000, first=20_000)
    found = compare(rounds[0], again, inference=FEW)
    assert found.note is None
    assert found.prevalence in ("no 0.51 and 0.51", "yes 0.49 and 0.49")


def test_shared_items_are_paired_at_a_common_prevalence_too(rounds):
    labels = rounds[0].to_pandas().assign(label=lambda t: t["label"].astype(str))
    careless = labels["label"].where(
        (labels["item"].astype(int) % 7 > 0) | (labels["rater"] != "2"), "no"
    )
    other = Ratings.from_frame(labels.assign(label=careless), Scale(("no", "yes")))
    found = compare(rounds[0], other, common_prevalence=True, inference=FEW)
    assert found.n_shared == len(set(labels["item"]))
    assert found.interval.low > 0


@pytest.mark.parametrize(
    ("one", "other", "why"),
    [
        (
            {"raters": 2},
            {},
            "fewer than half of its rated items have three ratings, and fewer ratings do not tell "
            "prevalence from errors",
        ),
        (
            {"keep": "no"},
            {},
            "nobody gave ['yes'], so there is no prevalence that both sides can have",
        ),
    ],
)
def test_without_evidence_there_is_no_common_prevalence(one, other, why):
    sides = []
    for place, settings in enumerate((one, other)):
        keep = settings.pop("keep", None)
        made = expected(0.3, n=300, first=1000 * place, **settings)
        table = made.to_pandas() if keep is None else made.to_pandas().assign(label=keep)
        if keep is not None:
            table.loc[table.index[0], "label"] = "maybe"
        sides.append(Ratings.from_frame(table, Scale(("no", "yes", "maybe"))))
    found = compare(*sides, common_prevalence=True, inference=FEW)
    assert found.value is None
    assert why in found.undefined
    assert found.prevalence == "none in common"


def test_only_first_labels_of_two_rounds_have_a_common_prevalence(rounds):
    with pytest.raises(AgreementError, match="found a common prevalence and two names"):
        compare(rounds[0], between=("0", "1"), common_prevalence=True)
    numbers = [
        Ratings.from_frame(
            each.to_pandas().assign(
                label=each.to_pandas()["label"].map({"no": 0.0, "yes": 1.0}).astype(float)
            ),
            Scale(None, "interval"),
        )
        for each in rounds
    ]
    with pytest.raises(AgreementError, match="expected one of the labels of all raters"):
        compare(*numbers, measure="icc_1_1", common_prevalence=True, inference=FEW)


def test_the_classes_are_those_of_a_slow_search():
    """Expectation and maximisation item by item, in plain Python."""
    from agreement_pipeline.estimates.comparison import estimate_latent_classes

    rows = [(3, 0), (2, 1), (1, 2), (0, 3)]
    weights = [70, 12, 9, 40]
    share, labels = [0.5, 0.5], [[0.9, 0.1], [0.1, 0.9]]
    for _ in range(3000):
        held = []
        for row in rows:
            likely = [share[t] * math.prod(labels[t][k] ** row[k] for k in (0, 1)) for t in (0, 1)]
            held.append([each / sum(likely) for each in likely])
        for t in (0, 1):
            share[t] = sum(w * h[t] for w, h in zip(weights, held, strict=True)) / sum(weights)
            given = [
                sum(w * h[t] * row[k] for w, h, row in zip(weights, held, rows, strict=True))
                for k in (0, 1)
            ]
            labels[t] = [each / sum(given) for each in given]
    found = estimate_latent_classes(np.array(rows, dtype=float), np.array(weights, dtype=float))
    assert found.settled
    assert found.shares == pytest.approx(share, abs=1e-4)
    assert found.labels == pytest.approx(np.array(labels), abs=1e-4)
