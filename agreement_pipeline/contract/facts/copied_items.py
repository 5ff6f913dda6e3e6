"""Items that are copies of others: the same text, or an identifier that prints alike."""

from typing import Any

import numpy as np
import pandas as pd

from agreement_pipeline.contract.facts.fact import Fact, fact
from agreement_pipeline.contract.facts.panel import Panel
from agreement_pipeline.ratings import TEXT, parts, printed

MOST, AT_ONCE = 50_000, 8_192
LAST = 6
LETTERS = np.arange(256)
SPREAD = np.where(ord(" ") < LETTERS, (LETTERS | 32) ** 2, 0).astype(np.uint32)
SHOWN = 3


@fact
def items_with_a_shared_text(panel: Panel) -> Fact:
    """The share of items whose text another item has too. The first item of a text is no copy."""
    texts = panel.contents("text")
    if texts is None:
        return Fact(None, "column text was not delivered, so nothing was checked")
    known = texts.notna().to_numpy()
    return _copies(texts if known.all() else texts[known], "text")


@fact
def items_that_print_alike(panel: Panel) -> Fact:
    """The share of items whose identifier prints as that of another item. The first is no copy."""
    items, rated = panel.items, panel.rated
    names = items if len(rated) == len(items) else items[rated]
    return _copies(pd.Series(names.astype(TEXT), index=names), "identifier")


def _copies(texts: "pd.Series[Any]", what: str) -> Fact:
    """The share of copies. Of very many items, a sample is compared, in which copies stay
    together.
    """
    some = (texts if len(texts) <= MOST else _sample(texts)).astype(TEXT)
    alike = printed(some)
    alike = alike[alike != ""]
    again = alike.duplicated()
    n_copies = int(again.sum())
    if not len(alike):
        return Fact(None, f"no item has a {what}, so nothing was checked")
    words = f"{n_copies} of {len(alike)} items have the {what} of another one"
    return Fact(n_copies / len(alike), words + (_shown(alike, again) if n_copies else ""))


def _shown(alike: "pd.Series[Any]", again: "pd.Series[Any]") -> str:
    firsts, copies = alike[~again], alike[again].iloc[:SHOWN]
    origin = pd.Series(firsts.index, index=firsts.array)[copies.array]
    pairs = zip(copies.index, origin, strict=True)
    return ", such as " + " and ".join(f"{copy!a} that of {first!a}" for copy, first in pairs)


def _sample(texts: "pd.Series[Any]") -> "pd.Series[Any]":
    """The items whose text falls into one of several parts: equal texts fall into the same.

    A few texts are in memory at once.
    """
    n_parts, found = -(-len(texts) // MOST), []
    for part in parts(len(texts), AT_ONCE):
        sums = _sums(texts.iloc[part].astype(TEXT))
        found.append(part.start + np.flatnonzero(sums % n_parts == 0))
    return texts.iloc[np.concatenate(found)]


def _sums(texts: "pd.Series[Any]") -> np.ndarray[Any, np.dtype[np.uint32]]:
    """A number for each text: of its last letters, without capitals and the blanks after them."""
    import pyarrow as pa
    import pyarrow.compute as pc

    column = pa.chunked_array(pa.array(texts, pa.large_string()), pa.large_string())
    given = pc.ascii_rtrim_whitespace(column).combine_chunks()
    _, offsets, data = given.buffers()
    stops = np.frombuffer(offsets, dtype=np.int64)[: len(given) + 1]
    letters = np.frombuffer(data, dtype=np.uint8)
    sums = np.zeros(len(texts), dtype=np.uint32)
    for back in range(1, LAST + 1):
        places = stops[1:] - back
        sums += SPREAD[np.where(places >= stops[:-1], letters[places], 0)]
    return sums
