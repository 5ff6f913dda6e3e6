"""What a project says of the source of its rounds."""

import re

from pydantic import BaseModel, ConfigDict, field_validator, model_validator

from agreement_pipeline.sources.source import RoundSource
from agreement_pipeline.sources.sql import QuerySource
from agreement_pipeline.text import joined, listed

ASSET = re.compile(r"[^/\x00-\x1f\x7f]{1,200}(/[^/\x00-\x1f\x7f]{1,200}){0,20}")
VARIABLE = re.compile(r"[A-Za-z_][A-Za-z0-9_]{0,99}")
KEYS_BESIDE = {"asset": ("io_manager",), "query": ("rounds", "connection_from")}
"""The keys of which one chooses the kind of source, each with those that may stand beside it."""


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
    """

    model_config = ConfigDict(extra="forbid", frozen=True)

    asset: str | None = None
    io_manager: str | None = None
    query: str | None = None
    rounds: str | None = None
    connection_from: str | None = None

    @field_validator("connection_from")
    @classmethod
    def _name_of_variable(cls, value: str | None) -> str | None:
        """What stands here instead may be the secret itself, so it is not repeated."""
        if value is not None and not VARIABLE.fullmatch(value):
            raise ValueError(
                "found something else than the name of an environment variable; expected letters, "
                "digits and underscores, as WAREHOUSE_URL. Put the URL into the variable."
            )
        return value

    @model_validator(mode="after")
    def _is_one_source(self) -> "RoundsFrom":
        keys = [key for key in type(self).model_fields if getattr(self, key) is not None]
        kinds = [key for key in keys if key in KEYS_BESIDE]
        if len(kinds) != 1:
            raise ValueError(
                f"found {joined(kinds) if kinds else 'no source'}; expected one of "
                f"{listed(KEYS_BESIDE)}. Name the source of the rounds."
            )
        if others := [key for key in keys if key not in (*kinds, *KEYS_BESIDE[kinds[0]])]:
            raise ValueError(
                f"found {joined(others)} beside {kinds[0]}; expected "
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
        return f"asset {self.asset}" if self.asset is not None else "query of rounds_from"

    def open(self) -> RoundSource | None:
        """What rounds are pulled from. None if an orchestrator hands them over."""
        if self.query is not None:
            return QuerySource(self.query, self.rounds or "", self.connection_from or "")
        return None
