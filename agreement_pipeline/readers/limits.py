"""How large a table may be, and the names in it."""

from dataclasses import dataclass, fields

from agreement_pipeline.errors import ProjectError, RatingsError


@dataclass(frozen=True)
class Limits:
    """The most that is read of one table; more is refused before it fills the memory.

    Parameters
    ----------
    file_bytes
        Of the file, and of what is in a Parquet file once it is expanded.
    rows, columns
        Of the table; of a text file its lines, with the header's.
    name_length
        Characters of the name of an item, rater, round or label.
    categories
        Different labels, where the scale is read off them.

    Raises
    ------
    ProjectError
        One is no whole number from 1.
    """

    file_bytes: int = 2_000_000_000
    rows: int = 20_000_000
    columns: int = 1_000
    name_length: int = 1_000
    categories: int = 1_000

    def __post_init__(self) -> None:
        for each in fields(self):
            value = getattr(self, each.name)
            if isinstance(value, bool) or not isinstance(value, int) or value < 1:
                raise ProjectError(
                    f"limits: {each.name} {value!r} found; a whole number from 1 is required. Correct it."
                )

    def refuse_beyond(self, limit: str, found: int, where: str, what: str) -> None:
        """Refuse what is larger than the limit of that name.

        Raises
        ------
        RatingsError
            It is; the message names the limit.

        >>> LIMITS.refuse_beyond("columns", 1000, "round.csv", "columns")
        """
        most = getattr(self, limit)
        if found > most:
            raise RatingsError(
                f"{where}: {found} {what} found; at most {most} are required. Check that the export is what it should be, or raise the limit {limit}."
            )


LIMITS = Limits()
