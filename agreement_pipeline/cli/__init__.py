"""The command line."""

from agreement_pipeline.cli.main import main

__all__ = ["main"]
