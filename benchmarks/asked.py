"""What a script is asked for on the command line, and the lines of the table that it prints."""

import argparse
from collections.abc import Sequence


def asked(
    doc: str | None, words: Sequence[str] | None = None, /, **named: object
) -> argparse.Namespace:
    """What is asked for, by name: `--name` with a usual value, unless it stands without its name.

    A type must be given, a tuple holds what is usual where nothing is given, and a list holds the
    type of as many as are given.
    """
    parser = argparse.ArgumentParser(
        description=doc, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    for name, usual in named.items():
        if isinstance(usual, type):
            parser.add_argument(name, type=usual)
        elif isinstance(usual, tuple):
            parser.add_argument(name, type=type(*usual), nargs="?", default=usual[0])
        elif isinstance(usual, list):
            parser.add_argument(name, type=usual[0], nargs="*")
        elif isinstance(usual, bool):
            parser.add_argument(f"--{name}", action="store_true")
        else:
            usually = f"{usual} is usual"
            parser.add_argument(f"--{name}", type=type(usual), default=usual, help=usually)
    return parser.parse_args(words)


def head(*columns: str) -> None:
    """The head of a table whose first column is words, and all others are numbers."""
    line(*columns)
    line("---", *["---:"] * (len(columns) - 1))


def line(*cells: object) -> None:
    print(f"| {' | '.join(map(str, cells))} |", flush=True)
