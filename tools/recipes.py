"""Runs the recipes of the guide's page on pipelines: `python -m tools.recipes dvc .venv-dvc/bin`.

Each runs with a table that is admitted and with one that is held. The trainer must have run for the
first one alone.
"""

import os
import re
import shutil
import subprocess
import sys
from pathlib import Path
from tempfile import TemporaryDirectory

ROOT = Path(__file__).parents[1]
PAGE = ROOT / "docs/guide/pipelines.md"
BLOCK = re.compile(r"```\w+\n# (\S+)\n(.*?)```", re.DOTALL)
COMMANDS = {
    "dvc": ("dvc.yaml", (["dvc", "init", "--no-scm", "--quiet"], ["dvc", "repro"])),
    "prefect": ("flow.py", (["python", "flow.py"],)),
    "airflow": (
        "dags/labels.py",
        (["airflow", "db", "migrate"], ["airflow", "dags", "test", "labels"]),
    ),
}
PROGRAMS = {
    "agreement-pipeline": f'exec "{sys.executable}" -m agreement_pipeline "$@"',
    "python": '[[ $1 == train.py ]] && exec touch model || exec "$RECIPE_PYTHON" "$@"',
}
PROJECT = """project: labels
inbox: inbox
scale: {level: nominal, categories: ["y", "n"]}
policy: standard
"""
TABLES = {"admitted": 500, "held": 12}
"""How many items each table has. All raters agree."""


def trained(recipe: str, programs: Path, decision: str) -> bool:
    """Whether the trainer of a recipe ran for a table of this decision."""
    file, commands = COMMANDS[recipe]
    with TemporaryDirectory() as name:
        folder = Path(name)
        blocks = dict(BLOCK.findall(PAGE.read_text(encoding="utf-8")))
        (folder / file).parent.mkdir(parents=True, exist_ok=True)
        (folder / file).write_text(blocks[file], encoding="utf-8")
        rows = [f"{i},{who},{'yn'[i % 2]}" for i in range(TABLES[decision]) for who in "abc"]
        (folder / "inbox").mkdir()
        (folder / "inbox/labels.csv").write_text("\n".join(["item,rater,label", *rows]))
        (folder / "configs/projects").mkdir(parents=True)
        (folder / "configs/projects/labels.yaml").write_text(PROJECT)
        (folder / "train.py").touch()
        (folder / "bin").mkdir()
        for program, script in PROGRAMS.items():
            (folder / "bin" / program).write_text(f"#!/bin/bash\n{script}\n")
            (folder / "bin" / program).chmod(0o755)
        env = {
            **os.environ,
            "PATH": os.pathsep.join([str(folder / "bin"), str(programs), os.environ["PATH"]]),
            "RECIPE_PYTHON": str(programs / "python"),
            "PYTHONPATH": str(ROOT),
            "AIRFLOW_HOME": str(folder / "airflow"),
            "AIRFLOW__CORE__DAGS_FOLDER": str(folder / "dags"),
            "AIRFLOW__CORE__LOAD_EXAMPLES": "False",
            "PREFECT_HOME": str(folder / "prefect"),
            "DO_NOT_TRACK": "1",
            "PREFECT_SERVER_ANALYTICS_ENABLED": "false",
            "DVC_NO_ANALYTICS": "1",
        }
        for asked in commands:
            done = subprocess.run(asked, cwd=folder, env=env, check=False)
            sys.stdout.write(f"{recipe}, {decision}: {asked[0]} ended with {done.returncode}\n")
        return (folder / "model").exists()


def main() -> int:
    """Run one recipe with both tables."""
    recipe, programs = sys.argv[1], Path(sys.argv[2]).resolve()
    assert shutil.which(COMMANDS[recipe][1][0][0], path=str(programs)), programs
    found = {decision: trained(recipe, programs, decision) for decision in TABLES}
    sys.stdout.write(f"{recipe}: trained {found}\n")
    return 0 if found == {"admitted": True, "held": False} else 1


if __name__ == "__main__":
    sys.exit(main())
