"""Labels by rater: distinct item rows of codes under the names of their raters."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any, ClassVar, Literal, NamedTuple, Self

import numpy as np
from numpy.typing import ArrayLike, NDArray

from agreement_pipeline.errors import RatingsError
from agreement_pipeline.ratings import MISSING, Array, Codes, Scale
from agreement_pipeline.statistics.by_rater import ByRater, placed, refuse_other_classifier
from agreement_pipeline.statistics.clusters import Clusters, checked_clusters, refuse_sum
from agreement_pipeline.statistics.counts import CategoryCounts
from agreement_pipeline.statistics.numbers import NumbersByRater
from agreement_pipeline.statistics.order import Hashes, hashes_of
from agreement_pipeline.statistics.unseen import (
    MAX_TURNS,
    mean_confidence,
    split_at,
    split_between,
    splits_like,
    splits_met,
)
from agreement_pipeline.statistics.weighted import (
    OfRows,
    SomeRows,
    Statistic,
    Together,
    born,
    changed,
    checked_codes,
    checked_confidence,
    checked_raters,
    checked_weights,
    distinct_in,
    extended,
    joint_raters,
    kinds,
    refuse_other_scale,
)
from agreement_pipeline.text import listed

WHAT = "labels by rater"


def _checked_beside(
    codes: ArrayLike, classifier: str, scale: Scale, raters: Sequence[str], n_rows: int
) -> Codes:
    """The codes of a classifier beside the panel. One for each row.

    Raises
    ------
    RatingsError
        The codes are of other rows or off the scale, or the classifier has a rater's name.
    """
    found = checked_codes(f"{WHAT}: classifier's labels", codes, len(scale.names))
    if found.shape != (n_rows,):
        raise RatingsError(
            f"{WHAT}: classifier's labels: found shape {found.shape}; "
            f"expected {(n_rows,)}. Give one label a row."
        )
    if classifier in raters:
        raise RatingsError(
            f"{WHAT}: found {classifier!r} as classifier and in the panel; "
            "expected a name of its own. Name them apart."
        )
    return found


def _checked_second(second: Sequence[str], raters: Sequence[str]) -> tuple[str, ...]:
    """The names of a second group, in the order of the raters.

    Raises
    ------
    RatingsError
        A name is unknown or there twice.
    """
    names = tuple(second)
    if set(names) - set(raters) or len(set(names)) != len(names):
        raise RatingsError(
            f"{WHAT}: second group: found {listed(sorted(names), 12)}; "
            "expected raters of the columns, each once. Correct the names."
        )
    return tuple(name for name in raters if name in names)


def _refuse_other_parts(one: "LabelsByRater", other: "LabelsByRater") -> None:
    """Refuse to add statistics whose raters have other parts.

    Raises
    ------
    RatingsError
        The classifiers differ, one side alone has groups or confidence, or a rater changes groups.
    """
    refuse_other_classifier(WHAT, one.classifier, other.classifier)
    kinds_of_both = {(each.second is None, each.confidence is None) for each in (one, other)}
    if len(kinds_of_both) > 1:
        raise RatingsError(
            f"{WHAT}: found groups or confidence on one side alone; "
            "expected both sides or neither. Add statistics of the same kind."
        )
    moved = {*one.first} & {*(other.second or ())} | {*(one.second or ())} & {*other.first}
    if moved:
        raise RatingsError(
            f"{WHAT}: found {listed(sorted(moved), 12)} in both groups; "
            "expected one group for each rater. Add statistics of the same groups."
        )


UNREAD = "rows of equal counts: found a sum of another measure; expected those of their own"


class Unseen(NamedTuple):
    """How unseen rows are made.

    Attributes
    ----------
    split
        The two categories between which they are split. None if the ratings decide.
    category
        The only category whose value is asked for. None if the values of all are.
    turned
        True if each is turned through the columns. A column may stand for a place and no rater.
    """

    split: tuple[int, int] | None = None
    category: int | None = None
    turned: bool = True


@dataclass(frozen=True, eq=False)
class LabelsByRater(ByRater):
    """Distinct item rows of codes by rater; raters keep their names.

    Three methods say more about the raters:

    - `with_classifier` sets one classifier (or one isolated rater) apart;
    - `in_groups` makes some columns a second group of raters, such as all classifiers;
    - `with_confidence` adds how confident the raters were.

    Parameters
    ----------
    codes
        Shape (P, R): the position of each rater's label on the scale. -1 if missing.
    weights
        Shape (..., P): how many items show each row. Finite and non-negative; 1 each if omitted.
    scale, raters
        The categories, and the R rater names.
    clusters
        The cluster of each row, if items come in clusters.

    Attributes
    ----------
    classifier, labels
        The name of who stands apart, or None, and the codes of their labels (P,), -1 if missing.
    second
        The names of the second group. All others are the first. None if there are no groups.
    confidence
        Shape (P, R): from 0 (a guess) to 1. It is nan if none was stated. None if it is not read.
    unseen
        How unseen rows are made.
    together
        What is summed of the first rows, if they stand for items of equal counts. None if each row
        has its own codes.

    Examples
    --------
    >>> scale = Scale(("no", "yes"))
    >>> labels = LabelsByRater([[0, 0], [1, -1]], [4, 2], scale=scale, raters=("ana", "ben"))
    >>> labels.n_items, labels.n_used, labels.n_ratings
    (6, 4, 10)
    """

    holds: ClassVar[Literal["labels"]] = "labels"
    missing: ClassVar[float] = MISSING

    codes: Codes
    weights: Array
    scale: Scale
    raters: tuple[str, ...]
    clusters: Clusters | None
    classifier: str | None
    labels: Codes
    second: tuple[str, ...] | None
    confidence: Array | None
    unseen: Unseen
    together: Together | None

    def __init__(
        self,
        codes: ArrayLike,
        weights: ArrayLike | None = None,
        *,
        scale: Scale,
        raters: Sequence[str],
        clusters: Clusters | None = None,
    ) -> None:
        rows = checked_codes(f"{WHAT}: codes", codes, len(scale.names))
        if rows.ndim != 2 or rows.shape[1] != len(raters):
            raise RatingsError(
                f"{WHAT}: found shape {rows.shape}; expected (P, {len(raters)}) for the raters. "
                "Give a column for every rater."
            )
        born(
            self,
            codes=rows,
            weights=checked_weights(weights, len(rows)),
            scale=scale,
            raters=checked_raters(WHAT, raters),
            clusters=checked_clusters(clusters, len(rows)),
            classifier=None,
            labels=np.full(len(rows), MISSING),
            second=None,
            confidence=None,
            unseen=Unseen(),
            together=None,
        )

    def with_classifier(self, labels: ArrayLike, classifier: str) -> "LabelsByRater":
        """Set one classifier or isolated rater apart. `labels` are their codes (P,)."""
        codes = _checked_beside(labels, classifier, self.scale, self.raters, len(self.codes))
        return changed(self, labels=codes, classifier=classifier)

    def in_groups(self, second: Sequence[str]) -> "LabelsByRater":
        """Make some of the raters the second of two groups."""
        return changed(self, second=_checked_second(second, self.raters))

    def with_confidence(self, confidence: ArrayLike) -> "LabelsByRater":
        """Add how confident the raters were, shape (P, R). Only ratings with it then count."""
        stated = checked_confidence(WHAT, confidence, self.codes.shape)
        return changed(self, confidence=np.where(self.given, stated, np.nan))

    @property
    def said(self) -> Codes:
        """The codes: what the raters in the columns gave."""
        return self.codes

    @OfRows
    def given(self) -> NDArray[np.bool_]:
        """True for each rating in the columns. Shape (P, R)."""
        return np.asarray(self.codes >= 0)

    @OfRows
    def rated(self) -> NDArray[np.bool_]:
        """True for each rating of the panel that counts. One column for each panel member."""
        if self.confidence is not None:
            return np.asarray(~np.isnan(self.confidence))
        return self.given if self.second is None else np.asarray(self.given[:, ~self._in_second])

    @OfRows
    def labelled(self) -> NDArray[np.bool_]:
        """True for rows with a label from the classifier or the second group. Shape (P,)."""
        of_group = self.given[:, self._in_second].any(1)
        return np.asarray(self.labels >= 0 if self.second is None else of_group)

    @property
    def some_apart(self) -> bool:
        """True if a classifier or a second group stands apart from the panel."""
        return self.classifier is not None or self.second is not None

    @property
    def first(self) -> tuple[str, ...]:
        """The raters of the panel: all columns that are not of the second group."""
        return tuple(name for name in self.raters if name not in (self.second or ()))

    @property
    def _in_second(self) -> NDArray[np.bool_]:
        return np.isin(self.raters, self.second or ())

    @OfRows
    def indicators(self) -> Array:
        """1 if a rater gave a category, else 0. Shape (P, R, K)."""
        return np.asarray(self.codes[:, :, None] == np.arange(len(self.scale.names)), dtype=float)

    @property
    def normal(self) -> Codes:
        """The places of rows that say how sums over all rows vary."""
        return super().normal if self.together is None else self.together.normal

    def rows_read(self, read: Callable[[Any], SomeRows]) -> SomeRows:
        """What is read off the rows to be summed."""
        rows = super().rows_read(read)
        if self.together is None:
            return rows
        if read not in self.together.sums:
            raise TypeError(UNREAD)
        return self.together.first_in(rows, read, len(self.codes))

    def sums_of(self, rows: SomeRows) -> Array:
        """The weighted sums of what some rows say. Rows of equal counts know no further sums."""
        if self.together is not None:
            raise TypeError(UNREAD)
        return super().sums_of(rows)

    @OfRows
    def label_indicators(self) -> Array:
        """1 if the classifier gave a category, else 0. Shape (P, K)."""
        return np.asarray(self.labels[:, None] == np.arange(len(self.scale.names)), dtype=float)

    @OfRows
    def group_counts(self) -> tuple[Array, Array]:
        """How often each of two groups gave each category, row by row. Each has shape (P, K)."""
        given, second = self.indicators, self._in_second
        return np.asarray(given[:, ~second].sum(1)), np.asarray(given[:, second].sum(1))

    @property
    def sure(self) -> Array:
        """The confidence of each rating. It is nan if none was stated. Shape (P, R)."""
        return np.full(self.codes.shape, np.nan) if self.confidence is None else self.confidence

    @property
    def used(self) -> Array:
        """How often each category was given in the columns. Shape (..., K)."""
        return np.asarray(self.weights @ self.counts().counts)

    @property
    def meeting(self) -> Array:
        """How often each category was given where labels meet, or at all if none do. (K,)."""
        if self.classifier is None:
            return self.counts().meeting if self.confidence is None else self.used
        met = np.where(self.labels >= 0, self.weights, 0.0) @ self.counts().counts
        return np.asarray(met if met.any() else self.used)

    def split_between(self, split: tuple[int, int]) -> Self:
        """Split unseen items between these two categories."""
        return changed(self, unseen=self.unseen._replace(split=split))

    @property
    def asked(self) -> Sequence[int]:
        """The categories whose values are asked for."""
        category = self.unseen.category
        return range(len(self.scale.names)) if category is None else (category,)

    @property
    def hashes(self) -> Hashes:
        """A number for the label of each rater in each row, and for how sure they were. (P, R)."""
        return hashes_of(self.codes, self.sure)

    def counts(self) -> CategoryCounts:
        """The counts of each row, without the raters' names."""
        return self.kept(_row_counts).reweighted(self.weights)

    def counts_without(self, rater: str) -> CategoryCounts:
        """The counts without a rater. Equal rows are made one.

        What all raters gave is counted once. So no rater costs more than one column.
        """
        place = self.raters.index(rater)
        column, counts = self.codes[:, place], np.array(self.counts().counts)
        rows = np.flatnonzero(column >= 0)
        counts[rows, column[rows]] -= 1
        met = np.delete(self.kept(_meetings)[place], place) > 0
        return CategoryCounts(
            counts,
            self.weights,
            scale=self.scale,
            n_raters=int(met.sum()),
            clusters=self.clusters,
        ).merged()

    def in_numbers(self) -> NumbersByRater:
        """The numbers that the codes of an interval or ratio scale stand for."""
        numbers = np.append(self.scale.scores, np.nan)
        values, scale, raters = numbers[self.codes], self.scale, self.raters
        return NumbersByRater(
            values, self.weights, scale=scale, raters=raters, clusters=self.clusters
        )

    def unnamed(self) -> Any:
        """Forget row by row who gave which label.

        Labels become counts. Codes beside a classifier are sorted within each row. Labels in groups
        or with confidence stay as they are.
        """
        if self.classifier is not None:
            places = self.unseen._replace(turned=False)
            return changed(self, codes=-np.sort(-self.codes, axis=1), unseen=places)
        return self if self.second is not None or self.confidence is not None else self.counts()

    def with_scale(self, scale: Scale) -> Self:
        """The labels on a scale that lists the same categories in another order."""
        if scale.categories == self.scale.categories:
            return self
        places = np.append(scale.positions_of(self.scale), MISSING)
        return changed(
            self,
            codes=places[self.codes],
            labels=places[self.labels],
            scale=scale,
            unseen=self.unseen._replace(split=split_at(self.unseen.split, places)),
        )

    def merged(self) -> Self:
        """Merge equal rows of a cluster into one row. The order of the rows is fixed."""
        columns = [self.codes]
        if self.classifier is not None:
            columns.append(self.labels[:, None])
        if self.confidence is not None:
            levels, stated = np.unique(np.nan_to_num(self.sure, nan=MISSING), return_inverse=True)
            columns.append(stated.reshape(self.codes.shape))
        rows, weights, clusters = distinct_in(np.hstack(columns), self.weights, self.clusters)
        codes, others = np.array(rows[:, : self.n_raters]), np.array(rows[:, self.n_raters :])
        same = changed(self, codes=codes, weights=weights, clusters=clusters)
        labels = np.full(len(rows), MISSING) if self.classifier is None else others[:, 0]
        if self.confidence is None:
            return changed(same, labels=labels)
        sure = np.where(levels[others] >= 0, levels[others], np.nan)
        return changed(same, labels=labels, confidence=sure)

    def with_columns(self, places: Sequence[int] | Codes) -> Self:
        """Keep the columns at some places in this order."""
        return changed(
            self,
            codes=self.codes[:, places],
            raters=checked_raters(WHAT, [self.raters[place] for place in places]),
            confidence=None if self.confidence is None else self.confidence[:, places],
        )

    def with_unseen(self, mass: float, category: int | None = None) -> Self:
        """Add every split of a typical item between two categories. The rows weigh `mass` in all.

        Each split is rotated through all columns. The two categories come from ratings of items
        with a second rating. If confidence counts, they come from all ratings. Unseen ratings have
        the mean confidence of their rater. If a classifier stands apart, each row is there twice:
        once with the classifier on each category.
        """
        pair = self.unseen.split or split_between(self.meeting, self.scale, category)
        form = changed(self, unseen=self.unseen._replace(category=category))
        if self.classifier is not None:
            return form._with_unseen_beside_classifier(mass, pair)
        rows = splits_like(self.given, self.weights, pair, MAX_TURNS)
        return form.with_rows(rows, np.full(len(rows), MISSING), mass)

    def _with_unseen_beside_classifier(self, mass: float, split: tuple[int, int]) -> Self:
        """The rows that the classifier labelled say how unseen rows look and who rates them."""
        rows = splits_met(
            self.given, self.labelled, self.weights, split, MAX_TURNS if self.unseen.turned else 1
        )
        return self.with_rows(np.vstack([rows, rows]), np.repeat(split, len(rows)), mass)

    def with_rows(self, rows: Codes, labels: Codes, mass: float) -> Self:
        """Add unseen rows that weigh `mass` in all."""
        sure = self.confidence
        return changed(
            self,
            codes=np.vstack([self.codes, rows]),
            weights=extended(self.weights, mass, len(rows)),
            clusters=None,
            labels=np.concatenate([self.labels, labels]),
            confidence=None if sure is None else np.vstack([sure, mean_confidence(sure, rows)]),
        )

    def __add__(self, other: "LabelsByRater") -> "LabelsByRater":
        _refuse_other_parts(self, other)
        if self.classifier is not None:
            return (self.joined() + other.joined()).against(self.classifier)
        if self.second is not None and other.second is not None:
            second = joint_raters(self.second, other.second)
            both = stacked(self.panel, other.panel).merged()
            first = [name for name in both.raters if name not in second]
            return both.only([*first, *second]).merged().in_groups(second)
        both = stacked(self, other)
        return both if self.confidence is not None else both.merged()


def _row_counts(labels: LabelsByRater) -> CategoryCounts:
    met = int(labels.given[labels.given.sum(1) >= 2].any(0).sum())
    counts = np.stack([(labels.codes == k).sum(1) for k in range(len(labels.scale.names))], 1)
    return CategoryCounts(counts, scale=labels.scale, n_raters=met, clusters=labels.clusters)


def stacked(one: "LabelsByRater", other: "LabelsByRater") -> "LabelsByRater":
    """Put the rows of two tables of labels under the raters of both, one column a rater."""
    refuse_other_scale(WHAT, one.scale, other.scale)
    refuse_sum(WHAT, one.clusters, other.clusters)
    raters = joint_raters(one.raters, other.raters)
    codes = [placed(each.codes, each.raters, raters, MISSING) for each in (one, other)]
    sure = [placed(each.sure, each.raters, raters, np.nan) for each in (one, other)]
    return changed(
        one,
        codes=np.vstack(codes),
        weights=np.concatenate([one.weights, other.weights]),
        raters=raters,
        labels=np.concatenate([one.labels, other.labels]),
        confidence=None if one.confidence is None else np.vstack(sure),
    )


def _meetings(labels: LabelsByRater) -> Array:
    """On how many rows each rater meets another if one is left out. Shape (R, R).

    The first place is the rater who is left out. Rows of three ratings or more always count. A row
    of two counts if the rater who is left out did not rate it.
    """
    given, sizes = labels.given, labels.counts().sizes
    of_two = given[sizes == 2].astype(float)
    return np.asarray(given[sizes >= 2].sum(0) - of_two.T @ of_two)


def times_seen(statistic: Statistic, possible: Statistic) -> Array:
    """How many items show the mix of each unseen row of `possible`.

    It is 0 for rows whose labels agree, and infinite for those that count for upper limits alone.
    It is 0 too if the statistic cannot tell: if a cluster holds several items, or if more than the
    labels of a panel counts.

    Examples
    --------
    >>> from agreement_pipeline import Scale
    >>> rows = CategoryCounts([[2, 0], [1, 1]], [9, 4], scale=Scale(("no", "yes")))
    >>> times_seen(rows, rows.with_unseen(3.0)).tolist()
    [0.0, 4.0, 0.0]
    """
    seen, mixes = statistic.weights, _mixes(possible)
    if _in_clusters(statistic) or mixes is None:
        alone = possible.only_raising(possible.weights.shape[-1] - len(seen))
        return np.where(alone, np.inf, 0.0)
    of_seen, of_unseen = np.split(kinds(mixes.astype(np.int64)), [len(seen)])
    times = np.bincount(of_seen, seen, len(mixes))
    return np.where((mixes[len(seen) :] > 0).sum(1) > 1, times[of_unseen], 0.0)


def _in_clusters(statistic: Statistic) -> bool:
    """True if a cluster holds several items."""
    return statistic.clusters is not None and statistic.clusters.n < statistic.weights.sum()


def _mixes(statistic: Statistic) -> Array | None:
    """How often each category was given in each row; None if it does not say all."""
    if isinstance(statistic, CategoryCounts):
        return statistic.counts
    if not isinstance(statistic, LabelsByRater) or statistic.confidence is not None:
        return None
    alone = statistic.classifier is None and statistic.second is None
    return statistic.counts().counts if alone else None
