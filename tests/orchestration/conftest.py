from collections.abc import Callable
from pathlib import Path
from typing import Any

import dagster as dg
import pandas as pd
import pytest
import yaml

from agreement_pipeline.orchestration import project_definitions
from agreement_pipeline.projects import Project, ProjectSettings

CATEGORIES = ["safe", "offensive", "hateful"]
POLICY = {
    "policy": "strict",
    "version": 1,
    "n_resamples": 1000,
    "rules": [{"measure": "krippendorff_alpha", "min_items": 20}],
}


@pytest.fixture(autouse=True)
def _known_keys(known_keys):
    """Rounds of these tests are often the same."""


def ratings_frame(agreement: float, *, n_items: int = 120, seed: int = 1) -> pd.DataFrame:
    """Three raters who name an item's own category with probability `agreement`, else the next one.

    The pattern is fixed. No random generator is used.
    """
    rows = []
    for i in range(n_items):
        for r, rater in enumerate(("ana", "ben", "chi")):
            slips = ((i * 37 + r * 101 + seed * 13) % 1000) / 1000 >= agreement
            rows.append((f"i{i:03d}", rater, CATEGORIES[(i + slips) % 3]))
    return pd.DataFrame(rows, columns=["item", "rater", "label"])


class Line:
    """A project in a folder, its definitions and an instance to run them on."""

    def __init__(self, root: Path, instance: dg.DagsterInstance, **settings: object) -> None:
        self.root, self.instance = root, instance
        self.settings = ProjectSettings(
            project="reviews",
            inbox="inbox",
            policy="strict",
            root=str(root),
            **{
                "scale": {"categories": CATEGORIES},
                "deliveries": "independent",
                **settings,
            },
        )
        self._loaded: tuple[ProjectSettings, dg.Definitions] | None = None
        (root / "configs/policies").mkdir(parents=True)
        (root / "inbox").mkdir()
        self.write_policy(POLICY)

    @property
    def project(self) -> Project:
        return Project(self.settings)

    @property
    def definitions(self) -> dg.Definitions:
        """Loaded once, as by a code server, and again under other settings."""
        if self._loaded is None or self._loaded[0] is not self.settings:
            self._loaded = self.settings, project_definitions(self.settings)
        return self._loaded[1]

    def write_policy(self, policy: dict) -> None:
        (self.root / "configs/policies/strict.yaml").write_text(yaml.safe_dump(policy))

    def deliver(self, round_name: str, frame: pd.DataFrame) -> Path:
        path = self.root / "inbox" / f"{round_name}.csv"
        frame.to_csv(path, index=False)
        return path

    def run(
        self, round_name: str, *names: str, tags: dict[str, str] | None = None
    ) -> dg.ExecuteInProcessResult:
        self.instance.add_dynamic_partitions("reviews_rounds", [round_name])
        job = self.definitions.resolve_job_def("reviews_round")
        selection = [dg.AssetKey(["reviews", name]) for name in names] or None
        return job.execute_in_process(
            instance=self.instance,
            partition_key=round_name,
            raise_on_error=False,
            asset_selection=selection,
            tags=tags,
        )

    def decide(self, round_name: str, **more: Any) -> dg.ExecuteInProcessResult:
        """A run of what lets training data out, without the tables beside it."""
        return self.run(round_name, "annotations", "acceptability", "training_data", **more)

    def released(self) -> list[Path]:
        return sorted(
            path.parent
            for path in (self.root / ".agreement").rglob("manifest.json")
            if not (path.parent / "WITHDRAWN.json").exists()
        )


@pytest.fixture
def line(tmp_path: Path, instance: dg.DagsterInstance) -> Line:
    return Line(tmp_path, instance)


@pytest.fixture
def make_line(tmp_path: Path, instance: dg.DagsterInstance) -> Callable[..., Line]:
    return lambda **settings: Line(tmp_path, instance, **settings)
