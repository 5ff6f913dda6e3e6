"""Releases are withdrawn: when, with what notice, and for good."""

import json

import pytest

from agreement_pipeline.errors import ReleaseHeldError, ReleaseInvalidError
from agreement_pipeline.evidence import round_table
from agreement_pipeline.release import (
    judge_round,
    release_dataset,
    verify_release,
)
from tests.release.rounds import (
    CONTRACT,
    POLICY,
    STRICTER,
    bytes_of,
    make_ratings,
    released,
)
from tests.releases import current_release, withdraw


def test_worse_ratings_withdraw_every_release_the_round_is_in(store, original):
    for name in ("r1", "r2"):
        store.ingest(name, make_ratings(prefix=name), original)
    alone, other, together = (
        released(store),
        released(store, name="r2"),
        release_dataset(store, ["r1", "r2"], POLICY, CONTRACT, project="demo"),
    )
    store.ingest("r1", make_ratings(prefix="r1", disagreements=60), original)
    with pytest.raises(ReleaseHeldError):
        released(store)
    for path in (alone.path, together.path):
        with pytest.raises(
            ReleaseInvalidError,
            match=r"withdrawn on 20\d\d.*for round r1 \(krippendorff_alpha 0\.\d+",
        ):
            verify_release(path)
    assert (
        current_release(store, "r1"),
        current_release(store, "demo.dataset"),
        current_release(store, "r2"),
    ) == (None, None, other.path)
    # the rows stay, under a name that no pattern for Parquet files takes
    assert (alone.path / "data" / "train-00000-of-00001.parquet.withdrawn").exists()
    assert not list(alone.path.rglob("*.parquet"))


def test_withdrawing_says_whether_there_was_a_release_and_hides_the_reasons_it_was_given(
    store, original
):
    """Words that were made with names never stand in a release."""
    store.ingest("r1", make_ratings(), original)
    assert not withdraw(store, "r1", ["nothing there"])
    path = released(store).path
    assert withdraw(store, "r1", ["self_agreement of rater ana-maria 0.2"])
    assert not withdraw(store, "r1", ["again"])
    said = json.loads((path / "WITHDRAWN.json").read_text())["reasons"]
    assert said == ["the store's log has the reasons"]
    assert [entry["event"] for entry in store.history()] == [
        "ingested",
        "decided",
        "released",
        "withdrawn",
    ]


@pytest.mark.parametrize("manifest", ["", "[]", "{}", '{"rounds": [1]}'])
def test_a_release_nobody_can_read_is_in_no_others_way(store, let_out, manifest):
    broken = store.release_folder("broken", "v") / "manifest.json"
    broken.parent.mkdir(parents=True)
    broken.write_text(manifest)
    assert withdraw(store, "r1", ["a mistake"])
    assert (let_out / "WITHDRAWN.json").exists()
    assert not (broken.parent / "WITHDRAWN.json").exists()


def test_a_withdrawn_release_is_never_revived(store, original):
    store.ingest("r1", make_ratings(), original)
    paths = []
    for _ in range(3):
        paths.append(released(store).path)
        withdraw(store, "r1", ["a mistake in the guideline"])
    assert [path.name.split("-")[2:] for path in paths] == [[], ["2"], ["3"]]
    fresh = released(store).path
    assert current_release(store, "r1") == fresh
    assert {
        name.removesuffix(".withdrawn"): data
        for name, data in bytes_of(paths[0]).items()
        if name != "WITHDRAWN.json"
    } == bytes_of(fresh)


def test_judging_says_what_is_decided_and_withdraws_what_is_held(store, let_out):
    assert judge_round(store, "r1", POLICY, CONTRACT)[0].decision.admitted
    assert current_release(store, "r1") == let_out
    judged, withdrawn = judge_round(store, "r1", STRICTER, CONTRACT)
    decision = judged.decision
    assert (decision.admitted, withdrawn, current_release(store, "r1")) == (False, True, None)
    again, withdrawn = judge_round(store, "r1", STRICTER, CONTRACT)
    assert (again.decision, withdrawn) == (decision, False)
    assert [entry["event"] for entry in store.history()] == [
        "ingested",
        "decided",
        "released",
        "decided",
        "withdrawn",
    ]


@pytest.mark.parametrize(
    "act",
    [
        lambda store: judge_round(store, "r1", STRICTER, CONTRACT),
        lambda store: released(store, STRICTER),
    ],
)
def test_a_stricter_policy_withdraws_a_former_release_although_the_present_one_is_admitted(
    store, original, act
):
    store.ingest("r1", make_ratings(disagreements=3), original)
    store.ingest("r2", make_ratings(prefix="r2"), original)
    old, together = (
        released(store).path,
        release_dataset(store, ["r1", "r2"], POLICY, CONTRACT, project="demo").path,
    )
    store.ingest("r1", make_ratings(disagreements=0), original)
    new = released(store).path
    assert verify_release(old).rounds == ("r1",), (
        "a former version that the policy admits stays in force"
    )
    act(store)
    for path in (old, together):
        with pytest.raises(ReleaseInvalidError, match="withdrawn on"):
            verify_release(path)
    assert verify_release(new).rounds == ("r1",)
    assert current_release(store, "r1").name.startswith(make_ratings(disagreements=0).digest[:12])


def test_the_release_of_a_former_version_that_cannot_be_read_any_more_is_withdrawn(
    store, let_out, original
):
    next(store.root.glob("rounds/*/*.parquet")).unlink()
    store.ingest("r1", make_ratings(disagreements=0), original)
    assert judge_round(store, "r1", POLICY, CONTRACT)[1]
    with pytest.raises(ReleaseInvalidError, match="withdrawn on"):
        verify_release(let_out)


def test_a_notice_that_the_log_does_not_know_is_entered_by_the_next_to_judge(store, let_out):
    (let_out / "WITHDRAWN.json").write_text(
        json.dumps({"round": "r1", "reasons": ["a mistake"], "time": "2026-11-01"})
    )
    assert current_release(store, "r1") is None
    judge_round(store, "r1", POLICY, CONTRACT)
    last = store.history()[-1]
    assert (last["event"], last["round"], last["releases"], last["reasons"]) == (
        "withdrawn",
        "r1",
        [f"r1/{let_out.name}"],
        ["a mistake"],
    )
    assert released(store).path.name == f"{let_out.name}-2"


UNREADABLE = ["a WITHDRAWN.json that cannot be read"]
SPOILT_NOTICES = {
    "empty": ("", UNREADABLE),
    "too deep": ("[" * 100_000, UNREADABLE),
    "path as round": ('{"round": "../r9", "reasons": []}', []),
    "list as round": ('{"round": [], "reasons": ["why"]}', ["why"]),
    "numbers as reasons": ('{"round": "r1", "reasons": [1]}', UNREADABLE),
    "half a character": ('{"round": "r1", "reasons": ["\\ud800"]}', UNREADABLE),
}


@pytest.mark.parametrize(("notice", "reasons"), SPOILT_NOTICES.values(), ids=SPOILT_NOTICES)
def test_a_notice_that_cannot_be_read_withdraws_too(store, let_out, notice, reasons):
    (let_out / "WITHDRAWN.json").write_text(notice)
    judge_round(store, "r1", POLICY, CONTRACT)
    last = store.history()[-1]
    assert (last["event"], last["round"], last["reasons"]) == ("withdrawn", "r1", reasons)
    with pytest.raises(ReleaseInvalidError):
        verify_release(let_out)
    assert released(store).path.name == f"{let_out.name}-2"


def test_a_notice_that_somebody_removed_is_put_back_and_the_release_is_never_used_again(
    store, let_out
):
    withdraw(store, "r1", ["a mistake"])
    (let_out / "WITHDRAWN.json").unlink()
    assert current_release(store, "r1") is None
    assert released(store).path.name == f"{let_out.name}-2"
    with pytest.raises(
        ReleaseInvalidError, match=r"withdrawn on .*the store's log has the reasons"
    ):
        verify_release(let_out)


def test_a_round_whose_former_release_is_withdrawn_is_shown_as_released(store, original):
    store.ingest("r1", make_ratings(disagreements=3), original)
    released(store)
    store.ingest("r1", make_ratings(disagreements=0), original)
    released(store)
    judge_round(store, "r1", STRICTER, CONTRACT)
    assert store.history()[-1]["event"] == "withdrawn"
    assert round_table(store)["release"].tolist() == ["released"]
    withdraw(store, "r1", ["a mistake"])
    assert round_table(store)["release"].tolist() == ["withdrawn"]
