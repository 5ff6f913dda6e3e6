"""The measures: one file a family, one function a measure. A file in this folder is enough."""

from importlib import import_module
from pkgutil import iter_modules

from agreement_pipeline.measures.alternative import (
    AlternativeAnnotatorTest,
    alternative_annotator_test,
)
from agreement_pipeline.measures.conditions import NO_PAIRABLE_ITEM
from agreement_pipeline.measures.krippendorff import disagreement_of_items
from agreement_pipeline.measures.registry import (
    MEASURES,
    Coefficient,
    Condition,
    Measure,
    Question,
    ratio,
    register,
)

for _module in iter_modules(__path__):
    if not _module.name.startswith("_"):
        import_module(f"{__name__}.{_module.name}")

__all__ = [
    "MEASURES",
    "NO_PAIRABLE_ITEM",
    "AlternativeAnnotatorTest",
    "Coefficient",
    "Condition",
    "Measure",
    "Question",
    "alternative_annotator_test",
    "disagreement_of_items",
    "ratio",
    "register",
]
