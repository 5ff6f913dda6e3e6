"""What the run says of the reference vectors at its end."""

from dataclasses import dataclass, field

import pytest


@dataclass
class Standing:
    """Which reference vectors were tested in this run, and why others are not."""

    tested: list[str] = field(default_factory=list)
    out_of_scope: dict[str, str] = field(default_factory=dict)


STANDING = pytest.StashKey[Standing]()


@pytest.fixture
def standing(request):
    return request.config.stash.setdefault(STANDING, Standing())


def pytest_terminal_summary(terminalreporter, config):
    said = config.stash.get(STANDING, None)
    if said is not None:
        terminalreporter.section("reference vectors")
        terminalreporter.line(f"{len(said.tested)} tested, {len(said.out_of_scope)} out of scope")
        for case, reason in said.out_of_scope.items():
            terminalreporter.line(f"{case}: {reason}")
