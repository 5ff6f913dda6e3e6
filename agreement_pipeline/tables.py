"""Results as tables: as a DataFrame, and as a notebook shows them."""

import math
from collections.abc import Iterator
from typing import TYPE_CHECKING, Any, TypeVar

from agreement_pipeline.text import TABLE, in_words

if TYPE_CHECKING:
    import pandas as pd

SHORTLY = ".5g"
DRAWN = "interval"
DRAWN_WIDTH = 120


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
        drawings = _draw_intervals(frame)
        if drawings:
            display_frame.insert(
                list(display_frame.columns).index("high") + 1,
                DRAWN,
                [f"{DRAWN}-{place}-" for place in range(len(drawings))],
            )
        html = display_frame.to_html(index=False, border=0, float_format=f"{{:{TABLE}}}".format)
        for place, drawing in enumerate(drawings):
            html = html.replace(f"{DRAWN}-{place}-", drawing, 1)
        return html


def _draw_intervals(frame: "pd.DataFrame") -> list[str]:
    """A small picture of the interval of each row, all on one axis, with a stroke at 0."""
    name = next((name for name in ("value", "difference") if name in frame), None)
    if name is None or not {"low", "high"} <= {*frame.columns}:
        return []
    limits = frame[["low", "high"]].apply(lambda column: column.where(column.abs() < math.inf))
    lowest = float(min(0.0, limits["low"].min()))
    highest = float(max(1.0, limits["high"].max()))

    def at(value: float) -> int:
        return round(2 + (DRAWN_WIDTH - 4) * (value - lowest) / (highest - lowest))

    drawings = []
    for value, low, high in zip(frame[name], limits["low"], limits["high"], strict=True):
        if math.isnan(value):
            drawings.append("")
            continue
        left = at(lowest if math.isnan(low) else low)
        right = at(highest if math.isnan(high) else high)
        drawings.append(
            f'<svg width="{DRAWN_WIDTH}" height="12" role="img" aria-label="{DRAWN}">'
            f'<path d="M{at(0)},0V12M2,6H{DRAWN_WIDTH - 2}" stroke="#8888" fill="none"/>'
            f'<path d="M{left},6H{right}" stroke="#38c" stroke-width="3"/>'
            f'<circle cx="{at(value)}" cy="6" r="4" fill="#38c"/></svg>'
        )
    return drawings


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
