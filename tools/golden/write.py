"""Write the golden stores and releases of one version of the package.

`PYTHONPATH=CHECKOUT python -P tools/golden/write.py tests/golden COMMIT`, where CHECKOUT is the
version that writes. All versions read the same sources. What the version itself said of its rounds
and releases is kept as JSON beside them. Times and the key of pseudonyms are fixed, so the same
version writes the same bytes.

Never write the files of an old version again because a test fails: old stores do not change.
"""

import json
import sys
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta, tzinfo
from importlib import import_module
from itertools import count
from pathlib import Path
from shutil import copytree, rmtree
from tempfile import TemporaryDirectory
from typing import Any

from agreement_pipeline import Ratings, Scale, Store, __version__, load_policy, read_ratings, survey
from agreement_pipeline.contract import Contract
from agreement_pipeline.errors import ReleaseInvalidError
from agreement_pipeline.readers import Columns, Rules
from agreement_pipeline.release import (
    Release,
    judge_round,
    open_release,
    release_dataset,
    release_round,
)
from agreement_pipeline.units import UnitSettings

PACKAGE = "agreement_pipeline."
PROJECT = "golden"
KEY = b"golden stores of tests hide nobody"
BEGIN = datetime(2026, 11, 1, 9, tzinfo=UTC)
WORDS = ("convention", "categories", "misled")
MEASURES = (
    "krippendorff_alpha",
    "percent_agreement",
    "fleiss_kappa",
    "cohen_kappa_quadratic",
    "icc_2_1",
    "self_agreement_unbiased",
    "advantage_probability",
    "gold_accuracy",
)


@dataclass(frozen=True)
class Round:
    """A round: its name in the store, its file, and how `read_ratings` is to read that."""

    name: str
    source: str
    columns: Columns = field(default_factory=Columns)
    scale: Scale = field(default_factory=lambda: Scale(None, "interval"))
    reading: dict[str, Any] = field(default_factory=dict)

    def ratings(self, sources: Path) -> Ratings:
        """The ratings, read from a folder of sources."""
        return read_ratings(sources / self.source, self.columns, scale=self.scale, **self.reading)


FORUM: dict[str, Any] = {
    "columns": Columns(
        item="post",
        rater="annotator",
        occurrence="meeting",
        confidence="sure",
        cluster="thread",
        gold="known",
        gold_label="right",
        assisted="helped",
    ),
    "scale": Scale(("safe", "unsafe")),
    "reading": {"classifiers": ("gpt",), "rules": Rules(strata=("language",))},
}
LAB = Round(
    "lab-1",
    "lab-1.csv",
    Columns(item="specimen", raters=("A", "B", "C", "machine")),
    Scale((1, 2, 3, 4), "ordinal"),
    {"layout": "wide", "classifiers": ("machine",)},
)
SIZES = Round("sizes-1", "sizes-1.csv")
NOTES = Round(
    "notes-1",
    "notes-1.json",
    Columns(item="name"),
    Scale(("none", "PER", "ORG")),
    {"rules": Rules(units=UnitSettings("spans"))},
)


class Writer:
    """A store that this version of the package writes, and what it says of it."""

    def __init__(self, sources: Path, policy: Path, root: Path) -> None:
        self.sources = sources
        root.mkdir(parents=True)
        (root / "salt").write_bytes(KEY)
        self.store = Store(str(root))
        self.policy, self.contract = load_policy(policy), Contract.none()
        self.said: dict[str, Any] = {"decisions": {}, "estimates": {}, "releases": {}}

    def write_forum(self) -> None:
        """A round that is admitted, one that is held, and one whose release is withdrawn."""
        for name in ("forum-1", "forum-2", "forum-3"):
            self._taken_through(Round(name, f"{name}.csv", **FORUM))
        both = ["forum-1", "forum-3"]
        made = release_dataset(self.store, both, self.policy, self.contract, project=PROJECT)
        self._released(made)
        self._taken_through(Round("forum-3", "forum-3-again.csv", **FORUM))

    def write_others(self) -> None:
        """A wide table, numbers on an open scale, and spans from the export of a tool."""
        for one in (LAB, SIZES, NOTES):
            self._taken_through(one)

    def _taken_through(self, one: Round) -> None:
        """Keep a round with what is measured of it, judge it, and release it if it is admitted."""
        ratings = one.ratings(self.sources)
        self.store.ingest(one.name, ratings, self.sources / one.source)
        found = survey(ratings, MEASURES, scopes=("round", "classifier", "stratum"))
        self.said["estimates"][ratings.digest] = [
            {name: value for name, value in each.to_mapping().items() if name not in WORDS}
            for each in found
        ]
        judged, _ = judge_round(self.store, one.name, self.policy, self.contract)
        decision = judged.decision
        self.said["decisions"].setdefault(one.name, []).append(decision.to_mapping())
        if decision.admitted:
            made = release_round(self.store, one.name, self.policy, self.contract, project=PROJECT)
            self._released(made)

    def _released(self, release: Release) -> None:
        path = Path(str(release.path))
        self.said["releases"][f"{path.parent.name}/{path.name}"] = {
            "manifest_digest": release.manifest_digest,
            "rounds": {name: ratings.digest for name, ratings in release.ratings.items()},
        }

    def expected(self, commit: str) -> dict[str, Any]:
        """What this version says of its store and of its releases."""
        for called, said in self.said["releases"].items():
            try:
                open_release(self.store.root / "releases" / called, store=self.store)
            except ReleaseInvalidError as error:
                said["refused"] = error.code
        happened = ("event", "round", "time")
        return {
            "commit": commit,
            "version": __version__,
            "rounds": {
                name: self.store.present(name).ratings_digest for name in self.store.rounds()
            },
            "history": [[entry[name] for name in happened] for entry in self.store.history()],
            **self.said,
        }


def _fix_times() -> None:
    """Let each look at the clock be a minute after the last one, in all modules of the package."""
    minutes = count()

    class Fixed(datetime):
        @classmethod
        def now(cls, tz: tzinfo | None = None) -> "Fixed":
            at = BEGIN + timedelta(minutes=next(minutes))
            return cls.fromtimestamp(at.timestamp(), tz)

    for name in ("orchestration", "cli"):
        import_module(PACKAGE + name)
    for module in [each for name, each in sys.modules.items() if name.startswith(PACKAGE)]:
        if getattr(module, "datetime", None) is datetime:
            vars(module)["datetime"] = Fixed


def main(golden: Path, commit: str) -> None:
    """Write the stores of a version and what it said of them into the folder of its commit."""
    folder = golden / commit
    rmtree(folder, ignore_errors=True)
    own = golden / "policies" / f"{commit}.yaml"
    policy = own if own.exists() else golden / "policies" / "golden.yaml"
    _fix_times()
    for name in ("forum", "others"):
        with TemporaryDirectory() as made:
            root = Path(made, name)
            writer = Writer(golden / "sources", policy, root)
            getattr(writer, f"write_{name}")()
            expected = writer.expected(commit)
            copytree(root, folder / name)
        text = json.dumps(expected, ensure_ascii=False, indent=1, sort_keys=True)
        (folder / f"{name}.json").write_text(text + "\n", encoding="utf-8")


if __name__ == "__main__":
    main(Path(sys.argv[1]), sys.argv[2])
