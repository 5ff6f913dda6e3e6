"""Facts about a whole round, each a number and words. Contracts ask for them in the table `round`.

A function under `@fact` adds one, and `checks.py` its bound.
"""

import math
from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np
import pandas as pd
import pyarrow as pa
import pyarrow.compute as pc

from agreement_pipeline.integrity.copied_rows import find_copied_rows
from agreement_pipeline.integrity.panel import Codes, Pairs, Panel, some
from agreement_pipeline.ratings import (
    NO_ANSWER,
    TEXT,
    Ratings,
    counts,
    described,
    in_pandas,
    is_clock,
    like_models,
    lookalikes,
    parts,
    printed_forms,
    seconds,
    take_in_blocks,
)
from agreement_pipeline.text import listed

SHOWN = 3
MOST_TEXTS, AT_ONCE = 50_000, 8_192
LAST = 6
LETTERS = np.arange(256)
SPREAD = np.where(ord(" ") < LETTERS, (LETTERS | 32) ** 2, 0).astype(np.uint32)
MET = 30
NEAR, TENTH = 0.05, 0.1
FEWEST_EXPECTED = 20
BY_CHANCE = 1e-3
SURE = 3.29
JOINED, VOICES = 0.6, 3
AS_OFTEN, LIKELY = 0.5, 1.645
FOLLOWED = 0.9
"""How often a classifier sides with the majority, at most, where raters differ."""
MET_BY, SAID = ["rater", "most"], ["rater", "most", "code"]
USUAL, FEWEST_ITEMS = 0.7, 30
"""The share of items with one number of raters that makes it usual, and of how many items."""
NEARLY_ALL = 0.75
"""The share of raters who rate this share of the items, where most raters rate nearly all."""
MINUTE = 60
READ = 200_000
NUMBERED = "are not numbered 1, 2, … by rater and item"
WORDS_APART = "the words of raters do not meet, so nobody was compared"
NO_TIMES = "replicates have no times that tell minutes, so nothing was checked"


class Fact(NamedTuple):
    value: float | None
    words: str


def share_of(count: int, n: int, words: str) -> Fact:
    return Fact(count / n, f"{count} of {n} {words}")


FACTS: dict[str, Callable[[Panel], Fact]] = {}


def fact(function: Callable[[Panel], Fact]) -> Callable[[Panel], Fact]:
    FACTS[function.__name__] = function
    return function


@fact
def items_with_a_shared_text(panel: Panel) -> Fact:
    """The first item of a text is no copy."""
    texts = panel.contents("text")
    if texts is None:
        return Fact(None, "column text was not delivered, so nothing was checked")
    known = texts.notna().to_numpy()
    return _copies(texts if known.all() else texts[known], "text")


@fact
def items_that_print_alike(panel: Panel) -> Fact:
    """The first of the items is no copy."""
    names = panel.rated_items
    return _copies(pd.Series(names.astype(TEXT), index=names), "identifier")


def _copies(texts: pd.Series, what: str) -> Fact:
    some = (texts if len(texts) <= MOST_TEXTS else _sample(texts)).astype(TEXT)
    alike = printed_forms(some)
    alike = alike[alike != ""]
    again = alike.duplicated()
    n_copies = int(again.sum())
    if not len(alike):
        return Fact(None, f"no item has a {what}, so nothing was checked")
    words = f"items have the {what} of another one"
    if n_copies:
        first = {text: item for item, text in alike[~again].items()}
        copies = alike[again].iloc[:SHOWN].items()
        words += ", such as " + " and ".join(
            f"{item!a} that of {first[text]!a}" for item, text in copies
        )
    return share_of(n_copies, len(alike), words)


def _sample(texts: pd.Series) -> pd.Series:
    """Equal texts fall into one part."""
    n_parts, found = -(-len(texts) // MOST_TEXTS), []
    told = pa.array(texts.astype(TEXT))
    given = told if isinstance(told, pa.ChunkedArray) else pa.chunked_array([told])
    for part in parts(len(texts), AT_ONCE):
        sums = _sums(given.slice(part.start, part.stop - part.start))
        found.append(part.start + np.flatnonzero(sums % n_parts == 0))
    return texts.iloc[np.concatenate(found)]


def _sums(texts: "pa.ChunkedArray") -> np.ndarray[Any, np.dtype[np.uint32]]:
    """Only the last letters count, without capitals and the blanks after them."""
    given = pc.ascii_rtrim_whitespace(texts.cast(pa.large_string())).combine_chunks()
    _, offsets, data = given.buffers()
    stops = np.frombuffer(offsets, dtype=np.int64)[: len(given) + 1]
    letters = np.frombuffer(data, dtype=np.uint8)
    sums = np.zeros(len(texts), dtype=np.uint32)
    for back in range(1, LAST + 1):
        places = stops[1:] - back
        sums += SPREAD[np.where(places >= stops[:-1], letters[places], 0)]
    return sums


@fact
def items_with_copied_labels(panel: Panel) -> Fact:
    """Items beyond those that chance explains, whose raters gave the very labels that they gave
    another item. Where items come in clusters, equal rows are no surprise.
    """
    ratings = panel.ratings
    if ratings.scale.categories is None or {"cluster", "weight"} & ratings.has:
        return Fact(None, "labels are numbers, or items come in clusters, so nothing was checked")
    copied = find_copied_rows(ratings)
    if copied is None:
        return Fact(0, "chance explains which items have equal labels of all raters")
    n_too_many = copied.n_too_many
    return Fact(
        n_too_many,
        f"{n_too_many} items may copy others: each of {len(copied.words)} rows of labels occurs "
        f"{copied.n_copies} times, or a multiple of it, which chance does not explain",
    )


@fact
def pairs_of_identical_raters(panel: Panel) -> Fact:
    """Pairs who never differ, though both leave the majority again and again.

    Two who are both right never differ either, so only items count on which both leave the
    majority. One who works alone joins another there on six of ten items at most, or as often as
    they give this label against this majority elsewhere. By this, less than a thousandth of a pair
    is expected. Raters who never differ are one voice, and a majority is the most frequent label of
    three voices or more.

    Where other voices are often wrong together, those who are right leave the majority. So nothing
    is told of two, unless they likely leave it more than half as often as the other voices do.
    """
    if panel.ratings.foreign_words:
        return Fact(None, WORDS_APART)
    pairs, expected = _compared(panel)
    return _told(panel, pairs, expected, _identical(panel, pairs), "never differ")


@fact
def pairs_of_raters_too_near(panel: Panel) -> Fact:
    """Nothing is told of raters who differ from somebody else on less than a tenth of the items."""
    if panel.ratings.foreign_words:
        return Fact(None, WORDS_APART)
    pairs, expected = _compared(panel)
    return _told(panel, pairs, expected, _near(pairs, expected), "differ too seldom")


def raters_too_near(ratings: Ratings) -> tuple[set[str], set[str]]:
    """The raters of pairs who differ too seldom, and those of pairs who never differ."""
    if ratings.foreign_words:
        return set(), set()
    panel = Panel(ratings)
    pairs, expected = _compared(panel)
    near, same = pairs.where(_near(pairs, expected)), pairs.where(_identical(panel, pairs))
    near_names, same_names = (
        {panel.raters[place] for place in (*those.first, *those.second)} for those in (near, same)
    )
    return near_names, same_names


def _identical(panel: Panel, pairs: Pairs) -> Codes:
    never = np.asarray(pairs.differed == 0)
    if never.any():
        both, joined, left, usual = _departures(panel, pairs.where(never))
        by_chance = len(pairs.met) * joined**both
        often = left - AS_OFTEN * usual > LIKELY * np.sqrt(left)
        never[never] = (by_chance <= BY_CHANCE) & often
    return never


def _near(pairs: Pairs, expected: Codes) -> Codes:
    apart = (expected >= TENTH * pairs.met) & (expected >= FEWEST_EXPECTED)
    return np.asarray((pairs.differed < TENTH * expected) & apart)


@fact
def raters_that_print_alike(panel: Panel) -> Fact:
    """Names that the settings call different raters do not count."""
    names, origin = panel.raters, panel.ratings.origin
    declared = origin.different_raters if origin else ()
    alike = lookalikes(names)
    if len(alike) > 1:
        alike = lookalikes(names[place] for place in pd.unique(panel.columns["place"]))
    alike = tuple(e for e in alike if not any({*e} <= {*group} for group in declared))
    words = "; ".join(described(group) for group in alike[:SHOWN])
    count = sum(len(group) for group in alike)
    return Fact(
        count,
        f"{count} of {len(names)} raters have a name that prints as another"
        f"{f': {words}' if alike else ''}",
    )


def _compared(panel: Panel) -> tuple[Pairs, Codes]:
    """Pairs should differ as often as the nearer of the two differs from the nearest rater who is
    no near copy.
    """
    pairs = panel.pairs
    pairs = pairs.where(pairs.met >= MET)
    nearest = np.full(len(panel.raters), np.inf)
    far = pairs.where(pairs.share > NEAR)
    for raters in (far.first, far.second):
        np.minimum.at(nearest, raters, far.share)
    expected = pairs.met * np.minimum(nearest[pairs.first], nearest[pairs.second])
    telling = np.isfinite(expected)
    return pairs.where(telling), expected[telling]


def _departures(panel: Panel, same: Pairs) -> tuple[Codes, Codes, Codes, Codes]:
    """For each pair that never differs: on how many items both leave the majority, the chance that
    one joins the other there, how often their voice leaves it, and how often it would as the other
    voices do.
    """
    voices = _voices(same, len(panel.raters))
    rows = _beside_majority(panel, voices)
    leaves = rows["code"] != rows["most"]
    elsewhere = [rows.groupby(keys)["item"].transform("size") - 1 for keys in (SAID, MET_BY)]
    habit = (elsewhere[0] / elsewhere[1].clip(lower=1)).clip(lower=JOINED)[leaves]
    joins = habit.map(math.log).groupby(rows["rater"]).mean().map(math.exp)
    joined = joins.reindex(range(len(voices))).to_numpy()
    both = Pairs.of(*(rows[name][leaves].to_numpy() for name in ("item", "rater", "code")))
    met = pd.Series(both.met, both.first * len(voices) + both.second)

    spoken, own = ~rows.duplicated(["item", "voice"]), voices[same.first]
    n_said = np.bincount(rows["voice"][spoken], minlength=len(voices))
    n_left = np.bincount(rows["voice"][spoken & leaves], minlength=len(voices))
    others = np.maximum(n_said.sum() - n_said[own], 1)
    return (
        met.reindex(same.first * len(voices) + same.second, fill_value=0).to_numpy(),
        np.fmax(joined[same.first], joined[same.second]),
        n_left[own],
        n_said[own] * (n_left.sum() - n_left[own]) / others,
    )


def _beside_majority(panel: Panel, voices: Codes) -> pd.DataFrame:
    item, rater, label = panel.met
    rows = pd.DataFrame(
        {"item": item, "rater": rater, "voice": voices[rater], "code": pd.factorize(label)[0]}
    )
    said = rows.drop_duplicates(["item", "voice"])
    enough = np.bincount(said["item"], minlength=len(panel.items)) >= VOICES
    frequency = said.groupby(["item", "code"]).size()
    first = frequency[frequency == frequency.groupby("item").transform("max")].reset_index()
    sole = first.drop_duplicates("item", keep=False)
    majority = np.full(len(panel.items), -1)
    majority[sole["item"]] = sole["code"]
    return rows.assign(most=majority[item])[enough[item]]


@fact
def classifiers_that_copy(panel: Panel) -> Fact:
    """One who looks alone does not always follow a rater who leaves the majority, and seldom always
    follows the majority where raters differ.

    So only these items count, and there must be so many that in less than one of a thousand rounds
    any who looks alone would follow by chance.
    """
    if not panel.ratings.classifiers or panel.ratings.scale.dimensions > 1:
        return Fact(None, "no classifier gave single labels, so nothing was checked")
    rows = _beside_majority(panel, np.arange(len(panel.raters)))
    label = panel.met[2]
    distinct = np.append(pd.factorize(label)[1], 0)
    item, said, most = rows["item"].to_numpy(), label[rows.index], distinct[rows["most"]]
    leaves = (rows["code"] != rows["most"]).to_numpy()
    split = leaves & (rows["most"] >= 0).to_numpy()
    by_chance = BY_CHANCE / (len(panel.ratings.classifiers) * (len(panel.raters) + 1))
    found = []
    for name in panel.ratings.classifiers:
        own, known = _first_of(panel, name)
        follows = pd.DataFrame({"all": own[item] == said, "n": leaves})[known[item]]
        each = follows.groupby(rows["rater"][known[item]]).agg({"all": "all", "n": "sum"})
        for at in each.index[each["all"] & (JOINED ** each["n"] <= by_chance)]:
            found.append(f"{name!a} always says what {panel.raters[at]!a} says")
        differ, first = np.unique(item[split & known[item]], return_index=True)
        with_most = own[differ] == most[split & known[item]][first]
        if with_most.all() and FOLLOWED ** len(differ) <= by_chance:
            found.append(
                f"{name!a} says what most raters say on all {len(differ)} items where raters differ"
            )
    words = "no classifier always follows a rater, or the majority"
    return Fact(len(found), "; ".join(found[:SHOWN]) or words)


def _first_of(panel: Panel, name: str) -> tuple[Codes, Codes]:
    columns, place = panel.columns, panel.raters.index(name)
    rows = np.flatnonzero((columns["place"] == place) & ~columns["earlier"])[::-1]
    own = np.zeros(len(panel.items), dtype=columns["label"].dtype)
    known = np.zeros(len(panel.items), dtype=bool)
    own[columns["at"][rows]], known[columns["at"][rows]] = columns["label"][rows], True
    return own, known


def _voices(same: Pairs, n_raters: int) -> Codes:
    voice = np.arange(n_raters)
    while True:
        least = np.minimum(voice[same.first], voice[same.second])
        joined = voice.copy()
        np.minimum.at(joined, same.first, least)
        np.minimum.at(joined, same.second, least)
        if (joined == voice).all():
            return voice
        voice = joined


def _told(panel: Panel, pairs: Pairs, expected: Codes, which: Codes, what: str) -> Fact:
    found, count = pairs.where(which), int(which.sum())
    words = f"{count} of {len(pairs.met)} pairs of raters {what}"
    shown = [
        f"{panel.raters[a]!a} and {panel.raters[b]!a} on {differed} of {met} items "
        f"instead of about {about:.0f}"
        for a, b, met, differed, about in zip(
            found.first, found.second, found.met, found.differed, expected[which], strict=True
        )
    ][:SHOWN]
    return Fact(count, words + (f", such as {'; '.join(shown)}" if shown else ""))


@fact
def items_with_fewer_raters(panel: Panel) -> Fact:
    """A rating that is missing may be the one that differs. No measure can tell."""
    each = panel.n_raters[panel.rated][~panel.gold[panel.rated]]
    usual = int(np.bincount(each).argmax()) if len(each) else 0
    if len(each) < FEWEST_ITEMS or (each == usual).mean() < USUAL:
        return Fact(None, "no number of raters is usual, so nothing was checked")
    words = f"items have fewer raters than {usual}, as most items have"
    return share_of(int((each < usual).sum()), len(each), words)


@fact
def share_of_missing_labels(panel: Panel) -> Fact:
    """Of the rows that came: an empty cell of a wide table is no row."""
    origin = panel.ratings.origin
    if origin is None:
        return Fact(None, "it is not known how many ratings came without a label")
    n_missing = origin.left_out.get(NO_ANSWER, 0)
    n = n_missing + int((~panel.columns["earlier"]).sum())
    if not n:
        return Fact(None, "there is no rating, so nothing was checked")
    return share_of(n_missing, n, "ratings came without a label")


@fact
def raters_with_few_items(panel: Panel) -> Fact:
    """They may have rated what is easy. In a crowd nobody rates nearly all, so nothing is told."""
    own = ~take_in_blocks(panel.gold, some(panel.item, panel.first))
    each = counts(some(panel.rater, panel.first)[own], len(panel.raters))
    raters = np.flatnonzero(each)
    usual = float(np.median(each[raters])) if len(raters) else 0.0
    if usual < FEWEST_ITEMS or (each[raters] >= NEARLY_ALL * each.max()).mean() < NEARLY_ALL:
        return Fact(None, "most raters do not rate nearly all items, so nothing was checked")
    few = raters[each[raters] < usual / 2]
    said = [f"{panel.raters[place]!a} rated {each[place]}" for place in few[:SHOWN]]
    words = (
        f"{len(few)} of {len(raters)} raters rated less than half of the usual {usual:.0f} items"
    )
    return Fact(len(few), f"{words}{': ' + ', '.join(said) if said else ''}")


@fact
def raters_named_like_models(panel: Panel) -> Fact:
    names = like_models(panel.ratings.raters)
    words = f"{len(names)} of {len(panel.ratings.raters)} raters have a name like a model's"
    if names:
        words += f", such as {' and '.join(map(ascii, names[:SHOWN]))}; name them as classifiers"
    if len(names) > 1:
        words += ", and give a model of several names one name"
    return Fact(len(names), words)


@fact
def share_of_gold(panel: Panel) -> Fact:
    gold = panel.gold[panel.rated]
    if not len(gold):
        return Fact(None, "no item was rated, so nothing was checked")
    return share_of(int(gold.sum()), len(gold), "items are gold")


@fact
def dispute_on_gold(panel: Panel) -> Fact:
    """It is 0 if chance alone gives such a difference in one of a thousand rounds."""
    if not panel.gold.any():
        return Fact(None, "no item is gold, so nothing was checked")
    disputed, met = _disputed(panel)
    gold = panel.gold[met]
    n_gold, n_rest = int(gold.sum()), int((~gold).sum())
    if not n_gold or not n_rest:
        return Fact(None, "not both gold and other items have two raters, so nothing was checked")
    on_gold, on_rest = float(disputed[gold].mean()), float(disputed[~gold].mean())
    error = math.sqrt(float(disputed.var()) * (1 / n_gold + 1 / n_rest))
    beyond = on_gold - on_rest
    words = (
        f"raters differ on {on_gold:.1%} of {n_gold} gold items, and on {on_rest:.1%} of "
        f"{n_rest} others"
    )
    return Fact(beyond if beyond > SURE * error else 0.0, words)


def _disputed(panel: Panel) -> tuple[Codes, Codes]:
    """The share of pairs of raters who differ on each item, and its code. It grows with no number
    of raters.

    On a scale of numbers it is 1 if the variance is higher than that of most items, and 0 if not.
    """
    item, label = some(panel.item, panel.first), some(panel.label, panel.first)
    each = np.bincount(item, minlength=len(panel.items)).astype(float)
    met = np.flatnonzero(each > 1)
    n = each[met]
    scale = panel.ratings.scale
    if scale.numeric and scale.dimensions == 1:
        apart = label - (np.bincount(item, label, len(each)) / np.maximum(each, 1))[item]
        variance = np.bincount(item, apart**2, len(each))[met] / (n - 1)
        return (variance > np.median(variance)).astype(float), met
    order = np.lexsort((label, item))
    item, label = item[order], label[order]
    begins = np.flatnonzero(np.append(True, (np.diff(item) != 0) | (np.diff(label) != 0)))
    alike = np.diff(np.append(begins, len(item))).astype(float)
    same = np.bincount(item[begins], alike * (alike - 1), len(each))[met]
    return 1 - same / (n * (n - 1)), met


@fact
def replicates_of_the_same_minute(panel: Panel) -> Fact:
    apart, clock = panel.apart
    if not clock:
        return Fact(None, NO_TIMES)
    return _share(np.abs(apart) < MINUTE, "were given within a minute of the rating before")


@fact
def replicates_back_in_time(panel: Panel) -> Fact:
    apart, _ = panel.apart
    if not len(apart):
        return Fact(None, "replicates have no times, so nothing was checked")
    return _share(apart < 0, "are dated before the rating that they repeat")


@fact
def replicates_back_to_back(panel: Panel) -> Fact:
    again = panel.again
    if "timestamp" not in panel.ratings.has or not len(again):
        return Fact(None, NO_TIMES)
    ratings_of = np.bincount(panel.rater, minlength=len(panel.raters))
    raters = np.unique(panel.rater[again])
    read = raters[: max(1, int(np.searchsorted(np.cumsum(ratings_of[raters]), READ)))]
    rows = np.flatnonzero(np.isin(panel.rater, read))
    batches = panel.ratings.every(["place", "timestamp"])
    some = [batch.filter(pa.array(np.isin(batch["place"], read))) for batch in batches]
    times = seconds(in_pandas(pa.Table.from_batches(some))["timestamp"])
    if not is_clock(times):
        return Fact(None, NO_TIMES)
    order = np.lexsort((times, panel.rater[rows]))
    place = np.empty(len(panel.rater), dtype=np.int64)
    place[rows[order]] = np.arange(len(rows))
    known = np.zeros(len(panel.rater), dtype=bool)
    known[rows] = ~np.isnan(times)
    again = again[known[again] & known[again - 1]]
    return _share(np.abs(place[again] - place[again - 1]) == 1, "follow with nothing in between")


@fact
def change_in_replicates(panel: Panel) -> Fact:
    """Raters who look again change their mind now and then."""
    again, pairs = panel.again, panel.pairs
    met = int(pairs.met.sum())
    expected = len(again) * int(pairs.differed.sum()) / met if met else 0.0
    if expected < FEWEST_EXPECTED:
        return Fact(None, "too few replicates to tell if raters looked again")
    changed = int((panel.label[again] != panel.label[again - 1]).sum())
    words = (
        f"{changed} of {len(again)} replicates change the label, and two raters differ on about "
        f"{expected:.0f} of as many items"
    )
    return Fact(changed / expected, words)


@fact
def occurrences_out_of_order(panel: Panel) -> Fact:
    occurrence = panel.occurrence
    if not len(panel.again):
        return _share(occurrence != 1, NUMBERED, "ratings")
    starts = np.flatnonzero(panel.begins)
    sizes = np.diff(np.append(starts, len(occurrence)))
    number = np.arange(len(occurrence)) - np.repeat(starts, sizes) + 1
    return _share(occurrence != number, NUMBERED, "ratings")


def _share(which: Codes, what: str, of: str = "replicates") -> Fact:
    if not len(which):
        return Fact(None, f"there are no {of} to look at, so nothing was checked")
    return share_of(int(which.sum()), len(which), f"{of} {what}")


@fact
def share_of_unused_categories(panel: Panel) -> Fact:
    scale = panel.ratings.scale
    if scale.categories is None or not scale.declared:
        return Fact(None, "the scale declares no categories, so nothing was checked")
    if not len(panel.label):
        return Fact(None, "there is no rating, so nothing was checked")
    given = set(pd.unique(panel.label).tolist())
    names = scale.categories if scale.numeric else scale.names
    unused = [
        name for place, name in enumerate(names) if (name if scale.numeric else place) not in given
    ]
    words = f"categories are never used{f', {listed(unused)}' if unused else ''}"
    return share_of(len(unused), len(names), words)


@fact
def items_of_a_cluster(panel: Panel) -> Fact:
    """If it is 1, clusters change no interval."""
    clusters = panel.contents("cluster")
    if clusters is None:
        return Fact(None, "column cluster was not delivered, so nothing was checked")
    n_clusters = int(clusters.nunique())
    if not n_clusters:
        return Fact(None, "no rated item has a cluster, so nothing was checked")
    return Fact(len(clusters) / n_clusters, f"{len(clusters)} items are in {n_clusters} clusters")


@fact
def share_assisted(panel: Panel) -> Fact:
    if not panel.ratings.is_assistance_known:
        return Fact(None, "it is not known which labels began as a suggestion")
    return share_of(
        panel.ratings.n_assisted, panel.ratings.n_of_panel, "labels began as a suggestion"
    )
