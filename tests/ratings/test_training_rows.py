"""Training rows of random histories of rounds, against a slow loop over what was delivered."""

import math
import random
from collections import Counter

import numpy as np
import pandas as pd
import pytest

from agreement_pipeline import Ratings, Scale
from agreement_pipeline.ratings import RESOLUTIONS, Adjudicated, LabelledRound, TrainingRows

MODEL = "model"
UNRESOLVED = {"tie", "single", "conflict"}
SCALES = {
    "categories": Scale(("no", "maybe", "yes")),
    "ordinal": Scale((1, 2, 3), "ordinal"),
    "numbers": Scale((1, 2, 4), "interval"),
    "continuum": Scale(None, "interval"),
}
N_HISTORIES = 60
"""By scale."""


def random_history(scale, seed, n_items=6, *, noise=0.3, share_changed=0.15, has_models=True):
    """Rounds as lists of dicts, with adjudicated answers and the classifier of each.

    Raters give another label than the usual one of an item with the probability `noise`.
    `share_changed` of ratings are changed later, and of items adjudicated.
    """
    rng = random.Random(seed)
    names = scale.names or ("1.5", "2", "3.25", "10")
    history = []
    for n in range(rng.randint(1, 3)):
        rows, favourite = [], rng.choice(names)
        has_model = has_models and not scale.numeric and rng.random() < 0.3
        gold = {f"i{item}" for item in range(n_items) if rng.random() < 0.1}
        for item in (f"i{k}" for k in range(n_items) if rng.random() < 0.8):
            usual = rng.choice((favourite, rng.choice(names)))
            for rater in "abcd":
                if rng.random() < 0.55:
                    label = usual if rng.random() < 1 - noise else rng.choice(names)
                    last = rng.choice(names) if rng.random() < share_changed else None
                    rows.append({"item": item, "rater": rater, "label": label, "last_label": last})
            if has_model:
                rows.append({"item": item, "rater": MODEL, "label": rng.choice(names)})
        rows = [{"gold": row["item"] in gold, "last_label": None} | row for row in rows]
        people = [row for row in rows if row["rater"] != MODEL and not row["gold"]]
        if not people:
            more = {"noise": noise, "share_changed": share_changed, "has_models": has_models}
            return random_history(scale, seed + 100_000, n_items, **more)
        rated = sorted({row["item"] for row in people})
        adjudicated = {item: rng.choice(names) for item in rated if rng.random() < share_changed}
        history.append((f"w{n}", rows, adjudicated, MODEL if has_model else None))
    return history


def labelled(scale, history):
    rounds = [
        (name, Ratings.from_frame(pd.DataFrame(rows), scale, classifiers=[model] if model else ()))
        for name, rows, _, model in history
    ]
    gold = frozenset().union(*(ratings.gold for _, ratings in rounds))
    found = []
    for (name, ratings), (_, _, answers, model) in zip(rounds, history, strict=True):
        without_gold = ratings.with_gold(gold)
        if without_gold.n_items:
            labels = {item: label for item, label in answers.items() if item not in gold}
            adjudicated = Adjudicated(ratings.digest, labels)
            found.append(LabelledRound(name, without_gold, adjudicated, model))
    return found


def settled(labels, n_raters, numeric):
    """The label and the resolution of an item by the ratings alone, as the guide says it."""
    if n_raters <= 1:
        return None, "single"
    if len(set(labels)) == 1:
        return labels[0], "unanimous"
    if numeric:
        return math.fsum(labels) / len(labels), "mean"
    (first, n_first), *others = Counter(labels).most_common()
    if others and others[0][1] == n_first:
        return None, "tie"
    return first, "plurality"


def gold_items(history):
    return {row["item"] for _, rows, _, _ in history for row in rows if row["gold"]}


def slow_rows(scale, rounds, gold=None):
    """What each row must hold, item by item, from the delivered rows. Of some rounds of a project,
    `gold` are the gold items of all.
    """
    numeric = scale.numeric
    gold = gold_items(rounds) if gold is None else gold
    read = float if numeric else str
    expected = {}
    for item in sorted({row["item"] for _, rows, _, _ in rounds for row in rows} - gold):
        first, last, raters, by_round, answers, silver, names = [], [], set(), [], [], [], []
        is_relabelled = False
        for name, rows, adjudicated, _ in rounds:
            here = [row for row in rows if row["item"] == item]
            people = [row for row in here if row["rater"] != MODEL]
            silver += [row["label"] for row in here if row["rater"] == MODEL]
            names += [name] if here else []
            if not people:
                continue
            first += [read(row["label"]) for row in people]
            now = [read(row["last_label"] or row["label"]) for row in people]
            last += now
            is_relabelled |= any(row["last_label"] not in (None, row["label"]) for row in people)
            raters |= {row["rater"] for row in people}
            label, _ = settled(now, len(people), numeric)
            by_round += [label] if label is not None else []
            answers += [read(adjudicated[item])] if item in adjudicated else []
        label, resolution = settled(last, len(raters), numeric)
        if label is not None and is_relabelled:
            resolution = "relabelled"
        if not numeric and len(set(by_round)) > 1:
            label, resolution = None, "conflict"
        if label is None and resolution != "conflict" and silver:
            label, resolution = (
                (silver[0], "silver") if len(set(silver)) == 1 else (None, "conflict")
            )
        if answers and numeric:
            label, resolution = math.fsum(answers) / len(answers), "adjudicated"
        elif answers:
            label = answers[0] if len(set(answers)) == 1 else None
            resolution = "conflict" if label is None else "adjudicated"
        trains = [] if resolution in ("adjudicated", "silver") else last
        expected[item] = {
            "label": label,
            "resolution": resolution,
            "trains": trains,
            "first": first,
            "n_raters": len(raters),
            "n_ratings": len(last),
            "rounds": names,
        }
    return expected


def deviation(numbers):
    if len(numbers) < 2:
        return None
    mean = math.fsum(numbers) / len(numbers)
    return math.sqrt(math.fsum((each - mean) ** 2 for each in numbers) / (len(numbers) - 1))


def assert_row(scale, row, expected):
    """All columns of a row are what the slow loop gives, and none contradicts another."""
    label, resolution, trains = expected["label"], expected["resolution"], expected["trains"]
    assert row["resolution"] == resolution
    assert (label is None) == (resolution in UNRESOLVED)
    for name in ("n_raters", "n_ratings", "rounds"):
        assert row[name] == expected[name], name
    if label is not None:
        found = row["label"] if scale.numeric else scale.names[int(row["label"])]
        assert found == label
    if scale.names:
        kind = [float(each) for each in scale.names] if scale.numeric else scale.names
        assert row["votes"] == [trains.count(each) for each in kind]
        total = len(trains)
        shares = [trains.count(each) / total for each in kind] if total else None
        if resolution == "adjudicated":
            shares = [float(n == row["nearest"]) for n in range(len(kind))]
        if shares is None:
            assert all(map(math.isnan, row["soft_label"]))
            assert math.isnan(row["entropy_bits"])
        else:
            assert row["soft_label"] == pytest.approx(shares, abs=1e-15)
            entropy = -math.fsum(share * math.log2(share) for share in shares if share)
            assert row["entropy_bits"] == pytest.approx(entropy, abs=1e-12)
            if not scale.numeric and label is not None:
                assert row["soft_label"][int(row["label"])] == max(row["soft_label"])
        if row["panel_votes"] is not None:
            assert row["panel_votes"] == [expected["first"].count(each) for each in kind]
    if scale.numeric:
        spread = deviation(trains)
        assert math.isnan(row["spread"]) == (spread is None)
        assert spread is None or row["spread"] == pytest.approx(spread, abs=1e-12)
        if row["panel_mean"] is not None:
            mean = math.fsum(expected["first"]) / len(expected["first"])
            assert row["panel_mean"] == pytest.approx(mean, abs=1e-12)


def rows_by_item(found):
    optional = ("votes", "spread", "panel_votes", "panel_mean")
    soft = None if found.votes is None else found.soft_label
    entropy = None if found.votes is None else found.entropy_bits
    rounds = found.rounds_of_items().to_pylist()
    for n, item in enumerate(found.items):
        row = {
            name: None if (each := getattr(found, name)) is None else each[n].tolist()
            for name in optional
        }
        row |= {
            "label": found.label[n],
            "resolution": RESOLUTIONS[found.resolution[n]],
            "n_raters": found.n_raters[n],
            "n_ratings": found.n_ratings[n],
            "rounds": rounds[n],
        }
        if soft is not None:
            row |= {"soft_label": soft[n].tolist(), "entropy_bits": entropy[n]}
            values = np.array(found.scale.categories, dtype=object)
            place = found.label[n]
            if found.scale.numeric:
                place = np.abs(values.astype(float) - place).argmin()
            row["nearest"] = int(place)
        yield item, row


@pytest.mark.parametrize("kind", SCALES)
def test_random_histories_give_what_a_slow_loop_gives(kind):
    scale = SCALES[kind]
    resolutions = Counter()
    for seed in range(N_HISTORIES):
        history = random_history(scale, seed)
        rounds = labelled(scale, history)
        if not rounds:
            continue
        gold = {row["item"] for _, rows, _, _ in history for row in rows if row["gold"]}
        in_rounds = {each.name for each in rounds}
        expected = {
            item: row
            for item, row in slow_rows(scale, history).items()
            if in_rounds.issuperset(row["rounds"])
        }
        found = dict(rows_by_item(TrainingRows.build(rounds)))
        assert found.keys() == expected.keys()
        assert not gold & found.keys()
        for item, row in found.items():
            assert_row(scale, row, expected[item])
            resolutions[row["resolution"]] += 1
    always = {"unanimous", "single", "adjudicated", "relabelled"}
    of_categories = {"plurality", "tie", "conflict"} | (
        {"silver"} if kind == "categories" else set()
    )
    assert resolutions.keys() >= always | ({"mean"} if scale.numeric else of_categories)


def test_one_rater_in_two_rounds_is_no_second_opinion():
    scale = SCALES["categories"]
    frame = pd.DataFrame([("i", "ana", "yes"), ("j", "ana", "no"), ("j", "ben", "no")])
    ratings = Ratings.from_frame(frame.set_axis(["item", "rater", "label"], axis=1), scale)
    found = TrainingRows.build([LabelledRound("w1", ratings), LabelledRound("w2", ratings)])
    rows = dict(rows_by_item(found))
    assert (rows["i"]["resolution"], rows["i"]["n_raters"], rows["i"]["n_ratings"]) == (
        "single",
        1,
        2,
    )
    assert (rows["j"]["resolution"], rows["j"]["votes"]) == ("unanimous", [4, 0, 0])


def test_clusters_that_share_an_item_have_one_split():
    scale = SCALES["categories"]

    def ratings(cluster_by_item):
        rows = [(i, r, "no", c) for i, c in cluster_by_item.items() for r in ("ana", "ben")]
        columns = ["item", "rater", "label", "cluster"]
        return Ratings.from_frame(pd.DataFrame(rows, columns=columns), scale)

    rounds = [ratings({"a": "c1", "b": "c2"}), ratings({"b": "c3", "c": "c3", "d": "c4"})]
    names = [LabelledRound(f"w{n}", each) for n, each in enumerate(rounds)]
    found = TrainingRows.build(names)
    assert found.item_columns["cluster"].tolist() == ["c1", "c2", "c3", "c4"]
    assert found.split_keys.tolist() == ["c1", "c2", "c2", "c4"]


def test_some_rows_keep_what_belongs_to_them():
    scale = SCALES["categories"]
    history = random_history(scale, 7)
    found = TrainingRows.build(labelled(scale, history))
    whole = dict(rows_by_item(found))
    places = np.arange(len(found))[::-2]
    for item, row in rows_by_item(found.select_rows(places)):
        assert str(row) == str(whole[item])
