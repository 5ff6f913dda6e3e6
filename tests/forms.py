"""Every registered measure, and every weighted form of a family, under the names of both."""

from agreement_pipeline.measures import MEASURES, WEIGHTINGS, find_measure
from agreement_pipeline.measures.registry import FAMILIES

WEIGHTED = {
    name: find_measure(name)
    for family in FAMILIES
    for name in (f"{family}_{distance}" for distance in WEIGHTINGS)
}
FORMS = MEASURES | WEIGHTED
