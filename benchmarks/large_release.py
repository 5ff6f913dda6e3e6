"""Take a large round down the whole line, and print what each step took.

    python -m benchmarks.large_release FILE FOLDER

FILE is a table of items, raters and labels, as `benchmarks.rounds` makes one. The folder is made,
and removed at the end. The steps are those of a project:

- ingest: read the file, and keep it with its ratings in the store
- judge: judge the kept round, and record the decision
- release: judge it again, and write the release
- release again: find the release standing, and verify it
- verify: verify the release, as a trainer does, and look at it in the log
- withdraw: judge the round by a stricter policy, and withdraw its release

Each step is a process of its own. Its memory is the most that it had resident.
"""

import os
import sys
from pathlib import Path
from shutil import rmtree
from typing import TYPE_CHECKING

from benchmarks.asked import asked, head, line
from benchmarks.measuring import unlimited
from benchmarks.rounds import LABELS

if TYPE_CHECKING:
    from agreement_pipeline.projects import Project

ROUND, POLICY = "round", "lenient"
LEAST = {1: 0.67, 2: 0.8}
"""The cut-off of each version of the policy: the first admits the rounds, the second does not."""

SETTINGS = """\
project: large
inbox: inbox
store: store
columns: {{item: item, rater: rater, label: label}}
scale:
  level: nominal
  categories: [{labels}]
policy: {policy}
limits: {{rows: 1000000000, file_bytes: 100000000000}}
"""
RULES = """\
policy: {policy}
version: {version}
passed_by_guessing: The labels are simulated, and nobody trains on them.
rules:
  - measure: percent_agreement
    reliable: {least}
    tentative: 0.667
"""


def prepared(folder: Path, file: Path) -> None:
    """Make a project whose inbox has the file."""
    for name in ("inbox", "configs/projects", "configs/policies"):
        (folder / name).mkdir(parents=True)
    settings = SETTINGS.format(labels=", ".join(LABELS), policy=POLICY)
    (folder / "configs/projects/large.yaml").write_text(settings)
    os.link(file, folder / "inbox" / f"{ROUND}{file.suffix}")
    decide_by(folder, 1)


def decide_by(folder: Path, version: int) -> None:
    """Write a version of the policy."""
    rules = RULES.format(policy=POLICY, version=version, least=LEAST[version])
    (folder / f"configs/policies/{POLICY}.yaml").write_text(rules)


def ingest(project: "Project") -> str:
    """Read the round and keep it."""
    delivery, ratings = project.delivered(ROUND)
    project.keep(delivery, ratings)
    return f"{len(ratings):,} ratings"


def judge(project: "Project") -> str:
    """Judge the kept round."""
    from agreement_pipeline.release import judge_round

    judged, withdrawn = judge_round(project.store, ROUND, project.policy, project.contract)
    outcome = "admitted" if judged.decision.admitted else "held"
    return f"{outcome}, and its release withdrawn" if withdrawn else outcome


def release(project: "Project") -> str:
    """Let the training data out."""
    from agreement_pipeline.release import release_round

    found = release_round(
        project.store, ROUND, project.policy, project.contract, project=project.name
    )
    return f"{len(found.labels.rows_with_label):,} training rows"


def verify(project: "Project") -> str:
    """Verify the release, and look at it in the log."""
    from agreement_pipeline.release import open_release

    (entry,) = project.store.in_force()
    found = open_release(
        project.store.release_folder(*entry["release"].split("/")), store=project.store
    )
    return f"{len(found.annotations):,} annotations"


STEPS = {
    "ingest": (1, ingest),
    "judge": (1, judge),
    "release": (1, release),
    "release again": (1, release),
    "verify": (1, verify),
    "withdraw": (2, judge),
}
"""Each step, and the version of the policy that it is taken under."""


def take(step: str, folder: Path) -> None:
    """Take a step, and say what came of it."""
    from agreement_pipeline.projects import Project, load_project

    version, work = STEPS[step]
    decide_by(folder, version)
    print(work(Project(load_project(folder / "configs/projects/large.yaml"))))


def main() -> None:
    """Take all steps, each in a process of its own."""
    said = asked(__doc__, file=Path, folder=Path, step=("",))
    if said.step:
        take(said.step, said.folder)
        return
    said.folder.mkdir()
    try:
        prepared(said.folder, said.file)
        head("step", "CPU s", "most memory", "outcome")
        program = (sys.executable, "-m", "benchmarks.large_release")
        for step in STEPS:
            found = unlimited((*program, said.file, said.folder.resolve(), step))
            memory = f"{found.peak * 2**20 / 1e9:.2f} GB"
            line(step, f"{found.cpu:.0f}", memory, found.note.strip())
    finally:
        rmtree(said.folder)


if __name__ == "__main__":
    main()
