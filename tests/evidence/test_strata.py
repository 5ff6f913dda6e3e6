"""The table of strata: the lowest first, on its own and on the round's ruler."""

import numpy as np
import pandas as pd

from agreement_pipeline.evidence import JudgedRound
from agreement_pipeline.evidence.details import details
from agreement_pipeline.evidence.parts import answer_about_strata
from agreement_pipeline.policy import Policy, Rule
from agreement_pipeline.ratings import Ratings, Scale

POLICY = Policy("p", 1, (Rule("krippendorff_alpha"),), n_resamples=1000)
GUESSED = {"de": 0.1, "en": 0.5, "fr": 0.0}


def ratings_of(labels, **scale):
    random = np.random.default_rng(3)
    rows = [
        (f"{name}{item:02}", rater, random.choice(labels) if guess else labels[item % 2], name)
        for name, share in GUESSED.items()
        for item in range(40)
        for guess in [random.random() < share]
        for rater in ("ana", "ben", "cleo")
    ]
    frame = pd.DataFrame(rows, columns=["item", "rater", "label", "stratum:language"])
    return Ratings.from_frame(frame, Scale(**scale))


def table_of(ratings):
    found = details("inter-rater", ratings, POLICY, [])["strata"]
    return found and found.to_frame()


def test_the_lowest_stratum_comes_first_and_is_named():
    shown = table_of(ratings_of(("a", "b"), categories=("a", "b")))
    assert list(shown["stratum"]) == ["language=en", "language=de", "language=fr"]
    assert list(shown["note"]) == ["lowest observed", "", ""]
    assert list(shown["items"]) == ["40"] * 3
    assert (shown["on the round's ruler"] != "").all()


def test_numbers_without_categories_have_no_common_ruler():
    shown = table_of(ratings_of((1.5, 2.5), categories=None, level="interval"))
    assert "on the round's ruler" not in shown


def test_items_without_strata_have_no_table():
    ratings = ratings_of(("a", "b"), categories=("a", "b"))
    bare = Ratings.from_frame(ratings.to_pandas(), ratings.scale)
    assert table_of(bare) is None


def test_the_page_of_a_round_names_the_lowest_stratum_and_draws_all():
    ratings = ratings_of(("a", "b"), categories=("a", "b"))
    found = answer_about_strata(JudgedRound("p", "w1", ratings, POLICY, None))
    assert found.sentences[0].startswith("The lowest observed of 3 strata is language=en: ")
    assert [mark.label for mark in found.figures[0].marks] == [
        row[0].text for row in found.tables[0].rows
    ]
    bare = Ratings.from_frame(ratings.to_pandas(), ratings.scale)
    assert answer_about_strata(JudgedRound("p", "w1", bare, POLICY, None)) is None
