"""The items on which the panel agrees least: in tables, and as tasks for an adjudicator."""

import csv
import io
import json
from collections.abc import Callable, Mapping, Sequence
from types import MappingProxyType
from typing import Literal, get_args

import numpy as np
import pandas as pd

from agreement_pipeline.counting import counting_of
from agreement_pipeline.evidence.figure import cut
from agreement_pipeline.evidence.judged import JudgedRound, texts_of
from agreement_pipeline.evidence.objects import marked_objects, other_settings
from agreement_pipeline.evidence.section import Answer, Cell, Row, Section, grid, share
from agreement_pipeline.measures import MEASURES, disagreement_of_items
from agreement_pipeline.ratings import (
    RESOLUTIONS,
    STRATUM,
    Array,
    PanelLabels,
    Ratings,
    arrow_column,
    in_pandas,
)
from agreement_pipeline.statistics import CategoryCounts, NumbersByRater
from agreement_pipeline.text import DIGITS, PERCENT, counted, in_words, number

MOST, MOST_NAMED, LONGEST_TEXT, MOST_ON_PAGE = 40, 5, 200, 12
FEW, SPREAD = 0.05, 0.25
"""Half of all disagreement on fewer items is held by few, and on more it is spread."""
BLOCK_CELLS = 2_000_000
COMES_BACK = (
    "What comes back by this list is a resolution: it trains, and does not count for agreement. "
    "Do not ask the same raters to label these items again for α."
)
Order = Literal["disagreement", "influence"]
ORDERS: tuple[str, ...] = get_args(Order)
COLUMNS = ("item", "text", "label", "said", "share", "influence", "resolution", "ratings_digest")
Task = Mapping[str, str]
AS_IN_TASKS: Task = MappingProxyType({})


def disputed(ratings: Ratings) -> Section:
    rows = disputed_rows(ratings)
    ties = int((rows["resolution"] == "tie").sum()) if "resolution" in rows else None
    worst = rows.head(MOST)
    items = worst["id"].tolist()
    texts = [cut(text, LONGEST_TEXT) for text in texts_of(ratings, items).values()]
    resolutions = worst["resolution"] if "resolution" in rows else [""] * len(worst)
    shares = (Cell(number(share, PERCENT), share) for share in worst["share"])
    said = said_of(ratings, items).values()
    columns = {
        "id": "The item.",
        "text": "The text of the item.",
        "said": "Each label with the raters who gave it.",
        "share": "The item's share of all disagreement.",
        "resolution": "How the label follows from those of the raters.",
    }
    shown: list[Row] = [*map(list, zip(items, texts, said, shares, resolutions, strict=True))]
    return {
        "disputed_items": len(rows),
        "ties": ties,
        "what_comes_back": COMES_BACK,
        "most_disputed": grid("Most disputed items", columns, shown, "items", n=len(rows)),
    }


def disputed_rows(ratings: Ratings) -> pd.DataFrame:
    """The items whose raters differ, the most disagreement first, without gold items.

    `disagreement` is the item's part of the observed one of Krippendorff's α, and `share` is that
    of all.
    """
    items, table = counting_of(ratings).by_item(ratings)
    disagreement = disagreement_of_items(table) * table.weights
    order = np.argsort(-disagreement, kind="stable")
    order = order[: np.count_nonzero(disagreement > 0)]
    found = {
        "id": pd.Index(in_pandas(items.take(arrow_column(order)))),
        "disagreement": disagreement[order],
        "share": disagreement[order] / (disagreement.sum() or np.nan),
    }
    if not ratings.scale.continuous:
        labels = PanelLabels.of(ratings, among=found["id"].tolist())
        labels = labels.take(labels.items.get_indexer(found["id"]))
        found["resolution"] = np.array(RESOLUTIONS, dtype=object)[labels.resolution]
    return pd.DataFrame(found)


def said_of(ratings: Ratings, items: Sequence[str]) -> dict[str, str]:
    given: dict[str, dict[str, list[str]]] = {item: {} for item in items}
    columns = ["item", "rater", "label"]
    for row in ratings.first(columns, items=items, raters=ratings.raters).to_pylist():
        label = row["label"]
        said = str(tuple(label) if isinstance(label, list) else label)
        given[row["item"]].setdefault(said, []).append(row["rater"])
    told = {}
    for item, labels in given.items():
        most = sorted(labels.items(), key=lambda each: (-len(each[1]), each[0]))
        told[item] = "; ".join(
            f"{label}: {', '.join(who) if len(who) <= MOST_NAMED else f'{len(who)} raters'}"
            for label, who in most
        )
    return told


def influence_of_items(ratings: Ratings) -> pd.Series | None:
    """How much Krippendorff's α would rise without each item.

    Items or runs with equal counts have equal influence, so α is computed once for each.
    """
    items, table = counting_of(ratings).by_item(ratings)
    if not isinstance(table, CategoryCounts):
        return None
    counts = np.column_stack([table.counts, table.weights])
    rows, row_of, met = np.unique(counts, axis=0, return_inverse=True, return_counts=True)
    lengths = rows[:, -1]
    distinct = CategoryCounts(rows[:, :-1], met * lengths, scale=table.scale)
    whole, n, without = float(_alpha(distinct)), len(met), []
    size = max(1, BLOCK_CELLS // n)
    for start in range(0, n, size):
        block = np.arange(start, min(start + size, n))
        left = np.tile(distinct.weights, (len(block), 1))
        left[np.arange(len(block)), block] -= lengths[block]
        without.append(_alpha(distinct.reweighted(left)))
    influence = np.concatenate(without) - whole
    return pd.Series(influence[row_of.reshape(-1)], index=pd.Index(in_pandas(items)))


def _alpha(counts: CategoryCounts) -> Array:
    return np.asarray(MEASURES["krippendorff_alpha"](counts).value)


def tasks(ratings: Ratings, by: Order = "disagreement") -> list[dict[str, str]]:
    """The disputed items, and what an adjudicator must know of each.

    First comes the item with most disagreement, or the one without which Krippendorff's α would
    rise most. The adjudicator writes the `label`. The digest says which version was looked at.
    """
    rows = disputed_rows(ratings).set_index("id")
    influence = influence_of_items(ratings)
    known = influence is not None
    rows["influence"] = influence if known else np.nan
    if by == "influence" and known:
        rows = rows.sort_values("influence", ascending=False, kind="stable")
    items = rows.index.tolist()
    said, texts = said_of(ratings, items), texts_of(ratings, items)
    return [
        {
            "item": item,
            "text": texts[item],
            "label": "",
            "said": said[item],
            "share": number(row["share"]),
            "influence": "" if pd.isna(row["influence"]) else number(row["influence"]),
            "resolution": str(row.get("resolution", "")),
            "ratings_digest": ratings.digest,
        }
        for item, row in zip(items, rows.to_dict("records"), strict=True)
    ]


def blind_tasks(population: Ratings, items: Sequence[str], draw: str) -> list[dict[str, str]]:
    """Nothing stands there that somebody said of the items. `draw` says which draw they are of."""
    texts, strata = texts_of(population, items), tuple(population.strata)
    known = population.items([f"{STRATUM}{each}" for each in strata], names=items).to_pylist()
    of_item = {each["item"]: each for each in known}
    return [
        {
            **{name: of_item[item][f"{STRATUM}{name}"] for name in strata},
            **{"item": item, "text": text, "rater": "", "label": "", "draw": draw},
        }
        for item, text in texts.items()
    ]


def written_tasks(
    found: Sequence[Task], labels: Sequence[str], form: str, names: Task = AS_IN_TASKS
) -> str:
    """`names` says what `item`, `rater` and `label` are called in the file, so that one set of
    names reads the labels and the population. A column that has the name of one of these is left
    out.
    """
    if form == "csv":
        buffer = io.StringIO()
        rows = [_named(task, names) for task in found]
        writer = csv.DictWriter(buffer, list(rows[0]) if rows else COLUMNS, lineterminator="\n")
        writer.writeheader()
        writer.writerows(rows)
        return buffer.getvalue()
    asked = ("text", "label", "rater")
    made: list[dict[str, object]] = []
    for task in found:
        about = {name: value for name, value in task.items() if name not in asked}
        made.append(AS_TASK[form](task, _named(about, names), labels))
    if form == "prodigy":
        return "".join(f"{json.dumps(each, ensure_ascii=False)}\n" for each in made)
    return f"{json.dumps(made, ensure_ascii=False, indent=1)}\n"


def _named(task: Task, names: Task) -> dict[str, str]:
    taken = {*names.values()} - {*names}
    return {names.get(name, name): value for name, value in task.items() if name not in taken}


AS_TASK: Mapping[str, Callable[[Task, Task, Sequence[str]], dict[str, object]]] = {
    "label-studio": lambda task, about, _: {"data": {"text": task["text"], **about}},
    "argilla": lambda task, about, _: {
        "id": task["item"],
        "fields": {"text": task["text"]},
        "metadata": about,
        "suggestions": {},
        "responses": {},
        "vectors": {},
    },
    "prodigy": lambda task, about, labels: {
        "text": task["text"] or task["item"],
        "options": [{"id": label, "text": label} for label in labels],
        "meta": about,
    },
}
FORMS = ("csv", *AS_TASK)


def items(judged: JudgedRound) -> Answer:
    places, (names, said) = judged.most_disputed, judged.by_item
    n, what = len(names), "item"
    if not places:
        return Answer(("No item has two different labels.",))
    apart = said.weights[[*places.values()]].sum()
    part = in_words(apart / said.weights.sum(), PERCENT)
    differ = f"{counted(round(apart), what)} of {round(said.weights.sum()):,} ({part})"
    if "weight" in judged.ratings.has:
        what = "run"
        differ = f"{differ}, in {counted(len(places), what)} of equal labels of {n:,}"
    held = np.cumsum(np.sort(judged.disagreement)[::-1]).round(DIGITS)
    half = int(np.searchsorted(held, 0.5)) + 1
    where = ""
    if half <= FEW * n:
        where = f" It is held by few {what}s: discuss these."
    elif half >= SPREAD * n:
        where = f" It is spread over the {what}s: look at the guideline and at the raters."
    shown = [*places][:MOST_ON_PAGE]
    rows: list[Row] = [
        [name, _counted(said, places[name]), share(judged.disagreement[places[name]]), text]
        for name, text in zip(shown, judged.texts_of(shown), strict=True)
    ]
    columns = ("item", "labels", "share of disagreement", "text")
    title = "The items with the largest share of all disagreement"
    objects, settings = marked_objects(judged), other_settings(judged)
    more = [each for each in (objects, settings) if each]
    own = () if objects else (grid(title, columns, rows, "items", n=len(places)),)
    return Answer(
        (
            f"Raters differ on {differ}.",
            f"Half of all disagreement comes from {counted(half, what)} "
            f"({in_words(half / n, PERCENT)} of all).{where}",
            COMES_BACK,
            *(said for each in more for said in each.sentences),
        ),
        tuple(figure for each in more for figure in each.figures),
        (*own, *(table for each in more for table in each.tables)),
    )


def _counted(said: CategoryCounts | NumbersByRater, at: int) -> str:
    if isinstance(said, CategoryCounts):
        counts = said.counts[at]
        given = sorted(np.flatnonzero(counts), key=lambda k: -counts[k])
        return ", ".join(f"{counts[k]:g} × {said.scale.names[k]}" for k in given)
    known = said.values[at][~np.isnan(said.values[at]).any(-1)]
    return ", ".join("|".join(f"{x:g}" for x in row) for row in known)
