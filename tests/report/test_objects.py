"""The page of a round of objects: where units lie, and who dissents."""

import pytest

from agreement_pipeline.estimates import measure
from agreement_pipeline.policy import Policy, Rule
from agreement_pipeline.ratings import Scale
from agreement_pipeline.report import report_page
from agreement_pipeline.report.judged import JudgedRound
from agreement_pipeline.report.sections.moving import other_settings
from agreement_pipeline.report.sections.objects import marked_objects
from agreement_pipeline.units import Box, Marked, Span, UnitSettings, units_of
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
    found = marked_objects(judged(ratings_of("spans", spans)))
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
    found = marked_objects(judged(ratings_of("boxes", boxes)))
    (frame,) = found.figures
    assert (frame.kind, frame.title) == ("frames", "d05")
    assert [(m.across_low, m.low, m.across_high, m.high, m.label, m.tone) for m in frame.marks] == [
        (10, 20, 40, 60, "PER 3", "good"),
        (60, 5, 70, 15, "PER 2, none 1", "bad"),
        (16, 20, 46, 60, "ben: PER", "plain"),
    ]
    assert [series.name for series in frame.series] == ["units", "ben"]


def test_units_of_naming_alone_are_drawn_too():
    marked = [boxes(f"d{n:02}", rater) for n in range(12) for rater in RATERS]
    drawn = (Box(10, 20, 30, 40, "<b>ORG</b>"),)
    marked[3] = Marked("d01", "ana", drawn, (99, 99))
    settings = UnitSettings("boxes", part="naming")
    found = marked_objects(judged(units_of(marked, settings, Scale(SCALE.names[1:])).ratings))
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
    found = other_settings(judged(ratings_of(kind, drawn)))
    (table,) = found.tables
    assert table.columns[0] == head
    assert [row[1].by for row in table.rows] == [
        measure(ratings_of(kind, drawn, **each), "krippendorff_alpha").value for each in settings
    ]
    assert len({row[1].by for row in table.rows}) > 1
    assert other_settings(judged(a_round())) is None


def test_a_round_of_plain_labels_or_of_agreement_has_no_such_section():
    assert marked_objects(judged(a_round())) is None
    agreed = ratings_of(
        "spans", lambda item, rater: Marked(item, rater, (Span(0, 3, "PER"),), (9,))
    )
    assert marked_objects(judged(agreed)) is None


def test_many_units_are_bounded_and_nothing_is_markup():
    def many(item, rater):
        shift = RATERS.index(rater)
        said = [Span(9 * n + shift, 9 * n + 5, "<b>ORG</b>") for n in range(200)]
        return Marked(item, rater, tuple(said), (2000,))

    ratings = ratings_of("spans", many)
    found = marked_objects(JudgedRound("p", "w1", ratings, POLICY, None))
    assert len(found.figures) == 3
    assert max(len(series.marks) for each in found.figures for series in each.series) <= 60
    assert len(found.tables[0].rows) == 40
    page = report_page(ratings, POLICY)
    assert "Where do raters mark differently?" in page
    assert HOSTILE not in page
    assert "<b>ORG" not in page
    assert len(page.encode()) < 300_000
