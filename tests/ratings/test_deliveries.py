"""What came before is left out or marked, as a slow loop over the rows does it."""

import numpy as np
import pandas as pd
import pytest

from agreement_pipeline import Ratings, Scale
from agreement_pipeline.errors import RatingsError
from agreement_pipeline.ratings import EarlierDelivery, mark_first_deliveries
from agreement_pipeline.ratings import deliveries as module

SCALE = Scale(("no", "yes", "perhaps"))
COLUMN = "stratum:first_delivered"


def rows(items, seed=0, raters="abc", **more):
    rng = np.random.default_rng((59, seed))
    return [
        {"item": f"i{at:03}", "rater": rater, "label": SCALE.names[rng.integers(3)]}
        | {name: made(at, rater) for name, made in more.items()}
        for at in items
        for rater in raters
    ]


def texts(at, _):
    return f"text {at}"


def renamed(some, prefix="k"):
    return [{**row, "item": f"{prefix}{row['item']}"} for row in some]


def other_label(row):
    return {**row, "label": SCALE.names[SCALE.names.index(row["label"]) - 1]}


OLD, NEW = rows(range(40)), rows(range(40, 60), seed=1)
WITH_TEXTS = rows(range(40), text=texts)
NEW_TEXTS = rows(range(40, 60), seed=1, text=texts)
AT_TEN = rows(range(40), timestamp=lambda *_: "2026-11-02T10:00:00Z")
CLASSIFIED = [row for row in OLD if row["rater"] != "c"]
VARIANTS = {
    "all before and some new": (OLD, OLD + NEW),
    "the same again": (OLD, OLD),
    "nothing before": (OLD, NEW),
    "a new order of rows": (OLD, (OLD + NEW)[::-1]),
    "earlier items deleted": (OLD, OLD[60:] + NEW),
    "one label edited": (OLD, [other_label(OLD[0]), *OLD[1:], *NEW]),
    "many labels edited": (OLD, [*map(other_label, OLD[:45]), *OLD[45:], *NEW]),
    "a rating withdrawn": (OLD, OLD[1:] + NEW),
    "a rater added to all": (OLD, OLD + rows(range(40), 2, "d") + NEW),
    "a rater added to some": (OLD, OLD + rows(range(7), 2, "d") + NEW),
    "a rater gone": (OLD, [row for row in OLD if row["rater"] != "a"] + NEW),
    "all raters are others": (OLD, [{**row, "rater": row["rater"] * 2} for row in OLD] + NEW),
    "items half done before": (OLD[:-2], OLD + NEW),
    "other names, the same texts": (WITH_TEXTS, renamed(WITH_TEXTS) + NEW_TEXTS),
    "some other names, the same texts": (
        WITH_TEXTS,
        renamed(WITH_TEXTS[:30]) + WITH_TEXTS[30:] + NEW_TEXTS,
    ),
    "names used again for other texts": (
        WITH_TEXTS,
        [{**row, "text": f"other {row['text']}"} for row in WITH_TEXTS],
    ),
    "texts in one of the two": (OLD, WITH_TEXTS + NEW_TEXTS),
    "two items of one text": (
        [*WITH_TEXTS, *rows([90], text=lambda *_: "text 3")],
        [*WITH_TEXTS, *rows([91, 92], text=lambda *_: "text 3")],
    ),
    "names moved by one": (
        WITH_TEXTS,
        [{**row, "item": f"i{int(row['item'][1:]) + 1:03}"} for row in WITH_TEXTS + NEW_TEXTS],
    ),
    "labelled again at another time": (
        AT_TEN,
        [{**row, "timestamp": "2026-11-09T10:00:00Z"} for row in AT_TEN[:30]] + AT_TEN[30:],
    ),
    "gold items among them": (
        [{**row, "gold": row["item"] < "i010"} for row in OLD],
        [{**row, "gold": row["item"] < "i010"} for row in OLD + NEW],
    ),
    "replicates in a round": (
        [{**row, "occurrence": 1} for row in OLD],
        [{**row, "occurrence": 1} for row in OLD + NEW]
        + [{**row, "occurrence": 2} for row in OLD[:9]],
    ),
    "clusters and strata": (
        [{**row, "cluster": row["item"][:3], "stratum:tongue": "en"} for row in OLD],
        [{**row, "cluster": row["item"][:3], "stratum:tongue": "en"} for row in OLD + NEW],
    ),
    "weights": (
        [{**row, "weight": 3} for row in OLD],
        [{**row, "weight": 3} for row in OLD + NEW],
    ),
}


def ratings_of(some, **more):
    return Ratings.from_frame(pd.DataFrame(some), SCALE, **more)


def by_item(some):
    found = {}
    for row in some:
        label = (row["rater"], row.get("occurrence", 1), row["label"])
        found.setdefault(row["item"], []).append((label, row.get("timestamp")))
    return found


def text_by_item(some):
    return {row["item"]: row.get("text") for row in some}


def matched_slowly(before, now):
    """The item of `before` that each item of `now` is."""
    then, here = text_by_item(before), text_by_item(now)
    found = {
        item: item
        for item, text in here.items()
        if item in then and (None in (text, then[item]) or text == then[item])
    }
    left = sorted(set(then) - set(found.values()))
    for item in sorted(set(here) - set(found)):
        same = next((one for one in left if here[item] and then[one] == here[item]), None)
        if same is not None:
            left.remove(same)
            found[item] = same
    return found


def split_slowly(before, now):
    """Which items came before, and which of these have no new rating."""
    matches, then = matched_slowly(before, now), by_item(before)

    def is_old(item, label, time):
        return any(
            label == other and (None in (time, at) or time == at)
            for other, at in then[matches[item]]
        )

    unchanged = {
        item
        for item, said in by_item(now).items()
        if item in matches and all(is_old(item, *each) for each in said)
    }
    return set(matches), unchanged


@pytest.mark.parametrize("variant", VARIANTS)
def test_a_cumulative_delivery_is_its_new_items_and_those_with_new_ratings(variant):
    before, now = VARIANTS[variant]
    came, unchanged = split_slowly(before, now)
    own = [row for row in now if row["item"] not in unchanged]
    earlier = [EarlierDelivery("w1", ratings_of(before))]
    if not own:
        with pytest.raises(RatingsError, match="nothing that is new"):
            mark_first_deliveries(ratings_of(now), earlier, "w2", "cumulative", times_tell=True)
        return
    found = mark_first_deliveries(ratings_of(now), earlier, "w2", "cumulative", times_tell=True)
    items = {row["item"] for row in own}
    if came & items and items - came:
        own = [{**row, COLUMN: "w1" if row["item"] in came else "w2"} for row in own]
    assert found.digest == ratings_of(own).digest
    assert found.strata.get("first_delivered", ()) == tuple(sorted({*_strata(own)}))
    n_elsewhere = {"w1": len(unchanged)} if unchanged else {}
    assert dict(found.origin.items_before if found.origin else {}) == n_elsewhere


@pytest.mark.parametrize("variant", VARIANTS)
def test_a_delivery_that_nothing_is_said_of_stays_whole_and_is_marked(variant):
    before, now = VARIANTS[variant]
    came, unchanged = split_slowly(before, now)
    earlier = [EarlierDelivery("w1", ratings_of(before))]
    found = mark_first_deliveries(ratings_of(now), earlier, "w2", times_tell=True)
    marked = [{**row, COLUMN: "w1" if row["item"] in came else "w2"} for row in now]
    assert found.digest == ratings_of(marked if 0 < len(came) < len(by_item(now)) else now).digest
    gold = {row["item"] for row in now if row.get("gold")}
    assert (found.origin.unchanged if found.origin else 0) == len(unchanged - gold)


def _strata(some):
    return {row[COLUMN] for row in some if COLUMN in row and not row.get("gold")}


def test_items_are_counted_with_the_first_round_that_has_them():
    w1, w2 = ratings_of(OLD), ratings_of(OLD[60:] + NEW[:30])
    earlier = [EarlierDelivery("w1", w1), EarlierDelivery("w2", w2)]
    found = mark_first_deliveries(ratings_of(OLD + NEW), earlier, "w3", "cumulative")
    assert found.digest == ratings_of(NEW[30:]).digest
    assert dict(found.origin.items_before) == {"w1": 40, "w2": 10}


def test_an_earlier_delivery_of_the_round_leaves_nothing_out():
    earlier = [EarlierDelivery("w1", ratings_of(OLD), of_same_round=True)]
    again = mark_first_deliveries(ratings_of(OLD), earlier, "w1, delivery 2", "cumulative")
    assert again.digest == ratings_of(OLD).digest
    grown = mark_first_deliveries(ratings_of(OLD + NEW), earlier, "w1, delivery 2", "cumulative")
    assert grown.strata["first_delivered"] == ("w1", "w1, delivery 2")
    assert len(grown) == len(OLD + NEW)
    assert not grown.origin.unchanged


def test_new_predictions_of_a_model_are_no_new_ratings():
    of_model = [{**other_label(row), "rater": "gpt"} for row in OLD if row["rater"] == "a"]
    before = ratings_of(OLD + [other_label(row) for row in of_model], classifiers=["gpt"])
    now = ratings_of(OLD + of_model + NEW, classifiers=["gpt"])
    found = mark_first_deliveries(now, [EarlierDelivery("w1", before)], "w2", "cumulative")
    assert (found.classifiers, found.digest) == ((), ratings_of(NEW).digest)


def test_a_document_stays_whole_where_its_objects_are_the_items():
    in_documents = [{**row, "cluster": row["item"][:3]} for row in OLD]
    now = [*in_documents[:-1], other_label(in_documents[-1])]
    earlier = [EarlierDelivery("w1", ratings_of(in_documents))]
    found = mark_first_deliveries(ratings_of(now), earlier, "w2", "cumulative", whole_clusters=True)
    assert found.n_items == sum(row["cluster"] == "i03" for row in now) / 3 == 10


@pytest.mark.parametrize(
    ("scale", "labels"),
    [
        (Scale(None, "interval"), (0.5, 2.25, 3)),
        (Scale((1, 2, 3), "ordinal"), (1, 2, 3)),
        (Scale(None, "multivariate interval", dimensions=2), ("1|2", "2|2", "1.5|3")),
    ],
)
def test_numbers_and_vectors_are_compared_as_categories_are(scale, labels):
    numbers = [{**row, "label": labels[SCALE.names.index(row["label"])]} for row in OLD + NEW]
    before, now = (
        Ratings.from_frame(pd.DataFrame(some), scale) for some in (numbers[: len(OLD)], numbers)
    )
    found = mark_first_deliveries(now, [EarlierDelivery("w1", before)], "w2", "cumulative")
    assert found.digest == Ratings.from_frame(pd.DataFrame(numbers[len(OLD) :]), scale).digest


@pytest.mark.parametrize("shares", [(0.1, 0.8, 0.1), (0.34, 0.33, 0.33)])
def test_numbers_of_rows_are_no_names_of_items(shares):
    """Chance alone makes most labels equal where one category prevails."""
    rng = np.random.default_rng(7)

    def numbered(n):
        truths = rng.choice(SCALE.names, n, p=shares)
        return [
            {"item": str(at), "rater": rater, "label": truth}
            for at, truth in enumerate(truths)
            for rater in "abc"
        ]

    before, now = numbered(200), numbered(260)
    earlier = [EarlierDelivery("w1", ratings_of(before))]
    for said in (None, "cumulative"):
        found = mark_first_deliveries(ratings_of(now), earlier, "w2", said)
        assert found.digest == ratings_of(now).digest
    mixed = mark_first_deliveries(ratings_of(before + now[600:]), earlier, "w2", "cumulative")
    assert mixed.n_items == 60


def test_so_many_deliveries_share_a_stratum_with_older_ones(monkeypatch):
    monkeypatch.setattr(module, "MAX_DELIVERIES_NAMED", 3)
    every = rows(range(60))
    earlier = [
        EarlierDelivery(f"w{at}", ratings_of(every[30 * at : 30 * at + 30])) for at in range(5)
    ]
    found = mark_first_deliveries(ratings_of(every), earlier, "w5")
    assert found.strata["first_delivered"] == ("before w3", "w3", "w4", "w5")


def test_deliveries_whose_names_print_alike_are_numbered():
    earlier = [EarlierDelivery("W1", ratings_of(OLD))]
    found = mark_first_deliveries(ratings_of(OLD + NEW), earlier, "w1")
    assert found.strata["first_delivered"] == ("delivery 1", "delivery 2")
