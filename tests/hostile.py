"""Hostile input: bytes, tables and plain data that readers find hard to read."""

import io
import json
from collections.abc import Callable

import pyarrow as pa
import pyarrow.parquet as pq
import yaml
from hypothesis import reject
from hypothesis import strategies as st

DIGITS = "9" * 5000
NASTY = (
    "\0", '"', "'", ",", "\t", "\n", "\r", "\\", "|", "{", "}", "[", "]", ":", "- ", "&a ", "*a",
    "<<: ", "? ", "!!python/object/apply:os.system [id]", "!!binary ", "!!set ", "!!timestamp ",
    "2001-99-99", "2001-12-14t21:59:43.10-05:00", ".inf", ".nan", "1e999", "NaN", "-Infinity",
    "null", "true", "~", DIGITS, f"0x{DIGITS}", "-1", "0", "1e400", "1e5", "190:20:30",
    "\ufeff", "\u202e", "\ud7ff", "\\ud800", "\\u0000", "а", "a\u0301", "../../etc/passwd",
    "{{ 1 // 0 }}", "{{ env.NONE }}", "{{ none.such }}", "{% for %}", "{{",
    "=cmd|' /C calc'!A0", "<script>alert(1)</script>", "[" * 3000, '{"a":' * 2000,
    "\x85", "\u2028", "x" * 200_000,
)  # fmt: skip
"""Hard texts for readers: marks, huge numbers, invalid times, half characters and markup."""

CELLS = st.one_of(
    st.none(), st.booleans(), st.integers(), st.integers(-(10**40), 10**40), st.floats(),
    st.text(max_size=5), st.sampled_from(NASTY[:-4]),
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

CSV = """item,rater,label,occurrence,confidence,timestamp,text,gold
i1,ana,1,1,0.5,2024-01-01,a,yes
i1,ben,2,1,1,2024-01-02,a,yes
i2,ana,2,1,,,b,
"""
ROWS = [
    {"item": "i1", "rater": "ana", "label": 1, "gold": True},
    {"item": "i1", "rater": "ben", "label": 2.5},
    {"item": 7, "rater": "ana", "label": "1|2"},
]
JSON_LINES = "".join(f"{json.dumps(row)}\n" for row in ROWS)
POLICY = """policy: house
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
classifiers: []
optional_classifiers: [model]
replicates: within
policy: house
contract: strict.yaml
store: kept
schedule: "0 6 * * 1"
overdue_after_days: 8
settle_seconds: 2.0
owners: [team:data]
limits: {file_bytes: 100000, rows: 1000, columns: 10, name_length: 100}
"""
SUITE = """expectations:
- type: expect_column_values_to_be_in_set
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
- type: expect_table_row_count_to_be_between
  kwargs: {min_value: 1}
  meta: {check: rows_delivered}
meta: {version: 2}
"""


@st.composite
def mutated(draw: st.DrawFn, data: bytes, most: int = 6) -> bytes:
    """Bytes with a few places changed, cut out, repeated, moved, or made hard to read."""
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
def packed(draw: st.DrawFn, data: bytes, pack: Callable[[bytes], bytes]) -> bytes:
    """A packed file: changed before it was packed, or after, or one that unpacks to much."""
    return draw(
        mutated(data).map(pack)
        | mutated(pack(data))
        | st.just(pack(pack(data)))
        | st.sampled_from([b"\n" * 10**6, b" " * 3 * 10**6]).map(lambda more: pack(data + more))
    )


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
        pa.string(), pa.large_string(), pa.binary(), pa.int8(), pa.uint64(), pa.float16(),
        pa.float64(), pa.bool_(), pa.date32(), pa.timestamp("ns", "UTC"), pa.timestamp("s"),
        pa.time64("us"), pa.duration("s"), pa.decimal128(38, 5), pa.decimal256(70, 2),
        pa.list_(pa.float64()), pa.list_(pa.string()), pa.struct([("a", pa.int64())]),
        pa.map_(pa.string(), pa.int64()), pa.dictionary(pa.int8(), pa.string()),
        pa.dictionary(pa.int8(), pa.int64()),
        pa.null(), pa.large_binary(), pa.list_(pa.float64(), 2),
    ]  # fmt: skip
    rows, columns = draw(st.integers(0, 4)), {}
    for name in draw(NAMES):
        columns[name] = _column(draw, draw(st.sampled_from(types)), rows)
    sink = io.BytesIO()
    try:
        pq.write_table(pa.table(columns), sink)
    except pa.ArrowNotImplementedError:  # older pyarrow writes fewer types
        reject()
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


@st.composite
def values_of(draw: st.DrawFn, text: str) -> bytes:
    """YAML with one or two values replaced, mostly by the same kind, or with a key more or less."""
    data = yaml.safe_load(text)
    for _ in range(draw(st.integers(1, 2))):
        data = draw(st.sampled_from([_otherwise, _otherwise, _otherwise, elsewhere]))(draw, data)
    return yaml.safe_dump(data, allow_unicode=True).encode("utf-8", "surrogatepass")


def suites() -> st.SearchStrategy:
    """A suite as it is, or changed by bytes or by values."""
    return st.just(SUITE.encode()) | mutated(SUITE.encode(), 2) | values_of(SUITE)


def elsewhere(draw: st.DrawFn, data: object) -> object:
    """Plain data with one value in them replaced, one key gone or one more."""
    if isinstance(data, (dict, list)) and data and draw(st.integers(0, 4)):
        key = draw(st.sampled_from(sorted(data) if isinstance(data, dict) else range(len(data))))
        copy = dict(data) if isinstance(data, dict) else list(data)
        if draw(st.integers(0, 9)):
            copy[key] = elsewhere(draw, data[key])
        else:
            del copy[key]
        return copy
    return draw(NESTED.filter(lambda value: "\ud800" not in repr(value)))


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
