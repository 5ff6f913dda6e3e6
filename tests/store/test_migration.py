"""Stores that older versions wrote are carried over, and lose nothing."""

import json
import os
import shutil
from functools import partial
from getpass import getuser
from pathlib import Path
from random import Random
from shutil import copytree

import pytest

from agreement_pipeline import Store, __version__, load_policy, open_release, verify_release
from agreement_pipeline.cli import main
from agreement_pipeline.contract import Contract
from agreement_pipeline.errors import ReleaseInvalidError, StoreError
from agreement_pipeline.policy import Policy, Rule
from agreement_pipeline.release import judge_round, release_round, tables
from agreement_pipeline.release.contents import as_json
from agreement_pipeline.report import charted, round_table
from agreement_pipeline.store import digest_of, erase, migrate, migration, names_in
from agreement_pipeline.store.local import LocalStorage
from agreement_pipeline.store.log import Line
from tests.killing import killed
from tests.store.test_crashes import PRIMITIVES
from tests.store.test_golden import GOLDEN, OLDER, PROJECT, STORES, said

EACH = [(commit, name) for commit in OLDER for name in STORES]
POLICY = load_policy(GOLDEN / "policies" / "golden.yaml")


@pytest.fixture(scope="module")
def carried(tmp_path_factory):
    """The store of each older version, carried over."""
    place = tmp_path_factory.mktemp("carried")
    for commit, name in EACH:
        status = main(["store", "migrate", f"{GOLDEN / commit / name}", f"{place / commit / name}"])
        assert status == 0
    return place


@pytest.fixture
def older(tmp_path):
    """A copy of a store of an older version, whose files can be changed."""
    return copytree(GOLDEN / OLDER[0] / "forum", tmp_path / "older")


def files_of(store: Path) -> dict[str, bytes]:
    """The files of a store, without what names a time of today."""
    found = {name: (store / name).read_bytes() for name in names_in(store)}
    return {name: data for name, data in found.items() if not name.startswith(("log/", ".lock"))}


@pytest.mark.parametrize(("commit", "name"), EACH)
def test_what_happened_is_in_the_new_log_at_its_own_time(commit, name, carried, capsys):
    store, then = Store(carried / commit / name), said(commit, name)
    *happened, last = store.history()
    assert [[each["event"], each["round"], each["time"]] for each in happened] == then["history"]
    assert (last["event"], last["entries"]) == ("migrated", len(happened))
    assert last["from_versions"] == [then["version"]]
    assert store.rounds() == tuple(sorted(then["rounds"]))
    assert main(["history", "--store", f"{store.root}"]) == 0
    said_of_it = f"{len(happened)} entries of version {then['version']}, as {getuser()} asked"
    assert said_of_it in capsys.readouterr().out


@pytest.mark.parametrize(("commit", "name"), EACH)
def test_originals_releases_and_the_key_are_the_same_bytes(commit, name, carried):
    old, new = GOLDEN / commit / name, carried / commit / name
    kept = [each for each in names_in(old) if each.startswith(("originals/", "releases/", "salt"))]
    assert kept
    assert all((new / each).read_bytes() == (old / each).read_bytes() for each in kept)


@pytest.mark.parametrize(("commit", "name"), EACH)
def test_a_release_of_an_older_version_is_verified_by_the_log(commit, name, carried, capsys):
    store, then = Store(carried / commit / name), said(commit, name)
    for called, facts in then["releases"].items():
        path = store.root / "releases" / called
        asked = ["verify", f"{path}", "--store", f"{store.root}", "--today"]
        status = main(asked)
        printed = capsys.readouterr().out
        if "refused" in facts:
            assert f"refused ({facts['refused']})" in printed
            continue
        assert status == 0
        words = f"written by agreement_pipeline {then['version']}; {__version__} admits it too"
        assert words in printed
        assert open_release(path, store=store).manifest_digest == facts["manifest_digest"]
        with pytest.raises(ReleaseInvalidError, match="Name the store with --store"):
            verify_release(path)


@pytest.mark.parametrize(("commit", "name"), EACH)
def test_its_rounds_are_judged_as_they_were(commit, name, carried, tmp_path):
    store = Store(copytree(carried / commit / name, tmp_path / "store"))
    for one, decisions in said(commit, name)["decisions"].items():
        judged, withdrawn = judge_round(store, one, POLICY, Contract.default())
        assert judged.decision.to_mapping()["decision"] == decisions[-1]["decision"]
        assert not withdrawn
    release = release_round(store, store.rounds()[0], POLICY, Contract.default(), project=PROJECT)
    assert verify_release(release.path).written_by == __version__


def test_what_was_derived_otherwise_is_still_in_force_and_said(
    carried, tmp_path, monkeypatch, capsys
):
    """Today's code finds other numbers. The log proves what was decided then."""
    store = Store(copytree(carried / OLDER[0] / "others", tmp_path / "store"))
    (entry, *_) = store.in_force()
    path, real = store.root / "releases" / entry["release"], tables.assess
    stricter = Policy("golden", 1, (Rule("krippendorff_alpha", reliable=0.999, min_items=20),))
    monkeypatch.setattr(
        tables, "assess", lambda of, _, *more, **by: real(of, stricter, *more, **by)
    )
    asked = ["verify", f"{path}", "--store", f"{store.root}"]
    assert main(asked) == 0
    assert f"{__version__} would hold it, since round lab-1: krippendorff_alpha" in (
        capsys.readouterr().out
    )
    assert main([*asked, "--today"]) == 22
    assert "refused (release_held_today)" in capsys.readouterr().out


def test_bytes_that_the_log_does_not_have_are_not_verified(carried, tmp_path):
    """Another version's name alone opens nothing."""
    store = Store(copytree(carried / OLDER[0] / "others", tmp_path / "store"))
    (entry, *_) = store.in_force()
    path = store.root / "releases" / entry["release"]
    manifest = json.loads((path / "manifest.json").read_bytes())
    manifest["written_by"]["agreement_pipeline"] = "0.3.0"
    (path / "manifest.json").write_text(json.dumps(manifest, indent=2, sort_keys=True) + "\n")
    with pytest.raises(ReleaseInvalidError):
        open_release(path, store=store)


def test_a_migration_that_is_killed_is_finished_by_the_next(tmp_path):
    old, whole = GOLDEN / OLDER[0] / "others", tmp_path / "whole"
    assert migrate(old, whole).n_entries == 6
    for n in sorted(Random(37).sample(range(1, 150), 10)):
        new = tmp_path / f"{n}"
        assert killed(partial(migrate, old, new), n, PRIMITIVES)
        for log in list(new.glob("log/*.json"))[:1]:
            assert log
            with pytest.raises(StoreError, match="found a store whose making was stopped"):
                Store(new).in_force()
        assert migrate(old, new).n_entries == 6
        assert files_of(new) == files_of(whole)
        assert [each["event"] for each in Store(new).history()].count("migrated") == 1
        assert migrate(old, new).n_entries == 6
        assert len(Store(new).history()) == 7


def edit_any(older, folder, name):
    path = next((older / folder).rglob(name))
    path.write_bytes(path.read_bytes() + b"\n")


def edit(older, name, change):
    path = older / name
    path.write_bytes(change(path.read_bytes()))


@pytest.mark.parametrize(
    ("break_it", "why"),
    [
        (lambda of: edit(of, "log/00000005.json", lambda b: b.replace(b"held", b"admitted")), "6"),
        (lambda of: (of / "log/00000004.json").unlink(), "4"),
        (lambda of: (of / "log/00000012.json").unlink(), "12"),
        (lambda of: next((of / "seals").glob("00000003-*")).unlink(), "3"),
        (
            lambda of: edit(of, "log/00000012.json", lambda b: b.replace(b"forum-3/", b"nothing/")),
            "12",
        ),
        (lambda of: (of / f"seals/00000011-{'0' * 64}").touch(), "11"),
    ],
)
def test_an_older_log_that_was_edited_is_not_carried_over(break_it, why, older, tmp_path):
    break_it(older)
    with pytest.raises(StoreError, match=f"entry ({why}) absent, or not as it was written"):
        migrate(older, tmp_path / "new")
    assert not (tmp_path / "new").exists()


@pytest.mark.parametrize(
    ("break_it", "why"),
    [
        (lambda of: next((of / "originals").rglob("forum-1.csv")).unlink(), "found no original"),
        (lambda of: edit_any(of, "originals", "forum-2.csv"), "found no original"),
        (lambda of: (of / "releases/forum-1").symlink_to(of / "rounds"), "links or things"),
        (lambda of: os.mkfifo(of / "originals/pipe"), "links or things"),
    ],
)
def test_what_is_lost_or_no_file_is_not_carried_over(break_it, why, older, tmp_path):
    shutil.rmtree(older / "releases/forum-1")
    break_it(older)
    with pytest.raises(StoreError, match=why):
        migrate(older, tmp_path / "new")
    assert not (tmp_path / "new").exists()


def test_a_notice_that_the_log_lacks_is_not_carried_over(older, tmp_path):
    notice = next((older / "releases/forum-1").iterdir()) / "WITHDRAWN.json"
    notice.write_text("{}")
    with pytest.raises(StoreError, match="withdrawn by a notice, and in force by the log"):
        migrate(older, tmp_path / "new")


def test_a_release_that_the_log_does_not_prove_names_no_project(older, tmp_path):
    forged = shutil.copytree(older / "releases/forum-1", older / "releases/zzz")
    manifest = next(forged.iterdir()) / "manifest.json"
    manifest.write_bytes(manifest.read_bytes().replace(b'"golden"', b'"other"'))
    migrate(older, tmp_path / "new")
    assert Store(tmp_path / "new").history()[-1]["project"] == "golden"


def test_two_migrations_at_once_write_each_entry_once(tmp_path, monkeypatch):
    old, new = GOLDEN / OLDER[0] / "others", tmp_path / "new"
    real = migration._as_today

    def meanwhile(*of):
        monkeypatch.setattr(migration, "_as_today", real)
        migrate(old, new)
        return real(*of)

    monkeypatch.setattr(migration, "_as_today", meanwhile)
    with pytest.raises(StoreError, match="expected nobody else to write here"):
        migrate(old, new)
    assert len(Store(new).history()) == 7


def test_a_release_without_an_admitting_decision_is_not_proved(carried, tmp_path):
    """Whoever can write the log has to write a decision too, which everybody sees."""
    store = Store(copytree(carried / OLDER[0] / "forum", tmp_path / "store"), project=PROJECT)
    (entry,) = store.in_force()
    path = store.root / "releases" / entry["release"]
    manifest = json.loads((path / "manifest.json").read_bytes())
    manifest["written_by"]["numpy"] = "1"
    rounds = {"forum-1": store.present("forum-2").ratings_digest}
    (path / "manifest.json").write_bytes(as_json(manifest))
    digest = digest_of((path / "manifest.json").read_bytes())
    store.record("released", "forum-1", release="forum-1/x", rounds=rounds, manifest_digest=digest)
    with pytest.raises(ReleaseInvalidError) as refusal:
        open_release(path, store=store)
    assert refusal.value.code == "release_not_in_log"


def test_a_file_that_is_gone_when_it_is_to_be_copied_is_missed(older, tmp_path):
    places = LocalStorage(older), LocalStorage(tmp_path / "new")
    with pytest.raises(StoreError, match="or nothing there; expected the same"):
        migration.copy_file("originals/gone", *places)


def test_a_table_that_was_edited_is_not_carried_over(older, tmp_path):
    table = next((older / "rounds").rglob("*.parquet"))
    table.write_bytes(table.read_bytes()[:-1])
    with pytest.raises(StoreError, match="found no table, or another one"):
        migrate(older, tmp_path / "new")


def test_a_store_of_this_version_or_another_place_is_refused(carried, tmp_path):
    with pytest.raises(StoreError, match="needs no migration"):
        migrate(carried / OLDER[0] / "forum", tmp_path / "new")
    other = carried / OLDER[1] / "others"
    before = names_in(other)
    with pytest.raises(StoreError, match="does not come from"):
        migrate(GOLDEN / OLDER[0] / "forum", other)
    assert names_in(other) == before


def test_a_place_with_other_files_is_refused_and_left_as_it_was(older, tmp_path):
    new = tmp_path / "papers"
    for name in ("letters/may.txt", "rounds/none.parquet", "todo.md"):
        (new / name).parent.mkdir(parents=True, exist_ok=True)
        (new / name).write_text("mine")
    before = names_in(new)
    for carry in (migrate, partial(erase, what="item", name="i1", by="me", why="asked")):
        with pytest.raises(StoreError) as refused:
            carry(older, new)
        assert str(refused.value) == (
            f"{new}: found ['letters', 'todo.md']; expected an empty place, or a store that an "
            "earlier attempt began. Name another place."
        )
    assert names_in(new) == before


def test_what_a_disk_puts_into_a_new_volume_is_nobodys(older, tmp_path):
    new = tmp_path / "volume"
    for name in (".DS_Store", "lost+found/#12"):
        (new / name).parent.mkdir(parents=True, exist_ok=True)
        (new / name).write_text("")
    assert migrate(older, new).n_entries == migrate(older, tmp_path / "other").n_entries


def test_a_log_of_more_than_one_segment_is_carried_over(older, tmp_path):
    """The older log has no segments, however long it is."""
    last = Line.of((older / "log/00000012.json").read_bytes())
    for number in range(13, 80):
        entry = {**last.entry, "number": number, "previous": last.digest}
        entry |= {"releases": [f"forum-3/{number}"], "event": "withdrawn"}
        last = Line.of((json.dumps(entry) + "\n").encode())
        (older / f"log/{number:08}.json").write_bytes(last.data)
        (older / f"seals/{number:08}-{last.digest}").write_bytes(b"")
    assert migrate(older, tmp_path / "new").n_entries == 79
    history = Store(tmp_path / "new").history()
    assert len(history) == 80
    assert history[70]["releases"] == ["forum-3/71"]


@pytest.mark.parametrize(("commit", "name"), EACH)
def test_its_rounds_are_shown_as_those_of_other_stores(commit, name, carried):
    rounds = round_table(Store(carried / commit / name))
    then = said(commit, name)["decisions"]
    shown = rounds.drop_duplicates("round").set_index("round")["decision"].to_dict()
    assert shown == {one: decisions[-1]["decision"] for one, decisions in then.items()}
    assert len(charted(rounds, POLICY)) > 0


def test_settings_of_today_withdraw_nothing_that_was_read_before_they_were_kept(carried, tmp_path):
    store = Store(copytree(carried / OLDER[0] / "others", tmp_path / "store"))
    judged, withdrawn = judge_round(
        store, "lab-1", POLICY, Contract.default(), settings_digest="a" * 64
    )
    assert judged.decision.admitted
    assert not withdrawn
