"""Data sets that Hugging Face's library saved on disk."""

import json

import pandas as pd
import pytest

from agreement_pipeline.errors import RatingsError
from agreement_pipeline.ratings import Scale
from agreement_pipeline.readers import Columns, Rules, load_rows, read, read_rounds
from tests.readers.conftest import frame_in

ROWS = [
    (f"i{n}", rater, (n + (rater == "ben")) % 3, "ab"[n % 2])
    for n in range(4)
    for rater in ("ana", "ben")
]
NAMES = ["no", "yes", "maybe"]
FRAME = pd.DataFrame(ROWS, columns=["item", "rater", "label", "week"])
NAMED = FRAME.assign(label=FRAME["label"].map(dict(enumerate(NAMES))))


@pytest.fixture(scope="module")
def library():
    return pytest.importorskip("datasets")


@pytest.fixture
def saved(library, tmp_path):
    kinds = {"item": library.Value("string"), "rater": library.Value("string")}
    features = {**kinds, "label": library.ClassLabel(names=NAMES), "week": library.Value("string")}

    def made(frame):
        return library.Dataset.from_pandas(frame, library.Features(features), preserve_index=False)

    made(FRAME).save_to_disk(tmp_path / "whole", num_shards=2)
    parts = {"train": made(FRAME[:4]), "test": made(FRAME[4:].reset_index(drop=True))}
    library.DatasetDict(parts).save_to_disk(tmp_path / "split")
    return tmp_path


@pytest.mark.parametrize("name", ["whole", "split"])
def test_a_data_set_is_the_table_with_the_names_of_its_labels(saved, name):
    rules = Rules(all_rounds=True)
    found = read(saved / name, rules=rules)
    assert found.digest == read(NAMED).digest
    assert found.origin.reader == "hugging_face"
    assert found.engine == "duckdb"


def test_a_split_may_be_chosen(saved):
    rows = load_rows(saved / "split", rules=Rules(where={"split": ("train",)}))
    assert frame_in(rows)["label"].tolist() == NAMED["label"][:4].tolist()
    assert rows.origin.left_out == {"where split": 4}


def test_its_rounds_are_named_by_a_column(saved):
    assert read_rounds(saved / "whole", Columns(round="week")) == ("a", "b")


def test_a_label_of_minus_one_is_none(library, tmp_path):
    features = library.Features(
        {"item": library.Value("string"), "rater": library.Value("string")}
        | {"label": library.ClassLabel(names=NAMES)}
    )
    columns = {"item": ["i", "i", "j"], "rater": ["ana", "ben", "ana"], "label": [0, 1, -1]}
    library.Dataset.from_dict(columns, features).save_to_disk(tmp_path / "d")
    assert frame_in(load_rows(tmp_path / "d"))["label"].isna().tolist() == [False, False, True]


def test_a_parquet_file_of_the_library_is_the_table_with_the_names_of_its_labels(library, tmp_path):
    features = library.Features(
        {name: library.Value("string") for name in ("item", "rater", "week")}
        | {"label": library.ClassLabel(names=NAMES)}
    )
    made = library.Dataset.from_pandas(FRAME[[*features]], features, preserve_index=False)
    made.to_parquet(tmp_path / "x.parquet")
    assert read(tmp_path / "x.parquet").digest == read(NAMED).digest


def test_an_arrow_file_that_is_gone_is_missed(saved):
    next((saved / "whole").glob("*.arrow")).unlink()
    with pytest.raises(RatingsError, match="whole: found no whole data set"):
        read(saved / "whole")


def test_a_label_that_is_described_and_not_there_is_passed_over(saved):
    path = saved / "whole" / "dataset_info.json"
    info = json.loads(path.read_text())
    info["features"]["mood"] = info["features"]["label"]
    path.write_text(json.dumps(info))
    assert frame_in(load_rows(saved / "whole"))["label"].tolist() == NAMED["label"].tolist()


def test_missing_numbers_and_lists_of_labels_are_what_was_saved(library, tmp_path):
    columns = {"item": ["i", "i", "j", "j"], "rater": ["ana", "ben"] * 2}
    numbers = {**columns, "label": [1.5, float("nan"), 2.0, 2.5]}
    library.Dataset.from_dict(numbers).save_to_disk(tmp_path / "numbers")
    found = read(tmp_path / "numbers", scale=Scale(None, "interval")).to_pandas()
    assert [*zip(found["item"], found["rater"], found["label"], strict=True)] == [
        ("i", "ana", 1.5),
        ("j", "ana", 2.0),
        ("j", "ben", 2.5),
    ]
    value, named = library.Value("string"), library.ClassLabel(names=NAMES)
    features = library.Features({"item": value, "rater": value, "label": [named]})
    lists = {**columns, "label": [[0, 1], [1], [0], [2]]}
    library.Dataset.from_dict(lists, features).save_to_disk(tmp_path / "lists")
    labels = read(tmp_path / "lists").to_pandas()["label"].tolist()
    assert labels == ["no|yes", "yes", "no", "maybe"]
