"""Raters whose words do not meet, such as *yes* and *no* against *1* and *0*.

Their labels never agree, whatever they saw. So nothing can be said of who differs until their words
are mapped.
"""

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from agreement_pipeline.ratings.placeholders import placeholders_among
from agreement_pipeline.ratings.scale import Array, Codes
from agreement_pipeline.text import joined

if TYPE_CHECKING:
    from agreement_pipeline.ratings.ratings import Ratings

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
        only = "only " if self.has_no_common_word else ""
        groups = [[other, label] for label, other in self.translation.items()]
        options = " ".join(f"--same-label {json.dumps(f'{one}={two}')}" for one, two in groups)
        in_project = json.dumps(groups, ensure_ascii=False)
        how = (
            f"Map them, if they mean the same: {options} (same_label: {in_project} in a project)."
            if groups
            else "Map them: --same-label NAME=OTHER (same_label: [[NAME, OTHER]] in a project)."
        )
        return (
            f"{joined(self.raters, MAX_SHOWN)} {verb} {only}{_quoted(self.labels)}, which nobody "
            f"else uses; the others use {_quoted(self.other_labels)} on the {self.n_items:,} items "
            f"that they share. {how}"
        )


def _quoted(labels: Sequence[str]) -> str:
    return joined(map(repr, labels), MAX_SHOWN)


def foreign_words(ratings: "Ratings") -> tuple[ForeignWords, ...]:
    """The groups of raters whose words do not meet those of others, with whom they share items.

    Raters belong to one group if either uses words of the other in half of its ratings or more.
    Then the words of each group are compared on the items that it shares with others.
    """
    scale = ratings.scale
    if scale.level != "nominal" or not 2 <= len(ratings.names) <= MAX_RATERS:
        return ()
    n_raters, names = len(ratings.names), scale.names
    counts = np.zeros((n_raters, len(names)))
    rows = [
        (row, rater, ratings.positions(code))
        for row, rater, code in ratings.packing.given(ratings.patterns.words, range(n_raters))
    ]
    for row, rater, code in rows:
        np.add.at(counts, (rater, code), ratings.patterns.n[row])
    counts[:, [names.index(label) for label in placeholders_among(names)]] = 0
    group = _groups(counts)
    found = [int(each) for each in np.unique(group[counts.any(axis=1)])]
    if len(found) < 2:
        return ()
    largest = max(found, key=lambda each: (counts[group == each].sum(), -each))
    answers = (_compared(ratings, rows, group == each, counts) for each in found if each != largest)
    return tuple(each for each in answers if each is not None)


def _usual_words(counts: Array) -> np.ndarray:
    """The most common labels of each row of counts, which make up `USUAL_SHARE` of it."""
    order = np.argsort(-counts, axis=1, kind="stable")
    ordered = np.take_along_axis(counts, order, axis=1)
    before = np.cumsum(ordered, axis=1) - ordered
    total = counts.sum(axis=1, keepdims=True)
    usual = np.zeros(counts.shape, dtype=bool)
    np.put_along_axis(usual, order, (before < USUAL_SHARE * total) & (ordered > 0), axis=1)
    return usual


def _groups(counts: Array) -> Codes:
    """The number of each rater's group: raters whose words meet, also by way of others."""
    usual = _usual_words(counts).astype(float)
    shares = counts / np.maximum(counts.sum(axis=1, keepdims=True), 1)
    common = shares @ usual.T
    meets = np.maximum(common, common.T) >= MAX_COMMON_SHARE
    group: Codes = np.arange(len(counts))
    before: Codes = np.empty(0, dtype=np.int64)
    while not np.array_equal(group, before):
        before = group
        group = np.where(meets, group[None, :], len(counts)).min(axis=1, initial=len(counts))
        group = np.minimum(group, before)
    return group


def _compared(
    ratings: "Ratings",
    rows: Sequence[tuple[Codes, Codes, Codes]],
    inside: np.ndarray,
    counts: Array,
) -> ForeignWords | None:
    names, patterns = ratings.scale.names, ratings.patterns
    said = np.zeros((2, len(patterns.n), len(names)), dtype=np.int32)
    for row, rater, code in rows:
        is_word = counts[rater, code] > 0
        np.add.at(said, (inside[rater[is_word]].astype(int), row[is_word], code[is_word]), 1)
    shared = said.any(axis=2).all(axis=0)
    n_items = int(patterns.n[shared].sum())
    others, own = np.einsum("i,sik->sk", patterns.n[shared].astype(float), said[:, shared])
    usual = _usual_words(np.stack([others, own]))
    n_labels = int(usual.sum(axis=1).max(initial=0))
    if n_items < max(MIN_SHARED_ITEMS, MIN_ITEMS_PER_LABEL * n_labels) or n_labels > MAX_LABELS:
        return None
    common = max(own[usual[0]].sum() / own.sum(), others[usual[1]].sum() / others.sum())
    if common >= MAX_COMMON_SHARE:
        return None
    if usual.sum(axis=1).min() < 2 and (own * others).any():
        return None  # who always says one thing that others say too has no words of their own
    alone = usual[1] & ~usual[0]
    beside = usual[0] & ~usual[1]
    borrowed = max(others[alone].sum() / others.sum(), own[beside].sum() / own.sum())
    if borrowed > MAX_BORROWED_SHARE:
        return None
    together = np.einsum(
        "i,ik,il->kl", patterns.n[shared].astype(float), said[1, shared], said[0, shared]
    )
    return ForeignWords(
        tuple(name for name, is_in in zip(ratings.names, inside, strict=True) if is_in),
        tuple(np.array(names, dtype=object)[alone]),
        tuple(np.array(names, dtype=object)[beside]),
        n_items,
        not (usual[0] & usual[1]).any(),
        _translation(together, np.flatnonzero(alone), np.flatnonzero(beside), names),
    )


def _translation(
    together: Array, own: Codes, others: Codes, names: Sequence[str]
) -> Mapping[str, str]:
    found: dict[str, str] = {}
    for label in own:
        if not len(others) or not together[label, others].any():
            continue
        likely = int(others[np.argmax(together[label, others])])
        back = int(own[np.argmax(together[own, likely])])
        if back == label:
            found[names[label]] = names[likely]
    return found
