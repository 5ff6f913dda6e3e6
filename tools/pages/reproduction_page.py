"""Writes docs/proofs/reproduction.md: every figure that the sources print, beside our own.

`python -m tools.pages.reproduction_page [--check] docs/proofs/reproduction.md`
"""

import sys
from collections import Counter
from collections.abc import Sequence
from itertools import groupby

from tools.pages.generated import write_or_check
from tools.pages.sources import SOURCES, Figure, Source

COMMAND = "tools.pages.reproduction_page"
INTRODUCTION = f"""# Reproduction

<!-- Written by `python -m {COMMAND} docs/proofs/reproduction.md`. -->

Does this package give the figures that its sources print? {{found}}.
Our figure is computed from the source's own table, by the definition. Five sources are about
measures, and five about units.

- **agrees**: our figure rounds to the printed figure. Such figures stand in lists, as
  *printed* = *ours*.
- **holds** or **does not hold**: the verdict on a printed statement.
- **misprint**: the figures differ, and it is known how the printed figure arises, to two units of
  the last digit or better. The package follows the definition.
- **not reproducible**: the figures differ without a known reason, or the data are not public.

The verdicts are computed from the numbers when the page is written.
"""


def reproduction_page() -> str:
    """The page: for each source, the number of each verdict and every figure."""
    every = [figure for source in SOURCES for figure in source.figures]
    found = f"Of {len(every)} figures and statements: {_counted(every)}"
    return "\n".join([INTRODUCTION.format(found=found), *map(_section, SOURCES)])


def _counted(figures: Sequence[Figure]) -> str:
    counted = Counter(figure.verdict for figure in figures)
    return ", ".join(f"{number} {verdict}" for verdict, number in counted.items())


def _section(source: Source) -> str:
    header = ["| what | printed | ours | verdict |", "| --- | --- | --- | --- |"]
    plain = [figure for figure in source.figures if _plain(figure)]
    others = [figure for figure in source.figures if not _plain(figure)]
    return "\n".join(
        [
            f"## {source.title}\n",
            f"{source.citation}\n",
            *([f"{source.note}\n"] if source.note else []),
            f"{_counted(source.figures)}.\n",
            *(_agreeing(where, list(of)) for where, of in groupby(plain, lambda each: each.where)),
            *([""] if plain else []),
            *([*header, *map(_row, others), ""] if others else []),
        ]
    )


def _plain(figure: Figure) -> bool:
    """True for a figure that agrees, with nothing to say of it."""
    return figure.verdict_in_words == "agrees"


def _agreeing(where: str, figures: list[Figure]) -> str:
    """A line of the figures of a place that agree."""
    shown = "; ".join(f"{each.what} {each.printed} = {_number(each.ours)}" for each in figures)
    return f"- {where}: {shown}."


def _row(figure: Figure) -> str:
    cells = (
        f"{figure.where}: {figure.what}",
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
