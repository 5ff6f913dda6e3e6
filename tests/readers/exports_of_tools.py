"""One invented project as its tools export it, and how a project would name its columns."""

import csv
import json
from pathlib import Path
from typing import NamedTuple

from agreement_pipeline.readers import Columns, Rules

EXPORTS = Path(__file__).parent / "exports"
EXPECTED = json.loads((EXPORTS / "expected.json").read_text())["expected"]
WRONG = json.loads((EXPORTS / "expected.json").read_text())["wrong_readers"]
UNSAID = ()
ALL = tuple(f"doc-{number:03}" for number in range(1, 9))


class Case(NamedTuple):
    """An export, and what a project must say of it."""

    path: str
    columns: Columns
    rules: Rules = Rules(all_rounds=True)
    items: tuple[str, ...] = ALL
    round: str | None = "round"
    questions: tuple[str, ...] = ("sentiment",)
    names: tuple[str, ...] = ("ana", "ben", "chi")

    @property
    def file(self):
        return EXPORTS / self.path

    def named(self, name):
        """The person's name in the fixture of a rater in this export."""
        return dict(zip(self.names, ("ana", "ben", "chi"), strict=True)).get(name, name)


MAILS = ("ana@example.org", "ben@example.org", "chi@example.org")
USERS = tuple(f"{digit * 8}-{digit * 4}-4{digit * 3}-8{digit * 3}-{digit * 12}" for digit in "123")
FLAT = {"item": "doc_id", "label": "sentiment"}
THREE = ALL[:3]
ALL_ROUNDS = Rules(all_rounds=True)
WITHOUT_GOLD = Rules(all_rounds=True, requires=(), exclude_raters=("20", "gold@example.org"))
FOUR = ("sentiment", "quality", "severity", "topics")

CASES = {
    "label_studio": Case(
        "label_studio/label_studio.json",
        Columns(**FLAT),
        questions=FOUR,
        names=("11", "12", "13"),
    ),
    "label_studio_enterprise": Case(
        "label_studio/label_studio_enterprise.json", Columns(**FLAT), questions=FOUR, names=MAILS
    ),
    "label_studio_csv_with_history": Case(
        "label_studio/label_studio_enterprise.csv",
        Columns(**FLAT),
        WITHOUT_GOLD,
        questions=FOUR,
        names=MAILS,
    ),
    "label_studio_tsv_with_history": Case(
        "label_studio/label_studio_enterprise.tsv", Columns(**FLAT), WITHOUT_GOLD, names=MAILS
    ),
    "label_studio_csv": Case(
        "label_studio/label_studio.csv",
        Columns(**FLAT),
        WITHOUT_GOLD,
        questions=FOUR,
        names=("11", "12", "13"),
    ),
    "label_studio_tsv": Case(
        "label_studio/label_studio.tsv", Columns(**FLAT), WITHOUT_GOLD, names=("11", "12", "13")
    ),
    "label_studio_json_min": Case(
        "label_studio/label_studio_json_min.json",
        Columns(**FLAT),
        WITHOUT_GOLD,
        questions=FOUR,
        names=("11", "12", "13"),
    ),
    "argilla": Case(
        "argilla/argilla_records_flat.json",
        Columns(label="sentiment"),
        questions=("sentiment", "quality", "topics"),
        names=USERS,
    ),
    "argilla_parquet": Case(
        "argilla/argilla_records_flat.parquet",
        Columns(label="sentiment"),
        questions=("sentiment", "quality", "topics"),
        names=USERS,
    ),
    "argilla_rest": Case(
        "argilla/argilla_rest_records.json",
        Columns(label="sentiment"),
        questions=("sentiment", "quality", "topics"),
        names=USERS,
    ),
    "prodigy": Case("prodigy/prodigy_choice.jsonl", Columns(item="doc_id")),
    "doccano": Case("doccano/individual", Columns(item="doc_id")),
    "doccano_confirmed": Case("doccano/individual_confirmed_only", Columns(item="doc_id")),
    "labelbox": Case(
        "labelbox/labelbox_export.ndjson",
        Columns(label="sentiment"),
        questions=("sentiment", "quality", "topics"),
        names=MAILS,
    ),
    "mturk": Case(
        "mturk/Batch_4711_batch_results.csv",
        Columns(**FLAT),
        questions=("sentiment", "quality", "topics"),
        names=("AANA00000000000", "ABEN00000000000", "ACHI00000000000"),
    ),
    "mturk_by_its_columns": Case(
        "mturk/Batch_4711_batch_results.csv",
        Columns(item="Input.doc_id", rater="WorkerId", label="Answer.sentiment.label"),
        names=("AANA00000000000", "ABEN00000000000", "ACHI00000000000"),
    ),
    "ground_truth": Case(
        "ground_truth",
        Columns(item="doc-id", label="crowd-classifier"),
        names=tuple(
            f"private.us-west-2.{each}"
            for each in ("anaaaaaaaaaaaaaa", "benaaaaaaaaaaaaa", "chiaaaaaaaaaaaaa")
        ),
    ),
    "ground_truth_requests": Case(
        "ground_truth/annotations/consolidated-annotation",
        Columns(label="crowd-classifier"),
        items=tuple("01234567"),
        round=None,
        names=tuple(
            f"private.us-west-2.{each}"
            for each in ("anaaaaaaaaaaaaaa", "benaaaaaaaaaaaaa", "chiaaaaaaaaaaaaa")
        ),
    ),
    "cvat": Case("cvat", Columns(item="stem", label="tag"), round=None),
    "toloka": Case(
        "toloka/assignments.tsv",
        Columns(**FLAT),
        questions=("sentiment", "quality"),
        names=("worker-ana", "worker-ben", "worker-chi"),
    ),
    "superannotate": Case(
        "superannotate", Columns(label="tag"), items=THREE, round=None, names=MAILS
    ),
    "encord": Case(
        "encord/label_rows.json", Columns(label="sentiment"), items=THREE, round=None, names=MAILS
    ),
    "dataloop": Case(
        "dataloop", Columns(item="stem", label="class"), items=THREE, round=None, names=MAILS
    ),
}


def expected_rows():
    """The submissions of the project, as its own file has them."""
    with (EXPORTS / "expected_canonical.csv").open(newline="") as file:
        return [row for row in csv.DictReader(file) if row["is_gold"] == "0"]


def expected_labels(case, question):
    """(item, rater) -> label, of what was submitted."""
    return {
        (case.items[ALL.index(row["item_id"])], row["annotator"]): _label(row[question], question)
        for row in expected_rows()
        if row["status"] == "submitted" and ALL.index(row["item_id"]) < len(case.items)
    }


def _label(written, question):
    if question == "topics":
        return "|".join(sorted(json.loads(written))) or "|"
    return str(float(written)) if question == "severity" else written
