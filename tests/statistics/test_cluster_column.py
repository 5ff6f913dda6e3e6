"""The column of clusters: how it is read, its digest and its bytes."""

import pyarrow.compute as pc
import pytest

from agreement_pipeline.errors import RatingsError
from agreement_pipeline.ratings import (
    ParquetRows,
    RatingsRows,
    open_stored_cells,
    parquet_bytes,
    ratings_from_stored_cells,
)
from agreement_pipeline.readers import Columns, read
from tests.statistics.documents import TWO, documents, ratings

SOME = ["000-0", "000-7", "001-0", "002-3"]


def test_any_column_may_be_named_as_the_clusters(tmp_path):
    documents(n=3).rename(columns={"cluster": "document_id"}).to_csv(
        tmp_path / "export.csv", index=False
    )
    found = read(tmp_path / "export.csv", Columns(cluster="document_id"), scale=TWO)
    assert found.items(["cluster"], names=["002-5"])["cluster"].to_pylist() == ["document 2"]
    some = found.items(["cluster_at"]).filter(pc.field("item").isin(SOME))
    assert some["cluster_at"].to_pylist() == [0, 0, 1, 2]
    assert "cluster" not in read(tmp_path / "export.csv", scale=TWO).has


def test_a_wide_table_has_clusters_too(tmp_path):
    (tmp_path / "wide.csv").write_text("item,doc,ana,ben\ni1,1,yes,no\ni2,1,no,\ni3,2,yes,yes\n")
    found = read(
        tmp_path / "wide.csv",
        Columns(cluster="doc", raters=("ana", "ben")),
        layout="wide",
        scale=TWO,
    )
    assert found.items(["cluster"]).to_pylist() == [
        {"item": "i1", "cluster": "1"},
        {"item": "i2", "cluster": "1"},
        {"item": "i3", "cluster": "2"},
    ]
    assert found.raters == ("ana", "ben")


@pytest.mark.parametrize(
    ("row", "message"),
    [
        (
            "i2,ben,no,",
            r"export.csv: row 5, column 'doc': found no cluster; "
            r"expected one for every item. Fill it in: .* Or leave the column out",
        ),
        ("i2,ben,no,  ", r"export.csv: row 5, column 'doc': found no cluster"),
        ("i3,ben,,", r"export.csv: row 5, column 'doc': found no cluster"),
        (
            "i2,ben,no,d9",
            r"export.csv: rows \[4, 5\], column 'doc': found item 'i2' in clusters "
            r"\['d2', 'd9'\]; expected one of each item. Correct",
        ),
    ],
)
def test_an_item_in_two_clusters_or_beside_others_in_none_is_refused(tmp_path, row, message):
    (tmp_path / "export.csv").write_text(
        f"item,rater,label,doc\ni1,ana,yes,d1\ni1,ben,yes,d1\ni2,ana,no,d2\n{row}\n"
    )
    with pytest.raises(RatingsError, match=message):
        read(tmp_path / "export.csv", Columns(cluster="doc"), scale=TWO)


@pytest.mark.parametrize("alike", ["Document 1", "document 1 ", "d\u043ecument 1"])
def test_clusters_that_print_alike_are_not_taken_for_several(tmp_path, alike):
    frame = documents(n=3, sentences=1)
    frame.loc[frame["item"] == "002-0", "cluster"] = alike
    frame.to_csv(tmp_path / "labels.csv", index=False)
    with pytest.raises(
        RatingsError,
        match=r"labels\.csv: .*column 'cluster'.*: found clusters .*, which print alike; "
        r"expected names that do not",
    ):
        read(tmp_path / "labels.csv", Columns(), scale=TWO)


def test_a_column_that_is_not_there_is_missed_by_name(tmp_path):
    documents(n=2).rename(columns={"cluster": "document_id"}).to_csv(
        tmp_path / "export.csv", index=False
    )
    with pytest.raises(
        RatingsError,
        match=r"found no column 'text_id' .* Did you mean cluster: 'document_id'\?",
    ):
        read(tmp_path / "export.csv", Columns(cluster="text_id"), scale=TWO)


def test_numbers_and_their_text_name_the_same_cluster():
    frame = documents(n=3)
    frame["cluster"] = [
        int(name.split()[-1]) if number % 2 else name.split()[-1]
        for number, name in enumerate(frame["cluster"])
    ]
    assert ratings(frame).cluster_names == {"0", "1", "2"}


# The digest and the bytes


def test_clusters_survive_a_table_of_bytes_and_other_names_of_raters():
    found = ratings(documents(n=3))
    stored = ParquetRows(parquet_bytes(RatingsRows(found)))
    again = ratings_from_stored_cells(open_stored_cells(stored, "here"), TWO)
    assert again.items(["cluster"]).equals(found.items(["cluster"]))
    assert again.digest == found.digest == found.renamed({"r0": "zoe"}).digest
