"""Readings of an export that give a plausible number and are wrong. None of them is made."""

import json
import re
from dataclasses import replace

import pandas as pd
import pytest

from agreement_pipeline.errors import ProjectError, RatingsError
from agreement_pipeline.ratings import Limits, Scale
from agreement_pipeline.readers import Columns, Rules, load_rows, read, read_answers
from tests.readers.conftest import frame_in
from tests.readers.exports_of_tools import ALL_ROUNDS, CASES, EXPORTS, WRONG
from tests.readers.test_exports import SENTIMENT, alpha, read_case

RIGHT = 0.3478
NO_WORD = Rules(all_rounds=True, requires=())


def changed(name, folder, change):
    """A copy of a JSON export with its records changed."""
    source = CASES[name].file
    records = json.loads(source.read_text())
    change(records)
    path = folder / source.name
    path.write_text(json.dumps(records))
    return path


def test_the_label_after_a_reviewers_fix_is_not_the_raters():
    wrong = WRONG["LSE, reading result after a reviewer's fix"]
    assert alpha(read_case("label_studio_enterprise")) == RIGHT != wrong


def test_the_label_before_a_fix_is_found_in_the_history_too(tmp_path):
    def without_reviews(tasks):
        for task in tasks:
            for annotation in task["annotations"]:
                for review in annotation["reviews"]:
                    del review["previous_annotation_history_result"]

    case = CASES["label_studio_enterprise"]
    path = changed("label_studio_enterprise", tmp_path, without_reviews)
    assert alpha(read(path, case.columns, scale=SENTIMENT, rules=case.rules)) == RIGHT


def test_a_fixed_label_without_its_history_is_refused_with_its_record(tmp_path, refusal):
    def without_history(tasks):
        for task in tasks:
            for annotation in task["annotations"]:
                annotation["reviews"], annotation["history"] = [], []

    path = changed("label_studio_enterprise", tmp_path, without_history)
    words = refusal(path, CASES["label_studio_enterprise"].columns, rules=ALL_ROUNDS)
    assert "record 4, annotation 511: found an answer that a reviewer changed" in words


def test_a_value_that_is_a_text_is_refused_and_not_read_as_no_answer(tmp_path, refusal):
    def as_text(tasks):
        tasks[1]["annotations"][0]["result"][0]["value"] = "positive"

    case = CASES["label_studio"]
    words = refusal(changed("label_studio", tmp_path, as_text), case.columns, rules=case.rules)
    assert re.search("record 2: found a value of another kind .*'str'", words)


@pytest.mark.parametrize("name", ["label_studio_csv", "label_studio_tsv", "label_studio_json_min"])
def test_a_table_of_label_studio_is_not_read_until_somebody_speaks_of_gold(name, refusal):
    case = CASES[name]
    words = refusal(case.file, case.columns, rules=ALL_ROUNDS)
    assert "which cannot show ['gold', 'reviews']" in words
    assert "name who gave the gold answers in exclude_raters" in words
    wrong = read(case.file, case.columns, scale=SENTIMENT, rules=NO_WORD)
    assert alpha(wrong) == WRONG["LS CSV, gold annotator 20 counted as a rater"]
    assert alpha(read_case(name)) == RIGHT


def test_a_table_without_a_history_is_not_read_until_somebody_speaks_of_reviews(refusal):
    path = CASES["label_studio_enterprise"].file.with_name("label_studio_enterprise_json_min.json")
    case = CASES["label_studio_csv_with_history"]
    words = refusal(path, case.columns, rules=ALL_ROUNDS)
    assert "reviews: the answer before a reviewer changed it" in words
    assert (
        "Without a column history, a reviewer's answer counts as the rater's: then export JSON."
        in words
    )
    wrong = read(path, case.columns, scale=SENTIMENT, rules=case.rules)
    assert alpha(wrong) == WRONG["LSE, reading result after a reviewer's fix"]
    assert alpha(read_case("label_studio_csv_with_history")) == RIGHT


def test_a_history_that_begins_with_a_fix_is_refused_with_its_row(tmp_path, refusal):
    case = CASES["label_studio_csv_with_history"]
    text = case.file.read_text().replace('""action"":""submitted""', '""action"":""accepted""')
    (tmp_path / "x.csv").write_text(text)
    words = refusal(tmp_path / "x.csv", case.columns, rules=case.rules)
    assert words.startswith("x.csv: row 12: found an answer that a reviewer changed, and no")


def test_a_history_that_is_cut_off_is_refused_with_its_row(tmp_path, refusal):
    case = CASES["label_studio_csv_with_history"]
    table = pd.read_csv(case.file, dtype=str, keep_default_na=False)
    table["history"] = table["history"].str[:40]
    table.to_csv(tmp_path / "x.csv", index=False)
    words = refusal(tmp_path / "x.csv", case.columns, rules=case.rules)
    assert re.match(r"x\.csv: row \d+: found a history that is not readable as JSON", words)


def test_the_gold_annotator_of_json_is_no_rater_and_is_counted():
    rows = load_rows(CASES["label_studio"].file, CASES["label_studio"].columns, rules=ALL_ROUNDS)
    assert "20" not in set(frame_in(rows)["rater"])
    assert rows.origin.left_out == {"gold": 1, "skipped": 1, "draft": 1}


def test_each_round_of_a_file_counts_what_it_leaves_out_itself():
    case = CASES["label_studio"]
    columns = replace(case.columns, round="round")
    left_out = {
        name: read(case.file, columns, round_name=name).origin.left_out
        for name in ("2026-09", "2026-10")
    }
    tasks = json.loads(case.file.read_text())
    for name, found in left_out.items():
        here = [task for task in tasks if task["data"]["round"] == name]
        work = [each for task in here for each in task["annotations"]]
        by_hand = {
            "draft": sum(len(task["drafts"]) for task in here),
            "gold": sum(each["ground_truth"] for each in work),
            "skipped": sum(each["was_cancelled"] for each in work),
        }
        assert found == {reason: count for reason, count in by_hand.items() if count}


def test_items_with_a_gold_answer_are_gold_if_the_project_says_so():
    case = CASES["label_studio"]
    columns = replace(case.columns, gold="gold")
    found = read(case.file, columns, scale=SENTIMENT, rules=case.rules)
    assert found.gold == {"doc-005"}


def test_records_of_argilla_without_status_are_not_read_until_somebody_speaks_of_drafts(refusal):
    path = EXPORTS / "argilla" / "argilla_records.json"
    columns = Columns(label="sentiment")
    assert "cannot show ['drafts']" in refusal(path, columns, rules=ALL_ROUNDS)
    wrong = read(path, columns, scale=SENTIMENT, rules=NO_WORD)
    assert alpha(wrong) == WRONG["Argilla records.to_json (draft + discarded look submitted)"]


def test_a_draft_and_a_discarded_record_do_not_count():
    found = read_answers(CASES["argilla"].file, "sentiment")
    by_status = found[found["kind"] == "human"].groupby("status")["label"].count()
    assert by_status.to_dict() == {"submitted": 22, "skipped": 1, "draft": 1}
    assert alpha(read_case("argilla")) == RIGHT


def test_a_replicate_of_prodigy_does_not_overwrite_its_original():
    wrong = WRONG["Prodigy grouped by _input_hash (replicates overwrite their originals)"]
    task_hash = read(CASES["prodigy"].file, rules=ALL_ROUNDS, scale=SENTIMENT)
    assert alpha(task_hash) == alpha(read_case("prodigy")) == RIGHT != wrong


def test_a_session_of_prodigy_is_no_rater_and_a_status_no_label():
    found = read_case("prodigy")
    assert found.raters == ("ana", "ben", "chi")
    assert set(found.to_pandas()["label"]) == {"positive", "neutral", "negative"}


@pytest.mark.parametrize(
    ("sessions", "raters"),
    [
        (["news-ana-eva", "news-mia-eva"], ["ana-eva", "mia-eva"]),
        (["a-1-ana", "a-1-ben", "b-ana", "b-ben"], ["ana", "ben", "ana", "ben"]),
        (["n-2026-09-02_10-00-00", "n-ana", "n-ben"], ["n-2026-09-02_10-00-00", "ana", "ben"]),
    ],
)
def test_two_people_whose_names_end_alike_stay_two(tmp_path, sessions, raters):
    path = tmp_path / "db.jsonl"
    lines = [
        {"_task_hash": 1, "answer": "accept", "accept": ["x"], "_annotator_id": each}
        for each in sessions
    ]
    path.write_text("\n".join(map(json.dumps, lines)))
    assert read_answers(path)["rater"].tolist() == raters


def test_nothing_ticked_in_doccano_is_no_category():
    wrong = WRONG["doccano, [] read as a fourth category"]
    assert alpha(read_case("doccano")) == RIGHT != wrong


def test_rejected_work_counts_unless_the_project_says_otherwise():
    wrong = WRONG["MTurk, Rejected rows dropped (agreement of those you paid, not of your raters)"]
    assert alpha(read_case("mturk")) == RIGHT
    assert alpha(read_case("mturk", rejected="left out")) == wrong


def test_the_reference_label_of_labelbox_is_no_rater():
    assert read_case("labelbox").raters == CASES["labelbox"].names


@pytest.mark.parametrize(
    ("path", "words"),
    [
        ("doccano/collaborative", "found the labels of all raters in one"),
        ("doccano/collaborative/all.jsonl", "found the labels of all raters in one"),
        ("ground_truth/manifests", "found consolidated labels, and no worker"),
        ("ground_truth/topics_output.manifest", "found consolidated labels, and no worker"),
    ],
)
def test_an_export_without_raters_is_refused(path, words, refusal):
    assert words in refusal(EXPORTS / path, rules=ALL_ROUNDS)


def test_tracks_of_a_video_of_cvat_are_not_passed_over(tmp_path, refusal):
    text = (EXPORTS / "cvat" / "job_13_chi_annotations.xml").read_text()
    track = '<track id="0" label="car"><box frame="0" xtl="1" ytl="1" xbr="5" ybr="5"/></track>'
    path = tmp_path / "job.xml"
    path.write_text(text.replace("</annotations>", f"{track}</annotations>"))
    words = refusal(path, Columns(item="stem", label="tag"))
    assert words.startswith("job.xml: found tracks of a video; expected images. Export the job")


def test_a_job_of_cvat_without_an_assignee_is_refused(tmp_path, refusal):
    text = (EXPORTS / "cvat" / "job_13_chi_annotations.xml").read_text()
    (tmp_path / "job.xml").write_text(text.replace("<assignee>chi</assignee>", ""))
    words = refusal(tmp_path / "job.xml", Columns(label="tag"))
    assert "job.xml: found no assignee of a job, so no rater" in words


def test_a_position_that_nobody_marked_is_no_category():
    found = read(EXPORTS / "inception" / "agreement_diagnosis.csv", level="nominal")
    assert set(found.scale.categories) == {"ACTOR", "OBJECT", "TIME"}
    assert len(found) == 7


def test_several_rounds_are_not_read_as_one_without_a_word(refusal):
    words = refusal(CASES["mturk"].file, CASES["mturk"].columns)
    assert "found 2 rounds, ['2026-09', '2026-10']; expected one" in words


def test_several_questions_are_not_guessed(refusal):
    words = refusal(CASES["label_studio"].file, Columns(item="doc_id"))
    assert "found 4 questions, ['sentiment', 'topics', 'quality', 'severity']" in words


def test_missing_and_skipped_and_none_of_them_are_three_things():
    case = CASES["label_studio"]
    rows = load_rows(case.file, replace(case.columns, label="topics"), rules=case.rules)
    frame = frame_in(rows)[~frame_in(rows)["rater"].isin(rows.classifiers)]
    ticked = frame.set_index(["item", "rater"])["label"]
    assert ticked["doc-003", "11"] == "|"
    assert ("doc-006", "13") not in ticked.index
    assert ("doc-008", "13") not in ticked.index
    found = read_answers(case.file, "topics", ["doc_id"])
    skipped = found[(found["doc_id"] == "doc-006") & (found["rater"] == "13")]
    assert skipped["status"].tolist() == ["skipped"]


def test_the_first_submission_of_a_person_counts_and_the_later_one_is_kept_beside_it(tmp_path):
    def again(tasks):
        first = tasks[0]["annotations"][0]
        later = json.loads(json.dumps(first)) | {"id": 9999, "updated_at": "2026-09-04T00:00:00Z"}
        later["result"][0]["value"]["choices"] = ["negative"]
        tasks[0]["annotations"].insert(0, later)

    case = CASES["label_studio"]
    rows = load_rows(changed("label_studio", tmp_path, again), case.columns, rules=case.rules)
    said = frame_in(rows).set_index(["item", "rater"]).loc["doc-001", "11"]
    assert (said["label"], said["last_label"]) == ("positive", "negative")
    assert said["changed_at"] == "2026-09-04T00:00:00.000000Z"
    assert rows.origin.left_out["superseded"] == 1


def test_deleted_users_are_distinct_unknowns(tmp_path):
    def deleted(records):
        for record in records["items"]:
            for response in record["responses"]:
                response["user_id"] = None

    path = changed("argilla_rest", tmp_path, deleted)
    found = read_answers(path, "sentiment")
    assert found["rater"].nunique() == len(found) == 24


def test_work_that_began_as_a_suggestion_says_so(tmp_path):
    def assisted(tasks):
        tasks[0]["annotations"][0]["parent_prediction"] = 9001
        tasks[1]["annotations"][0]["result"][0]["origin"] = "prediction-changed"
        tasks[2]["annotations"][0]["last_action"] = "propagated_annotation"

    found = read_answers(changed("label_studio", tmp_path, assisted), "sentiment")
    assert found["record"][found["assisted"] == True].tolist() == [  # noqa: E712
        "annotation 501",
        "annotation 504",
        "annotation 507",
    ]


@pytest.mark.parametrize("lacking", ["reviews", "assisted", "gold"])
def test_what_an_export_cannot_show_holds_the_round_if_it_is_required(lacking, refusal):
    case = CASES["mturk"]
    words = refusal(
        case.file, case.columns, rules=replace(ALL_ROUNDS, requires=("raters", lacking))
    )
    assert f"Mechanical Turk's batch results, which cannot show ['{lacking}']" in words


def test_a_requirement_of_a_table_is_met_by_a_column(tmp_path, refusal):
    path = tmp_path / "round.csv"
    path.write_text("item,rater,label,timestamp\ni,ana,x,1\ni,ben,y,2\n")
    assert read(path, rules=Rules(requires=("raters", "times"))).raters == ("ana", "ben")
    assert "cannot show ['drafts']" in refusal(path, rules=Rules(requires=("drafts",)))


def test_a_rater_to_leave_out_who_is_misspelt_is_refused():
    case = CASES["labelbox"]
    rules = replace(ALL_ROUNDS, exclude_raters=("ana@example.orgg",))
    with pytest.raises(RatingsError, match=r"Did you mean 'ana@example\.org'\?"):
        load_rows(case.file, case.columns, rules=rules)


BARS = [[["a|b"], ["a", "b"]], [["a", "b"], ["a|b"]], [["|"], ["a", "b"]]]


def ticked(folder, answers):
    """An export of Label Studio in which each rater ticked some choices of one item."""

    def annotation(number, choices):
        said = {"from_name": "topics", "type": "choices", "value": {"choices": choices}}
        return {"id": number, "completed_by": number, "result": [said]}

    made = [annotation(*each) for each in enumerate(answers, 1)]
    task = {"id": 1, "data": {"text": "t"}, "annotations": made}
    (folder / "x.json").write_text(json.dumps([task]))
    return folder / "x.json"


@pytest.mark.parametrize("answers", BARS)
def test_one_ticked_label_with_a_bar_is_no_set_beside_sets(answers, tmp_path, refusal):
    words = refusal(ticked(tmp_path, answers), Columns(label="topics"), rules=NO_WORD)
    number = 1 + [len(each) == 1 for each in answers].index(True)
    assert f"x.json: found {answers[number - 1]} in record 'annotation {number}'" in words
    assert "expected no empty label, and none with |, which stands between the labels" in words


@pytest.mark.parametrize("answers", [[["a", ""], ["a"]], [["", "a"], ["a", "b"]]])
def test_an_empty_label_is_no_member_of_a_set(answers, tmp_path, refusal):
    words = refusal(ticked(tmp_path, answers), Columns(label="topics"), rules=NO_WORD)
    assert "in record 'annotation 1'; expected no empty label, and none with |" in words


def test_a_choice_without_a_value_is_no_answer(tmp_path):
    path = ticked(tmp_path, [[""], ["a"], ["\u00a0"]])
    rows = load_rows(path, Columns(label="topics"), rules=NO_WORD)
    assert frame_in(rows)["label"].tolist() == ["a"]
    assert rows.origin.left_out == {"no answer": 2}


def test_one_ticked_label_with_a_bar_is_a_name_where_nobody_ticked_several(tmp_path):
    rows = load_rows(ticked(tmp_path, [["a|b"], ["a"]]), Columns(label="topics"), rules=NO_WORD)
    assert frame_in(rows)["label"].tolist() == ["a|b", "a"]


@pytest.mark.parametrize("ending", ["csv", "json"])
def test_a_label_with_a_bar_in_a_table_of_label_studio_is_no_set_beside_sets(ending, tmp_path):
    path = tmp_path / f"x.{ending}"
    several = {"choices": ["a", "b"]}
    table = pd.DataFrame({"annotation_id": [1, 2], "annotator": [1, 2], "lead_time": 1, "id": 1})
    if ending == "csv":
        table.assign(topics=["a|b", json.dumps(several)]).to_csv(path, index=False)
    else:
        table.assign(topics=["a|b", several]).to_json(path, orient="records")
    with pytest.raises(RatingsError, match=r"found \['a\|b'\] in record 'annotation 1'"):
        load_rows(path, Columns(label="topics"), rules=NO_WORD)


@pytest.mark.parametrize(
    "dialogue", ["Hello.", ["Hello.", "Yes?"], [{"role": "user"}], {"a": 1}, 3]
)
def test_a_field_of_the_item_that_is_called_history_is_no_history(dialogue, tmp_path):
    case = CASES["label_studio_json_min"]
    rows = [{**each, "history": dialogue} for each in json.loads(case.file.read_text())]
    (tmp_path / "x.json").write_text(json.dumps(rows))
    found = read(tmp_path / "x.json", case.columns, scale=SENTIMENT, rules=case.rules)
    assert alpha(found) == RIGHT


def test_the_rating_of_an_area_is_no_rating_of_the_item(tmp_path):
    case = CASES["label_studio_json_min"]
    rows = json.loads(case.file.read_text())
    rows[0]["quality"] = [{"x": 1, "y": 2, "width": 3, "height": 4, "rating": 4}]
    (tmp_path / "x.json").write_text(json.dumps(rows))
    columns = replace(case.columns, label="quality")
    whole = load_rows(case.file, columns, rules=case.rules).left_out.total()
    assert load_rows(tmp_path / "x.json", columns, rules=case.rules).left_out.total() == whole + 1


TURK = "HITId,AssignmentId,WorkerId,AssignmentStatus,"


@pytest.mark.parametrize(
    ("columns", "cells", "labels"),
    [
        ("Answer.claim.label", ["true", "false"], ["true", "false"]),
        ("Answer.q.v1.2,Answer.q.v1.3", ["true,false", "false,true"], ["v1.2", "v1.3"]),
        ("Answer.q.a,Answer.q.b", ["true,true", "false,true"], ["a|b", "b"]),
        ("Answer.taskAnswers", ['"[{""q"":{""label"":""x""}}]"', '"[{""q"":""y""}]"'], ["x", "y"]),
        (
            "Answer.taskAnswers",
            ['"[{""q"":{""a"":true,""b"":true}}]"', '"[{""q"":{""a"":false,""b"":true}}]"'],
            ["a|b", "b"],
        ),
        (
            "Answer.taskAnswers",
            ['"[{""q"":{""labels"":[""b"",""a""]}}]"', '"[{""q"":{""labels"":[]}}]"'],
            ["a|b", "|"],
        ),
        (
            "Answer.taskAnswers",
            ['"[{""q"":{""a"":{""on"":true}}}]"', '"[{""q"":""b""}]"'],
            ["a", "b"],
        ),
    ],
)
def test_every_answer_of_mechanical_turk_is_what_was_ticked(columns, cells, labels, tmp_path):
    lines = [f"h1,a{n},w{n},Approved,{cell}" for n, cell in enumerate(cells)]
    (tmp_path / "m.csv").write_text("\n".join([TURK + columns, *lines]))
    found = load_rows(tmp_path / "m.csv", rules=NO_WORD)
    assert frame_in(found)["label"].tolist() == labels


def test_a_radio_group_of_mechanical_turk_without_a_choice_is_no_answer(tmp_path):
    lines = ("h1,a1,w1,Approved,true,false", "h1,a2,w2,Approved,false,false")
    (tmp_path / "m.csv").write_text("\n".join([f"{TURK}Answer.q.a,Answer.q.b", *lines]))
    assert frame_in(load_rows(tmp_path / "m.csv", rules=NO_WORD))["label"].tolist() == ["a"]


def test_responses_of_workers_are_enough_for_ground_truth(tmp_path):
    answers = [
        {"workerId": name, "answerContent": {"q": {"yes": name == "w1", "no": name != "w1"}}}
        for name in ("w1", "w2")
    ]
    path = tmp_path / "worker-response" / "3" / "1.json"
    path.parent.mkdir(parents=True)
    path.write_text(json.dumps({"answers": answers}))
    found = frame_in(load_rows(tmp_path / "worker-response", rules=NO_WORD))
    assert [*zip(found["item"], found["rater"], found["label"], strict=True)] == [
        ("3", "w1", "yes"),
        ("3", "w2", "no"),
    ]


def test_a_model_has_another_name_than_any_rater(tmp_path, refusal):
    path = ticked(tmp_path, [["a"], ["b"]])
    (task,) = json.loads(path.read_text())
    task["predictions"] = [
        {"id": 5, "model_version": "2", "result": task["annotations"][0]["result"]}
    ]
    path.write_text(json.dumps([task]))
    words = refusal(path, Columns(label="topics"), rules=NO_WORD)
    assert "x.json: found ['2'] as a rater and as a model; expected different names" in words


def test_more_submissions_than_the_limit_are_refused(tmp_path, refusal):
    words = refusal(ticked(tmp_path, [["a"]] * 3), rules=NO_WORD, limits=Limits(rows=2))
    assert "x.json: found 3 submissions or more; expected at most 2" in words


@pytest.mark.parametrize(
    ("columns", "layout", "words"),
    [
        (Columns(), "wide", "found wide for .*x.json, the export of a tool; expected long"),
        (Columns(raters=("ana",)), "long", "found raters .*ana.*; expected them for a wide table"),
        (Columns(sheet="a"), "long", "found .*sheet.* for the reader label_studio; expected none"),
    ],
)
def test_how_a_table_is_written_is_not_said_of_an_export(columns, layout, words, tmp_path):
    rules = Rules(reader="label_studio", requires=())
    with pytest.raises(ProjectError, match=words):
        read(ticked(tmp_path, [["a"], ["b"]]), columns, layout=layout, rules=rules)


def test_a_plain_table_has_no_answers_of_a_tool(tmp_path):
    (tmp_path / "r.csv").write_text("item,rater,label\n1,ana,x\n")
    with pytest.raises(RatingsError, match=r"r\.csv: found a table of ratings; expected the exp"):
        read_answers(tmp_path / "r.csv")


@pytest.mark.parametrize(
    ("rules", "words"),
    [
        ({"requires": ("names",)}, r"requires: found \['names'\]; expected some of \['raters', "),
        (
            {"replicate_of": "of", "replicates_share": "text"},
            "replicate_of: found replicates_share beside it; expected one rule that says which",
        ),
    ],
)
def test_rules_that_cannot_be_are_refused(rules, words):
    with pytest.raises(ProjectError, match=words):
        Rules(**rules)


@pytest.mark.parametrize(
    ("scale", "labels", "found"),
    [
        (Scale(None, "interval"), [1.5, 2], r"\[1.5, 2(.0)?\]"),
        (
            Scale(None, "multivariate interval", dimensions=2),
            [(1, 2), (2, 3)],
            r"\[\(1.0, 2.0\), \(2.0, 3.0\)\]",
        ),
    ],
)
def test_two_numbers_of_a_rater_for_an_item_are_refused(scale, labels, found):
    frame = pd.DataFrame({"item": [1, 1], "rater": [*"aa"], "label": labels})
    with pytest.raises(RatingsError, match=f"found 2 labels of rater 'a' for item '1'.*{found}"):
        read(frame, scale=scale)


@pytest.mark.parametrize(
    ("most", "words"),
    [(5, "found 12 different labels; expected at most 5"), (50, "found more than 10 different r")],
)
def test_a_column_that_differs_in_every_row_is_no_label(most, words, monkeypatch, refusal):
    monkeypatch.setattr("agreement_pipeline.ratings.validation.MAX_KEY_ROWS", 10)
    frame = pd.DataFrame({"item": range(12), "rater": "a", "label": [f"x{n}" for n in range(12)]})
    assert words in refusal(frame, limits=Limits(categories=most))
