"""How often a round is admitted at 0.8 whose true value is 0.79, in every population of the design.

Each population keeps its items, raters, categories, prevalence, model and missing ratings. Only the
share of what raters know is changed, for each measure, until the true value of it is 0.79.

`python -m benchmarks.admitted_study [--rounds 300] [--share I/N]` adds a row to
benchmarks/admitted.csv for each population and measure. Rows that are already there are skipped.
`--page` writes the table of docs/proofs/coverage.md.
"""

from collections.abc import Iterator, Sequence
from dataclasses import replace
from functools import lru_cache
from pathlib import Path
from typing import NamedTuple

import numpy as np
import pandas as pd
from scipy.optimize import brentq
from scipy.stats import binom

from agreement_pipeline.intervals import DEFAULT_METHOD, Inference
from agreement_pipeline.policy import RELIABLE
from benchmarks.asked import asked
from benchmarks.coverage_report import PAGE, SURE
from benchmarks.coverage_study import GROUPS, append, rows_in, share_of, statistic_of
from benchmarks.populations import CELLS, CELLS_AT_LARGE, Population, design
from benchmarks.studies.study import limits
from tools.pages.generated import between_marks

TABLE = Path(__file__).parent / "admitted.csv"
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
    inference = Inference(n_resamples=draws, method=method, lower_only=True)
    samples = population.samples(rounds, [cell, list(GROUP_OF).index(measure)])
    lows, _ = limits(registered, ((statistic_of(each, group), 1) for each in samples), inference)
    defined, admitted = int((~np.isnan(lows)).sum()), int((lows >= RELIABLE).sum())
    return Row(cell, measure, round(population.truth, 4), population.n, rounds, defined, admitted)


def study(table: Path, rounds: int, draws: int, share: tuple[int, int]) -> Iterator[Row]:
    """The rows that the table does not have yet, of this share of the populations."""
    there = {(row.cell, row.measure) for row in rows_in(table, Row)}
    every = list(enumerate(design(CELLS + CELLS_AT_LARGE)))
    for cell, designed in every[share[0] :: share[1]]:
        population = replace(designed, n=min(designed.n, MOST_ITEMS))
        for measure in truths_of(population, TRUTH):
            if (cell, measure) not in there and (found := with_truth(population, measure)):
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
    options = asked(
        __doc__, arguments, table=str(TABLE), rounds=300, draws=400, share="0/1", page=False
    )
    table = Path(options.table)
    if options.page:
        rows = pd.DataFrame(rows_in(table, Row))
        text = between_marks(PAGE.read_text(encoding="utf-8"), "admitted", page(rows))
        PAGE.write_text(text, encoding="utf-8")
        return
    for row in study(table, options.rounds, options.draws, share_of(options.share)):
        append(table, [row])


if __name__ == "__main__":
    main()
