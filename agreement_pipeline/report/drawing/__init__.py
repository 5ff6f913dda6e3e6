"""Figures drawn as SVG: one file a kind of figure."""

from agreement_pipeline.report.drawing.image import image
from agreement_pipeline.report.drawing.lines import COLOURS
from agreement_pipeline.report.drawing.matrix import SHADES
from agreement_pipeline.report.drawing.svg import svg

__all__ = ["COLOURS", "SHADES", "image", "svg"]
