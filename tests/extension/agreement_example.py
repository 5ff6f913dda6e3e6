"""A measure and a reader as a package of somebody else adds them."""

from collections.abc import Iterator

from agreement_pipeline.measures import NO_PAIRABLE_ITEM, Coefficient, ratio, register
from agreement_pipeline.readers import Export, Submission, tool
from agreement_pipeline.statistics import CategoryCounts


@register(
    "Unanimity",
    question="inter-rater",
    needs="counts",
    bounds=(0.0, 1.0),
    undefined=(NO_PAIRABLE_ITEM,),
    chance_corrected=False,
    exchangeable=True,
    passed_by_guessing=True,
    convention="items with two ratings or more",
    source="an example",
)
def unanimity(counts: CategoryCounts) -> Coefficient:
    """The share of items on which all raters agree."""
    paired = counts.pairable * counts.weights
    all_agree = counts.counts.max(1) == counts.sizes
    share = ratio(paired @ all_agree, paired.sum(-1))
    return Coefficient(share, observed=share)


@tool(
    "ballots",
    "Ballots of our own tool",
    lambda export: {"ballot_no", "voter", "vote"} <= {*export.first_record},
    shows={"raters"},
    column_endings=("ballot_no",),
)
def ballots(export: Export) -> Iterator[Submission]:
    for place, row in export.records():
        yield Submission(row["ballot_no"], row["voter"], {"vote": row["vote"]}, place)
