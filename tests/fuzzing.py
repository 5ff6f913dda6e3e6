"""Hostile bytes for everything that reads files.

They are refused with the package's own errors, and nothing that was changed is opened.
`python -m tests.fuzzing MINUTES` looks for that long, and prints every fault and the sums.
Each few inputs have a process of their own. So an input that ends its process, never ends or fills
the memory is a fault like any other. The tests run it for seconds.
"""

import gzip
import json
import os
import resource
import signal
import sys
import tempfile
import time
import traceback
import warnings
from collections import Counter
from collections.abc import Callable
from pathlib import Path
from typing import NamedTuple

import dagster as dg
import numpy as np
import pandas as pd
import pyarrow as pa
from hypothesis import HealthCheck, given, seed, settings
from hypothesis import strategies as st

from agreement_pipeline import (
    Policy,
    Ratings,
    Rule,
    Scale,
    check_delivery,
    open_release,
    readers,
)
from agreement_pipeline.contract import Contract
from agreement_pipeline.errors import AgreementError
from agreement_pipeline.orchestration import project_definitions
from agreement_pipeline.policy import assess, load_policy, load_waiver
from agreement_pipeline.projects import Project, ProjectSettings, load_project
from agreement_pipeline.readers import Columns, Rules, load_rows, read_rounds
from agreement_pipeline.readers.exports import ReadRequest
from agreement_pipeline.readers.table import TABLE
from agreement_pipeline.release import release_round
from agreement_pipeline.store import Store
from agreement_pipeline.units import UnitSettings
from tests.hostile import (
    CSV,
    JSON_LINES,
    LAYOUTS,
    LEVELS,
    POLICY,
    PROJECT,
    SUITE,
    WAIVER,
    frames,
    mutated,
    packed,
    parquet,
    suites,
    values_of,
)
from tests.readers import drawings, judges
from tests.readers.exports_of_tools import CASES
from tests.tampering import tampered

GIGABYTE = 1 << 30
MOST_MEMORY, LONGEST_SECONDS, AT_ONCE = 4 * GIGABYTE, 60, 60
"""What a process may take, what an input may take, and how many inputs a process tries."""

PARQUET = {
    "item": ["i1", "i1", "i2"],
    "rater": ["ana", "ben", "ana"],
    "label": [1, 2, None],
    "confidence": [0.5, None, 1.0],
}
DRAWINGS = (
    drawings.conll_spans,
    drawings.inception_spans,
    drawings.coco_boxes,
    drawings.cvat_boxes,
    drawings.pascal_voc_boxes,
)
JUDGES = (judges.mlflow_traces, judges.langfuse, judges.inspect_json, judges.promptfoo)
UNITS = {make.__name__: UnitSettings(make.__name__.rpartition("_")[2]) for make in DRAWINGS}
RULES = Policy("house", 1, (Rule("krippendorff_alpha"),), n_resamples=1000)


def reading(folder: Path) -> Callable[[str, bytes, str, str], None]:
    """Read bytes as a table in every way there is."""

    def read(name: str, data: bytes, level: str, layout: str) -> None:
        path = folder / name
        path.write_bytes(data)
        columns = Columns(raters=("ana", "gold")) if layout == "wide" else Columns()
        for attempt in (
            lambda: TABLE.read_rows(path, ReadRequest(layout=layout)),
            lambda: readers.read(path, Columns(gold="gold"), level=level, usable=False).digest,
            lambda: read_rounds(path, Columns(round="round")),
            lambda: readers.read(path, columns, level=level, layout=layout, usable=False).digest,
            lambda: (
                readers.read(
                    path, columns, level=level, layout=layout, scale=Scale((1, 2), "interval")
                ).digest
            ),
            lambda: _kept(folder, readers.read(path, columns, level=level, layout=layout), path),
        ):
            refused(attempt)

    return read


def _kept(folder: Path, ratings: Ratings, path: Path) -> None:
    with tempfile.TemporaryDirectory(dir=folder) as root:
        store = Store(Path(root), salt=b"a salt")
        store.ingest("r1", ratings, path)
        assert store.ratings("r1").digest == ratings.digest


def refused(attempt: Callable[[], object]) -> str | None:
    """What an attempt was refused with; None when it was not."""
    try:
        attempt()
    except AgreementError as error:
        return str(error)
    return None


def scattered() -> pd.DataFrame:
    """Ratings of forty items by three raters that no rule admits: the raters do not agree."""
    rows = [
        (f"i{item}", rater, ("no", "yes")[item >> bit & 1])
        for item in range(40)
        for bit, rater in enumerate("abc")
    ]
    return pd.DataFrame(rows, columns=["item", "rater", "label"])


def judging(folder: Path) -> Callable[[bytes], None]:
    """Ask a suite of a delivery that no rule admits: whatever it says, it is not admitted."""
    frame = scattered()
    ratings, path = Ratings.from_frame(frame, Scale(("no", "yes"))), folder / "strict.yaml"

    def judged(suite: bytes) -> None:
        path.write_bytes(suite)

        def judge() -> None:
            found = Contract.load(path)
            assert found.suite is not None
            assert Contract.from_mapping(found.to_mapping()).digest == found.digest
            check = check_delivery(frame, path, scale=ratings.scale)
            assert not assess(ratings, RULES, found, gate_findings=check.findings).decision.admitted

        refused(judge)

    return judged


def running(folder: Path) -> Callable[[bytes], None]:
    """Take a held round through a project: no project file lets training data out."""
    root = folder / "deep/er/than/any/path/goes/up"
    for name, text in (
        ("policies/house.yaml", POLICY),
        ("contracts/strict.yaml", SUITE),
    ):
        (root / "configs" / name).parent.mkdir(parents=True, exist_ok=True)
        (root / "configs" / name).write_text(text)
    (root / "configs/projects").mkdir()
    (root / "inbox").mkdir()
    scattered().to_csv(root / "inbox/r1.csv", index=False)

    def run(data: bytes) -> None:
        (root / "configs/projects/demo.yaml").write_bytes(data)
        refused(lambda: taken_through(load_project(root / "configs/projects/demo.yaml"), folder))
        assert not list(folder.rglob("deep/**/manifest.json"))

    return run


def taken_through(settings: ProjectSettings, folder: Path) -> None:
    dg.Definitions.validate_loadable(project_definitions(settings))
    project = Project(settings)
    if not Path(str(project.store.root)).resolve().is_relative_to(folder.resolve()):
        return  # nothing is written elsewhere
    for delivery in project.look().deliveries.values():
        project.keep(*project.delivered(delivery.round))
        release_round(
            project.store,
            delivery.round,
            project.policy,
            project.contract,
            project=project.name,
            waivers=project.waivers,
        )


def released(folder: Path) -> Path:
    """A release of ninety items by three raters."""
    rows = [
        (f"i{item:03}", rater, ("no", "yes")[(item + (item < 2 and rater == "c")) % 2])
        for item in range(90)
        for rater in "abc"
    ]
    frame = pd.DataFrame(rows, columns=["item", "rater", "label"])
    ratings = Ratings.from_frame(
        frame.assign(text="text of " + frame["item"], confidence=0.5),
        Scale(("no", "yes")),
    )
    (folder / "export.csv").write_bytes(b"as delivered")
    store = Store(folder / "store", salt=b"a salt for tests")
    store.ingest("r1", ratings, folder / "export.csv")
    contract = Contract.none()
    return Path(release_round(store, "r1", RULES, contract, project="demo").path)


def substance(path: Path) -> tuple[object, ...]:
    """What a trainer gets from a release."""
    found = open_release(path)
    digests = {name: ratings.digest for name, ratings in found.ratings.items()}
    said = (found.project, found.rounds, found.policy.digest, found.contract.digest, digests)
    return (*said, found.train.to_json(), found.annotations.to_json(), found.tentative)


def opening(
    folder: Path, original: Path
) -> tuple[dict[str, bytes], Callable[[tuple[dict[str, bytes], bool]], None]]:
    """The files of a release, and a check that opens it with changes.

    The release is refused, or it is the same to a trainer. If the manifest does not agree, it
    is refused.
    """
    files = {
        path.relative_to(original).as_posix(): path.read_bytes()
        for path in original.rglob("*")
        if path.is_file()
    }
    expected = substance(original)

    def opened(changed: tuple[dict[str, bytes], bool]) -> None:
        data, agreeing = changed
        with tempfile.TemporaryDirectory(dir=folder) as place:
            for name, content in data.items():
                (Path(place) / name).parent.mkdir(parents=True, exist_ok=True)
                (Path(place) / name).write_bytes(content)
            try:
                found = substance(Path(place))
            except AgreementError:
                return
            assert agreeing or {**data, "manifest.json": b""} == {**files, "manifest.json": b""}, (
                "opened although a file is not what the manifest lists"
            )
            other = [
                number
                for number, pair in enumerate(zip(found, expected, strict=True))
                if pair[0] != pair[1]
            ]
            assert not other, (
                "opened with other substance: "
                f"{[(str(found[n])[:150], str(expected[n])[:150]) for n in other]}"
            )

    return files, opened


def checks(folder: Path) -> dict[str, tuple[st.SearchStrategy, Callable]]:
    """What is fuzzed: hostile input for each reader, and what must hold of it."""
    files, opened = opening(folder, released(folder))

    def text(
        name: str, load: Callable[[Path], object], original: str
    ) -> tuple[st.SearchStrategy, Callable]:
        def loaded(data: bytes) -> None:
            (folder / name).write_bytes(data)
            refused(lambda: load(folder / name))

        return mutated(original.encode()), loaded

    def place(name: str) -> Path:
        (folder / name).mkdir()
        return folder / name

    return {
        **tables(folder),
        **exports(place("exports")),
        **drawn(place("drawn")),
        "policy": text("policy.yaml", load_policy, POLICY),
        "waiver": text("waiver.yaml", load_waiver, WAIVER),
        "contract": (
            suites(),
            judging(place("contract")),
        ),
        "project": (mutated(PROJECT.encode(), 2) | values_of(PROJECT), running(place("project"))),
        "release": (tampered(files), opened),
    }


def tables(folder: Path) -> dict[str, tuple[st.SearchStrategy, Callable]]:
    """Hostile tables in each format, and what must hold of them."""
    read, how = reading(folder), st.tuples(LEVELS, LAYOUTS)

    def table(name: str, data: st.SearchStrategy) -> tuple[st.SearchStrategy, Callable]:
        return st.tuples(data, how), lambda drawn: read(name, drawn[0], *drawn[1])

    return {
        "csv": table("a.csv", mutated(CSV.encode())),
        "csv cells": table(
            "b.csv",
            frames().map(
                lambda rows: pd.DataFrame(rows).to_csv(index=False).encode("utf-8", "surrogatepass")
            ),
        ),
        "tsv": table("a.tsv", mutated(CSV.replace(",", "\t").encode())),
        "json lines": table("a.jsonl", mutated(JSON_LINES.encode())),
        "json cells": table(
            "b.jsonl",
            frames().map(lambda rows: "".join(f"{json.dumps(row)}\n" for row in rows).encode()),
        ),
        "parquet types": table("b.parquet", parquet()),
        "gzip": table("a.csv.gz", packed(CSV.encode(), gzip.compress)),
        "zstd": table("a.jsonl.zst", packed(JSON_LINES.encode(), _zstd)),
    }


def _zstd(data: bytes) -> bytes:
    return pa.compress(data, codec="zstd", asbytes=True)


def exports(folder: Path) -> dict[str, tuple[st.SearchStrategy, Callable]]:
    """Changed exports of labelling tools, and what must hold of them."""

    def read(drawn: tuple[str, bytes]) -> None:
        case, data = CASES[drawn[0]], drawn[1]
        path = folder / case.file.name
        path.write_bytes(data)
        refused(lambda: load_rows(path, case.columns, rules=case.rules))

    small = [name for name, case in CASES.items() if case.file.is_file()]
    changed = st.sampled_from(small).flatmap(
        lambda name: st.tuples(st.just(name), mutated(CASES[name].file.read_bytes()))
    )
    return {"exports of tools": (changed, read)}


def drawn(folder: Path) -> dict[str, tuple[st.SearchStrategy, Callable]]:
    """Changed exports of tools that mark text and images, and of judges: a folder or a file each.

    One file of an export is changed. The others are as their tool writes them.
    """
    whole = {make.__name__: make(folder) for make in (*DRAWINGS, *JUDGES)}
    files = {
        (name, path): path.read_bytes()
        for name, export in whole.items()
        for path in (sorted(export.rglob("*")) if export.is_dir() else [export])
        if path.is_file()
    }

    def look(changed: tuple[tuple[str, Path], bytes]) -> None:
        (name, path), data = changed
        path.write_bytes(data)
        try:
            rules = Rules(requires=(), units=UNITS.get(name))
            columns = Columns(label="pass") if name == "promptfoo" else Columns()
            refused(lambda: readers.read(whole[name], columns, rules=rules, usable=False).digest)
        finally:
            path.write_bytes(files[name, path])

    changed = st.sampled_from(sorted(files)).flatmap(
        lambda key: st.tuples(st.just(key), mutated(files[key]))
    )
    return {"exports of objects": (changed, look)}


def fuzz(minutes: float) -> int:
    """Look for that long, print each fault once by its place, and count the faults."""
    found: dict[str, Found] = {}
    with tempfile.TemporaryDirectory() as folder:
        every, until = checks(Path(folder)), time.monotonic() + 60 * minutes
        number = time.time_ns()
        while time.monotonic() < until:
            for name in every:
                number += 1
                part = in_a_process(name, every[name], number, Path(folder) / "found.json")
                found[name] = found[name].and_also(part) if name in found else part
    return _said(found)


class Found(NamedTuple):
    """What inputs did: how many there were, their faults by place, and the most bytes of memory."""

    tried: int
    faults: Counter[str]
    peak: int

    def and_also(self, more: "Found") -> "Found":
        return Found(self.tried + more.tried, self.faults + more.faults, max(self.peak, more.peak))


def in_a_process(
    name: str, fuzzed: tuple[st.SearchStrategy, Callable], number: int, notes: Path
) -> Found:
    """Try some inputs in a process of their own. Notes say how far it came, if it is ended."""
    notes.write_text(json.dumps([0, {}, ""]))
    if not (child := os.fork()):
        resource.setrlimit(resource.RLIMIT_AS, (MOST_MEMORY, MOST_MEMORY))
        try:
            _gather(name, *fuzzed, number, notes)
        except BaseException:
            traceback.print_exc()
            os._exit(1)
        os._exit(0)
    _, status, used = os.wait4(child, 0)
    tried, faults, last = json.loads(notes.read_text())
    if status:
        key = f"{name}: the process ended with {os.waitstatus_to_exitcode(status)}"
        print(f"{key}\n  {last}", flush=True)  # noqa: T201
        faults[key] = 1
    return Found(tried, Counter(faults), used.ru_maxrss * 1024)


def _said(found: dict[str, Found]) -> int:
    lines = ["| what | inputs | faults | peak memory, MB |", "|---|---|---|---|"]
    lines += [
        f"| {name} | {each.tried} | {each.faults.total()} | {each.peak / 1e6:.0f} |"
        for name, each in found.items()
    ]
    every = Counter[str]()
    for each in found.values():
        every += each.faults
    let_through = sum(count for key, count in every.items() if ": AssertionError" in key)
    large = [name for name, each in found.items() if each.peak > GIGABYTE]
    print("\n".join(lines))  # noqa: T201
    print(  # noqa: T201
        f"{sum(each.tried for each in found.values())} inputs; "
        f"{every.total() - let_through} uncaught exceptions or ended processes; "
        f"{let_through} admitted or opened; peak memory "
        f"{max(each.peak for each in found.values()) / 1e6:.0f} MB"
        f"{', over 1 GiB in ' + ', '.join(large) if large else ''}",
        flush=True,
    )
    return len(every) + len(large)


def _gather(
    name: str, strategy: st.SearchStrategy, check: Callable, number: int, notes: Path
) -> None:
    tried, faults = 0, Counter[str]()

    @seed(number)
    @settings(
        max_examples=AT_ONCE, database=None, deadline=None, suppress_health_check=list(HealthCheck)
    )
    @given(strategy)
    def run(drawn: object) -> None:
        nonlocal tried
        tried += 1
        notes.write_text(json.dumps([tried, faults, repr(drawn)[:3000]]))
        signal.alarm(LONGEST_SECONDS)
        try:
            check(drawn)
        except Exception as error:
            place = " < ".join(
                f"{Path(frame.filename).name}:{frame.lineno}"
                for frame in reversed(traceback.extract_tb(error.__traceback__)[-6:])
            )
            key = f"{name}: {type(error).__name__} at {place}"
            if key not in faults:
                print(f"{key}\n  {str(error)[:300]}\n  {repr(drawn)[:600]}", flush=True)  # noqa: T201
            faults[key] += 1
        finally:
            signal.alarm(0)

    run()
    notes.write_text(json.dumps([tried, faults, ""]))


if __name__ == "__main__":
    np.seterr(all="ignore")
    warnings.simplefilter("ignore")
    sys.exit(fuzz(float(sys.argv[1])) > 0)
