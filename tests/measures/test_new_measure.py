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
import contextlib, io, json, pathlib, sys
from agreement_pipeline.cli import main
from agreement_pipeline.measures import MEASURES
from agreement_pipeline import Policy
from tools.pages.measures_page import family_pages, list_of_measures
from agreement_pipeline.orchestration import project_definitions
from agreement_pipeline.projects import load_project
import agreement_pipeline
definitions = project_definitions(load_project(pathlib.Path(sys.argv[1])))
rules = [{"measure": "unanimity"}, {"measure": "krippendorff_alpha"}]
Policy.from_mapping({"policy": "p", "version": 1, "rules": rules})
raters = [f"--raters={name}" for name in ("T", "Ref-1", "Ref-2", "Ref-3")]
wide = ["--layout", "wide", "--item", "specimen", *raters, "--classifier", "T"]
with contextlib.redirect_stdout(io.StringIO()) as printed:
    main(["measure", sys.argv[2], *wide, "--measure", "unanimity", "--format", "json"])
print(json.dumps({
    "package": agreement_pipeline.__file__,
    "registered": "unanimity" in MEASURES,
    "page": "## unanimity" in family_pages()["unanimity"]
    and "unanimity.md#unanimity" in list_of_measures("measures"),
    "defined": len(list(definitions.assets)) > 0,
    "measured": json.loads(printed.getvalue()),
}))
"""
FOLLOWED = """
import sys
import pytest
from tools.pages import degenerate_page, measures_page
measures_page.main(["docs/measures.md"])
degenerate_page.main(["docs/proofs/degenerate-inputs.md"])
named = "unanimity or can_be_named or every_registered or test_docs or the_page_is_what"
loaded = "ignore::pytest.PytestAssertRewriteWarning"
options = ["-q", "-p", "no:cacheprovider", "-W", loaded, "-k", named]
sys.exit(pytest.main([*options, *sys.argv[1:]]))
"""


PAGE = (ROOT / "docs/adding-a-measure.md").read_text()
TESTED = (
    "agreement_pipeline/measures",
    "tests/test_docs.py",
    "tests/tools/test_degenerate_inputs.py",
    "tests/measures/test_registry.py",
    "tests/measures/test_every_measure.py",
    "tests/measures/test_every_measure_is_reachable.py",
    "tests/reference/test_reference_values.py",
    "tests/properties/test_measures.py",
    "tests/policy/test_passed_by_guessing.py",
)


def example(language: str) -> str:
    """The example of the page in a language, without the indent of a list."""
    found = re.search(rf"^( *)```{language}\n(.*?)^ *```$", PAGE, re.DOTALL | re.MULTILINE)
    return re.sub(rf"^{found[1]}", "", found[2], flags=re.MULTILINE)


@pytest.fixture(scope="module")
def home(tmp_path_factory) -> Path:
    """A copy of the project, with what is compiled, that somebody changed as the page says."""
    home = tmp_path_factory.mktemp("home")
    for name in ("agreement_pipeline", "tools", "docs", "tests", "configs", "deploy"):
        shutil.copytree(ROOT / name, home / name, ignore=shutil.ignore_patterns(".*"))
    for path in ROOT.glob("*.*"):
        if path.is_file():
            shutil.copy(path, home)
    (home / "agreement_pipeline/measures/unanimity.py").write_text(example("python"))
    (home / "tests/reference/unanimity.toml").write_text(example("toml"))
    return home


def run(home: Path, *arguments: str) -> str:
    done = subprocess.run(
        [sys.executable, *arguments],
        env={"PYTHONPATH": str(home), "PATH": "", "HOME": str(home)},
        capture_output=True,
        text=True,
        check=False,
        cwd=home,
    )
    assert done.returncode == 0, done.stdout + done.stderr
    return done.stdout


def test_a_measure_in_one_file_appears_in_policies_the_page_and_on_the_command_line(home):
    table = ROOT / "configs/rounds/serology/williams-1976.csv"
    found = json.loads(run(home, "-c", LOOK, "configs/projects/serology.yaml", str(table)))

    assert found["package"].startswith(str(home))
    assert found["registered"]
    assert found["page"]
    assert found["defined"]
    # The three laboratories differ on specimens 12, 14, 16, 17, 20, 23 and 24 of the 28.
    assert found["measured"][0]["value"] == pytest.approx(21 / 28)


@pytest.mark.slow
def test_whoever_follows_the_page_has_a_green_suite(home):
    """The tests of measures, docs and properties, on a copy of the project with the new measure."""
    run(home, "-c", FOLLOWED, *TESTED)
