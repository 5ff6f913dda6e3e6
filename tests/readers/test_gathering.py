"""A table that grows row by row is the table of all its rows."""

import numpy as np
import pandas as pd
import pytest

from agreement_pipeline.readers import gathering
from agreement_pipeline.readers.gathering import Growing
from agreement_pipeline.readers.tools import latest

ROWS = [
    {
        "name": f"i{n}",
        "kind": None if n % 5 == 0 else "ab"[n % 2],
        "few": "x",
        "seconds": None if n % 3 else n / 2,
        "nothing": None,
    }
    for n in range(100)
]


@pytest.mark.parametrize("at_once", [1, 7, 100, 1000])
def test_it_does_not_matter_how_many_rows_are_kept_at_once(monkeypatch, at_once):
    monkeypatch.setattr(gathering, "AT_ONCE", at_once)
    table = Growing(ROWS[0], in_codes=["few"])
    for row in ROWS:
        table.append(row)
    frame = table.frame()
    assert frame["name"].tolist() == [row["name"] for row in ROWS]
    assert frame["kind"].isna().tolist() == [row["kind"] is None for row in ROWS]
    assert frame["kind"].dropna().tolist() == [row["kind"] for row in ROWS if row["kind"]]
    assert frame["few"].astype(str).tolist() == ["x"] * 100
    assert frame["seconds"].tolist() == [row["seconds"] for row in ROWS]
    assert frame["nothing"].isna().all()
    assert [str(frame[name].dtype) for name in ("name", "seconds")] == ["str", "object"]


def test_a_table_without_rows_has_its_columns():
    assert list(Growing(["a", "b"], in_codes=["b"]).frame()) == ["a", "b"]


def test_the_last_submission_is_that_of_a_slow_loop():
    rng = np.random.default_rng(1)
    times = [None, "2026-09-01", "2026-09-02", "2026-09-03"]
    frame = pd.DataFrame(
        {
            "item": rng.choice(["i", "j", "k"], 60),
            "rater": rng.choice(["ana", "ben"], 60),
            "created": rng.choice(np.array(times, dtype=object), 60),
            "updated": rng.choice(np.array(times, dtype=object), 60),
        }
    ).astype("str")
    best = {}
    for at, row in enumerate(frame.itertuples()):
        time = row.updated if isinstance(row.updated, str) else row.created
        key, found = (row.item, row.rater), (time if isinstance(time, str) else "", at)
        best[key] = max(best.get(key, found), found)
    expected = [at in {place for _, place in best.values()} for at in range(60)]
    assert latest(frame, ["item", "rater"]).tolist() == expected
