"""Adjudicated labels in a release: proved, bound to the ratings, and no part of the decision."""

import json
from dataclasses import replace

import pytest

from agreement_pipeline.cli import main
from agreement_pipeline.errors import RatingsError, ReleaseHeldError, ReleaseInvalidError
from agreement_pipeline.large_files import iterate_content_parts
from agreement_pipeline.ratings import Adjudicated, Ratings
from agreement_pipeline.release import open_release, release_round
from agreement_pipeline.release.tables import Member
from tests.release.forging import CONTRACT, NOT_DERIVED, POLICY, edit, make_ratings, refused
from tests.release.rounds import SCALE, contents_of
from tests.release.rounds import make_ratings as round_of_three


@pytest.fixture
def ingested(store, original):
    ratings = make_ratings("r1")
    store.ingest("r1", ratings, original)
    return store, ratings.digest


def release(store, labels=None, digest=""):
    adjudicated = {"r1": Adjudicated(digest, labels)} if labels else {}
    return release_round(store, "r1", POLICY, CONTRACT, project="demo", adjudicated=adjudicated)


def disputed(found):
    train = found.train.set_index("id")
    return train.index[train["resolution"] == "plurality"][0]


def test_adjudicated_labels_are_released_and_proved_and_the_decision_is_the_same(ingested):
    store, digest = ingested
    plain = release(store)
    item = disputed(plain)
    before = plain.train.set_index("id").loc[item]
    other = next(name for name in plain.labels.scale.names if name != before["label"])

    found = release(store, {item: other}, digest)
    again = open_release(found.path)
    row = again.train.set_index("id").loc[item]
    assert (row["label"], row["resolution"]) == (other, "adjudicated")
    assert (row["panel_votes"], row["votes"]) == (before["votes"], [0, 0])
    assert row["soft_label"] == [float(name == other) for name in again.labels.scale.names]
    assert row["entropy_bits"] == 0
    assert found.path != plain.path
    assert again.decisions == plain.decisions
    assert again.annotations.equals(plain.annotations)
    assert release(store, {item: other}, digest).path == found.path
    assert release(store).path == plain.path


def test_its_description_says_who_gave_the_labels(ingested, capsys):
    store, digest = ingested
    plain = release(store)
    found = release(store, {disputed(plain): "no"}, digest)
    for each, said in ((plain, False), (found, True)):
        assert main(["verify", str(each.path)]) == 0
        assert ("  Adjudication gave 1 of 90 labels." in capsys.readouterr().out) is said

    def protocol(of):
        return json.loads((of.path / "croissant.json").read_text())["rai:dataAnnotationProtocol"]

    assert protocol(found) == f"{protocol(plain)} But an adjudicator chose 1 label."
    assert protocol(plain).endswith("ties are not broken.")


@pytest.mark.parametrize("change", [{}, {"x": "y"}, {"x": 1}, [1], None])
def test_a_release_whose_adjudicated_labels_were_edited_is_refused(ingested, change):
    store, digest = ingested
    item = disputed(release(store))
    path = release(store, {item: "no"}, digest).path
    edit(path, "manifest.json", lambda manifest: manifest["rounds"][0].update(adjudicated=change))
    with pytest.raises(ReleaseInvalidError, match=NOT_DERIVED):
        open_release(path)


def test_labels_of_another_version_hold_the_release(ingested):
    store, _ = ingested
    with pytest.raises(ReleaseHeldError, match="found adjudicated labels of ratings 0000"):
        release(store, {"i": "no"}, "0" * 64)


def test_an_unknown_item_is_refused(ingested):
    store, digest = ingested
    with pytest.raises(RatingsError, match="item 'nowhere' without a label of the panel"):
        release(store, {"nowhere": "no"}, digest)


def flipped(found, count):
    """The other label of the first items on which all raters agree."""
    rows = found.train[found.train["resolution"] == "unanimous"].head(count)
    others = {"no": "yes", "yes": "no"}
    return {item: others[label] for item, label in zip(rows["id"], rows["label"], strict=True)}


def test_an_adjudicator_cannot_overrule_what_the_raters_agree_on(ingested):
    """The raters agree on 88 of 90 items. A tenth of these is 8.8."""
    store, digest = ingested
    plain = release(store)
    with pytest.raises(ReleaseHeldError, match="against all raters on 9 of the 88 items"):
        release(store, flipped(plain, 9), digest)
    assert len(release(store, flipped(plain, 8), digest).train) == 90


def test_an_adjudicator_cannot_give_most_single_labels_anew(store, original):
    """Two of three pairs differ on 6 of 100 items, so 10 % and 4 % of the rows may be overruled."""
    frame = round_of_three(6, n_items=500).to_pandas().astype(str)
    is_single = frame["item"] >= "i100"
    frame = frame[~is_single | (frame["rater"] == frame["rater"].iloc[0])]
    ratings = Ratings.from_frame(frame[["item", "rater", "label"]], SCALE)
    store.ingest("r1", ratings, original)
    assert len(release(store).train) == 100
    singles = frame[frame["item"] >= "i100"].set_index("item")["label"].astype(str)
    others = {name: SCALE.names[SCALE.names.index(name) - 1] for name in SCALE.names}

    def answers(n_changed):
        changed = singles.head(n_changed).map(others)
        return {**singles.to_dict(), **changed.to_dict()}

    found = release(store, answers(70), ratings.digest)
    assert len(found.train) == 500
    words = (
        "Adjudication gave 400 of 500 labels. On 70 of these items it overruled every rater "
        "(70 ratings; 70 of these items had one rater)."
    )
    assert words in found.what_trains
    assert f"- {words}" in (found.path / "README.md").read_text()
    with pytest.raises(
        ReleaseHeldError,
        match=r"against the only rater on 71 of the 500 items that several raters or an "
        r"adjudicator settled; expected 14\.0% at most, which is 10% and the 4\.0% on which two "
        r"raters differ",
    ):
        release(store, answers(71), ratings.digest)
    few = dict(list(answers(20).items())[:20])
    with pytest.raises(ReleaseHeldError, match="on 20 of the 120 items that several"):
        release(store, few, ratings.digest)


def test_the_card_says_how_many_labels_no_rater_gave(ingested):
    store, digest = ingested
    plain = release(store)
    labels = {**flipped(plain, 3), disputed(plain): "no"}
    found = release(store, labels, digest)
    card = (found.path / "README.md").read_text()
    assert (
        "- Adjudication gave 4 of 90 labels. On 3 of these items it overruled every rater "
        "(9 ratings)."
    ) in card
    assert "Adjudication" not in (plain.path / "README.md").read_text()
    agreeing = dict(plain.train[["id", "label"]].head(2).to_numpy())
    assert (
        "Adjudication gave 2 of 90 labels. On none of these items did it overrule every rater."
        in release(store, agreeing, digest).what_trains
    )
    assert found.labels.is_resolved_as("adjudicated").sum() == 4


def test_a_forged_release_whose_adjudicator_overrules_all_raters_is_refused(ingested, monkeypatch):
    store, digest = ingested
    plain = release(store)
    member = Member("r1", "0" * 64, plain.ratings["r1"], POLICY, CONTRACT)
    labels = Adjudicated(digest, flipped(plain, 88))
    with monkeypatch.context() as patched:
        patched.setattr("agreement_pipeline.release.tables.MAX_OVERRULED_SHARE", 1)
        forged = contents_of("demo", replace(member, adjudicated=labels), POLICY, CONTRACT)
    path = plain.path.parent / "forged"
    for name, content in forged.items():
        (path / name).parent.mkdir(parents=True, exist_ok=True)
        (path / name).write_bytes(b"".join(iterate_content_parts(content)))
    refused(path, "against all raters on 88 of the 88 items")
