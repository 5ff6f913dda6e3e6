"""Labels that were given again, added, or not given, where raters differ.

They make agreement look better, or other, than it was between raters who work independently. A slip
that is corrected does so too, so a few changes are never held against a round.
"""

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Any, NamedTuple

import numpy as np
import pandas as pd
import pyarrow as pa

from agreement_pipeline.integrity.facts import MAX_P_VALUE, MIN_USUAL_SHARE, Fact, register_fact
from agreement_pipeline.integrity.panel import Codes, Panel
from agreement_pipeline.ratings import (
    STRATUM,
    Ratings,
    Scale,
    arrow_to_pandas,
    as_number_array,
    as_whole_numbers_or_missing,
    category_text,
    numbers_as_arrow,
    times_as_seconds,
)
from agreement_pipeline.text import in_words

MAX_SLIP_SHARE = 0.02
"""So large a share of all labels may be corrected slips."""
MIN_CHANGES = 10
"""Fewer changes tell nothing."""
MAX_CHANGES_EXACT = 10_000
"""Beyond so many changes, a normal distribution gives the p."""
N_PARTS = 10
"""Into so many parts items are told apart by order, since those of one time may be harder."""
MIN_EXPECTED_CHANGES, MIN_SHARE_OF_CHANGES = 10, 0.1
"""Where two raters differ on so many labels, a rater who looks again changes so large a share of as
many of their own labels."""
MIN_ITEMS_COMPARED, MAX_EXCESS = 10, 3.3
"""A normal distribution is beyond so many standard errors with a probability of .0005."""
MAX_ZONE = timedelta(hours=14)
"""No clock on earth is further from UTC."""
KEYS = ["item", "rater"]
NO_CHANGES_MESSAGE = "no label is known to have been changed, so nothing was checked"


@dataclass(frozen=True)
class LabelChanges:
    """The labels of items with two raters that were changed when another rater's was there.

    Attributes
    ----------
    chosen, on_disputed, expected
        How many changes there are, how many of them are on disputed items, and how many are
        expected if each rater chose at random which of their labels of each category to change.
    p
        How likely chance alone gives so many.
    towards, away
        How many changes go towards the first labels of the others, and how many go away from them.
        None if the first labels are not known. Then `chosen` counts items with a change, of which
        some are disputed afterwards. They may be drawn at random among those of the same raters,
        and `p` counts fewer disputed ones as well as more.
    """

    n: int
    changed: int
    chosen: int
    on_disputed: int
    expected: float
    p: float
    towards: int | None = None
    away: int | None = None

    @property
    def is_aimed(self) -> bool:
        if self.p > MAX_P_VALUE or not _are_more_than_slips(self.changed, self.n):
            return False
        return self.towards is None or self.towards > (self.away or 0)

    @property
    def in_words(self) -> str:
        """What changed, in words.

        >>> LabelChanges(600, 40, 40, 38, 12.3, 0.0001, 30, 2).in_words.partition("; ")[2]
        '38 of them are on disputed items instead of about 12; 30 go towards the others and 2 away'
        """
        late = (
            f"{self.changed} of {self.n} labels were changed when another rater had labelled the "
            "item"
        )
        about = f"instead of about {in_words(self.expected, '.0f')}"
        if self.towards is None:
            of_items = f"{self.on_disputed} of their {self.chosen} items are disputed afterwards"
            return f"{late}; {of_items} {about}"
        return (
            f"{late}; {self.on_disputed} of them are on disputed items {about}; "
            f"{self.towards} go towards the others and {self.away} away"
        )


class _LabelsAndChanges(NamedTuple):
    item: Codes
    rater: Codes
    first: Codes
    last: Codes | None
    changed: Codes
    names: pa.Array


def find_late_changes(ratings: Ratings) -> LabelChanges | None:
    label_changes = _read_changes(ratings)
    if label_changes is None:
        return None
    return _compare_changes(*label_changes[:-1], ratings.scale.numeric)


def relabel_late_changes(ratings: Ratings) -> tuple[int, Ratings] | None:
    """The ratings in which labels that were changed late are others, and how many these are.

    These are labels beside others that stayed. A label counts neither if all of its item were
    changed, nor if all that its rater gave to its category were. None if the first labels are
    known, if slips explain so many changes, or if labels are numbers.
    """
    label_changes = _read_changes(ratings)
    if label_changes is None or label_changes.last is not None or ratings.scale.numeric:
        return None
    item, rater, first_label, _, is_changed, names = label_changes
    habit = rater * (int(first_label.max()) + 1) + first_label
    is_late = is_changed & np.isin(item, item[~is_changed]) & np.isin(habit, habit[~is_changed])
    if not _are_more_than_slips(int(is_late.sum()), int((np.bincount(item)[item] > 1).sum())):
        return None
    common = np.argsort(-np.bincount(first_label, minlength=2), kind="stable")[:2]
    other_label = np.where(first_label == common[0], common[1], common[0])
    places = np.flatnonzero(is_late)
    raters = [ratings.everyone[rater_place] for rater_place in rater[places]]
    return len(places), ratings.with_other_labels(
        names.take(numbers_as_arrow(places)), raters, other_label[places]
    )


def _read_changes(ratings: Ratings) -> _LabelsAndChanges | None:
    names = [name for name in ("last_label", "changed_at") if name in ratings.has]
    if not names or ratings.scale.dimensions > 1 or not sum(ratings.n_edited_labels):
        return None
    label = "number" if ratings.scale.numeric else "code"
    times = [*({"timestamp"} & ratings.has)]
    columns = ["item", "at", "place", label, *names, *times]
    table = ratings.first_ratings(columns, raters=ratings.raters)
    if not len(table):
        return None
    item, first_label = as_whole_numbers_or_missing(table["at"]), as_number_array(table[label])
    last_label, is_changed = first_label.copy(), np.zeros(len(item), dtype=bool)
    is_known = not ratings.n_edited_labels[1]
    if "last_label" in names:
        is_changed = ~table["last_label"].is_null().to_numpy()
        last_texts = table["last_label"].filter(pa.array(is_changed)).to_pylist()
        last_label[is_changed] = [
            ratings.scale.position_of_label(text) if label == "code" else float(text)
            for text in last_texts
        ]
    if "changed_at" in names:
        is_changed |= ~table["changed_at"].is_null().to_numpy()
        if times:
            labelled_seconds, changed_seconds = (
                _read_seconds(table[name]) for name in ("timestamp", "changed_at")
            )
            # A change before the label was given is at an unknown time.
            is_changed &= ~(
                (labelled_seconds <= changed_seconds)
                & (changed_seconds < _first_seconds_of_others(item, labelled_seconds))
            )
    last_label_if_known = last_label if is_known else None
    items = table["item"].combine_chunks()
    return _LabelsAndChanges(
        item,
        as_whole_numbers_or_missing(table["place"]),
        first_label,
        last_label_if_known,
        is_changed,
        items,
    )


def find_changes_since(
    ratings: Ratings,
    earlier_deliveries: Iterable[Ratings],
    *,
    leaves_out_unchanged: bool = False,
) -> LabelChanges | None:
    """What the same raters said otherwise of the same items when these were first delivered.

    The earlier deliveries are of one round, in order. Ratings of another round may leave out the
    items without a new rating: these count as they were. Vectors are not compared.
    """
    labels, delivered_labels = (
        _read_labels(ratings),
        _labels_as_first_delivered(ratings, earlier_deliveries),
    )
    if leaves_out_unchanged:
        unchanged = delivered_labels[~delivered_labels["item"].isin(labels["item"])]
        labels = pd.concat([labels, unchanged])
    shared_labels = labels.merge(delivered_labels, on=KEYS, suffixes=("", "_then")).sort_values(
        "item", kind="stable"
    )
    if shared_labels.empty:
        return None
    item, rater = (shared_labels[name].factorize()[0] for name in KEYS)
    first_label = shared_labels["label_then"].to_numpy()
    last_label = shared_labels["label"].to_numpy()
    if not ratings.scale.numeric:
        first_label, last_label = np.split(
            pd.factorize(np.concatenate([first_label, last_label]))[0], 2
        )
    return _compare_changes(
        item, rater, first_label, last_label, first_label != last_label, ratings.scale.numeric
    )


@dataclass(frozen=True)
class DroppedLabels:
    """The labels of an earlier delivery of a round that are gone from it.

    `gone` labels of `n` are gone, on `items` items. Of these, `on_disputed` were disputed, and
    `expected` would be if items with the same raters were drawn. `p` is how likely chance alone
    gives so many.
    """

    n: int
    gone: int
    items: int
    on_disputed: int
    expected: float
    p: float

    @property
    def is_aimed(self) -> bool:
        return self.p <= MAX_P_VALUE and _are_more_than_slips(self.gone, self.n)

    @property
    def in_words(self) -> str:
        """What is gone, in words.

        >>> DroppedLabels(600, 60, 20, 18, 4.2, 0.0001).in_words
        '60 of 600 labels are gone; 18 of their 20 items were disputed instead of about 4'
        """
        about = f"instead of about {in_words(self.expected, '.0f')}"
        return (
            f"{self.gone} of {self.n} labels are gone; {self.on_disputed} of their {self.items} "
            f"items were disputed {about}"
        )


def find_dropped_since(
    ratings: Ratings, earlier_deliveries: Iterable[Ratings]
) -> DroppedLabels | None:
    delivered_labels = _labels_as_first_delivered(ratings, earlier_deliveries).sort_values(
        "item", kind="stable"
    )
    if delivered_labels.empty:
        return None
    item, rater = (delivered_labels[name].factorize()[0] for name in KEYS)
    label = delivered_labels["label"].to_numpy()
    label = label if ratings.scale.numeric else pd.factorize(label)[0]
    merged_labels = delivered_labels.merge(
        _read_labels(ratings, gold=True)[KEYS], on=KEYS, how="left", indicator=True
    )
    is_gone = (merged_labels["_merge"] == "left_only").to_numpy()
    distance, is_compared = _distance_to_others(item, label, label, ratings.scale.numeric)
    is_gone = is_gone & is_compared
    disputed = _is_disputed(distance, is_compared, ratings.scale.numeric) & is_compared
    comparison = _compare_items_with_chance(item, rater, is_gone, disputed)
    n = int(is_compared.sum()), int(is_gone.sum()), comparison.chosen, comparison.disputed
    return DroppedLabels(*n, comparison.expected, comparison.more)


class SampleComparison(NamedTuple):
    """The labels of raters beside those that they give to a sample of the items later.

    `n_expected` is how many of their `n_labels` two raters of the sample would give otherwise.
    `excess` says by how many standard errors raters differ more from themselves than from each
    other; it is 0 if too few items tell.
    """

    n_labels: int
    n_changed: int
    n_expected: float
    excess: float

    @property
    def are_copied(self) -> bool:
        """Raters who look again change their mind now and then."""
        has_enough_changes = self.n_expected >= MIN_EXPECTED_CHANGES
        return has_enough_changes and self.n_changed < MIN_SHARE_OF_CHANGES * self.n_expected

    @property
    def are_those_of_before(self) -> bool:
        """Slips explain so few changes, so the labels do not show that anybody looked again."""
        return self.n_labels > 0 and self.n_changed <= MAX_SLIP_SHARE * self.n_labels

    @property
    def are_of_others(self) -> bool:
        """Raters agree with themselves at least as often as with others, whatever they think."""
        return self.excess > MAX_EXCESS


def compare_with_sample(ratings: Ratings, sample: Ratings) -> SampleComparison:
    labels = _read_labels(sample)
    own_pairs = _read_labels(ratings).merge(labels, on=KEYS, suffixes=("_then", ""))
    pairs = labels.merge(labels, on="item", suffixes=("_then", ""))
    pairs = pairs[pairs["rater_then"] < pairs["rater"]]
    share = 0.0 if pairs.empty else float((pairs["label_then"] != pairs["label"]).mean())
    n_changed = int((own_pairs["label_then"] != own_pairs["label"]).sum())
    distances = [
        _label_distances(pairs_of_labels, numeric=ratings.scale.numeric)
        .groupby(pairs_of_labels["item"])
        .mean()
        for pairs_of_labels in (own_pairs, pairs)
    ]
    difference = (distances[0] - distances[1]).dropna()
    excess = 0.0
    if len(difference) >= MIN_ITEMS_COMPARED and difference.mean() > 0:
        standard_error = float(difference.std(ddof=1)) / np.sqrt(len(difference))
        excess = float(difference.mean()) / standard_error if standard_error else np.inf
    return SampleComparison(len(own_pairs), n_changed, len(own_pairs) * share, excess)


def _label_distances(pairs: pd.DataFrame, *, numeric: bool) -> "pd.Series[float]":
    if numeric:
        return (pairs["label_then"].astype(float) - pairs["label"].astype(float)).abs()
    return (pairs["label_then"] != pairs["label"]).astype(float)


def count_labels_not_kept(ratings: Ratings, earlier_ratings: Ratings) -> tuple[int, int]:
    """How many earlier labels are others now, or gone, and how many there were."""
    earlier_labels = _read_labels(earlier_ratings)
    joint = earlier_labels.merge(_read_labels(ratings), on=KEYS, how="left", suffixes=("_then", ""))
    return int((joint["label_then"] != joint["label"]).sum()), len(earlier_labels)


def are_nearly_the_same(ratings: Ratings, earlier_ratings: Ratings) -> bool:
    """Whether slips explain how many of the earlier labels are others now, or gone."""
    n_changed, n_labels = count_labels_not_kept(ratings, earlier_ratings)
    return n_changed <= MAX_SLIP_SHARE * n_labels


def count_labels_before(ratings: Ratings, moment: datetime) -> int:
    """How many labels are surely dated before a moment, whatever zone their times are in."""
    if "timestamp" not in ratings.has:
        return 0
    times = _read_seconds(ratings.first_ratings(["timestamp"], raters=ratings.raters)["timestamp"])
    return int((times < (moment - MAX_ZONE).timestamp()).sum())


def are_dated_anew(ratings: Ratings, earlier_ratings: Ratings, moment: datetime) -> bool:
    """Whether each label has a time after a moment, in some zone, and another one than before."""
    if "timestamp" not in ratings.has or count_labels_before(ratings, moment):
        return False
    seconds = _seconds_by_label(ratings)
    if seconds.isna().any():
        return False
    if "timestamp" not in earlier_ratings.has:
        return True
    return not _seconds_by_label(earlier_ratings).eq(seconds).reindex(seconds.index).any()


def _seconds_by_label(ratings: Ratings) -> "pd.Series[float]":
    table = ratings.first_ratings([*KEYS, "timestamp"], raters=ratings.raters)
    index = pd.MultiIndex.from_frame(arrow_to_pandas(table.select(KEYS)))
    return pd.Series(_read_seconds(table["timestamp"]), index)


def _labels_as_first_delivered(
    ratings: Ratings, earlier_deliveries: Iterable[Ratings]
) -> pd.DataFrame:
    scale, no_labels = ratings.scale, pd.DataFrame(columns=[*KEYS, "label"])
    if scale.dimensions > 1:
        return no_labels
    tables = [
        _read_labels_on_scale(scale, delivery)
        for delivery in earlier_deliveries
        if delivery.scale.dimensions == 1
    ]
    return pd.concat(tables).drop_duplicates(KEYS) if tables else no_labels


def _read_labels_on_scale(scale: Scale, ratings: Ratings) -> pd.DataFrame:
    labels = _read_labels(ratings)
    if scale.numeric and not ratings.scale.numeric:
        labels["label"] = pd.to_numeric(labels["label"], errors="coerce")
        return labels.dropna(subset="label")
    if ratings.scale.numeric and not scale.numeric:
        labels["label"] = labels["label"].map(category_text)
    return labels


def _read_labels(ratings: Ratings, *, gold: bool = False) -> pd.DataFrame:
    table = ratings.first_ratings(["item", "rater", "label"], raters=ratings.raters, gold=gold)
    labels: pd.DataFrame = arrow_to_pandas(table)
    return labels


def _are_more_than_slips(n_changed: int, n: int) -> bool:
    from scipy.stats import binom

    return (
        n_changed >= MIN_CHANGES
        and float(binom.sf(n_changed - 1, n, MAX_SLIP_SHARE)) <= MAX_P_VALUE
    )


def _read_seconds(times: Any) -> Codes:
    return np.asarray(times_as_seconds(arrow_to_pandas(times)))


def _first_seconds_of_others(item: Codes, label_seconds: Codes) -> Codes:
    """By label, when another rater first labelled its item."""
    times = pd.Series(label_seconds).fillna(-np.inf).sort_values(kind="stable")
    of_item = times.groupby(item[times.index])
    next_seconds = of_item.shift(-1, fill_value=np.inf)
    earliest_seconds = of_item.transform("min").where(of_item.cumcount() > 0, next_seconds)
    return earliest_seconds.sort_index().replace(-np.inf, np.nan).to_numpy()


def _compare_changes(
    item: Codes,
    rater: Codes,
    first_label: Codes,
    last_label: Codes | None,
    is_changed: Codes,
    numeric: bool,
) -> LabelChanges:
    distance, is_compared = _distance_to_others(item, first_label, first_label, numeric)
    disputed, is_late = _is_disputed(distance, is_compared, numeric), is_changed & is_compared
    n, n_late = int(is_compared.sum()), int(is_late.sum())
    if last_label is None:
        comparison = _compare_items_with_chance(item, rater, is_late, disputed & is_compared)
        if not numeric and comparison.disputed > comparison.expected:
            # A tool may have written a whole category again, and nobody chose those labels.
            is_late &= (np.bincount(first_label, ~is_changed) > 0)[first_label]
            comparison = _compare_items_with_chance(item, rater, is_late, disputed & is_compared)
        n_late = int(is_late.sum())
        return LabelChanges(
            n,
            n_late,
            comparison.chosen,
            comparison.disputed,
            comparison.expected,
            comparison.p_two_sided,
        )
    stratum = rater if numeric else rater * (int(first_label.max(initial=0)) + 1) + first_label
    comparison = _compare_with_chance(
        stratum[is_compared], is_late[is_compared], disputed[is_compared]
    )
    distance_to_last, _ = _distance_to_others(item, first_label, last_label, numeric)
    towards = int((is_late & (distance_to_last < distance)).sum())
    away = int((is_late & (distance_to_last > distance)).sum())
    return LabelChanges(
        n, n_late, n_late, comparison.disputed, comparison.expected, comparison.more, towards, away
    )


def _is_disputed(distance: Codes, is_compared: Codes, numeric: bool) -> Codes:
    """By label, whether others differ from it. For numbers, by more than the median distance."""
    return distance > (np.median(distance[is_compared]) if numeric and is_compared.any() else 0.0)


def _panel_hashes(item: Codes, rater: Codes) -> Codes:
    """By item, a number that items with the same raters share. Items come in order."""
    words = np.random.default_rng(0).integers(1 << 62, size=int(rater.max(initial=0)) + 1)
    begins = np.flatnonzero(np.diff(item, prepend=-1))
    return np.asarray(np.bitwise_xor.reduceat(words[rater], begins))


def _distance_to_others(
    item: Codes, first_label: Codes, label: Codes, numeric: bool
) -> tuple[Codes, Codes]:
    """Of categories it is the share of others who gave another one, and of numbers the distance to
    their mean.
    """
    n_others = np.bincount(item)[item] - 1
    n = np.maximum(n_others, 1)
    if numeric:
        mean_of_others = (np.bincount(item, first_label)[item] - first_label) / n
        return np.abs(label - mean_of_others), n_others > 0
    width = int(max(first_label.max(initial=0), label.max(initial=0))) + 1
    distinct_keys, n_by_key = np.unique(
        item * width + first_label.astype(np.int64), return_counts=True
    )
    label_keys = item * width + label.astype(np.int64)
    places = np.minimum(np.searchsorted(distinct_keys, label_keys), len(distinct_keys) - 1)
    n_same = np.where(distinct_keys[places] == label_keys, n_by_key[places], 0) - (
        label == first_label
    )
    return 1 - n_same / n, n_others > 0


class _ChanceComparison(NamedTuple):
    """How many of the `chosen` are `disputed`, how many are by chance, and the p of so many.

    `fewer` is the p of so few.
    """

    chosen: int
    disputed: int
    expected: float
    more: float
    fewer: float

    @property
    def p_two_sided(self) -> float:
        return min(1.0, 2 * min(self.more, self.fewer))


def _compare_with_chance(stratum: Codes, is_chosen: Codes, is_disputed: Codes) -> _ChanceComparison:
    """Where any choice of as many in a stratum is as likely, their number is hypergeometric."""
    from scipy.stats import hypergeom, norm

    counts = int(is_chosen.sum()), int((is_chosen & is_disputed).sum())
    places = np.unique(stratum, return_inverse=True)[1]
    n, k, d = (
        np.bincount(places, mask).astype(np.int64) for mask in (None, is_chosen, is_disputed)
    )
    tells = (k > 0) & (k < n) & (d > 0) & (d < n)
    fixed = int((k * d // n)[~tells].sum())
    n, k, d = n[tells], k[tells], d[tells]
    mean, n_disputed = float((k * d / n).sum()), counts[1] - fixed
    if k.sum() > MAX_CHANGES_EXACT:
        spread = float(np.sqrt((k * d / n * (1 - d / n) * (n - k) / (n - 1)).sum()))
        p_more = norm.sf(n_disputed - 0.5, mean, spread)
        p_fewer = norm.cdf(n_disputed + 0.5, mean, spread)
    else:
        exact = np.ones(1)
        for each_n, each_k, each_d in zip(n, k, d, strict=True):
            exact = np.convolve(exact, hypergeom.pmf(np.arange(each_k + 1), each_n, each_d, each_k))
        p_more, p_fewer = exact[max(n_disputed, 0) :].sum(), exact[: n_disputed + 1].sum()
    return _ChanceComparison(
        *counts, fixed + mean, min(1.0, float(p_more)), min(1.0, float(p_fewer))
    )


def _compare_items_with_chance(
    item: Codes, rater: Codes, is_chosen: Codes, is_disputed: Codes
) -> _ChanceComparison:
    """Items are compared with others of the same raters: all of one may have been asked."""
    of_items = (np.bincount(item, mask) > 0 for mask in (is_chosen, is_disputed))
    return _compare_with_chance(_panel_hashes(item, rater), *of_items)


@register_fact
def labels_changed_late(panel: Panel) -> Fact:
    changes = find_late_changes(panel.ratings)
    if changes is None or not changes.n:
        return Fact(None, NO_CHANGES_MESSAGE)
    return Fact(changes.changed / changes.n, changes.in_words)


@register_fact
def changes_on_disputed_items(panel: Panel) -> Fact:
    """It is 0 if chance alone gives such a share in one of a thousand rounds, or if slips explain
    so many changes.
    """
    changes = find_late_changes(panel.ratings)
    if changes is None or not changes.changed:
        return Fact(None, NO_CHANGES_MESSAGE)
    excess = abs(changes.on_disputed - changes.expected) / changes.chosen
    return Fact(excess if changes.is_aimed else 0.0, changes.in_words)


@register_fact
def dispute_before_further_raters(panel: Panel) -> Fact:
    """Times tell which were the first two raters.

    It is 0 if chance alone gives such a difference in one of a thousand rounds: then more raters
    are there by design, and not to settle what was disputed.
    """
    ratings, n_raters = panel.ratings, np.where(panel.is_gold_by_item, 0, panel.n_raters_by_item)
    has_further_raters = n_raters > 2
    is_told = "timestamp" in ratings.has and ratings.scale.dimensions == 1
    if not is_told or not has_further_raters.any() or not (n_raters == 2).any():
        return Fact(None, "not some items have two raters and others more, so nothing was checked")
    label = "number" if ratings.scale.numeric else "code"
    table = ratings.first_ratings(["at", label, "timestamp"], raters=ratings.raters)
    item, labels, times = (
        as_whole_numbers_or_missing(table["at"]),
        as_number_array(table[label]),
        _read_seconds(table["timestamp"]),
    )
    if np.isnan(times).any():
        return Fact(None, "not all labels have a time, so nothing was checked")
    order = np.lexsort((times, item))
    item, labels = item[order], labels[order]
    begins = np.flatnonzero(np.append(True, np.diff(item) != 0))
    sizes = np.diff(np.append(begins, len(item)))
    begins, sizes = begins[sizes > 1], sizes[sizes > 1]
    differ, further = labels[begins] != labels[begins + 1], sizes > 2
    p = _compare_with_chance(np.zeros(len(begins), dtype=int), further, differ).more
    on_more, on_two = float(differ[further].mean()), float(differ[~further].mean())
    words = (
        f"the first two raters differ on {on_more:.1%} of {int(further.sum())} items with further "
        f"raters, and on {on_two:.1%} of {int((~further).sum())} without"
    )
    return Fact(on_more - on_two if p <= MAX_P_VALUE else 0.0, words)


@register_fact
def dispute_where_ratings_lack(panel: Panel) -> Fact:
    """Raters may have skipped what is hard, and then agreement looks better than it is.

    If most items have one number of ratings, items that lack one may be disputed less too: then the
    ratings that differ may be gone. Of each item, or cluster, two ratings are drawn. They are
    compared with those of the same two raters on other items, so how good raters are does not
    matter. Nor may the stratum, the time or the order of the items explain it. It is 0 if chance
    alone gives such a difference in one of a thousand rounds.
    """
    item, rater, label = panel.compared_ratings
    begins = np.flatnonzero(np.diff(item, prepend=-1))
    sizes = np.diff(np.append(begins, len(item)))
    lacks = sizes < np.median(sizes) if len(sizes) else np.empty(0, dtype=bool)
    if not lacks.any():
        return Fact(None, "no items have fewer ratings than most, so nothing was checked")
    rng = np.random.default_rng(int(panel.ratings.digest[:16], 16))
    first_place, second_place = _draw_two_of_each_item(rng, begins, sizes)
    differs = label[first_place] != label[second_place]
    if panel.ratings.scale.numeric and panel.ratings.scale.dimensions == 1:
        distance = np.abs(label[first_place] - label[second_place])
        differs = distance > np.median(distance)
    drawn_items = _draw_one_of_each_cluster(panel, item[begins], rng)
    pair = (rater[first_place].astype(np.int64) * len(panel.raters) + rater[second_place])[
        drawn_items
    ]
    lacks, differs = lacks[drawn_items], differs[drawn_items]
    is_number_usual = bool((sizes == np.median(sizes)).mean() >= MIN_USUAL_SHARE)
    strata = [
        pair,
        *(stratum[drawn_items] for stratum in _iterate_planned_strata(panel, item[begins])),
    ]
    tests = [_compare_with_chance(stratum, lacks, differs) for stratum in strata]
    p, expected = max(
        (comparison.p_two_sided if is_number_usual else comparison.more, comparison.expected)
        for comparison in tests
    )
    n, count = tests[0].chosen, tests[0].disputed
    words = (
        f"two raters differ on {count} of {n} items that lack ratings, instead of "
        f"about {in_words(expected, '.0f')} as on other items"
    )
    return Fact(abs(count - expected) / max(n, 1) if p <= MAX_P_VALUE else 0.0, words)


def _iterate_planned_strata(panel: Panel, items: Codes) -> Iterator[Codes]:
    """The part of the items in order of names and of times, and each stratum, since a language may
    be hard and have fewer raters.
    """
    parts = np.arange(len(items)) * N_PARTS // len(items)
    yield parts
    if "timestamp" in panel.ratings.has:
        table = panel.ratings.first_ratings(["at", "timestamp"], raters=panel.ratings.raters)
        times = np.full(len(panel.items), np.inf)
        np.fmin.at(
            times, as_whole_numbers_or_missing(table["at"]), _read_seconds(table["timestamp"])
        )
        of_items = np.empty(len(items), dtype=np.int64)
        of_items[np.argsort(times[items], kind="stable")] = parts
        yield of_items
    stratum_by_item = np.zeros(len(panel.items), dtype=np.int64)
    for column in panel.ratings.strata:
        values = panel.contents_of_rated_items(f"{STRATUM}{column}")
        if values is not None:
            stratum_by_item[panel.places_of_rated_items] = pd.factorize(values)[0]
            yield stratum_by_item[items]


def _draw_two_of_each_item(
    rng: np.random.Generator, begins: Codes, sizes: Codes
) -> tuple[Codes, Codes]:
    first_offset = np.floor(rng.random(len(sizes)) * sizes).astype(np.int64)
    step = 1 + np.floor(rng.random(len(sizes)) * (sizes - 1)).astype(np.int64)
    second_offset = (first_offset + step) % sizes
    smaller, larger = np.sort([first_offset, second_offset], axis=0)
    return begins + smaller, begins + larger


def _draw_one_of_each_cluster(panel: Panel, items: Codes, rng: np.random.Generator) -> Codes:
    """It is drawn. All items stand if there are no clusters."""
    clusters = panel.contents_of_rated_items("cluster")
    order = rng.permutation(len(items))
    if clusters is None:
        return order
    of_items = np.zeros(len(panel.items), dtype=np.int64)
    of_items[panel.places_of_rated_items] = pd.factorize(clusters)[0]
    return np.asarray(order[np.unique(of_items[items][order], return_index=True)[1]])
