"""Labels of models in files of their own: a row an item, beside the ratings of people."""

from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path

from agreement_pipeline.errors import RatingsError
from agreement_pipeline.ratings import Limits, category_text
from agreement_pipeline.readers.periods import FIELD_PREFIX
from agreement_pipeline.readers.rows import Rows
from agreement_pipeline.readers.rules import (
    PredictionsFile,
    Rules,
    add_model_rows,
)
from agreement_pipeline.readers.table import open_table
from agreement_pipeline.text import called, counted, listed


def add_predictions(rows: Rows, rules: Rules, limits: Limits) -> Rows:
    """The rows of a round, and a row of each model for each item. An item that a model did not
    label is refused.
    """
    predictions = rules.predictions
    if clashing := sorted({*predictions} & {*rows.distinct_texts("rater")}):
        raise RatingsError(
            f"{rows.source}: found {called('rater', clashing)} with ratings, and predictions under "
            "the same name; expected one of the two. Rename the model of the predictions."
        )
    column_by_model = dict[str, str]()
    with_labels = rows
    for model, predicted in predictions.items():
        labels = _load_predictions(rows, model, predicted, limits)
        column_by_model[model] = Path(predicted.file).name
        column = rows.relation.session.column_sql(f"{FIELD_PREFIX}{column_by_model[model]}")
        with_labels = with_labels.create_view(
            f"SELECT {with_labels}.*, predicted.label AS {column} FROM {with_labels} LEFT JOIN "
            f"(SELECT {labels.text_sql('item')} AS of_item, {labels.text_sql('label')} AS label "
            f"FROM {labels}) AS predicted ON {with_labels.text_sql('item')} = predicted.of_item",
            labels.relation,
        )
    with_rows = add_model_rows(with_labels, column_by_model, rules).with_computed(
        {}, _columns_with_predictions(rows)
    )
    _require_all_items(with_rows, predictions)
    models = tuple(sorted({*rows.classifiers, *predictions}))
    return replace(with_rows, classifiers=models)


def _columns_with_predictions(rows: Rows) -> list[str]:
    """The columns of rows to which those of models were added."""
    return [*rows.names, *({"column"} - {*rows.names})]


def _load_predictions(rows: Rows, model: str, predicted: PredictionsFile, limits: Limits) -> Rows:
    path = Path(predicted.file)
    if not path.is_file():
        raise RatingsError(
            f"{path}: found no file; expected the predictions of {model!r}. Put it there, or "
            "correct the path."
        )
    table = open_table(path, limits)
    names = {"item": predicted.item, "label": predicted.label}
    if absent := [name for name in names.values() if name not in table.header]:
        raise RatingsError(
            f"{path.name}: found no {called('column', absent)} among {listed(table.header, 12)}; "
            f"expected the item and the label of {model!r}. Name the columns of its predictions."
        )
    labels = replace(table.load_rows(rows.relation.session, names).read_through(), columns=names)
    item = labels.text_sql("item")
    repeated_items = f"SELECT {item} FROM {labels} GROUP BY {item} HAVING COUNT(*) > 1"
    test = f"{item} IN ({repeated_items})"
    if labels.has_row(test):
        items = [category_text(value) for value in dict.fromkeys(labels.values_where(test, "item"))]
        raise RatingsError(
            f"{labels.describe_place(test, 'item')}: found several predictions of {model!r} for "
            f"{called('item', items)}; expected one for each item. Keep one of them."
        )
    return labels


def _require_all_items(rows: Rows, predictions: Mapping[str, PredictionsFile]) -> None:
    """Refuse items of the round that a model did not label."""
    item, rater = rows.text_sql("item"), rows.text_sql("rater")
    for model, predicted in predictions.items():
        labelled_items = f"SELECT {item} FROM {rows} WHERE {rater} = {rows.value_sql(model)}"
        missing = rows.relation.query_column(
            f"SELECT DISTINCT {item} AS name FROM {rows} WHERE {item} IS NOT NULL "
            f"AND {item} NOT IN ({labelled_items} AND {item} IS NOT NULL) ORDER BY name"
        )
        if missing:
            raise RatingsError(
                f"{Path(predicted.file).name}: found no label of {model!r} for "
                f"{counted(len(missing), 'item')} of {rows.source}, {listed(missing)}; expected "
                "one for every item. Add them; a model that abstains needs a category for it."
            )
