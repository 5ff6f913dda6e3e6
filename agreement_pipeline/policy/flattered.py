"""A verdict that the scale flatters is taken back.

Disagreement is read as a share of what chance gives. Few items with far labels raise what chance
gives, and so do categories that are declared and never used. Then raters who agree on nothing else
look reliable. So a verdict is taken back if the other items are clearly unreliable, or if it is not
met on the categories in use.
"""

from collections.abc import Iterator
from dataclasses import replace

import numpy as np

from agreement_pipeline.estimates import measure_ratings
from agreement_pipeline.policy.policy import Policy
from agreement_pipeline.policy.reasons import Kind
from agreement_pipeline.policy.rules import Verdict
from agreement_pipeline.ratings import Ratings, numbers_in, whole
from agreement_pipeline.text import DIGITS, counted, in_words

FEW, MOST = 0.25, 0.5


def unflattered(verdict: Verdict, *, ratings: Ratings, policy: Policy) -> Verdict:
    """The verdict, or an inconclusive one with the code *flattered* if it does not stand.

    Only verdicts on the whole round that the policy admits are looked at.
    """
    found = verdict.estimate
    if verdict.scope.kind != "round" or verdict.kind not in policy.admit or found is None:
        return verdict
    for what, rest, stands in _without(ratings, policy):
        again = measure_ratings(rest, verdict.rule.asks, policy.inference, scopes=("round",))
        other = next(iter(verdict.rule.judge(again)))
        if other.kind in stands or _is_same(verdict, other):
            continue
        said = f"{verdict.reason}; without {what} it is {other.kind}: {other.reason}"
        return replace(verdict, kind="inconclusive", reason=said, code="flattered")
    return verdict


def _is_same(verdict: Verdict, other: Verdict) -> bool:
    """True if the value is the same: then only the draws of its limits differ."""
    one, two = verdict.estimate, other.estimate
    if one is None or two is None or one.value is None or two.value is None:
        return False
    return round(one.value - two.value, DIGITS) == 0


def _without(ratings: Ratings, policy: Policy) -> Iterator[tuple[str, Ratings, tuple[Kind, ...]]]:
    """What may flatter, in words, the ratings without it, and the verdicts on them that suffice.

    The other items alone may be too few or too much alike to tell. That takes nothing back.
    """
    items, share = _far_items(ratings)
    if items:
        carry = "carries" if len(items) == 1 else "carry"
        what = (
            f"{counted(len(items), 'item')} that {carry} {in_words(share, '.0%')} "
            "of the expected disagreement"
        )
        rest = _on_used(ratings.with_gold(items).without_gold)
        yield what, rest, (*policy.admit, "inconclusive", "tentative", "not_evaluated")
    rest = _on_used(ratings)
    if rest is not ratings:
        n_unused = len(ratings.scale.categories or ()) - len(rest.scale.categories or ())
        what = "1 category" if n_unused == 1 else f"{n_unused} categories"
        yield f"{what} that nobody uses", rest, policy.admit


def _far_items(ratings: Ratings) -> tuple[frozenset[str], float]:
    """The few items that carry most of the expected disagreement, and their share of it."""
    if not ratings.scale.numeric:
        return frozenset(), 0.0
    rated = ratings.first(["item", "at", "number"])
    at, numbers = whole(rated["at"]), numbers_in(rated["number"])
    n_items = int(at.max(initial=-1)) + 1
    numbers = numbers.reshape(len(rated), -1)
    beyond = ((numbers - numbers.mean(axis=0)) ** 2).sum(axis=1)
    carried = np.bincount(at, beyond)
    order = np.argsort(-carried, kind="stable")
    shares = np.cumsum(carried[order]) / max(carried.sum(), np.finfo(float).tiny)
    n_far = int(np.searchsorted(shares, MOST)) + 1
    if n_far > FEW * n_items:
        return frozenset(), 0.0
    far = carried >= carried[order[n_far - 1]]
    if far.sum() > FEW * n_items:
        return frozenset(), 0.0
    names = rated["item"].take(np.searchsorted(at, np.flatnonzero(far)))
    return frozenset(names.to_pylist()), float(carried[far].sum() / carried.sum())


def _on_used(ratings: Ratings) -> Ratings:
    """The ratings on the declared categories that are used, if these are fewer and can differ."""
    scale = ratings.scale
    if scale.categories is None or not scale.declared:
        return ratings
    used = tuple(scale.categories[place] for place in ratings.given)
    if not 1 < len(used) < len(scale.categories):
        return ratings
    return replace(ratings, scale=replace(scale, categories=used))
