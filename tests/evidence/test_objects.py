"""The page of a round of objects: where units lie, and who dissents."""

from xml.etree import ElementTree

import pytest

from agreement_pipeline.estimates import measure, survey
from agreement_pipeline.evidence.judged import JudgedRound
from agreement_pipeline.evidence.objects import (
    answer_about_marked_objects,
    answer_about_other_settings,
)
from agreement_pipeline.policy import Policy, Rule
from agreement_pipeline.ratings import Ratings, Scale
from agreement_pipeline.report import report_page
from agreement_pipeline.report.drawing import draw_svg
from agreement_pipeline.units import (
    Box,
    Keypoints,
    Marked,
    Polygon,
    Span,
    UnitSettings,
    units_of,
)
from tests.report.pages import a_round

POLICY = Policy("objects", 1, (Rule("krippendorff_alpha"),), n_resamples=1000)
SCALE = Scale(("none", "PER", "<b>ORG</b>"))
RATERS = ("ana", "ben", "cyd")
HOSTILE = "<script>d</script>"


def spans(item, rater):
    said = [Span(0, 3, "PER")]
    if item == "d05":
        said += [Span(10, 14, "PER" if rater == "ben" else "<b>ORG</b>")]
    if item == HOSTILE:
        said = [] if rater == "cyd" else said
    return Marked(item, rater, tuple(said), (30,))


def boxes(item, rater):
    at = 16 if (item, rater) == ("d05", "ben") else 10
    said = [Box(at, 20, 30, 40, "PER")]
    if item == "d05" and rater != "cyd":
        said += [Box(60, 5, 10, 10, "PER")]
    return Marked(item, rater, tuple(said), (99, 99))


def ratings_of(kind, drawn, **settings):
    items = [*(f"d{n:02}" for n in range(12)), HOSTILE]
    marked = [drawn(item, rater) for item in items for rater in RATERS]
    return units_of(marked, UnitSettings(kind, **settings), SCALE).ratings


def judged(ratings, images=None):
    return JudgedRound("p", "w1", ratings, POLICY, None, images=images)


def test_spans_of_each_rater_and_who_dissents():
    found = answer_about_marked_objects(judged(ratings_of("spans", spans)))
    assert found.sentences == (
        f"Raters differ on 2 units. The most disputed are drawn: d05, {HOSTILE}.",
    )
    document = found.figures[0]
    assert [
        (each.name, [(m.label, m.low, m.high, m.tone) for m in each.marks])
        for each in (document.series)
    ] == [
        ("ana", [("PER", 0, 3, "good"), ("<b>ORG</b>", 10, 14, "good")]),
        ("ben", [("PER", 0, 3, "good"), ("PER", 10, 14, "bad")]),
        ("cyd", [("PER", 0, 3, "good"), ("<b>ORG</b>", 10, 14, "good")]),
    ]
    cyd = found.figures[1].series[2]
    assert [(mark.label, mark.tone) for mark in cyd.marks] == [("none", "bad")]
    (table,) = found.tables
    assert [[cell.text for cell in row] for row in table.rows] == [
        ["d05 10-14", "<b>ORG</b>: ana, cyd; PER: ben", "ben"],
        [f"{HOSTILE} 0-3", "PER: ana, ben; none: cyd", "cyd"],
    ]


def test_boxes_in_a_frame_and_who_dissents():
    found = answer_about_marked_objects(judged(ratings_of("boxes", boxes)))
    (frame,) = found.figures
    assert (frame.kind, frame.title) == ("frames", "d05")
    assert [(m.across_low, m.low, m.across_high, m.high, m.label, m.tone) for m in frame.marks] == [
        (10, 20, 40, 60, "PER 3", "good"),
        (60, 5, 70, 15, "PER 2, none 1", "bad"),
        (16, 20, 46, 60, "ben: PER", "plain"),
    ]
    assert [series.name for series in frame.series] == ["units", "ben"]


KITE = ((10, 30), (30, 10), (70, 30), (30, 60))


def polygons(item, rater):
    wider = (*KITE[:2], (80, 30), KITE[3])
    said = [Polygon(wider if (item, rater) == ("d05", "ben") else KITE, "PER")]
    if item == "d05" and rater != "cyd":
        said += [Polygon(((80, 80), (90, 80), (90, 95)), "PER")]
    return Marked(item, rater, tuple(said), (99, 99))


def bodies(item, rater):
    hand = (52, 40) if (item, rater) == ("d05", "ben") else (50, 40)
    said = [Keypoints(((10, 20), None, hand), 900, "PER")]
    if item == "d05" and rater != "cyd":
        said += [Keypoints(((80, 85), None, None), 100, "PER")]
    return Marked(item, rater, tuple(said), (99, 99))


@pytest.mark.parametrize(
    ("kind", "drawn", "points"),
    [
        (
            "polygons",
            polygons,
            [
                ((10, 30), (30, 10), (70, 30), (30, 60)),
                ((80, 80), (90, 80), (90, 95)),
                ((10, 30), (30, 10), (80, 30), (30, 60)),
            ],
        ),
        (
            "keypoints",
            bodies,
            [((10, 20), (50, 40)), ((80, 85),), ((10, 20), (52, 40))],
        ),
    ],
)
def test_polygons_and_bodies_in_a_frame_and_who_dissents(kind, drawn, points):
    settings = {"sigmas": (0.1, 0.1, 0.1)} if kind == "keypoints" else {}
    found = answer_about_marked_objects(judged(ratings_of(kind, drawn, **settings)))
    (figure,) = found.figures
    assert figure.kind == {"polygons": "outlines", "keypoints": "bodies"}[kind]
    assert [series.name for series in figure.series] == ["units", "ben"]
    assert [(mark.label, mark.tone, mark.points) for mark in figure.marks] == [
        ("PER 3", "good", points[0]),
        ("PER 2, none 1", "bad", points[1]),
        ("ben: PER", "plain", points[2]),
    ]
    for mark in figure.marks:
        ends = [*zip(*mark.points, strict=True)]
        limits = mark.across_low, mark.low, mark.across_high, mark.high
        assert limits == (min(ends[0]), min(ends[1]), max(ends[0]), max(ends[1]))
    drawing = ElementTree.fromstring(draw_svg(figure, "f"))
    if kind == "polygons":
        corners = [each.get("points").split() for each in drawing.iter("polygon")]
        assert [len(each) for each in corners] == [4, 4, 3]
    else:
        tips = [each.findtext("title") for each in drawing if each.get("class", "")[:4] == "mark"]
        assert tips == ["ben: PER", "ben: PER", "PER 3", "PER 3", "PER 2, none 1"]


def test_polygons_of_a_table_without_their_corners_are_not_drawn():
    items = [f"d{n:02}" for n in range(12)]
    marked = [polygons(item, rater) for item in items for rater in RATERS]
    rows = units_of(marked, UnitSettings("polygons"), SCALE).rows.drop(columns="drawn")
    found = answer_about_marked_objects(judged(Ratings.from_frame(rows, SCALE)))
    assert found.figures == ()
    assert found.sentences[0].endswith("the ratings do not say where objects lie.")
    assert [row[2].text for row in found.tables[0].rows] == ["cyd"]


def test_units_of_naming_alone_are_drawn_too():
    marked = [boxes(f"d{n:02}", rater) for n in range(12) for rater in RATERS]
    drawn = (Box(10, 20, 30, 40, "<b>ORG</b>"),)
    marked[3] = Marked("d01", "ana", drawn, (99, 99))
    settings = UnitSettings("boxes", part="naming")
    found = answer_about_marked_objects(
        judged(units_of(marked, settings, Scale(SCALE.names[1:])).ratings)
    )
    assert found.figures[0].title == "d01"
    assert [mark.label for mark in found.figures[0].marks] == ["PER 2, <b>ORG</b> 1"]


@pytest.mark.parametrize(
    ("kind", "drawn", "settings", "head"),
    [
        ("boxes", boxes, [{"at_least": each} for each in (0.3, 0.5, 0.7, 0.9)], "similarity"),
        ("spans", spans, [{"step": each} for each in (1, 2, 5, 10)], "steps"),
    ],
)
def test_values_at_other_settings_are_those_of_units_made_with_them(kind, drawn, settings, head):
    found = answer_about_other_settings(judged(ratings_of(kind, drawn)))
    (table,) = found.tables
    assert table.columns[0] == head
    assert [row[1].by for row in table.rows] == [
        measure(ratings_of(kind, drawn, **each), "krippendorff_alpha").value for each in settings
    ]
    assert len({row[1].by for row in table.rows}) > 1
    assert answer_about_other_settings(judged(a_round())) is None


def test_the_f1_of_pairs_stands_beside_matched_units():
    (table,) = answer_about_other_settings(judged(ratings_of("boxes", boxes))).tables
    assert table.columns[-2:] == ("F1 of pairs", "interval")
    pairs = ratings_of("boxes", boxes, rule="paired", part="marking", at_least=0.7)
    every = survey(pairs, ["specific_agreement"], scopes=("category",))
    (of_marked,) = (each for each in every if each.scope.name == "marked")
    assert table.rows[2][-2].by == of_marked.value


def test_a_round_of_plain_labels_or_of_agreement_has_no_such_section():
    assert answer_about_marked_objects(judged(a_round())) is None
    agreed = ratings_of(
        "spans", lambda item, rater: Marked(item, rater, (Span(0, 3, "PER"),), (9,))
    )
    assert answer_about_marked_objects(judged(agreed)) is None


def test_many_units_are_bounded_and_nothing_is_markup():
    def many(item, rater):
        shift = RATERS.index(rater)
        said = [Span(9 * n + shift, 9 * n + 5, "<b>ORG</b>") for n in range(200)]
        return Marked(item, rater, tuple(said), (2000,))

    ratings = ratings_of("spans", many)
    found = answer_about_marked_objects(JudgedRound("p", "w1", ratings, POLICY, None))
    assert len(found.figures) == 3
    assert max(len(series.marks) for each in found.figures for series in each.series) <= 60
    assert len(found.tables[0].rows) == 40
    page = report_page(ratings, POLICY)
    assert "The units on which raters differ most" in page
    assert HOSTILE not in page
    assert "<b>ORG" not in page
    assert len(page.encode()) < 300_000
