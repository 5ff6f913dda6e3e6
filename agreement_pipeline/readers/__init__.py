"""Readers: one export format a file. A file in this folder is enough.

A reader gives the ratings of a source as rows under canonical names.
"""

from importlib import import_module
from pkgutil import iter_modules

from agreement_pipeline.readers.columns import Columns, Layout
from agreement_pipeline.readers.files import UNFINISHED
from agreement_pipeline.readers.limits import Limits
from agreement_pipeline.readers.reading import read, read_rounds
from agreement_pipeline.readers.registry import READERS, Reader, Rows, register

for _module in iter_modules(__path__):
    import_module(f"{__name__}.{_module.name}")

__all__ = [
    "READERS",
    "UNFINISHED",
    "Columns",
    "Layout",
    "Limits",
    "Reader",
    "Rows",
    "read",
    "read_rounds",
    "register",
]
