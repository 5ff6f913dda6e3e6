"""Tables with one mistake each, so that the words of their errors can be compared."""

from collections.abc import Callable, Iterator
from dataclasses import replace

import pandas as pd

from tools.comparison.tables import Table

OfFrame = Callable[[pd.DataFrame], pd.DataFrame]
OfBytes = Callable[[bytes], bytes]


def _set(row: int, column: str, value: object) -> OfFrame:
    """One cell is something else."""

    def change(frame: pd.DataFrame) -> pd.DataFrame:
        found = frame.astype(object)
        found.loc[found.index[row], column] = value  # type: ignore[call-overload]
        return found

    return change


def _with(column: str, usual: object, row: int, odd: object) -> OfFrame:
    """A column more, with one odd cell."""

    def change(frame: pd.DataFrame) -> pd.DataFrame:
        cells = pd.Series([usual] * len(frame), index=frame.index)
        return _set(row, column, odd)(frame.assign(**{column: cells}))

    return change


def _twice(frame: pd.DataFrame) -> pd.DataFrame:
    return pd.concat([frame, frame.iloc[[4]]], ignore_index=True)


def _contradicted(frame: pd.DataFrame) -> pd.DataFrame:
    other = frame.iloc[[4]].assign(label="yes" if frame["label"].iloc[4] == "no" else "no")
    return pd.concat([frame, other], ignore_index=True)


def _clusters(frame: pd.DataFrame) -> pd.DataFrame:
    return frame.assign(cluster=[f"d{at % 2}" for at in range(len(frame))])


def _some_clusters(frame: pd.DataFrame) -> pd.DataFrame:
    return frame.assign(cluster=frame["item"].map(lambda name: "" if name == "i3" else "d1"))


OF_FRAMES: dict[str, OfFrame] = {
    "a row twice": _twice,
    "two labels of one rating": _contradicted,
    "a blank rater": _set(5, "rater", ""),
    "a missing rater": _set(5, "rater", None),
    "a blank item": _set(0, "item", ""),
    "a rater of blanks": _set(7, "rater", "  "),
    "a label of blanks": _set(7, "label", " "),
    "a missing label": _set(7, "label", None),
    "an unknown label": _set(9, "label", "perhaps"),
    "a label in another case": _set(9, "label", "Yes"),
    "a name that is too long": _set(2, "item", "x" * 1_200),
    "a control character": _set(2, "rater", "a\x07na"),
    "clusters in conflict": _clusters,
    "clusters of some items": _some_clusters,
    "a confidence beyond 1": _with("confidence", 0.5, 3, 1.5),
    "a confidence that is a word": _with("confidence", "0.5", 3, "high"),
    "a negative confidence": _with("confidence", 0.5, 8, -0.1),
    "an odd occurrence": _with("occurrence", 1, 3, 0),
    "half an occurrence": _with("occurrence", 1, 3, 1.5),
    "an occurrence that is a word": _with("occurrence", "1", 3, "first"),
    "times of two kinds": _with("timestamp", "2026-01-01T10:00:00", 3, "2026-01-01T10:00:00Z"),
    "two texts of an item": _with("text", "What?", 3, "Why?"),
    "no column of raters": lambda frame: frame.drop(columns="rater"),
    "a misspelt column": lambda frame: frame.rename(columns={"label": "lable"}),
    "no row": lambda frame: frame.iloc[:0],
    "one rater": lambda frame: frame[frame["rater"] == "ana"],
    "no two raters on an item": lambda frame: frame.drop_duplicates("item"),
    "one category": lambda frame: frame.assign(label="yes"),
    "no label at all": lambda frame: frame.assign(label=None),
    "two rounds": lambda frame: frame.assign(round=["w1", "w2"] * (len(frame) // 2)),
    "a blank round": _with("round", "w1", 3, ""),
}
"""Mistakes in a frame, for tables of any form."""


def _put(there: bytes, instead: bytes) -> OfBytes:
    """Other bytes in the first place where some stand, or at the end."""
    return lambda text: text.replace(there, instead, 1) if there else text + instead


REPLACED: dict[str, tuple[bytes, bytes]] = {
    "a short row": (b"i2,ana,", b"i2,"),
    "a long row": (b"i2,ana,", b"i2,ana,x,"),
    "separators at the end of a row": (b"\ni3,", b"\ni1,dan,no,\ni3,"),
    "a quote that stays open": (b"i4,ana", b'"i4,ana'),
    "a quote in a cell": (b"i4,ana", b'i4,a"na'),
    "text after a quote": (b"i4,ana", b'i4,"an"a'),
    "blanks before a quote": (b"i4,ana", b'i4, "ana"'),
    "blanks after a quote": (b"i4,ana", b'i4,"ana" '),
    "a NUL": (b"i4,ana", b"i4,a\x00na"),
    "no UTF-8": (b"i4,ana", b"i4,\xffna"),
    "a column twice": (b"item,rater,label", b"item,rater,rater"),
    "a column without a name": (b"item,rater,", b"item,,"),
    "columns that differ in case": (b"item,rater,label", b"item,rater,Label"),
    "blanks in the header": (b"item,rater", b"item, rater"),
    "a blank line": (b"\ni4,ana", b"\n\ni4,ana"),
    "a blank line before a mistake": (b"\ni4,ana,", b"\n\ni4,ana,x\ni4,ana,"),
    "a line of blanks": (b"\ni4,ana", b"\n   \ni4,ana"),
    "a row that begins as a comment": (b"\ni4,ana", b"\n#i4,ana"),
    "line ends of two kinds": (b"\ni4,ana", b"\r\ni4,ana"),
    "other separators below": (b"i4,ana,", b"i4;ana;"),
}
"""Mistakes in one place of a table in CSV: what stands there, and what is written instead."""
OF_BYTES: dict[str, OfBytes] = {
    **{words: _put(*pair) for words, pair in REPLACED.items()},
    "nothing": lambda _: b"",
    "a header alone": lambda text: text.splitlines(keepends=True)[0],
    "separators at the end of all rows": lambda text: text.replace(b"\n", b",\n"),
    "UTF-16": lambda text: text.decode().encode("utf-16"),
    "Latin-1": lambda text: text.decode().replace("ana", "änä").encode("latin-1"),
    "the header again": lambda text: text + text.splitlines(keepends=True)[0],
    "a comment": lambda text: b"# made in January\n" + text,
    "line ends of an old Mac": lambda text: text.replace(b"\n", b"\r"),
    "no line end at the end": lambda text: text.rstrip(b"\n"),
    "a byte order mark twice": lambda text: b"\xef\xbb\xbf\xef\xbb\xbf" + text,
    "a web page": lambda _: b"<!doctype html><html><body>Log in</body></html>",
    "a cell that is too long": lambda text: text + b"i9,ana," + b"x" * 140_000 + b"\n",
    "one cell a row": lambda text: text.replace(b",", b""),
}
"""Mistakes in the bytes of a table in CSV."""

ADDED = {
    "a line that is a list": b'["i9", "ana", "no"]',
    "a line that is a number": b"7",
    "NaN": b'{"item": "i9", "rater": "ana", "label": NaN}',
    "a key twice": b'{"item": "i9", "item": "i8", "rater": "a", "label": "no"}',
    "a key that is missing": b'{"item": "i9", "label": "no"}',
    "an object as a label": b'{"item": "i9", "rater": "a", "label": {"x": 1}}',
    "a list as an item": b'{"item": ["i9"], "rater": "a", "label": "no"}',
    "numbers beside texts": b'{"item": 9, "rater": "ana", "label": "no"}',
    "an exponent": b'{"item": 1e2, "rater": "ana", "label": "no"}',
    "25 digits": b'{"item": 0.1000000000000000055511151, "rater": "ana", "label": "no"}',
    "half a pair of surrogates": b'{"item": "\\ud800", "rater": "ana", "label": "no"}',
}
"""Lines that do not fit at the end of a table in JSON Lines."""
OF_LINES: dict[str, OfBytes] = {
    **{words: _put(b"", line + b"\n") for words, line in ADDED.items()},
    "a line that is no JSON": _put(b'{"item": "i4"', b'{item: "i4"'),
    "a key that others lack": _put(b'{"item": "i4"', b'{"x": 1, "item": "i4"'),
    "a blank line": _put(b'{"item": "i4"', b'\n{"item": "i4"'),
    "a line that is cut off": lambda text: text[: len(text) // 2],
    "a byte order mark": lambda text: b"\xef\xbb\xbf" + text,
    "all in one list": lambda text: b"[" + text.rstrip(b"\n").replace(b"\n", b",") + b"]",
}
"""Mistakes in the bytes of a table in JSON Lines."""


def of_readings(table: Table) -> Iterator[tuple[str, Table]]:
    """Sound tables whose columns, scale or rules do not suit them."""
    changes = {
        "a classifier that is nobody": {"classifiers": ["gpt"]},
        "a classifier that is misspelt": {"classifiers": ["bem"]},
        "a column that is not there": {"columns": {"cluster": "doc"}},
        "a scale without a label": {"categories": ["no", "maybe"]},
        "a scale with a label more": {"categories": ["no", "yes", "maybe"]},
        "words on an interval scale": {"level": "interval"},
        "words on a scale of vectors": {"level": "multivariate interval"},
        "a round that is not there": {"round_name": "w9"},
        "a rater left out who is misspelt": {"rules": {"exclude_raters": ["anna"]}},
        "a stratum that is not there": {"rules": {"strata": ["language"]}},
        "a rule on a field that is not there": {"rules": {"where": {"status": ["done"]}}},
        "a repeated item that is not there": {"rules": {"replicate_of": "repeats"}},
        "what a table cannot show": {"rules": {"requires": ["drafts"]}},
        "a reader that is not there": {"rules": {"reader": "label_stdio"}},
        "units of a plain table": {"rules": {"units": {"kind": "spans"}}},
        "a wide table without raters": {"layout": "wide"},
        "a wide table with a rater too many": {
            "layout": "wide",
            "columns": {"raters": ["label", "dan"]},
        },
    }
    for name, change in changes.items():
        yield name, replace(table, reading=replace(table.reading, **change))  # type: ignore[arg-type]


def of_flags(table: Table) -> Iterator[tuple[str, Table]]:
    """Tables whose flags, right labels, strata or repetitions are odd."""
    flags = table.frame["item"].map(lambda name: "yes" if name == "i1" else "no")
    odd = flags.where(table.frame.index != 4, "perhaps")
    mixed = flags.where(table.frame.index != 3, "no")
    for name, cells in {"an odd flag of gold": odd, "gold in conflict": mixed}.items():
        yield name, table.with_columns("", {"gold": "known"}, known=cells)
    yield "an odd flag of help", table.with_columns("", {"assisted": "helped"}, helped=odd)
    right = {"gold": "known", "gold_label": "truth"}
    two = pd.Series(["no", "yes"] * len(flags)).iloc[: len(flags)]
    yield "two right labels", table.with_columns("", right, known=flags, truth=two.to_numpy())
    yield "an unknown right label", table.with_columns("", right, known=flags, truth="perhaps")
    strata = replace(table, reading=replace(table.reading, rules={"strata": ["language"]}))
    language = ["de", "en"] * (len(flags) // 2)
    yield "strata in conflict", strata.with_columns("", {}, language=language)
    yield "a missing stratum", strata.with_columns("", {}, language=flags.where(flags == "no"))
    linked = replace(table, reading=replace(table.reading, rules={"replicate_of": "of"}))
    circle = table.frame["item"].map({"i1": "i2", "i2": "i1"}).fillna("")
    yield "repetitions in a circle", linked.with_columns("", {}, of=circle)
