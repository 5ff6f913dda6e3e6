"""The measures: one file a family, one function a measure. A file in this folder is enough."""

from importlib import import_module
from pkgutil import iter_modules
from typing import TYPE_CHECKING

from agreement_pipeline.faces import later
from agreement_pipeline.measures.coefficient import Coefficient, ratio
from agreement_pipeline.measures.conditions import NO_PAIRABLE_ITEM
from agreement_pipeline.measures.registry import (
    MEASURES,
    SUBJECTS,
    Condition,
    Measure,
    Needs,
    Question,
    measure_named,
    register,
)

BESIDE = "unitizing"
"""It is not registered, and it is loaded when it is asked for."""

# Families register in the order of their names. Any import of a family above would change it.
for _module in iter_modules(__path__):
    if not _module.name.startswith("_") and _module.name != BESIDE:
        import_module(f"{__name__}.{_module.name}")

from agreement_pipeline.measures.alternative import (  # noqa: E402 - see above
    AlternativeAnnotatorTest,
    alternative_annotator_test,
)
from agreement_pipeline.measures.krippendorff import (  # noqa: E402 - see above
    alpha_with_distance,
    disagreement_of_items,
)
from agreement_pipeline.measures.weighting import WEIGHTINGS  # noqa: E402 - see above

if TYPE_CHECKING:
    from agreement_pipeline.measures.unitizing import (
        UnitizingAlphas,
        unitizing_alpha,
        unitizing_alphas,
    )
else:
    __getattr__, __dir__ = later(
        __name__,
        {
            "UnitizingAlphas": "unitizing",
            "unitizing_alpha": "unitizing",
            "unitizing_alphas": "unitizing",
        },
    )

__all__ = [
    "MEASURES",
    "NO_PAIRABLE_ITEM",
    "SUBJECTS",
    "WEIGHTINGS",
    "AlternativeAnnotatorTest",
    "Coefficient",
    "Condition",
    "Measure",
    "Needs",
    "Question",
    "UnitizingAlphas",
    "alpha_with_distance",
    "alternative_annotator_test",
    "disagreement_of_items",
    "measure_named",
    "ratio",
    "register",
    "unitizing_alpha",
    "unitizing_alphas",
]
