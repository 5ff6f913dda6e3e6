"""From `Ratings` to sufficient statistics: one engine a file. A file in this folder is enough."""

from importlib import import_module
from pkgutil import iter_modules

from agreement_pipeline.engines.aggregated import CountsOfItems, read_contingency, read_counts
from agreement_pipeline.engines.counted import CountedRatings, summed
from agreement_pipeline.engines.opening import CHOICES, engine_of, read
from agreement_pipeline.engines.protocol import ENGINES, Engine, engine_for

for _module in iter_modules(__path__):
    import_module(f"{__name__}.{_module.name}")

__all__ = [
    "CHOICES",
    "ENGINES",
    "CountedRatings",
    "CountsOfItems",
    "Engine",
    "engine_for",
    "engine_of",
    "read",
    "read_contingency",
    "read_counts",
    "summed",
]
