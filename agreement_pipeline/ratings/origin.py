"""Where ratings came from: what their export can show, and what of it are no ratings."""

from collections import Counter
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field, replace
from types import MappingProxyType
from typing import Any, Literal, get_args

from agreement_pipeline.errors import RatingsError

CAPABILITIES = {
    "raters": "who answered",
    "times": "when",
    "skips": "which items a rater skipped",
    "drafts": "which answers are drafts",
    "gold": "which answers are known to be right, and were given by no rater",
    "reviews": "the answer before a reviewer changed it",
    "assisted": "which answers began as a suggestion",
    "predictions": "what models answered",
    "confidence": "how sure a rater or a model was",
    "none": "that a rater ticked nothing, apart from no answer",
    "rejected": "which work was rejected",
}

NO_ANSWER = "no answer"
COLUMNS_NOT_READ = "columns of labels not read"
"""The columns have raters' names, so only their number is kept."""
SAME_LABEL_TWICE = "same label twice"
"""Rows that repeat the item, rater and label of another one; no setting says what they are."""
DUPLICATE = "duplicate"
"""Rows that the setting `duplicates` left out: the first or the last one counts."""

Part = Literal["", "marking", "naming"]
"""The question about marked objects that ratings answer. Empty: both, or they are no units."""

NO_COUNTS: Mapping[str, int] = MappingProxyType({})


@dataclass(frozen=True)
class Origin:
    """The export that ratings came from.

    Attributes
    ----------
    shows
        What it can show, of `CAPABILITIES`.
    left_out
        How many of its rows are no ratings, by reason, or how many columns were not read.
    part
        *marking* or *naming*, if the ratings answer this question about marked objects alone.
    classifiers
        What it says of models among the raters, as plain data with the `name` of the rater. Two
        with one name are two models.
    items_before
        How many of its items were left out, since they came before without a new rating, by the
        first round that has them.
    delivery
        The stratum of the items that came in no earlier delivery, if some came in one.
    unchanged
        How many items stay that came in an earlier round with the same labels, if the project does
        not say how its deliveries follow each other. Gold items do not count.
    unread
        Names of columns or fields of the delivery that do not go with the items.
    different_raters
        Groups of raters whose names print alike, and who are several raters all the same.
    """

    reader: str
    shows: tuple[str, ...]
    left_out: Mapping[str, int] = field(default_factory=lambda: NO_COUNTS)
    part: Part = ""
    classifiers: tuple[Mapping[str, Any], ...] = ()
    items_before: Mapping[str, int] = field(default_factory=lambda: NO_COUNTS)
    delivery: str = ""
    unchanged: int = 0
    unread: tuple[str, ...] = ()
    different_raters: tuple[tuple[str, ...], ...] = ()

    @classmethod
    def build(
        cls,
        reader: str,
        shows: Iterable[str],
        left_out: Mapping[str, int],
        part: Part = "",
        classifiers: Iterable[Mapping[str, Any]] = (),
    ) -> "Origin":
        present = frozenset(shows)
        return cls(
            reader,
            tuple(name for name in CAPABILITIES if name in present),
            dict(sorted(left_out.items())),
            part,
            tuple(classifiers),
        )

    @classmethod
    def from_mapping(cls, data: Mapping[str, Any]) -> "Origin":
        try:
            part = data.get("part", "")
            classifiers = data.get("classifiers", ())
            groups = data.get("different_raters", ())
            origin = cls.build(
                str(data["reader"]), data["shows"], data["left_out"], part, classifiers
            )
            are_named = all(isinstance(classifier["name"], str) for classifier in classifiers)
            origin = replace(
                origin,
                items_before=dict(sorted(data.get("items_before", {}).items())),
                delivery=str(data.get("delivery", "")),
                unchanged=data.get("unchanged", 0),
                unread=tuple(data.get("unread", ())),
                different_raters=tuple(map(tuple, groups)),
            )
            numbers = [*origin.left_out.values(), *origin.items_before.values()]
            counts = [type(count) is int and count > 0 for count in numbers]
            counts.append(type(origin.unchanged) is int and origin.unchanged >= 0)
            are_named &= all(isinstance(name, str) for group in groups for name in group)
            is_same = origin.to_mapping() == dict(data)
            are_names = all(isinstance(name, str) for name in origin.unread)
            is_right = (
                is_same and are_named and are_names and all(counts) and part in get_args(Part)
            )
        except (AttributeError, KeyError, TypeError):
            is_right = False
        if not is_right:
            raise RatingsError(
                f"origin: found {str(data)[:60]}; expected a reader, what it shows and what was "
                "left out. Ingest the round again."
            )
        return origin

    def to_mapping(self) -> dict[str, Any]:
        part = {"part": self.part} if self.part else {}
        classifiers = {"classifiers": list(self.classifiers)} if self.classifiers else {}
        entries = {"reader": self.reader, "shows": list(self.shows), "left_out": {**self.left_out}}
        earlier: dict[str, Any] = {}
        if self.items_before:
            earlier["items_before"] = dict(sorted(self.items_before.items()))
        if self.delivery:
            earlier["delivery"] = self.delivery
        if self.unchanged:
            earlier["unchanged"] = self.unchanged
        if self.different_raters:
            earlier["different_raters"] = [list(group) for group in self.different_raters]
        unread = {"unread": list(self.unread)} if self.unread else {}
        return {**entries, **part, **classifiers, **earlier, **unread}

    def with_left_out(self, reason: str, count: int) -> "Origin":
        """The origin with more rows left out for a reason."""
        counts = Counter(self.left_out) + Counter({reason: count})
        return replace(self, left_out=dict(sorted(counts.items())))

    def with_raters_renamed(self, names: Mapping[str, str]) -> "Origin":
        """Raters without a new name keep their old one."""
        groups = (tuple(names.get(name, name) for name in group) for group in self.different_raters)
        return replace(self, different_raters=tuple(groups))

    def without_rater(self, name: str) -> "Origin":
        """Nothing in it names the rater."""
        classifiers = tuple(
            classifier for classifier in self.classifiers if classifier["name"] != name
        )
        groups = (tuple(n for n in group if n != name) for group in self.different_raters)
        several = tuple(group for group in groups if len(group) > 1)
        return replace(self, classifiers=classifiers, different_raters=several)

    def missing_capabilities(self, required: Iterable[str] = CAPABILITIES) -> tuple[str, ...]:
        """The capabilities, of those required, that the export does not show."""
        return tuple(name for name in required if name not in self.shows)

    @property
    def left_out_in_words(self) -> str:
        """How many rows are no ratings, in words. Empty if all are.

        >>> Origin("argilla", (), {"draft": 2, "skipped": 1}).left_out_in_words
        'draft 2, skipped 1'
        """
        return ", ".join(f"{reason} {count}" for reason, count in self.left_out.items())
