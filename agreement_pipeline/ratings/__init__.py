"""The checked ratings, and what a label may be."""

from agreement_pipeline.ratings.arrays import (
    numbers_as_arrow as numbers_as_arrow,
    count_codes as count_codes,
    iterate_growing_batches as iterate_growing_batches,
    as_number_array as as_number_array,
    unify_nan_and_zero as unify_nan_and_zero,
    slices_of_rows as slices_of_rows,
    take_in_blocks as take_in_blocks,
    texts_as_arrow as texts_as_arrow,
    as_whole_numbers_or_missing as as_whole_numbers_or_missing,
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
    refuse_absent_classifiers as refuse_absent_classifiers,
)
from agreement_pipeline.ratings.cells import (
    CONTENT_PREFIX as CONTENT_PREFIX,
    ISO_TIME as ISO_TIME,
    PART_PREFIX as PART_PREFIX,
    PART_UNIT_OF as PART_UNIT_OF,
    STRATUM as STRATUM,
    Cells as Cells,
    NoTextError as NoTextError,
    iterate_frame_as_cells as iterate_frame_as_cells,
    is_read_like_arrow as is_read_like_arrow,
    is_text_type as is_text_type,
    is_time_type as is_time_type,
    as_python_values as as_python_values,
    as_plain_array as as_plain_array,
    refuse_names_differing_by_capitals as refuse_names_differing_by_capitals,
    write_as_texts as write_as_texts,
)
from agreement_pipeline.ratings.consensus import (
    NOT_ADJUDICATED as NOT_ADJUDICATED,
    RESOLUTIONS as RESOLUTIONS,
    Adjudicated as Adjudicated,
    PanelLabels as PanelLabels,
    consensus_frame as consensus_frame,
    count_overruled as count_overruled,
    count_overruled_singles as count_overruled_singles,
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
    categorical_from_codes as categorical_from_codes,
    arrow_to_pandas as arrow_to_pandas,
    tells_minutes as tells_minutes,
    times_as_seconds as times_as_seconds,
)
from agreement_pipeline.ratings.label_rules import (
    MEANINGS as MEANINGS,
    TrainingLabel as TrainingLabel,
    Trains as Trains,
    default_label as default_label,
    describe_fate_of_singles as describe_fate_of_singles,
    describe_training_label as describe_training_label,
)
from agreement_pipeline.ratings.training_rows import (
    LabelledRound as LabelledRound,
    TrainingRows as TrainingRows,
    vote_shares as vote_shares,
)
from agreement_pipeline.ratings.lookalikes import (
    AS_PERCENT as AS_PERCENT,
    describe_lookalikes as describe_lookalikes,
    describe_doubtful_labels as describe_doubtful_labels,
    group_lookalike_labels as group_lookalike_labels,
    names_like_models as names_like_models,
    group_lookalike_names as group_lookalike_names,
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
    BatchRows as BatchRows,
    expanded_bytes as expanded_bytes,
    parquet_bytes as parquet_bytes,
    write_parquet_content as write_parquet_content,
    ratings_from_stored_cells as ratings_from_stored_cells,
    open_stored_cells as open_stored_cells,
)
from agreement_pipeline.ratings.placeholders import (
    describe_leaving_out_placeholders as describe_leaving_out_placeholders,
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
    is_present as is_present,
    guess_level as guess_level,
    set_members as set_members,
    no_categories_error as no_categories_error,
)
from agreement_pipeline.ratings.views import (
    cluster_by_text as cluster_by_text,
    contents_by_item as contents_by_item,
    dichotomize as dichotomize,
    drop_stratum as drop_stratum,
    measure_gold as measure_gold,
    group_raters_by_shared_items as group_raters_by_shared_items,
    find_unread_times as find_unread_times,
)
