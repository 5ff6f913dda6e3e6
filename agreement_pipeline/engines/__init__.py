"""From `Ratings` to sufficient statistics: one engine a file."""

from agreement_pipeline.engines.memory import Memory
from agreement_pipeline.engines.protocol import ENGINES, Engine, engine_for

__all__ = ["ENGINES", "Engine", "Memory", "engine_for"]
