"""A folder of this machine: one writer at a time, never half a file, nothing written over."""

import errno
import os
import shutil
import signal
import stat
import subprocess
import sys
import threading
import time
import tracemalloc

import pytest

from agreement_pipeline.errors import StoreError
from agreement_pipeline.store import Store, local
from agreement_pipeline.store.local import LocalStorage
from tests.events import record
from tests.store.kept import contents


@pytest.fixture
def storage(tmp_path):
    return LocalStorage(tmp_path / "store")


def everything(storage):
    return {name: data for name, data in contents(storage).items() if name != ".lock"}


def test_bytes_are_kept_once_and_others_never_take_their_place(storage):
    with storage.locked():
        assert storage.keep("deep/file", b"old")
        assert storage.keep("deep/file", b"old")
        assert not storage.keep("deep/file", b"new")
    assert (storage.read("deep/file"), storage.names("deep"), contents(storage, "deep")) == (
        b"old",
        ("file",),
        {"file": b"old"},
    )


def test_a_folder_is_kept_once_and_whole(storage):
    with storage.locked():
        assert storage.keep_folder("folder", {"a/b": b"1", "last": b"2"})
        assert storage.keep_folder("folder", {"last": b"2", "a/b": b"1"})
        assert not storage.keep_folder("folder", {"a/b": b"1"})
        assert not storage.keep_folder("folder", {"a/b": b"1", "last": b"3"})
    assert contents(storage, "folder") == {"a/b": b"1", "last": b"2"}


def test_a_kept_folder_is_compared_one_file_at_a_time(storage):
    contents = {str(number): bytes([number]) * 2**22 for number in range(4)}
    tracemalloc.start()
    with storage.locked():
        assert storage.keep_folder("release", contents)
    _, most = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    assert most < 2 * 2**22


def test_what_is_not_there_has_no_bytes(storage):
    with storage.locked():
        storage.keep("folder/file", b"")
    assert [
        storage.read(name) for name in ("nothing", "folder", "folder/file/inside", "folder/file")
    ] == [None, None, None, b""]
    assert (storage.names("nothing"), contents(storage, "nothing")) == ((), {})


@pytest.mark.parametrize("step", ["put", "link", "_sync_folder"])
def test_a_write_that_fails_leaves_nothing_behind(storage, monkeypatch, step):
    def fail(*_):
        raise OSError("the disk is full")

    with storage.locked():
        storage.keep("before", b"1")
        before = everything(storage)
        with monkeypatch.context() as patch:
            patch.setattr(local, step, fail)
            with pytest.raises(OSError, match="the disk is full"):
                storage.keep("before.2", b"22")
        assert everything(storage) in (before, {**before, "before.2": b"22"})
        assert storage.keep("before.2", b"22")


def test_bytes_and_folders_are_flushed_before_they_get_their_name(storage, monkeypatch):
    steps = []
    for module, name in ((local.os, "fsync"), (local.os, "link"), (local.os, "rename")):
        real = getattr(module, name)
        monkeypatch.setattr(
            module,
            name,
            lambda *arguments, name=name, real=real: (steps.append(name), real(*arguments))[1],
        )
    with storage.locked():
        storage.keep("first", b"1")
        steps.clear()
        storage.keep("file", b"1")
        assert steps == ["fsync", "link", "fsync"]
        steps.clear()
        storage.keep_folder("folder", {"a": b"1", "b": b"2"})
    assert steps.index("rename") > 3
    assert steps[-1] == "fsync"


def test_a_folder_is_seen_when_all_its_files_are_in_it(storage, monkeypatch):
    real, seen = local.put, []
    monkeypatch.setattr(
        local,
        "put",
        lambda *arguments: (seen.append((storage.root / "folder").exists()), real(*arguments)),
    )
    with storage.locked():
        storage.keep_folder("folder", {"a/b": b"1", "last": b"2"})
    assert seen == [False, False]


def test_what_a_killed_writer_left_behind_is_removed_by_the_next(storage):
    (storage.root / ".partial" / "deep").mkdir(parents=True)
    (storage.root / ".partial" / "deep" / "stale").write_bytes(b"")
    with storage.locked():
        assert storage.keep("fresh", b"1")
    assert everything(storage) == {"fresh": b"1"}


def test_a_secret_is_its_owners_alone(storage):
    with storage.locked():
        storage.keep("secret", b"1", secret=True)
    assert stat.S_IMODE((storage.root / "secret").stat().st_mode) == 0o600


def test_everybody_may_read_an_ordinary_file_and_its_owner_alone_may_write_it(storage):
    before = os.umask(0)
    try:
        with storage.locked():
            storage.keep("file", b"1")
            storage.keep_folder("folder", {"file": b"1"})
    finally:
        os.umask(before)
    for name in ("file", "folder/file"):
        assert stat.S_IMODE((storage.root / name).stat().st_mode) == 0o644


def test_a_file_that_came_between_is_not_written_over(storage, monkeypatch):
    real = local.put

    def meanwhile(path, data, mode):
        real(path, data, mode)
        (storage.root / "file").write_bytes(b"another's")

    monkeypatch.setattr(local, "put", meanwhile)
    with storage.locked():
        assert not storage.keep("file", b"mine")
    assert everything(storage) == {"file": b"another's"}


@pytest.mark.parametrize("number", [errno.EPERM, errno.ENOTSUP])
def test_a_file_system_without_links_is_refused(storage, monkeypatch, number):
    def denied(*_):
        raise OSError(number, os.strerror(number))

    monkeypatch.setattr(local.os, "link", denied)
    with (
        storage.locked(),
        pytest.raises(StoreError, match="found a file system that makes no hard links"),
    ):
        storage.keep("file", b"1")
    assert everything(storage) == {}


def test_a_folder_without_permission_is_no_file_system_without_links(storage, monkeypatch):
    def denied(*_):
        raise PermissionError(errno.EACCES, "Permission denied")

    monkeypatch.setattr(local.os, "link", denied)
    with storage.locked(), pytest.raises(PermissionError, match="Permission denied"):
        storage.keep("file", b"1")


def test_writers_wait_for_each_other(tmp_path):
    def write(writer):
        store = Store(tmp_path / "store")
        for number in range(10):
            record(store, "decided", f"r{writer}", ratings_digest=str(number))

    threads = [threading.Thread(target=write, args=(writer,)) for writer in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert [entry["number"] for entry in Store(tmp_path / "store").history()] == list(range(1, 41))


def test_a_thread_does_not_see_the_log_as_another_one_holds_it(tmp_path):
    """The thread that reads is done before the one that began to write meanwhile."""
    store, began, done = Store(tmp_path / "store"), threading.Event(), threading.Event()
    record(store, "decided", "r1")

    def write():
        with store.locked():
            began.set()
            assert done.wait(30)
            record(store, "decided", "r2")

    writing = threading.Thread(target=write)
    with store.reading():
        writing.start()
        assert began.wait(30)
        assert len(store.history()) == 1
    done.set()
    writing.join()
    assert len(store.history()) == 2
    record(Store(store.root), "decided", "r3")
    assert [each["round"] for each in store.history()] == ["r1", "r2", "r3"]


def test_a_thread_may_take_its_lock_again_and_another_thread_waits(storage):
    entered = threading.Event()

    def enter():
        with storage.locked():
            entered.set()

    with storage.locked():
        with storage.locked():
            storage.keep("before", b"1")
        (storage.root / ".partial" / "mine").write_bytes(b"unfinished")
        with storage.locked():
            assert (storage.root / ".partial" / "mine").exists()
        waiting = threading.Thread(target=enter, daemon=True)
        waiting.start()
        assert not entered.wait(0.3)
        assert (storage.root / ".partial" / "mine").exists()
    assert entered.wait(30)
    waiting.join()
    assert not (storage.root / ".partial").exists()


def test_a_forked_process_waits_for_its_parent_and_then_takes_the_lock(storage):
    def write():
        with storage.locked():
            storage.keep("by the child", b"1")

    with storage.locked():
        child = os.fork()
        if not child:
            status = 1
            try:
                signal.alarm(60)
                write()
                status = 0
            finally:
                os._exit(status)
        time.sleep(0.3)
        assert storage.read("by the child") is None
        assert storage.keep("by the parent", b"1")
    assert os.waitpid(child, 0)[1] == 0
    assert everything(storage) == {"by the parent": b"1", "by the child": b"1"}


def test_the_lock_dies_with_its_holder(tmp_path):
    store = Store(tmp_path / "store")
    holder = (
        "import sys, time; from agreement_pipeline.store import Store\n"
        "with Store(sys.argv[1]).locked():\n    print('held', flush=True); time.sleep(60)"
    )
    with subprocess.Popen(
        [sys.executable, "-c", holder, str(store.root)], stdout=subprocess.PIPE
    ) as process:
        assert process.stdout.readline() == b"held\n"
        waiting = threading.Thread(target=record, args=(store, "decided", "r"), daemon=True)
        waiting.start()
        waiting.join(0.3)
        assert waiting.is_alive()
        process.send_signal(signal.SIGKILL)
        waiting.join(30)
    assert not waiting.is_alive()
    assert len(store.history()) == 1


def test_t10_a_lock_that_is_lost_makes_no_half_a_folder_visible(tmp_path, monkeypatch):
    """Another writer took the new lock, and removed what seemed to be left over."""
    storage, real = LocalStorage(tmp_path), local.put
    put = []

    def and_lose(path, data, mode):
        real(path, data, mode)
        put.append(path)
        if len(put) == 2:
            shutil.rmtree(tmp_path / ".partial")

    monkeypatch.setattr(local, "put", and_lose)
    files = {name: name.encode() for name in ("a", "b", "c", "manifest.json")}
    with pytest.raises(StoreError, match=r"found only a part of the files .*\.lock"):
        storage.keep_folder("releases/r/1", files)
    assert not (tmp_path / "releases").exists()
    monkeypatch.undo()
    assert storage.keep_folder("releases/r/1", files)
