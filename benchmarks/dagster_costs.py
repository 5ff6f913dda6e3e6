"""Measure what Dagster costs beside the work itself.

`python -m benchmarks.dagster_costs [small] [executors] [large] [live]` prints a line for each
question: the median CPU time, user and system, of whole processes, what stands beside it in the
same run, and the ratio of the two.

- A round of 200 ratings, and an asset of a trainer that loads its release, beside a trivial job.
- A round of 300 ratings on Dagster's default executor, which starts a process for each step, beside
  the same round in one process.
- A round of 5,000,000 ratings and its report, beside `judge` of the same file.
- A round of 2,000 items by five raters, from the file's arrival at a daemon to the release.
"""

import os
import platform
import statistics
import sys
import tempfile
import time
from collections.abc import Sequence
from pathlib import Path

from benchmarks.asked import asked, line
from benchmarks.cases import Round
from benchmarks.live_rounds import daemon, project_in
from benchmarks.measuring import file_of, unlimited

PYTHON = (sys.executable, "-c")
COMMAND = (sys.executable, "-m", "agreement_pipeline")
TRIVIAL = """
import dagster as dg

@dg.asset
def one() -> None: ...

@dg.asset(deps=[one])
def two() -> None: ...

jobs = {name: dg.define_asset_job(name, selection=some, executor_def=dg.in_process_executor)
        for name, some in (("both", [one, two]), ("single", [one]))}
defs = dg.Definitions(assets=[one, two], jobs=[*jobs.values()])
"""
OWN = """
import dagster as dg
from agreement_pipeline import AnnotationProject, release_of, rounds_of

project = AnnotationProject(
    project="toxicity", inbox="inbox", scale={"categories": CATEGORIES}, policy="standard", root="."
)

@dg.asset(partitions_def=rounds_of("toxicity"), deps=[["toxicity", "training_data"]])
def model(context: dg.AssetExecutionContext) -> None:
    release = release_of(context)
    context.log.info(f"trained on {len(release.train)} rows")

train = dg.define_asset_job("train", selection=[model], executor_def=dg.in_process_executor)
defs = dg.Definitions.merge(
    dg.Definitions(assets=[model], jobs=[train]), dg.build_defs_for_component(project)
)
"""
RUN = """
with dg.DagsterInstance.ephemeral() as instance:
    if KEY:
        instance.add_dynamic_partitions("toxicity_rounds", [KEY])
    job = defs.resolve_job_def(JOB)
    assert job.execute_in_process(instance=instance, partition_key=KEY).success
"""


def median_of(command: Sequence[str], folder: Path, times: int) -> float:
    """The median of some processes, after one that is not counted."""
    unlimited(command, folder)
    return statistics.median(unlimited(command, folder).cpu for _ in range(times))


def job(definitions: str, name: str, key: str | None = None, **said: object) -> tuple[str, ...]:
    """A program that runs a job in its process."""
    values = {"JOB": name, "KEY": key, **said}
    set_first = "\n".join(f"{what} = {value!r}" for what, value in values.items())
    return *PYTHON, f"{set_first}\n{definitions}\n{RUN}"


def delivered(folder: Path, made: Round, suffix: str = ".csv") -> None:
    """A round in the inbox of a folder."""
    (folder / "inbox").mkdir(exist_ok=True)
    file_of(folder, made, suffix).rename(folder / f"inbox/w1{suffix}")


def said(what: str, found: float, beside: str = "", other: float | None = None) -> None:
    ratio = "" if other is None else f"{found / other:.2f}"
    against = beside if other is None else f"{beside}: {other:.2f}"
    line(what, f"{found:.2f}", against, ratio)


ON_EXECUTOR = """
import os
import dagster as dg
from agreement_pipeline import AnnotationProject

project = AnnotationProject(
    project="toxicity", inbox="inbox", scale={"categories": CATEGORIES}, policy="standard", root="."
)
of_project = dg.build_defs_for_component(project)
job = dg.define_asset_job(
    "materialize",
    selection=[of_project.resolve_assets_def(["toxicity", "annotations"])],
    executor_def=getattr(dg, os.environ["EXECUTOR"]),
)
defs = dg.Definitions.merge(of_project, dg.Definitions(jobs=[job]))
"""
MATERIALIZE = """
import os, tempfile
import dagster as dg
from dagster._core.definitions.reconstruct import ReconstructableRepository

with dg.DagsterInstance.local_temp(tempfile.mkdtemp()) as instance:
    instance.add_dynamic_partitions("toxicity_rounds", ["w1"])
    repository = ReconstructableRepository.for_file(FILE, "defs")
    job = repository.get_reconstructable_job("materialize")
    tags = {"dagster/partition": "w1"}
    assert dg.execute_job(job, instance, tags=tags).success
"""
LABELS = ["neutral", "positive", "negative", "mixed", "unclear"]


def small(folder: Path, times: int) -> None:
    """A round of 200 ratings, and a trainer that loads its release."""
    delivered(folder, Round(40, clear=0.99))
    of_round = job(OWN, "toxicity_round", "w1", CATEGORIES=LABELS)
    trained = job(OWN, "train", "w1", CATEGORIES=LABELS)
    both, single = (median_of(job(TRIVIAL, name), folder, times) for name in ("both", "single"))
    said("a round of 200 ratings", median_of(of_round, folder, times), "two trivial assets", both)
    said("a trainer's asset", median_of(trained, folder, times), "one trivial asset", single)


def executors(folder: Path, times: int) -> None:
    """A round of 300 ratings, all assets of its step, on Dagster's default executor and in one
    process.
    """
    delivered(folder, Round(60, clear=0.99))
    definitions = folder / "definitions.py"
    definitions.write_text(f"CATEGORIES = {LABELS!r}\n{ON_EXECUTOR}")
    program = (*PYTHON, f"FILE = {str(definitions)!r}\n{MATERIALIZE}")
    in_process, multiprocess = (
        median_of(("env", f"EXECUTOR={executor}", *program), folder, times)
        for executor in ("in_process_executor", "multiprocess_executor")
    )
    said("300 ratings on the default executor", multiprocess, "in one process", in_process)


def large(folder: Path, times: int) -> None:
    """A round of 5,000,000 ratings, and its report."""
    delivered(folder, Round(1_000_000, clear=0.98), ".parquet")
    path = "inbox/w1.parquet"
    judged = median_of((*COMMAND, "judge", path, "--policy", "standard"), folder, times)
    report = (*COMMAND, "report", path, "--policy", "standard", "--output", "page.html")
    of_round = job(OWN, "toxicity_round", "w1", CATEGORIES=LABELS)
    said("a round of 5,000,000", median_of(of_round, folder, times), "`judge` of it", judged)
    said("its report", median_of(report, folder, times), "`judge` of it", judged)


def live(folder: Path, times: int) -> None:
    """A round of 2,000 items by five raters arrives at a running daemon."""
    released, shown = [], []
    for number in range(times):
        root = folder / f"live-{number}"
        root.mkdir()
        project = project_in(root, root)
        rows = "".join(
            f"i{item},rater-{rater},{('safe', 'offensive', 'hateful')[item % 3]}\n"
            for item in range(2_000)
            for rater in range(5)
        )
        with daemon(root):
            time.sleep(5)
            before = _used_below(os.getpid())
            (project.inbox / "w1.csv").write_text("item,rater,label\n" + rows)
            while not any(each["event"] == "released" for each in project.store.history()):
                time.sleep(0.25)
            released.append(_used_below(os.getpid()) - before)
            while not project.store.storage.names("standing"):
                time.sleep(0.25)
            shown.append(_used_below(os.getpid()) - before)
    said("2,000 items by 5 raters, from arrival to release", statistics.median(released))
    said("until all is shown, the table of all rounds too", statistics.median(shown))


def _used_below(process: int) -> float:
    """CPU seconds of all processes below one, with those that ended."""
    ticks = os.sysconf("SC_CLK_TCK")
    below: dict[int, list[tuple[int, float]]] = {}
    for path in Path("/proc").glob("[0-9]*/stat"):
        try:
            _, _, text = path.read_text().rpartition(") ")
        except OSError:
            continue
        fields = text.split()
        used = sum(map(int, fields[11:15])) / ticks
        below.setdefault(int(fields[1]), []).append((int(path.parent.name), used))

    def total(parent: int) -> float:
        return sum(used + total(child) for child, used in below.get(parent, ()))

    return total(process)


def main() -> None:
    options = asked(__doc__, topics=[str], times=3)
    topics = {each.__name__: each for each in (small, executors, large, live)}
    print(f"{platform.machine()}, {os.cpu_count()} CPUs, Python {platform.python_version()}\n")
    print("| what | CPU s, median | beside it | ratio |\n|---|---|---|---|")
    for name in options.topics or topics:
        with tempfile.TemporaryDirectory(ignore_cleanup_errors=True) as folder:
            topics[name](Path(folder), options.times)


if __name__ == "__main__":
    main()
