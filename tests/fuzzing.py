"""Hostile bytes for whatever reads files: refused with the package's own errors, and nothing that was changed is opened.

`python tests/fuzzing.py MINUTES` looks for as long as that and prints what came out that should not have; the tests run it for seconds.
"""

import hashlib
import io
import json
import sys
import tempfile
import time
import traceback
from collections.abc import Callable
from pathlib import Path

import dagster as dg
import numpy as np
import pandas as pd
import pyarrow as pa
import pyarrow.parquet as pq
import yaml
from hypothesis import HealthCheck, given, seed, settings
from hypothesis import strategies as st

from agreement_pipeline import Policy, Ratings, Rule, Scale, open_release
from agreement_pipeline.contract import Contract
from agreement_pipeline.errors import AgreementError
from agreement_pipeline.orchestration import project_definitions
from agreement_pipeline.policy import assess, load_policy, load_waiver
from agreement_pipeline.projects import Project, ProjectSettings
from agreement_pipeline.projects.files import load_project
from agreement_pipeline import readers
from agreement_pipeline.readers import Columns, read_rounds
from agreement_pipeline.readers.table import table_rows
from agreement_pipeline.release import release_round
from agreement_pipeline.store import Store

DIGITS = "9" * 5000
NASTY = (
    "\0", '"', "'", ",", "\t", "\n", "\r", "\\", "|", "{", "}", "[", "]", ":", "- ", "&a ", "*a", "<<: ", "? ", "!!python/object/apply:os.system [id]",
    "!!binary ", "!!set ", "!!timestamp ", "2001-99-99", "2001-12-14t21:59:43.10-05:00", ".inf", ".nan", "1e999", "NaN", "-Infinity", "null", "true", "~",
    DIGITS, f"0x{DIGITS}", "-1", "0", "1e400", "1e5", "190:20:30", "\ufeff", "\u202e", "\ud7ff", "\\ud800", "\\u0000", "а", "a\u0301", "../../etc/passwd",
    "{{ 1 // 0 }}", "{{ env.NONE }}", "{{ none.such }}", "{% for %}", "{{",
    "=cmd|' /C calc'!A0", "<script>alert(1)</script>", "[" * 3000, '{"a":' * 2000, "\x85", "\u2028", "x" * 200_000,
)  # fmt: skip
"""What readers stumble over: marks, numbers too large to print, times that are none, halves of characters, and markup."""

CELLS = st.one_of(
    st.none(), st.booleans(), st.integers(), st.integers(-(10**40), 10**40), st.floats(), st.text(max_size=5), st.sampled_from(NASTY[:-4]),
    st.sampled_from(["yes", "no", "1", "2", "ana", "ben", "i1", "i2"]),
)  # fmt: skip
NESTED = st.recursive(
    CELLS,
    lambda inner: (
        st.lists(inner, max_size=3)
        | st.dictionaries(st.sampled_from(["a", "item", "label"]), inner, max_size=3)
    ),
    max_leaves=4,
)
NAMES = st.lists(
    st.sampled_from(
        [
            "item",
            "rater",
            "label",
            "round",
            "occurrence",
            "confidence",
            "timestamp",
            "text",
            "gold",
            "cluster",
            "ana",
            "",
            "=x",
        ]
    ),
    min_size=1,
    max_size=7,
)
LEVELS = st.sampled_from(["nominal", "ordinal", "interval", "ratio", "multivariate interval"])
LAYOUTS = st.sampled_from(["long", "wide"])

CSV = "item,rater,label,occurrence,confidence,timestamp,text,gold\ni1,ana,1,1,0.5,2024-01-01,a,yes\ni1,ben,2,1,1,2024-01-02,a,yes\ni2,ana,2,1,,,b,\n"
ROWS = [
    {"item": "i1", "rater": "ana", "label": 1, "gold": True},
    {"item": "i1", "rater": "ben", "label": 2.5},
    {"item": 7, "rater": "ana", "label": "1|2"},
]
JSON_LINES = "".join(f"{json.dumps(row)}\n" for row in ROWS)
POLICY = """policy: standard
version: 1
admit: [reliable]
confidence_level: 0.95
n_resamples: 2000
rules:
  - measure: krippendorff_alpha
    scope: round
    reliable: 0.800
    tentative: 0.667
    min_items: 30
    min_raters: 2
    effect: hold
  - {measure: percent_agreement, effect: warn}
"""
WAIVER = f"""project: demo
round: r1
ratings_digest: {"a" * 64}
measure: krippendorff_alpha
scope: round
who: Ana
why: read by hand
until: 2027-01-31
"""
PROJECT = """project: demo
description: posts
inbox: inbox
scale: {level: nominal, categories: ["no", "yes"]}
columns: {item: item, rater: rater, label: label, round: null, raters: []}
layout: long
classifiers: [model]
replicates: within
policy: standard
contract: strict
store: kept
schedule: "0 6 * * 1"
overdue_after_days: 8
settle_seconds: 2.0
owners: [team:data]
limits: {file_bytes: 100000, rows: 1000, columns: 10, name_length: 100}
"""
ROWS_EXPECTED = """- type: expect_column_values_to_be_in_set
  kwargs: {column: label, value_set: {"$PARAMETER": vocabulary}}
  severity: critical
  description: every label is a category of the scale
  meta: {check: known_labels}
- type: expect_column_values_to_not_match_regex
  kwargs: {column: rater, regex: "@"}
  description: no address among the names
  meta: {check: no_address, redact: true}
- type: expect_column_values_to_be_between
  kwargs: {column: confidence, min_value: 0, max_value: 1.0, mostly: 0.95}
  severity: warning
  description: a share
  meta: {check: confidence_range, when: confidence}
"""
ITEMS_EXPECTED = """- type: expect_table_row_count_to_be_between
  kwargs: {min_value: 1}
  severity: critical
  description: at least one item
  meta: {check: items_present}
"""
RULES = Policy("standard", 1, (Rule("krippendorff_alpha"),), n_resamples=1000)


@st.composite
def mutated(draw: st.DrawFn, data: bytes, most: int = 6) -> bytes:
    """Bytes with a few places changed, cut out, repeated, moved, or replaced by what readers stumble over."""
    for _ in range(draw(st.integers(1, most))):
        at, to = sorted((draw(st.integers(0, len(data))), draw(st.integers(0, len(data)))))
        put = draw(
            st.sampled_from(NASTY).map(str.encode)
            | st.binary(max_size=4)
            | st.sampled_from([data[at:to], data[at : at + 40] * 3])
        )
        end = draw(st.sampled_from([at, min(at + 1, len(data)), to]))
        data = data[:at] + put + data[end:]
    return data


@st.composite
def frames(draw: st.DrawFn) -> list[dict[str, object]]:
    """Records with any value in any column."""
    names = draw(NAMES)
    return draw(
        st.lists(st.fixed_dictionaries(dict.fromkeys(names, NESTED)), min_size=1, max_size=5)
    )


@st.composite
def parquet(draw: st.DrawFn) -> bytes:
    """A Parquet file with columns of any type that takes the values."""
    types = [
        pa.string(), pa.large_string(), pa.binary(), pa.int8(), pa.uint64(), pa.float16(), pa.float64(), pa.bool_(), pa.date32(), pa.timestamp("ns", "UTC"),
        pa.timestamp("s"), pa.time64("us"), pa.duration("s"), pa.decimal128(38, 5), pa.decimal256(70, 2), pa.list_(pa.float64()), pa.list_(pa.string()),
        pa.struct([("a", pa.int64())]), pa.map_(pa.string(), pa.int64()), pa.dictionary(pa.int8(), pa.string()), pa.dictionary(pa.int8(), pa.int64()),
        pa.null(), pa.large_binary(), pa.list_(pa.float64(), 2),
    ]  # fmt: skip
    rows, columns = draw(st.integers(0, 4)), {}
    for name in draw(NAMES):
        columns[name] = _column(draw, draw(st.sampled_from(types)), rows)
    sink = io.BytesIO()
    pq.write_table(pa.table(columns), sink)
    return draw(st.just(sink.getvalue()) | mutated(sink.getvalue()))


def _column(draw: st.DrawFn, kind: pa.DataType, rows: int) -> pa.Array:
    small = {"i1": 1, "i2": 2, "yes": 3}
    values = [draw(st.sampled_from([None, *small])) for _ in range(rows)]
    for made in (
        values,
        [small.get(value) for value in values],
        [value and value.encode() for value in values],
        [value and [1.0, 2.0] for value in values],
        [value and {"a": 1} for value in values],
        [value and [("a", 1)] for value in values],
    ):
        try:
            return pa.array(made, kind)
        except (pa.ArrowException, TypeError, ValueError):
            continue
    return pa.nulls(rows, kind)


def reading(folder: Path) -> Callable[[str, bytes, str, str], None]:
    """Read bytes as a table in every way there is."""

    def read(name: str, data: bytes, level: str, layout: str) -> None:
        path = folder / name
        path.write_bytes(data)
        columns = Columns(raters=("ana", "gold")) if layout == "wide" else Columns()
        for attempt in (
            lambda: table_rows(path, layout=layout),
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
    """Ratings of forty items by three raters that no rule admits: each of them goes her own way."""
    rows = [
        (f"i{item}", rater, ("no", "yes")[item >> bit & 1])
        for item in range(40)
        for bit, rater in enumerate("abc")
    ]
    return pd.DataFrame(rows, columns=["item", "rater", "label"])


def judging(folder: Path) -> Callable[[tuple[bytes, bytes]], None]:
    """Check ratings that are held by a contract: whatever it says, they are not admitted."""
    ratings = Ratings.from_frame(scattered(), Scale(("no", "yes")))

    def judged(contract: tuple[bytes, bytes]) -> None:
        for name, data in zip(("rows", "items"), contract, strict=True):
            (folder / f"{name}.yaml").write_bytes(data)

        def judge() -> None:
            found = Contract.load(folder)
            assert Contract.from_mapping(found.to_mapping()).digest == found.digest
            assert not assess(ratings, RULES, found).decision.admitted

        refused(judge)

    return judged


def running(folder: Path) -> Callable[[bytes], None]:
    """Take a round that is held through a project: whatever its file says, no training data come out."""
    root = folder / "deep/er/than/any/path/goes/up"
    for name, text in (
        ("policies/standard.yaml", POLICY),
        ("contracts/strict/rows.yaml", ROWS_EXPECTED),
        ("contracts/strict/items.yaml", ITEMS_EXPECTED),
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
    for delivery in project.deliveries().values():
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
    ratings = Ratings.from_frame(
        pd.DataFrame(rows, columns=["item", "rater", "label"]).assign(text="t", confidence=0.5),
        Scale(("no", "yes")),
    )
    (folder / "export.csv").write_bytes(b"as delivered")
    store = Store(folder / "store", salt=b"a salt for tests")
    store.ingest("r1", ratings, folder / "export.csv")
    default = Contract.default().to_mapping()
    contract = Contract.from_mapping({"rows": default["rows"][:1], "items": default["items"][:1]})
    return Path(release_round(store, "r1", RULES, contract, project="demo").path)


def substance(path: Path) -> tuple[object, ...]:
    """What a trainer gets from a release."""
    found = open_release(path)
    kept = (
        found.policy.digest,
        found.contract.digest,
        {name: ratings.digest for name, ratings in found.ratings.items()},
    )
    return (
        found.project,
        found.rounds,
        *kept,
        found.train.to_json(),
        found.annotations.to_json(),
        found.tentative,
    )


@st.composite
def tampered(draw: st.DrawFn, files: dict[str, bytes]) -> tuple[dict[str, bytes], bool]:
    """The files of a release, one or two of them changed; and whether its manifest was made to agree."""
    files = dict(files)
    for _ in range(draw(st.integers(1, 2))):
        name = draw(st.sampled_from(sorted(files)))
        change = draw(
            st.sampled_from(
                [
                    "bytes",
                    "bytes",
                    "gone",
                    "extra",
                    "empty",
                    "other",
                    "values",
                    "values",
                    "values",
                    "rows",
                    "rows",
                ]
            )
        )
        if change == "gone":
            del files[name]
        elif change == "extra":
            files[
                draw(
                    st.sampled_from(
                        ["more.txt", "data/x.parquet", "WITHDRAWN.json", "withdrawn.json"]
                    )
                )
            ] = files[name]
        elif change == "empty":
            files[name] = b""
        elif change == "other":
            files[name] = files[draw(st.sampled_from(sorted(files)))]
        elif change == "values" and name.endswith(".json"):
            files[name] = _as_released(_elsewhere(draw, _loaded(files[name])))
        elif change == "rows" and name.endswith(".parquet"):
            files[name] = _other_rows(draw, files[name])
        else:
            files[name] = draw(mutated(files[name], 2))
    agree = draw(st.booleans() | st.just(True))
    return (_agreeing(files) if agree else files), agree


def _loaded(data: bytes) -> object:
    try:
        return json.loads(data)
    except (ValueError, RecursionError):
        return {}


@st.composite
def values_of(draw: st.DrawFn, text: str) -> bytes:
    """YAML with one or two values in it replaced, most of them by one of the same kind; or one key gone or one more."""
    data = yaml.safe_load(text)
    for _ in range(draw(st.integers(1, 2))):
        data = draw(st.sampled_from([_otherwise, _otherwise, _otherwise, _elsewhere]))(draw, data)
    return yaml.safe_dump(data, allow_unicode=True).encode("utf-8", "surrogatepass")


def _otherwise(draw: st.DrawFn, data: object) -> object:
    """Plain data with one value in them replaced by one of its kind."""
    if isinstance(data, (dict, list)) and data:
        key = draw(st.sampled_from(sorted(data) if isinstance(data, dict) else range(len(data))))
        copy = dict(data) if isinstance(data, dict) else list(data)
        copy[key] = _otherwise(draw, data[key])
        return copy
    if isinstance(data, (bool, int, float)):
        return draw(
            st.integers(-2, 3) | st.integers() | st.integers(-(10**40), 10**40) | st.floats()
        )
    return draw(
        st.text(max_size=12)
        | st.sampled_from(NASTY[:-5])
        | st.sampled_from(["", "..", "0 0 30 2 *", "a b", "[", "(", "(a+)+$", "@", "long", "wide"])
    )


def contracts(text: str) -> st.SearchStrategy:
    """Expectations as they are, or changed by bytes or by values."""
    return st.just(text.encode()) | mutated(text.encode(), 2) | values_of(text)


def _elsewhere(draw: st.DrawFn, data: object) -> object:
    """Plain data with one value in them replaced, one key gone or one more."""
    if isinstance(data, (dict, list)) and data and draw(st.integers(0, 4)):
        key = draw(st.sampled_from(sorted(data) if isinstance(data, dict) else range(len(data))))
        copy = dict(data) if isinstance(data, dict) else list(data)
        if draw(st.integers(0, 9)):
            copy[key] = _elsewhere(draw, data[key])
        else:
            del copy[key]
        return copy
    return draw(NESTED.filter(lambda value: "\ud800" not in repr(value)))


def _other_rows(draw: st.DrawFn, data: bytes) -> bytes:  # noqa: C901
    """A table with a column gone, of another type or with another value, or with rows gone or twice."""
    try:
        table = pq.table_rows(io.BytesIO(data))
    except (pa.ArrowException, OSError):
        return data[: draw(st.integers(0, len(data)))]
    name = draw(st.sampled_from(table.column_names))
    at, values = table.column_names.index(name), table[name].to_pylist()
    kind = draw(
        st.sampled_from(["drop", "null", "text", "rows", "twice", "value", "value", "metadata"])
    )
    if kind == "drop":
        table = table.drop_columns([name])
    elif kind == "null":
        table = table.set_column(at, name, pa.nulls(len(table)))
    elif kind == "text":
        table = table.set_column(at, name, pa.array(list(map(str, values))))
    elif kind == "rows":
        table = table.slice(draw(st.integers(0, len(table))))
    elif kind == "twice":
        table = pa.concat_tables([table, table.slice(0, 1)])
    elif kind == "metadata":
        table = table.replace_schema_metadata({"pandas": draw(st.text(max_size=20))})
    elif values:
        values[draw(st.integers(0, len(values) - 1))] = draw(
            st.sampled_from(values) | st.just(None)
        )
        table = table.set_column(
            at, table.schema.field(name), pa.array(values, table.schema.field(name).type)
        )
    sink = io.BytesIO()
    pq.write_table(table, sink)
    return sink.getvalue()


def _agreeing(files: dict[str, bytes]) -> dict[str, bytes]:
    """The files with a manifest that lists them as they are."""
    manifest = _loaded(files.get("manifest.json", b"{}"))
    if not isinstance(manifest, dict):
        return files
    listed = {
        name: {"sha256": hashlib.sha256(data).hexdigest(), "bytes": len(data)}
        for name, data in files.items()
        if name != "manifest.json"
    }
    return {**files, "manifest.json": _as_released({**manifest, "files": listed})}


def _as_released(data: object) -> bytes:
    """Plain data written as a release writes its own, whatever they are."""
    return (json.dumps(data, indent=2, sort_keys=True, ensure_ascii=False) + "\n").encode(
        errors="surrogatepass"
    )


def opening(
    folder: Path, original: Path
) -> tuple[dict[str, bytes], Callable[[tuple[dict[str, bytes], bool]], None]]:
    """The files of a release, and how to open it changed: refused, or to a trainer the same; and refused if its manifest does not agree."""
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
                f"opened with other substance: {[(str(found[n])[:150], str(expected[n])[:150]) for n in other]}"
            )

    return files, opened


def checks(folder: Path) -> dict[str, tuple[st.SearchStrategy, Callable]]:
    """What is fuzzed: hostile input for each reader, and what must hold of it."""
    read, original = reading(folder), released(folder)
    files, opened = opening(folder, original)
    sink = io.BytesIO()
    pq.write_table(
        pa.table(
            {
                "item": ["i1", "i1", "i2"],
                "rater": ["ana", "ben", "ana"],
                "label": [1, 2, None],
                "confidence": [0.5, None, 1.0],
            }
        ),
        sink,
    )
    how = st.tuples(LEVELS, LAYOUTS)

    def table(name: str, data: st.SearchStrategy) -> tuple[st.SearchStrategy, Callable]:
        return st.tuples(data, how), lambda drawn: read(name, drawn[0], *drawn[1])

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
        "parquet": table("a.parquet", mutated(sink.getvalue())),
        "parquet types": table("b.parquet", parquet()),
        "policy": text("policy.yaml", load_policy, POLICY),
        "waiver": text("waiver.yaml", load_waiver, WAIVER),
        "contract": (
            st.tuples(contracts(ROWS_EXPECTED), contracts(ITEMS_EXPECTED)),
            judging(place("contract")),
        ),
        "project": (mutated(PROJECT.encode(), 2) | values_of(PROJECT), running(place("project"))),
        "release": (tampered(files), opened),
    }


def fuzz(minutes: float) -> int:
    """Look for so long, and print each fault once, by the place it comes from; how many were found."""
    faults: dict[str, int] = {}
    with tempfile.TemporaryDirectory() as folder:
        every, until, start, tried = (
            checks(Path(folder)),
            time.monotonic() + 60 * minutes,
            time.time_ns(),
            0,
        )
        while time.monotonic() < until:
            for name, (strategy, check) in every.items():
                start += 1
                tried += _gather(name, strategy, check, start, 60, faults)
        print(f"{tried} inputs tried, {len(faults)} faults: {faults}", flush=True)  # noqa: T201
    return len(faults)


def _gather(
    name: str,
    strategy: st.SearchStrategy,
    check: Callable,
    number: int,
    examples: int,
    faults: dict[str, int],
) -> int:
    tried = 0

    @seed(number)
    @settings(
        max_examples=examples, database=None, deadline=None, suppress_health_check=list(HealthCheck)
    )
    @given(strategy)
    def run(drawn: object) -> None:
        nonlocal tried
        tried += 1
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
            faults[key] = faults.get(key, 0) + 1

    run()
    return tried


if __name__ == "__main__":
    np.seterr(all="ignore")
    sys.exit(fuzz(float(sys.argv[1])) > 0)
