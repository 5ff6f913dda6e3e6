"""Columns that a table has twice."""

from collections import Counter

from agreement_pipeline.errors import RatingsError
from agreement_pipeline.text import called


def refuse_twice(names: list[str], where: str) -> None:
    """Refuse names that stand there twice.

    Raises
    ------
    RatingsError
        Some do.
    """
    if len(set(names)) < len(names):
        twice = sorted(name for name, times in Counter(names).items() if times > 1)
        raise RatingsError(
            f"{where}: found {called('column', twice)} twice; expected each once. "
            "Rename or remove one."
        )
