"""Figures drawn as SVG: one file a kind of figure."""

from agreement_pipeline.report.drawing.svg import svg

__all__ = ["svg"]
