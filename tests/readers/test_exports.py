"""Every tool's export of one project gives the project's own labels, without own code."""

import json
from dataclasses import replace
from functools import cache
from io import BytesIO, TextIOWrapper
from pathlib import Path
from shutil import make_archive

import pytest

from agreement_pipeline.cli import main
from agreement_pipeline.estimates import measure_ratings
from agreement_pipeline.intervals import Inference
from agreement_pipeline.ratings import CAPABILITIES, Scale
from agreement_pipeline.readers import READERS, load_rows, read, select_reader
from agreement_pipeline.readers.exports import Export
from tests.readers.conftest import frame_in
from tests.readers.exports_of_tools import (
    CASES,
    EXPECTED,
    expected_labels,
)

QUESTIONS = [
    (name, question)
    for name, case in CASES.items()
    for question in (case.questions if len(case.questions) > 1 else [case.columns.label])
]
SENTIMENT = Scale(("negative", "neutral", "positive"))
each_case = pytest.mark.parametrize("case", CASES.values(), ids=CASES)


def alpha(ratings, measure="krippendorff_alpha", scope="round"):
    (found,) = measure_ratings(ratings, [measure], Inference(n_resamples=100), scopes=(scope,))
    return round(found.value, 4)


@cache
def read_case(name, **rules):
    case = CASES[name]
    return read(case.file, case.columns, scale=SENTIMENT, rules=replace(case.rules, **rules))


@pytest.mark.parametrize(("name", "question"), QUESTIONS)
def test_the_labels_are_those_of_the_project(name, question):
    case = CASES[name]
    rows = load_rows(case.file, replace(case.columns, label=question), rules=case.rules)
    frame = frame_in(rows)
    people = frame[~frame["rater"].isin(rows.classifiers)]
    of = "sentiment" if len(case.questions) == 1 else question
    found = {
        (row.item, case.named(row.rater)): str(float(row.label)) if of == "severity" else row.label
        for row in people.itertuples()
    }
    assert found == expected_labels(case, of)
    assert len(found) == len(people)


@pytest.mark.parametrize(
    "name", [name for name, case in CASES.items() if len(case.items) == 8 and case.round]
)
def test_alpha_of_one_round_is_that_of_its_items(name):
    case = CASES[name]
    columns = replace(case.columns, round=case.round)
    found = read(case.file, columns, scale=SENTIMENT, rules=case.rules, round_name="2026-09")
    assert alpha(found) == EXPECTED["alpha_nominal_round_2026-09"] == 0.5


@pytest.mark.parametrize("name", ["label_studio", "label_studio_enterprise", "label_studio_csv"])
@pytest.mark.parametrize(
    ("question", "level", "expected"),
    [("quality", "ordinal", 0.6215), ("severity", "interval", 0.8888)],
)
def test_alpha_of_other_questions(name, question, level, expected):
    case = CASES[name]
    columns = replace(case.columns, label=question)
    assert alpha(read(case.file, columns, level=level, rules=case.rules)) == expected


@pytest.mark.parametrize(
    "name", ["label_studio", "argilla", "prodigy", "mturk", "labelbox", "doccano"]
)
def test_raters_agree_with_themselves_four_times_of_five(name):
    ratings = read_case(name, replicate_of="replicate_of")
    table = ratings.to_pandas()
    again = table[table["occurrence"] == 2].merge(
        table[table["occurrence"] == 1], on=["item", "rater"]
    )
    same = again["label_x"].astype(str) == again["label_y"].astype(str)
    assert (len(same), int(same.sum())) == (EXPECTED["intra_pairs"], EXPECTED["intra_agree"])
    by_rater = same.groupby(again["rater"].astype(str)).agg(["sum", "count"])
    case = CASES[name]
    found = {case.named(rater): list(row) for rater, row in by_rater.iterrows()}
    assert found == EXPECTED["intra_by_annotator"]


@pytest.mark.parametrize("name", ["label_studio", "argilla"])
def test_a_linked_replicate_counts_once_between_raters(name):
    assert alpha(read_case(name, replicate_of="replicate_of")) == 0.5


@pytest.mark.parametrize("name", ["label_studio", "argilla", "prodigy"])
def test_items_of_one_text_are_linked_alike(name):
    by_name = read_case(name, replicate_of="replicate_of")
    assert read_case(name, replicates_share="text").digest == by_name.digest


@pytest.mark.parametrize(
    "name", ["label_studio", "label_studio_enterprise", "argilla", "argilla_parquet"]
)
def test_the_model_equals_a_human_thirteen_times_of_seventeen(name):
    ratings = read_case(name)
    assert ratings.classifiers == ("sentiment-v1",)
    assert len(ratings.raters) == 3
    table = ratings.to_pandas().astype({"rater": str, "label": str})
    model = table[table["rater"] == "sentiment-v1"].set_index("item")["label"]
    people = table[(table["rater"] != "sentiment-v1") & table["item"].isin(model.index)]
    same = [
        model[item] == label for item, label in zip(people["item"], people["label"], strict=True)
    ]
    assert [sum(same), len(same)] == EXPECTED["model_vs_each_human_agree"]


@each_case
def test_one_reader_recognises_an_export(case):
    found = [each.name for each in READERS.values() if each.recognises(Export(case.file))]
    assert [name for name in found if name != "table"] == [select_reader(case.file).name]


@pytest.mark.parametrize(
    ("record", "reader"),
    [
        ({"item": "i1", "rater": "ana", "label": "a", "results": ["a", "b"]}, "table"),
        ({"item": "i1", "rater": "ana", "label": "a", "results": []}, "table"),
        ({"item": "i1", "rater": "ana", "label": "a", "data": "x", "info": "y"}, "table"),
        (
            {
                "id": 1,
                "annotations": [],
                "data": {"traceId": "t", "dataType": "NUMERIC", "source": "EVAL"},
            },
            "label_studio",
        ),
    ],
)
def test_a_field_with_the_name_of_another_tools_does_not_change_the_reader(
    record, reader, tmp_path
):
    path = tmp_path / "export.jsonl"
    path.write_text(json.dumps(record) + "\n")
    assert select_reader(path).name == reader


@each_case
def test_an_export_is_found_by_its_content_whatever_its_name(case, tmp_path):
    copy = tmp_path / "x"
    copy.symlink_to(case.file)
    assert select_reader(copy) is select_reader(case.file)


@pytest.mark.parametrize("name", ["doccano", "ground_truth", "cvat"])
def test_a_folder_may_come_as_one_zip_file(name, tmp_path):
    case = CASES[name]
    packed = make_archive(str(tmp_path / "round"), "zip", case.file)
    found = read(packed, case.columns, scale=SENTIMENT, rules=case.rules)
    assert alpha(found) == EXPECTED["alpha_nominal_all_records"]


def test_the_guide_lists_every_reader_and_what_it_lacks():
    page = (Path(__file__).parents[2] / "docs" / "guide" / "tools.md").read_text()
    for reader in (each for each in READERS.values() if each.submissions):
        (row,) = (line for line in page.splitlines() if f"| `{reader.name}` |" in line)
        said = row.split("|")[3].strip()
        shown = [name for name in CAPABILITIES if name in reader.shows]
        few = f"all but {' and '.join(shown)}"
        assert said in (", ".join(reader.lacks), few)


def test_an_export_of_a_tool_is_counted_as_any_table():
    case = CASES["prodigy"]
    found = read(case.file, case.columns, rules=case.rules)
    named = read(case.file, case.columns, rules=case.rules, engine="duckdb", memory_limit="300MB")
    assert (found.engine, found.digest) == ("duckdb", named.digest)


def test_the_command_line_reads_an_export_from_its_standard_input(monkeypatch, capsys):
    case = CASES["label_studio"]
    monkeypatch.setattr("sys.stdin", TextIOWrapper(BytesIO(case.file.read_bytes())))
    words = "measure - --item doc_id --label sentiment --all-rounds --scope round"
    assert main([*words.split(), "--measure", "krippendorff_alpha", "--n-resamples", "1000"]) == 0
    assert "0.3478" in capsys.readouterr().out


def test_the_storage_form_of_label_studio_is_the_export(tmp_path):
    """Its storage keeps a JSON file an annotation, without an ending, with the task inside."""
    case = CASES["label_studio"]
    for task in json.loads(case.file.read_text()):
        of_task = {name: task[name] for name in ("id", "data", "meta", "created_at", "project")}
        for annotation in task["annotations"]:
            place = tmp_path / str(annotation["id"])
            place.write_text(json.dumps({**annotation, "task": of_task}))
    found = read(tmp_path, case.columns, scale=SENTIMENT, rules=case.rules)
    assert found.origin.reader == "label_studio"
    assert found.origin.left_out == {"gold": 1, "skipped": 1}
    own = read_case("label_studio").to_pandas().astype({"rater": str})
    own = own[own["rater"] != "sentiment-v1"]
    columns = ["item", "rater", "label"]
    assert (
        found.to_pandas()[columns].astype(str).values.tolist()
        == own[columns].astype(str).values.tolist()
    )
    assert alpha(found) == EXPECTED["alpha_nominal_all_records"]


def test_an_older_doccano_wrote_no_comments(tmp_path):
    case = CASES["doccano"]
    for file in case.file.iterdir():
        rows = [json.loads(line) for line in file.read_text().splitlines()]
        assert all(row.pop("Comments") == [] for row in rows)
        (tmp_path / file.name).write_text("\n".join(map(json.dumps, rows)))
    older = read(
        tmp_path, case.columns, scale=SENTIMENT, rules=replace(case.rules, reader="doccano")
    )
    assert older.digest == read(case.file, case.columns, scale=SENTIMENT, rules=case.rules).digest


def test_an_attribute_of_dataloop_with_several_values_is_a_set(tmp_path):
    for file in CASES["dataloop"].file.iterdir():
        item = json.loads(file.read_text())
        for number, each in enumerate(item["annotations"]):
            said = {"topics": ["b", "a"] if number else ["b"]}
            each.setdefault("metadata", {}).setdefault("system", {})["attributes"] = said
        (tmp_path / file.name).write_text(json.dumps(item))
    rows = load_rows(tmp_path, replace(CASES["dataloop"].columns, label="topics"))
    assert {*frame_in(rows)["label"]} == {"b", "a|b"}
