"""What every export is read as: one submission an answer sheet, with all its answers.

Missing, skipped and "none of them" are three things:

- missing: nobody answered. There is no submission, or no value for the question.
- skipped: the rater refused. The submission has the status `skipped`.
- none of them: the rater ticked nothing. The value is an empty set.
"""

from collections.abc import Mapping
from dataclasses import dataclass, field
from types import MappingProxyType
from typing import Any, Literal

Status = Literal["submitted", "skipped", "draft", "rejected"]
Kind = Literal["human", "model", "gold", "reviewer"]
Nothing: Mapping[str, Any] = MappingProxyType({})


@dataclass(frozen=True, slots=True)
class Submission:
    """What one rater or model handed in for one item.

    Attributes
    ----------
    item
        The tool's own name of the item.
    rater
        The tool's name of the rater. None: a deleted user, who is like nobody else.
    values
        The answer to each question: text, a number, a truth value, or a set of texts. A tuple is a
        list of ticks: a set, if anybody ticked more than one.
    status, kind
        What became of the work, and who did it.
    record
        The place in the source, for errors: unique in the export.
    created, updated
        Times in the form of `times.utc`.
    seconds
        How long the work took.
    confidence
        How sure the rater or model was, from 0 to 1.
    assisted
        True if the answer began as a suggestion. None: the export does not say.
    fields
        What is known of the item: its text, its round, its other names.
    """

    item: object
    rater: object
    values: Mapping[str, Any]
    record: str
    status: Status = "submitted"
    kind: Kind = "human"
    created: str | None = None
    updated: str | None = None
    seconds: float | None = None
    confidence: float | None = None
    assisted: bool | None = None
    fields: Mapping[str, Any] = field(default_factory=lambda: Nothing)
