import subprocess
import sys

import pytest

from agreement_pipeline.cli import main
from tests.cli.rounds import SEROLOGY, WIDE


@pytest.mark.parametrize(
    "command",
    [["measure", "x" * 5000 + ".csv"], ["verify", "x" * 5000], ["history", "--store", "x" * 5000]],
    ids=lambda said: said[0],
)
def test_a_path_that_the_system_refuses_is_an_error_in_one_line(capsys, command):
    assert main(command) == 2
    (line,) = capsys.readouterr().err.splitlines()
    assert line.startswith("error: found [Errno 36] File name too long")
    assert line.endswith(
        "; expected files that can be read and written. Check the path, its permissions and the disk."
    )


def test_a_reader_who_goes_away_is_told_nothing_more():
    command = [
        sys.executable,
        "-m",
        "agreement_pipeline",
        "measure",
        str(SEROLOGY),
        *WIDE,
        "--n-resamples",
        "1000",
    ]
    with subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE) as process:
        process.stdout.close()
        assert process.stderr.read() == b""
        assert process.wait() == 2


@pytest.mark.parametrize(
    "command",
    [["verify", "foo://bucket"], ["history", "--store", "foo://bucket"]],
    ids=lambda said: said[0],
)
def test_a_url_that_nothing_here_reads_is_refused(capsys, command):
    assert main(command) == 2
    assert (
        "foo://bucket: Unsupported filesystem: 'foo'; a folder, or a URL such as s3://bucket/folder, is required"
        in capsys.readouterr().err
    )
