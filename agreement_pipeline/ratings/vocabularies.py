"""Raters whose words do not meet, such as *yes* and *no* against *1* and *0*.

Their labels never agree, whatever they saw. So nothing can be said of who differs until their words
are mapped.
"""

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from agreement_pipeline.ratings.placeholders import placeholders_among
from agreement_pipeline.ratings.scale import Array, Codes
from agreement_pipeline.text import joined

MIN_SHARED_ITEMS = 10
MIN_ITEMS_PER_LABEL = 4
"""Where raters use many labels on few items, they may never meet by chance."""
MAX_LABELS = 30
"""Of a rater. Who writes more different ones writes free text."""
USUAL_SHARE = 0.95
"""A rater's words are the most common ones with so much of the ratings. Slips do not count."""
MAX_COMMON_SHARE = 0.5
"""Words do not meet if neither side uses the other's words in half of its ratings."""
MAX_BORROWED_SHARE = 0.02
"""If the other side uses a word more often than by slips, it knows the word."""
MAX_SHOWN = 4
MAX_RATERS = 1_000
"""In a larger crowd nobody's words are compared, since all pairs would fill the memory."""


@dataclass(frozen=True)
class ForeignWords:
    """Some raters, their words, and those of the raters with whom they share items.

    `translation` maps a word of theirs to that which the others give most often on the same items,
    as far as this is one to one.
    """

    raters: tuple[str, ...]
    labels: tuple[str, ...]
    other_labels: tuple[str, ...]
    n_items: int
    has_no_common_word: bool
    translation: Mapping[str, str]

    @property
    def sentence(self) -> str:
        """What was found, and the setting that maps the words."""
        verb = "uses" if len(self.raters) == 1 else "use"
        only_word = "only " if self.has_no_common_word else ""
        groups = [[other_label, label] for label, other_label in self.translation.items()]
        options = " ".join(
            f"--same-label {json.dumps(f'{first_word}={second_word}')}"
            for first_word, second_word in groups
        )
        in_project = json.dumps(groups, ensure_ascii=False)
        advice = (
            f"Map them, if they mean the same: {options} (same_label: {in_project} in a project)."
            if groups
            else "Map them: --same-label NAME=OTHER (same_label: [[NAME, OTHER]] in a project)."
        )
        return (
            f"{joined(self.raters, MAX_SHOWN)} {verb} {only_word}{_quote_labels(self.labels)}, "
            "which "
            f"nobody else uses; the others use {_quote_labels(self.other_labels)} on the "
            f"{self.n_items:,} items that they share. {advice}"
        )


def _quote_labels(labels: Sequence[str]) -> str:
    return joined(map(repr, labels), MAX_SHOWN)


LabelParts = Sequence[tuple[Codes, Codes, Codes]]
"""The row of a pattern of labels, the rater and the category."""


def find_foreign_words(
    raters: Sequence[str], categories: Sequence[str], label_parts: LabelParts, n_of_pattern: Codes
) -> tuple[ForeignWords, ...]:
    """The groups of raters whose words do not meet those of others, with whom they share items.

    Raters belong to one group if either uses words of the other in half of its ratings or more.
    Then the words of each group are compared on the items that it shares with others.
    `n_of_pattern` is the number of items of each pattern.
    """
    counts = np.zeros((len(raters), len(categories)))
    for row, rater, code in label_parts:
        np.add.at(counts, (rater, code), n_of_pattern[row])
    counts[:, [categories.index(label) for label in placeholders_among(categories)]] = 0
    group = _groups_of_raters(counts)
    group_numbers = [int(number) for number in np.unique(group[counts.any(axis=1)])]
    if len(group_numbers) < 2:
        return ()
    largest = max(
        group_numbers, key=lambda group_number: (counts[group == group_number].sum(), -group_number)
    )
    answers = (
        _compare_words(raters, categories, label_parts, n_of_pattern, group == group_number, counts)
        for group_number in group_numbers
        if group_number != largest
    )
    return tuple(words for words in answers if words is not None)


def _find_usual_words(counts: Array) -> np.ndarray:
    """The most common labels of each row of counts, which make up `USUAL_SHARE` of it."""
    order = np.argsort(-counts, axis=1, kind="stable")
    ordered = np.take_along_axis(counts, order, axis=1)
    shares_before = np.cumsum(ordered, axis=1) - ordered
    total = counts.sum(axis=1, keepdims=True)
    is_usual = np.zeros(counts.shape, dtype=bool)
    np.put_along_axis(
        is_usual, order, (shares_before < USUAL_SHARE * total) & (ordered > 0), axis=1
    )
    return is_usual


def _groups_of_raters(counts: Array) -> Codes:
    """The number of each rater's group: raters whose words meet, also by way of others."""
    is_usual = _find_usual_words(counts).astype(float)
    shares = counts / np.maximum(counts.sum(axis=1, keepdims=True), 1)
    common = shares @ is_usual.T
    meets = np.maximum(common, common.T) >= MAX_COMMON_SHARE
    group: Codes = np.arange(len(counts))
    previous: Codes = np.empty(0, dtype=np.int64)
    while not np.array_equal(group, previous):
        previous = group
        group = np.where(meets, group[None, :], len(counts)).min(axis=1, initial=len(counts))
        group = np.minimum(group, previous)
    return group


def _compare_words(
    raters: Sequence[str],
    names: Sequence[str],
    label_parts: LabelParts,
    n_of_pattern: Codes,
    is_inside: np.ndarray,
    counts: Array,
) -> ForeignWords | None:
    """The words of the raters inside and of all others. None if their words meet."""
    counts_by_side = np.zeros((2, len(n_of_pattern), len(names)), dtype=np.int32)
    for row, rater, code in label_parts:
        is_word = counts[rater, code] > 0
        np.add.at(
            counts_by_side, (is_inside[rater[is_word]].astype(int), row[is_word], code[is_word]), 1
        )
    shared = counts_by_side.any(axis=2).all(axis=0)
    n_items = int(n_of_pattern[shared].sum())
    other_counts, own_counts = np.einsum(
        "i,sik->sk", n_of_pattern[shared].astype(float), counts_by_side[:, shared]
    )
    is_usual = _find_usual_words(np.stack([other_counts, own_counts]))
    n_labels = int(is_usual.sum(axis=1).max(initial=0))
    if n_items < max(MIN_SHARED_ITEMS, MIN_ITEMS_PER_LABEL * n_labels) or n_labels > MAX_LABELS:
        return None
    common = max(
        own_counts[is_usual[0]].sum() / own_counts.sum(),
        other_counts[is_usual[1]].sum() / other_counts.sum(),
    )
    if common >= MAX_COMMON_SHARE:
        return None
    if is_usual.sum(axis=1).min() < 2 and (own_counts * other_counts).any():
        return None  # who always says one thing that others say too has no words of their own
    is_only_theirs = is_usual[1] & ~is_usual[0]
    is_only_others = is_usual[0] & ~is_usual[1]
    borrowed = max(
        other_counts[is_only_theirs].sum() / other_counts.sum(),
        own_counts[is_only_others].sum() / own_counts.sum(),
    )
    if borrowed > MAX_BORROWED_SHARE:
        return None
    co_occurrences = np.einsum(
        "i,ik,il->kl",
        n_of_pattern[shared].astype(float),
        counts_by_side[1, shared],
        counts_by_side[0, shared],
    )
    return ForeignWords(
        tuple(name for name, is_in in zip(raters, is_inside, strict=True) if is_in),
        tuple(np.array(names, dtype=object)[is_only_theirs]),
        tuple(np.array(names, dtype=object)[is_only_others]),
        n_items,
        not (is_usual[0] & is_usual[1]).any(),
        _translate_by_co_occurrence(
            co_occurrences, np.flatnonzero(is_only_theirs), np.flatnonzero(is_only_others), names
        ),
    )


def _translate_by_co_occurrence(
    co_occurrences: Array, own_labels: Codes, other_labels: Codes, names: Sequence[str]
) -> Mapping[str, str]:
    """The word of others for each own word, where each is the other's most common one."""
    translation: dict[str, str] = {}
    for label in own_labels:
        if not len(other_labels) or not co_occurrences[label, other_labels].any():
            continue
        likely_label = int(other_labels[np.argmax(co_occurrences[label, other_labels])])
        back = int(own_labels[np.argmax(co_occurrences[own_labels, likely_label])])
        if back == label:
            translation[names[label]] = names[likely_label]
    return translation
