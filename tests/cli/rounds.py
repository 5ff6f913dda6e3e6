"""Tables and policies that the commands are tried on."""

import json
from pathlib import Path

import pandas as pd
import pytest

from agreement_pipeline.cli import main

ROOT = Path(__file__).parents[2]
SEROLOGY = ROOT / "configs/rounds/serology/williams-1976.csv"
OBSERVERS = ROOT / "../shared/data/ref_krippendorff_4x12.csv"
WIDE = (
    "--layout",
    "wide",
    "--item",
    "specimen",
    *(f"--raters={name}" for name in ("T", "Ref-1", "Ref-2", "Ref-3")),
)


def measured(capsys: pytest.CaptureFixture[str], *arguments: str) -> list[dict]:
    assert main(["measure", *arguments, "--format", "json", "--n-resamples", "1000"]) == 0
    return json.loads(capsys.readouterr().out)


def of(found: list[dict], measure: str, scope: str = "round") -> dict:
    return next(each for each in found if each["measure"] == measure and each["scope"] == scope)


def policy(tmp_path: Path, *, tentative: float = 0.667, reliable: float = 0.8) -> Path:
    path = tmp_path / "policy.yaml"
    rule = f"measure: krippendorff_alpha, reliable: {reliable}, tentative: {tentative}"
    path.write_text(f"policy: p\nversion: 1\nrules:\n  - {{{rule}}}\n")
    return path


def unanimous(tmp_path: Path, n_items: int) -> Path:
    path = tmp_path / "table.csv"
    pd.DataFrame(
        [(i, rater, "yes" if i % 2 else "no") for i in range(n_items) for rater in "abc"],
        columns=["item", "rater", "label"],
    ).to_csv(path, index=False)
    return path
