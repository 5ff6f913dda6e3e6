"""The built wheel in a project that `create-dagster` made: scaffold, load, run, train.

The dependencies are those of this environment. The package itself comes from the wheel alone.
"""

import importlib.util
import os
import re
import subprocess
import sys
import zipfile
from pathlib import Path

import dagster as dg
import pytest

from agreement_pipeline.version import __version__
from tests.orchestration.checks import BAD, GOOD

ROOT = Path(__file__).parents[2]
IN_PROCESS = '{"execution": {"config": {"in_process": {}}}}'
PROGRAM = """import shlex
import sys

from {module} import main

for line in sys.argv[1:]:
    sys.argv = ["dg", *shlex.split(line)]
    try:
        main()
        status = 0
    except SystemExit as end:
        status = end.code or 0
    print("ended with", int(status), flush=True)
"""
TRAINER = """import dagster as dg
import pandas as pd

from agreement_pipeline import release_of, rounds_of

TRAINING_DATA = dg.AssetIn(["toxicity", "training_data"])


@dg.asset(partitions_def=rounds_of("toxicity"), ins={"training_data": TRAINING_DATA})
def model(context: dg.AssetExecutionContext, training_data: pd.DataFrame) -> None:
    release = release_of(context)
    assert len(release.train) == len(training_data)
    context.log.info(f"trained on {len(training_data)} rows")
"""
SEVERAL = """---
type: agreement_pipeline.AnnotationProject
attributes:
  project: quality
  inbox: data/toxicity
  scale: {categories: [safe, offensive, hateful]}
  policy: exploratory
  translation: {group_name: labels, owners: ["team:nlp"]}
"""

pytestmark = [
    pytest.mark.slow,
    pytest.mark.skipif(
        not all(map(importlib.util.find_spec, ("hatchling", "create_dagster"))),
        reason="needs hatchling and create-dagster: make test installs both",
    ),
]


class Somebodys:
    """Somebody's Dagster project, with the built wheel on its path."""

    def __init__(self, root: Path) -> None:
        self.root, self.wheel = root / "host", root / "wheel"
        self.home = root / "home"
        self.home.mkdir()
        (self.home / "dagster.yaml").write_text("telemetry: {enabled: false}\n")
        _unpack_wheel(root, self.wheel)
        self("create_dagster.cli", f"project {self.root} --no-uv-sync", at=root)
        with (self.root / "pyproject.toml").open("a") as file:
            file.write("\n[tool.dg.cli.telemetry]\nenabled = false\n")

    def __call__(self, module: str, *lines: str, at: Path | None = None, last: int = 0) -> str:
        """What a program of the environment prints, for one line of words after the other.

        All are called in one process. The last must end with the status, and the others with 0.
        """
        done = subprocess.run(
            [sys.executable, "-c", PROGRAM.format(module=module), *lines],
            cwd=at or self.root,
            env={
                **os.environ,
                "PYTHONPATH": os.pathsep.join([str(self.wheel), str(self.root / "src")]),
                "DAGSTER_HOME": str(self.home),
                "DAGSTER_DISABLE_TELEMETRY": "1",
            },
            stdin=subprocess.DEVNULL,
            capture_output=True,
            text=True,
            check=False,
        )
        said = done.stdout + done.stderr
        ended = [int(each) for each in re.findall("^ended with (.*)$", said, re.MULTILINE)]
        assert ended == [0] * (len(lines) - 1) + [last], said
        return said

    def instance(self) -> dg.DagsterInstance:
        """The Dagster instance of the project."""
        return dg.DagsterInstance.from_config(str(self.home))

    def dg(self, *lines: str, last: int = 0) -> str:
        """What `dg` prints."""
        return self("dagster_dg_cli.cli", *lines, last=last)

    def logged(self, round_name: str) -> str:
        """What the last run of a round logged.

        It comes from Dagster's store. The terminal misses lines that a step writes at its end.
        """
        with self.instance() as instance:
            of = dg.RunsFilter(tags={"dagster/partition": round_name})
            (run,) = instance.get_runs(of, limit=1)
            return "\n".join(str(entry) for entry in instance.all_logs(run.run_id))

    def add_round(self, name: str) -> None:
        """Make a round a partition, as the sensor does."""
        with self.instance() as instance:
            instance.add_dynamic_partitions("toxicity_rounds", [name])


def _unpack_wheel(root: Path, folder: Path) -> None:
    words = ["-m", "hatchling", "build", "-t", "wheel", "-d", str(root / "dist")]
    subprocess.run([sys.executable, *words], cwd=ROOT, check=True, capture_output=True)
    (wheel,) = (root / "dist").glob("*.whl")
    with zipfile.ZipFile(wheel) as packed:
        packed.extractall(folder)


@pytest.fixture(scope="module")
def host(tmp_path_factory):
    made = Somebodys(tmp_path_factory.mktemp("somebody"))
    project = "agreement_pipeline.AnnotationProject toxicity --categories safe,offensive,hateful"
    made.scaffolded = made.dg(
        f"scaffold defs {project}",
        "scaffold defs agreement_pipeline.AllProjects all",
        "list components",
        "check defs",
        "utils inspect-component agreement_pipeline.AnnotationProject",
    )
    return made


def test_the_component_is_listed_and_what_is_scaffolded_loads(host):
    _, _, listed, checked, inspected, _ = host.scaffolded.split("ended with 0\n")
    assert "agreement_pipeline.AnnotationProject" in listed
    assert "All definitions loaded successfully" in checked
    first_line, *_ = (host.root / "src/host/defs/toxicity/defs.yaml").read_text().splitlines()
    assert first_line.endswith("dg utils inspect-component agreement_pipeline.AnnotationProject")
    assert "long: a row for each rating. wide: a row for each item" in inspected


def test_the_package_of_these_tests_is_the_one_in_the_wheel(host):
    (metadata,) = host.wheel.glob("agreement_pipeline-*.dist-info")
    assert metadata.name == f"agreement_pipeline-{__version__}.dist-info"
    program = "import agreement_pipeline; print(agreement_pipeline.__file__)"
    found = subprocess.run(
        [sys.executable, "-c", program],
        cwd=host.root,
        env={**os.environ, "PYTHONPATH": str(host.wheel)},
        capture_output=True,
        text=True,
        check=True,
    )
    assert found.stdout.startswith(str(host.wheel))


def test_a_trainer_in_ten_lines_is_let_through_and_held_beside_several_projects_in_one_file(host):
    assert len([line for line in TRAINER.splitlines() if line]) == 9
    (host.root / "src/host/defs/model.py").write_text(TRAINER)
    with (host.root / "src/host/defs/toxicity/defs.yaml").open("a") as file:
        file.write(SEVERAL)
    runs = []
    for name, frame in (("w1", GOOD), ("w2", BAD)):
        frame.to_csv(host.root / "data/toxicity" / f"{name}.csv", index=False)
        host.add_round(name)
        how = f"--partition {name} --config-json '{IN_PROCESS}'"
        runs += [f"launch --assets {each} {how}" for each in ("toxicity/annotations", "model")]
    listed = host.dg("list defs --json", *runs, last=1)
    for name in ("toxicity/training_data", "toxicity_history_changed", "all_projects"):
        assert f'"{name}"' in listed
    assert '"quality/training_data"' in listed
    assert "Which rounds may be trained on, and what do the others need?" in listed
    assert '"labels"' in listed
    assert "trained on 120 rows" in host.logged("w1")
    assert "trained on" not in host.logged("w2")
    assert "round w2: held, since krippendorff_alpha" in host.logged("w2")
