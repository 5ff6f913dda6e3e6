"""Spark gives the same ratings, rows, digests and statistics as DuckDB, to the last bit."""

import pytest

from agreement_pipeline.counting import counting_for
from agreement_pipeline.engine import duckdb_session, spark_session
from agreement_pipeline.ratings import EXTRAS, Ratings, RatingsRows, content_columns
from agreement_pipeline.ratings.cells import load_frame_as_cells
from agreement_pipeline.readers import read
from tests.counting.tables import MADE, RANDOM, plain
from tests.readers.exports_of_tools import CASES

pytestmark = pytest.mark.slow

ENGINES = ("duckdb", "spark")
SOURCES = {**RANDOM, **MADE}
TOOLS = ("label_studio", "argilla")
COUNTED = {
    *(name for name in RANDOM if name.startswith(("nominal", "numbers"))),
    "ordinal met again, in clusters",
    "interval preceded, weighted",
    "ratio with strata, texts and gold",
    "vectors preceded, weighted",
    "sets with right labels, assisted",
    "many raters",
    "replicates of a classifier",
    "numbers too small to square, beside others",
}
"""Tables that are counted: of each level, and of each form. Others have odd cells."""


@pytest.fixture(params=[*SOURCES, *TOOLS])
def both(request, in_parts, tmp_path):
    """The ratings of one source in DuckDB, and in Spark."""
    if request.param.startswith("nominal"):
        in_parts(2)
    if request.param in TOOLS:
        case = CASES[request.param]
        return [read(case.file, case.columns, rules=case.rules, engine=each) for each in ENGINES]
    made = SOURCES[request.param]
    source = made.source(tmp_path)
    if made.form == "checked":
        sessions = (duckdb_session(), spark_session())
        return [checked(source, made.reading, session) for session in sessions]
    return [read(source, engine=each, **made.reading) for each in ENGINES]


def checked(frame, reading, session):
    """A frame under the names of `Ratings.from_frame`, in a session."""
    cells = load_frame_as_cells(session, frame, "ratings", {}, 1)
    return Ratings.from_cells(cells, reading.get("scale"), level=reading.get("level", "nominal"))


def told(ratings):
    """What ratings say of themselves."""
    names = ("scale", "classifiers", "everyone", "raters", "gold", "strata", "cluster_names", "has")
    stored = RatingsRows(ratings)
    return {
        **{name: getattr(ratings, name) for name in (*names, "origin", "digest")},
        "len": len(ratings),
        "every": [row for part in stored.to_batches() for row in part.to_pylist()],
        "kinds": stored.schema.to_string(),
    }


def answers(ratings):
    """What ratings answer when they are asked for some rows, or how many there are."""
    label = ["label"] if ratings.scale.continuous else ["label", "code"]
    extras = [name for name in EXTRAS if name in ratings.has]
    columns = ["item", "at", "rater", "place", *label, "occurrence", "earlier", *extras]
    numbers = (
        "n_rated",
        "n_items",
        "n_of_panel",
        "n_assisted",
        "is_assistance_known",
        "has_repeated_ratings",
    )
    return {
        **{name: getattr(ratings, name) for name in numbers},
        "first": ratings.first_ratings(columns, gold=True).to_pylist(),
        "again": ratings.replicated_ratings(columns).to_pylist(),
        "items": ratings.items(content_columns(ratings.has)).to_pylist(),
    }


def statistics(ratings):
    """All that is counted of ratings."""
    counting = counting_for(ratings)
    asked = ["panel", "classifiers", "items", "by_rater", "replicates", "by_item"]
    if not ratings.scale.continuous:
        asked += ["counts", "confident_labels"]
    found = {name: getattr(counting, name)(ratings) for name in asked}
    found["beside"] = counting.by_rater(ratings, counting.classifiers(ratings))
    found["again"] = [counting.replicates(ratings, (each,)) for each in ratings.classifiers]
    return found


def test_spark_says_the_same_as_duckdb(both, request):
    here, there = both
    assert [each.engine for each in both] == ["duckdb", "spark"]
    is_counted = request.node.callspec.params["both"] in COUNTED
    for asked in (told, answers, statistics) if is_counted else (told,):
        found, expected = plain(asked(there)), plain(asked(here))
        for name in expected:
            assert found[name] == expected[name], name
    if is_counted and not here.scale.continuous:
        assert plain(counting_for(there).align_rounds(there, there)) == plain(
            counting_for(here).align_rounds(here, here)
        )
