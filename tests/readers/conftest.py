"""What the tests of the readers share."""

import re

import pandas as pd
import pytest

from agreement_pipeline.errors import RatingsError
from agreement_pipeline.ratings import arrow_to_pandas
from agreement_pipeline.ratings.validation import LIMITS
from agreement_pipeline.readers import read
from agreement_pipeline.readers.columns import COLUMNS
from agreement_pipeline.readers.exports import ReadRequest, select_reader

SHAPE = re.compile(r".+: (scale: .+; .+|found .+; expected .+)\. .+[.?]", re.DOTALL)


def frame_of(path, columns=COLUMNS, *, layout="long", limits=LIMITS):
    """The rows of a file under canonical names, not yet checked as ratings."""
    return frame_in(select_reader(path).read_rows(path, ReadRequest(columns, layout, limits)))


def frame_in(rows):
    """Rows as a frame, in their order. NaN and None stay apart."""
    found = rows.relation.query(f"SELECT * FROM {rows} ORDER BY nth").drop_columns("nth")
    columns = {name: _apart(found[name]) for name in found.column_names}
    levels = [name for name in ("row", "column") if name in columns]
    return pd.DataFrame(columns).set_index(levels)


def _apart(column):
    values = arrow_to_pandas(column, integer_object_nulls=True)
    missing = column.is_null().to_numpy()
    if values.dtype.kind != "f" or not (values.isna() & ~missing).any():
        return values
    return values.astype(object).mask(missing, None)


@pytest.fixture(scope="session")
def saved():
    """Save text or bytes under a name in a folder."""

    def save(folder, name, content):
        path = folder / name
        path.write_bytes(content if isinstance(content, bytes) else content.encode())
        return path

    return save


@pytest.fixture(scope="session")
def refusal():
    """The words of the one error that reading gives."""

    def words_of(path, *arguments, **keywords):
        with pytest.raises(RatingsError) as caught:
            read(path, *arguments, **keywords)
        words = str(caught.value)
        assert SHAPE.fullmatch(words), (
            f"not worded <where>: found X; expected Y. <next step>: {words}"
        )
        return words

    return words_of


@pytest.fixture(scope="session")
def rows_of():
    """Some columns of a frame as plain rows, None where missing."""

    def rows(frame, *names):
        return [
            tuple(None if pd.isna(value) else value for value in row)
            for row in frame[list(names)].itertuples(index=False)
        ]

    return rows
