"""Compressed files, and a folder of files that are one table."""

import gzip
import lzma
from errno import ENOSPC
from itertools import product
from pathlib import Path
from zipfile import ZIP_DEFLATED, ZipFile

import pandas as pd
import pyarrow as pa
import pytest

from agreement_pipeline.errors import RatingsError
from agreement_pipeline.readers import Columns, Limits, load_rows, read, read_rounds
from agreement_pipeline.readers import files as packed_files
from tests.readers.conftest import frame_in
from tests.readers.exports_of_tools import CASES

ROWS = list(product(["i1", "i2", "i3", "i4"], ["ana", "ben"], ["no"]))
FRAME = pd.DataFrame(ROWS, columns=["item", "rater", "label"])
FRAME.loc[0, "label"] = "yes"
CSV = FRAME.to_csv(index=False).encode()
WAYS = {
    "gz": gzip.compress,
    "zst": lambda data: pa.compress(data, codec="zstd", asbytes=True),
}
each_way = pytest.mark.parametrize("way", WAYS)


@pytest.mark.parametrize("name", ["round.csv.{}", "round"])
@each_way
def test_a_compressed_table_is_read_as_the_table_whatever_its_name(tmp_path, way, name):
    path = tmp_path / name.format(way)
    path.write_bytes(WAYS[way](CSV))
    assert read(path).digest == read(FRAME).digest


@each_way
def test_a_compressed_export_of_a_tool_is_read_as_the_export(tmp_path, way):
    case = CASES["label_studio"]
    path = tmp_path / f"export.json.{way}"
    path.write_bytes(WAYS[way](case.file.read_bytes()))
    found, expected = (
        load_rows(each, case.columns, rules=case.rules) for each in (path, case.file)
    )
    pd.testing.assert_frame_equal(frame_in(found), frame_in(expected), check_categorical=False)


@each_way
def test_a_compressed_file_that_is_cut_off_is_refused(tmp_path, way):
    path = tmp_path / f"round.csv.{way}"
    path.write_bytes(WAYS[way](CSV * 1000)[:-20])
    with pytest.raises(RatingsError, match=rf"round\.csv\.{way}: found a damaged or unfinished"):
        read(path)


@pytest.mark.parametrize("name", ["round.zip", "round.xlsx", "round"])
@pytest.mark.parametrize("share", [0.1, 0.5, 0.99])
def test_a_zip_file_or_a_workbook_that_is_cut_off_is_refused(tmp_path, name, share):
    path = tmp_path / name
    with ZipFile(path, "w") as packed:
        packed.writestr("r.csv", CSV)
    data = path.read_bytes()
    path.write_bytes(data[: int(share * len(data))])
    with pytest.raises(RatingsError, match=f"{name}: found a ZIP file or workbook without its"):
        read(path)


@each_way
def test_no_more_is_expanded_than_the_limit_allows(tmp_path, way):
    path = tmp_path / f"round.csv.{way}"
    path.write_bytes(WAYS[way](b"0" * 50_000_000))
    with pytest.raises(RatingsError, match=r"bytes or more, expanded; expected at most 1000000\."):
        read(path, limits=Limits(file_bytes=1_000_000))


def test_another_compression_is_no_table(tmp_path):
    path = tmp_path / "round.csv.xz"
    path.write_bytes(lzma.compress(CSV))
    with pytest.raises(RatingsError, match=r"round\.csv\.xz: "):
        read(path)


@pytest.fixture
def folder(tmp_path):
    made = tmp_path / "2026-09"
    made.mkdir()
    FRAME[:3].to_csv(made / "a.csv", index=False)
    FRAME[3:].to_csv(made / "b.tsv", index=False, sep="\t")
    (made / ".hidden").write_text("no table")
    return made


def test_a_folder_of_tables_is_one_table(folder):
    assert read(folder).digest == read(FRAME).digest


def test_a_folder_of_wide_tables_is_one_table(tmp_path):
    wide = FRAME.pivot(index="item", columns="rater", values="label").reset_index()
    wide[:1].to_csv(tmp_path / "a.csv", index=False)
    wide[1:].to_csv(tmp_path / "b.csv", index=False)
    columns = Columns(raters=("ana", "ben"))
    assert read(tmp_path, columns, layout="wide").digest == read(FRAME).digest


@pytest.mark.parametrize(
    ("name", "content", "words"),
    [
        ("b.tsv", "item\trater\tlabel\ni9\t\tno\n", r"row '?2 of b\.tsv"),
        (
            "b.tsv",
            "item\trater\tlabel\tcluster\ni9\tana\tno\tc\n",
            r"found columns .* in b\.tsv, and",
        ),
        ("notes.txt", "call Ben", "found no format that is known"),
    ],
)
def test_a_folder_with_another_file_is_refused(folder, name, content, words):
    (folder / name).write_text(content)
    with pytest.raises(RatingsError, match=f"2026-09: {words}"):
        read(folder)


def test_the_rounds_of_a_folder_are_those_of_its_files(folder):
    FRAME[:3].assign(week="w2").to_csv(folder / "a.csv", index=False)
    FRAME[3:].assign(week="w1").to_csv(folder / "b.tsv", index=False, sep="\t")
    assert read_rounds(folder, Columns(round="week")) == ("w1", "w2")


def test_a_zip_file_that_is_encrypted_is_refused(tmp_path):
    path = tmp_path / "r.zip"
    with ZipFile(path, "w") as packed:
        packed.writestr("r.csv", "item,rater,label\ni1,ana,a\n")
    data = bytearray(path.read_bytes())
    data[6] |= 1
    data[data.find(b"PK\x01\x02") + 8] |= 1
    path.write_bytes(data)
    found = r"r\.zip: found a damaged or encrypted ZIP file .* Pack the folder again, without a pas"
    with pytest.raises(RatingsError, match=found):
        read(path)


def test_a_zip_file_with_a_damaged_list_of_contents_is_refused(tmp_path):
    path = tmp_path / "r.zip"
    with ZipFile(path, "w") as packed:
        packed.writestr("r.csv", "item,rater,label\ni1,ana,a\n")
    data = path.read_bytes()
    path.write_bytes(data.replace(b"PK\x01\x02", b"PK\x01\x09"))
    with pytest.raises(RatingsError, match=r"^r\.zip: found a damaged ZIP file or workbook \("):
        read(path)


def test_a_zip_file_with_other_bytes_inside_is_refused(tmp_path):
    path = tmp_path / "r.zip"
    with ZipFile(path, "w", ZIP_DEFLATED) as packed:
        packed.writestr("r.csv", "".join(f"i{n},ana,{n % 7}\n" for n in range(3000)))
    data = bytearray(path.read_bytes())
    data[200:260] = bytes(range(195, 255))
    path.write_bytes(data)
    with pytest.raises(RatingsError, match=r"r\.zip: found a damaged or encrypted ZIP file"):
        read(path)


@pytest.mark.parametrize("name", ["r.zip", "r.csv.gz"])
def test_a_full_disk_is_no_damaged_file(tmp_path, monkeypatch, name):
    path, text = tmp_path / name, "item,rater,label\ni1,ana,a\n"
    if name.endswith("zip"):
        with ZipFile(path, "w") as packed:
            packed.writestr("r.csv", text)
    else:
        path.write_bytes(gzip.compress(text.encode()))

    opened = Path.open

    def full(to, mode="r", *more, **named):
        if to != path and mode not in ("r", "rb"):
            raise OSError(ENOSPC, "No space left on device")
        return opened(to, mode, *more, **named)

    monkeypatch.setattr(ZipFile, "extractall", lambda _, place: full(place, mode="wb"))
    monkeypatch.setattr(Path, "open", full)
    with pytest.raises(OSError, match="No space left on device") as refused:
        read(path)
    assert not isinstance(refused.value, RatingsError)


def test_a_zip_file_of_very_many_files_is_refused_before_they_are_unpacked(tmp_path, monkeypatch):
    monkeypatch.setattr(packed_files, "MAX_ARCHIVE_FILES", 100)
    path = tmp_path / "r.zip"
    with ZipFile(path, "w") as packed:
        for number in range(101):
            packed.writestr(f"{number}.csv", "")
    with pytest.raises(RatingsError, match="found 101 files; expected at most 100"):
        read(path)


@pytest.mark.parametrize("ending", ["gz", "zst", "bz2", "zip"])
def test_a_text_under_the_name_of_a_packed_one_is_read(tmp_path, ending):
    path = tmp_path / f"r.csv.{ending}"
    path.write_text("item,rater,label\ni1,ana,yes\ni1,ben,no\n")
    assert read(path).n_by_category == {"yes": 1, "no": 1}
