"""Where rounds come from, if not as files in an inbox: one file for each kind of source.

What a source gives is written into a folder of the project as a delivery, and is read from there
like a file that somebody put into an inbox.
"""

from agreement_pipeline.sources.folder import ENDINGS, DeliveryFolder
from agreement_pipeline.sources.label_studio import LabelStudio, ServerProject
from agreement_pipeline.sources.settings import AdjudicateIn, RoundsFrom
from agreement_pipeline.sources.source import RoundSource
from agreement_pipeline.sources.sql import write_query
from agreement_pipeline.sources.tables import write_table

__all__ = [
    "ENDINGS",
    "AdjudicateIn",
    "DeliveryFolder",
    "LabelStudio",
    "RoundSource",
    "RoundsFrom",
    "ServerProject",
    "write_query",
    "write_table",
]
