"""What a delivery has of its items goes with them: contents that a project keeps, and documents."""

import json

import pandas as pd
import pytest

from agreement_pipeline.errors import ProjectError, RatingsError
from agreement_pipeline.ratings import Scale
from agreement_pipeline.readers import Columns, Rules, read
from agreement_pipeline.units import UnitSettings

SEGMENTATION = "de.tudarmstadt.ukp.dkpro.core.api.segmentation"
FRAME = pd.DataFrame(
    [
        ("i1", "ana", "yes", "de", "007", 0.9, True, "no"),
        ("i1", "ben", "no", "de", "007", 0.8, False, "no"),
        ("i2", "ana", "no", "en", None, 0.7, True, "yes"),
        ("i2", "ben", "no", "en", None, 0.6, True, "yes"),
    ],
    columns=["item", "rater", "label", "language", "source", "confidence", "assisted", "gpt"],
)


def contents(ratings, *names):
    columns = [f"content:{name}" for name in names]
    return ratings.items(columns).to_pylist()


def test_kept_columns_of_a_table_go_with_its_items(tmp_path):
    path = tmp_path / "round.csv"
    FRAME.to_csv(path, index=False)
    for source in (FRAME, path):
        found = read(source, rules=Rules(keep=("language", "source")))
        assert contents(found, "language", "source") == [
            {"item": "i1", "content:language": "de", "content:source": "007"},
            {"item": "i2", "content:language": "en", "content:source": None},
        ]
        assert not any(name.startswith("content:") for name in read(source).has)


def test_a_kept_column_is_part_of_the_digest_and_of_no_measure():
    plain, with_source = read(FRAME), read(FRAME, rules=Rules(keep=("source",)))
    other = read(FRAME.assign(source="x"), rules=Rules(keep=("source",)))
    assert len({plain.digest, with_source.digest, other.digest}) == 3
    assert plain.to_pandas().equals(with_source.to_pandas())


def test_two_contents_of_an_item_are_refused_with_their_rows():
    other = FRAME.assign(source=["a", "b", "c", "c"])
    with pytest.raises(RatingsError, match=r"rows \[1, 2\].*'source': found 2 different contents"):
        read(other, rules=Rules(keep=("source",)))


def test_a_column_that_is_kept_twice_or_is_not_there_is_refused():
    with pytest.raises(ProjectError, match=r"keep: found \['source'\] twice"):
        Rules(keep=("source", "source"))
    with pytest.raises(RatingsError, match=r"found no column 'tongue'"):
        read(FRAME, rules=Rules(keep=("tongue",)))


def test_the_row_of_a_model_inherits_nothing_of_a_rater(tmp_path):
    path = tmp_path / "round.csv"
    FRAME.to_csv(path, index=False)
    columns = Columns(assisted="assisted", models={"gpt_4": "gpt"})
    for source in (FRAME, path):
        rows = read(source, columns).to_pandas()
        is_model = rows["rater"] == "gpt_4"
        assert rows.loc[is_model, ["confidence", "assisted"]].isna().all(axis=None)
        assert rows.loc[~is_model, "confidence"].tolist() == [0.9, 0.8, 0.7, 0.6]


def label_studio_task(number, results, **data):
    return {
        "id": number,
        "data": data,
        "annotations": [
            {"id": 10 * number + at, "completed_by": {"email": f"{at}@x.org"}, "result": [result]}
            for at, result in enumerate(results)
        ],
        "predictions": [],
    }


def read_units(tmp_path, tasks, kind, scale=None, keep=(), **settings):
    path = tmp_path / "export.json"
    path.write_text(json.dumps(tasks))
    rules = Rules(units=UnitSettings(kind, **settings), keep=keep, requires=())
    return read(path, scale=scale, rules=rules)


def span(start, end, label):
    value = {"start": start, "end": end, "labels": [label]}
    return {"type": "labels", "from_name": "ner", "value": value}


def test_units_of_spans_have_their_document_once_with_its_text_and_what_is_kept(tmp_path):
    results = [span(0, 3, "PER"), span(0, 3, "PER")]
    tasks = [
        label_studio_task(1, results, text="Ana left.", source="mail", lang="en"),
        label_studio_task(2, results, text="Ben é là.", source="chat", lang="fr"),
    ]
    found = read_units(tmp_path, tasks, "spans", Scale(("none", "PER")), keep=("source",))
    columns = ["part:unit_of", "content:text", "content:source"]
    assert [[*row.values()] for row in found.items(columns).to_pylist()] == [
        ["1 0-3", "1", "Ana left.", "mail"],
        ["1 3-9", "1", None, None],
        ["2 0-3", "2", "Ben é là.", "chat"],
        ["2 3-9", "2", None, None],
    ]
    assert "content:lang" not in found.has


def test_boxes_have_their_image_and_its_size_also_where_nothing_was_drawn(tmp_path):
    value = {"x": 10, "y": 10, "width": 50, "height": 50, "rectanglelabels": ["cat"]}
    box = {"type": "rectanglelabels", "from_name": "b", "value": value}
    box |= {"original_width": 200, "original_height": 100}
    tasks = [label_studio_task(1, [box, box], image="s3://scans/patient-0.jpg")]
    found = read_units(tmp_path, tasks, "boxes")
    columns = ["content:image", "content:image_width", "content:image_height"]
    assert [[*row.values()] for row in found.items(columns).to_pylist()] == [
        ["1 20,10 100x50", "s3://scans/patient-0.jpg", "200", "100"]
    ]


def preference(side):
    return {"type": "pairwise", "from_name": "p", "value": {"selected": side}}


def test_preferences_have_their_prompt_and_the_texts_of_both_answers(tmp_path):
    data = {"prompt": "Why?", "answer_a": "Because.", "answer_b": "No idea.", "answer": "x"}
    tasks = [label_studio_task(1, [preference("left"), preference("left")], **data)]
    alternatives = {"left": "answer_a", "right": "answer_b"}
    found = read_units(tmp_path, tasks, "preferences", alternatives=alternatives)
    columns = ["part:first", "part:second", "content:prompt", "content:alternatives"]
    (row,) = found.items(columns).to_pylist()
    assert [row[name] for name in columns[:3]] == ["left", "right", "Why?"]
    assert json.loads(row["content:alternatives"]) == {"left": "Because.", "right": "No idea."}


def test_alternatives_of_a_list_have_the_texts_of_its_records(tmp_path):
    ranking = {"type": "ranker", "from_name": "r", "value": {"ranker": {"_": ["b", "a", "c"]}}}
    answers = [{"id": name, "title": "?", "body": f"text of {name}"} for name in "abc"]
    tasks = [label_studio_task(1, [ranking, ranking], prompt="Which?", answers=answers)]
    found = read_units(tmp_path, tasks, "rankings")
    rows = found.items(["part:first", "part:second", "content:alternatives"]).to_pylist()
    assert [(row["part:first"], row["part:second"]) for row in rows] == [
        ("a", "b"),
        ("a", "c"),
        ("b", "c"),
    ]
    texts = [row["content:alternatives"] for row in rows]
    assert [json.loads(text) for text in texts if text] == [
        {name: f"text of {name}" for name in "abc"}
    ]


def test_two_texts_of_a_document_are_refused(tmp_path):
    for rater, word in (("ana", "left"), ("ben", "went")):
        (tmp_path / f"{rater}.conll").write_text(f"Ana\tB-PER\n{word}\tO\n")
    with pytest.raises(RatingsError, match=r"field 'text': found different contents of item \['1'"):
        read(tmp_path, rules=Rules(units=UnitSettings("spans"), requires=()))


def test_a_field_that_nobody_names_and_that_differs_by_rater_is_no_content(tmp_path):
    results = [span(0, 3, "PER")]
    tasks = [
        label_studio_task(1, results, text="Ana left.", context="seen"),
        label_studio_task(2, [*results, *results], text="Ana left.", context="unseen") | {"id": 1},
    ]
    assert "content:context" not in read_units(tmp_path, tasks, "spans").has
    with pytest.raises(RatingsError, match="field 'context': found different contents"):
        read_units(tmp_path, tasks, "spans", keep=("context",))


def test_tokens_of_conll_are_known(tmp_path):
    for rater in ("ana", "ben"):
        (tmp_path / f"{rater}.conll").write_text("Ana\tB-PER\nleft\tO\n.\tO\n")
    found = read(tmp_path, rules=Rules(units=UnitSettings("spans"), requires=()))
    rows = found.items(["content:text", "content:tokens"]).to_pylist()
    known = [row for row in rows if row["content:text"] is not None]
    assert [row["content:text"] for row in known] == ["Ana left ."]
    assert json.loads(known[0]["content:tokens"]) == [[0, 3], [4, 8], [9, 10]]


def test_sets_and_rubrics_have_named_parts(tmp_path):
    lines = [
        {"text": "So.", "accept": ["joy"], "_session_id": f"s-{rater}", "_task_hash": 1}
        | {"answer": "accept", "config": {"choice_style": "multiple"}}
        for rater in ("ana", "ben")
    ]
    path = tmp_path / "export.jsonl"
    path.write_text("\n".join(map(json.dumps, lines)))
    units = UnitSettings("sets", members=("joy", "anger"))
    found = read(path, rules=Rules(units=units, requires=()))
    rows = found.items(["part:unit_of", "part:member", "content:text"]).to_pylist()
    assert [[*row.values()] for row in rows] == [
        ["1 anger", "1", "anger", None],
        ["1 joy", "1", "joy", "So."],
    ]
    assert "content:answer" not in found.has


def test_tokens_of_webanno_and_of_uima_count_characters(tmp_path):
    text = "\N{GRINNING FACE} Ana left"
    tokens = [(0, 2), (3, 6), (7, 11)]  # in code units of UTF-16, as the formats write them
    structures = [
        {"%ID": 1, "%TYPE": "uima.cas.Sofa", "sofaString": text},
        {"%ID": 2, "%TYPE": "custom.Entity", "@sofa": 1, "begin": 3, "end": 6, "value": "PER"},
        *(
            {"%ID": n, "%TYPE": f"{SEGMENTATION}.type.Token", "@sofa": 1, "begin": a, "end": b}
            for n, (a, b) in enumerate(tokens, 3)
        ),
    ]
    lines = ["#FORMAT=WebAnno TSV 3.3", "#T_SP=custom.Entity|value", "", "", f"#Text={text}"]
    for n, (start, end) in enumerate(tokens, 1):
        word = text.encode("utf-16-le")[2 * start : 2 * end].decode("utf-16-le")
        lines.append(f"1-{n}\t{start}-{end}\t{word}\t{'PER[1]' if n == 2 else '_'}\t")
    for form, content in (("tsv", "\n".join([*lines, ""])), ("json", None)):
        for rater in ("ana", "ben"):
            file = tmp_path / form / "doc" / f"{rater}.{form}"
            file.parent.mkdir(parents=True, exist_ok=True)
            record = {"%TYPES": {}, "%FEATURE_STRUCTURES": structures, "%VIEWS": {}}
            file.write_text(content or json.dumps(record), encoding="utf-8")
        found = read(tmp_path / form, rules=Rules(units=UnitSettings("spans"), requires=()))
        (written,) = {
            row["content:tokens"]
            for row in found.items(["content:tokens"]).to_pylist()
            if row["content:tokens"]
        }
        assert json.loads(written) == [[0, 1], [2, 5], [6, 10]]
