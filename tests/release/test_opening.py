"""A release is opened: wherever it was copied, under a policy, by the log of its store."""

import json
import shutil
from hashlib import sha256

import pandas as pd
import pytest

from agreement_pipeline import (
    Policy,
    Ratings,
    ReleaseHeldError,
    ReleaseInvalidError,
    Rule,
    Scale,
    open_release,
    verify_release,
)
from agreement_pipeline.policy.decision import describe_manner_for_record
from agreement_pipeline.release import release_dataset
from agreement_pipeline.release.tables import Member
from agreement_pipeline.store import Store
from agreement_pipeline.store.local import LocalStorage
from tests.release.forging import CONTRACT, POLICY, STRICTER, edit, make_ratings, refused
from tests.release.rounds import contents_of


def test_a_release_proves_itself_wherever_it_is_copied(copy, released):
    found = open_release(str(copy))
    assert (found.path, found.rounds, found.policy, found.contract) == (
        copy,
        ("r1", "r2"),
        POLICY,
        CONTRACT,
    )
    assert found.decisions == json.loads((released / "decision.json").read_text())
    assert (len(found.train), len(found.annotations)) == (180, 540)
    assert found.ratings["r1"].digest == make_ratings("r1").digest


def test_what_nothing_in_a_release_gives_is_known_to_the_log_of_its_store(copy, released):
    """The words of a policy's description cannot be derived. The log has the manifest."""
    store = Store(released.parents[2], salt=b"a salt for tests")
    assert open_release(copy, store=store).rounds == ("r1", "r2")
    edit(copy, "manifest.json", lambda manifest: manifest["written_by"].update(numpy="1.0"))
    assert verify_release(copy).rounds == ("r1", "r2")
    with pytest.raises(
        ReleaseInvalidError, match="found no such release in force in the log"
    ) as refusal:
        open_release(copy, store=store)
    assert refusal.value.code == "release_not_in_log"


def test_a_release_that_is_consistent_and_not_admitted_is_refused(tmp_path):
    """As somebody would make it who has the code and leaves out the lock."""
    held = Member("r1", "0" * 64, make_ratings(disagreements=60), POLICY, CONTRACT)
    LocalStorage(tmp_path).keep_folder("forged", contents_of("demo", held, POLICY, CONTRACT))
    refused(
        tmp_path / "forged",
        r"found round r1, which is not admitted \(krippendorff_alpha 0\.\d+"
        ".*expected an admitted round",
    )
    edit(tmp_path / "forged", "decision.json", lambda said: said["r1"].update(decision="admitted"))
    refused(tmp_path / "forged", "decision is 'admitted' and comes out as 'held'")


@pytest.mark.parametrize(
    ("change", "named"),
    [
        (lambda decided: decided["r1"].update(decision="held"), "['r1']"),
        (lambda decided: decided.update(r1=["admitted"]), "['r1']"),
        (lambda decided: decided.pop("r2"), "['r2']"),
        (lambda decided: decided.update(r3={"decision": "held"}), "['r3']"),
        (lambda decided: decided.update(r3=decided["r1"]), "['r1', 'r2', 'r3']"),
    ],
)
def test_a_log_proves_no_release_of_an_earlier_version_whose_own_decision_held_a_round(
    released, tmp_path, change, named
):
    """As somebody would let it out who can write into the log and leaves out the lock."""
    root = shutil.copytree(released.parents[2], tmp_path / "store")
    store, called = Store(root), str(released.relative_to(released.parents[1]))
    path = root / "releases" / called
    edit(path, "manifest.json", lambda said: said["written_by"].update(agreement_pipeline="0.5.0"))
    let_out = {each["release"]: each for each in store.in_force()}[called]
    facts = {key: let_out[key] for key in ("release", "rounds", "tentative")}
    write_out(store, path, facts)
    assert open_release(path, store=store).rounds == ("r1", "r2")
    edit(path, "decision.json", change)
    write_out(store, path, facts)
    with pytest.raises(ReleaseInvalidError) as refusal:
        open_release(path, store=store)
    assert refusal.value.code == "release_not_admitted"
    assert f"found rounds {named} in decision.json" in str(refusal.value)


def write_out(store, path, facts):
    digest = sha256((path / "manifest.json").read_bytes()).hexdigest()
    store.record("released", "demo.dataset", **facts, manifest_digest=digest)


def test_a_stricter_policy_can_be_required(copy):
    assert open_release(copy, require=POLICY).policy == POLICY
    with pytest.raises(
        ReleaseHeldError,
        match=r"found round r1 held under policy strict version 1 \(krippendorff_alpha",
    ):
        open_release(copy, require=STRICTER)


@pytest.fixture(scope="module")
def judged_at_any_time(tmp_path_factory):
    folder = tmp_path_factory.mktemp("any time")
    (folder / "export.csv").write_bytes(b"as delivered")
    store = Store(folder / "store", salt=b"a salt for tests")
    parts = [make_ratings(prefix, disagreements=1).to_pandas() for prefix in "abcde"]
    table = pd.concat(parts)[["item", "rater", "label"]]
    store.ingest("r1", Ratings.from_frame(table, Scale(("no", "yes"))), folder / "export.csv")
    policy = Policy(
        "filling",
        1,
        (Rule("krippendorff_alpha"), Rule("gwet_ac1")),
        n_resamples=20_000,
        familywise="holm",
        always_valid_at=400,
    )
    return release_dataset(store, ["r1"], policy, CONTRACT, project="demo").path


def test_a_release_judged_at_any_time_and_together_proves_itself_and_says_so(judged_at_any_time):
    found = verify_release(judged_at_any_time)
    manner = (
        "judged at any time, always valid, tightest at 400 items (or clusters); "
        "the verdicts hold together (Holm)"
    )
    assert found.decisions["r1"]["manner"] == describe_manner_for_record(found.policy, 1) == manner
    assert (
        "Judged at any time, with always valid limits that are tightest at 400 items (or clusters)"
        in (judged_at_any_time / "README.md").read_text()
    )


@pytest.mark.parametrize(
    ("key", "value"), [("familywise", "none"), ("always_valid_at", None), ("always_valid_at", 300)]
)
def test_a_release_whose_policy_says_it_was_judged_otherwise_is_refused(
    judged_at_any_time, tmp_path, key, value
):
    copy = shutil.copytree(judged_at_any_time, tmp_path / "downloaded")
    edit(copy, "policy.json", lambda data: data["policy"].update({key: value}))
    with pytest.raises(ReleaseInvalidError, match="derived again"):
        verify_release(copy)


def test_a_decision_that_says_it_was_judged_otherwise_is_refused(judged_at_any_time, tmp_path):
    copy = shutil.copytree(judged_at_any_time, tmp_path / "downloaded")
    edit(
        copy,
        "decision.json",
        lambda data: data["r1"].update(manner="judged once; each verdict holds by itself"),
    )
    with pytest.raises(ReleaseInvalidError, match="manner"):
        verify_release(copy)
