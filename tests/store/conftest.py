import subprocess
import sys
from pathlib import Path
from uuid import uuid4

import fsspec
import pytest


@pytest.fixture(scope="session")
def s3_server():
    """The address of a server that speaks S3; it ends with the tests."""
    with subprocess.Popen(
        [sys.executable, Path(__file__).with_name("server.py")],
        stdout=subprocess.PIPE,
        stderr=subprocess.DEVNULL,
        text=True,
    ) as process:
        yield f"http://127.0.0.1:{process.stdout.readline().strip()}"
        process.kill()


@pytest.fixture
def bucket(s3_server, monkeypatch):
    """The URL of an empty folder in a bucket. The environment has credentials and endpoint."""
    settings = {
        "AWS_ACCESS_KEY_ID": "test",
        "AWS_SECRET_ACCESS_KEY": "test",
        "AWS_DEFAULT_REGION": "us-east-1",
        "AWS_ENDPOINT_URL": s3_server,
    }
    for name, value in settings.items():
        monkeypatch.setenv(name, value)
    name = f"bucket-{uuid4().hex}"
    fsspec.filesystem("s3", skip_instance_cache=True).mkdir(name)
    return f"s3://{name}/store"
