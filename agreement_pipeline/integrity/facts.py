"""Facts about a whole round, each a number and words.

A function under `@fact` adds one, and `checks.py` its bound.
"""

import math
import re
from collections.abc import Callable, Iterable
from typing import Any, NamedTuple

import numpy as np
import pandas as pd
import pyarrow as pa
import pyarrow.compute as pc

from agreement_pipeline.integrity.copied_rows import find_copied_rows
from agreement_pipeline.integrity.panel import Codes, Pairs, Panel, take_at
from agreement_pipeline.ratings import (
    NO_ANSWER,
    TEXT,
    Ratings,
    arrow_to_pandas,
    count_codes,
    describe_lookalikes,
    group_lookalike_names,
    names_like_models,
    printed_forms,
    slices_of_rows,
    take_in_blocks,
    tells_minutes,
    times_as_seconds,
    whole_numbers_alike,
)
from agreement_pipeline.text import listed

EMAIL = re.compile(r"[^\s@]@[^\s@]+\.[^\s@]")
"""An address in a name is personal data, which no finding shows."""
NEARLY_ALL_ITEMS = 0.95
MAX_EXAMPLES = 3
MAX_TEXTS_COMPARED = 50_000
"""Of more texts, a sample is compared in which equal ones stay together."""
TEXTS_PER_BLOCK = 8_192
N_LETTERS_HASHED = 6
BYTES = np.arange(256)
HASH_BY_BYTE = np.where(ord(" ") < BYTES, (BYTES | 32) ** 2, 0).astype(np.uint32)
MIN_SHARED_ITEMS = 30
MAX_NEAR_COPY_SHARE = 0.05
"""Raters who differ on no larger share of their items may be near copies of each other."""
MIN_EXPECTED_SHARE = 0.1
MAX_RATIO_TOO_NEAR = 0.1
"""Raters are too near if they differ on a smaller part of the items expected."""
MIN_EXPECTED_DIFFERENCES = 20
MAX_P_VALUE = 1e-3
MIN_STANDARD_ERRORS = 3.29
"""A normal distribution is beyond so many, to either side, with a probability of .001."""
MAX_JOIN_SHARE_ALONE = 0.6
"""One who works alone joins another who leaves the majority on this share of items at most."""
MIN_VOICES = 3
MIN_RATIO_OF_DEPARTURES = 0.5
Z_ONE_SIDED = 1.645
MAX_SHARE_FOLLOWING = 0.9
"""How often a classifier sides with the majority, at most, where raters differ."""
MAJORITY_KEYS = ["rater", "most"]
MAJORITY_AND_LABEL_KEYS = ["rater", "most", "code"]
MIN_USUAL_SHARE = 0.7
"""The share of items with one number of raters that makes it usual."""
MIN_ITEMS = 30
"""Of fewer items, nothing is usual."""
NEARLY_ALL = 0.75
"""The share of raters who rate this share of the items, where most raters rate nearly all."""
MINUTE = 60
MAX_RATINGS_READ = 200_000
MISNUMBERED_MESSAGE = "are not numbered 1, 2, … by rater and item"
NO_SHARED_WORDS_MESSAGE = "the words of raters do not meet, so nobody was compared"
NO_TIMES_MESSAGE = "replicates have no times that tell minutes, so nothing was checked"


class Fact(NamedTuple):
    value: float | None
    words: str


def share_as_fact(count: int, n: int, words: str) -> Fact:
    return Fact(count / n, f"{count} of {n} {words}")


FACTS: dict[str, Callable[[Panel], Fact]] = {}


def register_fact(function: Callable[[Panel], Fact]) -> Callable[[Panel], Fact]:
    FACTS[function.__name__] = function
    return function


@register_fact
def ratings_with_an_address_as_item(panel: Panel) -> Fact:
    return _addresses_fact(panel.items, panel.columns["at"])


@register_fact
def ratings_with_an_address_as_rater(panel: Panel) -> Fact:
    return _addresses_fact(panel.raters, panel.columns["place"])


def _addresses_fact(names: Iterable[str], codes: Codes) -> Fact:
    if not len(codes):
        return Fact(None, "there is no rating, so nothing was checked")
    is_address = np.array(["@" in name and EMAIL.search(name) is not None for name in names])
    n_failing = int(is_address[codes].sum()) if is_address.any() else 0
    return share_as_fact(n_failing, len(codes), "rows fail")


@register_fact
def raters_of_nearly_all_items(panel: Panel) -> Fact:
    """So many raters or more rated 95% of the items."""
    n_raters = panel.n_raters_by_item[panel.places_of_rated_items]
    if not len(n_raters):
        return Fact(None, "the panel rated no item, so nothing was checked")
    n_items = np.bincount(n_raters)
    share_by_number = n_items[::-1].cumsum()[::-1] / len(n_raters)
    number = int(np.flatnonzero(share_by_number >= NEARLY_ALL_ITEMS).max())
    if number < 2:
        return Fact(number, f"{n_items[1]} of {len(n_raters)} items have one rater")
    return Fact(
        number, f"{NEARLY_ALL_ITEMS:.0%} of {len(n_raters)} items have {number} raters or more"
    )


@register_fact
def items_with_a_shared_text(panel: Panel) -> Fact:
    """The first item of a text is no copy."""
    texts = panel.contents_of_rated_items("text")
    if texts is None:
        return Fact(None, "column text was not delivered, so nothing was checked")
    has_text = texts.notna().to_numpy()
    return _copies_fact(texts if has_text.all() else texts[has_text], "text")


@register_fact
def items_that_print_alike(panel: Panel) -> Fact:
    """The first of the items is no copy."""
    names = panel.rated_items
    texts = whole_numbers_alike(pd.Series(names.astype(TEXT), index=names))
    return _copies_fact(texts, "identifier")


def _copies_fact(texts: pd.Series, noun: str) -> Fact:
    compared_texts = (texts if len(texts) <= MAX_TEXTS_COMPARED else _sample_texts(texts)).astype(
        TEXT
    )
    forms = printed_forms(compared_texts)
    forms = forms[forms != ""]
    is_copy = forms.duplicated()
    n_copies = int(is_copy.sum())
    if not len(forms):
        return Fact(None, f"no item has a {noun}, so nothing was checked")
    words = f"items have the {noun} of another one"
    if n_copies:
        original_by_form = {text: item for item, text in forms[~is_copy].items()}
        copies = forms[is_copy].iloc[:MAX_EXAMPLES].items()
        words += ", such as " + " and ".join(
            f"{item!a} that of {original_by_form[text]!a}" for item, text in copies
        )
    return share_as_fact(n_copies, len(forms), words)


def _sample_texts(texts: pd.Series) -> pd.Series:
    """Equal texts fall into one part."""
    n_parts, sampled_places = -(-len(texts) // MAX_TEXTS_COMPARED), []
    array = pa.array(texts.astype(TEXT))
    chunks = array if isinstance(array, pa.ChunkedArray) else pa.chunked_array([array])
    for part in slices_of_rows(len(texts), TEXTS_PER_BLOCK):
        sums = _hash_texts(chunks.slice(part.start, part.stop - part.start))
        sampled_places.append(part.start + np.flatnonzero(sums % n_parts == 0))
    return texts.iloc[np.concatenate(sampled_places)]


def _hash_texts(texts: "pa.ChunkedArray") -> np.ndarray[Any, np.dtype[np.uint32]]:
    """Only the last letters count, without capitals and the blanks after them."""
    trimmed = pc.ascii_rtrim_whitespace(texts.cast(pa.large_string())).combine_chunks()
    _, offsets, data = trimmed.buffers()
    stops = np.frombuffer(offsets, dtype=np.int64)[: len(trimmed) + 1]
    letters = np.frombuffer(data, dtype=np.uint8)
    sums = np.zeros(len(texts), dtype=np.uint32)
    for n_letters_back in range(1, N_LETTERS_HASHED + 1):
        places = stops[1:] - n_letters_back
        sums += HASH_BY_BYTE[np.where(places >= stops[:-1], letters[places], 0)]
    return sums


@register_fact
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


@register_fact
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
        return Fact(None, NO_SHARED_WORDS_MESSAGE)
    pairs, expected = _select_comparable_pairs(panel)
    return _pairs_fact(panel, pairs, expected, _is_identical(panel, pairs), "never differ")


@register_fact
def pairs_of_raters_too_near(panel: Panel) -> Fact:
    """Nothing is told of raters who differ from somebody else on less than a tenth of the items."""
    if panel.ratings.foreign_words:
        return Fact(None, NO_SHARED_WORDS_MESSAGE)
    pairs, expected = _select_comparable_pairs(panel)
    return _pairs_fact(panel, pairs, expected, _is_too_near(pairs, expected), "differ too seldom")


def find_raters_too_near(ratings: Ratings) -> tuple[set[str], set[str]]:
    """The raters of pairs who differ too seldom, and those of pairs who never differ."""
    if ratings.foreign_words:
        return set(), set()
    panel = Panel(ratings)
    pairs, expected = _select_comparable_pairs(panel)
    near_pairs = pairs.where(_is_too_near(pairs, expected))
    identical_pairs = pairs.where(_is_identical(panel, pairs))
    near_names, identical_names = (
        {panel.raters[place] for place in (*some_pairs.first, *some_pairs.second)}
        for some_pairs in (near_pairs, identical_pairs)
    )
    return near_names, identical_names


def _is_identical(panel: Panel, pairs: Pairs) -> Codes:
    """By pair, whether they never differ though chance would part them."""
    is_identical = np.asarray(pairs.n_differing == 0)
    if is_identical.any():
        n_both_leave, join_share, n_left, n_left_as_others = _count_departures(
            panel, pairs.where(is_identical)
        )
        n_expected = len(pairs.n_shared) * join_share**n_both_leave
        beyond_ratio = n_left - MIN_RATIO_OF_DEPARTURES * n_left_as_others
        leaves_often = beyond_ratio > Z_ONE_SIDED * np.sqrt(n_left)
        is_identical[is_identical] = (n_expected <= MAX_P_VALUE) & leaves_often
    return is_identical


def _is_too_near(pairs: Pairs, expected: Codes) -> Codes:
    """By pair, whether they differ far less than each does from others."""
    is_share_enough = expected >= MIN_EXPECTED_SHARE * pairs.n_shared
    differ_elsewhere = is_share_enough & (expected >= MIN_EXPECTED_DIFFERENCES)
    return np.asarray((pairs.n_differing < MAX_RATIO_TOO_NEAR * expected) & differ_elsewhere)


@register_fact
def raters_that_print_alike(panel: Panel) -> Fact:
    """Names that the settings call different raters do not count."""
    names, origin = panel.raters, panel.ratings.origin
    declared = origin.different_raters if origin else ()
    alike = group_lookalike_names(names, numbers_alike=True)
    if len(alike) > 1:
        in_order = (names[place] for place in pd.unique(panel.columns["place"]))
        alike = group_lookalike_names(in_order, numbers_alike=True)
    alike = tuple(e for e in alike if not any({*e} <= {*group} for group in declared))
    words = "; ".join(describe_lookalikes(group) for group in alike[:MAX_EXAMPLES])
    count = sum(len(group) for group in alike)
    return Fact(
        count,
        f"{count} of {len(names)} raters have a name that prints as another"
        f"{f': {words}' if alike else ''}",
    )


def _select_comparable_pairs(panel: Panel) -> tuple[Pairs, Codes]:
    """Pairs should differ as often as the nearer of the two differs from the nearest rater who is
    no near copy.
    """
    pairs = panel.pairs
    pairs = pairs.where(pairs.n_shared >= MIN_SHARED_ITEMS)
    nearest_share = np.full(len(panel.raters), np.inf)
    distant_pairs = pairs.where(pairs.share > MAX_NEAR_COPY_SHARE)
    for raters in (distant_pairs.first, distant_pairs.second):
        np.minimum.at(nearest_share, raters, distant_pairs.share)
    expected = pairs.n_shared * np.minimum(nearest_share[pairs.first], nearest_share[pairs.second])
    telling = np.isfinite(expected)
    return pairs.where(telling), expected[telling]


def _count_departures(panel: Panel, identical_pairs: Pairs) -> tuple[Codes, Codes, Codes, Codes]:
    """For each pair that never differs: on how many items both leave the majority, the chance that
    one joins the other there, how often their voice leaves it, and how often it would as the other
    voices do.
    """
    voices = _assign_voices(identical_pairs, len(panel.raters))
    rows = _ratings_with_most_frequent(panel, voices)
    leaves = rows["code"] != rows["most"]
    n_elsewhere = [
        rows.groupby(keys)["item"].transform("size") - 1
        for keys in (MAJORITY_AND_LABEL_KEYS, MAJORITY_KEYS)
    ]
    habit = (n_elsewhere[0] / n_elsewhere[1].clip(lower=1)).clip(lower=MAX_JOIN_SHARE_ALONE)[leaves]
    joins = habit.map(math.log).groupby(rows["rater"]).mean().map(math.exp)
    join_share_by_rater = joins.reindex(range(len(voices))).to_numpy()
    joint_departures = Pairs.of(
        *(rows[name][leaves].to_numpy() for name in ("item", "rater", "code"))
    )
    n_joint_departures = pd.Series(
        joint_departures.n_shared, joint_departures.first * len(voices) + joint_departures.second
    )

    is_of_new_voice = ~rows.duplicated(["item", "voice"])
    pair_voices = voices[identical_pairs.first]
    n_said = np.bincount(rows["voice"][is_of_new_voice], minlength=len(voices))
    n_left = np.bincount(rows["voice"][is_of_new_voice & leaves], minlength=len(voices))
    n_said_by_others = np.maximum(n_said.sum() - n_said[pair_voices], 1)
    return (
        n_joint_departures.reindex(
            identical_pairs.first * len(voices) + identical_pairs.second, fill_value=0
        ).to_numpy(),
        np.fmax(
            join_share_by_rater[identical_pairs.first], join_share_by_rater[identical_pairs.second]
        ),
        n_left[pair_voices],
        n_said[pair_voices] * (n_left.sum() - n_left[pair_voices]) / n_said_by_others,
    )


def _ratings_with_most_frequent(panel: Panel, voices: Codes) -> pd.DataFrame:
    """A row for each rating of items with enough voices. `most` is the code of the majority's
    label, or -1 if several are as frequent.
    """
    item, rater, label = panel.compared_ratings
    rows = pd.DataFrame(
        {"item": item, "rater": rater, "voice": voices[rater], "code": pd.factorize(label)[0]}
    )
    voice_labels = rows.drop_duplicates(["item", "voice"])
    enough = np.bincount(voice_labels["item"], minlength=len(panel.items)) >= MIN_VOICES
    frequency = voice_labels.groupby(["item", "code"]).size()
    most_frequent = frequency[frequency == frequency.groupby("item").transform("max")].reset_index()
    sole_majority = most_frequent.drop_duplicates("item", keep=False)
    majority = np.full(len(panel.items), -1)
    majority[sole_majority["item"]] = sole_majority["code"]
    return rows.assign(most=majority[item])[enough[item]]


@register_fact
def classifiers_that_copy(panel: Panel) -> Fact:
    """One who looks alone does not always follow a rater who leaves the majority, and seldom always
    follows the majority where raters differ.

    So only these items count, and there must be so many that in less than one of a thousand rounds
    any who looks alone would follow by chance.
    """
    if not panel.ratings.classifiers or panel.ratings.scale.dimensions > 1:
        return Fact(None, "no classifier gave single labels, so nothing was checked")
    rows = _ratings_with_most_frequent(panel, np.arange(len(panel.raters)))
    label = panel.compared_ratings[2]
    distinct = np.append(pd.factorize(label)[1], 0)
    item, rater_label = rows["item"].to_numpy(), label[rows.index]
    majority_label = distinct[rows["most"]]
    leaves = (rows["code"] != rows["most"]).to_numpy()
    split = leaves & (rows["most"] >= 0).to_numpy()
    by_chance = MAX_P_VALUE / (len(panel.ratings.classifiers) * (len(panel.raters) + 1))
    copy_messages = []
    for name in panel.ratings.classifiers:
        classifier_label, is_labelled = _labels_of_classifier(panel, name)
        follows = pd.DataFrame({"all": classifier_label[item] == rater_label, "n": leaves})[
            is_labelled[item]
        ]
        follows_by_rater = follows.groupby(rows["rater"][is_labelled[item]]).agg(
            {"all": "all", "n": "sum"}
        )
        for place in follows_by_rater.index[
            follows_by_rater["all"] & (MAX_JOIN_SHARE_ALONE ** follows_by_rater["n"] <= by_chance)
        ]:
            copy_messages.append(f"{name!a} always says what {panel.raters[place]!a} says")
        differ, first_rows = np.unique(item[split & is_labelled[item]], return_index=True)
        with_most = (
            classifier_label[differ] == majority_label[split & is_labelled[item]][first_rows]
        )
        if with_most.all() and MAX_SHARE_FOLLOWING ** len(differ) <= by_chance:
            copy_messages.append(
                f"{name!a} says what most raters say on all {len(differ)} items where raters differ"
            )
    words = "no classifier always follows a rater, or the majority"
    return Fact(len(copy_messages), "; ".join(copy_messages[:MAX_EXAMPLES]) or words)


def _labels_of_classifier(panel: Panel, name: str) -> tuple[Codes, Codes]:
    """Its first label of each item of the panel, and whether it has one."""
    columns, place = panel.columns, panel.raters.index(name)
    rows = np.flatnonzero((columns["place"] == place) & ~columns["earlier"])[::-1]
    label_by_item = np.zeros(len(panel.items), dtype=columns["label"].dtype)
    is_labelled = np.zeros(len(panel.items), dtype=bool)
    items = columns["at"][rows]
    label_by_item[items], is_labelled[items] = columns["label"][rows], True
    return label_by_item, is_labelled


def _assign_voices(identical_pairs: Pairs, n_raters: int) -> Codes:
    """By rater, a code that raters who never differ share, also by way of others."""
    voice = np.arange(n_raters)
    while True:
        smallest_voice = np.minimum(voice[identical_pairs.first], voice[identical_pairs.second])
        merged = voice.copy()
        np.minimum.at(merged, identical_pairs.first, smallest_voice)
        np.minimum.at(merged, identical_pairs.second, smallest_voice)
        if (merged == voice).all():
            return voice
        voice = merged


def _pairs_fact(panel: Panel, pairs: Pairs, expected: Codes, mask: Codes, verb_phrase: str) -> Fact:
    chosen_pairs, count = pairs.where(mask), int(mask.sum())
    words = f"{count} of {len(pairs.n_shared)} pairs of raters {verb_phrase}"
    examples = [
        f"{panel.raters[a]!a} and {panel.raters[b]!a} on {n_differing} of {n_shared} items "
        f"instead of about {n_expected:.0f}"
        for a, b, n_shared, n_differing, n_expected in zip(
            chosen_pairs.first,
            chosen_pairs.second,
            chosen_pairs.n_shared,
            chosen_pairs.n_differing,
            expected[mask],
            strict=True,
        )
    ][:MAX_EXAMPLES]
    return Fact(count, words + (f", such as {'; '.join(examples)}" if examples else ""))


@register_fact
def items_with_fewer_raters(panel: Panel) -> Fact:
    """A rating that is missing may be the one that differs, and no measure can tell. Nor can
    anything tell that ratings were deleted if as many are left of each item.
    """
    n_raters = panel.n_raters_by_item[panel.places_of_rated_items][
        ~panel.is_gold_by_item[panel.places_of_rated_items]
    ]
    usual_number = int(np.bincount(n_raters).argmax()) if len(n_raters) else 0
    if len(n_raters) < MIN_ITEMS or (n_raters == usual_number).mean() < MIN_USUAL_SHARE:
        return Fact(None, "no number of raters is usual, so nothing was checked")
    words = f"items have fewer raters than {usual_number}, as most items have"
    return share_as_fact(int((n_raters < usual_number).sum()), len(n_raters), words)


@register_fact
def share_of_missing_labels(panel: Panel) -> Fact:
    """Of the rows that came: an empty cell of a wide table is no row."""
    origin = panel.ratings.origin
    if origin is None:
        return Fact(None, "it is not known how many ratings came without a label")
    n_missing = origin.left_out.get(NO_ANSWER, 0)
    n = n_missing + int((~panel.columns["earlier"]).sum())
    if not n:
        return Fact(None, "there is no rating, so nothing was checked")
    return share_as_fact(n_missing, n, "ratings came without a label")


@register_fact
def raters_with_few_items(panel: Panel) -> Fact:
    """They may have rated what is easy. In a crowd nobody rates nearly all, so nothing is told."""
    is_not_gold = ~take_in_blocks(panel.is_gold_by_item, take_at(panel.item, panel.first_places))
    n_items = count_codes(take_at(panel.rater, panel.first_places)[is_not_gold], len(panel.raters))
    raters = np.flatnonzero(n_items)
    usual_number = float(np.median(n_items[raters])) if len(raters) else 0.0
    if (
        usual_number < MIN_ITEMS
        or (n_items[raters] >= NEARLY_ALL * n_items.max()).mean() < NEARLY_ALL
    ):
        return Fact(None, "most raters do not rate nearly all items, so nothing was checked")
    raters_below_half = raters[n_items[raters] < usual_number / 2]
    examples = [
        f"{panel.raters[place]!a} rated {n_items[place]}"
        for place in raters_below_half[:MAX_EXAMPLES]
    ]
    words = (
        f"{len(raters_below_half)} of {len(raters)} raters rated less than half of the usual "
        f"{usual_number:.0f} items"
    )
    return Fact(len(raters_below_half), f"{words}{': ' + ', '.join(examples) if examples else ''}")


@register_fact
def raters_named_like_models(panel: Panel) -> Fact:
    names = names_like_models(panel.ratings.raters)
    words = f"{len(names)} of {len(panel.ratings.raters)} raters have a name like a model's"
    if names:
        words += (
            f", such as {' and '.join(map(ascii, names[:MAX_EXAMPLES]))}; name them as classifiers"
        )
    if len(names) > 1:
        words += ", and give a model of several names one name"
    return Fact(len(names), words)


@register_fact
def share_of_gold(panel: Panel) -> Fact:
    gold = panel.is_gold_by_item[panel.places_of_rated_items]
    if not len(gold):
        return Fact(None, "no item was rated, so nothing was checked")
    return share_as_fact(int(gold.sum()), len(gold), "items are gold")


@register_fact
def dispute_on_gold(panel: Panel) -> Fact:
    """It is 0 if chance alone gives such a difference in one of a thousand rounds."""
    if not panel.is_gold_by_item.any():
        return Fact(None, "no item is gold, so nothing was checked")
    disputed, compared_items = _dispute_by_item(panel)
    gold = panel.is_gold_by_item[compared_items]
    n_gold, n_rest = int(gold.sum()), int((~gold).sum())
    if not n_gold or not n_rest:
        return Fact(None, "not both gold and other items have two raters, so nothing was checked")
    on_gold, on_rest = float(disputed[gold].mean()), float(disputed[~gold].mean())
    error = math.sqrt(float(disputed.var()) * (1 / n_gold + 1 / n_rest))
    excess = on_gold - on_rest
    words = (
        f"raters differ on {on_gold:.1%} of {n_gold} gold items, and on {on_rest:.1%} of "
        f"{n_rest} others"
    )
    return Fact(excess if excess > MIN_STANDARD_ERRORS * error else 0.0, words)


def _dispute_by_item(panel: Panel) -> tuple[Codes, Codes]:
    """The share of pairs of raters who differ on each item, and its code. It grows with no number
    of raters.

    On a scale of numbers it is 1 if the variance is higher than that of most items, and 0 if not.
    """
    item, label = (
        take_at(panel.item, panel.first_places),
        take_at(panel.label, panel.first_places),
    )
    n_ratings = np.bincount(item, minlength=len(panel.items)).astype(float)
    compared_items = np.flatnonzero(n_ratings > 1)
    n = n_ratings[compared_items]
    scale = panel.ratings.scale
    if scale.numeric and scale.dimensions == 1:
        deviation = (
            label - (np.bincount(item, label, len(n_ratings)) / np.maximum(n_ratings, 1))[item]
        )
        variance = np.bincount(item, deviation**2, len(n_ratings))[compared_items] / (n - 1)
        return (variance > np.median(variance)).astype(float), compared_items
    order = np.lexsort((label, item))
    item, label = item[order], label[order]
    begins = np.flatnonzero(np.append(True, (np.diff(item) != 0) | (np.diff(label) != 0)))
    n_alike = np.diff(np.append(begins, len(item))).astype(float)
    n_same_pairs = np.bincount(item[begins], n_alike * (n_alike - 1), len(n_ratings))[
        compared_items
    ]
    return 1 - n_same_pairs / (n * (n - 1)), compared_items


@register_fact
def replicates_of_the_same_minute(panel: Panel) -> Fact:
    gaps_seconds, clock = panel.replicate_gaps
    if not clock:
        return Fact(None, NO_TIMES_MESSAGE)
    return _share_fact(
        np.abs(gaps_seconds) < MINUTE, "were given within a minute of the rating before"
    )


@register_fact
def replicates_back_in_time(panel: Panel) -> Fact:
    gaps_seconds, _ = panel.replicate_gaps
    if not len(gaps_seconds):
        return Fact(None, "replicates have no times, so nothing was checked")
    return _share_fact(gaps_seconds < 0, "are dated before the rating that they repeat")


@register_fact
def replicates_back_to_back(panel: Panel) -> Fact:
    replicates = panel.replicates
    if "timestamp" not in panel.ratings.has or not len(replicates):
        return Fact(None, NO_TIMES_MESSAGE)
    n_ratings_by_rater = np.bincount(panel.rater, minlength=len(panel.raters))
    raters = np.unique(panel.rater[replicates])
    raters_read = raters[
        : max(1, int(np.searchsorted(np.cumsum(n_ratings_by_rater[raters]), MAX_RATINGS_READ)))
    ]
    rows = np.flatnonzero(np.isin(panel.rater, raters_read))
    batches = panel.ratings.iterate_ratings(["place", "timestamp"])
    batches_read = [
        batch.filter(pa.array(np.isin(batch["place"], raters_read))) for batch in batches
    ]
    times = times_as_seconds(arrow_to_pandas(pa.Table.from_batches(batches_read))["timestamp"])
    if not tells_minutes(times):
        return Fact(None, NO_TIMES_MESSAGE)
    order = np.lexsort((times, panel.rater[rows]))
    place = np.empty(len(panel.rater), dtype=np.int64)
    place[rows[order]] = np.arange(len(rows))
    has_time = np.zeros(len(panel.rater), dtype=bool)
    has_time[rows] = ~np.isnan(times)
    replicates = replicates[has_time[replicates] & has_time[replicates - 1]]
    return _share_fact(
        np.abs(place[replicates] - place[replicates - 1]) == 1, "follow with nothing in between"
    )


@register_fact
def change_in_replicates(panel: Panel) -> Fact:
    """Raters who look again change their mind now and then."""
    replicates, pairs = panel.replicates, panel.pairs
    n_meetings = int(pairs.n_shared.sum())
    expected = len(replicates) * int(pairs.n_differing.sum()) / n_meetings if n_meetings else 0.0
    if expected < MIN_EXPECTED_DIFFERENCES:
        return Fact(None, "too few replicates to tell if raters looked again")
    n_changed = int((panel.label[replicates] != panel.label[replicates - 1]).sum())
    words = (
        f"{n_changed} of {len(replicates)} replicates change the label, and two raters differ on "
        "about "
        f"{expected:.0f} of as many items"
    )
    return Fact(n_changed / expected, words)


@register_fact
def occurrences_out_of_order(panel: Panel) -> Fact:
    occurrence = panel.occurrence
    if not len(panel.replicates):
        return _share_fact(occurrence != 1, MISNUMBERED_MESSAGE, "ratings")
    starts = np.flatnonzero(panel.begins)
    sizes = np.diff(np.append(starts, len(occurrence)))
    number = np.arange(len(occurrence)) - np.repeat(starts, sizes) + 1
    return _share_fact(occurrence != number, MISNUMBERED_MESSAGE, "ratings")


def _share_fact(mask: Codes, predicate: str, noun: str = "replicates") -> Fact:
    if not len(mask):
        return Fact(None, f"there are no {noun} to look at, so nothing was checked")
    return share_as_fact(int(mask.sum()), len(mask), f"{noun} {predicate}")


@register_fact
def share_of_unused_categories(panel: Panel) -> Fact:
    scale = panel.ratings.scale
    if scale.categories is None or not scale.declared:
        return Fact(None, "the scale declares no categories, so nothing was checked")
    if not len(panel.label):
        return Fact(None, "there is no rating, so nothing was checked")
    used_labels = set(pd.unique(panel.label).tolist())
    names = scale.categories if scale.numeric else scale.names
    unused = [
        name
        for place, name in enumerate(names)
        if (name if scale.numeric else place) not in used_labels
    ]
    words = f"categories are never used{f', {listed(unused)}' if unused else ''}"
    return share_as_fact(len(unused), len(names), words)


@register_fact
def items_of_a_cluster(panel: Panel) -> Fact:
    """If it is 1, clusters change no interval."""
    clusters = panel.contents_of_rated_items("cluster")
    if clusters is None:
        return Fact(None, "column cluster was not delivered, so nothing was checked")
    n_clusters = int(clusters.nunique())
    if not n_clusters:
        return Fact(None, "no rated item has a cluster, so nothing was checked")
    return Fact(len(clusters) / n_clusters, f"{len(clusters)} items are in {n_clusters} clusters")


@register_fact
def share_assisted(panel: Panel) -> Fact:
    if not panel.ratings.is_assistance_known:
        return Fact(None, "it is not known which labels began as a suggestion")
    return share_as_fact(
        panel.ratings.n_assisted, panel.ratings.n_of_panel, "labels began as a suggestion"
    )
