"""What no reader can know of an export, and the project says: which rows count, and as what."""

from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass, field
from difflib import get_close_matches
from typing import Any, Literal

import numpy as np
import pandas as pd

from agreement_pipeline.errors import ProjectError, RatingsError
from agreement_pipeline.ratings import CAPABILITIES, STRATUM, TEXT, category_text, coded
from agreement_pipeline.text import called, listed
from agreement_pipeline.units import UnitSettings

Rejected = Literal["kept", "left out"]
ALIKE = 0.85
FIELD = "field:"
"""How the names of columns begin that a rule reads and that hold no rating."""


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
    units: UnitSettings | None = None

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


def tally(rows: pd.DataFrame, reasons: str | pd.Series) -> LeftOut:
    """How many of some rows are no ratings, for one reason or for one each."""
    rounds = _texts(rows["round"]).fillna("") if "round" in rows else ""
    each = pd.DataFrame({"round": rounds, "reason": reasons}, index=rows.index)
    found = each.value_counts()
    return Counter(dict(zip(found.index.tolist(), found.tolist(), strict=True)))


def kept(frame: pd.DataFrame, rules: Rules, source: str) -> tuple[pd.DataFrame, LeftOut]:
    """The rows that count, and how many were left out by which rule.

    Raises
    ------
    RatingsError
        A rule leaves no row, or a rater that is left out is misspelt.
    """
    left_out: LeftOut = Counter()
    for name, values in rules.where.items():
        accepted = {category_text(value) for value in values}
        texts = coded(frame[FIELD + name])
        meets = texts.each(texts.texts.isin(accepted), False).astype(bool)
        left_out += tally(frame[~meets], f"where {name}")
        if not meets.any():
            found = listed(texts.texts) if len(texts.texts) else "nothing in any row"
            raise RatingsError(
                f"{source}: field {name!r}: found {found}; expected "
                f"{listed(sorted(accepted))}, as `where` says. Correct the values of `where`."
            )
        frame = frame[meets]
    if rules.exclude_raters:
        raters = coded(frame["rater"])
        _refuse_misspelt(rules.exclude_raters, list(raters.texts), source)
        out = raters.each(raters.texts.isin(rules.exclude_raters), False).astype(bool)
        left_out += tally(frame[out], "excluded rater")
        frame = frame[~out]
    return frame, left_out


def linked(frame: pd.DataFrame, rules: Rules, source: str) -> pd.DataFrame:
    """The rows with each repetition under the name of the item that it repeats.

    A rater's meetings with an item are numbered in the order of their times.
    """
    if rules.replicate_of:
        root = _named_root(frame, rules.replicate_of, source)
    elif rules.replicates_share:
        root = _shared_root(frame, rules.replicates_share, source)
    else:
        return frame
    items = _texts(frame["item"])
    first = items.map(root).fillna(items)
    again = (first != items).to_numpy()
    keys = ["item", "rater", *(["round"] if "round" in frame and not rules.all_rounds else [])]
    return frame.assign(item=first, occurrence=_meetings(frame.assign(item=first), again, keys))


def stratified(frame: pd.DataFrame, rules: Rules) -> pd.DataFrame:
    """The rows with the stratum of each item under a name of its own."""
    return frame.assign(**{STRATUM + name: frame[FIELD + name] for name in rules.strata})


def with_models(frame: pd.DataFrame, models: Mapping[str, str]) -> pd.DataFrame:
    """The rows, and one for each item and model whose label stands in a column of its own."""
    parts = [frame]
    for name, column in models.items():
        said = frame.assign(label=_texts(frame[column]), rater=name).dropna(subset=["label"])
        keys = ["item", "label", *(["round"] if "round" in frame else [])]
        own = said.assign(occurrence=1) if "occurrence" in said else said
        parts.append(own.drop(columns="timestamp", errors="ignore").drop_duplicates(keys))
    return pd.concat(parts) if models else frame


def _refuse_misspelt(named: tuple[str, ...], raters: list[Any], source: str) -> None:
    for name in named:
        near = [] if name in raters else get_close_matches(name, raters, n=1, cutoff=ALIKE)
        if near:
            raise RatingsError(
                f"{source}: found no rater {name!r} to leave out; expected a rater of the export. "
                f"Did you mean {near[0]!r}?"
            )


def _named_root(frame: pd.DataFrame, field: str, source: str) -> dict[str, str]:
    """The first item of each item that names the one which it repeats."""
    named = pd.DataFrame({"item": _texts(frame["item"]), "of": _texts(frame[FIELD + field])})
    pairs = named[named["of"].notna() & (named["of"] != "")].drop_duplicates()
    if pairs["item"].duplicated().any():
        item = pairs["item"][pairs["item"].duplicated()].iloc[0]
        raise RatingsError(
            f"{source}: field {field!r}: found item {item!r} as a repetition of several items, "
            f"{listed(pairs['of'][pairs['item'] == item])}; expected one. Correct the export."
        )
    of = dict(zip(pairs["item"], pairs["of"], strict=True))
    return {item: _root(item, of, f"{source}: field {field!r}") for item in of}


def _root(item: str, of: Mapping[str, str], where: str) -> str:
    seen = [item]
    while (nearer := of.get(seen[-1])) is not None:
        if nearer in seen:
            circle = seen[seen.index(nearer) :]
            how = "that repeat each other in a circle" if circle[1:] else "as its own repetition"
            raise RatingsError(
                f"{where}: found {called('item', circle)} {how}; expected a first one, which "
                "repeats none. Correct the field, or leave it empty for a first item."
            )
        seen.append(nearer)
    return seen[-1]


def _shared_root(frame: pd.DataFrame, field: str, source: str) -> dict[str, str]:
    """The first item of those with the same content."""
    items, content = _texts(frame["item"]), _texts(frame[FIELD + field])
    if content.isna().all():
        raise RatingsError(
            f"{source}: field {field!r}: found nothing in any row; expected the content of the "
            "items. Correct the name of the field in replicates_share."
        )
    pairs = pd.DataFrame({"item": items, "content": content}).dropna().drop_duplicates("item")
    first = pairs.groupby("content", sort=False)["item"].transform("first")
    return dict(zip(pairs["item"], first, strict=True))


def _meetings(frame: pd.DataFrame, again: np.ndarray, keys: list[str]) -> np.ndarray:
    """Which time each row's rater met its item, in the order of time, else of the rows."""
    time = frame.get("timestamp")
    known = time is not None and bool(time.notna().all())
    order = frame.assign(_again=again, _at=np.arange(len(frame)))
    order["_time"] = time.to_numpy() if known and time is not None else 0
    order["_before"] = frame["occurrence"].to_numpy() if "occurrence" in frame else 1
    order = order.sort_values(["_time", "_again", "_before", "_at"], kind="stable")
    numbers = order.groupby(keys, observed=True, dropna=False, sort=False).cumcount() + 1
    found = np.empty(len(frame), dtype=np.int64)
    found[order["_at"].to_numpy()] = numbers.to_numpy()
    return found


def _texts(values: pd.Series) -> pd.Series:
    return pd.Series(pd.Series(coded(values).categorical()).astype(TEXT).array, values.index)
