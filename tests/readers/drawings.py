"""The same objects as several tools export them."""

import json

TEXTS = {"d1": "Ana met Ben at Acme .", "d2": "Nothing here.", "d3": "Chi left."}
SPANS = {
    ("d1", "ana"): [(0, 3, "PER"), (15, 19, "ORG")],
    ("d1", "ben"): [(0, 3, "PER"), (8, 11, "PER")],
    ("d2", "ana"): [],
    ("d2", "ben"): [(0, 7, "ORG")],
    ("d3", "ana"): [(0, 3, "PER")],
}
BOXES = {
    ("i1.png", "ana"): [(10, 20, 30, 40, "cat"), (60, 10, 20, 20, "dog")],
    ("i1.png", "ben"): [(12, 20, 30, 40, "cat")],
    ("i2.png", "ana"): [],
    ("i2.png", "ben"): [(5, 5, 25, 50, "dog")],
}
SIZE = (200, 100)
RATERS = ("ana", "ben")


def _write(path, value):
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(value if isinstance(value, str) else json.dumps(value))


def _lines(path, records):
    _write(path, "\n".join(map(json.dumps, records)))


def _task(number, item, data, results):
    annotations = [
        {"id": 10 * number + n, "completed_by": rater, "result": result, "was_cancelled": False}
        for n, (rater, result) in enumerate(results.items())
    ]
    return {"id": number, "data": {"name": item, **data}, "annotations": annotations}


def _of_item(objects, item):
    return {rater: said for (name, rater), said in objects.items() if name == item}


def label_studio_spans(folder, spans=SPANS):
    def result(said):
        return [
            {
                "type": "labels",
                "from_name": "ner",
                "to_name": "text",
                "value": {"start": start, "end": end, "labels": [label]},
            }
            for start, end, label in said
        ]

    tasks = [
        _task(
            n,
            item,
            {"text": text},
            {rater: result(said) for rater, said in _of_item(spans, item).items()},
        )
        for n, (item, text) in enumerate(TEXTS.items(), 1)
    ]
    _write(folder / "label_studio.json", tasks)
    return folder / "label_studio.json"


def prodigy_spans(folder, spans=SPANS):
    records = [
        {
            "text": TEXTS[item],
            "meta": {"name": item},
            "spans": [{"start": s, "end": e, "label": label} for s, e, label in said],
            "answer": "accept",
            "_task_hash": list(TEXTS).index(item),
            "_session_id": f"news-{rater}",
        }
        for (item, rater), said in spans.items()
    ]
    _lines(folder / "prodigy.jsonl", records)
    return folder / "prodigy.jsonl"


def doccano_spans(folder, spans=SPANS):
    for rater in RATERS:
        rows = [
            {
                "id": list(TEXTS).index(item),
                "text": TEXTS[item],
                "name": item,
                "label": said,
                "Comments": [],
            }
            for (item, who), said in spans.items()
            if who == rater
        ]
        _lines(folder / "doccano" / f"{rater}.jsonl", rows)
    return folder / "doccano"


def argilla_spans(folder, spans=SPANS):
    records = []
    for item, text in TEXTS.items():
        said = _of_item(spans, item)
        records.append(
            {
                "id": item,
                "text": text,
                "name": item,
                "ner.responses": [
                    [{"start": s, "end": e, "label": label} for s, e, label in each]
                    for each in said.values()
                ],
                "ner.responses.users": list(said),
                "ner.responses.status": ["submitted"] * len(said),
            }
        )
    _write(folder / "argilla.json", records)
    return folder / "argilla.json"


def conll_spans(folder, spans=SPANS):
    for (item, rater), said in spans.items():
        tags, at = [], 0
        for token in TEXTS[item].split():
            inside = next((each for each in said if each[0] <= at < each[1]), None)
            mark = "O" if inside is None else f"{'B' if inside[0] == at else 'I'}-{inside[2]}"
            tags.append(f"{token} _ {mark}")
            at += len(token) + 1
        path = folder / "conll" / f"{rater}.conll"
        path.parent.mkdir(parents=True, exist_ok=True)
        with path.open("a") as file:
            print(f"# newdoc id = {item}", *tags, "", sep="\n", file=file)
    return folder / "conll"


def inception_spans(folder, spans=SPANS):
    for (item, rater), said in spans.items():
        text = TEXTS[item]
        layer = [
            {"%ID": n, "%TYPE": "custom.Entity", "@sofa": 1, "begin": s, "end": e, "value": label}
            for n, (s, e, label) in enumerate(said, 4)
        ]
        structures = [
            {"%ID": 1, "%TYPE": "uima.cas.Sofa", "sofaString": text},
            {"%ID": 2, "%TYPE": "uima.tcas.DocumentAnnotation", "begin": 0, "end": len(text)},
            *layer,
        ]
        path = folder / "inception" / item / f"{rater}.json"
        _write(path, {"%TYPES": {}, "%FEATURE_STRUCTURES": structures, "%VIEWS": {}})
    return folder / "inception"


def webanno_spans(folder, spans=SPANS):
    for (item, rater), said in spans.items():
        tokens, at = [], 0
        for n, token in enumerate(TEXTS[item].split(), 1):
            inside = next((k for k, each in enumerate(said, 1) if each[0] <= at < each[1]), None)
            value = "_" if inside is None else f"{said[inside - 1][2]}[{inside}]"
            tokens.append(f"1-{n}\t{at}-{at + len(token)}\t{token}\t_\t{value}\t_\t")
            at += len(token) + 1
        header = ["#FORMAT=WebAnno TSV 3.3", "#T_SP=custom.Entity|note|value"]
        lines = [*header, "#T_RL=custom.Of|BT_custom.Entity", "", "", f"#Text={TEXTS[item]}"]
        _write(folder / "webanno" / item / f"{rater}.tsv", "\n".join([*lines, *tokens, ""]))
    return folder / "webanno"


def label_studio_boxes(folder, boxes=BOXES):
    width, height = SIZE

    def result(said):
        return [
            {
                "type": "rectanglelabels",
                "from_name": "box",
                "to_name": "image",
                "original_width": width,
                "original_height": height,
                "value": {
                    "x": x * 100 / width,
                    "y": y * 100 / height,
                    "width": w * 100 / width,
                    "height": h * 100 / height,
                    "rotation": 0,
                    "rectanglelabels": [label],
                },
            }
            for x, y, w, h, label in said
        ]

    items = sorted({item for item, _ in boxes})
    tasks = [
        _task(n, item, {}, {rater: result(s) for rater, s in _of_item(boxes, item).items()})
        for n, item in enumerate(items, 1)
    ]
    _write(folder / "boxes.json", tasks)
    return folder / "boxes.json"


def coco_boxes(folder, boxes=BOXES, names=("cat", "dog")):
    for rater in RATERS:
        items = sorted(item for item, who in boxes if who == rater)
        annotations = [
            {"image_id": n, "category_id": names.index(label) + 1, "bbox": [x, y, w, h]}
            for n, item in enumerate(items)
            for x, y, w, h, label in boxes[item, rater]
        ]
        _write(
            folder / "coco" / f"{rater}.json",
            {
                "images": [
                    {"id": n, "file_name": item, "width": SIZE[0], "height": SIZE[1]}
                    for n, item in enumerate(items)
                ],
                "annotations": [{"id": n, **each} for n, each in enumerate(annotations)],
                "categories": [{"id": n, "name": name} for n, name in enumerate(names, 1)],
            },
        )
    return folder / "coco"


def cvat_boxes(folder, boxes=BOXES):
    for rater in RATERS:
        images = "".join(
            f'<image id="{n}" name="{item}" width="{SIZE[0]}" height="{SIZE[1]}">'
            + "".join(
                f'<box label="{label}" source="manual" occluded="0" xtl="{x:.2f}" ytl="{y:.2f}" '
                f'xbr="{x + w:.2f}" ybr="{y + h:.2f}" z_order="0"></box>'
                for x, y, w, h, label in said
            )
            + "</image>"
            for n, ((item, who), said) in enumerate(sorted(boxes.items()))
            if who == rater
        )
        _write(
            folder / "cvat" / f"job_{rater}.xml",
            '<?xml version="1.0" encoding="utf-8"?>\n<annotations><version>1.1</version>'
            f"<meta><job><assignee>{rater}</assignee></job></meta>{images}</annotations>",
        )
    return folder / "cvat"


def pascal_voc_boxes(folder, boxes=BOXES):
    for (item, rater), said in boxes.items():
        objects = "".join(
            f"<object><name>{label}</name><bndbox><xmin>{x}</xmin><ymin>{y}</ymin>"
            f"<xmax>{x + w}</xmax><ymax>{y + h}</ymax></bndbox></object>"
            for x, y, w, h, label in said
        )
        _write(
            folder / "voc" / rater / f"{item}.xml",
            f"<annotation><filename>{item}</filename><size><width>{SIZE[0]}</width>"
            f"<height>{SIZE[1]}</height><depth>3</depth></size>{objects}</annotation>",
        )
    return folder / "voc"


def label_studio_results(folder, **results):
    """One task with a result of each rater."""
    _write(folder / "results.json", [_task(1, "q1", {}, results)])
    return folder / "results.json"
