"""Measure programs: each run is a process of its own. Results are kept, so a run can continue.

Nothing large is imported here. A new process starts with the peak memory of the one that starts it.
"""

import hashlib
import json
import os
import resource
import signal
import statistics
import subprocess
import sys
import tempfile
import threading
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import NamedTuple, TypeVar

from benchmarks.cases import Program, Round, Topic

MOST_SECONDS = 120
MOST_MEMORY = 12 * 2**30
ENOUGH_SECONDS = 15
"""A run that takes longer is not repeated."""
HERE = Path(__file__).parent
T = TypeVar("T")


class Result(NamedTuple):
    """One run: seconds on the clock, seconds of all cores, megabytes at the peak, what it printed.

    `failed` says why there are no figures.
    """

    topic: str
    round: str
    program: str
    wall: float = 0.0
    cpu: float = 0.0
    peak: float = 0.0
    value: float | None = None
    note: str = ""
    failed: str = ""


def run(
    command: Sequence[object],
    most_seconds: float = MOST_SECONDS,
    folder: Path = HERE.parent,
    environment: Mapping[str, str] | None = None,
) -> tuple[Result, str]:
    """The figures of a command in a folder, and what it printed."""
    with tempfile.TemporaryFile() as printed, tempfile.TemporaryFile() as errors:
        start = time.perf_counter()
        process = subprocess.Popen(
            list(map(str, command)),
            stdout=printed,
            stderr=errors,
            start_new_session=True,
            cwd=folder,
            env=environment,
        )
        resource.prlimit(process.pid, resource.RLIMIT_DATA, (MOST_MEMORY, MOST_MEMORY))
        timer = threading.Timer(most_seconds, os.killpg, (process.pid, signal.SIGKILL))
        timer.start()
        _, status, used = os.wait4(process.pid, 0)
        timer.cancel()
        wall = time.perf_counter() - start
        process.returncode = os.waitstatus_to_exitcode(status)
        printed.seek(0)
        errors.seek(0)
        lines = errors.read().decode(errors="replace").strip().splitlines() or ["no message"]
        text = printed.read().decode()
    cpu, peak = used.ru_utime + used.ru_stime, used.ru_maxrss / 1024
    # A held round has the status 1, and so has a program that printed nothing but a traceback.
    well = not process.returncode or (process.returncode == 1 and text.strip())
    failed = "" if well else _why(process.returncode, wall, lines[-1])
    return Result("", "", "", wall, cpu, peak, failed=failed[:200]), text


def _why(status: int, wall: float, last: str) -> str:
    """Why a program has no figures."""
    if status == -signal.SIGKILL:
        return f"stopped after {wall:.0f} s"
    return "out of memory" if "memory" in last.lower() or "allocate" in last.lower() else last


def unlimited(command: Sequence[object], folder: Path = HERE.parent, **more: str) -> Result:
    """The figures of a command that may take an hour, which must not fail.

    Its modules may be kept compiled, and it sends nothing to Dagster.

    Raises
    ------
    RuntimeError
        It failed.
    """
    own = {name: text for name, text in os.environ.items() if name != "PYTHONDONTWRITEBYTECODE"}
    own |= {"DAGSTER_DISABLE_TELEMETRY": "1", "PYTHONPATH": str(HERE.parent)}
    found, text = run(command, 3_600, folder, own | more)
    if found.failed:
        raise RuntimeError(f"{' '.join(map(str, command))[-200:]}: {found.failed}")
    return found._replace(note=text)


def seconds(work: Callable[[], T]) -> tuple[float, float, T]:
    """The CPU seconds of some work on all threads, those on the clock, and its result."""
    cpu, wall = time.process_time(), time.perf_counter()
    done = work()
    return time.process_time() - cpu, time.perf_counter() - wall, done


def printed_result(text: str) -> dict[str, object]:
    """The value that a program printed, and its own figures if it gives any."""
    found = json.loads(text)
    if isinstance(found, list):
        found = found[0] if found else {}
    return {
        name: found[name]
        for name in ("value", "note", "cpu", "wall")
        if isinstance(found.get(name), int | float | str)
    }


def file_of(folder: Path, made: Round, suffix: str) -> Path:
    """The file of a round. A process of its own makes it, or its peak would be that of others."""
    path = folder / f"{made.name}{suffix}"
    if not path.exists():
        options = [f"--{name}={value}" for name, value in made._asdict().items()]
        command = [sys.executable, "-m", "benchmarks.rounds", str(path), *options]
        subprocess.run(command, check=True, cwd=HERE.parent)
    return path


class Bench:
    """A folder with the rounds, the peers' environments, and the results so far."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.results = folder / "results.jsonl"
        folder.mkdir(parents=True, exist_ok=True)

    def known(self) -> list[Result]:
        """The results of former runs."""
        lines = self.results.read_text().splitlines() if self.results.exists() else []
        return [Result(**json.loads(line)) for line in lines]

    def forget(self, topics: set[str]) -> None:
        """Drop the results of some topics."""
        kept = [each for each in self.known() if each.topic not in topics]
        self.results.write_text("".join(json.dumps(each._asdict()) + "\n" for each in kept))

    def measured(self, topic: Topic, made: Round, program: Program, repeats: int) -> None:
        """Run a program on a round until there are enough results."""
        while True:
            former = runs_of(self.known(), topic, made, program)
            if any(each.failed or each.cpu > ENOUGH_SECONDS for each in former):
                return
            if len(former) >= repeats:
                return
            found = self._result(topic, made, program)
            with self.results.open("a") as file:
                file.write(json.dumps(found._asdict()) + "\n")
            said = found.failed or f"{found.cpu:.2f} CPU s, {found.peak:.0f} MB"
            print(f"{topic.name} {made.name} {program.name}: {said}", flush=True)

    def _result(self, topic: Topic, made: Round, program: Program) -> Result:
        key = Result(topic.name, made.name, program.name)
        smaller = [each for each in topic.rounds if each.cells < made.cells]
        failed = [each for each in smaller if _failed(self.known(), topic, each, program)]
        if failed:
            return key._replace(failed="failed on a smaller round")
        interpreter = self._interpreter(program.environment)
        if interpreter is None:
            return key._replace(failed="could not be installed")
        most = MOST_SECONDS if made.ratings < 5e7 else 10 * MOST_SECONDS
        named = {"file": "", "items": str(made.items), "missing": str(made.missing)}
        if any("{file}" in part for part in program.command):
            named["file"] = str(file_of(self.folder, made, topic.suffix))
        found, text = run([interpreter, *(part.format(**named) for part in program.command)], most)
        found = found._replace(topic=topic.name, round=made.name, program=program.name)
        return found if found.failed else found._replace(**printed_result(text))

    def _interpreter(self, environment: str) -> str | None:
        """The interpreter of an environment, which is made if it is not there yet."""
        if not environment:
            return sys.executable
        names = HERE / "peers" / f"{environment}.txt"
        digest = hashlib.sha256(names.read_bytes()).hexdigest()[:12]
        home = self.folder / f"{environment}-{digest}"
        done, refused = home / "installed", home / "refused"
        if not done.exists() and not refused.exists():
            print(f"installing {names.name}", flush=True)
            subprocess.run([sys.executable, "-m", "venv", str(home)], check=True)
            pip = [str(home / "bin/python"), "-m", "pip", "install", "--quiet", "-r", str(names)]
            (refused if subprocess.run(pip, check=False).returncode else done).touch()
        return str(home / "bin/python") if done.exists() else None


def runs_of(known: list[Result], topic: Topic, made: Round, program: Program) -> list[Result]:
    """The results of a program on a round."""
    return [each for each in known if each[:3] == (topic.name, made.name, program.name)]


def _failed(known: list[Result], topic: Topic, made: Round, program: Program) -> bool:
    return any(each.failed for each in runs_of(known, topic, made, program))


def median(runs: list[Result]) -> Result:
    """The medians of the figures of some runs."""
    middle = {name: statistics.median(getattr(each, name) for each in runs) for name in FIGURES}
    return runs[0]._replace(**middle)


FIGURES = ("wall", "cpu", "peak")


def cases(topics: list[Topic], largest: float) -> Iterator[tuple[Topic, Round, Program]]:
    """What is to be measured, topic by topic, small rounds first."""
    for topic in topics:
        for made in topic.rounds:
            if made.ratings <= 1.01 * largest or topic.counted != "ratings":
                yield from ((topic, made, program) for program in topic.programs)
