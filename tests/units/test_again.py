"""The units of a round give back the objects, so that other units can be made of them."""

from dataclasses import replace

import numpy as np
import pytest

from agreement_pipeline.ratings import Ratings, Scale
from agreement_pipeline.units import (
    Keypoints,
    Marked,
    Polygon,
    Segment,
    Span,
    UnitSettings,
    objects_of,
    units_of,
)

from .drawn import boxes, random_image

AB = Scale(("none", "A", "B"))


def random_text(rng, item):
    marked = []
    for rater in "abc":
        cuts = np.unique(rng.integers(0, 31, 6)).tolist()
        said = zip(cuts[:-1:2], cuts[1::2], rng.choice(["A", "B"], len(cuts)), strict=False)
        marked.append(Marked(item, rater, tuple(Span(s, e, str(c)) for s, e, c in said), (30,)))
    return marked


def images(seed):
    rng = np.random.default_rng(seed)
    found = [replace(each, item=f"i {n}") for n in range(6) for each in random_image(rng)]
    return [*found, boxes("i 7 nothing", "a"), boxes("i 7 nothing", "b")]


def texts(seed):
    rng = np.random.default_rng(seed)
    return [each for n in range(4) for each in random_text(rng, f"d {n}-{n + 1}")]


def the_same(marked, first, other, part="all"):
    """Units under other settings, made of the objects and made of the units under the first."""
    scale = AB if part == "all" else Scale(AB.names[1:])
    first, other = (replace(each, part=part) for each in (first, other))
    found = objects_of(units_of(marked, first, scale).ratings)
    asked = {name: getattr(other, name) for name in ("at_least", "step")}
    again = units_of(found.marked, replace(found.settings, **asked), scale).ratings
    direct = units_of(marked, other, scale).ratings
    return again.to_pandas().equals(direct.to_pandas()) and again.digest == direct.digest


@pytest.mark.parametrize("part", ["all", "naming"])
@pytest.mark.parametrize("at_least", [0.3, 0.5, 0.8])
@pytest.mark.parametrize("seed", range(2))
def test_boxes_are_matched_again_from_their_units(seed, at_least, part):
    first = UnitSettings("boxes", at_least=0.5)
    assert the_same(images(seed), first, replace(first, at_least=at_least), part)


@pytest.mark.parametrize("step", [1, 2, 7])
@pytest.mark.parametrize("seed", range(2))
def test_positions_are_cut_again_from_their_units(seed, step):
    first = UnitSettings("spans")
    assert the_same(texts(seed), first, replace(first, step=step))


BODY = Keypoints((None, *[(5.5, 4)] * 16), 90.25, "A")
SQUARE = ((0, 0), (6, 0), (6, 6.5), (0, 6))


@pytest.mark.parametrize(
    ("said", "other"),
    [
        (Segment(0.5, 3, "A"), Segment(0.5, 2, "B")),
        (Polygon(SQUARE, "A"), Polygon(((1, 1), *SQUARE[1:]), "B")),
        (BODY, replace(BODY, points=((5, 4.5), *BODY.points[1:]))),
    ],
)
def test_every_kind_of_object_comes_back(said, other):
    marked = [Marked("i 1", "a", (said,), ()), Marked("i 1", "b", (other,), ())]
    settings = UnitSettings(said.kind, rule="matched", at_least=0.9)
    found = objects_of(units_of(marked, settings, AB).ratings)
    assert found.settings.kind == said.kind
    assert [each.objects for each in found.marked] == [(said,), (other,)]
    assert found.clusters == {"i 1": "i 1"}


def test_what_says_too_little_gives_nothing():
    marked = images(0)
    assert objects_of(units_of(marked, UnitSettings("boxes"), AB).marking) is None
    body = Marked("i", "a", (Keypoints(((1, 2), (3, 4)), 9, "A"),))
    settings = UnitSettings("keypoints", sigmas=(0.1, 0.1))
    assert objects_of(units_of([body, replace(body, rater="b")], settings, AB).ratings) is None
    plain = units_of(texts(0), UnitSettings("spans"), AB).rows.drop(columns="cluster")
    assert objects_of(Ratings.from_frame(plain, AB)) is None


def test_gold_items_are_left_aside_and_models_stay_models():
    marked = [*images(1), boxes("i 0", "m", model=True)]
    units = units_of(marked, UnitSettings("boxes"), AB)
    gold = units.rows.assign(gold=units.rows["cluster"] == "i 1")
    found = objects_of(replace(units, rows=gold).ratings)
    assert {each.item for each in found.marked} == {each.item for each in marked} - {"i 1"}
    assert {each.rater for each in found.marked if each.model} == {"m"}
