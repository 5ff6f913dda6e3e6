"""A session of DuckDB: what it holds, how much, how long, and in whose process."""

import os
import struct
import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from tempfile import gettempdir

import duckdb
import pandas as pd
import pyarrow as pa
import pytest

from agreement_pipeline.engine import Unreadable, duckdb_session, spark_session
from agreement_pipeline.engine.duckdb import DuckDB
from agreement_pipeline.errors import RatingsError
from agreement_pipeline.readers import read
from tests.counting.tables import PLAIN, Made
from tests.footers import forged, text, written

NUMBERS = pa.table({"x": pa.array(range(10), pa.int64())})
ODD = ("", "it's", 'a "b"', "back\\slash", "`tick`", "日本語", "new\nline", "%_;--", "\u2028", "$1")


@pytest.fixture
def session():
    """A session of its own."""
    return DuckDB(None)


def loaded(session, table=NUMBERS):
    return session.load_batches(table.schema, table.to_batches())


def names_in(session):
    """The tables and views that a session has."""
    made = "SELECT table_name AS name FROM duckdb_tables() UNION ALL "
    made += "SELECT view_name FROM duckdb_views() WHERE NOT internal ORDER BY name"
    return session.query(made)["name"].to_pylist()


def count(relation):
    return relation.query(f"SELECT COUNT(*) AS n FROM {relation}")["n"][0].as_py()


def test_a_limit_has_one_session_in_a_process():
    assert duckdb_session() is duckdb_session()
    assert duckdb_session("300MB") is duckdb_session("300MB")
    assert len({id(duckdb_session(each)) for each in (None, "300MB", "400MB")}) == 3


def test_a_limit_is_the_most_memory_that_the_session_takes():
    asked = "SELECT current_setting('memory_limit') AS said"
    assert duckdb_session("300MB").query(asked)["said"].to_pylist() == ["286.1 MiB"]


@pytest.mark.parametrize("limit", [None, "100MB"])
def test_a_query_of_all_rows_of_an_ordered_table_gives_them_in_order(limit):
    n_rows = 400_000
    shuffled = [(x * 7_919) % n_rows for x in range(n_rows)]
    items = pa.array([f"item-{x // 3:07}" for x in shuffled])
    table = pa.table({"item": items, "place": pa.array([x % 3 for x in shuffled])})
    session = DuckDB(limit)
    ordered = session.sort_table(loaded(session, table), n_rows, ["item", "place"], "item, place")
    found = pa.Table.from_batches(session.query_batches(f"SELECT place, item FROM {ordered}"))
    expected = table.sort_by([("item", "ascending"), ("place", "ascending")])
    assert found.select(["item", "place"]).combine_chunks() == expected.combine_chunks()
    first = session.query(f"SELECT item FROM {ordered} LIMIT 5")["item"].to_pylist()
    assert first == expected["item"][:5].to_pylist()


@pytest.mark.parametrize("limit", ["much", "", "3 apples", "1GB'; DROP TABLE x; --"])
def test_a_limit_that_is_no_size_is_refused(limit):
    with pytest.raises(
        RatingsError, match=r"^memory limit: found .*; expected a size such as 500MB"
    ):
        DuckDB(limit)


def test_a_process_that_was_forked_has_a_session_of_its_own():
    ours = duckdb_session()
    child = os.fork()
    if not child:
        status = 1
        try:
            theirs = duckdb_session()
            status = int(theirs is ours or count(loaded(theirs)) != 10)
        finally:
            os._exit(status)
    assert os.waitpid(child, 0)[1] == 0
    assert duckdb_session() is ours


def test_rows_are_numbered_in_their_order(session):
    table = loaded(session, pa.table({"x": ["c", "a", "b"]}))
    found = table.query(f"SELECT x, nth FROM {table} ORDER BY x")
    assert found.to_pydict() == {"x": ["a", "b", "c"], "nth": [1, 2, 0]}
    assert table.schema.names == ["x", "nth"]


def test_a_table_is_dropped_when_nobody_holds_it(session):
    table = loaded(session)
    assert len(names_in(session)) == 2
    view = table.create_view(f"SELECT * FROM {table} WHERE x > 4")
    del table
    assert count(view) == 5
    kept = session.materialize(f"SELECT * FROM {view}")
    assert len(names_in(session)) == 4
    del view
    other = session.materialize("SELECT 1 AS x")
    assert {*names_in(session)} == {kept.name, other.name}


def test_an_error_while_batches_are_made_is_raised_as_it_is_and_leaves_no_table(session):
    def batches():
        yield from NUMBERS.to_batches()
        raise RatingsError("row 11: found nothing")

    with pytest.raises(RatingsError, match=r"^row 11: found nothing$"):
        session.load_batches(NUMBERS.schema, batches())
    assert names_in(session) == []
    assert count(loaded(session)) == 10


def test_what_the_library_says_is_told_with_the_next_step(session):
    words = (
        r"^duckdb: found a source that the engine cannot read \(.*nowhere.*\); expected a plain "
        r"table\. Correct it, or save it in another format\.$"
    )
    for asked in (
        session.query,
        session.materialize,
        session.create_view,
        lambda sql: [*session.query_batches(sql)],
    ):
        with pytest.raises(Unreadable, match=words):
            asked("SELECT nothing FROM nowhere")


def test_an_answer_comes_in_batches(session):
    table = session.materialize("SELECT range AS x FROM range(10000)")
    parts = [*session.query_batches(f"SELECT x FROM {table} ORDER BY x", 2048)]
    assert max(map(len, parts)) <= 2048
    assert [x for part in parts for x in part["x"].to_pylist()] == [*range(10_000)]


def test_each_query_has_a_cursor_so_several_threads_may_ask_at_once(session):
    def asked(n):
        table = loaded(session, pa.table({"x": pa.array(range(n), pa.int64())}))
        few = table.create_view(f"SELECT * FROM {table} WHERE x < 3")
        parts = session.query_batches(f"SELECT x FROM {table} ORDER BY x", 64)
        seen = 0
        for part in parts:
            assert count(few) == 3
            seen += len(part)
        return seen

    sizes = [200 + 17 * at for at in range(40)]
    with ThreadPoolExecutor(8) as threads:
        assert [*threads.map(asked, sizes)] == sizes
    loaded(session)
    assert len(names_in(session)) <= 4


def test_ratings_of_a_session_are_read_in_several_threads(tmp_path):
    files = [
        Made(PLAIN.assign(item=f"{at} " + PLAIN["item"]), "csv")
        .source(tmp_path)
        .rename(tmp_path / f"{at}.csv")
        for at in range(12)
    ]
    with ThreadPoolExecutor(6) as threads:
        found = [*threads.map(lambda path: read(path, memory_limit="300MB").digest, files)]
    assert found == [read(path).digest for path in files]


def test_few_rows_are_counted_in_one_thread_and_groups_go_to_disk_in_two():
    assert DuckDB(None).threads == 1
    assert DuckDB("300MB").threads == 2


def test_a_large_file_is_counted_in_all_cores(session, tmp_path, monkeypatch):
    path = Made(PLAIN).source(tmp_path)
    session.scan_parquet(str(path), {"item": "item"})
    assert session.threads == 1
    monkeypatch.setattr("agreement_pipeline.engine.duckdb.MANY_THREADS_BYTES", path.stat().st_size)
    monkeypatch.setattr("agreement_pipeline.engine.duckdb.cpu_count", lambda: 6)
    session.scan_parquet(str(path), {"item": "item"})
    asked = "SELECT current_setting('threads') AS n"
    assert session.threads == session.query(asked)["n"][0].as_py() == 6


def test_what_exceeds_the_limit_goes_to_disk():
    session = DuckDB("60MB")
    table = session.materialize("SELECT hash(range) AS x, hash(range + 1) AS y FROM range(8000000)")
    spilt = session.query("SELECT path, size FROM duckdb_temporary_files()").to_pylist()
    (folder,) = {Path(each["path"]).parent for each in spilt}
    assert folder.parent == Path(gettempdir())
    assert folder.stat().st_mode & 0o077 == 0
    assert sum(each["size"] for each in spilt) > 50_000_000
    assert count(table) == 8_000_000
    groups = table.query(f"SELECT COUNT(*) AS n FROM (SELECT x FROM {table} GROUP BY x) AS g")
    assert groups["n"].to_pylist() == [8_000_000]


def test_bounds_that_a_file_states_are_not_believed(session, tmp_path):
    table = {
        "item": ["i1", "i1", "i2", "i2"],
        "rater": ["a", "b"] * 2,
        "label": [1.0, 1.0, 2.0, 2.0],
    }
    said, bounds = (4, 0, 1, 2, 3, 12), {}
    for greatest, least in ((1, 2), (5, 6)):
        bounds |= {(*said, at): text(struct.pack("<d", 1.0)) for at in (greatest, least)}
    right, wrong = tmp_path / "right.parquet", tmp_path / "wrong.parquet"
    right.write_bytes(written(table))
    wrong.write_bytes(forged(written(table), bounds))
    twos = f"SELECT COUNT(*) AS n FROM read_parquet('{wrong}') WHERE label = 2"
    assert duckdb.connect().sql(twos).fetchall() == [(0,)]
    seen = session.scan_parquet(str(wrong), {"label": "label"})
    assert seen.query(f"SELECT COUNT(*) AS n FROM {seen} WHERE label = 2")["n"].to_pylist() == [2]
    assert read(wrong).digest == read(right).digest


def test_columns_of_a_file_are_seen_under_other_names_where_it_lies(session, tmp_path):
    path = Made(PLAIN).source(tmp_path)
    if session.engine == "spark":
        assert session.schema_of(str(path)).names == ["item", "rater", "label"]
    seen = session.scan_parquet(str(path), {"who": "rater", "what": "label"})
    assert seen.schema.names == ["who", "what", "nth"]
    found = seen.query(f"SELECT who, nth FROM {seen} ORDER BY nth")
    assert found["who"].to_pylist() == PLAIN["rater"].tolist()
    assert found["nth"].to_pylist() == [*range(len(PLAIN))]


ZONED = """
import sys
import pandas as pd
from agreement_pipeline.readers import read
times = ["2026-11-01T10:00:00.123Z", "2026-10-31", "2026-10-25T00:30:00Z", None]
told = pd.to_datetime(times, utc=True, format="ISO8601")
zone = told.tz_convert("Europe/Berlin")
rows = {"item": list("iijj"), "rater": list("abab"), "label": list("xyxx")}
for each in (told, zone):
    print(read(pd.DataFrame(rows).assign(timestamp=each), engine=sys.argv[1]).digest)
"""


def test_the_zone_of_the_machine_is_in_no_digest():
    said = {
        subprocess.run(
            [sys.executable, "-c", ZONED, "duckdb"],
            env={**os.environ, "TZ": zone},
            capture_output=True,
            text=True,
            check=True,
        ).stdout
        for zone in ("Asia/Tokyo", "UTC")
    }
    (digests,) = said
    assert len(digests.split()) == 2


@pytest.mark.slow
def test_the_zone_of_spark_is_in_no_digest(spark):
    times = pd.to_datetime(["2026-11-01T10:00:00.123", "2026-10-31T00:00:00.000", None])
    rows = {"item": ["i", "i", "j"], "rater": ["a", "b", "a"], "label": ["x", "y", "x"]}
    frames = [
        pd.DataFrame(rows).assign(timestamp=each) for each in (times, times.tz_localize("UTC"))
    ]
    before = spark.conf.get("spark.sql.session.timeZone")
    try:
        for zone in ("Asia/Tokyo", "UTC"):
            spark.conf.set("spark.sql.session.timeZone", zone)
            for frame in frames:
                assert read(frame, engine="spark").digest == read(frame).digest
    finally:
        spark.conf.set("spark.sql.session.timeZone", before)


@pytest.mark.slow
def test_times_of_a_dataframe_of_spark_are_told_in_utc(spark):
    from pyspark.sql.pandas.types import from_arrow_schema

    told = ["2026-10-25T00:30:00", "2026-10-25T01:15:00.123", "1969-12-31T23:59:59.999999", None]
    times = pd.to_datetime(told, format="ISO8601")
    rows = {"item": list("iijj"), "rater": list("abab"), "label": list("xyxx")}
    tables = [
        pa.table({**rows, name: pa.array(each, pa.timestamp("us", zone))})
        for zone in ("UTC", None)
        for name, each in {"timestamp": times, "item": times[[0, 0, 1, 1]]}.items()
    ]

    def of_spark(table):
        kinds = from_arrow_schema(table.schema, prefer_timestamp_ntz=True)
        return spark.createDataFrame(table, kinds)

    before = spark.conf.get("spark.sql.session.timeZone")
    try:
        for zone in ("Europe/Berlin", "UTC"):
            spark.conf.set("spark.sql.session.timeZone", zone)
            for table in tables:
                found, expected = read(of_spark(table)), read(table)
                assert found.digest == expected.digest
                assert found.first_ratings(["item"]).equals(expected.first_ratings(["item"]))
            first = read(of_spark(tables[0])).first_ratings(["timestamp"])["timestamp"].to_pylist()
            assert first[:2] == ["2026-10-25 00:30:00+00:00", "2026-10-25 01:15:00.123000+00:00"]
    finally:
        spark.conf.set("spark.sql.session.timeZone", before)


def spelt(session):
    """What a session says of odd texts and names."""
    chosen = [
        f"{session.literal_sql(each)} AS {session.column_sql(f'{at} {each}')}"
        for at, each in enumerate(ODD)
    ]
    return session.query(f"SELECT {', '.join(chosen)}").to_pylist()


def test_odd_texts_and_names_stand_in_a_query_as_they_are(session):
    assert spelt(session) == [{f"{at} {each}": each for at, each in enumerate(ODD)}]


@pytest.mark.slow
def test_odd_texts_and_names_stand_in_a_query_of_spark_as_they_are(spark):
    assert spelt(spark_session()) == [{f"{at} {each}": each for at, each in enumerate(ODD)}]


def said_by(session):
    """What a session says of rows that it was given, keeps and sees."""
    table = loaded(session, pa.table({"x": ["a1", "b2", "a3", None]}))
    view = table.create_view(f"SELECT * FROM {table} WHERE {session.matches_sql('x', '^a[0-9]$')}")
    kept = session.materialize(f"SELECT x, nth FROM {view}")
    both = session.hash_sql("nth % 2", "x IS NULL")
    alike = f"SELECT COUNT(DISTINCT {both}) AS n FROM {table}"
    rows = [
        row
        for part in session.query_batches(f"SELECT * FROM {kept} ORDER BY nth")
        for row in part.to_pylist()
    ]
    return rows, session.query(alike).to_pylist(), view.schema.names


@pytest.mark.slow
def test_spark_answers_as_duckdb_does(session, spark):
    found = said_by(spark_session())
    assert found == said_by(session)
    assert found == ([{"x": "a1", "nth": 0}, {"x": "a3", "nth": 2}], [{"n": 3}], ["x", "nth"])
    words = r"^spark: found a source that the engine cannot read \(.*\); expected a plain table\."
    with pytest.raises(Unreadable, match=words):
        spark_session().query("SELECT nothing FROM nowhere")


@pytest.mark.slow
def test_few_rows_stay_together_in_spark_and_many_are_parted(spark, in_parts):
    def parts():
        return spark.table(loaded(spark_session()).name).rdd.getNumPartitions()

    before = spark.conf.get("spark.sql.leafNodeDefaultParallelism")
    spark.conf.set("spark.sql.leafNodeDefaultParallelism", "2")
    assert parts() == 1
    spark.conf.set("spark.sql.leafNodeDefaultParallelism", before)
    in_parts(2)
    assert parts() == 2
