"""Every registered measure, and every weighted form of a family, under the names of both."""

from agreement_pipeline.measures import MEASURES, WEIGHTINGS, measure_named
from agreement_pipeline.measures.registry import FAMILIES

WEIGHTED = {
    name: measure_named(name)
    for family in FAMILIES
    for name in (f"{family}_{distance}" for distance in WEIGHTINGS)
}
FORMS = MEASURES | WEIGHTED
