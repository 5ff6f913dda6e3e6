"""The tutorial runs to its end in an empty folder, word for word."""

import re
import sys
from pathlib import Path

import pytest

from tests.test_guide import ROOT, TUTORIAL, blocks, commands, run

pytestmark = pytest.mark.slow


def test_the_tutorial_runs_in_an_empty_folder(tmp_path: Path) -> None:
    program = (
        f"agreement-pipeline() {{ '{sys.executable}' -m agreement_pipeline \"$@\"; }}\n"
        f"python() {{ '{sys.executable}' \"$@\"; }}\n"
    )
    (script,) = blocks(TUTORIAL, "python")
    (tmp_path / re.search(r"# (\S+)", script)[1]).write_text(script)
    statuses = []
    for command, printed in commands(TUTORIAL):
        found = run(tmp_path, "bash", "-c", program + command, path=ROOT)
        expected = ".*".join(map(re.escape, printed.split("…")))
        assert re.fullmatch(expected, found.stdout), found.stdout + found.stderr
        assert found.stderr == ""
        statuses.append(found.returncode)
    assert statuses == [0, 0, 0, 0, 0, 0, 0, 0, 11, 1]
    assert (
        "found a release withdrawn on"
        in run(tmp_path, sys.executable, "train.py", path=ROOT).stderr
    )
