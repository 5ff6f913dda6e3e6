"""Readers: one export format a file. A file in this folder is enough.

A reader gives the ratings of a source as rows under canonical names.
"""

from importlib import import_module
from pkgutil import iter_modules

from agreement_pipeline.ratings.limits import LIMITS, Limits
from agreement_pipeline.readers.aggregated import whole_numbers
from agreement_pipeline.readers.columns import (
    COLUMNS,
    Columns,
    Layout,
    chosen_columns,
    probable_columns,
    unnamed_columns,
)
from agreement_pipeline.readers.exports import Export
from agreement_pipeline.readers.files import UNFINISHED, is_packed, unpacked, without_ending
from agreement_pipeline.readers.json_files import how_far
from agreement_pipeline.readers.parquet import footer_of, named_in_schema
from agreement_pipeline.readers.reading import (
    CHOICES,
    EngineName,
    checked_rows,
    of_round,
    origin_of_table,
    read,
    read_marked,
    read_rounds,
    rows_of,
    unnamed,
)
from agreement_pipeline.readers.registry import (
    READERS,
    Reader,
    Source,
    is_of_a_tool,
    reader_of,
    register,
)
from agreement_pipeline.readers.rows import Rows
from agreement_pipeline.readers.rules import RULES, Rejected, Rules
from agreement_pipeline.readers.table import labels_left_out
from agreement_pipeline.readers.tool import answers

for _module in iter_modules(__path__):
    import_module(f"{__name__}.{_module.name}")

__all__ = [
    "CHOICES",
    "COLUMNS",
    "LIMITS",
    "READERS",
    "RULES",
    "UNFINISHED",
    "Columns",
    "EngineName",
    "Export",
    "Layout",
    "Limits",
    "Reader",
    "Rejected",
    "Rows",
    "Rules",
    "Source",
    "answers",
    "checked_rows",
    "chosen_columns",
    "footer_of",
    "how_far",
    "is_of_a_tool",
    "is_packed",
    "labels_left_out",
    "named_in_schema",
    "of_round",
    "origin_of_table",
    "probable_columns",
    "read",
    "read_marked",
    "read_rounds",
    "reader_of",
    "register",
    "rows_of",
    "unnamed",
    "unnamed_columns",
    "unpacked",
    "whole_numbers",
    "without_ending",
]
