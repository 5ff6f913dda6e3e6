"""A bucket: conditional puts, leases that end after their term, and a whole store."""

import json
import threading
import time
from itertools import count

import fsspec
import pytest
from fsspec import AbstractFileSystem
from upath import UPath

from agreement_pipeline.cli import main
from agreement_pipeline.contract import Contract
from agreement_pipeline.errors import ReleaseHeldError, ReleaseInvalidError, StoreError
from agreement_pipeline.large_files import LargeFile
from agreement_pipeline.policy import Policy, Rule, assess, decision
from agreement_pipeline.release import decisions, open_release, release_round, tables
from agreement_pipeline.store import Store, digest_at, objects, storage_at
from agreement_pipeline.store.objects import ObjectStorage
from tests.events import record
from tests.killing import killed
from tests.release.forging import make_ratings
from tests.releases import current_release
from tests.store.kept import contents

POLICY = Policy("standard", 1, (Rule("krippendorff_alpha"),), n_resamples=1000)
SALT = b"a salt for tests"


@pytest.fixture
def nothing_asked(monkeypatch):
    monkeypatch.setattr(decision, "check_integrity", lambda *_: ())
    return Contract.none()


def test_bytes_are_kept_once_and_others_never_take_their_place(bucket):
    storage = storage_at(bucket)
    with storage.locked():
        assert storage.keep("deep/file", b"old")
        assert storage.keep("deep/file", b"old")
        assert not storage.keep("deep/file", b"new")
    assert (storage.read("deep/file"), storage.names("deep"), contents(storage, "deep")) == (
        b"old",
        ("file",),
        {"file": b"old"},
    )
    assert (storage.read("nothing"), storage.names("nothing"), contents(storage, "nothing")) == (
        None,
        (),
        {},
    )


def test_a_folder_is_kept_once_and_what_a_killed_writer_began_is_finished(bucket):
    storage = storage_at(bucket)
    with storage.locked():
        storage.keep("folder/a/b", b"1")
        assert storage.keep_folder("folder", {"a/b": b"1", "last": b"2"})
        assert storage.keep_folder("folder", {"a/b": b"1", "last": b"2"})
        assert not storage.keep_folder("folder", {"a/b": b"1"})
        assert not storage.keep_folder("folder", {"a/b": b"1", "last": b"3"})
    assert contents(storage, "folder") == {"a/b": b"1", "last": b"2"}


def test_many_bytes_are_sent_and_fetched_in_parts_and_few_in_one_request(bucket, monkeypatch):
    storage, many = storage_at(bucket), bytes(range(256)) * 1000
    monkeypatch.setattr(objects, "MAX_BYTES_IN_MEMORY", len(many))
    with storage.locked():
        assert storage.keep("many", LargeFile.from_parts([many, b"one more"]))
        assert storage.keep("many", LargeFile.from_parts([many, b"one more"]))
        assert not storage.keep("many", LargeFile.from_parts([many, b"one less"]))
        assert storage.keep("few", many[1:])
    copy = storage.copied("many")
    assert isinstance(copy, LargeFile)
    assert copy.path.read_bytes() == many + b"one more"
    assert storage.copied("few") == many[1:]
    assert storage.copied("nothing") is None


def test_an_empty_object_is_copied(bucket):
    storage = storage_at(bucket)
    storage.put("empty", b"")
    assert storage.copied("empty") == b""
    assert storage.holds("empty", b"")
    assert not storage.holds("empty", b"1")


@pytest.mark.parametrize("other", [b"new", b""])
def test_an_original_that_changed_since_it_was_digested_is_not_kept(bucket, tmp_path, other):
    storage, source = storage_at(bucket), tmp_path / "original"
    source.write_bytes(b"old")
    digest = digest_at(source)
    source.write_bytes(other)
    with storage.locked():
        assert not storage.keep_copy("originals/1", source, digest)
    assert storage.names("originals") == ()


def answer(code):
    """What a server answered, as s3fs raises it."""
    error = OSError(code)
    error.__cause__ = Exception(
        f"An error occurred ({code}) when calling the PutObject operation: …"
    )
    return error


def test_puts_that_meet_are_tried_again_and_what_is_refused_is_not(bucket, monkeypatch):
    storage = storage_at(bucket)
    real, answers = storage._objects.pipe_file, [answer("ConditionalRequestConflict")]

    def conflicting(*arguments, **options):
        if answers:
            raise answers.pop()
        return real(*arguments, **options)

    monkeypatch.setattr(storage._objects, "pipe_file", conflicting)
    assert storage.put("file", b"1")
    answers.append(answer("PreconditionFailed"))
    assert not storage.put("another", b"1")
    answers.append(answer("SlowDown"))
    refused = f"{bucket}: found a server that refused to write into it .*SlowDown"
    with pytest.raises(StoreError, match=refused):
        storage.put("another", b"1")


def test_a_put_whose_answer_was_lost_is_known_by_its_bytes(bucket, monkeypatch):
    storage = storage_at(bucket)
    real = storage._objects.pipe_file

    def twice(*arguments, **options):
        real(*arguments, **options)
        return real(*arguments, **options)

    with storage.locked():
        monkeypatch.setattr(storage._objects, "pipe_file", twice)
        assert storage.keep("file", b"1")


def test_a_server_that_ignores_the_condition_is_refused(bucket, monkeypatch):
    storage = storage_at(bucket)
    real = storage._objects.pipe_file
    monkeypatch.setattr(storage._objects, "pipe_file", lambda path, data, mode: real(path, data))
    with (
        pytest.raises(
            StoreError, match="found a server that overwrote an object; expected conditional writes"
        ),
        storage.locked(),
    ):
        pass


def test_a_file_system_that_looks_first_and_writes_then_is_refused(monkeypatch):
    class Careless(AbstractFileSystem):
        protocol = "careless"

    monkeypatch.setattr(UPath, "fs", Careless())
    with pytest.raises(StoreError, match="found a file system without conditional writes"):
        storage_at("memory://store")


def test_writers_wait_for_each_other(bucket):
    def write(writer):
        store = Store(bucket)
        for number in range(3):
            record(store, "decided", f"r{writer}", ratings_digest=str(number))

    threads = [threading.Thread(target=write, args=(writer,)) for writer in range(3)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert [entry["number"] for entry in Store(bucket).history()] == list(range(1, 10))


def test_a_lease_names_its_holder_and_gives_way_when_its_term_is_over(bucket, monkeypatch):
    monkeypatch.setattr(objects, "LEASE_SECONDS", 1.0)
    assert killed(lambda: record(Store(bucket), "decided", "r"), 6, [(ObjectStorage, "put")])
    storage = storage_at(bucket)
    lease = json.loads(storage.read("log/leases/00000001.json"))
    assert lease["seconds"] == 1.0
    assert len(lease["owner"].split(":")) == 3
    start = time.monotonic()
    record(Store(bucket), "decided", "r")
    assert time.monotonic() - start >= 1
    assert len(Store(bucket).history()) == 1
    assert storage.names("log/leases")[-2:] == ("00000002.free", "00000002.json")


def test_leases_of_the_past_are_removed_now_and_then(bucket, monkeypatch):
    monkeypatch.setattr(objects, "MAX_PAST_LEASES", 6)
    storage = storage_at(bucket)
    for number in range(1, 12):
        with storage.locked():
            left = storage.names("log/leases")
        assert len(left) <= 6
        assert left[-1] == f"{number:08}.json"


@pytest.mark.slow
def test_a_release_killed_while_it_is_put_is_not_there_or_whole_and_the_next_run_puts_it(
    bucket, original, nothing_asked, monkeypatch
):
    """At every third put, since a process takes a second before it speaks to a bucket."""
    monkeypatch.setattr(objects, "LEASE_SECONDS", 0.2)
    decided = {POLICY.digest: assess(make_ratings(), POLICY, nothing_asked, version=1)}
    for module in (decisions, tables):
        monkeypatch.setattr(module, "assess", lambda _, policy, *__, **___: decided[policy.digest])
    for n in count(1, 3):
        place = f"{bucket}/{n}"
        Store(place, salt=SALT).ingest("r1", make_ratings(), original)
        if not killed(
            lambda place=place: release_round(
                Store(place, salt=SALT), "r1", POLICY, nothing_asked, project="demo"
            ),
            n,
            [(ObjectStorage, "put")],
        ):
            break
        store = Store(place, salt=SALT)
        left = current_release(store, "r1")
        assert left is None or open_release(left).rounds == ("r1",)
        assert open_release(
            release_round(store, "r1", POLICY, nothing_asked, project="demo").path
        ).path == current_release(store, "r1")
        assert [entry["event"] for entry in store.history()] == ["ingested", "decided", "released"]
    assert n > 15


def test_a_holder_that_lost_its_lease_writes_nothing_more(bucket, monkeypatch):
    monkeypatch.setattr(objects, "LEASE_SECONDS", 0.2)
    slow, quick = Store(bucket), Store(bucket)
    with slow.locked():
        record(quick, "decided", "r", ratings_digest="a")
        with pytest.raises(StoreError, match="found entry 1, written by another writer meanwhile"):
            record(slow, "decided", "r", ratings_digest="b")
    assert [entry["ratings_digest"] for entry in Store(bucket).history()] == ["a"]


def test_a_holder_that_was_stopped_while_others_made_a_segment_is_told(bucket, monkeypatch):
    """Its number is free again: the entries of the segment were removed."""
    monkeypatch.setattr(objects, "LEASE_SECONDS", 0.2)
    slow, quick = Store(bucket), Store(bucket)
    with slow.locked():
        for number in range(31):
            record(slow, "decided", "r", ratings_digest=str(number))
    with slow.locked():
        for number in range(2):
            record(quick, "decided", "r", ratings_digest=f"more {number}")
        assert "00000032.json" not in quick.storage.names("log")
        with pytest.raises(StoreError, match="found entry 32, written by another writer meanwhile"):
            record(slow, "released", "r")
    assert len(Store(bucket).history()) == 33


def test_who_comes_late_with_a_number_long_past_has_not_got_the_lease(bucket):
    storage = storage_at(bucket)
    storage.put("log/leases/00000007.json", b'{"seconds": 60}')
    assert not storage._lease._take_if_free(3)
    assert storage.read("log/leases/00000007.json")


def test_a_round_goes_from_delivery_to_release_and_back_in_a_bucket(
    bucket, original, nothing_asked, capsys
):
    store = Store(bucket, salt=SALT)
    version = store.ingest("r1", make_ratings(), original)
    assert store.storage.read(f"originals/{version.original_digest}/export.csv") == b"as delivered"
    assert Store(bucket).ratings("r1").digest == make_ratings().digest
    path = release_round(store, "r1", POLICY, nothing_asked, project="demo").path
    assert str(path).startswith(f"{bucket}/releases/r1/")
    assert current_release(store, "r1") == path
    assert len(open_release(str(path)).train) == 90
    assert main(["verify", str(path)]) == 0
    store.ingest("r1", make_ratings(disagreements=60), original)
    with pytest.raises(ReleaseHeldError):
        release_round(store, "r1", POLICY, nothing_asked, project="demo")
    with pytest.raises(ReleaseInvalidError, match="withdrawn on"):
        open_release(str(path))
    assert main(["verify", str(path)]) == 11
    capsys.readouterr()
    assert main(["history", "--store", bucket, "--format", "json"]) == 0
    events = [entry["event"] for entry in json.loads(capsys.readouterr().out)]
    assert events == ["ingested", "decided", "released", "ingested", "decided", "withdrawn"]


def test_edited_objects_are_refused(bucket, original):
    store = Store(bucket, salt=SALT)
    version = store.ingest("r1", make_ratings(), original)
    files, table = store.storage._objects, store.storage._path(store._table_path(version))
    files.pipe_file(table, b"edited")
    with pytest.raises(StoreError, match="the ratings were edited"):
        store.ratings("r1")
    files.pipe_file(store.storage._path("log/00000001.json"), b"{}")
    with pytest.raises(StoreError, match="found entry 1, which does not follow"):
        store.history()


def test_a_url_of_a_library_that_is_not_installed_names_the_extra(monkeypatch):
    def missing(_):
        raise ImportError("no such library")

    monkeypatch.setattr(UPath, "fs", property(missing))
    with pytest.raises(ImportError, match=r"Install agreement-pipeline\[s3\]"):
        storage_at("s3://bucket/store")


@pytest.mark.parametrize(
    ("setting", "value", "words"),
    [
        ("AWS_ACCESS_KEY_ID", None, "credentials"),
        ("AWS_ENDPOINT_URL", "http://127.0.0.1:9", "Could not connect"),
    ],
)
def test_a_bucket_that_cannot_be_asked_is_refused_in_words(
    bucket, monkeypatch, setting, value, words
):
    for name in ("AWS_EC2_METADATA_DISABLED", "AWS_CONFIG_FILE", "AWS_SHARED_CREDENTIALS_FILE"):
        monkeypatch.setenv(name, "true")
    monkeypatch.setenv("AWS_MAX_ATTEMPTS", "1")
    monkeypatch.delenv(setting) if value is None else monkeypatch.setenv(setting, value)
    fsspec.get_filesystem_class("s3").clear_instance_cache()
    storage = storage_at(bucket)
    fsspec.get_filesystem_class("s3").clear_instance_cache()
    for asked in (
        lambda: storage.read("a"),
        storage.names,
        lambda: storage.put("a", b"1"),
        lambda: storage.remove("a"),
        lambda: storage.fetched(["a", "b"]),
        lambda: storage.copied("a"),
    ):
        with pytest.raises(
            StoreError,
            match=f"{bucket}: found no answer to .* it .*{words}.*; "
            "expected a bucket that answers, and credentials for it",
        ):
            asked()


def test_a_refusal_names_the_bucket_and_what_was_to_be_done(bucket, monkeypatch):
    storage = storage_at(bucket)

    def denied(*_, **__):
        raise PermissionError("Access Denied")

    for name in ("cat_file", "find", "pipe_file", "rm"):
        monkeypatch.setattr(storage._objects, name, denied)
    for action, call in (
        ("read", lambda: storage.read("a")),
        ("list", storage.names),
        ("write into", lambda: storage.put("a", b"1")),
        ("remove objects of", lambda: storage.remove(["a"])),
    ):
        with pytest.raises(
            StoreError, match=rf"{bucket}: found no permission to {action} it \(Access Denied\)"
        ):
            call()


def test_a_bucket_that_is_not_there_is_named(bucket):
    missing = "s3://nobody-made-this"
    storage = storage_at(f"{missing}/store")
    assert storage.read("a") is None
    with pytest.raises(StoreError, match=f"{missing}/store: found no such bucket"):
        storage.put("a", b"1")


def test_a_folder_that_is_given_as_an_object_of_its_own_is_empty(bucket, monkeypatch):
    storage = storage_at(bucket)
    at = f"{storage.root.path.rstrip('/')}/log/leases"
    monkeypatch.setattr(
        storage._objects, "find", lambda path, **_: {at: {"type": "directory", "name": at}}
    )
    assert storage._path("log/leases") == at
    assert storage.names("log/leases") == ()
    assert contents(storage, "log/leases") == {}
