"""Exports that the tools' own packages wrote: `tools/round_trips/` writes them again."""

import json

import pytest

from agreement_pipeline.errors import RatingsError
from agreement_pipeline.readers import Columns, Rules, load_rows, read, read_marked
from tests.readers.conftest import frame_in
from tests.readers.exports_of_tools import ALL_ROUNDS, CASES, EXPORTS, WRONG
from tests.readers.test_exports import SENTIMENT, alpha

NO_WORD = Rules(all_rounds=True, requires=())
CONTROLS = {
    "sentiment": {("1", "11"): "positive", ("1", "12"): "neutral", ("2", "11"): "negative"},
    "topics": {
        ("1", "11"): "price|service",
        ("1", "12"): "|",
        ("2", "11"): "delivery",
        ("2", "12"): "|",
    },
    "quality": {("1", "11"): "5", ("1", "12"): "4", ("2", "11"): "1"},
    "severity": {("1", "11"): "0.5", ("1", "12"): "10", ("2", "11"): "90"},
    "kind": {
        ("1", "11"): "complaint|praise > of staff",
        ("1", "12"): "praise > of goods",
        ("2", "11"): "complaint",
        ("2", "12"): "|",
    },
    "bought": {("1", "11"): "2026-01-02", ("1", "12"): "2026-01-03", ("2", "11"): "2026-01-02"},
}
"""What raters said, as `SAID` in `tools/round_trips/label_studio.py` has it."""
JSON_AND_TABLES = [".json", ".csv", ".tsv", "_json_min.json"]


def labels_in(path, question, columns=None):
    rows = load_rows(path, columns or Columns(label=question), rules=NO_WORD)
    assert rows.classifiers == ()
    found = [((row.item, row.rater), row.label) for row in frame_in(rows).itertuples()]
    assert len(dict(found)) == len(found)
    return dict(found)


@pytest.mark.parametrize("question", CONTROLS)
@pytest.mark.parametrize("ending", JSON_AND_TABLES)
def test_each_control_of_label_studio_is_read_alike_from_json_and_from_its_tables(ending, question):
    path = EXPORTS / "label_studio" / f"every_control{ending}"
    assert labels_in(path, question) == CONTROLS[question]


ARGILLA = EXPORTS / "argilla"
CLIENT = ARGILLA / "client"
FORMS = ["to_list_flat.json", "to_datasets.parquet", "to_datasets"]
"""What shows all that Argilla's client gets from its server, but times."""
MODEL = {"doc-001": "positive", "doc-002": "negative", "doc-003": "neutral"} | {
    "doc-004": "positive",
    "doc-005": "negative",
    "doc-006": "neutral",
}
"""What `sentiment-v1` says in the page of records that the client was given."""


def of_client(name, question="sentiment", rules=NO_WORD):
    return load_rows(CLIENT / name, Columns(label=question), rules=rules)


def without_models(rows):
    frame = frame_in(rows)[~frame_in(rows)["rater"].isin(rows.classifiers)]
    return [tuple(row) for row in frame[["item", "rater", "label"]].astype(str).values]


@pytest.mark.parametrize("question", ["sentiment", "quality", "topics"])
@pytest.mark.parametrize("name", FORMS)
def test_what_the_client_of_argilla_writes_is_what_its_server_told_it(name, question):
    found = of_client(name, question)
    told = load_rows(
        ARGILLA / "argilla_rest_records.json", Columns(label=question), rules=ALL_ROUNDS
    )
    assert without_models(found) == without_models(told)
    assert told.origin.left_out == {"draft": 1, "skipped": 1}
    assert told.origin.left_out.items() <= found.origin.left_out.items()


@pytest.mark.parametrize("name", [*FORMS, "to_json.json"])
def test_a_suggestion_has_the_name_of_its_label_whatever_the_client_wrote(name):
    found = of_client(name)
    assert found.classifiers == ("sentiment-v1",)
    model = frame_in(found)[frame_in(found)["rater"] == "sentiment-v1"]
    assert dict(zip(model["item"], model["label"], strict=True)) == MODEL
    assert of_client(name, "quality").classifiers == ()


def test_nested_records_of_the_client_tell_no_status_so_a_draft_looks_submitted(refusal):
    path = CLIENT / "to_json.json"
    assert "cannot show ['drafts']" in refusal(path, Columns(label="sentiment"), rules=ALL_ROUNDS)
    found = read(path, Columns(label="sentiment"), scale=SENTIMENT, rules=NO_WORD)
    assert alpha(found) == WRONG["Argilla records.to_json (draft + discarded look submitted)"]


def test_nested_records_that_the_client_imports_again_are_drafts():
    found = of_client("from_json_flat.json")
    assert found.origin.left_out == {"draft": 24}
    assert set(frame_in(found)["rater"]) == {"sentiment-v1"}


@pytest.mark.parametrize(
    ("name", "words"),
    [
        ("to_dict.json", "record 1: found a list of ids, as to_dict writes it"),
        ("to_dict_flat.json", "record 1: found a list of ids, as to_dict writes it"),
        ("to_datasets.csv", "row 2: found a text of several users, as CSV has it"),
        ("to_datasets.jsonl", "record 1: found 0 as a suggestion, and texts as the responses"),
    ],
)
def test_a_form_that_loses_what_is_needed_is_refused(name, words, refusal):
    said = refusal(CLIENT / name, Columns(label="sentiment"), rules=NO_WORD)
    assert said.startswith(f"{name}: {words}")


@pytest.mark.parametrize("status", [None, "finished"])
def test_a_response_without_a_known_status_is_refused(status, tmp_path, refusal):
    records = json.loads((CLIENT / "to_list_flat.json").read_text())
    records[1]["sentiment.responses.status"][0] = status
    records[1]["quality.responses.status"][0] = status
    records[1]["topics.responses.status"][0] = status
    (tmp_path / "x.json").write_text(json.dumps(records))
    said = refusal(tmp_path / "x.json", Columns(label="sentiment"), rules=NO_WORD)
    assert said.startswith(f"x.json: record 2, user {CASES['argilla'].names[0]}: found status ")
    assert "expected one of ['submitted', 'discarded', 'draft', 'pending']" in said


RANKS = {
    ("doc-001", "1"): ("x", "y", "z"),
    ("doc-001", "2"): ("x", "z", "y"),
    ("doc-002", "1"): ("z", "y", "x"),
    ("doc-002", "2"): ("z", "y", "x"),
    ("doc-003", "1"): ("y", "x", "z"),
    ("doc-003", "2"): ("xy", "z"),
}
"""What raters ranked, from the first to the last. Two letters are a tie."""


def test_ranks_are_read_from_the_page_of_the_server():
    path = ARGILLA / "rankings_rest_records.json"
    found = read_marked(path, "rankings", Columns(label="order"), rules=NO_WORD)
    orders = {
        (each.item, each.rater[0]): tuple("".join(sorted(tie)) for tie in ranking.groups)
        for each in found
        for ranking in each.objects
    }
    assert orders == RANKS


@pytest.mark.parametrize("question", ["topics", "order"])
def test_a_page_of_the_server_without_rankings_is_not_told_to_be_one(question):
    path = ARGILLA / "argilla_rest_records.json"
    with pytest.raises(RatingsError, match=f"found no question '{question}' among"):
        read_marked(path, "rankings", Columns(label=question), rules=NO_WORD)


@pytest.mark.parametrize("name", ["rankings.json", "rankings_flat.json"])
def test_rankings_of_which_the_client_left_out_the_ranks_are_refused(name):
    with pytest.raises(RatingsError) as refused:
        read_marked(CLIENT / name, "rankings", Columns(label="order"), rules=NO_WORD)
    assert "found answers without ranks, as Argilla's package writes rankings" in str(refused.value)
    assert "Read the records of the REST interface." in str(refused.value)
