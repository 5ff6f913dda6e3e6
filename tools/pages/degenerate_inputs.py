"""Inputs on which most libraries of agreement part company, and what is made of each here: a value, no value for a reason, or a refusal."""

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
CLASSIFIERS = (
    "model",
    "judge",
)  # the second says what the first says, and is there for measures of several classifiers
DRAWS = 2  # the page shows values, and no limits


@dataclass(frozen=True)
class DegenerateInput:
    """A small round.

    Attributes
    ----------
    title, why
        What is degenerate about it, and what follows for agreement.
    table
        A header of raters, the classifier last, then an item a line: `.` is missing, `no/yes` a rater who met the item twice.
    n_categories
        How many of no, yes, unsure the scale declares.
    """

    title: str
    why: str
    table: str
    n_categories: int = 2

    def ratings(self, level: Level) -> Ratings:
        """The round, its labels as names, grades, the numbers 0, 1, 2, or corners of a triangle."""
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
        """What every measure makes of the round, or of the classifier."""
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
        return {
            each.measure: each
            for estimates in found
            for each in estimates
            if each.scope.name in ("", CLASSIFIERS[0])
        }

    def answer(self, name: str) -> str:
        """The measure's value, to four digits, or why it has none; of a measure of each category, the lowest."""
        found = self.estimates.get(name)
        if found is None:
            return "undefined: it speaks of neither the round nor the classifier"
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
    """What cannot become a round: the attempt, and the level it is made on."""

    title: str
    attempt: Callable[[], object]

    @property
    def message(self) -> str:
        """The error that says so."""
        try:
            self.attempt()
        except RatingsError as error:
            return str(error)
        raise AssertionError(f"{self.title}: accepted; a refusal is what the page says.")


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
        "Nothing varies. Where chance is read off the labels it would agree always, so that agreement beyond chance is 0/0. Where chance is "
        "fixed beforehand, or not corrected for, agreement is perfect.",
        "a b model\nno/no no/no no\nno no no\nno no no",
    ),
    DegenerateInput(
        "All labels equal but one",
        "The labels vary, once. Chance explains all the agreement there is: coefficients that read chance off the labels are 0 or close to it, those "
        "that do not are close to 1.",
        "a b model\nno/no no/no no\nno yes no\nno/no no/no no\nno no no",
    ),
    DegenerateInput(
        "One rater",
        "Nobody to agree with: whatever speaks of agreement between raters has no value. A classifier can still be set against the one rater.",
        "a model\nno/no no\nyes/yes yes\nno/yes yes",
    ),
    DegenerateInput(
        "One item",
        "One item, on which the raters disagree. Coefficients have a value where the ratings vary; how little it says stands in the interval.",
        "a b model\nno/no yes/yes no",
    ),
    DegenerateInput(
        "No item rated twice",
        "Each item has one rating, so that no two ratings of one item can be compared.",
        "a b model\nno . no\n. yes yes\nyes . yes\n. no no",
    ),
    DegenerateInput(
        "Pairable part constant",
        "The ratings vary, but not where they meet. What is corrected for chance as the raters use the categories has no value, since nothing that "
        "could be disagreed on was seen; what takes chance from the scale has one.",
        "a b model\nno no no\nno no no\nyes . yes\n. yes yes",
    ),
    DegenerateInput(
        "Perfect agreement in two categories",
        "Not degenerate: every measure of agreement that applies is at its greatest.",
        "a b model\nno/no no/no no\nyes/yes yes/yes yes\nno/no no/no no\nyes/yes yes/yes yes",
    ),
    DegenerateInput(
        "Perfect agreement, and a category that nobody used",
        "A declared category counts where chance is spread over the categories of the scale, and where a measure is for two categories only.",
        "a b model\nno/no no/no no\nyes/yes yes/yes yes\nno no no\nyes yes yes",
        n_categories=3,
    ),
    DegenerateInput(
        "Some disagreement, and a category that nobody used",
        "The same with a value under 1: compare with the next input.",
        "a b model\nno/no no/yes no\nyes/yes yes/yes yes\nno yes no\nyes yes yes",
        n_categories=3,
    ),
    DegenerateInput(
        "Some disagreement",
        "The same labels on a scale of two categories.",
        "a b model\nno/no no/yes no\nyes/yes yes/yes yes\nno yes no\nyes yes yes",
    ),
    DegenerateInput(
        "A rater who rated nothing",
        "A rater is on the list and gave no rating. There is no row of hers, so that she is not of the panel: everything is as with the two others alone.",
        "a b c model\nno/no no/no . no\nyes/yes yes/yes . yes\nno yes . no",
    ),
    DegenerateInput(
        "Two raters of one category each",
        "One always says no, the other always yes. They never agree, and chance read off each rater's own labels expects just that: 0.",
        "a b model\nno/no yes/yes no\nno/no yes/yes no\nno yes no",
    ),
    DegenerateInput(
        "A classifier that met none of the panel's items",
        "What speaks of the raters is as ever; nothing can be said of the classifier.",
        "a b model\nno/no no/no .\nyes/yes yes/yes .\n. . yes\n. . no",
    ),
    DegenerateInput(
        "No replicates",
        "No rater met an item again: nothing shows how far she agrees with herself.",
        "a b model\nno no no\nyes yes yes\nno yes no",
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
