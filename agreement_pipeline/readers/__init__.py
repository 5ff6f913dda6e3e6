"""Readers: one export format a file. A file in this folder is enough.

A reader gives the ratings of a source as rows under canonical names.
"""

from importlib import import_module
from pkgutil import iter_modules

from agreement_pipeline.readers.columns import COLUMNS, Columns, Layout, chosen_columns
from agreement_pipeline.readers.files import UNFINISHED
from agreement_pipeline.readers.limits import LIMITS, Limits
from agreement_pipeline.readers.reading import (
    Classifiers,
    checked_rows,
    of_round,
    read,
    read_rounds,
    refuse_lonely,
)
from agreement_pipeline.readers.registry import READERS, Reader, Rows, Source, register

for _module in iter_modules(__path__):
    import_module(f"{__name__}.{_module.name}")

__all__ = [
    "COLUMNS",
    "LIMITS",
    "READERS",
    "UNFINISHED",
    "Classifiers",
    "Columns",
    "Layout",
    "Limits",
    "Reader",
    "Rows",
    "Source",
    "checked_rows",
    "chosen_columns",
    "of_round",
    "read",
    "read_rounds",
    "refuse_lonely",
    "register",
]
