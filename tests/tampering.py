"""Releases whose files were changed by somebody."""

import hashlib
import io
import json

import pyarrow as pa
import pyarrow.parquet as pq
from hypothesis import strategies as st

from tests.hostile import elsewhere, mutated

CHANGES = (
    *("bytes", "bytes", "gone", "extra", "empty", "other"),
    *("values", "values", "values", "rows", "rows"),
)
MORE = ("more.txt", "data/x.parquet", "WITHDRAWN.json", "withdrawn.json")


@st.composite
def tampered(draw: st.DrawFn, files: dict[str, bytes]) -> tuple[dict[str, bytes], bool]:
    """The files of a release with one or two changes. True if the manifest agrees with them."""
    files = dict(files)
    for _ in range(draw(st.integers(1, 2))):
        name = draw(st.sampled_from(sorted(files)))
        change = draw(st.sampled_from(CHANGES))
        if change == "gone":
            del files[name]
        elif change == "extra":
            files[draw(st.sampled_from(MORE))] = files[name]
        elif change == "empty":
            files[name] = b""
        elif change == "other":
            files[name] = files[draw(st.sampled_from(sorted(files)))]
        elif change == "values" and name.endswith(".json"):
            files[name] = _as_released(elsewhere(draw, _loaded(files[name])))
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


def _other_rows(draw: st.DrawFn, data: bytes) -> bytes:
    """A table with a column gone or of another type, another value, or rows gone or twice."""
    try:
        table = pq.read_table(io.BytesIO(data))
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
