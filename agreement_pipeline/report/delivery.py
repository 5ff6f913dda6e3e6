"""A delivered round in numbers, and the names in it that a person must look at."""

from collections.abc import Iterable

from agreement_pipeline.ratings import Origin, Ratings, described, lookalikes
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
    cluster = ratings.items(["cluster"])["cluster"] if "cluster" in ratings.has else None
    return {
        "items": ratings.n_rated,
        "raters": len(ratings.raters),
        "classifiers": len(ratings.classifiers),
        "clusters": None if cluster is None else len(cluster.unique()),
        **_of_the_export(ratings.origin),
        "raters_that_look_alike": _lookalikes(ratings.everyone),
        "classifiers_without_ratings": _without_ratings(classifiers, ratings),
    }


def _of_the_export(origin: Origin | None) -> Section:
    """How the export was read, which of its rows are no ratings, and what it cannot show."""
    if origin is None:
        return {}
    return {
        "read_as": origin.reader,
        "no_ratings": origin.words or None,
        "not_shown": ", ".join(origin.lacks()) or None,
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
