"""The data contract: is this a round at all? Great Expectations judges two tables that are derived here from the ratings."""

import hashlib
import json
from collections.abc import Callable, Mapping
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pandas as pd

from agreement_pipeline.contract.expectations import TABLES, Expectation, Spec, keyed
from agreement_pipeline.contract.finding import Finding
from agreement_pipeline.contract.validation import validate
from agreement_pipeline.errors import ContractError
from agreement_pipeline.ratings import Ratings
from agreement_pipeline.text import listed
from agreement_pipeline.yaml_files import Place, read_yaml

__all__ = ["Contract", "Spec"]


@dataclass(frozen=True)
class Contract:
    """What a round must be before anything is measured on it.

    Parameters
    ----------
    tables
        The expectations, in order and at least one each, on table rows (one row a rating) and table items (one row an item of the round's
        own ratings by the panel: `item`, `n_raters`, `n_labels`, `replicated` and, where delivered, `cluster`).

    Raises
    ------
    ContractError
        A table has no expectation, or two checks have the same name.

    Examples
    --------
    >>> [spec.check for spec in Contract.default().specs if spec.table == "items"]
    ['items_present', 'raters_per_item', 'replicated_items']
    """

    tables: Mapping[str, tuple[Expectation, ...]]

    def __post_init__(self) -> None:
        filled = [table for table, expectations in self.tables.items() if expectations]
        if filled != list(TABLES):
            raise ContractError(
                f"contract: expectations on {listed(filled)} found; some on each of {', '.join(TABLES)}, in this order, are required. Add them."
            )
        seen: dict[str, Expectation] = {}
        for expectation in self._expectations:
            if expectation.check in seen:
                raise ContractError(
                    f"{expectation.where}: check {expectation.check!r} found, which {seen[expectation.check].where} has too; "
                    "a name of its own is required. Rename one."
                )
            seen[expectation.check] = expectation

    @classmethod
    def default(cls) -> "Contract":
        """The contract that comes with this package."""
        return cls.load(Path(__file__).with_name("default"))

    @classmethod
    def load(cls, folder: Path) -> "Contract":
        """The contract in a folder's rows.yaml and items.yaml, each a list of expectations in Great Expectations' own form.

        Raises
        ------
        ContractError
            A file cannot be read, or an entry is no expectation; the message names file and line.
        """
        read = {table: read_yaml(folder / f"{table}.yaml", ContractError) for table in TABLES}
        return cls(
            {table: _expectations(data, table, place) for table, (data, place) in read.items()}
        )

    @classmethod
    def from_mapping(cls, data: object, *, source: str | Place = "contract") -> "Contract":
        """The contract that `to_mapping` wrote.

        Raises
        ------
        ContractError
            A key is unknown or missing, or a value is impossible; the message names `source`.
        """
        place = source if isinstance(source, Place) else Place(source)
        tables = keyed(data, place, known=TABLES, required=TABLES)
        return cls({table: _expectations(tables[table], table, place / table) for table in TABLES})

    def to_mapping(self) -> dict[str, Any]:
        """The contract as plain data."""
        return {
            table: [expectation.to_mapping() for expectation in expectations]
            for table, expectations in self.tables.items()
        }

    @property
    def digest(self) -> str:
        """SHA-256 of the contract."""
        return hashlib.sha256(json.dumps(self.to_mapping(), sort_keys=True).encode()).hexdigest()

    @property
    def specs(self) -> tuple[Spec, ...]:
        """How each check is announced, in order."""
        return tuple(expectation.spec for expectation in self._expectations)

    @property
    def _expectations(self) -> tuple[Expectation, ...]:
        return tuple(
            expectation for expectations in self.tables.values() for expectation in expectations
        )

    def check(self, ratings: Ratings) -> tuple[Finding, ...]:
        """One finding for each check, in order.

        A check that could not be run, or came back without a result, is a failed error whatever its severity.

        Raises
        ------
        ContractError
            Great Expectations does not know an expectation, or not its keyword arguments; the message names file and line.
        """
        personal = [
            expectation.kwargs["regex"] for expectation in self._expectations if expectation.redact
        ]
        return tuple(
            finding
            for table, expectations in self.tables.items()
            for finding in validate(expectations, ratings, _FRAMES[table], personal)
        )


def _expectations(data: object, table: str, place: Place) -> tuple[Expectation, ...]:
    if not isinstance(data, list) or not data:
        found = "an empty list" if data == [] else type(data).__name__
        raise ContractError(
            f"{place}: {found} found; a list of at least one expectation on table {table} is required. Write each as a list entry."
        )
    return tuple(
        Expectation.from_mapping(entry, table, place / number) for number, entry in enumerate(data)
    )


def _rows(ratings: Ratings) -> pd.DataFrame:
    """The ratings as delivered: text as categories, which is read faster, and confidence as numbers where their text was delivered."""
    table = ratings.table.reset_index(drop=True)
    texts = [
        name for name in ("item", "rater", "label") if name in table and table[name].dtype == object
    ]
    table = table.astype(dict.fromkeys(texts, "category"))
    with suppress(ValueError, TypeError):
        return (
            table.assign(confidence=pd.to_numeric(table["confidence"]))
            if "confidence" in table
            else table
        )
    return table


def _items(ratings: Ratings) -> pd.DataFrame:
    """One row an item of the round's own ratings by the panel."""
    met, current = (
        table[~table["rater"].isin(ratings.classifiers)]
        for table in (ratings.table, ratings.current)
    )
    again = met.loc[met.duplicated(["item", "rater"]), "item"]
    frame = (
        current.groupby("item")
        .agg(n_raters=("rater", "count"), n_labels=("label", "nunique"))
        .reset_index()
    )
    frame = frame.assign(replicated=frame["item"].isin(again))
    return (
        frame.assign(cluster=ratings.contents["cluster"].loc[frame["item"]].to_list())
        if "cluster" in ratings.contents
        else frame
    )


_FRAMES: dict[str, Callable[[Ratings], pd.DataFrame]] = {"rows": _rows, "items": _items}
