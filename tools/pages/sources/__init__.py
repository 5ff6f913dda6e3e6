"""The five sources of the first measures: every figure they print, beside our own."""

from tools.pages.sources import campagner_cabitza, measures_rst, shah, siegel, um
from tools.pages.sources._figure import Figure, Source, Verdict

SOURCES: tuple[Source, ...] = (
    shah.SOURCE,
    um.SOURCE,
    campagner_cabitza.SOURCE,
    siegel.SOURCE,
    measures_rst.SOURCE,
)

__all__ = ["SOURCES", "Figure", "Source", "Verdict"]
