"""The items on which the panel agrees least: in tables, and as tasks for an adjudicator."""

import csv
import io
import json
from collections.abc import Callable, Mapping, Sequence
from types import MappingProxyType
from typing import Literal, get_args

import numpy as np
import pandas as pd

from agreement_pipeline.counting import counting_for
from agreement_pipeline.evidence.figure import cut_text
from agreement_pipeline.evidence.judged import JudgedRound, texts_of
from agreement_pipeline.evidence.objects import (
    answer_about_marked_objects,
    answer_about_other_settings,
)
from agreement_pipeline.evidence.section import Answer, Cell, Row, Section, build_grid, share_cell
from agreement_pipeline.measures import MEASURES, disagreement_of_items
from agreement_pipeline.ratings import (
    RESOLUTIONS,
    STRATUM,
    Array,
    PanelLabels,
    Ratings,
    arrow_to_pandas,
    numbers_as_arrow,
)
from agreement_pipeline.statistics import CategoryCounts, NumbersByRater
from agreement_pipeline.text import DIGITS, PERCENT, counted, in_words, number_in_table

MAX_DISPUTED_ITEMS, MAX_RATERS_NAMED, LONGEST_TEXT, MOST_ON_PAGE = 40, 5, 200, 12
CONCENTRATED_SHARE, SPREAD = 0.25, 0.25
"""Half of all disagreement is held by few on fewer of the disputed items. It is spread on more of
all items.
"""
BLOCK_CELLS = 2_000_000
COMES_BACK = (
    "Answers to these items set the training label. They do not change the measured agreement. "
    "Do not ask the same raters to label these items again for α."
)
Order = Literal["disagreement", "influence"]
ORDERS: tuple[str, ...] = get_args(Order)
COLUMNS = ("item", "text", "label", "said", "share", "influence", "resolution", "ratings_digest")
FREE_TEXTS = ("item", "text", "said")
"""The columns of tasks in which a delivery may put anything."""
Task = Mapping[str, str]
AS_IN_TASKS: Task = MappingProxyType({})


def disputed(ratings: Ratings) -> Section:
    rows = disputed_rows(ratings)
    ties = int((rows["resolution"] == "tie").sum()) if "resolution" in rows else None
    worst = rows.head(MAX_DISPUTED_ITEMS)
    items = worst["id"].tolist()
    texts = [cut_text(text, LONGEST_TEXT) for text in texts_of(ratings, items).values()]
    resolutions = worst["resolution"] if "resolution" in rows else [""] * len(worst)
    shares = (Cell(number_in_table(share, PERCENT), share) for share in worst["share"])
    labels_text = labels_with_raters_by_item(ratings, items).values()
    columns = {
        "id": "The item.",
        "text": "The text of the item.",
        "labels": "Each label with the raters who gave it.",
        "share": "The item's share of all disagreement.",
        "resolution": "How the label follows from those of the raters.",
    }
    table_rows: list[Row] = [
        *map(list, zip(items, texts, labels_text, shares, resolutions, strict=True))
    ]
    return {
        "disputed_items": len(rows),
        "ties": ties,
        "effect_of_answers": COMES_BACK,
        "most_disputed": build_grid(
            "Most disputed items", columns, table_rows, "items", n=len(rows)
        ),
    }


def disputed_rows(ratings: Ratings) -> pd.DataFrame:
    """The items whose raters differ, the most disagreement first, without gold items.

    `disagreement` is the item's part of the observed one of Krippendorff's α, and `share` is that
    of all.
    """
    items, table = counting_for(ratings).by_item(ratings)
    disagreement = disagreement_of_items(table) * table.weights
    order = np.argsort(-disagreement, kind="stable")
    order = order[: np.count_nonzero(disagreement > 0)]
    columns = {
        "id": pd.Index(arrow_to_pandas(items.take(numbers_as_arrow(order)))),
        "disagreement": disagreement[order],
        "share": disagreement[order] / (disagreement.sum() or np.nan),
    }
    if not ratings.scale.continuous:
        labels = PanelLabels.from_ratings(ratings, among=columns["id"].tolist())
        labels = labels.select_rows(labels.items.get_indexer(columns["id"]))
        columns["resolution"] = np.array(RESOLUTIONS, dtype=object)[labels.resolution]
    return pd.DataFrame(columns)


def labels_with_raters_by_item(ratings: Ratings, items: Sequence[str]) -> dict[str, str]:
    raters_by_item_and_label: dict[str, dict[str, list[str]]] = {item: {} for item in items}
    columns = ["item", "rater", "label"]
    for row in ratings.first_ratings(columns, items=items, raters=ratings.raters).to_pylist():
        label = row["label"]
        label_text = str(tuple(label) if isinstance(label, list) else label)
        raters_by_item_and_label[row["item"]].setdefault(label_text, []).append(row["rater"])
    text_by_item = {}
    for item, labels in raters_by_item_and_label.items():
        by_frequency = sorted(
            labels.items(),
            key=lambda label_and_raters: (-len(label_and_raters[1]), label_and_raters[0]),
        )
        text_by_item[item] = "; ".join(
            f"{label}: {_names_or_count(raters)}" for label, raters in by_frequency
        )
    return text_by_item


def _names_or_count(raters: Sequence[str]) -> str:
    return ", ".join(raters) if len(raters) <= MAX_RATERS_NAMED else f"{len(raters)} raters"


def alpha_rise_without_each_item(ratings: Ratings) -> pd.Series | None:
    """How much Krippendorff's α would rise without each item.

    Items or runs with equal counts have equal influence, so α is computed once for each.
    """
    items, table = counting_for(ratings).by_item(ratings)
    if not isinstance(table, CategoryCounts):
        return None
    counts = np.column_stack([table.counts, table.weights])
    rows, row_of, n_equal = np.unique(counts, axis=0, return_inverse=True, return_counts=True)
    lengths = rows[:, -1]
    distinct = CategoryCounts(rows[:, :-1], n_equal * lengths, scale=table.scale)
    full_alpha, n, without = float(_krippendorff_alpha(distinct)), len(n_equal), []
    size = max(1, BLOCK_CELLS // n)
    for start in range(0, n, size):
        block = np.arange(start, min(start + size, n))
        weights_left = np.tile(distinct.weights, (len(block), 1))
        weights_left[np.arange(len(block)), block] -= lengths[block]
        without.append(_krippendorff_alpha(distinct.with_weights(weights_left)))
    influence = np.concatenate(without) - full_alpha
    return pd.Series(influence[row_of.reshape(-1)], index=pd.Index(arrow_to_pandas(items)))


def _krippendorff_alpha(counts: CategoryCounts) -> Array:
    return np.asarray(MEASURES["krippendorff_alpha"](counts).value)


def tasks(ratings: Ratings, by: Order = "disagreement") -> list[dict[str, str]]:
    """The disputed items, and what an adjudicator must know of each.

    First comes the item with most disagreement, or the one without which Krippendorff's α would
    rise most. The adjudicator writes the `label`. The digest says which version was looked at.
    """
    rows = disputed_rows(ratings).set_index("id")
    influence = alpha_rise_without_each_item(ratings)
    has_influence = influence is not None
    rows["influence"] = influence if has_influence else np.nan
    if by == "influence" and has_influence:
        rows = rows.sort_values("influence", ascending=False, kind="stable")
    items = rows.index.tolist()
    labels_text, texts = labels_with_raters_by_item(ratings, items), texts_of(ratings, items)
    return [
        {
            "item": item,
            "text": texts[item],
            "label": "",
            "said": labels_text[item],
            "share": number_in_table(row["share"]),
            "influence": "" if pd.isna(row["influence"]) else number_in_table(row["influence"]),
            "resolution": str(row.get("resolution", "")),
            "ratings_digest": ratings.digest,
        }
        for item, row in zip(items, rows.to_dict("records"), strict=True)
    ]


def blind_tasks(population: Ratings, items: Sequence[str], draw: str) -> list[dict[str, str]]:
    """Nothing stands there that somebody said of the items. `draw` says which draw they are of."""
    texts, strata = texts_of(population, items), tuple(population.strata)
    rows = population.items([f"{STRATUM}{stratum}" for stratum in strata], names=items).to_pylist()
    of_item = {row["item"]: row for row in rows}
    return [
        {
            **{name: of_item[item][f"{STRATUM}{name}"] for name in strata},
            **{"item": item, "text": text, "rater": "", "label": "", "draw": draw},
        }
        for item, text in texts.items()
    ]


def write_tasks_as_text(
    tasks: Sequence[Task], labels: Sequence[str], form: str, names: Task = AS_IN_TASKS
) -> str:
    """`names` says what `item`, `rater` and `label` are called in the file, so that one set of
    names reads the labels and the population. A column that has the name of one of these is left
    out.
    """
    if form == "csv":
        buffer = io.StringIO()
        rows = [rename_columns(task, names) for task in tasks]
        writer = csv.DictWriter(buffer, list(rows[0]) if rows else COLUMNS, lineterminator="\n")
        writer.writeheader()
        writer.writerows(rows)
        return buffer.getvalue()
    shown_fields = ("text", "label", "rater")
    records: list[dict[str, object]] = []
    for task in tasks:
        about = {name: value for name, value in task.items() if name not in shown_fields}
        records.append(AS_TASK[form](task, rename_columns(about, names), labels))
    if form == "prodigy":
        return "".join(f"{json.dumps(record, ensure_ascii=False)}\n" for record in records)
    return f"{json.dumps(records, ensure_ascii=False, indent=1)}\n"


def formula_items(tasks: Sequence[Task]) -> list[str]:
    """The items of tasks with a cell that a spreadsheet would take for a formula. The file keeps
    such a cell as it is, because what comes back must be what was delivered.
    """
    return [
        task["item"]
        for task in tasks
        if any(task.get(name, "").lstrip().startswith(("=", "+", "-", "@")) for name in FREE_TEXTS)
    ]


def rename_columns(task: Task, names: Task) -> dict[str, str]:
    replaced_names = {*names.values()} - {*names}
    return {
        names.get(name, name): value for name, value in task.items() if name not in replaced_names
    }


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


def answer_about_items(judged_round: JudgedRound) -> Answer:
    places, (names, by_item) = judged_round.most_disputed, judged_round.by_item
    n, unit_word = len(names), "item"
    if not places:
        return Answer(("No item has two different labels.",))
    n_disputed = by_item.weights[[*places.values()]].sum()
    part = in_words(n_disputed / by_item.weights.sum(), PERCENT)
    differ = f"{counted(round(n_disputed), unit_word)} of {round(by_item.weights.sum()):,} ({part})"
    if "weight" in judged_round.ratings.has:
        unit_word = "run"
        differ = f"{differ}, in {counted(len(places), unit_word)} of equal labels of {n:,}"
    largest_shares = np.sort(judged_round.share_of_disagreement_by_item)[::-1]
    cumulative_share = np.cumsum(largest_shares).round(DIGITS)
    half = int(np.searchsorted(cumulative_share, 0.5)) + 1
    concentration = ""
    n_disputed = int(np.count_nonzero(largest_shares.round(DIGITS)))
    if half <= CONCENTRATED_SHARE * n_disputed:
        concentration = f" It is held by few {unit_word}s: discuss these."
    elif half >= SPREAD * n:
        concentration = (
            f" It is spread over the {unit_word}s: look at the guideline and at the raters."
        )
    shown_names = [*places][:MOST_ON_PAGE]
    rows: list[Row] = [
        [
            name,
            _count_text(by_item, places[name]),
            share_cell(judged_round.share_of_disagreement_by_item[places[name]]),
            text,
        ]
        for name, text in zip(shown_names, judged_round.texts_of(shown_names), strict=True)
    ]
    columns = ("item", "labels", "share of disagreement", "text")
    title = "The items with the largest share of all disagreement"
    objects, settings = (
        answer_about_marked_objects(judged_round),
        answer_about_other_settings(judged_round),
    )
    answers = [answer for answer in (objects, settings) if answer]
    item_table = () if objects else (build_grid(title, columns, rows, "items", n=len(places)),)
    return Answer(
        (
            f"Raters differ on {differ}.",
            f"Half of all disagreement comes from {counted(half, unit_word)} "
            f"({in_words(half / n, PERCENT)} of all).{concentration}",
            COMES_BACK,
            *(sentence for answer in answers for sentence in answer.sentences),
        ),
        tuple(figure for answer in answers for figure in answer.figures),
        (*item_table, *(table for answer in answers for table in answer.tables)),
    )


def _count_text(by_item: CategoryCounts | NumbersByRater, index: int) -> str:
    if isinstance(by_item, CategoryCounts):
        counts = by_item.counts[index]
        ordered = sorted(np.flatnonzero(counts), key=lambda k: -counts[k])
        return ", ".join(f"{counts[k]:g} × {by_item.scale.names[k]}" for k in ordered)
    complete_rows = by_item.values[index][~np.isnan(by_item.values[index]).any(-1)]
    return ", ".join("|".join(f"{x:g}" for x in row) for row in complete_rows)
