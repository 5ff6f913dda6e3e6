"""Studies of limits and of the gate, on rounds that are simulated or real.

    python -m benchmarks.studies NAME [--rounds N] [--draws N] [--seed N] [--method NAME] [--write]
        [--folder FOLDER]

A study prints a table. `--write` puts those of `gate` and `power` into docs/proofs/intervals.md.
`--seed` draws other rounds of `named`, `looking`, `copied_labels` and `advice`.
The figure after ± is one standard error.

FOLDER is for the studies of real rounds: `real_rounds`, `real_halves` and `real_plans`.
It has a CSV file for each data set, with the columns round, item, rater, label, replicate and
perhaps gold. Beside it is a JSON file with `scale`, `label_columns` and perhaps `category_order`.
"""

import argparse
from collections.abc import Sequence
from pathlib import Path

from agreement_pipeline.intervals import DEFAULT_METHOD, METHODS, Inference
from benchmarks.studies import (  # noqa: F401  # they register
    admissions,
    copied_labels,
    correction,
    deliveries,
    differences,
    failures,
    honest_rounds,
    ordinary_cells,
    overlap,
    panel_labels,
    parts,
    plans,
    real_halves,
    real_rounds,
    relabelling,
    repeats,
    silver,
    skipped,
    standing_out,
)
from benchmarks.studies.study import STUDIES, Asked
from tools.pages.generated import between_marks

PAGE = Path(__file__).parents[2] / "docs/proofs/intervals.md"


def main(arguments: Sequence[str] | None = None) -> None:
    parser = argparse.ArgumentParser(
        prog="python -m benchmarks.studies",
        description=__doc__,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    parser.add_argument("name", choices=list(STUDIES))
    parser.add_argument("--rounds", type=int, help="of each line")
    parser.add_argument("--draws", type=int, help="resamples of each round")
    parser.add_argument("--seed", type=int)
    parser.add_argument("--method", choices=list(METHODS), default=DEFAULT_METHOD)
    parser.add_argument("--write", action="store_true")
    parser.add_argument("--folder", type=Path)
    options = parser.parse_args(arguments)
    columns, lines, rounds, draws, seeded, on_page, real = STUDIES[options.name]
    if options.seed is not None and not seeded:
        parser.error(f"--seed: found {options.name}; expected a study whose rounds a seed chooses")
    if options.write and not on_page:
        parser.error(f"--write: found {options.name}; expected a study that stands whole on a page")
    if real and options.folder is None:
        parser.error(f"{options.name}: found no --folder; expected that of the real rounds")
    if options.folder is not None and not real:
        parser.error(f"--folder: found {options.name}; expected a study of real rounds")
    inference = Inference(n_resamples=options.draws or draws, method=options.method)
    printed = [f"| {columns} |", "| --- |" + " ---: |" * columns.count(" | ")]
    print(*printed, sep="\n")
    asked = Asked(options.rounds or rounds, inference, options.seed or 0, options.folder or Path())
    for cells in lines(asked):
        said = f"\n{cells}" if isinstance(cells, str) else f"| {' | '.join(map(str, cells))} |"
        printed.append(said)
        print(said, flush=True)
    if options.write:
        text = between_marks(PAGE.read_text(encoding="utf-8"), options.name, "\n".join(printed))
        PAGE.write_text(text, encoding="utf-8")
        if options.name == "gate":
            admissions.plot_gate(printed[2:])


if __name__ == "__main__":
    main()
