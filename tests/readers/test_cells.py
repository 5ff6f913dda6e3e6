"""The cells of every kind of table."""

import csv
import io
import json

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from agreement_pipeline.readers import delimited, files
from tests.readers.conftest import frame_of
from tests.readers.texts import GOOD, YES_NO


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


@settings(max_examples=40)
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


@settings(max_examples=40)
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
    assert "row 3, column 'label': found label 'maybe'" in refusal(path, scale=YES_NO)


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
    assert "row 4, column 'label': found label 'perhaps'" in refusal(path, scale=YES_NO)
    lines = saved(
        tmp_path,
        "round.jsonl",
        '{"item":"i1","rater":"ana","label":"yes"}\n\n'
        '{"item":"i1","rater":"ben","label":"perhaps"}\n',
    )
    assert "row 3, column 'label'" in refusal(lines, scale=YES_NO)


def by_python(content):
    """The cells below the header, as the standard library reads them."""
    header, *rows = csv.reader(io.StringIO(content.decode(), newline=""))
    return [tuple(cell or None for cell in row or [""] * len(header)) for row in rows]


CELLS = ["", "a", "é", " ", '"', "x,y", "b\nc", "b\n\nc", "b\r\nc", "long " * 9]


@settings(max_examples=40)
@given(st.data())
def test_arrow_reads_what_the_standard_library_reads_wherever_its_blocks_end(
    saved, rows_of, tmp_path_factory, data
):
    end, quoting = data.draw(st.sampled_from(["\n", "\r\n"])), data.draw(st.booleans())
    plain = [cell for cell in CELLS if quoting or not {*cell} & {*'"\n,'}]
    row = st.tuples(*[st.sampled_from(plain)] * 3) | st.just(())
    text = io.StringIO()
    csv.writer(text, lineterminator=end, quoting=csv.QUOTE_ALL if quoting else 0).writerows(
        [("item", "rater", "label"), ("i", "a", "x"), *data.draw(st.lists(row, max_size=9))]
    )
    content = text.getvalue().encode()
    path = saved(tmp_path_factory.mktemp("tables"), "round.csv", content)
    with pytest.MonkeyPatch.context() as patched:
        patched.setattr(files, "BLOCK_BYTES", data.draw(st.integers(1, 80)))
        patched.setattr(delimited, "BLOCK_BYTES", data.draw(st.integers(70, 150)))
        frame = frame_of(path)
    assert rows_of(frame, "item", "rater", "label") == by_python(content)


def test_a_header_that_spans_lines_is_no_row(saved, rows_of, tmp_path):
    path = saved(tmp_path, "round.csv", 'item,rater,label,"a\nb"\ni1,ana,yes,x\n')
    assert rows_of(frame_of(path), "item", "rater", "label") == [("i1", "ana", "yes")]
