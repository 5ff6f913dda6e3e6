"""Compare what two versions of the package cost, as ratios of medians over whole processes.

    python -m benchmarks.versions OLD NEW [--ratings 5000000] [--repeats 5]

OLD and NEW are each a folder that holds the package, such as a checkout. Both run with the
libraries of the Python that runs this. Each program runs in turn for the one and the other, so
other work on the machine falls on both. Below 1, the new version costs less.
"""

import sys
from compileall import compile_dir
from pathlib import Path
from statistics import median
from tempfile import TemporaryDirectory

from benchmarks.asked import asked, head, line
from benchmarks.cases import ALPHA, Round
from benchmarks.large_export import made as write_export
from benchmarks.measuring import Result, file_of, run

JUDGE = ("judge", "--policy", "standard")
OF_EXPORT = ("--label", "sentiment", "--item", "doc_id")
BYTES_A_RECORD = 1_160
"""What a record of the Label Studio export takes, with its three ratings."""

Program = tuple[str, Round, str, tuple[str, ...]]
"""Its name, its round, the ending of the round's file, and its arguments without the file."""


def programs(n_ratings: int) -> tuple[Program, ...]:
    small, large, tasks = Round(60, 3), Round(n_ratings // 5), n_ratings // 15
    some, alpha = Round(n_ratings // 25), ("measure", *ALPHA)
    export = f"alpha, a Label Studio export of {tasks:,} tasks"
    return (
        ("measure, 60 items x 3", small, ".csv", ("measure",)),
        ("judge, 60 items x 3", small, ".csv", JUDGE),
        (f"alpha, {n_ratings:,} ratings, Parquet", large, ".parquet", alpha),
        (f"judge, {n_ratings:,} ratings, Parquet", large, ".parquet", JUDGE),
        (f"alpha, {n_ratings:,} ratings, CSV", large, ".csv", alpha),
        (f"alpha, {some.ratings:,} ratings, JSON Lines", some, ".jsonl", alpha),
        (export, Round(tasks, 3), ".json", (*alpha, *OF_EXPORT)),
    )


def cost(version: Path, arguments: tuple[str, ...]) -> Result:
    """What one run of a version costs.

    Raises
    ------
    SystemExit
        The program failed.
    """
    python = [sys.executable, "-P", "-m", "agreement_pipeline"]
    found, _ = run(["env", f"PYTHONPATH={version.resolve()}", *python, *arguments], 1_800)
    if found.failed:
        raise SystemExit(f"{version}: {' '.join(arguments)}: {found.failed}")
    return found


def main() -> None:
    """Run all programs and print a table."""
    options = asked(__doc__, old=Path, new=Path, ratings=5_000_000, repeats=5)
    for version in (options.old, options.new):
        compile_dir(
            version / "agreement_pipeline", quiet=1
        )  # or one of them might compile each time
    head("program", "CPU s, old", "new", "ratio", "MB, old", "new", "ratio")
    with TemporaryDirectory() as folder:
        for name, made, suffix, arguments in programs(options.ratings):
            if suffix == ".json":
                write_export(Path(folder, f"{made.name}.json"), made.items * BYTES_A_RECORD)
            words = (*arguments, str(file_of(Path(folder), made, suffix)))
            runs = [
                [cost(version, words) for version in (options.old, options.new)]
                for _ in range(options.repeats)
            ]
            cells = []
            for figure in ("cpu", "peak"):
                old, new = (
                    median(getattr(each, figure) for each in side)
                    for side in zip(*runs, strict=True)
                )
                cells += [f"{old:.2f}", f"{new:.2f}", f"{new / old:.2f}"]
            line(name, *cells)


if __name__ == "__main__":
    main()
