"""Every example of the guide runs and prints what its page shows, and so does the tutorial."""

import os
import re
import shlex
import shutil
import subprocess
import sys
from datetime import date
from glob import glob
from pathlib import Path

import pytest
import yaml

from agreement_pipeline import AnnotationProject
from agreement_pipeline.cli import main
from agreement_pipeline.contract import Contract
from agreement_pipeline.demo.rounds import write_moderation_rounds
from agreement_pipeline.evidence.raters import READINGS
from agreement_pipeline.models import load_identity
from agreement_pipeline.policy import Waivers, judge, load_policy, load_waiver
from agreement_pipeline.projects import Project, load_project
from agreement_pipeline.readers import read
from agreement_pipeline.release import release_round

pytestmark = pytest.mark.slow

ROOT = Path(__file__).parents[1]
TUTORIAL = ROOT / "docs" / "guide" / "tutorial.md"
PAGES = sorted({*(ROOT / "docs" / "guide").glob("*.md")} - {TUTORIAL})
README, LONG = ROOT / "README.md", "item,rater"
LOADERS = {
    "policies": load_policy,
    "projects": load_project,
    "waivers": load_waiver,
    "classifiers": load_identity,
    "contracts": Contract.load,
}


def blocks(page, language):
    """The code blocks of a page in a language, without the indent of a list."""
    found = re.findall(
        rf"^( *)```{language}\n(.*?)^ *```$", page.read_text(), re.DOTALL | re.MULTILINE
    )
    return [re.sub(rf"^{indent}", "", text, flags=re.MULTILINE) for indent, text in found]


def commands(page):
    """Each command after a `$`, and the lines printed below it."""
    return [
        (command, printed)
        for block in blocks(page, "console")
        for command, printed in re.findall(r"^\$ (.*)\n((?:(?!\$ ).*\n)*)", block, re.MULTILINE)
    ]


def files(page):
    """Each configuration file of a page: its place, whether it is only added to, and its text."""
    return [
        (re.search(r"\S+\.yaml", text.splitlines()[0])[0], text.startswith("# added to"), text)
        for text in blocks(page, "yaml")
    ]


def scripts(page):
    """The scripts of a page."""
    return blocks(page, "python")


OF_COMMANDS = [(page, *command) for page in PAGES for command in commands(page)]
OF_FILES = [(page, *file) for page in PAGES for file in files(page)]
OF_SCRIPTS = [(page, text) for page in PAGES for text in scripts(page)]


def stems(examples):
    return [page.stem for page, *_ in examples]


@pytest.fixture(scope="module")
def root(tmp_path_factory):
    """A folder as `make run` leaves it, with one round in the store."""
    folder = tmp_path_factory.mktemp("root")
    shutil.copytree(ROOT / "configs", folder / "configs")
    (folder / "agreement_pipeline").symlink_to(ROOT / "agreement_pipeline")
    project = Project(load_project(folder / "configs/projects/moderation.yaml"))
    write_moderation_rounds(project.inbox, 1)
    _release(project, "2026-W01")
    return folder


def _release(project, name):
    settings = project.settings
    ratings = read(
        project.inbox / f"{name}.csv",
        settings.columns,
        scale=settings.scale,
        classifiers=settings.classifiers,
    )
    project.store.ingest(name, ratings, project.inbox / f"{name}.csv")
    release_round(project.store, name, project.policy, project.contract, project=project.name)


PROGRAMS = f"""agreement-pipeline() {{ '{sys.executable}' -m agreement_pipeline "$@"; }}
python() {{ '{sys.executable}' "$@"; }}
"""


def run(*arguments):
    return subprocess.run(
        arguments,
        env={**os.environ, "PYTHONPATH": str(ROOT)},
        capture_output=True,
        text=True,
        check=False,
    )


@pytest.fixture
def entered(capfd):
    """What a command prints that is entered where one stands, with its errors and its status.

    Those that need a shell get one, and the others run in this process.
    """

    def enter(command):
        words = shlex.split(command, comments=True)
        if words[0] != "agreement-pipeline" or set(words) & {"|", ">", "2>"}:
            found = run("bash", "-c", PROGRAMS + command)
            return found.stdout, found.stderr, found.returncode
        status = main([there for word in words[1:] for there in sorted(glob(word)) or [word]])
        return (*capfd.readouterr(), status)

    return enter


@pytest.fixture
def in_root(root, monkeypatch):
    monkeypatch.chdir(root)


def test_every_page_has_an_example_that_runs():
    assert {*stems(OF_COMMANDS), *stems(OF_FILES), *stems(OF_SCRIPTS)} == {
        page.stem for page in PAGES
    }


@pytest.mark.usefixtures("in_root")
@pytest.mark.parametrize(("page", "command", "printed"), OF_COMMANDS, ids=stems(OF_COMMANDS))
def test_a_command_prints_what_the_page_shows(entered, page, command, printed):
    (found, errors, status), shown = entered(command), page.read_text()

    assert [line for line in errors.splitlines() if f"\n> {line}\n" not in shown] == []
    assert status in (0, 1)
    assert found == printed or not printed


@pytest.mark.parametrize(("page", "place", "added", "text"), OF_FILES, ids=stems(OF_FILES))
def test_a_file_is_one_that_loads(root, page, place, added, text):
    folder, kind, *_ = place.split("/")
    if folder == "defs":
        AnnotationProject.resolve_from_yaml(yaml.safe_dump(yaml.safe_load(text)["attributes"]))
        return
    path = root / place
    path.parent.mkdir(parents=True, exist_ok=True)
    before = path.read_text() if added else ""
    path.write_text(before + text)
    LOADERS[kind](path)
    if added:
        path.write_text(before)  # so that what other pages say of this file stays true


@pytest.mark.usefixtures("in_root")
@pytest.mark.parametrize(("page", "text"), OF_SCRIPTS, ids=stems(OF_SCRIPTS))
def test_a_script_runs(page, text):
    found = run(sys.executable, "-W", "error::SyntaxWarning", "-c", text)

    assert found.returncode == 0, found.stderr


@pytest.mark.usefixtures("in_root")
def test_every_command_of_the_readme_runs(root, entered):
    """On tables with these columns, and on a round and a release that there are."""
    rows = [f"{n},{rater},{'xyz'[n % 3]}" for n in range(60) for rater in ("ana", "ben")]
    for name, columns in (("labels", "post_id,annotator"), ("before", LONG), ("after", LONG)):
        (root / f"{name}.csv").write_text("\n".join([f"{columns},label", *rows, ""]))
    (release,) = (root / ".agreement/store/moderation").glob("releases/**/manifest.json")
    for name in ("toxicity", "posts_by_model"):  # those of the guide
        for path in (root / "configs").glob(f"*/{name}.yaml"):
            path.unlink()
    told = [line for text in blocks(README, "console") for line in text.splitlines()]
    asked = [line for line in told if line.startswith("agreement-pipeline ")]
    assert len(asked) >= 6
    for line in asked:
        there = line.replace("RELEASE", str(release.parent)).replace("2026-W06", "2026-W01")
        _, errors, status = entered(there)
        assert status == (1 if "2026-W03" in line else 0), f"{line}: {errors}"
    settings = load_project(root / "configs/projects/toxicity.yaml")
    assert Project(settings).delivered(Path(settings.inbox).stem)[1].raters == ("ana", "ben")


def test_command_of_the_readme_prints_what_stands_below_it(root, entered, monkeypatch):
    monkeypatch.chdir(root)
    found = re.findall(
        r"^```console\n(agreement-pipeline [^\n]*)\n```\n\n```text\n(.*?)^```$",
        README.read_text(),
        re.DOTALL | re.MULTILINE,
    )
    assert len(found) == len(blocks(README, "text")) >= 1
    for command, printed in found:
        assert entered(command)[0] == printed


def test_the_tutorial_runs_in_an_empty_folder(tmp_path, monkeypatch, entered):
    monkeypatch.chdir(tmp_path)
    (script,) = scripts(TUTORIAL)
    (tmp_path / re.search(r"# (\S+)", script)[1]).write_text(script)
    statuses = []
    for command, printed in commands(TUTORIAL):
        found, errors, status = entered(command)
        expected = ".*".join(map(re.escape, printed.split("…")))
        assert re.fullmatch(expected, found), found + errors
        assert errors == ""
        statuses.append(status)
    assert statuses == [0, 0, 0, 0, 0, 0, 0, 1, 11, 1]
    assert "found a release withdrawn on" in entered("python train.py")[1]


def test_the_waiver_holds_for_the_round_of_its_page(root):
    """On its last day it turns the verdict that holds the round."""
    project = Project(load_project(root / "configs/projects/serology.yaml"))
    (_, _, text), (_, _, remedy) = files(ROOT / "docs/guide/waivers.md")
    path = root / "williams-1976.yaml"
    path.write_text(text)
    _, ratings = project.delivered("williams-1976")

    waiver = load_waiver(path)
    judged = judge(ratings, project.policy, waivers=Waivers((waiver,), date(2027, 1, 31)))
    assert judged.waived == (waiver,)
    path.write_text(remedy)
    assert load_waiver(path).sample.round == "2026-W01-sample-1a2b3c4d"


def test_the_readings_in_the_guide_are_those_of_the_code():
    page = (ROOT / "docs/guide/replicates.md").read_text()
    shown = re.findall(r"^\| (rater|category) \w+ \|.*\| (.+) \|$", page, re.MULTILINE)

    assert len(shown) == 5
    assert [
        reading
        for kind, reading in shown
        if reading not in READINGS[kind].values()
        and reading
        != "cannot tell: their agreement with themselves may lie on either side of 0.667"
    ] == []
