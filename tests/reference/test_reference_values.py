"""Every measure gives the values its sources print.

Each measure has one file with its name. A case names ratings, a value and its place in the source.
"""

import json
import tomllib
from pathlib import Path

import numpy as np
import pandas as pd
import pytest

from agreement_pipeline.counting import RatingsCounting
from agreement_pipeline.measures import MEASURES, WEIGHTINGS, find_measure
from agreement_pipeline.ratings import Ratings, Scale
from agreement_pipeline.statistics import CountsOfStratum, LabelsOfPanels

HERE = Path(__file__).parent
FILES = sorted(HERE.glob("*.toml"))
KNOWN = {
    "name",
    "distance",
    "source",
    "level",
    "categories",
    "classifier",
    "classifiers",
    "table",
    "file",
    "counts",
    "contingency",
    "numbers",
    "vector",
    "data",
    "stratum",
}
KNOWN |= {"confidence"}
KNOWN |= {"value", "values", "observed", "expected", "greatest", "tolerance"}


def cases():
    for path in FILES:
        content = tomllib.loads(path.read_text(encoding="utf-8"))
        for case in content["case"]:
            distance = f"_{case['distance']}" if "distance" in case else ""
            name = content["measure"] + distance
            yield pytest.param(name, case, id=f"{name}: {case['name']}")


def from_counts(counts):
    """Ratings of raters without names.

    The first categories of an item go to the first raters.
    """
    return pd.DataFrame(np.vstack([np.repeat(np.arange(len(row)), row) for row in counts]))


def from_contingency(table):
    """Two raters, A in the rows and B in the columns."""
    pairs = [
        (a, b) for a, row in enumerate(table) for b, items in enumerate(row) for _ in range(items)
    ]
    return pd.DataFrame(pairs, columns=["A", "B"])


def from_numbers(table):
    """Items by raters; a number, or a list of them for a vector."""
    rows = [
        (f"{i:04}", str(r), tuple(said) if isinstance(said, list) else said)
        for i, row in enumerate(table)
        for r, said in enumerate(row)
    ]
    return pd.DataFrame(rows, columns=["item", "rater", "label"])


def from_vector(name, shared_data):
    vector = next(
        case
        for case in json.loads((shared_data / "reference_vectors.json").read_text())["cases"]
        if case["id"] == name
    )
    return pd.DataFrame(vector["data"]["values"]).T


def long(wide, names):
    """One row a rating of a table of items by raters; codes become names where there are names."""
    frame = (
        wide.rename_axis(index="item", columns="rater")
        .stack()
        .rename("label")
        .reset_index()
        .dropna()
    )
    frame["rater"] = frame["rater"].map(str)
    frame["item"] = frame["item"].map("{:04}".format)
    return frame.assign(label=frame["label"].map(lambda code: names[int(code)])) if names else frame


def stated(ratings, confidence):
    """The ratings with their raters' confidence, items by raters in the order of their names."""
    table = ratings.to_pandas()
    places = zip(table["item"], table["rater"], strict=True)
    sure = [confidence[int(item)][ratings.raters.index(rater)] for item, rater in places]
    return Ratings.from_frame(table.assign(confidence=sure), ratings.scale)


def ratings_of(case, request):
    classifiers = tuple(
        case.get("classifiers", [case["classifier"]] if "classifier" in case else [])
    )
    names, level = case.get("categories"), case.get("level", "nominal")
    if "table" in case or "file" in case:
        text = case["table"] if "table" in case else (HERE / case["file"]).read_text()
        ratings = request.getfixturevalue("tabled")(text, names, level, classifiers)
        return stated(ratings, case["confidence"]) if "confidence" in case else ratings
    if "data" in case:
        frame = pd.read_csv(
            request.getfixturevalue("shared_data") / f"{case['data']}.csv", dtype=str
        )
    elif "numbers" in case:
        frame = from_numbers(case["numbers"])
    elif "vector" in case:
        frame = long(from_vector(case["vector"], request.getfixturevalue("shared_data")), None)
        names = names or sorted(set(frame["label"]))
    elif "counts" in case:
        frame = long(
            from_counts(case["counts"]), names or [f"c{k}" for k in range(len(case["counts"][0]))]
        )
    else:
        frame = long(
            from_contingency(case["contingency"]),
            names or [f"c{k}" for k in range(len(case["contingency"]))],
        )
    return Ratings.from_frame(
        frame,
        Scale(tuple(names), level) if names else Scale.from_labels(frame["label"], level),
        classifiers=classifiers,
    )


def groups_of(ratings):
    return RatingsCounting().labels(ratings, ratings.classifiers).in_groups(ratings.classifiers)


def stratum_of(ratings, places):
    items, counts = RatingsCounting().by_item(ratings)
    return CountsOfStratum(counts, [int(item) in places for item in items.to_pylist()])


def panels_of(ratings):
    """Panels whose label is a mean of numbers, and on other levels the category of one rater."""
    numbers = RatingsCounting().numbers(ratings) if ratings.scale.level == "interval" else None
    if numbers is not None:
        values = numbers.values[:, :, 0]
        means, sizes = np.nanmean(values, axis=1), (~np.isnan(values)).sum(1)
        errors = np.nanvar(values, axis=1, ddof=1) / sizes
        return LabelsOfPanels(
            means[:, None], means**2, errors, numbers.weights, of_categories=False
        )
    counts = RatingsCounting().counts(ratings)
    sizes = counts.counts.sum(1)
    equal_pairs = (counts.counts * (counts.counts - 1)).sum(1) / (sizes * (sizes - 1))
    shares = counts.counts / sizes[:, None]
    return LabelsOfPanels(shares, np.ones(len(shares)), 1 - equal_pairs, counts.weights)


def statistic_of(ratings, needs, stratum=()):
    if needs == "label":
        return panels_of(ratings)
    if needs == "strata":
        return stratum_of(ratings, stratum)
    if needs in ("panel", "gold"):
        return (
            RatingsCounting()
            .labels(ratings, (ratings.classifiers[0],))
            .with_rater_apart(ratings.classifiers[0])
        )
    by_needs = {
        "counts": RatingsCounting().counts,
        "patterns": RatingsCounting().labels,
        "values": RatingsCounting().numbers,
        "groups": groups_of,
        "replicates": RatingsCounting().replicates,
        "confidence": RatingsCounting().confident_labels,
    }
    return by_needs[needs](ratings)


@pytest.mark.parametrize(("measure", "case"), list(cases()))
def test_a_measure_gives_the_value_its_source_gives(measure, case, request):
    assert not set(case) - KNOWN
    record = find_measure(measure)
    ratings = ratings_of(case, request)
    statistic = statistic_of(ratings, record.needs, case.get("stratum", ()))
    found = record(statistic)
    tolerance = case["tolerance"]
    assert ratings.scale.level in record.levels
    if "value" in case:
        assert found.value.min() == pytest.approx(case["value"], abs=tolerance)
    for category, value in case.get("values", {}).items():
        assert found.value[statistic.scale.position_of_label(category)] == pytest.approx(
            value, abs=tolerance
        )
    for part in ("observed", "expected", "greatest"):
        if part in case:
            assert float(getattr(found, part)) == pytest.approx(case[part], abs=tolerance)


def test_every_registered_measure_has_reference_values_and_every_family_of_every_distance():
    """The values of a weighted form stand in the file of its family."""
    named = {case.values[0] for case in cases()}
    families = {name.removesuffix("_linear") for name in MEASURES if name.endswith("_linear")}
    weighted = {f"{family}_{distance}" for family in families for distance in WEIGHTINGS}
    assert named == set(MEASURES) | weighted
    assert {path.stem for path in FILES} <= set(MEASURES) | families


@pytest.mark.parametrize("path", FILES, ids=lambda path: path.stem)
def test_a_file_is_named_after_its_measure_and_every_case_says_where_it_is_from(path):
    content = tomllib.loads(path.read_text(encoding="utf-8"))
    assert content["measure"] == path.stem
    assert all(len(case["source"]) > 20 for case in content["case"])
