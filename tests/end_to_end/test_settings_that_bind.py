"""What a round is read under, its policy and its store cannot be exchanged unseen."""

import json

import pytest

from agreement_pipeline.errors import AgreementError, StoreError
from agreement_pipeline.projects import Project
from agreement_pipeline.readers import Columns
from agreement_pipeline.release import judge_round
from agreement_pipeline.store import Store
from tests.orchestration.conftest import POLICY, ratings_frame
from tests.releases import current_release


def judged(line, round_name="w1"):
    """The decision on what the store holds."""
    project = line.project
    return judge_round(
        project.store,
        round_name,
        project.policy,
        project.contract,
        settings_digest=project.settings.reading_digest,
    )[0]


def released(line, frame, round_name="w1"):
    line.deliver(round_name, frame)
    assert line.run(round_name).success
    assert current_release(line.project.store, round_name)


@pytest.mark.parametrize(
    "change",
    [
        {"classifiers": ("ben",)},
        {"columns": Columns(cluster="batch")},
        {"replicates": "across"},
        {"scale": {"categories": ["hateful", "offensive", "safe"], "level": "ordinal"}},
    ],
)
def test_another_setting_of_reading_makes_a_round_due_and_holds_it_until_it_is_read(line, change):
    released(line, ratings_frame(0.99).assign(batch="b1"))
    assert line.project.due() == ()
    line.settings = type(line.settings)(**{**line.settings.model_dump(), **change})
    assert [each.round for each in line.project.due()] == ["w1"]
    decision = judged(line)
    assert (decision.admitted, decision.codes) == (False, ("read_otherwise",))
    assert current_release(line.project.store, "w1") is None
    line.run("w1")
    assert line.project.due() == ()
    assert "read_otherwise" not in judged(line).codes


def test_a_setting_that_reads_nothing_makes_nothing_due(line):
    released(line, ratings_frame(0.99))
    line.settings = line.settings.model_copy(update={"description": "more", "schedule": "@daily"})
    assert line.project.due() == ()
    assert judged(line).admitted


def test_a_weaker_policy_under_the_same_name_and_version_is_refused(line):
    """The log keeps the rules themselves, so it can say which rules the name stood for."""
    released(line, ratings_frame(0.99))
    weaker = [{"measure": "percent_agreement"}]
    line.write_policy({**POLICY, "rules": weaker})
    with pytest.raises(StoreError, match=r"policy strict, version 1: found other rules than .*w1"):
        judged(line)
    line.write_policy({**POLICY, "rules": weaker, "version": 2})
    assert judged(line).admitted
    kept = [
        [rule["measure"] for rule in entry["policy"]["rules"]]
        for entry in line.project.store.history("w1")
        if entry["event"] == "decided"
    ]
    assert kept == [["krippendorff_alpha"], ["percent_agreement"]]


def test_a_policy_is_the_same_in_every_round_and_after_many_entries(line):
    """The first decision under the policy stands in a segment by then."""
    released(line, ratings_frame(0.99))
    store = line.project.store
    for number in range(40):
        store.record("withdrawn", "w2", releases=[f"w2/{number}"], reasons=[])
    released(line, ratings_frame(0.98), "w3")
    line.write_policy({**POLICY, "n_resamples": 2000})
    with pytest.raises(StoreError, match="policy strict, version 1: found other rules"):
        judged(line, "w3")


def test_a_store_belongs_to_one_project(line):
    released(line, ratings_frame(0.99))
    said = line.settings.model_copy(
        update={"project": "others", "store": ".agreement/store/reviews"}
    )
    other = Project(said)
    steps = (other.due, other.store.history, lambda: other.keep(*other.delivered("w1")))
    for step in steps:
        with pytest.raises(StoreError, match="found a store of project 'reviews'; expected one"):
            step()
    anybody = Store(line.project.store.root)
    with pytest.raises(StoreError, match="found a store of project 'reviews'"):
        anybody.give_to("others")
    assert {entry["project"] for entry in anybody.history()} == {"reviews"}


@pytest.mark.parametrize("name", ["reviews.dataset", "other.dataset", "salt", "log", "Segments"])
def test_a_round_cannot_have_a_name_that_the_store_needs(line, name):
    line.deliver(name, ratings_frame(0.99))
    with pytest.raises(StoreError, match="found a name that the store needs itself"):
        line.project.keep(*line.project.delivered(name))


def test_a_salt_that_is_gone_is_not_drawn_anew(line):
    released(line, ratings_frame(0.99))
    (line.project.store.root / "salt").unlink()
    with pytest.raises(StoreError, match="salt: found no such file, and releases in the log"):
        line.project.store.pseudonyms(line.project.store.ratings("w1"))
    line.deliver("w2", ratings_frame(0.98))
    assert not line.run("w2").success
    assert not (line.project.store.root / "salt").exists()


@pytest.mark.parametrize(
    "names",
    [
        ("Ana\u00a0Brown", "ben\u2003b", 'chi "c"'),
        ("0", "1", "95"),
        ("an\u200ba", "a and b", "'quoted'"),
    ],
)
def test_a_notice_of_withdrawal_has_pseudonyms_and_all_of_its_numbers(line, names):
    line.write_policy(
        {
            **POLICY,
            "rules": [
                {"measure": "krippendorff_alpha", "scope": scope} for scope in ("round", "without")
            ]
            + [{"measure": "cohen_kappa", "scope": "pair"}],
        }
    )
    called = dict(zip(("ana", "ben", "chi"), names, strict=True))

    def frame(agreement):
        return ratings_frame(agreement).assign(rater=lambda each: each["rater"].map(called))

    released(line, frame(0.99))
    line.deliver("w1", frame(0.55))
    line.run("w1", "annotations")
    line.run("w1", "acceptability")
    (notice,) = line.project.store.root.rglob("WITHDRAWN.json")
    told = json.loads(notice.read_text())["reasons"]
    pseudonyms = line.project.store.pseudonyms(line.project.store.ratings("w1"))
    assert len(told) == 7
    assert all("0.667" in each for each in told)
    assert not [name for name in names if len(name) > 2 for each in told if name in each]
    assert all(any(shown in each for each in told) for shown in pseudonyms.values())


def test_what_was_ingested_and_not_judged_is_pending(line):
    from agreement_pipeline.report import admitted_rounds, not_admitted, round_table

    released(line, ratings_frame(0.99))
    line.deliver("w1", ratings_frame(0.4))
    line.run("w1", "annotations")
    store = line.project.store
    rounds = round_table(store)
    assert list(rounds["decision"]) == ["pending"]
    assert list(rounds["release"]) == ["superseded"]
    assert not_admitted(rounds) == ("held: w1",)
    assert admitted_rounds(store) == ()


def test_a_release_of_a_former_version_is_called_superseded(line):
    from agreement_pipeline.report import round_table

    released(line, ratings_frame(0.99))
    line.deliver("w1", ratings_frame(0.985))
    line.run("w1", "annotations")
    line.run("w1", "acceptability")
    assert set(round_table(line.project.store)["decision"]) == {"admitted"}
    assert list(round_table(line.project.store)["release"]) == ["superseded"]
    assert line.run("w1").success
    assert list(round_table(line.project.store)["release"]) == ["released"]


def test_bytes_that_say_the_same_are_decided_and_not_due_for_ever(line):
    """The decision on them is that of the former bytes, so the log does not repeat it."""
    released(line, ratings_frame(0.99))
    line.deliver("w1", ratings_frame(0.99).iloc[::-1])
    assert [each.round for each in line.project.due()] == ["w1"]
    assert line.run("w1").success
    assert line.project.due() == ()


def test_a_waiver_that_turns_nothing_does_not_keep_an_admitted_round_from_its_release(line):
    line.deliver("w1", ratings_frame(0.99))
    said = {"project": "reviews", "round": "w1", "ratings_digest": "0" * 64, "who": "Ann Lee"}
    waiver = {**said, "measure": "krippendorff_alpha", "why": "for another version"}
    (line.root / "configs/waivers").mkdir()
    (line.root / "configs/waivers/w1.yaml").write_text(
        json.dumps({**waiver, "until": "2026-12-31"})
    )
    assert line.run("w1").success
    assert current_release(line.project.store, "w1")


def test_a_folder_named_like_a_kept_seal_or_an_entry_is_refused(line):
    released(line, ratings_frame(0.99))
    log = line.project.store.root / "log"
    seal = max((log / "seals").iterdir())
    last = max(log.glob("*.json"))
    seal.unlink(), last.unlink()
    for folder in (seal, last):
        folder.mkdir()
        with pytest.raises(AgreementError, match="something that is no file"):
            Store(log.parent).since(seal.name)
        folder.rmdir()
    assert Store(log.parent).since(seal.name) is None
