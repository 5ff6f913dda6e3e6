"""What a section of a report is: names, and the content that stands under each."""

from collections.abc import Callable

import pandas as pd

Plot = Callable[[], str | None]
"""Draws an image that Markdown can hold, or None if there is nothing to draw."""

Content = int | float | str | pd.DataFrame | Plot | None
"""A count, a number, text, a table or a plot. None: this round has nothing under the name."""

Section = dict[str, Content]
