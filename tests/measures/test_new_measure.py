"""The example of docs/adding-a-measure.md appears everywhere, and its steps give a green suite.

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
from agreement_pipeline.projects import load_project
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


PAGE = (ROOT / "docs/adding-a-measure.md").read_text()
TESTED = (
    "agreement_pipeline/measures",
    "tests/test_docs.py",
    "tests/measures/test_registry.py",
    "tests/measures/test_every_measure.py",
    "tests/measures/test_every_measure_is_reachable.py",
    "tests/reference/test_reference_values.py",
    "tests/properties/test_measures.py",
)


def example(language: str) -> str:
    """The example of the page in a language, without the indent of a list."""
    found = re.search(rf"^( *)```{language}\n(.*?)^ *```$", PAGE, re.DOTALL | re.MULTILINE)
    return re.sub(rf"^{found[1]}", "", found[2], flags=re.MULTILINE)


def copied(folder: Path, *names: str) -> None:
    for name in names:
        whole = shutil.ignore_patterns("__pycache__", ".*")
        shutil.copytree(ROOT / name, folder / name, ignore=whole)


@pytest.fixture
def environment(tmp_path: Path) -> dict[str, str]:
    copied(tmp_path, "agreement_pipeline", "tools")
    (tmp_path / "agreement_pipeline/measures/unanimity.py").write_text(example("python"))
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
    assert done.returncode == 0, done.stdout + done.stderr
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


@pytest.mark.slow
def test_whoever_follows_the_page_has_a_green_suite(environment):
    """The tests of measures, docs and properties, on a copy of the project with the new measure."""
    home = Path(environment["HOME"])
    copied(home, "docs", "tests", "configs", "deploy")
    for path in ROOT.glob("*.*"):
        if path.is_file():
            shutil.copy(path, home)
    (home / "tests/reference/unanimity.toml").write_text(example("toml"))
    for page in (
        "measures_page docs/measures.md",
        "degenerate_page docs/proofs/degenerate-inputs.md",
    ):
        run(environment, "-m", *f"tools.pages.{page}".split())
    named = "unanimity or test_docs or every_registered_measure"
    run(environment, "-m", "pytest", "-q", "-p", "no:cacheprovider", "-k", named, *TESTED)
