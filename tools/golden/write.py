"""Write the golden stores and releases of one version of the package.

`PYTHONPATH=CHECKOUT python -P tools/golden/write.py tests/golden COMMIT`, where CHECKOUT is the
version that writes. All versions read the same sources, as far as each can. What the version itself
said of its rounds and releases is kept as JSON beside them. Times and the key of pseudonyms are
fixed, so the same version writes the same bytes.

Never write the files of an old version again because a test fails: old stores do not change.
"""

import json
import sys
from collections.abc import Iterator
from dataclasses import dataclass, field
from datetime import UTC, datetime, tzinfo
from importlib import import_module
from pathlib import Path
from shutil import copytree, rmtree
from tempfile import TemporaryDirectory
from typing import Any

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
    """A round, and how its source is read.

    Parameters
    ----------
    name, source
        The name in the store, and the file.
    columns, scale, reading
        The arguments of `Columns` and `Scale`, and others of `read_ratings`.
    since
        Columns and rules that only later versions know.
    """

    name: str
    source: str
    columns: dict[str, Any] = field(default_factory=dict)
    scale: tuple[Any, str] = (None, "nominal")
    reading: dict[str, Any] = field(default_factory=dict)
    since: dict[str, dict[str, Any]] = field(default_factory=dict)


FORUM: dict[str, Any] = {
    "columns": {
        "item": "post",
        "rater": "annotator",
        "occurrence": "meeting",
        "confidence": "sure",
        "cluster": "thread",
        "gold": "known",
    },
    "scale": (("safe", "unsafe"), "nominal"),
    "reading": {"classifiers": ("gpt",)},
    "since": {
        "columns": {"gold_label": "right", "assisted": "helped"},
        "rules": {"strata": ("language",)},
    },
}
LAB = Round(
    "lab-1",
    "lab-1.csv",
    {"item": "specimen", "raters": ("A", "B", "C", "machine")},
    ((1, 2, 3, 4), "ordinal"),
    {"layout": "wide", "classifiers": ("machine",)},
)
SIZES = Round("sizes-1", "sizes-1.csv", scale=(None, "interval"))
NOTES = Round(
    "notes-1",
    "notes-1.json",
    {"item": "name"},
    (("none", "PER", "ORG"), "nominal"),
    since={"rules": {"units": "spans"}},
)


class Writer:
    """One version of the package, and a store that it writes."""

    def __init__(self, sources: Path, policy: Path, root: Path) -> None:
        self.later = _has("agreement_pipeline.units")
        self.sources = sources
        root.mkdir(parents=True)
        (root / "salt").write_bytes(KEY)
        self.store = _named("agreement_pipeline.store:Store")(str(root))
        self.policy = _named(
            "agreement_pipeline:load_policy", "agreement_pipeline.configuration:load_policy"
        )(policy)
        self.contract = _named("agreement_pipeline.contract:Contract").default()
        self.said: dict[str, Any] = {"decisions": {}, "estimates": {}, "releases": {}}

    def write_forum(self) -> None:
        """A round that is admitted, one that is held, and one whose release is withdrawn."""
        for name in ("forum-1", "forum-2", "forum-3"):
            self.ingest(Round(name, f"{name}.csv", **FORUM))
            self.release(name)
        self.dataset(["forum-1", "forum-3"])
        self.ingest(Round("forum-3", "forum-3-again.csv", **FORUM))
        self.release("forum-3")

    def write_others(self) -> None:
        """A wide table, numbers on an open scale, and spans from the export of a tool."""
        for one in (LAB, SIZES, *((NOTES,) if self.later else ())):
            self.ingest(one)
            self.release(one.name)

    def ingest(self, one: Round) -> None:
        """Read a round and keep it, with what is measured of it."""
        ratings = self.read(one)
        self.store.ingest(one.name, ratings, self.sources / one.source)
        if self.later:
            survey = _named("agreement_pipeline:survey")
            found = survey(ratings, MEASURES, scopes=("round", "classifier", "stratum"))
            said = [each.to_mapping() for each in found]
            self.said["estimates"][ratings.digest] = [
                {name: value for name, value in each.items() if name not in WORDS} for each in said
            ]

    def read(self, one: Round) -> Any:
        """The ratings of a round."""
        columns = {**one.columns, **(one.since.get("columns", {}) if self.later else {})}
        categories, level = one.scale
        scale = _named("agreement_pipeline.ratings:Scale", "agreement_pipeline.scale:Scale")
        settings = {**one.reading, "scale": scale(categories, level)}
        if self.later and "rules" in one.since:
            settings["rules"] = _rules(**one.since["rules"])
        read = _named(
            "agreement_pipeline:read_ratings", "agreement_pipeline.readers.table:read_ratings"
        )
        made = _named("agreement_pipeline.readers.columns:Columns")(**columns)
        return read(self.sources / one.source, made, **settings)

    def release(self, name: str) -> None:
        """Judge a round, keep what was decided, and release it if it is admitted."""
        judged = _named("agreement_pipeline.release:judge_round")
        decision, _ = judged(self.store, name, self.policy, self.contract)
        self.said["decisions"].setdefault(name, []).append(decision.to_mapping())
        if decision.admitted:
            make = _named("agreement_pipeline.release:release_round")
            self._released(make(self.store, name, self.policy, self.contract, project=PROJECT))

    def dataset(self, names: list[str]) -> None:
        """Release several rounds as one data set."""
        make = _named("agreement_pipeline.release:release_dataset")
        self._released(make(self.store, names, self.policy, self.contract, project=PROJECT))

    def _released(self, release: Any) -> None:
        path = Path(str(release.path))
        called = f"{path.parent.name}/{path.name}"
        self.said["releases"][called] = {
            "manifest_digest": release.manifest_digest,
            "rounds": {name: ratings.digest for name, ratings in release.ratings.items()},
        }

    def expected(self, commit: str) -> dict[str, Any]:
        """What this version says of its store and of its releases."""
        opened = _named("agreement_pipeline.release:open_release")
        refused = _named("agreement_pipeline.errors:ReleaseInvalidError")
        for called, said in self.said["releases"].items():
            try:
                opened(self.store.root / "releases" / called, store=self.store)
            except refused as error:
                said["refused"] = error.code
        version = import_module("agreement_pipeline").__version__
        rounds = {name: self.store.present(name).ratings_digest for name in self.store.rounds()}
        history = [
            [entry["event"], entry["round"], entry["time"]] for entry in self.store.history()
        ]
        return {
            "commit": commit,
            "version": version,
            "rounds": rounds,
            "history": history,
            **self.said,
        }


def _rules(units: str | None = None, strata: tuple[str, ...] = ()) -> Any:
    settings = _named("agreement_pipeline.units:UnitSettings")(units) if units else None
    return _named("agreement_pipeline.readers:Rules")(strata=strata, units=settings)


def _has(module: str) -> bool:
    try:
        import_module(module)
    except ModuleNotFoundError:
        return False
    return True


def _named(*places: str) -> Any:
    """What stands under a name, in the first of some places that has it."""
    for place in places:
        module, _, name = place.partition(":")
        if _has(module) and hasattr(found := import_module(module), name):
            return getattr(found, name)
    raise SystemExit(f"found none of {places}; expected one. This version is not known here.")


def _fix_times() -> None:
    """Let each look at the clock be a minute after the last one, in all modules of the package."""
    times = _times()

    class Fixed(datetime):
        @classmethod
        def now(cls, tz: tzinfo | None = None) -> "Fixed":
            return cls.fromtimestamp(next(times), tz)

    for name in ("orchestration", "release", "store", "cli"):
        _has(f"agreement_pipeline.{name}")
    for module in [each for name, each in sys.modules.items() if name.startswith(PACKAGE)]:
        if getattr(module, "datetime", None) is datetime:
            vars(module)["datetime"] = Fixed


def _times() -> Iterator[float]:
    at = BEGIN.timestamp()
    while True:
        yield at
        at += 60


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
