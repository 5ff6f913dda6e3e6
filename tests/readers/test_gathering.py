"""The submissions of an export in a table of a session."""

import json
import re

import numpy as np
import pytest

from agreement_pipeline.engine import duckdb_session
from agreement_pipeline.errors import RatingsError
from agreement_pipeline.readers import LIMITS, Rules, json_files, submissions
from agreement_pipeline.readers.exports import ReadRequest
from agreement_pipeline.readers.json_files import read_json_objects
from agreement_pipeline.readers.rows import Submission
from agreement_pipeline.readers.rules import RULES
from agreement_pipeline.readers.submissions import (
    SubmissionTable,
    Tool,
)
from tests.readers.conftest import frame_in

FIELDS = {"text": "é", "Text": "😀", "few": "x"}


def submission(number, values=None, **told):
    values = {"q": "ab"[number % 2]} if values is None else values
    return Submission(f"i{number}", "ana", values, f"record {number}", **told)


def cells(submissions, fields=(), **options):
    """The rows of a gathered table, in their order."""
    found = SubmissionTable(
        submissions, None, fields, "x", LIMITS, duckdb_session(), omits_none=False, **options
    )
    return found.rows.relation.query(f"SELECT * FROM {found.rows} ORDER BY nth").to_pylist()


@pytest.mark.parametrize("at_once", [1, 7, 100, 1000])
def test_it_does_not_matter_how_many_rows_are_kept_at_once(monkeypatch, at_once):
    monkeypatch.setattr(submissions, "BATCH_ROWS", at_once)
    said = [
        submission(n, seconds=None if n % 3 else n / 2, assisted=(None, True, False)[n % 3])
        for n in range(100)
    ]
    found = cells(said)
    for name in ("item", "rater", "status", "kind", "seconds", "assisted", "record"):
        assert [row[name] for row in found] == [getattr(each, name) for each in said]
    assert [row["label"] for row in found] == [each.values["q"] for each in said]
    assert [row["nth"] for row in found] == list(range(100))


def test_few_letters_are_kept_at_once(monkeypatch):
    monkeypatch.setattr(submissions, "BATCH_LETTERS", 100)
    texts = ["word " * n for n in range(1, 50)]
    said = [submission(n, fields={"text": text}) for n, text in enumerate(texts)]
    assert [row["field0"] for row in cells(said, ["text"])] == texts


def test_fields_whose_names_differ_in_capital_letters_stay_apart():
    (row,) = cells([submission(0, fields=FIELDS)], FIELDS)
    assert [row[f"field{n}"] for n in range(3)] == list(FIELDS.values())


def test_an_export_without_a_submission_is_a_table_without_rows():
    assert cells([]) == []


def test_half_a_character_is_refused_and_shown():
    with pytest.raises(RatingsError, match=r"half a character \(\\ud800\) in 'to \?day'"):
        cells([submission(0, {"q": "to \ud800day"})])


def test_half_a_character_in_a_json_export_names_the_record(tmp_path):
    path = tmp_path / "export.json"
    path.write_text(r'[{"a": "\ud83d\ude00"}, {"a": ["to \uD800day"]}]')
    with pytest.raises(RatingsError, match=r"^export\.json: record 2: found half a character"):
        list(read_json_objects(path))


def test_a_name_that_stands_twice_in_a_json_export_is_refused(tmp_path):
    path = tmp_path / "export.json"
    path.write_text('[{"a": 1, "b": {"a": 2}}, {"b": [{"label": "yes", "label": "no"}]}]')
    with pytest.raises(RatingsError, match=r"^export\.json: record 2: found column 'label' twice"):
        list(read_json_objects(path))


@pytest.mark.parametrize(
    "text",
    [
        '[{"a": 1}, {"a": [2, {"b": 3}]}, {"a": "x"}]',
        '[{"a": 1} , {"a": 2}\n,{"a": 3}\t,\n{"a": 4}\n]\n',
        '[\n  {"a": 1}\n  ,\n  {"a": 2}\n]',
        '{"a": 1}\n{"a": 2} {"a": 3}\n\n{"a": 4}',
        "[]",
    ],
)
def test_all_records_are_read_wherever_a_block_ends(tmp_path, monkeypatch, text):
    path = tmp_path / "export.json"
    path.write_text(text)
    many = re.sub(r"}\s*{", "},{", text)
    expected = json.loads(many if text.startswith("[") else f"[{many}]")
    for at_once in range(1, 70):
        monkeypatch.setattr(json_files, "CHUNK_CHARACTERS", at_once)
        found = [record for _, record in read_json_objects(path)]
        assert found == expected, f"blocks of {at_once} letters"


@pytest.mark.parametrize("said", ["high", [1], 10**400])
def test_a_number_that_is_none_names_its_record(said):
    with pytest.raises(RatingsError, match=r"^x: record 1: found confidence .*; expected a number"):
        cells([submission(0, confidence=None), submission(1, confidence=said)])


@pytest.fixture
def exported(tmp_path):
    """A function that makes rows of submissions as a tool's export."""

    def made(said, rules=RULES):
        alike = Tool("t", "T", bool, lambda _: iter(said))
        return alike.read_rows(tmp_path, ReadRequest(rules=rules))

    return made


def test_the_first_and_the_last_label_are_those_of_a_slow_loop(exported):
    rng = np.random.default_rng(1)
    times = [None, *(f"2026-09-0{n}T00:00:00.000000Z" for n in (1, 2, 3))]
    said = [
        Submission(
            str(rng.choice(["i", "j", "k"])),
            str(rng.choice(["ana", "ben"])),
            {"q": f"l{n}"},
            f"r{n}",
            created=times[rng.integers(4)],
            updated=times[rng.integers(4)],
        )
        for n in range(60)
    ]
    first, last = {}, {}
    for at, each in enumerate(said):
        key, found = (each.item, each.rater), (each.updated or each.created or "", at)
        first[key] = min(first.get(key, found), found)
        last[key] = max(last.get(key, found), found)
    rows = exported(said)
    found = frame_in(rows)
    keys = list(zip(found["item"], found["rater"], strict=True))
    assert list(found["label"]) == [f"l{first[key][1]}" for key in keys]
    assert list(found["last_label"]) == [f"l{last[key][1]}" for key in keys]
    assert rows.left_out == {("", "superseded"): 60 - len(first)}


def test_the_last_submission_of_a_model_counts(exported):
    said = [
        Submission("i", rater, {"q": label}, f"{rater} {label}", kind=kind)
        for rater, kind in (("ana", "human"), ("gpt", "model"))
        for label in ("yes", "no")
    ]
    found = frame_in(exported(said)).set_index("rater")
    assert found["label"].to_dict() == {"ana": "yes", "gpt": "no"}
    assert found["last_label"].notna().to_dict() == {"ana": True, "gpt": False}


def test_rules_do_not_read_fields_that_differ_in_capital_letters_only(exported):
    rules = Rules(where={"text": ("é",)}, strata=("Text",))
    with pytest.raises(RatingsError, match=r"found fields \['text', 'Text'\], which differ in"):
        exported([submission(0, fields=FIELDS)], rules=rules)
