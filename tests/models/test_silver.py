"""A round that a classifier labelled is released under a certificate and a drawn audit only."""

import json
import math
import shutil
from dataclasses import replace
from datetime import timedelta
from unicodedata import normalize

import pandas as pd
import pytest

from agreement_pipeline import open_release, verify_release
from agreement_pipeline.cli import main
from agreement_pipeline.errors import CertificateError, ReleaseHeldError, ReleaseInvalidError
from agreement_pipeline.integrity import Finding
from agreement_pipeline.models import CertifiedBy, Draw, Identity, ModelsAuditor, certify, draw
from agreement_pipeline.models.silver import SilverAudit
from agreement_pipeline.policy import GATE_TABLE, Policy, Silver, Waiver, Waivers, assess, judge
from agreement_pipeline.ratings import Adjudicated, Origin, Ratings, Scale
from agreement_pipeline.release import (
    decisions,
    judge_round,
    opening,
    reassess,
    release_dataset,
    release_round,
)
from agreement_pipeline.store import Store
from tests.models.silver import (
    DRAWN,
    JUDGE,
    RATERS,
    RULES,
    SCALE,
    SILVER,
    SOON,
    certifying,
    drawn,
    items,
    make_ratings,
    other_on,
    ratings_of,
    released,
    rows_of,
    said_of,
)
from tests.release.forging import CONTRACT, NOT_DERIVED, POLICY, edit
from tests.release.test_gold import all_bytes
from tests.releases import current_release

LATER = SOON + timedelta(days=1)


@pytest.fixture(scope="module")
def certified(tmp_path_factory):
    """A store of people's rounds, with the certificate of the classifier."""
    folder = tmp_path_factory.mktemp("certified")
    (folder / "export.csv").write_bytes(b"as delivered")
    return certifying(folder, folder / "export.csv").root


@pytest.fixture
def people(certified, tmp_path):
    return Store(shutil.copytree(certified, tmp_path / "people"))


@pytest.fixture(scope="module")
def drawn_once(certified):
    """The folder of a store whose drawn items were labelled as the classifier labelled them."""
    store = Store(certified.parent / "store", salt=b"a salt for tests")
    found = drawn(store).items
    store.ingest("s1", ratings_of(found), certified.parent / "export.csv")
    return store.root, found


@pytest.fixture(scope="module")
def released_once(certified, drawn_once):
    """The folder of the same store with a release of the round."""
    root = shutil.copytree(drawn_once[0], certified.parent / "of a release")
    released(Store(root), Store(certified))
    return root


@pytest.fixture
def audited(store, drawn_once):
    """Items that were drawn, and labelled as the classifier labelled them."""
    root, found = drawn_once
    shutil.copytree(root, store.root, dirs_exist_ok=True)
    return found


@pytest.fixture
def leaving(store, released_once):
    """A release of the round from the store of this test."""
    shutil.copytree(released_once, store.root, dirs_exist_ok=True)
    return current_release(store, "s1")


def held(store, people, code, policy=SILVER, identity=JUDGE):
    """Assert that nothing leaves, for this one reason, and give it in words."""
    with pytest.raises(ReleaseHeldError, match="held, since ") as error:
        released(store, people, policy, identity)
    assert ".; expected" not in str(error.value)
    assert in_force(store) == []
    decided = [entry for entry in store.history("s1") if entry["event"] == "decided"][-1]
    assert decided["codes"] == [code]
    (reason,) = decided["reasons"]
    return reason


def in_force(store):
    return [entry["release"] for entry in store.in_force()]


def on_day(monkeypatch, day):
    for module in (decisions, opening):
        monkeypatch.setattr(module, "today", lambda: day)


def test_a_silver_round_is_released_with_the_labels_of_the_classifier(store, leaving):
    train = open_release(leaving).train
    assert train["resolution"].value_counts().to_dict() == {"silver": 320, "unanimous": 80}
    assert train.loc[train["id"] == "s0001", "label"].item() == "yes"
    unseen = train[train["resolution"] == "silver"].iloc[0]
    # nobody knows how sure the classifier is, so no share is given
    assert (unseen["n_raters"], unseen["votes"], unseen["soft_label"]) == (0, [0, 0], None)
    assert math.isnan(unseen["entropy_bits"])
    assert open_release(leaving, store=store).train.equals(train)


def test_what_is_known_of_the_classifier_is_in_decision_log_proof_and_card(store, leaving):
    (decided,) = [entry for entry in store.history() if entry["event"] == "decided"]
    assert decided["silver"]["classifier"] == JUDGE.to_mapping()
    (member,) = json.loads((leaving / "manifest.json").read_text())["rounds"]
    assert member["silver"] == decided["silver"]
    card = (leaving / "README.md").read_text()
    assert (
        "**Silver.** A classifier labelled round s1. The gate found 0.00% of the labels of judge"
        in card
    )
    known = f"classifier judge (model m-large, version 3) with the digest {JUDGE.digest[:12]}"
    assert f"Certified until {SOON}: {known}; not known of it" in card.replace("\\", "")
    assert "320 labels are those of a classifier" in card
    said = json.loads((leaving / "croissant.json").read_text())
    assert said["rai:machineAnnotationTools"] == [
        "judge: its labels train where no raters' do, as their resolution says"
    ]
    assert said["rai:dataAnnotationProtocol"].endswith("But a classifier gave 320 labels.")
    assert "found 0.00% of the labels of judge wrong" in said["rai:dataAnnotationAnalysis"][1]


def test_the_decision_says_what_was_found_and_what_a_perfect_classifier_would_score(
    store, people, original
):
    names = drawn(store, 200).items
    rows = ratings_of(names).to_pandas()
    tied = (rows["item"].isin(names[:20])) & (rows["rater"] == "chi")
    rows.loc[tied, "label"] = rows.loc[tied, "label"].map({"no": "yes", "yes": "no"})
    four = rows[rows["rater"] == "ana"].assign(rater="eva")
    frame = pd.concat([rows, four])[["item", "rater", "label"]]
    frame = frame.assign(**{"stratum:language": "d"})
    ratings = type(ratings_of()).from_frame(frame, ratings_of().scale, classifiers=["judge"])
    store.ingest("s1", ratings, original)
    judged, _ = judge_round(
        store,
        "s1",
        SILVER,
        CONTRACT,
        auditor=ModelsAuditor(certified_by=CertifiedBy(JUDGE, people)),
    )
    audit = judged.gate.audit
    finding = audit.of_labels
    assert finding.description.startswith(
        "found 0.00% of the labels of judge wrong, with an upper limit of 1.83%, on 200 drawn of "
        "400 items: a majority of 3 of 4 raters would give another label. A perfect classifier "
        "would score 0.00% here, and single raters differ from it on 2.50%"
    )
    assert tuple(audit.facts["silver"]["draw"]["items"]) == names
    assert finding.description in judged.decision.reasons


@pytest.mark.parametrize(
    ("part", "value"),
    [("prompt", "c" * 64), ("rubric", None), ("model", "m"), ("version", "4")],
)
def test_another_prompt_or_model_than_certified_is_held(store, people, audited, part, value):
    field = f"{part}_digest" if part in ("prompt", "rubric") else part
    other = replace(JUDGE, **{field: value})
    assert "was certified" in held(store, people, f"certificate_other_{part}", identity=other)
    assert released(store, people).rounds == ("s1",)


def test_without_a_certificate_a_round_is_held(store, tmp_path, audited):
    empty = Store(tmp_path / "none", salt=b"x")
    held(store, empty, "certificate_absent")
    by = ModelsAuditor(certified_by=CertifiedBy(JUDGE, empty))
    with pytest.raises(ReleaseHeldError):
        release_dataset(store, ["s1"], SILVER, CONTRACT, project="silver", auditor=by)
    assert in_force(store) == []


def test_a_classifier_that_failed_is_held(store, tmp_path, original, audited):
    people = Store(tmp_path / "people", salt=b"a salt for tests")
    people.ingest("r1", make_ratings(wrong=30), original)
    how = {"policy": POLICY, "contract": CONTRACT, "project": "people", "expires": SOON}
    certify(people, ["r1"], JUDGE, RULES, **how)
    held(store, people, "certificate_held")


def test_nothing_is_believed_of_models_where_nobody_answers_for_them(store, people, leaving):
    with pytest.raises(
        ReleaseInvalidError, match=r"found facts on models \(\['silver'\]\)"
    ) as caught:
        opening.open_release(leaving)
    assert caught.value.code == "release_not_derived"
    (found,) = reassess(store, SILVER, CONTRACT)
    assert (found.judged.decision.codes, found.withdrawn) == (("silver_not_audited",), True)


def test_an_expired_certificate_holds_and_withdraws(store, people, leaving, monkeypatch):
    on_day(monkeypatch, SOON)
    assert open_release(leaving, store=store)
    on_day(monkeypatch, LATER)
    with pytest.raises(ReleaseInvalidError) as caught:
        verify_release(leaving)
    assert caught.value.code == "release_certificate_ended"
    by = ModelsAuditor(certified_by=CertifiedBy(JUDGE, people))
    (found,) = reassess(store, SILVER, CONTRACT, auditor=by)
    assert (found.judged.decision.codes, found.withdrawn) == (("certificate_expired",), True)
    held(store, people, "certificate_expired")
    on_day(monkeypatch, SOON)
    assert released(store, people).path.name.endswith("-2")


def test_a_certificate_is_withdrawn_with_a_round_of_people(store, people, leaving, original):
    people.ingest("r1", make_ratings(wrong=2), original)
    held(store, people, "certificate_withdrawn")


def test_labels_and_strata_that_were_not_certified_are_held(store, people, original):
    names = drawn(store).items
    store.ingest("s1", ratings_of(names, **{"stratum:language": "fr"}), original)
    held(store, people, "certificate_other_strata")


def test_a_round_of_another_classifier_is_held(store, people, original):
    store.ingest("s1", ratings_of(drawn(store).items, classifier="other"), original)
    held(store, people, "certificate_classifier_absent")


def test_a_panel_of_models_is_held(store, people, original):
    names = drawn(store).items
    store.ingest("s1", ratings_of(names, raters=("ana", "ben", "gpt-4o")), original)
    assert "gpt-4o" in held(store, people, "certificate_panel_models")
    store.ingest("s1", ratings_of(names, raters=("ana", "ben", "Judge")), original)
    held(store, people, "certificate_panel_models")
    store.ingest("s1", ratings_of(names), original)
    assert released(store, people)


def test_items_that_nobody_drew_are_held(store, people, original):
    store.ingest("s1", ratings_of(items()[:80]), original)
    held(store, people, "draw_absent")


@pytest.mark.parametrize("code", ["draw_replaced", "draw_missing", "draw_added"])
def test_other_items_than_were_drawn_are_held(store, people, original, code):
    names = {*drawn(store).items}
    chosen = sorted({*items()} - names)[0]
    gone = {sorted(names)[0]} if code != "draw_added" else set()
    more = {chosen} if code != "draw_missing" else set()
    store.ingest("s1", ratings_of((names - gone) | more), original)
    held(store, people, code)
    store.ingest("s1", ratings_of(names), original)
    assert released(store, people)


def test_a_population_that_was_not_drawn_from_is_held(store, people, original):
    names = drawn(store).items
    store.ingest("s1", ratings_of(names, names=items(401)), original)
    held(store, people, "draw_other_population")


def test_items_that_are_called_gold_are_named_where_they_are_missed(store, people, original):
    names = drawn(store).items
    frame = ratings_of(names, said=other_on({*names[:10]})).to_pandas()
    frame["gold"] = frame["item"].isin(names[:10])
    frame["stratum:language"] = "d"
    store.ingest("s1", Ratings.from_frame(frame, SCALE, classifiers=["judge"]), original)
    words = held(store, people, "draw_other_population")
    assert "found a population with other items, without its 10 gold items; expected the" in words


def test_a_stratified_draw_is_bound_to_the_labels(store, people, original):
    names = drawn(store, 200, design="stratified").items
    store.ingest("s1", ratings_of(names), original)
    assert released(store, people)
    first = next(item for item in items() if item not in names)

    def said(item):
        return other_on({first})(item)

    frame = ratings_of(names).to_pandas()
    at = (frame["item"] == first) & (frame["rater"] == "judge")
    frame.loc[at, "label"] = said(first)
    frame = frame[["item", "rater", "label"]].assign(**{"stratum:language": "d"})
    again = type(ratings_of()).from_frame(frame, ratings_of().scale, classifiers=["judge"])
    store.ingest("s1", again, original)
    held(store, people, "draw_other_population")


def test_a_draw_of_whole_clusters_is_no_audit(store, people, original):
    of = {"cluster": lambda frame: frame["item"].str[1:].astype(int) // 4}
    names = draw(store, "s1", ratings_of(**of), 80, design="clustered").items
    store.ingest("s1", ratings_of(names, **of), original)
    assert "whole clusters" in held(store, people, "silver_undefined")


def test_a_draw_is_bound_to_the_labels_of_the_classifier(store, people, original):
    """Where people looked, its wrong labels were corrected before the round was delivered."""
    found = drawn(store)
    frame = ratings_of(found.items, said=other_on({*items()[:60]})).to_pandas()
    at = (frame["rater"] == "judge") & frame["item"].isin(found.items)
    people_said = frame[frame["rater"] == "ana"].set_index("item")["label"]
    frame.loc[at, "label"] = frame.loc[at, "item"].map(people_said)
    frame = frame[["item", "rater", "label"]].assign(**{"stratum:language": "d"})
    again = type(ratings_of()).from_frame(frame, ratings_of().scale, classifiers=["judge"])
    store.ingest("s1", again, original)
    assert "other labels of 'judge'" in held(store, people, "draw_relabelled")


@pytest.mark.parametrize(
    ("elsewhere", "told"), [(False, "s0"), (True, "s0 of the certifying project")]
)
def test_a_panel_that_comes_to_agree_with_the_classifier_is_held(
    store, people, original, elsewhere, told
):
    names = drawn(store).items
    first = people if elsewhere else store
    first.ingest("s0", ratings_of(names, said=other_on({*names[:6]})), original)
    store.ingest("s1", ratings_of(names), original)
    words = held(store, people, "silver_labels_given_again")
    assert f"a delivery of round {told}, by which 7.50% of the labels of judge were" in words


@pytest.mark.parametrize(
    ("code", "policy", "admitted"),
    [
        ("labels_given_again", POLICY, True),
        ("labels_given_again", SILVER, False),
        ("silver_labels_given_again", SILVER, False),
    ],
)
def test_a_waiver_of_labels_given_again_is_no_audit(audited, code, policy, admitted):
    ratings = ratings_of(audited)
    waiver = Waiver(
        project="silver",
        round="s1",
        ratings_digest=ratings.digest,
        measure=None,
        check="labels_given_again",
        contract_digest=CONTRACT.digest,
        who="Dana Okoye",
        why="The tool had lost a page of the guideline.",
        until=decisions.today() + timedelta(9),
    )
    waivers = Waivers((waiver,), decisions.today())
    held = Finding(code, GATE_TABLE, False, "error", "labels were given again")
    decision = assess(ratings, policy, CONTRACT, waivers, gate_findings=[held]).decision
    assert (decision.admitted, not decision.broken) == (admitted, admitted)


def test_labels_that_came_in_parts_are_no_second_look(store, people, original):
    names = drawn(store).items
    store.ingest("s1", ratings_of(names[:40]), original)
    held(store, people, "draw_missing")
    store.ingest("s1", ratings_of(names), original)
    assert released(store, people)


@pytest.mark.parametrize("lacking", ["an item", "a rater", "nothing but more"])
def test_first_labels_count_though_their_delivery_was_no_audit(store, people, original, lacking):
    names = drawn(store).items
    said = other_on({*names[1:7]})
    more = [item for item in items() if item not in names][:1]
    first = {
        "an item": ratings_of(names[1:], said=said),
        "a rater": ratings_of(names, raters=RATERS[:2], said=said),
        "nothing but more": ratings_of([*names, *more], said=said),
    }[lacking]
    store.ingest("s1", first, original)
    store.ingest("s1", ratings_of(names), original)
    words = held(store, people, "silver_labels_given_again")
    assert "a delivery of round s1, by which 7.50% of the labels of judge were wrong" in words


@pytest.mark.parametrize("read", ["on a wider scale", "as suggestions", "as classifiers"])
def test_first_labels_count_however_their_delivery_was_read(store, people, original, read):
    names = drawn(store).items
    frame = ratings_of(names[1:], said=other_on({*names[1:7]})).to_pandas()
    by_people = frame["rater"].isin(RATERS)
    scale = Scale(("no", "yes", "maybe")) if read == "on a wider scale" else SCALE
    called = ["judge", *RATERS] if read == "as classifiers" else ["judge"]
    if read == "as suggestions":
        frame["assisted"] = by_people
    store.ingest("s0", Ratings.from_frame(frame, scale, classifiers=called), original)
    store.ingest("s1", ratings_of(names), original)
    words = held(store, people, "silver_labels_given_again")
    assert "a delivery of round s0, by which 7.50% of the labels of judge were wrong" in words


@pytest.mark.parametrize("when", ["before the draw", "after the round"])
def test_only_labels_between_draw_and_round_count_in_the_store_that_certifies(
    store, people, original, when
):
    other = ratings_of(items()[:90], said=other_on({*items()[:90]}))
    if when == "before the draw":
        people.ingest("r9", other, original)
    store.ingest("s1", ratings_of(drawn(store).items), original)
    if when == "after the round":
        people.ingest("r9", other, original)
    assert released(store, people)


def test_who_joins_later_does_not_outvote_those_who_labelled_first(store, people, original):
    names = drawn(store).items
    wrong = other_on({*names[:6]})
    rows = rows_of(items(), "judge")
    rows += [row for rater in RATERS for row in rows_of(names, rater, wrong)]
    rows += [row for n in range(60) for row in rows_of(names, f"joined{n}")]
    both = Ratings.from_frame(pd.DataFrame(rows), SCALE, classifiers=["judge"])
    store.ingest("s0", ratings_of(names[:-1], said=wrong), original)
    store.ingest("s1", both, original)
    words = held(store, people, "silver_labels_given_again")
    assert "a delivery of round s0, by which 7.50% of the labels of judge were wrong" in words


def test_who_joins_later_holds_no_round_that_the_first_would_admit(store, people, original):
    names = drawn(store).items
    store.ingest("s0", ratings_of(names[:-1]), original)
    store.ingest("s1", ratings_of(names, raters=(*RATERS, "joined")), original)
    assert released(store, people)


def test_first_labels_of_raters_who_were_exchanged_count(store, people, original):
    names = drawn(store).items
    before = ratings_of(names[:40], said=other_on({*names[:30]}))
    store.ingest("s0", before, original)
    store.ingest("s1", ratings_of(names, raters=("dan", "eva", "fay")), original)
    held(store, people, "silver_labels_given_again")


def test_the_best_of_100_draws_is_held_and_the_first_is_not(store, people, original):
    """The round has 30 wrong labels of 400. A draw without any would pass."""
    wrong = {*items()[:30]}
    whole = ratings_of()
    draw(store, "s1", whole, DRAWN)
    for _ in range(99):
        best = draw(store, "s1", whole, DRAWN, reason="looks bad")
    assert len(best.earlier) == 99
    said = other_on(wrong - {*best.items})  # as if the last draw had none of them
    store.ingest("s1", ratings_of(best.items, said=said), original)
    assert "after 99 earlier draws: looks bad" in held(store, people, "draw_again")
    alone = Store(store.root.parent / "alone", salt=b"a salt for tests")
    names = drawn(alone).items
    alone.ingest("s1", ratings_of(names, said=other_on(wrong - {*names})), original)
    assert released(alone, people)


def test_a_draw_from_the_rest_of_a_population_is_a_second_one(store, people, original):
    first = drawn(store)
    rest = [item for item in items() if item not in first.items]
    second = draw(store, "rest", ratings_of(names=rest), 80, reason="the first looked bad")
    store.ingest("s1", ratings_of(second.items, names=rest), original)
    assert "after 1 earlier draw: the first looked bad" in held(store, people, "draw_again")


def test_a_later_draw_from_other_items_does_not_hold_a_round(store, people, audited):
    """Some of the items came again in the next round, and were drawn there."""
    more = ratings_of(names=[*items()[:200], *items(200, "t")])
    later = draw(store, "s2", more, 80, reason="some came again")
    assert {*later.items} & {*items()}
    by = ModelsAuditor(certified_by=CertifiedBy(JUDGE, people))
    judged, _ = judge_round(store, "s1", SILVER, CONTRACT, auditor=by)
    assert judged.decision.admitted
    again = drawn(store, reason="again")
    assert again.items != audited
    held(store, people, "draw_after_labels")


TEXTS = {item: f"Text of {item}.\nIts second line: é." for item in items()}


def with_columns(labelled=(), said=said_of, names=None, **columns):
    """A round with columns of contents, by name: what each item has."""
    functions = {
        name.replace("content_", "content:"): lambda frame, content=content: frame["item"].map(
            content
        )
        for name, content in columns.items()
    }
    return ratings_of(labelled, names=names, said=said, **functions)


def shifted(drawn_items, contents):
    """What a join that slipped by one delivers: each undrawn item has the text of the next one."""
    undrawn = [item for item in items() if item not in drawn_items]
    return contents | {
        item: contents[next_item]
        for item, next_item in zip(undrawn, undrawn[1:] + undrawn[:1], strict=True)
    }


@pytest.mark.parametrize("column", ["text", "content_image"])
def test_texts_of_undrawn_items_that_moved_are_held(store, people, original, column):
    """The ids and all labels are the same, and each drawn item has its own text."""
    found = draw(store, "s1", with_columns(**{column: TEXTS}), DRAWN)
    moved = shifted({*found.items}, TEXTS)
    store.ingest("s1", with_columns(found.items, **{column: moved}), original)
    reason = held(store, people, "draw_other_contents")
    first = [item for item in items() if item not in found.items][:3]
    assert (
        f"another {column.removeprefix('content_')} of 320 of 400 items, {first!r}"[:-1] in reason
    )
    assert "… 317 more], than they had when they were drawn from; expected the same" in reason
    audit = silver_audit(found)
    without_store = audit.finding(store.ratings("s1"), SILVER)
    assert (without_store.check, without_store.passed) == ("draw_other_contents", False)
    assert "of some items than they had" in without_store.description


def silver_audit(found):
    return SilverAudit(JUDGE, "a" * 64, SOON, found)


def test_the_same_texts_in_another_file_are_admitted(store, people, original):
    """In other rows, with other ends of lines, composed otherwise, and beside another column."""
    found = draw(store, "s1", with_columns(text=TEXTS), DRAWN)
    written = {
        item: normalize("NFD", text).replace("\n", "\r\n") + "\n" for item, text in TEXTS.items()
    }
    delivered = with_columns(found.items, names=items()[::-1], text=written, content_url=TEXTS)
    store.ingest("s1", delivered, original)
    release = released(store, people)
    card = (release.path / "README.md").read_text()
    assert "Each item has the same text as in the draw. Not compared with the draw: url" in card
    assert open_release(release.path, store=store).train["text"].notna().all()


def test_an_item_without_its_text_is_held(store, people, original):
    found = draw(store, "s1", with_columns(text=TEXTS), DRAWN)
    store.ingest("s1", with_columns(found.items, text=TEXTS | {"s0007": None}), original)
    assert "another text of 1 of 400 items, ['s0007']," in held(
        store, people, "draw_other_contents"
    )


def test_texts_under_another_name_are_held(store, people, original):
    found = draw(store, "s1", with_columns(text=TEXTS), DRAWN)
    store.ingest("s1", with_columns(found.items, content_body=TEXTS), original)
    assert "found body and no text; expected text, which the drawn table had" in held(
        store, people, "draw_other_contents"
    )


@pytest.mark.parametrize(
    ("drawn_from", "delivered", "words"),
    [
        ({}, {}, "The draw recorded no texts, so it binds ids and labels alone"),
        ({}, {"text": TEXTS}, "The draw recorded no texts, so it binds ids and labels alone"),
        ({"text": TEXTS}, {}, "Not compared with the draw: text, absent here"),
    ],
    ids=["no texts", "texts that came later", "texts that were drawn from"],
)
def test_the_decision_says_which_texts_nobody_could_compare(
    store, people, original, drawn_from, delivered, words
):
    found = draw(store, "s1", with_columns(**drawn_from), DRAWN)
    finding = silver_audit(found).finding(with_columns(found.items, **delivered), SILVER)
    assert finding.passed
    assert f". {words}. Certified until {SOON}" in finding.description


def test_labels_that_came_first_count_beside_other_texts(store, people, original):
    found = draw(store, "s1", with_columns(text=TEXTS), DRAWN)
    dissent, moved = other_on({*found.items[:30]}), shifted({*found.items}, TEXTS)
    store.ingest("s0", with_columns(found.items, said=dissent, text=moved), original)
    store.ingest("s1", with_columns(found.items, text=TEXTS), original)
    held(store, people, "silver_labels_given_again")


@pytest.mark.parametrize("name", ["s0", "s1"])
def test_a_draw_after_labels_were_delivered_is_held(store, people, original, name):
    store.ingest(name, ratings_of(items()[:3]), original)
    names = drawn(store).items
    store.ingest("s1", ratings_of(names), original)
    held(store, people, "draw_after_labels")


def test_labels_older_than_the_draw_hold_though_people_were_called_classifiers(
    store, people, original
):
    frame = ratings_of(items()[:3]).to_pandas()
    called = Ratings.from_frame(frame, SCALE, classifiers=["judge", *RATERS])
    store.ingest("s0", called, original)
    names = drawn(store).items
    store.ingest("s1", ratings_of(names), original)
    held(store, people, "draw_after_labels")


def test_labels_of_another_classifier_may_be_older_than_the_draw(store, people, original):
    store.ingest("s0", ratings_of(classifier="other", raters=()), original)
    names = drawn(store).items
    store.ingest("s1", ratings_of(names), original)
    assert released(store, people)


def test_a_delivery_without_people_may_come_before_the_draw(store, people, original):
    store.ingest("s1", ratings_of(), original)
    names = drawn(store).items
    store.ingest("s1", ratings_of(names), original)
    assert released(store, people)


def test_too_many_wrong_labels_are_held(store, people, original):
    names = drawn(store).items
    store.ingest("s1", ratings_of(names, said=other_on({*names[:1]})), original)
    words = held(store, people, "silver_wrong_labels")
    assert "found 1.25% of the labels of judge wrong, with an upper limit of 6.77%" in words
    assert released(store, people, replace(SILVER, policy="lax", silver=Silver(0.07)))


def test_a_policy_without_a_limit_holds(store, people, audited):
    held(store, people, "silver_no_limit", replace(SILVER, silver=None, policy="none"))


def test_too_few_raters_for_the_majority_hold(store, people, original):
    items = drawn(store).items
    store.ingest("s1", ratings_of(items, raters=RATERS[:2]), original)
    first = min(items)
    assert f"80 labelled items have fewer than 3 ratings, as '{first}'; expected" in held(
        store, people, "silver_undefined"
    )


def test_the_panel_is_judged_by_the_rules_too(store, people, original):
    names = drawn(store).items
    frame = ratings_of(names).to_pandas()
    noisy = (frame["rater"] == "chi") & (frame.index % 2 == 0)
    frame.loc[noisy, "label"] = "no"
    frame = frame[["item", "rater", "label"]].assign(**{"stratum:language": "d"})
    ratings = type(ratings_of()).from_frame(frame, ratings_of().scale, classifiers=["judge"])
    store.ingest("s1", ratings, original)
    by = ModelsAuditor(certified_by=CertifiedBy(JUDGE, people))
    judged, _ = judge_round(store, "s1", SILVER, CONTRACT, auditor=by)
    assert judged.gate.audit.of_labels.passed
    assert not judged.decision.admitted
    with pytest.raises(ReleaseHeldError, match="krippendorff_alpha"):
        released(store, people)


def test_without_saying_that_it_is_silver_no_label_of_a_classifier_leaves(store, people, audited):
    release = release_round(store, "s1", POLICY, CONTRACT, project="silver")
    assert len(release.train) == 80
    assert "silver" not in {*release.train["resolution"]}


def test_a_policy_of_silver_rounds_holds_where_nobody_looked_at_certificate_and_draw(
    store, people, audited
):
    assert judge(ratings_of(audited), SILVER, CONTRACT).codes == ("silver_not_audited",)
    assert judge(ratings_of(audited), POLICY, CONTRACT).admitted
    with pytest.raises(ReleaseHeldError, match="no proof of a certificate"):
        release_round(store, "s1", SILVER, CONTRACT, project="silver")
    (found,) = judge_round(store, "s1", SILVER, CONTRACT)[0].decision.broken
    assert found.check == "silver_not_audited"


def test_a_release_is_withdrawn_if_nobody_says_any_more_that_it_is_silver(store, leaving):
    (found,) = reassess(store, SILVER, CONTRACT)
    assert (found.judged.decision.codes, found.withdrawn) == (("silver_not_audited",), True)
    assert in_force(store) == []


def test_silver_rounds_certify_nobody_in_python_either(store, leaving):
    how = {"policy": POLICY, "contract": CONTRACT, "project": "silver", "expires": SOON}
    with pytest.raises(CertificateError) as error:
        certify(store, ["s1"], JUDGE, RULES, **how)
    assert error.value.code == "certificate_round_silver"
    assert open_release(leaving, store=store)


def test_a_trainer_may_ask_for_fewer_wrong_labels_and_for_no_labels_of_classifiers(leaving):
    assert open_release(leaving, require=replace(SILVER, policy="mine"))
    with pytest.raises(ReleaseHeldError, match=r"upper limit of 4\.51%"):
        open_release(leaving, require=replace(SILVER, policy="mine", silver=Silver(0.045)))
    with pytest.raises(ReleaseHeldError, match="and no limit of wrong labels in policy"):
        open_release(leaving, require=POLICY)


@pytest.mark.parametrize(
    ("demands", "status", "words"),
    [
        (["alpha>=0.7"], 19, "--require 'wrong<0.05' of verify"),
        (["alpha>=0.7", "wrong<0.05"], 0, "verified: rounds s1"),
        (["alpha>=0.7", "wrong < 0.045"], 19, "upper limit of 4.51%"),
        (["wrong<0.05"], 2, "--require wrong<0.05: found no measure"),
        (["wrong<0.05", "wrong<0.04", "alpha>=0.7"], 2, "--require: found 2 limits of wrong"),
        (["wrong<5", "alpha>=0.7"], 2, "--require wrong<5: "),
    ],
)
def test_a_trainer_limits_wrong_labels_on_the_command_line(leaving, capsys, demands, status, words):
    asked = [each for demand in demands for each in ("--require", demand)]
    assert main(["verify", str(leaving), *asked]) == status
    assert words in "".join(capsys.readouterr())


def test_silver_rounds_are_released_together_and_adjudicated_items_stay(store, people, audited):
    by = ModelsAuditor(certified_by=CertifiedBy(JUDGE, people))
    tied = Adjudicated(store.present("s1").ratings_digest, {audited[0]: "no"})
    how = {"project": "silver", "auditor": by, "adjudicated": {"s1": tied}}
    release = release_dataset(store, ["s1"], SILVER, CONTRACT, **how)
    assert release.train["resolution"].value_counts()["adjudicated"] == 1
    assert open_release(release.path, store=store)


@pytest.mark.parametrize(
    "change",
    [
        lambda silver: silver.pop("draw"),
        lambda silver: silver["draw"].update(seed="0" * 64),
        lambda silver: silver["draw"].update(strata="all"),
        lambda silver: silver["draw"].update(items=["s0001"]),
        lambda silver: silver["draw"].update(population_items=40_000),
        lambda silver: silver.update(certificate="none"),
        lambda silver: silver.update(expires="soon"),
        lambda silver: silver["classifier"].update(model="another"),
        lambda silver: silver["classifier"].update(name="ana"),
    ],
)
def test_a_release_whose_audit_was_edited_is_refused(store, leaving, change):
    edit(leaving, "manifest.json", lambda manifest: change(manifest["rounds"][0]["silver"]))
    with pytest.raises(ReleaseInvalidError):
        open_release(leaving, store=store)
    with pytest.raises(ReleaseInvalidError, match=NOT_DERIVED):
        verify_release(leaving)


def test_a_draw_in_plain_data_is_made_again(store):
    found = drawn(store)
    assert Draw.from_mapping(json.loads(json.dumps(found.to_mapping()))) == found


def test_the_bundled_policy_asks_for_five_percent():
    from agreement_pipeline.policy import load_policy

    found = load_policy("silver-standard")
    assert found.silver == Silver(0.05, 3)
    assert Policy.from_mapping(found.to_mapping()) == found


def with_classifier(store, original, identity, name="r1", **how):
    """The decision on a round of people that a known classifier labelled too."""
    store.ingest(name, make_ratings(**how), original)
    judged, _ = judge_round(store, name, POLICY, CONTRACT, auditor=ModelsAuditor([identity]))
    return judged.decision, {
        each.check: each for each in judged.decision.findings if each.check == "classifier_known"
    }["classifier_known"]


def test_which_classifier_labelled_beside_people_is_in_decision_log_proof_and_card(store, original):
    decision, finding = with_classifier(store, original, JUDGE)
    assert decision.admitted
    assert finding.description == (
        "labels of classifier judge (model m-large, version 3) with the digest "
        f"{JUDGE.digest[:12]}; not known of it: ['date']"
    )
    assert store.history()[-1]["classifiers"] == [JUDGE.to_mapping()]
    by = {"project": "demo", "auditor": ModelsAuditor([JUDGE])}
    path = release_round(store, "r1", POLICY, CONTRACT, **by).path
    assert open_release(path, store=store).members[0].audit.facts["classifiers"] == [
        JUDGE.to_mapping()
    ]
    assert "Round r1 has labels of classifier judge (model m-large" in (
        path / "README.md"
    ).read_text().replace("\\", "")


def test_another_digest_under_the_same_name_is_a_warning_and_is_judged_again(store, original):
    with_classifier(store, original, JUDGE)
    other = replace(JUDGE, version="4")
    decision, finding = with_classifier(store, original, other, "r2", prefix="k")
    assert decision.admitted
    assert not finding.passed
    assert JUDGE.digest[:12] in finding.description
    _, same = with_classifier(store, original, other, "r3", prefix="m")
    assert not same.passed
    found = {
        each.round: each.judged
        for each in reassess(store, POLICY, CONTRACT, auditor=ModelsAuditor([other]))
    }
    assert {name for name, judged in found.items() if judged} == {"r1"}


@pytest.mark.parametrize(
    "said", [3, [3], [{}], {"judge": {}}, [{"name": "judge", "model": "other"}]]
)
def test_a_release_whose_classifiers_were_edited_is_refused(store, original, said):
    store.ingest("r1", make_ratings(), original)
    by = {"project": "demo", "auditor": ModelsAuditor([JUDGE])}
    path = release_round(store, "r1", POLICY, CONTRACT, **by).path
    edit(path, "manifest.json", lambda manifest: manifest["rounds"][0].update(classifiers=said))
    with pytest.raises(ReleaseInvalidError, match=NOT_DERIVED):
        verify_release(path)


def exported(*told, **how):
    """Ratings whose export tells which classifiers labelled."""
    origin = Origin.build("promptfoo", ["raters"], {}, classifiers=told)
    assert Origin.from_mapping(origin.to_mapping()) == origin
    return make_ratings(**how).with_origin(origin)


TOLD = {"name": "judge", "model": "m-large", "prompt_digest": "a" * 64}


def test_what_the_export_tells_of_a_classifier_needs_no_settings(store, original):
    store.ingest("r1", exported(TOLD), original)
    by = ModelsAuditor()
    path = release_round(store, "r1", POLICY, CONTRACT, project="demo", auditor=by).path
    decided = next(each for each in store.history() if each["event"] == "decided")
    assert decided["classifiers"] == [Identity.from_mapping(TOLD).to_mapping()]
    assert open_release(path, store=store).members[0].audit.facts["classifiers"] == [
        Identity(**TOLD).to_mapping()
    ]
    assert "classifier judge (model m-large)" in (path / "README.md").read_text().replace("\\", "")
    (again,) = reassess(store, POLICY, CONTRACT, auditor=by)
    assert not again.changed


@pytest.mark.parametrize(
    ("told", "named"),
    [
        ([TOLD, {**TOLD, "model": "m-small"}], ()),
        ([{**TOLD, "model": "m-small"}], (JUDGE,)),
    ],
    ids=["two in one export", "another than in the settings"],
)
def test_two_classifiers_of_one_name_are_a_warning(store, original, told, named):
    store.ingest("r1", exported(*told), original)
    judged, _ = judge_round(store, "r1", POLICY, CONTRACT, auditor=ModelsAuditor(named))
    known = {each.check: each for each in judged.decision.findings}["classifier_known"]
    assert judged.decision.admitted
    assert (known.passed, known.severity) == (False, "warning")
    assert "had it too" in known.description


@pytest.mark.parametrize(("part", "value"), [("model", "m-small"), ("prompt_digest", "c" * 64)])
def test_another_classifier_than_the_export_tells_is_not_certified(store, original, part, value):
    store.ingest("r1", exported({**TOLD, part: value}), original)
    how = {"policy": POLICY, "contract": CONTRACT, "project": "demo", "expires": SOON}
    with pytest.raises(CertificateError) as error:
        certify(store, ["r1"], JUDGE, RULES, **how)
    assert error.value.code == f"certificate_other_{part.removesuffix('_digest')}"
    store.ingest("r1", exported(TOLD), original)
    assert certify(store, ["r1"], JUDGE, RULES, **how).certified


def test_a_silver_round_of_another_classifier_than_its_export_tells_is_held(
    store, people, original
):
    names = drawn(store).items
    told = Origin.build("promptfoo", ["raters"], {}, classifiers=[{**TOLD, "model": "m-small"}])
    store.ingest("s1", ratings_of(names).with_origin(told), original)
    assert "found model 'm-small'" in held(store, people, "certificate_other_model")


def test_no_file_of_a_silver_release_has_an_address_of_a_rater(store, people, original):
    addresses = tuple(f"{name}@mail.example" for name in RATERS)
    store.ingest("s1", ratings_of(drawn(store).items, raters=addresses), original)
    path = released(store, people).path
    files = dict(all_bytes(path))
    assert len(files) >= 8
    assert not [name for name, data in files.items() if b"mail.example" in data]
