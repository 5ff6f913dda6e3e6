"""Tables of ratings of every kind, plain and odd."""

from dataclasses import dataclass, field, fields, is_dataclass
from itertools import product

import numpy as np
import pandas as pd

from agreement_pipeline.ratings import Scale
from agreement_pipeline.readers import Columns, Rules


@dataclass(frozen=True)
class Made:
    """A generated table, how it is kept, and how it is read."""

    frame: pd.DataFrame
    form: str = "parquet"
    reading: dict = field(default_factory=dict)

    def source(self, folder):
        """The file, or the DataFrame itself."""
        if self.form in ("DataFrame", "checked"):
            return self.frame
        path = folder / f"ratings.{self.form}"
        if self.form == "parquet":
            self.frame.to_parquet(path, index=False)
        elif self.form == "csv":
            self.frame.to_csv(path, index=False)
        else:
            self.frame.to_json(path, orient="records", lines=True)
        return path


def ratings_of(items=60, raters=4, labels=("no", "maybe", "yes"), missing=0.2, seed=1):
    """Labels of raters who follow the item or guess, in shuffled rows."""
    rng = np.random.default_rng(seed)
    truth = rng.integers(len(labels), size=items)
    guess = rng.integers(len(labels), size=(items, raters))
    code = np.where(rng.random((items, raters)) < 0.6, truth[:, None], guess)
    item, rater = np.nonzero(rng.random((items, raters)) >= missing)
    order = rng.permutation(len(item))
    item, rater = item[order], rater[order]
    return pd.DataFrame(
        {
            "item": [f"i{each:03}" for each in item],
            "rater": [f"r{each}" for each in rater],
            "label": [labels[each] for each in code[item, rater]],
        }
    )


def met_again(frame, labels, seed=2):
    """Some items met up to three times by some raters."""
    rng = np.random.default_rng(seed)
    parts = [frame.assign(occurrence=1)]
    for occurrence in (2, 3):
        again = frame.sample(frac=0.3 / occurrence, random_state=seed)
        said = rng.choice(np.array(labels, dtype=object), len(again))
        parts.append(again.assign(label=said, occurrence=occurrence))
    return pd.concat(parts).sample(frac=1, random_state=seed)


def _clustered(frame):
    return frame.assign(cluster="d" + (frame["item"].str[1:].astype(int) % 7 * 3 % 7).astype(str))


def _measured(frame):
    """Numbers from a wide range in place of labels."""
    rng = np.random.default_rng(5)
    return frame.assign(label=rng.normal(size=len(frame)) * 10.0 ** rng.integers(-8, 9, len(frame)))


PLAIN, LABELS = ratings_of(), ("no", "maybe", "yes")
ODD = ("", "é", "e\u0301", "it's", 'a "b"', "back\\slash", "日本語", "new\nline", "%_;--")
SETS = [["joy"], ["joy", "anger"], ["anger", "joy"], [], None]
BIG = (2**63 - 1, -(2**63), 2**53 + 1, 2**53)

MADE = {
    "missing": Made(PLAIN),
    "missing in CSV": Made(PLAIN, "csv"),
    "missing in JSON Lines": Made(PLAIN, "jsonl"),
    "replicates": Made(met_again(PLAIN, LABELS)),
    "clusters": Made(_clustered(PLAIN)),
    "clusters with replicates and a classifier": Made(
        _clustered(met_again(PLAIN, LABELS)), "csv", {"classifiers": ["r3"]}
    ),
    "classifiers": Made(ratings_of(raters=6), reading={"classifiers": ["r1", "r4"]}),
    "replicates of a classifier": Made(
        _clustered(met_again(PLAIN, LABELS)), reading={"classifiers": ["r0", "r3"]}
    ),
    "numbers of a classifier met again": Made(
        _measured(met_again(PLAIN, LABELS)), "csv", {"level": "interval", "classifiers": ["r2"]}
    ),
    "gold": Made(
        PLAIN.assign(known=np.where(PLAIN["item"] < "i010", "Yes ", "no")),
        reading={"columns": Columns(gold="known")},
    ),
    "gold flags that are missing": Made(
        PLAIN.assign(known=[True if item < "i010" else None for item in PLAIN["item"]]),
        reading={"columns": Columns(gold="known")},
    ),
    "confidence": Made(
        PLAIN.assign(confidence=[None if at % 7 == 0 else at % 11 / 10 for at in range(len(PLAIN))])
    ),
    "confidence of replicates in CSV": Made(
        met_again(PLAIN, LABELS).assign(
            confidence=lambda frame: [
                None if at % 7 == 0 else at % 9 / 8 for at in range(len(frame))
            ]
        ),
        "csv",
    ),
    "odd labels": Made(ratings_of(labels=ODD)),
    "odd names": Made(
        PLAIN.assign(
            item="\u2028'" + PLAIN["item"] + '"\\',
            rater=PLAIN["rater"].map(dict(zip(["r0", "r1", "r2", "r3"], ODD[1:5], strict=True))),
        )
    ),
    "odd names in CSV": Made(
        PLAIN.assign(item="'a, \"" + PLAIN["item"], rater="x\ny " + PLAIN["rater"]), "csv"
    ),
    "large whole numbers": Made(ratings_of(labels=BIG)),
    "large whole numbers as items": Made(
        PLAIN.assign(item=PLAIN["item"].str[1:].astype("int64") + 2**62)
    ),
    "whole numbers and fractions": Made(ratings_of(labels=(1.0, 2.5, 3.0))),
    "numbers spelt in two ways": Made(
        ratings_of(labels=("1", "1.0", "2", "3e0", "+3")), "csv", {"level": "interval"}
    ),
    "texts of numbers": Made(ratings_of(labels=("1", "2.0", "01"))),
    "numbers that pandas wrote": Made(ratings_of(labels=("1", "1.0", "2", "2.5")), "csv"),
    "declared numbers in other spellings": Made(
        ratings_of(labels=("1.0", "+2", "2", "3e0")), "csv", {"scale": Scale(("1", "2", "3"))}
    ),
    "numbers too small to square, beside others": Made(
        _measured(PLAIN).assign(
            label=lambda frame: frame["label"].where(frame.index % 3 > 0, 1e-200)
        ),
        "csv",
        {"level": "interval"},
    ),
    "sets in any order": Made(
        ratings_of(labels=("joy", "joy|anger", "anger|joy", "|", "sad|joy|sad")), "csv"
    ),
    "lists as sets": Made(ratings_of(labels=SETS)),
    "lists of whole numbers": Made(ratings_of(labels=[[1, 2], [2, 1], [2], []])),
    "lists in JSON Lines": Made(ratings_of(labels=SETS), "jsonl"),
    "lists of numbers in JSON Lines": Made(ratings_of(labels=[[1, 2], ["2", 1], [2], []]), "jsonl"),
    "lists as vectors": Made(
        ratings_of(labels=[[1, 20], [2, 10], [3, 10]]), reading={"level": "multivariate interval"}
    ),
    "flags as labels": Made(ratings_of(labels=(True, False))),
    "numbers": Made(_measured(PLAIN), reading={"level": "interval"}),
    "numbers in CSV": Made(_measured(PLAIN), "csv", {"level": "interval"}),
    "numbers met again": Made(
        _measured(_clustered(met_again(PLAIN, LABELS))), reading={"level": "interval"}
    ),
    "many raters": Made(ratings_of(items=20, raters=130, missing=0.8)),
    "rounds": Made(
        pd.concat([PLAIN.assign(round=1.0), PLAIN.sample(50, random_state=1).assign(round=2.0)]),
        reading={"round_name": "2"},
    ),
    "labels that are missing": Made(
        PLAIN.assign(label=PLAIN["label"].where(PLAIN.index % 5 > 0), cluster=PLAIN["item"])
    ),
}


KINDS = {
    "nominal": (("no", "maybe", "yes"), {}),
    "ordinal": (("1", "2", "3", "4"), {"scale": Scale(("1", "2", "3", "4"), "ordinal")}),
    "interval": ((-1, 0, 1), {"scale": Scale((-1, 0, 1), "interval")}),
    "numbers": (None, {"scale": Scale(None, "interval")}),
    "ratio": (None, {"scale": Scale(None, "ratio")}),
    "vectors": (None, {"level": "multivariate interval"}),
    "sets": (("a", "a|b", "b|a", "|", "c|b"), {}),
}
"""The kinds of labels, and how they are read. Without categories the labels are random numbers."""

FEATURES = {
    "alone": ("csv", ()),
    "with strata, texts and gold": ("parquet", ("strata", "text", "gold")),
    "with right labels, assisted": ("jsonl", ("gold", "gold_label", "assisted", "confidence")),
    "met again, in clusters": ("csv", ("occurrence", "cluster", "timestamp", "classifiers")),
    "preceded, weighted": ("checked", ("occurrence", "earlier", "weight", "cluster", "strata")),
    "by rules": ("DataFrame", ("where", "exclude", "confidence", "text")),
    "of repeated items": ("parquet", ("replicate_of", "assisted", "classifiers")),
    "in a wide table": ("csv", ("wide", "models", "gold", "strata")),
}
"""Forms of tables, and what they tell beside the labels."""
MADE_OF = {
    "nominal": tuple(FEATURES),
    "numbers": (
        "with strata, texts and gold",
        "met again, in clusters",
        "by rules",
        "in a wide table",
    ),
    "sets": ("with right labels, assisted", "met again, in clusters", "by rules"),
    "vectors": ("with strata, texts and gold", "with right labels, assisted", "preceded, weighted"),
    "ordinal": ("met again, in clusters",),
    "interval": ("preceded, weighted",),
    "ratio": ("with strata, texts and gold",),
}
"""The forms of each kind of labels. Labels are nominal in every form, and other kinds in some.
Ordinal scales are read as nominal ones, and ratios as numbers.
"""


def table(kind, name, seed):
    """A small random table: labels of one kind in one form, with what else it tells.

    The form `checked` is a DataFrame under the names of `Ratings.from_frame`.
    """
    rng = np.random.default_rng(seed)
    (labels, reading), (form, features) = KINDS[kind], FEATURES[name]
    frame = ratings_of(int(rng.integers(10, 20)), 4, labels or ("x", "y"), 0.25, seed)
    if "occurrence" in features:
        frame = met_again(frame, labels or ("x", "y"), seed)
    number = frame["item"].str[1:].astype(int)
    if labels is None:
        frame["label"] = _numbers(kind, len(frame), rng)
    reading = {"columns": {}, "rules": {}, **reading}
    for each in features:
        _TOLD.get(each, _nothing)(frame, number, reading, rng)
    if "gold_label" in features:
        frame["right"] = frame["right"].replace("2", None if labels is None else labels[1])
    if labels is None:
        reading["columns"].pop("gold_label", None)
    if "wide" in features:
        frame = _wide(frame, reading)
    reading["columns"] = Columns(**reading["columns"])
    reading["rules"] = Rules(**reading["rules"])
    return Made(frame, form, reading)


def _nothing(frame, number, reading, rng):
    """What is told already."""


def _column(name, told):
    """What is told in a column of a name that is read without being named."""

    def tell(frame, number, reading, rng):
        frame[name] = told(number, rng)

    return tell


def _named(name, column, told):
    """What is told in a column that the reading names."""

    def tell(frame, number, reading, rng):
        frame[column] = told(number, rng)
        reading["columns"][name] = column

    return tell


def _strata(frame, number, reading, rng):
    frame["stratum:lang"] = frame["lang"] = (number % 3).map({0: "de", 1: "en", 2: "日本"})
    reading["rules"]["strata"] = ("lang",)


def _where(frame, number, reading, rng):
    frame["status"] = rng.choice(["done", "done", "draft"], len(frame))
    reading["rules"]["where"] = {"status": ("done",)}


def _exclude(frame, number, reading, rng):
    reading["rules"]["exclude_raters"] = ("r3",)


def _replicate_of(frame, number, reading, rng):
    frame["repeats"] = [f"i{at - 6:03}" if at >= 6 else None for at in number]
    frame["label"] = frame["label"].where(number < 12)
    reading["rules"]["replicate_of"] = "repeats"


def _classifiers(frame, number, reading, rng):
    reading["classifiers"] = ["r1"]


def _models(frame, number, reading, rng):
    said = dict(zip(number, frame["label"], strict=True))
    frame["guess"] = number.map(said)
    reading["columns"]["models"] = {"model": "guess"}


def _assisted(number, rng):
    return rng.choice(np.array([True, False, None], dtype=object), len(number))


def _confidence(number, rng):
    return np.where(rng.random(len(number)) < 0.2, None, rng.integers(0, 8, len(number)) / 7)


def _times(number, rng):
    return [f"2026-09-{at % 28 + 1:02}T{hour:02}:00:00Z" for at, hour in enumerate(number)]


_TOLD = {
    "strata": _strata,
    "where": _where,
    "exclude": _exclude,
    "replicate_of": _replicate_of,
    "classifiers": _classifiers,
    "models": _models,
    "text": _column("text", lambda number, rng: "said of " + number.astype(str)),
    "cluster": _column("cluster", lambda number, rng: "d" + (number * 3 % 5).astype(str)),
    "weight": _column("weight", lambda number, rng: number % 4 + 1),
    "earlier": _column("earlier", lambda number, rng: rng.random(len(number)) < 0.3),
    "confidence": _column("confidence", _confidence),
    "timestamp": _column("timestamp", _times),
    "gold": _named("gold", "known", lambda number, rng: number % 5 == 0),
    "gold_label": _named(
        "gold_label", "right", lambda number, rng: np.where(number % 10 == 0, None, "2")
    ),
    "assisted": _named("assisted", "hint", _assisted),
}


def _numbers(kind, n, rng):
    """Random numbers, some of them alike."""
    found = np.round(rng.normal(size=(n, 2)) * 10.0 ** rng.integers(-8, 9, (n, 1)), 9)
    found[rng.random(n) < 0.3] = found[0]
    if kind == "vectors":
        return [f"{one!r}|{other!r}" for one, other in found.tolist()]
    return np.abs(found[:, 0]) if kind == "ratio" else found[:, 0]


def _wide(frame, reading):
    """The labels in a column a rater, with what is told of the items."""
    raters = tuple(sorted(frame["rater"].unique()))
    beside = frame.drop(columns=["rater", "label"]).drop_duplicates("item")
    labels = frame.pivot(index="item", columns="rater", values="label").reset_index()
    reading["columns"]["raters"] = raters
    reading["layout"] = "wide"
    return labels.merge(beside, on="item")


RANDOM = {
    f"{kind} {name}": table(kind, name, seed)
    for seed, (kind, name) in enumerate(product(KINDS, FEATURES), 1)
    if name in MADE_OF[kind]
}


def plain(value):
    """A result with its arrays as bytes, for comparison to the last bit."""
    if isinstance(value, np.ndarray):
        if value.dtype.kind == "f":
            value = np.where(np.isnan(value), np.nan, value) + 0.0
        return value.dtype.kind, value.shape, np.ascontiguousarray(value).tobytes()
    if is_dataclass(value):
        return {each.name: plain(getattr(value, each.name)) for each in fields(value)}
    if isinstance(value, dict):
        return {name: plain(each) for name, each in value.items()}
    if isinstance(value, (tuple, list)):
        return [plain(each) for each in value]
    return value.hex() if isinstance(value, float) else value
