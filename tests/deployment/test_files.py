"""The files of `deploy/`: what they name is there, and programs know the options given to them."""

import re
import shlex
import subprocess
import sys
from pathlib import Path

import pytest
import yaml

DEPLOY = Path(__file__).parents[2] / "deploy"
PROGRAMS = Path(sys.executable).parent
COMPOSE = yaml.safe_load((DEPLOY / "compose.yaml").read_text())["services"]
COMMANDS = {name: each["command"] for name, each in COMPOSE.items() if "command" in each}


@pytest.mark.slow
@pytest.mark.parametrize("name", sorted(COMMANDS))
def test_a_command_and_each_of_its_options_exist(name):
    words = shlex.split(COMMANDS[name])
    options = [word for word in words if word.startswith("--")]
    program = words[: next(place for place, word in enumerate(words) if word.startswith("--"))]
    asked = [str(PROGRAMS / program[0]), *program[1:], "--help"]
    said = subprocess.run(asked, capture_output=True, text=True, check=True).stdout
    assert [each for each in options if f"{each} " not in said and f"{each}\n" not in said] == []


def test_the_image_copies_files_that_are_there():
    lines = re.findall(r"^COPY (.+) \S+$", (DEPLOY / "Dockerfile").read_text(), re.MULTILINE)
    sources = [source for line in lines for source in line.split()]
    assert len(sources) >= 4
    assert all((DEPLOY.parent / source).exists() for source in sources)


def test_the_code_server_stands_where_the_workspace_looks_for_it():
    workspace = yaml.safe_load((DEPLOY / "workspace.yaml").read_text())
    server = workspace["load_from"][0]["grpc_server"]
    assert f"--port {server['port']}" in COMMANDS[server["host"]]
    values = yaml.safe_load((DEPLOY / "values.yaml").read_text())
    assert values["dagster-user-deployments"]["deployments"][0]["port"] == server["port"]


def test_kubernetes_and_other_deployments_watch_runs_alike():
    instance = yaml.safe_load((DEPLOY / "dagster.yaml").read_text())
    daemon = yaml.safe_load((DEPLOY / "values.yaml").read_text())["dagsterDaemon"]

    def in_camel_case(said):
        return {re.sub(r"_(.)", lambda m: m[1].upper(), key): value for key, value in said.items()}

    for part in ("run_monitoring", "run_retries"):
        (name,) = in_camel_case({part: None})
        assert daemon[name] == in_camel_case(instance[part])
