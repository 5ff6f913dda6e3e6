"""Parquet and Arrow files. Hugging Face's library stores labels as numbers of names
(`ClassLabel`).
"""

import json
from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from math import isnan
from numbers import Real
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.parquet as pq

from agreement_pipeline.engine import PATTERN_MARKS, ROW_NUMBER, Relation, Session, Unreadable
from agreement_pipeline.errors import RatingsError
from agreement_pipeline.ratings import (
    Limits,
    NoTextError,
    as_python_values,
    expanded_bytes,
    is_read_like_arrow,
)
from agreement_pipeline.readers.files import INFO, STATE, WAIT, StableFile, no_row_error
from agreement_pipeline.readers.json_files import read_json_objects
from agreement_pipeline.text import called

FILE_BATCH_ROWS = 65_536
EXPORT_BATCH_ROWS = 64
"""So few rows of an export at a time, since each may hold a text that the file keeps once."""
METADATA_KEY = b"huggingface"
SPLIT = "split"
NO_LABEL = -1
Data = Mapping[str, Any]
LabelLookup = Callable[[Any], Any]


class ParquetTable:
    def __init__(self, path: Path, limits: Limits) -> None:
        # An engine reads `~` at the beginning of a path as the home of the user.
        self._path, self._limits, self._delivered = (
            path.absolute(),
            limits,
            StableFile.at_path(path),
        )
        with _refusing_unreadable(path.name):
            self._file = pq.ParquetFile(path)
            # By what it says of itself: a small Parquet file can hold a large table.
            footer = self._file.metadata
            limits.refuse_beyond("columns", footer.num_columns, path.name, "columns")
            limits.refuse_beyond("rows", footer.num_rows, path.name, "rows")
            groups = map(footer.row_group, range(footer.num_row_groups))
            size = sum(group.total_byte_size for group in groups)
            limits.refuse_beyond("file_bytes", size, path.name, "bytes once expanded")
            self.schema: pa.Schema = self._file.schema_arrow
        _refuse_one_name_twice(self.schema.names, path.name)
        self.lookup_by_column = label_lookup_by_column(self.schema, path.name)
        self._delivered.refuse_change()
        if not footer.num_rows:
            raise no_row_error(path.name)

    def iterate_batches(
        self, names: Sequence[str], _lists: object = ()
    ) -> Iterator[pa.RecordBatch]:
        self._refuse_too_many_bytes(names)
        with _refusing_unreadable(self._path.name):
            for batch in self._file.iter_batches(FILE_BATCH_ROWS, columns=list(names)):
                batch.validate(full=True)
                yield batch
        self._delivered.refuse_change()

    def create_view(self, session: Session, columns: Mapping[str, str]) -> Relation | None:
        names = list(columns.values())
        is_odd = any(mark in str(self._path) for mark in PATTERN_MARKS)
        is_odd |= ROW_NUMBER in map(str.lower, self.schema.names)
        is_odd |= bool({*names} & {*self.lookup_by_column})
        kinds = {name: self.schema.field(column).type for name, column in columns.items()}
        if is_odd or not all(is_read_like_arrow(kind, name) for name, kind in kinds.items()):
            return None
        self._refuse_too_many_bytes(names)
        return session.scan_parquet(str(self._path), columns)

    @contextmanager
    def reading_cells(self, cells: Relation) -> Iterator[None]:
        """All cells are read inside. If anything fails, a file that is not whole is said first."""
        try:
            yield
        except Exception:
            with _refusing_unreadable(self._path.name):
                cells.read_through()
            self._delivered.refuse_change()
            raise
        self._delivered.refuse_change()

    def _refuse_too_many_bytes(self, names: Sequence[str]) -> None:
        with _refusing_unreadable(self._path.name):
            expanded = expanded_bytes(self._path, names, self._limits.file_bytes)
        for name, n_bytes in expanded.items():
            place = f"{self._path.name}: column {name!r}"
            self._limits.refuse_beyond("file_bytes", n_bytes, place, "bytes once expanded")


def _refuse_one_name_twice(names: Sequence[str], source: str) -> None:
    """DuckDB and Spark take names that differ in capital letters only for one column."""
    count_by_name = Counter(name.casefold() for name in names)
    repeated = {name.casefold(): name for name in names if count_by_name[name.casefold()] > 1}
    if repeated:
        raise RatingsError(
            f"{source}: found {called('column', sorted(repeated.values()))} twice, or in capitals "
            "and small letters; expected each once. Rename or remove one."
        )


@contextmanager
def _refusing_unreadable(source: str, kind: str = "Parquet") -> Iterator[None]:
    try:
        yield
    except (pa.ArrowException, Unreadable, OSError, UnicodeDecodeError) as error:
        cause = (error.__context__ or error) if isinstance(error, Unreadable) else error
        raise RatingsError(
            f"{source}: found no whole {kind} file ({str(cause).splitlines()[0]}); expected a "
            f"finished one. {WAIT}"
        ) from None


def read_columnar_rows(path: Path, kind: str) -> Iterator[dict[str, Any]]:
    with _refusing_unreadable(path.name, kind.capitalize()):
        if kind == "parquet":
            file = pq.ParquetFile(path)
            batches, schema = file.iter_batches(EXPORT_BATCH_ROWS), file.schema_arrow
        else:
            stream = pa.ipc.open_stream(pa.memory_map(str(path)))
            batches, schema = iter(stream), stream.schema
        lookup_by_column = label_lookup_by_column(schema, path.name)
        for batch in batches:
            try:
                rows = as_python_values(batch)
            except NoTextError as error:
                raise RatingsError(f"{path.name}: {error}") from None
            for row in rows:
                yield row | {
                    name: lookup(row[name])
                    for name, lookup in lookup_by_column.items()
                    if name in row
                }


def read_data_set(folder: Path) -> tuple[pa.Table, dict[str, LabelLookup]]:
    """A data set that `save_to_disk` wrote, with a column `split` if it has several."""
    places = sorted(path.parent for path in folder.rglob(STATE))
    tables, lookup_by_column = [], dict[str, LabelLookup]()
    for place in places:
        try:
            (_, state), (_, info) = (
                next(read_json_objects(place / file_name, f"{folder.name}: {file_name}"))
                for file_name in (STATE, INFO)
            )
            files = [place / file_name["filename"] for file_name in state["_data_files"]]
            table = pa.concat_tables(
                pa.ipc.open_stream(pa.memory_map(str(file))).read_all() for file in files
            )
        except (pa.ArrowException, OSError, KeyError, TypeError, StopIteration) as error:
            raise RatingsError(
                f"{folder.name}: found no whole data set ({error}); expected the Arrow files that "
                f"{STATE} lists. Save the data set again."
            ) from None
        for index, field in enumerate(table.schema):
            if pa.types.is_floating(field.type):  # the library writes missing numbers as NaN
                numbers = table.column(index)
                with_nulls = pc.if_else(pc.is_nan(numbers), pa.scalar(None, field.type), numbers)
                table = table.set_column(index, field, with_nulls)
        if len(places) > 1 and SPLIT not in table.column_names:
            texts = pa.array([place.name] * len(table), pa.large_string())
            table = table.append_column(SPLIT, texts)
        tables.append(table)
        lookup_by_column = {**label_lookup_by_column(info, folder.name), **lookup_by_column}
    return pa.concat_tables(tables, promote_options="permissive"), lookup_by_column


def label_lookup_by_column(description: Data | pa.Schema, source: str) -> dict[str, LabelLookup]:
    """`description` is that of a data set, or a schema whose metadata have it."""
    lookup_by_column: dict[str, LabelLookup] = {}
    try:
        if isinstance(description, pa.Schema):
            info = json.loads((description.metadata or {}).get(METADATA_KEY, b"{}"))
            description = (info.get("info") if isinstance(info, Mapping) else info) or {}
        for column, feature in (description.get("features") or {}).items():
            member_feature = (
                feature.get("feature", feature) if isinstance(feature, Mapping) else feature[0]
            )
            if isinstance(member_feature, Mapping) and member_feature.get("_type") == "ClassLabel":
                lookup_by_column[column] = _build_label_lookup(
                    member_feature["names"], f"{source}, {column}"
                )
    except (AttributeError, LookupError, TypeError, ValueError, RecursionError) as error:
        raise RatingsError(
            f"{source}: found a description of columns that is not readable ({error}); expected "
            "what Hugging Face's library writes. Save the data set again."
        ) from None
    return lookup_by_column


def look_up_labels(cells: pa.Array, lookup: LabelLookup) -> Any:
    """Each distinct number is looked up once. Lists of numbers become lists of names."""
    if pa.types.is_nested(cells.type):
        return list(map(lookup, cells.to_pylist()))
    coded = cells.dictionary_encode()
    names = pa.array(map(lookup, coded.dictionary.to_pylist()), pa.large_string())
    return names.take(coded.indices)


def _build_label_lookup(names: Sequence[str | None], place: str) -> LabelLookup:
    """-1 stands for no label, and so does no name."""
    label_by_number: dict[Any, str | None] = {NO_LABEL: None, **dict(enumerate(names))}

    def look_up(value: Any) -> Any:
        if hasattr(value, "__len__") and not isinstance(value, str | Mapping):
            return [look_up(member) for member in value]
        if value is None or (isinstance(value, float) and isnan(value)):
            return None
        if not isinstance(value, Real) or value not in label_by_number:
            raise RatingsError(
                f"{place}: found label {value!r}; expected the number of one of {len(names)} "
                "names. Save the data set again."
            )
        return label_by_number[value]

    return look_up
