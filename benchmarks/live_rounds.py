"""Thirty rounds arrive at a running daemon, five of them broken, on a disk that fills up meanwhile.

`python -m benchmarks.live_rounds` starts a daemon of its own on the project's own workspace.yaml.
It delivers a round every few seconds. After a third of them it fills the disk that the store lies
on, and frees it after two thirds. It prints when each round was judged, and by how many runs. It
ends with status 1 if a sound round was not judged within a minute of the last delivery, or a broken
one was not reported, or was run more than once.

The disk is a small one in memory, which only root can mount. Others give a folder on a small disk:
`--disk FOLDER`. The machine should have nothing else to do.
"""

import os
import platform
import resource
import signal
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from pathlib import Path

import dagster as dg
import pandas as pd

from agreement_pipeline.projects import Project, load_project
from benchmarks.asked import asked

ROOT = Path(__file__).parents[1]
DISK_BYTES = 32_000_000
PATIENCE = 60.0
LONGEST = 600.0
BROKEN = (
    b"item,rater,label\ni1,ana\n",
    b"\x00\x01\x02\x03",
    b"item,rater,label\ni1,ana,nobody declared this\ni1,ben,safe\n",
    b"item,rater\ni1,ana\n",
    b'item,rater,label\n"i1,ana,safe\n',
)
PROJECT = """\
project: reviews
inbox: inbox
store: {store}
scale: {{categories: [safe, offensive, hateful]}}
policy: strict
"""
POLICY = """\
policy: strict
version: 1
rules:
  - measure: krippendorff_alpha
"""
SETTINGS = """\
telemetry: {{enabled: false}}
nux: {{enabled: false}}
concurrency: {{runs: {{max_concurrent_runs: {cores}}}}}
run_coordinator:
  module: dagster
  class: QueuedRunCoordinator
  config: {{dequeue_interval_seconds: 1}}
"""


def sound(number: int) -> pd.DataFrame:
    """A round of 120 items by three raters who agree well, or badly in every third round."""
    categories, slip = ("safe", "offensive", "hateful"), 0.4 if number % 3 == 0 else 0.01
    rows = [
        (
            f"i{number}-{i}",
            rater,
            categories[(i + (((i * 37 + r * 101 + number) % 997) < slip * 997)) % 3],
        )
        for i in range(120)
        for r, rater in enumerate(("ana", "ben", "chi"))
    ]
    return pd.DataFrame(rows, columns=["item", "rater", "label"])


def contents(rounds: int) -> dict[str, bytes]:
    """The files by the names of their rounds. Every sixth is broken."""
    return {
        f"r{number:02}": BROKEN[number // 6 % len(BROKEN)]
        if number % 6 == 3
        else sound(number).to_csv(index=False).encode()
        for number in range(rounds)
    }


@contextmanager
def small_disk(folder: Path | None) -> Iterator[Path]:
    """A disk that is soon full."""
    if folder is not None:
        yield folder
        return
    with tempfile.TemporaryDirectory() as place:
        mounted = ["mount", "-t", "tmpfs", "-o", f"size={DISK_BYTES}", "tmpfs", place]
        subprocess.run(mounted, check=True)
        try:
            yield Path(place)
        finally:
            subprocess.run(["umount", "--lazy", place], check=True)


def fill(disk: Path) -> Path:
    """A file that takes all that is left."""
    ballast = disk / "ballast"
    with ballast.open("wb", buffering=0) as file:
        for size in (1 << 20, 1 << 12, 1):
            try:
                while file.write(bytes(size)):
                    pass
            except OSError:
                continue
    return ballast


def project_in(root: Path, disk: Path) -> Project:
    """A project whose store lies on the small disk."""
    for name, text in (
        ("configs/projects/reviews.yaml", PROJECT.format(store=disk / "store")),
        ("configs/policies/strict.yaml", POLICY),
        ("home/dagster.yaml", SETTINGS.format(cores=os.cpu_count())),
        ("workspace.yaml", (ROOT / "workspace.yaml").read_text()),
    ):
        (root / name).parent.mkdir(parents=True, exist_ok=True)
        (root / name).write_text(text)
    (root / "inbox").mkdir()
    return Project(load_project(root / "configs/projects/reviews.yaml"))


@contextmanager
def daemon(root: Path) -> Iterator[int]:
    """A daemon on the project, with its process id. It is ended with all that it started."""
    environment = {
        **os.environ,
        "DAGSTER_HOME": str(root / "home"),
        "AGREEMENT_ROOT": str(root),
        "PYTHONPATH": str(ROOT),
    }
    command = [str(Path(sys.executable).parent / "dagster-daemon"), "run", "-w", "workspace.yaml"]
    log = root / "daemon.log"
    with log.open("w") as file:
        process = subprocess.Popen(
            command,
            cwd=root,
            env=environment,
            stdout=file,
            stderr=subprocess.STDOUT,
            start_new_session=True,
        )
        try:
            while "Checking for new runs" not in log.read_text():
                if process.poll() is not None:
                    sys.exit(log.read_text())
                time.sleep(0.5)
            yield process.pid
        finally:
            process.send_signal(signal.SIGINT)
            with suppress(subprocess.TimeoutExpired):
                process.wait(30)
            with suppress(ProcessLookupError):
                os.killpg(process.pid, signal.SIGKILL)
            process.wait()


def judged(project: Project) -> dict[str, str]:
    """The rounds of the store that were decided on, and how."""
    return {
        entry["round"]: str(entry["decision"])
        for entry in project.store.history()
        if entry["event"] == "decided"
    }


def runs_of(root: Path, rounds: Iterable[str]) -> dict[str, int]:
    """How many runs each round had."""
    with dg.DagsterInstance.from_config(str(root / "home")) as instance:
        return {
            name: instance.get_runs_count(dg.RunsFilter(tags={"dagster/partition": name}))
            for name in rounds
        }


def watched(
    project: Project, files: Mapping[str, bytes], disk: Path, every: float
) -> tuple[dict[str, float], dict[str, tuple[float, str]]]:
    """Deliver the files, and note when each came and when it was judged."""
    begin, delivered, decided = time.monotonic(), {}, {}
    names, ballast = list(files), None
    full, free = len(names) // 3, 2 * len(names) // 3
    sound_ones = {name for name in names if files[name] not in BROKEN}
    while True:
        now = time.monotonic() - begin
        if len(delivered) < len(names) and now >= len(delivered) * every:
            name = names[len(delivered)]
            if len(delivered) == full:
                ballast = fill(disk)
            if len(delivered) == free and ballast:
                ballast.unlink()
            partial = project.inbox / f"{name}.csv.part"
            partial.write_bytes(files[name])
            partial.rename(project.inbox / f"{name}.csv")
            delivered[name] = now
        for name, how in judged(project).items():
            decided.setdefault(name, (now, how))
        waited = now - max(delivered.values(), default=0.0)
        if decided.keys() >= sound_ones or (len(delivered) == len(names) and waited > LONGEST):
            return delivered, decided
        time.sleep(0.5)


def run(rounds: int, every: float, folder: Path | None) -> int:
    """Deliver, watch and print. The status is 0 if all was judged or reported in time."""
    home = tempfile.TemporaryDirectory(ignore_cleanup_errors=True)
    with small_disk(folder) as disk, home as place:
        project, files = project_in(Path(place), disk), contents(rounds)
        with daemon(Path(place)):
            delivered, decided = watched(project, files, disk, every)
            reported = project.unjudged()
        runs = runs_of(Path(place), files)
    used = resource.getrusage(resource.RUSAGE_CHILDREN)
    return said(files, delivered, decided, reported, runs, used.ru_utime + used.ru_stime)


def said(
    files: Mapping[str, bytes],
    delivered: Mapping[str, float],
    decided: Mapping[str, tuple[float, str]],
    reported: Mapping[str, str],
    runs: Mapping[str, int],
    seconds: float,
) -> int:
    """Print what happened to each round, and the sums."""
    last = max(delivered.values())
    print("| round | delivered, s | judged, s | runs | what |\n|---|---|---|---|---|")
    for name in files:
        at, how = decided.get(name, (float("nan"), reported.get(name, "nothing")))
        print(f"| {name} | {delivered[name]:.0f} | {at:.0f} | {runs[name]} | {how[:100]} |")
    sound_ones = [name for name in files if files[name] not in BROKEN]
    broken = [name for name in files if files[name] in BROKEN]
    in_time = [
        name for name in sound_ones if name in decided and decided[name][0] <= last + PATIENCE
    ]
    named = [name for name in broken if name in reported and name not in decided]
    once = [name for name in broken if runs[name] == 1]
    latest = max((decided[name][0] for name in sound_ones if name in decided), default=0.0)
    print(
        f"\n{len(in_time)} of {len(sound_ones)} judged within {PATIENCE:.0f} s of the last "
        f"delivery at {last:.0f} s, the last of them at {latest:.0f} s. "
        f"{len(named)} of {len(broken)} broken ones reported, {len(once)} of them run once. "
        f"{seconds:.0f} CPU s, "
        f"{os.cpu_count()} cores, Python {platform.python_version()}."
    )
    return int(len(in_time) < len(sound_ones) or min(len(named), len(once)) < len(broken))


def main(words: Sequence[str] | None = None) -> int:
    """Read the options."""
    given = asked(__doc__, words, rounds=30, every=4.0, disk="")
    return run(given.rounds, given.every, Path(given.disk) if given.disk else None)


if __name__ == "__main__":
    signal.signal(signal.SIGTERM, lambda *_: sys.exit("ended"))
    sys.exit(main())
