"""What a project file may say."""

import re
from collections.abc import Sequence
from typing import Literal, Self

import dagster as dg
from dagster._core.definitions.utils import is_valid_owner
from dagster._utils.schedules import is_valid_cron_schedule
from pydantic import ValidationInfo, field_validator, model_validator

from agreement_pipeline.ratings import Level, Scale
from agreement_pipeline.readers import LIMITS, Limits
from agreement_pipeline.text import listed

NAME = re.compile(r"[a-z][a-z0-9_]{0,49}")
IN_CONFIGS = re.compile(r"[A-Za-z0-9][A-Za-z0-9._-]{0,99}")
PLACE = re.compile(
    r"(?=.{1,2000}\Z)[^\x00-\x1f\x7f\ud800-\udfff/]{0,200}(/[^\x00-\x1f\x7f\ud800-\udfff/]{0,200})*"
)
SPANS = {"overdue_after_days": (1, 10_000), "settle_seconds": (0, 86_400)}


class ScaleSettings(dg.Model):
    """The scale of the labels."""

    level: Level = "nominal"
    categories: list[str | int | float]

    @field_validator("categories", mode="before")
    @classmethod
    def _written_out(cls, value: object) -> object:
        if isinstance(value, list) and any(isinstance(category, bool) for category in value):
            raise ValueError(
                "yes, no, true and false are read as truth values here; put such categories in quotes"
            )
        return value

    @model_validator(mode="after")
    def _a_scale(self) -> Self:
        Scale(tuple(self.categories), self.level)
        return self


class ColumnSettings(dg.Model):
    """What the columns of the export are called."""

    item: str = "item"
    rater: str = "rater"
    label: str = "label"
    round: str | None = None
    occurrence: str | None = None
    confidence: str | None = None
    timestamp: str | None = None
    text: str | None = None
    gold: str | None = None
    cluster: str | None = None
    raters: Sequence[str] = ()


class LimitSettings(dg.Model):
    """The most that is read of one table; what is left out is as in `readers.limits`."""

    file_bytes: int = LIMITS.file_bytes
    rows: int = LIMITS.rows
    columns: int = LIMITS.columns
    name_length: int = LIMITS.name_length

    @model_validator(mode="after")
    def _limits(self) -> Self:
        Limits(**self.model_dump())
        return self


class ProjectSettings(dg.Model):
    """One annotation project: where its rounds arrive, what a label may be, and the policy they are judged by.

    Attributes
    ----------
    project
        Its name: lower case letters, digits and underscores.
    inbox
        A folder with one file a round, or a table that names the round of each row (`columns.round`).
    scale, columns, layout
        What the labels may be, and how the tables are laid out: long (a row a rating) or wide (a column a rater).
    classifiers
        Raters that are models.
    replicates
        within: a rater meets an item again in the same round. across: the same items come back in later rounds.
    policy, contract
        The name of a file in configs/policies, and of a folder in configs/contracts; the built-in contract when omitted.
    store
        Where rounds, decisions and releases are kept: a folder, or a URL such as s3://bucket/folder.
    schedule
        When everything is measured again, as a cron expression.
    overdue_after_days
        A round is overdue when none came for so long.
    settle_seconds
        A file is taken as complete when it has not changed for so long.
    limits
        How large a table may be, and the names in it.
    root
        The folder that relative paths start from.
    """

    project: str
    inbox: str
    scale: ScaleSettings
    policy: str
    description: str = ""
    columns: ColumnSettings = ColumnSettings()
    layout: Literal["long", "wide"] = "long"
    classifiers: Sequence[str] = ()
    replicates: Literal["within", "across"] = "within"
    contract: str | None = None
    store: str | None = None
    schedule: str = "0 6 * * 1"
    overdue_after_days: int = 8
    settle_seconds: float = 2.0
    owners: Sequence[str] = ()
    limits: LimitSettings = LimitSettings()
    root: str = "."

    @field_validator("project")
    @classmethod
    def _plain_name(cls, value: str) -> str:
        if not NAME.fullmatch(value):
            raise ValueError(
                f"{value!r} found; a lower case letter, then letters, digits or underscores, 50 at most, are required"
            )
        return value

    @field_validator("policy", "contract")
    @classmethod
    def _in_configs(cls, value: str | None) -> str | None:
        if value is not None and not IN_CONFIGS.fullmatch(value):
            raise ValueError(
                f"{value!r} found; a name in configs/ is required: letters, digits, dots, hyphens and underscores, 100 at most"
            )
        return value

    @field_validator("inbox", "store", "root")
    @classmethod
    def _place(cls, value: str | None) -> str | None:
        if value is not None and not PLACE.fullmatch(value):
            raise ValueError(
                f"{value[:50]!r} found; a path or a URL is required: signs that print, 200 at most between slashes, 2000 at most in all"
            )
        return value

    @field_validator("schedule")
    @classmethod
    def _cron(cls, value: str) -> str:
        if not (value.isascii() and value.isprintable() and is_valid_cron_schedule(value)):
            raise ValueError(
                f"{value!r} found; a cron expression of five fields is required, as 0 6 * * 1"
            )
        return value

    @field_validator("overdue_after_days", "settle_seconds")
    @classmethod
    def _span(cls, value: float, info: ValidationInfo) -> float:
        least, most = SPANS[str(info.field_name)]
        if not least <= value <= most:
            raise ValueError(f"{value!r} found; a number from {least} to {most} is required")
        return value

    @field_validator("owners")
    @classmethod
    def _reachable(cls, value: Sequence[str]) -> Sequence[str]:
        if wrong := [owner for owner in value if not is_valid_owner(owner)]:
            raise ValueError(
                f"{listed(wrong)} found; an e-mail address, or a team's name after team:, is required"
            )
        return value
