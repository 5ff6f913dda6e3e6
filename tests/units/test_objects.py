"""Objects that cannot be are refused with their place in the source."""

from math import inf, nan

import pytest

from agreement_pipeline.errors import RatingsError
from agreement_pipeline.ratings import Scale
from agreement_pipeline.units import (
    Box,
    ChosenSet,
    Keypoints,
    Marked,
    Polygon,
    Preference,
    Ranking,
    Segment,
    Span,
    UnitSettings,
    units_of,
)

AT = "round.json: task 7, annotation 3, result 2"
NAMES = Scale(("none", "PER", "ORG"))
BOW = ((0, 0), (4, 4), (4, 0), (0, 4))


@pytest.mark.parametrize(
    ("make", "message"),
    [
        (lambda: Span(9, 4, "PER", AT), "found start 9 and end 4; expected an end after the start"),
        (lambda: Span(4, 4, "PER", AT), "found start 4 and end 4"),
        (lambda: Span(-1, 4, "PER", AT), "found start -1; expected 0 or more"),
        (lambda: Segment(1.5, 1.5, "PER", AT), "found start 1.5 and end 1.5"),
        (lambda: Box(1, 1, -3, 4, "PER", AT), "found a box of width -3 and height 4"),
        (lambda: Box(-5, 1, 3, 4, "PER", AT), "found a box that begins at -5, 1"),
        (
            lambda: Polygon(BOW, "PER", AT),
            "found a polygon whose sides 0,0 to 4,4 and 4,0 to 0,4 meet; expected sides that meet "
            "at common corners alone",
        ),
        (
            lambda: Polygon(BOW[2:] + BOW[:2], "PER", AT),
            "found a polygon whose sides 0,0 to 4,4 and 4,0 to 0,4 meet",
        ),
        (
            lambda: Polygon(((0, 0), (9, 0), (4, 0), (4, 5)), "PER", AT),
            "found a polygon whose sides 0,0 to 9,0 and 4,0 to 4,5 meet",
        ),
        (lambda: Polygon(((0, 0), (9, 0), (9, -1)), "PER", AT), "found a corner under 0"),
        (lambda: Polygon(((1, 1), (1, 1)), "PER", AT), "found a polygon of 1 corner; expected"),
        (
            lambda: Span(12345678, 12345670, "PER", AT),
            "found start 12345678 and end 12345670; expected an end after the start",
        ),
        (
            lambda: Marked("i", "ana", (Box(0, 0, 640.0004, 9, "PER", AT),), (640, 480)),
            "found 'PER' at 0,0 640x9, which reaches to 640.0004 by 9 in an item of 640 by 480",
        ),
        (lambda: Polygon(((0, 0), (1, 1), (0, 0)), "PER", AT), "found a polygon of 2 corners"),
        (
            lambda: Keypoints((None, None), 9, "PER", AT),
            "found a body of 2 keypoints of which none is set; expected one that is",
        ),
        (lambda: Keypoints(((1, 2),), 0, "PER", AT), "found a body of area 0; expected an area"),
        (lambda: Keypoints(((1, -2),), 9, "PER", AT), "found a keypoint under 0"),
        (lambda: Ranking((frozenset("a"), frozenset("a")), AT), "found a ranking of"),
        (lambda: Preference("a", "a", "tie", AT), "found choice 'tie' between 'a' and 'a'"),
    ],
)
def test_an_impossible_object_names_its_place(make, message):
    with pytest.raises(RatingsError, match=f"^{AT}: {message}"):
        make()


@pytest.mark.parametrize(
    ("objects", "extent", "message"),
    [
        (
            [Span(2, 11, "PER", AT)],
            (10,),
            "found 'PER' at 2-11, which reaches to 11 in an item of 10",
        ),
        (
            [Box(5, 5, 9, 3, "PER", AT)],
            (10, 10),
            "found 'PER' at 5,5 9x3, which reaches to 14 by 8 in an item of 10 by 10",
        ),
        (
            [Keypoints(((5, 5), None, (12, 3)), 9, "PER", AT)],
            (10, 10),
            "found 'PER' at 5,5 with 2 keypoints, which reaches to 12 by 5 in an item of 10 by 10",
        ),
        (
            [Span(2, 4, "PER"), Span(2, 4, "PER", AT)],
            (10,),
            "found 'PER' at 2-4 twice by rater 'ana'; expected each object once",
        ),
        ([Segment(0, inf, "PER", AT)], (), r"found 'PER' at \[0, inf\]; expected finite numbers"),
        ([Box(0, inf, 1, 1, "PER", AT)], (), r"found 'PER' at \[0, inf, 1, 1\]; expected finite"),
        ([Polygon(((0, 0), (nan, 1), (2, 0)), "PER", AT)], (), "found 'PER' at .*; expected fin"),
        ([Keypoints(((1, 2),), inf, "PER", AT)], (), "found 'PER' at .*; expected finite numbers"),
        ([Span(2, 4, "PER", AT)], (9, 9), "found 'PER' at 2-4, .* in an item of 9 by 9; expected"),
        ([Box(0, 0, 2, 4, "PER", AT)], (9,), "found 'PER' at 0,0 2x4, .* in an item of 9; expec"),
    ],
)
def test_an_object_that_cannot_be_in_its_item_is_refused(objects, extent, message):
    with pytest.raises(RatingsError, match=f"^{AT}: {message}"):
        Marked("d", "ana", tuple(objects), extent)


@pytest.mark.parametrize("extent", [(nan,), (inf, 9), (-5,), (1, 2, 3)])
def test_an_item_without_a_finite_size_is_refused(extent):
    with pytest.raises(RatingsError, match=r"^marked objects: found an item of size \[.*; expec"):
        Marked("d", "ana", (), extent)


@pytest.mark.parametrize(
    ("kind", "said"),
    [("spans", Span(0, 2, "LOC", AT)), ("sets", ChosenSet(frozenset({"LOC"}), AT))],
)
def test_an_unknown_category_is_refused(kind, said):
    members = {"members": ("PER", "ORG")} if kind == "sets" else {}
    scale = None if members else NAMES
    with pytest.raises(RatingsError, match=f"^{AT}: found category 'LOC'; expected one of"):
        units_of([Marked("d", "ana", (said,), (9,))], UnitSettings(kind, **members), scale)


def test_objects_of_another_kind_are_refused():
    with pytest.raises(RatingsError, match=f"^{AT}: found spans; expected boxes only"):
        units_of([Marked("d", "ana", (Span(0, 2, "PER", AT),), (9,))], UnitSettings("boxes"), NAMES)


def test_an_item_twice_by_one_rater_is_refused():
    twice = [Marked("d", "ana", (), (9,)), Marked("d", "ana", (), (9,), where=AT)]
    with pytest.raises(RatingsError, match=f"^{AT}: found item 'd' twice by rater 'ana'"):
        units_of(twice, UnitSettings("spans"), NAMES)


def test_none_is_a_label_of_units_and_no_category_of_objects():
    marked = [Marked("d", "ana", (Span(0, 2, "none", AT),), (9,))]
    with pytest.raises(RatingsError, match=f"^{AT}: found category 'none'; expected one of"):
        units_of(marked, UnitSettings("spans"), NAMES)
    with pytest.raises(RatingsError, match=r"found categories \['PER', 'ORG'\] without 'none'"):
        units_of([], UnitSettings("spans"), Scale(("PER", "ORG")))
    with pytest.raises(
        RatingsError, match=r"^units: found no marked object in 1 answer; expected one"
    ):
        units_of([Marked("d", "ana", (), (9,))], UnitSettings("spans"))
