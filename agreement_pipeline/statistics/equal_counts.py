r"""Rows of labels with equal counts as one row, for large rounds.

Some measures read only the counts of a row, and sums of who gave which label. Five raters and five
categories make 3,125 rows, but 126 counts.

Exact resamples draw a weight :math:`g_i` for each row i. By gamma distributions, the weight
:math:`W` of all rows of equal counts is independent of the shares :math:`g_i / W` in it. So `W` is
drawn as that of one row, which says the mean :math:`\bar{x}` of what the measures sum. What the
shares add to the sums has the mean 0 and the exact covariance

.. math:: \sum_i n_i (x_i - \bar{x}) (x_i - \bar{x})^T = \sum_i n_i x_i x_i^T -
       \sum_{counts} n \bar{x} \bar{x}^T

:math:`n_i` items show row i, and :math:`x_i` is what the measures sum of it. Over many items the
distribution is normal. Rows of sums over few items are drawn one by one.
"""

from collections.abc import Callable

import numpy as np

from agreement_pipeline.ratings import MISSING, Array, Codes
from agreement_pipeline.statistics.by_rater import LabelsByRater
from agreement_pipeline.statistics.weighted import (
    GroupSums,
    copy_with,
    distinct_row_places,
    to_dense,
)

MIN_ITEMS = 10_000
"""With fewer items, each row is drawn."""

MIN_ITEMS_IN_A_SUM = 400
"""Sums over fewer items are not nearly normal. The rows of these items are drawn one by one."""

MAX_SUMS = 1_000
"""With more sums, their covariance would cost more than it saves."""

BLOCK_CELLS = 4_000_000
MAX_ROUNDING_SHARE = 1e-9
"""Smaller variances, as shares of the sum of squares, come from rounding alone."""


def merge_rows_of_equal_counts(
    labels: LabelsByRater, measure: Callable[[LabelsByRater], object]
) -> LabelsByRater:
    """Rows of equal counts as one row for a measure, if there are many items and then fewer rows.

    Nothing but what the measure sums can be summed then. Rows that belong to a sum over few items
    stay as they are. So do rows on which nothing can be compared.
    """
    if (
        labels.n_items < MIN_ITEMS
        or not (labels.weights > 0).all()
        or any(part is not None for part in (labels.second, labels.confidence, labels.clusters))
    ):
        return labels
    probe = copy_with(labels)
    measure(probe)
    if sum(rows.values.shape[1] for rows in probe.rows_by_reader.values()) > MAX_SUMS:
        return labels
    of_row, first_rows = _group_rows(probe)
    if 2 * len(first_rows) > len(of_row):
        return labels
    if probe.classifier is not None:
        # Unseen rows would leave out a rater whom it met, who is in no first row of two ratings.
        is_met, is_rated = probe.labelled & (probe.given.sum(1) >= 2), probe.given
        if (is_rated[is_met].any(0) != is_rated[first_rows][is_met[first_rows]].any(0)).any():
            return labels
    grouped = _merge_groups(probe, of_row, first_rows)
    return grouped if len(grouped.weights) < len(labels.weights) else labels


def _group_rows(labels: LabelsByRater) -> tuple[Codes, Codes]:
    counts = labels.counts()
    stays_alone = ~(counts.pairable & (labels.labelled | (labels.classifier is None)))
    for rows in labels.rows_by_reader.values():
        has_few = rows.weighted_sums(labels.weights) < MIN_ITEMS_IN_A_SUM
        stays_alone[rows.places[(to_dense(rows.values[:, has_few]) != 0).any(1)]] = True
    own_group = np.where(stays_alone, np.arange(1, len(stays_alone) + 1), 0)
    row_keys = np.column_stack([counts.counts.astype(np.int64), labels.labels, own_group])
    _, first_rows, of_row = np.unique(
        distinct_row_places(row_keys), return_index=True, return_inverse=True
    )
    return of_row, first_rows


def _merge_groups(labels: LabelsByRater, of_row: Codes, first_rows: Codes) -> LabelsByRater:
    mean, ways = _mean_and_covariance_root(labels, of_row, len(first_rows))
    items, none = np.bincount(of_row, labels.weights), np.full(len(ways), MISSING)
    column_ends = np.cumsum([rows.values.shape[1] for rows in labels.rows_by_reader.values()])
    parts = np.split(np.vstack([mean, ways]), column_ends[:-1], axis=1)
    normal = len(first_rows) + np.arange(len(ways))
    return copy_with(
        labels,
        codes=np.vstack([labels.codes[first_rows], np.full((len(ways), labels.n_raters), MISSING)]),
        labels=np.concatenate([labels.labels[first_rows], none]),
        weights=np.concatenate([items, np.zeros(len(ways))]),
        together=GroupSums(dict(zip(labels.rows_by_reader, parts, strict=True)), normal),
    )


def _mean_and_covariance_root(labels: LabelsByRater, of_row: Codes, n: int) -> tuple[Array, Array]:
    order = np.argsort(of_row, kind="stable")
    row_sums = list(labels.rows_by_reader.values())
    n_sums = sum(rows.values.shape[1] for rows in row_sums)
    sums, squares = np.zeros((n, n_sums)), np.zeros((n_sums, n_sums))
    size = BLOCK_CELLS // n_sums
    for start in range(0, len(order), size):
        block = order[start : start + size]
        x = np.hstack([rows.values_or_zero_at(block) for rows in row_sums])
        weighted = x * labels.weights[block, None]
        begins = np.flatnonzero(np.diff(of_row[block], prepend=-1))
        sums[of_row[block[begins]]] += np.add.reduceat(weighted, begins)
        squares += weighted.T @ x
    items = np.bincount(of_row, labels.weights)
    mean = sums / items[:, None]
    return mean, _covariance_root(squares - mean.T @ sums, squares.diagonal() * MAX_ROUNDING_SHARE)


def _covariance_root(covariance: Array, min_variances: Array) -> Array:
    r"""Rows L of which :math:`L^T L` is the covariance, by Cholesky's method. Shape (J, F).

    A sum that the sums before it fix has no row of its own. What is left of its variance is at most
    `min_variances`.
    """
    remaining, rows = covariance.copy(), []
    for place in range(len(remaining)):
        if remaining[place, place] > min_variances[place]:
            row = remaining[place, place:] / np.sqrt(remaining[place, place])
            remaining[place:, place:] -= np.outer(row, row)
            rows.append(np.concatenate([np.zeros(place), row]))
    return np.array(rows).reshape(-1, len(covariance))
