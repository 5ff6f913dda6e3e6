"""All readers: those in the files of this folder, and those of other packages."""

from importlib import import_module
from pkgutil import iter_modules

from agreement_pipeline.extensions import load_extensions
from agreement_pipeline.readers.exports import READERS
from agreement_pipeline.readers.table import TABLE

assert TABLE.name in READERS
for _module in iter_modules(__path__):
    import_module(f"{__name__}.{_module.name}")
load_extensions("agreement_pipeline.readers")

__all__ = ["READERS"]
