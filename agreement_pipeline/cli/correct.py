from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from agreement_pipeline.cli.options import (
    INTERVALS,
    MEASURES,
    SOURCE,
    TABLES_HELP,
    command,
    confidence_option,
    find_only_store,
    number_of,
    on_nominal_level,
    option,
    output_option,
    population_options,
    read_population,
    read_table,
    say_refused,
    table_options,
)
from agreement_pipeline.cli.output import as_json, say, say_table
from agreement_pipeline.errors import DrawError
from agreement_pipeline.readers import Columns

if TYPE_CHECKING:
    from agreement_pipeline.models import Corrected


@command(
    "agreement-pipeline correct predictions.csv labels.csv --store .agreement/store/moderation",
    "agreement-pipeline correct predictions.csv labels.csv --majority-of 3",
)
@click.argument("population", type=SOURCE, help=TABLES_HELP)
@click.argument("labels", type=SOURCE, help="A table with the panel's labels of the drawn items.")
@population_options
@table_options
@option(
    "--majority-of",
    group=MEASURES,
    type=number_of("n", "an odd number", lambda n: n > 0 and n % 2 == 1, int),
    show_default="pairs of an item and a rater",
    help="The share of items to which most of so many raters would give the category.",
)
@option(
    "--raters-at-large",
    group=INTERVALS,
    is_flag=True,
    help="The intervals are about raters like these. By default, they are about these.",
)
@confidence_option
@output_option
def correct(
    population: str | Path,
    labels: str | Path,
    predicted: str | None,
    store: str | None,
    majority_of: int | None,
    raters_at_large: bool,
    confidence_level: float,
    output: str,
    **reading: Any,
) -> int:
    """Print the share of each category in a population, corrected for a classifier's errors.

    The last draw from the population in the log says which items were to be labelled. The exit
    status is 1 if the labels are of other items, or if there is no draw. --where and
    --cluster are for the population alone. All other options say how to read both tables; the tasks
    of `draw` have the names that they need.
    """
    from agreement_pipeline.models import correct as corrected
    from agreement_pipeline.models import draw_of
    from agreement_pipeline.report import printable
    from agreement_pipeline.store import Store

    items = read_population(population, reading, predicted)
    classifier_names = set(items.classifiers)
    of_panel = {
        "classifiers": lambda raters, _: classifier_names & {*raters},
        "usable": False,
        "where": (),
    }
    panel_reading = {**on_nominal_level(reading), **of_panel, "cluster": Columns.cluster}
    panel = read_table(labels, panel_reading)
    try:
        opened_store = Store(store or find_only_store())
        draw = draw_of(opened_store, items)
        draw.refuse_others(panel, items)
        draw.compare_contents(items, opened_store)
    except DrawError as error:
        return say_refused(error, output)
    corrected_values = corrected(
        panel,
        items,
        design=draw.design,
        majority_of=majority_of,
        raters="raters at large" if raters_at_large else "these raters",
        confidence_level=confidence_level,
    )
    if output == "json":
        numbers = [corrected_value.to_mapping() for corrected_value in corrected_values]
        say(as_json({"draw": draw.to_mapping(), "numbers": numbers}))
        return 0
    say_table(_corrected_rows(corrected_values))
    corrected_value = corrected_values[0]
    target = (
        f"{corrected_value.target} of {corrected_value.raters}, "
        f"labelled by {corrected_value.classifier}"
    )
    say(printable(f"target: {target}; draw: {draw.in_words}"))
    return 0


def _corrected_rows(numbers: Sequence["Corrected"]) -> list[dict[str, str]]:
    from agreement_pipeline.evidence import interval_text
    from agreement_pipeline.text import number_in_table

    return [
        {
            "of": "the mean" if corrected.category is None else corrected.category,
            "corrected": number_in_table(corrected.value),
            "interval": interval_text(corrected.interval),
            "drawn items alone": number_in_table(corrected.classical),
            "their interval": interval_text(corrected.classical_interval),
            "classifier": number_in_table(corrected.uncorrected),
            "labelled": f"{corrected.n_labels} of {corrected.n_items}",
            "tells as much as": number_in_table(corrected.effective_labels, ".0f"),
            "note": corrected.undefined or corrected.why_not_effective or "",
        }
        for corrected in numbers
    ]
