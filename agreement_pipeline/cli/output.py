import json
import os
import re
import shutil
import sys
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any, TextIO

import click

from agreement_pipeline.progress import end_progress

COLOURS = {
    "admitted": "green",
    "held": "red",
    "verified": "green",
    "refused": "red",
    "error": "red",
    "warning": "yellow",
}
DECIDING = re.compile(rf"^([^\S\n]*)({'|'.join(COLOURS)})", re.MULTILINE)
PLAIN = str.maketrans(
    {"…": "...", "α": "alpha", "κ": "kappa", "ρ": "rho", "π": "pi", "·": "-", "−": "-", "≥": ">="}
)


def say(text: str) -> None:
    """If nobody reads on (`| head`), the rest is dropped without a word."""
    end_progress()
    try:
        _print_to_stream(text, sys.stdout)
        sys.stdout.flush()
    except BrokenPipeError:
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())


def say_or_write(text: str, output: Path | None) -> None:
    if output is None:
        say(text.rstrip("\n"))
    else:
        output.write_text(text, encoding="utf-8")
        say_aside(f"written: {output}")


def refuse_to_replace(target: Path) -> None:
    """A statement takes the place of a file only if that is an unsigned statement too."""
    from agreement_pipeline.release import is_unsigned_statement

    if target.exists() and not is_unsigned_statement(target.read_bytes()):
        raise click.UsageError(
            f"--statement: found {target}, which is no unsigned statement; expected a new file, "
            "or an unsigned statement to replace. Name another file."
        )


def write_tasks(
    tasks: Sequence[Mapping[str, str]], text: str, form: str, output: Path | None
) -> None:
    from agreement_pipeline.evidence import formula_items
    from agreement_pipeline.text import counted, listed

    say_or_write(text, output)
    if form == "csv" and (items := formula_items(tasks)):
        say_aside(
            f"warning: in a spreadsheet, {counted(len(items), 'task')} would be read as formulas, "
            f"{listed(items, 3)}. Import the file with all columns as text, or write the tasks in "
            "another form (--format)."
        )


def write_binary(data: bytes) -> None:
    """A terminal cannot show the bytes, so they are refused there."""
    end_progress()
    if sys.stdout.isatty():
        raise click.UsageError("found a terminal; expected a file for bytes, as: … > FILE.")
    sys.stdout.buffer.write(data)
    sys.stdout.flush()


def say_aside(text: str) -> None:
    from agreement_pipeline.report import printable

    end_progress()
    _print_to_stream(printable(text), sys.stderr)


def terminal_width() -> int | None:
    return shutil.get_terminal_size().columns if sys.stdout.isatty() else None


def _print_to_stream(text: str, stream: TextIO) -> None:
    encoding = stream.encoding or "utf-8"
    try:
        text.encode(encoding)
    except UnicodeEncodeError:
        text = text.translate(PLAIN).encode(encoding, "backslashreplace").decode(encoding)
    coloured = stream.isatty() and not os.environ.get("NO_COLOR")
    if coloured:  # the word that begins a line, if the word decides something
        text = DECIDING.sub(lambda line: line[1] + click.style(line[2], fg=COLOURS[line[2]]), text)
    click.echo(text, file=stream)


def say_results(
    results: Sequence[Any],
    rows: Callable[[Sequence[Any]], list[dict[str, str]]],
    output: str,
    leading_columns: Sequence[Mapping[str, Any]] = (),
) -> None:
    records = [result.to_mapping() for result in results] if output == "json" else rows(results)
    if leading_columns:
        records = [
            {**leading, **row} for leading, row in zip(leading_columns, records, strict=True)
        ]
    if output == "json":
        say(as_json(records))
    else:
        say_table(records)


def say_table(rows: Sequence[Mapping[Any, object]], wrapped: str | None = None) -> None:
    from agreement_pipeline.report import align_table

    header = list(rows[0]) if rows else []
    say(align_table(header, (row.values() for row in rows), wrapped or (), terminal_width()))


def as_json(data: object) -> str:
    r"""Characters that can be printed are kept, and all others escaped.

    >>> print(as_json(["caf\u00e9", "\u2028"]))
    [
      "café",
      "\u2028"
    ]
    """
    text = json.dumps(data, indent=2, ensure_ascii=False)
    try:
        text.encode(sys.stdout.encoding or "utf-8")
    except UnicodeEncodeError:
        return json.dumps(data, indent=2)
    return "".join(
        character if character.isprintable() or character == "\n" else json.dumps(character)[1:-1]
        for character in text
    )
