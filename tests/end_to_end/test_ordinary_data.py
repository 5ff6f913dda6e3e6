"""Ordinary data of public reports, each as a user would have it judged, with the right outcome.

Expected values come from the package krippendorff 0.9.0, from irrCAC 0.4, or by hand.
"""

import json
import random
import shlex
from pathlib import Path
from typing import NamedTuple

import pytest

from agreement_pipeline.cli import main

CASES = Path(__file__).parents[1] / "cases"
ALPHA = "--measure krippendorff_alpha"
STANDARD = "--policy standard"
TWO_RATERS = "--layout wide --item item --raters ana --raters ben"
SIX_RATERS = " ".join(f"--raters r{n}" for n in range(6))


class Case(NamedTuple):
    """A command in a folder of `CASES`, its status, and what it prints, or must not print."""

    folder: str
    command: str
    status: int
    prints: tuple[str, ...]
    not_printed: tuple[str, ...] = ()


def measured(value: str, items: str) -> str:
    """The begin of the line of alpha in a table, of which blanks are joined."""
    return f"krippendorff_alpha round {value} * {items} "


ORDINARY = [
    Case(
        "blank_cells_space",
        f"judge big_space.csv {TWO_RATERS} {STANDARD}",
        1,
        ("krippendorff_alpha 0.740, 95% interval 0.678 to 0.796 on 500 items", "'ham' and 'spam'"),
    ),
    Case(
        "blank_cells_space",
        f"judge big.csv {TWO_RATERS} {STANDARD}",
        1,
        ("krippendorff_alpha 0.740, 95% interval 0.678 to 0.796 on 500 items",),
    ),
    Case(
        "placeholder_None",
        f"judge big_None.csv {TWO_RATERS} {STANDARD}",
        1,
        ("krippendorff_alpha is 0.889 (reliable), and without 'None'", "0.740", "--missing None"),
    ),
    Case(
        "placeholder_None",
        f"judge big_None.csv {TWO_RATERS} {STANDARD} --missing None",
        1,
        ("krippendorff_alpha 0.740, 95% interval 0.678 to 0.796 on 500 items",),
        ("'None'",),
    ),
    Case(
        "placeholder_NA_admitted",
        f"judge bigl_NA.csv {STANDARD}",
        1,
        ("krippendorff_alpha is 0.889 (reliable), and without 'NA'", "0.740", "--missing NA"),
    ),
    Case(
        "jsonl_nan_token", f"measure nan_num.jsonl {ALPHA}", 0, (measured("1.00000", "24 of 30"),)
    ),
    Case(
        "ls_empty_choice",
        "judge empty_choice.json --label sent --policy exploratory",
        1,
        ("on 48 of 60 items", "The categories are those that occur: 'neg' and 'pos'", "answer 12"),
    ),
    Case(
        "inspect_nan_root",
        f"measure none_nan.json --label score {ALPHA}",
        0,
        (measured("0.78291", "64 of 80"),),
    ),
    Case(
        "inspect_epochs",
        f"judge epochs2.json --label score {STANDARD}",
        0,
        ("admitted", "on 300 items in 150 clusters"),
    ),
    Case("inspect_epochs", f"judge epochs1.json --label score {STANDARD}", 0, ("admitted",)),
    Case(
        "inspect_mixed_values",
        f"measure mixed.json --label score {ALPHA}",
        0,
        ("judge_b uses only '0' and '1', which nobody else uses", '--same-label "C=1"'),
    ),
    Case(
        "inspect_mixed_values",
        f"measure mixed.json --label score {ALPHA} --same-label I=0 --same-label C=1",
        0,
        (measured("1.00000", "40"),),
        ("nobody else uses",),
    ),
    Case(
        "mlflow_bool_yes",
        "measure bool_yes.jsonl --label ok --measure shah_s --scope classifier",
        0,
        ("openai:/gpt-4o uses only 'no' and 'yes', which nobody else uses",),
    ),
    Case(
        "table_yes_True",
        f"measure yesTrue.csv {TWO_RATERS} {ALPHA}",
        0,
        ("ben uses only 'False' and 'True', which nobody else uses", '--same-label "yes=True"'),
    ),
    Case(
        "table_yes_True",
        f"measure yesTrue.csv {TWO_RATERS} {ALPHA} --same-label yes=True --same-label no=False",
        0,
        (measured("0.70175", "60"),),
        ("nobody else uses",),
    ),
    Case(
        "excel_booleans",
        f"measure bool_mixed.xlsx {ALPHA}",
        0,
        (measured("0.90125", "40"),),
        ("print alike",),
    ),
    Case(
        "emoji_nfd",
        f"measure emoji_nfd.json --label sent {ALPHA}",
        0,
        (r"labels '😡 ne\u0301gatif' and '😡 n\xe9gatif' print alike",),
    ),
    Case(
        "copied_blocks",
        f"judge mast_high.csv --layout wide --item item {SIX_RATERS} {STANDARD}",
        1,
        ("rests on 20 items and the policy asks for 30", "380 items may copy others"),
    ),
    Case(
        "copied_blocks",
        f"judge mast_one.csv --layout wide --item item {SIX_RATERS} {STANDARD}",
        1,
        ("rests on 20 items and the policy asks for 30",),
        ("copy others",),
    ),
    Case(
        "rater_aliases",
        f"judge alias_same.csv {STANDARD}",
        1,
        ("'Ana' and 'ana'", "--same-rater Ana,ana", "--different-raters Ana,ana"),
    ),
    Case("promptfoo_no_testidx", f"measure v2_old.json --label pass {ALPHA}", 0, ("0.72800",)),
    Case(
        "promptfoo_assertion_null",
        f"measure errors.json --label pass {ALPHA}",
        0,
        (measured("0.66590", "42 of 51"),),
    ),
    Case(
        "langfuse_blob",
        f"measure blob_doc.jsonl --label tone {ALPHA}",
        2,
        ("scheduled export, which never names its author", "GET /api/public/v2/scores"),
    ),
    Case(
        "ls_duplicate_tasks",
        f"measure dup_tasks.json --label sent {ALPHA}",
        2,
        ("found record 'annotation 1' more than once", "Export again"),
    ),
    Case(
        "ls_labels_as_choices",
        f"measure labels_no_span.json --label sentiment {ALPHA}",
        0,
        (measured("0.66908", "60"),),
    ),
    Case(
        "ls_taxonomy",
        f"measure taxonomy.json --label tax {ALPHA}",
        0,
        (measured("0.94838", "60"),),
    ),
    Case(
        "ls_per_region",
        f"measure per_region.json --label polarity {ALPHA}",
        2,
        ("choices with perRegion, are no labels of items", "--units"),
    ),
    Case(
        "mlflow_overridden",
        "judge overridden.jsonl --label ok --policy exploratory",
        1,
        ("Agreement rests on first labels: 30 labels were changed later",),
    ),
    Case("leading_zeros", f"measure zeros.csv {ALPHA}", 2, ("no item with ratings by two raters",)),
    Case(
        "ids_in_scientific_notation",
        f"measure sci.csv {ALPHA}",
        2,
        ("found 60 labels of rater 'ben' for item '9.91214E+15'", "--duplicates"),
    ),
    Case(
        "excel_sep_line", f"measure sep.csv {TWO_RATERS} {ALPHA}", 0, (measured("0.70175", "60"),)
    ),
    Case(
        "excel_sep_line",
        f"measure sep.csv {TWO_RATERS} --header-row 2 {ALPHA}",
        0,
        (measured("0.70175", "60"),),
    ),
    Case(
        "ordinal_words",
        f"measure ordinal_text.csv --level ordinal {ALPHA}",
        2,
        ("words have no order of their own", "--categories low,middle,high"),
    ),
    Case(
        "weighted_fleiss_words",
        "measure kgwet3.csv --layout wide --item item --raters r1 --raters r2 --raters r3 "
        "--level ordinal --categories neg,ind,pos "
        "--measure fleiss_kappa_linear --measure fleiss_kappa",
        0,
        ("fleiss_kappa_linear round 0.04255", "fleiss_kappa round 0.08784"),
    ),
    Case(
        "unequal_raters_fleiss",
        f"measure sm7781.csv --layout counts --measure fleiss_kappa {ALPHA}",
        0,
        ("fleiss_kappa round 0.15789", "krippendorff_alpha round 0.41176"),
    ),
    Case(
        "all_one_category",
        "measure sm4387.csv --layout counts --measure fleiss_kappa --measure gwet_ac1",
        0,
        ("undefined: every rating that can be compared", "gwet_ac1 round 1.00000"),
    ),
    Case(
        "doccano_label_ids",
        f"measure doccano_old.jsonl --reader doccano --requires none {ALPHA}",
        0,
        (measured("0.44907", "60"),),
    ),
    Case(
        "doccano_zip_as_txt",
        f"measure 60767da8.txt {ALPHA}",
        0,
        (measured("0.56727", "60"),),
    ),
    Case(
        "argilla_1",
        f"measure argilla1_records.json --label sentiment {ALPHA}",
        2,
        ("as Argilla 1.x writes it; expected records of Argilla 2",),
    ),
]


@pytest.mark.parametrize("case", ORDINARY, ids=lambda case: f"{case.folder}: {case.command[:24]}")
def test_ordinary_data_has_the_right_outcome(case, capsys, monkeypatch):
    monkeypatch.chdir(CASES / case.folder)
    assert main(shlex.split(case.command)) == case.status
    printed = " ".join("".join(capsys.readouterr()).split())
    for words in case.prints:
        begin, _, end = words.partition(" * ")
        assert begin in printed
        assert end in printed
    for words in case.not_printed:
        assert words not in printed


def test_every_folder_of_ordinary_data_is_tried():
    through_init = {"init_keeps_blank"}
    assert {path.name for path in CASES.iterdir()} == {case.folder for case in ORDINARY} | (
        through_init
    )


def test_a_project_of_init_has_no_category_of_blanks(tmp_path, capsys):
    table = CASES / "init_keeps_blank" / "bigl_space.csv"
    assert main(["init", str(table), "--name", "sp", "--root", str(tmp_path)]) == 0
    project = tmp_path / "configs/projects/sp.yaml"
    assert 'categories: ["ham", "spam"]' in project.read_text()
    capsys.readouterr()
    assert main(["judge", str(project)]) == 1
    assert "0.740, 95% interval 0.678 to 0.796 on 500 items" in capsys.readouterr().out


# A tool exports all tasks each time: does a bad week hide behind the good weeks before it?

LABELS = ("negative", "neutral", "positive")
RATERS = ("kim", "lee", "noa")
N_OLD, N_NEW = 1_500, 150


def labels_of_items(rng: random.Random, first: int, n_items: int, accuracy: float):
    """The labels of each rater by item. A rater errs to any label."""
    labels_by_item = {}
    for item in range(first, first + n_items):
        truth = rng.choice(LABELS)
        labels_by_item[item] = [
            truth if rng.random() < accuracy else rng.choice(LABELS) for _ in RATERS
        ]
    return labels_by_item


def write_table(path: Path, labels_by_item) -> None:
    rows = [
        f"t{item},{rater},{label}"
        for item, labels in labels_by_item.items()
        for rater, label in zip(RATERS, labels, strict=True)
    ]
    path.with_suffix(".csv").write_text("\n".join(["item,rater,label", *rows]))


def write_label_studio(path: Path, labels_by_item) -> None:
    tasks = [
        {
            "id": 1000 + item,
            "data": {"text": f"Review {item}"},
            "predictions": [],
            "drafts": [],
            "annotations": [
                {
                    "id": 10 * item + n,
                    "completed_by": {"id": n, "email": rater},
                    "was_cancelled": False,
                    "ground_truth": False,
                    "created_at": "2026-11-03T10:00:00Z",
                    "updated_at": "2026-11-03T10:00:00Z",
                    "result": [
                        {
                            "id": f"r{item}-{n}",
                            "from_name": "label",
                            "to_name": "text",
                            "type": "choices",
                            "value": {"choices": [label]},
                        }
                    ],
                }
                for n, (rater, label) in enumerate(zip(RATERS, labels, strict=True))
            ],
        }
        for item, labels in labels_by_item.items()
    ]
    path.with_suffix(".json").write_text(json.dumps(tasks))


@pytest.mark.parametrize(
    ("write", "deliveries"), [(write_label_studio, ""), (write_table, "cumulative")]
)
def test_a_bad_week_in_a_cumulative_export_is_held_by_run(
    write, deliveries, tmp_path, capsys, monkeypatch
):
    rng = random.Random(5)
    old = labels_of_items(rng, 0, N_OLD, 0.97)
    new = labels_of_items(rng, N_OLD, N_NEW, 0.45)
    inbox = tmp_path / "data/reviews"
    inbox.mkdir(parents=True)
    write(inbox / "2026-W45", old)
    write(inbox / "2026-W46", old | new)
    project = tmp_path / "configs/projects/reviews.yaml"
    project.parent.mkdir(parents=True)
    project.write_text(
        "project: reviews\ninbox: data/reviews\npolicy: standard\n"
        f"scale: {{level: nominal, categories: [{', '.join(LABELS)}]}}\n"
        + (f"deliveries: {deliveries}\n" if deliveries else "")
    )
    monkeypatch.chdir(tmp_path)
    assert main(["run"]) == 1
    printed = " ".join(capsys.readouterr().out.split())
    assert "2026-W45 admitted released krippendorff_alpha 0.938" in printed
    if deliveries:
        assert "2026-W46 held none krippendorff_alpha 0.164" in printed
    else:
        assert "2026-W46 held none krippendorff_alpha 0.867" in printed
        assert "on the items that came first in 2026-W46 it is 0.164" in printed
        assert "1,500 of 1,650 items came in an earlier round with the same labels" in printed
