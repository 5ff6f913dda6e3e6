"""The line of a project whose inbox is in a bucket: sensor, run and decision."""

import fsspec
import pytest

from agreement_pipeline.errors import ProjectError
from agreement_pipeline.orchestration import project_definitions
from agreement_pipeline.projects import ProjectSettings
from agreement_pipeline.store import Bucket
from tests.orchestration.checks import GOOD
from tests.orchestration.test_sensors import Days

pytestmark = pytest.mark.slow

FAULT, WHY = "agreement_pipeline/fault", "agreement_pipeline/why"


@pytest.fixture
def bucket_line(line, bucket):
    """A project without a folder: its inbox is in a bucket, and its store beside it."""
    said = {"inbox": f"{bucket}/inbox", "store": f"{bucket}/kept", "settle_seconds": 0}
    line.settings = ProjectSettings(**{**line.settings.model_dump(), **said})
    (line.root / "inbox").rmdir()
    return line


def put(line, name: str, data: bytes) -> None:
    files = fsspec.filesystem("s3", skip_instance_cache=True)
    files.pipe_file(f"{line.settings.inbox}/{name}", data)


def tags(line) -> dict[str, str]:
    """The tags of the last run."""
    return line.instance.get_runs(limit=1)[0].tags


def test_an_object_is_run_once_and_then_only_listed(bucket_line, monkeypatch, requests):
    days = Days(bucket_line, monkeypatch)
    assert days.runs(15) == 0
    put(bucket_line, "w1.csv", GOOD.to_csv(index=False).encode())
    days.now += 15
    assert days.runs(15) == 1
    assert bucket_line.run("w1", "training_data").success
    assert [days.runs(15), days.runs(15)] == [0, 0]
    requests.clear()
    assert days.runs(15) == 0
    assert [(method, "list-type=2" in url) for method, url in requests] == [("GET", True)] * 2
    events = [each["event"] for each in bucket_line.project.store.history()]
    assert events == ["ingested", "decided", "released"]


def test_an_object_that_was_just_written_waits(bucket_line, monkeypatch):
    days = Days(bucket_line, monkeypatch)
    said = {**bucket_line.settings.model_dump(), "settle_seconds": 60}
    bucket_line.settings = ProjectSettings(**said)
    days.loaded = bucket_line.definitions
    put(bucket_line, "w1.csv", GOOD.to_csv(index=False).encode())
    put(bucket_line, "w2.csv.part", b"item")
    assert [days.runs(30), days.runs(60), days.runs(15)] == [0, 1, 0]


def test_a_broken_object_is_run_once_and_a_network_that_fails_soon_again(bucket_line, monkeypatch):
    days = Days(bucket_line, monkeypatch)
    put(bucket_line, "w1.csv", b"item,rater\ni1,ana\n")
    assert [days.runs(30) for _ in range(4)] == [1, 0, 0, 0]
    assert tags(bucket_line)[FAULT] == "lasts"
    assert tags(bucket_line)[WHY].startswith(f"{bucket_line.settings.inbox}/w1.csv: found no col")

    def fails(*_):
        raise OSError(5, "Connection reset")

    put(bucket_line, "w1.csv", GOOD.to_csv(index=False).encode())
    with monkeypatch.context() as broken:
        broken.setattr(Bucket, "fetch", fails)
        assert days.runs(30) == 1
        assert tags(bucket_line)[FAULT] == "may pass"
    assert [days.runs(30) for _ in range(3)] == [1, 0, 0]


def test_a_bucket_that_is_not_there_does_not_load(bucket_line):
    said = {**bucket_line.settings.model_dump(), "inbox": "s3://no-such-bucket-at-all/inbox"}
    with pytest.raises(ProjectError, match="no-such-bucket-at-all/inbox: found no such bucket"):
        project_definitions(ProjectSettings(**said))
