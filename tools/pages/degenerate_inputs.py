"""Inputs on which agreement libraries differ, and the answers of this package.

An answer is a value, a reason why there is no value, or a refusal.
"""

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import cached_property

import pandas as pd

from agreement_pipeline.errors import RatingsError
from agreement_pipeline.estimates import Estimate, measure_ratings
from agreement_pipeline.intervals import Inference
from agreement_pipeline.measures import MEASURES, Measure
from agreement_pipeline.ratings import LEVELS, Level, Ratings, Scale

NAMES = ("no", "yes", "unsure")
CORNERS = ((0.0, 0.0), (1.0, 0.0), (0.0, 1.0))  # the labels as vectors
CLASSIFIERS = ("model", "judge")  # both give the same labels; some measures need several
DRAWS = 2  # the page shows values without limits


@dataclass(frozen=True)
class DegenerateInput:
    """A small round.

    Attributes
    ----------
    title
        What is degenerate about the round.
    why
        What follows for agreement.
    table
        A header of raters with the classifier last, then one item a line. `.` is missing. `no/yes`
        is a rater who met the item twice.
    n_categories
        How many of no, yes, unsure the scale declares.
    in_full
        True if the page shows the answer of every measure, and not of the headline measures alone.
    """

    title: str
    why: str
    table: str
    n_categories: int = 2
    in_full: bool = True

    def ratings(self, level: Level) -> Ratings:
        """The round, with labels that fit the level.

        Labels are names, grades, the numbers 0 to 2, or corners of a triangle.
        """
        numeric = level in ("interval", "ratio")
        labels = dict(
            zip(
                NAMES,
                CORNERS
                if level == "multivariate interval"
                else (0.0, 1.0, 2.0)
                if numeric
                else NAMES,
                strict=True,
            )
        )
        frame = pd.DataFrame(self._rows(), columns=["item", "rater", "label", "occurrence"])
        frame["label"] = pd.Series([labels[label] for label in frame["label"]], dtype=object)
        return Ratings.from_frame(
            frame, scale_of(level, self.n_categories), classifiers=CLASSIFIERS
        )

    @cached_property
    def estimates(self) -> dict[str, Estimate]:
        """The estimate of every measure, for the round or for the classifier."""
        by_level: dict[Level, list[str]] = {}
        for record in MEASURES.values():
            by_level.setdefault(level_of(record), []).append(record.name)
        found = (
            measure_ratings(
                self.ratings(level),
                names,
                Inference(n_resamples=DRAWS),
                scopes=("round", "classifier"),
            )
            for level, names in by_level.items()
        )
        every = [each for estimates in found for each in estimates]
        of_model, of_round = (
            {each.measure: each for each in every if each.scope.name == name}
            for name in (CLASSIFIERS[0], "")
        )
        return of_model | of_round

    def answer(self, name: str) -> str:
        """The measure's value to four digits, or why it has none.

        For a measure of each category, the answer is the lowest value.
        """
        found = self.estimates.get(name)
        if found is None:
            return "undefined: it describes neither the round nor the classifier"
        return (
            f"undefined: {found.undefined}"
            if found.value is None
            else f"{round(found.value, 12) + 0.0:.4g}"
        )

    def _rows(self) -> Iterator[tuple[str, str, str, int]]:
        """Item, rater, label and occurrence, with the second classifier in the last column."""
        header, *items = (line.split() for line in self.table.splitlines())
        raters = [*header[:-1], *CLASSIFIERS]
        for number, labels in enumerate(items):
            for rater, said in zip(raters, [*labels, labels[-1]], strict=True):
                for occurrence, label in enumerate(said.split("/") if said != "." else (), 1):
                    yield f"{number}", rater, label, occurrence


def level_of(record: Measure) -> Level:
    """The first level that a measure is defined on."""
    return next(level for level in LEVELS if level in record.levels)


def scale_of(level: Level, n_categories: int) -> Scale:
    """The scale of the labels on a level."""
    if level == "multivariate interval":
        return Scale(None, level, dimensions=2)
    return Scale(
        tuple(float(k) for k in range(n_categories))
        if level in ("interval", "ratio")
        else NAMES[:n_categories],
        level,
    )


@dataclass(frozen=True)
class Refusal:
    """An attempt to make a round from an input that cannot be one."""

    title: str
    attempt: Callable[[], object]

    @property
    def message(self) -> str:
        """The error of the refusal."""
        try:
            self.attempt()
        except RatingsError as error:
            return str(error)
        raise AssertionError(
            f"{self.title}: found an accepted input; expected a refusal. Correct the page."
        )


def _ratings(labels: list[object], scale: Scale) -> Ratings:
    frame = pd.DataFrame(
        {
            "item": ["i1", "i1", "i2", "i2"],
            "rater": ["a", "b"] * 2,
            "label": pd.Series(labels, dtype=object),
        }
    )
    return Ratings.from_frame(frame, scale)


def _labelled_twice() -> Ratings:
    return Ratings.from_frame(
        pd.DataFrame({"item": ["i1"] * 3, "rater": ["a", "b", "b"], "label": ["no", "no", "yes"]}),
        Scale(("no", "yes")),
    )


INPUTS = (
    DegenerateInput(
        "All labels equal",
        "Chance computed from the labels would give full agreement, so agreement beyond chance is "
        "0/0. Where chance is fixed beforehand, or not corrected for, agreement is perfect.",
        "a b model\nno/no no/no no\nno no no\nno no no",
    ),
    DegenerateInput(
        "All labels equal but one",
        "Chance explains all the agreement that there is. Coefficients that compute chance from "
        "the labels are near 0, and the others are near 1.",
        "a b model\nno/no no/no no\nno yes no\nno/no no/no no\nno no no",
    ),
    DegenerateInput(
        "One rater",
        "Measures of agreement between raters have no value. A classifier can still be compared "
        "with the one rater.",
        "a model\nno/no no\nyes/yes yes\nno/yes yes",
    ),
    DegenerateInput(
        "One item",
        "Coefficients have a value where the ratings vary, and the interval shows how little it "
        "says.",
        "a b model\nno/no yes/yes no",
    ),
    DegenerateInput(
        "No item rated twice",
        "Each item has one rating, so no two ratings of one item can be compared.",
        "a b model\nno . no\n. yes yes\nyes . yes\n. no no",
    ),
    DegenerateInput(
        "Pairable part constant",
        "The ratings vary, but not on items with two ratings. So measures that compute chance "
        "from the labels have no value, and those that take it from the scale have one.",
        "a b model\nno no no\nno no no\nyes . yes\n. yes yes",
    ),
    DegenerateInput(
        "Perfect agreement in two categories",
        "This input is not degenerate, and every measure of agreement has its greatest value.",
        "a b model\nno/no no/no no\nyes/yes yes/yes yes\nno/no no/no no\nyes/yes yes/yes yes",
        in_full=False,
    ),
    DegenerateInput(
        "Perfect agreement, and a category that nobody used",
        "A declared category counts where chance is spread over the categories of the scale. It "
        "also counts where a measure is for two categories only.",
        "a b model\nno/no no/no no\nyes/yes yes/yes yes\nno no no\nyes yes yes",
        n_categories=3,
    ),
    DegenerateInput(
        "Some disagreement, and a category that nobody used",
        "Chance is spread over three categories. Compare with the next input.",
        "a b model\nno/no no/yes no\nyes/yes yes/yes yes\nno yes no\nyes yes yes",
        n_categories=3,
        in_full=False,
    ),
    DegenerateInput(
        "Some disagreement",
        "These are the labels of the input above, on a scale of two categories.",
        "a b model\nno/no no/yes no\nyes/yes yes/yes yes\nno yes no\nyes yes yes",
        in_full=False,
    ),
    DegenerateInput(
        "A rater who rated nothing",
        "A rater without a row is not part of the panel, so all values are those of the others.",
        "a b c model\nno/no no/no . no\nyes/yes yes/yes . yes\nno yes . no",
        in_full=False,
    ),
    DegenerateInput(
        "Two raters of one category each",
        "They never agree. Chance computed from each rater's own labels expects exactly that, so "
        "the value is 0.",
        "a b model\nno/no yes/yes no\nno/no yes/yes no\nno yes no",
    ),
    DegenerateInput(
        "A classifier that met none of the panel's items",
        "Measures of the raters have their usual values. Measures of the classifier have none.",
        "a b model\nno/no no/no .\nyes/yes yes/yes .\n. . yes\n. . no",
    ),
    DegenerateInput(
        "No replicates",
        "Nothing shows how far raters agree with their own earlier labels.",
        "a b model\nno no no\nyes yes yes\nno yes no",
        in_full=False,
    ),
)

REFUSALS = (
    Refusal("All labels missing", lambda: _ratings([None] * 4, Scale(("no", "yes")))),
    Refusal("A scale of one category", lambda: Scale(("no",))),
    Refusal(
        "A label that the scale does not hold",
        lambda: _ratings(["no", "yes", "maybe", "no"], Scale(("no", "yes"))),
    ),
    Refusal(
        "+inf as a label, on a scale of numbers",
        lambda: _ratings([0.0, 1.0, float("inf"), 1.0], Scale((0.0, 1.0), "interval")),
    ),
    Refusal(
        "+inf as a label, where any number may occur",
        lambda: _ratings([0.5, 1.5, float("inf"), 1.0], Scale(None, "ratio")),
    ),
    Refusal(
        "+inf as a category of a scale of numbers", lambda: Scale((0.0, float("inf")), "interval")
    ),
    Refusal(
        "A negative number on a ratio scale",
        lambda: _ratings([0.5, 1.5, -1.0, 1.0], Scale(None, "ratio")),
    ),
    Refusal("Two labels of one rater for one meeting with an item", _labelled_twice),
)
