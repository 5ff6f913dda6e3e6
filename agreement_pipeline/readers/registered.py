"""All readers. To look through them, each file of the folder `tools` is loaded."""

from importlib import import_module
from pkgutil import iter_modules

from agreement_pipeline.readers import table, tools
from agreement_pipeline.readers.registry import READERS

assert table.TABLE.name in READERS
for _module in iter_modules(tools.__path__):
    import_module(f"{tools.__name__}.{_module.name}")

__all__ = ["READERS"]
