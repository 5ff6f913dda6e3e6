"""What an SQL engine is to the queries: it reads files, keeps views and answers."""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from math import inf
from pathlib import Path
from typing import Any, Protocol

from agreement_pipeline.errors import RatingsError
from agreement_pipeline.readers import named_in_schema
from agreement_pipeline.text import called, listed

ENDINGS = {
    ".parquet": "parquet",
    ".csv": "csv",
    ".tsv": "tsv",
    ".jsonl": "json",
    ".ndjson": "json",
}
ODD_LIST = "found a list with a member that is no label"
SEPARATORS = {"csv": ",", "tsv": "\t"}


class Unreadable(RatingsError):  # noqa: N818
    """An SQL engine does not read a source as the reader in memory does."""

    code = "engine_cannot_read"

    @classmethod
    def of(cls, engine: str, error: Exception) -> "Unreadable":
        """Make the error for what the library of an engine says."""
        said = str(error).strip().splitlines()[0]
        return cls(
            f"{engine}: found a source that the engine cannot read ({said}); expected a plain "
            "table. Correct it, or read it in memory (engine memory)."
        )


@dataclass(frozen=True)
class Files:
    """Files of one format that hold one table.

    Parameters
    ----------
    paths
        Their paths or URLs.
    form
        parquet, csv, tsv or json (JSON Lines).
    name
        What errors call them.
    """

    paths: tuple[str, ...]
    form: str
    name: str

    @property
    def first_row(self) -> int:
        """The number of the first row of data."""
        return 2 if self.form in SEPARATORS else 1

    @property
    def size(self) -> float:
        """The bytes of all files; infinite if they are not on this machine."""
        places = [Path(path) for path in self.paths]
        return sum(each.stat().st_size if each.exists() else inf for each in places)

    @classmethod
    def of(cls, source: str | Path) -> "Files":
        """The files of a path, a folder or a pattern such as `round/*.parquet`.

        Raises
        ------
        RatingsError
            There is no such file, or the files are not of one format.
        """
        text = str(source)
        where = Path(text)
        if "://" in text:
            paths = [text]
        elif where.is_dir():
            paths = [
                str(each) for each in sorted(where.iterdir()) if each.suffix.lower() in ENDINGS
            ]
        elif any(mark in text for mark in "*?["):
            paths = [str(each) for each in sorted(Path(where.anchor or ".").glob(_within(where)))]
        else:
            paths = [text] if where.is_file() else []
        forms = {ENDINGS.get(Path(path).suffix.lower(), "") for path in paths}
        if len(forms) != 1 or "" in forms:
            found = "no table" if not paths else f"files {listed([Path(p).name for p in paths])}"
            raise RatingsError(
                f"{text}: found {found}; expected files of one format, with names ending in one of "
                f"{listed(list(ENDINGS))}. Check the path."
            )
        return cls(tuple(paths), forms.pop(), where.name)


def _within(pattern: Path) -> str:
    return str(pattern.relative_to(pattern.anchor)) if pattern.anchor else str(pattern)


def refuse_numbered_labels(
    metadata: Mapping[bytes, bytes] | None, columns: Iterable[str], source: str
) -> None:
    """Refuse columns whose labels are numbers of names. Only the reader in memory names them."""
    numbered = sorted(named_in_schema(metadata, source).keys() & set(columns))
    if numbered:
        raise Unreadable(
            f"{source}: found numbers that stand for names in {called('column', numbered)}, as "
            "Hugging Face's library writes labels; expected the names. Save the names, or read it "
            "in memory (engine memory)."
        )


def is_list_of_labels(kind: Any) -> bool:
    """True for the Arrow type of lists of texts or whole numbers."""
    from pyarrow import types

    if not (types.is_list(kind) or types.is_large_list(kind)):
        return False
    member = kind.value_type
    return bool(
        types.is_string(member) or types.is_large_string(member) or types.is_integer(member)
    )


class Session(Protocol):
    """A connection to an SQL engine."""

    @property
    def engine(self) -> str:
        """The name of the engine."""

    def header(self, source: Any) -> list[str]:
        """The names of the columns of a source."""

    def open(self, view: str, source: Any, columns: Mapping[str, str]) -> None:
        """Make a view of some columns of a source, under other names.

        Lists of labels become text with `|` between the labels.
        """

    def forget(self, view: str, source: Any) -> None:
        """Let go of what `open` keeps for a view. Nothing asks for it any more."""

    def numbered(
        self, view: str, opened: str, source: Any, columns: Mapping[str, str]
    ) -> Sequence[str]:
        """Make a view for each file of a source, with a column `row` that numbers its rows.

        `opened` is the view that `open` made of the source.
        """

    def view(self, name: str, sql: str) -> None:
        """Keep a query under a name."""

    def table(self, name: str, data: Any) -> None:
        """Keep an Arrow table under a name."""

    def ask(self, sql: str) -> Any:
        """The answer to a query as an Arrow table."""

    def batches(self, sql: str) -> Iterator[Any]:
        """The answer to a query in Arrow batches. It is never held whole."""

    def literal(self, text: str) -> str:
        """A text as it stands in a query."""

    def matches(self, text: str, pattern: str) -> str:
        """A test of a text by a regular expression."""


__all__ = [
    "ENDINGS",
    "ODD_LIST",
    "SEPARATORS",
    "Files",
    "Session",
    "Unreadable",
    "is_list_of_labels",
]
