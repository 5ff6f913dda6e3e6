"""Other ratings made of a round for one question, and what one check asks of it."""

from collections.abc import Collection
from dataclasses import replace
from typing import NamedTuple

import numpy as np

from agreement_pipeline.engine import Relation
from agreement_pipeline.errors import RatingsError
from agreement_pipeline.ratings.arrays import as_whole_numbers_or_missing
from agreement_pipeline.ratings.cells import CONTENT_PREFIX, ISO_TIME, STRATUM, is_text_type
from agreement_pipeline.ratings.frames import TEXT, arrow_to_pandas, times_as_seconds
from agreement_pipeline.ratings.lookalikes import printed_forms
from agreement_pipeline.ratings.ratings import CHANGES, Ratings, when_clauses_sql
from agreement_pipeline.ratings.scale import SPELT, Category, Codes, Scale, category_text


class UnreadTimes(NamedTuple):
    """How many of the `n_times` times of ratings have no form that is known, and one of them."""

    n: int
    n_times: int
    example: str


def cluster_by_text(ratings: Ratings) -> Ratings:
    """The ratings in which items are a cluster if their texts print alike.

    Clusters that were delivered do not count.
    """
    if ratings.known is None or "text" not in ratings.has:
        return ratings
    import pyarrow as pa

    item_texts = arrow_to_pandas(ratings.items(["text"]))
    texts = printed_forms(item_texts["text"].fillna("").astype(TEXT))
    items = item_texts["item"].astype(TEXT)
    first_items = items.groupby(texts.to_numpy()).transform("first").where(texts != "", items)
    cluster_table = pa.table({"item": pa.array(items), "cluster": pa.array(first_items)})
    clusters = ratings.session.load_batches(cluster_table.schema, cluster_table.to_batches())

    def with_clusters(rows: Relation) -> Relation:
        own_columns = [
            f"r.{ratings.session.column_sql(n)}" for n in rows.schema.names if n != "cluster"
        ]
        return rows.create_view(
            f"SELECT {', '.join(own_columns)}, s.cluster AS cluster FROM {rows} AS r "
            f"JOIN {clusters} AS s ON r.item = s.item",
            clusters,
        )

    return replace(
        ratings,
        table=with_clusters(ratings.table),
        known=with_clusters(ratings.known),
        has=ratings.has | {"cluster"},
    )


def contents_by_item(ratings: Ratings, items: Collection[str]) -> dict[str, dict[str, str]]:
    """The texts and other contents of items that have some, by the name of the column.

    Texts that two files may write in different bytes are one: CSV often has other ends of lines
    than Parquet, and no missing text but an empty one. A column without texts is left out.
    """
    columns = sorted(
        column for column in ratings.has if column == "text" or column.startswith(CONTENT_PREFIX)
    )
    if not columns:
        return {}
    import pyarrow as pa
    import pyarrow.compute as pc

    known = ratings.items(columns, names=items)
    texts_by_column = dict[str, dict[str, str]]()
    for column in columns:
        composed = pc.utf8_normalize(known[column].cast(pa.large_string()), form="NFC")
        with_newlines = pc.replace_substring_regex(composed, "\r\n?", "\n")
        texts = pc.utf8_trim_whitespace(with_newlines).to_pylist()
        pairs = zip(known["item"].to_pylist(), texts, strict=True)
        if text_by_item := {item: text for item, text in pairs if text}:
            texts_by_column[column] = text_by_item
    return texts_by_column


def measure_gold(ratings: Ratings) -> Ratings:
    """The ratings in which gold items are items as all others."""
    remaining_columns = ratings.has - {"gold", "gold_label"}
    table = ratings.table_with_computed({"gold": "FALSE"})
    return replace(ratings, table=table, also_gold=frozenset(), has=remaining_columns)


def dichotomize(ratings: Ratings, cut_category: Category) -> Ratings:
    """The ratings on two categories: labels under a cut, and those from it on.

    >>> import pandas as pd
    >>> said = pd.DataFrame({"item": list("ab"), "rater": "ana", "label": ["2", "4"]})
    >>> ratings = Ratings.from_frame(said, Scale(("1", "2", "3", "4"), "ordinal"))
    >>> dichotomize(ratings, 4).first_ratings(["label"])["label"].to_pylist()
    ['under 4', '4 or more']
    """
    scale, name = ratings.scale, category_text(cut_category)
    if scale.level == "nominal" or scale.dimensions > 1:
        raise RatingsError(
            f"cut at {name}: found a scale that is {scale.in_words}; expected one from low to "
            "high. Leave the cut out, or name the level (ordinal)."
        )
    if scale.continuous or ratings.coded.categories is None:
        code = f"CASE WHEN d0 >= {scale.number_of_label(cut_category)!r} THEN 2 ELSE 1 END"
    else:
        cut_score = scale.scores[scale.position_of_label(cut_category)]
        if cut_score == scale.scores.min():
            raise RatingsError(
                f"cut at {name}: found the lowest category; expected one that has another "
                "under it. Name a higher one."
            )
        scores = [
            scale.scores[scale.position_of_label(category)] for category in ratings.coded.names
        ]
        sides = (
            (code_number, 1 + int(score >= cut_score))
            for code_number, score in enumerate(scores, 1)
        )
        code = f"CASE code {when_clauses_sql(sides)} END"
    two = Scale((f"under {name}", f"{name} or more"))
    has = ratings.has - {*CHANGES, "gold_label"}
    table = ratings.table_with_computed({"code": f"CAST({code} AS BIGINT)"})
    return replace(ratings, table=table, scale=two, coded=two, has=has)


def drop_stratum(ratings: Ratings, column: str) -> Ratings:
    """The ratings without one column of strata, which may be absent."""
    name = STRATUM + column
    return replace(ratings, has=ratings.has - {name}) if name in ratings.has else ratings


def drop_items(ratings: Ratings, items: Relation) -> Ratings:
    """The ratings without some items, and without the classifiers that rated no other item.

    `items` has a column `item`.
    """
    test = f"item NOT IN (SELECT item FROM {items})"
    known_items = ratings.known and ratings.known.create_view(
        f"SELECT * FROM {ratings.known} WHERE {test}", items
    )
    rated = ratings.table.create_view(f"SELECT * FROM {ratings.table} WHERE {test}", items)
    remaining = replace(ratings, table=rated, known=known_items)
    remaining_classifiers = tuple(
        name for name in ratings.classifiers if name in remaining.everyone
    )
    return (
        remaining
        if remaining_classifiers == ratings.classifiers
        else replace(remaining, classifiers=remaining_classifiers)
    )


def find_unread_times(ratings: Ratings) -> UnreadTimes | None:
    """The times when ratings were given that `seconds` cannot read. None if there is none."""
    schema = ratings.table.schema
    if "timestamp" not in ratings.has or not is_text_type(schema.field("timestamp").type):
        return None

    matches, is_stated = ratings.session.matches_sql, "TRIM(timestamp) <> ''"
    is_iso = matches("timestamp", ISO_TIME)
    if not ratings.table.query_column(
        f"SELECT 1 FROM {ratings.table} WHERE NOT {is_iso} AND {is_stated} LIMIT 1"
    ):
        return None
    is_number = matches("timestamp", rf"^\s*{SPELT}\s*$")
    (counts,) = ratings.session.query(
        f"SELECT COUNT(*) AS n_times, SUM(CASE WHEN {is_iso} THEN 1 ELSE 0 END) AS n_iso, "
        f"SUM(CASE WHEN {is_number} THEN 1 ELSE 0 END) AS n_numbers "
        f"FROM {ratings.table} WHERE {is_stated}"
    ).to_pylist()
    n_times, n_numbers = counts["n_times"], counts["n_numbers"]
    if n_times in (0, counts["n_iso"], n_numbers):
        return None
    of_other_form = is_number if n_numbers else is_iso  # times beside numbers are not read
    time_counts = ratings.session.query(
        f"SELECT timestamp, COUNT(*) AS n FROM {ratings.table} "
        f"WHERE {is_stated} AND NOT {of_other_form} GROUP BY timestamp ORDER BY timestamp"
    )
    unread = np.isnan(times_as_seconds(arrow_to_pandas(time_counts["timestamp"]))) | bool(n_numbers)
    if not unread.any():
        return None
    example = time_counts["timestamp"][int(np.argmax(unread))].as_py()
    return UnreadTimes(
        int(as_whole_numbers_or_missing(time_counts["n"])[unread].sum()), int(n_times), example
    )


def group_raters_by_shared_items(ratings: Ratings) -> tuple[tuple[str, ...], ...]:
    """The raters of the panel, by who shares items that are not gold, also by way of others."""
    places = [place for place, name in enumerate(ratings.names) if name not in ratings.classifiers]
    words, nobody = ratings.patterns.words[~ratings.patterns.gold], len(places)
    team: Codes = np.arange(nobody)
    rated = np.zeros(nobody, dtype=bool)
    previous: Codes = np.empty(0, dtype=np.int64)
    while not np.array_equal(team, previous) and (team.any() or not rated.all()):
        previous, of_items = team.copy(), np.full(len(words), nobody)
        for row, rater, _ in ratings.packing.iterate_labels(words, places):
            np.minimum.at(of_items, row, team[rater])
            np.minimum.at(team, rater, of_items[row])
            rated[rater] = True
    return tuple(
        tuple(
            ratings.names[places[index]] for index in np.flatnonzero(rated & (team == team_number))
        )
        for team_number in np.unique(team[rated])
    )
