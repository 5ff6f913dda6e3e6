"""The digest beside a slow loop that follows its description, rating by rating."""

import hashlib
import json
import math
import struct

import pandas as pd
import pytest

from agreement_pipeline.ratings import Ratings, Scale

NAMES, NUMBERS = Scale(("no", "yes", 'it\'s "b"')), Scale(None, "interval")
ROWS = [
    ("i1", "ana", "yes", 1, False, 0.5, "t1", True, "[1, 2.5]"),
    ("i1", "ben", "no", 1, True, None, None, False, None),
    ("i1", "ben", "yes", 2, False, 1.0, "2026-01-01", None, ""),
    ("é,\n", "ana", "no", 1, False, 0.0, "", False, "é"),
    ("10", "model", 'it\'s "b"', 1, False, None, "t", None, None),
    ("9", "ben", "no", 1, False, 0.25, "t", True, "[1, 2.5]"),
]
COLUMNS = ["item", "rater", "label", "occurrence", "earlier", "confidence", "timestamp", "assisted"]
COLUMNS += ["drawn"]
FLAG = {True: 1, False: 0, None: -1}
FRAME = pd.DataFrame(ROWS, columns=COLUMNS)


def sha(*parts):
    return hashlib.sha256(b"".join(parts)).digest()


def of_texts(texts):
    texts = [None if text is None else text.encode() for text in texts]
    lengths = [struct.pack("<q", -1 if text is None else len(text)) for text in texts]
    return sha(*lengths) + sha(*(text or b"" for text in texts))


def of_clusters(items, named):
    order = list(dict.fromkeys(named[item] for item in items))
    places = [struct.pack("<q", order.index(named[item])) for item in items]
    return b"clusters" + of_texts(items) + b"".join(places)


def slow_digest(frame, scale, classifiers=(), contents=None):
    """`contents` are texts, flags of gold and clusters by item, each if there is one."""
    rows = sorted(frame.to_dict("records"), key=lambda row: (row["item"], row["occurrence"]))
    items = sorted({row["item"] for row in rows})
    with_time, sure = "timestamp" in frame, "confidence" in frame
    began, drew = "assisted" in frame, "drawn" in frame
    raters = []
    for rater in {row["rater"] for row in rows}:
        mine = [row for row in rows if row["rater"] == rater]
        records = []
        for row in mine:
            label = row["label"]
            label = (
                struct.pack("<d", label)
                if scale.continuous
                else struct.pack("<i", scale.names.index(label))
            )
            stated = row.get("confidence")
            stated = math.nan if stated is None or math.isnan(stated) else stated
            place = items.index(row["item"])
            records.append(
                struct.pack("<qqB", place, row["occurrence"], row["earlier"])
                + label
                + (struct.pack("<d", stated) if sure else b"")
                + (struct.pack("<b", FLAG[row["assisted"]]) if began else b"")
            )
        times = [row["timestamp"] for row in mine] if with_time else []
        times = [None if pd.isna(time) else time for time in times]
        places = [None if pd.isna(row["drawn"]) else row["drawn"] for row in mine if drew]
        kind = b"classifier" if rater in classifiers else b"panel"
        drawn = of_texts(places) if drew else b""
        raters.append(sha(kind, sha(*records), of_texts(times), drawn))
    known = [
        name.encode() + of_texts([*sorted(values), *(values[item] for item in sorted(values))])
        for name, values in (contents or {}).items()
        if name != "cluster"
    ]
    if "cluster" in (contents or {}):
        known.append(of_clusters(sorted(contents["cluster"]), contents["cluster"]))
    columns = ["assisted"] * began + ["confidence"] * sure
    columns += ["drawn"] * drew + ["times"] * with_time
    header = {
        "version": 2,
        "scale": scale.to_mapping(),
        "columns": columns,
        "raters": len(raters),
    }
    said = json.dumps(header, sort_keys=True).encode()
    return sha(said, of_texts(items), sha(sha(*known)), *sorted(raters)).hex()


@pytest.mark.parametrize(
    "columns",
    [
        COLUMNS,
        COLUMNS[:5],
        [*COLUMNS[:5], "timestamp"],
        COLUMNS[:6],
        [*COLUMNS[:5], "assisted"],
        [*COLUMNS[:5], "drawn"],
        COLUMNS[:8],
        COLUMNS[:7],
    ],
)
def test_the_digest_is_what_a_slow_loop_finds(columns):
    frame = FRAME[columns]
    ratings = Ratings.from_frame(frame, NAMES, classifiers=("model",))
    assert ratings.digest == slow_digest(frame, NAMES, ("model",))


def test_the_digest_of_numbers_is_what_a_slow_loop_finds():
    frame = FRAME[COLUMNS[:5]].assign(label=[1.5, -0.0, 2**53, 1e-300, 7.0, 0.1])
    ratings = Ratings.from_frame(frame, NUMBERS)
    assert ratings.digest == slow_digest(frame.assign(label=frame["label"] + 0.0), NUMBERS)


def test_the_digest_with_contents_is_what_a_slow_loop_finds():
    texts = {"i1": "a", "é,\n": "", "10": "ü", "9": "x"}
    clusters = {"i1": "d2", "é,\n": "d1", "10": "d2", "9": "d9"}
    frame = FRAME[COLUMNS[:5]]
    frame = frame.assign(text=frame["item"].map(texts), cluster=frame["item"].map(clusters))
    ratings = Ratings.from_frame(frame.assign(gold=frame["item"] == "9"), NAMES)
    gold = {item: str(item == "9") for item in texts}
    contents = {"text": texts, "gold": gold, "cluster": clusters}
    assert ratings.digest == slow_digest(frame, NAMES, (), contents)
