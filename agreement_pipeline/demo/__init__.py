"""Simulated rounds, and a run of every project."""

from agreement_pipeline.demo.rounds import write_export as write_export
from agreement_pipeline.demo.run import run_demo as run_demo
