"""The files of objects in a release are what a slow loop over the delivery gives, and load by the
lines of the card.
"""

import json
import os
import re
from collections import Counter
from itertools import combinations
from pathlib import Path

import numpy as np
import pandas as pd
import pytest

from agreement_pipeline.policy import Policy, Rule
from agreement_pipeline.ratings import Scale
from agreement_pipeline.readers import Columns, Rules, read
from agreement_pipeline.release import verify_release
from agreement_pipeline.units import (
    Box,
    Marked,
    Polygon,
    Rubric,
    Segment,
    Span,
    UnitSettings,
    units_of,
)
from tests.release.forging import forge, refused
from tests.release.rounds import released

POLICY = Policy(
    "objects",
    1,
    (Rule("percent_agreement", reliable=0.67, tentative=0.667),),
    admit=("reliable", "tentative"),
    n_resamples=1000,
    passed_by_guessing="these tests look at the files of a release, whatever its raters agree on",
)
PEOPLE = Scale(("none", "PER", "ORG"))


@pytest.fixture
def release_of(store, original):
    def make(ratings):
        store.ingest("r1", ratings, original)
        made = released(store, policy=POLICY)
        verify_release(made.path)
        return made.path

    return make


def loaded(path):
    """The names that the lines of Python in the card give."""
    card = (path / "README.md").read_text()
    (block,) = re.findall(r"```python\n(.*?)```", card, re.DOTALL)
    names = {"json": json, "pandas": pd, "Path": Path}
    if "pycocotools" in block:
        pycocotools = pytest.importorskip("pycocotools.coco", reason="pycocotools is not there")
        names["pycocotools"] = type("package", (), {"coco": pycocotools})
    before = os.getcwd()
    os.chdir(path)
    try:
        exec(block, names)
    finally:
        os.chdir(before)
    return names


# Spans

TEXTS = {f"doc {n:02}": "Ana Benoit met IBM and Ben in Rome yesterday at noon" for n in range(60)}
RATERS = ("ana", "ben", "chi")


def tokens_of(text):
    return [(each.start(), each.end()) for each in re.finditer(r"\S+", text)]


def random_spans(rng, text):
    """Spans of whole tokens, some of them side by side with one label."""
    tokens, spans, at = tokens_of(text), [], 0
    while at < len(tokens):
        length = int(rng.integers(1, 3))
        if rng.random() < 0.4:
            end = min(at + length, len(tokens))
            label = str(rng.choice(["PER", "PER", "ORG"]))
            spans.append((tokens[at][0], tokens[end - 1][1], label))
            at = end
        else:
            at += 1
    return spans


def delivery_of_spans(seed):
    """Two raters who follow one truth, with errors, and a third who copies one of them."""
    rng = np.random.default_rng(seed)
    delivery = {}
    for document, text in TEXTS.items():
        truth = random_spans(rng, text)
        for rater in RATERS:
            own = truth if rng.random() < 0.85 else random_spans(rng, text)
            delivery[document, rater] = own
    return delivery


def majority(labels):
    """The label that more gave than any other; None if there is none."""
    (label, most), *others = Counter(labels).most_common()
    return None if others and others[0][1] == most else label


def slow_spans(document, delivery):
    """Spans and places without a label, character by character."""
    text = TEXTS[document]

    def span_at(rater, at):
        return next((s for s in delivery[document, rater] if s[0] <= at < s[1]), None)

    labels = []
    for at in range(len(text)):
        spans = [span_at(rater, at) for rater in RATERS]
        labels.append(majority([span[2] if span else "none" for span in spans]))
    spans, unresolved = [], []
    for at, label in enumerate(labels):
        if label is None:
            unresolved.append(at)
        elif label != "none":
            goes_on = at > 0 and labels[at - 1] == label
            if goes_on:
                both = [(span_at(r, at - 1), span_at(r, at)) for r in RATERS]
                both = [(a, b) for a, b in both if a and b and a[2] == b[2] == label]
                apart = sum(a != b for a, b in both)
                goes_on = apart <= len(both) - apart
            if goes_on:
                spans[-1][1] = at + 1
            else:
                spans.append([at, at + 1, label])
    return [tuple(span) for span in spans], unresolved


def write_conll(folder, delivery):
    for rater in RATERS:
        lines = []
        for document, text in TEXTS.items():
            lines.append(f"# newdoc id = {document}")
            for start, end in tokens_of(text):
                span = next((s for s in delivery[document, rater] if s[0] <= start < s[1]), None)
                mark = "O" if span is None else "B-" if span[0] == start else "I-"
                lines.append(f"{text[start:end]}\t{mark}{span[2] if span else ''}")
            lines.append("")
        (folder / f"{rater}.conll").write_text("\n".join(lines))


def read_conll(folder):
    rules = Rules(units=UnitSettings("spans"), requires=())
    return read(folder, Columns(item="name"), scale=PEOPLE, rules=rules)


def entities_of_tags(tags):
    """Entities as (label, first token, last token), by the rules of seqeval's default mode: B
    begins one, and I goes on with one of its label.
    """
    entities = []
    for at, tag in enumerate(tags):
        mark, _, label = tag.partition("-")
        if mark == "B" or (mark == "I" and (at == 0 or tags[at - 1][2:] != label)):
            entities.append([label, at, at])
        elif mark == "I":
            entities[-1][2] = at
    return [tuple(entity) for entity in entities]


@pytest.mark.parametrize("seed", range(3))
def test_spans_of_a_delivery_are_its_documents_and_a_tagger_reads_them(seed, tmp_path, release_of):
    delivery, folder = delivery_of_spans(seed), tmp_path / "delivery"
    folder.mkdir()
    write_conll(folder, delivery)
    release = release_of(read_conll(folder))
    names = loaded(release)
    expected = {document: slow_spans(document, delivery) for document in TEXTS}
    assert sum(len(spans) for spans, _ in expected.values()) > 20
    assert sum(len(unresolved) for _, unresolved in expected.values()) > 5
    for line in names["documents"]:
        spans, unresolved = expected.pop(line["id"])
        assert line["text"] == TEXTS[line["id"]]
        assert [(s["start"], s["end"], s["label"]) for s in line["spans"]] == spans
        assert [s["text"] for s in line["spans"]] == [line["text"][a:b] for a, b, _ in spans]
        places = [at for each in line["unresolved"] for at in range(each["start"], each["end"])]
        assert places == unresolved
    assert not expected
    whole = [line for line in names["documents"] if not line["unresolved"]]
    assert 0 < len(whole) == len(names["sentences"]) < len(TEXTS)
    headers = re.findall(
        r"^# (\S+) = (.*)$", Path(release / "objects/tokens.conll").read_text(), re.M
    )
    assert headers == [(n, line[n]) for line in whole for n in ("cluster", "split")]
    for line, sentence in zip(whole, names["sentences"], strict=True):
        tokens = tokens_of(line["text"])
        assert [token for token, _ in sentence] == [line["text"][a:b] for a, b in tokens]
        entities = entities_of_tags([tag for _, tag in sentence])
        assert [(tokens[a][0], tokens[b][1], label) for label, a, b in entities] == [
            (span["start"], span["end"], span["label"]) for span in line["spans"]
        ]


def test_two_entities_side_by_side_stay_two(release_of):
    marked = [
        Marked(f"d{n:02}", rater, (Span(0, 3, "PER"), Span(3, 6, "PER")), (9,))
        for n in range(30)
        for rater in RATERS
    ]
    names = loaded(release_of(units_of(marked, UnitSettings("spans"), PEOPLE).ratings))
    assert len(names["documents"]) == 30
    for line in names["documents"]:
        assert line["spans"] == [
            {"start": 0, "end": 3, "label": "PER"},
            {"start": 3, "end": 6, "label": "PER"},
        ]


def test_a_rater_who_ends_an_entity_early_cuts_no_entity(release_of):
    marked = [
        Marked(f"d{n:02}", rater, (Span(0, 5 if rater == "ana" else 6, "PER"),), (9,))
        for n in range(30)
        for rater in RATERS
    ]
    names = loaded(release_of(units_of(marked, UnitSettings("spans"), PEOPLE).ratings))
    assert all(
        line["spans"] == [{"start": 0, "end": 6, "label": "PER"}] for line in names["documents"]
    )


def test_segments_are_in_seconds_whatever_the_step(release_of):
    marked = [
        Marked(f"r{n:02}", rater, (Segment(0.5, 2.3, "PER"), Segment(2.3, 4, "PER")), (9.5,))
        for n in range(30)
        for rater in RATERS
    ]
    units = units_of(marked, UnitSettings("segments", step=0.1), PEOPLE)
    contents = {"content:position_length": "0.1", "content:duration_seconds": "9.5"}
    first = (
        units.rows.groupby("cluster", observed=True)["item"].transform("first")
        == units.rows["item"]
    )
    rows = units.rows.assign(
        **{name: pd.Series(text, units.rows.index).where(first) for name, text in contents.items()}
    )
    names = loaded(release_of(type(units)(rows, units.scale).ratings))
    for line in names["documents"]:
        assert line["duration_seconds"] == 9.5
        assert line["spans"] == [
            {"start": 0.5, "end": 2.3, "label": "PER"},
            {"start": 2.3, "end": 4, "label": "PER"},
        ]


def test_training_rows_of_spans_have_the_text_and_lie_in_the_order_of_the_document(
    tmp_path, release_of
):
    delivery, folder = delivery_of_spans(0), tmp_path / "delivery"
    folder.mkdir()
    write_conll(folder, delivery)
    path = release_of(read_conll(folder))
    rows = pd.concat(
        pd.read_parquet(path / name) for name in ("data/train-00000-of-00001.parquet", "unresolved")
    )
    assert rows["start"].dtype == rows["end"].dtype == "int64"
    assert (rows["text"] == rows["unit_of"].map(TEXTS)).all()
    for _, own in rows[rows["resolution"] != "tie"].groupby("unit_of", observed=True):
        assert own["start"].is_monotonic_increasing
    for document, own in rows.groupby("unit_of", observed=True):
        covered = sorted(
            at for a, b in zip(own["start"], own["end"], strict=True) for at in range(a, b)
        )
        assert covered == [*range(len(TEXTS[document]))]


def test_a_kept_column_that_a_release_has_itself_gets_a_name_of_its_own(store, original):
    from tests.release.rounds import make_ratings

    frame = make_ratings().to_pandas().astype({"rater": str, "label": str})
    frame = frame[["item", "rater", "label"]].assign(split="theirs", language="de")
    kept = Rules(keep=("language", "split"))
    store.ingest("r1", read(frame, scale=make_ratings().scale, rules=kept), original)
    path = released(store).path
    verify_release(path)
    rows = pd.read_parquet(path / "data")
    assert {*rows["content:split"]} == {"theirs"}
    assert {*rows["language"]} == {"de"}
    assert {*rows["split"]} <= {"train", "validation", "test"}


# Images


def write_coco(folder, delivery):
    for rater in RATERS:
        images = [
            {"id": n, "file_name": f"s3://scans/{n}.jpg", "width": 640, "height": 480}
            for n in range(60)
        ]
        annotations = [
            {"id": 100 * n + k, "image_id": n, "category_id": label, "bbox": box}
            for n in range(60)
            for k, (box, label) in enumerate(delivery[n, rater])
        ]
        categories = [{"id": 1, "name": "cat"}, {"id": 2, "name": "dog"}]
        record = {"images": images, "annotations": annotations, "categories": categories}
        (folder / f"{rater}.json").write_text(json.dumps(record))


def delivery_of_boxes(seed):
    """Boxes far apart, so that which of them are alike is plain. The raters move each a little."""
    rng = np.random.default_rng(seed)
    delivery = {}
    for n in range(60):
        corners = [(100 * k + 10, 50) for k in range(int(rng.integers(0, 4)))]
        for rater in RATERS:
            delivery[n, rater] = [
                ([x + int(rng.integers(0, 5)), y, 40, 40.5], 1 if rng.random() < 0.92 else 2)
                for x, y in corners
                if rng.random() < 0.95
            ]
    return delivery


def overlap(one, other):
    """Intersection over union of two boxes."""
    sides = [
        min(one[at] + one[at + 2], other[at] + other[at + 2]) - max(one[at], other[at])
        for at in (0, 1)
    ]
    common = max(sides[0], 0) * max(sides[1], 0)
    return common / (one[2] * one[3] + other[2] * other[3] - common)


def slow_boxes(n, delivery):
    """The boxes of an image with their labels, and how many have no label."""
    boxes, unresolved = [], 0
    for k in range(4):
        of_rater = {
            rater: next((b for b in delivery[n, rater] if b[0][0] // 100 == k), None)
            for rater in RATERS
        }
        if not any(of_rater.values()):
            continue
        label = majority([box[1] if box else 0 for box in of_rater.values()])
        if label is None:
            unresolved += 1
        elif label:
            alike = sorted(box[0] for box in of_rater.values() if box and box[1] == label)
            sums = [round(sum(overlap(one, other) for other in alike), 9) for one in alike]
            boxes.append((alike[sums.index(max(sums))], label))
    return boxes, unresolved


@pytest.mark.parametrize("seed", range(3))
def test_boxes_of_a_delivery_are_coco(seed, tmp_path, release_of):
    delivery, folder = delivery_of_boxes(seed), tmp_path / "delivery"
    folder.mkdir()
    write_coco(folder, delivery)
    rules = Rules(units=UnitSettings("boxes"), requires=())
    ratings = read(folder, Columns(item="name"), scale=Scale(("none", "cat", "dog")), rules=rules)
    path = release_of(ratings)
    coco = json.loads((path / "objects/coco.json").read_text())
    assert_is_coco(coco)
    assert [each["name"] for each in coco["categories"]] == ["cat", "dog"]
    found = {image["file_name"]: ([], image["unresolved"]) for image in coco["images"]}
    file_names = {image["id"]: image["file_name"] for image in coco["images"]}
    for each in coco["annotations"]:
        found[file_names[each["image_id"]]][0].append((each["bbox"], each["category_id"]))
    expected = {f"s3://scans/{n}.jpg": slow_boxes(n, delivery) for n in range(60)}
    assert sum(unresolved for _, unresolved in expected.values()) > 0
    assert {name: (sorted(b), n) for name, (b, n) in found.items()} == {
        name: (sorted(b), n) for name, (b, n) in expected.items()
    }
    assert {(image["width"], image["height"]) for image in coco["images"]} == {(640, 480)}
    rows = pd.read_parquet(path / "data")
    assert (rows["image"] == rows["unit_of"]).all()
    assert {*zip(rows["image_width"], rows["image_height"], strict=True)} == {(640, 480)}


def assert_is_coco(coco):
    """What COCO's description of its format asks for."""
    images = {image["id"]: image for image in coco["images"]}
    categories = {each["id"] for each in coco["categories"]}
    assert len(images) == len(coco["images"]) > 0
    assert len({each["id"] for each in coco["annotations"]}) == len(coco["annotations"]) > 0
    assert all(each["id"] > 0 for each in coco["annotations"])
    for each in coco["annotations"]:
        image = images[each["image_id"]]
        x, y, width, height = each["bbox"]
        assert each["category_id"] in categories
        assert each["iscrowd"] == 0
        assert 0 <= x <= x + width <= image["width"]
        assert 0 <= y <= y + height <= image["height"]
        assert 0 < each["area"] <= width * height + 1e-6
        for flat in each["segmentation"]:
            assert len(flat) >= 6
            assert len(flat) % 2 == 0


def test_polygons_are_segmentations_that_pycocotools_reads(release_of, tmp_path):
    corners = ((10, 10), (50, 10), (50, 40), (30, 60))
    marked = [
        Marked(f"i{n:02}", rater, (Polygon(corners, "cat"),), (99, 80))
        for n in range(30)
        for rater in RATERS
    ]
    path = release_of(units_of(marked, UnitSettings("polygons"), Scale(("none", "cat"))).ratings)
    coco = json.loads((path / "objects/coco.json").read_text())
    (flat,) = coco["annotations"][0]["segmentation"]
    assert sorted(zip(flat[::2], flat[1::2], strict=True)) == sorted(corners)
    assert coco["annotations"][0]["bbox"] == [10, 10, 40, 50]
    # the shoelace formula by hand: (10*10-50*10 + 50*40-50*10 + 50*60-30*40 + 30*10-10*60) / 2
    assert coco["annotations"][0]["area"] == 1300
    read_by_tool = loaded(path)["coco"]
    assert len(read_by_tool.getAnnIds(catIds=[1])) == 30


# Preferences, rankings, sets and rubrics


def label_studio(tmp_path, results_by_item, data_by_item, kind, **settings):
    tasks = [
        {
            "id": n,
            "data": {"name": item, **data_by_item[item]},
            "annotations": [
                {"id": 100 * n + k, "completed_by": {"email": f"{rater}@x.org"}, "result": result}
                for k, (rater, result) in enumerate(results.items())
            ],
        }
        for n, (item, results) in enumerate(results_by_item.items())
    ]
    path = tmp_path / "delivered.json"
    path.write_text(json.dumps(tasks))
    rules = Rules(units=UnitSettings(kind, **settings), keep=("source",), requires=())
    return read(path, Columns(item="name"), rules=rules)


def test_preferences_are_pairs_that_a_trainer_of_rewards_reads(tmp_path, release_of, monkeypatch):
    rng, results, data = np.random.default_rng(0), {}, {}
    for n in range(40):
        name = f"p{n:02}"
        truth, sides = str(rng.choice(["left", "right", "equal"])), ("left", "right", "equal")
        said = {r: truth if rng.random() < 0.9 else str(rng.choice(sides)) for r in RATERS}
        results[name] = {
            rater: [{"type": "pairwise", "from_name": "p", "value": {"selected": side}}]
            for rater, side in said.items()
        }
        data[name] = {"prompt": f"Question {n}?", "a": f"Yes, {n}.", "b": "No.", "source": "mail"}
    ratings = label_studio(
        tmp_path, results, data, "preferences", alternatives={"left": "a", "right": "b"}
    )
    path = release_of(ratings)
    pairs = loaded(path)["preferences"]
    rows = pd.read_parquet(path / "data").set_index("unit_of")
    assert [*rows["prompt"]] == [data[name]["prompt"] for name in rows.index]
    assert {*zip(rows["first"], rows["second"], strict=True)} == {("left", "right")}
    expected = []
    for name, by_rater in results.items():
        better = majority([result[0]["value"]["selected"] for result in by_rater.values()])
        if better in ("left", "right"):
            texts = {"left": data[name]["a"], "right": data[name]["b"]}
            worse = {"left": "right", "right": "left"}[better]
            expected.append((name, data[name]["prompt"], texts[better], texts[worse], "mail"))
    columns = ["unit_of", "prompt", "chosen", "rejected", "source"]
    assert [*pairs[columns].itertuples(index=False, name=None)] == expected
    assert 0 < len(expected) < 40

    monkeypatch.setenv("HF_HUB_OFFLINE", "1")
    monkeypatch.setenv("HF_HOME", str(tmp_path / "home"))
    datasets = pytest.importorskip("datasets")
    cache = str(tmp_path / "cache")
    rows = datasets.load_dataset(str(path), "preferences", split="train", cache_dir=cache)
    assert {"prompt", "chosen", "rejected"} <= {*rows.column_names}
    assert all(isinstance(row["chosen"], str) and row["chosen"] != row["rejected"] for row in rows)


def test_the_order_of_a_ranking_is_given_back(tmp_path, release_of):
    rng, results, data = np.random.default_rng(1), {}, {}
    for n in range(40):
        order = [str(name) for name in rng.permutation(["a", "b", "c", "d"])]
        other = [str(name) for name in rng.permutation(order)]
        third = [str(name) for name in rng.permutation(order)]
        orders = {"ana": order, "ben": other if n % 5 == 0 else order}
        orders["chi"] = third if n % 5 == 0 else order
        results[f"q{n:02}"] = {
            rater: [{"type": "ranker", "from_name": "r", "value": {"ranker": {"_": each}}}]
            for rater, each in orders.items()
        }
        answers = [{"id": name, "body": f"answer {name}{n}"} for name in "abcd"]
        data[f"q{n:02}"] = {"prompt": f"Which {n}?", "answers": answers, "source": "chat"}
    names = loaded(release_of(label_studio(tmp_path, results, data, "rankings")))
    rows = names["rankings"].set_index("id")
    assert [*rows.index] == [*results]
    for name, by_rater in results.items():
        orders = [each[0]["value"]["ranker"]["_"] for each in by_rater.values()]
        wins = {
            (x, y): sum(order.index(x) < order.index(y) for order in orders) > len(orders) / 2
            for x, y in combinations("abcd", 2)
        }
        wins |= {(y, x): not won for (x, y), won in wins.items()}
        beats = {x: sum(wins[x, y] for y in "abcd" if y != x) for x in "abcd"}
        if {*beats.values()} == {0, 1, 2, 3}:
            best_first = sorted("abcd", key=lambda x: -beats[x])
            assert [[*group] for group in rows.loc[name, "ranking"]] == [[x] for x in best_first]
            texts = [f"answer {x}{int(name[1:])}" for x in best_first]
            assert [[*group] for group in rows.loc[name, "ranked_texts"]] == [[t] for t in texts]
        else:
            assert rows.loc[name, "ranking"] is None
            assert rows.loc[name, "why_no_ranking"] == "pairs contradict each other"
    assert rows["ranking"].notna().sum() > 0
    assert (rows["prompt"] == [f"Which {n}?" for n in range(40)]).all()


def test_sets_are_lists_and_multi_hot(tmp_path, release_of):
    rng, results, data = np.random.default_rng(2), {}, {}
    members = ["anger", "joy", "surprise"]
    for n in range(40):
        truth = {member: rng.random() < 0.5 for member in members}
        ticks = {
            rater: [m for m in members if truth[m] != (rng.random() < 0.12)]
            for rater in (*RATERS, "dan")
        }
        results[f"s{n:02}"] = {
            rater: [{"type": "choices", "from_name": "e", "value": {"choices": ticked}}]
            for rater, ticked in ticks.items()
        }
        data[f"s{n:02}"] = {"text": f"Text {n}", "source": "mail"}
    names = loaded(
        release_of(label_studio(tmp_path, results, data, "sets", members=tuple(members)))
    )
    rows = names["sets"].set_index("id")
    for n, (name, by_rater) in enumerate(results.items()):
        ticked = [each[0]["value"]["choices"] for each in by_rater.values()]
        votes = {m: majority([m in own for own in ticked]) for m in members}
        row = rows.loc[name]
        assert row["text"] == f"Text {n}"
        assert [*row["labels"]] == [m for m in members if votes[m]]
        assert [*row["unresolved"]] == [m for m in members if votes[m] is None]
        hot = [None if pd.isna(flag) else int(flag) for flag in row["multi_hot"]]
        assert hot == [None if votes[m] is None else int(votes[m]) for m in members]
    assert rows["unresolved"].map(len).sum() > 0


def test_criteria_of_a_rubric_are_columns(tmp_path, release_of):
    results, data = {}, {}
    for n in range(30):
        scores = {"facts": n % 3 + 1, "style": (n + 1) % 3 + 1}
        results[f"t{n:02}"] = {
            rater: [
                {"type": "rating", "from_name": name, "value": {"rating": score}}
                for name, score in scores.items()
            ]
            for rater in RATERS
        }
        data[f"t{n:02}"] = {"prompt": f"Ask {n}", "answer": f"Say {n}", "source": "x"}
    names = loaded(release_of(label_studio(tmp_path, results, data, "rubrics")))
    rows = names["rubrics"]
    expected = [(f"t{n:02}", f"Ask {n}", f"Say {n}", n % 3 + 1, (n + 1) % 3 + 1) for n in range(30)]
    columns = ["id", "prompt", "answer", "facts", "style"]
    found = rows[columns].astype({"facts": int, "style": int})
    assert [*found.itertuples(index=False, name=None)] == expected


def test_scores_that_are_booleans_stay_booleans(release_of):
    marked = [
        Marked(f"t{n:02}", rater, (Rubric({"facts": n % 2 == 0, "split": n % 3 == 0}),))
        for n in range(30)
        for rater in RATERS
    ]
    path = release_of(units_of(marked, UnitSettings("rubrics")).ratings)
    rows = loaded(path)["rubrics"]
    assert rows["facts"].dtype == rows["criterion:split"].dtype == bool
    assert rows["facts"].tolist() == [n % 2 == 0 for n in range(30)]
    assert {*rows["split"]} <= {"train", "validation", "test"}
    assert pd.read_parquet(path / "data")["label"].dtype == bool


def test_a_rater_who_draws_alike_moves_no_box_of_the_training_table(release_of):
    """The place of a unit is that of the drawn box which is most like the others."""
    edges = {"ana": 10.1234567, "ben": 10.2345678, "chi": 10.9876543}
    marked = [
        Marked(f"i{n:02}", rater, (Box(edge, 5, 30, 1234567.25, "cat"),), (99, 9e6))
        for n in range(30)
        for rater, edge in edges.items()
    ]
    path = release_of(units_of(marked, UnitSettings("boxes"), Scale(("none", "cat"))).ratings)
    coco = json.loads((path / "objects/coco.json").read_text())
    rows = pd.read_parquet(path / "data")[["x", "y", "width", "height"]]
    assert rows.to_numpy().tolist() == [each["bbox"] for each in coco["annotations"]]
    assert {*rows["x"]} == {edges["ben"]}


# What verify refuses


@pytest.fixture
def release_of_spans(release_of):
    marked = [
        Marked(f"d{n:02}", rater, (Span(0, 3, "PER"),), (9,)) for n in range(30) for rater in RATERS
    ]
    return release_of(units_of(marked, UnitSettings("spans"), PEOPLE).ratings)


def test_another_span_in_the_documents_is_refused(release_of_spans):
    file = release_of_spans / "objects/documents.jsonl"
    forge(release_of_spans, "objects/documents.jsonl", file.read_bytes().replace(b"PER", b"ORG", 1))
    refused(release_of_spans, "other objects than the annotations give")


def test_a_file_of_objects_that_the_annotations_do_not_give_is_refused(release_of_spans):
    forge(release_of_spans, "objects/coco.json", b"{}")
    refused(release_of_spans, "found files of objects")


def test_a_release_of_plain_items_has_no_objects(store, original):
    from tests.release.rounds import make_ratings

    store.ingest("r1", make_ratings(), original)
    path = released(store).path
    assert not (path / "objects").exists()
    assert "## Objects" not in (path / "README.md").read_text()


def test_the_card_says_which_columns_of_the_delivery_are_left_out(store, original):
    from tests.release.rounds import make_ratings

    frame = make_ratings().to_pandas().astype({"rater": str, "label": str})
    frame = frame[["item", "rater", "label"]].assign(language="de", mood="*so*", place=1)
    ratings = read(frame, scale=make_ratings().scale, rules=Rules(keep=("language",)))
    store.ingest("r1", ratings, original)
    card = (released(store).path / "README.md").read_text()
    assert r"Columns of the delivery that are not here: mood and place. With `keep`" in card
