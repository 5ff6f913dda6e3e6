"""All readers. To look through them, each file of this folder is loaded."""

from importlib import import_module
from pkgutil import iter_modules

from agreement_pipeline.readers.exports import READERS
from agreement_pipeline.readers.table import TABLE

assert TABLE.name in READERS
for _module in iter_modules(__path__):
    import_module(f"{__name__}.{_module.name}")

__all__ = ["READERS"]
