"""How often a round is admitted at 0.8 whose true value is 0.79, in every population of the design.

Each population keeps its items, raters, categories, prevalence, model and missing ratings. Only the
share of what raters know is changed, for each measure, until the true value of it is 0.79.

`python benchmarks/admitted_study.py [--rounds 300] [--share I/N]` adds a row to
benchmarks/admitted.csv for each population and measure. Rows that are already there are skipped.
`python benchmarks/admitted_study.py --page` writes the table of docs/proofs/coverage.md.
"""

import argparse
import csv
from collections.abc import Iterator, Sequence
from dataclasses import replace
from functools import lru_cache
from pathlib import Path
from typing import NamedTuple

import numpy as np
import pandas as pd
from coverage_report import PAGE, SURE
from coverage_study import GROUPS, statistic_of
from populations import CELLS, CELLS_AT_LARGE, Population, design
from scipy.optimize import brentq
from scipy.stats import binom

from agreement_pipeline.estimates import estimate
from agreement_pipeline.intervals import DEFAULT_METHOD, Inference
from agreement_pipeline.policy import RELIABLE

TABLE = Path(__file__).parent / "admitted.csv"
START, END = (
    "<!-- admitted: written by benchmarks/admitted_study.py -->",
    "<!-- end of admitted -->",
)
TRUTH = 0.79
OF_RATERS_AT_LARGE = "two_way_jackknife_log"
MOST_ITEMS = 1000
PROMISED = 0.03
KNOWN, PRECISION = (0.001, 0.999), 1e-5
GROUP_OF = {name: (group, of) for group, names in GROUPS.items() for name, of in names.items()}
HEAD = (
    "| raters | items | populations | rounds | admitted | most in one population | beyond chance |",
    "| --- |" + " ---: |" * 6,
)


class Row(NamedTuple):
    """The rounds of a population that are admitted at 0.8 by one measure, whose truth is 0.79."""

    cell: int
    measure: str
    known: float
    items: int
    rounds: int
    defined: int
    admitted: int


def with_truth(population: Population, measure: str) -> Population | None:
    """The population whose true value of the measure is 0.79; None if there is none."""

    def beyond(known: float) -> float:
        return truths_of(population, known)[measure] - TRUTH

    low, high = map(beyond, KNOWN)
    if low < 0 < high:
        return replace(population, truth=brentq(beyond, *KNOWN, xtol=PRECISION))
    return None


@lru_cache
def truths_of(population: Population, known: float) -> dict[str, float]:
    """The true values of all measures if raters know that share."""
    return replace(population, truth=known).truths


def row_of(cell: int, measure: str, population: Population, rounds: int, draws: int) -> Row:
    """Draw rounds, and count those whose lower limit is 0.8 or more."""
    group, registered = GROUP_OF[measure]
    method = OF_RATERS_AT_LARGE if population.spread else DEFAULT_METHOD
    seed = [cell, list(GROUP_OF).index(measure)]
    lows = np.array(
        [
            found.interval[0] if found.interval else np.nan
            for place, sample in enumerate(population.samples(rounds, seed))
            for found in [
                estimate(
                    registered,
                    statistic_of(sample, group),
                    Inference(n_resamples=draws, method=method, seed=place, lower_only=True),
                )
            ]
        ]
    )
    defined, admitted = int((~np.isnan(lows)).sum()), int((lows >= RELIABLE).sum())
    return Row(cell, measure, round(population.truth, 4), population.n, rounds, defined, admitted)


def rows_in(table: Path) -> pd.DataFrame:
    return pd.read_csv(table) if table.exists() else pd.DataFrame(columns=Row._fields)


def study(table: Path, rounds: int, draws: int, share: tuple[int, int]) -> Iterator[Row]:
    """The rows that the table does not have yet, of this share of the populations."""
    there = set(rows_in(table)[["cell", "measure"]].itertuples(index=False, name=None))
    for cell, designed in enumerate(design(CELLS + CELLS_AT_LARGE)):
        if cell % share[1] == share[0]:
            population = replace(designed, n=min(designed.n, MOST_ITEMS))
            for measure in truths_of(population, TRUTH):
                if (cell, measure) in there:
                    continue
                if found := with_truth(population, measure):
                    yield row_of(cell, measure, found, rounds, draws)


def page(rows: pd.DataFrame) -> str:
    """A table by whose agreement the limits speak of, and by items."""
    at_large = np.where(rows["cell"] < CELLS, "these", "at large")
    ordered = rows.assign(raters=at_large).sort_values(["cell", "items"])
    lines = [
        _line(raters, f"{items:,}", some)
        for raters, of_raters in ordered.groupby("raters", sort=False)
        for items, some in of_raters.groupby("items")
    ]
    return "\n".join([*HEAD, *lines, _line("all", "all", rows)])


def _line(raters: str, items: str, rows: pd.DataFrame) -> str:
    shares = rows["admitted"] / rows["rounds"]
    parts = (
        raters,
        items,
        f"{len(rows):,}",
        f"{rows['rounds'].sum():,}",
        f"{100 * rows['admitted'].sum() / rows['rounds'].sum():.2f} %",
        f"{100 * shares.max():.1f} %",
        f"{beyond_chance(rows)}",
    )
    return "| " + " | ".join(parts) + " |"


def beyond_chance(rows: pd.DataFrame) -> int:
    """How many populations are admitted in more than 3 % of rounds, by Holm's test over all."""
    p = np.sort(binom.sf(rows["admitted"] - 1, rows["rounds"], PROMISED))
    return int(np.cumprod(p <= SURE / np.arange(len(p), 0, -1)).sum())


def main(arguments: Sequence[str] | None = None) -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--table", type=Path, default=TABLE)
    parser.add_argument("--rounds", type=int, default=300)
    parser.add_argument("--draws", type=int, default=400)
    parser.add_argument("--share", default="0/1", metavar="I/N", help="the I-th of N shares")
    parser.add_argument(
        "--page", action="store_true", help="write the table of docs/proofs/coverage.md"
    )
    options = parser.parse_args(arguments)
    if options.page:
        text = PAGE.read_text(encoding="utf-8")
        before, after = text.split(START)[0], text.split(END)[1]
        table = page(rows_in(options.table))
        PAGE.write_text(f"{before}{START}\n\n{table}\n\n{END}{after}", encoding="utf-8")
        return
    if not options.table.exists():
        options.table.write_text(",".join(Row._fields) + "\n")
    part, parts = (int(number) for number in options.share.split("/"))
    for row in study(options.table, options.rounds, options.draws, (part, parts)):
        with options.table.open("a", newline="") as file:
            csv.writer(file, lineterminator="\n").writerow(row)


if __name__ == "__main__":
    main()
