"""Compare what two versions of the package cost, as ratios of medians over whole processes.

    python -m benchmarks.versions OLD NEW [--ratings 5000000] [--repeats 5]

OLD and NEW are each a folder that holds the package, such as a checkout. Both run with the
libraries of the Python that runs this. Each program runs in turn for the one and the other, so
other work on the machine falls on both. Below 1, the new version costs less.
"""

import json
import sys
from collections.abc import Iterator
from compileall import compile_dir
from multiprocessing import get_context
from pathlib import Path
from statistics import median
from tempfile import TemporaryDirectory

import numpy as np
import pandas as pd

from benchmarks.asked import asked, head, line
from benchmarks.large_export import made as write_export
from benchmarks.measuring import Result, run

ALPHA = ("--measure", "krippendorff_alpha")
BYTES_A_RECORD = 1_160
"""What a record of the Label Studio export takes, with its three ratings."""


def ratings(items: int, raters: int, seed: int = 1) -> pd.DataFrame:
    """Labels of raters who know four items in five and guess the others."""
    rng = np.random.default_rng(seed)
    truth = np.repeat(rng.integers(3, size=items), raters)
    knows = rng.random(items * raters) < 0.8
    label = np.where(knows, truth, rng.integers(3, size=items * raters))
    item = np.repeat(np.arange(items), raters)
    return pd.DataFrame(
        {
            "item": pd.Series(item).astype(str).radd("item-"),
            "rater": np.tile([f"r{at}" for at in range(raters)], items),
            "label": np.array(["no", "maybe", "yes"])[label],
        }
    )


def programs(folder: Path, n_ratings: int) -> Iterator[tuple[str, list[str]]]:
    """The name and the arguments of each program. Its file is written into the folder."""
    small, large = folder / "small.csv", folder / "large.parquet"
    ratings(60, 3).to_csv(small, index=False)
    yield "measure, 60 items x 3", ["measure", str(small)]
    yield "judge, 60 items x 3", ["judge", str(small), "--policy", "standard"]
    frame = ratings(n_ratings // 5, 5)
    frame.to_parquet(large, index=False)
    yield f"alpha, {n_ratings:,} ratings, Parquet", ["measure", str(large), *ALPHA]
    yield f"judge, {n_ratings:,} ratings, Parquet", ["judge", str(large), "--policy", "standard"]
    text = folder / "large.csv"
    frame.to_csv(text, index=False)
    yield f"alpha, {n_ratings:,} ratings, CSV", ["measure", str(text), *ALPHA]
    lines = folder / "large.jsonl"
    some = frame.head(n_ratings // 5)
    lines.write_text("".join(f"{json.dumps(row)}\n" for row in some.to_dict("records")))
    yield f"alpha, {len(some):,} ratings, JSON Lines", ["measure", str(lines), *ALPHA]
    export = folder / "export.json"
    write_export(export, n_ratings // 15 * BYTES_A_RECORD)
    label = ["--label", "sentiment", "--item", "doc_id"]
    name = f"alpha, a Label Studio export of {n_ratings // 15:,} tasks"
    yield name, ["measure", str(export), *label, *ALPHA]


def written(folder: Path, n_ratings: int) -> list[tuple[str, list[str]]]:
    """All programs. A process that is large writes their files, since its peak would be theirs."""
    with get_context("spawn").Pool(1) as apart:
        return apart.apply(_written, (folder, n_ratings))


def _written(folder: Path, n_ratings: int) -> list[tuple[str, list[str]]]:
    return list(programs(folder, n_ratings))


def cost(version: Path, arguments: list[str]) -> Result:
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
        for name, arguments in written(Path(folder), options.ratings):
            runs = [
                [cost(version, arguments) for version in (options.old, options.new)]
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
