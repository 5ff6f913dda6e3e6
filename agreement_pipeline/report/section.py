"""What a section of a report is: names, and the content that stands under each."""

import pandas as pd

Content = int | float | str | pd.DataFrame | None
"""A count, a number, text or a table. None: this round has nothing to show under the name."""

Section = dict[str, Content]
