"""The record of a rule from objects to units, and what a project says about it."""

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import Annotated, ClassVar, Literal, get_args

import pandas as pd

from agreement_pipeline.errors import ProjectError
from agreement_pipeline.mistakes import (
    CLOSED,
    Need,
    Value,
    is_number,
    one_of,
    refuse_mistakes,
    whole,
)
from agreement_pipeline.ratings import Scale
from agreement_pipeline.units import answers, matched, positions
from agreement_pipeline.units.marked import Marked, scale_of_areas
from agreement_pipeline.units.objects import KINDS

Similarity = Literal["iou", "overlap", "exact", "oks"]
SIMILARITIES: tuple[str, ...] = get_args(Similarity)
Part = Literal["all", "marking", "naming"]
OF_RULES = (
    *("similarity", "at_least", "sigmas", "step", "criterion", "members", "most_pairs", "part"),
)
KEYPOINTS = "keypoints"
USUAL = {
    "spans": "positions",
    "segments": "positions",
    "boxes": "matched",
    "polygons": "matched",
    "keypoints": "matched",
    "rankings": "pairs",
    "preferences": "pairs",
    "sets": "members",
    "rubrics": "criteria",
}


def _is_names(value: object) -> bool:
    return isinstance(value, tuple) and all(isinstance(each, str) for each in value)


def _is_above_0(value: object) -> bool:
    return isinstance(value, tuple) and all(is_number(each) and each > 0 for each in value)


@dataclass(frozen=True)
class UnitSettings:
    """What a project says about the units of its objects.

    Parameters
    ----------
    kind
        spans, segments, boxes, polygons, keypoints, rankings, preferences, sets or rubrics.
    rule
        How objects become units. The usual rule of the kind if omitted.
    similarity
        iou (the usual one): the area of both over the area of either. overlap: the area of both
        over the smaller area. exact: 1 for the same place, else 0. oks: COCO's, of keypoints.
    at_least
        The similarity from which two objects are matched.
    sigmas
        How much raters vary at each keypoint, over the size of the body. COCO's for 17 points if
        omitted.
    step
        The length of a position, in characters or seconds.
    criterion
        The only criterion of a rubric that counts.
    members
        The labels that a set may hold. Those that somebody ticked if omitted.
    most_pairs
        How many pairs of alternatives all rankings may have together. More are refused before they
        fill the memory.
    part
        all: the units as they are. marking: whether raters marked them. naming: what those who
        marked them called them.

    Raises
    ------
    ProjectError
        A setting is not one of these, or the rule does not read it.
    """

    __pydantic_config__: ClassVar = CLOSED

    kind: Annotated[str, one_of(KINDS)]
    rule: Annotated[str, Value("the name of a rule", lambda value: isinstance(value, str))] = ""
    similarity: Annotated[
        Similarity | None,
        Value(one_of(SIMILARITIES).expected, lambda value: value in (None, *SIMILARITIES)),
    ] = None
    at_least: Annotated[
        float,
        Value("a number above 0 and up to 1", lambda value: is_number(value) and 0 < value <= 1),
    ] = 0.5
    sigmas: Annotated[
        tuple[float, ...], Value("a list of numbers above 0", _is_above_0, nested=True)
    ] = ()
    step: Annotated[
        float, Value("a number above 0", lambda value: is_number(value) and value > 0)
    ] = 1
    criterion: Annotated[
        str | None, Value("a name", lambda value: value is None or isinstance(value, str))
    ] = None
    members: Annotated[tuple[str, ...], Value("a list of labels", _is_names, nested=True)] = ()
    most_pairs: Annotated[int, Value("a whole number from 1", whole(1))] = 500_000
    part: Annotated[Part, one_of(get_args(Part))] = "all"

    def __post_init__(self) -> None:
        refuse_mistakes(self, ProjectError)
        if not self.rule:
            object.__setattr__(self, "rule", USUAL[self.kind])
        refuse_mistakes(self, ProjectError, self._needs())
        if self.similarity is None and "similarity" in RULES[self.rule].settings:
            object.__setattr__(self, "similarity", "oks" if self.kind == KEYPOINTS else "iou")

    def _needs(self) -> Iterator[Need]:
        rule = RULES.get(self.rule)
        able = sorted(name for name, each in RULES.items() if self.kind in each.kinds)
        yield Need(("rule",), self.rule in able, f"one of {', '.join(able)} for {self.kind}")
        for name in OF_RULES:
            read = rule is None or name in rule.settings
            usual = type(self).__dataclass_fields__[name].default
            yield Need(
                (name,),
                read or getattr(self, name) == usual,
                f"nothing, since the rule {self.rule} does not read it",
                "Leave it out.",
            )
        of_keypoints = self.kind == KEYPOINTS
        alike = ("oks", "exact") if of_keypoints else ("iou", "overlap", "exact")
        fits = self.similarity in (None, *alike)
        yield Need(("similarity",), fits, f"one of {', '.join(alike)} for {self.kind}")
        yield Need(
            ("sigmas",),
            of_keypoints or not self.sigmas,
            "nothing, since only keypoints have them",
            "Leave them out.",
        )


@dataclass(frozen=True)
class UnitRule:
    name: str
    title: str
    kinds: frozenset[str]
    settings: frozenset[str]
    rows: Callable[[Sequence[Marked], UnitSettings, Sequence[str]], pd.DataFrame]
    scale: Callable[[Sequence[Marked], str], Scale]


AREAS_IN_LINE = frozenset({"spans", "segments"})
OF_AREAS = AREAS_IN_LINE | {"boxes", "polygons", "keypoints"}
MATCHING = frozenset({"similarity", "at_least", "sigmas", "part"})
RULES = {
    each.name: each
    for each in (
        UnitRule(
            "positions",
            "each position of an item",
            AREAS_IN_LINE,
            frozenset({"step", "part"}),
            positions.rows,
            scale_of_areas,
        ),
        UnitRule(
            "matched",
            "objects that are alike",
            OF_AREAS,
            MATCHING,
            matched.rows,
            scale_of_areas,
        ),
        UnitRule(
            "paired",
            "objects that are alike, in each pair of raters",
            OF_AREAS,
            MATCHING,
            matched.rows_of_pairs,
            scale_of_areas,
        ),
        UnitRule(
            "pairs",
            "each pair of alternatives",
            frozenset({"rankings", "preferences"}),
            frozenset({"most_pairs"}),
            answers.pairs,
            lambda marked, source: Scale(answers.CHOICES),
        ),
        UnitRule(
            "members",
            "each label of an item",
            frozenset({"sets"}),
            frozenset({"members"}),
            answers.members,
            lambda marked, source: Scale(answers.ANSWERS),
        ),
        UnitRule(
            "criteria",
            "each criterion of a rubric",
            frozenset({"rubrics"}),
            frozenset({"criterion"}),
            answers.criteria,
            answers.scale_of_scores,
        ),
    )
}
