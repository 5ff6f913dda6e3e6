"""The rounds of an inbox, without Dagster."""

import hashlib
import os
import shutil
import time
from pathlib import Path

import pandas as pd
import pytest

from agreement_pipeline.contract import Contract
from agreement_pipeline.errors import ProjectError, RatingsError
from agreement_pipeline.projects import Project, ProjectSettings, inbox
from agreement_pipeline.projects import project as steps

TABLE = pd.DataFrame(
    [(f"i{n}", rater, "ab"[n % 2]) for n in range(4) for rater in ("ana", "ben")],
    columns=["item", "rater", "label"],
)


@pytest.fixture
def project(tmp_path):
    def made(**settings):
        (tmp_path / "inbox").mkdir(exist_ok=True)
        said = {"project": "p", "inbox": "inbox", "policy": "strict", "root": str(tmp_path)}
        said["scale"] = {"categories": ["a", "b"]}
        return Project(ProjectSettings(**{**said, **settings}))

    return made


def test_a_file_is_a_round_and_a_hidden_file_or_folder_is_none(project):
    found = project()
    TABLE.to_csv(found.inbox / "w2.csv", index=False)
    TABLE.to_csv(found.inbox / "w1.csv", index=False)
    (found.inbox / ".w3.csv").touch()
    (found.inbox / "w4").mkdir()
    assert list(found.look().deliveries) == ["w1", "w2"]


def test_an_inbox_may_be_one_file_or_absent(project):
    found = project(columns={"round": "week"}, inbox="all.csv")
    assert found.look().deliveries == {}
    TABLE.assign(week=["w1"] * 4 + ["w2"] * 4).to_csv(found.inbox, index=False)
    assert list(found.look().deliveries) == ["w1", "w2"]


def test_a_round_in_two_files_is_refused(project):
    found = project()
    TABLE.to_csv(found.inbox / "w1.csv", index=False)
    TABLE.to_csv(found.inbox / "w1.tsv", index=False, sep="\t")
    TABLE.to_csv(found.inbox / "w2.csv", index=False)
    assert list(found.look().deliveries) == ["w2"]
    said = "inbox: found round 'w1' in more than one file; expected one file a round"
    assert said in found.look().refused["w1"]


def test_a_round_with_a_second_file_that_cannot_be_read_is_refused(project):
    found = project()
    TABLE.to_csv(found.inbox / "w1.csv", index=False)
    (found.inbox / "w1.tsv").symlink_to(found.inbox / "w1.csv")
    assert found.look().deliveries == {}
    assert "found a link" in found.look().refused["w1"]
    with pytest.raises(ProjectError, match="found a link"):
        found.delivered("w1")


def test_a_round_is_due_until_it_is_decided_and_again_when_its_bytes_change(project):
    found = project()
    TABLE.to_csv(found.inbox / "w1.csv", index=False)
    assert [each.round for each in found.due()] == ["w1"]
    found.keep(*found.delivered("w1"))
    assert [each.round for each in found.due()] == ["w1"]
    assert found.times_arrived("w1") == 1


@pytest.fixture
def digested(monkeypatch):
    """The files that were digested, as they come."""
    found, real = [], hashlib.file_digest
    monkeypatch.setattr(
        hashlib,
        "file_digest",
        lambda file, name: (found.append(Path(file.name).name), real(file, name))[1],
    )
    return found


def later(monkeypatch, seconds):
    now = time.time_ns() + int(seconds * 1e9)
    monkeypatch.setattr(inbox.time, "time_ns", lambda: now)


def test_a_file_is_digested_again_only_if_it_has_changed(project, digested, monkeypatch):
    found = project()
    for name in ("w1", "w2"):
        TABLE.to_csv(found.inbox / f"{name}.csv", index=False)
    later(monkeypatch, 3)
    first = found.look().deliveries
    assert found.look().deliveries == first
    assert digested == ["w1.csv", "w2.csv"]
    TABLE.assign(label="a").to_csv(found.inbox / "w2.csv", index=False)
    again = found.look().deliveries
    assert digested == ["w1.csv", "w2.csv", "w2.csv"]
    assert again["w2"].digest == hashlib.sha256(again["w2"].path.read_bytes()).hexdigest()
    assert again["w1"] == first["w1"]


def test_a_file_of_the_same_size_and_time_is_digested_again(project, digested, monkeypatch):
    """Its time is put back, which a program can do. Its time of change of status cannot be."""
    found = project()
    path = found.inbox / "w1.csv"
    path.write_text("item,rater,label\ni,a,a\n")
    later(monkeypatch, 3)
    found.look()
    before = path.stat()
    time.sleep(0.02)
    path.write_text("item,rater,label\ni,a,b\n")
    os.utime(path, ns=(before.st_atime_ns, before.st_mtime_ns))
    assert (path.stat().st_size, path.stat().st_mtime_ns) == (before.st_size, before.st_mtime_ns)
    digest = found.look().deliveries["w1"].digest
    assert digest == hashlib.sha256(path.read_bytes()).hexdigest()
    assert len(digested) == 2


def test_a_file_that_has_just_changed_is_digested_each_time(project, digested):
    found = project()
    TABLE.to_csv(found.inbox / "w1.csv", index=False)
    found.look()
    found.look()
    assert digested == ["w1.csv", "w1.csv"]


def test_of_one_round_no_other_file_is_read(project, digested):
    found = project()
    for name in ("w1", "w2"):
        TABLE.to_csv(found.inbox / f"{name}.csv", index=False)
    found.delivered("w2")
    assert digested == ["w2.csv"]
    TABLE.to_csv(found.inbox / "w1.tsv", index=False, sep="\t")
    assert found.delivered("w2")
    with pytest.raises(ProjectError, match="found round 'w1' in more than one file"):
        found.delivered("w1")


def test_for_rounds_that_were_asked_for_the_log_is_not_read(project, monkeypatch):
    found = project()
    TABLE.to_csv(found.inbox / "w1.csv", index=False)
    asked = {each.round: each.digest for each in found.due()}
    monkeypatch.setattr(type(found.store), "history", None)
    assert found.due(asked) == ()


def test_a_round_that_was_not_delivered_is_refused_with_those_that_were(project):
    found = project()
    TABLE.to_csv(found.inbox / "w1.csv", index=False)
    with pytest.raises(
        RatingsError, match=r"found no round 'w2' among \['w1'\]; expected a delivered round\. Put"
    ):
        found.delivered("w2")


def test_answers_to_a_list_of_disputed_items_are_no_round(project):
    found = project()
    TABLE.assign(ratings_digest="d").to_csv(found.inbox / "w1.csv", index=False)
    with pytest.raises(ProjectError, match="Put the file into the folder that adjudicated names"):
        found.delivered("w1")


def test_labels_of_earlier_rounds_come_before_those_of_the_round(project):
    found = project(replicates="across")
    for name, labels in (("w1", "abababab"), ("w2", "aabbaabb"), ("w3", "bbbbaaaa")):
        TABLE.assign(label=list(labels)).to_csv(found.inbox / f"{name}.csv", index=False)
        found.keep(*found.delivered(name))
    _, ratings = found.delivered("w2")
    again = ratings.to_pandas()[ratings.to_pandas()["item"] == "i1"]
    assert list(zip(again["rater"], again["occurrence"], again["earlier"], strict=True)) == [
        ("ana", 1, True),
        ("ana", 2, False),
        ("ben", 1, True),
        ("ben", 2, False),
    ]
    assert found.store.ratings("w3").to_pandas()["occurrence"].max() == 3


def test_a_folder_in_the_inbox_is_one_round(project):
    found = project()
    folder = found.inbox / "2026.09"
    folder.mkdir()
    TABLE[:4].to_csv(folder / "a.csv", index=False)
    TABLE[4:].to_csv(folder / "b.csv", index=False)
    delivery, ratings = found.delivered("2026.09")
    TABLE.to_csv(found.inbox / "whole.csv", index=False)
    assert ratings.digest == found.delivered("whole")[1].digest
    version = found.keep(delivery, ratings)
    assert version.original_digest == delivery.digest
    kept = found.store.root / "originals" / version.original_digest / "2026.09"
    assert sorted(path.name for path in kept.iterdir()) == ["a.csv", "b.csv"]


def test_a_change_within_a_folder_is_seen(project, monkeypatch):
    found = project()
    folder = found.inbox / "w1"
    (folder / "deep").mkdir(parents=True)
    assert found.look().deliveries == {}
    TABLE.to_csv(folder / "deep" / "a.csv", index=False)
    later(monkeypatch, 3)
    first = found.look().deliveries["w1"].digest
    TABLE.to_csv(folder / "deep" / "b.csv", index=False)
    second = found.look().deliveries["w1"].digest
    (folder / "deep" / "b.csv").rename(folder / "c.csv")
    assert len({first, second, found.look().deliveries["w1"].digest}) == 3


@pytest.mark.parametrize("put", [shutil.copy, os.symlink])
def test_bytes_that_were_in_the_inbox_only_while_it_was_read_are_not_kept(
    project, tmp_path, monkeypatch, put
):
    """The delivered file is back before the ratings are kept, so its digest is the right one."""
    found, aside, other = project(), tmp_path / "aside.csv", tmp_path / "other.csv"
    TABLE.to_csv(found.inbox / "w1.csv", index=False)
    TABLE.assign(label="a").to_csv(other, index=False)
    real = steps.read

    def exchanged(path, *arguments, **more):
        path.rename(aside)
        put(other, path)
        try:
            return real(path, *arguments, **more)
        finally:
            aside.replace(path)

    with monkeypatch.context() as reading:
        reading.setattr(steps, "read", exchanged)
        delivery, ratings = found.delivered("w1")
    assert set(ratings.to_pandas()["label"]) == {"a"}
    with pytest.raises(ProjectError, match="found another delivery of round w1") as refused:
        found.keep(delivery, ratings)
    assert refused.value.may_pass
    assert found.store.rounds() == ()
    assert found.keep(*found.delivered("w1")).original_digest == delivery.digest


def test_a_file_that_is_removed_while_the_inbox_is_looked_at_is_not_there(project, monkeypatch):
    found, real = project(), os.listdir
    TABLE.to_csv(found.inbox / "w1.csv", index=False)
    monkeypatch.setattr(inbox.os, "listdir", lambda folder: [*real(folder), "w0.csv"])
    assert list(found.look().deliveries) == ["w1"]
    assert found.look().refused == {}


def test_a_round_that_nobody_judged_yet_says_so(project):
    found = project()
    TABLE.to_csv(found.inbox / "w1.csv", index=False)
    assert found.unjudged() == {"w1": "delivered, and not judged yet"}


def test_a_project_has_the_contract_that_it_names_else_none(project):
    found = project(contract="house.yaml")
    path = found.configs / "contracts/house.yaml"
    path.parent.mkdir(parents=True)
    path.write_text(
        "expectations:\n- {type: expect_column_values_to_not_be_null, kwargs: {column: label}}\n"
    )
    assert found.contract.named == {"contract": "house", "version": 1}
    assert [entry.check for entry in found.contract.suite.entries] == ["label_not_null"]
    assert project().contract == project(contract="none").contract == Contract.none()


def test_a_link_within_a_folder_is_refused(project, tmp_path):
    found = project()
    (found.inbox / "w1").mkdir()
    (found.inbox / "w1" / "a.csv").symlink_to(tmp_path / "elsewhere.csv")
    assert "found a link" in found.look().refused["w1"]


@pytest.mark.parametrize("name", ["w1.csv", "w1/a.csv"])
def test_nobody_waits_for_a_pipe_in_the_inbox(project, name):
    found = project()
    pipe = found.inbox / name
    pipe.parent.mkdir(exist_ok=True)
    os.mkfifo(pipe)
    TABLE.to_csv(found.inbox / "w2.csv", index=False)
    assert list(found.look().deliveries) == ["w2"]
    assert "found a device, pipe or socket" in found.look().refused["w1"]


def test_a_file_that_cannot_be_read_is_refused(project, monkeypatch):
    def digest_at(path):
        raise PermissionError(13, "Permission denied", str(path))

    found = project()
    TABLE.to_csv(found.inbox / "w1.csv", index=False)
    monkeypatch.setattr(inbox, "digest_at", digest_at)
    assert found.look().refused["w1"] == (
        f"{found.inbox / 'w1.csv'}: found a file that cannot be read (Permission denied); "
        "expected one that can. Correct its permissions."
    )


@pytest.mark.parametrize("name", [b"w1\xff.csv", b"w1\xff/a.csv", b"w1/\xff.csv"])
def test_a_name_that_is_not_utf_8_holds_up_only_itself(project, name):
    found = project()
    TABLE.to_csv(found.inbox / "w2.csv", index=False)
    path = Path(os.fsdecode(os.fsencode(found.inbox) + b"/" + name))
    path.parent.mkdir(exist_ok=True)
    TABLE.to_csv(path, index=False)
    look = found.look()
    assert list(look.deliveries) == ["w2"]
    ((round_name, said),) = look.refused.items()
    assert round_name.encode().startswith(b"w1")
    assert "\\udcff" in said
    assert "found a name that is not UTF-8; expected one that is. Rename the file." in said


def test_a_compressed_file_is_the_round_of_its_plain_name(project):
    found = project()
    TABLE.to_csv(found.inbox / "2026-09.csv.gz", index=False)
    assert len(found.delivered("2026-09")[1]) == len(TABLE)
