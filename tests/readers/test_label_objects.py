"""Objects of an export become units, whichever tool wrote them."""

import json
import re
from dataclasses import replace

import pytest

from agreement_pipeline.cli import main
from agreement_pipeline.errors import RatingsError
from agreement_pipeline.ratings import Scale
from agreement_pipeline.readers import Columns, Rules, read, read_marked
from agreement_pipeline.units import (
    Box,
    Marked,
    Polygon,
    Segment,
    Span,
    UnitSettings,
    units_of,
)

from .drawings import (
    BOXES,
    SIZE,
    SPANS,
    TEXTS,
    argilla_spans,
    coco_boxes,
    conll_spans,
    cvat_boxes,
    doccano_spans,
    inception_spans,
    label_studio_boxes,
    label_studio_results,
    label_studio_spans,
    pascal_voc_boxes,
    prodigy_spans,
    webanno_spans,
)
from .exports_of_tools import EXPORTS

NAME = Columns(item="name")
PEOPLE = Scale(("none", "PER", "ORG"))
PETS = Scale(("none", "cat", "dog"))
SPAN_TOOLS = (
    label_studio_spans,
    prodigy_spans,
    doccano_spans,
    argilla_spans,
    conll_spans,
    inception_spans,
    webanno_spans,
)
BOX_TOOLS = (label_studio_boxes, coco_boxes, cvat_boxes, pascal_voc_boxes)


def without_contents(found):
    """The ratings without what the delivery has of documents, such as their texts."""
    return replace(found, has=frozenset(n for n in found.has if not n.startswith("content:")))


def ratings(path, scale, kind, columns=NAME, **settings):
    rules = Rules(units=UnitSettings(kind, **settings), requires=())
    return read(path, columns, scale=scale, rules=rules)


@pytest.mark.parametrize("rule", ["positions", "matched"])
@pytest.mark.parametrize("export", SPAN_TOOLS)
def test_the_same_spans_from_all_tools_are_the_same_units(export, rule, tmp_path):
    found = ratings(export(tmp_path), PEOPLE, "spans", rule=rule)
    marked = [
        Marked(item, rater, tuple(Span(*each) for each in said), (len(TEXTS[item]),))
        for (item, rater), said in SPANS.items()
    ]
    direct = units_of(marked, UnitSettings("spans", rule=rule), PEOPLE).ratings
    assert found.to_pandas().equals(direct.to_pandas())
    assert without_contents(found).digest == direct.digest


@pytest.mark.parametrize("export", [prodigy_spans, label_studio_boxes, coco_boxes, webanno_spans])
def test_where_objects_alone_were_marked_the_error_says_how_they_are_read(export, tmp_path):
    with pytest.raises(RatingsError, match=r"are read with --units: see `guide units`[.]$"):
        read(export(tmp_path), NAME, rules=Rules(requires=()))


@pytest.mark.parametrize("export", BOX_TOOLS)
def test_the_same_boxes_from_all_tools_are_the_same_units(export, tmp_path):
    found = ratings(export(tmp_path), PETS, "boxes")
    marked = [
        Marked(item, rater, tuple(Box(*each) for each in said), SIZE)
        for (item, rater), said in BOXES.items()
    ]
    direct = units_of(marked, UnitSettings("boxes"), PETS).ratings
    assert found.to_pandas().equals(direct.to_pandas())
    assert without_contents(found).digest == direct.digest


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


@pytest.mark.parametrize("category", [["PER"], {"a": 1}, None, 7])
@pytest.mark.parametrize(
    "export", [label_studio_spans, prodigy_spans, doccano_spans, argilla_spans]
)
def test_a_category_that_is_no_text_is_refused(export, category, tmp_path):
    message = f"object 2: found the category {re.escape(repr(category))}; expected a text"
    for scale in (PEOPLE, None):
        with pytest.raises(RatingsError, match=message):
            ratings(export(tmp_path, with_span(4, 6, category)), scale, "spans")


@pytest.mark.parametrize("export", [label_studio_spans, prodigy_spans, doccano_spans])
def test_a_marked_item_without_a_name_is_refused(export, tmp_path):
    path = export(tmp_path)
    file = path if path.is_file() else max(path.iterdir())
    file.write_text(file.read_text().replace('"d1"', "null"))
    with pytest.raises(RatingsError, match="found no item; expected what was marked"):
        ratings(path, PEOPLE, "spans")


def deleted(*path):
    def change(said):
        *parents, last = path
        for each in parents:
            said = said[each]
        del said[last]

    return change


def exchanged(value, *path):
    def change(said):
        *parents, last = path
        for each in parents:
            said = said[each]
        said[last] = value

    return change


STUDIO = (0, "annotations", 0, "result")


@pytest.mark.parametrize(
    ("export", "change", "message"),
    [
        (label_studio_spans, deleted(*STUDIO), "record 1: found no 'result'; expected a record"),
        (label_studio_spans, deleted(*STUDIO, 0, "type"), "record 1: found no 'type'; expected"),
        (
            label_studio_spans,
            exchanged([], *STUDIO, 0, "value", "labels"),
            "record 1, annotation 10, object 1: found an object of type 'labels' without a",
        ),
        (
            label_studio_boxes,
            exchanged("rectangle", *STUDIO, 1, "type"),
            "record 1, annotation 10, object 2: found an object of type 'rectangle' without",
        ),
        (
            argilla_spans,
            deleted(0, "ner.responses", 0, 0, "start"),
            "record 1, user ana: found {'end': 3, 'label': 'PER'} in an answer; expected labels, ",
        ),
        (
            argilla_spans,
            exchanged([None], 0, "ner.responses", 1),
            "record 1, user ben: found None in an answer; expected labels, spans with their start",
        ),
        (coco_boxes, deleted("images", 0), "found annotations of image 0; expected the id of one"),
        (
            coco_boxes,
            exchanged("1", "annotations", 0, "image_id"),
            "found annotations of image '1'; expected the id of one of the images of the file",
        ),
        (
            inception_spans,
            deleted("%FEATURE_STRUCTURES", 2, "begin"),
            "record 1: found no 'begin'; expected a record",
        ),
        (
            inception_spans,
            deleted("%FEATURE_STRUCTURES", 2, "%TYPE"),
            "record 1: found no '%TYPE';",
        ),
    ],
)
def test_an_object_that_is_not_whole_is_not_passed_over(export, change, message, tmp_path):
    path = export(tmp_path)
    file = path if path.is_file() else min(path.rglob("*.json"))
    said = json.loads(file.read_text())
    change(said)
    file.write_text(json.dumps(said))
    scale, kind = (PETS, "boxes") if export in BOX_TOOLS else (PEOPLE, "spans")
    with pytest.raises(RatingsError) as refused:
        ratings(path, scale, kind)
    folder = path.parent if path == file else path
    assert str(refused.value).startswith(f"{file.relative_to(folder)}: {message}")


@pytest.mark.parametrize("wrong", [None, [100], {"a": 1}, "wide"])
def test_the_size_of_an_image_of_coco_is_a_number(wrong, tmp_path):
    path = coco_boxes(tmp_path)
    file = max(path.iterdir())
    said = json.loads(file.read_text())
    said["images"][0]["width"] = wrong
    file.write_text(json.dumps(said))
    with pytest.raises(
        RatingsError, match=f"^{file.name}: record 1: found a value of another kind"
    ):
        ratings(path, PETS, "boxes")


def test_an_offset_without_an_end_is_refused(tmp_path):
    path = label_studio_spans(tmp_path)
    path.write_text(path.read_text().replace('"end": 3', '"end": 1e400', 1))
    with pytest.raises(RatingsError, match="found a value of another kind"):
        ratings(path, PEOPLE, "spans")


@pytest.mark.parametrize(
    ("export", "place"),
    [
        (label_studio_boxes, "boxes.json: record 2, annotation 20, object 2"),
        (coco_boxes, "ana.json: image 1, annotation 3"),
        (cvat_boxes, "job_ana.xml: image 2, object 2"),
        (pascal_voc_boxes, "ana/i2.png.xml, object 2"),
    ],
)
def test_a_bad_box_names_its_file_record_and_object(export, place, tmp_path):
    with pytest.raises(RatingsError, match=f"^{place}: found a box of width -5 and height 9"):
        ratings(export(tmp_path, with_box(20, 20, -5, 9, "cat")), PETS, "boxes")
    with pytest.raises(RatingsError, match=f"^{place}: found 'cat' at 190,20 20x9, which reaches"):
        ratings(export(tmp_path, with_box(190, 20, 20, 9, "cat")), PETS, "boxes")


@pytest.mark.parametrize(
    "export",
    [
        doccano_spans,
        conll_spans,
        inception_spans,
        webanno_spans,
        coco_boxes,
        cvat_boxes,
        pascal_voc_boxes,
    ],
)
def test_an_export_that_does_not_tell_nothing_from_unopened_is_refused(export, tmp_path):
    kind = "spans" if export in SPAN_TOOLS else "boxes"
    with pytest.raises(RatingsError, match=r"which cannot show \['none'\]"):
        read(export(tmp_path), NAME, rules=Rules(units=UnitSettings(kind)))


def test_a_bad_span_of_inception_names_its_file_and_object(tmp_path):
    place = "d3/ana.json: record 1, object 5"
    found = "found offset 40, where no character begins in a text of 9 code units"
    with pytest.raises(RatingsError, match=f"^{place}: {found}"):
        ratings(inception_spans(tmp_path, with_span(2, 40, "PER")), PEOPLE, "spans")
    with pytest.raises(RatingsError, match=f"^{place}: found start 5 and end 4"):
        ratings(inception_spans(tmp_path, with_span(5, 4, "PER")), PEOPLE, "spans")
    with pytest.raises(RatingsError, match=f"^{place}: found category 'LOC'"):
        ratings(inception_spans(tmp_path, with_span(4, 6, "LOC")), PEOPLE, "spans")


def test_offsets_of_inception_are_of_code_units_and_ours_of_characters(tmp_path):
    for rater in ("ana", "ben"):
        path = tmp_path / "doc" / f"{rater}.json"
        path.parent.mkdir(exist_ok=True)
        text = {"%ID": 1, "%TYPE": "uima.cas.Sofa", "sofaString": "\N{GRINNING FACE} Ben"}
        span = {"%ID": 2, "%TYPE": "x.Entity", "begin": 3, "end": 6, "value": "PER"}
        path.write_text(json.dumps({"%FEATURE_STRUCTURES": [text, span]}))
    found = ratings(tmp_path, PEOPLE, "spans", Columns(), rule="matched")
    assert {*found.to_pandas()["item"]} == {"doc 2-5"}


WEBANNO = """#FORMAT=WebAnno TSV 3.3
#T_SP=de.tudarmstadt.ukp.dkpro.core.api.ner.type.NamedEntity|identifier|value
#T_SP=webanno.custom.Mark|


#Text=\N{GRINNING FACE} Ana\\tBen .
1-1\t0-2\t\N{GRINNING FACE}\t_\t_\t_\t
1-2\t3-6\tAna\t*[1]|*[2]\tPER\\_A[1]|ORG[2]\t_\t
1-3\t7-10\tBen\t*[1]\tPER\\_A[1]\t*\t
1-4\t11-12\t.\t_\t_\t_\t

#Text=Chi
2-1\t14-17\tChi\t_\ta\\|b\t_\t
2-1.1\t15-17\thi\t_\tSUB\t_\t
"""


def webanno(folder, text=WEBANNO):
    for rater in ("ana", "ben"):
        path = folder / "doc" / f"{rater}.tsv"
        path.parent.mkdir(exist_ok=True)
        path.write_text(text)
    return folder


def test_spans_of_webanno_have_stacks_escapes_parts_of_tokens_and_code_units(tmp_path):
    entity = Columns(label="NamedEntity.value")
    marked = read_marked(webanno(tmp_path), "spans", entity, rules=Rules(requires=()))
    assert marked[0].extent == (16,)
    assert marked[0].objects == (
        Span(2, 9, "PER_A"),
        Span(2, 5, "ORG"),
        Span(13, 16, "a|b"),
        Span(14, 16, "SUB"),
    )
    mark = Columns(label="Mark")
    marked = read_marked(tmp_path, "spans", mark, rules=Rules(requires=()))
    assert marked[0].objects == (Span(6, 9, "Mark"),)


@pytest.mark.parametrize(
    ("old", "new", "message"),
    [
        ("\t*\t\n", "\n", "row 9: found 5 cells; expected the number, the offsets and the text"),
        ("7-10", "7-30", "row 8, object 1: found offset 30, where no character begins"),
        ("14-17", "9000000000-9000000001", "row 13: found a sentence that begins at 9000000000"),
        ("14-17", "4-7", "row 13: found a sentence that begins at 4, and the text before it ends"),
        ("14-17", "17-14", "row 13, object 4: found start 16 and end 13; expected an end after"),
    ],
)
def test_a_bad_line_of_webanno_names_its_file_and_row(old, new, message, tmp_path):
    path = webanno(tmp_path, WEBANNO.replace(old, new))
    rules = Rules(requires=())
    with pytest.raises(RatingsError, match=f"^doc/ana.tsv: {message}"):
        read_marked(path, "spans", Columns(label="NamedEntity.value"), rules=rules)


def conll(folder, *lines, name="ana.conll"):
    (folder / name).write_text("\n".join([*lines, ""]))
    return folder


CONLL = {
    "BIO": ("B-PER", "I-PER", "B-PER", "O", "B-ORG"),
    "BIOES": ("B-PER", "E-PER", "S-PER", "O", "S-ORG"),
    "BILOU": ("B-PER", "L-PER", "U-PER", "O", "U-ORG"),
    "IOB1": ("I-PER", "I-PER", "B-PER", "O", "I-ORG"),
}


@pytest.mark.parametrize("tags", CONLL.values(), ids=CONLL)
def test_every_way_to_tag_is_the_same_spans(tags, tmp_path):
    lines = [f"{word}\t{tag}" for word, tag in zip("abcde", tags, strict=True)]
    for rater in ("ana", "ben"):
        conll(tmp_path, *lines, name=f"{rater}.conll")
    found = ratings(tmp_path, PEOPLE, "spans", Columns(), rule="matched")
    assert {*zip(found.to_pandas()["item"], found.to_pandas()["label"], strict=True)} == {
        ("1 0-3", "PER"),
        ("1 4-5", "PER"),
        ("1 8-9", "ORG"),
    }


@pytest.mark.parametrize("form", ["conll", "webanno"])
def test_bytes_of_another_encoding_in_files_of_tokens_are_refused_with_their_line(form, tmp_path):
    folder, data = webanno(tmp_path), WEBANNO.replace("Chi", "Ch\xe9").encode("latin-1", "replace")
    file, line = tmp_path / "doc" / "ben.tsv", 12
    if form == "conll":
        folder = tmp_path / "conll"
        folder.mkdir()
        conll(folder, *["a\tO"] * 99)
        file, line = folder / "ben.conll", 40_001
        data = b"a\tO\n" * 40_000 + b"caf\xe9\tO\n"
    file.write_bytes(data)
    place = file.relative_to(folder)
    with pytest.raises(RatingsError, match=f"^{place}: line {line}: found byte 0xe9, which is not"):
        read_marked(folder, "spans", rules=Rules(requires=()))


def test_a_column_of_conll_for_each_rater(tmp_path):
    lines = ("# global.columns = FORM ana ben", "Ana\tB-PER\tO", "met\tO\tO", "", "Ben\tO\tB-PER")
    found = ratings(conll(tmp_path, *lines), PEOPLE, "spans", Columns(), rule="matched").to_pandas()
    assert [*zip(found["item"], found["rater"], found["label"], strict=True)] == [
        ("1 0-3", "ana", "PER"),
        ("1 0-3", "ben", "none"),
        ("2 0-3", "ana", "none"),
        ("2 0-3", "ben", "PER"),
    ]


def test_documents_of_conll_are_marked_or_are_files(tmp_path):
    lines = ("-DOCSTART- -X- O", "", "Ana B-PER", "", "met O", "-DOCSTART- -X- O", "", "Ben O")
    for rater in ("ana", "ben"):
        conll(tmp_path, *lines, name=f"{rater}.conll")
    found = ratings(tmp_path, PEOPLE, "spans", Columns()).to_pandas()["item"]
    assert {*found} == {"1 0-3", "1 3-7", "2 0-3"}


@pytest.mark.parametrize(
    ("lines", "message"),
    [
        (
            ("Ana B-PER", "met O", "Ben PER"),
            "row 3: found tag 'PER'; expected O, or a category after B-, I-, E-, L-, S- or U-",
        ),
        (("Ana B-PER", "met"), "row 2: found 1 cell; expected a token and its tag"),
    ],
)
def test_a_bad_line_of_conll_names_its_file_and_row(lines, message, tmp_path):
    rules = Rules(reader="conll", units=UnitSettings("spans"), requires=())
    with pytest.raises(RatingsError, match=f"^ana.conll: {message}"):
        read(conll(tmp_path, *lines), rules=rules)


def test_a_line_of_webanno_that_begins_with_no_token_says_so(tmp_path):
    path = webanno_spans(tmp_path) / "d1" / "ana.tsv"
    path.write_text(path.read_text().replace("1-1\t", "1:1\t", 1))
    rules = Rules(reader="webanno", units=UnitSettings("spans"), requires=())
    with pytest.raises(
        RatingsError, match=r"found \d cells that begin with '1:1'; expected the nu"
    ):
        read(path.parents[1], rules=rules)


def test_a_body_of_coco_without_an_area_is_no_mask(tmp_path):
    path = coco_boxes(tmp_path) / "ana.json"
    record = json.loads(path.read_text())
    for each in record["annotations"]:
        each["segmentation"] = []
    path.write_text(json.dumps(record))
    rules = Rules(reader="coco", units=UnitSettings("polygons"), requires=())
    with pytest.raises(RatingsError, match="found no area; expected one polygon"):
        read(path.parent, NAME, rules=rules)


@pytest.mark.parametrize("encoding", ["uf-8", "shift_jis"])
def test_xml_in_an_encoding_that_nobody_knows_is_refused(encoding, tmp_path):
    path = cvat_boxes(tmp_path) / "job_ana.xml"
    path.write_text(path.read_text().replace("utf-8", encoding))
    rules = Rules(reader="cvat", units=UnitSettings("boxes"), requires=())
    with pytest.raises(RatingsError, match=r"job_ana\.xml: found text that is not readable"):
        read(path.parent, NAME, rules=rules)


@pytest.mark.parametrize("filler", [0, 200_000])
def test_xml_with_declarations_is_refused(filler, tmp_path):
    path = pascal_voc_boxes(tmp_path) / "ana" / "i1.png.xml"
    grows = '<!DOCTYPE a [<!ENTITY b "bbbbbbbb">]>'
    path.write_text(f"<!--{'x' * filler}-->{grows}{path.read_text()}")
    rules = Rules(reader="pascal_voc", units=UnitSettings("boxes"), requires=())
    with pytest.raises(RatingsError, match=r"^ana/i1.png.xml: found a DOCTYPE; expected none"):
        read(tmp_path / "voc", rules=rules)


def test_a_file_of_no_rater_or_document_is_refused(tmp_path):
    voc = pascal_voc_boxes(tmp_path) / "ana"
    with pytest.raises(RatingsError, match="found an image in no folder, so no rater"):
        ratings(voc, PETS, "boxes")
    inception = inception_spans(tmp_path) / "d1"
    with pytest.raises(RatingsError, match="found a file in no folder, so no document"):
        ratings(inception, PEOPLE, "spans")


def test_an_export_without_such_objects_is_refused(tmp_path):
    with pytest.raises(RatingsError, match="found a format whose boxes are not read"):
        ratings(EXPORTS / "toloka" / "assignments.tsv", None, "boxes", Columns())
    with pytest.raises(RatingsError, match="found spans; expected boxes only"):
        ratings(doccano_spans(tmp_path), None, "boxes")
    (tmp_path / "round.csv").write_text("item,rater,label\ni,a,no\ni,b,yes\n")
    with pytest.raises(RatingsError, match="expected the export of a tool"):
        ratings(tmp_path / "round.csv", None, "spans", Columns())


def test_answers_without_a_marked_object_are_refused_with_the_file(tmp_path):
    path = label_studio_spans(tmp_path)
    tasks = json.loads(path.read_text())
    for annotation in (each for task in tasks for each in task["annotations"]):
        annotation["result"] = []
    path.write_text(json.dumps(tasks))
    with pytest.raises(RatingsError, match=f"^{path.name}: found no marked object in \\d+ answers"):
        ratings(path, None, "spans")


def ranked(*names):
    value = {"ranker": {"_": list(names)}}
    return [{"type": "ranker", "from_name": "order", "to_name": "list", "value": value}]


def preferred(side):
    value = {"selected": side}
    return [{"type": "pairwise", "from_name": "better", "to_name": "a,b", "value": value}]


def test_rankings_and_preferences_of_label_studio(tmp_path):
    path = label_studio_results(tmp_path, ana=ranked("x", "y", "z"), ben=ranked("y", "x", "z"))
    said = ratings(path, None, "rankings").to_pandas()
    assert said["item"].tolist()[:2] == ["q1 x : y", "q1 x : y"]
    assert said["label"].tolist() == ["first", "second", "first", "first", "first", "first"]
    path = label_studio_results(tmp_path, ana=preferred("left"), ben=preferred("right"))
    assert ratings(path, None, "preferences").to_pandas()["label"].tolist() == ["first", "second"]


@pytest.mark.parametrize(
    ("kind", "value"),
    [
        ("brushlabels", {"format": "rle", "rle": [1, 2]}),
        ("bitmasklabels", {"imageDataURL": "data:image/png;base64,AA"}),
        ("vectorlabels", {"vertices": [{"x": 1, "y": 2}]}),
        ("timelinelabels", {"ranges": [{"start": 1, "end": 5}]}),
        ("labels", {"sequence": [{"frame": 1, "x": 1, "y": 2, "width": 3, "height": 4}]}),
        ("choices", {"format": "rle", "rle": [1, 2]}),
    ],
)
def test_the_label_of_an_area_is_no_label_of_the_item(kind, value, tmp_path):
    area = {"type": kind, "from_name": "area", "value": {**value, kind: ["car"]}}
    path = label_studio_results(tmp_path, ana=[area], ben=[area])
    with pytest.raises(RatingsError, match=r"found no question 'area' among \[\]; .*`guide units`"):
        read(path, Columns(item="name", label="area"))


def test_a_ranking_beside_choices_is_no_label_of_its_own(tmp_path):
    chosen = {"type": "choices", "from_name": "mood", "value": {"choices": ["good"]}}
    message = {"type": "chatmessage", "from_name": "talk", "value": {"chatmessage": {"a": 1}}}
    path = label_studio_results(
        tmp_path, ana=[*ranked("x", "y"), message, chosen], ben=[*ranked("y", "x"), chosen]
    )
    mood = Scale(("good", "bad"))
    assert read(path, NAME, scale=mood).to_pandas()["label"].tolist() == ["good", "good"]
    path = label_studio_results(tmp_path, ana=ranked("x", "y"), ben=ranked("y", "x"))
    main(["init", str(path), "--root", str(tmp_path)])
    (written,) = (tmp_path / "configs" / "projects").iterdir()
    assert "units: {kind: rankings" in written.read_text()


def test_a_task_of_label_studio_tells_in_which_order_alternatives_were_displayed(tmp_path):
    path = label_studio_results(tmp_path, ana=ranked("x", "y", "z"), ben=ranked("y", "x", "z"))
    assert ratings(path, None, "rankings").strata == {}
    tasks = json.loads(path.read_text())
    tasks[0]["data"] |= {"places": ["y", "x"], "answers": [{"id": name} for name in "zxwy"]}
    path.write_text(json.dumps(tasks))
    found = ratings(path, None, "rankings")
    items = found.items(["stratum:shown"]).to_pylist()
    assert [(each["item"], each["stratum:shown"]) for each in items] == [
        ("q1 x : y", "first"),
        ("q1 x : z", "second"),
        ("q1 y : z", "second"),
    ]


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
    said = ratings(path, PETS, "polygons").to_pandas()
    assert said["item"].tolist() == ["q1 20,10 with 4 corners"] * 2
    bow = [square[0], square[2], square[1], square[3]]
    path = label_studio_results(tmp_path, ana=polygon(square), ben=polygon(bow))
    message = "^results.json: record 1, annotation 11, object 1: found a polygon whose sides"
    with pytest.raises(RatingsError, match=message):
        ratings(path, PETS, "polygons")


def coco_keypoints(folder, **raters):
    """One image, and the bodies of each rater in it."""
    for rater, bodies in raters.items():
        annotations = [
            {"id": n, "image_id": 1, "category_id": 1, "bbox": [0, 0, 90, 90], **body}
            for n, body in enumerate(bodies)
        ]
        record = {
            "images": [{"id": 1, "file_name": "i1.png", "width": 200, "height": 100}],
            "annotations": annotations,
            "categories": [{"id": 1, "name": "person"}],
        }
        (folder / f"{rater}.json").write_text(json.dumps(record))
    return folder


def test_keypoints_of_coco(tmp_path):
    ana = {"keypoints": [0, 0, 0, *[50, 40, 2] * 16], "area": 900}
    ben = {"keypoints": [50, 40, 1] * 17, "area": 900}
    unset = {"keypoints": [0, 0, 0] * 17, "area": 900}
    path = coco_keypoints(tmp_path, ana=[ana, unset, {}], ben=[ben])
    persons = Scale(("none", "person"))
    said = ratings(path, persons, "keypoints", at_least=0.9).to_pandas()
    assert [*zip(said["item"], said["rater"], said["label"], strict=True)] == [
        ("i1.png 50,40 with 16 keypoints", "ana", "person"),
        ("i1.png 50,40 with 16 keypoints", "ben", "person"),
    ]
    coco_keypoints(tmp_path, ana=[{**ana, "area": 0}])
    with pytest.raises(RatingsError, match=r"^ana.json: image 1, annotation 0: found a body of ar"):
        ratings(path, persons, "keypoints")


def test_a_model_is_asked_only_what_it_answered(tmp_path):
    path = label_studio_spans(tmp_path)
    tasks = json.loads(path.read_text())
    tasks[0]["predictions"] = [{"id": 5, "model_version": "m", "result": []}]
    path.write_text(json.dumps(tasks))
    assert ratings(path, PEOPLE, "spans").classifiers == ()


CORNERS = ((10, 20), (40, 20), (40, 60.5))
FREE = Rules(requires=())


def cvat_polygons(folder):
    points = ";".join(f"{x:.2f},{y:.2f}" for x, y in CORNERS)
    (folder / "job.xml").write_text(
        "<annotations><meta><job><assignee>ana</assignee></job></meta>"
        f'<image id="0" name="i1.png" width="200" height="100"><polygon label="cat" '
        f'source="manual" points="{points}" z_order="0"></polygon></image></annotations>'
    )
    return folder / "job.xml"


def coco_polygons(folder):
    path = coco_boxes(folder, {("i1.png", "ana"): [(10, 20, 30, 40.5, "cat")]}) / "ana.json"
    record = json.loads(path.read_text())
    record["annotations"][0]["segmentation"] = [[each for point in CORNERS for each in point]]
    path.write_text(json.dumps(record))
    return path


def prodigy_areas(folder):
    area = {"id": "1", "label": "cat", "type": "polygon", "points": [*map(list, CORNERS)]}
    record = {"image": "i.png", "width": 200, "height": 100, "spans": [area], "answer": "accept"}
    path = folder / "areas.jsonl"
    path.write_text(json.dumps({**record, "_task_hash": 1, "_session_id": "pets-ana"}))
    return path


@pytest.mark.parametrize("export", [cvat_polygons, coco_polygons, prodigy_areas])
def test_polygons_have_the_corners_that_the_tool_wrote(export, tmp_path):
    columns = Columns() if export is prodigy_areas else NAME
    (said,) = read_marked(export(tmp_path), "polygons", columns, rules=FREE)
    assert (said.rater, said.objects, said.extent) == ("ana", (Polygon(CORNERS, "cat"),), SIZE)


def test_a_box_of_prodigy_is_the_frame_of_its_corners(tmp_path):
    (said,) = read_marked(prodigy_areas(tmp_path), "boxes")
    assert said.objects == (Box(10, 20, 30, 40.5, "cat"),)


def test_entities_of_doccano_are_spans(tmp_path):
    entity = {"id": 3, "label": "PER", "start_offset": 8, "end_offset": 11}
    row = {"id": 1, "text": "Ana met Ben", "entities": [entity], "relations": [], "Comments": []}
    (tmp_path / "ana.jsonl").write_text(json.dumps(row))
    (said,) = read_marked(tmp_path / "ana.jsonl", "spans", rules=FREE)
    assert (said.objects, said.extent) == ((Span(8, 11, "PER"),), (11,))


def test_segments_of_label_studio_are_in_seconds(tmp_path):
    value = {"start": 0.5, "end": 2.25, "channel": 0, "labels": ["speech"]}
    part = {"type": "labels", "from_name": "who", "original_length": 12.5, "value": value}
    (said,) = read_marked(label_studio_results(tmp_path, ana=[part]), "segments")
    assert (said.objects, said.extent) == ((Segment(0.5, 2.25, "speech"),), (12.5,))


@pytest.mark.parametrize(
    ("export", "old", "new", "message"),
    [
        (coco_boxes, '"category_id": 1', '"category_id": 9', "annotation 0: found category 9; exp"),
        (pascal_voc_boxes, "bndbox", "robndbox", "object 1: found no bndbox; expected the corners"),
        (label_studio_boxes, '"rotation": 0', '"rotation": 30', "object 1: found a rotation of 30"),
    ],
)
def test_a_box_that_cannot_be_read_as_one_says_why(export, old, new, message, tmp_path):
    path = export(tmp_path)
    for each in [path] if path.is_file() else [*path.rglob("*.*")]:
        each.write_text(each.read_text().replace(old, new))
    with pytest.raises(RatingsError, match=message):
        ratings(path, PETS, "boxes")


def choices(name, *ticked):
    return {"type": "choices", "from_name": name, "value": {"choices": [*ticked]}}


def units_said(path, kind):
    found = ratings(path, None, kind).to_pandas()
    return {
        (item, rater): label for item, rater, label in found.iloc[:, :3].itertuples(index=False)
    }


def test_ticks_are_a_set_and_nothing_ticked_an_empty_one(tmp_path):
    path = label_studio_results(tmp_path, ana=[choices("topics", "x", "y")], ben=[])
    said = {("q1 x", "ana"): "yes", ("q1 y", "ana"): "yes"}
    assert units_said(path, "sets") == said | {("q1 x", "ben"): "no", ("q1 y", "ben"): "no"}


def test_a_score_and_a_single_tick_are_criteria_of_a_rubric(tmp_path):
    def answers(tone, *ticked):
        rated = {"type": "rating", "from_name": "tone", "value": {"rating": tone}}
        return [rated, choices("right", ticked[0]), choices("topics", *ticked)]

    path = label_studio_results(tmp_path, ana=answers(4, "x"), ben=answers(3, "y", "x"))
    assert units_said(path, "rubrics") == {
        ("q1 right", "ana"): "x",
        ("q1 right", "ben"): "y",
        ("q1 tone", "ana"): "4",
        ("q1 tone", "ben"): "3",
    }


def test_units_have_the_stratum_and_the_cluster_of_their_document(tmp_path):
    path = label_studio_spans(tmp_path)
    tasks = json.loads(path.read_text())
    for task in tasks:
        task["data"] |= {"language": "de" if task["data"]["name"] == "d3" else "en", "book": "b"}
    path.write_text(json.dumps(tasks))
    rules = Rules(units=UnitSettings("spans"), strata=("language",))
    found = read(path, Columns(item="name", cluster="book"), scale=PEOPLE, rules=rules)
    known = found.items(["cluster", "stratum:language"]).to_pydict()
    languages = dict(zip(known["item"], known["stratum:language"], strict=True))
    assert {item for item, of in languages.items() if of == "de"} == {"d3 0-3", "d3 3-9"}
    assert {*known["cluster"]} == {"b"}
