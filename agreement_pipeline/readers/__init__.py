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
    guess_column_by_role as guess_column_by_role,
    guessed_columns as guessed_columns,
)
from agreement_pipeline.readers.delivered import (
    DeliveredTable as DeliveredTable,
    read_delivered as read_delivered,
)
from agreement_pipeline.readers.exports import (
    Export as Export,
    Reader as Reader,
    Source as Source,
    select_reader as select_reader,
    register as register,
)
from agreement_pipeline.readers.files import (
    UNFINISHED as UNFINISHED,
    refuse_odd_name as refuse_odd_name,
    unpack_for_reading as unpack_for_reading,
    strip_compression_suffix as strip_compression_suffix,
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
    load_rows as load_rows,
    guess_columns as guess_columns,
)
from agreement_pipeline.readers.periods import (
    Bounds as Bounds,
    RoundPeriods as RoundPeriods,
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
    read_answers as read_answers,
    tool as tool,
)
from agreement_pipeline.readers.rows import Submission as Submission
from agreement_pipeline.readers.table import (
    read_first_rows as read_first_rows,
    read_header as read_header,
    find_unnamed_label_columns as find_unnamed_label_columns,
    read_whole_numbers as read_whole_numbers,
)
from agreement_pipeline.readers.times import (
    find_unread_time as find_unread_time,
)
from agreement_pipeline.readers.tools import (
    READERS as READERS,
)
