"""Releases of every kind of project, as each program that the documentation names reads them.

Labels, soft labels, votes, texts, groups, splits and places must be what a slow loop over the
delivery gives.
"""

import hashlib
import json
import math
from collections import Counter
from itertools import combinations, groupby, pairwise
from typing import NamedTuple

import duckdb
import numpy as np
import pandas as pd
import polars as pl
import pyarrow.parquet as pq
import pytest

from agreement_pipeline import open_release
from agreement_pipeline.policy import Policy, Rule
from agreement_pipeline.ratings import Scale
from agreement_pipeline.readers import Columns, Rules, read
from agreement_pipeline.release import release_round
from agreement_pipeline.store import Store
from agreement_pipeline.units import Marked, Segment, UnitSettings, units_of
from tests.release.rounds import CONTRACT

RATERS = ("ana", "ben", "chi", "dan")


def policy_for(measure):
    return Policy(
        "readers",
        1,
        (Rule(measure, reliable=0.67, tentative=0.667),),
        admit=("reliable", "tentative"),
        n_resamples=1000,
        passed_by_guessing="these tests look at what is released, whatever raters agree on",
    )


SCALES = {
    "ordinal numbers": (Scale((1, 2, 3, 4, 5), "ordinal"), (1, 2, 3, 4, 5)),
    "ordinal numbers from 0": (Scale((0, 1, 2), "ordinal"), (0, 1, 2)),
    "ordinal words": (Scale(("low", "middle", "high"), "ordinal"), ("low", "middle", "high")),
    "halves": (Scale((1, 1.5, 2), "ordinal"), (1.0, 1.5, 2.0)),
    "nominal codes": (Scale((10, 20, 30)), (10, 20, 30)),
    "booleans": (Scale((False, True)), (False, True)),
    "words": (Scale(("yes", "no", "a, b")), ("yes", "no", "a, b")),
    "numbers as names": (Scale(("007", "7")), ("007", "7")),
    "interval": (Scale((1, 2, 3, 4), "interval"), (1.0, 2.0, 3.0, 4.0)),
    "continuous": (Scale(None, "ratio"), (0.25, 17.0, 62.5)),
}
TRAIN, UNRESOLVED, ANNOTATIONS = (
    f"{path}-00000-of-00001.parquet"
    for path in ("data/train", "unresolved/unresolved", "annotations/train")
)


class Delivered(NamedTuple):
    """Ratings of a delivery, and the rows that its release must have.

    Attributes
    ----------
    key
        The columns that name a row.
    rows
        What each row must hold, by its key.
    """

    ratings: object
    key: tuple[str, ...]
    rows: dict[tuple, dict]


# The slow loop


def settle(labels):
    """The label of several raters, as the guide says it. None if none follows."""
    (first, most), *others = Counter(labels).most_common()
    return None if len(labels) < 2 or (others and others[0][1] == most) else first


def split_of(key):
    """What the guide says: the name of the cluster alone decides, 80, 10 and 10 of 100."""
    draw = int(hashlib.sha256(key.encode()).hexdigest()[:16], 16) % 100
    return "train" if draw < 80 else "validation" if draw < 90 else "test"


def row_of(labels, values, level, **more):
    """What labels of one item give on these categories; none are values on a continuum."""
    row = {"n_raters": len(labels), "n_ratings": len(labels), **more}
    if level in ("interval", "ratio"):
        row["label"] = math.fsum(labels) / len(labels) if len(labels) > 1 else None
    else:
        row["label"] = settle(labels)
        row["label_id"] = None if row["label"] is None else values.index(row["label"])
    if level != "ratio":
        row["votes"] = [sum(label == value for label in labels) for value in values]
        row["soft_label"] = [count / len(labels) for count in row["votes"]]
    return row


# Deliveries


def labels_by_rater(rng, values, error=0.06):
    """Labels of some raters of an item; of one alone for some items."""
    truth = values[int(rng.integers(len(values)))]
    is_single = rng.random() < 0.07
    return {
        rater: truth if rng.random() > error else values[int(rng.integers(len(values)))]
        for rater in (RATERS[:1] if is_single else RATERS)
        if is_single or rater == RATERS[1] or rng.random() < 0.95
    }


def deliver_items(folder, rng, scale, values):
    """Plain items with texts and threads."""
    records, rows = [], {}
    for n in range(60):
        item, thread, text = f"i{n:02}", f"thread {n // 3}", f'Text {n}\nwith ä, "quotes" and 🙂'
        labels = labels_by_rater(rng, values, 0.06 if scale.names else 0)
        if not scale.names:
            labels = {rater: label + float(rng.integers(4)) / 10 for rater, label in labels.items()}
        records += [
            {"post": item, "who": rater, "said": label, "body": text, "thread": thread}
            for rater, label in labels.items()
        ]
        more = {"text": text, "cluster": thread, "split": split_of(thread)}
        rows[(item,)] = row_of([*labels.values()], values, scale.level, **more)
    path = folder / "delivered.jsonl"
    path.write_text("".join(json.dumps(record) + "\n" for record in records), "utf-8")
    columns = Columns(item="post", rater="who", label="said", text="body", cluster="thread")
    return Delivered(read(path, columns, scale=scale), ("id",), rows)


def draw_spans(rng, text):
    """Spans of some words, which raters see more or less alike."""
    words, at = [], 0
    for word in text.split(" "):
        words.append((at, at + len(word)))
        at += len(word) + 1
    truth = [(word, str(rng.choice(["PER", "ORG"]))) for word in words if rng.random() < 0.4]
    return {
        rater: [(*word, label if rng.random() > 0.1 else "ORG") for word, label in truth]
        for rater in RATERS
        if rng.random() < 0.9
    }


def runs_of(spans_by_rater, length):
    """Runs of positions at which nobody's span begins or ends, with the labels there."""

    def seen(at):
        return tuple(
            next((span for span in spans if span[0] <= at < span[1]), None)
            for spans in spans_by_rater.values()
        )

    for state, run in groupby(range(length), seen):
        places = [*run]
        labels = [span[2] if span else "none" for span in state]
        yield (places[0], places[-1] + 1), labels


def deliver_spans(folder, rng):
    """Spans in texts, as Label Studio exports them."""
    tasks, rows, values = [], {}, ["none", "PER", "ORG"]
    for n in range(60):
        document, text = f"doc {n}", "Ana met Ben at IBM in Rome"
        drawn = draw_spans(rng, text) or {"ana": []}
        results = {
            rater: [
                {
                    "type": "labels",
                    "from_name": "ner",
                    "value": {"start": a, "end": b, "text": text[a:b], "labels": [label]},
                }
                for a, b, label in spans
            ]
            for rater, spans in drawn.items()
        }
        tasks.append(task_of(n, document, results, text=text))
        for (start, end), labels in runs_of(drawn, len(text)):
            more = {"text": text, "cluster": document, "split": split_of(document)}
            rows[document, start, end] = row_of(labels, values, "nominal", **more)
    ratings = read_tasks(folder, tasks, "spans", scale=Scale(tuple(values)))
    return Delivered(ratings, ("unit_of", "start", "end"), rows)


def deliver_segments(folder, rng):
    """Segments of recordings in steps of half a second."""
    marked, rows, values = [], {}, ["none", "speech", "noise"]
    for n in range(60):
        recording, bounds = f"tape {n}", sorted({0, 20, *rng.integers(1, 20, 3).tolist()})
        truth = [(a, b, str(rng.choice(values))) for a, b in pairwise(bounds)]
        by_rater = {
            rater: [
                (a, b, label if rng.random() > 0.1 else "noise")
                for a, b, label in truth
                if label != "none"
            ]
            for rater in RATERS
        }
        marked += [
            Marked(recording, rater, tuple(Segment(a / 2, b / 2, x) for a, b, x in spans), (10.0,))
            for rater, spans in by_rater.items()
        ]
        for (start, end), labels in runs_of(by_rater, 20):
            more = {"cluster": recording, "split": split_of(recording)}
            rows[recording, start, end] = row_of(labels, values, "nominal", **more)
    units = units_of(marked, UnitSettings("segments", step=0.5), Scale(tuple(values)))
    return Delivered(units.ratings, ("unit_of", "start", "end"), rows)


def task_of(n, item, results, **data):
    return {
        "id": n,
        "data": {"name": item, **data},
        "annotations": [
            {"id": 100 * n + k, "completed_by": {"email": f"{rater}@x.org"}, "result": result}
            for k, (rater, result) in enumerate(results.items())
        ],
    }


def read_tasks(folder, tasks, kind, scale=None, **settings):
    path = folder / "delivered.json"
    path.write_text(json.dumps(tasks), "utf-8")
    rules = Rules(units=UnitSettings(kind, **settings), requires=())
    return read(path, Columns(item="name"), scale=scale, rules=rules)


def deliver_boxes(folder, rng):
    """Boxes that lie far apart, which all raters draw at the same place."""
    delivered, rows, values = {rater: [] for rater in RATERS}, {}, ["none", "cat", "dog"]
    for n in range(60):
        for k in range(int(rng.integers(1, 4))):
            box = (100 * k + 10.125, 50 + n / 8, 40 + 1 / 3, 1234567.25)
            labels = labels_by_rater(rng, [1, 2])
            for rater, label in labels.items():
                delivered[rater].append((n, box, label))
            seen = [values[labels.get(rater, 0)] for rater in RATERS]
            image = f"{n}.jpg"
            more = {"cluster": image, "split": split_of(image), "image_width": 640}
            rows[(image, *box)] = row_of(seen, values, "nominal", **more)
    for rater, objects in delivered.items():
        record = {
            "images": [
                {"id": n, "file_name": f"{n}.jpg", "width": 640, "height": 9e6} for n in range(60)
            ],
            "annotations": [
                {"id": place, "image_id": n, "category_id": label, "bbox": box}
                for place, (n, box, label) in enumerate(objects)
            ],
            "categories": [{"id": 1, "name": "cat"}, {"id": 2, "name": "dog"}],
        }
        (folder / f"{rater}.json").write_text(json.dumps(record))
    rules = Rules(units=UnitSettings("boxes"), requires=())
    ratings = read(folder, Columns(item="name"), scale=Scale(tuple(values)), rules=rules)
    return Delivered(ratings, ("unit_of", "x", "y", "width", "height"), rows)


def deliver_sets(folder, rng):
    """Sets of labels in cells, and the texts that they are about."""
    members, records, rows = ("anger", "fear, or awe", "joy"), [], {}
    for n in range(60):
        item, text = f"post {n}", f"Text {n}"
        ticks = {member: labels_by_rater(rng, ["no", "yes"]) for member in members}
        for rater in RATERS:
            own = [m for m in members if ticks[m].get(rater) == "yes"]
            records.append({"item": item, "rater": rater, "label": own, "text": text})
        for member in members:
            labels = [ticks[member].get(rater, "no") for rater in RATERS]
            more = {"text": text, "cluster": item, "split": split_of(item)}
            rows[item, member] = row_of(labels, ["no", "yes"], "nominal", **more)
    path = folder / "delivered.jsonl"
    path.write_text("".join(json.dumps(record) + "\n" for record in records), "utf-8")
    ratings = read(path, rules=Rules(units=UnitSettings("sets", members=members)))
    return Delivered(ratings, ("unit_of", "member"), rows)


def deliver_rubrics(folder, rng):
    """Scores of two criteria, of 1 to 3."""
    tasks, rows = [], {}
    for n in range(60):
        item, text = f"answer {n}", f"Text {n}"
        scores = {name: labels_by_rater(rng, [1, 2, 3]) for name in ("facts", "style")}
        results = {
            rater: [
                {"type": "rating", "from_name": name, "value": {"rating": own[rater]}}
                for name, own in scores.items()
                if rater in own
            ]
            for rater in RATERS
        }
        tasks.append(
            task_of(n, item, {r: found for r, found in results.items() if found}, text=text)
        )
        for name, own in scores.items():
            more = {"text": text, "cluster": item, "split": split_of(item)}
            rows[item, name] = row_of([*own.values()], [1, 2, 3], "nominal", **more)
    ratings = read_tasks(folder, tasks, "rubrics", scale=Scale((1, 2, 3)))
    return Delivered(ratings, ("unit_of", "criterion"), rows)


def deliver_rankings(folder, rng):
    tasks, rows, choices = [], {}, ["first", "second", "tie"]
    for n in range(60):
        item, truth = f"question {n}", [str(name) for name in rng.permutation([*"abc"])]
        orders = {
            rater: truth if rng.random() < 0.8 else [str(x) for x in rng.permutation(truth)]
            for rater in RATERS
        }
        results = {
            rater: [{"type": "ranker", "from_name": "r", "value": {"ranker": {"_": order}}}]
            for rater, order in orders.items()
        }
        tasks.append(task_of(n, item, results, prompt=f"Which {n}?"))
        for one, other in combinations("abc", 2):
            labels = [
                "first" if order.index(one) < order.index(other) else "second"
                for order in orders.values()
            ]
            more = {"prompt": f"Which {n}?", "cluster": item, "split": split_of(item)}
            rows[item, one, other] = row_of(labels, choices, "nominal", **more)
    return Delivered(read_tasks(folder, tasks, "rankings"), ("unit_of", "first", "second"), rows)


def deliver_preferences(folder, rng):
    tasks, rows, choices = [], {}, ["first", "second", "tie"]
    for n in range(60):
        item = f"pair {n}"
        sides = labels_by_rater(rng, ["left", "right", "equal"])
        results = {
            rater: [{"type": "pairwise", "from_name": "p", "value": {"selected": side}}]
            for rater, side in sides.items()
        }
        tasks.append(task_of(n, item, results, prompt=f"Ask {n}", a=f"Yes {n}", b="No"))
        labels = [{"left": "first", "right": "second", "equal": "tie"}[s] for s in sides.values()]
        more = {"prompt": f"Ask {n}", "cluster": item, "split": split_of(item)}
        rows[item, "left", "right"] = row_of(labels, choices, "nominal", **more)
    alternatives = {"left": "a", "right": "b"}
    ratings = read_tasks(folder, tasks, "preferences", alternatives=alternatives)
    return Delivered(ratings, ("unit_of", "first", "second"), rows)


DELIVERIES = {
    "spans": deliver_spans,
    "segments": deliver_segments,
    "boxes": deliver_boxes,
    "sets": deliver_sets,
    "rubrics": deliver_rubrics,
    "rankings": deliver_rankings,
    "preferences": deliver_preferences,
}


@pytest.fixture(scope="module", params=[*SCALES, *DELIVERIES])
def delivered(request, tmp_path_factory):
    """A release, and what its rows must be."""
    folder = tmp_path_factory.mktemp("delivery")
    rng = np.random.default_rng(0)
    if request.param in SCALES:
        found = deliver_items(folder, rng, *SCALES[request.param])
    else:
        found = DELIVERIES[request.param](folder, rng)
    root = tmp_path_factory.mktemp("store")
    (root / "export").write_bytes(b"as delivered")
    store = Store(root / "store", salt=b"a salt for tests")
    store.ingest("r1", found.ratings, root / "export")
    measure = "percent_agreement" if found.ratings.scale.names else "krippendorff_alpha"
    release = release_round(store, "r1", policy_for(measure), CONTRACT, project="demo")
    return release.path, found


# Programs


@pytest.fixture(params=["pandas", "polars", "duckdb", "pyarrow", "spark", "datasets"])
def read_table(request, tmp_path, monkeypatch):
    """A function from the path of a Parquet file to its rows."""
    if request.param == "spark":
        spark = request.getfixturevalue("spark")
        return lambda path: [row.asDict() for row in spark.read.parquet(path).collect()]
    if request.param == "datasets":
        monkeypatch.setenv("HF_HUB_OFFLINE", "1")
        load_dataset = pytest.importorskip("datasets").load_dataset
        options = {"split": "train", "cache_dir": str(tmp_path / "cache")}
        return lambda path: list(load_dataset("parquet", data_files=path, **options))
    return {
        "pandas": lambda path: pd.read_parquet(path).to_dict("records"),
        "polars": lambda path: pl.read_parquet(path).to_dicts(),
        "duckdb": lambda path: duckdb.read_parquet(path).df().to_dict("records"),
        "pyarrow": lambda path: pq.read_table(path).to_pylist(),
    }[request.param]


def plain(value):
    """A cell without what one program alone puts around it."""
    if isinstance(value, (np.ndarray, list)):
        return [plain(each) for each in value]
    value = value.item() if isinstance(value, np.generic) else value
    missing = value is None or value is pd.NA or (isinstance(value, float) and math.isnan(value))
    return None if missing else value


def assert_rows(found, key, expected):
    """The rows are the expected ones, each once, and the label has the type of the delivery."""
    by_key = {tuple(row[name] for name in key): row for row in found}
    assert len(by_key) == len(found)
    assert by_key.keys() == expected.keys()
    for name, row in by_key.items():
        for column, value in expected[name].items():
            if isinstance(value, float):
                assert plain(row[column]) == pytest.approx(value, abs=1e-12), column
            elif column == "soft_label":
                assert plain(row[column]) == pytest.approx(value, abs=1e-15)
            else:
                assert plain(row[column]) == value, column
            if column == "label" and value is not None:
                assert type(plain(row[column])) is type(value)


def test_every_program_reads_what_a_slow_loop_over_the_delivery_gives(delivered, read_table):
    path, (_, key, rows) = delivered
    trains = {name: row for name, row in rows.items() if row["label"] is not None}
    assert 0 < len(trains) < len(rows)
    assert_rows(read_table(str(path / TRAIN)), key, trains)
    others = {name: row for name, row in rows.items() if name not in trains}
    assert_rows(read_table(str(path / UNRESOLVED)), key, others)


def test_open_release_gives_what_a_slow_loop_over_the_delivery_gives(delivered):
    path, (_, key, rows) = delivered
    trains = {name: row for name, row in rows.items() if row["label"] is not None}
    assert_rows(open_release(str(path)).train.to_dict("records"), key, trains)


def test_annotations_hold_each_rating_once_with_the_label_as_in_the_training_table(delivered):
    path, (ratings, _, rows) = delivered
    train = pq.read_table(path / TRAIN)
    annotations = pq.read_table(path / ANNOTATIONS)
    assert annotations.schema.field("label").type == train.schema.field("label").type
    assert len(annotations) == sum(row["n_ratings"] for row in rows.values())
    if "votes" in train.schema.names:
        counted = Counter(row["label"] for row in annotations.to_pylist())
        votes = np.sum([row["votes"] for row in rows.values()], axis=0)
        assert sorted(counted.values()) == sorted(count for count in votes.tolist() if count)
    assert open_release(str(path)).ratings["r1"].digest == ratings.digest


def groups_in_files_of_objects(path):
    """By file: the cluster and the split of each document that it names."""
    for file in sorted((path / "objects").glob("*.parquet")):
        rows = pd.read_parquet(file)
        names = rows["unit_of"] if "unit_of" in rows else rows["id"]
        yield file.name, names.tolist(), rows["cluster"].tolist(), rows["split"].tolist()
    if (file := path / "objects/documents.jsonl").exists():
        lines = [json.loads(line) for line in file.read_text("utf-8").splitlines()]
        yield file.name, *([line[name] for line in lines] for name in ("id", "cluster", "split"))
    if (file := path / "objects/coco.json").exists():
        images = json.loads(file.read_text("utf-8"))["images"]
        columns = ("unit_of", "cluster", "split")
        yield file.name, *([image[name] for image in images] for name in columns)


def test_files_of_objects_have_the_groups_and_digits_of_the_training_table(delivered):
    path, (_, key, rows) = delivered
    if key == ("id",):
        assert not (path / "objects").exists()
        return
    groups = {name[0]: (row["cluster"], row["split"]) for name, row in rows.items()}
    files = list(groups_in_files_of_objects(path))
    assert {name for name, *_ in files} == {file.name for file in (path / "objects").iterdir()}
    for file, names, clusters, splits in files:
        assert {*names} <= groups.keys(), file
        assert len(names) > 10, file
        found = zip(names, zip(clusters, splits, strict=True), strict=True)
        assert all(groups[name] == group for name, group in found), file
    if "width" in key:
        coco = json.loads((path / "objects/coco.json").read_text("utf-8"))
        names = {image["id"]: image["unit_of"] for image in coco["images"]}
        boxes = {(names[each["image_id"]], *each["bbox"]) for each in coco["annotations"]}
        assert boxes == {name for name, row in rows.items() if row["label"] in ("cat", "dog")}
