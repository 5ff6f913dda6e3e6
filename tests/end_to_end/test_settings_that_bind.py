"""What a round is read under, its policy and its store cannot be exchanged unseen."""

import json

import pytest

from agreement_pipeline.errors import AgreementError, StoreError
from agreement_pipeline.orchestration.assets import (
    agreement_history,
    annotations,
    training_data,
)
from agreement_pipeline.orchestration.host import Host
from agreement_pipeline.orchestration.metadata import decision_metadata
from agreement_pipeline.projects import Project
from agreement_pipeline.readers import Columns
from agreement_pipeline.release import judge_round, open_release
from agreement_pipeline.release.tables import Member
from agreement_pipeline.store import Store
from tests.orchestration.conftest import POLICY, ratings_frame
from tests.releases import current_release

pytestmark = pytest.mark.slow


def judged(line, round_name="w1"):
    """The decision on what the store holds."""
    project = line.project
    return judge_round(
        project.store,
        round_name,
        project.policy,
        project.contract,
        settings_digest=project.settings.reading_digest,
    )[0].decision


def read(line, round_name="w1"):
    """Read what was delivered of a round, and keep it."""
    project = line.project
    project.keep(*project.delivered(round_name))


def taken_in(line, round_name="w1") -> bool:
    """Read, judge and release a round, as the assets of a run do. True if it was released."""
    annotations(line.project, round_name)
    try:
        training_data(line.project, round_name)
    except AgreementError:
        return False
    return True


def released(line, frame, round_name="w1"):
    line.deliver(round_name, frame)
    assert taken_in(line, round_name)
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
    taken_in(line)
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
    weaker = {**POLICY, "admit": ["reliable", "tentative"]}
    line.write_policy(weaker)
    with pytest.raises(StoreError, match=r"policy strict, version 1: found other rules than .*w1"):
        judged(line)
    line.write_policy({**weaker, "version": 2})
    assert judged(line).admitted
    decided = [entry for entry in line.project.store.history("w1") if entry["event"] == "decided"]
    assert [entry["policy"]["admit"] for entry in decided] == [
        ["reliable"],
        ["reliable", "tentative"],
    ]


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
        anybody.log.give_to("others")
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
    assert not taken_in(line, "w2")
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
    read(line)
    judged(line)
    (notice,) = line.project.store.root.rglob("WITHDRAWN.json")
    told = json.loads(notice.read_text())["reasons"]
    pseudonyms = line.project.store.pseudonyms(line.project.store.ratings("w1"))
    assert len(told) == 7
    assert all("0.667" in each for each in told)
    assert not [name for name in names if len(name) > 2 for each in told if name in each]
    assert all(any(shown in each for each in told) for shown in pseudonyms.values())


def test_what_was_ingested_and_not_judged_is_pending(line):
    from agreement_pipeline.evidence import admitted_rounds, round_table, rounds_not_admitted

    released(line, ratings_frame(0.99))
    line.deliver("w1", ratings_frame(0.4))
    read(line)
    store = line.project.store
    rounds = round_table(store)
    assert list(rounds["decision"]) == ["pending"]
    assert list(rounds["release"]) == ["superseded"]
    assert rounds_not_admitted(rounds) == ("held: w1",)
    assert admitted_rounds(store) == ()


def test_a_release_of_a_former_version_is_called_superseded(line):
    from agreement_pipeline.evidence import round_table

    released(line, ratings_frame(0.99))
    line.deliver("w1", ratings_frame(0.985))
    read(line)
    judged(line)
    assert set(round_table(line.project.store)["decision"]) == {"admitted"}
    assert list(round_table(line.project.store)["release"]) == ["superseded"]
    assert taken_in(line)
    assert list(round_table(line.project.store)["release"]) == ["released"]


def test_bytes_that_say_the_same_are_decided_and_not_due_for_ever(line):
    """The decision on them is that of the former bytes, so the log does not repeat it."""
    released(line, ratings_frame(0.99))
    line.deliver("w1", ratings_frame(0.99).iloc[::-1])
    assert [each.round for each in line.project.due()] == ["w1"]
    assert taken_in(line)
    assert line.project.due() == ()


def test_a_waiver_that_turns_nothing_does_not_keep_an_admitted_round_from_its_release(line):
    line.deliver("w1", ratings_frame(0.99))
    said = {"project": "reviews", "round": "w1", "ratings_digest": "0" * 64, "who": "Ann Lee"}
    waiver = {**said, "measure": "krippendorff_alpha", "why": "for another version"}
    (line.root / "configs/waivers").mkdir()
    (line.root / "configs/waivers/w1.yaml").write_text(
        json.dumps({**waiver, "until": "2026-12-31"})
    )
    assert taken_in(line)
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
            Store(log.parent).log.since(seal.name)
        folder.rmdir()
    assert Store(log.parent).log.since(seal.name) is None


def test_s9_the_number_of_versions_is_said_wherever_the_decision_is(line):
    """Delivered until one is admitted: the log knows it, so everybody is told."""
    from agreement_pipeline.evidence import event_table, round_table, rounds_in_words, summarize

    frame = ratings_frame(0.98)
    hard = sorted(frame["item"].unique())[:3]
    for number in range(3):
        line.deliver("w1", frame[~frame["item"].isin(hard[: number + 1])])
        read(line)
        decision = judged(line)
        assert decision.version == number + 1
    assert decision.manner.startswith("This is version 3 of the round. The limits are valid for")
    assert not decision.recorded_manner.startswith("judged once")
    taken_in(line)
    rounds = round_table(line.project.store)
    assert set(rounds["version"]) == {3}
    assert rounds_in_words(rounds)["decision"].tolist()[0] == "admitted, version 3"
    assert "admitted, version 3" in event_table(line.project.store.history())["what"].tolist()
    project = line.project
    found = summarize(project.store.ratings("w1"), project.policy, decision, project.name, "w1")
    shown = decision_metadata(found, {})
    assert shown["version"] == 3
    release = open_release(current_release(line.project.store, "w1"))
    card = (release.path / "README.md").read_text()
    assert "This is version 3 of round w1" in card
    assert "Judged once" not in card
    line.deliver("w1", frame[~frame["item"].isin(hard[:1])])
    read(line)
    assert judged(line).version == 3, "the first again is not the first look"


def test_s9_one_version_is_judged_once_and_a_policy_may_bound_their_number(line):
    line.write_policy({**POLICY, "most_versions": 1})
    released(line, ratings_frame(0.99))
    assert judged(line).manner.startswith("Judged once.")
    card = (current_release(line.project.store, "w1") / "README.md").read_text()
    assert "Judged once." in card
    line.deliver("w1", ratings_frame(0.985))
    assert not taken_in(line)
    decision = judged(line)
    assert (decision.admitted, decision.codes) == (False, ("too_many_versions",))
    assert current_release(line.project.store, "w1") is None
    line.deliver("w1", ratings_frame(0.99))
    assert not taken_in(line), "the first again is the second look"


def test_s9_a_release_that_says_it_is_another_version_is_refused_by_its_policy(line):
    """Alone, a copy may lie about the number. The digest in the log may not."""
    line.write_policy({**POLICY, "most_versions": 1})
    released(line, ratings_frame(0.99))
    release = open_release(current_release(line.project.store, "w1"))
    member = Member(
        "w1", "0" * 64, release.ratings["w1"], release.policy, release.contract, version=2
    )
    assert member.assessment.decision.codes == ("too_many_versions",)


def test_s11_columns_and_names_that_nothing_reads_do_not_move_the_limits(line):
    """Else somebody could rename items until the draws admit a round."""
    frame = ratings_frame(0.95)
    found = set()
    for number in range(3):
        renamed = frame.assign(item=f"{number}-" + frame["item"], note=str(number))
        line.deliver("w1", renamed)
        read(line)
        found.add(tuple(verdict.estimate.low for verdict in judged(line).verdicts))
    assert len(found) == 1
    assert "1,000 resamples are few, so close cases depend on chance." in judged(line).manner


def test_p5_a_waiver_of_a_misspelt_round_or_project_is_named(line):
    released(line, ratings_frame(0.99))
    digest = line.project.store.present("w1").ratings_digest
    said = {"ratings_digest": digest, "measure": "krippendorff_alpha", "until": "2027-01-31"}
    said |= {"who": "Dana Okoye", "why": "adjudicated by hand"}
    (line.root / "configs/waivers").mkdir()
    for file, project, named in (("a", "reviews", "w11"), ("b", "reveiws", "w1"), ("c", "x", "w9")):
        text = json.dumps({**said, "project": project, "round": named})
        if file == "c":
            text = text.replace(digest, "0" * 64)
        (line.root / f"configs/waivers/{file}.yaml").write_text(text)
    unused = line.project.unused_waivers()
    assert unused == {
        "a.yaml": "found round 'w11'; expected one of ['w1']. Correct the waiver.",
        "b.yaml": "found project 'reveiws'; expected 'reviews', whose round w1 has these ratings. "
        "Correct the waiver.",
    }
    result = agreement_history(Host(line.project))
    assert len(result.metadata["waivers_unused"].records) == 2
    assert not result.check_results[0].passed
    assert "unused waiver a.yaml" in result.check_results[0].description
