"""What a project says of the source of its rounds."""

import re

from pydantic import BaseModel, ConfigDict, model_validator

from agreement_pipeline.text import joined, listed

ASSET = re.compile(r"[^/\x00-\x1f\x7f]{1,200}(/[^/\x00-\x1f\x7f]{1,200}){0,20}")
KEYS_BESIDE = {"asset": ("io_manager",)}
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
    """

    model_config = ConfigDict(extra="forbid", frozen=True)

    asset: str | None = None
    io_manager: str | None = None

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
        if self.asset is not None and not ASSET.fullmatch(self.asset):
            raise ValueError(
                f"asset: found {self.asset!r}; expected the key of an asset, with slashes between "
                "its parts, as staging/annotations. Correct the key."
            )
        return self

    def __str__(self) -> str:
        return f"asset {self.asset}"
