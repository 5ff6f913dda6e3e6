"""Labels given again, from a delivery to a release: versions, training rows, and what is proved."""

import json
from dataclasses import replace
from datetime import timedelta

import numpy as np
import pandas as pd
import pytest

from agreement_pipeline.errors import ReleaseHeldError
from agreement_pipeline.policy import Waiver
from agreement_pipeline.ratings import Adjudicated, Ratings, Scale
from agreement_pipeline.release import judge_round, open_release, release_round
from agreement_pipeline.release.decisions import today
from agreement_pipeline.store import Store
from tests.release.rounds import CONTRACT, POLICY, RATERS, SCALE, released

N_ITEMS, N_DISPUTED = 200, 50


def frame_of(last=True, seed=0, share=1.0):
    """Three raters, of whom one differs on a quarter of the items, at first."""
    rng = np.random.default_rng(seed)
    rows = []
    for item in range(N_ITEMS):
        label = SCALE.names[item % 2]
        for place, rater in enumerate(RATERS):
            differs = item < N_DISPUTED and place == item % 3
            again = last and differs and rng.random() < share
            first = SCALE.names[(item + 1) % 2] if differs else label
            rows.append((f"i{item:03}", rater, first, label if again else None))
    return pd.DataFrame(rows, columns=["item", "rater", "label", "last_label"])


def first(frame):
    return Ratings.from_frame(frame[["item", "rater", "label"]], SCALE)


def last(frame):
    said = frame["last_label"].fillna(frame["label"])
    return Ratings.from_frame(frame[["item", "rater"]].assign(label=said), SCALE)


def codes(store):
    return judge_round(store, "r1", POLICY, CONTRACT)[0].decision.codes


def test_a_version_whose_labels_were_given_again_is_held(store, original):
    frame = frame_of(share=0.8)
    store.ingest("r1", first(frame), original)
    assert "labels_given_again" not in codes(store)
    store.ingest("r1", last(frame), original)
    assert codes(store) == ("labels_given_again",)
    with pytest.raises(ReleaseHeldError, match="a fresh random sample of items"):
        released(store)
    # the same labels are admitted as a round that nothing is known of
    store.ingest("r2", last(frame), original)
    assert judge_round(store, "r2", POLICY, CONTRACT)[0].decision.admitted
    # the first ones are judged by themselves
    store.ingest("r1", first(frame), original)
    assert "labels_given_again" not in codes(store)


def test_a_version_in_which_slips_were_corrected_is_not_held(store, original):
    frame = frame_of(last=False)
    few = frame["item"].isin([f"i{item:03}" for item in range(8, N_DISPUTED)])
    label = [SCALE.names[int(item[1:]) % 2] for item in frame["item"]]
    slipped = frame.assign(label=frame["label"].where(~few, label))
    store.ingest("r1", first(slipped), original)
    store.ingest("r1", first(frame.assign(label=label)), original)
    assert codes(store) == ()


def numbered(frame, level):
    """The labels that raters gave first, and those that they gave last, as numbers from 1 to 5."""
    number = {name: str(2 * place + 1) for place, name in enumerate(SCALE.names)}
    scale = Scale(tuple("12345"), level=level)
    again = frame["last_label"].fillna(frame["label"])
    return [
        Ratings.from_frame(frame[["item", "rater"]].assign(label=said.map(number)), scale)
        for said in (frame["label"], again)
    ]


@pytest.mark.parametrize(
    ("before", "now"),
    [("nominal", "interval"), ("interval", "nominal"), ("ordinal", "ratio")],
)
def test_another_level_hides_no_labels_given_again(store, original, before, now):
    store.ingest("r1", numbered(frame_of(share=0.8), before)[0], original)
    store.ingest("r1", numbered(frame_of(share=0.8), now)[1], original)
    assert "labels_given_again" in codes(store)


@pytest.mark.parametrize(("before", "now"), [("nominal", "interval"), ("interval", "ordinal")])
def test_another_level_of_the_same_labels_is_no_second_look(store, original, before, now):
    store.ingest("r1", numbered(frame_of(), before)[0], original)
    store.ingest("r1", numbered(frame_of(), now)[0], original)
    assert "labels_given_again" not in codes(store)


def test_a_rater_who_is_gone_is_named_and_a_new_one_is_not(store, original):
    frame = frame_of(last=False)
    less = frame[frame["rater"] != RATERS[2]]
    store.ingest("r1", first(less), original)
    store.ingest("r1", first(frame), original)
    (with_all,) = judge_round(store, "r1", POLICY, CONTRACT)[0].decision.findings[-1:]
    assert with_all.check != "raters_gone"
    store.ingest("r2", first(frame), original)
    store.ingest("r2", first(less), original)
    (found,) = judge_round(store, "r2", POLICY, CONTRACT)[0].decision.findings[-1:]
    assert (found.check, found.holds) == ("raters_gone", False)
    assert found.description.startswith("1 of 3 raters have no label in this version")
    assert RATERS[2] not in found.description


def good_frame():
    """Two items in ten are disputed, of four hundred. Without those, nearly none is."""
    rows = [
        (f"i{item:03}", rater, SCALE.names[(item + (item % 10 < 2 and place == item % 3)) % 2])
        for item in range(400)
        for place, rater in enumerate(RATERS)
    ]
    return pd.DataFrame(rows, columns=["item", "rater", "label"])


def waiver_of(decision, check):
    return Waiver(
        project="demo",
        round="r1",
        ratings_digest=decision.ratings_digest,
        measure=None,
        check=check,
        contract_digest=decision.contract_digest,
        who="Dana Okoye",
        why="The tool had lost a page of the guideline.",
        until=today() + timedelta(days=9),
    )


def number(frame):
    return frame["item"].str[1:].astype(int)


@pytest.mark.parametrize("what", ["items", "labels"])
def test_a_version_from_which_disputed_items_or_labels_are_gone_is_held(store, original, what):
    frame = good_frame()
    differs = number(frame) % 10 < 2
    if what == "labels":
        differs &= frame["rater"].map({name: at for at, name in enumerate(RATERS)}) == (
            number(frame) % 3
        )
    gone = differs & (number(frame) > 30)
    store.ingest("r1", first(frame), original)
    assert "disputed_items_dropped" not in codes(store)
    store.ingest("r1", first(frame[~gone]), original)
    assert codes(store) == ("disputed_items_dropped",)
    decided = judge_round(store, "r1", POLICY, CONTRACT)[0].decision
    n_gone = {"labels": 73, "items": 219}[what]
    words = f"{n_gone} of 1200 labels are gone; 73 of their 73 items were disputed instead of about"
    assert words in decided.reasons[0]
    # a person may say why they went, and the release names who
    found = release_round(
        store,
        "r1",
        POLICY,
        CONTRACT,
        project="demo",
        waivers=[waiver_of(decided, "disputed_items_dropped")],
    )
    assert "**Under a waiver.** Dana Okoye" in (found.path / "README.md").read_text()
    assert open_release(found.path, store=store).rounds == ("r1",)


def test_items_that_are_gone_at_random_hold_nothing(store, original):
    frame = good_frame()
    store.ingest("r1", first(frame), original)
    drawn = np.random.default_rng(2).random(400) < 0.25
    store.ingest("r1", first(frame[~drawn[number(frame)]]), original)
    assert "disputed_items_dropped" not in codes(store)
    # a fresh sample under the name has no item of the first one
    fresh = frame[number(frame) % 10 > 1].assign(item=lambda made: "x" + made["item"])
    store.ingest("r1", first(fresh), original)
    assert codes(store) == ()


def test_labels_given_again_can_be_waived(store, original):
    frame = frame_of(share=0.8)
    store.ingest("r1", first(frame), original)
    store.ingest("r1", last(frame), original)
    held = judge_round(store, "r1", POLICY, CONTRACT)[0].decision
    waiver = waiver_of(held, "labels_given_again")
    found = judge_round(store, "r1", POLICY, CONTRACT, waivers=[waiver])[0].decision
    assert found.admitted
    assert found.waived == (waiver,)
    other = replace(waiver, ratings_digest="0" * 64)
    assert not judge_round(store, "r1", POLICY, CONTRACT, waivers=[other])[0].decision.admitted


def test_a_release_whose_waiver_is_gone_says_which_labels_hold_it(store, original):
    frame = frame_of(share=0.8)
    store.ingest("r1", first(frame), original)
    store.ingest("r1", last(frame), original)
    held = judge_round(store, "r1", POLICY, CONTRACT)[0].decision
    by = [waiver_of(held, "labels_given_again")]
    found = release_round(store, "r1", POLICY, CONTRACT, project="demo", waivers=by)
    assert judge_round(store, "r1", POLICY, CONTRACT)[1]
    notice = json.loads((found.path / "WITHDRAWN.json").read_text())
    assert notice["reasons"] == list(held.reasons)


def test_last_labels_train_and_first_ones_are_judged_and_released(store, original):
    rows = frame_of(last=False)
    disputed = rows["item"] < "i008"
    right = [SCALE.names[int(item[1:]) % 2] for item in rows["item"]]
    frame = rows.assign(label=rows["label"].where(disputed, right))
    # two of three give another label later, so the label of the panel is another
    again = (rows["item"] == "i000") & (rows["rater"] != RATERS[0])
    frame["last_label"] = frame["label"].map({"no": "yes", "yes": "no"}).where(again, None)
    ratings = Ratings.from_frame(frame, SCALE)
    plain = first(frame)
    store.ingest("r1", ratings, original)
    store.ingest("r2", plain, original)
    found = open_release(released(store).path)
    other = open_release(released(store, name="r2").path)
    train, before = (each.train.set_index("id") for each in (found, other))
    assert train.loc["i000", "resolution"] == "relabelled"
    assert (before.loc["i000", "label"], train.loc["i000", "label"]) == ("no", "yes")
    assert train.loc["i000", "panel_votes"] == before.loc["i000", "votes"]
    assert train.loc["i000", "soft_label"][SCALE.names.index("yes")] > 0.5
    assert train["label"].drop("i000").equals(before["label"].drop("i000"))
    assert "1 item got the label that raters gave later." in (found.path / "README.md").read_text()
    assert found.annotations["last_label"].notna().sum() == 2
    verdicts, of_first = (
        each.decisions[name]["verdicts"] for each, name in ((found, "r1"), (other, "r2"))
    )
    assert verdicts == of_first


def test_last_labels_may_not_overrule_raters_who_agreed(store, original):
    frame = frame_of(last=False).query("item >= 'i050'").reset_index(drop=True)
    other = frame["label"].map({"no": "yes", "yes": "no"})
    all_changed = frame.assign(last_label=other)
    store.ingest("r1", Ratings.from_frame(all_changed, SCALE), original)
    with pytest.raises(ReleaseHeldError, match="found later labels against all raters on 150 of"):
        released(store)


def test_settled_labels_are_the_way_out(store, original):
    frame = frame_of(last=False).query("item >= 'i042'").reset_index(drop=True)
    ratings = first(frame)
    store.ingest("r1", ratings, original)
    item = f"i{N_DISPUTED - 1:03}"
    answers = {"r1": Adjudicated(ratings.digest, {item: "no"})}
    found = release_round(store, "r1", POLICY, CONTRACT, project="demo", adjudicated=answers)
    assert found.train.set_index("id").loc[item, "resolution"] == "adjudicated"


def test_a_policy_that_asks_for_first_labels_is_in_the_release(store, original):
    frame = frame_of().query("item >= 'i042'").reset_index(drop=True)
    store.ingest("r1", Ratings.from_frame(frame, SCALE), original)
    asking = replace(POLICY, policy="asking", first_labels="required")
    path = released(store, asking).path
    assert json.loads((path / "policy.json").read_text())["policy"]["first_labels"] == "required"
    assert open_release(path).rounds == ("r1",)


@pytest.mark.parametrize(
    ("asked", "n_read"),
    [((), 1), (("disputed_items_dropped",), 2), (("labels_given_again",), 2)],
)
def test_earlier_versions_are_read_only_for_what_is_asked(
    store, original, monkeypatch, asked, n_read
):
    frame = frame_of(share=0.8)
    for ratings in (first(frame), last(frame)):
        store.ingest("r1", ratings, original)
    effects = dict.fromkeys(("labels_given_again", "disputed_items_dropped"), "not_asked")
    integrity = replace(POLICY.integrity, **effects | dict.fromkeys(asked, "warn"))
    read, ratings_of = list[str](), Store.ratings_of

    def read_and_note(store, version):
        read.append(version.ratings_digest)
        return ratings_of(store, version)

    monkeypatch.setattr(Store, "ratings_of", read_and_note)
    judge_round(store, "r1", replace(POLICY, policy="asks", integrity=integrity), CONTRACT)
    assert len({*read}) == n_read
