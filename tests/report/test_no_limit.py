"""A value whose interval is not limited on a side is shown, and so is that."""

import pandas as pd

from agreement_pipeline.card import _agreement_table
from agreement_pipeline.report.history import COLUMNS, round_text


def test_a_table_of_rounds_says_that_there_is_no_limit():
    rows = [("w1", "held", "none", "fleiss_kappa", 0.9, None, 1.0, "inconclusive", "a: b"), ("w2", "held", "none", "", None, None, None, "", "pending")]
    rounds = pd.DataFrame(rows, columns=list(COLUMNS)).astype(dict.fromkeys(("value", "low", "high"), float))
    assert round_text(rounds)["interval"].tolist() == ["no limit…1.000", ""]
    assert round_text(rounds)["value"].tolist() == ["0.900", ""]


def test_a_card_says_that_there_is_no_limit():
    verdict = {"measure": "fleiss_kappa", "scope": "round", "value": 0.9, "low": None, "high": 1.0, "n_items": 9, "effect": "warn", "verdict": "inconclusive"}
    table = _agreement_table({"w1": {"verdicts": [verdict | {"reason": "words"}, verdict | {"reason": "words", "value": None}]}})
    assert "| 0.900 | no limit to 1.000 |" in table
    assert "| undefined | undefined |" in table
