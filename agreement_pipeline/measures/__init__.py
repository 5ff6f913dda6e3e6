"""The measures: one file a family, one function a measure. A file in this folder is enough.

Other packages add theirs by an entry point.
"""

from importlib import import_module
from pkgutil import iter_modules

from agreement_pipeline.extensions import load_extensions
from agreement_pipeline.measures.coefficient import (
    Coefficient as Coefficient,
    ratio as ratio,
)
from agreement_pipeline.measures.conditions import (
    NO_PAIRABLE_ITEM as NO_PAIRABLE_ITEM,
    NOT_TWO_RATERS as NOT_TWO_RATERS,
)
from agreement_pipeline.measures.registry import (
    MEASURES as MEASURES,
    SHORT as SHORT,
    SUBJECTS as SUBJECTS,
    UndefinedCondition as UndefinedCondition,
    Measure as Measure,
    Needs as Needs,
    Question as Question,
    find_measure as find_measure,
    register as register,
)

# Families register in the order of their names. Any import of a family above would change it.
for _module in iter_modules(__path__):
    if not _module.name.startswith("_"):
        import_module(f"{__name__}.{_module.name}")

from agreement_pipeline.measures.alternative import (  # noqa: E402 - see above
    AlternativeAnnotatorTest as AlternativeAnnotatorTest,
    alternative_annotator_test as alternative_annotator_test,
)
from agreement_pipeline.measures.krippendorff import (  # noqa: E402 - see above
    alpha_with_distance as alpha_with_distance,
    disagreement_of_items as disagreement_of_items,
    krippendorff_alpha as krippendorff_alpha,
)
from agreement_pipeline.measures.label import (  # noqa: E402 - see above
    NO_CATEGORY as NO_CATEGORY,
)
from agreement_pipeline.measures.weighting import (  # noqa: E402 - see above
    WEIGHTINGS as WEIGHTINGS,
)

load_extensions("agreement_pipeline.measures")
