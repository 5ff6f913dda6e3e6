"""Simulated rounds, and the projects that are run on them."""

from agreement_pipeline.demo.rounds import write_export
from agreement_pipeline.demo.run import run_demo

__all__ = ["run_demo", "write_export"]
