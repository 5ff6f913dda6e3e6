"""Which checks of the whole round, and which doubts of the gate, hold of real data.

A round with a column gold is judged twice: as it is, and with every item gold that has a settled
label. Of several numbers, the first is read.
"""

import json
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import pandas as pd

from agreement_pipeline import Ratings, Scale
from agreement_pipeline.policy import GATE_TABLE, judge, load_policy
from agreement_pipeline.ratings import UNIVARIATE
from benchmarks.studies.study import Asked, Cells, study

DOUBTS = ("flattered", "dissent_left_out", "weak_part", "ratings_chosen")
POLICY = replace(load_policy("standard"), n_resamples=1000)


def failing(ratings: Ratings) -> tuple[str, ...]:
    """The names of the checks that fail, and the codes of verdicts that are taken back."""
    decision = judge(ratings, POLICY)
    findings = [
        each.check
        for each in decision.findings
        if not each.passed and each.table in ("round", GATE_TABLE)
    ]
    codes = [each.code for each in decision.verdicts if each.code in DOUBTS]
    return (*findings, *codes)


def rounds_in(path: Path) -> Iterator[tuple[str, pd.DataFrame, Scale]]:
    """The rounds of a data set, each with its scale."""
    said = json.loads(path.with_suffix(".json").read_text())
    table = pd.read_csv(path, dtype={"item": str, "rater": str, "round": str}, low_memory=False)
    order, column = said.get("category_order"), said["label_columns"][0]
    level = next(each for each in reversed(UNIVARIATE) if each in said["scale"])
    for name, rows in table.groupby("round"):
        labels = rows.assign(label=rows[column]).dropna(subset=["label"])
        scale = Scale(tuple(order), level) if order else Scale.from_labels(labels["label"], level)
        yield str(name), labels, scale


def ratings_of(rows: pd.DataFrame, scale: Scale) -> Ratings:
    """The ratings of a round, without gold items."""
    named = rows.rename(columns={"replicate": "occurrence"})
    return Ratings.from_frame(named[["item", "rater", "label", "occurrence"]], scale)


@study("data set | round | ratings | what fails", real=True)
def real_rounds(asked: Asked) -> Iterator[Cells]:
    """The checks that fail and the verdicts that are taken back, of every round of the folder."""
    for path in sorted(asked.folder.glob("*.csv")):
        for name, rows, scale in rounds_in(path):
            ratings = ratings_of(rows, scale)
            yield path.stem, name, len(ratings), ", ".join(failing(ratings))
            if "gold" in rows:
                settled = frozenset(rows.loc[rows["gold"].notna(), "item"])
                with_gold = replace(ratings, also_gold=settled)
                yield path.stem, name, "gold", ", ".join(failing(with_gold))
