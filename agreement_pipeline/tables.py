"""Results as tables: as a DataFrame, and as a notebook shows them."""

from collections.abc import Iterator
from typing import TYPE_CHECKING, Any, TypeVar

from agreement_pipeline.text import TABLE

if TYPE_CHECKING:
    import pandas as pd


class Tabular:
    """A result that can be read as a table."""

    def rows(self) -> Iterator[dict[str, Any]]:
        """The rows of the table. Each holds its cells by the name of their column."""
        raise NotImplementedError

    def to_frame(self) -> "pd.DataFrame":
        """The table as a DataFrame. A number that is undefined is missing."""
        import pandas as pd

        return pd.DataFrame(list(self.rows()))

    def _repr_html_(self) -> str:
        frame = self.to_frame().dropna(axis="columns", how="all")
        shown = frame.astype(object).where(frame.notna(), "")
        return shown.to_html(index=False, border=0, float_format=f"{{:{TABLE}}}".format)


T = TypeVar("T", bound=Tabular)


class Table(Tabular, tuple[T, ...]):
    """Results in order, as one table.

    Examples
    --------
    >>> from agreement_pipeline import Scale
    >>> from agreement_pipeline.estimates import estimate
    >>> from agreement_pipeline.statistics import CategoryCounts
    >>> counts = CategoryCounts([[3, 0], [0, 3]], [10, 10], scale=Scale(("no", "yes")))
    >>> Table([estimate("gwet_ac1", counts)]).to_frame()["value"].tolist()
    [1.0]
    """

    def rows(self) -> Iterator[dict[str, Any]]:
        """The rows of all results."""
        return (row for each in self for row in each.rows())
