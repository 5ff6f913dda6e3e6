"""Which raters of a round are the project's classifiers."""

from collections.abc import Collection, Iterable

from agreement_pipeline.errors import RatingsError
from agreement_pipeline.ratings import category_text, described, lookalikes
from agreement_pipeline.text import called, listed, meant


def classifiers_among(
    raters: Iterable[object],
    source: str,
    named: Collection[str],
    project: str,
    optional: Collection[str] = (),
) -> tuple[str, ...]:
    """The classifiers among the raters of a round, under the names of the ratings.

    A column of numbers holds the rater 2 as the float 2.0. Both `2` and `2.0` name that rater.

    Raises
    ------
    RatingsError
        A rater of the panel prints like a classifier, or a `named` classifier rated nothing. Its
        name may be misspelt, and the model would count as a rater of the panel.

    >>> classifiers_among([1.0, 2.0], "w1.parquet", ["2.0"], "reviews", optional=["gpt"])
    ('2',)
    """
    written = [(category_text(rater), str(rater)) for rater in raters]
    every = {*named, *optional}
    models = {name for name, shown in written if {name, shown} & every}
    panel = {name for name, _ in written} - models
    _refuse_lookalikes(panel, every, source, project)
    known = {each for names in written for each in names}
    _refuse_absent([name for name in named if name not in known], panel, source, project)
    return tuple(sorted(models))


def _refuse_absent(absent: list[str], panel: set[str], source: str, project: str) -> None:
    if absent:
        hint = meant(absent[0], sorted(panel), otherwise="")
        raise RatingsError(
            f"{source}: found no rating by {called('classifier', absent)} among those of the "
            f"raters {listed(sorted(panel))}; expected ratings by every classifier. Correct "
            f"classifiers in project {project}, or name it in "
            f"optional_classifiers.{' ' * bool(hint)}{hint}"
        )


def _refuse_lookalikes(panel: set[str], named: set[str], source: str, project: str) -> None:
    for group in lookalikes(panel | named):
        raters, models = panel & set(group), named & set(group)
        if raters and models:
            raise RatingsError(
                f"{source}: found rater {described(sorted(raters))} in the panel, who prints like "
                f"classifier {described(sorted(models))}; expected the classifier's name as the "
                f"ratings have it. Correct classifiers in project {project}, or rename the rater."
            )
