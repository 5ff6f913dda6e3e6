"""Runs the recipe of the guide for dbt, live: `.venv-dbt/bin/python -m tools.recipe_dbt`.

dbt makes the ratings of each week in a DuckDB database. A daemon of Dagster does all that follows,
by conditions alone. A model must be trained on the weeks that are admitted, and on no other.
"""

import os
import re
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from functools import partial
from pathlib import Path
from tempfile import TemporaryDirectory

from agreement_pipeline.store import Store

ROOT = Path(__file__).parents[1]
PAGE = ROOT / "docs/guide/in-dagster.md"
BLOCK = re.compile(r"```\w+\n(?:#|--) (\S+)\n(.*?)```", re.DOTALL)
PROGRAMS = Path(sys.executable).parent
MAX_WAIT_SECONDS = 600
N_ITEMS_BY_WEEK = {"2026-01-11": 500, "2026-01-18": 12, "2026-01-25": 400}
"""All raters agree. Twelve items are too few to be admitted."""
TRAINED = {"model-2026-01-11.json": "500", "model-2026-01-25.json": "400"}
SETTINGS = {
    "dbt/dbt_project.yml": "name: labels\nprofile: labels\n",
    "dbt/profiles.yml": (
        "labels:\n  target: dev\n  outputs:\n    dev: {type: duckdb, path: ../warehouse.duckdb}\n"
    ),
    "home/dagster.yaml": "telemetry: {enabled: false}\n",
}


def write_folder(folder: Path) -> None:
    """The files of the guide's page, with what dbt and Dagster need beside them."""
    blocks = dict(BLOCK.findall(PAGE.read_text(encoding="utf-8")))
    for name, text in {**SETTINGS, **blocks}.items():
        path = folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text, encoding="utf-8")
    rows = [
        f"{week},{week}-{item},{rater},{'yn'[item % 2]}"
        for week, n_items in N_ITEMS_BY_WEEK.items()
        for item in range(n_items)
        for rater in ("ana", "ben", "chi")
    ]
    path = folder / "exports/ratings.csv"
    path.parent.mkdir()
    path.write_text("\n".join(["week,item,rater,label", *rows]), encoding="utf-8")


@contextmanager
def daemon_of(folder: Path, env: dict[str, str]) -> Iterator[None]:
    command = [str(PROGRAMS / "dagster-daemon"), "run", "-f", "labels.py"]
    with (folder / "daemon.log").open("w") as log:
        process = subprocess.Popen(command, cwd=folder, env=env, stdout=log, stderr=log)
        try:
            wait_for(folder, lambda: "SensorDaemon" in (folder / "daemon.log").read_text())
            yield
        finally:
            process.terminate()
            process.wait()


def wait_for(folder: Path, is_done: Callable[[], bool]) -> None:
    ends_at = time.monotonic() + MAX_WAIT_SECONDS
    while not is_done():
        if time.monotonic() > ends_at:
            sys.stdout.write((folder / "daemon.log").read_text()[-4000:])
            raise SystemExit(f"dbt: found no end within {MAX_WAIT_SECONDS} s")
        time.sleep(1)


def is_decided(folder: Path, week: str) -> bool:
    store = Store(folder / ".agreement/store/labels")
    return any(entry["event"] == "decided" for entry in store.history(week))


def main() -> int:
    """Deliver three weeks, and compare what was trained on."""
    with TemporaryDirectory() as name:
        folder = Path(name)
        write_folder(folder)
        env = {
            **os.environ,
            "PATH": os.pathsep.join([str(PROGRAMS), os.environ["PATH"]]),
            "DAGSTER_HOME": str(folder / "home"),
            "DAGSTER_DISABLE_TELEMETRY": "1",
            "DO_NOT_TRACK": "1",
        }
        with daemon_of(folder, env):
            for week in N_ITEMS_BY_WEEK:
                subprocess.run(
                    [
                        str(PROGRAMS / "dagster"),
                        *("asset", "materialize", "-f", "labels.py"),
                        *("--select", "annotations", "--partition", week),
                    ],
                    cwd=folder,
                    env=env,
                    check=True,
                    capture_output=True,
                )
                # DuckDB lets nobody read while dbt writes, so the next week waits for this one.
                wait_for(folder, partial(is_decided, folder, week))
                sys.stdout.write(f"dbt: {week} is decided\n")
            wait_for(folder, lambda: len(list(folder.glob("model-*.json"))) >= len(TRAINED))
        trained = {path.name: path.read_text() for path in sorted(folder.glob("model-*.json"))}
    sys.stdout.write(f"dbt: trained {trained}\n")
    return 0 if trained == TRAINED else 1


if __name__ == "__main__":
    sys.exit(main())
