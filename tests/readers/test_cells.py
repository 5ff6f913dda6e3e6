"""The cells of every kind of table; a file that is not whole is refused with its place."""

import csv
import io
import json
import os
from pathlib import Path

import pandas as pd
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from hypothesis import given
from hypothesis import strategies as st

from agreement_pipeline.ratings import Scale
from agreement_pipeline.readers import UNFINISHED
from tests.readers.conftest import frame_of

GOOD = "item,rater,label\ni1,ana,yes\ni1,ben,no\ni2,ana,no\n"
YES_NO = Scale(("no", "yes"))


@pytest.mark.parametrize(
    ("name", "content"),
    [
        ("round.csv", GOOD),
        ("round.tsv", GOOD.replace(",", "\t")),
        ("ROUND.CSV", GOOD),
        ("round.csv", b"\xef\xbb\xbf" + GOOD.encode()),
        ("round.csv", GOOD.replace("\n", "\r\n")),
        ("round.csv", GOOD.rstrip("\n")),
        (
            "round.jsonl",
            '{"item": "i1", "rater": "ana", "label": "yes"}\n'
            '{"rater": "ben", "label": "no", "item": "i1"}\n'
            '{"item": "i2", "rater": "ana", "label": "no"}\n',
        ),
        (
            "round.ndjson",
            '{"item":"i1","rater":"ana","label":"yes"}\r\n'
            '{"item":"i1","rater":"ben","label":"no"}\r\n{"item":"i2","rater":"ana","label":"no"}',
        ),
    ],
)
def test_every_kind_of_text_table_gives_the_same_rows_in_the_files_order(
    saved, rows_of, tmp_path, name, content
):
    frame = frame_of(saved(tmp_path, name, content))
    assert rows_of(frame, "item", "rater", "label") == [
        ("i1", "ana", "yes"),
        ("i1", "ben", "no"),
        ("i2", "ana", "no"),
    ]


def test_cells_stay_as_they_are_written_and_only_an_empty_one_is_missing(saved, rows_of, tmp_path):
    written = ["NA", "nan", "None", "null", "001", "1e5", "1.0", " yes ", "TRUE", "-", ""]
    path = saved(
        tmp_path,
        "round.csv",
        "item,rater,label\n" + "".join(f"007,ana,{label}\n" for label in written),
    )
    frame = frame_of(path)
    assert rows_of(frame, "label") == [(label or None,) for label in written]
    assert set(frame["item"]) == {"007"}


@given(
    st.lists(
        st.tuples(
            *[
                st.text(
                    st.characters(exclude_categories=("Cs",), exclude_characters="\0"), max_size=6
                )
            ]
            * 3
        ),
        min_size=1,
        max_size=8,
    )
)
def test_whatever_text_a_csv_writer_writes_is_read_back(saved, rows_of, tmp_path_factory, rows):
    text = io.StringIO()
    csv.writer(text).writerows([("item", "rater", "label"), *rows])
    frame = frame_of(saved(tmp_path_factory.mktemp("tables"), "round.csv", text.getvalue()))
    assert rows_of(frame, "item", "rater", "label") == [
        tuple(cell or None for cell in row) for row in rows
    ]


@given(
    st.lists(
        st.fixed_dictionaries(
            {
                name: st.none()
                | st.text(
                    st.characters(exclude_categories=("Cs",), exclude_characters="\0"), max_size=6
                )
                for name in ("item", "rater", "label")
            }
        ),
        min_size=1,
        max_size=8,
    )
)
def test_whatever_text_json_lines_hold_is_read_back(saved, rows_of, tmp_path_factory, records):
    lines = "\n".join(json.dumps(record) for record in records)
    frame = frame_of(saved(tmp_path_factory.mktemp("tables"), "round.jsonl", lines))
    assert rows_of(frame, "item", "rater", "label") == [
        tuple(record[name] or None for name in ("item", "rater", "label")) for record in records
    ]


def test_json_numbers_are_written_as_categories_are_and_long_ones_keep_every_digit(
    saved, rows_of, tmp_path
):
    lines = [3, 3.0, 2.5, 12345678901234567890, True, None]
    path = saved(
        tmp_path,
        "round.jsonl",
        "\n".join(json.dumps({"item": 1, "rater": "ana", "label": label}) for label in lines),
    )
    assert rows_of(frame_of(path), "label") == [
        ("3",),
        ("3",),
        ("2.5",),
        ("12345678901234567890",),
        ("True",),
        (None,),
    ]


def test_a_line_separator_inside_a_json_text_does_not_end_the_line(saved, rows_of, tmp_path):
    path = saved(
        tmp_path,
        "round.jsonl",
        '{"item": "i1", "rater": "ana", "label": "yes", "text": "one\u2028two\x85three"}',
    )
    assert rows_of(frame_of(path), "text") == [("one\u2028two\x85three",)]


def test_quoted_cells_may_hold_separators_and_line_ends_and_rows_are_still_counted_as_rows(
    saved, refusal, rows_of, tmp_path
):
    text = 'item,rater,label,text\ni1,ana,yes,"one, two\nthree ""four"""\ni1,ben,maybe,\n'
    path = saved(tmp_path, "round.csv", text)
    assert rows_of(frame_of(path), "text") == [('one, two\nthree "four"',), (None,)]
    assert "row 3, column 'label': found label ['maybe']" in refusal(path, scale=YES_NO)


def test_parquet_keeps_its_types(rows_of, tmp_path):
    table = pa.table(
        {
            "item": pa.array([1, 2, None], pa.int64()),
            "rater": pa.array(["ana", "ana", "ben"]).dictionary_encode(),
            "label": pa.array([1.5, None, 2.0]),
            "timestamp": pa.array([0, 1, 2], pa.timestamp("s")),
        }
    )
    pq.write_table(table, tmp_path / "round.parquet")
    frame = frame_of(tmp_path / "round.parquet")
    assert rows_of(frame, "item", "rater", "label") == [
        (1, "ana", 1.5),
        (2, "ana", None),
        (None, "ben", 2.0),
    ]
    assert frame["timestamp"].tolist() == [pd.Timestamp(second, unit="s") for second in range(3)]


def test_a_long_number_in_parquet_keeps_every_digit_beside_a_missing_one(tmp_path):
    longest = 2**62 + 1
    pq.write_table(
        pa.table({"item": [longest, None], "rater": ["ana", "ben"], "label": ["yes", "no"]}),
        tmp_path / "round.parquet",
    )
    assert str(frame_of(tmp_path / "round.parquet")["item"][1]) == str(longest)


def test_the_index_gives_the_row_of_the_file_and_blank_lines_count(saved, refusal, tmp_path):
    path = saved(tmp_path, "round.csv", "item,rater,label\ni1,ana,yes\n\ni1,ben,perhaps\n\n")
    assert frame_of(path).index.tolist() == [2, 3, 4, 5]
    assert "row 4, column 'label': found label ['perhaps']" in refusal(path, scale=YES_NO)
    lines = saved(
        tmp_path,
        "round.jsonl",
        '{"item":"i1","rater":"ana","label":"yes"}\n\n'
        '{"item":"i1","rater":"ben","label":"perhaps"}\n',
    )
    assert "row 3, column 'label'" in refusal(lines, scale=YES_NO)


@pytest.mark.parametrize(
    ("name", "content", "words"),
    [
        ("round.csv", "", "round.csv: found 0 bytes; expected a table with at least one rating"),
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
            "round.csv: column 'label': found no label in 2 rows; expected at least one rating",
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
            "round.csv: row 1: found columns ['label'] twice; expected each once",
        ),
        (
            "round.csv",
            GOOD.replace(",", ";"),
            "round.csv: row 1: found one column, 'item;rater;label', that holds ';'; expected "
            "columns separated by ','",
        ),
        (
            "round.csv",
            GOOD.replace(",", "\t"),
            "that holds '\\t'; expected columns separated by ','",
        ),
        (
            "round.tsv",
            GOOD,
            "round.tsv: row 1: found one column, 'item,rater,label', that holds ','; expected "
            "columns separated by '\\t'",
        ),
        (
            "round.xlsx",
            "PK",
            "round.xlsx: found a name ending in '.xlsx'; expected one of ['.csv', '.tsv', "
            "'.jsonl', '.ndjson', '.parquet']",
        ),
        ("round", GOOD, "round: found a name ending in ''; expected one of ['.csv'"),
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
        ("round.jsonl", "[" * 100_000, "round.jsonl: row 1: found a last line that is cut off"),
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
            "round.jsonl: row 1: found columns ['item'] twice",
        ),
        (
            "round.jsonl",
            '{"item": "i", "rater": "a", "label": ["x", "y"]}\n',
            "round.jsonl: row 1, column 'label': found ['x', 'y']; expected one value, or null. "
            "Correct the row.",
        ),
        (
            "round.jsonl",
            '{"item": "i", "rater": "a", "label": ["positive"]}\n',
            "column 'label': found ['positive']; expected one value, or null. Write one label for "
            "each rating: the value itself, as 'positive'.",
        ),
        (
            "round.jsonl",
            '{"item": "i", "rater": "a", "label": [{"id": "x"}]}\n',
            "found [{'id': 'x'}]; expected one value, or null. Correct the row.",
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
        f"round.csv{ending}: found a name ending in {ending!r}, which means that the file is still "
        f"being written; expected a finished file. Wait"
    )


@pytest.mark.parametrize("more", [b"i3,ana,yes\n", b""])
def test_a_file_that_changes_while_it_is_read_is_refused(
    saved, refusal, tmp_path, monkeypatch, more
):
    path = saved(tmp_path, "round.csv", GOOD)
    read = Path.read_bytes

    def read_and_change(this):
        data = read(this)
        this.write_bytes(data + more)
        os.utime(this, (1, 1))
        return data

    monkeypatch.setattr(Path, "read_bytes", read_and_change)
    words = refusal(path)
    assert (
        f"round.csv: found a change while the file was read ({len(GOOD)} bytes before, "
        f"{len(GOOD) + len(more)} after); expected a finished file" in words
    )


def test_a_truncated_parquet_file_is_refused(saved, refusal, tmp_path):
    whole = tmp_path / "whole.parquet"
    pq.write_table(pa.table({"item": ["i1"], "rater": ["ana"], "label": ["yes"]}), whole)
    assert "cut.parquet: found no whole Parquet file (" in refusal(
        saved(tmp_path, "cut.parquet", whole.read_bytes()[:-20])
    )


def test_text_in_parquet_that_is_no_utf8_is_refused(refusal, tmp_path):
    path = tmp_path / "labels.parquet"
    pd.DataFrame({"item": ["i1"], "rater": ["Zoe"], "label": ["yes"]}).to_parquet(
        path, compression=None
    )
    path.write_bytes(path.read_bytes().replace(b"Zoe", b"\xe3na"))
    assert "found no whole Parquet file" in refusal(path)


def test_a_parquet_column_that_occurs_twice_is_refused(refusal, tmp_path):
    arrays = [pa.array(["a"])] * 4
    pq.write_table(
        pa.Table.from_arrays(arrays, names=["item", "rater", "label", "label"]),
        tmp_path / "round.parquet",
    )
    assert "round.parquet: found columns ['label'] twice" in refusal(tmp_path / "round.parquet")


def test_a_parquet_file_without_rows_is_refused(refusal, tmp_path):
    pq.write_table(pa.table({"item": pa.array([], pa.string())}), tmp_path / "round.parquet")
    assert "round.parquet: found no row of data" in refusal(tmp_path / "round.parquet")


def test_a_path_that_is_no_file_is_refused(refusal, tmp_path):
    assert f"{tmp_path / 'none.csv'}: found no such file; expected a table" in refusal(
        tmp_path / "none.csv"
    )
    assert f"{tmp_path}: found a folder; expected a file" in refusal(tmp_path)


def test_a_file_that_cannot_be_read_is_refused_with_the_reason(
    saved, refusal, tmp_path, monkeypatch
):
    def denied(_):
        raise PermissionError(13, "Permission denied")

    monkeypatch.setattr(Path, "read_bytes", denied)
    assert (
        "round.csv: found a file that cannot be read (Permission denied); expected a readable file"
        in refusal(saved(tmp_path, "round.csv", GOOD))
    )
