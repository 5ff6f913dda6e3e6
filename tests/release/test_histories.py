"""Releases of random histories of rounds, against a slow loop over what was delivered."""

import os
from collections import Counter

import pandas as pd
import pyarrow.parquet as pq
import pytest

from agreement_pipeline import Ratings
from agreement_pipeline.errors import ReleaseHeldError
from agreement_pipeline.policy import Policy, Rule
from agreement_pipeline.ratings import Adjudicated
from agreement_pipeline.release import release_dataset, verify_release
from tests.ratings.test_training_rows import SCALES, UNRESOLVED, random_history, slow_rows
from tests.release.conftest import delivered
from tests.release.rounds import CONTRACT

N_HISTORIES = int(os.environ.get("RANDOM_HISTORIES", "6"))
"""By scale. The variable of the environment tries more."""


def release_of(folder, scale, history):
    """A release of all rounds together, or None if one of them is held."""
    frames = {name: pd.DataFrame(rows) for name, rows, _, _ in history}
    ratings = {name: Ratings.from_frame(frame, scale) for name, frame in frames.items()}
    folder.mkdir()
    store = delivered(folder, **ratings)
    gold = frozenset().union(*(each.gold for each in ratings.values()))
    adjudicated = {
        name: Adjudicated(
            ratings[name].digest, {item: x for item, x in answers.items() if item not in gold}
        )
        for name, _, answers, _ in history
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
    by = {"project": "demo", "adjudicated": adjudicated}
    try:
        return release_dataset(store, list(ratings), policy, CONTRACT, **by)
    except ReleaseHeldError:
        return None


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
    for seed in range(N_HISTORIES):
        n_items, noise = (50, 0.05) if scale.names else (150, 0.01)
        more = {"noise": noise, "share_changed": 0.03, "has_models": False}
        history = random_history(scale, seed, n_items, **more)
        release = release_of(tmp_path / str(seed), scale, history)
        if release is None:
            continue
        n_released += 1
        assert verify_release(release.path).manifest_digest == release.manifest_digest
        rows = [
            row
            for name in ("data/train", "unresolved/unresolved")
            for row in pq.read_table(release.path / f"{name}-00000-of-00001.parquet").to_pylist()
        ]
        expected = slow_rows(scale, history)
        assert len(rows) == len(expected)
        for row in rows:
            assert_released_row(scale, row, expected[row["id"]])
            resolutions[row["resolution"]] += 1
        gold = {row["item"] for _, rows, _, _ in history for row in rows if row["gold"]}
        delivered_rows = [row for _, delivery, _, _ in history for row in delivery]
        counted = sum(row["item"] not in gold for row in delivered_rows)
        assert sum(row["n_ratings"] for row in rows) == counted
        annotations = pd.read_parquet(release.path / "annotations")
        assert annotations["rater"].notna().sum() == len(delivered_rows)
        assert not gold & {row["id"] for row in rows}
    assert n_released >= N_HISTORIES // 3
    assert resolutions.keys() >= {"unanimous", "single", "adjudicated", "relabelled"}
