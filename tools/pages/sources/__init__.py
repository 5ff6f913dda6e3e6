"""The sources of the measures: every figure they print, beside our own."""

from tools.pages.sources import (
    campagner_cabitza,
    krippendorff,
    measures_rst,
    segeval,
    shah,
    siegel,
    um,
)
from tools.pages.sources._figure import Figure, Source, Verdict

SOURCES: tuple[Source, ...] = (
    shah.SOURCE,
    um.SOURCE,
    campagner_cabitza.SOURCE,
    siegel.SOURCE,
    measures_rst.SOURCE,
    *krippendorff.SOURCES,
    segeval.SOURCE,
)

__all__ = ["SOURCES", "Figure", "Source", "Verdict"]
