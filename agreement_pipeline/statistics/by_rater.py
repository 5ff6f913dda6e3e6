"""Labels and numbers by rater. Labels are codes in distinct rows; rows of numbers are the items."""

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, Any, ClassVar, Literal, NamedTuple, Self, TypeVar

import numpy as np
from numpy.typing import ArrayLike, NDArray

from agreement_pipeline.errors import RatingsError
from agreement_pipeline.ratings import LARGEST, MISSING, Array, Codes, Flags, Scale
from agreement_pipeline.statistics.clusters import Clusters, validate_clusters
from agreement_pipeline.statistics.counts import CategoryCounts
from agreement_pipeline.statistics.order import RatingHashes, canonical_order_of_raters
from agreement_pipeline.statistics.unseen import (
    MAX_TURNS,
    categories_to_split_between,
    far_values,
    mean_confidence,
    number_splits,
    numbers_to_split_between,
    places_of_split,
    rater_splits_where_met,
    tail_values,
    typical_size,
    typical_values,
)
from agreement_pipeline.statistics.weighted import (
    GroupSums,
    RowProperty,
    SomeRows,
    Statistic,
    append_mass,
    copy_with,
    merge_equal_rows,
    raise_if_not_addable,
    rows_from_array,
    set_fields,
    total_as_int,
    unite_raters,
    validate_codes,
    validate_raters,
    validate_weights,
)
from agreement_pipeline.text import counted, listed

NUMBERS, LABELS = "numbers by rater", "labels by rater"
MAX_DENSE_CELLS = 1_000_000
"""More rows x raters are a crowd."""
T = TypeVar("T", bound=np.generic)
R = TypeVar("R", bound="ByRater")


class ByRater(Statistic):
    what: ClassVar[str]
    said_in: ClassVar[str]
    missing: ClassVar[float]

    weights: Array
    scale: Scale
    raters: tuple[str, ...]
    clusters: Clusters | None
    classifier: str | None
    labels: Array | Codes
    given: RowProperty[Flags]  # true for each rating; shape (P, R)
    rated: RowProperty[Flags]  # true for those of the panel that count, in its columns
    labelled: RowProperty[Flags]  # true for rows rated by those who stand apart; shape (P,)
    second: tuple[str, ...] | None = None
    confidence: Array | None = None

    if TYPE_CHECKING:

        @property
        def rating_hashes(self) -> RatingHashes:
            """It tells raters apart."""

        def with_classifier(self, labels: ArrayLike, classifier: str) -> Self:
            """Let a classifier stand apart from the panel."""

    @property
    def cell_values(self) -> Array | Codes:
        """The cells: codes of labels, or numbers."""
        cells: Array | Codes = getattr(self, self.said_in)
        return cells

    @property
    def has_two_sides(self) -> bool:
        """True if a classifier or a second group stands apart from the panel."""
        return self.classifier is not None or self.second is not None

    def merged(self) -> Self:
        return self

    def select_columns(self, places: Sequence[int] | Codes) -> Self:
        return copy_with(
            self,
            **{self.said_in: self.cell_values[:, places]},
            raters=validate_raters(self.what, [self.raters[place] for place in places]),
            confidence=None if self.confidence is None else self.confidence[:, places],
        )

    def append_unseen_rows(self, rows: Array | Codes, labels: Array | Codes, mass: float) -> Self:
        sure = self.confidence
        return copy_with(
            self,
            **{self.said_in: np.concatenate([self.cell_values, rows])},
            weights=append_mass(self.weights, mass, len(rows)),
            clusters=None,
            labels=np.concatenate([self.labels, labels]),
            confidence=None if sure is None else np.vstack([sure, mean_confidence(sure, rows)]),
        )

    def select_raters(self, raters: Sequence[str]) -> Self:
        """The columns of some raters."""
        return self.select_columns([self.raters.index(rater) for rater in raters])

    @property
    def first_group_raters(self) -> tuple[str, ...]:
        """The raters who are not in the second group."""
        return tuple(name for name in self.raters if name not in (self.second or ()))

    @property
    def n_raters(self) -> int:
        return len(self.raters)

    @RowProperty
    def readable(self) -> Flags:
        """True for rows with two ratings that count, or with one from those apart and one from the
        panel.
        """
        if self.has_two_sides:
            return np.asarray(self.labelled & self.rated.any(1))
        return np.asarray(self.rated.sum(1) >= 2)

    @property
    def n_items(self) -> int:
        """Items with a rating, or with one from those apart and one from the panel."""
        rows = self.readable if self.has_two_sides else self.given.any(1)
        return total_as_int(self.weights[..., rows])

    @property
    def n_ratings(self) -> int:
        """Ratings of the panel that count, on items with a label from those apart, if any."""
        return total_as_int(
            self.weights * self.rated.sum(1) * (self.labelled if self.has_two_sides else 1)
        )

    def in_canonical_order(self) -> Self:
        """An order that the ratings fix, whatever the names and the order of nominal categories."""
        merged = self.with_scale(self.scale.canonical).merged()
        return merged.select_columns(
            canonical_order_of_raters(merged.rating_hashes, merged.weights)
        ).merged()

    def without(self, rater: str) -> Self:
        """All columns but that of a rater."""
        return self.select_raters([name for name in self.raters if name != rater])

    def with_rater_apart(self, rater: str) -> Self:
        """The rater as the one who stands apart, and the others as the panel."""
        labels = self.cell_values[:, self.raters.index(rater)]
        return self.without(rater).with_classifier(labels, rater)

    @property
    def panel(self) -> Self:
        """The statistic without those who stand apart."""
        return self.read_once(_drop_those_apart).with_weights(self.weights)

    def with_classifier_as_rater(self) -> Self:
        """The classifier in a column of its own, as one more rater."""
        return self.read_once(_append_classifier_column).with_weights(self.weights)

    def without_each_rater(self) -> Iterator[Self]:
        return (self.without(rater) for rater in self.first_group_raters)

    def n_items_by_rater(self, rows: Flags) -> Array:
        """How many items each rater rated among some rows. Shape (R,)."""
        return self.read_once(_rated_as_rows).weighted_sums(np.where(rows, self.weights, 0.0))


def _rated_as_rows(statistic: ByRater) -> SomeRows:
    return rows_from_array(statistic.rated.astype(float))


def _drop_those_apart(statistic: R) -> R:
    nobody = np.full_like(statistic.labels, statistic.missing)
    return copy_with(statistic, classifier=None, labels=nobody, second=None)


def _append_classifier_column(statistic: R) -> R:
    return type(statistic)(  # type: ignore[call-arg]
        np.concatenate([statistic.cell_values, statistic.labels[:, None]], axis=1),
        statistic.weights,
        scale=statistic.scale,
        raters=(*statistic.raters, str(statistic.classifier)),
        clusters=statistic.clusters,
    )


def spread_columns(
    cells: NDArray[T], names: Sequence[str], raters: Sequence[str], missing: float
) -> NDArray[T]:
    """The columns of some raters among those of more raters, with gaps in between."""
    columns = np.full((len(cells), len(raters), *cells.shape[2:]), missing, dtype=cells.dtype)
    columns[:, [raters.index(name) for name in names]] = cells
    return columns


def raise_if_classifiers_differ(statistic: ByRater, addend: ByRater) -> None:
    if statistic.classifier != addend.classifier:
        raise RatingsError(
            f"{statistic.what}: found classifiers {statistic.classifier!r} and "
            f"{addend.classifier!r}; expected one. Add the statistics of one classifier."
        )


@dataclass(frozen=True, eq=False)
class NumbersByRater(ByRater):
    """Item rows of numbers or vectors of numbers by rater; raters keep their names.

    Parameters
    ----------
    values
        Shape (N, R, D), or (N, R) in one dimension: what each rater gave each item, nan in all
        dimensions if missing. All else is as for `LabelsByRater`.
    left_out
        How many items with missing ratings `items_rated_by_all` left out.

    Attributes
    ----------
    classifier, labels
        Who stands apart, and what they gave each item (N, D).
    by_tail
        True if unseen items differ as much as the tail of the errors says.

    Examples
    --------
    >>> scale = Scale(None, "interval")
    >>> numbers = NumbersByRater([[1.5, 1.7], [3.1, np.nan]], scale=scale, raters=("a", "b"))
    >>> numbers.n_items, numbers.n_ratings, numbers.items_rated_by_all().left_out
    (2, 3, 1)
    """

    holds: ClassVar[Literal["numbers"]] = "numbers"
    what: ClassVar[str] = NUMBERS
    said_in: ClassVar[str] = "values"
    missing: ClassVar[float] = np.nan

    values: Array
    weights: Array
    scale: Scale
    raters: tuple[str, ...]
    left_out: int
    clusters: Clusters | None
    classifier: str | None
    labels: Array
    by_tail: bool

    def __init__(
        self,
        values: ArrayLike,
        weights: ArrayLike | None = None,
        *,
        scale: Scale,
        raters: Sequence[str],
        left_out: int = 0,
        clusters: Clusters | None = None,
    ) -> None:
        rows = np.asarray(values, dtype=float)
        rows = rows[:, :, None] if rows.ndim == 2 else rows
        if not scale.numeric:
            raise RatingsError(
                f"{NUMBERS}: found a {scale.level} scale with categories; expected a scale of "
                "numbers. Use labels by rater."
            )
        if rows.ndim != 3 or rows.shape[1:] != (len(raters), scale.dimensions):
            raise RatingsError(
                f"{NUMBERS}: found shape {rows.shape}; "
                f"expected (N, {len(raters)}, {scale.dimensions}) for the raters and the scale. "
                "Give a value for every rater and dimension, nan where missing."
            )
        missing, is_ratio = np.isnan(rows), scale.level == "ratio"
        impossible = (np.abs(rows) > LARGEST) | ((rows < 0) & is_ratio)
        bad = np.argwhere((missing.any(-1) != missing.all(-1)) | impossible.any(-1))
        if len(bad):
            row, column = bad[0]
            finding = f"{rows[row, column].tolist()} ({counted(len(bad), 'such rating')} in all)"
            raise RatingsError(
                f"{NUMBERS}: row {row + 1}, column {raters[column]!r}: found {finding}; expected "
                f"finite {'non-negative ' * is_ratio}numbers up to {LARGEST:g} in size, or nan in "
                f"all dimensions, on the {scale.level} level. Correct the rating."
            )
        set_fields(
            self,
            values=rows,
            weights=validate_weights(weights, len(rows)),
            scale=scale,
            raters=validate_raters(NUMBERS, raters),
            left_out=left_out,
            clusters=validate_clusters(clusters, len(rows)),
            classifier=None,
            labels=np.full((len(rows), scale.dimensions), np.nan),
            by_tail=False,
        )

    def with_unseen_by_tail(self) -> Self:
        return copy_with(self, by_tail=True)

    def with_classifier(self, labels: ArrayLike, classifier: str) -> "NumbersByRater":
        expected = (len(self.values), self.scale.dimensions)
        if np.shape(labels) != expected:
            raise RatingsError(
                f"{NUMBERS}: classifier's labels: found shape {np.shape(labels)}; "
                f"expected {expected}. Give one label a row."
            )
        with_labels = copy_with(self, labels=np.asarray(labels, dtype=float), classifier=classifier)
        with_labels.with_classifier_as_rater()
        return with_labels

    @RowProperty
    def given(self) -> Flags:
        return np.asarray(~np.isnan(self.values[:, :, 0]))

    rated = given

    @RowProperty
    def labelled(self) -> Flags:
        return np.asarray(~np.isnan(self.labels[:, 0]))

    @property
    def rating_hashes(self) -> RatingHashes:
        return RatingHashes.of_cells(self.given, *np.moveaxis(self.values, 2, 0))

    @RowProperty
    def sizes(self) -> Array:
        return np.asarray(self.rated.sum(1), dtype=float)

    @RowProperty
    def pairable(self) -> Flags:
        return np.asarray(self.sizes >= 2)

    @cached_property
    def has_weight(self) -> Flags:
        return np.asarray((self.weights > 0).any(axis=tuple(range(self.weights.ndim - 1))))

    def with_unseen(self, mass: float, category: int | None = None) -> Self:
        """Add every split of a typical item over two values, turned through the raters.

        On declared categories, the two values are the one used most and the one farthest from it.
        Else those of a dimension have the mean, the variance and the skewness of all ratings there
        that meet another, and are farther apart if raters differed much on one item. In the next
        dimension a split is turned by one rater more, so that ratings do not lie on one line.

        Beside a classifier, each row is there twice, with it on the lower and on the higher value.
        They are typical ones: a large difference of any rater would hide what the others do.
        """
        if self.classifier is None:
            rows = self._splits_of_typical_item(tail_values if self.by_tail else far_values)
            return self.append_unseen_rows(
                rows, np.full((len(rows), self.scale.dimensions), np.nan), mass
            )
        is_met = self.readable & (self.weights > 0)
        met_part = self.select_rows(is_met) if is_met.any() else self
        panel, all_raters = met_part.panel, met_part.with_classifier_as_rater()
        rows = panel._splits_of_typical_item(typical_values)
        pair, _ = numbers_to_split_between(
            all_raters.values, all_raters.weights, self.scale, typical_values
        )
        labels = np.repeat(pair, len(rows), axis=0)
        return self.append_unseen_rows(np.concatenate([rows, rows]), labels, mass)

    def _splits_of_typical_item(self, elsewhere: Callable[[Array, Array], Array]) -> Array:
        meeting = self.select_rows(self.pairable) if self.pairable.any() else self
        numbers = numbers_to_split_between(meeting.values, meeting.weights, self.scale, elsewhere)
        n_raters, turns = self.n_raters, min(self.n_raters, MAX_TURNS)
        size = min(typical_size(self.sizes, self.weights), n_raters)
        rows = number_splits(size, n_raters, numbers)
        return np.concatenate(
            [np.roll(rows, turn * n_raters // turns, axis=1) for turn in range(turns)]
        )

    def times_seen(self, possible: Self) -> Array:
        """Agreed numbers that lie as far out as the tail says count for no lower limit."""
        unseen = possible.values[len(self.values) :]
        agreed = (np.nanmax(unseen, 1) == np.nanmin(unseen, 1)).all(1)
        is_open = self.scale.categories is None or not self.scale.declared
        outside = agreed & (possible.by_tail and is_open and self.classifier is None)
        return np.where(outside, np.inf, 0.0)

    def items_rated_by_all(self) -> "NumbersByRater":
        """The items that every rater rated."""
        complete = np.asarray(self.given.all(1))
        if complete.all():
            return self
        left_out = self.left_out + total_as_int(self.weights[..., ~complete & (self.sizes > 0)])
        return copy_with(self.select_rows(complete), left_out=left_out)

    def select_rows(self, rows: Flags) -> "NumbersByRater":
        """Some rows. The last selection is kept, since measures ask for the same one again."""
        if rows.all():
            return self
        cache, key = self._last_selection, rows.tobytes()
        if key not in cache:
            cache.clear()
            cache[key] = copy_with(
                self,
                values=self.values[rows],
                weights=np.ones(int(rows.sum())),
                labels=self.labels[rows],
                clusters=None if self.clusters is None else self.clusters.select_rows(rows),
            )
        return cache[key].with_weights(self.weights[..., rows])

    @RowProperty
    def _last_selection(self) -> dict[bytes, "NumbersByRater"]:
        return {}

    def __add__(self, other: "NumbersByRater") -> "NumbersByRater":
        raise_if_classifiers_differ(self, other)
        if self.classifier is not None:
            return (
                self.with_classifier_as_rater() + other.with_classifier_as_rater()
            ).with_rater_apart(self.classifier)
        raise_if_not_addable(NUMBERS, self, other)
        raters = unite_raters(self.raters, other.raters)
        return NumbersByRater(
            np.concatenate(
                [
                    spread_columns(statistic.values, statistic.raters, raters, np.nan)
                    for statistic in (self, other)
                ]
            ),
            np.concatenate([self.weights, other.weights]),
            scale=self.scale,
            raters=raters,
            left_out=self.left_out + other.left_out,
        )


class Unseen(NamedTuple):
    """Unseen rows are split between two categories, of which perhaps one alone is asked for.

    Each is `turned` through the columns, unless a column stands for a place and no rater.
    """

    split: tuple[int, int] | None = None
    category: int | None = None
    turned: bool = True


@dataclass(frozen=True, eq=False)
class LabelsByRater(ByRater):
    """Distinct item rows of codes by rater; raters keep their names.

    Parameters
    ----------
    codes
        Shape (P, R): the position of each rater's label on the scale. -1 if missing.
    weights
        Shape (..., P): how many items show each row. Finite and non-negative; 1 each if omitted.
    clusters
        The cluster of each row, if items come in clusters.

    Attributes
    ----------
    classifier, labels
        Who stands apart, and the codes of their labels (P,), -1 if missing.
    second
        The names of a second group, such as all classifiers.
    confidence
        Shape (P, R): from 0 (a guess) to 1, nan if none was stated. None if it is not read.
    unseen, together
        How unseen rows are made, and what is summed of rows that stand for items of equal counts.

    Examples
    --------
    >>> scale = Scale(("no", "yes"))
    >>> labels = LabelsByRater([[0, 0], [1, -1]], [4, 2], scale=scale, raters=("ana", "ben"))
    >>> labels.n_items, labels.n_used, labels.n_ratings
    (6, 4, 10)
    """

    holds: ClassVar[Literal["labels"]] = "labels"
    what: ClassVar[str] = LABELS
    said_in: ClassVar[str] = "codes"
    missing: ClassVar[float] = MISSING

    codes: Codes
    weights: Array
    scale: Scale
    raters: tuple[str, ...]
    clusters: Clusters | None
    classifier: str | None
    labels: Codes
    unseen: Unseen
    second: tuple[str, ...] | None
    confidence: Array | None
    together: GroupSums | None

    def __init__(
        self,
        codes: ArrayLike,
        weights: ArrayLike | None = None,
        *,
        scale: Scale,
        raters: Sequence[str],
        clusters: Clusters | None = None,
    ) -> None:
        rows = validate_codes(f"{LABELS}: codes", codes, len(scale.names))
        if rows.ndim != 2 or rows.shape[1] != len(raters):
            raise RatingsError(
                f"{LABELS}: found shape {rows.shape}; expected (P, {len(raters)}) for the raters. "
                "Give a column for every rater."
            )
        set_fields(
            self,
            codes=rows,
            weights=validate_weights(weights, len(rows)),
            scale=scale,
            raters=validate_raters(LABELS, raters),
            clusters=validate_clusters(clusters, len(rows)),
            classifier=None,
            labels=np.full(len(rows), MISSING),
            second=None,
            confidence=None,
            unseen=Unseen(),
            together=None,
        )

    def with_classifier(self, labels: ArrayLike, classifier: str) -> "LabelsByRater":
        kind = f"{LABELS}: classifier's labels"
        codes = validate_codes(kind, labels, len(self.scale.names))
        if codes.shape != (len(self.codes),):
            raise RatingsError(
                f"{kind}: found shape {codes.shape}; expected {(len(self.codes),)}. "
                "Give one label a row."
            )
        if classifier in self.raters:
            raise RatingsError(
                f"{LABELS}: found {classifier!r} as classifier and in the panel; "
                "expected a name of its own. Name them apart."
            )
        return copy_with(self, labels=codes, classifier=classifier)

    def in_groups(self, second: Sequence[str]) -> "LabelsByRater":
        """Two groups of raters, of which these are the second."""
        names = {*second}
        if names - {*self.raters} or len(names) != len(second):
            raise RatingsError(
                f"{LABELS}: second group: found {listed(sorted(second), 12)}; "
                "expected raters of the columns, each once. Correct the names."
            )
        return copy_with(self, second=tuple(name for name in self.raters if name in names))

    def with_confidence(self, confidence: ArrayLike) -> "LabelsByRater":
        """Add how confident the raters were, shape (P, R). Only ratings with it then count."""
        stated = np.asarray(confidence, dtype=float)
        if stated.shape != self.codes.shape:
            raise RatingsError(
                f"{LABELS}: found confidence of shape {stated.shape}; expected "
                f"{self.codes.shape}. Give one for each rating."
            )
        if not (np.isnan(stated) | ((stated >= 0) & (stated <= 1))).all():
            raise RatingsError(
                f"{LABELS}: found a confidence under 0 or above 1; expected 0 to 1, or nan where "
                "none was stated. Correct it."
            )
        return copy_with(self, confidence=np.where(self.given, stated, np.nan))

    @RowProperty
    def given(self) -> Flags:
        return np.asarray(self.codes >= 0)

    @RowProperty
    def rated(self) -> Flags:
        if self.confidence is not None:
            return np.asarray(~np.isnan(self.confidence))
        return (
            self.given
            if self.second is None
            else np.asarray(self.given[:, ~self._is_in_second_group])
        )

    @RowProperty
    def labelled(self) -> Flags:
        of_group = self.given[:, self._is_in_second_group].any(1)
        return np.asarray(self.labels >= 0 if self.second is None else of_group)

    @property
    def _is_in_second_group(self) -> Flags:
        return np.isin(self.raters, self.second or ())

    @RowProperty
    def indicators(self) -> Array:
        return np.asarray(self.codes[:, :, None] == np.arange(len(self.scale.names)), dtype=float)

    @RowProperty
    def label_indicators(self) -> Array:
        return np.asarray(self.labels[:, None] == np.arange(len(self.scale.names)), dtype=float)

    @RowProperty
    def group_counts(self) -> tuple[Array, Array]:
        """Counts by category of the first and of the second group."""
        indicators, second = self.indicators, self._is_in_second_group
        return np.asarray(indicators[:, ~second].sum(1)), np.asarray(indicators[:, second].sum(1))

    @property
    def confidence_or_nan(self) -> Array:
        return np.full(self.codes.shape, np.nan) if self.confidence is None else self.confidence

    @property
    def used(self) -> Array:
        return np.asarray(self.weights @ self.counts().counts)

    @property
    def n_pairable_by_category(self) -> Array:
        """How often each category was given where labels meet, or at all if none do. (K,)."""
        if self.classifier is None:
            return self.counts().n_pairable_by_category if self.confidence is None else self.used
        met_counts = np.where(self.labels >= 0, self.weights, 0.0) @ self.counts().counts
        return np.asarray(met_counts if met_counts.any() else self.used)

    def with_split_between(self, split: tuple[int, int]) -> Self:
        return copy_with(self, unseen=self.unseen._replace(split=split))

    @property
    def places_to_compute(self) -> Sequence[int]:
        category = self.unseen.category
        return range(len(self.scale.names)) if category is None else (category,)

    @property
    def rating_hashes(self) -> RatingHashes:
        nothing = np.broadcast_to(np.nan, self.codes.shape)
        sure = nothing if self.confidence is None else self.confidence
        return RatingHashes.of_cells(self.given, self.codes, sure)

    @property
    def label_counts_by_mix(self) -> Array | None:
        return None if self.has_two_sides or self.confidence is not None else self.counts().counts

    def counts(self) -> CategoryCounts:
        return self.read_once(_count_labels_by_row).with_weights(self.weights)

    def counts_without(self, rater: str) -> CategoryCounts:
        """The counts by category without those of a rater."""
        place = self.raters.index(rater)
        column, counts = self.codes[:, place], np.array(self.counts().counts)
        rows = np.flatnonzero(column >= 0)
        counts[rows, column[rows]] -= 1
        n_met = int((np.delete(self.read_once(_n_met_without_each)[place], place) > 0).sum())
        remaining = CategoryCounts(
            counts, self.weights, scale=self.scale, n_raters=n_met, clusters=self.clusters
        )
        return remaining.merged()

    def as_numbers(self) -> NumbersByRater:
        """The scores of the categories in the place of their codes."""
        numbers = np.append(self.scale.scores, np.nan)
        values, scale, raters = numbers[self.codes], self.scale, self.raters
        return NumbersByRater(
            values, self.weights, scale=scale, raters=raters, clusters=self.clusters
        )

    def without_rater_names(self) -> Any:
        """Labels become counts. Beside a classifier, codes are sorted within each row. Labels in
        groups or with confidence stay as they are.
        """
        if self.classifier is not None:
            places, raters = self.unseen._replace(turned=False), self.raters
            if self.codes.size > MAX_DENSE_CELLS:
                raters = raters[: max(1, int(self.given.sum(1).max(initial=0)))]
            codes = _codes_from_the_highest(self.counts().counts, len(raters))
            return copy_with(self, codes=codes, raters=raters, unseen=places)
        return self if self.second is not None or self.confidence is not None else self.counts()

    def rows_of_classifier(self) -> Self:
        """In a crowd, the rows that the classifier labelled, and their raters."""
        if self.classifier is None or self.codes.size <= MAX_DENSE_CELLS:
            return self
        rows = self.labelled
        columns = np.flatnonzero(self.given[rows].any(0))
        return copy_with(
            self,
            codes=self.codes[np.ix_(rows, columns)],
            labels=self.labels[rows],
            weights=self.weights[..., rows],
            raters=tuple(self.raters[place] for place in columns),
            clusters=None if self.clusters is None else self.clusters.select_rows(rows),
        )

    def with_scale(self, scale: Scale) -> Self:
        if scale.categories == self.scale.categories:
            return self
        places = np.append(scale.positions_of(self.scale), MISSING)
        return copy_with(
            self,
            codes=places[self.codes],
            labels=places[self.labels],
            scale=scale,
            unseen=self.unseen._replace(split=places_of_split(self.unseen.split, places)),
        )

    def merged(self) -> Self:
        columns, n = [self.codes, self.labels[:, None]], self.n_raters
        small = np.min_scalar_type(-len(self.scale.names) - 1)
        if self.confidence is not None:
            filled_confidence = np.nan_to_num(self.confidence, nan=MISSING)
            levels, places = np.unique(filled_confidence, return_inverse=True)
            columns.append(places.reshape(filled_confidence.shape))
            small = places.dtype
        all_columns = np.hstack(columns, dtype=small, casting="unsafe")
        rows, weights, clusters = merge_equal_rows(all_columns, self.weights, self.clusters)
        sure = None
        if self.confidence is not None:
            sure = levels[rows[:, n + 1 :]]
            sure[sure < 0] = np.nan
        return copy_with(
            self,
            codes=rows[:, :n].astype(np.int64),
            labels=rows[:, n].astype(np.int64),
            weights=weights,
            clusters=clusters,
            confidence=sure,
        )

    def with_unseen(self, mass: float, category: int | None = None) -> Self:
        """Add every split of a typical item between two categories, through all columns.

        The two categories come from ratings of items with a second rating, or from all if
        confidence counts. Beside a classifier, each row is there twice, with it on each category.
        The rows that it labelled then say how unseen rows look and who rates them.
        """
        pair = self.unseen.split or categories_to_split_between(
            self.n_pairable_by_category, self.scale, category
        )
        form = copy_with(self, unseen=self.unseen._replace(category=category))
        turns = MAX_TURNS if self.unseen.turned else 1
        rows = rater_splits_where_met(self.given, self.labels >= 0, self.weights, pair, turns)
        if self.classifier is None:
            return form.append_unseen_rows(rows, np.full(len(rows), MISSING), mass)
        return form.append_unseen_rows(np.vstack([rows, rows]), np.repeat(pair, len(rows)), mass)

    def __add__(self, other: "LabelsByRater") -> "LabelsByRater":
        raise_if_classifiers_differ(self, other)
        kinds_of_both = {
            (statistic.second is None, statistic.confidence is None) for statistic in (self, other)
        }
        if len(kinds_of_both) > 1:
            raise RatingsError(
                f"{LABELS}: found groups or confidence on one side alone; "
                "expected both sides or neither. Add statistics of the same kind."
            )
        in_both_groups = {*self.first_group_raters} & {*(other.second or ())} | {
            *(self.second or ())
        } & {*other.first_group_raters}
        if in_both_groups:
            raise RatingsError(
                f"{LABELS}: found {listed(sorted(in_both_groups), 12)} in both groups; "
                "expected one group for each rater. Add statistics of the same groups."
            )
        if self.classifier is not None:
            return (
                self.with_classifier_as_rater() + other.with_classifier_as_rater()
            ).with_rater_apart(self.classifier)
        if self.second is not None and other.second is not None:
            second = unite_raters(self.second, other.second)
            combined = stack_labels(self.panel, other.panel).merged()
            first_group = [name for name in combined.raters if name not in second]
            return combined.select_raters([*first_group, *second]).merged().in_groups(second)
        combined = stack_labels(self, other)
        return combined if self.confidence is not None else combined.merged()


def _count_labels_by_row(labels: LabelsByRater) -> CategoryCounts:
    n_met = int(labels.given[labels.given.sum(1) >= 2].any(0).sum())
    counts = np.stack([(labels.codes == k).sum(1) for k in range(len(labels.scale.names))], 1)
    return CategoryCounts(counts, scale=labels.scale, n_raters=n_met, clusters=labels.clusters)


def _codes_from_the_highest(counts: Array, n: int) -> Codes:
    """The codes of each row (P, n), the highest first."""
    rows, codes = np.nonzero(counts[:, ::-1])
    times = counts[:, ::-1][rows, codes].astype(np.int64)
    row, code = np.repeat(rows, times), np.repeat(counts.shape[1] - 1 - codes, times)
    sorted_codes = np.full((len(counts), n), MISSING)
    sorted_codes[row, np.arange(len(row)) - np.searchsorted(row, row)] = code
    return sorted_codes


def stack_labels(labels: "LabelsByRater", added: "LabelsByRater") -> "LabelsByRater":
    """The rows of both, on the raters of both."""
    raise_if_not_addable(LABELS, labels, added)
    raters = unite_raters(labels.raters, added.raters)
    codes = [spread_columns(part.codes, part.raters, raters, MISSING) for part in (labels, added)]
    sure = [
        spread_columns(part.confidence_or_nan, part.raters, raters, np.nan)
        for part in (labels, added)
    ]
    return copy_with(
        labels,
        codes=np.vstack(codes),
        weights=np.concatenate([labels.weights, added.weights]),
        raters=raters,
        labels=np.concatenate([labels.labels, added.labels]),
        confidence=None if labels.confidence is None else np.vstack(sure),
    )


def _n_met_without_each(labels: LabelsByRater) -> Array:
    """On how many rows each rater meets another if one is left out, first the one left out
    (R, R).
    """
    is_rated, sizes = labels.given, labels.counts().sizes
    of_two = is_rated[sizes == 2].astype(float)
    return np.asarray(is_rated[sizes >= 2].sum(0) - of_two.T @ of_two)


class RaterDistances(NamedTuple):
    """How far apart the raters are, two by two.

    `met` is how many items two raters share (R, R). `total` is the sum of the distances of their
    ratings there: different labels are one apart, and numbers have the squared distance.
    """

    met: Array
    total: Array

    @property
    def of_pairs(self) -> Array:
        """Shape (R, R). It is nan if two never met."""
        return _mean_over_shared_items(self.total, self.met)

    @property
    def of_raters(self) -> Array:
        """The mean distance of a rater from all others (R,). It is nan if none was met."""
        return _mean_over_shared_items(self.total.sum(1), self.met.sum(1))


def rater_distances(panel: LabelsByRater | NumbersByRater) -> RaterDistances:
    """How far apart the raters of a panel are, two by two."""
    n_shared = n_items_in_common(panel.given, panel.weights)
    if isinstance(panel, LabelsByRater):
        gave = (panel.codes == k for k in range(len(panel.scale.names)))
        total = np.asarray(n_shared - sum(n_items_in_common(x, panel.weights) for x in gave))
    else:
        is_rated, weights = panel.given.astype(float), panel.weights[:, None]
        mean = np.nanmean(panel.values, axis=(0, 1)) if is_rated.any() else 0.0
        x = np.nan_to_num(panel.values - mean)
        squares = (x**2).sum(-1).T @ (weights * is_rated)
        products = sum(
            coordinates.T @ (weights * coordinates) for coordinates in np.moveaxis(x, 2, 0)
        )
        total = np.asarray(squares + squares.T - 2 * products)
    off_diagonal = ~np.eye(panel.n_raters, dtype=bool)
    return RaterDistances(n_shared * off_diagonal, np.maximum(total, 0.0) * off_diagonal)


def n_items_in_common(rows: Flags, weights: Array) -> Array:
    """How many items two raters have in common (R, R)."""
    if rows.size <= MAX_DENSE_CELLS:
        dense_rows = rows.astype(float)
        return np.asarray(dense_rows.T @ (weights[:, None] * dense_rows))
    from scipy.sparse import csr_array, diags_array

    sparse_rows = csr_array(rows, dtype=float)
    return np.asarray((sparse_rows.T @ diags_array(weights) @ sparse_rows).toarray())


def _mean_over_shared_items(total: Array, n_shared: Array) -> Array:
    mean = np.full(n_shared.shape, np.nan)
    np.divide(total, n_shared, out=mean, where=n_shared > 0)
    return mean
