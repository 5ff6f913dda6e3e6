from typing import get_args

import pandas as pd
import pytest

from agreement_pipeline.estimates import MAX_SHOWN, ShownRaters
from agreement_pipeline.evidence.details import DETAILS, details
from agreement_pipeline.measures import Question
from agreement_pipeline.policy import Policy
from agreement_pipeline.ratings import Ratings, Scale

POLICY = Policy.from_mapping(
    {"policy": "p", "version": 1, "rules": [{"measure": "krippendorff_alpha"}]}
)


@pytest.mark.parametrize("question", get_args(Question))
def test_numbers_without_categories_have_none_of_the_tables(question):
    frame = pd.DataFrame({"item": ["i", "i"], "rater": ["a", "b"], "label": [1.5, 2.0]})
    ratings = Ratings.from_frame(frame, Scale(None, "interval"))
    section = details(question, ratings, POLICY, [])
    assert {name: section[name] for name in DETAILS[question]} == dict.fromkeys(DETAILS[question])
    assert section["intervals"] is None
    assert section["estimates"].empty


def test_of_a_large_panel_the_same_raters_stand_beside_themselves_and_the_others():
    n = MAX_SHOWN + 2
    rows = [
        (f"i{i}", f"r{r:02}", "ny"[(i + (r + i) % n // 9) % 2], occurrence)
        for i in range(30)
        for r in range(n)
        for occurrence in (1, 2)
        if occurrence == 1 or i < 3 + r
    ]
    frame = pd.DataFrame(rows, columns=["item", "rater", "label", "occurrence"])
    ratings = Ratings.from_frame(frame, Scale(("n", "y")))
    shown = ShownRaters.choose(ratings)
    section = details("intra-rater", ratings, POLICY, [], shown)
    often = [f"r{r:02}" for r in reversed(range(n))][:MAX_SHOWN]
    joint = section["themselves_and_others"].to_frame()
    assert [scope for scope in joint["scope"] if scope.startswith("rater")] == [
        f"rater {name}" for name in often
    ]
    assert not (joint["with the others"] == "").any()
    assert section["left_out"].startswith(f"shown are {MAX_SHOWN} of {n} raters")
