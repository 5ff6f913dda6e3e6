"""Scales of numbers and of vectors."""

from agreement_pipeline.ratings import Scale

INTERVAL = Scale(None, "interval")
PLANE = Scale(None, "multivariate interval", dimensions=2)
