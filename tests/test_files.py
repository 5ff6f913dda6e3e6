"""One writer at a time, and never half a file."""

import signal
import subprocess
import sys
import threading

import pytest

from agreement_pipeline import files
from agreement_pipeline.store import Store


@pytest.fixture
def store(tmp_path):
    return Store(tmp_path / "store")


def test_a_file_is_seen_as_it_was_until_the_new_one_is_whole(tmp_path, monkeypatch):
    path = tmp_path / "deep" / "file"
    files.write(path, b"old")

    def fail(_):
        raise OSError("the disk is full")

    monkeypatch.setattr(files.os, "fsync", fail)
    with pytest.raises(OSError, match="the disk is full"):
        files.write(path, b"new")
    assert [(each.name, each.read_bytes()) for each in path.parent.iterdir()] == [("file", b"old")]


def test_a_folder_is_seen_when_all_its_files_are_in_it(tmp_path, monkeypatch):
    real, seen = files.put, []
    monkeypatch.setattr(files, "put", lambda *arguments: (seen.append((tmp_path / "folder").exists()), real(*arguments)))
    files.write_folder(tmp_path / "folder", {"a/b": b"1", "last": b"2"})
    assert seen == [False, False]
    assert (tmp_path / "folder" / "a" / "b").read_bytes() == b"1"


def test_what_a_killed_writer_left_behind_is_in_nobodys_way(tmp_path):
    (tmp_path / ".folder.partial").mkdir()
    (tmp_path / ".folder.partial" / "stale").write_bytes(b"")
    files.write_folder(tmp_path / "folder", {"fresh": b""})
    assert [each.name for each in (tmp_path / "folder").iterdir()] == ["fresh"]


def test_writers_wait_for_each_other(tmp_path):
    def write(writer):
        store = Store(tmp_path / "store")
        for number in range(10):
            store.record("decided", f"r{writer}", ratings_digest=str(number))

    threads = [threading.Thread(target=write, args=(writer,)) for writer in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert [entry["number"] for entry in Store(tmp_path / "store").history()] == list(range(1, 41))


def test_the_lock_dies_with_its_holder(store):
    holder = "import sys, time; from agreement_pipeline.store import Store\nwith Store(sys.argv[1]).locked():\n    print('held', flush=True); time.sleep(60)"
    with subprocess.Popen([sys.executable, "-c", holder, str(store.root)], stdout=subprocess.PIPE) as process:
        assert process.stdout.readline() == b"held\n"
        waiting = threading.Thread(target=store.record, args=("decided", "r"), daemon=True)
        waiting.start()
        waiting.join(0.3)
        assert waiting.is_alive()
        process.send_signal(signal.SIGKILL)
        waiting.join(30)
    assert not waiting.is_alive()
    assert len(store.history()) == 1
