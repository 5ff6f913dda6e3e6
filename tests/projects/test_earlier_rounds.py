"""Which rounds are earlier: by the numbers in their names, whichever arrived first."""

import pandas as pd
import pytest

from agreement_pipeline import Ratings, Scale
from agreement_pipeline.projects.project import round_before, with_earlier_rounds
from agreement_pipeline.store import Store

SCALE = Scale(("no", "yes"))


@pytest.mark.parametrize("arrival", [("week-2", "week-10"), ("week-10", "week-2")])
def test_p9_week_2_is_earlier_than_week_10(tmp_path, arrival):
    (tmp_path / "export.csv").write_bytes(b"as delivered")
    rows = [(f"i{n}", rater, SCALE.names[n % 2]) for n in range(6) for rater in "ab"]
    ratings = Ratings.from_frame(pd.DataFrame(rows, columns=["item", "rater", "label"]), SCALE)
    store = Store(tmp_path / "store", salt=b"a salt for tests")
    for name in arrival:
        store.ingest(name, ratings, tmp_path / "export.csv")

    def n_earlier(name):
        return int(with_earlier_rounds(ratings, name, store).to_pandas()["earlier"].sum())

    assert (n_earlier("week-2"), n_earlier("week-10"), n_earlier("week-11")) == (0, 12, 24)
    before = [round_before(name, store) for name in ("week-2", "week-10", "week-11")]
    assert [each and each[0] for each in before] == [None, "week-2", "week-10"]
    assert before[1][1].digest == ratings.digest
