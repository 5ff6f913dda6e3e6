"""Writes docs/reproduction.md: every figure the sources print beside ours.

`python -m agreement_pipeline.report.reproduction_page [--check] docs/reproduction.md`
"""

import sys
from collections import Counter
from collections.abc import Sequence

from tools.pages.generated import write_or_check
from tools.pages.sources import SOURCES, Figure, Source

COMMAND = "tools.pages.reproduction_page"
INTRODUCTION = f"""# Reproduction

<!-- Written by `python -m {COMMAND} docs/reproduction.md`. -->

The measures were first taken from five sources. Every figure those print stands here beside ours, which the functions of this package compute from the
sources' own tables by the definition. Where a print and its definition disagree, the package follows the definition.

- **agrees**: ours rounds to the print. A statement **holds**, or **does not hold**.
- **misprint**: it does not, and it is known how the print arises, to two units of its last digit or better.
- **not reproducible**: it does not and it is not known, or the data are not public.

The verdicts are read off the numbers when the page is written.
"""


def reproduction_page() -> str:
    """The page: for each source how many figures agree, and each of them."""
    return "\n".join([INTRODUCTION, *map(_section, SOURCES)])


def _section(source: Source) -> str:
    counted = Counter(figure.verdict for figure in source.figures)
    summary = ", ".join(f"{number} {verdict}" for verdict, number in counted.items())
    header = ["| where | what | printed | ours | verdict |", "| --- | --- | --- | --- | --- |"]
    notes = [f"{source.note}\n"] if source.note else []
    return "\n".join(
        [
            f"## {source.title}\n",
            f"{source.citation}\n",
            *notes,
            f"{summary}.\n",
            *header,
            *map(_row, source.figures),
            "",
        ]
    )


def _row(figure: Figure) -> str:
    return f"| {figure.where} | {figure.what} | {figure.printed} | {_number(figure.ours)} | {figure.verdict_in_words} |"


def _number(ours: float | tuple[float, ...] | None) -> str:
    if ours is None:
        return "–"
    return ", ".join(
        f"{round(value, 5) + 0.0:.5f}" for value in (ours if isinstance(ours, tuple) else (ours,))
    )


def main(arguments: Sequence[str] | None = None) -> int:
    """Write the page, or compare it; the exit status is 1 when it is stale."""
    return write_or_check(lambda path: {path: reproduction_page()}, COMMAND, arguments)


if __name__ == "__main__":
    sys.exit(main())
