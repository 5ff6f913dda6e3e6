"""What is left out of agreement or counted often: the verdict must stand with it, or without it."""

from dataclasses import replace

import numpy as np
import pandas as pd
import pytest

from agreement_pipeline.policy import judge, load_policy
from agreement_pipeline.ratings import Ratings, cluster_by_text, measure_gold
from tests.integrity.test_facts import YES_NO, latent

STANDARD = replace(load_policy("standard"), n_resamples=1000)


def judged(frame, **more):
    return judge(Ratings.from_frame(frame, YES_NO, **more), STANDARD)


def failed(decision):
    return {each.check for each in decision.findings if not each.passed}


def chat(n_items, guess, seed):
    """Messages, of which one in six is a greeting or the like."""
    frame, random = latent(n_items, "abc", guess, seed), np.random.default_rng(seed)
    said = random.choice(["hi", "ok", "thanks", ""], n_items, p=[0.07, 0.05, 0.04, 0.84])
    texts = {
        item: text or f"about {item}" for item, text in zip(frame["item"][::3], said, strict=True)
    }
    return frame.assign(text=frame["item"].map(texts))


def test_short_texts_that_come_often_hold_nothing():
    for seed in range(3):
        decision = judged(chat(400, 0.07, seed))
        assert decision.admitted
        assert failed(decision) == {"item_texts_differ"}


def test_items_of_one_text_count_as_one_where_that_decides():
    """A few items come again and again, and all raters agree on them."""
    frame = latent(240, "abc", 0.2, 3)
    assert not judged(frame).admitted
    frame = frame.assign(text="about " + frame["item"])
    clear = frame.groupby("item")["label"].transform("nunique") == 1
    some = frame[clear & (frame["item"] < "i00008")]
    again = pd.concat([frame, *(some.assign(item=some["item"] + f"-{n}") for n in range(20))])
    decision = judged(again)
    assert decision.codes == ("flattered",)
    assert "with all items of one text as one cluster it is" in decision.reasons[0]
    assert judged(again.drop(columns="text")).admitted
    # a cluster for each item does not hide it
    assert judged(again.assign(cluster=again["item"])).codes == ("flattered",)


def test_clusters_by_text_are_those_of_a_column():
    frame = latent(90, "abc", 0.2).assign(text=lambda made: "On  " + made["item"].str[:5])
    frame.loc[frame["item"] == "i00007", "text"] = None
    frame.loc[frame["item"] == "i00012", "text"] = "on i0001"
    same = frame["item"].str[:5].where(frame["item"] != "i00007", "i00007")
    found = cluster_by_text(Ratings.from_frame(frame, YES_NO))
    given = Ratings.from_frame(frame.drop(columns="text").assign(cluster=same), YES_NO)
    assert len(found.cluster_names) == len(given.cluster_names)
    assert found.patterns.cluster.tolist() == given.patterns.cluster.tolist()
    assert cluster_by_text(given) is given
    both = cluster_by_text(Ratings.from_frame(frame.assign(cluster=frame["item"]), YES_NO))
    assert both.patterns.cluster.tolist() == given.patterns.cluster.tolist()


def test_disputed_items_called_gold_are_measured_too():
    frame = latent(500, "abc", 0.4)
    disputed = frame.groupby("item")["label"].transform("nunique") > 1
    decision = judged(frame.assign(gold=disputed))
    assert decision.codes == ("dissent_left_out",)
    assert "with the gold items, on which raters differ more, it is unreliable" in str(decision)
    one = Ratings.from_frame(frame, YES_NO)
    other = replace(one, also_gold=frozenset(frame["item"][disputed]))
    assert judge(other, STANDARD).codes == ("dissent_left_out",)
    assert measure_gold(other).without_gold.n_items == one.n_items


@pytest.mark.parametrize("seed", range(3))
def test_gold_items_that_are_hard_hold_nothing_where_the_round_is_good(seed):
    """Of 52 gold items, 12 were chosen since they are hard."""
    frame, random = latent(400, "abc", 0.05, seed), np.random.default_rng(seed)
    hard = frame["item"] < "i00012"
    frame.loc[hard, "label"] = random.choice(YES_NO.names, hard.sum())
    decision = judged(frame.assign(gold=frame["item"] < "i00052"))
    assert decision.admitted
    assert failed(decision) <= {"gold_items_not_disputed"}
