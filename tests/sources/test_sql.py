"""Rounds that a query gives, of SQLite and PostgreSQL: the driver binds the round."""

import os
import shutil
import signal
import sqlite3
import subprocess
import tempfile
import traceback
from pathlib import Path

import dagster as dg
import pyarrow.parquet as pq
import pytest

from agreement_pipeline.cli import main
from agreement_pipeline.errors import AgreementError, ProjectError, RatingsError
from agreement_pipeline.orchestration import project_definitions
from agreement_pipeline.projects import Project, ProjectSettings
from agreement_pipeline.sources.sql import QuerySource, _replace_place_marks, write_query
from tests.deployment.services import free_port, postgres_programs, wait_until

VARIABLE = "TEST_WAREHOUSE_URL"
SECRET = "s3cr:t p@ss"
QUERY = "select item, rater, label from labels where week = :round order by item, rater"
ROUNDS = "select week, count(*), max(changed) from labels group by week order by week"
HOSTILE = "w1' or '1'='1"
ROWS = [
    (week, f"{week} {n}", rater, "no" if n % 3 else "yes", changed)
    for week, changed in (("w1", 1), ("w2", 2), (HOSTILE, 3), ("'; drop table labels; --", 4))
    for n in range(100)
    for rater in ("ana", "ben", "chi")
]
TABLE = "create table labels (week text, item text, rater text, label text, changed bigint)"


class Warehouse:
    """A database with the table `labels`, and what changes it."""

    def __init__(self, connect, mark):
        self.connect, self.mark = connect, mark
        self.execute(TABLE)
        self.execute(f"insert into labels values ({', '.join([mark] * 5)})", ROWS)

    def execute(self, statement, rows=None):
        connection = self.connect()
        cursor = connection.cursor()
        if rows is None:
            cursor.execute(statement)
            found = cursor.fetchall() if cursor.description else []
        else:
            cursor.executemany(statement, rows)
            found = []
        connection.commit()
        connection.close()
        return found


@pytest.fixture
def lite(tmp_path, monkeypatch):
    path = tmp_path / "ware house%.db"
    monkeypatch.setenv(VARIABLE, f"sqlite:///{path}")
    return Warehouse(lambda: sqlite3.connect(path), "?")


@pytest.fixture(scope="module")
def server():
    """The URL of a server of PostgreSQL that asks for a password."""
    programs = postgres_programs()
    if programs is None:
        pytest.skip("the server of PostgreSQL is not installed")
    user = "postgres" if os.geteuid() == 0 else None
    folder = Path(tempfile.mkdtemp(prefix="warehouse-"))
    password = folder / "password"
    password.write_text(SECRET)
    if user:
        for path in (folder, password):
            shutil.chown(path, user)
    data, port = folder / "data", free_port()
    made = [programs / "initdb", "-D", data, "-U", "reader", "-A", "scram-sha-256"]
    subprocess.run(
        [*map(str, made), f"--pwfile={password}", "--no-sync"],
        check=True, user=user, capture_output=True, cwd=folder,
    )  # fmt: skip
    start = [programs / "postgres", "-D", data, "-p", port, "-c", f"unix_socket_directories={data}"]
    process = subprocess.Popen(
        list(map(str, start)), user=user, cwd=folder,
        stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL,
    )  # fmt: skip
    url = f"postgresql://reader:s3cr%3At%20p%40ss@127.0.0.1:{port}/postgres"
    try:
        wait_until(lambda: _connects(url), 60, "PostgreSQL")
        yield url
    finally:
        process.send_signal(signal.SIGINT)
        process.wait(60)
        shutil.rmtree(folder, ignore_errors=True)


def _connects(url):
    import psycopg2

    try:
        psycopg2.connect(url).close()
    except psycopg2.OperationalError:
        return False
    return True


@pytest.fixture
def postgres(server, monkeypatch):
    import psycopg2

    monkeypatch.setenv(VARIABLE, server)
    connection = psycopg2.connect(server)
    with connection, connection.cursor() as cursor:
        cursor.execute("drop table if exists labels")
    connection.close()
    return Warehouse(lambda: psycopg2.connect(server), "%s")


@pytest.fixture(params=["lite", "postgres"])
def warehouse(request):
    return request.getfixturevalue(request.param)


def source(**changes):
    return QuerySource(**{"query": QUERY, "rounds": ROUNDS, "connection_from": VARIABLE, **changes})


def test_rounds_come_with_their_versions(warehouse):
    before = source().list_versions()
    assert before == {
        "w1": "300 1",
        "w2": "300 2",
        HOSTILE: "300 3",
        "'; drop table labels; --": "300 4",
    }
    warehouse.execute("update labels set label = 'no', changed = 9 where item = 'w2 0'")
    after = source().list_versions()
    assert {name for name in after if after[name] != before[name]} == {"w2"}
    assert source(rounds="select distinct week from labels").list_versions()["w1"] == ""


@pytest.mark.parametrize("name", ["w1", HOSTILE, "'; drop table labels; --"])
def test_round_is_bound_whatever_its_name(warehouse, tmp_path, name):
    path = tmp_path / "round.parquet"
    source().write(name, path)
    rows = pq.read_table(path).to_pylist()
    expected = [
        {"item": item, "rater": rater, "label": label}
        for week, item, rater, label, _ in ROWS
        if week == name
    ]
    assert sorted(rows, key=lambda row: (row["item"], row["rater"])) == sorted(
        expected, key=lambda row: (row["item"], row["rater"])
    )
    assert warehouse.execute("select count(*) from labels") == [(len(ROWS),)]


def test_hostile_round_is_no_round_of_a_project(warehouse, tmp_path):
    project = project_of(tmp_path)
    pulled = project.pull()
    assert pulled.pulled == ("w1", "w2")
    assert set(pulled.failed) == {HOSTILE, "'; drop table labels; --"}
    assert all("found a name that is not allowed" in why for why in pulled.failed.values())
    assert {path.name for path in project.inbox.glob("*.parquet")} == {"w1.parquet", "w2.parquet"}


def test_round_has_the_type_of_its_column(postgres, tmp_path):
    postgres.execute("alter table labels add column day date default '2026-11-23'")
    by_day = source(
        query="select item, rater, label from labels where day = :round and day = :round",
        rounds="select distinct day from labels",
    )
    assert by_day.list_versions() == {"2026-11-23": ""}
    by_day.write("2026-11-23", tmp_path / "round.parquet")
    assert pq.read_metadata(tmp_path / "round.parquet").num_rows == len(ROWS)


def test_equal_rows_give_equal_bytes(warehouse, tmp_path):
    written = []
    for name in ("a", "b"):
        source().write("w1", tmp_path / name)
        written.append((tmp_path / name).read_bytes())
    assert written[0] == written[1]


@pytest.mark.parametrize(
    ("query", "marked"),
    [
        ("where w = :round", ("where w = $1", 1)),
        ("where w in (:round, :round)", ("where w in ($1, $1)", 2)),
        ("w = ':round' and x = 'it''s :round'", ("w = ':round' and x = 'it''s :round'", 0)),
        ('":round" -- :round\n = :round', ('":round" -- :round\n = $1', 1)),
        ("/* :round */ w::round = :round", ("/* :round */ w::round = $1", 1)),
        ("$$ :round $$ || $x$ :round $x$ = :round", ("$$ :round $$ || $x$ :round $x$ = $1", 1)),
        (":rounds = a:round", (":rounds = a:round", 0)),
    ],
)
def test_only_a_place_of_the_round_is_marked(query, marked):
    assert _replace_place_marks(query, "$1") == marked


@pytest.mark.parametrize(
    ("changes", "words"),
    [
        ({"query": "select item from labels"}, "found no :round"),
        ({"rounds": "select week from labels where week = :round"}, "found :round"),
        ({"rounds": "select week from labels"}, "round 'w1' twice"),
        ({"rounds": "select null"}, "without a name"),
        ({"query": "selekt :round"}, "error of the database"),
        ({"query": "select item from nothing where a = :round"}, "nothing"),
        ({"query": "select item from labels where 'x' = :round"}, "found no rows"),
    ],
)
def test_mistake_is_one_clear_error(warehouse, tmp_path, changes, words):
    with pytest.raises(AgreementError, match=words) as caught:
        source(**changes).write("w1", tmp_path / "round.parquet")
    message = str(caught.value)
    assert message.startswith("rounds_from.")
    assert "expected" in message
    assert not caught.value.may_pass


@pytest.mark.parametrize("url", [None, "", "p4ssword", "mysql://me:p4ssword@here/db"])
def test_connection_that_is_none_is_not_repeated(monkeypatch, url):
    monkeypatch.delenv(VARIABLE, raising=False)
    if url is not None:
        monkeypatch.setenv(VARIABLE, url)
    with pytest.raises(ProjectError, match=f"connection_from: {VARIABLE}: found") as caught:
        source().list_versions()
    assert "p4ssword" not in str(caught.value)


def test_missing_file_of_sqlite_is_not_made(tmp_path, monkeypatch):
    monkeypatch.setenv(VARIABLE, f"sqlite:///{tmp_path / 'gone.db'}")
    with pytest.raises(RatingsError, match="error of the database"):
        source().list_versions()
    assert list(tmp_path.iterdir()) == []


def test_database_that_does_not_answer_is_tried_again_and_its_password_is_told_nobody(
    server, monkeypatch
):
    wrong = server.replace("s3cr%3At%20p%40ss", "wr0ng%20one")
    gone = f"postgresql://reader:s3cr%3At%20p%40ss@127.0.0.1:{free_port()}/postgres"
    for url in (wrong, gone):
        monkeypatch.setenv(VARIABLE, url)
        with pytest.raises(RatingsError, match=f"connection_from: {VARIABLE}: found") as caught:
            source().list_versions()
        shown = "".join(traceback.format_exception(caught.value))
        assert caught.value.__context__ is None
        for secret in (SECRET, "s3cr", "wr0ng", url):
            assert secret not in shown
        assert caught.value.may_pass


def project_of(root, **changes):
    source = {"query": QUERY, "rounds": ROUNDS, "connection_from": VARIABLE}
    return Project(
        ProjectSettings(
            project="reviews",
            policy="exploratory",
            scale={"categories": ["yes", "no"]},
            root=str(root),
            deliveries="independent",
            rounds_from={**source, **changes},
        )
    )


def run_round(project, name, instance, **more):
    instance.add_dynamic_partitions("reviews_rounds", [name])
    job = project_definitions(project.settings).resolve_job_def("reviews_round")
    keys = [dg.AssetKey(["reviews", each]) for each in ("annotations", "acceptability")]
    return job.execute_in_process(
        instance=instance, partition_key=name, asset_selection=keys, raise_on_error=False, **more
    )


def tick(project, instance, cursor=None):
    definitions = project_definitions(project.settings)
    context = dg.build_sensor_context(instance, cursor, definitions=definitions)
    result = definitions.resolve_sensor_def("reviews_new_rounds")(context)
    return list(getattr(result, "run_requests", None) or [])


@pytest.mark.slow
@pytest.mark.usefixtures("known_keys")
def test_sensor_asks_for_a_round_again_when_its_version_changes(warehouse, tmp_path, instance):
    warehouse.execute("delete from labels where week not in ('w1', 'w2')")
    project = project_of(tmp_path)
    requests = tick(project, instance)
    assert [request.partition_key for request in requests] == ["w1", "w2"]
    for request in requests:
        result = run_round(project, request.partition_key, instance, tags=request.tags)
        assert "w1" in project.store.rounds()
    assert result is not None
    assert tick(project, instance) == []

    warehouse.execute("update labels set label = 'no', changed = 9 where item = 'w2 0'")
    (request,) = tick(project, instance)
    assert request.partition_key == "w2"
    digest = project.store.present("w2").ratings_digest
    run_round(project, "w2", instance, tags=request.tags)
    assert project.store.present("w2").ratings_digest != digest


@pytest.mark.slow
@pytest.mark.usefixtures("known_keys")
def test_no_secret_is_in_any_file_or_event(postgres, server, tmp_path, monkeypatch, capfd):
    home = tmp_path / "dagster"
    home.mkdir()
    project = project_of(tmp_path)
    with dg.DagsterInstance.local_temp(str(home)) as instance:
        assert run_round(project, "w1", instance).run_id
        monkeypatch.setenv(VARIABLE, f"{server}?bad=option")
        assert not run_round(project, "w1", instance).success
    printed = "".join(capfd.readouterr())
    kept = [path.read_bytes() for path in tmp_path.rglob("*") if path.is_file()]
    for secret in (SECRET, "s3cr%3At%20p%40ss"):
        assert secret not in printed
        assert not any(secret.encode() in content for content in kept)


def test_judge_takes_a_query(warehouse, capsys):
    query = "select item, rater, label from labels where week = 'w1'"
    policy = ["--policy", "exploratory"]
    status = main(["judge", "--query", query, "--connection-from", VARIABLE, *policy])
    printed = capsys.readouterr()
    assert status in (0, 1), printed.err
    assert "100 items" in printed.out or "300" in printed.out

    status = main(["judge", "--query", "selekt 1", "--connection-from", VARIABLE, *policy])
    printed = capsys.readouterr()
    assert status == 2
    assert "error of the database" in printed.err


@pytest.mark.parametrize(
    "arguments",
    [
        ["--query", "select 1", "--policy", "standard"],
        ["--connection-from", VARIABLE, "--policy", "standard"],
        ["labels.csv", "--query", "select 1", "--connection-from", VARIABLE],
        ["--query", "select 1", "--connection-from", VARIABLE],
        [],
    ],
)
def test_judge_takes_a_query_whole_or_files(arguments, capsys):
    assert main(["judge", *arguments]) == 2
    assert "expected" in capsys.readouterr().err or arguments == []


def test_query_without_rows_is_no_table(lite, tmp_path):
    assert write_query("select * from labels where 1 = 0", VARIABLE, tmp_path / "a") == 0
