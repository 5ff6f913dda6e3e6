"""From `Ratings` to sufficient statistics: one engine a file. A file in this folder is enough."""

from importlib import import_module
from pkgutil import iter_modules

from agreement_pipeline.engines.aggregated import CountsOfItems, read_contingency, read_counts
from agreement_pipeline.engines.counted import CountedRatings, summed
from agreement_pipeline.engines.gathered import gathered, read_through
from agreement_pipeline.engines.opening import (
    CHOICES,
    EngineName,
    engine_of,
    only_in_memory,
    read,
)
from agreement_pipeline.engines.protocol import ENGINES, Engine, engine_for

for _module in iter_modules(__path__):
    import_module(f"{__name__}.{_module.name}")

__all__ = [
    "CHOICES",
    "ENGINES",
    "CountedRatings",
    "CountsOfItems",
    "Engine",
    "EngineName",
    "engine_for",
    "engine_of",
    "gathered",
    "only_in_memory",
    "read",
    "read_contingency",
    "read_counts",
    "read_through",
    "summed",
]
