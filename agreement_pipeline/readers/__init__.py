"""Readers: each reads one export format as rows under canonical names."""

from agreement_pipeline.readers.columns import Columns, Layout
from agreement_pipeline.readers.files import UNFINISHED
from agreement_pipeline.readers.limits import Limits
from agreement_pipeline.readers.reading import read, read_rounds
from agreement_pipeline.readers.registry import READERS, Reader

__all__ = [
    "READERS",
    "UNFINISHED",
    "Columns",
    "Layout",
    "Limits",
    "Reader",
    "read",
    "read_rounds",
]
