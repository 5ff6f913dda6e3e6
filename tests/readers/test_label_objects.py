"""Objects of an export become units, whichever tool wrote them."""

import json

import pytest

from agreement_pipeline.errors import RatingsError
from agreement_pipeline.ratings import Scale
from agreement_pipeline.readers import Columns, Rules, read
from agreement_pipeline.units import Box, Marked, Span, UnitSettings, units_of

from .drawings import (
    BOXES,
    SIZE,
    SPANS,
    TEXTS,
    argilla_spans,
    coco_boxes,
    cvat_boxes,
    doccano_spans,
    label_studio_boxes,
    label_studio_results,
    label_studio_spans,
    prodigy_spans,
)
from .exports_of_tools import EXPORTS

NAME = Columns(item="name")
PEOPLE = Scale(("none", "PER", "ORG"))
PETS = Scale(("none", "cat", "dog"))
SPAN_TOOLS = (label_studio_spans, prodigy_spans, doccano_spans, argilla_spans)
BOX_TOOLS = (label_studio_boxes, coco_boxes, cvat_boxes)


def ratings(path, scale, kind, columns=NAME, **settings):
    rules = Rules(units=UnitSettings(kind, **settings), requires=())
    return read(path, columns, scale=scale, rules=rules)


@pytest.mark.parametrize("rule", ["positions", "matched"])
@pytest.mark.parametrize("export", SPAN_TOOLS)
def test_the_same_spans_from_four_tools_are_the_same_units(export, rule, tmp_path):
    found = ratings(export(tmp_path), PEOPLE, "spans", rule=rule)
    marked = [
        Marked(item, rater, tuple(Span(*each) for each in said), (len(TEXTS[item]),))
        for (item, rater), said in SPANS.items()
    ]
    direct = units_of(marked, UnitSettings("spans", rule=rule), PEOPLE).ratings
    assert found.table.equals(direct.table)
    assert found.digest == direct.digest


@pytest.mark.parametrize("export", BOX_TOOLS)
def test_the_same_boxes_from_three_tools_are_the_same_units(export, tmp_path):
    found = ratings(export(tmp_path), PETS, "boxes")
    marked = [
        Marked(item, rater, tuple(Box(*each) for each in said), SIZE)
        for (item, rater), said in BOXES.items()
    ]
    direct = units_of(marked, UnitSettings("boxes"), PETS).ratings
    assert found.table.equals(direct.table)
    assert found.digest == direct.digest


def with_span(*span):
    return {**SPANS, ("d3", "ana"): [(0, 3, "PER"), span]}


def with_box(*box):
    return {**BOXES, ("i2.png", "ana"): [(1, 1, 9, 9, "cat"), box]}


@pytest.mark.parametrize(
    ("span", "message"),
    [
        ((5, 4, "PER"), "found start 5 and end 4; expected an end after the start"),
        ((2, 40, "PER"), "found 'PER' at 2-40, which reaches to 40 in an item of 9"),
        ((4, 6, "LOC"), "found category 'LOC'; expected one of"),
        ((0, 3, "PER"), "found 'PER' at 0-3 twice by rater 'ana'; expected each object once"),
    ],
)
@pytest.mark.parametrize(
    ("export", "place"),
    [
        (label_studio_spans, "label_studio.json: record 3, annotation 30, object 2"),
        (prodigy_spans, "prodigy.jsonl: record 5, object 2"),
        (doccano_spans, "ana.jsonl: record 3, object 2"),
        (argilla_spans, "argilla.json: record 3, user ana, object 2"),
    ],
)
def test_a_bad_span_names_its_file_record_and_object(export, place, span, message, tmp_path):
    with pytest.raises(RatingsError, match=f"^{place}: {message}"):
        ratings(export(tmp_path, with_span(*span)), PEOPLE, "spans")


@pytest.mark.parametrize(
    ("export", "place"),
    [
        (label_studio_boxes, "boxes.json: record 2, annotation 20, object 2"),
        (coco_boxes, "ana.json: image 1, annotation 3"),
        (cvat_boxes, "job_ana.xml: image 2, object 2"),
    ],
)
def test_a_bad_box_names_its_file_record_and_object(export, place, tmp_path):
    with pytest.raises(RatingsError, match=f"^{place}: found a box of width -5 and height 9"):
        ratings(export(tmp_path, with_box(20, 20, -5, 9, "cat")), PETS, "boxes")
    with pytest.raises(RatingsError, match=f"^{place}: found 'cat' at 190,20 20x9, which reaches"):
        ratings(export(tmp_path, with_box(190, 20, 20, 9, "cat")), PETS, "boxes")


@pytest.mark.parametrize("export", [doccano_spans, coco_boxes, cvat_boxes])
def test_an_export_that_does_not_tell_nothing_from_unopened_is_refused(export, tmp_path):
    kind = "spans" if export is doccano_spans else "boxes"
    with pytest.raises(RatingsError, match=r"which cannot show \['none'\]"):
        read(export(tmp_path), NAME, rules=Rules(units=UnitSettings(kind)))


def test_an_export_without_such_objects_is_refused(tmp_path):
    with pytest.raises(RatingsError, match="found a format whose boxes are not read"):
        ratings(EXPORTS / "toloka" / "assignments.tsv", None, "boxes", Columns())
    with pytest.raises(RatingsError, match="found one of spans; expected boxes only"):
        ratings(doccano_spans(tmp_path), None, "boxes")
    (tmp_path / "round.csv").write_text("item,rater,label\ni,a,no\ni,b,yes\n")
    with pytest.raises(RatingsError, match="expected the export of a tool"):
        ratings(tmp_path / "round.csv", None, "spans", Columns())


def ranked(*names):
    value = {"ranker": {"_": list(names)}}
    return [{"type": "ranker", "from_name": "order", "to_name": "list", "value": value}]


def preferred(side):
    value = {"selected": side}
    return [{"type": "pairwise", "from_name": "better", "to_name": "a,b", "value": value}]


def test_rankings_and_preferences_of_label_studio(tmp_path):
    path = label_studio_results(tmp_path, ana=ranked("x", "y", "z"), ben=ranked("y", "x", "z"))
    said = ratings(path, None, "rankings").table
    assert said["item"].tolist()[:2] == ["q1 x : y", "q1 x : y"]
    assert said["label"].tolist() == ["first", "second", "first", "first", "first", "first"]
    path = label_studio_results(tmp_path, ana=preferred("left"), ben=preferred("right"))
    assert ratings(path, None, "preferences").table["label"].tolist() == ["first", "second"]


def polygon(points):
    value = {"points": points, "polygonlabels": ["cat"]}
    return [
        {
            "type": "polygonlabels",
            "from_name": "area",
            "to_name": "image",
            "original_width": 200,
            "original_height": 100,
            "value": value,
        }
    ]


def test_polygons_of_label_studio_and_one_that_crosses_itself(tmp_path):
    square = [[10, 10], [20, 10], [20, 20], [10, 20]]
    path = label_studio_results(tmp_path, ana=polygon(square), ben=polygon(square[::-1]))
    said = ratings(path, PETS, "polygons").table
    assert said["item"].tolist() == ["q1 20,10 with 4 corners"] * 2
    bow = [square[0], square[2], square[1], square[3]]
    path = label_studio_results(tmp_path, ana=polygon(square), ben=polygon(bow))
    message = "^results.json: record 1, annotation 11, object 1: found a polygon whose sides"
    with pytest.raises(RatingsError, match=message):
        ratings(path, PETS, "polygons")


def test_a_model_is_asked_only_what_it_answered(tmp_path):
    path = label_studio_spans(tmp_path)
    tasks = json.loads(path.read_text())
    tasks[0]["predictions"] = [{"id": 5, "model_version": "m", "result": []}]
    path.write_text(json.dumps(tasks))
    assert ratings(path, PEOPLE, "spans").classifiers == ()
