"""Where a row of ratings stands, for errors that name it."""

from dataclasses import dataclass

import pandas as pd

from agreement_pipeline.text import called

STRATUM = "stratum:"
"""How the name of a column begins that tells strata of items apart."""


@dataclass(frozen=True)
class Where:
    """Places for errors: a file, the names of its columns, and the row of each rating.

    In a wide table each rating has a rater's column too.
    """

    source: str
    columns: dict[str, str]
    rows: pd.Index
    rater_columns: pd.Index | None

    @classmethod
    def of(
        cls, frame: pd.DataFrame, source: str, columns: dict[str, str], first_row: int
    ) -> "Where":
        """The places of the rows of a frame."""
        levels = frame.index.names
        rows = (
            frame.index.get_level_values("row")
            if "row" in levels
            else pd.RangeIndex(first_row, first_row + len(frame))
        )
        return cls(
            source,
            columns,
            rows,
            frame.index.get_level_values("column") if "column" in levels else None,
        )

    def column(self, name: str) -> str:
        """What the column is called in the file."""
        return self.columns.get(name, name).removeprefix(STRATUM)

    def at(self, positions: pd.Index, *names: str) -> str:
        """The file, the rows and the columns, in words."""
        if self.rater_columns is not None and {"rater", "label"} & set(names):
            cells = [f"row {self.rows[i]} column {self.rater_columns[i]!r}" for i in positions]
            more = f", … {len(cells) - 5} more" if len(cells) > 5 else ""
            return f"{self.source}: {', '.join(cells[:5])}{more}"
        rows = dict.fromkeys(self.rows[positions].tolist())
        columns = [self.column(name) for name in names]
        return f"{self.source}: {called('row', rows)}, {called('column', columns)}"


__all__ = ["STRATUM", "Where"]
