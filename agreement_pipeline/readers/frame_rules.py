"""The rules over pandas frames, for the readers of tools."""

from collections import Counter
from collections.abc import Mapping
from difflib import get_close_matches
from typing import Any

import numpy as np
import pandas as pd

from agreement_pipeline.errors import RatingsError
from agreement_pipeline.ratings import STRATUM, TEXT, category_text, coded
from agreement_pipeline.readers.rules import ALIKE, FIELD, LeftOut, Rules
from agreement_pipeline.text import called, listed


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
