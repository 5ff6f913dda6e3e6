"""Anchors that a certified classifier labels again, and the end of a certificate by drift."""

import json
from dataclasses import replace

import pytest

from agreement_pipeline.errors import ReleaseHeldError
from agreement_pipeline.evidence import event_table
from agreement_pipeline.models import look_again, open_certificate
from agreement_pipeline.store import Store
from tests.models.silver import (
    JUDGE,
    RULES,
    TODAY,
    certified,
    certifying,
    drawn,
    make_ratings,
    ratings_of,
    refused,
    released,
)


def again(wrong=1, n=90, **how):
    """What the classifier says now: it is wrong on the first few items."""
    return make_ratings(wrong=wrong, n=n, labelled=n, **how)


def test_a_classifier_that_says_the_same_has_not_drifted(certifies):
    found = look_again(certifies, JUDGE, again())
    assert (found.n_items, found.n_looks, found.drifted) == (90, 1, False)
    assert found.first == found.last > 0.98
    assert found.floor == pytest.approx(found.first - 0.05)
    assert open_certificate(certifies, JUDGE).anchored == found


def test_a_classifier_that_drifted_is_answered_for_by_nothing(certifies):
    found = look_again(certifies, JUDGE, again(wrong=30))
    assert found.drifted
    assert found.upper < found.floor < found.first
    said = refused("certificate_drifted", open_certificate, certifies, JUDGE)
    assert "0.989 when certified, 0.674 now, once under 0.826, in 1 look;" in said


def test_a_look_that_is_good_again_ends_no_drift(certifies):
    look_again(certifies, JUDGE, again(wrong=30))
    assert look_again(certifies, JUDGE, again()).drifted
    refused("certificate_drifted", open_certificate, certifies, JUDGE)


def test_after_a_drift_only_rounds_that_came_later_certify(certifies, original):
    look_again(certifies, JUDGE, again(wrong=30))
    how = {"reason": "repaired"}
    said = refused("certificate_drifted", certified, certifies, **how)
    assert said.endswith("Deliver fresh rounds with its labels.")
    certifies.ingest("r2", again(prefix="k"), original)
    said = refused("certificate_drifted", certified, certifies, ["r1", "r2"], **how)
    assert said.endswith("Certify it on round 'r2' alone (--round).")
    assert certified(certifies, ["r2"], **how).certified
    assert open_certificate(certifies, JUDGE).anchored is None


def test_an_old_round_that_comes_again_or_under_another_name_is_no_later_one(certifies, original):
    look_again(certifies, JUDGE, again(wrong=30))
    certifies.ingest("r1", again(wrong=2), original)
    certifies.ingest("r2", make_ratings(), original)
    for name in ("r1", "r2"):
        refused("certificate_drifted", certified, certifies, [name], reason="repaired")


def test_a_new_certificate_begins_anew(certifies):
    look_again(certifies, JUDGE, again(wrong=2))
    assert certified(certifies, reason="for longer").certified
    assert open_certificate(certifies, JUDGE).anchored is None


def test_a_look_is_an_entry_of_the_log_and_a_document(certifies, same_day):
    look_again(certifies, JUDGE, again(wrong=2))
    entry = certifies.history()[-1]
    assert (entry["event"], entry["day"]) == ("anchored", TODAY.isoformat())
    assert event_table([entry])["what"].tolist() == ["judge: anchors labelled again"]
    document = certifies.root / "anchors" / f"{entry['labels']}.json"
    assert json.loads(document.read_text())["i000"] == "yes"
    look_again(certifies, JUDGE, again(wrong=30))
    said = event_table(certifies.history()[-1:])["what"].tolist()
    assert said == ["judge: anchors labelled again, drifted"]


def test_the_same_labels_on_the_same_day_are_one_look(certifies):
    assert look_again(certifies, JUDGE, again(wrong=3)).n_looks == 1
    assert look_again(certifies, JUDGE, again(wrong=3)).n_looks == 1
    assert look_again(certifies, JUDGE, again(wrong=2)).n_looks == 2


def test_the_anchors_of_the_first_look_are_those_of_all(certifies):
    look_again(certifies, JUDGE, again(n=40))
    for n, other in ((39, ", without ['i039'];"), (41, ", of which ['i040'] are others;")):
        said = refused("certificate_other_anchors", look_again, certifies, JUDGE, again(n=n))
        assert f"found {n} anchors{other} expected those of the first look" in said
    assert look_again(certifies, JUDGE, again(n=40, wrong=2)).n_looks == 2


def test_few_anchors_and_items_that_nobody_certified_are_refused(certifies):
    said = refused("certificate_other_anchors", look_again, certifies, JUDGE, again(n=29))
    assert "found 29 anchors; expected items of its certified rounds, 30 or more" in said
    refused("certificate_other_anchors", look_again, certifies, JUDGE, again(prefix="other"))


def test_labels_of_another_classifier_are_no_look(certifies):
    said = again(name="other")
    assert "found 0 anchors" in refused(
        "certificate_other_anchors", look_again, certifies, JUDGE, said
    )


def test_anchors_on_another_scale_are_refused(certifies):
    other = replace(again(), scale=replace(again().scale, level="ordinal"))
    refused("certificate_other_labels", look_again, certifies, JUDGE, other)


def test_without_a_certificate_nothing_is_anchored(store):
    refused("certificate_absent", look_again, store, JUDGE, again())


def test_edited_anchors_are_refused(certifies):
    look_again(certifies, JUDGE, again(wrong=30))
    path = certifies.root / "anchors" / f"{certifies.history()[-1]['labels']}.json"
    path.write_text(path.read_text().replace("yes", "no", 1))
    refused("certificate_edited", open_certificate, certifies, JUDGE)
    path.unlink()
    refused("certificate_edited", open_certificate, Store(certifies.root), JUDGE)


def test_a_policy_says_how_much_may_be_lost(store, original):
    store.ingest("r1", make_ratings(), original)
    certified(store, rules=replace(RULES, policy="lenient", most_lost=0.4))
    assert not look_again(store, JUDGE, again(wrong=20)).drifted


def test_a_silver_round_of_a_drifted_classifier_is_held_and_its_release_withdrawn(
    store, tmp_path, original
):
    people = certifying(tmp_path, original)
    found = drawn(store)
    store.ingest("s1", ratings_of(found.items), original)
    released(store, people)
    look_again(people, JUDGE, again(wrong=30))
    with pytest.raises(ReleaseHeldError, match="it drifted"):
        released(store, people)
    assert not store.in_force("s1")
    assert store.history()[-1]["event"] == "withdrawn"
