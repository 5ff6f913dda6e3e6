from dataclasses import replace

import pandas as pd

from agreement_pipeline.evidence import delivery
from agreement_pipeline.ratings import Origin, Ratings, Scale

SCALE = Scale(("n", "y"))
ROWS = [(item, rater, "y") for item in ("i1", "i2") for rater in ("ana", "ana ", "m")]
FRAME = pd.DataFrame(ROWS, columns=["item", "rater", "label"])


def test_a_delivery_is_counted_and_its_doubtful_names_are_shown():
    ratings = Ratings.from_frame(FRAME, SCALE, classifiers=["m"])
    assert delivery(ratings, ["m", "n"]) == {
        "items": 2,
        "raters": 2,
        "classifiers": 1,
        "clusters": None,
        "raters_that_look_alike": "'ana' and 'ana '",
        "classifiers_without_ratings": (
            "['n']; if one is misspelt, it stands among the panel's raters ['ana', 'ana ']"
        ),
    }


def test_names_without_doubt_are_not_mentioned():
    ratings = Ratings.from_frame(FRAME[FRAME["rater"] != "ana "], SCALE, classifiers=["m"])
    found = delivery(ratings, ["m"])
    assert (found["raters_that_look_alike"], found["classifiers_without_ratings"]) == (None, None)


def test_clusters_are_counted():
    frame = FRAME.assign(cluster="d1")
    assert delivery(Ratings.from_frame(frame, SCALE), [])["clusters"] == 1


def test_what_of_the_export_is_no_rating_is_shown():
    origin = Origin.build("doccano", ["raters"], {"no answer": 4})
    found = delivery(replace(Ratings.from_frame(FRAME, SCALE), origin=origin), [])
    assert (found["read_as"], found["no_ratings"]) == ("doccano", "no answer 4")
    assert found["not_shown"].startswith("times, skips, drafts")
