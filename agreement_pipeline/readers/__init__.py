"""Readers: one export format a file. The folder `tools` has those of tools.

A reader gives the ratings of a source as rows under canonical names.
"""

from typing import TYPE_CHECKING

from agreement_pipeline.faces import later
from agreement_pipeline.ratings import LIMITS, Limits

if TYPE_CHECKING:
    from agreement_pipeline.readers.aggregated import whole_numbers
    from agreement_pipeline.readers.class_labels import named_in_schema
    from agreement_pipeline.readers.columns import (
        COLUMNS,
        Columns,
        Layout,
        chosen_columns,
        probable_columns,
        unnamed_columns,
    )
    from agreement_pipeline.readers.exports import Export
    from agreement_pipeline.readers.files import UNFINISHED
    from agreement_pipeline.readers.json_stream import how_far
    from agreement_pipeline.readers.packed import is_packed, unpacked, without_ending
    from agreement_pipeline.readers.parquet import footer_of
    from agreement_pipeline.readers.reading import (
        CHOICES,
        EngineName,
        checked_rows,
        read,
        read_marked,
        read_rounds,
    )
    from agreement_pipeline.readers.registered import READERS
    from agreement_pipeline.readers.registry import (
        Reader,
        Rows,
        Source,
        is_of_a_tool,
        reader_of,
        register,
    )
    from agreement_pipeline.readers.rules import RULES, Rejected, Rules
    from agreement_pipeline.readers.sources import of_round, origin_of_table, rows_of, unnamed
    from agreement_pipeline.readers.table import labels_left_out
    from agreement_pipeline.readers.tool import answers
else:
    __getattr__, __dir__ = later(
        __name__,
        {
            "CHOICES": "reading",
            "COLUMNS": "columns",
            "Columns": "columns",
            "EngineName": "reading",
            "Export": "exports",
            "Layout": "columns",
            "READERS": "registered",
            "RULES": "rules",
            "Reader": "registry",
            "Rejected": "rules",
            "Rows": "registry",
            "Rules": "rules",
            "Source": "registry",
            "UNFINISHED": "files",
            "answers": "tool",
            "checked_rows": "reading",
            "chosen_columns": "columns",
            "footer_of": "parquet",
            "how_far": "json_stream",
            "is_of_a_tool": "registry",
            "is_packed": "packed",
            "labels_left_out": "table",
            "named_in_schema": "class_labels",
            "of_round": "sources",
            "origin_of_table": "sources",
            "probable_columns": "columns",
            "read": "reading",
            "read_marked": "reading",
            "read_rounds": "reading",
            "reader_of": "registry",
            "register": "registry",
            "rows_of": "sources",
            "unnamed": "sources",
            "unnamed_columns": "columns",
            "unpacked": "packed",
            "whole_numbers": "aggregated",
            "without_ending": "packed",
        },
    )

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
