"""What is missing, and what may be: labels of nothing never carry a round over the cut-off."""

import json
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
import yaml

import agreement_pipeline as ap
from agreement_pipeline.cli import main
from agreement_pipeline.ratings import Ratings
from agreement_pipeline.readers import read

CELLS = {path.name: path for path in Path(__file__).parents[1].glob("cases/*/*")}
WIDE = ["--layout", "wide", "--item", "item", "--raters", "ana", "--raters", "ben"]
ALPHA_OF_500 = 0.73950
"""Of `big.csv`, by krippendorff 0.9.0. With 400 rows of one more label in both cells: 0.88856."""
BLANKS = [" ", "  ", "\t", "\u00a0", "\u2003", "\u3000", "\u200b", "\ufeff", "\u2060 ", "\u2800"]
PLACEHOLDERS = [
    *("NA", "n/a", "N.A.", "#N/A", "null", "NULL", "None", "none", "nan", "<NA>", "NaT", "-", "--"),
    *("\u2014", "?", ".", "...", "[]", "{}", '""', "-999", "skipped", "Unknown", "unscored"),
    *("(blank)", "not_applicable", "No answer", "#VALUE!", "undefined", "unlabeled"),
]


def judged(capsys, *arguments: object) -> dict:
    status = main(["judge", *map(str, arguments), "--policy", "standard", "--format", "json"])
    answer = json.loads(capsys.readouterr().out)
    assert status == {"admitted": 0, "held": 1}[answer["decision"]]
    return answer


def table_with(tmp_path: Path, label: str, name: str = "table.csv") -> Path:
    """The 500 items, and 400 more on which both cells hold a label."""
    few = pd.read_csv(CELLS["big.csv"], dtype=str).iloc[:500]
    more = pd.DataFrame({"item": [f"x{n}" for n in range(400)], "ana": label, "ben": label})
    pd.concat([few, more]).to_csv(tmp_path / name, index=False)
    return tmp_path / name


def alpha_of(answer: dict) -> float:
    return next(each["value"] for each in answer["verdicts"])


@pytest.mark.parametrize("label", BLANKS)
def test_a_cell_of_blanks_is_missing(label, tmp_path, capsys):
    answer = judged(capsys, table_with(tmp_path, label), *WIDE)
    assert answer["decision"] == "held"
    assert alpha_of(answer) == pytest.approx(ALPHA_OF_500, abs=5e-6)


def test_the_round_of_blanks_is_judged_as_the_one_without_them(capsys):
    blank, empty = (judged(capsys, CELLS[f"big{end}.csv"], *WIDE) for end in ("_space", ""))
    assert blank["ratings_digest"] == empty["ratings_digest"]


@pytest.mark.parametrize("label", PLACEHOLDERS)
def test_a_placeholder_that_carries_the_round_holds_it(label, tmp_path, capsys):
    answer = judged(capsys, table_with(tmp_path, label), *WIDE)
    assert answer["codes"] == ["placeholders_not_declared"]
    (reason,) = [each for each in answer["reasons"] if "may say that nobody" in each]
    assert repr(label) in reason
    assert "missing: [" in reason
    assert "--categories" in reason
    assert alpha_of(answer) == pytest.approx(0.88856, abs=5e-6)


@pytest.mark.parametrize("label", ["None", "-", "skipped"])
def test_a_declared_placeholder_is_what_it_is_declared_to_be(label, tmp_path, capsys):
    path = table_with(tmp_path, label)
    missing = judged(capsys, path, *WIDE, f"--missing={label}")
    assert missing["codes"] == ["tentative"]
    assert alpha_of(missing) == pytest.approx(ALPHA_OF_500, abs=5e-6)
    category = judged(capsys, path, *WIDE, f"--categories=ham,spam,{label}")
    assert category["decision"] == "admitted"


def test_several_placeholders_are_looked_at_alone_and_together(tmp_path, capsys):
    """Without one of the two the round would still be admitted, and without both not."""
    table = pd.read_csv(table_with(tmp_path, "NA"), dtype=str, keep_default_na=False)
    table.loc[700:, ["ana", "ben"]] = "-"
    table.to_csv(tmp_path / "two.csv", index=False)
    answer = judged(capsys, tmp_path / "two.csv", *WIDE)
    assert answer["codes"] == ["placeholders_not_declared"]
    assert "without '-' and 'NA' krippendorff_alpha is 0.740" in answer["reasons"][0]


def test_a_placeholder_without_which_a_held_round_would_be_admitted_holds_it_too(tmp_path, capsys):
    draw = np.random.default_rng(1)
    first = draw.choice(["ham", "spam"], 400)
    second = np.where(draw.random(400) < 0.03, np.where(first == "ham", "spam", "ham"), first)
    second = np.where(draw.random(400) < 0.15, "nan", second)
    path = tmp_path / "table.csv"
    pd.DataFrame({"item": range(400), "ana": first, "ben": second}).to_csv(path, index=False)
    answer = judged(capsys, path, *WIDE)
    assert answer["decision"] == "held"
    assert "placeholders_not_declared" in answer["codes"]
    assert judged(capsys, path, *WIDE, "--missing", "nan")["decision"] == "admitted"


def test_a_placeholder_that_changes_nothing_is_told_and_holds_nothing(tmp_path, capsys):
    draw = np.random.default_rng(2)
    first = draw.choice(["ham", "spam"], 600)
    second = np.where(draw.random(600) < 0.02, np.where(first == "ham", "spam", "ham"), first)
    first[:3] = second[:3] = "n/a"
    path = tmp_path / "table.csv"
    pd.DataFrame({"item": range(600), "ana": first, "ben": second}).to_csv(path, index=False)
    answer = judged(capsys, path, *WIDE)
    assert answer["decision"] == "admitted"
    (told,) = [each for each in answer["findings"] if each["check"] == "placeholders_counted"]
    assert told["severity"] == "warning"
    assert "'n/a' (6 of 1,200 labels)" in told["description"]


def test_a_code_for_nothing_among_numbers_holds_the_round(tmp_path, capsys):
    draw = np.random.default_rng(3)
    truth = draw.integers(1, 6, 300)
    rows = {name: truth + draw.integers(-1, 2, 300) for name in ("ana", "ben")}
    table = pd.DataFrame({"item": range(300), **rows})
    table.loc[:60, ["ana", "ben"]] = -999
    table.to_csv(tmp_path / "table.csv", index=False)
    answer = judged(capsys, tmp_path / "table.csv", *WIDE, "--level", "interval")
    assert "placeholders_not_declared" in answer["codes"]


@pytest.mark.parametrize("kind", ["csv", "jsonl", "xlsx", "parquet", "frame"])
def test_every_form_of_table_reads_missing_labels_alike(kind, tmp_path):
    rows = [("i1", "ana", "x"), ("i1", "ben", "x"), ("i2", "ana", "y"), ("i2", "ben", "x")]
    rows += [("i3", "ana", None), ("i3", "ben", " "), ("i4", "ana", "\u00a0"), ("i4", "ben", "y")]
    frame = pd.DataFrame(rows, columns=["item", "rater", "label"])
    if kind == "jsonl":
        frame.loc[4, "label"] = float("nan")
    path = tmp_path / f"table.{kind}"
    if kind == "frame":
        frame["label"] = frame["label"].astype(object)
        frame.loc[4, "label"], frame.loc[5, "label"] = pd.NaT, pd.NA
    elif kind == "jsonl":
        path.write_text("\n".join(json.dumps(row) for row in frame.to_dict("records")))
        assert "NaN" in path.read_text()
    elif kind == "csv":
        frame.to_csv(path, index=False)
    elif kind == "xlsx":
        frame.to_excel(path, index=False)
    else:
        frame.to_parquet(path)
    ratings = read(frame if kind == "frame" else path)
    assert ratings.scale.names == ("x", "y")
    assert len(ratings) == 5


@pytest.mark.parametrize(
    ("file", "label", "alpha", "n_used"),
    [("nan_num.jsonl", "label", 1.0, 24), ("none_nan.json", "score", 0.78291, 64)],
)
def test_the_token_for_no_number_is_missing_in_json(file, label, alpha, n_used, capsys):
    asked = ["measure", str(CELLS[file]), "--label", label, "--measure", "krippendorff_alpha"]
    assert main([*asked, "--format", "json"]) == 0
    (found,) = json.loads(capsys.readouterr().out)
    assert found["value"] == pytest.approx(alpha, abs=5e-6)
    assert found["n_items"] - found["n_dropped"] == n_used


def test_a_choice_without_a_value_is_no_answer(capsys):
    asked = [
        "judge",
        str(CELLS["empty_choice.json"]),
        "--label",
        "sent",
        "--policy",
        "exploratory",
    ]
    main(asked)
    printed = capsys.readouterr().out
    assert "The categories are those that occur: 'neg' and 'pos'." in printed
    assert "no ratings: no answer 12" in printed


def project_of(tmp_path: Path, table: Path, monkeypatch) -> dict:
    monkeypatch.chdir(tmp_path)
    assert main(["init", str(table), "--name", "sp"]) == 0
    return yaml.safe_load(Path("configs/projects/sp.yaml").read_text())


def test_init_writes_no_blank_into_a_scale(tmp_path, monkeypatch, capsys):
    settings = project_of(tmp_path, CELLS["bigl_space.csv"], monkeypatch)
    assert settings["scale"]["categories"] == ["ham", "spam"]
    capsys.readouterr()
    assert main(["judge", "configs/projects/sp.yaml", "--of-round", "bigl_space"]) == 1
    assert "krippendorff_alpha 0.740" in capsys.readouterr().out


def test_init_asks_what_a_placeholder_is(tmp_path, monkeypatch, capsys):
    settings = project_of(tmp_path, CELLS["bigl_NA.csv"], monkeypatch)
    assert settings["scale"]["categories"] == ["ham", "spam"]
    path = Path("configs/projects/sp.yaml")
    asked = [line for line in path.read_text().splitlines() if line.startswith("# FILL IN")]
    assert len(asked) == 1
    assert 'missing: ["NA"]' in asked[0]
    capsys.readouterr()
    assert main(["judge", str(path), "--of-round", "bigl_NA"]) == 2
    assert 'missing: ["NA"] in a project' in capsys.readouterr().err
    path.write_text(path.read_text() + 'missing: ["NA"]\n')
    assert main(["judge", str(path), "--of-round", "bigl_NA"]) == 1
    assert "krippendorff_alpha 0.740" in capsys.readouterr().out


def test_labels_that_are_missing_change_no_row_that_was_counted():
    """The rows without some labels, and those that are counted anew, give the same numbers."""
    draw = np.random.default_rng(4)
    labels = draw.choice(["a", "b", "NA", "-"], (200, 3), p=[0.5, 0.3, 0.1, 0.1])
    table = pd.DataFrame(labels, columns=["x", "y", "z"]).reset_index(names="item")
    long = table.melt("item", var_name="rater", value_name="label").astype(str)
    rest = read(long).without_labels(["NA", "-"])
    anew = read(long[long["label"].isin(["a", "b"])])
    assert isinstance(rest, Ratings)
    for measure in ("krippendorff_alpha", "fleiss_kappa", "gwet_ac1"):
        values = [ap.measure(each, measure).value for each in (rest, anew)]
        assert values[0] == pytest.approx(values[1], abs=1e-12)
