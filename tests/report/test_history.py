import pandas as pd
import pytest

from agreement_pipeline.report import not_admitted
from agreement_pipeline.report.history import round_counts

HELD = ("held: w1, w4",)
NOT_JUDGED = ("not judged: ['w3']; if the round's run failed, it says why",)


@pytest.mark.parametrize(
    ("decisions", "counts", "words"),
    [
        ((), (0, 0, 0), ()),
        ((("w1", "admitted"), ("w2", "admitted (tentative)")), (2, 0, 0), ()),
        ((("w1", "held"), ("w1", "held"), ("w4", "pending")), (2, 2, 0), HELD),
        ((("w3", "admitted"), ("w3", "not judged")), (1, 0, 1), NOT_JUDGED),
        (
            (("w1", "held"), ("w3", "not judged"), ("w4", "pending")),
            (3, 2, 1),
            (*HELD, *NOT_JUDGED),
        ),
    ],
)
def test_rounds_that_are_not_admitted_are_held_or_not_judged(decisions, counts, words):
    rounds = pd.DataFrame(decisions, columns=["round", "decision"], dtype=object)
    assert tuple(round_counts(rounds).values()) == counts
    assert not_admitted(rounds) == words
