"""Real annotation rounds through Dagster (Abercrombie et al. 2023).

22 people label 95 posts, and the same posts again weeks later.
"""

import json
import shutil
from pathlib import Path

import dagster as dg
import pandas as pd
import pytest

from agreement_pipeline.counting import RatingsCounting
from agreement_pipeline.measures import MEASURES
from agreement_pipeline.orchestration import project_definitions
from agreement_pipeline.projects import Project, load_project

pytestmark = pytest.mark.slow

SHARED = Path(__file__).parents[2] / "../shared/data"
POLICY = """policy: strict
version: 1
n_resamples: 1000
rules:
  - measure: krippendorff_alpha
  - measure: self_agreement_unbiased
"""


@pytest.fixture(scope="module")
def project(tmp_path_factory: pytest.TempPathFactory) -> Project:
    if not SHARED.exists():
        pytest.skip("the shared reference data are not beside the project")
    root = tmp_path_factory.mktemp("xhate")
    (root / "configs/projects").mkdir(parents=True)
    (root / "configs/policies").mkdir()
    (root / "inbox").mkdir()
    shutil.copy(SHARED / "xhate_stability.csv", root / "inbox")
    (root / "configs/policies/strict.yaml").write_text(POLICY)
    (root / "configs/projects/xhate.yaml").write_text(
        "project: xhate\ninbox: inbox\nscale: {categories: [Hateful, Non hateful]}\n"
        "columns: {round: round}\nreplicates: across\npolicy: strict\n".replace(
            "Non hateful", second_category()
        )
    )
    settings = load_project(root / "configs/projects/xhate.yaml")
    with dg.DagsterInstance.ephemeral() as instance:
        instance.add_dynamic_partitions("xhate_rounds", ["1", "2"])
        job = project_definitions(settings).resolve_job_def("xhate_round")
        deciding = [dg.AssetKey(["xhate", name]) for name in ("annotations", "acceptability")]
        for round_name in ("1", "2"):
            job.execute_in_process(
                instance=instance,
                partition_key=round_name,
                asset_selection=deciding,
                raise_on_error=False,
            )
    return Project(settings)


def second_category() -> str:
    return next(
        label
        for label in pd.read_csv(SHARED / "xhate_stability.csv")["label"].unique()
        if label != "Hateful"
    )


@pytest.mark.parametrize("round_name", ["1", "2"])
def test_alpha_of_each_round_is_that_of_another_implementation(project, round_name):
    published = json.loads((SHARED / "xhate_stability.json").read_text())[
        "alpha_fast_krippendorff"
    ]["per_round"]
    counts = RatingsCounting().counts(project.store.ratings(round_name))

    assert float(MEASURES["krippendorff_alpha"](counts).value) == pytest.approx(
        published[round_name]["nominal"], abs=1e-6
    )


def test_self_agreement_across_rounds_is_the_share_of_labels_kept(project):
    replicates = RatingsCounting().replicates(project.store.ratings("2"))
    pooled = float(MEASURES["self_agreement_unbiased"](replicates).value)

    assert pooled == pytest.approx(
        json.loads((SHARED / "xhate_stability.json").read_text())["retest"]["across_rounds"][
            "percent_agreement"
        ],
        abs=5e-5,
    )


def test_self_agreement_of_each_rater_is_a_plain_count(project):
    table = pd.read_csv(SHARED / "xhate_stability.csv").pivot(
        index=["item", "rater"], columns="round", values="label"
    )
    kept = (table[1] == table[2]).groupby("rater").mean()
    replicates = RatingsCounting().replicates(project.store.ratings("2"))

    for rater, share in kept.items():
        assert float(
            MEASURES["self_agreement_unbiased"](replicates.cells_of_rater(str(rater))).value
        ) == pytest.approx(share)


@pytest.mark.parametrize("round_name", ["1", "2"])
def test_each_round_is_held_and_says_why(project, round_name):
    decision = [
        entry for entry in project.store.history(round_name) if entry["event"] == "decided"
    ][-1]

    assert decision["decision"] == "held"
    assert any(
        "krippendorff_alpha" in reason and "under 0.667" in reason for reason in decision["reasons"]
    )
