"""Writes docs/proofs/reproduction.md: every figure that the sources print, beside our own.

`python -m tools.pages.reproduction_page [--check] docs/proofs/reproduction.md`
"""

import sys
from collections import Counter
from collections.abc import Sequence

from tools.pages.generated import write_or_check
from tools.pages.sources import SOURCES, Figure, Source

COMMAND = "tools.pages.reproduction_page"
INTRODUCTION = f"""# Reproduction

<!-- Written by `python -m {COMMAND} docs/proofs/reproduction.md`. -->

The measures were first taken from five sources. Five more are about units that raters mark. This
page shows the printed figures of these sources beside our own. This package computes our figure
from the source's own table, by the definition. Where a printed figure and its definition disagree,
the package follows the definition.

- **agrees**: our figure rounds to the printed figure.
- **holds** or **does not hold**: the verdict on a printed statement.
- **misprint**: the two figures differ, and it is known how the printed figure arises.
  The explanation is exact to two units of the last digit or better.
- **not reproducible**: the two figures differ without a known reason, or the data are not public.

The verdicts are computed from the numbers when the page is written.
"""


def reproduction_page() -> str:
    """The page: for each source, the number of each verdict and every figure."""
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
    cells = (
        figure.where,
        figure.what,
        figure.printed,
        _number(figure.ours),
        figure.verdict_in_words,
    )
    return f"| {' | '.join(cells)} |"


def _number(ours: float | tuple[float, ...] | None) -> str:
    if ours is None:
        return "–"
    return ", ".join(
        f"{round(value, 5) + 0.0:.5f}" for value in (ours if isinstance(ours, tuple) else (ours,))
    )


def main(arguments: Sequence[str] | None = None) -> int:
    """Write the page, or compare it; the exit status is 1 when the page is outdated."""
    return write_or_check(lambda path: {path: reproduction_page()}, COMMAND, arguments)


if __name__ == "__main__":
    sys.exit(main())
