"""What the command line says, and where."""

import json
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any, Protocol, TypeVar

import click

if TYPE_CHECKING:
    import pandas as pd


class Mapped(Protocol):
    """A result that can be written as plain data."""

    def to_mapping(self) -> dict[str, Any]:
        """The result as plain data."""


Found = TypeVar("Found", bound=Mapped)


def say(text: str) -> None:
    """Print a result."""
    click.echo(text)


def say_aside(text: str) -> None:
    """Print to standard error, in one line."""
    from agreement_pipeline.report import printable

    click.echo(printable(text), err=True)


def say_found(
    found: Sequence[Found], rows: Callable[[Sequence[Found]], "pd.DataFrame"], output: str
) -> None:
    """Print results as a table of text or as JSON."""
    if output == "json":
        say(as_json([each.to_mapping() for each in found]))
    else:
        from agreement_pipeline.report import text_table

        say(text_table(rows(found)))


def as_json(data: object) -> str:
    r"""JSON that keeps printable characters and escapes all others.

    >>> print(as_json(["caf\u00e9", "\u2028"]))
    [
      "café",
      "\u2028"
    ]
    """
    written = json.dumps(data, indent=2, ensure_ascii=False)
    return "".join(
        character if character.isprintable() or character == "\n" else json.dumps(character)[1:-1]
        for character in written
    )
