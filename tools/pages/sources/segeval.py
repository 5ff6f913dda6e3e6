"""segeval: agreement on the boundaries of segments (Fournier 2013)."""

from collections.abc import Mapping
from itertools import combinations, pairwise

from tools.pages.sources._figure import Figure, Source

Chapters = Mapping[str, tuple[str, ...]]
GROUP_5 = {
    "ch1": ("2 8 2 1", "11 2", "2 1 7 2 1", "9 4"),
    "ch3": ("2 3 4 2 5 17 4 1", "6 5 27", "3 8 2 3 17 2 2 1", "3 15 15 5"),
    "ch4": ("2 9 2 5 2 19 1 6", "17 25 4", "1 10 2 4 1 2 3 10 6 6 1", "12 5 29"),
    "ch11": (
        "10 4 3 2 1 8 3 2 6 1 2 8 10 9 4 10 4 8 4 3 5 4",
        "20 22 8 11 11 11 13 11 4",
        "1 7 2 4 3 3 10 1 1 5 3 2 8 3 3 3 14 4 1 1 4 4 2 7 3 2 3 3 2 1 1",
        "10 10 15 11 4 10 13 5 4 23 6",
    ),
}
GROUP_2 = {
    "ch2": ("4 7 3 1", "4 7 3 1", "5 6 3 1", "5 5 4 1", "14 1", "14 1"),
    "ch5": (
        "9 4 5 9 8 7",
        "2 1 6 3 2 4 17 7",
        "19 15 8",
        "4 10 5 1 14 4 4",
        "9 4 6 16 3 4",
        "13 6 15 8",
    ),
    "ch8": (
        "9 7 5 12 4 2",
        "3 5 4 3 6 7 5 4 2",
        "2 6 2 2 2 8 8 3 4 1 1",
        "2 6 4 3 6 7 5 4 1 1",
        "8 4 21 4 2",
        "3 5 4 10 9 6 2",
    ),
    "ch10": (
        "24 6 45 6 2",
        "3 3 2 3 8 1 4 6 11 22 10 6 4",
        "3 3 2 16 6 45 4 1 1 1 1",
        "3 5 16 5 8 2 23 13 4 4",
        "8 16 6 32 11 6 1 3",
        "3 3 2 11 5 6 45 4 4",
    ),
}
"""Lengths of segments: a text for each rater of a chapter."""


def boundaries(lengths: str) -> frozenset[int]:
    """Where one segment ends and the next begins.

    >>> sorted(boundaries("2 8 2 1"))
    [2, 10, 12]
    """
    at, found = 0, []
    for length in lengths.split()[:-1]:
        at += int(length)
        found.append(at)
    return frozenset(found)


def edits(one: frozenset[int], other: frozenset[int]) -> tuple[int, int, int]:
    """How many boundaries of two raters are the same, are neighbours, and have no partner.

    >>> edits(frozenset({2, 10, 12}), frozenset({2, 9, 30}))
    (1, 1, 2)
    """
    alone, near = sorted(one ^ other), 0
    taken: set[int] = set()
    for first, second in pairwise(alone):
        if second - first == 1 and first not in taken and (first in one) != (second in one):
            taken |= {first, second}
            near += 1
    return len(one & other), near, len(alone) - 2 * near


def agreement(chapters: Chapters) -> tuple[float, float, float]:
    """Observed agreement, chance and π of boundaries. Neighbours agree by half."""
    alike = of = 0.0
    shares = []
    for raters in chapters.values():
        length = sum(map(int, raters[0].split())) - 1
        marked = [boundaries(each) for each in raters]
        shares += [len(each) / length for each in marked]
        for one, other in combinations(marked, 2):
            same, near, alone = edits(one, other)
            alike += same + near / 2
            of += same + near + alone
    a_o, a_e = alike / of, (sum(shares) / len(shares)) ** 2
    return a_o, a_e, (a_o - a_e) / (1 - a_e)


def _figures() -> tuple[Figure, ...]:
    why = "by segeval's own formula"
    printed = {"5": "0.2399575652", "2": "0.4083169766"}
    groups: dict[str, Chapters] = {"5": GROUP_5, "2": GROUP_2}
    return tuple(
        Figure(
            f"Kazantseva and Szpakowicz (2012), group {name}",
            "Fleiss' π",
            figure,
            agreement(groups[name])[2],
            why=why,
        )
        for name, figure in printed.items()
    )


SOURCE = Source(
    "segeval 2.0.11",
    "Fournier, C. (2013). Evaluating text segmentation using boundary edit distance. ACL 2013, "
    "1702-1712. The segmentations and the figures stand in the package and its tests.",
    _figures(),
    "segeval calls it Fleiss' π, but it is another statistic, which no measure of this package "
    "is. Observed agreement is the boundary similarity B, in which neighbours count by half. "
    "Chance is the squared mean share of positions that are boundaries. Position by position, "
    "Fleiss' kappa of group 5 is 0.20082.",
)
