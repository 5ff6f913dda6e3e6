"""Tasks of this project that are no command: `python -m benchmarks.ours TASK …`.

Each prints a JSON object. `cpu` and `wall` in it are the seconds of the task alone.
"""

import json
import sys
import tempfile
from collections.abc import Iterator
from functools import reduce
from operator import add
from pathlib import Path
from shutil import copyfile

import numpy as np

from benchmarks.measuring import seconds

CATEGORIES, CLEAR = 5, 0.64
BLOCK_ITEMS = 500_000
INTERVALS = {
    "counts": ("krippendorff_alpha", "fleiss_kappa", "gwet_ac1", "percent_agreement"),
    "isolated": ("vanbelle_albert_kappa",),
    "patterns": ("shah_kappa_s",),
    "pairs": ("light_kappa",),
    "panel": ("shah_s",),
    "recall": ("recall_by_category",),
}


def dagster(path: str) -> dict[str, object]:
    """The job of a round: from a file in the inbox to a release."""
    import dagster as dg

    from agreement_pipeline.orchestration import project_definitions
    from agreement_pipeline.projects import Project, ProjectSettings

    with tempfile.TemporaryDirectory() as root, dg.DagsterInstance.ephemeral() as instance:
        settings = ProjectSettings(
            project="measured",
            inbox="inbox",
            scale={"categories": ["neutral", "positive", "negative", "mixed", "unclear"]},
            policy="standard",
            root=root,
        )
        _laid_out(Path(root), Path(path))
        instance.add_dynamic_partitions("measured_rounds", ["one"])
        job = project_definitions(settings).resolve_job_def("measured_round")
        quiet = {"loggers": {"console": {"config": {"log_level": "CRITICAL"}}}}
        job.execute_in_process(instance=instance, partition_key="one", run_config=quiet)
        released = list(Path(root).rglob("manifest.json"))
        if not released:
            raise SystemExit("found no release of the round; expected one. See the run's log.")
        [decided] = Project(settings).store.rounds()
    return {"note": f"round {decided} is released"}


def _laid_out(root: Path, path: Path) -> None:
    """A project's folders with the policy, and the file in the inbox."""
    policies = root / "configs/policies"
    policies.mkdir(parents=True)
    (policies / "standard.yaml").write_bytes(Path("configs/policies/standard.yaml").read_bytes())
    (root / "inbox").mkdir()
    copyfile(path, root / "inbox" / f"one{path.suffix}")


def interval(items: str, missing: str, measures: str) -> dict[str, object]:
    """Seconds of the intervals of some measures, from counts that are there already."""
    from agreement_pipeline.estimates import estimate_each
    from agreement_pipeline.intervals import compute_points
    from agreement_pipeline.measures import MEASURES

    names, statistic = INTERVALS[measures], _counted(measures, int(items), float(missing))
    estimate_each(names, statistic)
    cpu, wall, found = seconds(lambda: estimate_each(names, statistic))
    rows = compute_points([MEASURES[names[0]]], statistic)[0].basis.weights.shape[-1]
    drawn = len(found[0].draws)
    note = f"{rows:,} rows, {drawn:,} draws"
    return {"cpu": cpu, "wall": wall, "value": found[0].value, "note": note}


def _counted(measures: str, items: int, missing: float) -> object:
    """The statistic of five raters, and a classifier where a measure needs one."""
    from agreement_pipeline import Scale
    from agreement_pipeline.statistics import LabelsByRater

    names, scale = tuple("12345"), Scale(tuple("abcde"))
    blocks = (
        LabelsByRater(codes, scale=scale, raters=(*names, "model")).merged()
        for codes in _codes(items, missing)
    )
    joint = reduce(add, blocks)
    if measures in ("panel", "isolated", "recall"):
        return joint.select_raters(names).with_classifier(joint.codes[:, -1], "model")
    patterns = joint.select_raters(names).merged()
    return patterns.counts().merged() if measures == "counts" else patterns


def _codes(items: int, missing: float) -> Iterator[np.ndarray]:
    """Blocks of codes of five raters and a classifier, which is the last column."""
    rng = np.random.default_rng(0)
    for start in range(0, items, BLOCK_ITEMS):
        size = min(BLOCK_ITEMS, items - start)
        truth = rng.integers(CATEGORIES, size=(size, 1), dtype=np.int8)
        guesses = rng.integers(CATEGORIES, size=(size, 6), dtype=np.int8)
        given = np.where(rng.random((size, 1)) < CLEAR, truth, guesses)
        given[:, :-1][rng.random((size, 5)) < missing] = -1
        yield given


TASKS = {task.__name__: task for task in (dagster, interval)}

if __name__ == "__main__":
    print(json.dumps(TASKS[sys.argv[1]](*sys.argv[2:])))
