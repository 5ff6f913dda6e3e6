"""Positions: every character or step of an item is a unit. Runs of equal positions are the rows.

A run ends where an object of some rater begins or ends. So two objects side by side are two runs,
also if they have one label. The weight of a run is how many positions it holds, so the statistics
are those of the positions one by one. `drawn` is the place of the rater's own object there.
"""

from collections.abc import Iterable, Sequence
from itertools import pairwise
from typing import Any

import numpy as np
import pandas as pd

from agreement_pipeline.errors import RatingsError
from agreement_pipeline.ratings import TEXT, categorical_from_codes
from agreement_pipeline.units.objects import (
    Marked,
    Segment,
    Span,
    extent_by_item_of,
    written_geometry,
)
from agreement_pipeline.units.places import NONE
from agreement_pipeline.units.settings import UnitSettings

Places = np.ndarray[Any, np.dtype[np.int64]]
UNSEEN, NOTHING = -1, 0
"""What a rater has at a position: never opened, opened and not marked, or the number of a span."""


def build_run_rows(
    marked: Sequence[Marked], settings: UnitSettings, labels: Sequence[str]
) -> pd.DataFrame:
    """A row for each run of equal positions and each rater who opened the item."""
    extents = extent_by_item_of(marked)
    for answer in marked:
        if len(extents[answer.item]) != 1:
            raise RatingsError(
                f"{answer.where}: found item {answer.item!r} without a length; expected one, since "
                "what nobody marked counts too. Export the length of the text or recording too."
            )
    items, step = list(extents), settings.step
    starts = np.cumsum([0, *(max(1, round(length / step)) for (length,) in extents.values())])
    raters = sorted({(answer.rater, answer.occurrence) for answer in marked})
    labels = [NONE, *(label for label in labels if label != NONE)]
    spans = [(n, span) for n, answer in enumerate(marked) for span in _spans_in_order(answer)]
    parts = _parts_of_items_and_spans(marked, spans, step, _place_by_value(items), starts)
    bounds = np.unique(np.concatenate([starts, parts[:, 0], parts[:, 1]]))
    seats = _place_by_value(raters)
    row = np.array([seats[answer.rater, answer.occurrence] for answer in marked])
    states = _span_number_by_run_and_rater(parts, bounds, row, len(raters))
    new = np.append(True, (states[:, 1:] != states[:, :-1]).any(0)) | np.isin(bounds[:-1], starts)
    bounds, states = np.append(bounds[:-1][new], bounds[-1]), states[:, new]
    item = np.searchsorted(starts, bounds[:-1], side="right") - 1
    begin, stop = bounds[:-1] - starts[item], bounds[1:] - starts[item]
    names = [
        f"{items[item_place]} {first_position}-{last_position}"
        for item_place, first_position, last_position in zip(
            item.tolist(), begin.tolist(), stop.tolist(), strict=True
        )
    ]
    run, seat = np.nonzero(states.T >= 0)
    span = states.T[run, seat]
    codes, areas = _place_by_value(labels), [area for _, area in spans]
    label = np.array([codes[NONE], *(codes[area.category] for area in areas)])
    places = pd.Index([written_geometry(area) for area in areas], dtype=TEXT)
    distinct_place, distinct_places = places.factorize()
    return pd.DataFrame(
        {
            "item": categorical_of_names(run, names),
            "rater": np.array([rater for rater, _ in raters], dtype=object)[seat],
            "occurrence": np.array([occurrence for _, occurrence in raters])[seat],
            "label": categorical_of_names(label[span], labels),
            "drawn": categorical_of_names(np.append(-1, distinct_place)[span], distinct_places),
            "cluster": categorical_of_names(item[run], items),
            "weight": (stop - begin)[run],
        }
    )


def _parts_of_items_and_spans(
    marked: Sequence[Marked],
    spans: Sequence[tuple[int, Span | Segment]],
    step: float,
    items: dict[str, int],
    starts: Places,
) -> Places:
    """Rows of begin, end, the place of the marked item, and the number of the span, from 1."""
    places = [items[answer.item] for answer in marked]
    begins, item_ends = (starts[np.array(places) + offset].tolist() for offset in (0, 1))
    whole_items = np.column_stack([begins, item_ends, range(len(marked)), [NOTHING] * len(marked)])
    of_spans = [
        (*(min(begins[n] + round(time / step), item_ends[n]) for time in span.geometry), n, number)
        for number, (n, span) in enumerate(spans, 1)
    ]
    return np.vstack([whole_items, np.array(of_spans, dtype=np.int64).reshape(-1, 4)])


def _span_number_by_run_and_rater(
    parts: Places, bounds: Places, row: Places, n_raters: int
) -> np.ndarray[Any, Any]:
    """What each rater has at each run: -1 unseen, 0 nothing, or the number of a span."""
    states = np.full((n_raters, len(bounds) - 1), UNSEEN, dtype=np.int32)
    first_runs, run_ends = np.searchsorted(bounds, parts[:, :2]).T.tolist()
    for first_run, run_end, seat, span in zip(
        first_runs, run_ends, row[parts[:, 2]].tolist(), parts[:, 3].tolist(), strict=True
    ):
        states[seat, first_run:run_end] = span
    return states


def categorical_of_names(codes: Places, names: Iterable[str]) -> pd.Categorical:
    """Codes of texts as a categorical column."""
    return categorical_from_codes(codes, pd.Index(list(names), dtype=TEXT))


def _spans_in_order(marked: Marked) -> list[Span | Segment]:
    """The spans of an answer in order. Overlaps of different categories are refused."""
    spans = sorted(
        (area for area in marked.areas if isinstance(area, Span | Segment)),
        key=lambda area: (area.start, area.end),
    )
    reach = spans[:1]
    for earlier, later in pairwise(spans):
        reach = [max(*reach, earlier, key=lambda area: area.end)]
        if later.start < reach[0].end and later.category != reach[0].category:
            raise RatingsError(
                f"{later.where}: found {later.category!r} at {later.place} over "
                f"{reach[0].category!r} at {reach[0].place}; expected one category at a position. "
                "Give each layer of categories a project, or use the rule matched."
            )
    return spans


def _place_by_value(values: list[Any]) -> dict[Any, int]:
    """The place of each distinct value, in order."""
    return {value: place for place, value in enumerate(values)}
