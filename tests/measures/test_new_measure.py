"""The example of docs/adding-a-measure.md appears everywhere.

A copy of the package gets the example as one file.
"""

import json
import re
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]

LOOK = """
import json, sys
from agreement_pipeline.measures import MEASURES
from agreement_pipeline import Policy
from tools.pages.measures_page import family_pages, list_of_measures
from agreement_pipeline.orchestration import project_definitions
from agreement_pipeline.projects.files import load_project
import agreement_pipeline
definitions = project_definitions(load_project(sys.argv[1]))
Policy.from_mapping({"policy": "p", "version": 1, "rules": [{"measure": "unanimity"}]})
print(json.dumps({
    "package": agreement_pipeline.__file__,
    "registered": "unanimity" in MEASURES,
    "page": "## unanimity" in family_pages()["unanimity"]
    and "unanimity.md#unanimity" in list_of_measures("measures"),
    "defined": len(list(definitions.assets)) > 0,
}))
"""


@pytest.fixture
def environment(tmp_path: Path) -> dict[str, str]:
    shutil.copytree(
        ROOT / "agreement_pipeline",
        tmp_path / "agreement_pipeline",
        ignore=shutil.ignore_patterns("__pycache__"),
    )
    shutil.copytree(ROOT / "tools", tmp_path / "tools")
    source = re.search(
        r"```python\n(.*?)```", (ROOT / "docs/adding-a-measure.md").read_text(), re.DOTALL
    )
    (tmp_path / "agreement_pipeline/measures/unanimity.py").write_text(source[1])
    return {"PYTHONPATH": str(tmp_path), "PATH": "", "HOME": str(tmp_path)}


def run(environment: dict[str, str], *arguments: str) -> str:
    done = subprocess.run(
        [sys.executable, *arguments],
        env=environment,
        capture_output=True,
        text=True,
        check=False,
        cwd=environment["HOME"],
    )
    assert done.returncode == 0, done.stderr
    return done.stdout


def test_a_measure_in_one_file_appears_in_policies_and_the_page(environment):
    shutil.copytree(ROOT / "configs", Path(environment["HOME"]) / "configs")
    script = Path(environment["HOME"]) / "look.py"
    script.write_text(LOOK.replace("sys.argv[1]", "__import__('pathlib').Path(sys.argv[1])"))
    found = json.loads(run(environment, str(script), "configs/projects/serology.yaml"))

    assert found["package"].startswith(environment["HOME"])
    assert found["registered"]
    assert found["page"]
    assert found["defined"]


def test_a_measure_in_one_file_appears_on_the_command_line(environment):
    table = ROOT / "configs/rounds/serology/williams-1976.csv"
    raters = [f"--raters={name}" for name in ("T", "Ref-1", "Ref-2", "Ref-3")]
    arguments = [
        "measure",
        str(table),
        "--layout",
        "wide",
        "--item",
        "specimen",
        *raters,
        "--classifier",
        "T",
        "--measure",
        "unanimity",
        "--format",
        "json",
    ]
    found = json.loads(run(environment, "-m", "agreement_pipeline", *arguments))

    # The three laboratories differ on specimens 12, 14, 16, 17, 20, 23 and 24 of the 28.
    assert found[0]["value"] == pytest.approx(21 / 28)
