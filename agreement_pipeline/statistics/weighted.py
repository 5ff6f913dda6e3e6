"""What all statistics do with their rows and weights.

With weights of shape `(P,)` a measure returns its point value, and with `(B, P)` one value for each
resample. Two rounds' statistics add. Rows of different clusters stay apart.

A missing label is the code -1. Shapes: `N` items, `R` raters, `K` categories, `P` rows, `B`
resamples, `D` dimensions.
"""

from collections.abc import Callable, Collection, Hashable, Iterator, Mapping
from functools import cached_property
from typing import TYPE_CHECKING, Any, Generic, NamedTuple, Self, TypeVar

import numpy as np
from numpy.typing import ArrayLike

from agreement_pipeline.errors import PolicyError, RatingsError
from agreement_pipeline.ratings import Array, Codes, Flags, Scale
from agreement_pipeline.statistics.clusters import Clusters, validate_clusters
from agreement_pipeline.text import listed

if TYPE_CHECKING:
    from scipy.sparse import csr_array


class SomeRows(NamedTuple):
    """What the rows at some ascending places (M,) say, in numbers (M, F) that are added.

    All other rows say 0.
    """

    places: Codes
    values: "Array | csr_array"

    def weighted_sums(self, weights: Array) -> Array:
        """The sums of what the rows say, under weights (..., P). Shape (..., F)."""
        is_every_row = len(self.places) == weights.shape[-1]
        return np.asarray(
            (weights if is_every_row else weights.take(self.places, -1)) @ self.values
        )

    def values_or_zero_at(self, place: Codes) -> Array:
        """What rows at some places say, 0 where nothing is said. Shape (len(place), F)."""
        values_at = np.zeros((len(place), self.values.shape[-1]))
        if not len(self.places):
            return values_at
        index = np.minimum(np.searchsorted(self.places, place), len(self.places) - 1)
        is_present = self.places[index] == place
        values_at[is_present] = to_dense(self.values[index[is_present]])
        return values_at


def to_dense(values: "Array | csr_array") -> Array:
    """The numbers of an array, also of a sparse one."""
    return values if isinstance(values, np.ndarray) else np.asarray(values.toarray())


MAX_DENSE_NUMBERS, MAX_SPARSE_SHARE = 1_000_000, 0.02
"""Of more numbers the zeros are left out, if less than this share are others."""


def rows_from_array(values: Array) -> SomeRows:
    """What all rows say; sparse if nearly all numbers are 0."""
    if (
        values.size <= MAX_DENSE_NUMBERS
        or np.count_nonzero(values) > MAX_SPARSE_SHARE * values.size
    ):
        return SomeRows(np.arange(len(values)), values)
    rows, columns = np.nonzero(values)
    return build_sparse_rows(rows, columns, values[rows, columns], values.shape)


def indicator_rows(codes: Codes, k: int) -> SomeRows:
    """1 at the category of each column, in (P, columns * k) numbers."""
    if (
        codes.size * k <= MAX_DENSE_NUMBERS
        or np.count_nonzero(codes >= 0) > MAX_SPARSE_SHARE * codes.size * k
    ):
        indicators = (codes[:, :, None] == np.arange(k)).astype(float)
        return rows_from_array(indicators.reshape(len(codes), codes.shape[1] * k))
    rows, columns = np.nonzero(codes >= 0)
    column_index = columns * k + codes[rows, columns]
    return build_sparse_rows(
        rows, column_index, np.ones(len(rows)), (len(codes), codes.shape[1] * k)
    )


def build_sparse_rows(
    rows: Codes, columns: Codes, values: Array, shape: tuple[int, ...]
) -> SomeRows:
    """What rows say, as numbers at some rows and columns."""
    from scipy.sparse import csr_array

    places, row_index = np.unique(rows, return_inverse=True)
    return SomeRows(
        places, csr_array((values, (row_index, columns)), shape=(len(places), shape[1]))
    )


RowReader = Callable[[Any], SomeRows]
"""What rows say must not depend on the weights."""


class GroupSums(NamedTuple):
    """What is summed of rows that stand for items of equal counts.

    `sums` are means (P, F) over their items. `normal` are the places of rows without items, which
    say how the sums vary: their weights are standard normal numbers in resamples, and 0 otherwise.
    """

    sums: Mapping[RowReader, Array]
    normal: Codes


UNREAD_SUM = "rows of equal counts: found a sum of another measure; expected those of their own"


class StackedSums(NamedTuple):
    """Different numbers of rows (F, P), and each read's places."""

    numbers: Array
    places: Mapping[RowReader, Codes]


def stack_known_sums(statistic: "Statistic") -> StackedSums:
    """The different columns that the known sums add up, so that one product gives all sums."""
    n, sums_by_reader = statistic.weights.shape[-1], dict(statistic.rows_by_reader)
    reads = {reader: rows for reader, rows in sums_by_reader.items() if len(rows.places) < n}
    if sum(rows.values.shape[1] for rows in reads.values()) * n > MAX_DENSE_NUMBERS:
        reads = {}
    place_by_column, places = dict[bytes, int](), dict[RowReader, Codes]()
    for reader, rows in reads.items():
        columns = np.zeros((rows.values.shape[1], n))
        columns[:, rows.places] = to_dense(rows.values).T
        indices = (
            place_by_column.setdefault(column.tobytes(), len(place_by_column)) for column in columns
        )
        places[reader] = np.fromiter(indices, dtype=np.int64)
    return StackedSums(
        np.frombuffer(bytearray().join(place_by_column)).reshape(len(place_by_column), n), places
    )


class SeenRows:
    """The weights of seen rows. Each sum over them is made once, and those `in_one` at once."""

    def __init__(self, weights: Array, in_one: StackedSums | None = None) -> None:
        self.weights, self.in_one = weights, in_one
        self._sums: dict[Hashable, Array] = {}

    def weighted_sums(self, rows: SomeRows, reader: RowReader | None) -> Array:
        if reader is None:
            return rows.weighted_sums(self.weights)
        if self.in_one is not None and reader in self.in_one.places:
            return np.ascontiguousarray(self._sums_in_one[self.in_one.places[reader]].T)
        if reader not in self._sums:
            self._sums[reader] = rows.weighted_sums(self.weights)
        return self._sums[reader]

    @cached_property
    def _sums_in_one(self) -> Array:
        assert self.in_one is not None
        return np.asarray(self.in_one.numbers @ self.weights.T)


class KnownWeights(NamedTuple):
    """What is known of weights. `alone` is the place among the unseen rows of the only one with
    weight: one for all resamples, or one for each.
    """

    seen: SeenRows
    alone: Codes | None = None

    def weighted_sums(self, weights: Array, rows: SomeRows, reader: RowReader | None) -> Array:
        n = self.seen.weights.shape[-1]
        n_seen_rows = int(rows.places.searchsorted(n))
        total = self.seen.weighted_sums(
            SomeRows(rows.places[:n_seen_rows], rows.values[:n_seen_rows]), reader
        )
        if weights.shape[-1] == n or n_seen_rows == len(rows.places):
            return np.broadcast_to(total, (*weights.shape[:-1], total.shape[-1]))
        unseen = SomeRows(rows.places[n_seen_rows:] - n, rows.values[n_seen_rows:])
        if self.alone is None:
            return np.asarray(total + unseen.weighted_sums(weights[..., n:]))
        mass = weights[np.arange(len(weights))[:, None], n + self.alone[:, None]]
        return np.asarray(total + mass * unseen.values_or_zero_at(self.alone))


T = TypeVar("T")


class RowProperty(Generic[T]):
    """A property of the rows alone. It is read once for all reweighted copies."""

    def __init__(self, reader: Callable[[Any], T]) -> None:
        self.read = reader
        self.__doc__ = reader.__doc__

    def __get__(self, statistic: "Statistic | None", owner: type) -> T:
        if statistic is None:
            return self  # type: ignore[return-value]
        cache = statistic._read_cache
        return cache[self.read] if self.read in cache else statistic.read_once(self.read)


class Statistic:
    together: GroupSums | None = None
    readable: RowProperty[Flags]  # true for rows that show agreement; shape (P,)
    _known_weights: KnownWeights | None = None

    if TYPE_CHECKING:

        @property
        def weights(self) -> Array:
            """How many items show each row. Shape (..., P)."""

        @property
        def scale(self) -> Scale:
            """The scale of the labels or numbers."""

        @property
        def clusters(self) -> Clusters | None:
            """The cluster of each row; None if items come one by one, or some are unseen."""

        @property
        def raters(self) -> tuple[str, ...] | None:
            """They are None if the statistic has forgotten them."""

        @property
        def n_items(self) -> int:
            """How many items the statistic rests on."""

        @property
        def n_ratings(self) -> int:
            """How many ratings the statistic rests on."""

        def with_unseen(self, mass: float, category: int | None = None) -> Self:
            """Add rows that nobody saw but that could occur, of weight `mass` in all, perhaps for
            one category.
            """

    def without_each_rater(self) -> Iterator[Self]:
        raise PolicyError(f"raters at large: {NAMELESS}")

    def n_items_by_rater(self, rows: Flags) -> Array:
        raise PolicyError(f"items by rater: {NAMELESS}")

    def without_rater_names(self) -> Any:
        return self

    def with_unseen_by_tail(self) -> Self:
        """Unseen rows follow the tail of errors, if errors have one."""
        return self

    @property
    def label_counts_by_mix(self) -> Array | None:
        """The labels of each row without their raters, if nothing else counts. Shape (P, K)."""
        return None

    def times_seen(self, possible: Self) -> Array:
        """How many items show the mix of each unseen row of `possible`.

        It is 0 for rows whose labels agree, and infinite for those that count for upper limits
        alone. It is 0 too if the statistic cannot tell: if a cluster holds several items, or if
        more than the labels of a panel counts.

        Examples
        --------
        >>> from agreement_pipeline import Scale
        >>> from agreement_pipeline.statistics import CategoryCounts
        >>> rows = CategoryCounts([[2, 0], [1, 1]], [9, 4], scale=Scale(("no", "yes")))
        >>> rows.times_seen(rows.with_unseen(3.0)).tolist()
        [0.0, 4.0, 0.0]
        """
        weights, mixes = self.weights, possible.label_counts_by_mix
        if mixes is None or self.shares_clusters:
            return np.zeros(possible.weights.shape[-1] - len(weights))
        seen_kinds, unseen_kinds = np.split(
            distinct_row_places(mixes.astype(np.int64)), [len(weights)]
        )
        times = np.bincount(seen_kinds, weights, len(mixes))
        return np.where((mixes[len(weights) :] > 0).sum(1) > 1, times[unseen_kinds], 0.0)

    @property
    def shares_clusters(self) -> bool:
        """True if a cluster holds several items."""
        return self.clusters is not None and self.clusters.n < self.weights.sum()

    @property
    def n_used(self) -> int:
        return total_as_int(self.weights[..., self.readable])

    def with_scale(self, scale: Scale) -> Self:
        return copy_with(self, scale=scale)

    def with_weights(self, weights: Array) -> Self:
        return self.with_same_rows(weights=weights)

    def weights_of(self, rows: Flags) -> Array:
        return self.weights if rows.all() else np.where(rows, self.weights, 0.0)

    def with_clusters(self, clusters: Clusters) -> Self:
        return copy_with(self, clusters=validate_clusters(clusters, self.weights.shape[-1]))

    def read_once(self, reader: Callable[[Self], T]) -> T:
        """Read something off the rows once for this statistic and all its reweighted copies.

        What `reader` returns must not depend on the weights.
        """
        if reader not in self._read_cache:
            self._read_cache.setdefault(reader, reader(self))
        return self._read_cache[reader]  # type: ignore[no-any-return]

    def with_same_rows(self, **changes: object) -> Self:
        """A copy with other fields that shares what was read off the rows."""
        copy = copy_with(self, **changes)
        vars(copy)["_read_cache"] = self._read_cache
        return copy

    def with_known_weights(self, known_weights: KnownWeights) -> Self:
        """Say what is known of the weights, so that sums over the rows cost less."""
        copy = self.with_same_rows()
        vars(copy)["_known_weights"] = known_weights
        return copy

    def sums(self, reader: RowReader) -> Array:
        """The weighted sums of what `reader` reads off the rows. Shape (..., F)."""
        rows_by_reader = self.rows_by_reader
        if reader not in rows_by_reader:
            rows, grouped = reader(self), self.together
            if grouped is not None:
                if reader not in grouped.sums:
                    raise TypeError(UNREAD_SUM)
                group_sums = grouped.sums[reader]
                values = np.zeros((self.weights.shape[-1], group_sums.shape[1]))
                values[rows.places] = to_dense(rows.values)
                values[: len(group_sums)] = group_sums
                rows = rows_from_array(values)
            rows_by_reader[reader] = rows
        return self._sums(rows_by_reader[reader], reader)

    @RowProperty
    def rows_by_reader(self) -> dict[RowReader, SomeRows]:
        return {}

    def weighted_sums_of_rows(self, rows: SomeRows, reader: RowReader | None = None) -> Array:
        if self.together is not None:
            raise TypeError(UNREAD_SUM)
        return self._sums(rows, reader)

    @property
    def places_of_normal_rows(self) -> Codes:
        return np.empty(0, dtype=np.int64) if self.together is None else self.together.normal

    @property
    def extra_row(self) -> tuple[Codes, float] | None:
        """The row that each resample has beside the same seen ones, and its mass, if they differ
        so.
        """
        known_weights = self._known_weights
        if (
            known_weights is None
            or known_weights.alone is None
            or known_weights.seen.weights.ndim > 1
        ):
            return None
        places = len(known_weights.seen.weights) + known_weights.alone
        return places, float(self.weights[0, places[0]])

    def _sums(self, rows: SomeRows, reader: RowReader | None) -> Array:
        known_weights = self._known_weights
        return (
            rows.weighted_sums(self.weights)
            if known_weights is None
            else known_weights.weighted_sums(self.weights, rows, reader)
        )

    @cached_property
    def _read_cache(self) -> dict[Callable[[Any], Any], Any]:
        return {}


NAMELESS = (
    "found category counts; expected a statistic that names its raters. Give labels by rater."
)


def effective_number_of_raters(items: Array) -> float:
    """How many raters of equally many items say as much by Kish's (1965) formula."""
    return float(items.sum() ** 2 / (items @ items)) if items.any() else 0.0


def total_as_int(weights: Array) -> int:
    """The sum of weights as a whole number."""
    return round(float(weights.sum()))


def distinct_row_places(rows: Codes) -> Codes:
    """The place of each row's kind among the distinct rows in lexicographic order.

    >>> distinct_row_places(np.array([[2, 0], [1, 1], [2, 0]])).tolist()
    [1, 0, 1]
    """
    return _distinct_and_first_row_places(rows)[0]


def _distinct_and_first_row_places(rows: Codes) -> tuple[Codes, Codes]:
    """Rows are sorted as few whole numbers each, of as many digits as fit one."""
    digits = rows - int(rows.min(initial=0))
    base, size = max(2, int(digits.max(initial=0)) + 1), 1
    while base ** (size + 1) < 2**62:
        size += 1
    values = base ** np.arange(size - 1, -1, -1, dtype=np.int64)
    chunks = [digits[:, start : start + size] for start in range(0, digits.shape[1], size)]
    keys = np.stack([chunk @ values[size - chunk.shape[1] :] for chunk in chunks], axis=1)
    order = np.lexsort(keys.T[::-1])
    new = np.append(True, (keys[order[1:]] != keys[order[:-1]]).any(1))
    place = np.empty(len(order), dtype=np.int64)
    place[order] = np.cumsum(new) - 1
    return place, order[new]


def merge_equal_rows(
    rows: Codes, weights: Array, clusters: Clusters | None
) -> tuple[Codes, Array, Clusters | None]:
    """The distinct rows of each cluster, with the sums of their weights."""
    keyed_rows = rows if clusters is None else np.column_stack([clusters.places, rows])
    if keyed_rows.size:
        place, first_rows = _distinct_and_first_row_places(keyed_rows)
        weights = np.bincount(place, weights).astype(float)
        keyed_rows = keyed_rows[first_rows]
    if clusters is None:
        return keyed_rows, weights, None
    return keyed_rows[:, 1:], weights, Clusters(keyed_rows[:, 0], clusters.times)


def append_mass(weights: Array, mass: float, rows: int) -> Array:
    """Weights with so many more rows, which share a mass."""
    return np.concatenate([weights, np.full(rows, mass / rows)])


def copy_with(statistic: T, **changes: object) -> T:
    """Copy a statistic with some fields changed; nothing is checked a second time."""
    copy, values = object.__new__(type(statistic)), vars(statistic)
    fields = statistic.__dataclass_fields__  # type: ignore[attr-defined]
    vars(copy).update({name: values[name] for name in fields if name in values} | changes)
    return copy


def set_fields(statistic: object, **fields: object) -> None:
    """Set fields of a frozen dataclass while it is made."""
    for name, value in fields.items():
        object.__setattr__(statistic, name, value)


def unite_raters(raters: Collection[str], added: Collection[str]) -> tuple[str, ...]:
    """The raters of both, the first ones first."""
    return (*raters, *(name for name in added if name not in raters))


def validate_weights(weights: ArrayLike | None, rows: int) -> Array:
    array = np.ones(rows) if weights is None else as_finite_array("weights", weights)
    if array.shape[-1:] != (rows,):
        raise RatingsError(
            f"weights: found shape {array.shape}; expected (..., {rows}). Give one weight a row."
        )
    return array


def validate_raters(kind: str, raters: Collection[str]) -> tuple[str, ...]:
    if len(set(raters)) != len(raters):
        raise RatingsError(
            f"{kind}: found raters {listed(sorted(raters), 12)}; expected each name once. "
            "Name the raters apart."
        )
    return tuple(raters)


def validate_codes(kind: str, values: ArrayLike, categories: int) -> Codes:
    array = np.asarray(values)
    if array.dtype.kind not in "iu" and array.size and (array.astype(float) % 1 != 0).any():
        raise RatingsError(
            f"{kind}: found a fraction or no number; expected whole numbers from -1 to "
            f"{categories - 1}. Give positions on the scale."
        )
    codes = array.astype(np.int64)
    if codes.size and (codes.min() < -1 or codes.max() >= categories):
        raise RatingsError(
            f"{kind}: found {codes.min()} to {codes.max()}; expected -1 to {categories - 1} for "
            "the scale. Give positions on the scale."
        )
    return codes


def raise_if_not_addable(kind: str, statistic: Statistic, addend: Statistic) -> None:
    """Refuse to add statistics of different scales, or of clusters."""
    if statistic.scale != addend.scale:
        raise RatingsError(
            f"{kind}: found a sum over different scales ({statistic.scale.in_words} and "
            f"{addend.scale.in_words}); expected one scale. Add statistics of one scale."
        )
    clusters = [part.clusters for part in (statistic, addend)]
    if any(clusters):  # nobody knows which of them are the same
        n_clusters = listed([0 if part is None else part.n for part in clusters])
        raise RatingsError(
            f"{kind}: found {n_clusters} clusters; expected statistics without clusters in a sum. "
            "Put the ratings into one table first."
        )


def as_whole_numbers(kind: str, values: ArrayLike) -> Array:
    """Whole numbers of ratings as an array of floats. Others are refused."""
    array = as_finite_array(kind, values)
    if (array % 1).any():
        raise RatingsError(
            f"{kind}: found a fraction; expected whole numbers of ratings. "
            "Put fractions into the weights."
        )
    return array


def as_finite_array(kind: str, values: ArrayLike) -> Array:
    """Finite numbers of 0 or more as an array. Others are refused."""
    array = np.asarray(values, dtype=float)
    if array.size and not (np.isfinite(array).all() and array.min() >= 0):
        raise RatingsError(
            f"{kind}: found a negative or non-finite number; "
            "expected finite numbers of 0 or more. Correct the numbers."
        )
    return array
