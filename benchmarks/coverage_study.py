"""Measure how often the true value lies beyond a limit, for each interval method.

The true values of the simulated populations are known exactly.

`python -m benchmarks.coverage_study [--passes N] [--share I/N]` adds rows to a table.
There is one row for each pass, cell, measure and method. Rows that are already there are skipped.
So you can stop a run and continue it later. Several processes can share the work.

`python -m benchmarks.coverage_report` writes the results into docs/proofs/coverage.md.
"""

import argparse
import os
import time
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import NamedTuple, TypeVar

import numpy as np
import pandas as pd

from agreement_pipeline.intervals import (
    DEFAULT_METHOD,
    METHODS,
    Inference,
    Interval,
    compute_points,
    gather_evidence,
)
from agreement_pipeline.measures import MEASURES
from benchmarks.populations import CELLS, CELLS_AT_LARGE, Population, Sample, design

TABLE = Path(__file__).parent / "coverage.csv"
STUDIED = tuple(name for name, method in METHODS.items() if method.population == "these raters")
AT_LARGE = (
    *(name for name, method in METHODS.items() if method.population == "raters at large"),
    DEFAULT_METHOD,
)
"""The methods that are studied if raters differ.

The default is among them, to show what it does not speak of.
"""
SOURCES = {
    name: name if name in (DEFAULT_METHOD, "bayesian_bootstrap") else "bca_bootstrap"
    for name in STUDIED
}
SOURCES |= dict.fromkeys(AT_LARGE[:-1], AT_LARGE[0])
"""For each method, the method whose evidence it uses.

Evidence with resamples and with items left out serves every method that uses one of them.
"""
LEVELS = (0.90, 0.95)
ALPHA = "krippendorff_alpha"
GROUPS = {
    "nominal": {"alpha_nominal": ALPHA, "fleiss_kappa": "fleiss_kappa", "gwet_ac1": "gwet_ac1"},
    "ordinal": {"alpha_ordinal": ALPHA},
    "interval": {"alpha_interval": ALPHA},
    "patterns": {"shah_kappa_s": "shah_kappa_s"},
    "panel": {"shah_s": "shah_s", "vanbelle_albert_kappa": "vanbelle_albert_kappa"},
    "replicates": {
        name: name
        for name in ("self_agreement", "self_agreement_unbiased", "campagner_cabitza_rho")
    },
}
"""For each statistic, its measures: their names in the table and in the registry."""


class Row(NamedTuple):
    """The results of one method for one measure on one cell.

    A row sums `passes` passes over the cell, from the pass `first` on. It says how many populations
    had a defined value, and in how many of those a limit held: the lower ones of the two levels,
    and the upper one of the second.
    """

    cell: int
    measure: str
    method: str
    draws: int
    first: int
    passes: int
    populations: int
    defined: int
    held_95: int
    held_975: int
    held_upper: float
    mean_lower_limit: float
    seconds: float


def statistic_of(sample: Sample, group: str) -> object:
    """The statistic of a group. If raters differ, it names the raters."""
    if sample.population.spread:
        return sample.patterns()
    return (
        sample.counts(group)
        if group in ("nominal", "ordinal", "interval")
        else getattr(sample, group)()
    )


def limits(
    sample: Sample, group: str, methods: Sequence[str], draws: int, seed: int
) -> dict[tuple[str, str], list[Interval]]:
    """The intervals of each measure and method at both levels, from one set of evidence.

    Undefined measures are left out.
    """
    records = [MEASURES[name] for name in dict.fromkeys(GROUPS[group].values())]
    statistic = statistic_of(sample, group)
    inference = Inference(n_resamples=draws, method=SOURCES[methods[0]], seed=seed)
    found = gather_evidence(compute_points(records, statistic), statistic, inference)
    return {
        (name, method): [known.limits((1 - level) / 2) for level in LEVELS]
        for name, evidence in found.items()
        for method in methods
        for known in [METHODS[method].distribution(evidence, MEASURES[name].bounds)]
    }


def rows_of(
    number: int,
    cell: int,
    population: Population,
    methods: Sequence[str],
    samples: Sequence[Sample],
    draws: int,
) -> Iterator[Row]:
    """The rows of one pass over one cell, for methods that share their evidence."""
    for group, measures in GROUPS.items():
        names = {
            name: registered for name, registered in measures.items() if name in population.truths
        }
        if not names:
            continue
        start = time.process_time()
        found = [limits(sample, group, methods, draws, seed) for seed, sample in enumerate(samples)]
        seconds = (time.process_time() - start) / len(names) / len(methods)
        for name, registered in names.items():
            for method in methods:
                of = (registered, method)
                defined = [one[of] for one in found if of in one]
                lows, highs = np.array(defined).reshape(-1, len(LEVELS), 2).transpose(2, 0, 1)
                held = (lows <= population.truths[name] + 1e-12).sum(0).tolist()
                above = int((highs[:, 1] >= population.truths[name] - 1e-12).sum())
                mean = float(lows[:, 1].clip(-1, 1).mean()) if len(lows) else float("nan")
                yield Row(
                    *(cell, name, method, draws, number, 1, len(samples), len(lows), *held, above),
                    mean_lower_limit=round(mean, 5),
                    seconds=round(seconds, 3),
                )


R = TypeVar("R", bound=tuple)


def rows_in(table: Path, kind: type[R] = Row) -> list[R]:
    """The rows of a table, if there is one."""
    found = pd.read_csv(table) if table.exists() else pd.DataFrame()
    return [kind(*row) for row in found.itertuples(index=False)]


def done(table: Path) -> set[tuple[int, int, str]]:
    """The passes that are in the table, as (pass, cell, method)."""
    return {
        (number, row.cell, row.method)
        for row in rows_in(table)
        for number in range(row.first, row.first + row.passes)
    }


def summed(rows: Sequence[Row]) -> list[Row]:
    """Merge the rows of consecutive passes over one cell, measure and method."""
    found: list[Row] = []
    for row in sorted(rows):
        last = found[-1] if found else None
        if last is None or last[:4] != row[:4] or last.first + last.passes != row.first:
            found.append(row)
            continue
        defined = last.defined + row.defined
        means = [each.mean_lower_limit * each.defined for each in (last, row) if each.defined]
        held = ("held_95", "held_975", "held_upper")
        counts = {
            name: getattr(last, name) + getattr(row, name)
            for name in ("passes", "populations", "defined", *held, "seconds")
        }
        found[-1] = last._replace(
            **counts
            | {
                "seconds": round(counts["seconds"], 3),
                "mean_lower_limit": round(sum(means) / defined, 5) if defined else float("nan"),
            }
        )
    return found


def append(table: Path, rows: Sequence[NamedTuple]) -> None:
    """Add rows in one write, so that rows of several processes never mix."""
    if rows and not table.exists():
        table.write_text(",".join(rows[0]._fields) + "\n")
    text = "".join(",".join(str(value) for value in row) + "\n" for row in rows)
    descriptor = os.open(table, os.O_WRONLY | os.O_APPEND)
    try:
        os.write(descriptor, text.encode())
    finally:
        os.close(descriptor)


def study(
    table: Path,
    *,
    cells: Sequence[int],
    passes: int,
    populations: int,
    draws: int,
    methods: Sequence[str],
    share: tuple[int, int] = (0, 1),
) -> None:
    """Run all passes over the cells of this share. All methods see the same samples."""
    every = design(CELLS + CELLS_AT_LARGE)
    for number in range(passes):
        there = done(table)
        for cell in cells[share[0] :: share[1]]:
            population = every[cell]
            studied = AT_LARGE if population.spread else STUDIED
            asked = [
                each for each in methods if each in studied and (number, cell, each) not in there
            ]
            samples = list(population.samples(populations, [number, cell])) if asked else []
            for source in dict.fromkeys(SOURCES[method] for method in asked):
                together = [method for method in asked if SOURCES[method] == source]
                append(table, list(rows_of(number, cell, population, together, samples, draws)))


def share_of(text: str) -> tuple[int, int]:
    """The I-th of N shares of the work, from 0, as `I/N`."""
    part, parts = map(int, text.split("/"))
    return part, parts


def main(arguments: Sequence[str] | None = None) -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    add = parser.add_argument
    add("--table", type=Path, default=TABLE)
    add("--passes", type=int, default=40, help="how many the table must have in the end")
    add("--populations", type=int, default=50, help="populations a cell and pass")
    add("--draws", type=int, default=400)
    add("--cells", nargs="+", type=int, default=range(CELLS + CELLS_AT_LARGE), metavar="CELL")
    add("--methods", nargs="+", choices=list(METHODS), default=list(METHODS), metavar="METHOD")
    add("--share", type=share_of, default=(0, 1), metavar="I/N", help="of the cells, from 0")
    study(**vars(parser.parse_args(arguments)))


if __name__ == "__main__":
    main()
