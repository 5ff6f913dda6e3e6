"""What tests share: a store, data sets beside the repository, small tables, a bucket, Spark."""

import gc
import os
import re
import shutil
import subprocess
import sys
from functools import cache
from hashlib import sha256
from itertools import count
from pathlib import Path
from uuid import uuid4

import fsspec
import pandas as pd
import pytest
from _pytest.doctest import DoctestModule
from hypothesis import settings

from agreement_pipeline.ratings import Ratings, Scale
from agreement_pipeline.store import Store
from agreement_pipeline.store import store as store_module

SHARED = Path(__file__).resolve().parents[2] / "shared" / "data"

settings.register_profile(
    "the same examples in every run, however long", derandomize=True, database=None, deadline=None
)
settings.load_profile("the same examples in every run, however long")


ASKS_FOR_SPARK = re.compile(r"def \w+\([^)]*\b(spark|in_parts)\b|getfixturevalue\(.spark.\)")


@pytest.hookimpl(wrapper=True)
def pytest_make_collect_report(collector):
    """Each worker begins in another folder, so that a file is compiled by one of them only."""
    report = yield
    worker = getattr(collector.config, "workerinput", None)
    if worker and collector.path == Path(__file__).parent:
        begin = len(report.result) * int(worker["workerid"][2:]) // worker["workercount"]
        report.result = [*report.result[begin:], *report.result[:begin]]
    return report


def pytest_collection_modifyitems(items):
    """Files with a slow test come first, so no worker begins one when the others are done.

    Examples in docstrings come last. All workers have one order.
    """
    slow = {item.path for item in items if item.get_closest_marker("slow")}
    items.sort(
        key=lambda item: (
            not asks_for_spark(item.path),
            item.path not in slow,
            isinstance(item, pytest.DoctestItem),
            item.path,
        )
    )


def pytest_xdist_make_scheduler(config, log):
    """The tests of one file go to one worker, and all files with Spark, which starts slowly."""
    from xdist.scheduler import LoadFileScheduling

    class LoadFilesOfSpark(LoadFileScheduling):
        def _split_scope(self, nodeid):
            file = super()._split_scope(nodeid)
            return "spark" if asks_for_spark(config.rootpath / file) else file

    return LoadFilesOfSpark(config, log)


@cache
def asks_for_spark(path):
    return path.suffix == ".py" and bool(ASKS_FOR_SPARK.search(path.read_text(encoding="utf-8")))


@pytest.hookimpl(wrapper=True)
def pytest_collect_file():
    """Tests have no examples in docstrings, so nobody looks for them."""
    found = yield
    return [each for each in found if not isinstance(each, DoctestModule)]


@pytest.hookimpl(wrapper=True)
def pytest_collection():
    """Collecting makes no garbage, and looking for it would take a sixth of the time.

    What was collected stays until the end, so nobody need look at it again. Tests make much that is
    soon forgotten. To look for garbage less often saves another thirtieth.
    """
    gc.disable()
    collected = yield
    gc.freeze()
    gc.set_threshold(50_000, 50, 100)
    gc.enable()
    return collected


def pytest_sessionfinish():
    """DuckDB complains at its end of what stays frozen."""
    gc.unfreeze()


@pytest.fixture(scope="session", autouse=True)
def nothing_waits_for_the_disk():
    """Tests end processes, and no machine: what was written is there without a flush.

    The programs that tests start flush as always.
    """
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(os, "fsync", os.fstat)  # a file that is not open is still an error
        yield


@pytest.fixture
def store(tmp_path):
    """An empty store, whose raters have the same pseudonyms in every run."""
    return Store(tmp_path / "store", salt=b"a salt for tests")


@pytest.fixture
def original(tmp_path):
    """A file as it was delivered, for rounds whose ratings a test makes itself."""
    path = tmp_path / "export.csv"
    path.write_bytes(b"as delivered")
    return path


@pytest.fixture(scope="session")
def shared_data():
    """The folder of shared data sets."""
    if not SHARED.is_dir():
        pytest.skip("no folder ../shared/data beside the repository")
    return SHARED


@pytest.fixture(scope="session")
def tabled():
    """Ratings from text: a header of rater names, then one item a line.

    `.` is a missing rating. `a/b` are two ratings of one item by one rater, labels a and b.
    """

    def read(text, categories=None, level="nominal", classifiers=()):
        raters, *items = (line.split() for line in text.strip().splitlines())
        rows = [
            (f"{number:04}", rater, label, occurrence)
            for number, labels in enumerate(items)
            for rater, said in zip(raters, labels, strict=True)
            for occurrence, label in enumerate(said.split("/"), 1)
            if said != "."
        ]
        frame = pd.DataFrame(rows, columns=["item", "rater", "label", "occurrence"])
        scale = (
            Scale(tuple(categories), level)
            if categories
            else Scale.from_labels(frame["label"], level)
        )
        return Ratings.from_frame(frame, scale, classifiers=classifiers)

    return read


@pytest.fixture(scope="session")
def serology(tabled):
    """Syphilis serology of Williams (1976), printed by Shah (2011, table 1).

    Laboratory T and three reference laboratories rated 28 specimens.
    """
    text = (Path(__file__).parent / "reference" / "serology.txt").read_text()
    return tabled(text, ("NR", "BL", "RE"), classifiers=("T",))


@pytest.fixture(scope="module")
def instance_of_file():
    import dagster

    with dagster.DagsterInstance.ephemeral() as made:
        yield made


@pytest.fixture
def instance(instance_of_file):
    """A Dagster instance in memory that knows no run, event or partition."""
    yield instance_of_file
    instance_of_file.wipe()


@pytest.fixture
def known_keys(monkeypatch):
    """The stores of a test draw the same keys in every run. So equal raters have equal pseudonyms.

    Each store has a key of its own.
    """
    drawn = (sha256(str(number).encode()).digest() for number in count())
    monkeypatch.setattr(store_module, "urandom", lambda _: next(drawn))


@pytest.fixture(scope="session")
def s3_server():
    """The address of a server that speaks S3, a hundred objects a page. It ends with the tests."""
    with subprocess.Popen(
        [sys.executable, Path(__file__).parent / "store" / "server.py"],
        env={**os.environ, "MOTO_S3_DEFAULT_MAX_KEYS": "100"},
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
    fsspec.get_filesystem_class("s3").clear_instance_cache()
    name = f"bucket-{uuid4().hex}"
    fsspec.filesystem("s3", skip_instance_cache=True).mkdir(name)
    return f"s3://{name}/store"


@pytest.fixture
def requests(monkeypatch):
    """The requests that were sent to buckets, as they come: the method, and the URL."""
    import aiobotocore.httpsession

    sent, session = [], aiobotocore.httpsession.AIOHTTPSession
    real = session.send

    async def counted(self, request):
        sent.append((request.method, request.url))
        return await real(self, request)

    monkeypatch.setattr(session, "send", counted)
    return sent


JAVA = (
    "-XX:TieredStopAtLevel=1 -XX:+UseSerialGC -XX:ReservedCodeCacheSize=200m "
    "-XX:MetaspaceSize=256m -Xms1g -Xmn600m"
)
"""Java compiles lightly, and has room enough to collect garbage seldom."""


@pytest.fixture(scope="session")
def spark():
    """A Spark session on this machine. Queries are short, so Java compiles lightly.

    A table has one part, so that a query is few tasks. `in_parts` gives it more.
    Plans, which nobody reads, are not written out.
    """
    pytest.importorskip("pyspark")
    if not (shutil.which("java") or os.environ.get("JAVA_HOME")):
        pytest.skip("no Java on this machine")
    from pyspark.sql import SparkSession

    session = (
        SparkSession.builder.master("local[2]")
        .config("spark.ui.enabled", "false")
        .config("spark.driver.host", "127.0.0.1")
        .config("spark.driver.bindAddress", "127.0.0.1")
        .config("spark.driver.memory", "1g")
        .config("spark.driver.extraJavaOptions", JAVA)
        .config("spark.ui.showConsoleProgress", "false")
        .config("spark.sql.shuffle.partitions", "1")
        .config("spark.sql.leafNodeDefaultParallelism", "1")
        .config("spark.sql.codegen.wholeStage", "false")
        .config("spark.sql.codegen.factoryMode", "NO_CODEGEN")
        .config("spark.sql.adaptive.enabled", "false")
        .config("spark.sql.ui.explainMode", "simple")
        .config("spark.sql.maxPlanStringLength", "0")
        .config("spark.log.level", "ERROR")
        .getOrCreate()
    )
    # Spark looks for the place of each call in a deep stack, unless it is told one.
    for form in ("short", "long"):
        session.sparkContext.setLocalProperty(f"callSite.{form}", "a test")
    yield session
    session.stop()


@pytest.fixture
def in_parts(spark, monkeypatch):
    """A function that sets in how many parts Spark puts a table, and a grouping, in this test."""
    from agreement_pipeline.engine import spark as engine

    names = ("spark.sql.shuffle.partitions", "spark.sql.leafNodeDefaultParallelism")
    before = {name: spark.conf.get(name) for name in names}

    def split(parts):
        monkeypatch.setattr(engine, "MAX_ROWS_IN_ONE_PART", 0)
        for name in names:
            spark.conf.set(name, parts)

    yield split
    for name, parts in before.items():
        spark.conf.set(name, parts)
