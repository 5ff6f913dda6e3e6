"""Readers: one labelling tool a file, each from an export to canonical rows."""

from agreement_pipeline.readers.cells import UNFINISHED
from agreement_pipeline.readers.columns import Columns
from agreement_pipeline.readers.limits import LIMITS, Limits
from agreement_pipeline.readers.table import (
    of_round,
    read_ratings,
    read_rounds,
    read_table,
    refuse_unusable,
)

__all__ = [
    "LIMITS",
    "UNFINISHED",
    "Columns",
    "Limits",
    "of_round",
    "read_ratings",
    "read_rounds",
    "read_table",
    "refuse_unusable",
]
