"""Labels that somebody chose after the raters had differed."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

import numpy as np
import pandas as pd

from agreement_pipeline.errors import RatingsError
from agreement_pipeline.ratings.scale import Array, Scale
from agreement_pipeline.ratings.texts import TEXT
from agreement_pipeline.text import listed

MOST_SAID = 5
"""How many wrong answers an error shows."""


@dataclass(frozen=True)
class Adjudicated:
    """The labels that an adjudicator gave to items of one version of a round.

    They are no ratings. No measure reads them, and no rater's label changes.

    Parameters
    ----------
    ratings_digest
        The digest of the ratings that the adjudicator looked at.
    labels
        The label of each item.
    """

    ratings_digest: str = ""
    labels: Mapping[str, str] = field(default_factory=dict)

    @classmethod
    def released(cls, entry: Mapping[str, Any]) -> "Adjudicated":
        """The labels that a manifest names for a round.

        Raises
        ------
        TypeError
            They are no labels by item.
        """
        labels = entry.get("adjudicated", {})
        if not isinstance(labels, dict) or not all(isinstance(x, str) for x in labels.values()):
            raise TypeError("adjudicated")
        return cls(entry["ratings_digest"], labels)

    def on(self, items: pd.Index, scale: Scale) -> tuple[np.ndarray, Array]:
        """The places of the items, and their labels as `PanelLabels` holds them.

        Raises
        ------
        RatingsError
            The panel did not rate an item, or a label is not on the scale.
        """
        if not self.labels:
            return np.empty(0, dtype=np.int64), np.empty(0)
        places = items.get_indexer(pd.Index(list(self.labels), dtype=TEXT))
        wrong = [
            f"item {item!r} {'without a label of the panel' if place < 0 else f'as {label!r}'}"
            for (item, label), place in zip(self.labels.items(), places, strict=True)
            if place < 0 or self._place(label, scale) is None
        ]
        if wrong:
            more = f"; and {len(wrong) - MOST_SAID} more" if len(wrong) > MOST_SAID else ""
            names = f" {listed(scale.names, 12)}" if scale.names else ""
            raise RatingsError(
                f"adjudicated labels: found {'; '.join(wrong[:MOST_SAID])}{more}; expected items "
                f"that raters labelled, and labels of the scale{names}. Correct or remove these "
                "answers."
            )
        found = [self._place(label, scale) for label in self.labels.values()]
        return places, np.array(found, dtype=float)

    @staticmethod
    def _place(label: str, scale: Scale) -> float | None:
        """The place of a category, or the number that a label is. None if it is neither."""
        if not scale.numeric:
            return scale.names.index(label) if label in scale.names else None
        try:
            value = float(label)
        except ValueError:
            return None
        listed = scale.categories is None or value in scale.categories
        return value if listed and np.isfinite(value) else None


NOT_ADJUDICATED = Adjudicated()
