"""The checked ratings, and what a label may be."""

from typing import TYPE_CHECKING

from agreement_pipeline.faces import later

if TYPE_CHECKING:
    from agreement_pipeline.ratings.adjudicated import NOT_ADJUDICATED, Adjudicated
    from agreement_pipeline.ratings.arrays import numbers_in, whole
    from agreement_pipeline.ratings.birth import EXTRAS, Classifiers, content_columns
    from agreement_pipeline.ratings.blocks import counts, given_back, of_whole_items, parts, taken
    from agreement_pipeline.ratings.cells import STRATUM, Cells
    from agreement_pipeline.ratings.consensus import (
        PanelLabels,
        consensus,
        overruled,
        resolved,
        unresolved,
    )
    from agreement_pipeline.ratings.digest import Batch, RatingsHash
    from agreement_pipeline.ratings.expanded import expanded_bytes
    from agreement_pipeline.ratings.footer import Footer
    from agreement_pipeline.ratings.frames import (
        cells_of_frame,
        is_text,
        is_time,
        plain,
        plain_type,
        written,
    )
    from agreement_pipeline.ratings.limits import LIMITS, Limits
    from agreement_pipeline.ratings.lookalikes import described, lookalikes, printed
    from agreement_pipeline.ratings.origin import CAPABILITIES, Origin
    from agreement_pipeline.ratings.parquet import (
        InTurn,
        ParquetRows,
        Rows,
        growing,
        parquet_bytes,
        parquet_of,
    )
    from agreement_pipeline.ratings.ratings import Patterns, Ratings
    from agreement_pipeline.ratings.rows import RatingsRows, ratings_of, stored_cells
    from agreement_pipeline.ratings.scale import (
        LEVELS,
        MISSING,
        UNIVARIATE,
        Array,
        Category,
        Codes,
        Level,
        Scale,
    )
    from agreement_pipeline.ratings.spelling import (
        LARGEST,
        category_text,
        meaning,
        refuse_all_tiny,
    )
    from agreement_pipeline.ratings.texts import TEXT, are_texts, categorical, in_pandas
    from agreement_pipeline.ratings.thrift import FooterError
    from agreement_pipeline.ratings.times import is_clock, seconds
    from agreement_pipeline.ratings.votes import RESOLUTIONS
else:
    __getattr__, __dir__ = later(
        __name__,
        {
            "Adjudicated": "adjudicated",
            "Array": "scale",
            "Batch": "digest",
            "CAPABILITIES": "origin",
            "Category": "scale",
            "Cells": "cells",
            "Classifiers": "birth",
            "Codes": "scale",
            "EXTRAS": "birth",
            "Footer": "footer",
            "FooterError": "thrift",
            "InTurn": "parquet",
            "LARGEST": "spelling",
            "LEVELS": "scale",
            "LIMITS": "limits",
            "Level": "scale",
            "Limits": "limits",
            "MISSING": "scale",
            "NOT_ADJUDICATED": "adjudicated",
            "Origin": "origin",
            "PanelLabels": "consensus",
            "ParquetRows": "parquet",
            "Patterns": "ratings",
            "RESOLUTIONS": "votes",
            "Ratings": "ratings",
            "RatingsHash": "digest",
            "RatingsRows": "rows",
            "Rows": "parquet",
            "STRATUM": "cells",
            "Scale": "scale",
            "TEXT": "texts",
            "UNIVARIATE": "scale",
            "are_texts": "texts",
            "categorical": "texts",
            "category_text": "spelling",
            "cells_of_frame": "frames",
            "consensus": "consensus",
            "content_columns": "birth",
            "counts": "blocks",
            "described": "lookalikes",
            "expanded_bytes": "expanded",
            "given_back": "blocks",
            "growing": "parquet",
            "in_pandas": "texts",
            "is_clock": "times",
            "is_text": "frames",
            "is_time": "frames",
            "lookalikes": "lookalikes",
            "meaning": "spelling",
            "numbers_in": "arrays",
            "of_whole_items": "blocks",
            "overruled": "consensus",
            "parquet_bytes": "parquet",
            "parquet_of": "parquet",
            "parts": "blocks",
            "plain": "frames",
            "plain_type": "frames",
            "printed": "lookalikes",
            "ratings_of": "rows",
            "refuse_all_tiny": "spelling",
            "resolved": "consensus",
            "seconds": "times",
            "stored_cells": "rows",
            "taken": "blocks",
            "unresolved": "consensus",
            "whole": "arrays",
            "written": "frames",
        },
    )

__all__ = [
    "CAPABILITIES",
    "EXTRAS",
    "LARGEST",
    "LEVELS",
    "LIMITS",
    "MISSING",
    "NOT_ADJUDICATED",
    "RESOLUTIONS",
    "STRATUM",
    "TEXT",
    "UNIVARIATE",
    "Adjudicated",
    "Array",
    "Batch",
    "Category",
    "Cells",
    "Classifiers",
    "Codes",
    "Footer",
    "FooterError",
    "InTurn",
    "Level",
    "Limits",
    "Origin",
    "PanelLabels",
    "ParquetRows",
    "Patterns",
    "Ratings",
    "RatingsHash",
    "RatingsRows",
    "Rows",
    "Scale",
    "are_texts",
    "categorical",
    "category_text",
    "cells_of_frame",
    "consensus",
    "content_columns",
    "counts",
    "described",
    "expanded_bytes",
    "given_back",
    "growing",
    "in_pandas",
    "is_clock",
    "is_text",
    "is_time",
    "lookalikes",
    "meaning",
    "numbers_in",
    "of_whole_items",
    "overruled",
    "parquet_bytes",
    "parquet_of",
    "parts",
    "plain",
    "plain_type",
    "printed",
    "ratings_of",
    "refuse_all_tiny",
    "resolved",
    "seconds",
    "stored_cells",
    "taken",
    "unresolved",
    "whole",
    "written",
]
