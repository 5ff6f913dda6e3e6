"""Bytes known by their digest."""

import subprocess

import pytest

from agreement_pipeline.store import local


def test_the_digest_of_bytes_is_that_of_sha256sum(tmp_path):
    (tmp_path / "file").write_bytes(b"bytes")
    said = subprocess.run(
        ["sha256sum", tmp_path / "file"], capture_output=True, text=True, check=True
    ).stdout
    assert local.digest_of(b"bytes") == said.split()[0]


def test_the_digest_of_a_folder_knows_names_and_bytes_and_no_order():
    assert local.digest_of({"a": b"1", "b/c": b"2"}) == local.digest_of({"b/c": b"2", "a": b"1"})
    different = [{"a": b"1"}, {"b": b"1"}, {"a": b"2"}, {"a": b"1", "b": b""}, {"a/b": b"1"}, {}]
    assert len({local.digest_of(each) for each in different}) == len(different)


def test_every_file_is_found_and_a_link_is_a_file_wherever_it_leads(tmp_path):
    (tmp_path / "in" / "deep").mkdir(parents=True)
    (tmp_path / "in" / "empty").mkdir()
    (tmp_path / "in" / "deep" / "a").write_bytes(b"1")
    (tmp_path / "in" / ".b").write_bytes(b"2")
    assert local.digest_at(tmp_path / "in") == local.digest_of({".b": b"2", "deep/a": b"1"})
    for name, target in (("to_folder", tmp_path), ("to_nothing", tmp_path / "nothing")):
        (tmp_path / "in" / name).symlink_to(target)
    assert local.names_in(tmp_path / "in") == (".b", "deep/a", "to_folder", "to_nothing")
    assert local.names_in(tmp_path / "nothing") == ()


def test_a_folder_that_cannot_be_listed_is_no_empty_one(tmp_path, monkeypatch):
    def denied(_):
        raise PermissionError("denied")

    monkeypatch.setattr(local.os, "scandir", denied)
    monkeypatch.setattr(local.Path, "is_dir", lambda _: False)  # as Python 3.14 answers then
    with pytest.raises(PermissionError):
        local.names_in(tmp_path)


def test_a_link_that_leads_to_itself_is_no_empty_folder(tmp_path):
    (tmp_path / "round").symlink_to("round")
    with pytest.raises(OSError, match="symbolic links"):
        local.names_in(tmp_path / "round")
