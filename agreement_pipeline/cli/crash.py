"""What is said of an error that the program did not raise on purpose, and its exit status."""

import sys
from contextlib import suppress
from pathlib import Path
from traceback import extract_tb

CRASHED = 70
"""No verdict: not 0, which admits, and not 1, which holds."""


def crashed(error: BaseException) -> int:
    """Say in one line what went wrong and where, and return the exit status."""
    said = " ".join(str(error).split())
    shown = "".join(each if each.isprintable() else ascii(each)[1:-1] for each in said)
    with suppress(OSError):
        sys.stderr.write(
            f"error: found {type(error).__name__} ({shown}) {_place(error)}; expected no such "
            "error. Nothing was judged. This is a mistake of the program: report this line.\n"
        )
    return CRASHED


def _place(error: BaseException) -> str:
    frames = extract_tb(error.__traceback__)
    if not frames:
        return "in no known place"
    last = frames[-1]
    return f"in {'/'.join(Path(last.filename).parts[-2:])}, line {last.lineno}"


__all__ = ["CRASHED", "crashed"]
