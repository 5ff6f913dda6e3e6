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

BESIDE = ("rankings", "unitizing")
"""Measures that are not registered. They are loaded when they are asked for."""

# Families register in the order of their names. Any import of a family above would change it.
for _module in iter_modules(__path__):
    if not _module.name.startswith("_") and _module.name not in BESIDE:
        import_module(f"{__name__}.{_module.name}")

from agreement_pipeline.measures.alternative import (  # noqa: E402 - see above
    AlternativeAnnotatorTest,
    alternative_annotator_test,
)
from agreement_pipeline.measures.krippendorff import disagreement_of_items  # noqa: E402 - see above
from agreement_pipeline.measures.own_distance import (  # noqa: E402 - see above
    DistancesBesideChance,
    alpha_with_distance,
    distances_beside_chance,
)
from agreement_pipeline.measures.weighting import WEIGHTINGS  # noqa: E402 - see above

if TYPE_CHECKING:
    from agreement_pipeline.measures.rankings import kendall_w, mean_tau
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
            "kendall_w": "rankings",
            "mean_tau": "rankings",
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
    "DistancesBesideChance",
    "Measure",
    "Needs",
    "Question",
    "UnitizingAlphas",
    "alpha_with_distance",
    "alternative_annotator_test",
    "disagreement_of_items",
    "distances_beside_chance",
    "kendall_w",
    "mean_tau",
    "measure_named",
    "ratio",
    "register",
    "unitizing_alpha",
    "unitizing_alphas",
]
