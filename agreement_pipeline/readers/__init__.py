"""Readers of export formats. The folder `tools` has those of tools.

A reader gives the ratings of a source as rows under canonical names.
"""

from agreement_pipeline.ratings import (
    LIMITS as LIMITS,
    Limits as Limits,
)
from agreement_pipeline.readers.columns import (
    COLUMNS as COLUMNS,
    Columns as Columns,
    Layout as Layout,
    probable_columns as probable_columns,
    unnamed_columns as unnamed_columns,
)
from agreement_pipeline.readers.delivered import (
    DeliveredTable as DeliveredTable,
    read_delivered as read_delivered,
)
from agreement_pipeline.readers.exports import (
    Export as Export,
    Reader as Reader,
    Source as Source,
    reader_of as reader_of,
    register as register,
)
from agreement_pipeline.readers.files import (
    UNFINISHED as UNFINISHED,
    refuse_odd_name as refuse_odd_name,
    unpacked as unpacked,
    without_ending as without_ending,
)
from agreement_pipeline.readers.json_files import (
    large_file_progress as large_file_progress,
)
from agreement_pipeline.readers.reading import (
    CHOICES as CHOICES,
    EngineName as EngineName,
    read as read,
    read_marked as read_marked,
    read_rounds as read_rounds,
    rows_of as rows_of,
    guessed_columns as guessed_columns,
)
from agreement_pipeline.readers.periods import (
    Bounds as Bounds,
    Rounds as Rounds,
)
from agreement_pipeline.readers.rules import PredictionsFile as PredictionsFile
from agreement_pipeline.readers.rules import (
    RULES as RULES,
    Duplicates as Duplicates,
    Rejected as Rejected,
    Rules as Rules,
)
from agreement_pipeline.readers.rows import Rows as Rows
from agreement_pipeline.readers.submissions import (
    answers as answers,
    tool as tool,
)
from agreement_pipeline.readers.rows import Submission as Submission
from agreement_pipeline.readers.table import (
    header_of as header_of,
    labels_left_out as labels_left_out,
    whole_numbers as whole_numbers,
)
from agreement_pipeline.readers.times import (
    unread_time as unread_time,
)
from agreement_pipeline.readers.tools import (
    READERS as READERS,
)
