"""Writes docs/proofs/degenerate-inputs.md: the answer of every measure to degenerate inputs.

`python -m tools.pages.degenerate_page [--check] docs/proofs/degenerate-inputs.md`
"""

import sys
from collections.abc import Sequence
from pathlib import Path

from tools.pages.degenerate_inputs import INPUTS, REFUSALS, DegenerateInput
from tools.pages.generated import write_or_check
from tools.pages.measures_page import all_forms

COMMAND = "tools.pages.degenerate_page"
UNDEFINED = "undefined: "
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

<!-- Written by `python -m {COMMAND} docs/proofs/degenerate-inputs.md`. -->

What does a measure say where agreement is hard to define? Four rules decide every answer:

1. **A measure has a value where its formula gives a number**, even if little was observed.
   The interval shows how little.
2. **A measure has no value where its formula gives 0/0**, and then the gate holds the release.
   The value is never 1 because everybody agrees, and never 0 because nothing was learnt.
3. **The source of chance decides.** Chance that is computed from the labels gives full agreement
   where labels do not vary. Chance that is fixed beforehand does not.
4. **An input that cannot be a round is refused** before anything is computed.

How to read the page:

- A line of an input is an item, `.` is a missing rating, and measures of numbers use 0, 1, 2.
- `no/yes` is a rater who met the item twice. Between raters, only the first label counts.
- `model` is the classifier. Measures of several classifiers get a second one with equal labels.
- A measure of each category is shown by its lowest category.
- A name followed by `+` stands for [all forms](../measures.md) of that measure.
- A dash is no value, and the number beside it names one of the [reasons](#reasons).
"""


def degenerate_page() -> str:
    """The page: headline measures at a glance, every measure by input, reasons, then refusals."""
    reasons: list[str] = []
    nowhere = _nowhere()
    parts = [_overview(reasons), *(_section(each, reasons, nowhere) for each in INPUTS)]
    listed = "\n".join(f"{number}. {reason}" for number, reason in enumerate(reasons, 1))
    return "\n".join(
        [INTRODUCTION, *parts, _without(nowhere), f"## Reasons\n\n{listed}\n", _refusals()]
    )


def _nowhere() -> dict[str, list[str]]:
    """The measures that have no value on any input, by their one reason."""
    first, *others = (_answers(each) for each in INPUTS)
    found = {
        answer: [name for name in names if all(name in other.get(answer, ()) for other in others)]
        for answer, names in first.items()
        if answer.startswith(UNDEFINED)
    }
    return {answer: names for answer, names in found.items() if names}


def _without(nowhere: dict[str, list[str]]) -> str:
    lines = [
        f"- {', '.join(names)}: {answer.removeprefix(UNDEFINED)}"
        for answer, names in nowhere.items()
    ]
    return "\n".join(["## Measures without a value on any input\n", *lines, ""])


def _overview(reasons: list[str]) -> str:
    rows = [
        f"| {each.title} | {' | '.join(_cell(each.answer(name), reasons) for name in HEADLINE)} |"
        for each in INPUTS
    ]
    header = [
        "| input | " + " | ".join(f"`{name}`" for name in HEADLINE) + " |",
        "| --- |" + " --- |" * len(HEADLINE),
    ]
    return "\n".join(["## At a glance\n", *header, *rows, ""])


def _cell(answer: str, reasons: list[str]) -> str:
    """The value, or a dash and the number of the reason."""
    if not answer.startswith(UNDEFINED):
        return answer
    reason = answer.removeprefix(UNDEFINED)
    if reason not in reasons:
        reasons.append(reason)
    return f"– ({reasons.index(reason) + 1})"


def _section(each: DegenerateInput, reasons: list[str], nowhere: dict[str, list[str]]) -> str:
    lines = [f"## {each.title}\n", each.why + "\n", f"```text\n{_aligned(each.table)}\n```\n"]
    if not each.in_full:
        return "\n".join(lines)
    answers = {
        _cell(answer, reasons): sorted(left)
        for answer, names in _answers(each).items()
        if (left := set(names).difference(nowhere.get(answer, ())))
    }
    rows = [
        f"| {answer} | {', '.join(answers[answer])} |"
        for answer in sorted(answers, key=_highest_first)
    ]
    return "\n".join([*lines, "| answer | measures |", "| --- | --- |", *rows, ""])


def _answers(each: DegenerateInput) -> dict[str, list[str]]:
    """The measures that give each answer.

    The forms of a measure are shown under one name where they all give the same answer.
    """
    given: dict[str, list[str]] = {}
    for forms in all_forms():
        of = {record.name: each.answer(record.name) for record in forms.records}
        alike = len(of) > 1 and len(set(of.values())) == 1
        for name, answer in {forms.name: of[forms.main.name]}.items() if alike else of.items():
            given.setdefault(answer, []).append(f"`{name}`{'+' * alike}")
    return given


def _highest_first(answer: str) -> tuple[bool, float]:
    """Values from the highest, then reasons by their number."""
    without = answer.startswith("–")
    return without, float(answer.strip("– ()")) if without else -float(answer)


def _aligned(table: str) -> str:
    rows = [line.split() for line in table.splitlines()]
    widths = [max(map(len, column)) for column in zip(*rows, strict=True)]
    return "\n".join(
        "  ".join(said.ljust(width) for said, width in zip(row, widths, strict=True)).rstrip()
        for row in rows
    )


def _refusals() -> str:
    rows = [f"| {each.title} | {each.message.partition('. ')[0]} |" for each in REFUSALS]
    note = "Each error also says what to do. On a nominal scale `inf` is an ordinary name."
    return "\n".join(["## Refused\n", "| input | error |", "| --- | --- |", *rows, "", note, ""])


def main(arguments: Sequence[str] | None = None) -> int:
    """Write the page, or compare it; the exit status is 1 when the page is outdated."""
    return write_or_check(lambda path: {Path(path): degenerate_page()}, COMMAND, arguments)


if __name__ == "__main__":
    sys.exit(main())
