from typing import get_args

import pandas as pd
import pytest

from agreement_pipeline.measures import Question
from agreement_pipeline.policy import Policy
from agreement_pipeline.ratings import Ratings, Scale
from agreement_pipeline.report.details import DETAILS, details

POLICY = Policy.from_mapping(
    {"policy": "p", "version": 1, "rules": [{"measure": "krippendorff_alpha"}]}
)


@pytest.mark.parametrize("question", get_args(Question))
def test_numbers_without_categories_have_none_of_the_tables(question):
    frame = pd.DataFrame({"item": ["i", "i"], "rater": ["a", "b"], "label": [1.5, 2.0]})
    ratings = Ratings.from_frame(frame, Scale(None, "interval"))
    section = details(question, ratings, POLICY, [])
    assert {name: section[name] for name in DETAILS[question]} == dict.fromkeys(DETAILS[question])
    assert section["intervals"]() is None
    assert section["estimates"].empty
