"""The built wheel in a project that `create-dagster` made: scaffold, load, run, train.

The dependencies are those of this environment. The package itself comes from the wheel alone.
"""

import importlib.util
import os
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
TRAINER = """import dagster as dg

from agreement_pipeline import release_of, rounds_of


@dg.asset(partitions_def=rounds_of("toxicity"), deps=[["toxicity", "training_data"]])
def model(context: dg.AssetExecutionContext) -> None:
    release = release_of(context)
    context.log.info(f"trained on {len(release.train)} rows")
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
        self("create_dagster.cli", "project", str(self.root), "--no-uv-sync", at=root)
        with (self.root / "pyproject.toml").open("a") as file:
            file.write("\n[tool.dg.cli.telemetry]\nenabled = false\n")

    def __call__(self, module: str, *words: str, at: Path | None = None, status: int = 0) -> str:
        """What a program of the environment prints; it must end with the status."""
        program = f"import sys; from {module} import main; sys.argv[0] = 'dg'; sys.exit(main())"
        done = subprocess.run(
            [sys.executable, "-c", program, *words],
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
        assert done.returncode == status, said
        return said

    def instance(self) -> dg.DagsterInstance:
        """The Dagster instance of the project."""
        return dg.DagsterInstance.from_config(str(self.home))

    def dg(self, *words: str, status: int = 0) -> str:
        """What `dg` prints."""
        return self("dagster_dg_cli.cli", *words, status=status)

    def launch(self, asset: str, round_name: str, status: int) -> str:
        """What a run of an asset for a round logs, once the round is a partition.

        It comes from Dagster's store. The terminal misses lines that a step writes at its end.
        """
        how = ("--partition", round_name, "--config-json", IN_PROCESS)
        self.dg("launch", "--assets", asset, *how, status=status)
        with self.instance() as instance:
            (run,) = instance.get_runs(limit=1)
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
    words = ("--categories", "safe,offensive,hateful")
    made.dg("scaffold", "defs", "agreement_pipeline.AnnotationProject", "toxicity", *words)
    made.dg("scaffold", "defs", "agreement_pipeline.AllProjects", "all")
    return made


def test_the_component_is_listed_and_what_is_scaffolded_loads(host):
    assert "agreement_pipeline.AnnotationProject" in host.dg("list", "components")
    assert "All definitions loaded successfully" in host.dg("check", "defs")


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


def test_a_trainer_in_ten_lines_is_let_through_and_held(host):
    assert len(TRAINER.splitlines()) == 9
    (host.root / "src/host/defs/model.py").write_text(TRAINER)
    for name, frame, status in (("w1", GOOD, 0), ("w2", BAD, 1)):
        frame.to_csv(host.root / "data/toxicity" / f"{name}.csv", index=False)
        host.add_round(name)
        host.launch("toxicity/annotations", name, 0)
        said = host.launch("model", name, status)
        assert ("trained on 120 rows" in said) == (status == 0)
        assert ("round w2: held, since krippendorff_alpha" in said) == (status == 1)


def test_what_is_scaffolded_is_listed_and_several_projects_stand_in_one_file(host):
    with (host.root / "src/host/defs/toxicity/defs.yaml").open("a") as file:
        file.write(SEVERAL)
    listed = host.dg("list", "defs", "--json")
    assert '"toxicity/training_data"' in listed
    assert '"toxicity_history_changed"' in listed
    assert '"all_projects"' in listed
    assert '"quality/training_data"' in listed
    assert '"labels"' in listed
