"""Measure what the start of a program costs: imports, commands, completions and definitions.

`python -m benchmarks.startup` prints a table. Each line is the median CPU time, user and system,
of fresh processes. The first lines are Python and the libraries alone. They say how fast the
machine is. A share of the other lines is theirs.
"""

import os
import platform
import random
import statistics
import sys
import tempfile
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import NamedTuple

from benchmarks.asked import asked, head, line
from benchmarks.measuring import unlimited

ITEMS, RATERS, PROJECTS = 60, ("ana", "ben", "carla"), 50
COMMAND = (sys.executable, "-m", "agreement_pipeline")
POLICY = """\
policy: start
version: 1
rules:
  - measure: krippendorff_alpha
    reliable: 0.8
    tentative: 0.667
"""
PROJECT = """\
project: {name}
description: One of many projects.
inbox: inbox/{name}
scale:
  level: nominal
  categories: [a, b]
columns: {{item: item, rater: rater, label: label}}
policy: start
"""
DEFINITIONS = """
from agreement_pipeline.orchestration.definitions import defs
assert len(defs.load_fn().get_repository_def().get_all_jobs()) >= {projects}
"""


class Start(NamedTuple):
    """A program to start, and the words of its environment."""

    name: str
    command: Sequence[str]
    environment: Mapping[str, str] = {}


def python(code: str) -> tuple[str, ...]:
    return sys.executable, "-c", code


def completion(*words: str) -> Start:
    return Start(
        f"Tab after `{' '.join(words)}`",
        COMMAND,
        {
            "_AGREEMENT_PIPELINE_COMPLETE": "bash_complete",
            "COMP_WORDS": " ".join(("agreement-pipeline", *words)),
            "COMP_CWORD": str(len(words)),
        },
    )


STARTS = (
    Start("python -c pass", python("pass")),
    Start("import numpy", python("import numpy")),
    Start("import pandas", python("import pandas")),
    Start("import pandas, scipy.special", python("import pandas, scipy.special")),
    Start("import dagster", python("import dagster")),
    Start("import great_expectations", (sys.executable, "gx.py")),
    Start("import agreement_pipeline", python("import agreement_pipeline")),
    Start("import agreement_pipeline.policy", python("import agreement_pipeline.policy")),
    Start("agreement-pipeline --help", (*COMMAND, "--help")),
    completion("m"),
    completion("measure", "--sc"),
    completion("measure", "--measure", "kripp"),
    completion("judge", "--pol"),
    completion("verify", "--req"),
    Start(
        "measure of alpha, 60 items by 3 raters",
        (*COMMAND, "measure", "labels.csv", "--measure", "alpha", "--scope", "round"),
    ),
    Start("measure of all, 60 items by 3 raters", (*COMMAND, "measure", "labels.csv")),
    Start(
        "judge, 60 items by 3 raters",
        (*COMMAND, "judge", "labels.csv", "--policy", "configs/policies/start.yaml"),
    ),
    Start(f"definitions of {PROJECTS} projects", python(DEFINITIONS.format(projects=PROJECTS))),
)


def write_inputs(folder: Path) -> None:
    """A small table, a policy and many projects."""
    drawn = random.Random(1)
    rows = ["item,rater,label"]
    for item in range(ITEMS):
        label = drawn.choice("ab")
        rows += [
            f"{item},{rater},{label if drawn.random() < 0.95 else drawn.choice('ab')}"
            for rater in RATERS
        ]
    (folder / "labels.csv").write_text("\n".join(rows), encoding="utf-8")
    (folder / "gx.py").write_text("import great_expectations", encoding="utf-8")
    for name in ("policies", "projects"):
        (folder / "configs" / name).mkdir(parents=True)
    (folder / "configs/policies/start.yaml").write_text(POLICY, encoding="utf-8")
    for number in range(PROJECTS):
        (folder / f"inbox/p{number}").mkdir(parents=True)
        text = PROJECT.format(name=f"p{number}")
        (folder / f"configs/projects/p{number}.yaml").write_text(text, encoding="utf-8")


def main() -> None:
    times = asked(__doc__, times=5).times
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        write_inputs(folder)
        found = {start.name: [] for start in STARTS}
        for _ in range(times + 1):
            for start in STARTS:
                here = {"AGREEMENT_ROOT": str(folder), **start.environment}
                found[start.name].append(unlimited(start.command, folder, **here).cpu)
    print(f"{platform.machine()}, {os.cpu_count()} CPUs, Python {platform.python_version()}\n")
    head("start", "CPU s, median", "fastest")
    for name, (_, *seconds) in found.items():
        line(name, f"{statistics.median(seconds):.2f}", f"{min(seconds):.2f}")


if __name__ == "__main__":
    main()
