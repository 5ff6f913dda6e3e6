"""The files of `deploy/`: what they name is there, and programs know the options given to them."""

import re
import shlex
import shutil
import subprocess
import sys
import zipfile
from importlib.metadata import entry_points
from pathlib import Path

import pytest
import yaml

from agreement_pipeline.projects import Project, load_project
from agreement_pipeline.version import __version__

DEPLOY = Path(__file__).parents[2] / "deploy"
CONSTRAINTS = DEPLOY.parent / "constraints.txt"
COMPOSE = yaml.safe_load((DEPLOY / "compose.yaml").read_text())["services"]
COMMANDS = {name: each["command"] for name, each in COMPOSE.items() if "command" in each}


@pytest.mark.slow
@pytest.mark.parametrize("name", sorted(COMMANDS))
def test_a_command_and_each_of_its_options_exist(name, monkeypatch, capsys):
    words = shlex.split(COMMANDS[name])
    options = [word for word in words if word.startswith("--")]
    program = words[: next(place for place, word in enumerate(words) if word.startswith("--"))]
    (called,) = entry_points(group="console_scripts", name=program[0])
    monkeypatch.setattr(sys, "argv", [*program, "--help"])
    with pytest.raises(SystemExit) as ended:
        called.load()()
    assert not ended.value.code
    said = capsys.readouterr().out
    assert [each for each in options if f"{each} " not in said and f"{each}\n" not in said] == []


def copied(stage: str) -> list[tuple[str, str]]:
    """What a stage of the image copies from the checkout, and where to."""
    lines = re.findall(r"^COPY (?!--)(.+) (\S+)$", stage, re.MULTILINE)
    return [(source, place) for sources, place in lines for source in sources.split()]


def test_the_image_copies_files_that_are_there():
    sources = [source for source, _ in copied((DEPLOY / "Dockerfile").read_text())]
    assert {"agreement_pipeline", "constraints.txt", "deploy/dagster.yaml"} <= {*sources}
    assert all((DEPLOY.parent / source).exists() for source in sources)


@pytest.mark.slow
def test_what_the_image_copies_is_enough_for_the_wheel_that_it_installs(tmp_path):
    _, build, _ = (DEPLOY / "Dockerfile").read_text().split("\nFROM ")
    for source, place in copied(build):
        path = DEPLOY.parent / source
        (shutil.copytree if path.is_dir() else shutil.copy)(path, tmp_path / place)
    (command,) = re.findall(r"^RUN pip wheel --no-cache-dir --no-deps .*$", build, re.MULTILINE)
    words = shlex.split(command.removeprefix("RUN ").replace("/wheels", "wheels"))
    without_isolation = [sys.executable, "-m", *words, "--quiet", "--no-build-isolation"]
    subprocess.run(without_isolation, cwd=tmp_path, check=True)
    (wheel,) = (tmp_path / "wheels").glob("*.whl")
    names = zipfile.ZipFile(wheel).namelist()
    assert wheel.name.startswith(f"agreement_pipeline-{__version__}-")
    assert {"agreement_pipeline/demo/configs/projects/moderation.yaml"} <= {*names}


def test_the_code_server_stands_where_the_workspace_looks_for_it():
    workspace = yaml.safe_load((DEPLOY / "workspace.yaml").read_text())
    server = workspace["load_from"][0]["grpc_server"]
    assert f"--port {server['port']}" in COMMANDS[server["host"]]
    values = yaml.safe_load((DEPLOY / "values.yaml").read_text())
    assert values["dagster-user-deployments"]["deployments"][0]["port"] == server["port"]


def test_kubernetes_and_other_deployments_watch_runs_alike():
    instance = yaml.safe_load((DEPLOY / "dagster.yaml").read_text())
    values = yaml.safe_load((DEPLOY / "values.yaml").read_text())
    daemon = values["dagsterDaemon"]

    def in_camel_case(said):
        return {re.sub(r"_(.)", lambda m: m[1].upper(), key): value for key, value in said.items()}

    for part in ("run_monitoring", "run_retries"):
        (name,) = in_camel_case({part: None})
        assert daemon[name] == in_camel_case(instance[part])
    limits = {part: in_camel_case(of) for part, of in instance["concurrency"].items()}
    assert values["concurrency"] == {"enabled": True, **limits}
    queue = daemon["runCoordinator"]["config"]["queuedRunCoordinator"]
    assert queue == in_camel_case(instance["run_coordinator"]["config"])


def test_the_chart_is_of_the_version_of_dagster_that_is_pinned():
    (pinned,) = re.findall(r"^dagster==(\S+)$", CONSTRAINTS.read_text(), re.MULTILINE)
    assert f"dagster/dagster --version {pinned} " in (DEPLOY / "values.yaml").read_text()


def test_stores_outlive_their_container_and_may_be_written_to(tmp_path):
    path = tmp_path / "configs/projects/demo.yaml"
    path.parent.mkdir(parents=True)
    scale = "{level: nominal, categories: ['no', 'yes']}"
    path.write_text(f"project: demo\ninbox: inbox\nscale: {scale}\npolicy: standard\n")
    store = Project(load_project(path)).store.root.relative_to(tmp_path)
    ((_, mounted),) = (each.split(":") for each in COMPOSE["code"]["volumes"])
    said = (DEPLOY / "Dockerfile").read_text()
    *_, works_in = re.findall(r"^WORKDIR (.+)$", said, re.MULTILINE)
    (made,) = re.findall(r"mkdir (.+)$", said, re.MULTILINE)
    assert mounted == f"{works_in}/{store.parts[0]}"
    assert store.parts[0] in made.split()


def test_nobody_has_a_password_from_this_folder_and_no_port_is_open_to_all():
    values = yaml.safe_load((DEPLOY / "values.yaml").read_text())
    assert values["postgresql"]["postgresqlPassword"] == ""
    assert COMPOSE["postgres"]["environment"]["POSTGRES_PASSWORD"] == "${POSTGRES_PASSWORD:?}"
    ports = [port for each in COMPOSE.values() for port in each.get("ports", ())]
    assert ports
    assert all(port.startswith("127.0.0.1:") for port in ports)
    assert [name for name, each in COMPOSE.items() if "env_file" in each] == ["code"]
