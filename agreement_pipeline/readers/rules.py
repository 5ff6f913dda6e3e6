"""What no reader can know of an export, and the project says: which rows count, and as what."""

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from difflib import get_close_matches
from typing import TYPE_CHECKING, Literal

import pyarrow as pa

from agreement_pipeline.engine import Relation
from agreement_pipeline.errors import ProjectError, RatingsError
from agreement_pipeline.ratings import CAPABILITIES, STRATUM, category_text
from agreement_pipeline.text import called, listed

if TYPE_CHECKING:
    from agreement_pipeline.units import UnitSettings

Rejected = Literal["kept", "left out"]
ALIKE = 0.85
FIELD = "field:"
"""How the names of columns begin that a rule reads and that hold no rating."""
EXACT = "1e18"
"""Smaller whole floats are written as whole numbers are."""


@dataclass(frozen=True)
class Rules:
    """Which rows of a source count, and which of its items are one.

    Parameters
    ----------
    reader
        The name of the reader. None: it is found by the content.
    where
        Fields, each with the values whose rows count.
    exclude_raters
        Raters whose rows do not count, for example who gave the gold answers.
    replicate_of
        The field that names the item which an item repeats.
    replicates_share
        The field that an item and its repetitions share, for example the text.
    rejected
        Whether rejected work counts. If it does not, agreement is that of those who were paid.
    requires
        What the export must show. None: what its reader needs.
    all_rounds
        Read several rounds as one.
    strata
        The fields that tell strata of items apart, for example the language.
    units
        What the label objects of an export are, and how they become units. None: its labels are
        categories.

    Raises
    ------
    ProjectError
        A value is not one of those described above.
    """

    reader: str | None = None
    where: Mapping[str, tuple[str, ...]] = field(default_factory=dict)
    exclude_raters: tuple[str, ...] = ()
    replicate_of: str | None = None
    replicates_share: str | None = None
    rejected: Rejected = "kept"
    requires: tuple[str, ...] | None = None
    all_rounds: bool = False
    strata: tuple[str, ...] = ()
    units: "UnitSettings | None" = None

    def __post_init__(self) -> None:
        unknown = [name for name in self.requires or () if name not in CAPABILITIES]
        if unknown:
            raise ProjectError(
                f"requires: found {listed(unknown)}; expected some of "
                f"{listed(CAPABILITIES, 20)}. Correct the names."
            )
        twice = sorted({name for name in self.strata if self.strata.count(name) > 1})
        if twice or "" in self.strata:
            raise ProjectError(
                f"strata: found {listed(twice or [''])} {'twice' if twice else 'as a name'}; "
                "expected names of fields, each once. Correct the names."
            )
        if self.replicate_of and self.replicates_share:
            raise ProjectError(
                "replicate_of: found replicates_share beside it; expected one rule that says which "
                "items repeat others. Leave one of the two out."
            )

    @property
    def fields(self) -> tuple[str, ...]:
        """The fields that the rules read."""
        named = (*self.where, self.replicate_of, self.replicates_share, *self.strata)
        return tuple(dict.fromkeys(name for name in named if name))

    @property
    def plain(self) -> bool:
        """True if every row counts as it stands."""
        return self == Rules(all_rounds=self.all_rounds)


RULES = Rules()


LeftOut = Counter[tuple[str, str]]
"""How many rows are no ratings, by round and reason. The round is empty if none is named."""


def kept(cells: Relation, rules: Rules, source: str) -> tuple[Relation, LeftOut]:
    """The rows that count, and how many were left out by which rule.

    Raises
    ------
    RatingsError
        A rule leaves no row, or a rater that is left out is misspelt.
    """
    left_out: LeftOut = Counter()
    for name, values in rules.where.items():
        accepted = sorted({category_text(value) for value in values})
        meets = _is_one_of(cells, FIELD + name, accepted)
        some = cells.view(f"SELECT * FROM {cells} WHERE {meets}")
        if not some.ask(f"SELECT 1 FROM {some} LIMIT 1").num_rows:
            texts = _distinct(cells, FIELD + name)
            found = listed(texts) if texts else "nothing in any row"
            raise RatingsError(
                f"{source}: field {name!r}: found {found}; expected "
                f"{listed(accepted)}, as `where` says. Correct the values of `where`."
            )
        left_out += tally(cells, f"NOT {meets}", f"where {name}")
        cells = some
    if rules.exclude_raters:
        _refuse_misspelt(rules.exclude_raters, _distinct(cells, "rater"), source)
        out = _is_one_of(cells, "rater", rules.exclude_raters)
        left_out += tally(cells, out, "excluded rater")
        cells = cells.view(f"SELECT * FROM {cells} WHERE NOT {out}")
    return cells, left_out


def tally(cells: Relation, where: str, reason: str) -> LeftOut:
    """How many rows meet a test of SQL, by round. They are no ratings, for one reason."""
    of_round = f"COALESCE({text_of(cells, 'round')}, '')" if "round" in names_of(cells) else "''"
    found = cells.ask(
        f"SELECT {of_round} AS name, COUNT(*) AS n FROM {cells} WHERE {where} GROUP BY 1"
    )
    return Counter({(each["name"], reason): int(each["n"]) for each in found.to_pylist()})


def linked(cells: Relation, rules: Rules, source: str) -> Relation:
    """The rows with each repetition under the name of the item that it repeats.

    A rater's meetings with an item are numbered in the order of their times.

    Raises
    ------
    RatingsError
        An item repeats several others, or items repeat each other in a circle. Or no row has the
        content that items share.
    """
    if rules.replicate_of:
        firsts = _named_firsts(cells, rules.replicate_of, source)
    elif rules.replicates_share:
        firsts = _shared_firsts(cells, rules.replicates_share, source)
    else:
        return cells
    item = text_of(cells, "item")
    found = cells.view(
        f"SELECT {cells}.*, COALESCE(firsts.first_item, {item}) AS first_item, "
        f"COALESCE(firsts.first_item <> {item}, FALSE) AS again "
        f"FROM {cells} LEFT JOIN {firsts} AS firsts ON {item} = firsts.of_item",
        firsts,
    )
    names = names_of(cells)
    keys = ["first_item", _column(cells, "rater")]
    if "round" in names and not rules.all_rounds:
        keys.append(_column(cells, "round"))
    number = f"ROW_NUMBER() OVER (PARTITION BY {', '.join(keys)} ORDER BY {_in_time(cells)})"
    made = {"item": "first_item", "occurrence": f"CAST({number} AS BIGINT)"}
    return found.view(f"SELECT {columns_of(cells, made)} FROM {found}")


def stratified(cells: Relation, rules: Rules) -> Relation:
    """The rows with the stratum of each item under a name of its own."""
    if not rules.strata:
        return cells
    strata = {STRATUM + name: _column(cells, FIELD + name) for name in rules.strata}
    return cells.view(f"SELECT {columns_of(cells, strata)} FROM {cells}")


def with_models(cells: Relation, models: Mapping[str, str]) -> Relation:
    """The rows, and one for each item and model whose label stands in a column of its own.

    `models` names the column of each model.
    """
    if not models:
        return cells
    texts = {name: text_of(cells, name) for name in ("label", "rater")}
    parts = [f"SELECT {columns_of(cells, texts)} FROM {cells}"]
    for number, (name, column) in enumerate(models.items(), 1):
        parts.append(_labels_of_model(cells, name, column, number))
    return cells.view(" UNION ALL ".join(parts))


def names_of(cells: Relation) -> list[str]:
    """The names of the columns."""
    return list(cells.schema.names)


def columns_of(cells: Relation, made: Mapping[str, str], names: Sequence[str] | None = None) -> str:
    """What a query selects for all columns, of which some are made anew and some are new.

    `names` is their order. None: as they are, and the new ones last.
    """
    order = dict.fromkeys([*names_of(cells), *made]) if names is None else names
    parts = [(made.get(name), _column(cells, name)) for name in order]
    return ", ".join(column if sql is None else f"{sql} AS {column}" for sql, column in parts)


def text_of(cells: Relation, name: str) -> str:
    """A column as text in SQL. A whole float has no decimal point."""
    column = _column(cells, name)
    if _is_text(cells, name):
        return column
    text = f"CAST({column} AS STRING)"
    if not pa.types.is_floating(cells.schema.field(name).type):
        return text
    is_whole = f"{column} = FLOOR({column}) AND ABS({column}) < {EXACT}"
    return f"CASE WHEN {is_whole} THEN CAST(CAST({column} AS BIGINT) AS STRING) ELSE {text} END"


def _is_text(cells: Relation, name: str) -> bool:
    kind = cells.schema.field(name).type
    return bool(pa.types.is_string(kind) or pa.types.is_large_string(kind))


def _column(cells: Relation, name: str) -> str:
    return cells.session.column(name)


def _is_one_of(cells: Relation, name: str, texts: Sequence[str]) -> str:
    """A test of SQL that a missing cell does not meet."""
    listed_texts = ", ".join(map(cells.session.literal, texts))
    return f"COALESCE({text_of(cells, name)} IN ({listed_texts}), FALSE)"


def _distinct(cells: Relation, name: str) -> list[str]:
    """The texts of a column, sorted."""
    text = text_of(cells, name)
    found = cells.ask(f"SELECT DISTINCT {text} AS name FROM {cells} WHERE {text} IS NOT NULL")
    return sorted(found["name"].to_pylist())


def _refuse_misspelt(named: tuple[str, ...], raters: list[str], source: str) -> None:
    for name in named:
        near = [] if name in raters else get_close_matches(name, raters, n=1, cutoff=ALIKE)
        if near:
            raise RatingsError(
                f"{source}: found no rater {name!r} to leave out; expected a rater of the export. "
                f"Did you mean {near[0]!r}?"
            )


def _named_firsts(cells: Relation, field: str, source: str) -> Relation:
    """The first item of each item that names the one which it repeats."""
    item, other = text_of(cells, "item"), text_of(cells, FIELD + field)
    pairs = cells.ask(
        f"SELECT {item} AS item, {other} AS other, MIN(nth) AS first_nth FROM {cells} "
        f"WHERE {item} IS NOT NULL AND {other} IS NOT NULL AND {other} <> '' "
        "GROUP BY 1, 2 ORDER BY first_nth, item, other"
    )
    of: dict[str, str] = {}
    for name, first in zip(pairs["item"].to_pylist(), pairs["other"].to_pylist(), strict=True):
        if name in of:
            several = [each["other"] for each in pairs.to_pylist() if each["item"] == name]
            raise RatingsError(
                f"{source}: field {field!r}: found item {name!r} as a repetition of several items, "
                f"{listed(several)}; expected one. Correct the export."
            )
        of[name] = first
    firsts = [_first(name, of, f"{source}: field {field!r}") for name in of]
    texts = [pa.array(each, pa.large_string()) for each in (list(of), firsts)]
    table = pa.table(texts, names=["of_item", "first_item"])
    return cells.session.load(table.schema, table.to_batches())


def _first(item: str, of: Mapping[str, str], where: str) -> str:
    seen = {item: None}
    last = item
    while (nearer := of.get(last)) is not None:
        if nearer in seen:
            names = list(seen)
            circle = names[names.index(nearer) :]
            how = "that repeat each other in a circle" if circle[1:] else "as its own repetition"
            raise RatingsError(
                f"{where}: found {called('item', circle)} {how}; expected a first one, which "
                "repeats none. Correct the field, or leave it empty for a first item."
            )
        seen[nearer] = None
        last = nearer
    return last


def _shared_firsts(cells: Relation, field: str, source: str) -> Relation:
    """The first item of those with the same content. The first content of an item counts."""
    item, content = text_of(cells, "item"), text_of(cells, FIELD + field)
    if not cells.ask(f"SELECT 1 FROM {cells} WHERE {content} IS NOT NULL LIMIT 1").num_rows:
        raise RatingsError(
            f"{source}: field {field!r}: found nothing in any row; expected the content of the "
            "items. Correct the name of the field in replicates_share."
        )
    return cells.view(
        "SELECT of_item, FIRST_VALUE(of_item) OVER "
        "(PARTITION BY content ORDER BY first_nth, of_item) AS first_item FROM ("
        f"SELECT {item} AS of_item, {content} AS content, nth AS first_nth, ROW_NUMBER() OVER "
        f"(PARTITION BY {item} ORDER BY nth, {content}) AS place FROM {cells} "
        f"WHERE {item} IS NOT NULL AND {content} IS NOT NULL) AS said WHERE place = 1"
    )


def _in_time(cells: Relation) -> str:
    """The order in which a rater met an item: by time if every row has one, else by the rows."""
    names = names_of(cells)
    order = ["again", "nth"]
    if "occurrence" in names:
        order.insert(1, f"{_column(cells, 'occurrence')} NULLS LAST")
    if "timestamp" in names:
        time = _column(cells, "timestamp")
        lacking = cells.ask(f"SELECT 1 FROM {cells} WHERE {time} IS NULL LIMIT 1")
        order = order if lacking.num_rows else [time, *order]
    return ", ".join(order)


def _labels_of_model(cells: Relation, name: str, column: str, number: int) -> str:
    """The query for the labels of a model. Its rows come after those that were there before."""
    names = names_of(cells)
    label, item = text_of(cells, column), text_of(cells, "item")
    keys = [item, label, *([text_of(cells, "round")] if "round" in names else [])]
    made = {
        "label": label,
        "rater": cells.session.literal(name),
        "nth": f"nth + {number} * (SELECT MAX(nth) + 1 FROM {cells})",
        "column": cells.session.literal(column.removeprefix(FIELD)),
        "occurrence": "1",
        "timestamp": "NULL",
    }
    if "occurrence" in names and _is_text(cells, "occurrence"):
        made["occurrence"] = "'1'"
    own = {key: sql for key, sql in made.items() if key in names}
    place = f"ROW_NUMBER() OVER (PARTITION BY {', '.join(keys)} ORDER BY nth, {item})"
    return (
        f"SELECT {columns_of(cells, own)} FROM (SELECT *, {place} AS place FROM {cells} "
        f"WHERE {label} IS NOT NULL) AS said WHERE place = 1"
    )
