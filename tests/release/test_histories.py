"""Releases of random histories of rounds, against a slow loop over what was delivered."""

import os
import shutil
from collections import Counter

import pandas as pd
import pyarrow.parquet as pq
import pytest

from agreement_pipeline import Ratings
from agreement_pipeline.errors import ReleaseHeldError
from agreement_pipeline.policy import Policy, Rule
from agreement_pipeline.ratings import Adjudicated
from agreement_pipeline.release import (
    judge_round,
    release_dataset,
    release_round,
    verify_release,
)
from tests.ratings.test_training_rows import (
    SCALES,
    UNRESOLVED,
    gold_items,
    random_history,
    slow_rows,
)
from tests.release.conftest import delivered
from tests.release.rounds import CONTRACT

N_HISTORIES = int(os.environ.get("RANDOM_HISTORIES", "6"))
"""By scale. The variable of the environment tries more."""
FIRST_SEED = int(os.environ.get("FIRST_RANDOM_HISTORY", "0"))
"""Where the seeds begin, so that many histories can be tried in several processes."""
SEEDS = range(FIRST_SEED, FIRST_SEED + N_HISTORIES)


def random_rounds(scale, seed):
    n_items, noise = (50, 0.05) if scale.names else (150, 0.01)
    more = {"noise": noise, "share_changed": 0.03, "has_models": False}
    return random_history(scale, seed, n_items, **more)


def terms_of(scale, history, ratings):
    """Policy, contract and the answers of adjudicators, for releases of these rounds."""
    adjudicated = {
        name: Adjudicated(ratings[name].digest, answers) for name, _, answers, _ in history
    }
    measure = "percent_agreement" if scale.names else "krippendorff_alpha"
    policy = Policy(
        "histories",
        1,
        (Rule(measure, reliable=0.67, tentative=0.667),),
        admit=("reliable", "tentative"),
        n_resamples=1000,
        passed_by_guessing="this test looks at the rows that are released",
    )
    return {"policy": policy, "contract": CONTRACT, "adjudicated": adjudicated}


def ratings_of(scale, history):
    return {name: Ratings.from_frame(pd.DataFrame(rows), scale) for name, rows, _, _ in history}


def release_of(folder, scale, history):
    """A release of all rounds together, or None if one of them is held."""
    ratings = ratings_of(scale, history)
    folder.mkdir()
    store = delivered(folder, **ratings)
    try:
        return release_dataset(
            store, list(ratings), project="demo", **terms_of(scale, history, ratings)
        )
    except ReleaseHeldError:
        return None


def released_rows(release):
    """All rows of items in the files of a release, which proves itself."""
    assert verify_release(release.path).manifest_digest == release.manifest_digest
    return [
        row
        for name in ("data/train", "unresolved/unresolved")
        for row in pq.read_table(release.path / f"{name}-00000-of-00001.parquet").to_pylist()
    ]


def assert_gold_is_sealed(release, gold):
    annotations = pd.read_parquet(release.path / "annotations")
    if not gold:
        assert "gold_code" not in annotations
        return
    of_gold = annotations["item"].isin(gold)
    assert annotations.loc[of_gold, "label"].isna().all()
    assert not annotations.loc[of_gold & annotations["rater"].notna(), "gold_code"].isna().any()


def assert_released_row(scale, row, expected):
    label, trains = expected["label"], expected["trains"]
    assert row["resolution"] == expected["resolution"]
    assert row["label"] == label
    assert (label is None) == (row["resolution"] in UNRESOLVED)
    for name in ("n_raters", "n_ratings", "rounds"):
        assert row[name] == expected[name], name
    assert row["round"] == expected["rounds"][0]
    if not scale.names:
        return
    kinds = [float(each) for each in scale.names] if scale.numeric else list(scale.names)
    assert row["votes"] == [trains.count(each) for each in kinds]
    if row["resolution"] == "adjudicated":
        assert sorted(row["soft_label"]) == [0] * (len(kinds) - 1) + [1]
    else:
        shares = [trains.count(each) / len(trains) for each in kinds]
        assert row["soft_label"] == pytest.approx(shares, abs=1e-15)
    if not scale.numeric and label is not None:
        assert row["soft_label"][row["label_id"]] == max(row["soft_label"])
        assert kinds[row["label_id"]] == label
    if "panel_votes" in row:
        assert row["panel_votes"] == [expected["first"].count(each) for each in kinds]


@pytest.mark.parametrize("kind", ["categories", "numbers", "continuum"])
def test_releases_of_random_histories_give_what_a_slow_loop_gives(tmp_path, kind):
    scale, n_released, resolutions = SCALES[kind], 0, Counter()
    for seed in SEEDS:
        history = random_rounds(scale, seed)
        release = release_of(tmp_path / str(seed), scale, history)
        if release is None:
            continue
        n_released += 1
        rows = released_rows(release)
        expected = slow_rows(scale, history)
        assert len(rows) == len(expected)
        for row in rows:
            assert_released_row(scale, row, expected[row["id"]])
            resolutions[row["resolution"]] += 1
        gold = gold_items(history)
        delivered_rows = [row for _, delivery, _, _ in history for row in delivery]
        counted = sum(row["item"] not in gold for row in delivered_rows)
        assert sum(row["n_ratings"] for row in rows) == counted
        annotations = pd.read_parquet(release.path / "annotations")
        assert annotations["rater"].notna().sum() == len(delivered_rows)
        assert_gold_is_sealed(release, gold)
        shutil.rmtree(tmp_path / str(seed))
    assert n_released >= N_HISTORIES // 3
    assert resolutions.keys() >= {"unanimous", "single", "adjudicated", "relabelled"}


@pytest.mark.parametrize("kind", ["categories", "numbers", "continuum"])
def test_the_release_of_a_round_follows_what_later_rounds_call_gold(tmp_path, kind):
    """One round after the other comes and is released alone, as a team does it."""
    scale, n_withdrawn, n_checked = SCALES[kind], 0, 0
    for seed in SEEDS[1::2]:
        history, standing, store = random_rounds(scale, seed), {}, None
        ratings = ratings_of(scale, history)
        folder = tmp_path / str(seed)
        folder.mkdir()
        store = delivered(folder)
        terms = terms_of(scale, history, ratings)
        for n, (name, rows, _, _) in enumerate(history):
            store.ingest(name, ratings[name], folder / "export.csv")
            judge_round(store, name, **terms)
            called_gold = {row["item"] for row in rows if row["gold"]}
            for earlier, items in list(standing.items()):
                is_in_force = bool(store.in_force(earlier))
                assert is_in_force is called_gold.isdisjoint(items), (seed, name, earlier)
                if not is_in_force:
                    del standing[earlier]
                    n_withdrawn += 1
            gold = gold_items(history[: n + 1])
            for one_round in history[: n + 1]:
                if one_round[0] in standing:
                    continue
                try:
                    release = release_round(store, one_round[0], project="demo", **terms)
                except ReleaseHeldError:
                    continue
                released = released_rows(release)
                expected = slow_rows(scale, [one_round], gold)
                assert {row["id"] for row in released} == expected.keys()
                for row in released:
                    assert_released_row(scale, row, expected[row["id"]])
                own = {row["item"] for row in one_round[1]}
                assert_gold_is_sealed(release, gold & own)
                elsewhere = gold & own - gold_items([one_round])
                assert release.n_gold_elsewhere == (
                    {one_round[0]: len(elsewhere)} if elsewhere else {}
                )
                standing[one_round[0]] = expected.keys()
                n_checked += 1
        shutil.rmtree(folder)
    assert n_checked >= N_HISTORIES // 6
    assert n_withdrawn or N_HISTORIES < 6
