"""The names of the parts of a page that links lead to."""

from agreement_pipeline.estimates import Scope
from agreement_pipeline.report.judged import JudgedRound

MOST_TOLD = 20


def category_anchor(judged: JudgedRound, name: str) -> str:
    """Where a category is told of."""
    return f"category-{judged.labels.names.index(name) + 1}"


def rater_anchor(judged: JudgedRound, name: str) -> str:
    """Where a rater is told of; empty if that is nowhere."""
    return f"rater-{judged.raters.index(name) + 1}" if name in judged.raters else ""


def pair_anchor(judged: JudgedRound, one: str, other: str) -> str:
    """Where a pair of raters is told of; empty if that is nowhere."""
    pair = {one, other}
    told = any({*names} == pair for names in told_pairs(judged))
    places = sorted(judged.labellers.index(name) + 1 for name in pair) if told else []
    return "pair-{}-{}".format(*places) if told else ""


def told_pairs(judged: JudgedRound) -> list[tuple[str, str]]:
    """The pairs of raters that a page tells of: those who agree least."""
    scopes = {each.scope: each for each in judged.pairs}
    known = [pair for pair in judged.shown.pairs if Scope.of_pair(*pair) in scopes]
    order = list(scopes)
    return sorted(known, key=lambda pair: order.index(Scope.of_pair(*pair)))[:MOST_TOLD]
