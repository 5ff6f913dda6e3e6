"""Writes docs/degenerate-inputs.md: what every measure makes of inputs at the edge.

`python -m agreement_pipeline.report.degenerate_page [--check] docs/degenerate-inputs.md`
"""

import sys
from collections.abc import Sequence
from pathlib import Path

from tools.pages.degenerate_inputs import INPUTS, REFUSALS, DegenerateInput
from tools.pages.generated import write_or_check
from tools.pages.measures_page import all_forms

COMMAND = "tools.pages.degenerate_page"
HEADLINE = (
    "percent_agreement",
    "krippendorff_alpha",
    "fleiss_kappa",
    "shah_kappa_s",
    "cohen_kappa",
    "gwet_ac1",
    "bennett_s",
    "icc_1_1",
    "self_agreement",
    "shah_s",
    "vanbelle_albert_kappa",
)
INTRODUCTION = f"""# Degenerate inputs

<!-- Written by `python -m {COMMAND} docs/degenerate-inputs.md`. -->

Inputs at the edge of what agreement means, and what every measure makes of them. There is one answer in each place, from four rules:

1. **A coefficient is a number where its formula has one**, also where little was observed: the interval says how little.
2. **Where its formula is 0/0 it has no value**, and the reason is said in words. In the gate that holds the release.
   It is never 1 because everybody agrees, nor 0 because nothing was learnt.
3. **What chance is read off decides.** Chance read off the labels agrees always where labels do not vary; chance that is fixed beforehand does not.
4. **What cannot be a round is refused** before anything is computed.

Items are lines; `.` is a missing rating, and `no/yes` a rater who met the item twice, of which the first label counts between raters. `model` is the
classifier; where a measure compares the panel with several, a second one says what it says. Measures of numbers read no, yes, unsure as 0, 1, 2.
A measure of each category is shown by its lowest category. A name with a `+` behind it stands for [all forms](measures.md) of that measure.
"""


def degenerate_page() -> str:
    """The page: headline measures at one glance, then every measure input by input, then what is refused."""
    return "\n".join([INTRODUCTION, _overview(), *map(_section, INPUTS), _refusals()])


def _overview() -> str:
    reasons: list[str] = []
    rows = [
        f"| {each.title} | {' | '.join(_cell(each.answer(name), reasons) for name in HEADLINE)} |"
        for each in INPUTS
    ]
    header = [
        "| input | " + " | ".join(f"`{name}`" for name in HEADLINE) + " |",
        "| --- |" + " --- |" * len(HEADLINE),
    ]
    return "\n".join(
        [
            "## At a glance\n",
            *header,
            *rows,
            "",
            *(f"{number}. {reason}" for number, reason in enumerate(reasons, 1)),
            "",
        ]
    )


def _cell(answer: str, reasons: list[str]) -> str:
    """The value, or a dash and the number of the reason."""
    if not answer.startswith("undefined"):
        return answer
    if answer not in reasons:
        reasons.append(answer)
    return f"– ({reasons.index(answer) + 1})"


def _section(each: DegenerateInput) -> str:
    answers = _answers(each)
    rows = [
        f"| {answer} | {', '.join(sorted(answers[answer]))} |"
        for answer in sorted(answers, key=_highest_first)
    ]
    return "\n".join(
        [
            f"## {each.title}\n",
            each.why + "\n",
            f"```text\n{_aligned(each.table)}\n```\n",
            "| answer | measures |",
            "| --- | --- |",
            *rows,
            "",
        ]
    )


def _answers(each: DegenerateInput) -> dict[str, list[str]]:
    """Who gives each answer; the forms of a measure under one name where they are at one."""
    given: dict[str, list[str]] = {}
    for forms in all_forms():
        of = {record.name: each.answer(record.name) for record in forms.records}
        alike = len(of) > 1 and len(set(of.values())) == 1
        for name, answer in {forms.name: of[forms.main.name]}.items() if alike else of.items():
            given.setdefault(answer, []).append(f"`{name}`{'+' * alike}")
    return given


def _highest_first(answer: str) -> tuple[bool, float, str]:
    without = answer.startswith("undefined")
    return without, 0.0 if without else -float(answer), answer


def _aligned(table: str) -> str:
    rows = [line.split() for line in table.splitlines()]
    widths = [max(map(len, column)) for column in zip(*rows, strict=True)]
    return "\n".join(
        "  ".join(said.ljust(width) for said, width in zip(row, widths, strict=True)).rstrip()
        for row in rows
    )


def _refusals() -> str:
    rows = [f"| {each.title} | {each.message} |" for each in REFUSALS]
    note = "On a nominal scale `inf` is a name like any other."
    return "\n".join(["## Refused\n", "| input | error |", "| --- | --- |", *rows, "", note, ""])


def main(arguments: Sequence[str] | None = None) -> int:
    """Write the page, or compare it; the exit status is 1 when it is stale."""
    return write_or_check(lambda path: {Path(path): degenerate_page()}, COMMAND, arguments)


if __name__ == "__main__":
    sys.exit(main())
