"""The operating characteristic of the rule "α at least 0.8": how often it admits a round.

`python benchmarks/gate.py` writes a table and a plot into docs/proofs/intervals.md. Three raters
know an item or guess it, all alike. One of two categories has the given prevalence.
"""

import argparse
from collections.abc import Sequence
from pathlib import Path

from matplotlib.figure import Figure
from populations import Mixture, guessed

from agreement_pipeline.estimates import estimate
from agreement_pipeline.intervals import Inference
from agreement_pipeline.policy import RELIABLE

PAGE = Path(__file__).parents[1] / "docs" / "proofs" / "intervals.md"
PLOT = PAGE.parents[1] / "images" / "gate.png"
START, END = "<!-- gate: written by benchmarks/gate.py -->", "<!-- end of gate -->"
ALPHA = "krippendorff_alpha"
TRUTHS = (0.6, 0.7, 0.75, 0.79, 0.8, 0.85, 0.9)
ITEMS = (50, 200, 1000)
RARE = (0.5, 0.1, 0.03)
COLOURS, STYLES = ("#23395b", "#b3392f", "#2a9d6f"), (":", "--", "-")


def admitted(population: Mixture, n: int, rounds: int, draws: int) -> float:
    """The share of rounds whose lower limit reaches the cut-off, in percent.

    Each round has resamples of its own. If all had the same ones, their luck would be shared.
    """
    met = 0
    for number, (weights, times) in enumerate(population.rounds(n, rounds, 0)):
        statistic = population.statistic(ALPHA, weights.astype(float))
        found = estimate(ALPHA, statistic, Inference(n_resamples=draws, seed=number))
        met += times * bool(found.interval and found.interval.low >= RELIABLE)
    return 100 * met / rounds


def table(found: dict[tuple[float, int, float], float]) -> str:
    head = " | ".join(f"true {truth:.2f}" for truth in TRUTHS)
    lines = [f"| prevalence | items | {head} |", "| --- | ---: |" + " ---: |" * len(TRUTHS)]
    for rare in RARE:
        for n in ITEMS:
            shares = " | ".join(f"{found[rare, n, truth]:.1f}" for truth in TRUTHS)
            lines.append(f"| {100 * rare:g} % | {n:,} | {shares} |")
    return "\n".join(lines)


def plot(found: dict[tuple[float, int, float], float]) -> None:
    figure = Figure(figsize=(7.2, 3.2), layout="constrained")
    axes = figure.subplots()
    for rare, colour in zip(RARE, COLOURS, strict=True):
        for n, style in zip(ITEMS, STYLES, strict=True):
            shares = [found[rare, n, truth] for truth in TRUTHS]
            label = f"{100 * rare:g} %, {n:,} items"
            axes.plot(TRUTHS, shares, style, color=colour, label=label)
    axes.axvline(RELIABLE, color="#8d99ae", linewidth=1)
    axes.set_xlabel("true α")
    axes.set_ylabel("rounds admitted, %")
    axes.legend(fontsize=7, frameon=False, title="prevalence", title_fontsize=7)
    axes.spines[["top", "right"]].set_visible(False)
    figure.savefig(PLOT, dpi=110, metadata={"Software": None})


def main(arguments: Sequence[str] | None = None) -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--rounds", type=int, default=1000)
    parser.add_argument("--draws", type=int, default=1000)
    options = parser.parse_args(arguments)
    found = {
        (rare, n, truth): admitted(
            guessed(rare, truth, (n,), ALPHA, raters=3), n, options.rounds, options.draws
        )
        for rare in RARE
        for n in ITEMS
        for truth in TRUTHS
    }
    page = PAGE.read_text(encoding="utf-8")
    before, after = page.split(START)[0], page.split(END)[1]
    PAGE.write_text(f"{before}{START}\n\n{table(found)}\n\n{END}{after}", encoding="utf-8")
    plot(found)


if __name__ == "__main__":
    main()
