"""The data contract: is this a round at all?"""

from agreement_pipeline.contract.contract import (
    Contract as Contract,
)
from agreement_pipeline.contract.given_again import (
    Changes as Changes,
    Dropped as Dropped,
    changes_of as changes_of,
    changes_since as changes_since,
    dropped_since as dropped_since,
    if_they_had_differed as if_they_had_differed,
)
from agreement_pipeline.contract.validation import (
    Finding as Finding,
)
