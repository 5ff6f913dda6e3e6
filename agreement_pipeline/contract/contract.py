"""The data contract: is this what was agreed on?"""

from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from agreement_pipeline.contract.earlier import (
    TABLES,
    EarlierTables,
    bounds_of_round,
    refuse_unreadable_tables,
)
from agreement_pipeline.contract.suite import Suite
from agreement_pipeline.errors import ContractError
from agreement_pipeline.integrity import USUAL_INTEGRITY, Check
from agreement_pipeline.large_files import digest_of_plain
from agreement_pipeline.mistakes import value_in_message
from agreement_pipeline.text import listed
from agreement_pipeline.yaml_files import Place

NONE, VERSION_OF_NONE = "none", 2
"""Of the contract that asks nothing. Its first version had no bounds of a policy beside it."""
RESERVED_NAMES = (NONE, "default")
KEYS = ("contract", "version", "suite", *TABLES)


@dataclass(frozen=True)
class Contract:
    """The data contract: a suite that checks the delivery before anything is measured, or none.

    Parameters
    ----------
    suite
        What is asked of the delivered table, as Great Expectations writes it. None asks nothing.
    contract, version
        The name and the version. A store refuses other expectations under the same ones.
    earlier_tables
        Of a contract in the log or in a release of an earlier version: what it asked of the
        ratings. It is asked no more.

    Examples
    --------
    >>> Contract.none().named
    {'contract': 'none', 'version': 2}
    """

    suite: Suite | None = None
    contract: str = NONE
    version: int = VERSION_OF_NONE
    earlier_tables: EarlierTables = field(default_factory=dict)

    @classmethod
    def none(cls) -> "Contract":
        """It asks nothing, and a decision says so."""
        return cls()

    @classmethod
    def of_suite(cls, suite: Suite) -> "Contract":
        if suite.name in RESERVED_NAMES:
            raise ContractError(
                f"{suite.place}: found a suite of the name {suite.name}; expected another one than "
                f"{listed(RESERVED_NAMES)}, which decisions use otherwise. Rename the file."
            )
        checks = {*vars(USUAL_INTEGRITY)}
        if repeated_checks := checks & {entry.check for entry in suite.entries}:
            raise ContractError(
                f"{suite.place}: found checks {listed(sorted(repeated_checks))}, which the "
                "integrity of a policy has too; expected names of their own. Name them with "
                "meta.check."
            )
        return cls(suite, suite.name, suite.version)

    @classmethod
    def load(cls, path: Path | str) -> "Contract":
        """The contract of the suite in a file (`Suite.load`)."""
        return cls.of_suite(Suite.load(path))

    @classmethod
    def from_mapping(cls, data: object, *, source: str | Place = "contract") -> "Contract":
        """A contract as a release or a certificate has it, also of an earlier version."""
        place = source if isinstance(source, Place) else Place(source)
        if not isinstance(data, Mapping) or not {*data} <= {*KEYS}:
            raise ContractError(
                f"{place}: found {value_in_message(data)}; expected a mapping with some of "
                f"{listed(KEYS)}. Restore the file."
            )
        name, version = data.get("contract", ""), data.get("version", 1)
        if not isinstance(name, str) or type(version) is not int or version < 1:
            raise ContractError(
                f"{place}: found the name {value_in_message(name)} and the version "
                f"{value_in_message(version)}; expected a text and a whole number from 1. Restore "
                "the file."
            )
        tables = {table: data[table] for table in TABLES if table in data}
        refuse_unreadable_tables(tables, place)
        suite = None
        if "suite" in data:
            content = {"expectations": data["suite"], "meta": {"version": version}}
            suite = Suite.from_mapping(content, name, place / "suite")
        if tables:
            return cls(suite, name, version, tables)
        contract = cls.none() if suite is None else cls.of_suite(suite)
        if (name, version) != (contract.contract, contract.version):
            raise ContractError(
                f"{place}: found {name}, version {version}, without a suite; expected one. Restore "
                "the file."
            )
        return contract

    def to_mapping(self) -> dict[str, Any]:
        suite = {} if self.suite is None else {"suite": self.suite.to_list()}
        return {**self.named, **self.earlier_tables, **suite}

    @property
    def named(self) -> dict[str, Any]:
        return {"contract": self.contract, "version": self.version} if self.contract else {}

    @property
    def digest(self) -> str:
        return digest_of_plain(self.to_mapping())

    @property
    def bounds_of_round(self) -> tuple[Check, ...]:
        """Of an earlier version: bounds on facts, which are asked in the place of a policy's."""
        return bounds_of_round(self.earlier_tables)

    @property
    def is_of_earlier_version(self) -> bool:
        """True if it asked the ratings too: only the log or a release tells what it found."""
        return any(self.earlier_tables.values())
