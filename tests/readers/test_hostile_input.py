"""Hostile tables, names and YAML files are refused with their place."""

import json
import os
import shutil
from pathlib import Path

import pandas as pd
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from agreement_pipeline import Ratings, Scale, read_ratings
from agreement_pipeline.contract import Contract
from agreement_pipeline.errors import (
    ContractError,
    PolicyError,
    ProjectError,
    RatingsError,
    WaiverError,
)
from agreement_pipeline.policy import load_policy, load_waiver
from agreement_pipeline.projects import load_project
from agreement_pipeline.readers import Columns, Limits, read, read_rounds
from agreement_pipeline.store import Store
from tests.fuzzing import released
from tests.readers.conftest import frame_of
from tests.readers.texts import MARKUP

DIGITS = "9" * 5000
FORMULA = "=cmd|' /C calc'!A0"


TINY = Limits(file_bytes=100, rows=3, columns=3, name_length=5, categories=2)


def _parquet_with_a_name_that_is_no_text():
    sink = pa.BufferOutputStream()
    pq.write_table(pa.table({"item": ["i"]}), sink, store_schema=False)
    return sink.getvalue().to_pybytes().replace(b"item", b"\x80tem")


UNREADABLE_NAME = _parquet_with_a_name_that_is_no_text()


def refused(name, content, words, folder, **how):
    path = folder / name
    path.write_bytes(content if isinstance(content, bytes) else content.encode())
    with pytest.raises(RatingsError, match=words):
        read(path, **how)


@pytest.mark.parametrize("category", ["../../etc/passwd", FORMULA, MARKUP])
def test_categories_items_and_raters_of_any_text_go_through_the_store_as_they_are(
    tmp_path, category
):
    frame = pd.DataFrame(
        {"item": [category] * 2, "rater": [category, "b"], "label": [category, "no"]}
    )
    ratings = Ratings.from_frame(frame, Scale((category, "no")))
    (tmp_path / "export.csv").write_bytes(b"as delivered")
    store = Store(tmp_path / "store", salt=b"a salt")
    store.ingest("r1", ratings, tmp_path / "export.csv")
    assert store.ratings("r1").digest == ratings.digest
    assert {path.name for path in tmp_path.iterdir()} == {"store", "export.csv"}


def test_no_file_of_a_release_is_one_that_a_spreadsheet_takes_formulas_from(tmp_path):
    endings = {path.suffix for path in released(tmp_path).rglob("*") if path.is_file()}
    assert endings == {".parquet", ".json", ".md"}


@pytest.mark.parametrize(
    "text",
    [
        "a: &a [x]\nb: [*a, *a]\n",
        "a: !!python/object/apply:os.system [id]\n",
        "a: !!timestamp never\n",
        "a: !!binary aGk=\n",
        "a: ! x\n",
        "!custom {a: 1}\n",
        "[" * 5000,
        f"a: {DIGITS}\n",
        "a: 2001-99-99\n",
        "a: b\n---\nc: d\n",
        "a: \0\n",
        "a" * 1_000_001,
    ],
    ids=[
        "anchor",
        "python",
        "timestamp",
        "binary",
        "bare tag",
        "custom tag",
        "deep",
        "huge number",
        "no day",
        "two documents",
        "NUL",
        "large",
    ],
)
@pytest.mark.parametrize(
    ("load", "error"),
    [
        (load_policy, PolicyError),
        (load_waiver, WaiverError),
        (load_project, ProjectError),
        (Contract.load, ContractError),
    ],
)
def test_yaml_that_is_more_than_plain_data_is_refused_with_its_file(tmp_path, text, load, error):
    (tmp_path / "it.yaml").write_text(text)
    with pytest.raises(error, match=r"it\.yaml.*: .+; .+\. .+"):
        load(tmp_path / "it.yaml")


@pytest.mark.parametrize(
    ("name", "content", "words"),
    [
        (
            "r.csv",
            ",".join(f"c{n}" for n in range(100_000)) + "\n",
            r"r.csv: row 1: found 100000 columns; expected at most 1000\. .* raise the limit "
            r"columns",
        ),
        (
            "r.csv",
            "item,rater,label\ni,a," + "x" * 200_000,
            r"r.csv: row 2: found text that is not readable .*field larger than field limit "
            r"\(131072\)",
        ),
        (
            "r.csv",
            "item,rater,label\ni,a," + "x" * 2_000,
            r"r.csv: row 2, column 'label': found 2000 characters; expected at most 1000",
        ),
        ("r.csv", "item,rater,label\ni,a\0,x\n", "r.csv: line 2: found a NUL byte"),
        (
            "r.csv",
            'item,rater,label\ni,a,"x\n',
            "r.csv: row 2: found text that is not readable .*quotes that close",
        ),
        (
            "r.csv",
            "item,rater,label\n" + "".join(f"i,a{n},l{n}\n" for n in range(1001)),
            "r.csv: column 'label': found 1001 different labels; expected at most 1000",
        ),
        ("r.jsonl", "[" * 100_000, "r.jsonl: row 1: .*expected a JSON object in every line"),
        (
            "r.jsonl",
            '{"a":' * 100_000 + "1" + "}" * 100_000,
            "r.jsonl: row 1: .*expected a JSON object in every line",
        ),
        (
            "r.jsonl",
            "".join(json.dumps({f"c{n}": 1}) + "\n" for n in range(1001)),
            "r.jsonl: found 1001 columns; expected at most 1000",
        ),
        ("r.jsonl", '{"it\\ud800em": 1}\n', r"r.jsonl: row 1: found half a character \(\\ud800\)"),
        (
            "r.jsonl",
            f'{{"item": 1, "rater": "a", "label": {DIGITS}}}\n',
            "r.jsonl: row 1, column 'label': found 5000 characters; expected at most 1000",
        ),
        (
            "r.jsonl",
            "{" + ",".join(f'"c{n % 100_000}":1' for n in range(100_001)) + "}",
            r"r.jsonl: row 1: found column 'c0' twice",
        ),
        ("r.parquet", UNREADABLE_NAME, "r.parquet: found no whole Parquet file"),
        ("r.parquet", b"PAR1" + b"\0" * 100 + b"PAR1", "r.parquet: found no whole Parquet file"),
    ],
    ids=lambda value: str(value)[:20],
)
def test_a_table_that_is_too_large_or_broken_is_refused_with_its_place(
    tmp_path, name, content, words
):
    refused(name, content, words, tmp_path)


@pytest.mark.parametrize(
    ("content", "words"),
    [
        (
            "item,rater,label\n" + "i,a,x\n" * 20,
            r"r.csv: found 137 bytes; expected at most 100\. .* raise the limit file_bytes",
        ),
        ("item,rater,label\n" + "i,a,x\n" * 4, "r.csv: found 5 lines; expected at most 3"),
        ("item,rater,label\r" + "i,a,x\r" * 4, "r.csv: found 5 lines; expected at most 3"),
        ("item,rater,label\r\n" + "i,a,x\r\n" * 4, "r.csv: found 5 lines; expected at most 3"),
        ("item,rater,label,more\ni,a,x,y\n", "r.csv: row 1: found 4 columns; expected at most 3"),
        (
            "item,rater,label\ni,a,x\nnumber 7,b,y\n",
            "r.csv: row 3, column 'item': found 8 characters; expected at most 5",
        ),
    ],
)
def test_the_limits_of_a_table_can_be_set(tmp_path, content, words):
    refused("r.csv", content, words, tmp_path, limits=TINY)


def test_the_limits_hold_for_wide_tables_rounds_and_parquet(tmp_path):
    (tmp_path / "w.csv").write_text("item,ana-maria,b\ni,x,y\n")
    with pytest.raises(
        RatingsError,
        match=r"w\.csv: row 1: found 9 characters in the name of a column; expected at most 5",
    ):
        frame_of(tmp_path / "w.csv", Columns(raters=("ana-maria", "b")), layout="wide", limits=TINY)
    pq.write_table(
        pa.table({"item": ["i"] * 9, "rater": ["a"] * 9, "label": ["x"] * 9}),
        tmp_path / "p.parquet",
    )
    with pytest.raises(RatingsError, match=r"p\.parquet: found 9 rows; expected at most 3"):
        read_rounds(tmp_path / "p.parquet", Columns(), Limits(rows=3))
    pq.write_table(
        pa.table({"item": ["i" * 1_000_000]}), tmp_path / "p.parquet", compression="zstd"
    )
    with pytest.raises(
        RatingsError, match=r"p\.parquet: found .* bytes once expanded; expected at most 1000\. "
    ):
        frame_of(tmp_path / "p.parquet", limits=Limits(file_bytes=1000))


@pytest.mark.parametrize("value", [0, -1, True, 1.5, "many"])
def test_a_limit_is_a_whole_number(value):
    with pytest.raises(ProjectError, match=r"^rows: found .*; expected a whole number from 1"):
        Limits(rows=value)


@pytest.mark.parametrize("name", ["r.csv", ".", "*.csv"], ids=["alone", "in a folder", "like"])
def test_a_pipe_is_no_table(tmp_path, name):
    (tmp_path / "a.csv").write_text("item,rater,label\ni1,ana,yes\ni1,ben,no\n")
    os.mkfifo(tmp_path / "r.csv")
    with pytest.raises(RatingsError, match=r"r\.csv: found a device, pipe or socket"):
        read_ratings(str(tmp_path / name))


def test_a_link_that_leads_nowhere_is_no_table(tmp_path):
    (tmp_path / "a.csv").write_text("item,rater,label\ni1,ana,yes\ni1,ben,no\n")
    (tmp_path / "r.csv").symlink_to(tmp_path / "absent.csv")
    with pytest.raises(RatingsError, match=r"r\.csv: found no such file"):
        frame_of(tmp_path)


def test_a_project_sets_the_limits_of_its_tables(tmp_path):
    shutil.copytree(Path(__file__).parents[2] / "configs", tmp_path / "configs")
    path = tmp_path / "configs" / "projects" / "serology.yaml"
    text = path.read_text()
    path.write_text(f"{text}\nlimits: {{rows: 7}}\n")
    assert load_project(path).limits == Limits(rows=7)
    path.write_text(f"{text}\nlimits: {{rows: 0}}\n")
    with pytest.raises(
        ProjectError,
        match=r"serology.yaml:\d+: rows: found 0; expected a whole number from 1\. Correct",
    ):
        load_project(path)
