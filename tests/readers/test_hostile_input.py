"""Hostile tables, names and YAML files are refused with their place, or shown as plain text."""

import json
import os
import shutil
from pathlib import Path

import pandas as pd
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from agreement_pipeline import Ratings, Scale
from agreement_pipeline.cli import main
from agreement_pipeline.contract import Contract
from agreement_pipeline.errors import (
    ContractError,
    PolicyError,
    ProjectError,
    RatingsError,
    StoreError,
    WaiverError,
)
from agreement_pipeline.orchestration.metadata import markdown_text
from agreement_pipeline.policy import load_policy, load_waiver
from agreement_pipeline.projects.files import load_project
from agreement_pipeline.ratings import lookalikes
from agreement_pipeline.readers import Columns, Limits, read, read_rounds
from agreement_pipeline.release.card import card
from agreement_pipeline.store import Store, check_round_name
from tests.fuzzing import RULES, released
from tests.readers.conftest import frame_of

DIGITS = "9" * 5000
FORMULA = "=cmd|' /C calc'!A0"
MARKUP = '<img src=x onerror="alert(1)">[a](javascript:b)'
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


@pytest.mark.parametrize(
    "name",
    [
        "../../etc/passwd",
        "a/b",
        "..",
        ".hidden",
        "",
        "a\\b",
        "a\0b",
        "C:",
        "a" * 101,
        "r\n1",
        "\u0430na",
        "~",
        "-rf",
    ],
)
def test_a_round_with_the_name_of_a_path_is_refused(name):
    with pytest.raises(StoreError, match="found a name that could be a path"):
        check_round_name(name)


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
    [(load_policy, PolicyError), (load_waiver, WaiverError), (load_project, ProjectError)],
)
def test_yaml_that_is_more_than_plain_data_is_refused_with_its_file(tmp_path, text, load, error):
    (tmp_path / "it.yaml").write_text(text)
    with pytest.raises(error, match=r"it\.yaml.*: .+; .+\. .+"):
        load(tmp_path / "it.yaml")
    for name in ("rows", "items"):
        (tmp_path / f"{name}.yaml").write_text(text)
    with pytest.raises(ContractError, match=r"rows\.yaml.*: .+; .+\. .+"):
        Contract.load(tmp_path)


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
            r"r.jsonl: row 1: found columns \['c0'\] twice",
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


def test_a_pipe_is_no_table(tmp_path):
    os.mkfifo(tmp_path / "r.csv")
    with pytest.raises(RatingsError, match=r"r\.csv: found a device, pipe or socket"):
        frame_of(tmp_path / "r.csv")


@pytest.mark.parametrize("other", ["\u0430na", "ana\u200b", "Ana", "\uff41na", "ana ", "an\u03b1"])
def test_raters_who_print_alike_are_named_and_stay_two(other):
    frame = pd.DataFrame(
        {"item": ["i", "i", "i"], "rater": ["ana", other, "ben"], "label": ["yes", "no", "no"]}
    )
    raters = Ratings.from_frame(frame, Scale(("no", "yes"))).raters
    assert set(raters) == {"ana", other, "ben"}
    assert lookalikes(raters) == (tuple(sorted(("ana", other))),)


def test_normal_forms_print_alike_and_other_letters_do_not():
    assert lookalikes(["Ren\u00e9", "Rene\u0301"]) == (("Rene\u0301", "Ren\u00e9"),)
    assert lookalikes(["ana", "anna", "an\u00e1", "\u0438\u0432\u0430\u043d"]) == ()


def test_markup_in_names_and_categories_is_text_in_the_card_and_the_ui():
    decisions = {MARKUP: {"tentative": False, "waivers": [], "verdicts": []}}
    report = {"rows": {"train": 1, "unresolved": 0}, "rounds": {MARKUP: {"counts": {"items": 1}}}}
    for text in (
        card(MARKUP, decisions, report, RULES, Scale((MARKUP, "no"))).split("---\n", 2)[2],
        markdown_text(MARKUP),
    ):
        assert "<img" not in text
        assert "[a](" not in text
        assert "&lt;img" in text


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


ESCAPES = "\x1b[2J\x9b1m\u202e\u2028caf\u00e9"


@pytest.mark.parametrize("format", ["table", "json"])
def test_what_a_table_says_does_not_move_the_cursor_of_whoever_reads_the_estimates(
    tmp_path, capsys, format
):
    rows = [
        (f"i{n}", rater, (ESCAPES, "no")[n % 2])
        for n in range(20)
        for rater in (f"ana{ESCAPES}", "ben", "cleo")
    ]
    pd.DataFrame(rows, columns=["item", "rater", "label"]).to_csv(tmp_path / "r.csv", index=False)
    path, few = str(tmp_path / "r.csv"), ["--n-resamples", "400", "--format", format]
    for command in (
        ["measure", path, "--measure", "category_agreement"],
        ["compare", path, "--between", f"ana{ESCAPES}", "ben"],
    ):
        assert main([*command, *few]) == 0
        printed = capsys.readouterr().out
        assert printed.replace("\n", "").isprintable()
        assert "[2J" in printed
        assert "caf\u00e9" in printed
        if format == "json":
            assert any(
                ESCAPES in str(value) for each in json.loads(printed) for value in each.values()
            )


def test_what_a_file_says_does_not_move_the_cursor_of_whoever_reads_the_error(tmp_path, capsys):
    folder = tmp_path / "configs" / "projects"
    folder.mkdir(parents=True)
    (folder / "demo.yaml").write_text(
        '"\\e[2J\\x9B1m\\n\\u202ecaf\u00e9 \u65e5\u672c": 1\n', encoding="utf-8"
    )
    assert main(["demo", "--root", str(tmp_path)]) == 2
    printed = capsys.readouterr().err
    assert (
        "\\x1b[2J\\x9b1m\\n\\u202ecaf\u00e9 \u65e5\u672c: found an unknown key; expected one of "
        "['project', " in printed
    )
    assert printed.removesuffix("\n").isprintable()


def test_the_reasons_of_a_decision_are_printed_without_what_moves_the_cursor(tmp_path, capsys):
    pd.DataFrame(
        [(n, rater, n % 2) for n in range(20) for rater in "abc"],
        columns=["item", "rater", "label"],
    ).to_csv(tmp_path / "r.csv", index=False)
    (tmp_path / "p.yaml").write_text(
        "policy: p\nversion: 1\nrules: [{measure: krippendorff_alpha}]\n"
    )
    said = {
        "project": "demo",
        "round": "r1",
        "ratings_digest": "a" * 64,
        "measure": "krippendorff_alpha",
        "who": ESCAPES,
        "why": "w",
        "until": "2027-01-31",
    }
    (tmp_path / "w.yaml").write_text(json.dumps(said))
    assert (
        main(
            [
                "judge",
                str(tmp_path / "r.csv"),
                "--policy",
                str(tmp_path / "p.yaml"),
                "--waiver",
                str(tmp_path / "w.yaml"),
            ]
        )
        == 1
    )
    printed = capsys.readouterr().out
    assert r"waiver by \x1b[2J\x9b1m\u202e\u2028caf" in printed
    assert printed.replace("\n", "").isprintable()
