"""A call with a table or a name in the wrong place says what to do."""

import pandas as pd
import pytest

import agreement_pipeline as ap
from agreement_pipeline.errors import AgreementError

ROWS = [(item, rater, "ab"[item % 2]) for item in range(9) for rater in ("ana", "ben")]
TABLE = pd.DataFrame(ROWS, columns=["item", "rater", "label"])
POLICY = ap.load_policy("standard")


@pytest.mark.parametrize("table", [TABLE, "labels.csv", None])
@pytest.mark.parametrize(
    "call",
    [
        ap.measure,
        lambda table: ap.survey(table, ["fleiss_kappa"]),
        lambda table: ap.compare(table, between=("ana", "ben")),
        lambda table: ap.judge(table, POLICY),
        lambda table: ap.report_page(table, POLICY),
    ],
    ids=["measure", "survey", "compare", "judge", "report_page"],
)
def test_a_table_that_was_not_read_is_refused_with_the_next_step(call, table):
    found = f"^ratings: found {type(table).__name__}; expected what read_ratings gives. Read the"
    with pytest.raises(AgreementError, match=found):
        call(table)


def test_the_name_of_a_policy_is_refused_with_the_next_step():
    with pytest.raises(AgreementError, match=r"found 'standard'; expected a policy. .*load_policy"):
        ap.judge(ap.read_ratings(TABLE), "standard")
