"""Readers of export formats. The folder `tools` has those of tools.

A reader gives the ratings of a source as rows under canonical names.
"""

from typing import TYPE_CHECKING

from agreement_pipeline.faces import later
from agreement_pipeline.ratings import LIMITS, Limits

if TYPE_CHECKING:
    from agreement_pipeline.readers.columns import (
        COLUMNS,
        Columns,
        Layout,
        probable_columns,
        unnamed_columns,
    )
    from agreement_pipeline.readers.exports import (
        Export,
        Reader,
        Source,
        reader_of,
        register,
    )
    from agreement_pipeline.readers.files import UNFINISHED, unpacked, without_ending
    from agreement_pipeline.readers.json_files import how_far
    from agreement_pipeline.readers.reading import (
        CHOICES,
        EngineName,
        read,
        read_marked,
        read_rounds,
        rows_of,
        unnamed,
    )
    from agreement_pipeline.readers.rules import Rejected, Rules
    from agreement_pipeline.readers.submissions import answers
    from agreement_pipeline.readers.table import labels_left_out, whole_numbers
    from agreement_pipeline.readers.tools import READERS
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
            "READERS": "tools",
            "Reader": "exports",
            "Rejected": "rules",
            "Rules": "rules",
            "Source": "exports",
            "UNFINISHED": "files",
            "answers": "submissions",
            "how_far": "json_files",
            "labels_left_out": "table",
            "probable_columns": "columns",
            "read": "reading",
            "read_marked": "reading",
            "read_rounds": "reading",
            "reader_of": "exports",
            "register": "exports",
            "rows_of": "reading",
            "unnamed": "reading",
            "unnamed_columns": "columns",
            "unpacked": "files",
            "whole_numbers": "table",
            "without_ending": "files",
        },
    )

__all__ = [
    "CHOICES",
    "COLUMNS",
    "LIMITS",
    "READERS",
    "UNFINISHED",
    "Columns",
    "EngineName",
    "Export",
    "Layout",
    "Limits",
    "Reader",
    "Rejected",
    "Rules",
    "Source",
    "answers",
    "how_far",
    "labels_left_out",
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
