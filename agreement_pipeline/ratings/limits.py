"""How large a table may be, and the names in it."""

from dataclasses import dataclass
from typing import Annotated

from agreement_pipeline.errors import ProjectError, RatingsError
from agreement_pipeline.mistakes import Value, refuse_mistakes, whole

Most = Annotated[int, Value("a whole number from 1", whole(1))]


@dataclass(frozen=True)
class Limits:
    """The most that is read of one table. More is refused before it fills the memory.

    Parameters
    ----------
    file_bytes
        Of the file, and of the content of a Parquet file once it is expanded.
    rows, columns
        Of the table. A text file counts its lines, with the header's.
    name_length
        Characters of the name of an item, rater, round or label.
    categories
        Different labels, if the scale is read off them.

    Raises
    ------
    ProjectError
        A limit is no whole number from 1.
    """

    file_bytes: Most = 20_000_000_000
    rows: Most = 1_000_000_000
    columns: Most = 1_000
    name_length: Most = 1_000
    categories: Most = 1_000

    def __post_init__(self) -> None:
        refuse_mistakes(self, ProjectError)

    def refuse_beyond(self, limit: str, found: int, where: str, what: str) -> None:
        """Refuse what is larger than the limit of that name.

        Raises
        ------
        RatingsError
            `found` is over the limit. The message names the limit.

        >>> LIMITS.refuse_beyond("columns", 1000, "round.csv", "columns")
        """
        most = getattr(self, limit)
        if found > most:
            raise RatingsError(
                f"{where}: found {found} {what}; expected at most {most}. "
                f"Check that the export is the right one, or raise the limit {limit}."
            )


LIMITS = Limits()
