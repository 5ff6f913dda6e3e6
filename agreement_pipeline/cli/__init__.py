"""The command line."""

from agreement_pipeline.cli.app import main

__all__ = ["main"]
