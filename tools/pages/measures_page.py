"""Writes the pages of measures from the registry, or checks that they are up to date.

`python -m tools.pages.measures_page [--check] docs/measures.md`

The page itself is written by hand, except for its list of measures. Each family of measures has a
page of its own in the folder beside it. The family pages come from the docstrings of modules and
functions.
"""

import inspect
import math
import re
import sys
from collections.abc import Callable, Collection, Sequence
from itertools import groupby
from pathlib import Path
from typing import NamedTuple

from agreement_pipeline.measures import MEASURES, WEIGHTINGS, Measure
from agreement_pipeline.ratings import LEVELS
from tools.pages.generated import between_marks, write_or_check

QUESTIONS = {
    "inter-rater": "Do the raters agree with each other?",
    "intra-rater": "Does each rater agree with their own earlier labels?",
    "classifier": "Does a classifier agree with the panel?",
}
COMMAND = "tools.pages.measures_page"
WRITTEN = "<!-- Written by `make pages`. -->"
OVERLAPPING = re.compile(r"\\[^A-Za-z]|\*|(?<![A-Za-z0-9])_")
WHY = re.compile(r", so chance |; ")
"""A reason says after this why there is no value and what to use. It is printed in place of it."""
DISTANCES = r"""The name of a distance may follow that of a weighted measure, as in
`gwet_ac2_circular`. Two categories with scores x and y, or places on the ordinal level, have the
weight $w_{xy} = 1 - d_{xy} / \max d$.
"""


def measures_pages(path: Path) -> dict[Path, str]:
    """The page at `path` with its list of measures, and the page of each family.

    The list is that of the registry.
    """
    text = path.read_text(encoding="utf-8")
    page = between_marks(text, "measures", list_of_measures(path.stem).rstrip("\n"))
    return {
        path: page,
        **{path.with_suffix("") / f"{name}.md": text for name, text in family_pages().items()},
    }


def list_of_measures(folder: str) -> str:
    """A table of measures for each question, with links to the family pages with formulas."""
    tables = (_questions_table(question, title, folder) for question, title in QUESTIONS.items())
    return "\n".join([*tables, _list_of_distances()])


def family_pages() -> dict[str, str]:
    """The page of each family, by the name of its module."""
    families = groupby(all_forms(), key=lambda forms: forms.family)
    return {name: _family_page(list(members)) for name, members in families}


class Forms(NamedTuple):
    """The measures of one function in a module, its family: weighted forms and other names."""

    family: str
    name: str
    records: tuple[Measure, ...]

    @property
    def main(self) -> Measure:
        """The measure with the function's own name, or else the first."""
        return min(self.records, key=lambda record: record.name != self.name)

    @property
    def title(self) -> str:
        """The name people use, without weights."""
        title = self.main.title
        return title if self.main.name == self.name else title.rpartition(", ")[0]

    @property
    def others(self) -> list[Measure]:
        """The measures that are not registered under the function's own name."""
        return [record for record in self.records if record.name != self.name]


def all_forms() -> list[Forms]:
    """Every measure, family by family and function by function."""
    in_order = sorted(MEASURES.values(), key=lambda record: (_written(record), record.name))
    return [Forms(*place, tuple(records)) for place, records in groupby(in_order, key=_written)]


def _written(record: Measure) -> tuple[str, str]:
    """The module and the name of the function as written, before weights are chosen."""
    function = inspect.unwrap(record.function)
    return function.__module__.rpartition(".")[2], function.__name__


def _questions_table(question: str, title: str, folder: str) -> str:
    """The families that answer a question, each with its measures."""
    members = [forms for forms in all_forms() if forms.main.question == question]
    rows = [
        f"| [{_docstring(forms)[0]}]({folder}/{family}.md) | "
        f"{', '.join(_names(each, folder) for each in (forms, *others))} |"
        for family, (forms, *others) in groupby(members, key=lambda forms: forms.family)
    ]
    return "\n".join([f"### {title}\n", "| family | measures |", "| --- | --- |", *rows, ""])


def _names(forms: Forms, folder: str) -> str:
    first, *others = sorted(forms.records, key=lambda record: record is not forms.main)
    link = f"[`{first.name}`]({folder}/{forms.family}.md#{forms.name})"
    return ", ".join([link, *(f"`{record.name}`" for record in others)])


def _docstring(forms: Forms) -> tuple[str, str]:
    """The title and the introduction of a family."""
    module = inspect.getmodule(inspect.unwrap(forms.main.function))
    title, _, introduction = (inspect.getdoc(module) or "").partition("\n")
    return title.strip().rstrip("."), introduction


def _family_page(members: list[Forms]) -> str:
    """The page of a family. What several of its measures share is said once, above them."""
    title, introduction = _docstring(members[0])
    shared: list[str] = []
    own: dict[str, list[str]] = {forms.name: [] for forms in members}
    for fact, parts_of in FACTS.items():
        holders: dict[str, tuple[str, ...]] = {}
        for forms in members:
            for part in parts_of(forms.main):
                holders[part] = (*holders.get(part, ()), forms.name)
        for names in dict.fromkeys(holders.values()):
            text = "; ".join(part for part, those in holders.items() if those == names)
            several = 1 < len(names) < len(members)
            of = f" ({', '.join(f'`{name}`' for name in names)})" if several else ""
            where = own[names[0]] if len(names) == 1 else shared
            where.append(f"- **{fact}**{of}: {text}.")
    above = [f"# {title}", WRITTEN, markdown(introduction), "\n".join(shared)]
    sections = [_section(forms, own[forms.name]) for forms in members]
    return "\n\n".join([*filter(None, above), *sections, "[All measures](../measures.md)\n"])


def _section(forms: Forms, facts: list[str]) -> str:
    parts = [f"## {forms.name}", f"*{forms.title}.* {_prose(forms.main)}", "\n".join(facts)]
    return "\n\n".join(filter(None, [*parts, _other_forms(forms)]))


def _list_of_distances() -> str:
    """The distances that may follow the name of a family, each with its formula and levels."""
    lines = [
        f"- `{name}`: $d_{{xy}} = {weighting.formula}$; {_levels(weighting.levels)}."
        for name, weighting in WEIGHTINGS.items()
    ]
    return "\n".join(["### distances\n", DISTANCES, *lines, ""])


def _other_forms(forms: Forms) -> str:
    """The other names of the function, and the distances that it takes."""
    lines = [
        f"- {', '.join(f'`{record.name}`' for record in records)}: {said}."
        for said, records in groupby(forms.others, key=_form)
    ]
    if not lines:
        return ""
    family = forms.others[-1].name.rpartition("_")[0]
    distances = f"- `{family}_circular` and so on: other [distances](../measures.md#distances)."
    return "\n".join(["Forms:\n", *lines, distances])


def _form(record: Measure) -> str:
    another = f"another name of `{record.alias_of}`; " if record.alias_of else ""
    return another + _levels(record.levels)


def _prose(record: Measure) -> str:
    """The docstring before its parameters."""
    return markdown(inspect.cleandoc(record.function.__doc__ or "").split("\nParameters\n")[0])


def markdown(text: str) -> str:
    """A docstring's text with its formulas in the form that GitHub renders.

    >>> markdown("With :math:`p_o` observed, ``nan`` is missing.")
    'With $p_o$ observed, `nan` is missing.'
    >>> markdown("Of rater p, :math:`D^{(p)}_o`.")
    'Of rater p, $`D^{(p)}_o`$.'
    """
    text = re.sub(
        r"^\.\. math:: (.*?)(?=\n\n|\Z)",
        lambda found: _formula(found[1]),
        text.strip(),
        flags=re.DOTALL | re.MULTILINE,
    )
    text = re.sub(r":math:`(.+?)`", lambda found: _inline(found[1]), text)
    return re.sub(r"(?<!`)``(?!`)(.+?)(?<!`)``(?!`)", r"`\1`", text)


def _inline(formula: str) -> str:
    """A formula in a line; quoted where Markdown would see an escape or an emphasis in it."""
    return f"$`{formula}`$" if OVERLAPPING.search(formula) else f"${formula}$"


def _formula(source: str) -> str:
    return f"```math\n{' '.join(line.strip() for line in source.splitlines())}\n```"


def _levels(levels: Collection[str]) -> str:
    return ", ".join(level for level in LEVELS if level in levels)


def _range(record: Measure) -> str:
    low, high = ("no bound" if math.isinf(bound) else f"{bound:g}" for bound in record.bounds)
    chance = "0 is chance" if record.chance_corrected else "guessing does not give 0"
    return f"{low} to {high}; {chance}"


FACTS: dict[str, Callable[[Measure], Sequence[str]]] = {
    "Range": lambda record: [_range(record)],
    "Levels": lambda record: [_levels(record.levels)],
    "Raters": lambda record: ["interchangeable" if record.exchangeable else "told apart by name"],
    "Missing ratings": lambda record: record.convention.split("; "),
    "Source": lambda record: record.source.rstrip(".").split("; "),
    "Undefined when": lambda record: [WHY.split(each.reason)[0] for each in record.undefined],
}
"""What a record says, in parts that the measures of a family may share."""


def main(arguments: Sequence[str] | None = None) -> int:
    """Write the pages, or compare them; the exit status is 1 when a page is outdated."""
    return write_or_check(measures_pages, COMMAND, arguments)


if __name__ == "__main__":
    sys.exit(main())
