"""The files of a release: which are missing, extra, changed or unreadable."""

import json
import os
import shutil

import pytest

from agreement_pipeline import ReleaseInvalidError, verify_release
from agreement_pipeline.cli import main
from tests.release.forging import ANNOTATIONS, TRAIN, edit, forge, refused


def test_a_folder_without_a_manifest_is_no_release(copy):
    (copy / "manifest.json").unlink()
    refused(copy, "found no manifest.json; expected one, since it is written last")


def test_a_withdrawn_release_says_why(copy):
    (copy / "WITHDRAWN.json").write_text(
        json.dumps({"round": "r1", "time": "2026-11-21", "reasons": ["the guideline was wrong"]})
    )
    refused(copy, r"withdrawn on 2026-11-21, for round r1 \(the guideline was wrong\)")
    (copy / "WITHDRAWN.json").write_text("")
    refused(copy, "WITHDRAWN.json: found no readable JSON")


@pytest.mark.parametrize(
    "name",
    [
        "README.md",
        "croissant.json",
        "decision.json",
        "policy.json",
        "agreement_report.json",
        TRAIN,
        ANNOTATIONS,
    ],
)
def test_every_file_is_missed_and_every_changed_byte_seen(copy, name):
    data = (copy / name).read_bytes()
    (copy / name).write_bytes(data[:-1] + bytes([data[-1] ^ 1]))
    refused(copy, rf"found other bytes in \['{name}'\];")
    (copy / name).unlink()
    refused(copy, rf"found no file \['{name}'\]; expected all files that the manifest lists")


def test_extra_files_are_refused(copy):
    (copy / "data" / "train-00001-of-00001.parquet").write_bytes(b"more")
    refused(copy, r"found extra file \['data/train-00001-of-00001.parquet'\];")


@pytest.mark.parametrize(
    "name",
    [
        ".gitattributes",
        ".DS_Store",
        "data/.DS_Store",
        "annotations/Thumbs.db",
        ".cache/huggingface/.gitignore",
        ".cache/huggingface/CACHEDIR.TAG",
        ".cache/huggingface/download/data/train-00000-of-00001.parquet.metadata",
        ".cache/huggingface/download/README.md.lock",
        ".git/objects/pack/a.pack",
    ],
)
def test_files_of_a_hub_or_a_desktop_are_ignored_and_named(copy, name, capsys):
    (copy / name).parent.mkdir(parents=True, exist_ok=True)
    (copy / name).write_bytes(b"not ours")
    assert main(["verify", str(copy)]) == 0
    assert f"ignored, as no part of the release: {name}" in capsys.readouterr().out


@pytest.mark.parametrize(
    "name", [".cache/more.parquet", "data/._more.parquet", ".cache", "data/.hidden", "notes.txt"]
)
def test_other_hidden_files_are_extra(copy, name):
    (copy / name).parent.mkdir(parents=True, exist_ok=True)
    (copy / name).write_bytes(b"not ours")
    refused(copy, rf"found extra file \['{name}'\];")


def test_a_release_goes_to_a_hub_and_back_by_the_files_of_its_client(copy, tmp_path):
    """As `snapshot_download(local_dir=…)` lays them out, by the client's own functions."""
    local_folder = pytest.importorskip("huggingface_hub._local_folder")
    names = [
        file.relative_to(copy).as_posix() for file in sorted(copy.rglob("*")) if file.is_file()
    ]
    downloaded = tmp_path / "from the hub"
    for name in [*names, ".gitattributes"]:
        paths = local_folder.get_local_download_paths(downloaded, name)
        source = copy / name
        paths.file_path.write_bytes(source.read_bytes() if source.is_file() else b"*.parquet lfs")
        local_folder.write_download_metadata(downloaded, name, "0" * 40, "1" * 40)
    assert (downloaded / ".cache" / "huggingface").is_dir()
    assert verify_release(downloaded).train.equals(verify_release(copy).train)


def test_a_link_to_a_folder_is_an_extra_file(copy, tmp_path):
    (tmp_path / "elsewhere").mkdir()
    (copy / "data" / "more").symlink_to(tmp_path / "elsewhere")
    refused(copy, r"found extra file \['data/more'\];")


def test_a_folder_in_the_place_of_the_notice_of_a_withdrawal_is_refused(copy):
    (copy / "WITHDRAWN.json").mkdir()
    refused(copy, r"found links, or things of another kind, \['WITHDRAWN.json'\];")


@pytest.mark.parametrize("name", [TRAIN, "manifest.json"])
def test_a_link_to_a_file_is_none_of_a_release(copy, tmp_path, name):
    """Whoever may write where it leads changes the release after it was verified."""
    shutil.move(copy / name, tmp_path / "elsewhere")
    (copy / name).symlink_to(tmp_path / "elsewhere")
    refused(
        copy,
        rf"found links, or things of another kind, \['{name}'\]; expected the files themselves",
    )


@pytest.mark.parametrize("name", [TRAIN, "manifest.json", "WITHDRAWN.json"])
def test_nobody_waits_for_a_pipe(copy, name):
    (copy / name).unlink(missing_ok=True)
    os.mkfifo(copy / name)
    refused(
        copy,
        rf"found links, or things of another kind, \['{name}'\]; expected the files themselves",
    )


def test_a_withdrawal_notice_cannot_write_lines_of_its_own(copy, capsys):
    said = {
        "round": "r1\nverified: rounds r1; 90 training rows",
        "time": "\x1b[2K",
        "reasons": ["\u202e", "\ud800"],
    }
    (copy / "WITHDRAWN.json").write_text(json.dumps(said))
    assert main(["verify", str(copy)]) == 11
    (line,) = capsys.readouterr().out.splitlines()
    notice = r"withdrawn on \x1b[2K, for round r1\nverified: rounds r1; 90 training rows"
    assert rf"{notice} (\u202e; \ud800)" in line


def test_a_manifest_that_lists_too_little_or_is_none_is_refused(copy):
    edit(copy, "manifest.json", lambda manifest: manifest["files"].pop("decision.json"))
    (copy / "decision.json").unlink()
    refused(copy, "found no list of all files of a release")
    (copy / "manifest.json").write_text("[]")
    refused(copy, "manifest.json: found list; expected a JSON object")


def test_a_file_outside_the_folder_cannot_be_listed(copy):
    edit(
        copy,
        "manifest.json",
        lambda manifest: manifest["files"].update({"../../etc/passwd": {"sha256": "", "bytes": 0}}),
    )
    refused(copy, r"found no file \['../../etc/passwd'\];")


def test_a_file_that_no_release_has_is_refused_whatever_the_manifest_says(copy):
    """A trainer who loads data/train-* would train on its rows."""
    forge(copy, "data/train-00001-of-00001.parquet", (copy / TRAIN).read_bytes())
    refused(
        copy,
        r"found files \['data/train-00001-of-00001.parquet'\] in the manifest; "
        "expected only those that releases have",
    )
    assert main(["verify", str(copy)]) == 13


def replaced(path, name, old, new):
    """Write `new` before the first `old` in a file, and make the manifest agree with it."""
    text = (path / name).read_text()
    assert old in text
    (path / name).write_text(text.replace(old, new + old, 1)) if name == "manifest.json" else forge(
        path, name, text.replace(old, new + old, 1).encode()
    )


@pytest.mark.parametrize(
    ("name", "key", "forged"),
    [
        ("decision.json", '"decision": "admitted"', '"decision": "admitted with honours", '),
        ("policy.json", '"reliable": 0.8', '"reliable": 0.99, '),
        ("agreement_report.json", '"low": ', '"low": 0.9999, '),
        ("manifest.json", '"project": "demo"', '"project": "other", '),
        ("manifest.json", '"files": {', '"files": {"more.sh": {}}, '),
    ],
)
def test_a_key_that_stands_twice_is_refused_since_readers_take_either(copy, name, key, forged):
    replaced(copy, name, key, forged)
    refused(
        copy,
        f"{name}: found JSON that is not written as releases write it, "
        "for example with a key that stands in it twice",
    )


@pytest.mark.parametrize(
    "name",
    ["manifest.json", "policy.json", "decision.json", "agreement_report.json", "WITHDRAWN.json"],
)
@pytest.mark.parametrize(
    "content",
    [
        b"[" * 100_000,
        b'{"a": ' * 100_000,
        b'{"a": ' * 500 + b"1" + b"}" * 500,
        b'{"a": NaN}',
        b'{"a": "\\ud800"}',
    ],
)
def test_json_that_cannot_be_read_is_refused_by_name(copy, name, content, capsys):
    (copy / name).write_bytes(content) if name == "manifest.json" else forge(copy, name, content)
    with pytest.raises(ReleaseInvalidError) as refusal:
        verify_release(copy)
    assert main(["verify", str(copy)]) in (1, 11)
    assert capsys.readouterr().out.startswith(f"refused ({refusal.value.code}): ")


def test_annotations_that_are_no_table_are_refused(copy):
    forge(copy, ANNOTATIONS, b"PAR1 not really")
    refused(copy, "Parquet file: found one that cannot be read .*; expected a readable file")


def test_r5_folders_that_are_nested_without_end_are_an_extra_file(copy):
    """Deeper than the stack of a program that goes down folder by folder."""
    here = os.open(copy, os.O_RDONLY)
    try:
        for _ in range(150):
            os.mkdir("d", dir_fd=here)
            below = os.open("d", os.O_RDONLY, dir_fd=here)
            os.close(here)
            here = below
    finally:
        os.close(here)
    refused(copy, r"found extra file \['d/d/d/")


@pytest.mark.parametrize("name", [TRAIN, "manifest.json", "WITHDRAWN.json"])
def test_r5_a_file_of_holes_is_refused_before_it_is_read(copy, name):
    with (copy / name).open("ab") as file:
        file.truncate(2**42)
    refused(copy, rf"found more bytes in \['{name}'\] than the manifest lists")


def test_r5_a_manifest_cannot_promise_more_than_a_release_can_have(copy):
    with (copy / TRAIN).open("ab") as file:
        file.truncate(2**42)
    edit(copy, "manifest.json", lambda said: said["files"][TRAIN].update(bytes=2**42))
    refused(copy, "than a release can have")
