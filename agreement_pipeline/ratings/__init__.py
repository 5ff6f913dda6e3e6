"""The checked ratings, and what a label may be."""

from agreement_pipeline.ratings.arrays import (
    arrow_column as arrow_column,
    counts as counts,
    growing_batches as growing_batches,
    numbers_in as numbers_in,
    unify_nan_and_zero as unify_nan_and_zero,
    slices_of_whole_items as slices_of_whole_items,
    parts as parts,
    take_in_blocks as take_in_blocks,
    arrow_texts as arrow_texts,
    whole as whole,
)
from agreement_pipeline.ratings.validation import (
    EXTRAS as EXTRAS,
    HOW_OF_DUPLICATES as HOW_OF_DUPLICATES,
    HOW_OF_OCCURRENCES as HOW_OF_OCCURRENCES,
    LIMITS as LIMITS,
    Classifiers as Classifiers,
    Limits as Limits,
    NoRatingError as NoRatingError,
    content_columns as content_columns,
    refuse_absent as refuse_absent,
)
from agreement_pipeline.ratings.cells import (
    CONTENT_PREFIX as CONTENT_PREFIX,
    ISO_TIME as ISO_TIME,
    PART_PREFIX as PART_PREFIX,
    PART_UNIT_OF as PART_UNIT_OF,
    STRATUM as STRATUM,
    Cells as Cells,
    NoTextError as NoTextError,
    cells_of_frame as cells_of_frame,
    is_as_given as is_as_given,
    is_text as is_text,
    is_time as is_time,
    listed_values as listed_values,
    plain as plain,
    refuse_capitals as refuse_capitals,
    written as written,
)
from agreement_pipeline.ratings.consensus import (
    NOT_ADJUDICATED as NOT_ADJUDICATED,
    RESOLUTIONS as RESOLUTIONS,
    Adjudicated as Adjudicated,
    PanelLabels as PanelLabels,
    consensus as consensus,
    overruled as overruled,
    singles_overruled as singles_overruled,
)
from agreement_pipeline.ratings.deliveries import (
    FIRST_DELIVERED as FIRST_DELIVERED,
    Deliveries as Deliveries,
    EarlierDelivery as EarlierDelivery,
    ItemsInDelivery as ItemsInDelivery,
    mark_first_deliveries as mark_first_deliveries,
)
from agreement_pipeline.ratings.frames import (
    TEXT as TEXT,
    categorical as categorical,
    in_pandas as in_pandas,
    is_clock as is_clock,
    seconds as seconds,
)
from agreement_pipeline.ratings.label_rules import (
    MEANINGS as MEANINGS,
    TrainingLabel as TrainingLabel,
    Trains as Trains,
    default_label as default_label,
    fate_of_singles as fate_of_singles,
    meaning_of as meaning_of,
)
from agreement_pipeline.ratings.training_rows import (
    LabelledRound as LabelledRound,
    TrainingRows as TrainingRows,
    shares_of as shares_of,
)
from agreement_pipeline.ratings.lookalikes import (
    AS_PERCENT as AS_PERCENT,
    described as described,
    describe_doubtful_labels as describe_doubtful_labels,
    labels_alike as labels_alike,
    like_models as like_models,
    lookalikes as lookalikes,
    find_misspelt as find_misspelt,
    printed_forms as printed_forms,
    typed_form as typed_form,
    whole_numbers_alike as whole_numbers_alike,
)
from agreement_pipeline.ratings.origin import (
    CAPABILITIES as CAPABILITIES,
    COLUMNS_NOT_READ as COLUMNS_NOT_READ,
    DUPLICATE as DUPLICATE,
    NO_ANSWER as NO_ANSWER,
    SAME_LABEL_TWICE as SAME_LABEL_TWICE,
    Origin as Origin,
)
from agreement_pipeline.ratings.parquet import (
    RowQueue as RowQueue,
    ParquetRows as ParquetRows,
    RatingsRows as RatingsRows,
    Rows as Rows,
    expanded_bytes as expanded_bytes,
    parquet_bytes as parquet_bytes,
    parquet_of as parquet_of,
    ratings_of as ratings_of,
    stored_cells as stored_cells,
)
from agreement_pipeline.ratings.placeholders import (
    how_to_leave_out as how_to_leave_out,
    is_blank as is_blank,
    placeholders_among as placeholders_among,
)
from agreement_pipeline.ratings.ratings import (
    Patterns as Patterns,
    Ratings as Ratings,
)
from agreement_pipeline.ratings.scale import (
    LARGEST as LARGEST,
    LEVELS as LEVELS,
    MISSING as MISSING,
    UNIVARIATE as UNIVARIATE,
    Array as Array,
    Codes as Codes,
    Flags as Flags,
    LabelSetError as LabelSetError,
    Level as Level,
    Scale as Scale,
    are_any_numbers as are_any_numbers,
    category_text as category_text,
    count_set_labels as count_set_labels,
    is_number as is_number,
    labels_of_sets as labels_of_sets,
    meaning_of_label as meaning_of_label,
    present as present,
    probable_level as probable_level,
    set_members as set_members,
    without_categories as without_categories,
)
from agreement_pipeline.ratings.views import (
    cluster_by_text as cluster_by_text,
    dichotomize as dichotomize,
    drop_stratum as drop_stratum,
    measure_gold as measure_gold,
    panel_teams as panel_teams,
    unread_times as unread_times,
)
