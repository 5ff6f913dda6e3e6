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

from agreement_pipeline.integrity.facts import BY_CHANCE, USUAL, Fact, fact
from agreement_pipeline.integrity.panel import Codes, Panel
from agreement_pipeline.ratings import (
    STRATUM,
    Ratings,
    Scale,
    arrow_column,
    category_text,
    in_pandas,
    numbers_in,
    seconds,
    whole,
)
from agreement_pipeline.text import in_words

SLIPS, FEWEST_CHANGES = 0.02, 10
"""So large a share of all labels may be corrected slips, and so few changes tell nothing."""
MOST_EXACT = 10_000
"""Beyond so many changes, a normal distribution gives the p."""
PARTS = 10
"""Into so many parts items are told apart by order, since those of one time may be harder."""
MIN_EXPECTED_CHANGES, MIN_SHARE_OF_CHANGES = 10, 0.1
"""Where two raters differ on so many labels, a rater who looks again changes so large a share of as
many of her own."""
MIN_ITEMS_COMPARED, MAX_EXCESS = 10, 3.3
"""A normal distribution is beyond so many standard errors with a probability of .0005."""
MAX_ZONE = timedelta(hours=14)
"""No clock on earth is further from UTC."""
KEYS = ["item", "rater"]
NOTHING = "no label is known to have been changed, so nothing was checked"


@dataclass(frozen=True)
class Changes:
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
    def aimed(self) -> bool:
        if self.p > BY_CHANCE or not _beyond_slips(self.changed, self.n):
            return False
        return self.towards is None or self.towards > (self.away or 0)

    @property
    def words(self) -> str:
        """What changed, in words.

        >>> Changes(600, 40, 40, 38, 12.3, 0.0001, 30, 2).words.partition("; ")[2]
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


class _Given(NamedTuple):
    item: Codes
    rater: Codes
    first: Codes
    last: Codes | None
    changed: Codes
    names: pa.Array


def changes_of(ratings: Ratings) -> Changes | None:
    found = _given(ratings)
    return None if found is None else _changes(*found[:-1], ratings.scale.numeric)


def if_they_had_differed(ratings: Ratings) -> tuple[int, Ratings] | None:
    """The ratings in which labels that were changed late are others, and how many these are.

    These are labels beside others that stayed. A label counts neither if all of its item were
    changed, nor if all that its rater gave to its category were. None if the first labels are
    known, if slips explain so many changes, or if labels are numbers.
    """
    found = _given(ratings)
    if found is None or found.last is not None or ratings.scale.numeric:
        return None
    item, rater, first, _, changed, names = found
    habit = rater * (int(first.max()) + 1) + first
    late = changed & np.isin(item, item[~changed]) & np.isin(habit, habit[~changed])
    if not _beyond_slips(int(late.sum()), int((np.bincount(item)[item] > 1).sum())):
        return None
    common = np.argsort(-np.bincount(first, minlength=2), kind="stable")[:2]
    other = np.where(first == common[0], common[1], common[0])
    places = np.flatnonzero(late)
    raters = [ratings.everyone[at] for at in rater[places]]
    return len(places), ratings.relabelled(names.take(arrow_column(places)), raters, other[places])


def _given(ratings: Ratings) -> _Given | None:
    names = [name for name in ("last_label", "changed_at") if name in ratings.has]
    if not names or ratings.scale.dimensions > 1 or not sum(ratings.n_edited_labels):
        return None
    label = "number" if ratings.scale.numeric else "code"
    times = [*({"timestamp"} & ratings.has)]
    columns = ["item", "at", "place", label, *names, *times]
    found = ratings.first(columns, raters=ratings.raters)
    if not len(found):
        return None
    item, first = whole(found["at"]), numbers_in(found[label])
    last, changed = first.copy(), np.zeros(len(item), dtype=bool)
    is_known = not ratings.n_edited_labels[1]
    if "last_label" in names:
        changed = ~found["last_label"].is_null().to_numpy()
        said = found["last_label"].filter(pa.array(changed)).to_pylist()
        last[changed] = [
            ratings.scale.index(each) if label == "code" else float(each) for each in said
        ]
    if "changed_at" in names:
        changed |= ~found["changed_at"].is_null().to_numpy()
        if times:
            given, at = (_seconds(found[name]) for name in ("timestamp", "changed_at"))
            # A change before the label was given is at an unknown time.
            changed &= ~((given <= at) & (at < _others_first(item, given)))
    known = last if is_known else None
    items = found["item"].combine_chunks()
    return _Given(item, whole(found["place"]), first, known, changed, items)


def changes_since(ratings: Ratings, before: Iterable[Ratings]) -> Changes | None:
    """What the same raters said otherwise of the same items when these were first delivered.

    `before` are earlier deliveries of the round, in order. Vectors are not compared.
    """
    now, then = _labels(ratings), _first_delivered(ratings, before)
    both = now.merge(then, on=KEYS, suffixes=("", "_then")).sort_values("item", kind="stable")
    if both.empty:
        return None
    item, rater = (both[name].factorize()[0] for name in KEYS)
    first, last = both["label_then"].to_numpy(), both["label"].to_numpy()
    if not ratings.scale.numeric:
        first, last = np.split(pd.factorize(np.concatenate([first, last]))[0], 2)
    return _changes(item, rater, first, last, first != last, ratings.scale.numeric)


@dataclass(frozen=True)
class Dropped:
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
    def aimed(self) -> bool:
        return self.p <= BY_CHANCE and _beyond_slips(self.gone, self.n)

    @property
    def words(self) -> str:
        """What is gone, in words.

        >>> Dropped(600, 60, 20, 18, 4.2, 0.0001).words
        '60 of 600 labels are gone; 18 of their 20 items were disputed instead of about 4'
        """
        about = f"instead of about {in_words(self.expected, '.0f')}"
        return (
            f"{self.gone} of {self.n} labels are gone; {self.on_disputed} of their {self.items} "
            f"items were disputed {about}"
        )


def dropped_since(ratings: Ratings, before: Iterable[Ratings]) -> Dropped | None:
    then = _first_delivered(ratings, before).sort_values("item", kind="stable")
    if then.empty:
        return None
    item, rater = (then[name].factorize()[0] for name in KEYS)
    label = then["label"].to_numpy()
    label = label if ratings.scale.numeric else pd.factorize(label)[0]
    kept = then.merge(_labels(ratings, gold=True)[KEYS], on=KEYS, how="left", indicator=True)
    gone = (kept["_merge"] == "left_only").to_numpy()
    apart, met = _apart(item, label, label, ratings.scale.numeric)
    gone, disputed = gone & met, _far(apart, met, ratings.scale.numeric) & met
    found = _items_by_chance(item, rater, gone, disputed)
    n = int(met.sum()), int(gone.sum()), found.chosen, found.disputed
    return Dropped(*n, found.expected, found.more)


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
        told = self.n_expected >= MIN_EXPECTED_CHANGES
        return told and self.n_changed < MIN_SHARE_OF_CHANGES * self.n_expected

    @property
    def are_of_others(self) -> bool:
        """Raters agree with themselves at least as often as with others, whatever they think."""
        return self.excess > MAX_EXCESS


def compare_with_sample(ratings: Ratings, sample: Ratings) -> SampleComparison:
    labels = _labels(sample)
    own = _labels(ratings).merge(labels, on=KEYS, suffixes=("_then", ""))
    pairs = labels.merge(labels, on="item", suffixes=("_then", ""))
    pairs = pairs[pairs["rater_then"] < pairs["rater"]]
    share = 0.0 if pairs.empty else float((pairs["label_then"] != pairs["label"]).mean())
    n_changed = int((own["label_then"] != own["label"]).sum())
    distances = [
        _distance(pairs_of_labels, numeric=ratings.scale.numeric)
        .groupby(pairs_of_labels["item"])
        .mean()
        for pairs_of_labels in (own, pairs)
    ]
    difference = (distances[0] - distances[1]).dropna()
    excess = 0.0
    if len(difference) >= MIN_ITEMS_COMPARED and difference.mean() > 0:
        standard_error = float(difference.std(ddof=1)) / np.sqrt(len(difference))
        excess = float(difference.mean()) / standard_error if standard_error else np.inf
    return SampleComparison(len(own), n_changed, len(own) * share, excess)


def _distance(pairs: pd.DataFrame, *, numeric: bool) -> "pd.Series[float]":
    if numeric:
        return (pairs["label_then"].astype(float) - pairs["label"].astype(float)).abs()
    return (pairs["label_then"] != pairs["label"]).astype(float)


def count_labels_not_kept(ratings: Ratings, before: Ratings) -> tuple[int, int]:
    """How many labels of before are others now, or gone, and how many there were."""
    then = _labels(before)
    joint = then.merge(_labels(ratings), on=KEYS, how="left", suffixes=("_then", ""))
    return int((joint["label_then"] != joint["label"]).sum()), len(then)


def count_labels_before(ratings: Ratings, moment: datetime) -> int:
    """How many labels are surely dated before a moment, whatever zone their times are in."""
    if "timestamp" not in ratings.has:
        return 0
    times = _seconds(ratings.first(["timestamp"], raters=ratings.raters)["timestamp"])
    return int((times < (moment - MAX_ZONE).timestamp()).sum())


def _first_delivered(ratings: Ratings, before: Iterable[Ratings]) -> pd.DataFrame:
    scale, then = ratings.scale, pd.DataFrame(columns=[*KEYS, "label"])
    if scale.dimensions > 1:
        return then
    some = [_read_as(scale, each) for each in before if each.scale.dimensions == 1]
    return pd.concat(some).drop_duplicates(KEYS) if some else then


def _read_as(scale: Scale, ratings: Ratings) -> pd.DataFrame:
    found = _labels(ratings)
    if scale.numeric and not ratings.scale.numeric:
        found["label"] = pd.to_numeric(found["label"], errors="coerce")
        return found.dropna(subset="label")
    if ratings.scale.numeric and not scale.numeric:
        found["label"] = found["label"].map(category_text)
    return found


def _labels(ratings: Ratings, *, gold: bool = False) -> pd.DataFrame:
    found = ratings.first(["item", "rater", "label"], raters=ratings.raters, gold=gold)
    labels: pd.DataFrame = in_pandas(found)
    return labels


def _beyond_slips(changed: int, n: int) -> bool:
    from scipy.stats import binom

    return changed >= FEWEST_CHANGES and float(binom.sf(changed - 1, n, SLIPS)) <= BY_CHANCE


def _seconds(times: Any) -> Codes:
    return np.asarray(seconds(in_pandas(times)))


def _others_first(item: Codes, given: Codes) -> Codes:
    times = pd.Series(given).fillna(-np.inf).sort_values(kind="stable")
    of_item = times.groupby(item[times.index])
    next_one = of_item.shift(-1, fill_value=np.inf)
    found = of_item.transform("min").where(of_item.cumcount() > 0, next_one)
    return found.sort_index().replace(-np.inf, np.nan).to_numpy()


def _changes(
    item: Codes, rater: Codes, first: Codes, last: Codes | None, changed: Codes, numeric: bool
) -> Changes:
    apart, met = _apart(item, first, first, numeric)
    disputed, late = _far(apart, met, numeric), changed & met
    n, n_late = int(met.sum()), int(late.sum())
    if last is None:
        found = _items_by_chance(item, rater, late, disputed & met)
        if not numeric and found.disputed > found.expected:
            # A tool may have written a whole category again, and nobody chose those labels.
            late &= (np.bincount(first, ~changed) > 0)[first]
            found = _items_by_chance(item, rater, late, disputed & met)
        n_late = int(late.sum())
        return Changes(n, n_late, found.chosen, found.disputed, found.expected, found.either)
    stratum = rater if numeric else rater * (int(first.max(initial=0)) + 1) + first
    found = _by_chance(stratum[met], late[met], disputed[met])
    after, _ = _apart(item, first, last, numeric)
    towards, away = int((late & (after < apart)).sum()), int((late & (after > apart)).sum())
    return Changes(n, n_late, n_late, found.disputed, found.expected, found.more, towards, away)


def _far(apart: Codes, met: Codes, numeric: bool) -> Codes:
    return apart > (np.median(apart[met]) if numeric and met.any() else 0.0)


def _panels(item: Codes, rater: Codes) -> Codes:
    words = np.random.default_rng(0).integers(1 << 62, size=int(rater.max(initial=0)) + 1)
    begins = np.flatnonzero(np.diff(item, prepend=-1))
    return np.asarray(np.bitwise_xor.reduceat(words[rater], begins))


def _apart(item: Codes, first: Codes, said: Codes, numeric: bool) -> tuple[Codes, Codes]:
    """Of categories it is the share of others who gave another one, and of numbers the distance to
    their mean.
    """
    others = np.bincount(item)[item] - 1
    n = np.maximum(others, 1)
    if numeric:
        return np.abs(said - (np.bincount(item, first)[item] - first) / n), others > 0
    width = int(max(first.max(initial=0), said.max(initial=0))) + 1
    given, times = np.unique(item * width + first.astype(np.int64), return_counts=True)
    asked = item * width + said.astype(np.int64)
    at = np.minimum(np.searchsorted(given, asked), len(given) - 1)
    same = np.where(given[at] == asked, times[at], 0) - (said == first)
    return 1 - same / n, others > 0


class _ByChance(NamedTuple):
    """How many of the `chosen` are `disputed`, how many are by chance, and the p of so many.

    `fewer` is the p of so few.
    """

    chosen: int
    disputed: int
    expected: float
    more: float
    fewer: float

    @property
    def either(self) -> float:
        return min(1.0, 2 * min(self.more, self.fewer))


def _by_chance(stratum: Codes, chosen: Codes, disputed: Codes) -> _ByChance:
    """Where any choice of as many in a stratum is as likely, their number is hypergeometric."""
    from scipy.stats import hypergeom, norm

    counts = int(chosen.sum()), int((chosen & disputed).sum())
    places = np.unique(stratum, return_inverse=True)[1]
    n, k, d = (np.bincount(places, which).astype(np.int64) for which in (None, chosen, disputed))
    tells = (k > 0) & (k < n) & (d > 0) & (d < n)
    fixed = int((k * d // n)[~tells].sum())
    n, k, d = n[tells], k[tells], d[tells]
    mean, found = float((k * d / n).sum()), counts[1] - fixed
    if k.sum() > MOST_EXACT:
        spread = float(np.sqrt((k * d / n * (1 - d / n) * (n - k) / (n - 1)).sum()))
        more, fewer = norm.sf(found - 0.5, mean, spread), norm.cdf(found + 0.5, mean, spread)
    else:
        exact = np.ones(1)
        for each_n, each_k, each_d in zip(n, k, d, strict=True):
            exact = np.convolve(exact, hypergeom.pmf(np.arange(each_k + 1), each_n, each_d, each_k))
        more, fewer = exact[max(found, 0) :].sum(), exact[: found + 1].sum()
    return _ByChance(*counts, fixed + mean, min(1.0, float(more)), min(1.0, float(fewer)))


def _items_by_chance(item: Codes, rater: Codes, chosen: Codes, disputed: Codes) -> _ByChance:
    """Items are compared with others of the same raters: all of one may have been asked."""
    of_items = (np.bincount(item, which) > 0 for which in (chosen, disputed))
    return _by_chance(_panels(item, rater), *of_items)


@fact
def labels_changed_late(panel: Panel) -> Fact:
    found = changes_of(panel.ratings)
    if found is None or not found.n:
        return Fact(None, NOTHING)
    return Fact(found.changed / found.n, found.words)


@fact
def changes_on_disputed_items(panel: Panel) -> Fact:
    """It is 0 if chance alone gives such a share in one of a thousand rounds, or if slips explain
    so many changes.
    """
    found = changes_of(panel.ratings)
    if found is None or not found.changed:
        return Fact(None, NOTHING)
    beyond = abs(found.on_disputed - found.expected) / found.chosen
    return Fact(beyond if found.aimed else 0.0, found.words)


@fact
def dispute_before_further_raters(panel: Panel) -> Fact:
    """Times tell which were the first two raters.

    It is 0 if chance alone gives such a difference in one of a thousand rounds: then more raters
    are there by design, and not to settle what was disputed.
    """
    ratings, each = panel.ratings, np.where(panel.gold, 0, panel.n_raters)
    more = each > 2
    is_told = "timestamp" in ratings.has and ratings.scale.dimensions == 1
    if not is_told or not more.any() or not (each == 2).any():
        return Fact(None, "not some items have two raters and others more, so nothing was checked")
    label = "number" if ratings.scale.numeric else "code"
    found = ratings.first(["at", label, "timestamp"], raters=ratings.raters)
    item, said, times = whole(found["at"]), numbers_in(found[label]), _seconds(found["timestamp"])
    if np.isnan(times).any():
        return Fact(None, "not all labels have a time, so nothing was checked")
    order = np.lexsort((times, item))
    item, said = item[order], said[order]
    begins = np.flatnonzero(np.append(True, np.diff(item) != 0))
    sizes = np.diff(np.append(begins, len(item)))
    begins, sizes = begins[sizes > 1], sizes[sizes > 1]
    differ, further = said[begins] != said[begins + 1], sizes > 2
    p = _by_chance(np.zeros(len(begins), dtype=int), further, differ).more
    on_more, on_two = float(differ[further].mean()), float(differ[~further].mean())
    words = (
        f"the first two raters differ on {on_more:.1%} of {int(further.sum())} items with further "
        f"raters, and on {on_two:.1%} of {int((~further).sum())} without"
    )
    return Fact(on_more - on_two if p <= BY_CHANCE else 0.0, words)


@fact
def dispute_where_ratings_lack(panel: Panel) -> Fact:
    """Raters may have skipped what is hard, and then agreement looks better than it is.

    If most items have one number of ratings, items that lack one may be disputed less too: then the
    ratings that differ may be gone. Of each item, or cluster, two ratings are drawn. They are
    compared with those of the same two raters on other items, so how good raters are does not
    matter. Nor may the stratum, the time or the order of the items explain it. It is 0 if chance
    alone gives such a difference in one of a thousand rounds.
    """
    item, rater, label = panel.met
    begins = np.flatnonzero(np.diff(item, prepend=-1))
    sizes = np.diff(np.append(begins, len(item)))
    lacks = sizes < np.median(sizes) if len(sizes) else np.empty(0, dtype=bool)
    if not lacks.any():
        return Fact(None, "no items have fewer ratings than most, so nothing was checked")
    rng = np.random.default_rng(int(panel.ratings.digest[:16], 16))
    one, other = _two_of(rng, begins, sizes)
    apart = label[one] != label[other]
    if panel.ratings.scale.numeric and panel.ratings.scale.dimensions == 1:
        distance = np.abs(label[one] - label[other])
        apart = distance > np.median(distance)
    kept = _one_of_each_cluster(panel, item[begins], rng)
    pair = (rater[one].astype(np.int64) * len(panel.raters) + rater[other])[kept]
    lacks, apart = lacks[kept], apart[kept]
    usual = bool((sizes == np.median(sizes)).mean() >= USUAL)
    beside = [pair, *(each[kept] for each in _planned(panel, item[begins]))]
    tests = [_by_chance(stratum, lacks, apart) for stratum in beside]
    p, expected = max((each.either if usual else each.more, each.expected) for each in tests)
    n, count = tests[0].chosen, tests[0].disputed
    words = (
        f"two raters differ on {count} of {n} items that lack ratings, instead of "
        f"about {in_words(expected, '.0f')} as on other items"
    )
    return Fact(abs(count - expected) / max(n, 1) if p <= BY_CHANCE else 0.0, words)


def _planned(panel: Panel, items: Codes) -> Iterator[Codes]:
    """The part of the items in order of names and of times, and each stratum, since a language may
    be hard and have fewer raters.
    """
    parts = np.arange(len(items)) * PARTS // len(items)
    yield parts
    if "timestamp" in panel.ratings.has:
        own = panel.ratings.first(["at", "timestamp"], raters=panel.ratings.raters)
        times = np.full(len(panel.items), np.inf)
        np.fmin.at(times, whole(own["at"]), _seconds(own["timestamp"]))
        of_items = np.empty(len(items), dtype=np.int64)
        of_items[np.argsort(times[items], kind="stable")] = parts
        yield of_items
    known = np.zeros(len(panel.items), dtype=np.int64)
    for column in panel.ratings.strata:
        values = panel.contents(f"{STRATUM}{column}")
        if values is not None:
            known[panel.rated] = pd.factorize(values)[0]
            yield known[items]


def _two_of(rng: np.random.Generator, begins: Codes, sizes: Codes) -> tuple[Codes, Codes]:
    one = np.floor(rng.random(len(sizes)) * sizes).astype(np.int64)
    other = (one + 1 + np.floor(rng.random(len(sizes)) * (sizes - 1)).astype(np.int64)) % sizes
    return begins + np.minimum(one, other), begins + np.maximum(one, other)


def _one_of_each_cluster(panel: Panel, items: Codes, rng: np.random.Generator) -> Codes:
    """It is drawn. All items stand if there are no clusters."""
    clusters = panel.contents("cluster")
    order = rng.permutation(len(items))
    if clusters is None:
        return order
    of_items = np.zeros(len(panel.items), dtype=np.int64)
    of_items[panel.rated] = pd.factorize(clusters)[0]
    return np.asarray(order[np.unique(of_items[items][order], return_index=True)[1]])
