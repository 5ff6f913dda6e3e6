"""The distinct values of the columns that have few: raters, labels, occurrences and flags."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
import pandas as pd

from agreement_pipeline.engines import sql
from agreement_pipeline.engines.session import Session, Unreadable
from agreement_pipeline.errors import RatingsError
from agreement_pipeline.ratings import TEXT, Category, Ratings, Scale, in_pandas

if TYPE_CHECKING:
    from agreement_pipeline.engines.birth import Asked

MOST = 1_000_000
"""Distinct rows of keys. More are no raters and labels."""
MOST_NUMBERS = 64
KEYS = ("rater", "label", "occurrence", "gold")


@dataclass(frozen=True)
class Known:
    """What the keys say: raters, categories, and how the source spells them."""

    scale: Scale
    raters: tuple[str, ...]
    classifiers: tuple[str, ...]
    categories: tuple[Category, ...] | None
    dimensions: int | None
    spelt_raters: Mapping[str, int]
    spelt_labels: Mapping[str, int]
    gold: tuple[str, ...]
    again: bool
    packing: sql.Packing

    @property
    def raters_table(self) -> Any:
        """The place of each spelling of a rater, as an Arrow table."""
        import pyarrow as pa

        places = list(self.spelt_raters.values())
        return pa.table(
            {
                "rater": list(self.spelt_raters),
                "place": pa.array(places, pa.int64()),
                "word": pa.array(map(self.packing.word, places), pa.int64()),
                "unit": pa.array(map(self.packing.unit, places), pa.int64()),
            }
        )

    @property
    def labels_table(self) -> Any:
        """The code of each spelling of a label, from 1, as an Arrow table."""
        import pyarrow as pa

        codes = pa.array(list(self.spelt_labels.values()), pa.int64())
        return pa.table({"label": list(self.spelt_labels), "code": codes})


@dataclass(frozen=True)
class Keys:
    """Distinct rows of keys as a source spells them, and the frame that the checks read.

    If labels are numbers of a scale without categories, three stand for all: the first and the last
    spelling in text order, and that of the largest number.
    """

    spelt: pd.DataFrame
    frame: pd.DataFrame
    scale: Scale | None

    @classmethod
    def of(
        cls,
        session: Session,
        name: str,
        kinds: Mapping[str, sql.Kind],
        asked: "Asked",
        label: str,
    ) -> "Keys":
        """Query the distinct rows of keys."""
        scale = _continuous(session, name, asked)
        names = [each for each in KEYS if each in kinds]
        grouped = [each for each in names if each != "label" or scale is None]
        least = [] if scale is None else sql.spellings_of(scale.dimensions)
        meeting = ["MIN(meeting) AS meeting"] if "occurrence" in kinds else []
        chosen = ", ".join([*grouped, *least, *meeting])
        found = in_pandas(
            session.ask(
                f"SELECT {chosen} FROM {name}_rows GROUP BY {', '.join(grouped)} LIMIT {MOST + 1}"
            )
        )
        if len(found) > MOST:
            _refuse_many(session, name, asked, label)
        if scale is not None:
            found = _one_below_another(found, ["label", "most", "largest"])
        spelt = found.astype(object).where(found.notna(), None)
        _refuse_long(spelt[names], asked, label)
        frame = pd.DataFrame({each: _typed(spelt[each], kinds[each], label) for each in names})
        frame = frame.set_axis(pd.RangeIndex(1, len(frame) + 1, name="row"))
        frame.insert(0, "item", [f"{at:09}" for at in range(len(frame))])
        return cls(spelt, frame, scale or asked.scale)

    def known(self, ratings: Ratings) -> Known:
        """What the checked keys say."""
        table = ratings.table
        rows = table["item"].astype(int).to_numpy()
        spelt = self.spelt.iloc[rows]
        scale = ratings.scale
        continuous = scale.continuous
        raters = tuple(sorted(set(table["rater"].astype(TEXT))))
        labels = {} if continuous else _codes(spelt["label"], table["label"], scale)
        occurrences = table["occurrence"].to_numpy()
        if "meeting" in spelt and (spelt["meeting"].astype(float) != occurrences).any():
            raise Unreadable(
                "occurrences: found a spelling that only the memory engine reads; expected plain "
                "whole numbers. Write them plainly, or read them in memory (engine memory)."
            )
        return Known(
            scale,
            raters,
            ratings.classifiers,
            scale.categories,
            scale.dimensions if continuous else None,
            dict(zip(spelt["rater"], map(raters.index, table["rater"].astype(TEXT)), strict=True)),
            labels,
            self._gold(ratings),
            bool((occurrences != 1).any()),
            sql.Packing(len(raters), 1 if continuous else len(scale.categories or ())),
        )

    def _gold(self, ratings: Ratings) -> tuple[str, ...]:
        if "gold" not in self.spelt:
            return ()
        known = ratings.contents["gold"]
        rows = known.index[known].astype(int)
        return tuple(sorted(set(self.spelt["gold"].iloc[rows])))


def kinds_of(schema: Any, label: str) -> dict[str, sql.Kind]:
    """What the cells of each column are."""
    from pyarrow import types

    tests: dict[sql.Kind, Any] = {
        "text": lambda kind: types.is_string(kind) or types.is_large_string(kind),
        "whole": types.is_integer,
        "float": types.is_floating,
        "flag": types.is_boolean,
        "none": types.is_null,
    }
    found: dict[str, sql.Kind] = {}
    for field in schema:
        kind = next((name for name, test in tests.items() if test(field.type)), None)
        if field.name == "timestamp" and kind in (None, "float"):
            continue
        if kind is None:
            raise Unreadable(
                f"{label}: found {field.type} in the column of {field.name}; expected text, "
                "numbers or flags. Write such cells as text, or read it in memory "
                "(engine memory)."
            )
        found[field.name] = kind
    return found


def _continuous(session: Session, name: str, asked: "Asked") -> Scale | None:
    """A scale without categories, if that is what is asked or what the labels show."""
    if asked.scale is not None:
        return asked.scale if asked.scale.continuous else None
    if asked.level == "multivariate interval":
        parts = "LENGTH(label) - LENGTH(REPLACE(label, '|', ''))"
        found = session.ask(
            f"SELECT MIN(label) AS label FROM {name}_rows WHERE label IS NOT NULL GROUP BY {parts}"
        )
        return Scale.from_labels(found["label"].to_pylist(), asked.level)
    if asked.level not in ("interval", "ratio"):
        return None
    some = f"SELECT DISTINCT number FROM {name}_rows LIMIT {MOST_NUMBERS + 2}"
    found = session.ask(f"SELECT COUNT(number) AS n FROM ({some}) AS d")["n"].to_pylist()[0]
    return Scale(None, asked.level) if found > MOST_NUMBERS else None


def _one_below_another(table: pd.DataFrame, names: list[str]) -> pd.DataFrame:
    """The table once for each of some columns, which is then called `label`."""
    others = table.drop(columns=names)
    return pd.concat([others.assign(label=table[name]) for name in names], ignore_index=True)


def _codes(spelt: pd.Series, labels: pd.Series, scale: Scale) -> dict[str, int]:
    pairs = pd.DataFrame({"spelt": spelt.to_numpy(), "label": labels.astype(object).to_numpy()})
    return {
        spelt: scale.index(label) + 1
        for spelt, label in pairs.drop_duplicates("spelt").itertuples(index=False)
    }


def _refuse_many(session: Session, name: str, asked: "Asked", label: str) -> None:
    different = f"SELECT COUNT(DISTINCT label) AS n FROM {name}_rows"
    found = session.ask(different)["n"].to_pylist()[0]
    asked.limits.refuse_beyond("categories", found, f"{label}: column 'label'", "different labels")
    raise RatingsError(
        f"{label}: found more than {MOST} different rows of raters, labels and occurrences; "
        "expected fewer. Check which columns hold them."
    )


def _refuse_long(spelt: pd.DataFrame, asked: "Asked", label: str) -> None:
    for name in {"rater", "label"} & set(spelt):
        longest = max((len(text) for text in spelt[name].dropna().unique()), default=0)
        asked.limits.refuse_beyond(
            "name_length", longest, f"{label}: column {name!r}", "characters"
        )


def _typed(texts: pd.Series, kind: sql.Kind, label: str) -> pd.Series:
    """Cells as a Parquet file gives them."""
    cells = [None if text is None else sql.typed(text, kind) for text in texts]
    if any(isinstance(cell, float) and np.isnan(cell) for cell in cells):
        raise Unreadable(
            f"{label}: found nan in the column of {texts.name}; expected a value. Correct it, or "
            "leave the cell empty."
        )
    return pd.Series(cells, dtype=object)


__all__ = ["Keys", "Known", "kinds_of"]
