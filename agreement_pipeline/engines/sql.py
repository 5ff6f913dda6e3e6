"""The queries of the SQL engines, each written once. DuckDB and Spark run the same text.

A source is a chain of views. `cells` has the columns of the files under canonical names. `rows` has
names and labels as text. `rated` has one row a rating, with numbers for raters and labels. `first`
has the first rating of each rater and item.

A rater's label takes a few bits of a whole number, so the ratings of an item are one number, or a
few. `BIT_OR` gathers them whatever their order. Items with equal numbers are then counted. So only
distinct rows leave the engine.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Literal

from agreement_pipeline.ratings import LARGEST

Kind = Literal["text", "whole", "float", "flag", "none"]

WORD = 60
"""The bits of a whole number that hold labels."""
BLANKS = "".join(chr(code) for code in range(0x3001) if chr(code).isspace())
NUMBER = "[+-]?([0-9]+[.]?[0-9]*|[.][0-9]+)([eE][+-]?[0-9]+)?"
"""How a number may be spelt. All engines read such numbers alike."""
WHOLE = 9e18


@dataclass(frozen=True)
class Packing:
    """Where the label of each rater stands in the whole numbers of an item.

    Parameters
    ----------
    raters, labels
        How many of them there are.
    """

    raters: int
    labels: int

    @property
    def bits(self) -> int:
        """The bits of a label. 0 stands for a missing one."""
        return self.labels.bit_length()

    @property
    def a_word(self) -> int:
        """How many raters stand in one number."""
        return WORD // self.bits

    @property
    def words(self) -> int:
        """How many numbers an item has."""
        return -(-self.raters // self.a_word)

    @property
    def columns(self) -> list[str]:
        """The names of the numbers."""
        return [f"w{word}" for word in range(self.words)]

    def word(self, place: int) -> int:
        """The number in which a rater's label stands."""
        return place // self.a_word

    def unit(self, place: int) -> int:
        """What a label is multiplied with to stand in its place."""
        return 1 << (self.bits * (place % self.a_word))


def as_text(column: str, kind: Kind) -> str:
    """A cell as text. Whole numbers have no decimal point."""
    text = f"CAST({column} AS STRING)"
    if kind != "float":
        return column if kind == "text" else text
    is_whole = f"{column} = FLOOR({column}) AND ABS({column}) < {WHOLE!r}"
    return f"CASE WHEN {is_whole} THEN CAST(CAST({column} AS BIGINT) AS STRING) ELSE {text} END"


def as_number(column: str, kind: Kind) -> str:
    """A cell as a number, or nothing."""
    return f"TRY_CAST({column} AS DOUBLE)" if kind == "text" else f"CAST({column} AS DOUBLE)"


def is_blank(text: str, blanks: str) -> str:
    """True if a text is missing, or nothing but blanks. `blanks` is their literal."""
    unusual = f"{text} < '!' OR {text} >= '\u0080'"
    return (
        f"({text} IS NULL OR CASE WHEN {unusual} THEN TRANSLATE({text}, {blanks}, '') = '' "
        "ELSE FALSE END)"
    )


def rows(cells: str, kinds: Mapping[str, Kind], rounds: Sequence[str] | None) -> str:
    """Names and labels as text. `rounds` are the literals of the round to read."""
    texts = {
        name: as_text(name, kinds[name])
        for name in ("item", "rater", "label", "occurrence", "gold", "cluster", "text", "timestamp")
        if name in kinds
    }
    numbers = {
        alias: as_number(name, kinds[name])
        for alias, name in (("number", "label"), ("meeting", "occurrence"), ("sure", "confidence"))
        if name in kinds
    }
    told = {"confidence": "confidence"} if "confidence" in kinds else {}
    chosen = ", ".join(f"{sql} AS {name}" for name, sql in {**texts, **numbers, **told}.items())
    of_round = "" if rounds is None else f" WHERE CAST(round AS STRING) IN ({', '.join(rounds)})"
    return f"SELECT {chosen} FROM {cells}{of_round}"


def rated(name: str, has: Sequence[str], dimensions: int | None, gold: Sequence[str]) -> str:
    """One row a rating. `gold` are the literals that mean yes; `dimensions` those of numbers."""
    kept = {
        "item": "item",
        "place": "place",
        "unit": "unit",
        "word": "word",
        "code": "code" if dimensions is None else "1",
        **({} if dimensions is None else _dimensions(dimensions)),
        **({"occurrence": "CAST(meeting AS BIGINT)"} if "occurrence" in has else {}),
        **({"confidence": "sure"} if "confidence" in has else {}),
        **({"cluster": "cluster"} if "cluster" in has else {}),
        "gold": f"COALESCE(gold IN ({', '.join(gold)}), FALSE)" if gold else "FALSE",
        **({"timestamp": "timestamp"} if "timestamp" in has else {}),
    }
    chosen = ", ".join(f"{sql} AS {alias}" for alias, sql in kept.items())
    labels = f" LEFT JOIN {name}_labels USING (label)" if dimensions is None else ""
    joined = f"{name}_rows LEFT JOIN {name}_raters USING (rater){labels}"
    return f"SELECT {chosen} FROM {joined} WHERE label IS NOT NULL"


def _dimensions(dimensions: int) -> dict[str, str]:
    if dimensions == 1:
        return {"d0": "number"}
    return {
        f"d{at}": f"TRY_CAST(SPLIT_PART(label, '|', {at + 1}) AS DOUBLE)"
        for at in range(dimensions)
    }


def spellings_of(dimensions: int) -> list[str]:
    """The labels of numbers that stand for all: by text order, and by size."""
    sizes = [f"ABS({value})" for value in _dimensions(dimensions).values()]
    size = sizes[0] if dimensions == 1 else f"GREATEST({', '.join(sizes)})"
    largest = f"MAX_BY(label, {size}) AS largest"
    return ["MIN(label) AS label", "MAX(label) AS most", largest]


def first(name: str, again: bool) -> str:
    """The first rating of each rater and item."""
    if not again:
        return f"SELECT * FROM {name}_rated"
    order = "ROW_NUMBER() OVER (PARTITION BY item, place ORDER BY occurrence)"
    return f"SELECT * FROM (SELECT *, {order} AS turn FROM {name}_rated) AS t WHERE turn = 1"


def by_item(name: str, packing: Packing, has: Sequence[str], extra: Sequence[str] = ()) -> str:
    """One row an item: the labels in words, how many there are, gold, and the cluster."""
    packed = [
        "code * unit"
        if packing.words == 1
        else f"CASE WHEN word = {at} THEN code * unit ELSE 0 END"
        for at in range(packing.words)
    ]
    words = [
        f"BIT_OR({bits}) AS {column}" for bits, column in zip(packed, packing.columns, strict=True)
    ]
    cluster = ["MIN(cluster) AS cluster"] if "cluster" in has else []
    gold = "BOOL_OR(gold) AS gold" if "gold" in has else "FALSE AS gold"
    columns = ", ".join(["item", *words, "COUNT(*) AS n", gold, *cluster, *extra])
    return f"SELECT {columns} FROM {name}_first GROUP BY item"


def patterns(inner: str, keys: Sequence[str], blanks: str) -> str:
    """Distinct rows of items, how many items show each, and what is wrong with their names."""
    listed = ", ".join(keys)
    blank = f"COUNT(CASE WHEN {is_blank('item', blanks)} THEN 1 END) AS blank"
    return (
        f"SELECT {listed}, COUNT(*) AS items, MAX(LENGTH(item)) AS longest, {blank} "
        f"FROM ({inner}) AS i GROUP BY {listed}"
    )


def sure_columns(raters: int) -> list[str]:
    """The confidence of each rater, as columns of an item."""
    return [f"MAX(CASE WHEN place = {at} THEN confidence END) AS s{at}" for at in range(raters)]


def bad_label(number: str, dimensions: int, spelt: str | None, ratio: bool) -> str:
    """True for a label that is no number of the scale.

    `number` is a label of one number. `spelt` is the test of the spelling of text.
    """
    values = [number] if dimensions == 1 else list(_dimensions(dimensions).values())
    size = [f"COALESCE(NOT ABS({value}) <= {LARGEST!r}, TRUE)" for value in values]
    sign = [f"{value} < 0" for value in values if ratio]
    return " OR ".join([*([f"NOT {spelt}"] if spelt else []), *size, *sign])


def spelling(dimensions: int) -> str:
    """The regular expression of a label of numbers."""
    return f"^{NUMBER}{f'[|]{NUMBER}' * (dimensions - 1)}$"


def in_conflict(name: str, has: Sequence[str]) -> str | None:
    """The items whose rows do not have one content."""
    said = [each for each in ("text", "gold", "cluster") if each in has]
    if not said:
        return None
    different = " OR ".join(
        f"MIN({each}) <> MAX({each}) OR COUNT({each}) NOT IN (0, COUNT(*))" for each in said
    )
    said_of = f"SELECT item FROM {name}_contents WHERE item IS NOT NULL"
    return f"{said_of} GROUP BY item HAVING {different}"


def contents(name: str, has: Sequence[str], gold: Sequence[str]) -> str:
    """What each row says of its item."""
    is_gold = f"COALESCE(gold IN ({', '.join(gold)}), FALSE)" if gold else "FALSE"
    others = [each for each in ("text", "cluster") if each in has]
    return f"SELECT {', '.join(['item', f'{is_gold} AS gold', *others])} FROM {name}_rows"


def typed(text: str, kind: Kind) -> object:
    """A cell from its text.

    >>> typed("1", "whole"), typed("1", "text"), typed("true", "flag")
    (1, '1', True)
    """
    if kind == "flag":
        return text == "true"
    return {"whole": int, "float": float}.get(kind, str)(text)
