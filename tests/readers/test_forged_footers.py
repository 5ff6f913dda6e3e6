"""A Parquet file that contradicts itself is refused, before a library opens it."""

import subprocess
import sys

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from agreement_pipeline.errors import RatingsError
from agreement_pipeline.ratings import Footer, ParquetRows
from agreement_pipeline.ratings.footer import DEEPEST
from agreement_pipeline.readers import Export, read
from agreement_pipeline.readers.exports import records_of
from tests.footers import forged, number, numbers, text, written

TABLE = {
    "item": ["i1", "i1", "i2", "i2"],
    "rater": ["ana", "ben", "ana", "ben"],
    "label": [1.0, 1.0, 2.0, 2.0],
}
ITEM, RATER, LABEL = ((4, 0, 1, at, 3) for at in range(3))
TWO_GROUPS = {"row_group_size": 2}

FORGED = {
    "a histogram of levels": ({(*ITEM, 16, 3): numbers([0, 4, 0])}, "histogram of column 'item'"),
    "a column of another type": ({(*ITEM, 1): number(4)}, "another column in the place of 'item'"),
    "a column by another name": (
        {(*RATER, 3, 0): text(b"reter")},
        "another column in the place of 'rater' in row group 0",
    ),
    "a name that is no text": ({(2, 2, 4): text(b"\xff\xfe")}, "of a column, which is no text"),
    "a name twice": (
        {(2, 2, 4): text(b"Item"), (*RATER, 3, 0): text(b"Item")},
        "column 'Item' twice, or in capitals and small letters",
    ),
    "fewer rows": ({(3,): number(3)}, "num_rows: 3 in the footer, and 4 in the file"),
    "fewer rows than none": ({(3,): number(-4)}, "num_rows of -4"),
    "more columns than there are": ({(2, 0, 5): number(4)}, "fewer columns than its schema counts"),
    "fewer columns": ({(2, 0, 5): number(2)}, "more columns than its schema counts"),
    "a place beyond the end": (
        {(*LABEL, 9): number(10**6), (*LABEL, 11): number(10**6)},
        "column 'label' of row group 0: bytes 1000000 to",
    ),
    "a size beyond the end": (
        {(*LABEL, 7): number(10**6)},
        "column 'label' of row group 0: .* beyond the end of the pages",
    ),
    "a place without a page": ({(*ITEM, 11): number(9)}, "field "),
    "another place for the first data": (
        {(*LABEL, 9): number(4)},
        "column 'label' of row group 0: data_page_offset: 4 in the footer, and ",
    ),
    "the codes of another column": ({(*RATER, 11): number(4)}, "column 'rater' of row group 0: "),
    "another size once unpacked": (
        {(*ITEM, 6): number(10)},
        "column 'item' of row group 0: total_uncompressed_size: 10 in the footer",
    ),
    "another number of values": (
        {(*LABEL, 5): number(3)},
        "column 'label' of row group 0: num_values: 3 in the footer, and 4 in the file",
    ),
    "another size of a row group": (
        {(4, 0, 6): number(9)},
        "row group 0: total_compressed_size: 9 in the footer, and ",
    ),
    "another place of a row group": ({(4, 0, 5): number(9)}, "row group 0: file_offset: 9 in the"),
    "another encoding of its pages": (
        {(*ITEM, 13, 1, 2): number(5)},
        "column 'item' of row group 0: encodings of pages",
    ),
    "missing values only": (
        {(*LABEL, 12, 3): number(4)},
        "column 'label' of row group 0: null_count: 4 in the footer, and 0 in the file",
    ),
    "an older type that is another": (
        {(2, 1, 6): number(20)},
        "column 'item' of logical type STRING and converted type 20",
    ),
    "two newer types": (
        {(2, 1, 10): bytes([0x1C, 0, 0x1C, 0, 0])},
        "column 'item' with 2 logical types",
    ),
    "no schema": ({(2,): bytes([0x0C])}, "no schema"),
    "a row group without columns": ({(4, 0, 1): bytes([0x0C])}, "0 columns in row group 0"),
    "bytes of texts in numbers": (
        {(*LABEL, 16): bytes([0x16, *number(9), 0])},
        "the bytes of texts in column 'label', which has none",
    ),
    "an index among the pages": (
        {(*LABEL, 16): bytes([0, 0x06, *number(10), *number(4)])},
        "column 'label' of row group 0: pages in another file, or a page that is an index",
    ),
    "missing values where none may be": (
        {(2, 3, 3): number(0), (*LABEL, 16): bytes([0]), (*LABEL, 12, 3): number(4)},
        "column 'label' of row group 0: null_count: 4 in the footer, and 0 in the file",
    ),
    "missing values in a packing that nobody reads": (
        {(*LABEL, 4): number(3), (*LABEL, 12, 3): number(4)},
        "only missing values in a column, packed by codec 3",
    ),
    "missing values in another packing": (
        {(*LABEL, 4): number(2), (*LABEL, 12, 3): number(4)},
        "GZip|gzip|zlib|header",
    ),
}


@pytest.fixture(params=FORGED)
def found(request, tmp_path):
    changes, words = FORGED[request.param]
    path = tmp_path / "r.parquet"
    path.write_bytes(forged(written(TABLE), changes))
    return path, words


@pytest.mark.parametrize(
    "way",
    [read, lambda path: list(records_of(path, "here"))],
    ids=["ratings", "records"],
)
def test_a_footer_that_contradicts_itself_is_refused_whoever_reads_it(found, way):
    path, words = found
    with pytest.raises(RatingsError, match=rf"^r\.parquet: .*{words}") as refused:
        way(path)
    expected = "; expected a finished one whose footer and pages agree. Wait"
    if "twice" in words:
        expected = "; expected each once. Rename or remove one."
    assert expected in str(refused.value)


def test_a_release_whose_tables_contradict_themselves_is_refused_too(found):
    path, words = found
    with pytest.raises(RatingsError, match=words):
        ParquetRows(path.read_bytes())


def test_a_forged_footer_does_not_end_the_process(tmp_path):
    path = tmp_path / "r.parquet"
    path.write_bytes(forged(written(TABLE), {(*ITEM, 16, 3): numbers([0, 4, 0])}))
    command = [sys.executable, "-m", "agreement_pipeline", "measure", str(path)]
    said = subprocess.run(command, capture_output=True, text=True, check=False)
    assert said.returncode == 2
    assert said.stderr.startswith("error: r.parquet: found no whole Parquet file (a histogram")


def test_what_was_not_forged_is_read(tmp_path):
    path = tmp_path / "r.parquet"
    path.write_bytes(forged(written(TABLE), {(3,): number(4)}))
    assert path.read_bytes() == written(TABLE)
    assert len(read(path)) == 4


@pytest.mark.parametrize("page", ["1.0", "2.0"])
@pytest.mark.parametrize("how", [{}, {"write_page_index": True}, {"row_group_size": 1}])
def test_the_sizes_of_a_whole_file_are_those_that_arrow_reads(tmp_path, page, how):
    table = {**TABLE, "nested": [[["a", "b"]], [[]], [], None]}
    path = tmp_path / "r.parquet"
    path.write_bytes(written(table, data_page_version=page, **how))
    footer, said = Footer.of(path), pq.read_metadata(path)
    groups = [said.row_group(at) for at in range(said.num_row_groups)]
    assert footer.size == sum(group.total_byte_size for group in groups)
    assert footer.rows == said.num_rows
    assert [leaf.path for leaf in footer.leaves] == [
        said.schema.column(at).path for at in range(said.num_columns)
    ]
    assert [(leaf.repeated, leaf.defined) for leaf in footer.leaves] == [
        (column.max_repetition_level, column.max_definition_level)
        for column in map(said.schema.column, range(said.num_columns))
    ]


@pytest.mark.parametrize("codec", ["none", "zstd"])
def test_a_table_without_rows_has_a_footer(tmp_path, codec):
    path = tmp_path / "r.parquet"
    path.write_bytes(
        written({name: values[:0] for name, values in TABLE.items()}, compression=codec)
    )
    assert Footer.of(path).rows == 0
    pq.write_table(pa.table(TABLE).slice(0, 0), path, compression=codec)
    assert [each.values for each in Footer.of(path).chunks] in ([], [0, 0, 0])


def test_what_duckdb_writes_is_read(tmp_path):
    import duckdb

    path = tmp_path / "r.parquet"
    duckdb.from_arrow(pa.table(TABLE)).to_parquet(str(path))
    assert len(read(path)) == 4
    assert Export(path).kind == "parquet"


def test_bytes_after_the_fields_of_a_footer_are_refused(tmp_path):
    data, path = written(TABLE), tmp_path / "r.parquet"
    size = int.from_bytes(data[-8:-4], "little") + 1
    path.write_bytes(data[:-8] + b"\0" + size.to_bytes(4, "little") + b"PAR1")
    with pytest.raises(RatingsError, match="1 bytes after the end of the footer"):
        read(path)


def test_columns_inside_each_other_have_an_end(tmp_path):
    cell = 1
    for _ in range(DEEPEST + 2):
        cell = {"a": cell}
    path = tmp_path / "r.parquet"
    path.write_bytes(written({**TABLE, "deep": [cell] * 4}))
    with pytest.raises(RatingsError, match="columns inside each other more than"):
        read(path)
