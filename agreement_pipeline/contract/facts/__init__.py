"""What a round tells about itself: one file for each idea. A file in this folder is enough."""

from importlib import import_module
from pkgutil import iter_modules

from agreement_pipeline.contract.facts.fact import FACTS, Fact
from agreement_pipeline.contract.facts.panel import Panel

for _module in iter_modules(__path__):
    import_module(f"{__name__}.{_module.name}")

__all__ = ["FACTS", "Fact", "Panel"]
