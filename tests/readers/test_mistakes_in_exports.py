"""Three mistakes of each kind in real exports: one clear error, or the right labels."""

import json
import re
from shutil import copytree

import pytest

from agreement_pipeline.errors import RatingsError
from agreement_pipeline.readers import load_rows, read
from agreement_pipeline.readers.submissions import to_utc
from tests.readers.conftest import frame_in
from tests.readers.exports_of_tools import CASES
from tests.readers.test_exports import SENTIMENT, alpha

RIGHT = 0.3478
USERS = "sentiment.responses.users"


def with_bytes(name, folder, change):
    """A copy of an export's file with its bytes changed."""
    source = CASES[name].file
    path = folder / source.name
    path.write_bytes(change(source.read_bytes()))
    return path


def changed(name, folder, change):
    """A copy of an export of JSON with its records changed."""
    source = CASES[name].file
    is_lines = source.suffix in (".jsonl", ".ndjson")
    text = source.read_text()
    said = [json.loads(line) for line in text.splitlines()] if is_lines else json.loads(text)
    change(said)
    path = folder / source.name
    path.write_text("\n".join(map(json.dumps, said)) if is_lines else json.dumps(said))
    return path


def words_of(refusal, name, path):
    return refusal(path, CASES[name].columns, scale=SENTIMENT, rules=CASES[name].rules)


def alpha_of(name, path):
    case = CASES[name]
    return alpha(read(path, case.columns, scale=SENTIMENT, rules=case.rules))


@pytest.mark.parametrize(
    ("name", "share", "words"),
    [
        ("label_studio", 0.5, "label_studio.json: record 4: found a file that is cut off"),
        ("label_studio", 0.999, "found a file that is cut off in the middle of this record; expe"),
        ("labelbox", 0.7, "labelbox_export.ndjson: record 6: found a file that is cut off"),
        ("prodigy", 0.9, "prodigy_choice.jsonl: record 21: found a file that is cut off"),
        ("mturk", 0.4, "Batch_4711_batch_results.csv: row 10: found "),
        ("toloka", 0.45, "assignments.tsv: row 11: found 13 cells; expected 14"),
        ("argilla_parquet", 0.9, "found no whole Parquet file"),
    ],
)
def test_an_export_that_is_cut_off(name, share, words, tmp_path, refusal):
    path = with_bytes(name, tmp_path, lambda data: data[: int(share * len(data))])
    assert words in words_of(refusal, name, path)


def end_of_first(text):
    """Where the first record ends, by the decoder of Python."""
    start = text.index("{")
    return json.JSONDecoder().raw_decode(text, start)[1]


@pytest.mark.parametrize("share", [0, 0.001, 0.02, 0.5, 0.9, 0.999])
@pytest.mark.parametrize(
    "name",
    ["label_studio", "label_studio_json_min", "argilla", "argilla_rest", "prodigy", "encord"],
)
def test_an_export_that_is_cut_off_within_its_first_record(name, share, tmp_path, refusal):
    text = CASES[name].file.read_text()
    begin, end = text.index("{") + 1, end_of_first(text) - 1
    at = begin + int(share * (end - begin))
    path = with_bytes(name, tmp_path, lambda _: text[:at].encode())
    assert words_of(refusal, name, path).startswith(
        f"{path.name}: record 1: found a file that is cut off in the middle of this record; "
    )


@pytest.mark.parametrize("more", [0, 1])
def test_an_export_that_is_cut_off_after_its_first_record(more, tmp_path, refusal):
    text = CASES["label_studio"].file.read_text()
    at = end_of_first(text) + more
    path = with_bytes("label_studio", tmp_path, lambda _: text[:at].encode())
    assert words_of(refusal, "label_studio", path).startswith(
        "label_studio.json: record 2: found a file that is cut off before this record; "
    )


def test_an_export_of_which_one_bracket_was_written(tmp_path, refusal):
    path = with_bytes("label_studio", tmp_path, lambda _: b"[")
    assert words_of(refusal, "label_studio", path).startswith(
        "label_studio.json: record 1: found a file that is cut off before this record; "
    )


def test_a_file_of_a_folder_that_is_cut_off_is_not_passed_over(tmp_path, refusal):
    copytree(CASES["ground_truth"].file, tmp_path / "job")
    path = max((tmp_path / "job").rglob("worker-response/**/*.json"))
    path.write_bytes(path.read_bytes()[:200])
    words = words_of(refusal, "ground_truth", tmp_path / "job")
    place = path.relative_to(tmp_path / "job")
    assert words.startswith(f"{place}: record 1: found a file that is cut off in the middle")


@pytest.mark.parametrize("name", ["dataloop", "superannotate", "ground_truth"])
def test_a_file_of_a_folder_that_is_empty_is_not_passed_over(name, tmp_path, refusal):
    """JSON Lines without a line are a rater who labelled nothing, but no JSON document is empty."""
    copytree(CASES[name].file, tmp_path / "job")
    path = max((tmp_path / "job").rglob("*.json"))
    path.write_bytes(b"")
    place = path.relative_to(tmp_path / "job")
    assert words_of(refusal, name, tmp_path / "job") == (
        f"{place}: found 0 bytes; expected a JSON document. Check that the export is complete."
    )


def test_an_export_that_is_cut_off_within_a_character(tmp_path, refusal):
    path = with_bytes("label_studio", tmp_path, lambda _: '[{"id": 1, "text": "déjà'.encode()[:-1])
    assert words_of(refusal, "label_studio", path).startswith(
        "label_studio.json: line 1: found the first byte 0xc3 of a character at the end of the file"
    )


def test_a_job_of_cvat_that_is_cut_off(tmp_path, refusal):
    copytree(CASES["cvat"].file, tmp_path / "jobs")
    path = tmp_path / "jobs" / "job_12_ben_annotations.xml"
    path.write_bytes(path.read_bytes()[:2000])
    words = words_of(refusal, "cvat", tmp_path / "jobs")
    assert "job_12_ben_annotations.xml: found text that is not readable as XML" in words


@pytest.mark.parametrize(
    ("name", "old", "new", "words"),
    [
        (
            "label_studio",
            b'"id": 502,',
            b'"id": 501,',
            "found record 'annotation 501' more than once (1 such record in all)",
        ),
        ("labelbox", b"01000000012", b"01000000011", "found record 'label cllabel0000000100000"),
        ("mturk", b"010000000000012", b"010000000000011", "found record 'assignment 3ASG000000"),
    ],
)
def test_an_id_that_is_there_twice(name, old, new, words, tmp_path, refusal):
    path = with_bytes(name, tmp_path, lambda data: data.replace(old, new, 1))
    assert words in words_of(refusal, name, path)


@pytest.mark.parametrize(
    ("name", "row"),
    [
        ("label_studio", "annotation 501"),
        ("argilla", f"record 1, user {CASES['argilla'].names[0]}"),
        ("prodigy", "prodigy_choice.jsonl: record 1"),
    ],
)
def test_an_unknown_label(name, row, tmp_path, refusal):
    path = with_bytes(name, tmp_path, lambda data: data.replace(b'"positive"', b'"Positiv"', 1))
    if name == "prodigy":
        text = path.read_text().replace('"accept": ["positive"]', '"accept": ["Positiv"]', 1)
        path.write_text(text)
    words = words_of(refusal, name, path)
    assert row in words
    assert "found label 'Positiv'; expected one of ['negative', 'neutral', 'positive']" in words


def test_a_zone_in_some_records_only(tmp_path, refusal):
    path = with_bytes(
        "label_studio", tmp_path, lambda data: data.replace(b'09:10:00.000000Z"', b'09:10:00"')
    )
    words = words_of(refusal, "label_studio", path)
    assert "annotation 504: found time '2026-09-02T09:10:00.000000' without a time zone" in words


@pytest.mark.parametrize("name", ["inserted_at", "updated_at"])
def test_a_zone_in_one_time_of_a_record_only(name, tmp_path, refusal):
    def add_zone(page):
        page["items"][0]["responses"][0][name] += "Z"

    path = changed("argilla_rest", tmp_path, add_zone)
    assert words_of(refusal, "argilla_rest", path) == (
        f"{path.name}: response bbbbbbbb-bbbb-4bbb-8bbb-000001000011: found time "
        "'2026-09-02T09:05:00.000000' without a time zone, and another of the same record with "
        "one; expected one of the two in all records. Add the zone."
    )


@pytest.mark.parametrize("user", [["ana"], {"name": "ana"}])
def test_a_rater_of_several_parts(user, tmp_path, refusal):
    own = {"annotator": user, "annotation_id": 77}
    path = changed("label_studio_json_min", tmp_path, lambda tasks: tasks[0].update(own))
    words = words_of(refusal, "label_studio_json_min", path)
    assert words.startswith(f"{path.name}: annotation 77: found the rater {user}")
    assert words.endswith("; expected a text or a number. Correct the record, or export again.")


@pytest.mark.parametrize(
    ("wrong", "words"),
    [
        ({"answer": "accepted"}, "found answer 'accepted'; expected one of ['accept', 'reject'"),
        ({"answer": None}, "found answer None; expected one of ['accept', 'reject'"),
        ({"accept": "positive"}, "found 'positive' as what was accepted; expected a list of opti"),
    ],
)
def test_an_answer_of_prodigy_that_it_never_writes(wrong, words, tmp_path, refusal):
    """It counts neither as skipped work, nor as its letters."""
    path = changed("prodigy", tmp_path, lambda records: records[0].update(wrong))
    assert f"{path.name}: record 1: {words}" in words_of(refusal, "prodigy", path)


def test_a_time_that_is_none(tmp_path, refusal):
    path = with_bytes("mturk", tmp_path, lambda data: data.replace(b"PDT", b"XYZ"))
    words = words_of(refusal, "mturk", path)
    assert re.search(r"csv: assignment 3ASG\w+: found time 'Wed Sep 02 09:05:00 XYZ 2026'", words)


@pytest.mark.parametrize(
    ("written", "time"),
    [
        ("2026-09-02T09:05:00.000001Z", "2026-09-02T09:05:00.000001Z"),
        ("2026-09-02 09:05:00.000001Z", "2026-09-02T09:05:00.000001Z"),
        ("2026-W36-3T09:05:00.000001Z", "2026-09-02T09:05:00.000001Z"),
        ("2026-09-02T09:05:00,000001Z", "2026-09-02T09:05:00.000001Z"),
        ("2026-09-02T09:05:00.00001+0", None),
        ("2026-02-29T09:05:00.000001Z", None),
        ("2026-09-02T09:60:00.000001Z", None),
    ],
)
def test_a_time_has_one_form_or_is_refused(written, time):
    if time is None:
        with pytest.raises(RatingsError, match="expected a date and a time"):
            to_utc(written, "here")
    else:
        assert to_utc(written, "here") == time


def test_times_of_several_zones_are_the_same_times(tmp_path):
    other = b"2026-09-02T11:05:00.000000+02:00"
    path = with_bytes(
        "label_studio",
        tmp_path,
        lambda data: data.replace(b"2026-09-02T09:05:00.000000Z", other),
    )
    case = CASES["label_studio"]
    assert (
        frame_in(load_rows(path, case.columns, rules=case.rules))["timestamp"].tolist()
        == frame_in(load_rows(case.file, case.columns, rules=case.rules))["timestamp"].tolist()
    )


@pytest.mark.parametrize("name", ["label_studio", "prodigy", "mturk", "toloka"])
@pytest.mark.parametrize("encoding", ["latin-1", "utf-16"])
def test_another_encoding_is_refused_with_its_line(name, encoding, tmp_path, refusal):
    path = with_bytes(
        name, tmp_path, lambda data: data.decode().replace("blue", "blüe").encode(encoding)
    )
    words = words_of(refusal, name, path)
    assert "which is not UTF-8" in words or "found a NUL byte" in words
    assert "line" in words


@pytest.mark.parametrize("name", ["label_studio", "prodigy", "mturk", "toloka", "labelbox"])
def test_windows_line_ends_and_a_byte_order_mark_change_nothing(name, tmp_path):
    def by_windows(data):
        return b"\xef\xbb\xbf" + data.replace(b"\r\n", b"\n").replace(b"\n", b"\r\n")

    assert alpha_of(name, with_bytes(name, tmp_path, by_windows)) == RIGHT


@pytest.mark.parametrize(
    ("name", "old", "new", "words"),
    [
        ("label_studio", "from_name", "from", "found no question 'sentiment' among ['choices'"),
        ("label_studio", "doc_id", "document", "found no field 'doc_id' among ['task', 'text'"),
        ("label_studio", "completed_by", "by", "annotation 501: found no rater, and none in any"),
        ("label_studio", "ground_truth", "gold", "record 1: found no 'ground_truth'; expected a"),
        ("label_studio", "was_cancelled", "skipped", "record 1: found no 'was_cancelled'; expe"),
        ("label_studio", "annotations", "answers", "row 1: found a JSON document that is no tool"),
        ("label_studio_json_min", "annotator", "by", "row 1: found a JSON document that is no to"),
        ("encord", "createdBy", "by", "found no rater, and none in any other record; expected who"),
        (
            "encord",
            "classifications",
            "frames",
            "record 1: found labels of ['objects', 'frames']; ex",
        ),
        ("labelbox", "label_kind", "kind", None),
        ("labelbox", "label_details", "details", "found no label_details, so no rater"),
        ("mturk", "AssignmentStatus", "Status", "row 2: found no 'AssignmentStatus'; expected a"),
        ("mturk", "Answer.sentiment.label", "Answer.mood", "found no question 'sentiment' among"),
        ("argilla", "sentiment.responses.status", "sentiment.status", "found no 'sentiment.resp"),
        ("toloka", "ASSIGNMENT:assignment_id", "ASSIGNMENT:id", "found no 'ASSIGNMENT:assignme"),
    ],
)
def test_a_renamed_field(name, old, new, words, tmp_path, refusal):
    def renamed(data):
        quoted = data.replace(f'"{old}"'.encode(), f'"{new}"'.encode())
        return quoted.replace(f"\t{old}\t".encode(), f"\t{new}\t".encode())

    path = with_bytes(name, tmp_path, renamed)
    if words is None:
        assert alpha_of(name, path) == RIGHT
    else:
        assert words in words_of(refusal, name, path)


def test_labels_of_a_video_are_not_passed_over(tmp_path, refusal):
    """Encord writes them by the number of the frame."""

    def video(data):
        rows = json.loads(data)
        for unit in rows[1]["data_units"].values():
            unit["labels"] = {"10": unit["labels"], "20": unit["labels"]}
        return json.dumps(rows).encode()

    assert words_of(refusal, "encord", with_bytes("encord", tmp_path, video)).startswith(
        "label_rows.json: record 2: found labels of ['10', '20']; expected classifications. "
        "Labels of a video stand by frame"
    )


def test_labels_of_a_video_in_labelbox_are_not_passed_over(tmp_path, refusal):
    """It writes them by frame too, and those of the whole video as those of an image."""

    def video(rows):
        marks = first_label_of_labelbox(rows)["annotations"]
        marks["frames"] = {"3": {"objects": {}, "classifications": marks["classifications"]}}
        if not of_whole:
            marks["classifications"] = []

    of_whole = True
    assert alpha_of("labelbox", changed("labelbox", tmp_path, video)) == RIGHT
    of_whole = False
    words = words_of(refusal, "labelbox", changed("labelbox", tmp_path, video))
    assert words.startswith("labelbox_export.ndjson: record 1, label ")
    assert "found labels of frames; expected classifications. Labels of a video stand by" in words


@pytest.mark.parametrize(
    ("users", "found"),
    [({}, "no 'sentiment.responses.users'"), ({USERS: None}, "a value of another kind")],
)
def test_answers_without_their_users_are_not_passed_over(users, found, tmp_path, refusal):
    def without(data):
        records = json.loads(data)
        del records[2][USERS]
        records[2] |= users
        return json.dumps(records).encode()

    words = words_of(refusal, "argilla", with_bytes("argilla", tmp_path, without))
    assert words.startswith(f"argilla_records_flat.json: record 3: found {found}")


def test_an_annotation_without_its_type_is_not_passed_over(tmp_path, refusal):
    copytree(CASES["dataloop"].file, tmp_path / "items")
    path = max((tmp_path / "items").rglob("*.json"))
    item = json.loads(path.read_text())
    del item["annotations"][1]["type"]
    path.write_text(json.dumps(item))
    words = words_of(refusal, "dataloop", tmp_path / "items")
    assert "record 1: found no 'type'; expected a record as Dataloop" in words


def test_an_export_on_one_line_of_which_no_tool_is_known(tmp_path, refusal):
    def rename(tasks):
        for task in tasks:
            task["answers"] = task.pop("annotations")

    path = changed("label_studio", tmp_path, rename)
    assert words_of(refusal, "label_studio", path) == (
        f"{path.name}: row 1: found a JSON document that is no tool's export; expected a JSON "
        "object in every line, or an export as its tool writes it. Export again and rename no "
        "field, or write one rating a line."
    )


def test_a_rater_who_was_deleted_is_nobody_else(tmp_path):
    """Their only annotation of the first task has an unknown rater; the others keep their names."""
    path = with_bytes(
        "label_studio",
        tmp_path,
        lambda data: data.replace(b'"completed_by": 11', b'"completed_by": null', 1),
    )
    case = CASES["label_studio"]
    raters = read(path, case.columns, scale=SENTIMENT, rules=case.rules).raters
    assert sorted(raters) == ["11", "12", "13", "unknown (annotation 501)"]


@pytest.mark.parametrize("numbers", [{"predictions": [286]}, {"drafts": [7, 8]}])
def test_predictions_and_drafts_of_label_studio_may_be_numbers_alone(numbers, tmp_path):
    """So its plain export as JSON writes predictions, and a snapshot with `only_id` both."""
    tasks = json.loads(CASES["label_studio"].file.read_text())
    path = tmp_path / "x.json"
    path.write_text(json.dumps([{**task, **numbers} for task in tasks]))
    assert alpha_of("label_studio", path) == RIGHT


def test_a_list_with_something_else_in_it(tmp_path, refusal):
    path = tmp_path / "x.json"
    tasks = json.loads(CASES["label_studio"].file.read_text())
    path.write_text(json.dumps([*tasks, "and more"]))
    assert "x.json: record 9: found 'and more'; expected a" in words_of(
        refusal, "label_studio", path
    )


def first_label_of_labelbox(rows):
    return next(iter(rows[0]["projects"].values()))["labels"][0]


ONE_OF_SEVERAL_PARTS = {
    "choices": ("label_studio", lambda said: choices_of(said).update(choices={"a": 1})),
    "a choice": ("label_studio", lambda said: choices_of(said).update(choices=[{"a": 1}])),
    "responses": (
        "argilla",
        lambda said: said[0].update({"sentiment.responses": [{"a": 1}, {"a": 1}, {"a": 1}]}),
    ),
    "accepted": ("prodigy", lambda said: said[0].update(accept=[{"a": 1}])),
    "a radio": (
        "labelbox",
        lambda said: first_label_of_labelbox(said)["annotations"]["classifications"][0][
            "radio_answer"
        ].update(value={"a": 1}),
    ),
}


def choices_of(tasks):
    return tasks[0]["annotations"][0]["result"][0]["value"]


@pytest.mark.parametrize("case", ONE_OF_SEVERAL_PARTS)
def test_a_label_of_several_parts(case, tmp_path, refusal):
    """It is no category of the name `{'a': 1}`."""
    name, change = ONE_OF_SEVERAL_PARTS[case]
    words = words_of(refusal, name, changed(name, tmp_path, change))
    assert words.startswith(f"{CASES[name].file.name}: ")
    assert words.count(CASES[name].file.name) == 1
    assert "found the label {'a': 1}; expected a text or a number" in words


def test_a_choice_that_is_missing(tmp_path, refusal):
    path = changed("label_studio", tmp_path, lambda said: choices_of(said).update(choices=[None]))
    words = words_of(refusal, "label_studio", path)
    assert "annotation 501: found [None] as the ticked labels; expected a text" in words


@pytest.mark.parametrize(
    ("name", "change"),
    [
        ("label_studio", lambda said: said[0]["data"].update(doc_id=["a"])),
        ("prodigy", lambda said: said[0]["meta"].update(doc_id={"a": 1})),
    ],
)
def test_a_named_field_of_an_item_of_several_parts(name, change, tmp_path, refusal):
    words = words_of(refusal, name, changed(name, tmp_path, change))
    assert re.search(r"found the item (\['a'\]|\{'a': 1\}); expected a text or a number", words)


@pytest.mark.parametrize("key", ["_annotator_id", "_session_id"])
def test_a_session_of_prodigy_of_several_parts(key, tmp_path, refusal):
    own = {"_annotator_id": None, "_session_id": None, key: ["ana"]}
    path = changed("prodigy", tmp_path, lambda said: said[0].update(own))
    assert words_of(refusal, "prodigy", path) == (
        "prodigy_choice.jsonl: record 1: found the rater ['ana']; expected a text or a number. "
        "Correct the record, or export again."
    )


FLAGS = {
    "was_cancelled": ("label_studio", lambda said: said[0]["annotations"][0]),
    "ground_truth": ("label_studio", lambda said: said[0]["annotations"][0]),
    "skipped": ("labelbox", lambda said: first_label_of_labelbox(said)["performance_details"]),
}


@pytest.mark.parametrize("flag", FLAGS)
def test_a_truth_value_in_words_is_not_taken_for_true(flag, tmp_path, refusal):
    name, within = FLAGS[flag]
    path = changed(name, tmp_path, lambda said: within(said).update({flag: "false"}))
    assert f"found {flag} 'false'; expected true or false" in words_of(refusal, name, path)


@pytest.mark.parametrize("flag", FLAGS)
@pytest.mark.parametrize("said", [0, None])
def test_a_truth_value_that_is_nought_or_missing_is_false(flag, said, tmp_path):
    name, within = FLAGS[flag]
    path = changed(name, tmp_path, lambda records: within(records).update({flag: said}))
    assert alpha_of(name, path) == pytest.approx(alpha_of(name, CASES[name].file))


def test_a_label_of_labelbox_without_an_id_is_no_gold(tmp_path):
    path = changed("labelbox", tmp_path, lambda said: first_label_of_labelbox(said).update(id=None))
    assert alpha_of("labelbox", path) == pytest.approx(alpha_of("labelbox", CASES["labelbox"].file))
