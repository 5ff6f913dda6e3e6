"""The checked long table: what it takes, what it refuses and in which words, and its digest."""

import gc
import weakref

import numpy as np
import pandas as pd
import pytest

from agreement_pipeline.counting import counting_for
from agreement_pipeline.engine import duckdb_session
from agreement_pipeline.errors import RatingsError
from agreement_pipeline.ratings import Ratings, Scale

YES_NO = Scale(("no", "yes"))
ROWS = [("i1", "ana", "yes"), ("i1", "ben", "no"), ("i2", "ana", "no"), ("i2", "ben", "no")]


def frame_of(rows=ROWS, **more):
    return pd.DataFrame(rows, columns=["item", "rater", "label"]).assign(**more)


def ratings_of(frame=None, scale=YES_NO, **keywords):
    return Ratings.from_frame(frame_of() if frame is None else frame, scale, **keywords)


def said_in(ratings):
    """Item, rater and label of each rating."""
    columns = ratings.to_pandas()[["item", "rater", "label"]]
    return list(columns.itertuples(index=False, name=None))


def test_a_row_is_a_rating_and_rows_without_a_label_are_missing_ratings():
    ratings = ratings_of(frame_of([*ROWS, ("i3", "ana", None), (None, None, None)]))
    assert said_in(ratings) == ROWS
    assert ratings.raters == ("ana", "ben")


def test_names_and_labels_are_written_as_the_scale_writes_them():
    ratings = Ratings.from_frame(frame_of([(1.0, 7, 2.0), (1, 8, "1")]), Scale((1, 2), "ordinal"))
    assert said_in(ratings) == [("1", "7", "2"), ("1", "8", "1")]


@pytest.mark.parametrize(
    ("frame", "words"),
    [
        (
            frame_of().drop(columns="rater"),
            r"round.csv: found no column 'worker' among \['task', 'verdict'\]; "
            r"expected item, rater and label",
        ),
        (
            pd.concat([frame_of(), frame_of()[["label"]]], axis=1),
            r"round.csv: found column 'verdict' twice; expected each once",
        ),
        (
            frame_of().assign(**{"stratum:Lang": "en", "stratum:lang": "de"}),
            r"round.csv: found columns \['stratum:Lang', 'stratum:lang'\], which differ in capital",
        ),
        (
            frame_of([("i1", "ana", None)]),
            "round.csv: found no rating; expected at least one row with a label",
        ),
        (
            frame_of([*ROWS, (None, "ana", "no")]),
            r"round.csv: row 6, column 'task': found no item; expected one in every row",
        ),
        (
            frame_of([*ROWS, ("i3", "  ", "no"), ("i4", None, "no")]),
            r"round.csv: rows \[6, 7\], column 'worker': found no rater",
        ),
        (
            frame_of([*ROWS, ("i3", "ana", "Yes")]),
            r"row 6, column 'verdict': found label 'Yes'; expected one of \['no', 'yes'\]",
        ),
        (
            frame_of([*ROWS, ROWS[0]]),
            r"rows \[2, 6\].*found 2 labels of rater 'ana' for item 'i1' as occurrence 1 .*; "
            r"expected one label for each",
        ),
        (
            frame_of([*ROWS, ("i1", "ana", "no")], earlier=["no", "no", "no", "yes", "no"]),
            r"rows \[2, 6\].*found 2 labels of rater 'ana' for item 'i1' as occurrence 1 .*; "
            r"expected one label for each",
        ),
        (
            frame_of(occurrence=[1, 0, 1, 1]),
            r"row 3, column 'occurrence': found \[0\]; expected a whole number from 1",
        ),
        (
            frame_of(occurrence=[1, 1.5, "x", None]),
            r"rows \[3, 4, 5\].* found .*; expected a whole number from 1",
        ),
        (
            frame_of(earlier=["no", "perhaps", "yes", ""]),
            r"row 3, column 'earlier': found \['perhaps'\]; expected yes or no \(true",
        ),
        (
            frame_of(gold=["no", "no", "positive", "no"]),
            r"row 4, column 'gold': found \['positive'\]; expected yes or no \(true",
        ),
        (
            frame_of(text=["a", "b", "c", "c"]),
            r"rows \[2, 3\], column 'text': found 2 different contents of item 'i1'; "
            r"expected one",
        ),
        (
            frame_of(text=["a", "b", "c", "d"], gold=["no"] * 4),
            r"^round.csv: rows \[2, 3\], column 'text': found 2 different contents of item 'i1'; ",
        ),
        (
            frame_of(cluster=[None, None, None, ""]),
            r"rows \[2, 3, 4, 5\], column 'cluster': found no cluster; expected one for "
            r"every item. .* Or leave the column out",
        ),
        (
            frame_of(occurrence=[1, None, 1, 1]),
            r"row 3, column 'occurrence': found nothing; expected a whole number from 1",
        ),
        (
            frame_of([*ROWS, ROWS[0], ("\u3000 ", "ana", "no"), (None, "ben", "no")]),
            r"rows \[7, 8\], column 'task': found no item; expected one in every row",
        ),
        (
            frame_of([*ROWS, ("", "ana", "Yes"), ("i3", " ", "no")]),
            r"row 6, column 'task': found no item; expected one in every row",
        ),
    ],
)
def test_what_cannot_be_a_round_is_refused_with_file_row_and_column_as_the_file_calls_it(
    frame, words
):
    columns = {"item": "task", "rater": "worker", "label": "verdict"}
    with pytest.raises(RatingsError, match=words):
        Ratings.from_frame(frame, YES_NO, source="round.csv", columns=columns, first_row=2)


@pytest.mark.parametrize(
    ("scale", "label", "words"),
    [
        (
            Scale((1, 2), "interval"),
            3,
            r"found label 3; expected one of \['1', '2'\] on the interval level",
        ),
        (Scale(None, "interval"), "two", r"found label 'two'; expected a finite number"),
        (Scale(None, "interval"), float("inf"), "expected a finite number"),
        (
            Scale(None, "interval"),
            -1.1e150,
            r"ratings: row 1, column 'label': found label -1.1e\+150; "
            r".* none beyond 1e\+150 in size",
        ),
        (Scale(None, "ratio"), -1, "expected a finite non-negative number"),
    ],
)
def test_a_label_that_is_not_a_number_of_the_scale_is_refused(scale, label, words):
    with pytest.raises(RatingsError, match=words):
        Ratings.from_frame(frame_of([("i1", "ana", label)]), scale)


@pytest.mark.parametrize("more", [[], [True]], ids=["texts", "mixed"])
def test_half_a_character_in_a_frame_is_refused_with_its_row_and_column(more):
    raters = ["ana", "be\ud800", *more]
    frame = pd.DataFrame({"item": [f"i{at}" for at in range(len(raters))], "label": "yes"})
    frame["rater"] = pd.Series(raters, dtype=object)
    words = r"DataFrame: row 2, column 'rater': found half a character \(\\ud800\); expected whole"
    with pytest.raises(RatingsError, match=words):
        ratings_of(frame)


def test_the_index_of_the_frame_does_not_misnumber_the_rows():
    frame = frame_of([*ROWS, ("i3", "ana", "Yes")])
    with pytest.raises(RatingsError, match=r"row 5, column 'label'"):
        ratings_of(frame.set_index(pd.Index([9, 8, 7, 6, 5])))


def test_a_classifier_that_rated_nothing_is_a_misspelling():
    with pytest.raises(RatingsError, match=r"found no rating by classifier 'gpt'; expected"):
        ratings_of(classifiers=("ben", "gpt"))


def test_a_classifier_is_not_one_of_the_raters():
    ratings = ratings_of(classifiers=("ben",))
    assert (ratings.raters, ratings.classifiers) == (("ana",), ("ben",))


def test_inter_rater_agreement_rests_on_the_first_rating_of_the_round_itself():
    rows = [("i1", "ana", "no"), ("i1", "ana", "yes"), ("i1", "ana", "no")]
    ratings = ratings_of(frame_of(rows, occurrence=[3, 2, 1], earlier=[False, False, True]))
    assert ratings.first_ratings(["label", "occurrence"]).to_pylist() == [
        {"label": "yes", "occurrence": 2}
    ]


@pytest.mark.parametrize(
    "said",
    [
        [True, False, None, False],
        ["True", "no", "", "0"],
        [1, 0, float("nan"), 0],
        ["YES", " no ", None, "false"],
    ],
)
def test_a_blank_flag_is_a_no_and_a_written_no_is_one_too(said):
    found = ratings_of(frame_of(earlier=said)).to_pandas()["earlier"]
    assert found.tolist() == [True, False, False, False]


def test_what_is_known_of_an_item_is_kept_once_and_a_row_without_an_item_says_nothing():
    rows = [*ROWS, (None, None, None)]
    ratings = ratings_of(
        frame_of(rows, text=["a", "a", "b", "b", "c"], gold=["yes", "yes", None, "no", None])
    )
    assert ratings.items(["text", "gold"]).to_pylist() == [
        {"item": "i1", "text": "a", "gold": True},
        {"item": "i2", "text": "b", "gold": False},
    ]


def test_renaming_keeps_all_but_the_names():
    ratings = ratings_of(classifiers=("ben",))
    blinded = ratings.renamed({"ana": "r2", "ben": "r1"})
    assert (blinded.raters, blinded.classifiers) == (("r2",), ("r1",))
    assert blinded.digest == ratings.digest


@pytest.mark.parametrize("n_raters", [5, 50])
@pytest.mark.parametrize("more", [{}, {"occurrence": [1, 2]}, {"weight": [2, 1]}, {"gold": [1, 0]}])
def test_renamed_ratings_are_those_of_a_table_with_the_new_names(n_raters, more):
    """What is known of the ratings before is not asked again."""
    random = np.random.default_rng(n_raters)
    frame = frame_of(
        (f"i{item:02}", f"r{rater}", random.choice(["no", "yes", "maybe"]))
        for item in range(40)
        for rater in range(n_raters)
        if random.random() < 0.9
    )
    of_third = (frame["item"] == "i03").astype(int)
    frame = frame.assign(**{name: of_third.map(dict(enumerate(more[name]))) for name in more})
    names = {f"r{rater}": f"s{rater * 7 % 53}" for rater in range(n_raters) if rater != 2}
    scale = Scale(("no", "yes", "maybe"))
    ratings = ratings_of(frame, scale, classifiers=("r1",))
    known = (
        ratings.digest,
        ratings.patterns,
        ratings.n_by_category,
        ratings.places_of_used_categories,
    )
    told = frame.assign(rater=frame["rater"].replace(names))
    expected = ratings_of(told, scale, classifiers=(names["r1"],))
    found = ratings.renamed(names)
    assert known[0] == expected.digest == found.digest
    for _ in range(2):
        counted = counting_for(found).labels(found, found.classifiers)
        as_expected = counting_for(expected).labels(expected, expected.classifiers)
        assert counted.raters == as_expected.raters
        assert counted.codes.tolist() == as_expected.codes.tolist()
        assert counted.weights.tolist() == as_expected.weights.tolist()
        assert found.everyone == expected.everyone
        pd.testing.assert_frame_equal(found.to_pandas(), expected.to_pandas())
        columns = ["item", "rater", "code"]
        assert found.first_ratings(columns).equals(expected.first_ratings(columns))
        assert (
            found.select_raters(found.raters[:3]).digest
            == expected.select_raters(expected.raters[:3]).digest
        )
        back = {new: old for old, new in names.items()}
        found, expected = found.renamed(back), ratings


def test_the_tables_of_a_session_are_dropped_when_nothing_refers_to_them():
    """A cycle would keep a large round until garbage is collected."""
    session = duckdb_session()

    def made():
        """The tables and views of the session, and one that is new."""
        new = session.materialize("SELECT 1 AS x")
        names = "SELECT table_name AS name FROM duckdb_tables() UNION ALL "
        names += "SELECT view_name FROM duckdb_views() WHERE NOT internal"
        return {*session.query(names)["name"].to_pylist()} - {new.name}

    before = made()
    ratings = ratings_of(frame_of(gold=["yes", "yes", None, None], occurrence=[1, 1, 2, 2]))
    gc.disable()
    try:
        other = ratings_of(frame_of(occurrence=1)).preceded_by([ratings.without_gold])
        assert len(other.without_earlier.own_first_ratings.schema) > len(ratings.digest) // 32
        assert ratings.without_assisted.renamed({"ana": "r1"}).without_gold.strata == {}
        assert counting_for(ratings).labels(ratings).n_items == 1
        assert made() - before
        left = weakref.ref(ratings)
        del ratings, other
        assert left() is None
        assert made() <= before
    finally:
        gc.enable()
