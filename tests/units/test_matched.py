"""Matched objects: the fast matcher is the obvious slow one, and order does not matter."""

from itertools import permutations

import numpy as np
import pytest

from agreement_pipeline.errors import ProjectError, RatingsError
from agreement_pipeline.ratings import Scale
from agreement_pipeline.units import (
    Box,
    Keypoints,
    Marked,
    Polygon,
    Span,
    UnitSettings,
    at_each,
    group_similar_areas,
    units_of,
)

from .drawn import boxes, pixels, random_image, slowly_matched, spans

AB = Scale(("none", "A", "B"))


def fast(marked, **settings):
    drawn = [(each.rater, area) for each in marked for area in each.objects]
    return sorted(
        sorted((n.area.geometry, n.area.category, *sorted(n.raters)) for n in group)
        for group in group_similar_areas(drawn, UnitSettings("boxes", **settings))
    )


def test_the_fast_matcher_is_the_slow_one_on_a_thousand_images():
    rng = np.random.default_rng(19)
    for _ in range(1000):
        marked = random_image(rng)
        at_least = float(rng.choice([0.1, 1 / 3, 0.5, 0.6]))
        kind = str(rng.choice(["iou", "overlap"]))
        slow = slowly_matched(marked, round(at_least, 9), kind)
        assert fast(marked, at_least=at_least, similarity=kind) == slow


def test_the_order_and_the_names_of_raters_change_nothing():
    rng = np.random.default_rng(7)
    for _ in range(30):
        marked = random_image(rng)
        found = set()
        for names in permutations("abc"):
            renamed = dict(zip("abc", names, strict=True))
            turned = [
                Marked("i", renamed[m.rater], m.objects[::-1], m.extent) for m in marked[::-1]
            ]
            rows = units_of(turned, UnitSettings("boxes"), AB).rows
            back = rows["rater"].map(dict(zip(names, "abc", strict=True)))
            found.add(frozenset(zip(rows["item"], back, rows["label"], strict=True)))
        assert len(found) == 1


def units(marked, kind="boxes", scale=AB, **settings):
    rows = units_of(marked, UnitSettings(kind, rule="matched", **settings), scale).rows
    return {
        item: dict(zip(said["rater"], said["label"], strict=True))
        for item, said in rows.groupby("item", sort=False)
    }


def test_who_drew_nothing_alike_says_none():
    marked = [
        boxes("i", "ana", (0, 0, 10, 10, "A"), (20, 20, 5, 5, "B")),
        boxes("i", "ben", (1, 0, 10, 10, "B")),
        boxes("i", "chi"),
    ]
    assert units(marked) == {
        "i 0,0 10x10": {"ana": "A", "ben": "B", "chi": "none"},
        "i 20,20 5x5": {"ana": "B", "ben": "none", "chi": "none"},
    }


def test_who_never_opened_an_item_is_missing_there():
    marked = [boxes("i", "ana", (0, 0, 9, 9, "A")), boxes("j", "ben", (0, 0, 9, 9, "A"))]
    assert units(marked) == {"i 0,0 9x9": {"ana": "A"}, "j 0,0 9x9": {"ben": "A"}}


def test_an_item_in_which_nobody_drew_is_one_unit():
    assert units([boxes("i", "ana"), boxes("i", "ben")]) == {
        "i nothing marked": {"ana": "none", "ben": "none"}
    }


def test_the_more_similar_pair_is_matched_first():
    marked = [
        spans("d", "ana", (0, 10, "A")),
        spans("d", "ben", (0, 8, "A"), (0, 9, "B")),
    ]
    assert units(marked, "spans") == {
        "d 0-8": {"ana": "none", "ben": "A"},
        "d 0-9": {"ana": "A", "ben": "B"},
    }


def test_of_equally_similar_pairs_that_of_one_category_is_matched_first():
    marked = [
        spans("d", "ana", (2, 10, "B")),
        spans("d", "ben", (1, 9, "A"), (3, 11, "B")),
    ]
    assert units(marked, "spans") == {
        "d 1-9": {"ana": "none", "ben": "A"},
        "d 2-10": {"ana": "B", "ben": "B"},
    }


def test_two_objects_of_a_unit_are_always_alike():
    marked = [
        spans("d", "a", (0, 6, "A")),
        spans("d", "b", (2, 8, "A")),
        spans("d", "c", (4, 10, "A")),
    ]
    assert units(marked, "spans") == {
        "d 0-6": {"a": "A", "b": "A", "c": "none"},
        "d 4-10": {"a": "none", "b": "none", "c": "A"},
    }


def test_two_labels_on_one_place_are_two_units():
    marked = [
        spans("d", "ana", (0, 6, "A"), (0, 6, "B")),
        spans("d", "ben", (0, 6, "B")),
    ]
    assert units(marked, "spans") == {
        "d 0-6": {"ana": "A", "ben": "none"},
        "d 0-6 (2)": {"ana": "B", "ben": "B"},
    }


def test_exact_matches_want_the_same_place():
    marked = [spans("d", "ana", (0, 20, "A")), spans("d", "ben", (0, 19, "A"))]
    assert len(units(marked, "spans", similarity="exact")) == 2
    assert len(units(marked, "spans", at_least=0.9)) == 1


def test_a_value_is_shown_at_each_similarity():
    marked = [boxes("i", "a", (0, 0, 4, 4, "A")), boxes("i", "b", (1, 0, 4, 4, "A"))]
    found = at_each(marked, UnitSettings("boxes"), [0.3, 0.6, 0.61], AB)
    assert [units.rows["item"].nunique() for _, units in found] == [1, 1, 2]


L = ((0, 0), (6, 0), (6, 2), (2, 2), (2, 6), (0, 6))
U = ((0, 0), (9, 0), (9, 8), (6, 8), (6, 3), (3, 3), (3, 8), (0, 8))
SHAPES = [L, U, ((1, 1), (9, 3), (4, 10)), ((2, 1), (11, 1), (11, 11), (2, 11))]


@pytest.mark.parametrize("one", SHAPES)
@pytest.mark.parametrize("other", SHAPES)
def test_polygons_are_as_alike_as_their_pixels(one, other):
    both, either = pixels(one) & pixels(other), pixels(one) | pixels(other)
    iou = both.sum() / either.sum()
    for at_least, n in ((iou - 0.005, 1), (min(1, iou + 0.005), 2)):
        drawn = [("a", Polygon(one, "A")), ("b", Polygon(other, "A"))]
        if one != other or n == 1:
            assert len(group_similar_areas(drawn, UnitSettings("polygons", at_least=at_least))) == n


def test_a_polygon_is_one_however_it_was_drawn():
    turned = (*U[3:], *U[:3])
    assert Polygon(U, "A") == Polygon(turned, "A") == Polygon(turned[::-1], "A")
    assert Polygon((*U, U[0]), "A") == Polygon(U, "A")


def test_similar_objects_of_one_rater_are_two_units():
    drawn = [("a", Span(0, 9, "A")), ("a", Span(0, 8, "A")), ("b", Span(0, 9, "A"))]
    groups = group_similar_areas(drawn, UnitSettings("spans", rule="matched"))
    assert [len(group) for group in groups] == [1, 1]


BODY = (
    *((30, 69), (29, 57), (62, 33), (36, 32), (16, 39), (24, 25), (21, 22), (59, 35), (25, 45)),
    *((46, 49), (65, 19), (32, 27), (11, 21), (34, 34), (47, 37), (46, 23), (18, 30)),
)
NEAR = (
    *((33, 67.3), (29.8, 59.2), (63.7, 36.3), (38.9, 35.3), (12.2, 38.5), (23.9, 21.5)),
    *((17, 24.6), (62.9, 37.3), (23.5, 46.6), (44.4, 50.9), (63.2, 21.3), (35.9, 30.9)),
    *((14.1, 24.3), (35.7, 34.4), (50.4, 33.7), (45, 23.8), (17.8, 32.3)),
)
FAR = (
    *(None, (30.7, 61.4), (65.5, 39.6), None, (8.4, 38), (23.8, 18), (13.1, 27.3), (66.7, 39.6)),
    *((22, 48.3), (42.8, 52.9), (61.5, 23.5), (39.8, 34.8), (17.1, 27.6), (37.3, 34.9)),
    *((53.8, 30.4), (43.9, 24.7), None),
)


def bodies(one, other, size=2500.0, sigmas=(), **settings):
    drawn = [("a", Keypoints(one, size, "A")), ("b", Keypoints(other, size, "A"))]
    found = UnitSettings("keypoints", sigmas=sigmas, **settings)
    return len(group_similar_areas(drawn, found))


@pytest.mark.parametrize(
    ("other", "size", "oks"), [(NEAR, 2500.0, 0.7833969), (FAR, 1600.0, 0.45184274)]
)
def test_keypoints_are_as_alike_as_pycocotools_says(other, size, oks):
    one = tuple(None if there is None else point for point, there in zip(BODY, other, strict=True))
    assert bodies(one, other, size, at_least=oks - 1e-6) == 1
    assert bodies(one, other, size, at_least=oks + 1e-6) == 2


def test_a_keypoint_that_one_rater_did_not_set_counts_as_zero():
    without = (*BODY[:10], *[None] * 7)
    assert bodies(BODY, without, at_least=10 / 17 - 1e-6) == 1
    assert bodies(BODY, without, at_least=10 / 17 + 1e-6) == 2
    assert bodies(without, (*[None] * 10, *BODY[10:]), at_least=1e-9) == 2


def test_a_skeleton_of_its_own_has_its_own_sigmas():
    one, other = ((5, 5), (9, 5)), ((5, 5), (9, 8))
    like = (1 + np.exp(-9 / (2 * 100 * (2 * 0.1) ** 2))) / 2
    assert bodies(one, other, 100, (0.05, 0.1), at_least=like - 1e-6) == 1
    assert bodies(one, other, 100, (0.05, 0.1), at_least=like + 1e-6) == 2
    assert bodies(one, other, 100, similarity="exact") == 2
    with pytest.raises(RatingsError, match="found a body of 2 keypoints; expected 17"):
        bodies(one, other, 100)


@pytest.mark.parametrize(
    ("kind", "said", "message"),
    [
        ("keypoints", {"similarity": "iou"}, "expected one of oks, exact for keypoints"),
        ("boxes", {"similarity": "oks"}, "expected one of iou, overlap, exact for boxes"),
        (
            "boxes",
            {"sigmas": (0.1,)},
            "expected nothing, since only keypoints have them. Leave them out.",
        ),
        ("keypoints", {"sigmas": (0.1, 0)}, "expected a list of numbers above 0"),
    ],
)
def test_a_similarity_is_of_its_kind(kind, said, message):
    with pytest.raises(ProjectError, match=message):
        UnitSettings(kind, **said)


def test_a_box_may_be_anywhere_among_hundreds():
    rng = np.random.default_rng(5)
    at = [(x * 20, y * 20) for x in range(20) for y in range(20)]
    drawn = [
        (rater, Box(x + int(rng.integers(0, 3)), y + int(rng.integers(0, 3)), 14, 14, "A"))
        for rater in "abc"
        for x, y in at
    ]
    groups = group_similar_areas(drawn, UnitSettings("boxes"))
    assert len(groups) == 400
    assert all(frozenset().union(*(n.raters for n in group)) == set("abc") for group in groups)
