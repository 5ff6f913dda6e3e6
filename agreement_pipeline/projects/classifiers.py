"""Which raters of a round are the project's classifiers."""

from collections.abc import Collection, Iterable

from agreement_pipeline.errors import RatingsError
from agreement_pipeline.ratings import category_text, described, lookalikes


def classifiers_among(
    raters: Iterable[object], source: str, named: Collection[str], project: str
) -> tuple[str, ...]:
    """The named classifiers among the raters of a round, under the names of the ratings.

    A column of numbers holds the rater 2 as the float 2.0. Both `2` and `2.0` name that rater.

    Raises
    ------
    RatingsError
        A rater of the panel prints like a classifier. In the panel, a model would be compared with
        itself.

    >>> classifiers_among([1.0, 2.0], "w1.parquet", ["2.0", "gpt"], "reviews")
    ('2',)
    """
    written = [(category_text(rater), str(rater)) for rater in raters]
    models = {name for name, shown in written if {name, shown} & set(named)}
    _refuse_lookalikes({name for name, _ in written} - models, set(named), source, project)
    return tuple(sorted(models))


def _refuse_lookalikes(panel: set[str], named: set[str], source: str, project: str) -> None:
    for group in lookalikes(panel | named):
        raters, models = panel & set(group), named & set(group)
        if raters and models:
            raise RatingsError(
                f"{source}: found rater {described(sorted(raters))} in the panel, who prints like "
                f"classifier {described(sorted(models))}; expected the classifier's name as the "
                f"ratings have it. Correct classifiers in project {project}, or rename the rater."
            )
