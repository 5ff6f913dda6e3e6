"""What a project says of the source of its rounds."""

import re
from typing import Literal

from pydantic import BaseModel, ConfigDict, field_validator, model_validator

from agreement_pipeline.mistakes import value_in_message
from agreement_pipeline.sources.label_studio import LabelStudio
from agreement_pipeline.sources.source import RoundSource
from agreement_pipeline.sources.sql import QuerySource
from agreement_pipeline.text import joined, listed

ASSET = re.compile(r"[^/\x00-\x1f\x7f]{1,200}(/[^/\x00-\x1f\x7f]{1,200}){0,20}")
VARIABLE = re.compile(r"[A-Za-z_][A-Za-z0-9_]{0,99}")
SERVED = re.compile(r"https?://(?![^/]*@)[!-~]{1,2000}")
VERSION_LENGTH = 8
KEYS_BESIDE: dict[str, tuple[str, ...]] = {
    "asset": ("io_manager",),
    "query": ("rounds", "connection_from"),
    "label_studio": (),
}
"""The keys of which one chooses the kind of source, each with those that may stand beside it."""


def require_variable(value: str) -> str:
    """What stands here instead may be the secret itself, so it is not repeated."""
    if not VARIABLE.fullmatch(value):
        raise ValueError(
            "found something else than the name of an environment variable; expected letters, "
            "digits and underscores, as WAREHOUSE_URL. Put the secret into the variable."
        )
    return value


class LabelStudioProjects(BaseModel):
    """Projects of a server of Label Studio.

    Attributes
    ----------
    url
        Where the server is.
    token_from
        The environment variable with an access token.
    projects
        The titles of the projects, in which * stands for any text, as 2026-W*. Each is a round.
    when
        finished: a project is a round when all its tasks are labelled. always: also before.
    raters
        email or id: what raters are called. An id is a pseudonym outside of the server.
    """

    model_config = ConfigDict(extra="forbid", frozen=True)

    url: str
    token_from: str
    projects: str
    when: Literal["finished", "always"] = "finished"
    raters: Literal["email", "id"] = "email"

    @field_validator("url")
    @classmethod
    def _require_served_url(cls, value: str) -> str:
        if not SERVED.fullmatch(value):
            raise ValueError(
                "found no URL of a server; expected http:// or https:// with a host, without a "
                "name and a password. Correct the url."
            )
        return value

    @field_validator("token_from")
    @classmethod
    def _require_variable_name(cls, value: str) -> str:
        return require_variable(value)


class AdjudicateIn(BaseModel):
    """Where adjudicators answer, and what their projects are called.

    Attributes
    ----------
    label_studio
        The title of the projects that are made on the server of rounds_from, with {round} in it, as
        adjudicate {round}. The version of the round is put behind it.
    """

    model_config = ConfigDict(extra="forbid", frozen=True)

    label_studio: str

    @field_validator("label_studio")
    @classmethod
    def _require_round_in_title(cls, value: str) -> str:
        if value.count("{round}") != 1 or not value.isprintable():
            raise ValueError(
                f"found {value_in_message(value)}; expected the title of a project with {{round}} "
                "once in it, "
                "as 'adjudicate {round}'. Correct the title."
            )
        return value

    def title(self, round_name: str, ratings_digest: str) -> str:
        """
        >>> AdjudicateIn(label_studio="adjudicate {round}").title("2026-W41", "3fa4b2c19d")
        'adjudicate 2026-W41 3fa4b2c1'
        """
        title_of_round = self.label_studio.replace("{round}", round_name)
        return f"{title_of_round} {ratings_digest[:VERSION_LENGTH]}"


class RoundsFrom(BaseModel):
    """Where rounds come from, if not as files in an inbox. One of the keys chooses the source.

    Attributes
    ----------
    asset
        The key of an asset of Dagster whose value is a table of ratings, as staging/annotations.
        Its partitions are the rounds, or `rounds` or `columns.round` tells the round of each row.
    io_manager
        The key of the IO manager that loads the asset, if it is not the asset's own.
    query
        The rows of a round, in SQL. `:round` stands for the round, and is bound as a parameter.
    rounds
        The query that lists the rounds. If it gives more columns, these tell the version of a
        round, which is taken again when they change.
    connection_from
        The environment variable with the URL of the database.
    label_studio
        Projects of a server of Label Studio.
    """

    model_config = ConfigDict(extra="forbid", frozen=True)

    asset: str | None = None
    io_manager: str | None = None
    query: str | None = None
    rounds: str | None = None
    connection_from: str | None = None
    label_studio: LabelStudioProjects | None = None

    @field_validator("connection_from")
    @classmethod
    def _require_variable_name(cls, value: str | None) -> str | None:
        return None if value is None else require_variable(value)

    @model_validator(mode="after")
    def _require_one_source(self) -> "RoundsFrom":
        keys = [key for key in type(self).model_fields if getattr(self, key) is not None]
        kinds = [key for key in keys if key in KEYS_BESIDE]
        if len(kinds) != 1:
            raise ValueError(
                f"found {joined(kinds) if kinds else 'no source'}; expected one of "
                f"{listed(KEYS_BESIDE)}. Name the source of the rounds."
            )
        if unfitting := [key for key in keys if key not in (*kinds, *KEYS_BESIDE[kinds[0]])]:
            raise ValueError(
                f"found {joined(unfitting)} beside {kinds[0]}; expected "
                f"{listed([kinds[0], *KEYS_BESIDE[kinds[0]]])}. Leave the others out."
            )
        if self.query is not None and None in (self.rounds, self.connection_from):
            raise ValueError(
                "found query without rounds or connection_from; expected the query that lists the "
                "rounds, and the environment variable with the URL of the database. Add them."
            )
        if self.asset is not None and not ASSET.fullmatch(self.asset):
            raise ValueError(
                f"asset: found {self.asset!r}; expected the key of an asset, with slashes between "
                "its parts, as staging/annotations. Correct the key."
            )
        return self

    def __str__(self) -> str:
        if self.label_studio is not None:
            return f"{self.label_studio.url}, projects {self.label_studio.projects}"
        return f"asset {self.asset}" if self.asset is not None else "query of rounds_from"

    def open(self, *, is_whole: bool) -> RoundSource | None:
        """What rounds are pulled from, which may be one file with all of them.

        None if an orchestrator hands them over.
        """
        if self.label_studio is not None:
            return LabelStudio(**self.label_studio.model_dump(), is_whole=is_whole)
        if self.query is not None:
            return QuerySource(self.query, self.rounds or "", self.connection_from or "")
        return None
