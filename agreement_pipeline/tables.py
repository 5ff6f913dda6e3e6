"""Results as tables: as a DataFrame, and as a notebook shows them."""

from typing import TYPE_CHECKING, Any, Protocol, TypeVar

if TYPE_CHECKING:
    import pandas as pd

DIGITS = 5


class Result(Protocol):
    """A result that fills one row of a table."""

    def to_row(self) -> dict[str, Any]:
        """The cells of the row, by the name of their column."""


R = TypeVar("R", bound=Result)


class Table(tuple[R, ...]):
    """Results in order. A notebook shows them as one table.

    Examples
    --------
    >>> from agreement_pipeline import Scale
    >>> from agreement_pipeline.estimates import estimate
    >>> from agreement_pipeline.statistics import CategoryCounts
    >>> counts = CategoryCounts([[3, 0], [0, 3]], [10, 10], scale=Scale(("no", "yes")))
    >>> Table([estimate("gwet_ac1", counts)]).to_frame()["value"].tolist()
    [1.0]
    """

    __slots__ = ()

    def to_frame(self) -> "pd.DataFrame":
        """One row a result."""
        import pandas as pd

        return pd.DataFrame([each.to_row() for each in self])

    def _repr_html_(self) -> str:
        shown = f"{{:.{DIGITS}f}}".format
        return self.to_frame().to_html(index=False, border=0, na_rep="", float_format=shown)
