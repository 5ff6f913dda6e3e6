"""The way back after a held round: raters relabel, and a random sample of the items judges them."""

import json
from dataclasses import dataclass, replace
from datetime import timedelta

import numpy as np
import pandas as pd
import pytest

from agreement_pipeline.errors import ReleaseHeldError, ReleaseInvalidError, StoreError
from agreement_pipeline.policy import Policy, Remedy, RoundRatings, Rule
from agreement_pipeline.ratings import Ratings
from agreement_pipeline.release import (
    Demands,
    judge_round,
    open_release,
    release_round,
    sample_name,
    verify_release,
)
from agreement_pipeline.release.decisions import today
from agreement_pipeline.store import Store, draw_items, order_of_items
from tests.release.rounds import CONTRACT, RATERS, SCALE

N_ITEMS, N_DRAWN = 400, 160
POLICY = Policy(
    "standard",
    1,
    (Rule("krippendorff_alpha", reliable=0.8, tentative=0.667),),
    n_resamples=1000,
)


def label_items(items, error, seed, raters=RATERS):
    """Two categories. Each rater errs by chance, on her own."""
    rng = np.random.default_rng(seed)
    rows = [
        (item, rater, SCALE.names[(int(item[1:]) + (rng.random() < error)) % 2])
        for item in items
        for rater in raters
    ]
    return pd.DataFrame(rows, columns=["item", "rater", "label"])


def relabel(frame, seed, share=0.9):
    """Raters give the right label to most items on which they had differed."""
    n_labels = frame.groupby("item")["label"].transform("nunique")
    chosen = (n_labels > 1) & (np.random.default_rng(seed).random(len(frame)) < share)
    right = [SCALE.names[int(item[1:]) % 2] for item in frame["item"]]
    return frame.assign(label=frame["label"].where(~chosen, right))


def ratings_of(frame):
    return Ratings.from_frame(frame, SCALE)


ITEMS = [f"i{number:03}" for number in range(N_ITEMS)]
HELD = label_items(ITEMS, 0.2, 0)
RELABELLED = relabel(HELD, 1)


@dataclass
class HeldRound:
    """A store in which r1 was held, labelled again, and held for that."""

    store: Store
    original: object
    remedy: Remedy

    def ingest_sample(self, frame, name=None):
        ratings = ratings_of(frame)
        name = name or self.remedy.sample.round
        self.store.ingest(name, ratings, self.original)
        return replace(self.remedy, sample=RoundRatings(name, ratings.digest))

    def with_other_labels(self, frame):
        ratings = ratings_of(frame)
        self.store.ingest("r1", ratings, self.original)
        relabelled = RoundRatings("r1", ratings.digest)
        sample = RoundRatings(sample_name(relabelled), "0" * 64)
        return replace(self, remedy=replace(self.remedy, remedied_by=relabelled, sample=sample))

    @property
    def drawn(self):
        ratings = self.store.ratings("r1")
        return draw_items(self.store, self.store.present("r1"), ratings, N_DRAWN)

    def judge(self, *remedies, policy=POLICY, name="r1"):
        return judge_round(self.store, name, policy, CONTRACT, waivers=remedies)[0].decision

    def refusal(self, *remedies, **more):
        decision = self.judge(*remedies, **more)
        assert decision.codes == ("labels_given_again",)
        return "; ".join(decision.refused)


@pytest.fixture
def held(store, original):
    first, again = ratings_of(HELD), ratings_of(RELABELLED)
    store.ingest("r1", first, original)
    assert not judge_round(store, "r1", POLICY, CONTRACT)[0].decision.admitted
    store.ingest("r1", again, original)
    relabelled = RoundRatings("r1", again.digest)
    remedy = Remedy(
        project="demo",
        round="r1",
        ratings_digest=first.digest,
        remedied_by=relabelled,
        sample=RoundRatings(sample_name(relabelled), "0" * 64),
        who="Dana Okoye",
        why="The raters were trained with a new guideline.",
        until=today() + timedelta(days=30),
    )
    return HeldRound(store, original, remedy)


def good_sample(items, seed=3):
    return label_items(items, 0.02, seed)


def release(held, remedy):
    return release_round(held.store, "r1", POLICY, CONTRACT, project="demo", waivers=[remedy])


def test_relabelled_items_train_when_a_drawn_sample_is_admitted(held):
    decision = held.judge()
    assert decision.codes == ("labels_given_again",)
    assert "agreement-pipeline draw --relabelled" in decision.reasons[0]
    assert "or write a waiver" in decision.reasons[0]
    remedy = held.ingest_sample(good_sample(held.drawn))
    decision = held.judge(remedy)
    assert decision.admitted
    assert decision.waived == (remedy,)
    assert any(f"admitted ({N_DRAWN} of {N_ITEMS} items)" in each for each in decision.reasons)
    found = release(held, remedy)
    assert len(found.train) == N_ITEMS
    card = (found.path / "README.md").read_text()
    assert "**Relabelled after it was held.** A random sample of the items" in card
    assert "Under a waiver" not in card
    manifest = json.loads((found.path / "manifest.json").read_text())
    assert manifest["waivers"]["r1"] == [remedy.to_mapping()]
    last = [entry for entry in held.store.history("r1") if entry["event"] == "decided"][-1]
    assert last["waivers"] == [remedy.to_mapping()]
    # it proves itself with a store and without one, and a trainer may refuse it
    assert verify_release(found.path).rounds == ("r1",)
    assert open_release(found.path, store=held.store).rounds == ("r1",)
    with pytest.raises(
        ReleaseInvalidError, match="check labels_given_again of round by Dana Okoye"
    ):
        open_release(found.path, require=Demands(without_waivers=True))


def test_a_release_ends_with_what_its_remedy_rests_on(held):
    remedy = held.ingest_sample(good_sample(held.drawn))
    path = release(held, remedy).path
    held.ingest_sample(label_items(held.drawn, 0.3, 4))
    decision, withdrawn = judge_round(held.store, "r1", POLICY, CONTRACT, waivers=[remedy])
    assert withdrawn
    assert "is not the present version of the sample" in "; ".join(decision.decision.refused)
    with pytest.raises(ReleaseInvalidError):
        open_release(path, store=held.store)


def test_labels_changed_after_the_sample_are_held(held):
    remedy = held.ingest_sample(good_sample(held.drawn))
    changed = RELABELLED.copy()
    changed.loc[0, "label"] = SCALE.names[2]
    held.store.ingest("r1", ratings_of(changed), held.original)
    assert "it is bound to ratings" in held.refusal(remedy)


def test_the_order_follows_from_the_delivery_and_the_key(held, tmp_path):
    order = order_of_items(held.store, held.store.present("r1"), held.store.ratings("r1"))
    assert sorted(order) == ITEMS
    assert order == order_of_items(held.store, held.store.present("r1"), ratings_of(RELABELLED))
    first = held.store.versions("r1")[0]
    assert order != order_of_items(held.store, first, ratings_of(HELD))
    other = Store(tmp_path / "other", salt=b"another salt")
    other.ingest("r1", ratings_of(RELABELLED), held.original)
    assert order != order_of_items(other, other.present("r1"), ratings_of(RELABELLED))
    with pytest.raises(StoreError, match="found 401 items to draw; expected from 2 to 400"):
        draw_items(held.store, held.store.present("r1"), held.store.ratings("r1"), 401)


@pytest.mark.parametrize(
    ("items", "words"),
    [
        (lambda drawn: [*sorted(drawn)[1:], min({*ITEMS} - {*drawn})], "was not drawn"),
        (lambda drawn: ITEMS[:N_DRAWN], "were not drawn"),
        (lambda drawn: drawn[1:], "was not drawn"),
    ],
)
def test_a_chosen_sample_is_refused(held, items, words):
    remedy = held.ingest_sample(good_sample(items(held.drawn)))
    assert words in held.refusal(remedy)


def test_a_sample_that_came_before_the_labels_is_no_sample(store, original):
    """What came before has another order, whoever knows the digest beforehand."""
    again = ratings_of(RELABELLED)
    store.ingest("r1", ratings_of(HELD), original)
    judge_round(store, "r1", POLICY, CONTRACT)
    relabelled = RoundRatings("r1", again.digest)
    frame = good_sample(ITEMS[:N_DRAWN])
    sample = RoundRatings(sample_name(relabelled), ratings_of(frame).digest)
    store.ingest(sample.round, ratings_of(frame), original)
    store.ingest("r1", again, original)
    remedy = Remedy(
        "demo",
        "r1",
        ratings_of(HELD).digest,
        relabelled,
        sample,
        "Dana Okoye",
        "The raters were trained with a new guideline.",
        today() + timedelta(days=30),
    )
    decision = judge_round(store, "r1", POLICY, CONTRACT, waivers=[remedy])[0].decision
    assert "were not drawn" in decision.refused[0]


def test_a_sample_that_is_labelled_until_it_is_good_is_refused(held):
    held.ingest_sample(label_items(held.drawn, 0.2, 8))
    remedy = held.ingest_sample(good_sample(held.drawn))
    assert "of the sample are others, or gone, than when it first came" in held.refusal(remedy)
    other_name = held.ingest_sample(good_sample(held.drawn), "r1-another-sample")
    assert f"expected {remedy.sample.round}, the one name" in held.refusal(other_name)


def test_a_sample_may_grow(held):
    frame = good_sample(held.drawn)
    held.ingest_sample(frame[frame["item"].isin(held.drawn[:100])])
    assert held.judge(held.ingest_sample(frame)).admitted


def test_a_held_sample_admits_nothing(held):
    remedy = held.ingest_sample(label_items(held.drawn, 0.12, 5))
    assert "the sample is held by itself" in held.refusal(remedy)


def test_labels_copied_into_the_sample_are_refused(held):
    """Raters differ on some of the drawn items, and repeat each label of their own."""
    remedy = held.ingest_sample(RELABELLED[RELABELLED["item"].isin(held.drawn)])
    assert "raters changed 0 of 480 labels of their own in the sample" in held.refusal(remedy)


SETTLED = relabel(HELD, 1, share=1.0)
"""Raters differ on no item any more, so nothing tells a copy but that it changes nothing."""


def of_drawn(frame, items, *, n_changed=0):
    """The labels of before, of which some are others."""
    sample = frame[frame["item"].isin(items)].reset_index(drop=True)
    sample.loc[: n_changed - 1, "label"] = [
        SCALE.names[1 - SCALE.names.index(label)] for label in sample["label"][:n_changed]
    ]
    return sample


def at(frame, moment):
    """A label a second from a moment on."""
    steps = pd.to_timedelta(np.arange(len(frame)), unit="s")
    return frame.assign(timestamp=pd.Timestamp(moment).tz_localize(None) + steps)


@pytest.mark.parametrize(("n_items", "n_changed"), [(160, 0), (159, 0), (120, 0), (160, 5)])
def test_labels_of_before_that_all_agree_are_refused_though_items_are_left_out(
    held, n_items, n_changed
):
    settled = held.with_other_labels(SETTLED)
    sample = of_drawn(SETTLED, settled.drawn[:n_items], n_changed=n_changed)
    refusal = settled.refusal(settled.ingest_sample(sample))
    assert f"raters changed {n_changed} of {3 * n_items} labels of their own" in refusal
    assert (
        "expected labels that they gave without those of before, with the time of each" in refusal
    )


def test_times_after_the_draw_show_a_second_look_that_changes_nothing(held):
    settled = held.with_other_labels(SETTLED)
    sample = of_drawn(SETTLED, settled.drawn)
    assert not settled.judge(settled.ingest_sample(sample)).admitted
    assert settled.judge(settled.ingest_sample(at(sample, pd.Timestamp.now("UTC")))).admitted


@pytest.mark.parametrize("lacking", ["one time", "other times"])
def test_times_of_before_show_no_second_look(held, lacking):
    """A clock may be fourteen hours off, and times of the same day may come with the labels."""
    timed = at(SETTLED, pd.Timestamp.now("UTC") - pd.Timedelta(hours=9))
    settled = held.with_other_labels(timed)
    sample = of_drawn(timed, settled.drawn)
    if lacking == "one time":
        sample = at(sample, pd.Timestamp.now("UTC"))
        sample.loc[7, "timestamp"] = pd.NaT
    assert "and not each label has a time of its own after the draw" in settled.refusal(
        settled.ingest_sample(sample)
    )


def test_other_raters_judge_nobody(held):
    remedy = held.ingest_sample(label_items(held.drawn, 0.02, 7, ("dora", "emil", "fritz")))
    assert "3 of 3 raters who labelled the items again have no label" in held.refusal(remedy)
    fewer = held.ingest_sample(label_items(held.drawn, 0.0, 7, RATERS[:2]))
    assert "1 of 3 raters who labelled the items again have no label" in held.refusal(fewer)


def test_labels_of_others_in_the_relabelled_items_are_refused(held):
    """The sample is honest, and the items that would train have labels that nobody gave."""
    flipped = {SCALE.names[0]: SCALE.names[1], SCALE.names[1]: SCALE.names[0]}
    label = RELABELLED["label"]
    forged = label.where(RELABELLED["item"] < "i340", label.map(flipped))
    held = held.with_other_labels(RELABELLED.assign(label=forged))
    remedy = held.ingest_sample(good_sample(held.drawn))
    assert "differ more from their own labels than from each other" in held.refusal(remedy)


def test_labels_dated_before_the_draw_are_refused(held):
    old = pd.Timestamp(today()) - pd.Timedelta(days=3)
    remedy = held.ingest_sample(good_sample(held.drawn).assign(timestamp=old))
    assert "are dated before it could be drawn" in held.refusal(remedy)


@pytest.mark.parametrize(
    ("change", "words"),
    [
        (lambda remedy: {"until": today() - timedelta(days=1)}, "it ended on"),
        (lambda remedy: {"until": today() + timedelta(days=3000)}, "for at most 366 days"),
        (lambda remedy: {"ratings_digest": "1" * 64}, "no decision that holds r1 (111111111111)"),
        (
            lambda remedy: {"remedied_by": RoundRatings("r1", "2" * 64)},
            "it is bound to ratings 222222222222",
        ),
        (
            lambda remedy: {"sample": RoundRatings(remedy.sample.round, "3" * 64)},
            "the store has no r1-sample-",
        ),
        (lambda remedy: {"round": "r7"}, "no decision that holds r7"),
    ],
)
def test_a_remedy_with_other_facts_is_refused(held, change, words):
    remedy = held.ingest_sample(good_sample(held.drawn))
    assert held.judge(remedy).admitted
    assert words in held.refusal(replace(remedy, **change(remedy)))


def test_a_policy_names_who_may_write_a_remedy(held):
    remedy = held.ingest_sample(good_sample(held.drawn))
    policy = replace(POLICY, policy="by-others", waived_by=("Ada",))
    assert "lets only" in held.refusal(remedy, policy=policy)


def test_a_remedy_overrides_nothing_else(held):
    """The relabelled items must meet the policy too."""
    remedy = held.ingest_sample(good_sample(held.drawn))
    strict = Policy("strict", 1, (Rule("krippendorff_alpha", reliable=0.999),), n_resamples=1000)
    decision = held.judge(remedy, policy=strict)
    assert not decision.admitted


def test_items_dropped_from_the_relabelled_round_are_seen(held):
    fewer = RELABELLED[RELABELLED["item"] > "i020"]
    held = held.with_other_labels(fewer)
    remedy = held.ingest_sample(good_sample(held.drawn))
    assert "21 of 400 items of r1" in "; ".join(held.judge(remedy).refused)


def test_only_a_store_shows_that_a_remedy_holds(held):
    from agreement_pipeline.policy import Waivers, judge

    remedy = held.ingest_sample(good_sample(held.drawn))
    decision = judge(held.store.ratings("r1"), POLICY, CONTRACT, Waivers((remedy,), today()))
    assert "only the store can show" in decision.refused[0]
    with pytest.raises(ReleaseHeldError):
        release(held, replace(remedy, until=today() - timedelta(1)))


def test_a_small_round_that_was_held_hides_no_items_that_are_gone(held):
    """The remedy names it, and the disputed items of the held round are gone."""
    few = label_items(ITEMS[:30], 0.5, 9)
    held.store.ingest("r0", ratings_of(few), held.original)
    assert not judge_round(held.store, "r0", POLICY, CONTRACT)[0].decision.admitted
    n_labels = HELD.groupby("item")["label"].transform("nunique")
    gone = [item for item in HELD["item"][n_labels > 1].unique() if item > "i100"][:9]
    held = held.with_other_labels(RELABELLED[~RELABELLED["item"].isin(gone)])
    remedy = held.ingest_sample(good_sample(held.drawn))
    forged = replace(remedy, round="r0", ratings_digest=ratings_of(few).digest)
    assert "9 of 400 items of r1" in "; ".join(held.judge(remedy).refused)
    assert "9 of 400 items of r1" in "; ".join(held.judge(forged).refused)


def test_nearly_the_same_labels_give_no_other_sample(held):
    """The first sample was held, so a label was changed, and another sample drawn."""
    held.judge(held.ingest_sample(label_items(held.drawn, 0.2, 8)))
    again = RELABELLED.copy()
    again.loc[0, "label"] = SCALE.names[1 - SCALE.names.index(again.loc[0, "label"])]
    held = held.with_other_labels(again)
    remedy = held.ingest_sample(good_sample(held.drawn))
    assert "of nearly the same labels was held" in held.refusal(remedy)


def test_other_labels_may_be_judged_by_another_sample(held):
    held.judge(held.ingest_sample(label_items(held.drawn, 0.2, 8)))
    held = held.with_other_labels(label_items(ITEMS, 0.03, 10))
    assert held.judge(held.ingest_sample(good_sample(held.drawn))).admitted


def test_a_sample_of_other_texts_judges_nothing(held):
    texts = {item: f"Is {item} rude?" for item in ITEMS}
    held = held.with_other_labels(RELABELLED.assign(text=RELABELLED["item"].map(texts)))
    sample = good_sample(held.drawn)
    easy = sample.assign(text=sample["item"].map(texts) + " Say yes.")
    assert "another text" in held.refusal(held.ingest_sample(easy))
