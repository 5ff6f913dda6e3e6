"""What of a delivery came before: which of its items, and which of their ratings.

A labelling tool exports everything each time, so a delivery may hold earlier ones whole. An item is
the same if it has the same name, unless both deliveries tell its text and the texts differ. What is
left of both is matched by its text, since a tool may number its items anew. Without texts, names
are only the numbers of rows if labels of the same rater are hardly more alike than by chance.
"""

import math
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import TYPE_CHECKING, Literal, NamedTuple

from agreement_pipeline.engine import Relation, Session
from agreement_pipeline.errors import RatingsError
from agreement_pipeline.ratings.cells import Cells
from agreement_pipeline.ratings.lookalikes import group_lookalike_names
from agreement_pipeline.ratings.origin import Origin
from agreement_pipeline.ratings.views import drop_items
from agreement_pipeline.text import called, counted

if TYPE_CHECKING:
    from agreement_pipeline.ratings.ratings import Ratings

Deliveries = Literal["cumulative", "independent"]
FIRST_DELIVERED = "first_delivered"
"""The column of strata that says in which delivery each item came first."""
MIN_LABELS_TO_TELL_ITEMS_APART = 30
MIN_KAPPA_OF_SAME_ITEMS, MAX_KAPPA_OF_OTHER_ITEMS = 0.25, 0.5
"""Labels that were exported again are equal, and those of other items are so by chance alone. Four
standard errors of chance lie between them, but no kappa above the second number is by chance.
"""
MAX_DELIVERIES_NAMED = 100
"""So many deliveries have a stratum of their own. A column has 200 strata at most."""


@dataclass(frozen=True, eq=False)
class EarlierDelivery:
    """Ratings that were delivered before.

    Parameters
    ----------
    name
        The stratum of the items that came in it first.
    of_same_round
        True for an earlier delivery of the same round. No item is left out because it was there.
    """

    name: str
    ratings: "Ratings"
    of_same_round: bool = False


@dataclass(frozen=True, eq=False)
class ItemsInDelivery:
    """The items of a delivery, to tell quickly which stored rounds share none with it."""

    ratings: "Ratings"

    @cached_property
    def _items_relation(self) -> Relation:
        ratings = self.ratings
        return _load_items_with_texts(ratings.session, ratings, with_texts="text" in ratings.has)

    def are_in(self, cells: Cells) -> bool:
        """Has any item a rating among the cells, under its name or its text?"""
        if cells.relation.session is not self.ratings.session:
            return True
        tests = ["o.item = c.item"]
        if "text" in self.ratings.has and "text" in cells.names:
            tests.append("o.text = c.text AND o.text <> ''")
        return any(
            cells.relation.query_column(
                f"SELECT 1 FROM {self._items_relation} AS o JOIN {cells.relation} AS c ON {test} "
                "WHERE c.rater IS NOT NULL LIMIT 1"
            )
            for test in tests
        )


def mark_first_deliveries(
    ratings: "Ratings",
    earlier: Sequence[EarlierDelivery],
    name: str,
    deliveries: Deliveries | None = None,
    *,
    times_tell: bool = False,
    whole_clusters: bool = False,
) -> "Ratings":
    """The ratings, with a column of strata that says in which delivery each item came first.

    Ratings stay as they are if all items came in one delivery first.

    Parameters
    ----------
    earlier
        In the order in which they came.
    name
        The stratum of the items that came in none of these.
    deliveries
        cumulative: items of earlier rounds without a new rating of the panel are left out, and
        `origin` counts them by the first round that has them. None: `origin` counts them, and they
        stay. independent: they stay.
    times_tell
        A rating at another time is a new one, though its label is the same.
    whole_clusters
        A cluster of items has new ratings if one of its items has. So a document whose objects are
        the items stays whole.

    Raises
    ------
    RatingsError
        Deliveries are cumulative, and nothing is new.
    """
    matches = {
        turn: match
        for turn, delivery in enumerate(earlier)
        if (match := _match_items(ratings, delivery.ratings)) is not None
    }
    if not matches:
        return ratings
    comparison = _DeliveryComparison(ratings, earlier, name, matches, times_tell, whole_clusters)
    if deliveries == "cumulative":
        ratings = comparison.without_unchanged()
    elif deliveries is None and (n_unchanged := comparison.n_unchanged):
        origin = ratings.origin or Origin.build("", (), {})
        ratings = ratings.with_origin(replace(origin, unchanged=n_unchanged))
    return comparison.mark_first_deliveries(ratings)


class _MatchedItems(NamedTuple):
    """The items that two deliveries share, as `item` and `earlier_item`, and the earlier ratings
    with the places and codes of the later ones.
    """

    items: Relation
    earlier: Relation


@dataclass(frozen=True, eq=False)
class _DeliveryComparison:
    """A delivery beside the earlier ones that share items with it, by their turn."""

    ratings: "Ratings"
    earlier: Sequence[EarlierDelivery]
    name: str
    matches: Mapping[int, _MatchedItems]
    times_tell: bool
    whole_clusters: bool

    @property
    def session(self) -> Session:
        return self.ratings.session

    @cached_property
    def group_by_item(self) -> Relation:
        """All items, each with its cluster if that counts as a whole, or else with itself."""
        ratings = self.ratings
        if ratings.known is None:
            return ratings.table.create_view(
                f"SELECT item, item AS whole FROM (SELECT DISTINCT item FROM {ratings.table}) AS i"
            )
        group_column = "cluster" if self.whole_clusters and "cluster" in ratings.has else "item"
        return ratings.known.create_view(
            f"SELECT item, {group_column} AS whole FROM {ratings.known}"
        )

    def first_turn_by_group_sql(self, turns: Iterable[int]) -> str:
        """The query for the first turn in which each group came. It has no row for a new one."""
        rows = " UNION ALL ".join(
            f"SELECT item, {turn} AS turn FROM {self.matches[turn].items}" for turn in turns
        )
        return (
            f"SELECT g.whole AS whole, MIN(m.turn) AS turn FROM {self.group_by_item} AS g "
            f"JOIN ({rows}) AS m ON g.item = m.item GROUP BY g.whole"
        )

    @cached_property
    def first_turns(self) -> Relation:
        """The turn in which each item came first. The present delivery is the last."""
        return self.session.materialize(
            f"SELECT g.item AS item, COALESCE(t.turn, {len(self.earlier)}) AS turn "
            f"FROM {self.group_by_item} AS g LEFT JOIN "
            f"({self.first_turn_by_group_sql(self.matches)}) AS t "
            "ON g.whole = t.whole"
        )

    @cached_property
    def unchanged_items(self) -> Relation | None:
        """The items of earlier rounds without a new rating, and the first turn of each."""
        earlier_rounds = [turn for turn in self.matches if not self.earlier[turn].of_same_round]
        if not earlier_rounds:
            return None
        ratings = self.ratings
        keys = ["place", "occurrence", *ratings.label_columns]
        times = ["timestamp"] if self.times_tell and "timestamp" in ratings.has else []
        select_list = ", ".join(f"e.{key} AS {key}" for key in [*keys, *times])
        earlier_ratings = " UNION ALL ".join(
            f"SELECT m.item AS item, {select_list} FROM {match.earlier} AS e "
            f"JOIN {match.items} AS m ON e.item = m.earlier_item"
            for match in map(self.matches.__getitem__, earlier_rounds)
        )
        tests = [f"r.{key} = b.{key}" for key in ["item", *keys]]
        for time in times:
            is_same_time = f"CAST(r.{time} AS STRING) = CAST(b.{time} AS STRING)"
            tests.append(f"(r.{time} IS NULL OR b.{time} IS NULL OR {is_same_time})")
        own_ratings = (
            f"SELECT * FROM {ratings.table} WHERE NOT earlier AND {ratings.is_of_panel_sql}"
        )
        changed_groups = (
            f"SELECT DISTINCT g.whole AS whole FROM ({own_ratings}) AS r "
            f"JOIN {self.group_by_item} AS g ON g.item = r.item "
            f"LEFT JOIN ({earlier_ratings}) AS b ON {' AND '.join(tests)} WHERE b.item IS NULL"
        )
        return self.session.materialize(
            f"SELECT g.item AS item, t.turn AS turn FROM {self.group_by_item} AS g "
            f"JOIN ({self.first_turn_by_group_sql(earlier_rounds)}) AS t ON g.whole = t.whole "
            f"LEFT JOIN ({changed_groups}) AS c ON g.whole = c.whole WHERE c.whole IS NULL"
        )

    @cached_property
    def n_unchanged(self) -> int:
        """Items without a new rating that agreement is measured on."""
        if self.unchanged_items is None:
            return 0
        own_ratings = self.ratings.own_first_ratings
        query = (
            f"SELECT COUNT(DISTINCT r.item) FROM {own_ratings} AS r JOIN {self.unchanged_items} "
            "AS u "
            "ON r.item = u.item WHERE NOT r.gold"
        )
        return int(own_ratings.query_column(query)[0])

    def without_unchanged(self) -> "Ratings":
        ratings, unchanged = self.ratings, self.unchanged_items
        if unchanged is None:
            return ratings
        counts = unchanged.query(
            f"SELECT turn, COUNT(*) AS n FROM {unchanged} WHERE item IN "
            f"(SELECT item FROM {ratings.table}) GROUP BY turn ORDER BY turn"
        ).to_pylist()
        if not counts:
            return ratings
        remaining = drop_items(ratings, unchanged)
        items_by_round = Counter[str]()
        for count in counts:
            items_by_round[self.earlier[count["turn"]].name] += count["n"]
        if not len(remaining):
            rounds = called("round", items_by_round)
            raise RatingsError(
                f"ratings: found {counted(sum(items_by_round.values()), 'item')} with the same "
                f"labels as in {rounds}, and nothing that is new; expected new items, or new "
                "ratings of some, since deliveries are cumulative. Deliver the next export."
            )
        origin = ratings.origin or Origin.build("", (), {})
        classifier_details = tuple(
            classifier
            for classifier in origin.classifiers
            if classifier["name"] in remaining.classifiers
        )
        return remaining.with_origin(
            replace(origin, classifiers=classifier_details, items_before=dict(items_by_round))
        )

    def mark_first_deliveries(self, ratings: "Ratings") -> "Ratings":
        turns, rows = self.first_turns, ratings.table
        present_turns = rows.query_column(
            f"SELECT DISTINCT t.turn FROM {turns} AS t JOIN {rows} AS r ON t.item = r.item "
            "ORDER BY t.turn"
        )
        if len(present_turns) == 1:
            return ratings
        names = _stratum_by_turn(
            [*(delivery.name for delivery in self.earlier), self.name], present_turns
        )
        literal = self.session.literal_sql
        cases = " ".join(f"WHEN {turn} THEN {literal(name)}" for turn, name in names.items())
        # Items that nobody rated may have turns of their own, and each item needs a stratum.
        stratum = f"COALESCE(CASE turn {cases} END, {literal(names[present_turns[-1]])}) AS stratum"
        marked = ratings.with_stratum(
            FIRST_DELIVERED, turns.create_view(f"SELECT item, {stratum} FROM {turns}")
        )
        origin = ratings.origin or Origin.build("", (), {})
        own_name = names.get(len(self.earlier), self.name)
        return marked.with_origin(replace(origin, delivery=own_name))


def _stratum_by_turn(names: Sequence[str], turns: Sequence[int]) -> dict[int, str]:
    """Each turn's stratum. Old ones beyond the limit have one together, and no two print alike."""
    old = turns[:-MAX_DELIVERIES_NAMED]
    name_by_turn = {turn: names[turn] for turn in turns}
    name_by_turn |= dict.fromkeys(old, f"before {names[turns[len(old)]]}" if old else "")
    if group_lookalike_names(sorted({*name_by_turn.values()})):
        return {turn: f"delivery {turn + 1}" for turn in turns}
    return name_by_turn


def _match_items(ratings: "Ratings", earlier: "Ratings") -> _MatchedItems | None:
    """None if they share no item."""
    if ratings.scale.dimensions != earlier.scale.dimensions:
        return None
    with_texts = "text" in ratings.has and "text" in earlier.has
    session = ratings.session
    own_items = _load_items_with_texts(session, ratings, with_texts=with_texts)
    earlier_items = _load_items_with_texts(session, earlier, with_texts=with_texts, only_rated=True)
    same_text = "o.text IS NULL OR e.text IS NULL OR o.text = e.text" if with_texts else "TRUE"
    items = session.materialize(
        f"SELECT o.item AS item, e.item AS earlier_item FROM {own_items} AS o "
        f"JOIN {earlier_items} AS e ON o.item = e.item WHERE {same_text}"
    )
    if with_texts:
        items = _with_items_of_same_text(items, own_items, earlier_items)
    if not items.query_column(f"SELECT 1 FROM {items} LIMIT 1"):
        return None
    match = _MatchedItems(items, earlier.own_ratings_coded_for(ratings))
    return None if not with_texts and _are_other_items(ratings, match) else match


def _with_items_of_same_text(
    items: Relation, own_items: Relation, earlier_items: Relation
) -> Relation:
    """Also the items that no name matches. Of several with one text, each is matched once."""

    def unmatched_items(rows: Relation, name: str) -> str:
        return (
            "SELECT i.item AS item, i.text AS text, "
            f"ROW_NUMBER() OVER (PARTITION BY i.text ORDER BY i.item) AS nth FROM {rows} AS i "
            f"LEFT JOIN {items} AS m ON i.item = m.{name} "
            "WHERE m.item IS NULL AND i.text IS NOT NULL AND i.text <> ''"
        )

    return items.session.materialize(
        f"SELECT item, earlier_item FROM {items} UNION ALL "
        "SELECT o.item AS item, e.item AS earlier_item FROM "
        f"({unmatched_items(own_items, 'item')}) AS o JOIN "
        f"({unmatched_items(earlier_items, 'earlier_item')}) AS e ON o.text = e.text AND o.nth = "
        "e.nth"
    )


def _are_other_items(ratings: "Ratings", match: _MatchedItems) -> bool:
    """Are labels of one rater under one name hardly more alike than chance makes them?

    Chance is that of Cohen's kappa, for each rater alone. Too few labels tell nothing.
    """
    labels = ratings.label_columns
    own_columns, earlier_columns = (
        [f"{prefix}_{label}" for label in labels] for prefix in ("now", "before")
    )
    columns = [
        *(f"r.{label} AS {name}" for label, name in zip(labels, own_columns, strict=True)),
        *(f"e.{label} AS {name}" for label, name in zip(labels, earlier_columns, strict=True)),
    ]
    pairs = ratings.session.materialize(
        f"SELECT r.place AS place, {', '.join(columns)} FROM {ratings.table} AS r "
        f"JOIN {match.items} AS m ON r.item = m.item JOIN {match.earlier} AS e "
        "ON e.item = m.earlier_item AND e.place = r.place AND e.occurrence = r.occurrence "
        "WHERE NOT r.earlier"
    )
    is_same = " AND ".join(
        f"{own_column} = {earlier_column}"
        for own_column, earlier_column in zip(own_columns, earlier_columns, strict=True)
    )
    (equality,) = pairs.query(
        f"SELECT COUNT(*) AS n, COUNT(CASE WHEN {is_same} THEN 1 END) AS n_equal FROM {pairs}"
    ).to_pylist()

    def counts(names: Sequence[str]) -> str:
        keys = ", ".join(["place", *names])
        return f"SELECT {keys}, COUNT(*) AS n FROM {pairs} GROUP BY {keys}"

    (expected,) = pairs.query_column(
        f"SELECT SUM(CAST(o.n AS DOUBLE) * b.n / t.n) AS expected FROM ({counts(own_columns)}) AS "
        f"o JOIN ({counts(earlier_columns)}) AS b ON o.place = b.place AND {is_same} "
        f"JOIN ({counts([])}) AS t ON o.place = t.place"
    )
    n, n_equal, by_chance = int(equality["n"]), int(equality["n_equal"]), float(expected or 0.0)
    if n < MIN_LABELS_TO_TELL_ITEMS_APART or n - by_chance < 1:
        return False
    kappa = (n_equal - by_chance) / (n - by_chance)
    error = math.sqrt(by_chance / (n - by_chance) / n)
    return kappa < min(max(MIN_KAPPA_OF_SAME_ITEMS, 4 * error), MAX_KAPPA_OF_OTHER_ITEMS)


def _load_items_with_texts(
    session: Session, ratings: "Ratings", *, with_texts: bool, only_rated: bool = False
) -> Relation:
    """The items with their texts, in a session. An item that nobody rated came with no label."""
    table = ratings.table
    rated = f"SELECT DISTINCT item FROM {table} WHERE NOT earlier"
    if with_texts:
        texts = ratings.items(["text"])
        item_texts = ratings.session.load_batches(texts.schema, texts.to_batches())
        query = f"SELECT item, text FROM {item_texts}"
        if only_rated:
            query = (
                f"SELECT k.item AS item, k.text AS text FROM {item_texts} AS k JOIN ({rated}) AS r "
            )
            query += "ON k.item = r.item"
        items = item_texts.create_view(query, table)
    elif only_rated or ratings.known is None:
        items = table.create_view(rated)
    else:
        items = ratings.known.create_view(f"SELECT item FROM {ratings.known}")
    if ratings.session is session:
        return items
    columns = ", ".join(["item", *(["text"] if with_texts else [])])
    rows = items.create_view(f"SELECT {columns} FROM {items}")
    return session.load_batches(rows.schema, ratings.session.query_batches(f"SELECT * FROM {rows}"))
