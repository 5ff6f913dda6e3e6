"""Labels of a release, as each program that the documentation names reads them."""

import duckdb
import pandas as pd
import polars as pl
import pyarrow.parquet as pq
import pytest

from agreement_pipeline import open_release
from agreement_pipeline.ratings import Ratings, Scale
from tests.release.rounds import RATERS, released

SCALES = {
    "ordinal numbers": (Scale((1, 2, 3, 4, 5), "ordinal"), (1, 2, 3, 4, 5)),
    "ordinal numbers from 0": (Scale((0, 1, 2), "ordinal"), (0, 1, 2)),
    "ordinal words": (Scale(("low", "middle", "high"), "ordinal"), ("low", "middle", "high")),
    "halves": (Scale((1, 1.5, 2), "ordinal"), (1.0, 1.5, 2.0)),
    "nominal codes": (Scale((10, 20, 30)), (10, 20, 30)),
    "booleans": (Scale((False, True)), (False, True)),
    "words": (Scale(("yes", "no", "a, b")), ("yes", "no", "a, b")),
    "numbers as names": (Scale(("007", "7")), ("007", "7")),
    "interval": (Scale((1, 2, 3, 4), "interval"), (1.0, 2.0, 3.0, 4.0)),
    "continuous": (Scale(None, "ratio"), (0.25, 17.0, 62.5)),
}
READERS = ("pandas", "polars", "duckdb", "pyarrow", "spark", "datasets", "open_release")


@pytest.fixture(params=SCALES)
def labelled(request, store, original):
    """A release in which three raters agree on each of 60 items, and the label of each item."""
    scale, values = SCALES[request.param]
    label_by_item = {f"i{n:02}": values[n % len(values)] for n in range(60)}
    rows = [(item, rater, label) for item, label in label_by_item.items() for rater in RATERS]
    # as object, or pandas would make floats of whole numbers beside halves
    frame = pd.DataFrame(rows, columns=["item", "rater", "label"]).astype({"label": object})
    store.ingest("r1", Ratings.from_frame(frame, scale), original)
    return released(store), scale, label_by_item


@pytest.fixture(params=READERS)
def read(request, tmp_path, monkeypatch):
    """A function from the path of a Parquet file to its rows."""
    if request.param == "spark":
        spark = request.getfixturevalue("spark")
        return lambda path: [row.asDict() for row in spark.read.parquet(path).collect()]
    if request.param == "datasets":
        monkeypatch.setenv("HF_HUB_OFFLINE", "1")
        load_dataset = pytest.importorskip("datasets").load_dataset
        options = {"split": "train", "cache_dir": str(tmp_path / "cache")}
        return lambda path: list(load_dataset("parquet", data_files=path, **options))
    return {
        "pandas": lambda path: pd.read_parquet(path).to_dict("records"),
        "polars": lambda path: pl.read_parquet(path).to_dicts(),
        "duckdb": lambda path: duckdb.read_parquet(path).df().to_dict("records"),
        "pyarrow": lambda path: pq.read_table(path).to_pylist(),
        "open_release": lambda path: open_release(path[: path.index("/data/")]).train.to_dict(
            "records"
        ),
    }[request.param]


def test_every_reader_gives_the_label_that_raters_gave(labelled, read):
    release, scale, label_by_item = labelled
    values = list(dict.fromkeys(label_by_item.values()))  # in the order of the scale
    rows = read(str(release.path / "data/train-00000-of-00001.parquet"))
    labels = {row["id"]: row["label"] for row in rows}
    assert labels == label_by_item
    kinds = {type(label) for label in label_by_item.values()}
    assert {type(label) for label in labels.values()} == kinds
    if scale.numeric:
        assert all("label_id" not in row for row in rows)
    else:
        for row in rows:
            assert row["label_id"] == values.index(label_by_item[row["id"]])


def test_annotations_hold_labels_as_the_training_table_does(labelled):
    release, _, label_by_item = labelled
    train = pq.read_table(release.path / "data/train-00000-of-00001.parquet")
    annotations = pq.read_table(release.path / "annotations/train-00000-of-00001.parquet")
    assert annotations.schema.field("label").type == train.schema.field("label").type
    for row in annotations.to_pylist():
        assert row["label"] == label_by_item[row["item"]]
    assert open_release(str(release.path)).ratings["r1"].digest == release.ratings["r1"].digest
