"""The label objects in an export, as its submissions hold them."""

from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass, replace
from typing import Any

from agreement_pipeline.engine import Relation
from agreement_pipeline.errors import RatingsError
from agreement_pipeline.ratings import category_text
from agreement_pipeline.readers.exports import Export
from agreement_pipeline.readers.rules import names_of
from agreement_pipeline.readers.submissions import Submission
from agreement_pipeline.units import ChosenSet, LabelObject, Marked, Rubric, Span

Draws = Callable[[Export, str], Iterator[Submission]]
"""From an export and a kind of objects to submissions whose answers are `Drawn`."""
DECIMALS = 3
"""Pixels are kept to a thousandth: some exports write shares of the image."""


@dataclass(frozen=True)
class Drawn:
    """What one submission holds of one question.

    Attributes
    ----------
    objects
        The objects. None is an answer too.
    extent
        As in `Marked`.
    """

    objects: tuple[LabelObject, ...] = ()
    extent: tuple[float, ...] = ()


class Numbered:
    """Submissions whose objects are kept aside. Each answer is the number of its objects.

    So the rules for submissions hold for objects as well.

    Attributes
    ----------
    kept
        The objects by number.
    """

    def __init__(self, draws: Draws, kind: str, text: str) -> None:
        self.draws, self.kind, self.text = draws, kind, text
        self.kept: list[Drawn] = []

    def __call__(self, export: Export) -> Iterator[Submission]:
        """The submissions. Who submitted nothing for a question marked nothing there.

        A model is asked only what it answered.
        """
        found = (name for each in self.draws(export, self.kind) for name in each.values)
        questions = dict.fromkeys(found) or {self.kind: None}
        for each in self.draws(export, self.kind):
            said = each.values if each.kind == "model" else questions
            yield replace(each, values={name: self._number(each, name) for name in said})

    def _number(self, submission: Submission, question: str) -> str:
        drawn = submission.values.get(question, Drawn())
        text = submission.fields.get(self.text)
        if self.kind == "spans" and not drawn.extent and isinstance(text, str):
            drawn = replace(drawn, extent=(len(text),))
        self.kept.append(drawn)
        return f"#{len(self.kept) - 1}"

    def marked(self, cells: Relation, models: Iterable[str], source: str) -> list[Marked]:
        """What each rater marked, from the rows that count."""
        occurrence = "occurrence" if "occurrence" in names_of(cells) else "1"
        names = f"item, rater, label, {cells.session.column('row')}, {occurrence}"
        found = cells.ask(f"SELECT {names} FROM {cells} ORDER BY nth")
        rows = zip(*(each.to_pylist() for each in found.columns), strict=True)
        models = {*models}
        return [
            Marked(
                item,
                rater,
                self.kept[int(label[1:])].objects,
                self.kept[int(label[1:])].extent,
                f"{source}: {record}",
                int(times),
                rater in models,
            )
            for item, rater, label, record, times in rows
        ]


def draws_of(submissions: Callable[[Export], Iterator[Submission]], draws: Draws | None) -> Draws:
    """How the objects of a tool are found. Sets and rubrics are found in ordinary answers."""

    def every(export: Export, kind: str) -> Iterator[Submission]:
        if kind == "sets":
            yield from (replace(each, values=_sets(each)) for each in submissions(export))
        elif kind == "rubrics":
            yield from (replace(each, values=_rubric(each)) for each in submissions(export))
        elif draws is not None:
            yield from draws(export, kind)
        else:
            raise RatingsError(
                f"{export.name}: found a format whose {kind} are not read; expected one of those "
                "that docs/guide/units.md lists. Export the objects in one of them."
            )

    return every


def spans_in(parts: Iterable[Mapping[str, Any]], where: str) -> tuple[Span, ...]:
    """Spans written with `start`, `end` and `label`."""
    return tuple(
        Span(part["start"], part["end"], part["label"], f"{where}, object {n}")
        for n, part in enumerate(parts, 1)
    )


def pixels(value: float, size: float = 100) -> float:
    """A share of an image in percent, as pixels."""
    return round(float(value) * size / 100, DECIMALS)


def _sets(submission: Submission) -> dict[str, Drawn]:
    return {
        question: Drawn((ChosenSet(frozenset(map(category_text, said)), submission.record),))
        for question, said in submission.values.items()
        if isinstance(said, tuple | frozenset)
    }


def _rubric(submission: Submission) -> dict[str, Drawn]:
    """All plain answers together, under one name."""
    scores = {
        question: category_text(said)
        for question, said in submission.values.items()
        if isinstance(said, str | int | float)
    }
    return {"rubrics": Drawn((Rubric(scores, submission.record),))} if scores else {}
