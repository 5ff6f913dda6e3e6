"""The data contract: is this a round at all?"""

from agreement_pipeline.contract.contract import Contract
from agreement_pipeline.contract.finding import Finding
from agreement_pipeline.contract.lightly import load_lightly, load_lightly_when_needed

__all__ = ["Contract", "Finding", "load_lightly", "load_lightly_when_needed"]
