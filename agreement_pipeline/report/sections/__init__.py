"""The sections of the pages: one file a section. A file in this folder is enough."""

from importlib import import_module
from pkgutil import iter_modules

from agreement_pipeline.report.sections.record import (
    SECTIONS,
    Of,
    PageSection,
    section,
    sections_of,
)

for _module in iter_modules(__path__):
    import_module(f"{__name__}.{_module.name}")

__all__ = ["SECTIONS", "Of", "PageSection", "section", "sections_of"]
