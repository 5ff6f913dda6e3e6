"""Write docs/proofs/benchmarks.md and its plot from results: `python -m benchmarks.page FOLDER`."""

import sys
from pathlib import Path
from typing import Any

from agreement_pipeline.version import __version__
from benchmarks.cases import (
    ALPHA_WITH_INTERVAL,
    GROUPED,
    KRIPPENDORFF,
    OURS,
    TOPICS,
    Program,
    Round,
    Topic,
)
from benchmarks.measuring import HERE, Bench, Result, median, runs_of

PAGE = HERE.parent / "docs/proofs/benchmarks.md"
PLOT = HERE.parent / "docs/images/benchmarks.svg"
PLOTTED = "alpha"
AGREEING = 1e-5
INTRODUCTION = """\
# Benchmarks

How fast is it, and how much memory does it take?

{answer}

`make benchmarks` writes this page, and measures again on your machine.

- Every run is a fresh process, and its start and its imports count.
- CPU seconds are those of all cores together, and MB is the peak of the process.
- Figures are medians of up to three runs, or of one run of more than {enough} seconds.
- A ratio divides the CPU seconds of a program by those of the first line.
- Other packages read the table with pandas, and make it wide if they need that.
- A run may take {seconds} seconds and {memory:.0f} GB, and 100 million ratings ten times as long.
- Labels, items and raters are text in shuffled rows.
- Unless said otherwise, there are five raters and five categories.

{machine}

![CPU seconds from a long table to α, by number of ratings](../images/benchmarks.svg)
"""


def page(bench: Bench) -> str:
    """The page: what was measured, on which machine, and a table for each topic."""
    from benchmarks.measuring import ENOUGH_SECONDS, MOST_MEMORY, MOST_SECONDS

    known = bench.known()
    head = INTRODUCTION.format(
        answer=three_lines(known),
        enough=ENOUGH_SECONDS,
        seconds=MOST_SECONDS,
        memory=MOST_MEMORY / 2**30,
        machine=f"The machine: {machine()}.\nThe programs: {programs()}.",
    )
    return "\n".join([head, *(table(known, topic) for topic in TOPICS if _met(known, topic))])


def _met(known: list[Result], topic: Topic) -> bool:
    return any(each.topic == topic.name for each in known)


def table(known: list[Result], topic: Topic) -> str:
    """The medians of a topic, one line a round and program."""
    lines = [
        f"## {topic.title}\n",
        f"| {topic.counted} | program | CPU s | MB | {'growth' if topic.growth else 'ratio'} |",
        "| ---: | --- | ---: | ---: | ---: |",
    ]
    smallest = _medians(known, topic, topic.rounds[0])
    for made in topic.rounds:
        found = _medians(known, topic, made)
        size = f"{getattr(made, topic.counted):,}"
        for program, middle in found.items():
            beside = smallest.get(program) if topic.growth else found.get(topic.programs[0])
            lines.append(f"| {size} | {program.name} | {_figures(middle, beside)} |")
    return "\n".join([*lines, ""])


def _medians(known: list[Result], topic: Topic, made: Round) -> dict[Program, Result]:
    """The medians of the programs that were run on a round."""
    found = {each: runs_of(known, topic, made, each) for each in topic.programs}
    return {program: median(runs) for program, runs in found.items() if runs}


def _figures(found: Result, beside: Result | None) -> str:
    """The cells of a line, with the ratio of CPU seconds to those of another line."""
    if found.failed:
        return f"– | – | {found.failed}"
    known = beside is not None and not beside.failed and beside.cpu > 0
    ratio = f"{found.cpu / beside.cpu:.2g}" if known else "–"
    differing = _differing(found, beside) if known else ""
    return f"{_seconds(found.cpu)} | {found.peak:,.0f} | {ratio}{differing}"


def _seconds(number: float) -> str:
    return f"{number:.2f}" if number >= 1 else f"{number:.2g}"


def _differing(found: Result, first: Result) -> str:
    """What is printed if a value is not that of the first line."""
    if found.value is None or first.value is None or "count" in found.program:
        return ""
    apart = abs(found.value - first.value)
    return f"; its value is {found.value:.5f}, not {first.value:.5f}" if apart > AGREEING else ""


def machine() -> str:
    """The processor, the cores and the memory, in general words."""
    import os

    lines = Path("/proc/cpuinfo").read_text().splitlines()
    models = [line.partition(":")[2].strip() for line in lines if line.startswith("model name")]
    memory = os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES") / 2**30
    return (
        f"{models[0] if models else 'unknown'}, {os.cpu_count()} cores, {memory:.0f} GB of memory"
    )


def programs() -> str:
    """The versions of what was measured."""
    names = [f"{OURS} {__version__}", f"Python {sys.version.split()[0]}"]
    pinned: dict[str, set[str]] = {}
    for path in sorted((HERE / "peers").glob("*.txt")):
        for line in path.read_text().split():
            name, _, number = line.partition("==")
            pinned.setdefault(name, set()).add(number)
    return ", ".join([*names, *(f"{name} {' and '.join(sorted(pinned[name]))}" for name in pinned)])


def plot(bench: Bench) -> None:
    """CPU seconds and peak memory of the first topic by number of ratings."""
    import matplotlib as mpl

    mpl.use("svg")
    mpl.rcParams |= {"svg.hashsalt": "benchmarks", "font.size": 9}
    from matplotlib import pyplot as plt

    [topic] = [each for each in TOPICS if each.name == PLOTTED]
    figure, axes = plt.subplots(1, 2, figsize=(10, 4.2), layout="constrained")
    for place, (part, what) in enumerate((("cpu", "CPU seconds"), ("peak", "peak memory, MB"))):
        for program in topic.programs:
            _line(axes[place], topic, program, bench.known(), part)
        axes[place].set(xscale="log", yscale="log", xlabel="ratings", title=what)
        axes[place].yaxis.set_major_formatter(lambda number, _: f"{number:,g}")
        axes[place].yaxis.set_minor_formatter("")
        axes[place].xaxis.set_major_formatter(lambda number, _: _in_few_digits(number))
        axes[place].grid(visible=True, which="both", alpha=0.2)
        axes[place].spines[["top", "right"]].set_visible(False)
    figure.legend(*axes[0].get_legend_handles_labels(), loc="outside lower center", ncols=3)
    PLOT.parent.mkdir(exist_ok=True)
    figure.savefig(PLOT, metadata={"Date": None})


def _in_few_digits(number: float) -> str:
    return f"{number / 1e6:,.0f} M" if number >= 1e6 else f"{number:,.0f}"


def _line(axes: Any, topic: Topic, program: Program, known: list[Result], part: str) -> None:
    """The medians of one program; none where it failed."""
    found = [(made, runs_of(known, topic, made, program)) for made in topic.rounds]
    drawn = [(made.ratings, median(runs)) for made, runs in found if runs and not runs[0].failed]
    style = {"linewidth": 2.5} if program.ours else {"linewidth": 1.2, "linestyle": "--"}
    sizes, values = [n for n, _ in drawn], [getattr(each, part) for _, each in drawn]
    axes.plot(sizes, values, marker="o", markersize=4, label=program.name, **style)


def three_lines(known: list[Result]) -> str:
    """The answer in short: the largest round of the plotted topic that all three programs read."""
    [topic] = [each for each in TOPICS if each.name == PLOTTED]
    shown = (ALPHA_WITH_INTERVAL, KRIPPENDORFF, GROUPED)
    read = [
        (made, [found[program] for program in shown])
        for made in topic.rounds
        if all(program in (found := _medians(known, topic, made)) for program in shown)
        and not any(found[program].failed for program in shown)
    ]
    if not read:
        return "Nothing is measured yet."
    made, medians = read[-1]
    lines = [f"| {made.ratings:,} ratings, Parquet | CPU s | MB |", "| --- | ---: | ---: |"]
    lines += [f"| {each.program} | {each.cpu:.1f} | {each.peak:,.0f} |" for each in medians]
    return "\n".join(lines)


def main() -> None:
    bench = Bench(Path(sys.argv[1]))
    PAGE.write_text(page(bench))
    if any(each.topic == PLOTTED for each in bench.known()):
        plot(bench)


if __name__ == "__main__":
    main()
