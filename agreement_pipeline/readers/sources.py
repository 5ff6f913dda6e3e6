"""The rows of a source under canonical names, not yet checked, and what the source can show."""

from collections import Counter
from collections.abc import Container, Sequence
from dataclasses import replace
from pathlib import Path

import pyarrow as pa

from agreement_pipeline.engine import (
    Relation,
    Session,
    duckdb_session,
    is_spark_frame,
    spark_session,
)
from agreement_pipeline.errors import RatingsError
from agreement_pipeline.ratings import CAPABILITIES, LIMITS, Limits, Origin
from agreement_pipeline.readers.columns import COLUMNS, Columns, Layout, unnamed_columns
from agreement_pipeline.readers.exports import Export, kind_of
from agreement_pipeline.readers.files import refuse_unfinished
from agreement_pipeline.readers.packed import is_packed, unpacked
from agreement_pipeline.readers.registry import Reader, Rows, Source, reader_of
from agreement_pipeline.readers.rules import RULES, Rules, names_of, text_of
from agreement_pipeline.readers.table import AFAR, TABLE, is_pattern
from agreement_pipeline.text import called, listed

HERE = "file://"
"""How the URL of a file of this machine begins."""


def rows_of(
    source: str | Source,
    columns: Columns = COLUMNS,
    layout: Layout = "long",
    limits: Limits = LIMITS,
    rules: Rules = RULES,
    session: Session | None = None,
) -> Rows:
    """The ratings of a source under canonical names, not yet checked.

    Parameters
    ----------
    source
        The path of an export or a table, a folder, a pattern such as `round/*.parquet`, a
        DataFrame of pandas or Spark, or anything that gives Arrow batches. For Spark also the URL
        of a Parquet file.
    columns, layout, limits, rules
        As the reader of the source takes them.
    session
        Where the rows are put. None: in that of a Spark DataFrame, else in DuckDB.

    Raises
    ------
    RatingsError
        The source is broken, too large or unknown, or it cannot show what is required.
    """
    if session is None:
        session = spark_session(source) if is_spark_frame(source) else duckdb_session()
    if isinstance(source, str) and source.startswith(HERE):
        source = Path(source.removeprefix(HERE))
    is_path = isinstance(source, str | Path)
    if not is_path or AFAR in str(source) or is_pattern(Path(source)):
        rows = TABLE.rows(source, columns, layout, limits, rules, session)
        return with_origin(TABLE, rows)
    path = Path(source)
    refuse_unfinished(path)
    with unpacked(path, limits) as place:
        reader = reader_of(place, rules.reader)
        rows = reader.rows(place, columns, layout, limits, rules, session)
        if place != path and any(kind_of(each) == "parquet" for each in Export(place).files):
            rows = replace(rows, cells=_kept(rows.cells))
    rows = with_origin(reader, rows)
    refuse_incapable(reader, rules.requires, rows)
    return rows


def _kept(cells: Relation) -> Relation:
    """The rows in a table of the session, since their file will be gone."""
    names = [name for name in names_of(cells) if name != "nth"]
    some = ", ".join(map(cells.session.column, names))
    schema = pa.schema([cells.schema.field(name) for name in names])
    query = f"SELECT {some} FROM {cells} ORDER BY nth"
    return cells.session.load(schema, cells.session.batches(query))


def of_round(rows: Rows, name: str | None) -> Rows:
    """The rows of one round. If no round is named, all rows of a source with at most one round.

    Raises
    ------
    RatingsError
        There are several rounds and none is named, or not the one that is. Or some rows have none.
    """
    where = f"{rows.source}: column {rows.columns.get('round', 'round')!r}"
    said = _rounds(rows.cells)
    found = [each for each in said if each is not None]
    if name is None and found and len(found) < len(said):
        raise RatingsError(
            f"{where}: found rows without a round beside {called('round', found)}; expected a "
            "round in every row, or in none. Fill it in."
        )
    if name is None and len(found) <= 1:
        return rows
    if name is None:
        raise RatingsError(
            f"{where}: found {len(found)} rounds, {listed(found)}; expected one for ratings that "
            "are read as one. Choose one (--of-round NAME, or columns: {round: …} in a project "
            "for a round each), or read them together (--all-rounds, or all_rounds: true)."
        )
    if not found:
        raise RatingsError(
            f"{where}: found no round in any row; expected rows of round {name!r}. "
            "Name the column of rounds, or no round."
        )
    if name not in found:
        raise RatingsError(
            f"{where}: found no round {name!r} among {listed(found)}; expected one of these. "
            "Correct its name."
        )
    left_out = Counter({key: count for key, count in rows.left_out.items() if key[0] == name})
    round_name, cells = rows.cells.session.literal(name), rows.cells
    own = f"SELECT * FROM {cells} WHERE {text_of(cells, 'round')} = {round_name}"
    return replace(rows, cells=cells.view(own), left_out=left_out)


def _rounds(cells: Relation) -> list[str | None]:
    """The rounds, in the order in which they come. None: some rows have no round."""
    if "round" not in names_of(cells):
        return []
    found = cells.ask(
        f"SELECT {text_of(cells, 'round')} AS name, MIN(nth) AS first_nth FROM {cells} "
        "GROUP BY 1 ORDER BY first_nth, name"
    )
    names: list[str | None] = found["name"].to_pylist()
    return names


def unnamed(source: object, columns: Columns = COLUMNS, rules: Rules = RULES) -> dict[str, str]:
    """The columns of a table that are read as something else than their name, by what they are.

    Of a compressed file nothing is told, since it would be unpacked once more.
    """
    if not isinstance(source, Path) or not source.exists() or is_packed(source):
        return {}
    if reader_of(source, rules.reader) is not TABLE:
        return {}
    return unnamed_columns([str(name) for name in Export(source).first], columns)


def with_origin(reader: Reader, rows: Rows) -> Rows:
    """The rows, with what their reader is called and what they can show."""
    return replace(rows, reader=reader.name, shows=_shown_by(reader, rows))


def origin_of_table(columns: Container[str]) -> Origin:
    """The origin of the ratings in a plain table, of which these columns were read."""
    return Origin.of(TABLE.name, _shown_by_columns(columns), {})


def refuse_incapable(reader: Reader, requires: Sequence[str] | None, rows: Rows) -> None:
    """Refuse an export that cannot show what is required.

    If nothing is said, what the reader needs is required.

    Raises
    ------
    RatingsError
        It cannot.
    """
    asked = reader.needs if requires is None else requires
    lacking = [name for name in asked if name not in rows.shows]
    if lacking:
        shown = "; ".join(f"{name}: {CAPABILITIES[name]}" for name in lacking)
        why = " ".join(reader.needs[name] for name in lacking if name in reader.needs)
        raise RatingsError(
            f"{rows.source}: found {reader.title}, which cannot show {listed(lacking)} ({shown}); "
            f"expected an export that does. {why or 'Export another format.'}"
        )


def _shown_by(reader: Reader, rows: Rows) -> frozenset[str]:
    """What an export can show. A table shows what it has a column for."""
    if reader.submissions is not None:
        return reader.shows
    there = _shown_by_columns(names_of(rows.cells))
    return frozenset({*there, *({"predictions"} if rows.classifiers else ())})


def _shown_by_columns(columns: Container[str]) -> frozenset[str]:
    of_columns = {
        "timestamp": "times",
        **{name: name for name in ("confidence", "gold", "assisted")},
    }
    return frozenset({"raters", *(shown for name, shown in of_columns.items() if name in columns)})
