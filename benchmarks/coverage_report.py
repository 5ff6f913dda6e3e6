"""Write the results of the coverage study into docs/proofs/coverage.md, and draw two pictures.

`python -m benchmarks.coverage_report` first sums the passes in benchmarks/coverage.csv.
This keeps the file small. So it does in benchmarks/coverage_again.csv, where the default is drawn
again: `python -m benchmarks.coverage_study --methods smoothed_bayesian_bootstrap --table FILE`.
In benchmarks/coverage_upper.csv, upper limits of the methods that may decide are counted too.
"""

import os
from pathlib import Path
from typing import Any

import matplotlib as mpl
import numpy as np
import pandas as pd
from matplotlib.figure import Figure
from scipy.stats import binom

from agreement_pipeline import Scale
from agreement_pipeline.estimates import estimate
from agreement_pipeline.intervals import DEFAULT_METHOD, METHODS
from agreement_pipeline.policy import RELIABLE
from agreement_pipeline.statistics import CategoryCounts
from benchmarks.coverage_study import AT_LARGE, STUDIED, TABLE, Row, append, rows_in, summed
from benchmarks.populations import CELLS, CELLS_AT_LARGE, ITEMS, design
from tools.pages.generated import between_marks

AGAIN, UPPER = TABLE.with_name("coverage_again.csv"), TABLE.with_name("coverage_upper.csv")
DOCS = Path(__file__).parents[1] / "docs"
PAGE = DOCS / "proofs" / "coverage.md"
PLOT, PICTURE = DOCS / "images" / "coverage.png", DOCS / "images" / "held-round.png"
LOWER = {"held_95": 0.95, "held_975": 0.975}
NOMINAL = LOWER | {"held_upper": 0.975}
ALLOWED = 0.015
SURE = 0.05
FEWEST_DEFINED = 50
HELD_ROUND = ([[3, 0], [2, 1], [1, 2], [0, 3]], [56, 7, 9, 48])
INK, BAD, LINE = "#23395b", "#b3392f", "#8d99ae"


def compact(table: Path) -> list[Row]:
    """Sum the passes of the table and replace its file in one step."""
    rows, fresh = summed(rows_in(table)), table.with_suffix(".new")
    fresh.unlink(missing_ok=True)
    append(fresh, rows)
    os.replace(fresh, table)
    return rows


def coverages(rows: list[Row]) -> pd.DataFrame:
    """How often the limit held, for each cell, measure and method.

    An undefined value has no limit and admits nothing, so it counts as held.
    """
    frame = pd.DataFrame(rows, columns=Row._fields)
    frame["slack"] = frame["mean_lower_limit"] * frame["defined"]
    sums = frame.groupby(["measure", "method", "cell"], as_index=False)[
        ["populations", "defined", *NOMINAL, "slack"]
    ].sum()
    every = design(CELLS + CELLS_AT_LARGE)
    for factor in ("n", "raters", "categories", "commonest", "model", "missing", "truth", "spread"):
        sums[factor] = [getattr(every[cell], factor) for cell in sums["cell"]]
    sums["slack"] = [
        every[c].truths[m] for c, m in zip(sums["cell"], sums["measure"], strict=True)
    ] - sums["slack"] / sums["defined"]
    for held in NOMINAL:
        sums[f"missed_{held}"] = sums["defined"] - sums[held]
        sums[f"coverage_{held}"] = 1 - sums[f"missed_{held}"] / sums["populations"]
    return sums


def failing(cells: pd.DataFrame, held: str) -> pd.DataFrame:
    """The cells whose coverage is more than 1.5 points under the nominal one, beyond chance.

    The test is Holm's over all the given cells.
    """
    miss = 1 - NOMINAL[held] + ALLOWED
    p = binom.sf(cells[f"missed_{held}"] - 1, cells["populations"], miss)
    order = np.argsort(p)
    rejected = np.cumprod(p[order] <= SURE / np.arange(len(p), 0, -1)).astype(bool)
    return cells.iloc[order[rejected]]


HEAD = (
    "| | cells | at 95 %: mean | worst | failing "
    "| at 97.5 %: mean | worst | failing | slack (default's) |",
    "| --- |" + " ---: |" * 8,
)


def share(value: float) -> str:
    return f"{100 * value:.1f}"


def line(name: str, cells: pd.DataFrame, usual: pd.DataFrame) -> str:
    parts = [f"`{name}`", f"{len(cells)}"]
    for held in LOWER:
        parts += covered(cells, held)
    both = cells.merge(usual, on=["measure", "cell"], suffixes=("", "_usual"))
    return (
        "| "
        + " | ".join([*parts, f"{both['slack'].mean():.3f} ({both['slack_usual'].mean():.3f})"])
        + " |"
    )


def covered(cells: pd.DataFrame, held: str) -> list[str]:
    found = cells[f"coverage_{held}"]
    return [share(found.mean()), share(found.min()), str(len(failing(cells, held)))]


HEAD_UPPER = ("| | cells | rounds a cell | mean | worst | failing |", "| --- |" + " ---: |" * 5)


def upper(cells: pd.DataFrame) -> str:
    """How often upper limits of 97.5 % held: of the default by measure, and of raters at large."""
    alike = cells[(cells["spread"] == 0) & (cells["method"] == DEFAULT_METHOD)]
    differing = cells[(cells["spread"] > 0) & (cells["method"] == AT_LARGE[1])]
    groups = [*alike.groupby("measure"), ("all", alike), (AT_LARGE[1], differing)]
    rows = [
        f"| `{name}` | {len(some)} | {some['populations'].median():.0f} "
        f"| {' | '.join(covered(some, 'held_upper'))} |"
        for name, some in groups
    ]
    return "\n".join([*HEAD_UPPER, *rows])


def again(before: pd.DataFrame, now: pd.DataFrame) -> str:
    """How often limits of the default failed in the study, and how often they fail now, by items.

    A cell that was drawn more often in the study counts as often as it was drawn now.
    """
    both = now.merge(before, on=["measure", "method", "cell"], suffixes=("", "_before"))
    both = both[both["spread"] == 0]
    rows = [_line_again(f"{n:,}", cells) for n, cells in both.groupby("n")]
    fails = sum(len(failing(both, held)) for held in LOWER)
    return "\n".join([*HEAD_AGAIN, *rows, _line_again("all", both), "", f"{fails} cells fail."])


HEAD_AGAIN = (
    "| items | limits | fail at 97.5 %: before | now | fail at 95 %: before | now "
    "| mean limit moved by |",
    "| --- |" + " ---: |" * 6,
)


def _line_again(name: str, cells: pd.DataFrame) -> str:
    n, parts = cells["populations"], []
    for held in reversed(LOWER):
        before = cells[f"missed_{held}_before"] / cells["populations_before"] * n
        parts += [
            f"{100 * missed.sum() / n.sum():.2f}" for missed in (before, cells[f"missed_{held}"])
        ]
    moved = (cells["slack_before"] - cells["slack"]).mean()
    return f"| {name} | {n.sum():,} | {' | '.join(parts)} | {moved:+.3f} |"


def tables(found: pd.DataFrame, drawn_again: pd.DataFrame, upper_too: pd.DataFrame) -> str:
    """The five tables, and the failing cells of the methods that may decide."""
    alike, differing = (
        found[found["spread"] > 0 if at_large else found["spread"] == 0]
        for at_large in (False, True)
    )
    usual, usual_at_large = (
        cells[cells["method"] == DEFAULT_METHOD] for cells in (alike, differing)
    )
    of_methods = [
        line(name, cells, usual) for name in STUDIED if len(cells := alike[alike["method"] == name])
    ]
    of_measures = [line(name, cells, usual) for name, cells in usual.groupby("measure")]
    of_at_large = [
        line(name, cells, usual_at_large)
        for name in AT_LARGE
        if len(cells := differing[differing["method"] == name])
    ]
    deciding = differing[
        differing["method"].isin([name for name in AT_LARGE[:-1] if METHODS[name].decides])
    ]
    return "\n".join(
        [
            *(
                "### These raters, by method",
                "",
                *HEAD,
                *of_methods,
                "",
                named(usual, DEFAULT_METHOD),
                "",
                of_defined(usual),
                "",
            ),
            *("### The default, by measure", "", *HEAD, *of_measures, ""),
            *("### The default, drawn again", "", again(usual, drawn_again), ""),
            *("### Upper limits at 97.5 %", "", upper(upper_too), ""),
            *("### Raters at large, by method", "", *HEAD, *of_at_large, ""),
            *(named(cells, name) for name, cells in deciding.groupby("method")),
        ]
    )


def named(cells: pd.DataFrame, method: str) -> str:
    """A sentence or list that names the failing cells of a method."""
    bad = pd.concat([failing(cells, held).assign(held=held) for held in LOWER])
    if bad.empty:
        return f"`{method}` fails in no cell."
    return "\n".join(
        [f"Cells in which `{method}` fails:", "", *(_named(row) for row in bad.to_dict("records"))]
    )


def of_defined(cells: pd.DataFrame) -> str:
    """Sentences on the default's coverage if undefined values do not count as held."""
    defined = cells[cells["defined"] > 0].assign(populations=cells["defined"])
    bad = len(failing(defined, "held_975"))
    enough = defined[defined["defined"] >= FEWEST_DEFINED]
    worst = (1 - enough["missed_held_975"] / enough["defined"]).min()
    return (
        f"If only defined values count, `{DEFAULT_METHOD}` fails in {bad} cells at 97.5 %.\n"
        f"{len(enough)} of {len(cells)} cells have at least {FEWEST_DEFINED} defined values. "
        f"Of these, the worst has {share(worst)} %."
    )


def _named(row: dict[str, Any]) -> str:
    commonest = (
        "all equally common"
        if pd.isna(row["commonest"])
        else f"the commonest {100 * row['commonest']:g} %"
    )
    spread = f", spread of raters {row['spread']:g}" if row["spread"] else ""
    where = (
        f"{row['n']} items, {row['raters']} raters, {row['categories']} categories, {commonest}, "
        f"{row['model']}{spread}, {100 * row['missing']:g} % missing, true α {row['truth']:g}"
    )
    level, coverage = 100 * NOMINAL[row["held"]], share(row[f"coverage_{row['held']}"])
    return f"- `{row['measure']}` at {level:g} %: {where}: {coverage} % of {row['populations']}"


def plot(found: pd.DataFrame) -> None:
    figure = Figure(figsize=(9, 4.2), layout="constrained")
    axes = figure.subplots()
    colours = mpl.colormaps["viridis_r"](np.linspace(0, 1, len(ITEMS)))
    rng = np.random.default_rng(0)
    for place, name in enumerate(STUDIED):
        for n, colour in zip(ITEMS, colours, strict=True):
            cells = found[(found["method"] == name) & (found["n"] == n) & (found["spread"] == 0)]
            at = place - 0.36 + 0.12 * ITEMS.index(n) + rng.uniform(0, 0.1, size=len(cells))
            axes.scatter(
                at,
                100 * cells["coverage_held_975"],
                s=4,
                color=colour,
                alpha=0.5,
                linewidths=0,
                label=f"{n} items" if not place else None,
            )
    axes.axhline(97.5, color=INK, linewidth=1)
    axes.axhline(96, color=BAD, linewidth=1, linestyle="--")
    axes.set_xticks(range(len(STUDIED)), [name.replace("_", "\n") for name in STUDIED], fontsize=8)
    axes.set_ylabel("truth at or above the 97.5 % lower limit, %")
    axes.set_ylim(40, 100.5)
    axes.legend(fontsize=7, markerscale=3, loc="lower right")
    axes.spines[["top", "right"]].set_visible(False)
    figure.savefig(PLOT, dpi=110, metadata={"Software": None})


def picture() -> None:
    """Draw where the true α may lie, for a round with α 0.82 and one of 20 times the items."""
    rows, weights = HELD_ROUND
    figure = Figure(figsize=(7.2, 3), layout="constrained")
    axes = figure.subplots()
    for times, colour, height in ((1, BAD, 1.0), (20, INK, 0.9)):
        counts = CategoryCounts(
            rows, [times * weight for weight in weights], scale=Scale(("no", "yes"))
        )
        found = estimate("krippendorff_alpha", counts)
        density, edges = np.histogram(found.draws, bins=60, density=True)
        axes.stairs(density / density.max(), edges, color=colour, fill=True, alpha=0.25)
        low, high = found.interval
        verdict = "held" if low < RELIABLE else "reliable"
        label = (
            f"{sum(weights) * times} items: α {found.value:.2f}, {low:.2f} to {high:.2f}: {verdict}"
        )
        axes.plot(
            (low, high),
            (-0.08 * height, -0.08 * height) if times == 1 else (-0.16, -0.16),
            color=colour,
            linewidth=3,
            label=label,
        )
    axes.axvline(RELIABLE, color=LINE, linestyle="--")
    axes.text(RELIABLE, 1.02, " cut-off 0.800", fontsize=8, color=INK, va="bottom", ha="center")
    axes.set_xlabel("what Krippendorff's α may truly be")
    axes.set_yticks([])
    axes.spines[["top", "right", "left"]].set_visible(False)
    axes.legend(fontsize=8, loc="upper left", frameon=False)
    axes.set_xlim(0.66, 0.96)
    figure.savefig(PICTURE, dpi=110, metadata={"Software": None})


def main() -> None:
    found, *others = (coverages(compact(table)) for table in (TABLE, AGAIN, UPPER))
    page = between_marks(PAGE.read_text(encoding="utf-8"), "coverage", tables(found, *others))
    PAGE.write_text(page, encoding="utf-8")
    plot(found)
    picture()


if __name__ == "__main__":
    main()
