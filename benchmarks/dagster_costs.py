"""Measure what Dagster costs beside the work itself.

`python -m benchmarks.dagster_costs` prints a line for each question: the median CPU time, user and
system, of whole processes, what stands beside it in the same run, and the ratio of the two.

- A round of 200 ratings, and an asset of a trainer that loads its release, beside a trivial job.
- A round of 5,000,000 ratings and its report, beside `judge` of the same file.
- A round of 2,000 items by five raters, from the file's arrival at a daemon to the release.
- The table of all rounds after one more, and the store judged again, with many rounds.
"""

import argparse
import os
import platform
import statistics
import sys
import tempfile
import time
from collections.abc import Callable, Mapping, Sequence
from functools import partial
from pathlib import Path

from benchmarks.live_rounds import daemon, project_in
from benchmarks.measuring import unlimited

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
IN_A_STORE = """
from dataclasses import replace
from itertools import islice
from time import process_time
from agreement_pipeline.orchestration.metadata import rendered
from agreement_pipeline.projects.standing import Standings
from agreement_pipeline.release import reassess
from agreement_pipeline.report import charted, history, table_of_rows
from agreement_pipeline.store import Store
from benchmarks.grown_store import CONTRACT, POLICY, SALT, grown, one_more
from pathlib import Path

def table():
    store = Store(PLACE, salt=SALT)
    standings = Standings(store)
    standing = standings.now()
    rounds = table_of_rows(standing.rows)
    chart = charted(rounds, POLICY, standing.chart)
    rendered(history(rounds, POLICY, chart))
    standings.keep(replace(standing, chart=chart))

def again(policy, most=None):
    for _ in islice(reassess(Store(PLACE, salt=SALT), policy, CONTRACT), most):
        pass

def add(name):
    original = Path(PLACE).parent / "export.csv"
    original.write_text(name)
    for step in one_more(Store(PLACE, salt=SALT), name, original).values():
        step()

def measured(work):
    start = process_time()
    work()
    print(process_time() - start)
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


def delivered(folder: Path, items: int, raters: int, clear: float, suffix: str = ".csv") -> None:
    """A round in the inbox of a folder."""
    (folder / "inbox").mkdir(exist_ok=True)
    path = folder / f"inbox/w1{suffix}"
    made = ("--items", str(items), "--raters", str(raters), "--missing", "0", "--clear", str(clear))
    unlimited((sys.executable, "-m", "benchmarks.rounds", path, *made))


def said(what: str, found: float, beside: str = "", other: float | None = None) -> None:
    ratio = "" if other is None else f"{found / other:.2f}"
    against = beside if other is None else f"{beside}: {other:.2f}"
    print(f"| {what} | {found:.2f} | {against} | {ratio} |", flush=True)


LABELS = ["neutral", "positive", "negative", "mixed", "unclear"]


def small(folder: Path, times: int) -> None:
    """A round of 200 ratings, and a trainer that loads its release."""
    delivered(folder, 40, 5, 0.99)
    of_round = job(OWN, "toxicity_round", "w1", CATEGORIES=LABELS)
    trained = job(OWN, "train", "w1", CATEGORIES=LABELS)
    both, single = (median_of(job(TRIVIAL, name), folder, times) for name in ("both", "single"))
    said("a round of 200 ratings", median_of(of_round, folder, times), "two trivial assets", both)
    said("a trainer's asset", median_of(trained, folder, times), "one trivial asset", single)


def large(folder: Path, times: int) -> None:
    """A round of 5,000,000 ratings, and its report."""
    delivered(folder, 1_000_000, 5, 0.98, ".parquet")
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


def many(folder: Path, times: int, rounds: int) -> None:
    """The table of all rounds, and the store judged again, with many rounds."""
    place = folder / "store"
    (folder / "export.csv").write_text("as delivered")
    setting = f"PLACE = {str(place)!r}\n{IN_A_STORE}"
    grow = f"grown(PLACE, {rounds}, Path(PLACE).parent / 'export.csv')"
    inside = partial(_inside, setting, folder)
    unlimited((*PYTHON, f"{setting}\n{grow}"), folder)
    said(f"the table of {rounds} rounds, made whole", inside("measured(table)"))
    more = [inside(f"add('round-{rounds + n}')\nmeasured(table)") for n in range(times)]
    said("after one more round", statistics.median(more))
    nothing = [inside("measured(lambda: again(POLICY))") for _ in range(times)]
    said("all judged again, nothing changed", statistics.median(nothing))
    stricter = "replace(POLICY, version=2)"
    hundred = inside(f"measured(lambda: again({stricter}, 100))")
    all_stand = statistics.median(nothing)
    said("100 of them, another policy, for each", max(hundred - all_stand, 0) / 100)
    rest = inside(f"measured(lambda: again({stricter}, 200))")
    said("100 more after that was ended, for each", max(rest - all_stand, 0) / 100)


def _inside(setting: str, folder: Path, work: str) -> float:
    """The CPU seconds that a program in a process of its own prints."""
    return float(unlimited((*PYTHON, f"{setting}\n{work}"), folder).note.split()[-1])


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    topics: Mapping[str, Callable[..., None]] = {
        "small": small,
        "large": large,
        "live": live,
        "many": many,
    }
    parser.add_argument("--only", action="append", choices=topics, help="a topic; repeat for more")
    parser.add_argument("--times", type=int, default=3, help="processes of each line")
    parser.add_argument("--rounds", type=int, default=10_000, help="how many rounds a store has")
    options = parser.parse_args()
    print(f"{platform.machine()}, {os.cpu_count()} CPUs, Python {platform.python_version()}\n")
    print("| what | CPU s, median | beside it | ratio |\n|---|---|---|---|")
    for name in options.only or topics:
        more = {"rounds": options.rounds} if name == "many" else {}
        with tempfile.TemporaryDirectory(ignore_cleanup_errors=True) as folder:
            topics[name](Path(folder), options.times, **more)


if __name__ == "__main__":
    main()
