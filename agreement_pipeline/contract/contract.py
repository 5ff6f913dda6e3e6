"""The data contract: is this a round at all?

Tables of rows and items are derived here from the ratings, and checked as Great Expectations checks
them. A contract of earlier versions has bounds of its own on facts about the round.
"""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cache
from math import inf
from pathlib import Path
from typing import Annotated, Any, TypeAlias

from agreement_pipeline.contract.answers import VALUES_BETWEEN
from agreement_pipeline.contract.expectations import DELIVERED, TABLES, Expectation
from agreement_pipeline.contract.suite import Suite
from agreement_pipeline.contract.validation import DERIVED, validate
from agreement_pipeline.errors import ContractError
from agreement_pipeline.integrity import (
    FACTS,
    USUAL_INTEGRITY,
    Check,
    Finding,
    Panel,
    check_integrity,
)
from agreement_pipeline.large_files import digest_of_plain
from agreement_pipeline.mistakes import (
    CLOSED,
    Requirement,
    Value,
    is_number,
    is_whole_number_between,
    refuse_mistakes,
    value_in_message,
)
from agreement_pipeline.ratings import Ratings
from agreement_pipeline.text import listed
from agreement_pipeline.yaml_files import Place, read_yaml, validate_settings

ROUND = "round"
OPTIONAL = (ROUND,)
BOUNDS = ("min_value", "max_value")
CONTRACT_FILE_STEM = "contract"
BUILT_IN = Path(__file__).with_name("default")
TEXT = Value("a text", lambda name: isinstance(name, str), "Name it.")
VERSION = Value("a whole number from 1", is_whole_number_between(1), "Count the versions.")
NONE = "none"
"""The name of the contract that asks nothing."""
Table: TypeAlias = tuple[Expectation, ...]


@dataclass(frozen=True)
class _InFolder(Place):
    @property
    def source(self) -> str:
        table = self.path[0] if self.path and self.path[0] in TABLES else CONTRACT_FILE_STEM
        return str(Path(self.file, f"{table}.yaml")) if self.path else self.file


@dataclass(frozen=True)
class Contract:
    """The data contract: what must be true of a round before anything is measured.

    Parameters
    ----------
    rows
        The expectations on the table with a row for each rating, at least one.
    items
        At least one on the table with a row for each item that the panel rated in this round:
        `item`, `n_raters`, `n_labels`, `replicated` and, if delivered, `cluster`.
    round
        Of a contract that was written before policies had `integrity`: bounds on the facts of
        `integrity/facts.py`, which are asked in the place of those of the policy.
    suite
        What is asked of the delivered table, as Great Expectations writes it.
    contract, version
        The name, empty if it has none, and the version. A store refuses other expectations under
        the same name and version.

    Raises
    ------
    ContractError
        There is no expectation, two checks share a name, or a column or a fact does not exist.

    Examples
    --------
    >>> Contract.default().expectations[0].check
    'rows_present'
    """

    __pydantic_config__ = CLOSED

    rows: Table
    items: Table
    round: tuple[Expectation, ...] = ()
    contract: Annotated[str, TEXT] = ""
    version: Annotated[int, VERSION] = 1
    suite: Suite | None = field(default=None, init=False)
    where: Place = field(default=Place("contract"), init=False, compare=False, repr=False)

    def __post_init__(self) -> None:
        refuse_mistakes(self, ContractError, self._needs())

    def _needs(self) -> Iterator[Requirement]:
        for name in ("rows", "items"):
            if self.contract == NONE:
                words = f"no expectation, since a contract {NONE} asks nothing"
                yield Requirement(name, not getattr(self, name), words, "Rename it.")
            else:
                words = "a list of at least one expectation"
                yield Requirement(name, bool(getattr(self, name)), words, "Add one.")
        placed_expectations = [
            ((table, number), expectation)
            for table, expectations in self.tables.items()
            for number, expectation in enumerate(expectations)
        ]
        checks = [expectation.check for _, expectation in placed_expectations]
        for path, expectation in placed_expectations:
            yield Requirement(
                (*path, "meta", "check"),
                checks.count(expectation.check) == 1,
                "a name of its own",
                "Rename one.",
                found=f"{expectation.check!r} more than once",
            )
            delivered = DELIVERED[str(path[0])]
            yield Requirement(
                (*path, "meta", "when"),
                expectation.meta.when in (None, *delivered),
                f"{' or '.join(delivered)} in table {path[0]}",
                found=repr(expectation.meta.when),
            )
        for number, expectation in enumerate(self.round):
            column = expectation.kwargs.get("column")
            yield Requirement(
                ("round", number, "kwargs", "column"),
                column in FACTS,
                f"one of {', '.join(sorted(FACTS))}",
                found=repr(column),
            )
            bounds = {
                name: expectation.kwargs[name] for name in BOUNDS if name in expectation.kwargs
            }
            is_bound = expectation.type == VALUES_BETWEEN and all(map(is_number, bounds.values()))
            yield Requirement(
                ("round", number),
                is_bound and {*expectation.kwargs} == {"column", *bounds},
                f"{VALUES_BETWEEN} with {' or '.join(BOUNDS)}",
                found=f"{expectation.type} with {', '.join(expectation.kwargs)}",
            )

    @property
    def tables(self) -> dict[str, tuple[Expectation, ...]]:
        return {table: getattr(self, table) for table in TABLES}

    @classmethod
    @cache
    def default(cls) -> "Contract":
        return cls.load(BUILT_IN)

    @classmethod
    def none(cls) -> "Contract":
        """It asks nothing, and a decision says so."""
        return cls((), (), contract=NONE)

    @classmethod
    def of_suite(cls, suite: Suite) -> "Contract":
        """A suite that is asked of the delivery, beside the built-in checks of the round."""
        built_in = cls.default()
        if suite.name == BUILT_IN.name:
            raise ContractError(
                f"{suite.place}: found a suite of the name {suite.name}, which the built-in "
                "contract has; expected another. Rename the file."
            )
        built_in_checks = {expectation.check for expectation in built_in.expectations} | {
            *vars(USUAL_INTEGRITY)
        }
        if repeated_checks := built_in_checks & {entry.check for entry in suite.entries}:
            raise ContractError(
                f"{suite.place}: found checks {listed(sorted(repeated_checks))}, which the "
                "built-in contract "
                "has too; expected names of their own. Name them with meta.check."
            )
        contract = cls(built_in.rows, built_in.items, built_in.round, suite.name, suite.version)
        object.__setattr__(contract, "suite", suite)
        object.__setattr__(contract, "where", built_in.where)
        return contract

    @classmethod
    def load(cls, folder: Path | str) -> "Contract":
        """The suite in a file (`Suite.load`), or the contract in a folder's rows.yaml and
        items.yaml, and round.yaml if it is there.

        Each file is a list of expectations in Great Expectations' own form. The contract is called
        as its folder, and `contract.yaml` has its version, which is 1 without that file. A
        ContractError names every mistake with file and line.
        """
        folder = Path(folder)
        if folder.is_file():
            return cls.of_suite(Suite.load(folder))
        files = {name: folder / f"{name}.yaml" for name in (CONTRACT_FILE_STEM, *TABLES)}
        parsed_by_name = {
            name: read_yaml(file, ContractError)
            for name, file in files.items()
            if name not in (CONTRACT_FILE_STEM, *OPTIONAL) or file.exists()
        }
        contract_data, place = parsed_by_name.pop(
            CONTRACT_FILE_STEM, ({}, Place(str(files[CONTRACT_FILE_STEM])))
        )
        if not isinstance(contract_data, dict) or {*contract_data} - {"version"}:
            raise ContractError(
                f"{place}: found {value_in_message(contract_data)}; expected `version: 1` or "
                "higher."
            )
        lines = {
            (table, *path): line
            for table, (_, place) in parsed_by_name.items()
            for path, line in place.lines.items()
        }
        data = {table: content for table, (content, _) in parsed_by_name.items()}
        lines |= {path: line for path, line in place.lines.items() if path}
        data |= {"contract": folder.resolve().name, **contract_data}
        contract = cls.from_mapping(data, source=_InFolder(str(folder), lines))
        if contract.contract == BUILT_IN.name and folder != BUILT_IN:
            built_in = cls.default()
            if contract.version == built_in.version and contract.digest != built_in.digest:
                raise ContractError(
                    f"{folder}: found other checks under the name and version of the built-in "
                    f"contract, {built_in.contract} {built_in.version}; expected a name of its "
                    "own, "
                    "since pages name a contract. Rename the folder."
                )
        return contract

    @classmethod
    def from_mapping(cls, data: object, *, source: str | Place = "contract") -> "Contract":
        """Every mistake is named with its place in `source`."""
        place = source if isinstance(source, Place) else Place(source)
        entries = data.get("suite") if isinstance(data, Mapping) else None
        if isinstance(data, Mapping) and entries is not None:
            data = {key: value for key, value in data.items() if key != "suite"}
        contract = validate_settings(cls, data, place, ContractError)
        object.__setattr__(contract, "where", place)
        if entries is not None:
            meta = {"version": contract.version}
            content = {"expectations": entries, "meta": meta}
            suite = Suite.from_mapping(content, contract.contract, place / "suite")
            object.__setattr__(contract, "suite", suite)
        return contract

    def to_mapping(self) -> dict[str, Any]:
        tables = {
            table: [expectation.to_mapping() for expectation in expectations]
            for table, expectations in self.tables.items()
            if expectations or table not in OPTIONAL
        }
        suite = {} if self.suite is None else {"suite": self.suite.to_list()}
        return {**self.named, **tables, **suite}

    @property
    def named(self) -> dict[str, Any]:
        return {"contract": self.contract, "version": self.version} if self.contract else {}

    @property
    def digest(self) -> str:
        return digest_of_plain(self.to_mapping())

    @property
    def expectations(self) -> tuple[Expectation, ...]:
        return (*self.rows, *self.items, *self.round)

    def check(self, ratings: Ratings, before: Sequence[Finding] = ()) -> tuple[Finding, ...]:
        """One finding for each check, in order.

        What this contract found in the ratings `before`, under other names of the raters, stands as
        far as no names of raters are in it.

        A check that could not be run is a failed error whatever its severity. An expectation that
        Great Expectations does not know is a ContractError with file and line.
        """
        personal = [
            expectation.kwargs["regex"]
            for expectation in self.expectations
            if expectation.meta.redact
        ]
        panel, findings = Panel(ratings), list[Finding]()
        for table in DERIVED:
            place = self.where / table
            findings += validate(self.tables[table], panel, table, personal, place, before)
        findings += check_integrity(panel, tuple(map(_check_of_bound, self.round)), ROUND, personal)
        return tuple(findings)


def _check_of_bound(expectation: Expectation) -> Check:
    limits = [expectation.kwargs.get(name) for name in BOUNDS]
    minimum, maximum = (
        default if limit is None else limit
        for limit, default in zip(limits, (-inf, inf), strict=True)
    )
    fact = expectation.kwargs["column"]
    words, severity = expectation.description, expectation.weight
    return Check(expectation.check, fact, words, severity, minimum, maximum)
