"""What readers give: what raters handed in, as a tool wrote it, and rows under canonical names."""

from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from contextlib import AbstractContextManager, nullcontext
from dataclasses import dataclass, field, replace
from types import MappingProxyType
from typing import Any, Literal

from agreement_pipeline.engine import Relation
from agreement_pipeline.ratings import Cells, Origin
from agreement_pipeline.units import LabelObject

Status = Literal["submitted", "skipped", "draft", "rejected"]
Kind = Literal["human", "model", "gold", "reviewer"]
Data = Mapping[str, Any]
NO_FIELDS: Data = MappingProxyType({})


@dataclass(frozen=True, slots=True)
class Submission:
    """What one rater or model handed in for one item, as the tool writes it.

    Attributes
    ----------
    rater
        None: a deleted user, who is like nobody else.
    values
        The answer to each question: text, a number, a truth value, or a set of texts. A tuple is a
        list of ticks: a set, if anybody ticked more than one. Label objects are an `ObjectAnswer`.
    record
        The place in the source, for errors: unique in the export.
    created, updated, seconds
        When the work began and ended, and how long it took.
    assisted
        True if the answer began as a suggestion. None: the export does not say.
    first
        The answers that were given first, if the export has the history of the work.
    changed
        When handed-in work was last written. It was changed if that is later than `created` by over
        `SAVING_SECONDS`.
    fields
        What is known of the item: its text, its round, its other names.
    judge
        What the export says of the model that answered, as `describe_judge` gives it.
    """

    item: object
    rater: object
    values: Data
    record: str
    status: Status = "submitted"
    kind: Kind = "human"
    created: object = None
    updated: object = None
    seconds: Any = None
    confidence: Any = None
    assisted: bool | None = None
    first: Data | None = None
    changed: object = None
    fields: Data = field(default_factory=lambda: NO_FIELDS)
    judge: Data = field(default_factory=lambda: NO_FIELDS)


@dataclass(frozen=True)
class ObjectAnswer:
    """The label objects in one submission, perhaps none, and the extent as in `Marked`."""

    objects: tuple[LabelObject, ...] = ()
    extent: tuple[float, ...] = ()


@dataclass(frozen=True, eq=False)
class Rows(Cells):
    """The ratings of a source under canonical names, not checked yet.

    In a query they stand for the name of their table. `nth` is 0 if the source has no order.

    `classifiers` are the raters that the source calls models, and `classifier_details` is what it
    says of them.
    `left_out` counts by round and reason, and the round is empty if none is named.
    Where labels are numbers of label objects, these are in `object_answers`. If rows
    `are_units`, the objects are units already.
    `unread` are the columns of the source, or the fields of its items, that no rating has.
    `reading` refuses a source that is not whole while its cells are read inside.
    """

    classifiers: tuple[str, ...] = ()
    left_out: Counter[tuple[str, str]] = field(default_factory=Counter)
    reader: str = ""
    shows: frozenset[str] = frozenset()
    object_answers: Sequence[ObjectAnswer] = ()
    classifier_details: tuple[Mapping[str, object], ...] = ()
    unread: tuple[str, ...] = ()
    are_units: bool = False
    reading: Callable[[], AbstractContextManager[None]] = nullcontext

    def __str__(self) -> str:
        return self.relation.name

    @property
    def origin(self) -> Origin:
        """What the export can show, and what of it are no ratings."""
        left_out: Counter[str] = Counter()
        for (_, reason), count in self.left_out.items():
            left_out[reason] += count
        origin = Origin.build(
            self.reader, self.shows, left_out, classifiers=self.classifier_details
        )
        return replace(origin, unread=self.unread)

    def read_through(self) -> "Rows":
        """Rows whose cells were read once, so that a broken source is told now."""
        if self.reading is nullcontext:
            return self
        with self.reading():
            self.relation.read_through()
        return replace(self, reading=nullcontext)

    def select_list_sql(
        self, sql_by_column: Mapping[str, str], names: Iterable[str] | None = None
    ) -> str:
        """The columns as SQL, some of them computed, for a SELECT."""
        order = dict.fromkeys([*self.names, *sql_by_column]) if names is None else names
        return ", ".join(
            f"{sql_by_column[name]} AS {self.quote_column(name)}"
            if name in sql_by_column
            else self.quote_column(name)
            for name in order
        )

    def create_view(self, sql: str, *relations: Relation) -> "Rows":
        return replace(self, relation=self.relation.create_view(sql, *relations))

    def with_computed(
        self, sql_by_column: Mapping[str, str], names: Iterable[str] | None = None
    ) -> "Rows":
        """The rows with some columns computed by SQL, perhaps with these columns alone."""
        return self.create_view(f"SELECT {self.select_list_sql(sql_by_column, names)} FROM {self}")

    def drop_rows(self, test: str, reason: str, *relations: Relation) -> "Rows":
        """Those that meet the test of SQL are counted, by round."""
        of_round = f"COALESCE({self.text_sql('round')}, '')" if "round" in self.names else "''"
        counts_table = self.relation.query(
            f"SELECT {of_round} AS name, COUNT(*) AS n FROM {self} WHERE {test} GROUP BY 1"
        )
        counts = {(row["name"], reason): int(row["n"]) for row in counts_table.to_pylist()}
        remaining = self.create_view(f"SELECT * FROM {self} WHERE NOT ({test})", *relations)
        return replace(remaining, left_out=self.left_out + Counter(counts))

    def distinct_texts(self, name: str) -> list[str]:
        """The distinct texts of a column, sorted."""
        text = self.text_sql(name)
        return sorted(
            self.relation.query_column(
                f"SELECT DISTINCT {text} AS name FROM {self} WHERE {text} IS NOT NULL"
            )
        )
