"""The sections of the pages: a file a noun, a function a section."""

from importlib import import_module
from pkgutil import iter_modules

from agreement_pipeline.report.section import sections_of

for _module in iter_modules(__path__):
    import_module(f"{__name__}.{_module.name}")

__all__ = ["sections_of"]
