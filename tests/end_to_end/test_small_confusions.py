"""What is easily confused in ordinary tables: columns, orders, names of files, and letters."""

import json
from pathlib import Path

import pandas as pd
import pytest

from agreement_pipeline.cli import main
from agreement_pipeline.errors import RatingsError
from agreement_pipeline.projects import undated_name
from agreement_pipeline.ratings import group_lookalike_labels
from agreement_pipeline.readers import Columns, read

ROWS = [("i1", "ana", "low"), ("i1", "ben", "high"), ("i2", "ana", "mid"), ("i2", "ben", "low")]


@pytest.mark.parametrize("ending", ["csv", "jsonl", "parquet"])
@pytest.mark.parametrize("other", ["LABEL", "Label", "ITEM"])
def test_two_columns_that_differ_in_capitals_only_are_refused(ending, other, tmp_path):
    frame = pd.DataFrame(ROWS, columns=["item", "rater", "label"])
    frame[other] = "x"
    path = tmp_path / f"table.{ending}"
    if ending == "jsonl":
        frame.to_json(path, orient="records", lines=True)
    else:
        frame.to_csv(path, index=False) if ending == "csv" else frame.to_parquet(path)
    with pytest.raises(RatingsError, match="capital"):
        read(path)


def test_capitals_in_columns_that_nobody_reads_do_not_matter(tmp_path):
    frame = pd.DataFrame(ROWS, columns=["item", "rater", "label"]).assign(note="x", NOTE="y")
    frame.to_csv(tmp_path / "table.csv", index=False)
    assert len(read(tmp_path / "table.csv")) == 4


def test_an_ordered_column_of_pandas_carries_its_order():
    frame = pd.DataFrame(ROWS, columns=["item", "rater", "label"])
    order = ["low", "mid", "high", "highest"]
    frame["label"] = pd.Categorical(frame["label"], order, ordered=True)
    ratings = read(frame, level="ordinal")
    assert ratings.scale.categories == tuple(order)
    renamed = read(
        frame.rename(columns={"label": "severity"}), Columns(label="severity"), level="ordinal"
    )
    assert renamed.scale == ratings.scale


def test_a_column_without_an_order_is_still_refused_on_the_ordinal_level():
    frame = pd.DataFrame(ROWS, columns=["item", "rater", "label"]).astype({"label": "category"})
    with pytest.raises(RatingsError, match="words have no order of their own"):
        read(frame, level="ordinal")


@pytest.mark.parametrize(
    ("file", "name"),
    [
        ("in/2026-11-23.csv", "in"),
        ("in/2026-W48.csv", "in"),
        ("in/20261123.json", "in"),
        ("in/23.11.2026.xlsx", "in"),
        ("in/toxicity_2026-11.csv", "toxicity"),
        ("reviews/2026-11/24.11.csv", "reviews"),
        ("reviews/KW48.csv", "reviews"),
        ("in/toxicity-nov-2026.csv", "toxicity"),
        ("in/2026-11-23-toxicity.csv", "toxicity"),
        ("in/toxicity-2026-11-23T10-00.csv", "toxicity"),
        ("in/batch_4711.csv", "batch_4711"),
        ("in/gpt-4o-labels.csv", "gpt-4o-labels"),
    ],
)
def test_a_project_is_not_called_after_the_date_of_a_file(file, name):
    assert undated_name(Path(file)) == name


def test_init_names_the_project_after_the_folder_if_the_file_is_a_date(tmp_path, monkeypatch):
    (tmp_path / "moderation").mkdir()
    monkeypatch.chdir(tmp_path)
    table = Path("moderation/2026-11-23.csv")
    pd.DataFrame(ROWS, columns=["item", "rater", "label"]).to_csv(table, index=False)
    assert main(["init", str(table)]) == 0
    assert Path("configs/projects/moderation.yaml").is_file()


def test_one_typo_is_one_line_in_its_own_letters(tmp_path, capsys):
    rows = [(n, rater, "Gru\u00df") for n in range(40) for rater in ("ana", "ben")]
    rows += [(41, "ana", "Gruss"), (41, "ben", "Text"), (42, "ana", "Text"), (42, "ben", "Text")]
    path = tmp_path / "table.csv"
    pd.DataFrame(rows, columns=["item", "rater", "label"]).to_csv(path, index=False)
    main(["judge", str(path), "--policy", "standard"])
    printed = "".join(capsys.readouterr())
    (line,) = [line for line in printed.splitlines() if "'Gruss'" in line and "warning" in line]
    assert "'Gru\u00df' (80 times)" in line
    assert "print alike" not in printed


def test_names_of_one_shape_are_told_apart_by_their_characters(tmp_path, capsys):
    rows = [
        (n, rater, label) for n in range(9) for rater, label in (("a", "caf\u00e9"), ("b", "x"))
    ]
    rows += [(10, "a", "cafe\u0301"), (10, "b", "x")]
    path = tmp_path / "table.jsonl"
    records = [dict(zip(("item", "rater", "label"), row, strict=True)) for row in rows]
    path.write_text("\n".join(json.dumps(record) for record in records))
    main(["judge", str(path), "--policy", "standard"])
    assert r"labels 'cafe\u0301' and 'caf\xe9' print alike" in capsys.readouterr().err


def test_letters_that_differ_in_print_do_not_print_alike():
    assert group_lookalike_labels(["Gru\u00df", "Gruss"]) == ()
    assert len(group_lookalike_labels(["Gru\u00df", "gru\u00df"])) == 1
