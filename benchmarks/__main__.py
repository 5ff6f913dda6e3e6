"""Measure this project beside other packages, and write what was found.

    python -m benchmarks [--only NAME]… [--largest 1e8] [--repeats N] [--fresh] [--data FOLDER]

Writes docs/proofs/benchmarks.md and its plot.
Every run is a process of its own. A stopped run continues where it stopped.
`--fresh` measures again. It needs Linux, and a package index for the other packages.
"""

import argparse
import os
import subprocess
import sys
from pathlib import Path

from benchmarks.cases import TOPICS
from benchmarks.measuring import HERE, Bench, cases

DEFAULT_LARGEST = 5e6


def cache() -> Path:
    home = os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache"
    return Path(home) / "agreement-pipeline-benchmarks"


def main() -> None:
    parser = argparse.ArgumentParser(
        prog="python -m benchmarks",
        description=__doc__,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    names = [topic.name for topic in TOPICS]
    parser.add_argument("--only", action="append", choices=names, help="a topic; repeat for more")
    parser.add_argument("--largest", type=float, default=DEFAULT_LARGEST, help="most ratings")
    parser.add_argument("--repeats", type=int, default=3, help="runs of each program")
    parser.add_argument("--fresh", action="store_true", help="forget former results")
    parser.add_argument("--data", type=Path, default=cache(), help="folder of rounds and results")
    options = parser.parse_args()
    topics = [topic for topic in TOPICS if topic.name in (options.only or names)]
    bench = Bench(options.data)
    if options.fresh:
        bench.forget({topic.name for topic in topics})
    for case in cases(topics, options.largest):
        bench.measured(*case, options.repeats)
    page = [sys.executable, "-m", "benchmarks.page", str(bench.folder)]
    subprocess.run(page, check=True, cwd=HERE.parent)


if __name__ == "__main__":
    main()
