"""A delivered round in numbers, and the names in it that a person must look at."""

from collections.abc import Iterable

from agreement_pipeline.ratings import Ratings, described, lookalikes
from agreement_pipeline.report.section import Section
from agreement_pipeline.text import listed


def delivery(ratings: Ratings, classifiers: Iterable[str]) -> Section:
    """How many items, raters, classifiers and clusters a round has, and its doubtful names.

    Parameters
    ----------
    ratings
        The ratings of the round.
    classifiers
        The classifiers that the project names.
    """
    table, cluster_of = ratings.table, ratings.cluster_of
    return {
        "items": int(table["item"].nunique()),
        "raters": len(ratings.raters),
        "classifiers": len(ratings.classifiers),
        "clusters": None if cluster_of is None else int(cluster_of.nunique()),
        "raters_that_look_alike": _lookalikes(table["rater"].unique()),
        "classifiers_without_ratings": _without_ratings(classifiers, ratings),
    }


def _lookalikes(names: Iterable[str]) -> str | None:
    """Raters who can be one person under two names."""
    return "; ".join(map(described, lookalikes(names))) or None


def _without_ratings(classifiers: Iterable[str], ratings: Ratings) -> str | None:
    """Named classifiers that rated nothing in the round.

    The delivery left the model out, or its name is misspelt and it counts as a rater.
    """
    absent = [name for name in classifiers if name not in ratings.classifiers]
    if not absent:
        return None
    return (
        f"{listed(absent)}; if one is misspelt, it stands among the panel's raters "
        f"{listed(ratings.raters)}"
    )
