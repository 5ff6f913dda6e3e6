"""Measure what an idle deployment costs, beside Dagster with as many sensors that do nothing.

`python -m benchmarks.idle_cost 2 20 60 [--seconds 120]` starts a daemon with its code server
on so many projects, none of which has anything to do, and then one on a code location whose sensors
are as many, under the same names and intervals, and empty. It prints the CPU time of each, user
and system, with that of all processes they started, and the ratio. The first `SETTLING_SECONDS`
are not counted, since a code location loads then and each cursor is written once.
"""

import json
import os
import subprocess
import sys
import tempfile
import time
from collections.abc import Sequence
from pathlib import Path

from benchmarks.asked import asked, line
from benchmarks.live_rounds import POLICY, ROOT, SETTINGS, daemon

SETTLING_SECONDS = 75
DAY_SECONDS = 86_400
OUR_WORKSPACE = (ROOT / "workspace.yaml").read_text()
PEER_WORKSPACE = "load_from:\n  - python_file: peer.py\n"
PROJECT = """\
project: {name}
inbox: inboxes/{name}
store: stores/{name}
scale: {{categories: [safe, offensive, hateful]}}
policy: strict
"""
INTERVALS = """
import json
from agreement_pipeline.orchestration.definitions import defs
sensors = defs().get_repository_def().sensor_defs
print(json.dumps({sensor.name: sensor.minimum_interval_seconds for sensor in sensors}))
"""
PEER = """
import dagster as dg

def empty_sensor(name: str, interval_seconds: int) -> dg.SensorDefinition:
    @dg.sensor(
        name=name,
        minimum_interval_seconds=interval_seconds,
        default_status=dg.DefaultSensorStatus.RUNNING,
        target=dg.AssetSelection.all(),
    )
    def sensor(context: dg.SensorEvaluationContext) -> dg.SkipReason:
        return dg.SkipReason("nothing to do")

    return sensor

@dg.asset
def one() -> None: ...

defs = dg.Definitions(
    assets=[one], sensors=[empty_sensor(*each) for each in INTERVALS.items()]
)
"""


def our_root(root: Path, n_projects: int) -> None:
    """Projects that share a policy. Nothing lies in their inboxes."""
    files = {
        "configs/policies/strict.yaml": POLICY,
        "home/dagster.yaml": SETTINGS.format(cores=os.cpu_count()),
        "workspace.yaml": OUR_WORKSPACE,
    }
    for number in range(n_projects):
        name = f"p{number:02}"
        files[f"configs/projects/{name}.yaml"] = PROJECT.format(name=name)
        (root / "inboxes" / name).mkdir(parents=True)
    write(root, files)


def peer_root(root: Path, interval_by_sensor: dict[str, int]) -> None:
    """A code location with empty sensors."""
    write(
        root,
        {
            "home/dagster.yaml": SETTINGS.format(cores=os.cpu_count()),
            "workspace.yaml": PEER_WORKSPACE,
            "peer.py": f"INTERVALS = {interval_by_sensor!r}\n{PEER}",
        },
    )


def write(root: Path, files: dict[str, str]) -> None:
    for name, text in files.items():
        (root / name).parent.mkdir(parents=True, exist_ok=True)
        (root / name).write_text(text)


def interval_by_sensor(root: Path) -> dict[str, int]:
    """The sensors of our code location, with the seconds between two ticks."""
    environment = os.environ | {"AGREEMENT_ROOT": str(root), "PYTHONPATH": str(ROOT)}
    command = [sys.executable, "-c", INTERVALS]
    printed = subprocess.run(command, env=environment, capture_output=True, text=True, check=True)
    intervals: dict[str, int] = json.loads(printed.stdout.splitlines()[-1])
    return intervals


def cpu_seconds(pid: int) -> float:
    """The CPU time of a process, its children that live, and those that ended before."""
    fields = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()
    ticks = sum(map(int, fields[11:15]))  # utime, stime, and both of its ended children
    children = {
        int(child)
        for task in Path(f"/proc/{pid}/task").glob("*/children")
        for child in task.read_text().split()
    }
    return ticks / os.sysconf("SC_CLK_TCK") + sum(map(cpu_seconds, children))


def idle_cpu_seconds(root: Path, seconds: float) -> float:
    """The CPU time of a day, from so many idle seconds of a daemon."""
    with daemon(root) as pid:
        time.sleep(SETTLING_SECONDS)
        before, begin = cpu_seconds(pid), time.monotonic()
        time.sleep(seconds)
        after, elapsed = cpu_seconds(pid), time.monotonic() - begin
    return (after - before) / elapsed * DAY_SECONDS


def main(words: Sequence[str] | None = None) -> None:
    options = asked(__doc__, words, projects=[int], seconds=120.0)
    line("projects", "sensors", "CPU s a day", "Dagster, empty sensors", "ratio")
    line("---:", "---:", "---:", "---:", "---:")
    for n_projects in options.projects or (2, 20, 60):
        with tempfile.TemporaryDirectory(ignore_cleanup_errors=True) as place:
            ours, peer = Path(place, "ours"), Path(place, "peer")
            our_root(ours, n_projects)
            sensors = interval_by_sensor(ours)
            peer_root(peer, sensors)
            our_cost, peer_cost = (idle_cpu_seconds(root, options.seconds) for root in (ours, peer))
        ratio = f"{our_cost / peer_cost:.2f}"
        line(n_projects, len(sensors), f"{our_cost:,.0f}", f"{peer_cost:,.0f}", ratio)


if __name__ == "__main__":
    main()
