"""The checks that ratings pass before they are made. An error names the rows and the column.

What has few distinct values is checked on these, in Python, and the rest by queries. A test that
some row fails is asked again, for the first rows at fault.
"""

import re
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from functools import cached_property
from typing import Annotated, Any, NoReturn

import numpy as np

from agreement_pipeline.engine import Relation, Session
from agreement_pipeline.errors import ProjectError, RatingsError
from agreement_pipeline.mistakes import Value, is_whole_number_between, refuse_mistakes
from agreement_pipeline.ratings.arrays import slices_of_rows
from agreement_pipeline.ratings.cells import CONTENT_PREFIX, PART_PREFIX, STRATUM, Cells, ItemTexts
from agreement_pipeline.ratings.lookalikes import (
    AS_PERCENT,
    describe_lookalikes,
    group_lookalike_names,
)
from agreement_pipeline.ratings.placeholders import (
    describe_leaving_out_placeholders,
    is_blank,
    placeholders_among,
)
from agreement_pipeline.ratings.scale import (
    LARGEST,
    MAX_CATEGORIES_READ_OFF,
    MISSING,
    Codes,
    Level,
    Scale,
    are_any_numbers,
    category_text,
    guess_level,
    is_number,
    labels_of_sets,
    numbers_of_vector,
    refuse_all_tiny,
)
from agreement_pipeline.text import called, listed, suggest_name

PositiveInteger = Annotated[int, Value("a whole number from 1", is_whole_number_between(1))]


@dataclass(frozen=True)
class Limits:
    """How large a table may be. A larger one is refused before it fills the memory.

    Parameters
    ----------
    file_bytes
        Of the file, and of the content of a Parquet file once it is expanded.
    rows, columns
        Of the table. A text file counts its lines, with the header's.
    name_length
        Characters of the name of an item, rater, round or label.
    categories
        Different labels, if the scale is read off them.

    Raises
    ------
    ProjectError
        A limit is no whole number from 1.
    """

    file_bytes: PositiveInteger = 20_000_000_000
    rows: PositiveInteger = 1_000_000_000
    columns: PositiveInteger = 1_000
    name_length: PositiveInteger = 1_000
    categories: PositiveInteger = 1_000

    def __post_init__(self) -> None:
        refuse_mistakes(self, ProjectError)

    def refuse_beyond(self, limit: str, count: int, place: str, noun: str) -> None:
        """Refuse a count above the limit of this name. `noun` says what was counted."""
        maximum = getattr(self, limit)
        if count > maximum:
            raise RatingsError(
                f"{place}: found {count} {noun}; expected at most {maximum}. "
                f"Check that the export is the right one, or raise the limit {limit}."
            )


LIMITS = Limits()
UNLIMITED = Limits(*[2**53] * 5)  # of what is in memory or stored


WORD_BITS, CELLS_AT_ONCE = 60, 2**21


class Packing:
    """The labels of an item are one whole number, or a few, so equal items are counted in the
    engine.

    A label takes `bits`, and 0 stands for a missing one. That of a rater stands in the slot of the
    rater's place, or in another one of `slots`.
    """

    def __init__(self, raters: int, labels: int, slots: Sequence[int] | None = None) -> None:
        self.bits = labels.bit_length()
        self.slots = range(raters) if slots is None else slots
        self.a_word = WORD_BITS // self.bits
        self.columns = [f"w{word}" for word in range(-(-raters // self.a_word))]

    def packing_aggregates_sql(self, session: Session) -> list[str]:
        """The aggregates of SQL that pack the labels of an item into words."""
        slot = "place"
        if not isinstance(self.slots, range):
            cases = " ".join(
                f"WHEN {place} THEN {slot_of_place}"
                for place, slot_of_place in enumerate(self.slots)
            )
            slot = f"(CASE place {cases} END)"
        if len(self.columns) == 1:
            return [f"BIT_OR({session.shift_left_sql('code', f'({self.bits} * {slot})')}) AS w0"]
        label = session.shift_left_sql("code", f"({self.bits} * ({slot} % {self.a_word}))")
        first_slots = [word * self.a_word for word in range(len(self.columns))]
        return [
            f"BIT_OR(CASE WHEN {slot} BETWEEN {first_slot} AND {first_slot + self.a_word - 1} "
            f"THEN {label} ELSE 0 END) AS {column}"
            for first_slot, column in zip(first_slots, self.columns, strict=True)
        ]

    def unpack_codes(self, words: Codes, places: Iterable[int]) -> Codes:
        """The codes of the raters at some places, from 0, -1 if missing. Shape (P, R)."""
        slots = np.array([self.slots[place] for place in places], dtype=np.int64)
        word, turn = np.divmod(slots, self.a_word)
        codes_of_words = words[:, word]
        codes_of_words >>= self.bits * turn
        codes_of_words &= (1 << self.bits) - 1
        codes_of_words -= 1
        return codes_of_words

    def iterate_labels(
        self, words: Codes, places: Sequence[int]
    ) -> Iterator[tuple[Codes, Codes, Codes]]:
        """The labels that there are, in parts: their rows, columns among `places`, and codes.

        Where many raters share few items, nearly all of `codes` is missing, and fills the memory.
        """
        columns = np.full(len(self.columns) * self.a_word, MISSING)
        columns[[self.slots[place] for place in places]] = np.arange(len(places))
        shifts, mask = self.bits * np.arange(self.a_word), (1 << self.bits) - 1
        for part in slices_of_rows(len(words), 1 + CELLS_AT_ONCE // len(columns)):
            row, word = np.nonzero(words[part])
            labels = (words[part][row, word, None] >> shifts) & mask
            label_row, turn = np.nonzero(labels)
            column = columns[word[label_row] * self.a_word + turn]
            is_asked = column >= 0
            if not is_asked.any():
                continue
            yield (
                part.start + row[label_row[is_asked]],
                column[is_asked],
                labels[label_row, turn][is_asked] - 1,
            )


Classifiers = Sequence[str] | Callable[[Iterable[object], str], Sequence[str]]
REQUIRED = ("item", "rater", "label")
EXTRAS = ("confidence", "assisted", "drawn", "timestamp", "last_label", "changed_at")
CONTENT = ("text", "gold", "gold_label", "cluster", "weight")
KEYS = ("rater", "label", "occurrence", "earlier", "assisted", "gold", "gold_label")
RATING_KEYS = ("item", "place", "occurrence")
MAX_KEY_ROWS, MAX_INLINE_CASES = 1_000_000, 24
MAX_OCCURRENCES = 2**31 - 1
MAX_STRATA = 200
MAX_WEIGHT = 2**53
DAY_FORMS: dict[str, tuple[str, *tuple[tuple[int, int, int], ...]]] = {
    "-": ("^[0-9]{4}-[0-9]{2}-[0-9]{2}", (0, 1, 2)),
    ".": ("^[0-9]{1,2}[.][0-9]{1,2}[.][0-9]{4}", (2, 1, 0), (2, 0, 1)),
    "/": ("^[0-9]{1,2}/[0-9]{1,2}/[0-9]{4}", (2, 1, 0), (2, 0, 1)),
}
"""How times begin with a day, by the mark between its parts: where year, month and day may be."""
FLAG_BY_TEXT = {
    "true": True,
    "false": False,
    "yes": True,
    "no": False,
    "1": True,
    "0": False,
    "": False,
}
YEAR_THAT_TIMES_HAVE = "YEAR(timestamp) BETWEEN 1 AND 9999"
LABELLED, OF_ITEM = "label IS NOT NULL", "item IS NOT NULL"
DECIMAL_COMMA = re.compile(r"[+-]?[0-9]*,[0-9]+")
HOW_OF_COMMAS = (
    " If the comma is a decimal comma, say so: --decimal , (decimal: ',' among the columns of a "
    "project)."
)
OF_CLUSTERS = (
    "cluster",
    "clusters",
    "Fill it in: an item that belongs to no other is a cluster of its own. Or leave the column "
    "out, if no items belong together.",
)
OF_STRATA = ("stratum", "strata", "Fill it in: a word such as other is a stratum too.")
HOW_OF_DUPLICATES = "--duplicates first or last; duplicates: first in a project"
HOW_OF_OCCURRENCES = "--occurrence COLUMN; columns: {occurrence: COLUMN} in a project"
HOW_OF_PERCENT = " If it is a percentage, take off its sign."
HOW_TO_USE_NAMES = ". Correct the label, or use level nominal or ordinal for names."
HOW_TO_MEND_LABEL = "Correct the label or add it to the scale."


def content_columns(columns: Iterable[object]) -> list[str]:
    """The columns that speak of items, in a fixed order: those of strata come after the plain ones,
    then the parts of units and other contents.
    """
    names = list(map(str, columns))
    prefixed = [
        name
        for prefix in (STRATUM, PART_PREFIX, CONTENT_PREFIX)
        for name in sorted(names)
        if name.startswith(prefix)
    ]
    return [*(name for name in CONTENT if name in names), *prefixed]


def is_beside_ratings(column: str) -> bool:
    """True for a column of items that no query of ratings needs, so that it stands with items."""
    return column in ("text", "gold", "gold_label") or column.startswith(
        (PART_PREFIX, CONTENT_PREFIX)
    )


class NoRatingError(RatingsError):
    """No row has a label."""


class NumbersError(Exception):
    """Nobody named the level of labels, and they are numbers of an interval scale. Such cells are
    read as numbers from the start. Without a scale, its categories are the numbers that occur.
    """

    def __init__(self, scale: Scale | None) -> None:
        super().__init__("found numbers; expected a level")
        self.scale = scale


class RatingsValidator:
    """The checks of some cells, and the ratings in them. `Ratings.from_cells` says what is refused.

    That a rater gave an item one label as one occurrence is not checked here yet.
    """

    def __init__(
        self,
        cells: Cells,
        declared_scale: Scale | None,
        level: Level | None,
        limits: Limits,
    ) -> None:
        self.cells, self.limits, self.is_limited = cells, limits, limits is not UNLIMITED
        self.infers_level = level is None and declared_scale is None
        self.level: Level = (level or "nominal") if declared_scale is None else declared_scale.level
        # Is it known before the labels are seen that any number, or vector, may be one?
        self.is_number = level in ("interval", "ratio")
        if declared_scale is not None:
            self.is_number = declared_scale.continuous and declared_scale.dimensions == 1
        self.is_vector = self.level == "multivariate interval"
        self.contents = content_columns(cells.names)
        self.has = frozenset({*EXTRAS} & {*cells.names}) | {*self.contents}
        present = [name for name in cells.names if name not in ("nth", "row", "column")]
        if missing := [name for name in REQUIRED if name not in present]:
            raise RatingsError(
                f"{cells.source}: found no {called('column', map(cells.source_name, missing))} "
                f"among {listed([cells.source_name(name) for name in present], 12)}; expected "
                "item, rater and label. Name the columns that hold them."
            )
        of_raters = "column" in cells.names and "label" not in cells.columns
        name = f"column {cells.columns.get('label', 'label')!r}"
        self._label_place = f"{cells.source}: {'the columns of raters' if of_raters else name}"
        # Names of items are tested in fewer rows once the labels of items are one row each.
        is_plain = {*cells.names} == {*REQUIRED, "nth", "row"}
        self.items_later = is_plain and not (self.is_number or self.is_vector)
        self._facts, self._keys = self._count_facts()
        if are_none := self._is_missing_label_sql(declared_scale):
            self.cells = cells = cells.with_labels_missing(are_none)
            self._facts, self._keys = self._count_facts()
        self.n = int(self._facts["labelled"])
        self.n_unanswered = int(self._facts.get("unanswered", 0))
        if not self.n:
            raise NoRatingError(
                f"{cells.source}: found no rating; expected at least one row with a label. "
                "Check that the export is complete."
            )
        cells.refuse_nan([name for name in cells.kind_by_column if self._facts.get(f"nan {name}")])
        self.scale = self._scale_of_labels() if declared_scale is None else declared_scale
        self._check_names()

    def check(self, classifiers: Classifiers, models: Collection[str]) -> None:
        """The checks that come after those of the names of items."""
        cells = self.cells
        self._check_raters()
        self._check_labels()
        self._check_ratings()
        if "last_label" in cells.names:
            self._check_last_labels()
        self._check_contents()
        raters = self._distinct_values("rater")
        self.raters = tuple(sorted({category_text(rater) for rater in raters}))
        classifier_names = (
            classifiers(raters, cells.source) if callable(classifiers) else classifiers
        )
        refuse_absent_classifiers({*classifier_names}, self.raters, cells.source)
        self.classifiers = tuple(sorted({*classifier_names} | ({*models} & {*self.raters})))
        self.table = self._build_table()
        is_text = "text" in self.contents and cells.relation.session.numbers_rows
        self.texts = (
            ItemTexts(cells, self.item_contents) if is_text and self.item_contents else None
        )
        # Did a rater meet an item again, and are some ratings of earlier rounds?
        self.has_replicates = any(
            _parse_occurrence(value) != 1 for value in self._distinct_values("occurrence")
        )
        self.has_earlier_rounds = any(map(_parse_flag, self._distinct_values("earlier", OF_ITEM)))

    # What is known of the cells before any check

    def _count_facts(self) -> tuple[Mapping[str, Any], Mapping[str, list[Any]]]:
        """What one query tells of all cells: counts by test, and the distinct rows of keys."""
        cells = self.cells
        keys = [name for name in KEYS if name in cells.names]
        if self.is_number or self.is_vector:
            keys.remove("label")
        sql_by_fact = {"labelled": f"COUNT({cells.quote_column('label')})"}
        # A wide table does not tell who was asked, nor does a row without a rater.
        if "label" in cells.columns:
            sql_by_fact["unanswered"] = f"COUNT(CASE WHEN NOT ({LABELLED}) THEN rater END)"
        for name, test in self._refusal_test_by_column.items():
            sql_by_fact[name] = f"COUNT(CASE WHEN {test} THEN 1 END)"
        for name in ("item", "cluster"):
            if self.is_limited and name in cells.kind_by_column:
                sql_by_fact[f"longest {name}"] = f"MAX(LENGTH({cells.text_sql(name)}))"
        if self.is_number:
            sql_by_fact["largest"] = f"MAX(ABS({cells.number_sql('label')}))"
        if self.items_later:
            later = ("item", "longest item")
            sql_by_fact = {name: sql for name, sql in sql_by_fact.items() if name not in later}
        select_list = ", ".join(
            f"{sql} AS f{index}" for index, sql in enumerate(sql_by_fact.values())
        )
        keys_list = ", ".join(map(cells.quote_column, keys))
        table = cells.relation.query(
            f"SELECT {keys_list}, {LABELLED} AS labelled, {select_list} FROM {cells.relation} "
            f"GROUP BY {keys_list}, {LABELLED} LIMIT {MAX_KEY_ROWS + 1}"
        )
        if table.num_rows > MAX_KEY_ROWS:
            self._refuse_too_many_keys()
        facts = {}
        for index, (name, sql) in enumerate(sql_by_fact.items()):
            values = [value for value in table[f"f{index}"].to_pylist() if value is not None]
            facts[name] = max(values, default=0) if sql.startswith("MAX") else sum(values)
        return facts, {name: table[name].to_pylist() for name in (*keys, "labelled")}

    def _is_missing_label_sql(self, declared_scale: Scale | None) -> str:
        """The test of labels that are none: blanks, and numbers that are none. Empty if all are.

        A scale may name the empty text, which is the empty set.
        """
        cells, tests = self.cells, list[str]()
        if self._facts.get("nan label"):
            tests.append(cells.is_nan_sql("label"))
        if cells.kind_by_column.get("label") != "text":
            return " OR ".join(tests)
        if "label" in self._keys:
            category_names = {*declared_scale.names} if declared_scale else set()
            labels = (label for label in self._distinct_values("label") if label is not None)
            if blank := [
                label for label in labels if is_blank(label) and label not in category_names
            ]:
                tests.append(cells.is_among_sql("label", blank))
        elif self._facts.get("label") or self._facts.get("blank"):
            tests.append(cells.is_blank_sql("label"))
        return " OR ".join(tests)

    @cached_property
    def _refusal_test_by_column(self) -> dict[str, str]:
        """The tests of SQL that refused cells meet, by the column or by `nan` and the column."""
        cells, kinds = self.cells, self.cells.kind_by_column
        floats = [name for name, kind in kinds.items() if kind == "float" and name != "nth"]
        tests = {f"nan {name}": cells.is_nan_sql(name) for name in floats}
        if "item" in kinds:
            tests["item"] = f"{LABELLED} AND {cells.is_blank_sql('item')}"
        if "confidence" in kinds:
            is_outside = f"COALESCE(NOT {cells.number_sql('confidence')} BETWEEN 0 AND 1, TRUE)"
            tests["confidence"] = (
                f"{LABELLED} AND NOT {cells.is_blank_sql('confidence')} AND {is_outside}"
            )
        if "weight" in kinds:
            number = cells.number_sql("weight")
            right = f"{number} BETWEEN 1 AND {MAX_WEIGHT} AND {number} = FLOOR({number})"
            tests["weight"] = f"{OF_ITEM} AND COALESCE(NOT ({right}), TRUE)"
        for name in self.contents:
            if name in kinds and (name == "cluster" or name.startswith(STRATUM)):
                tests[name] = f"{OF_ITEM} AND {cells.is_blank_sql(name)}"
        if self.is_number and "label" in kinds:
            number = cells.number_sql("label")
            sign = f" OR {number} < 0" if self.level == "ratio" else ""
            is_outside = f"COALESCE(NOT ABS({number}) <= {LARGEST!r}, TRUE)"
            tests["label"] = f"{LABELLED} AND ({is_outside}{sign})"
        if self.is_vector and kinds.get("label") == "text":
            tests["blank"] = f"{LABELLED} AND {cells.is_blank_sql('label')}"
        if kinds.get("timestamp") == "text" and self.is_limited:
            tests["timestamp"] = (
                f"{LABELLED} AND {self._invalid_day_sql(cells.quote_column('timestamp'))}"
            )
        elif "timestamp" in {*cells.names} - {*kinds} and self.is_limited:
            tests["timestamp"] = (
                f"{LABELLED} AND NOT COALESCE({YEAR_THAT_TIMES_HAVE}, timestamp IS NULL)"
            )
        return tests

    def _invalid_day_sql(self, time: str) -> str:
        """The test of SQL whether a time begins with a day that no calendar has."""
        session = self.cells.relation.session
        cases = [f"WHEN TRY_CAST(SUBSTR({time}, 1, 10) AS DATE) IS NOT NULL THEN FALSE"]
        for mark, (pattern, *orders) in DAY_FORMS.items():
            parts = tuple(
                f"SPLIT_PART({time}, '{mark}', {part_number})" for part_number in (1, 2, 3)
            )
            is_none = " AND ".join(
                f"TRY_CAST(CONCAT(SUBSTR({parts[year]}, 1, 4), '-', {parts[month]}, '-', "
                f"SUBSTR({parts[day]}, 1, 2)) AS DATE) IS NULL"
                for year, month, day in orders
            )
            cases.append(f"WHEN {session.matches_sql(time, pattern)} THEN {is_none}")
        return f"CASE {' '.join(cases)} ELSE FALSE END"

    def _distinct_values(self, name: str, rows: str = LABELLED) -> list[Any]:
        """The distinct values of a column in the rows with a label, or in all rows."""
        if name == "label" and name not in self._keys:
            # They are numbers, and few.
            spelt = f"SELECT DISTINCT label FROM {self.cells.relation} WHERE {LABELLED}"
            return self.cells.relation.query_column(f"{spelt} LIMIT {MAX_KEY_ROWS + 1}")
        pairs = zip(self._keys.get(name, ()), self._keys["labelled"], strict=False)
        return list(
            dict.fromkeys(value for value, is_labelled in pairs if is_labelled or rows != LABELLED)
        )

    def _refuse_too_many_keys(self) -> NoReturn:
        table = self.cells.relation
        if self.infers_level:
            sample = table.query_column(
                f"SELECT DISTINCT label FROM {table} LIMIT {MAX_CATEGORIES_READ_OFF}"
            )
            self._infer_level(sample)
        if not self.is_number:
            (different,) = table.query_column(f"SELECT COUNT(DISTINCT label) FROM {table}")
            self.limits.refuse_beyond(
                "categories", different, self._label_place, "different labels"
            )
        raise RatingsError(
            f"{self.cells.source}: found more than {MAX_KEY_ROWS} different rows of raters, labels "
            "and occurrences; expected fewer. Check which columns hold them."
        )

    def _refuse_cells(self, test: str, name: str, expected: str, finding: str = "") -> NoReturn:
        cells = self.cells
        finding = finding or listed(cells.values_where(test, name))
        raise RatingsError(
            f"{cells.describe_place(test, name)}: found {finding}; expected {expected}"
        )

    # Names

    def _check_names(self) -> None:
        if "label" in self._keys:
            self._refuse_repeated_header(self._distinct_values("label"))
        self._refuse_too_long("rater", self._distinct_values("rater"))
        if not (self.items_later and all(self._keys["labelled"])):
            self._check_items()

    @property
    def name_length_and_blanks_sql(self) -> tuple[str, str]:
        """What is asked of a row an item: the bits of its name, and is it blank?"""
        blank = f"COUNT(CASE WHEN {self.cells.is_blank_sql('item')} THEN 1 END) AS blank"
        return "MAX(BIT_LENGTH(item)) AS longest", blank

    def check_item_aggregates(self, longest: int, blank: int) -> None:
        if blank or longest > 8 * self.limits.name_length:
            self._check_items()

    @contextmanager
    def saying_item_errors_first(self) -> Iterator[None]:
        """What is wrong with names of items is said first, also if they are tested later."""
        try:
            yield
        except Exception:
            if self.items_later:
                self._check_items()
            raise

    def _check_items(self) -> None:
        if self.items_later:
            self.items_later = False
            self._facts, self._keys = self._count_facts()
        for name in ("item", "cluster"):
            if longest := self._facts.get(f"longest {name}"):
                self._refuse_if_longest_too_long(
                    name, longest, f"LENGTH({self.cells.text_sql(name)}) = {longest}"
                )
        if self._facts["item"]:
            self._refuse_blank("item", self._refusal_test_by_column["item"])

    def _check_raters(self) -> None:
        if blank := [rater for rater in self._distinct_values("rater") if not _is_stated(rater)]:
            self._refuse_blank("rater", f"{LABELLED} AND {self.cells.is_among_sql('rater', blank)}")

    def _refuse_blank(self, name: str, test: str) -> NoReturn:
        several = "s" if len(self.cells.values_where(test, "row")) > 1 else ""
        expected = f"one in every row. Fill it in or drop the row{several}."
        self._refuse_cells(test, name, expected, f"no {name}")

    def _refuse_repeated_header(self, labels: Collection[object]) -> None:
        """Refuse a header among the rows: two files were put together as text."""
        cells, columns = self.cells, self.cells.columns
        if not {*REQUIRED} <= {*columns} or columns["label"] not in labels:
            return
        if {cells.kind_by_column.get(name) for name in REQUIRED} != {"text"}:
            return
        test = " AND ".join(cells.is_among_sql(name, [columns[name]]) for name in REQUIRED)
        if rows := cells.values_where(test, "row"):
            raise RatingsError(
                f"{cells.source}: row {rows[0]}: found the header again; expected it once, "
                "above all ratings. Remove the row, or deliver the files in one folder."
            )

    def _refuse_too_long(self, name: str, values: Iterable[object]) -> None:
        longest = max((value for value in values if isinstance(value, str)), key=len, default="")
        self._refuse_if_longest_too_long(
            name, len(longest), self.cells.is_among_sql(name, [longest])
        )

    def _refuse_if_longest_too_long(self, name: str, longest: int, test: str) -> None:
        if longest > self.limits.name_length:
            place = self.cells.describe_place(test, name)
            self.limits.refuse_beyond("name_length", longest, place, "characters")

    # Labels

    def _scale_of_labels(self) -> Scale:
        table = self.cells.relation
        labels: list[Any] = []
        if self.is_number:
            self._refuse_no_number()
            numbers = (
                f"SELECT DISTINCT {self.cells.number_sql('label')} FROM {table} WHERE {LABELLED}"
            )
            # So many tell whether they are categories.
            labels = table.query_column(f"{numbers} LIMIT {MAX_CATEGORIES_READ_OFF + 1}")
            later = map(_parse_number, self._last_labels)
            labels += [number for number in later if number is not None]
        elif not self.is_vector:
            labels = [label for label in self._distinct_values("label") if label is not None]
            labels += self._last_labels
            if self.infers_level:
                self._infer_level(labels)
            different = len({*map(category_text, labels)})
            noun = "different labels"
            if parts := labels_of_sets(map(category_text, labels)):
                noun += f" that are sets of {len(parts)} labels, which --units sets judges"
            self.limits.refuse_beyond("categories", different, self._label_place, noun)
            self._refuse_repeated_header(labels)
            self._refuse_too_long("label", labels)
        elif self.cells.kind_by_column["label"] == "text":
            dimensions = "LENGTH(label) - LENGTH(REPLACE(label, '|', ''))"
            label_by_dimensions = (
                f"SELECT MIN(label) FROM {table} WHERE {LABELLED} GROUP BY {dimensions}"
            )
            labels = table.query_column(label_by_dimensions)
        try:
            return Scale.from_labels(labels, self.level)
        except RatingsError as error:
            raise RatingsError(f"{self._label_place}: {error}") from None

    def _infer_level(self, labels: Iterable[object]) -> None:
        texts = [text for text in map(category_text, labels) if not is_blank(text)]
        placeholders = {*placeholders_among(texts)}
        actual_labels = [text for text in texts if text not in placeholders]
        level = guess_level(actual_labels) if all(map(is_number, placeholders)) else "nominal"
        if level == "interval":
            is_open = are_any_numbers({float(text) for text in actual_labels})
            raise NumbersError(Scale(None, "interval") if is_open else None)
        self.level = level

    def _check_labels(self) -> None:
        if self.scale.dimensions > 1:
            self._check_vectors()
        elif self.is_number:
            self._refuse_no_number()
        elif bad := [
            label for label in self._distinct_values("label") if self._code_of_label(label) < 0
        ]:
            among = f"one of {listed(self.scale.names, 12)}"
            if self.scale.numeric:
                test = f"{LABELLED} AND {self.cells.is_among_sql('label', bad)}"
                self._refuse_labels(test, f"{among} on the {self.level} level{HOW_TO_USE_NAMES}")
            self._raise_off_scale(LABELLED, "label", bad, f"{among}. {HOW_TO_MEND_LABEL}")

    def _raise_off_scale(
        self, rows: str, name: str, bad: Collection[object], expected: str
    ) -> NoReturn:
        labels = sorted({*map(category_text, bad)})
        groups = group_lookalike_names([*self.scale.names, *labels])
        if alike := [group for group in groups if not "".join(group).isascii()]:
            expected += f" {describe_lookalikes(alike[0])} print alike."
        finding = called("label", labels)
        expected += describe_leaving_out_placeholders(labels)
        self._refuse_cells(
            f"{rows} AND {self.cells.is_among_sql(name, bad)}", name, expected, finding
        )

    def _refuse_labels(self, test: str, expected: str) -> NoReturn:
        finding = called("label", self.cells.values_where(test, "label"))
        self._refuse_cells(
            test, "label", f"{expected}{self._advice_for_unparsed_number(test, 'label')}", finding
        )

    def _advice_for_unparsed_number(self, test: str, name: str) -> str:
        """What to do about a text that is no number: a percentage, a comma or a placeholder."""
        text = str(self.cells.values_where(test, name)[0]).strip()
        if AS_PERCENT.fullmatch(text):
            return HOW_OF_PERCENT
        return (
            HOW_OF_COMMAS
            if DECIMAL_COMMA.fullmatch(text)
            else describe_leaving_out_placeholders([text])
        )

    def _code_of_label(self, label: object) -> int:
        """The place of a label among the categories, -1 if it is none."""
        if not self.scale.numeric:
            return int(self.scale.places_of_labels([category_text(label)])[0])
        number, categories = _parse_number(label), self.scale.categories or ()
        return categories.index(number) if number in categories else MISSING

    def _refuse_no_number(self) -> None:
        if self._facts["label"]:
            self._refuse_repeated_header([self.cells.columns.get("label", "")])
            if self.cells.kind_by_column["label"] == "text":
                table = self.cells.relation
                (longest,) = table.query_column(f"SELECT MAX(LENGTH(label)) FROM {table}")
                self._refuse_if_longest_too_long("label", longest, f"LENGTH(label) = {longest}")
            self._refuse_labels(
                self._refusal_test_by_column["label"],
                f"a finite {'non-negative ' if self.level == 'ratio' else ''}number on the "
                f"{self.level} level, none beyond {LARGEST:g} in size{HOW_TO_USE_NAMES}",
            )
        refuse_all_tiny(np.array(self._facts["largest"]), self._label_place)

    def _check_vectors(self) -> None:
        cells, parts, bad = self.cells, _number_column_sqls(self.scale.dimensions), LABELLED
        if cells.kind_by_column["label"] == "text":
            sizes = " OR ".join(f"NOT ABS({value}) <= {LARGEST!r}" for value in parts)
            bad += f" AND (NOT {cells.is_spelt_as_number_sql('label', len(parts))} OR {sizes})"
        if cells.has_row(bad):
            self._refuse_labels(
                bad,
                f"{len(parts)} finite numbers on the {self.level} level, none beyond "
                f"{LARGEST:g} in size, as {'|'.join('1' * len(parts))}. Correct the label.",
            )
        largest = f"MAX(GREATEST({', '.join(f'ABS({number})' for number in parts)}))"
        largest_size = cells.relation.query_column(
            f"SELECT {largest} FROM {cells.relation} WHERE {LABELLED}"
        )
        refuse_all_tiny(np.array(largest_size), self._label_place)

    def single_ratings(self) -> tuple[Relation, int]:
        """The ratings without those that only repeat the label of another one, and how many those
        are. One with another label is refused.
        """
        self.refuse_repeated_ratings(only_if_labels_differ=True)
        rated, names = self.table, self.table.schema.names
        quoted = [rated.session.column_sql(name) for name in names]
        (n_rows,) = rated.query_column(f"SELECT COUNT(*) FROM {rated}")
        # An engine that does not number rows still takes the same one each time.
        order = ", ".join(
            ["nth", *(column for column in quoted if column not in (*RATING_KEYS, "nth"))]
        )
        turn = f"ROW_NUMBER() OVER (PARTITION BY {', '.join(RATING_KEYS)} ORDER BY {order}) AS turn"
        select_list = ", ".join(quoted)
        single = rated.create_view(
            f"SELECT {select_list} FROM (SELECT {select_list}, {turn} FROM {rated}) AS t WHERE "
            "turn = 1"
        )
        (n_single,) = single.query_column(f"SELECT COUNT(*) FROM {single}")
        return single, int(n_rows) - int(n_single)

    def refuse_repeated_ratings(self, *, only_if_labels_differ: bool = False) -> None:
        rated, cells = self.table, self.cells
        keys = ", ".join(RATING_KEYS)
        labels = [name for name in rated.schema.names if name in ("code", "last_label")]
        labels += [name for name in rated.schema.names if re.fullmatch("d[0-9]+", name)]
        differ = " OR ".join(
            f"MIN({name}) <> MAX({name}) OR COUNT({name}) NOT IN (0, COUNT(*))" for name in labels
        )
        groups = (
            f"SELECT {keys}, COUNT(*) AS n, MIN(nth) AS nth, {differ} AS differ FROM {rated} "
            f"GROUP BY {keys}"
        )
        repeats = f"SELECT * FROM ({groups}) AS g WHERE n > 1"
        if only_if_labels_differ:
            repeats += " AND differ"
        repeat = rated.query(f"SELECT * FROM ({repeats}) AS t ORDER BY nth, item, place LIMIT 1")
        if not repeat.num_rows:
            return
        first_repeat = repeat.to_pylist()[0]
        (total,) = rated.query_column(f"SELECT CAST(SUM(n) AS BIGINT) FROM ({repeats}) AS t")
        rater = self.raters[first_repeat["place"]]
        spelt = [
            rater_value
            for rater_value in self._distinct_values("rater")
            if category_text(rater_value) == rater
        ]
        is_item = self._is_item_sql(first_repeat["item"])
        test = f"{LABELLED} AND {is_item} AND {cells.is_among_sql('rater', spelt)}"
        if "occurrence" in cells.names:
            occurrence_values = self._distinct_values("occurrence")
            same_occurrence = [
                occurrence_value
                for occurrence_value in occurrence_values
                if _parse_occurrence(occurrence_value) == first_repeat["occurrence"]
            ]
            test += f" AND {cells.is_among_sql('occurrence', same_occurrence)}"
        labels_of_rater = cells.values_where(test, "label")
        if self.scale.dimensions > 1:
            labels_of_rater = [*map(numbers_of_vector, labels_of_rater)]
        elif self.scale.numeric:
            labels_of_rater = [*map(_parse_number, labels_of_rater)]
        else:
            labels_of_rater = [
                self.scale.names[self._code_of_label(label)] for label in labels_of_rater
            ]
        raise RatingsError(
            f"{cells.describe_place(test, 'item', 'rater')}: found {first_repeat['n']} labels of "
            f"rater {rater!r} for item {first_repeat['item']!r} as occurrence "
            f"{first_repeat['occurrence']} ({listed(labels_of_rater)}, {total} such rows in all); "
            "expected one label for each (item, rater, occurrence). Say which one counts "
            f"({HOW_OF_DUPLICATES}), name the column that numbers repetitions "
            f"({HOW_OF_OCCURRENCES}), or give each round a table of its own."
        )

    # Other columns of ratings

    def _check_ratings(self) -> None:
        if bad := [
            occurrence_value
            for occurrence_value in self._distinct_values("occurrence")
            if _parse_occurrence(occurrence_value) is None
        ]:
            test = f"{LABELLED} AND {self.cells.is_among_sql('occurrence', bad)}"
            step = "Number a rater's meetings with an item from 1."
            self._refuse_no_whole_number("occurrence", MAX_OCCURRENCES, test, step)
        self._check_flags("earlier", LABELLED)
        if self._facts.get("confidence"):
            test = self._refusal_test_by_column["confidence"]
            advice = self._advice_for_unparsed_number(test, "confidence")
            self._refuse_cells(
                test,
                "confidence",
                "a number from 0 to 1, or nothing. Divide by the highest confidence that could be "
                f"stated, or leave the column out.{advice}",
            )
        if self._facts.get("timestamp"):
            step = "Correct it, or leave the cell empty."
            finding = (
                ""
                if self.cells.kind_by_column.get("timestamp")
                else "a time that no calendar writes"
            )
            expected = f"a day of the calendar. {step}"
            self._refuse_cells(
                self._refusal_test_by_column["timestamp"], "timestamp", expected, finding
            )
        self._check_flags("assisted", LABELLED)
        is_drawn = "drawn" in self.cells.names and self.cells.kind_by_column.get("drawn") != "text"
        if is_drawn and self.cells.has_row(test := f"{LABELLED} AND drawn IS NOT NULL"):
            expected = "a list of numbers as text, or nothing. Leave the column out."
            self._refuse_cells(test, "drawn", expected)

    def _refuse_no_whole_number(self, name: str, maximum: int, test: str, step: str) -> NoReturn:
        values = self.cells.values_where(test, name)
        missing = values[0] is None and not self.cells.has_row(
            f"{test} AND {self.cells.quote_column(name)} IS NOT NULL"
        )
        expected = f"a whole number from 1 to {maximum}. {step}"
        self._refuse_cells(test, name, expected, "nothing" if missing else listed(values))

    def _check_flags(self, name: str, rows: str) -> None:
        if bad := [flag for flag in self._distinct_values(name, rows) if _parse_flag(flag) is None]:
            test = f"{rows} AND {self.cells.is_among_sql(name, bad)}"
            self._refuse_cells(test, name, "yes or no (true, false, 1, 0). Correct it.")

    @cached_property
    def _last_labels(self) -> list[Any]:
        """The distinct labels that raters gave last."""
        cells = self.cells
        if "last_label" not in cells.names:
            return []
        later = f"{LABELLED} AND NOT {cells.is_blank_sql('last_label')}"
        return cells.relation.query_column(
            f"SELECT DISTINCT last_label FROM {cells.relation} WHERE {later}"
        )

    def _check_last_labels(self) -> None:
        cells, scale = self.cells, self.scale
        if scale.dimensions > 1:
            raise RatingsError(
                f"{cells.source}: column {cells.source_name('last_label')!r}: found later labels "
                "beside vectors of numbers; expected one number or category. Leave the column out."
            )
        if scale.continuous:
            numbers = [(label, _parse_number(label)) for label in self._last_labels]
            lowest = 0.0 if scale.level == "ratio" else -LARGEST
            bad = [e for e, number in numbers if number is None or not lowest <= number <= LARGEST]
        else:
            bad = [label for label in self._last_labels if self._code_of_label(label) < 0]
        if bad:
            among = listed(scale.names, 12) if scale.names else "the numbers of the scale"
            expected = f"one of {among}, or nothing. {HOW_TO_MEND_LABEL}"
            self._raise_off_scale(LABELLED, "last_label", bad, expected)

    def _last_label_sql(self) -> str:
        """The last label in words, where it is another than the first."""
        cells, scale = self.cells, self.scale
        if scale.continuous:
            differ = f"{cells.number_sql('last_label')} <> {cells.number_sql('label')}"
            return f"CASE WHEN {differ} THEN {cells.text_sql('last_label')} END"

        def name_case(name: str, values: Iterable[Any]) -> str:
            present = [label for label in values if label is not None]
            return self._case_sql(
                name, {label: scale.names[self._code_of_label(label)] for label in present}
            )

        last_labels, first_labels = self._last_labels, self._distinct_values("label")
        return f"NULLIF({name_case('last_label', last_labels)}, {name_case('label', first_labels)})"

    def _case_sql(self, name: str, texts: Mapping[Any, str]) -> str:
        """A column in which each value is replaced by its text. NULL for all other values."""
        literal = self.cells.value_sql
        cases = " ".join(f"WHEN {literal(v)} THEN {literal(text)}" for v, text in texts.items())
        return (
            f"CASE {self.cells.quote_column(name)} {cases} END" if cases else "CAST(NULL AS STRING)"
        )

    # What is known of items

    def _check_contents(self) -> None:
        for name in self.contents:
            if name == "gold":
                self._check_flags(name, OF_ITEM)
            elif name == "gold_label":
                self._check_right_labels()
            elif name == "weight" and self._facts["weight"]:
                step = "Say how many equal items the item stands for, or leave the column out."
                self._refuse_no_whole_number(
                    name, MAX_WEIGHT, self._refusal_test_by_column["weight"], step
                )
            elif name == "cluster" or name.startswith(STRATUM):
                self._check_groups(name)
        if conflict := self._find_conflict(self.contents):
            item, test, contents = conflict
            values_by_column = zip(self.contents, zip(*contents, strict=True), strict=True)
            differing = [name for name, values in values_by_column if len({*values}) > 1]
            raise RatingsError(
                f"{self.cells.describe_place(test, *differing)}: found {len(contents)} different "
                f"contents of item {item!r}; expected one. Give each content its own item."
            )

    def _check_right_labels(self) -> None:
        if self.scale.categories is None:
            raise RatingsError(
                f"{self.cells.source}: column {self.cells.source_name('gold_label')!r}: found "
                "right labels for a scale without categories; expected none. Leave the column out."
            )
        right = [
            label for label in self._distinct_values("gold_label", OF_ITEM) if _is_stated(label)
        ]
        if bad := [label for label in right if self._right_label(label) is None]:
            among = listed(self.scale.names, 12)
            expected = f"one of {among}, or nothing. Correct the right label."
            self._raise_off_scale(OF_ITEM, "gold_label", bad, expected)

    def _right_label(self, value: object) -> str | None:
        """The category that a gold label means. None if it means none."""
        place = (
            int(self.scale.places_of_labels([category_text(value)])[0])
            if _is_stated(value)
            else MISSING
        )
        return None if place < 0 else self.scale.names[place]

    def _check_groups(self, name: str) -> None:
        cells = self.cells
        singular, plural, advice = OF_CLUSTERS if name == "cluster" else OF_STRATA
        if self._facts[name]:
            self._refuse_cells(
                self._refusal_test_by_column[name],
                name,
                f"one for every item. {advice}",
                f"no {singular}",
            )
        table, group = cells.relation, cells.text_sql(name)
        group_names = table.query_column(f"SELECT DISTINCT {group} FROM {table} WHERE {OF_ITEM}")
        if singular == "stratum" and len(group_names) > MAX_STRATA:
            raise RatingsError(
                f"{cells.source}: column {cells.source_name(name)!r}: found {len(group_names)} "
                f"strata; expected {MAX_STRATA} at most. Choose a column with fewer values."
            )
        for alike in group_lookalike_names(sorted(group_names))[:1]:
            names = ", ".join(map(table.session.literal_sql, alike))
            self._refuse_cells(
                f"{OF_ITEM} AND {group} IN ({names})",
                name,
                f"names that do not. Write the {singular} in one way, or rename one of them.",
                f"{plural} {describe_lookalikes(alike)}, which print alike",
            )
        if conflict := self._find_conflict([name]):
            item, test, contents = conflict
            self._refuse_cells(
                test,
                name,
                f"one of each item. Correct the {singular}, or give each its own item.",
                f"item {item!r} in {plural} {listed(group_name for (group_name,) in contents)}",
            )

    def _is_item_sql(self, item: str) -> str:
        """The test of SQL whether a row is of this item."""
        return f"{self.cells.text_sql('item')} = {self.cells.relation.session.literal_sql(item)}"

    def _find_conflict(self, names: Sequence[str]) -> tuple[str, str, list[tuple[Any, ...]]] | None:
        """The first item whose rows differ in columns, their test, and what they say."""
        if not names:
            return None
        differ = " OR ".join(f"c{self.contents.index(name)}" for name in names)
        items, table = f"SELECT item FROM {self.item_contents} WHERE {differ}", self.cells.relation
        if not table.query(f"{items} LIMIT 1").num_rows:
            return None
        item = self.cells.text_sql("item")
        first_item = (
            f"SELECT {item} FROM {table} WHERE {item} IN ({items}) ORDER BY nth, row LIMIT 1"
        )
        (conflicting_item,) = table.query_column(first_item)
        select_list = ", ".join(
            f"{self._content_sql(name)} AS s{index}" for index, name in enumerate(names)
        )
        keys = ", ".join(f"s{index}" for index in range(len(names)))
        inner = (
            f"SELECT {select_list}, nth FROM {table} WHERE {self._is_item_sql(conflicting_item)}"
        )
        *columns, nth = table.query(
            f"SELECT {keys}, MIN(nth) AS nth FROM ({inner}) AS r GROUP BY {keys} ORDER BY nth"
        ).columns
        rows = f"nth IN ({', '.join(map(str, nth.to_pylist()))})"
        contents = zip(*(column.to_pylist() for column in columns), strict=True)
        return conflicting_item, f"{self._is_item_sql(conflicting_item)} AND {rows}", list(contents)

    def _content_sql(self, name: str) -> str:
        """What a row says of its item in a column, in one spelling."""
        if name == "gold":
            return self._is_yes_sql(name)
        if name == "gold_label":
            right = {
                value: self._right_label(value) for value in self._distinct_values(name, OF_ITEM)
            }
            name_by_value = {
                value: name_of_label
                for value, name_of_label in right.items()
                if name_of_label is not None
            }
            return self._case_sql(name, name_by_value)
        if name == "weight":
            return f"CAST({self.cells.number_sql(name)} AS BIGINT)"
        return self.cells.text_sql(name)

    def _is_yes_sql(self, name: str) -> str:
        """The test of SQL whether a flag is set."""
        yes = [flag for flag in self._distinct_values(name, OF_ITEM) if _parse_flag(flag)]
        return f"COALESCE({self.cells.is_among_sql(name, yes)}, FALSE)" if yes else "FALSE"

    @cached_property
    def item_contents(self) -> Relation | None:
        """A row an item with what its rows say, and in `c{n}` whether they differ in a column. A
        text may be long, so `text` is the `nth` of a row that tells it.
        """
        if not self.contents:
            return None
        session = self.cells.relation.session
        sql_by_column = {name: self._content_sql(name) for name in self.contents}
        aggregate_by_column = {name: f"MIN(s{index})" for index, name in enumerate(sql_by_column)}
        if "text" in sql_by_column and session.numbers_rows:
            index, text = self.contents.index("text"), sql_by_column["text"]
            sql_by_column["text"] = (
                f"CASE WHEN {text} IS NOT NULL THEN {session.hash_sql(text)} END"
            )
            aggregate_by_column["text"] = f"MIN(CASE WHEN s{index} IS NOT NULL THEN nth END)"
        inner = ", ".join(f"{sql} AS s{index}" for index, sql in enumerate(sql_by_column.values()))
        select_list = [
            f"{sql} AS {session.column_sql(name)}, MIN(s{index}) <> MAX(s{index}) "
            f"OR COUNT(s{index}) NOT IN (0, COUNT(*)) AS c{index}"
            for index, (name, sql) in enumerate(aggregate_by_column.items())
        ]
        rows = (
            f"SELECT {self.cells.text_sql('item')} AS item, {inner}, nth FROM {self.cells.relation}"
        )
        return session.materialize(
            f"SELECT item, {', '.join(select_list)} FROM ({rows}) AS r WHERE {OF_ITEM} GROUP BY "
            "item"
        )

    # The ratings

    def _build_table(self) -> Relation:
        """The view with one row a rating that `Ratings` rests on."""
        cells, scale, names = self.cells, self.scale, self.cells.names
        relation_by_join: dict[str, Relation] = {}
        sql_by_column = {"item": cells.text_sql("item")}
        place_by_name = {name: place for place, name in enumerate(self.raters)}
        places = {
            value: place_by_name[category_text(value)] for value in self._distinct_values("rater")
        }
        sql_by_column["place"] = self._mapped_number_sql("rater", "place", places, relation_by_join)
        if scale.continuous:
            several = scale.dimensions > 1
            numbers = (
                _number_column_sqls(scale.dimensions) if several else [cells.number_sql("label")]
            )
            sql_by_column |= {
                "code": "1",
                **{f"d{index}": number for index, number in enumerate(numbers)},
            }
        else:
            labels = [value for value in self._distinct_values("label") if value is not None]
            codes = {value: self._code_of_label(value) + 1 for value in labels}
            sql_by_column["code"] = self._mapped_number_sql(
                "label", "code", codes, relation_by_join
            )
        has_occurrences = "occurrence" in names
        sql_by_column["occurrence"] = (
            f"CAST({cells.number_sql('occurrence')} AS BIGINT)" if has_occurrences else "1"
        )
        sql_by_column["earlier"] = self._is_yes_sql("earlier")
        if "confidence" in names:
            sql_by_column["confidence"] = cells.number_sql("confidence")
        if "assisted" in names:
            is_stated = cells.is_among_sql(
                "assisted", [*filter(_is_stated, self._distinct_values("assisted"))]
            )
            sql_by_column["assisted"] = (
                f"CASE WHEN {is_stated} THEN {self._is_yes_sql('assisted')} END"
            )
        sql_by_column |= {name: name for name in ("drawn", "timestamp") if name in names}
        if "last_label" in names:
            sql_by_column["last_label"] = self._last_label_sql()
        if "changed_at" in names:
            is_changed = f"NOT {cells.is_blank_sql('changed_at')}"
            sql_by_column["changed_at"] = (
                f"CASE WHEN {is_changed} THEN CAST(changed_at AS STRING) END"
            )
            if "last_label" in names:  # another spelling of the first label is no change
                is_same_label = f"last_label IS NOT NULL AND {sql_by_column['last_label']} IS NULL"
                sql_by_column["changed_at"] = (
                    f"CASE WHEN NOT ({is_same_label}) THEN {sql_by_column['changed_at']} END"
                )
        sql_by_column["gold"] = self._is_yes_sql("gold")
        of_items = [name for name in self.contents if not is_beside_ratings(name)]
        sql_by_column |= {name: self._content_sql(name) for name in of_items}
        sql_by_column["nth"] = "nth"
        select_list = ", ".join(
            f"{sql} AS {cells.quote_column(name)}" for name, sql in sql_by_column.items()
        )
        tables = " ".join([str(cells.relation), *relation_by_join])
        rows = f"SELECT {select_list} FROM {tables} WHERE {LABELLED}"
        return cells.relation.create_view(rows, *relation_by_join.values())

    def _mapped_number_sql(
        self,
        name: str,
        number: str,
        numbers: Mapping[Any, int],
        relation_by_join: dict[str, Relation],
    ) -> str:
        """The number of each value in SQL: by cases if few, else by a join that is added."""
        if len(numbers) <= MAX_INLINE_CASES:
            cases = " ".join(f"WHEN {self.cells.value_sql(v)} THEN {n}" for v, n in numbers.items())
            return f"CAST(CASE {self.cells.quote_column(name)} {cases} END AS BIGINT)"
        import pyarrow as pa

        columns = [pa.array(list(numbers)), pa.array(list(numbers.values()), pa.int64())]
        table = pa.table(columns, names=[name, number])
        relation = self.cells.relation.session.load_batches(table.schema, table.to_batches())
        mapping = f"(SELECT {name}, {number} FROM {relation}) AS of_{name}"
        relation_by_join[f"JOIN {mapping} USING ({name})"] = relation
        return number


def _number_column_sqls(dimensions: int) -> list[str]:
    """The numbers of a vector as SQL, one for each dimension."""
    return [
        f"TRY_CAST(SPLIT_PART(label, '|', {index + 1}) AS DOUBLE)" for index in range(dimensions)
    ]


def _is_stated(value: object) -> bool:
    """True unless a value is missing or blank."""
    return value is not None and bool(category_text(value).strip())


def _parse_number(value: object) -> float | None:
    """The number that a cell spells. None if it spells none."""
    if isinstance(value, str):
        return float(value) if is_number(value) else None
    return None if value is None else float(value)  # type: ignore[arg-type]


def _parse_occurrence(value: object) -> int | None:
    """The number of an occurrence, from 1. None if it is no such number."""
    number = _parse_number(value)
    if number is None or not 1 <= number <= MAX_OCCURRENCES or number % 1:
        return None
    return int(number)


def _parse_flag(value: object) -> bool | None:
    """Yes or no. None if the cell says neither."""
    return FLAG_BY_TEXT.get("" if value is None else category_text(value).strip().lower())


def refuse_absent_classifiers(
    classifiers: Collection[str], raters: Iterable[str], source: str
) -> None:
    """A classifier that rated nothing may be misspelt."""
    if unknown := sorted({*classifiers}.difference(raters)):
        panel = sorted({*raters}.difference(classifiers))
        raise RatingsError(
            f"{source}: found no rating by {called('classifier', unknown)}; expected some by every "
            "named classifier. "
            + suggest_name(unknown[0], panel, "Correct the classifiers' names.")
        )
