"""A file that is not whole is refused with its place."""

import os
from pathlib import Path

import pandas as pd
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from agreement_pipeline.readers import UNFINISHED, read
from agreement_pipeline.readers.files import StableFile
from tests.readers.texts import GOOD


def parquet():
    """A round in Parquet."""
    sink = pa.BufferOutputStream()
    pq.write_table(pa.table({"item": ["i1"], "rater": ["ana"], "label": ["yes"]}), sink)
    return sink.getvalue().to_pybytes()


@pytest.mark.parametrize(
    ("name", "content", "words"),
    [
        ("round.csv", "", "round.csv: found 0 bytes; expected a table with at least one rating"),
        (
            "round.json",
            '[{"id": 1, "data": {}, "annotations": []}] 3',
            "round.json: record 1: found text after the last record; expected the end of the file",
        ),
        ("round.csv", b"\xef\xbb\xbf \n\n", "round.csv: found nothing but blanks"),
        ("round.jsonl", "", "round.jsonl: found 0 bytes"),
        ("round.parquet", b"", "round.parquet: found 0 bytes"),
        (
            "round.csv",
            "item,rater,label\n",
            "round.csv: found no row of data; expected at least one rating",
        ),
        (
            "round.csv",
            "\nitem,rater,label\ni1,ana,yes\n",
            "round.csv: row 1: found a blank line; expected the names of the columns",
        ),
        (
            "round.csv",
            "item,rater,label\ni1,ana,\n\n",
            "round.csv: column 'label': found no label in any row; expected at least one rating",
        ),
        (
            "round.csv",
            GOOD.encode("utf-16"),
            "round.csv: line 1: found a NUL byte; expected text",
        ),
        ("round.csv", GOOD + "i3,ana,\0\n", "round.csv: line 5: found a NUL byte"),
        (
            "round.csv",
            GOOD.encode() + "i3,ana,déjà\n".encode("latin-1"),
            "round.csv: line 5: found byte 0xe9, which is not UTF-8; expected UTF-8 text",
        ),
        (
            "round.csv",
            GOOD + "i3,ana\n",
            "round.csv: row 5: found 2 cells; expected 3, as in the header",
        ),
        (
            "round.csv",
            GOOD + "i3,ana,yes,no\n",
            "round.csv: row 5: found 4 cells; expected 3, as in the header",
        ),
        (
            "round.csv",
            GOOD + 'i3,ana,"yes\ni4,ana,no\n',
            "round.csv: row 5: found text that is not readable as delimited text (unexpected end "
            "of data)",
        ),
        (
            "round.csv",
            GOOD + 'i3,ana,"yes"no\n',
            "round.csv: row 5: found text that is not readable as delimited text",
        ),
        (
            "round.csv",
            "item,rater,label,label\ni,a,x,y\n",
            "round.csv: row 1: found column 'label' twice; expected each once",
        ),
        *(
            (
                f"round.{end}",
                GOOD.replace(",", mark) + f"i3{mark}ana\n",
                f"round.{end}: row 5: found 2 cells; expected 3, as in the header",
            )
            for end, mark in [("csv", ";"), ("csv", "\t"), ("csv", "|"), ("tsv", ";")]
        ),
        (
            "round.csv",
            "Round 3; May\n" + GOOD.replace(",", ";"),
            "round.csv: row 1: found one column, 'Round 3; May', that holds ';'; expected "
            "columns separated by ','",
        ),
        (
            "round.xml",
            "<rounds/>",
            "round.xml: found no format that is known; expected an export of one of [",
        ),
        (
            "round.jsonl",
            '{"item": "i1", "rater": "ana", "label": "yes"}\n{"item": "i1", "ra',
            "round.jsonl: row 2: found a last line that is cut off",
        ),
        (
            "round.jsonl",
            '{"item": "i1"\n{"item": "i1"}\n',
            "round.jsonl: row 1: found text that is not readable as JSON",
        ),
        (
            "round.jsonl",
            "{'item': 'i1'}\n",
            "round.jsonl: row 1: found text that is not readable as JSON (Expecting property name",
        ),
        (
            "round.jsonl",
            '{"item": "i1" "rater": "ana"}\n',
            "round.jsonl: row 1: found text that is not readable as JSON (Expecting ',' delimiter",
        ),
        (
            "round.jsonl",
            '{"item": "i1"}\n{"item": "i1", "gold": tru',
            "round.jsonl: row 2: found a last line that is cut off",
        ),
        (
            "round.jsonl",
            '{"item": "i1"} beside',
            "round.jsonl: row 1: found text that is not readable as JSON (Extra data",
        ),
        (
            "round.jsonl",
            '{"item": "i1"}\nend',
            "round.jsonl: row 2: found text that is not readable as JSON (Expecting value",
        ),
        (
            "round.jsonl",
            "[" * 100_000,
            "round.jsonl: row 1: found text that is not readable as JSON",
        ),
        (
            "round.jsonl",
            f'["{"a" * 1000}"]',
            f"""round.jsonl: row 1: found '["{"a" * 57}…; expected a JSON object""",
        ),
        (
            "round.csv",
            b"item,rater,label\xe9\ni1,ana,yes\ni1,ben,no\n",
            "round.csv: line 1: found byte 0xe9, which is not UTF-8",
        ),
        (
            "round.jsonl",
            '["i1", "ana", "yes"]\n',
            'round.jsonl: row 1: found \'["i1", "ana", "yes"]\'; expected a JSON object in every '
            "line",
        ),
        (
            "round.jsonl",
            r'{"item": "a \ud83d", "rater": "a", "label": "x"}',
            r"round.jsonl: row 1: found half a character (\ud83d); expected whole characters",
        ),
        (
            "round.jsonl",
            '{"item": "i1", "item": "i2"}\n',
            "round.jsonl: row 1: found column 'item' twice",
        ),
        (
            "round.jsonl",
            '{"item": "i", "rater": "a", "label": ["x", "y|z"]}\n',
            "round.jsonl: row 1, column 'label': found ['x', 'y|z']; expected one label, a list of "
            "labels (none empty, none with |), or null. Correct the row.",
        ),
        (
            "round.jsonl",
            '{"item": "i", "rater": "a", "label": ["x", ""]}\n',
            "found ['x', None]; expected one label, a list of labels (none "
            "empty, none with |), or null. Correct the row.",
        ),
        (
            "round.jsonl",
            '{"item": "i", "rater": "a", "label": [["x"]]}\n',
            "found [['x']]; expected one label, a list of labels (none "
            "empty, none with |), or null. Correct the row.",
        ),
        (
            "round.jsonl",
            '{"item": "i", "rater": "a", "label": ["x \\ud83d"]}\n',
            r"round.jsonl: row 1: found half a character (\ud83d); expected whole characters",
        ),
        (
            "round.jsonl",
            '{"item": "i", "rater": "a", "label": [{"id": "x"}]}\n',
            "found [{'id': 'x'}]; expected one label, a list of labels (none "
            "empty, none with |), or null. Correct the row.",
        ),
        (
            "round.jsonl",
            '{"item": {"id": "3"}, "rater": "a", "label": "x"}\n',
            "round.jsonl: row 1, column 'item': found {'id': '3'}; expected one value",
        ),
        ("round.parquet", GOOD, "round.parquet: found no whole Parquet file"),
    ],
)
def test_a_broken_file_is_refused_with_its_place(saved, refusal, tmp_path, name, content, words):
    assert words in refusal(saved(tmp_path, name, content))


@pytest.mark.parametrize("ending", UNFINISHED)
def test_a_name_that_says_the_file_is_being_written_is_refused(saved, refusal, tmp_path, ending):
    words = refusal(saved(tmp_path, f"round.csv{ending}", GOOD))
    assert words.startswith(
        f"round.csv{ending}: found a name that ends in {ending!r}, as the name of a file that "
        "is still being written or of a copy; expected a finished file. Wait until it is complete, "
        "or export it again. If it is complete, rename it."
    )


@pytest.mark.parametrize("ending", UNFINISHED)
def test_a_file_of_a_folder_that_is_being_written_is_not_left_out(saved, refusal, tmp_path, ending):
    folder = tmp_path / "round"
    folder.mkdir()
    saved(folder, "a.csv", GOOD)
    saved(folder, f"b.csv{ending}", GOOD)
    assert f"b.csv{ending}: found a name that ends in {ending!r}" in refusal(folder)


def test_a_name_that_is_not_utf_8_is_refused(saved, refusal, tmp_path):
    words = "\\udcff.csv: found a name that is not UTF-8; expected one that is. Rename the file."
    assert words in refusal(saved(tmp_path, "\udcff.csv", GOOD))


def test_a_link_to_a_folder_in_a_folder_is_not_left_out(saved, refusal, tmp_path):
    folder, other = tmp_path / "round", tmp_path / "other"
    folder.mkdir()
    other.mkdir()
    saved(folder, "a.csv", GOOD)
    saved(other, "b.csv", GOOD)
    (folder / "part").symlink_to(other, target_is_directory=True)
    assert f"{folder / 'part'}: found a link to a folder; expected the fol" in refusal(folder)


@pytest.mark.parametrize(
    ("name", "content", "more"),
    [
        ("round.csv", GOOD.encode(), b"i3,ana,yes\n"),
        ("round.csv", GOOD.encode(), b""),
        ("round.jsonl", b'{"item":"i1","rater":"ana","label":"yes"}\n', b"\n"),
        ("round.parquet", parquet(), b""),
    ],
)
def test_a_file_that_changes_while_it_is_read_is_refused(
    saved, refusal, tmp_path, monkeypatch, name, content, more
):
    path, at = saved(tmp_path, name, content), StableFile.at_path

    def at_and_change(this, *read_as, **also):
        before = at(this, *read_as, **also)
        this.write_bytes(content + more)
        os.utime(this, (1, 1))
        return before

    monkeypatch.setattr(StableFile, "at_path", at_and_change)
    assert (
        f"{name}: found a change while the file was read ({len(content)} bytes before, "
        f"{len(content) + len(more)} after); expected a finished file" in refusal(path)
    )


def test_text_in_parquet_that_is_no_utf8_is_refused(refusal, tmp_path):
    path = tmp_path / "labels.parquet"
    pd.DataFrame({"item": ["i1"], "rater": ["Zoe"], "label": ["yes"]}).to_parquet(
        path, compression=None
    )
    path.write_bytes(path.read_bytes().replace(b"Zoe", b"\xe3na"))
    assert "found no whole Parquet file" in refusal(path)


LONG = "é" * 1_001
GIVEN = [(f"i{at // 2}", f"r{at % 2}", "yes" if at % 3 else "no") for at in range(4_000)]


@pytest.mark.parametrize("column", range(3))
@pytest.mark.parametrize("group", [0, 1])
@pytest.mark.parametrize("row", [(" ", "r0", "yes"), (LONG, "r0", None), GIVEN[0], ("i", "r", "n")])
def test_pages_that_cannot_be_read_are_refused_before_what_other_cells_say(
    refusal, tmp_path, row, group, column
):
    path = tmp_path / "round.parquet"
    frame = pd.DataFrame([*GIVEN, row], columns=["item", "rater", "label"])
    frame.to_parquet(path, compression="zstd", row_group_size=2_001, index=False)
    chunk = pq.ParquetFile(path).metadata.row_group(group).column(column)
    data = bytearray(path.read_bytes())
    begin = data.index(b"\x28\xb5\x2f\xfd", chunk.data_page_offset)
    data[begin : begin + 4] = bytes(4)
    path.write_bytes(data)
    assert "round.parquet: found no whole Parquet file" in refusal(path)


@pytest.mark.parametrize(
    ("row", "words"),
    [
        ((" ", "r0", "yes"), "row 4001, column 'item': found no item"),
        ((LONG, "r0", "yes"), "row 4001, column 'item': found 1001 characters; expected at most"),
        ((LONG, "r0", None), "row 4001, column 'item': found 1001 characters; expected at most"),
        (
            ("i0", "r0", "yes"),
            "rows [1, 4001], columns ['item', 'rater']: found 2 labels of rater 'r0'",
        ),
    ],
)
def test_cells_of_a_parquet_file_are_refused_by_their_row(refusal, tmp_path, row, words):
    path = tmp_path / "round.parquet"
    frame = pd.DataFrame([*GIVEN, row], columns=["item", "rater", "label"])
    frame.to_parquet(path, index=False)
    assert f"round.parquet: {words}" in refusal(path)


def test_an_item_that_is_no_number_is_refused(refusal, tmp_path):
    path = tmp_path / "round.parquet"
    rows = {"item": [1.0, 1.0, float("nan")], "rater": ["a", "b", "a"], "label": ["x", "y", "x"]}
    pq.write_table(pa.table(rows), path)
    assert "round.parquet: row 3, column 'item': found nan; expected one value" in refusal(path)


def test_the_letters_of_a_name_count_and_not_its_bytes(tmp_path):
    path = tmp_path / "round.parquet"
    rows = [*GIVEN, (LONG[1:], "r0", "no"), (LONG[1:], "r1", "no")]
    pd.DataFrame(rows, columns=["item", "rater", "label"]).to_parquet(path, index=False)
    assert read(path).n_items == 2_001


def test_a_parquet_column_that_occurs_twice_is_refused(refusal, tmp_path):
    arrays = [pa.array(["a"])] * 4
    pq.write_table(
        pa.Table.from_arrays(arrays, names=["item", "rater", "label", "label"]),
        tmp_path / "round.parquet",
    )
    words = refusal(tmp_path / "round.parquet")
    assert words.startswith("round.parquet: found ")
    assert "column 'label' twice" in words


def test_a_parquet_file_without_rows_is_refused(refusal, tmp_path):
    pq.write_table(pa.table({"item": pa.array([], pa.string())}), tmp_path / "round.parquet")
    assert "round.parquet: found no row of data" in refusal(tmp_path / "round.parquet")


def test_a_path_that_is_no_file_is_refused(refusal, tmp_path):
    assert f"{tmp_path / 'none.csv'}: found no such file; expected an export or a table" in refusal(
        tmp_path / "none.csv"
    )
    assert f"{tmp_path}: found a folder without a finished file" in refusal(tmp_path)


def test_a_file_that_cannot_be_read_is_refused_with_the_reason(
    saved, refusal, tmp_path, monkeypatch
):
    path = saved(tmp_path, "round.csv", GOOD)

    def denied(*_):
        raise PermissionError(13, "Permission denied")

    monkeypatch.setattr(Path, "open", denied)
    assert (
        "round.csv: found a file that cannot be read (Permission denied); expected a readable file"
        in refusal(path)
    )
