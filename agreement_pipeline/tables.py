"""Results as tables: as a DataFrame, and as a notebook shows them."""

from collections.abc import Iterator
from typing import TYPE_CHECKING, Any, TypeVar

from agreement_pipeline.text import TABLE, in_words

if TYPE_CHECKING:
    import pandas as pd

SHORTLY = ".5g"


class Tabular:
    def rows(self) -> Iterator[dict[str, Any]]:
        """The rows of the table. Each holds its cells by the name of their column."""
        raise NotImplementedError

    def to_frame(self) -> "pd.DataFrame":
        """A number that is undefined is missing."""
        import pandas as pd

        return pd.DataFrame(list(self.rows()))

    def __str__(self) -> str:
        return "\n".join(
            ", ".join(
                f"{name} {in_words(cell, SHORTLY) if isinstance(cell, float) else cell}"
                for name, cell in row.items()
                if cell is not None
            )
            for row in self.rows()
        )

    def _repr_html_(self) -> str:
        frame = self.to_frame().dropna(axis="columns", how="all")
        display_frame = frame.astype(object).where(frame.notna(), "")
        return display_frame.to_html(index=False, border=0, float_format=f"{{:{TABLE}}}".format)


T = TypeVar("T", bound=Tabular)


class Table(Tabular, tuple[T, ...]):
    """Results in order, as one table.

    Examples
    --------
    >>> from agreement_pipeline import Scale
    >>> from agreement_pipeline.estimates import estimate
    >>> from agreement_pipeline.statistics import CategoryCounts
    >>> counts = CategoryCounts([[3, 0], [0, 3]], [10, 10], scale=Scale(("no", "yes")))
    >>> table = Table([estimate("gwet_ac1", counts)])
    >>> table.to_frame()["value"].tolist()
    [1.0]
    """

    def rows(self) -> Iterator[dict[str, Any]]:
        return (row for result in self for row in result.rows())
