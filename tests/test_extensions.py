"""Another package adds a measure and a reader, and says so by entry points alone."""

import json
import os
import shutil
import subprocess
import sys
import tomllib
from pathlib import Path

import pytest

EXAMPLE = Path(__file__).with_name("extension")
BALLOTS = ["ballot_no,voter,vote,remark"] + [
    f"{number},{voter},{'no' if number == 1 and voter == 'c' else 'yes'},"
    for number in range(1, 5)
    for voter in "abc"
]


@pytest.fixture
def site(tmp_path):
    """A folder with the package as it is once installed."""
    site = tmp_path / "site"
    site.mkdir()
    shutil.copy(EXAMPLE / "agreement_example.py", site)
    project = tomllib.loads((EXAMPLE / "pyproject.toml").read_text())["project"]
    about = site / f"agreement_example-{project['version']}.dist-info"
    about.mkdir()
    (about / "METADATA").write_text(
        f"Metadata-Version: 2.1\nName: {project['name']}\nVersion: {project['version']}\n"
    )
    groups = [
        f"[{group}]\n" + "".join(f"{name} = {value}\n" for name, value in points.items())
        for group, points in project["entry-points"].items()
    ]
    (about / "entry_points.txt").write_text("\n".join(groups))
    (tmp_path / "ballots.csv").write_text("\n".join(BALLOTS))
    return site


def run(site, *words):
    """A command in a fresh process, which finds the package in the folder."""
    return subprocess.run(
        [sys.executable, "-m", "agreement_pipeline", *words],
        capture_output=True,
        text=True,
        check=False,
        cwd=site.parent,
        env={**os.environ, "PYTHONPATH": os.pathsep.join([str(site), *sys.path])},
    )


def test_a_measure_and_a_reader_of_another_package_are_used_by_their_entry_points(site):
    done = run(site, "measure", "ballots.csv", "--measure", "unanimity", "--format", "json")
    assert done.returncode == 0, done.stderr
    # Of four ballots, the voters differ on the first.
    assert json.loads(done.stdout)[0]["value"] == pytest.approx(3 / 4)


def test_without_its_entry_points_the_package_adds_nothing(site):
    (site / "agreement_example-1.0.dist-info/entry_points.txt").unlink()
    done = run(site, "measure", "ballots.csv", "--measure", "unanimity")
    assert done.returncode == 2
    assert "ballots.csv: found no columns ['item', 'rater', 'label']" in done.stderr


@pytest.mark.parametrize(
    ("code", "words"),
    [
        ("import nothing_that_is_there", "found ModuleNotFoundError"),
        ("from agreement_pipeline.readers import tool\ntool('mturk', '', print)(print)", "mturk"),
    ],
)
def test_a_package_that_cannot_be_loaded_stops_the_command_and_is_named(site, code, words):
    (site / "agreement_example.py").write_text(code)
    done = run(site, "measure", "ballots.csv")
    assert done.returncode != 0
    assert "entry point example = agreement_example of agreement-example" in done.stderr
    assert words in done.stderr
    assert "Correct the package, or remove it." in done.stderr
