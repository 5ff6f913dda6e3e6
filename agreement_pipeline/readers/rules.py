"""What a project says of the rows that a reader gives: which count, and as what."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from difflib import get_close_matches
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, ClassVar, Literal

import pyarrow as pa

from agreement_pipeline.engine import Relation
from agreement_pipeline.errors import ProjectError, RatingsError
from agreement_pipeline.mistakes import CLOSED, Value, refuse_mistakes
from agreement_pipeline.ratings import (
    CAPABILITIES,
    CONTENT_PREFIX,
    DUPLICATE,
    FIRST_DELIVERED,
    HOW_OF_DUPLICATES,
    HOW_OF_OCCURRENCES,
    STRATUM,
    category_text,
    typed_form,
)
from agreement_pipeline.readers.periods import (
    FIELD_PREFIX,
    Bounds,
    RoundPeriods,
    cut_into_rounds,
    is_in_bounds_sql,
    refuse_wrong_bounds,
)
from agreement_pipeline.readers.rows import Rows
from agreement_pipeline.text import called, listed

if TYPE_CHECKING:
    from agreement_pipeline.units import UnitSettings

ROUND = "{round}"
NAME = Value("a name", lambda name: isinstance(name, str) and bool(name))
Rejected = Literal["kept", "left out"]
Duplicates = Literal["first", "last"]
MIN_NAME_SIMILARITY = 0.85
RATER_SPECIFIC_COLUMNS = ("timestamp", "confidence", "assisted", "last_label", "changed_at")
"""Columns of a row that speak of its rater's answer. The row of a model inherits none of them."""
TIME_WITH_OFFSET = (
    "^[0-9]{4}-[0-9]{2}-[0-9]{2}[T ][0-9]{2}:[0-9]{2}(:[0-9]{2}([.][0-9]+)?)?"
    " ?(Z|[+-](0[0-9]|1[0-4])(:?[0-5][0-9])?)$"
)
"""A time with its offset from UTC, as all engines read it."""
STARTS_WITH_MONTH = "^[0-9]{4}-[0-9]{2}"
"""How times begin whose texts are in the order of time."""


@dataclass(frozen=True)
class PredictionsFile:
    """A table with the label that a model gave each item.

    Parameters
    ----------
    file
        Its path. In a project `{round}` stands for the name of the round.
    item, label
        What its columns are called.

    Raises
    ------
    ProjectError
        One of them is no name.
    """

    __pydantic_config__: ClassVar = CLOSED

    file: Annotated[str, NAME]
    item: Annotated[str, NAME] = "item"
    label: Annotated[str, NAME] = "label"

    def __post_init__(self) -> None:
        refuse_mistakes(self, ProjectError)

    def path_of_round(self, round_name: str, root: Path) -> "PredictionsFile":
        return replace(self, file=str(root / self.file.replace(ROUND, round_name)))


@dataclass(frozen=True)
class Rules:
    """Which rows of a source count, and which of its items are one.

    Parameters
    ----------
    where
        Fields, each with the values whose rows count, or with bounds of numbers or times.
    rounds
        Which column tells the round of each row. None: that which `Columns` names.
    exclude_raters
        Raters whose rows do not count, for example who gave the gold answers.
    replicate_of, replicates_share
        The field that names the item which an item repeats, or one that they share, as the text.
    duplicates
        Which row counts where several have one item and one rater: the `first` or the `last`, by
        their times if every row has one, else by their order. None: the same label twice counts
        once, and different ones are refused.
    same_rater
        Groups of names that are one rater, who is called by the first of them.
    different_raters
        Groups of names that print alike and are different raters.
    rejected
        Whether rejected work counts. If it does not, agreement is that of those who were paid.
    requires
        What the export must show. None: what its reader needs.
    all_rounds
        Read several rounds as one.
    strata
        The fields that tell strata of items apart, for example the language.
    keep
        The fields that go with the items into a release. No measure reads them.
    units
        How label objects become units. None: labels are categories.
    predictions
        Of each model, the file with its label for each item.
    missing
        Labels that say that nobody gave one, such as `n/a`.
    same_label
        Labels that mean the same, such as `("yes", "1")`. The first one stands for all. Groups that
        share a label are one.
    """

    reader: str | None = None
    where: Mapping[str, tuple[str, ...] | Bounds] = field(default_factory=dict)
    rounds: RoundPeriods | None = None
    exclude_raters: tuple[str, ...] = ()
    replicate_of: str | None = None
    replicates_share: str | None = None
    duplicates: Duplicates | None = None
    same_rater: tuple[tuple[str, ...], ...] = ()
    different_raters: tuple[tuple[str, ...], ...] = ()
    rejected: Rejected = "kept"
    requires: tuple[str, ...] | None = None
    all_rounds: bool = False
    strata: tuple[str, ...] = ()
    keep: tuple[str, ...] = ()
    units: "UnitSettings | None" = None
    predictions: Mapping[str, PredictionsFile] = field(default_factory=dict)
    missing: tuple[str, ...] = ()
    same_label: tuple[tuple[str, ...], ...] = ()

    def __post_init__(self) -> None:
        unknown = [name for name in self.requires or () if name not in CAPABILITIES]
        if unknown:
            raise ProjectError(
                f"requires: found {listed(unknown)}; expected some of "
                f"{listed(CAPABILITIES, 20)}. Correct the names."
            )
        for setting in ("strata", "keep"):
            names = getattr(self, setting)
            repeated = sorted({name for name in names if names.count(name) > 1})
            if repeated or "" in names:
                raise ProjectError(
                    f"{setting}: found {listed(repeated or [''])} "
                    f"{'twice' if repeated else 'as a name'}; expected names of fields, each once. "
                    "Correct the names."
                )
        refuse_wrong_bounds(self.where)
        if self.rounds is not None and self.all_rounds:
            raise ProjectError(
                "rounds: found all_rounds beside it; expected one of the two, since rows that are "
                "read as one have no rounds. Leave one out."
            )
        if FIRST_DELIVERED in self.strata:
            raise ProjectError(
                f"strata: found {FIRST_DELIVERED!r}; expected other names, since the deliveries of "
                "items are strata under this one. Rename the field."
            )
        for name in ("same_rater", "different_raters"):
            self._require_groups(name)
        if conflicting := [group for group in self.same_rater if self.declares_different(group)]:
            raise ProjectError(
                f"same_rater: found {listed(conflicting[0])} in different_raters too; expected "
                "names that are one rater, or that are several. Leave one of the two out."
            )
        if self.predictions and self.units is not None:
            raise ProjectError(
                "predictions: found units beside them; expected labels that are categories. Give "
                "the model's labels in the export, or in a column (models among the columns)."
            )
        if self.replicate_of and self.replicates_share:
            raise ProjectError(
                "replicate_of: found replicates_share beside it; expected one rule that says which "
                "items repeat others. Leave one of the two out."
            )

    def _require_groups(self, name: str) -> None:
        groups = getattr(self, name)
        names = [rater_name for group in groups for rater_name in group]
        if any(len(group) < 2 for group in groups) or "" in names:
            raise ProjectError(
                f"{name}: found a group without two names; expected the names that a rater has, "
                f"as {name}: [[Ana, ana]]. Write them as the ratings have them."
            )
        if repeated := sorted({rater_name for rater_name in names if names.count(rater_name) > 1}):
            raise ProjectError(
                f"{name}: found {listed(repeated)} twice; expected each name once. Put all names "
                "that belong together into one group."
            )

    def declares_different(self, names: Iterable[str]) -> bool:
        """True if one group of `different_raters` has all the names."""
        forms = {*map(typed_form, names)}
        return any(forms <= {*map(typed_form, group)} for group in self.different_raters)

    @property
    def fields(self) -> tuple[str, ...]:
        """The fields that rules read, each once."""
        round_field = None if self.rounds is None else self.rounds.column
        field_names = (
            *self.where,
            self.replicate_of,
            self.replicates_share,
            *self.strata,
            *self.keep,
        )
        field_names = (*field_names, round_field)
        return tuple(dict.fromkeys(name for name in field_names if name))


RULES = Rules()


def use_first_labels(rows: Rows) -> Rows:
    """A label that was changed back was not changed. Nor was one that was changed when it was
    given, if each row has a time of change.
    """
    schema_field, names, columns = rows.relation.schema.field, {*rows.names}, rows.columns
    are_two = columns.get("changed_at", "changed_at") != columns.get("timestamp", "timestamp")
    if (
        {"changed_at", "timestamp"} <= names
        and are_two
        and not rows.has_row(rows.is_blank_sql("changed_at"))
    ):
        change_time, rating_time = map(rows.text_sql, ("changed_at", "timestamp"))
        rows = rows.with_computed(
            {"changed_at": f"CASE WHEN {change_time} = {rating_time} THEN NULL ELSE changed_at END"}
        )
    if "first_label" not in names:
        return rows
    labels = ("label", "first_label")
    are_alike = len({schema_field(name).type for name in labels}) == 1
    last_label, first_label = map(rows.quote_column if are_alike else rows.text_sql, labels)
    lacks_first = rows.is_blank_sql("first_label")
    sql_by_column = {
        "label": f"CASE WHEN {lacks_first} THEN {last_label} ELSE {first_label} END",
        "last_label": f"CASE WHEN NOT {lacks_first} "
        f"AND {first_label} <> {last_label} THEN {last_label} END",
    }
    if "changed_at" in names:
        sql_by_column["changed_at"] = (
            f"CASE WHEN {first_label} = {last_label} THEN NULL ELSE changed_at END"
        )
    remaining_names = [name for name in rows.names if name != "first_label"]
    names_in_source = {**columns, "last_label": columns.get("label", "label")}
    return replace(
        rows.with_computed(sql_by_column, [*remaining_names, "last_label"]), columns=names_in_source
    )


def apply_row_rules(rows: Rows, rules: Rules) -> Rows:
    """The rows that count by the rules, with their labels and raters under one name each."""
    rows = _drop_missing_labels(_map_labels(rows, rules.same_label), rules.missing)
    if rules.rounds is not None:
        rows = cut_into_rounds(rows, rules.rounds)
    for name, values in rules.where.items():
        if isinstance(values, Mapping):
            outside = f"NOT {is_in_bounds_sql(rows, name, values)}"
            rows = rows.drop_rows(outside, f"where {name}")
            continue
        accepted = sorted({category_text(value) for value in values})
        meets = _is_one_of_sql(rows, FIELD_PREFIX + name, accepted)
        if not rows.has_row(meets):
            present_values = rows.distinct_texts(FIELD_PREFIX + name)
            raise RatingsError(
                f"{rows.source}: field {name!r}: found "
                f"{listed(present_values) if present_values else 'nothing in any row'}; expected "
                f"{listed(accepted)}, as `where` says. Correct the values of `where`."
            )
        rows = rows.drop_rows(f"NOT {meets}", f"where {name}")
    if rules.exclude_raters:
        raters = rows.distinct_texts("rater")
        for name in rules.exclude_raters:
            nearest = (
                []
                if name in raters
                else get_close_matches(name, raters, n=1, cutoff=MIN_NAME_SIMILARITY)
            )
            if nearest:
                raise RatingsError(
                    f"{rows.source}: found no rater {name!r} to leave out; expected a rater of the "
                    f"export. Did you mean {nearest[0]!r}?"
                )
        rows = rows.drop_rows(_is_one_of_sql(rows, "rater", rules.exclude_raters), "excluded rater")
    return merge_raters(rows, rules.same_rater) if rules.same_rater else rows


def merge_raters(rows: Rows, groups: Sequence[Sequence[str]]) -> Rows:
    """A name of a group stands for every spelling that nobody could type apart from it."""
    raters = rows.distinct_texts("rater")
    name_by_form = {typed_form(name): group[0] for group in groups for name in group}
    unmapped_raters = [rater for rater in raters if typed_form(rater) not in name_by_form]
    unused = {*name_by_form} - {*map(typed_form, raters)}
    for missing in sorted(unused):
        if nearest := get_close_matches(missing, unmapped_raters, n=1, cutoff=MIN_NAME_SIMILARITY):
            raise RatingsError(
                f"{rows.source}: found no rater {missing!r}, whom same_rater names; expected a "
                f"rater of the export. Did you mean {nearest[0]!r}?"
            )
    merged = {
        rater: name
        for rater in raters
        if (name := name_by_form.get(typed_form(rater))) is not None and name != rater
    }
    if not merged:
        return rows
    text, literal = rows.text_sql("rater"), rows.value_sql
    cases = " ".join(f"WHEN {literal(old)} THEN {literal(new)}" for old, new in merged.items())
    return rows.with_computed({"rater": f"CASE {text} {cases} ELSE {text} END"})


def merge_groups(groups: Sequence[Sequence[str]]) -> list[list[str]]:
    """Groups that share a name are one, which is called by the first name of the first of them.

    >>> merge_groups([("no", "0"), ("yes", "1"), ("NO", "no")])
    [['no', '0', 'NO'], ['yes', '1']]
    """
    merged = list[list[str]]()
    for group in groups:
        names = list(group)
        sharing = [merged_group for merged_group in merged if not {*merged_group}.isdisjoint(names)]
        if not sharing:
            merged.append(names)
            continue
        target, *absorbed = sharing
        for absorbed_group in absorbed:
            merged.remove(absorbed_group)
        all_names = [name for part in (*sharing, names) for name in part]
        target[:] = dict.fromkeys(all_names)
    return merged


def _mapped_label_sql(rows: Rows, name: str, same_label: Sequence[Sequence[str]]) -> str:
    """Each label in the word that stands for all that mean the same."""
    text = rows.text_sql(name)
    cases = " ".join(
        f"WHEN {rows.value_sql(synonym)} THEN {rows.value_sql(label)}"
        for label, *synonyms in merge_groups(same_label)
        for synonym in synonyms
    )
    return f"CASE {text} {cases} ELSE {text} END" if cases else text


def _map_labels(rows: Rows, same_label: Sequence[Sequence[str]]) -> Rows:
    if not same_label:
        return rows
    names = [name for name in ("label", "last_label") if name in rows.names]
    mapped = rows.with_computed({name: _mapped_label_sql(rows, name, same_label) for name in names})
    if "last_label" in names:  # another word for the same label is no change
        changed_label = "CASE WHEN last_label <> label THEN last_label END"
        mapped = mapped.with_computed({"last_label": changed_label})
    return mapped


def _drop_missing_labels(rows: Rows, missing: Sequence[str]) -> Rows:
    """Where the first label of a rater says nothing, the last one counts."""
    if not missing:
        return rows

    def label_or_null(name: str) -> str:
        return f"CASE WHEN NOT {_is_one_of_sql(rows, name, missing)} THEN {rows.text_sql(name)} END"

    if "last_label" not in rows.names:
        return rows.with_computed({"label": label_or_null("label")})
    label, last_label = label_or_null("label"), label_or_null("last_label")
    return rows.with_computed(
        {
            "label": f"COALESCE({label}, {last_label})",
            "last_label": f"CASE WHEN {label} IS NOT NULL THEN {last_label} END",
        }
    )


def arrange_ratings(rows: Rows, rules: Rules, models: Mapping[str, str]) -> Rows:
    """The rows without duplicates, with numbered replicates and the labels of models."""
    without_duplicates = rows if rules.duplicates is None else _drop_duplicates(rows, rules)
    with_replicates = add_model_rows(_number_replicates(without_duplicates, rules), models, rules)
    of_items = {STRATUM + name: name for name in rules.strata}
    of_items |= {CONTENT_PREFIX + name: name for name in rules.keep}
    if of_items:
        with_replicates = with_replicates.with_computed(
            {
                column: with_replicates.quote_column(FIELD_PREFIX + name)
                for column, name in of_items.items()
            }
        )
    return replace(with_replicates, classifiers=tuple(sorted({*rows.classifiers, *models})))


def _drop_duplicates(rows: Rows, rules: Rules) -> Rows:
    """A row without a label is no duplicate: it is counted as no answer."""
    times = _time_order_keys_sql(rows)
    if not (times or rows.relation.session.numbers_rows):
        raise RatingsError(
            f"{rows.source}: found duplicates: {rules.duplicates} for rows without an order, of "
            "which not every one has a time; expected a time in every row. Name the column of "
            "times (columns: {timestamp: …}), or drop the duplicates before."
        )
    towards = "DESC" if rules.duplicates == "last" else "ASC"
    order = ", ".join(f"{column} {towards}" for column in [*times, "nth"])
    keys = ", ".join(
        [*_rating_key_columns_sql(rows, apart_by_round=not rules.all_rounds), "label IS NULL"]
    )
    turn = f"ROW_NUMBER() OVER (PARTITION BY {keys} ORDER BY {order})"
    numbered = rows.create_view(
        f"SELECT {rows}.*, CASE WHEN label IS NULL THEN 1 ELSE {turn} END AS turn FROM {rows}"
    )
    return numbered.drop_rows("turn > 1", DUPLICATE).with_computed({}, rows.names)


def _rating_key_columns_sql(rows: Rows, *, apart_by_round: bool) -> list[str]:
    """The columns, as SQL, in which two ratings may not be equal."""
    optional = ("occurrence", *(["round"] if apart_by_round else []))
    names = ["item", "rater", *(name for name in optional if name in rows.names)]
    return [rows.text_sql(name) for name in names]


def _require_single_ratings(rows: Rows) -> None:
    """Refuse a row that is there twice where repetitions are numbered: it would pass for one."""
    keys = ", ".join(_rating_key_columns_sql(rows, apart_by_round=True))
    repeated = rows.relation.query(
        f"SELECT MIN(nth) AS first_nth, COUNT(*) AS n FROM {rows} WHERE label IS NOT NULL "
        f"AND item IS NOT NULL AND rater IS NOT NULL GROUP BY {keys} HAVING COUNT(*) > 1 "
        "ORDER BY first_nth"
    )
    if not repeated.num_rows:
        return
    (first_nth,) = repeated["first_nth"].to_pylist()[:1]
    n_rows = sum(repeated["n"].to_pylist())
    raise RatingsError(
        f"{rows.describe_place(f'nth = {first_nth}', 'item', 'rater')}: found {n_rows} rows that "
        "have item and rater in common with another one, beside a field that says which items "
        "repeat others; expected one rating of each, since a duplicate would pass for a "
        f"repetition. Say which one counts ({HOW_OF_DUPLICATES}), or number repetitions "
        f"({HOW_OF_OCCURRENCES})."
    )


def _number_replicates(rows: Rows, rules: Rules) -> Rows:
    """A rater's meetings with an item are numbered in the order of their times."""
    if rules.replicate_of:
        originals = _load_original_items(rows, rules.replicate_of)
    elif rules.replicates_share:
        originals = _original_items_by_content(rows, rules.replicates_share)
    else:
        return rows
    _require_single_ratings(rows)
    item = rows.text_sql("item")
    with_originals = rows.create_view(
        f"SELECT {rows}.*, COALESCE(firsts.first_item, {item}) AS first_item, "
        f"COALESCE(firsts.first_item <> {item}, FALSE) AS again "
        f"FROM {rows} LEFT JOIN {originals} AS firsts ON {item} = firsts.of_item",
        originals,
    )
    keys = ["first_item", rows.quote_column("rater")]
    if "round" in rows.names and not rules.all_rounds:
        keys.append(rows.quote_column("round"))
    number = f"ROW_NUMBER() OVER (PARTITION BY {', '.join(keys)} ORDER BY {_time_order_sql(rows)})"
    sql_by_column = {"item": "first_item", "occurrence": f"CAST({number} AS BIGINT)"}
    return with_originals.create_view(
        f"SELECT {rows.select_list_sql(sql_by_column)} FROM {with_originals}"
    )


def add_model_rows(rows: Rows, models: Mapping[str, str], rules: Rules) -> Rows:
    """The rows, and a row with each model's label for each item."""
    if not models:
        return rows
    if "column" not in rows.names:
        rows = rows.with_computed({"column": "CAST(NULL AS STRING)"})
    texts = {name: rows.text_sql(name) for name in ("label", "rater")}
    parts = [f"SELECT {rows.select_list_sql(texts)} FROM {rows}"]
    item, is_text = rows.text_sql("item"), rows.kind_by_column.get("occurrence") == "text"
    for number, (name, column) in enumerate(models.items(), 1):
        label = _mapped_label_sql(rows, FIELD_PREFIX + column, rules.same_label)
        is_missing = _is_one_of_sql(rows, FIELD_PREFIX + column, rules.missing)
        is_given = f"{label} IS NOT NULL AND NOT {is_missing}"
        sql_by_column = {
            "label": label,
            "rater": rows.value_sql(name),
            "nth": f"nth + {number} * (SELECT MAX(nth) + 1 FROM {rows})",
            "column": rows.value_sql(column),
            "occurrence": "'1'" if is_text else "1",
            **dict.fromkeys(RATER_SPECIFIC_COLUMNS, "NULL"),
        }
        sql_by_present_column = {
            key: sql for key, sql in sql_by_column.items() if key in rows.names
        }
        keys = [item, label, *([rows.text_sql("round")] if "round" in rows.names else [])]
        place = f"ROW_NUMBER() OVER (PARTITION BY {', '.join(keys)} ORDER BY nth, {item})"
        parts.append(
            f"SELECT {rows.select_list_sql(sql_by_present_column)} FROM (SELECT *, {place} AS "
            "place "
            f"FROM {rows} WHERE {is_given}) AS said WHERE place = 1"
        )
    return rows.create_view(" UNION ALL ".join(parts))


def _is_one_of_sql(rows: Rows, name: str, texts: Sequence[str]) -> str:
    """The test of SQL whether a column has one of some texts."""
    if not texts:
        return "FALSE"
    return f"COALESCE({rows.text_sql(name)} IN ({', '.join(map(rows.value_sql, texts))}), FALSE)"


def _load_original_items(rows: Rows, field: str) -> Relation:
    """The first item that each item repeats, as a field names it."""
    item, original = rows.text_sql("item"), rows.text_sql(FIELD_PREFIX + field)
    pairs = rows.relation.query(
        f"SELECT {item} AS item, {original} AS other, MIN(nth) AS first_nth FROM {rows} "
        f"WHERE {item} IS NOT NULL AND {original} IS NOT NULL AND {original} <> '' "
        "GROUP BY 1, 2 ORDER BY first_nth, item, other"
    ).to_pylist()
    place, original_by_item = f"{rows.source}: field {field!r}", dict[str, str]()
    for pair in pairs:
        if (name := pair["item"]) in original_by_item:
            several = [candidate["other"] for candidate in pairs if candidate["item"] == name]
            raise RatingsError(
                f"{place}: found item {name!r} as a repetition of several items, "
                f"{listed(several)}; expected one. Correct the export."
            )
        original_by_item[name] = pair["other"]
    originals = [_find_original(item, original_by_item, place) for item in original_by_item]
    kinds = pa.schema([("of_item", pa.large_string()), ("first_item", pa.large_string())])
    batch = pa.record_batch([list(original_by_item), originals], schema=kinds)
    return rows.relation.session.load_batches(kinds, [batch])


def _find_original(item: str, original_by_item: Mapping[str, str], place: str) -> str:
    """The item that an item repeats, followed to the first one."""
    visited, current = {item: None}, item
    while (original := original_by_item.get(current)) is not None:
        if original in visited:
            circle = [*visited][[*visited].index(original) :]
            fault = "that repeat each other in a circle" if circle[1:] else "as its own repetition"
            raise RatingsError(
                f"{place}: found {called('item', circle)} {fault}; expected a first one, which "
                "repeats none. Correct the field, or leave it empty for a first item."
            )
        visited[original], current = None, original
    return current


def _original_items_by_content(rows: Rows, field: str) -> Relation:
    """The first item of those with the same content. The first content of an item counts."""
    item, content = rows.text_sql("item"), rows.text_sql(FIELD_PREFIX + field)
    if not rows.has_row(f"{content} IS NOT NULL"):
        raise RatingsError(
            f"{rows.source}: field {field!r}: found nothing in any row; expected the content of "
            "the items. Correct the name of the field in replicates_share."
        )
    return rows.relation.create_view(
        "SELECT of_item, FIRST_VALUE(of_item) OVER "
        "(PARTITION BY content ORDER BY first_nth, of_item) AS first_item FROM ("
        f"SELECT {item} AS of_item, {content} AS content, nth AS first_nth, ROW_NUMBER() OVER "
        f"(PARTITION BY {item} ORDER BY nth, {content}) AS place FROM {rows} "
        f"WHERE {item} IS NOT NULL AND {content} IS NOT NULL) AS said WHERE place = 1"
    )


def _time_order_sql(rows: Rows) -> str:
    """Times count if every row has one, else the order of rows."""
    numbered = f"{rows.quote_column('occurrence')} NULLS LAST"
    order = ["again", *([numbered] if "occurrence" in rows.names else []), "nth"]
    return ", ".join([*_time_order_keys_sql(rows), *order])


def _time_order_keys_sql(rows: Rows) -> list[str]:
    """What orders rows by their times, as SQL. Nothing, unless every row has one that can be read.

    Times of several zones are not in the order of their texts.
    """
    time, session = rows.quote_column("timestamp"), rows.relation.session
    if "timestamp" not in rows.names or rows.has_row(f"{time} IS NULL"):
        return []
    times = [time]
    if rows.kind_by_column.get("timestamp") == "text":
        if not rows.has_row(f"NOT {rows.is_spelt_as_number_sql('timestamp')}"):
            return [rows.number_sql("timestamp")]
        if rows.has_row(f"NOT {session.matches_sql(time, STARTS_WITH_MONTH)}"):
            return []
        clock = f"REPLACE(SUBSTR({time}, 12), ' ', '')"
        seconds = f"CASE WHEN SUBSTR({clock}, 6, 1) = ':' THEN '' ELSE ':00' END"
        full_text = (
            f"SUBSTR({time}, 1, 10), ' ', SUBSTR({clock}, 1, 5), {seconds}, SUBSTR({clock}, 6)"
        )
        kind = "TIMESTAMP_LTZ" if session.engine == "spark" else "TIMESTAMPTZ"
        instant = f"TRY_CAST(CONCAT({full_text}) AS {kind})"
        if not rows.has_row(
            f"NOT ({session.matches_sql(time, TIME_WITH_OFFSET)} AND {instant} IS NOT NULL)"
        ):
            times = [instant, f"REGEXP_EXTRACT({time}, '[.][0-9]{{6}}([0-9]*)', 1)"]
    return times
