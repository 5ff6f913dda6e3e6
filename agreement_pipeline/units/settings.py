"""What a project says about the units of its objects, and which rule reads what of it."""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, fields
from typing import Annotated, ClassVar, Literal, NamedTuple, get_args

from agreement_pipeline.errors import ProjectError
from agreement_pipeline.mistakes import (
    CLOSED,
    Requirement,
    Value,
    is_number,
    is_whole_number_between,
    one_of_value,
    refuse_mistakes,
)
from agreement_pipeline.units.objects import KINDS

Similarity = Literal["iou", "overlap", "exact", "oks"]
SIMILARITIES: tuple[str, ...] = get_args(Similarity)
Part = Literal["all", "marking", "naming"]
KEYPOINTS = "keypoints"


class UnitRule(NamedTuple):
    """Which kinds of objects a rule makes units of, and which settings it reads."""

    kinds: frozenset[str]
    settings: frozenset[str]


AREAS_IN_LINE = frozenset({"spans", "segments"})
OF_AREAS = AREAS_IN_LINE | {"boxes", "polygons", "keypoints"}
MATCHING = frozenset({"similarity", "at_least", "sigmas", "part"})
RULES = {
    "positions": UnitRule(AREAS_IN_LINE, frozenset({"step", "part"})),
    "matched": UnitRule(OF_AREAS, MATCHING),
    "paired": UnitRule(OF_AREAS, MATCHING),
    "pairs": UnitRule(
        frozenset({"rankings", "preferences"}), frozenset({"most_pairs", "alternatives"})
    ),
    "members": UnitRule(frozenset({"sets"}), frozenset({"members"})),
    "criteria": UnitRule(frozenset({"rubrics"}), frozenset({"criterion"})),
}
"""The first rule that has a kind of objects is its usual one."""


def _are_names(value: object) -> bool:
    return isinstance(value, tuple) and all(isinstance(name, str) for name in value)


def _maps_names_to_texts(value: object) -> bool:
    return value is None or (
        isinstance(value, Mapping)
        and all(isinstance(text, str) for pair in value.items() for text in pair)
    )


def _is_above_0(value: object) -> bool:
    return isinstance(value, tuple) and all(is_number(number) and number > 0 for number in value)


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
    alternatives
        Of rankings and preferences: which field of the delivery has the text of which alternative,
        as {left: answer_a}. A field of the alternative's own name is found without it.
    part
        all: the units as they are. marking: whether raters marked them. naming: what those who
        marked them called them.

    Raises
    ------
    ProjectError
        A setting is not one of these, or the rule does not read it.
    """

    __pydantic_config__: ClassVar = CLOSED

    kind: Annotated[str, one_of_value(KINDS)]
    rule: Annotated[str, Value("the name of a rule", lambda value: isinstance(value, str))] = ""
    similarity: Annotated[Similarity | None, one_of_value(SIMILARITIES)] = None
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
    criterion: Annotated[str | None, Value("a name", lambda name: isinstance(name, str))] = None
    members: Annotated[tuple[str, ...], Value("a list of labels", _are_names, nested=True)] = ()
    most_pairs: Annotated[int, Value("a whole number from 1", is_whole_number_between(1))] = 500_000
    part: Annotated[Part, one_of_value(get_args(Part))] = "all"
    alternatives: Annotated[
        Mapping[str, str] | None,
        Value("fields by the names of alternatives", _maps_names_to_texts, nested=True),
    ] = None

    def __post_init__(self) -> None:
        refuse_mistakes(self, ProjectError)
        if not self.rule:
            default_rule = next(name for name, rule in RULES.items() if self.kind in rule.kinds)
            object.__setattr__(self, "rule", default_rule)
        refuse_mistakes(self, ProjectError, self._needs())
        if self.similarity is None and "similarity" in RULES[self.rule].settings:
            object.__setattr__(self, "similarity", "oks" if self.kind == KEYPOINTS else "iou")

    def _needs(self) -> Iterator[Requirement]:
        rule = RULES.get(self.rule)
        able = sorted(name for name, unit_rule in RULES.items() if self.kind in unit_rule.kinds)
        yield Requirement("rule", self.rule in able, f"one of {', '.join(able)} for {self.kind}")
        for setting in fields(self)[2:]:  # all but the kind and the rule
            is_read = rule is None or setting.name in rule.settings
            yield Requirement(
                setting.name,
                is_read or getattr(self, setting.name) == setting.default,
                f"nothing, since the rule {self.rule} does not read it",
                "Leave it out.",
            )
        of_keypoints = self.kind == KEYPOINTS
        alike = ("oks", "exact") if of_keypoints else ("iou", "overlap", "exact")
        fits = self.similarity in (None, *alike)
        yield Requirement("similarity", fits, f"one of {', '.join(alike)} for {self.kind}")
        yield Requirement(
            "sigmas",
            of_keypoints or not self.sigmas,
            "nothing, since only keypoints have them",
            "Leave them out.",
        )
