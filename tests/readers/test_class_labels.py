"""Labels that Hugging Face's library stores as numbers of names."""

import json

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from agreement_pipeline.errors import RatingsError
from agreement_pipeline.readers import Columns, Rules, load_rows
from agreement_pipeline.readers.parquet import label_lookup_by_column
from tests.readers.exports_of_tools import EXPORTS

OLD = {"features": {"label": {"_type": "ClassLabel", "names": ["no", "yes", None]}}}
LISTS = {"features": {"label": {"feature": OLD["features"]["label"], "_type": "List"}}}
OF_OLD_VERSIONS = {"features": {"label": [OLD["features"]["label"]]}}


@pytest.mark.parametrize(
    ("number", "name"), [(0, "no"), (1.0, "yes"), (2, None), (-1, None), (float("nan"), None)]
)
def test_a_number_is_the_name_at_its_place(number, name):
    assert label_lookup_by_column(OLD, "x")["label"](number) == name


@pytest.mark.parametrize("info", [LISTS, OF_OLD_VERSIONS])
def test_a_list_of_numbers_is_a_list_of_names(info):
    assert label_lookup_by_column(info, "x")["label"]([1, 0, 2]) == ["yes", "no", None]
    assert label_lookup_by_column(info, "x")["label"](None) is None


@pytest.mark.parametrize("number", [3, -2, 0.5, "no", {}])
def test_what_is_no_number_of_a_name_is_refused(number):
    with pytest.raises(RatingsError, match=r"^x, label: found label .+; expected the number of"):
        label_lookup_by_column(OLD, "x")["label"](number)


def test_a_schema_that_says_nothing_of_labels_has_none():
    assert label_lookup_by_column(pa.schema([]), "x") == {}
    assert label_lookup_by_column(pa.schema([], metadata={b"pandas": b"{}"}), "x") == {}


def forged(folder, said):
    """An export of Argilla that says something else of its columns."""
    table = pq.read_table(EXPORTS / "argilla" / "client" / "to_datasets.parquet")
    pq.write_table(table.replace_schema_metadata({"huggingface": said}), folder / "x.parquet")
    return folder / "x.parquet"


def about(feature):
    return json.dumps({"info": {"features": {"sentiment.suggestion": feature}}})


@pytest.mark.parametrize(
    ("said", "words"),
    [
        ("{", "x.parquet: found a description of columns that is not readable"),
        (b"\xff", "x.parquet: found a description of columns that is not readable"),
        ("[" * 100_000, "x.parquet: found a description of columns that is not readable"),
        ("[3]", "x.parquet: found a description of columns that is not readable"),
        ('{"info": 3}', "x.parquet: found a description of columns that is not readable"),
        (about(3), "x.parquet: found a description of columns that is not readable"),
        (about([]), "x.parquet: found a description of columns that is not readable"),
        (about({"_type": "ClassLabel"}), "x.parquet: found a description of columns that is not"),
        (
            about({"_type": "ClassLabel", "names": 3}),
            "x.parquet: found a description of columns that is not readable",
        ),
        (
            about({"_type": "ClassLabel", "names": ["positive"]}),
            "x.parquet, sentiment.suggestion: found label 1; expected the number of one of 1 names",
        ),
    ],
)
def test_a_forged_description_is_refused(said, words, tmp_path):
    rules = Rules(reader="argilla", all_rounds=True)
    with pytest.raises(RatingsError) as refused:
        load_rows(forged(tmp_path, said), Columns(label="sentiment"), rules=rules)
    assert str(refused.value).startswith(words)


def test_a_column_that_is_described_and_not_there_is_passed_over(tmp_path):
    feature = {"_type": "ClassLabel", "names": ["positive", "negative", "neutral", None]}
    features = dict.fromkeys(("sentiment.suggestion", "mood.suggestion"), feature)
    path = forged(tmp_path, json.dumps({"info": {"features": features}}))
    found = load_rows(path, Columns(label="sentiment"), rules=Rules(all_rounds=True))
    assert found.classifiers == ("sentiment-v1",)
