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
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from itertools import groupby
from pathlib import Path

from agreement_pipeline.measures import MEASURES, WEIGHTINGS, Measure
from agreement_pipeline.ratings import LEVELS
from tools.pages.generated import between_marks, write_or_check

QUESTIONS = {
    "inter-rater": "Do the raters agree with each other?",
    "intra-rater": "Does each rater agree with their own earlier labels?",
    "classifier": "Does a classifier agree with the panel?",
}
COMMAND = "tools.pages.measures_page"
WRITTEN = (
    f"<!-- Written by `python -m {COMMAND} docs/measures.md`; edit the docstrings instead. -->"
)
SHORT = 8
"""Facts of so few words are said again."""
OVERLAPPING = re.compile(r"\\[^A-Za-z]|\*|(?<![A-Za-z0-9])_")
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
    families: dict[str, list[Forms]] = {}
    for forms in all_forms():
        families.setdefault(forms.family, []).append(forms)
    return {name: _family_page(members) for name, members in sorted(families.items())}


@dataclass(frozen=True)
class Forms:
    """The measures of one function: its weighted forms and its other names."""

    records: tuple[Measure, ...]

    @property
    def name(self) -> str:
        """The name of the function.

        A measure is registered under this name, unless all its forms are weighted.
        """
        return str(getattr(_written(self.records[0]), "__name__", self.records[0].name))

    @property
    def family(self) -> str:
        """The name of the function's module."""
        return str(_written(self.records[0]).__module__).rpartition(".")[2]

    @property
    def main(self) -> Measure:
        """The measure with the function's own name, or else the first."""
        return next(
            (record for record in self.records if record.name == self.name), self.records[0]
        )

    @property
    def title(self) -> str:
        """The name people use, without weights."""
        return (
            self.main.title if self.main.name == self.name else self.main.title.rpartition(", ")[0]
        )

    @property
    def others(self) -> tuple[Measure, ...]:
        """The measures that are not registered under the function's own name."""
        return tuple(record for record in self.records if record.name != self.name)


def all_forms() -> list[Forms]:
    """Every measure, family by family and function by function."""
    in_order = sorted(
        MEASURES.values(),
        key=lambda record: (_written(record).__module__, _function_name(record), record.name),
    )
    return [Forms(tuple(records)) for _, records in groupby(in_order, key=_written)]


def _written(record: Measure) -> Callable[..., object]:
    """The function as written in its module, before weights are chosen."""
    function: Callable[..., object] = inspect.unwrap(record.function)
    return function


def _function_name(record: Measure) -> str:
    return str(getattr(_written(record), "__name__", record.name))


def _questions_table(question: str, title: str, folder: str) -> str:
    members = sorted(
        (forms for forms in all_forms() if forms.main.question == question),
        key=lambda forms: forms.name,
    )
    header = [
        "| name | measure | what it measures | levels |",
        "| --- | --- | --- | --- |",
    ]
    return "\n".join([f"### {title}\n", *header, *(_row(forms, folder) for forms in members), ""])


def _row(forms: Forms, folder: str) -> str:
    names = ", ".join(f"`{record.name}`" for record in forms.others)
    link = f"[`{forms.name}`]({folder}/{forms.family}.md#{forms.name})"
    own = f"{link}, {names}".rstrip(", ") if forms.main.name == forms.name else f"{link} as {names}"
    levels = _levels({level for record in forms.records for level in record.levels})
    return f"| {own} | {forms.title} | {forms.main.description} | {levels} |"


def _family_page(members: list[Forms]) -> str:
    title, _, introduction = inspect.cleandoc(
        sys.modules[_written(members[0].main).__module__].__doc__ or ""
    ).partition("\n")
    above = [
        f"# {title.strip().rstrip('.')}\n",
        f"{WRITTEN}\n",
        *([f"{markdown(introduction)}\n"] if introduction.strip() else []),
    ]
    said: dict[str, str] = {}
    sections = [_section(forms, said) for forms in members]
    return "\n".join([*above, *sections, "[All measures](../measures.md)\n"])


def _section(forms: Forms, said: dict[str, str]) -> str:
    """One measure. What was `said` of an earlier measure of the page is not said twice."""
    main = forms.main
    facts = {
        "Range": f"{_bound(main.bounds[0])} to {_bound(main.bounds[1])}; "
        + ("0 is chance" if main.chance_corrected else "guessing does not give 0"),
        "Levels": _levels({level for record in forms.records for level in record.levels}),
        "Raters": _raters(main),
        "Missing ratings": main.convention,
        "Source": main.source,
        "Undefined when": "".join(f"\n  - {each.reason}" for each in main.undefined),
    }
    lines = []
    for name, fact in facts.items():
        before = said.setdefault(fact, forms.name)
        again = before != forms.name and len(fact.split()) > SHORT
        ended = fact if fact.startswith("\n") else f" {fact.rstrip('.')}."
        lines.append(f"- **{name}:**" + (f" as for `{before}`." if again else ended))
    return "\n".join(
        [
            f"## {forms.name}\n",
            f"*{forms.title}.* {_prose(main)}\n",
            *lines,
            "",
            *_list_of_forms(forms),
        ]
    )


def _list_of_distances() -> str:
    """The distances that may follow the name of a family, each with its formula and levels."""
    lines = [
        f"- `{name}`: $d_{{xy}} = {weighting.formula}$; {_levels(set(weighting.levels))}."
        for name, weighting in WEIGHTINGS.items()
    ]
    return "\n".join(["### distances\n", DISTANCES, *lines, ""])


def _list_of_forms(forms: Forms) -> list[str]:
    """The other names of the function, and the distances that it takes."""
    if not forms.others:
        return []
    weighted = [record for record in forms.others if _is_weighted(record)]
    family = weighted[0].name.rpartition("_")[0] if weighted else ""
    lines = [
        f"- `{record.name}`: {_form(record)}; {_levels(set(record.levels))}."
        for record in forms.records
    ]
    others = [f"- `{family}_circular` and so on: any of the [distances](../measures.md#distances)."]
    return ["Forms:", "", *lines, *(others if weighted else []), ""]


def _form(record: Measure) -> str:
    """The difference of a form: another name, or its weights."""
    return f"another name of `{record.alias_of}`" if record.alias_of else record.title


def _is_weighted(record: Measure) -> bool:
    return record.weighting in WEIGHTINGS.values()


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


def _levels(levels: set[str]) -> str:
    return ", ".join(level for level in LEVELS if level in levels)


def _raters(record: Measure) -> str:
    return "interchangeable" if record.exchangeable else "told apart by name"


def _bound(value: float) -> str:
    return "no bound" if math.isinf(value) else f"{value:g}"


def main(arguments: Sequence[str] | None = None) -> int:
    """Write the pages, or compare them; the exit status is 1 when a page is outdated."""
    return write_or_check(measures_pages, COMMAND, arguments)


if __name__ == "__main__":
    sys.exit(main())
