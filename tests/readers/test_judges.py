"""The tables of judges' answers that evaluation tools write."""

import hashlib
import json

import pytest

from agreement_pipeline.errors import RatingsError
from agreement_pipeline.readers import (
    READERS,
    Columns,
    Export,
    Rules,
    load_rows,
    read,
    unpack_for_reading,
)
from tests.readers import judges
from tests.readers.conftest import frame_in
from tests.readers.judges import SAID

CASES = {
    "mlflow_traces": (judges.mlflow_traces, "correct", "mlflow_traces", {"m"}),
    "mlflow_tables": (judges.mlflow_tables, "correct/v1", "mlflow_tables", set()),
    "langfuse": (judges.langfuse, "correct", "langfuse", {"EVAL"}),
    "langfuse_export": (judges.langfuse_export, "correct", "langfuse", {"EVAL"}),
    "inspect_json": (judges.inspect_json, "score", "inspect_ai", set()),
    "inspect_eval": (judges.inspect_eval, "score", "inspect_ai", set()),
    "promptfoo": (judges.promptfoo, "pass", "promptfoo", set()),
}
YES = {"True", "true", "1", "C", "pass"}
each_case = pytest.mark.parametrize("case", CASES)


@pytest.fixture
def export(tmp_path):
    def made(case):
        write, question, reader, models = CASES[case]
        return write(tmp_path), question, reader, models

    return made


@each_case
def test_the_format_is_found_by_its_content(export, case):
    path, _, reader, _ = export(case)
    with unpack_for_reading(path) as place:
        found = [name for name, each in READERS.items() if each.recognises(Export(place))]
    assert [name for name in found if name != "table"] == [reader]


@each_case
def test_every_judge_said_what_the_tool_wrote(export, case):
    path, question, _, models = export(case)
    rows = load_rows(path, Columns(label=question))
    said = {}
    for row in frame_in(rows).itertuples():
        said.setdefault(row.rater, {})[row.item] = row.label in YES
    in_order = {
        rater: tuple(answers[item] for item in sorted(answers)) for rater, answers in said.items()
    }
    expected = {
        next(iter(models), "m") if name == "m" else name: answers for name, answers in SAID.items()
    }
    assert in_order == expected
    assert set(rows.classifiers) == models


@each_case
def test_it_shows_what_its_reader_says_and_no_more(export, case):
    path, question, reader, _ = export(case)
    origin = load_rows(path, Columns(label=question)).origin
    assert origin.reader == reader
    assert {*origin.shows} == READERS[reader].shows
    assert "drafts" in origin.missing_capabilities()
    with pytest.raises(RatingsError, match=r"cannot show \['drafts'\]"):
        load_rows(path, Columns(label=question), rules=Rules(requires=("drafts",)))


def test_what_mlflow_expects_is_a_known_answer_and_no_rating(export):
    path, *_ = export("mlflow_traces")
    rows = load_rows(path)
    assert "lead" not in set(frame_in(rows)["rater"])
    assert rows.origin.left_out == {"gold": 3}


def test_a_judge_that_failed_gave_no_answer(tmp_path):
    path = judges.mlflow_traces(tmp_path)
    traces = json.loads(path.read_text())
    failed = traces[0]["info"]["assessments"][2]
    failed["feedback"] = {"error": {"error_code": "RATE_LIMIT_EXCEEDED"}}
    path.write_text(json.dumps(traces))
    assert load_rows(path).origin.left_out == {"gold": 3, "no answer": 1}


def test_scorers_that_are_models_are_named_by_the_project(export):
    path, *_ = export("inspect_json")
    ratings = read(path, classifiers=["m"])
    assert (ratings.raters, ratings.classifiers) == (("ana", "ben"), ("m",))


def test_two_epochs_of_inspect_are_two_outputs(tmp_path):
    path = judges.inspect_json(tmp_path)
    log = json.loads(path.read_text())
    log["samples"] += [{**each, "epoch": 2} for each in log["samples"]]
    path.write_text(json.dumps(log))
    assert frame_in(load_rows(path))["item"].nunique() == 6


def test_two_spans_of_a_trace_are_two_items(tmp_path):
    """Else a judge's later answer on one span would take the place of the answer on the other."""
    path = judges.mlflow_traces(tmp_path)
    traces = json.loads(path.read_text())
    said = traces[0]["info"]["assessments"]
    for each in said[:3]:
        each["span_id"] = "s1"
    said += [{**each, "span_id": "s2", "assessment_id": None} for each in said[:3]]
    path.write_text(json.dumps(traces))
    rows = load_rows(path)
    assert set(frame_in(rows)["item"]) == {"tr-0/s1", "tr-0/s2", "tr-1", "tr-2"}
    assert rows.origin.left_out == {"gold": 3}


@pytest.mark.parametrize(
    ("case", "change"),
    [
        ("inspect_json", lambda log: log["eval"].update(run_id="another")),
        ("promptfoo", lambda log: log.update(evalId="another")),
    ],
)
def test_outputs_of_two_runs_are_two_outputs(tmp_path, case, change):
    """A model that is asked again answers otherwise. No judge's answer may be lost or mixed."""
    write, question, *_ = CASES[case]
    path = write(tmp_path)
    log = json.loads(path.read_text())
    change(log)
    (tmp_path / "again.json").write_text(json.dumps(log))
    rows = load_rows(tmp_path, Columns(label=question))
    assert (frame_in(rows)["item"].nunique(), len(frame_in(rows))) == (6, 18)
    assert rows.origin.left_out == {}


def test_an_output_that_promptfoo_could_not_grade_is_counted(tmp_path):
    path = judges.promptfoo(tmp_path)
    said = json.loads(path.read_text())
    said["results"]["results"][0] |= {"error": "no connection", "gradingResult": None}
    path.write_text(json.dumps(said))
    rows = load_rows(path, Columns(label="pass"))
    assert (len(frame_in(rows)), rows.origin.left_out) == (6, {"no answer": 1})


def test_a_person_who_rated_in_promptfoo_is_a_rater(tmp_path):
    path = judges.promptfoo(tmp_path)
    said = json.loads(path.read_text())
    for each in said["results"]["results"]:
        parts = each["gradingResult"]["componentResults"]
        parts.append({"pass": True, "score": 1, "reason": "", "assertion": {"type": "human"}})
        parts.append({"pass": False, "score": 0, "reason": "", "assertion": {"type": "equals"}})
        parts.append({"pass": True, "score": 1, "reason": "", "assertion": {"type": "equals"}})
    path.write_text(json.dumps(said))
    found = set(frame_in(load_rows(path, Columns(label="pass")))["rater"])
    assert found == {*SAID, "human", "equals", "equals 2"}


def test_a_broken_part_of_a_log_is_named(tmp_path):
    (tmp_path / "samples").mkdir()
    (tmp_path / "header.json").write_text(json.dumps(judges.LOG))
    (tmp_path / "samples" / "1_epoch_1.json").write_text('{"id": 1,')
    with pytest.raises(RatingsError, match=r"samples/1_epoch_1\.json: record 1: found a file"):
        load_rows(tmp_path)


def test_a_score_that_lacks_a_field_is_refused_with_its_place(tmp_path):
    path = judges.langfuse(tmp_path)
    page = json.loads(path.read_text())
    del page["data"][4]["source"]
    path.write_text(json.dumps(page))
    with pytest.raises(RatingsError, match=r"scores\.json: record 1: found no 'source'"):
        load_rows(path)


def told(path, question, **how):
    """What the export says of the classifier m, and what the ratings keep of it."""
    ratings = read(path, Columns(label=question), classifiers=["m"], **how)
    return [dict(each) for each in ratings.origin.classifiers]


def sha(text):
    return hashlib.sha256(text.encode()).hexdigest()


def test_a_file_of_promptfoo_says_how_an_assertion_is_judged(tmp_path):
    path = judges.promptfoo(tmp_path)
    said = json.loads(path.read_text())
    usual = {"id": "openai:m-large", "config": {"temperature": 0, "apiKey": "secret"}}
    said["config"] = {"defaultTest": {"options": {"provider": usual, "rubricPrompt": "Is it?"}}}
    path.write_text(json.dumps(said))
    (found,) = told(path, "pass")
    assert found == {
        "name": "m",
        "model": "openai:m-large",
        "prompt_digest": sha("Is it?"),
        "rubric_digest": sha("right?"),
        "parameters": {"temperature": 0},
    }
    parts = said["results"]["results"][0]["gradingResult"]["componentResults"]
    parts[2]["assertion"] |= {"provider": "openai:m-small", "value": "wrong?"}
    path.write_text(json.dumps(said))
    both = told(path, "pass")
    assert [each["model"] for each in both] == ["openai:m-large", "openai:m-small"]
    assert not any("rubric_digest" in each for each in both)  # each item has its own


def test_an_assertion_that_no_model_answers_has_no_model(tmp_path):
    path = judges.promptfoo(tmp_path)
    said = json.loads(path.read_text())
    said["config"] = {"defaultTest": {"options": {"provider": "openai:m-large"}}}
    for each in said["results"]["results"]:
        each["gradingResult"]["componentResults"][2]["assertion"]["type"] = "contains"
    path.write_text(json.dumps(said))
    assert told(path, "pass") == [{"name": "m", "rubric_digest": sha("right?")}]


def test_a_log_of_inspect_says_how_a_scorer_judges(tmp_path):
    path = judges.inspect_json(tmp_path)
    said = json.loads(path.read_text())
    assert told(path, "score") == []
    said["eval"]["scorers"] = [{"name": "pkg/m", "options": {"template": "A", "instructions": "B"}}]
    grader = {"model": "openai/m-large", "config": {"temperature": 0.5, "max_connections": 9}}
    said["eval"]["model_roles"] = {"grader": grader}
    path.write_text(json.dumps(said))
    assert told(path, "score") == [
        {
            "name": "m",
            "model": "openai/m-large",
            "prompt_digest": sha("A\nB"),
            "parameters": {"temperature": 0.5},
        }
    ]


def test_a_judge_of_mlflow_is_named_after_its_model(tmp_path):
    path = judges.mlflow_traces(tmp_path)
    path.write_text(path.read_text().replace('"m"', '"openai:/m-large"'))
    ratings = read(path, Columns(label="correct"))
    assert ratings.classifiers == ("openai:/m-large",)
    named = {"name": "openai:/m-large", "model": "openai:/m-large"}
    assert [*ratings.origin.classifiers] == [named]


def test_nothing_is_kept_of_who_is_a_rater(tmp_path):
    path = judges.promptfoo(tmp_path)
    ratings = read(path, Columns(label="pass"), classifiers=["m"])
    assert {each["name"] for each in ratings.origin.classifiers} == {"m"}


def test_a_score_of_inspect_with_several_numbers_is_no_label(tmp_path):
    path = judges.inspect_json(tmp_path)
    whole = load_rows(path, Columns(label="score"))
    said = json.loads(path.read_text())
    scores = said["samples"][0]["scores"]
    scores[next(iter(scores))]["value"] = [0.5, 1]
    path.write_text(json.dumps(said))
    rows = load_rows(path, Columns(label="score"))
    assert len(frame_in(rows)) == len(frame_in(whole)) - 1
    assert rows.left_out.total() == whole.left_out.total() + 1


@pytest.mark.parametrize("scores", [None, {}])
def test_a_sample_of_inspect_without_scores_is_counted_as_no_answer(scores, tmp_path):
    path = judges.inspect_json(tmp_path)
    whole = load_rows(path, Columns(label="score"))
    said = json.loads(path.read_text())
    n_scores = len(said["samples"][0]["scores"])
    said["samples"][0]["scores"] = scores
    path.write_text(json.dumps(said))
    rows = load_rows(path, Columns(label="score"))
    assert len(frame_in(rows)) == len(frame_in(whole)) - n_scores
    assert rows.origin.left_out_in_words == "no answer 1"


def test_a_verdict_of_promptfoo_in_words_is_not_taken_for_passed(tmp_path, refusal):
    path = judges.promptfoo(tmp_path)
    said = json.loads(path.read_text())
    part = said["results"]["results"][0]["gradingResult"]["componentResults"][0]
    part["pass"] = "false"
    path.write_text(json.dumps(said))
    assert "found pass 'false'; expected true or false" in refusal(path, Columns(label="pass"))


def test_an_output_that_nobody_passed_or_failed_in_promptfoo_has_no_label(tmp_path):
    path = judges.promptfoo(tmp_path)
    whole = load_rows(path, Columns(label="pass"))
    said = json.loads(path.read_text())
    said["results"]["results"][0]["gradingResult"]["componentResults"][0]["pass"] = None
    path.write_text(json.dumps(said))
    rows = load_rows(path, Columns(label="pass"))
    assert len(frame_in(rows)) == len(frame_in(whole)) - 1
    assert rows.left_out.total() == whole.left_out.total() + 1


@pytest.mark.parametrize("source", ["annotation", "HUMAN", None, 7, ["EVAL"]])
def test_a_source_that_langfuse_never_writes_is_no_model(source, tmp_path, refusal):
    path = judges.langfuse(tmp_path)
    said = json.loads(path.read_text())
    said["data"][0]["source"] = source
    path.write_text(json.dumps(said))
    words = refusal(path, Columns(label="correct"))
    assert f"found the source {source!r}; expected one of ['ANNOTATION', 'API', 'EVAL']" in words


def test_a_judge_of_mlflow_had_another_name_before(tmp_path):
    path = judges.mlflow_traces(tmp_path)
    whole = load_rows(path, Columns(label="correct"))
    path.write_text(path.read_text().replace('"LLM_JUDGE"', '"AI_JUDGE"'))
    rows = load_rows(path, Columns(label="correct"))
    assert rows.classifiers == whole.classifiers == ("m",)
    assert frame_in(rows).equals(frame_in(whole))


def test_a_source_that_mlflow_does_not_know(tmp_path, refusal):
    path = judges.mlflow_traces(tmp_path)
    path.write_text(path.read_text().replace('"HUMAN"', '"SOURCE_TYPE_UNSPECIFIED"', 1))
    words = refusal(path, Columns(label="correct"))
    assert "found the source 'SOURCE_TYPE_UNSPECIFIED'; expected one of ['HUMAN', 'LLM_J" in words


ORIGINAL = {"value": "C", "answer": None, "provenance": None}
EDITED = {"value": "I", "provenance": {"author": "eva", "timestamp": "2026-09-02T09:05:00Z"}}


@pytest.mark.parametrize(
    ("history", "label"),
    [([], "I"), ([ORIGINAL, EDITED], "C"), ([EDITED], "I"), (None, "I")],
    ids=["none", "edited", "added by a person", "missing"],
)
def test_a_score_of_inspect_that_a_person_edited_is_as_its_scorer_gave_it(history, label, tmp_path):
    path = judges.inspect_json(tmp_path)
    said = json.loads(path.read_text())
    said["samples"][0]["scores"]["m"] = {"value": "I", "history": history}
    path.write_text(json.dumps(said))
    frame = frame_in(load_rows(path, Columns(label="score")))
    (found,) = frame[(frame["rater"] == "m") & frame["item"].str.endswith("/0/1")]["label"]
    assert found == label
