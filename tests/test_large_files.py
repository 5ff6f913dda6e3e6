"""Bytes that are too many for memory lie in a file while this process needs them."""

import gc
import hashlib
import os
import tempfile

import pytest

from agreement_pipeline import verify_release
from agreement_pipeline.large_files import PART, LargeFile
from agreement_pipeline.ratings import parquet, parquet_bytes
from agreement_pipeline.release import open_release
from agreement_pipeline.release.tables import Member
from agreement_pipeline.store import Store, local
from agreement_pipeline.store.local import content_of, digest_of, is_in
from tests.release.rounds import CONTRACT, POLICY, bytes_of, contents_of, make_ratings, released

TABLES = ("annotations/train-00000-of-00001.parquet", "data/train-00000-of-00001.parquet")


@pytest.fixture
def folder(tmp_path, monkeypatch):
    """The folder of temporary files."""
    place = tmp_path / "temporary"
    place.mkdir()
    monkeypatch.setattr(tempfile, "tempdir", str(place))
    return place


@pytest.fixture
def few_in_memory(folder, monkeypatch):
    """Every table of a release, and every file that is read back, is too large for memory."""
    monkeypatch.setattr(parquet, "ROW_GROUP_ROWS", 50)
    monkeypatch.setattr(local, "MAX_BYTES_IN_MEMORY", 1000)
    return folder


def test_a_large_file_has_the_bytes_the_length_and_the_digest(folder):
    data = os.urandom(PART + 1)
    whole = LargeFile.from_parts([data[:10], data[10:]])
    assert b"".join(whole.iterate_parts()) == whole.path.read_bytes() == data
    assert [len(part) for part in whole.iterate_parts()] == [PART, 1]
    assert (len(whole), whole.digest) == (len(data), hashlib.sha256(data).hexdigest())
    assert whole == LargeFile.from_parts([data])
    assert whole != LargeFile.from_parts([data[1:]])
    assert os.stat(whole.path).st_mode & 0o777 == 0o600


def test_a_large_file_is_removed_when_nothing_refers_to_it(folder):
    whole = LargeFile.from_parts([b"1"])
    assert list(folder.iterdir()) == [whole.path]
    del whole
    assert list(folder.iterdir()) == []


def test_a_large_file_that_cannot_be_written_leaves_nothing_behind(folder):
    def fail(path):
        path.write_bytes(b"half")
        raise OSError("the disk is full")

    with pytest.raises(OSError, match="full"):
        LargeFile(fail)
    gc.collect()
    assert list(folder.iterdir()) == []


def test_a_forked_process_does_not_remove_the_file_of_its_parent(folder):
    held = [LargeFile.from_parts([b"1"])]
    child = os.fork()
    if not child:
        held.clear()
        os._exit(0)
    os.waitpid(child, 0)
    assert held[0].path.read_bytes() == b"1"


@pytest.mark.parametrize("size", [0, 1, 999, 1000, 1001, 2 * PART])
def test_a_file_is_copied_and_compared_whole(few_in_memory, tmp_path, size):
    data, path = (b"0" + os.urandom(size))[:size], tmp_path / "file"
    path.write_bytes(data)
    found = content_of(path)
    assert isinstance(found, bytes) == (size < 1000)
    assert digest_of(found) == hashlib.sha256(data).hexdigest()
    assert is_in(path, found)
    path.write_bytes(data + b"1")
    assert not is_in(path, found)
    path.write_bytes(b"1" + data[1:-1])
    assert not is_in(path, found)
    path.unlink()
    assert not is_in(path, found)


def test_the_tables_of_a_release_are_files_and_have_the_bytes_that_memory_would_give(
    few_in_memory, monkeypatch
):
    member = Member("r1", "0" * 64, make_ratings(), POLICY, CONTRACT)
    streamed = contents_of("demo", member, POLICY, CONTRACT)
    assert all(isinstance(streamed[name], LargeFile) for name in TABLES)
    monkeypatch.setattr("agreement_pipeline.release.contents.write_parquet_content", parquet_bytes)
    whole = contents_of("demo", member, POLICY, CONTRACT)
    assert all(isinstance(whole[name], bytes) for name in TABLES)
    assert streamed.keys() == whole.keys()
    assert all(digest_of(streamed[name]) == digest_of(whole[name]) for name in whole)


def test_a_large_release_stands_whole_is_verified_and_found_again(few_in_memory, tmp_path):
    original = tmp_path / "export.csv"
    original.write_bytes(b"as delivered" * 1000)
    store, ratings = Store(tmp_path / "store"), make_ratings()
    store.ingest("r1", ratings, original)
    first = released(store)
    before = bytes_of(first.path)
    assert released(store).path == first.path
    assert bytes_of(first.path) == before
    assert verify_release(first.path).ratings["r1"].digest == ratings.digest
    assert len(open_release(first.path, store=store).train) == len(first.train)
    table = first.path / TABLES[0]
    table.write_bytes(table.read_bytes()[:-1] + b"?")
    with pytest.raises(Exception, match="found other bytes in"):
        verify_release(first.path)
    gc.collect()
    assert list(few_in_memory.iterdir()) == []
