"""The lock: what it lets out, and what it holds."""

import json
import shutil
from dataclasses import replace

import pytest

from agreement_pipeline.contract import Contract
from agreement_pipeline.errors import ReleaseHeldError, ReleaseInvalidError, StoreError
from agreement_pipeline.integrity import FACTS, AtLeast, AtMost, Integrity
from agreement_pipeline.integrity.facts import Fact
from agreement_pipeline.policy import Policy, Rule
from agreement_pipeline.readers import read_delivered
from agreement_pipeline.release import contents as release_contents
from agreement_pipeline.release import (
    decisions,
    judge_round,
    lock,
    open_release,
    release_dataset,
    verify_release,
)
from agreement_pipeline.release.tables import Member
from agreement_pipeline.store import Store
from tests.contract.suites import entry, suite_of
from tests.release.rounds import (
    CONTRACT,
    POLICY,
    RATERS,
    STRICTER,
    contents_of,
    make_ratings,
    released,
)
from tests.releases import current_release


def test_an_admitted_round_is_released_under_the_digests_it_rests_on(store, original):
    ratings = make_ratings()
    store.ingest("r1", ratings, original)
    found = released(store)
    assert (
        found.path == store.root / "releases" / "r1" / f"{ratings.digest[:12]}-{POLICY.digest[:12]}"
    )
    assert (found.rounds, found.project, found.policy, found.tentative) == (
        ("r1",),
        "demo",
        POLICY,
        False,
    )
    assert (len(found.train), len(found.annotations), found.decisions["r1"]["decision"]) == (
        90,
        270,
        "admitted",
    )
    assert current_release(store, "r1") == found.path
    assert [(entry["event"], entry.get("release")) for entry in store.history()][1:] == [
        ("decided", None),
        ("released", f"r1/{found.path.name}"),
    ]


def test_another_version_of_the_package_words_a_release_of_its_own(store, original, monkeypatch):
    store.ingest("r1", make_ratings(), original)
    first = released(store)
    monkeypatch.setattr(release_contents, "__version__", "9.9")
    second = released(store)
    assert second.path.name == f"{first.path.name}-2"
    assert released(store).path == second.path
    assert [entry["release"] for entry in store.in_force()] == [
        f"r1/{first.path.name}",
        f"r1/{second.path.name}",
    ]
    assert all(open_release(each.path, store=store).rounds == ("r1",) for each in (first, second))


def test_a_held_round_leaves_no_folder_and_names_every_reason(store, original):
    store.ingest("r1", make_ratings(disagreements=60), original)
    policy = Policy(
        "p", 1, (Rule("krippendorff_alpha"), Rule("gwet_ac1", min_items=1000)), n_resamples=1000
    )
    with pytest.raises(
        ReleaseHeldError,
        match=r"round r1: held, since krippendorff_alpha 0\.\d+.*; gwet_ac1 .* "
        "the policy asks for 1000; expected an admitted decision",
    ):
        released(store, policy)
    assert not (store.root / "releases").exists()
    assert (store.history()[-1]["event"], store.history()[-1]["decision"]) == ("decided", "held")


def test_a_round_beyond_a_bound_of_the_policy_is_held(store, original):
    store.ingest("r1", make_ratings(), original)
    policy = replace(POLICY, integrity=Integrity(raters_per_item=AtLeast(4, "hold")))
    with pytest.raises(ReleaseHeldError, match="round r1: held, since contract: raters_per_item"):
        released(store, policy)


def test_what_rests_on_the_raters_names_holds_since_a_release_has_none(
    store, original, monkeypatch
):
    def unknown_raters(panel):
        return Fact(len({*panel.raters} - {*RATERS}), "raters are unknown")

    monkeypatch.setitem(FACTS, "raters_named_like_models", unknown_raters)
    store.ingest("r1", make_ratings(), original)
    policy = replace(POLICY, integrity=Integrity(raters_are_people=AtMost(0, "hold")))
    with pytest.raises(
        ReleaseHeldError,
        match="found it admitted under the raters' names, and held under their pseudonyms",
    ):
        released(store, policy)
    assert not (store.root / "releases").exists()


def test_the_same_release_again_is_verified_and_not_rewritten(store, original):
    store.ingest("r1", make_ratings(), original)
    first = released(store)
    before = {path: path.stat().st_mtime_ns for path in store.root.rglob("*") if path.is_file()}
    assert released(store).path == first.path
    assert {
        path: path.stat().st_mtime_ns for path in store.root.rglob("*") if path.is_file()
    } == before
    (first.path / "README.md").write_text("edited")
    with pytest.raises(ReleaseInvalidError, match=r"found other bytes in \['README.md'\]"):
        released(store)


def manifest_with(change):
    def forge(path):
        said = json.loads((path / "manifest.json").read_text())
        change(said)
        (path / "manifest.json").write_bytes(release_contents.as_json(said))

    return forge


def forge_names(path):
    """The whole release written again from its own ratings, as given by somebody else."""
    found = verify_release(path)
    ratings = found.ratings["r1"].renamed({found.ratings["r1"].raters[0]: "rater-of-renown"})
    member = Member("r1", "0" * 64, ratings, POLICY, CONTRACT)
    for name, data in contents_of("demo", member, POLICY, CONTRACT).items():
        (path / name).write_bytes(data)


FORGERIES = {
    "the delivered file": manifest_with(
        lambda said: said["rounds"][0].update(original_digest="f" * 64)
    ),
    "a library": manifest_with(lambda said: said["written_by"].update(numpy="1.0")),
    "a rater": forge_names,
}


@pytest.mark.parametrize("forge", FORGERIES.values(), ids=FORGERIES)
@pytest.mark.parametrize("before", [True, False], ids=["standing", "put there first"])
def test_a_release_forged_in_its_place_is_never_entered_into_the_log(
    store, original, tmp_path, forge, before
):
    """A forged release that verifies by itself must not be let out by the next run."""
    home = store if before else Store(tmp_path / "other", salt=b"a salt for tests")
    for each in {store, home}:
        each.ingest("r1", make_ratings(), original)
    made = released(home).path
    path = store.release_folder("r1", made.name)
    if not before:
        shutil.copytree(made, path)
    forge(path)
    assert verify_release(path).rounds == ("r1",)
    let_out = [entry for entry in store.history() if entry["event"] == "released"]
    for step in (
        lambda: open_release(path, store=store),
        lambda: released(store),
        lambda: open_release(path, store=store),
    ):
        with pytest.raises(ReleaseInvalidError) as refusal:
            step()
        assert refusal.value.code == "release_not_in_log"
    assert [entry for entry in store.history() if entry["event"] == "released"] == let_out
    shutil.rmtree(path)
    assert released(store).path == path
    assert open_release(path, store=store).rounds == ("r1",)


@pytest.mark.parametrize(
    "manifest", [b"[" * 100_000, b'{"rounds": [1]}', b"\xff"], ids=["deep", "other", "no text"]
)
def test_a_manifest_in_its_place_that_nobody_can_read_is_refused(store, let_out, manifest):
    (let_out / "manifest.json").write_bytes(manifest)
    with pytest.raises(ReleaseInvalidError, match=r"manifest\.json"):
        released(store)


def test_a_release_of_equal_ratings_delivered_in_another_file_is_the_one_that_stands(
    store, original, tmp_path
):
    store.ingest("r1", make_ratings(), original)
    first = released(store)
    (tmp_path / "again.csv").write_bytes(b"as exported once more")
    store.ingest("r1", make_ratings(), tmp_path / "again.csv")
    assert (released(store).path, released(store).manifest_digest) == (
        first.path,
        first.manifest_digest,
    )


def test_a_release_in_words_that_this_version_no_longer_writes_gets_another_beside_it(
    store, original, monkeypatch
):
    store.ingest("r1", make_ratings(), original)
    former = release_contents.card
    with monkeypatch.context() as patch:
        patch.setattr(
            release_contents,
            "card",
            lambda *facts: former(*facts).replace("## Data", "## The data"),
        )
        first = released(store)
    second = released(store)
    assert second.path.name == f"{first.path.name}-2"
    assert released(store).path == second.path == current_release(store, "r1")
    assert open_release(second.path, store=store).rounds == ("r1",)


def test_another_contract_gets_a_folder_of_its_own(store, original):
    ratings = make_ratings()
    table = read_delivered(ratings.to_pandas(), None)
    store.ingest("r1", ratings, original, delivered_table=table.to_parquet())
    other = Contract.of_suite(suite_of(entry()))
    assert (
        released(store, by=other).path.name
        != released(store).path.name
        == f"{released(store, by=other).path.name}-2"
    )


def test_an_edited_round_is_refused(store, original):
    store.ingest("r1", make_ratings(), original)
    path = next(store.root.glob("rounds/*/*.parquet"))
    path.write_bytes(path.read_bytes()[:-1] + b"x")
    with pytest.raises(StoreError, match="the ratings were edited"):
        released(store)
    assert not (store.root / "releases").exists()


def test_a_round_ingested_anew_while_it_is_judged_is_not_released(store, original, monkeypatch):
    store.ingest("r1", make_ratings(), original)
    real = decisions.assess

    def meanwhile(*arguments, **more):
        store.ingest("r1", make_ratings(disagreements=60), original)
        return real(*arguments, **more)

    monkeypatch.setattr(decisions, "assess", meanwhile)
    with pytest.raises(StoreError, match="round r1: found another version, ingested meanwhile"):
        released(store)
    assert not (store.root / "releases").exists()


@pytest.mark.parametrize("name", ["../r1", "a/b", "", "..", "/tmp/x"])
def test_names_that_could_be_paths_are_refused(store, name):
    for step in (
        lambda: released(store, name=name),
        lambda: release_dataset(store, [name], POLICY, CONTRACT, project="demo"),
        lambda: release_dataset(store, ["r1"], POLICY, CONTRACT, project=name),
    ):
        with pytest.raises(StoreError, match="found a name that is not allowed"):
            step()


def test_a_round_decided_otherwise_while_its_release_is_made_is_not_released(
    store, original, monkeypatch
):
    store.ingest("r1", make_ratings(), original)
    real = lock.contents

    def meanwhile(*arguments):
        judge_round(store, "r1", STRICTER, CONTRACT)
        return real(*arguments)

    monkeypatch.setattr(lock, "contents", meanwhile)
    with pytest.raises(StoreError, match="round r1: found another decision, taken meanwhile"):
        released(store)
    assert not (store.root / "releases").exists()


def test_a_folder_that_holds_a_part_of_a_release_is_refused(store, let_out):
    (let_out / "manifest.json").unlink()
    with pytest.raises(StoreError, match=r"found a part of a release.*Remove the folder"):
        released(store)
    shutil.rmtree(let_out)
    assert released(store).path == let_out
