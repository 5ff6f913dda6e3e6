"""Exports that people reported elsewhere: each is read, or refused with what to do."""

import json
from pathlib import Path

import pytest

from agreement_pipeline import judge, load_policy, measure
from agreement_pipeline.errors import RatingsError
from agreement_pipeline.readers import Columns, read

CASES = {path.name: path for path in Path(__file__).parents[1].glob("cases/*/*")}
ALPHA = "krippendorff_alpha"


def read_case(name, question, **how):
    return read(CASES[name], Columns(label=question), **how)


def alpha(ratings):
    return measure(ratings, ALPHA).value


def inspect_log(samples, epochs=1, model="m1", run="r1"):
    of_run = {"run_id": run, "created": "2026-07-01T10:00:00+00:00", "task": "t", "model": model}
    return {"version": 2, "eval": {**of_run, "config": {"epochs": epochs}}, "samples": samples}


def sample(number, scores, output="", epoch=1, **more):
    message = {"choices": [{"message": {"content": output or f"answer {number} {epoch}"}}]}
    return {
        "id": number,
        "epoch": epoch,
        "input": f"question {number}",
        "output": message,
        "scores": {scorer: {"value": value} for scorer, value in scores.items()},
        **more,
    }


def written(path, *logs):
    path.mkdir()
    for number, log in enumerate(logs):
        (path / f"{number}.json").write_text(json.dumps(log))
    return path


# Inspect


def test_what_inspect_did_not_score_is_missing():
    """The value is that of the package krippendorff on the scores that are there."""
    ratings = read_case("none_nan.json", "score")
    assert ratings.scale.names == ("C", "I")
    assert alpha(ratings) == pytest.approx(0.78291, abs=5e-6)


@pytest.mark.parametrize("unscored", [float("nan"), None, [1.0, float("nan")]])
def test_a_judge_that_did_not_score_gives_no_label(unscored, tmp_path):
    scores = [{"a": "C", "b": "C"}, {"a": unscored, "b": "I"}, {"a": "I", "b": "I"}]
    log = inspect_log([sample(number, each) for number, each in enumerate(scores)])
    ratings = read(written(tmp_path / "logs", log), Columns(label="score"))
    assert len(ratings) == 5
    assert ratings.scale.names == ("C", "I")


def test_outputs_of_several_epochs_are_judged_in_clusters():
    ratings = read_case("epochs2.json", "score")
    assert (ratings.n_items, len(ratings.cluster_names)) == (300, 150)
    assert {*ratings.cluster_names} == {f"t/{number}" for number in range(150)}
    decision = judge(ratings, load_policy("standard"))
    assert decision.admitted
    assert all(each.passed for each in decision.findings if each.check == "items_not_repeated")


def test_the_text_of_an_item_is_the_output_of_the_model():
    log = json.loads(CASES["epochs2.json"].read_text())["samples"]
    outputs = {each["output"]["choices"][0]["message"]["content"] for each in log}
    texts = read_case("epochs2.json", "score").items(["text"])["text"].to_pylist()
    assert {*texts} == outputs


def test_outputs_of_several_models_are_judged_in_clusters(tmp_path):
    logs = [
        inspect_log(
            [sample(number, {"a": "C", "b": "I"}, f"{model} says {number}") for number in range(9)],
            model=model,
            run=model,
        )
        for model in ("m1", "m2", "m3")
    ]
    ratings = read(written(tmp_path / "logs", *logs), Columns(label="score"))
    assert (ratings.n_items, len(ratings.cluster_names)) == (27, 9)


def test_one_answer_to_each_sample_has_no_cluster(tmp_path):
    log = inspect_log([sample(number, {"a": "C", "b": "I"}) for number in range(3)])
    assert "cluster" not in read(written(tmp_path / "logs", log), Columns(label="score")).has


def test_letters_that_answer_different_questions_are_different_items(tmp_path):
    samples = [sample(n, {"a": "C", "b": "CI"[n % 2]}, output="AB"[n % 2]) for n in range(60)]
    ratings = read(written(tmp_path / "logs", inspect_log(samples)), Columns(label="score"))
    texts = ratings.items(["text"])["text"].to_pylist()
    assert len({*texts}) == 60
    assert "question 0\n\nA" in texts


def test_metadata_names_neither_the_text_nor_takes_the_place_of_the_output(tmp_path):
    told = {"metadata": {"text": "the same passage", "cluster": "of mine"}}
    samples = [sample(number, {"a": "C", "b": "I"}, **told) for number in range(3)]
    ratings = read(written(tmp_path / "logs", inspect_log(samples)), Columns(label="score"))
    assert ratings.items(["text"])["text"].to_pylist() == [f"answer {n} 1" for n in range(3)]
    assert ratings.cluster_names == {"of mine"}


@pytest.mark.parametrize(
    ("question", "labels"), [("tone", ("bad", "good")), ("facts.dates", ("0", "1"))]
)
def test_the_leaves_of_a_score_are_questions(question, labels, tmp_path):
    scores = [
        {"tone": "good", "facts": {"dates": 1, "names": float("nan")}},
        {"tone": "bad", "facts": {"dates": 0, "names": 1}},
    ]
    samples = [sample(number, {"a": each, "b": each}) for number, each in enumerate(scores)]
    ratings = read(written(tmp_path / "logs", inspect_log(samples)), Columns(label=question))
    assert ratings.scale.names == labels
    assert len(ratings) == 4


def test_an_output_of_several_parts_is_its_texts(tmp_path):
    parts = [{"type": "text", "text": "one"}, {"type": "image"}, {"type": "text", "text": "two"}]
    samples = [sample(0, {"a": "C", "b": "I"}, output=parts)]
    ratings = read(written(tmp_path / "logs", inspect_log(samples)), Columns(label="score"))
    assert ratings.items(["text"])["text"].to_pylist() == ["one\ntwo"]


# promptfoo


def result(number, parts, output="", prompt=0, **more):
    return {
        "testIdx": number,
        "promptIdx": prompt,
        "provider": {"id": "openai:gpt-4o"},
        "vars": {"topic": f"t{number}"},
        "response": {"output": output or f"output {number} {prompt}"},
        "gradingResult": {"pass": True, "score": 1, "componentResults": parts},
        **more,
    }


def part(metric, passed=True, **more):
    assertion = {"type": "llm-rubric", "value": "is good", "metric": metric}
    return {"pass": passed, "score": int(passed), "reason": "r", "assertion": assertion, **more}


def of_promptfoo(path, results):
    path.write_text(json.dumps({"evalId": "e", "results": {"version": 3, "results": results}}))
    return path


def test_a_part_without_an_assertion_is_left_out_and_counted():
    ratings = read_case("errors.json", "pass")
    assert ratings.raters == ("judge1", "judge2")
    results = json.loads(CASES["errors.json"].read_text())["results"]["results"]
    parts = [(each["gradingResult"] or {}).get("componentResults") or [] for each in results]
    unnamed = sum(each["assertion"] is None for some in parts for each in some)
    assert len(ratings) == sum(map(len, parts)) - unnamed
    assert ratings.origin.left_out_in_words == f"no answer {unnamed + parts.count([])}"


def test_results_of_version_2_are_read_in_their_order():
    results = json.loads(CASES["v2_old.json"].read_text())["results"]["results"]
    ratings = read_case("v2_old.json", "pass")
    assert ratings.n_items == len(results) == 60
    first = ratings.first_ratings(["item", "rater", "label"]).to_pylist()
    said = {(row["item"], row["rater"]): row["label"] for row in first}
    for number, each in enumerate(results):
        for one in each["gradingResult"]["componentResults"]:
            (label,) = [
                label
                for (item, rater), label in said.items()
                if f"/{number}/" in item and rater == one["assertion"]["metric"]
            ]
            assert label == ("pass" if one["pass"] else "fail")


def test_json_lines_of_promptfoo_are_read(tmp_path):
    results = [result(n, [part("a"), part("b", n % 2 == 0)]) for n in range(4)]
    path = tmp_path / "out.jsonl"
    path.write_text("".join(json.dumps({"evalId": "e", **each}) + "\n" for each in results))
    lines = read(path, Columns(label="pass"))
    whole = read(of_promptfoo(tmp_path / "out.json", results), Columns(label="pass"))
    assert lines.n_items == 4
    assert lines.digest == whole.digest


@pytest.mark.parametrize(
    "failure",
    [
        {"metadata": {"graderError": True}},
        {"reason": "Could not extract JSON from llm-rubric response"},
        {"reason": "API call error: 429"},
    ],
    ids=["metadata", "no JSON", "no answer of the API"],
)
def test_a_grader_that_failed_gives_no_verdict(failure, tmp_path):
    results = [result(n, [part("a"), part("b", n > 0)]) for n in range(3)]
    results.append(result(3, [part("a"), part("b", False, **failure)]))
    ratings = read(of_promptfoo(tmp_path / "out.json", results), Columns(label="pass"))
    assert ratings.n_by_category == {"fail": 1, "pass": 6}


def test_a_verdict_of_fail_with_a_reason_stays(tmp_path):
    results = [result(n, [part("a"), part("b", False)]) for n in range(3)]
    ratings = read(of_promptfoo(tmp_path / "out.json", results), Columns(label="pass"))
    assert ratings.n_by_category == {"fail": 3, "pass": 3}


def test_outputs_of_several_prompts_are_judged_in_clusters(tmp_path):
    parts = [part("a"), part("b", False)]
    results = [result(n, parts, prompt=p) for n in range(5) for p in range(2)]
    ratings = read(of_promptfoo(tmp_path / "out.json", results), Columns(label="pass"))
    assert (ratings.n_items, len(ratings.cluster_names)) == (10, 5)


# Others


REFUSED = {
    ("blob_doc.jsonl", "tone"): "scheduled export, which never names its author; .*"
    "GET /api/public/v2/scores",
    ("argilla1_records.json", "sentiment"): "without 'id', as Argilla 1.x writes it; .*Load the "
    "data set in Argilla 2",
    ("per_region.json", "polarity"): "choices with perRegion, are no labels of items: .*--units",
}


@pytest.mark.parametrize(("case", "words"), REFUSED.items(), ids=lambda each: each[0])
def test_what_cannot_be_read_is_refused_with_what_to_do(case, words):
    with pytest.raises(RatingsError, match=words):
        read_case(*case)


def test_doccano_with_users_is_read_by_its_annotations():
    ratings = read(CASES["doccano_old.jsonl"])
    rows = [json.loads(line) for line in CASES["doccano_old.jsonl"].read_text().splitlines()]
    assert ratings.raters == ("1", "2")
    found = ratings.first_ratings(["item", "rater", "label"]).to_pylist()
    assert {(each["item"], each["rater"]): each["label"] for each in found} == {
        (str(row["id"]), str(each["user"])): str(each["label"])
        for row in rows
        for each in row["annotations"]
    }


def test_an_empty_choice_is_no_answer():
    ratings = read_case("empty_choice.json", "sent")
    assert ratings.scale.names == ("neg", "pos")
    assert ratings.origin.left_out_in_words == "no answer 12"


@pytest.mark.parametrize("separator", ";,|")
@pytest.mark.parametrize("end", ["\n", "\r\n"])
@pytest.mark.parametrize("mark", ["", "\ufeff"])
def test_a_first_line_that_names_the_separator_is_no_header(separator, end, mark, tmp_path):
    lines = [["item", "rater", "label"], ["i", "a", "x"], ["i", "b", "y"]]
    text = end.join([f"sep={separator}", *map(separator.join, lines), ""])
    (path := tmp_path / "r.csv").write_bytes((mark + text).encode())
    assert len(read(path)) == 2


def test_excel_s_line_moves_the_number_of_rows(tmp_path):
    (path := tmp_path / "r.csv").write_text("sep=;\nitem;rater;label\n;a;x\ni;b;y\n")
    with pytest.raises(RatingsError, match="row 3"):
        read(path)


def test_the_case_of_excel_is_read_as_it_is_without_the_line():
    columns = Columns(raters=("ana", "ben"))
    ratings = read(CASES["sep.csv"], columns, layout="wide")
    assert alpha(ratings) == pytest.approx(0.70175, abs=5e-6)
