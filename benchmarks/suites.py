"""Measure what a suite of Great Expectations costs in the line.

`python -m benchmarks.suites [ratings ...]` prints a line for a round of so many ratings, of eight
columns each: CPU seconds of all cores and the peak of the process, of the whole job in Dagster
without a suite and with a suite of nine expectations, and of `judge` of the same file.
"""

import json
import sys
import tempfile
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.csv
import pyarrow.parquet

from benchmarks.asked import asked, head, line
from benchmarks.dagster_costs import COMMAND, LABELS, job
from benchmarks.measuring import unlimited

RATERS = 5
PROJECT = """
import dagster as dg
from agreement_pipeline import AnnotationProject

project = AnnotationProject(
    project="toxicity", inbox="inbox", scale={"categories": CATEGORIES}, policy="standard",
    root=".", **SUITE
)
defs = dg.build_defs_for_component(project)
"""


def expectation(kind: str, **kwargs: object) -> dict[str, object]:
    return {"type": f"expect_{kind}", "kwargs": kwargs, "severity": "critical", "meta": {}}


SUITE = {
    "expectations": [
        expectation("column_values_to_not_be_null", column="label", mostly=0.9),
        expectation("column_values_to_be_in_set", column="label", value_set=LABELS),
        expectation("column_values_to_not_match_regex", column="item", regex="@"),
        expectation("column_values_to_be_in_set", column="language", value_set=["de", "en"]),
        expectation("column_values_to_be_between", column="seconds", min_value=0),
        expectation("column_mean_to_be_between", column="seconds", min_value=1, max_value=60),
        expectation(
            "column_values_to_be_between",
            column="at",
            min_value="2020-01-01T00:00:00+00:00",
            max_value={"$PARAMETER": "delivered_at"},
        ),
        expectation("column_value_lengths_to_be_between", column="source", min_value=1),
        expectation("compound_columns_to_be_unique", column_list=["item", "rater"]),
    ],
    "meta": {"great_expectations_version": "1.24.1"},
}


def table(n_ratings: int) -> pa.Table:
    """Ratings of which one in fifty differs from the item's own label."""
    rng = np.random.default_rng(7)
    n_items = n_ratings // RATERS
    item, rater = np.repeat(np.arange(n_items), RATERS), np.tile(np.arange(RATERS), n_items)
    label = (item + (rng.random(len(item)) < 0.02)) % len(LABELS)
    seconds = np.round(rng.gamma(4, 2, len(item)), 1)
    start = np.datetime64("2024-01-01T00:00:00", "us")
    at = start + rng.integers(0, 86_400_000, len(item)).astype("timedelta64[s]")
    texts = pa.array([f"post-{number:08}" for number in range(n_items)])
    names = pa.array([f"rater-{number}" for number in range(RATERS)])
    return pa.table(
        {
            "item": texts.take(pa.array(item)),
            "rater": names.take(pa.array(rater)),
            "label": pa.array(LABELS).take(pa.array(label)),
            "language": pa.array(["de", "en"]).take(pa.array(rng.integers(0, 2, len(item)))),
            "seconds": pa.array(seconds),
            "at": pa.array(at).cast(pa.timestamp("us", "UTC")),
            "source": pa.array(["web", "app"]).take(pa.array(rng.integers(0, 2, len(item)))),
            "batch": pa.array(item // 1000),
        }
    )


def measure(folder: Path, n_ratings: int, suffix: str) -> None:
    made = table(n_ratings)
    path = folder / f"inbox/w1{suffix}"
    path.parent.mkdir()
    if suffix == ".csv":
        pyarrow.csv.write_csv(made, path)
    else:
        pyarrow.parquet.write_table(made, path)
    del made
    contracts = folder / "configs/contracts"
    contracts.mkdir(parents=True)
    (contracts / "listings.json").write_text(json.dumps(SUITE))
    programs = {
        "`judge` of the file": (*COMMAND, "judge", str(path), "--policy", "standard"),
        "a run in Dagster, no suite": job(
            PROJECT, "toxicity_round", "w1", CATEGORIES=LABELS, SUITE={"store": "one"}
        ),
        "a run in Dagster, with the suite": job(
            PROJECT,
            "toxicity_round",
            "w1",
            CATEGORIES=LABELS,
            SUITE={"store": "two", "contract": "listings.json"},
        ),
    }
    for what, command in programs.items():
        found = unlimited(command, folder)
        figures = found.failed or f"{found.cpu:.1f}"
        line(f"{n_ratings:,}", suffix[1:], what, figures, f"{found.peak:,.0f}")


def main() -> int:
    wanted = asked(__doc__, ratings=[int])
    head("ratings", "form", "program", "CPU s", "MB")
    for n_ratings in wanted.ratings or [300, 5_000_000]:
        for suffix in (".csv", ".parquet") if n_ratings > 1_000 else (".csv",):
            with tempfile.TemporaryDirectory() as folder:
                measure(Path(folder), n_ratings, suffix)
    return 0


if __name__ == "__main__":
    sys.exit(main())
