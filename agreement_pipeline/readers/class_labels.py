"""Labels that Hugging Face's library stores as numbers of names (`ClassLabel`)."""

import json
from collections.abc import Callable, Iterator, Mapping, Sequence
from math import isnan
from numbers import Real
from typing import Any

import pyarrow as pa

from agreement_pipeline.errors import RatingsError

KEY = b"huggingface"
NO_LABEL = -1
Data = Mapping[str, Any]
Named = Callable[[Any], Any]


def named_in(info: Data, source: str) -> dict[str, Named]:
    """From each column of labels to what gives the names of the numbers in a cell.

    Raises
    ------
    RatingsError
        The description of the columns is not what the library writes.
    """
    try:
        return {column: _named(names, f"{source}, {column}") for column, names in _labels(info)}
    except (AttributeError, KeyError, IndexError, TypeError) as error:
        raise _unlike(source, str(error)) from None


def named_in_schema(metadata: Mapping[bytes, bytes] | None, source: str) -> dict[str, Named]:
    """The same, from what the schema of a Parquet or Arrow file says of itself.

    Raises
    ------
    RatingsError
        The description of the columns is not what the library writes.
    """
    try:
        said = json.loads((metadata or {}).get(KEY, b"{}"))
    except (ValueError, RecursionError) as error:
        raise _unlike(source, str(error)) from None
    return named_in((said.get("info") if isinstance(said, Mapping) else said) or {}, source)


def in_names(cells: pa.Array, named: Named) -> Any:
    """An Arrow array of numbers as names. Each distinct number is looked up once.

    Lists of numbers become lists of names, in a list.
    """
    if pa.types.is_nested(cells.type):
        return list(map(named, cells.to_pylist()))
    coded = cells.dictionary_encode()
    names = pa.array(map(named, coded.dictionary.to_pylist()), pa.large_string())
    return names.take(coded.indices)


def _labels(info: Data) -> Iterator[tuple[str, Sequence[str | None]]]:
    """The columns of labels, and the names of their numbers."""
    for column, feature in (info.get("features") or {}).items():
        inside = feature.get("feature", feature) if isinstance(feature, Mapping) else feature[0]
        if isinstance(inside, Mapping) and inside.get("_type") == "ClassLabel":
            yield column, inside["names"]


def _named(names: Sequence[str | None], where: str) -> Named:
    """A number, or a list of numbers, as names. -1 stands for no label, and so does no name."""
    known: dict[Any, str | None] = {NO_LABEL: None, **dict(enumerate(names))}

    def name(value: Any) -> str | None:
        if value is None or (isinstance(value, float) and isnan(value)):
            return None
        if not isinstance(value, Real) or value not in known:
            raise RatingsError(
                f"{where}: found label {value!r}; expected the number of one of {len(names)} "
                "names. Save the data set again."
            )
        return known[value]

    def named(value: Any) -> Any:
        is_list = hasattr(value, "__len__") and not isinstance(value, str | Mapping)
        return [name(each) for each in value] if is_list else name(value)

    return named


def _unlike(source: str, found: str) -> RatingsError:
    return RatingsError(
        f"{source}: found a description of columns that is not readable ({found}); expected what "
        "Hugging Face's library writes. Save the data set again."
    )
