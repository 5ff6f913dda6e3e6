from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from agreement_pipeline.cli.options import (
    COLUMNS,
    INPUT,
    SOURCE,
    TABLES_HELP,
    ReadBy,
    command,
    number_of,
    only_store,
    option,
    population_options,
    read_population,
    table_options,
    tasks_options,
)
from agreement_pipeline.cli.output import say_aside, say_or_write
from agreement_pipeline.evidence import FORMS

if TYPE_CHECKING:
    from agreement_pipeline.models import Design


def _label_and_share(text: str) -> tuple[str, float]:
    label, _, share = text.rpartition("=")
    try:
        found = float(share)
    except ValueError:
        found = -1.0
    if not label or not 0 <= found <= 1:
        raise ValueError(f"found {text}; expected a label and a share, as offensive=0.7.")
    return label, found


@command(
    "agreement-pipeline draw predictions.csv --n 200 --output tasks.csv",
    "agreement-pipeline draw predictions.csv --predicted label --n 200 --stratified",
    "agreement-pipeline draw predictions.csv --cluster thread --n 40 --clusters",
)
@click.argument("population", type=SOURCE, help=TABLES_HELP)
@option(
    "--n",
    group=INPUT,
    type=number_of("n", "a whole number", float.is_integer, int),
    required=True,
    help="How many items to draw. With --clusters, how many of these.",
)
@option(
    "--name",
    group=INPUT,
    metavar="NAME",
    show_default="of the file",
    help="What the population is called in the log.",
)
@option(
    "--stratified",
    group=INPUT,
    is_flag=True,
    help="Draw from each of the classifier's labels, more where it may err more.",
)
@option(
    "--clusters",
    group=INPUT,
    is_flag=True,
    help="Draw whole clusters, as threads or documents, whose column --cluster names.",
)
@option(
    "--right",
    group=INPUT,
    type=ReadBy("label=share", _label_and_share),
    multiple=True,
    help="With --stratified: how often you expect this label to be right. 0.9 where nothing is "
    "said. Repeat for more.",
)
@option(
    "--reason",
    group=INPUT,
    metavar="TEXT",
    default="",
    show_default="none",
    help="Why there must be another draw of a population.",
)
@option(
    "--text",
    group=COLUMNS,
    metavar="NAME",
    help="The column, or the field of an export, with what the panel reads. A column 'text' is "
    "found by itself.",
)
@population_options
@table_options
@tasks_options(FORMS)
def draw(
    population: str | Path,
    n: int,
    name: str | None,
    stratified: bool,
    clusters: bool,
    right: Sequence[tuple[str, float]],
    reason: str,
    predicted: str | None,
    store: str | None,
    form: str,
    output: Path | None,
    **reading: Any,
) -> int:
    """Draw items at random from those that a classifier labelled, as tasks for a panel.

    The draw is in the log before anybody labels the items, and nobody chooses the seed. The tasks
    do not say what the classifier said. A population has one draw. The same command writes
    its tasks again, and another draw needs --reason.
    """
    from agreement_pipeline.evidence import blind_tasks, written_tasks
    from agreement_pipeline.models import draw as drawn_from
    from agreement_pipeline.models import drawn_before
    from agreement_pipeline.store import Store

    if stratified and clusters:
        raise click.UsageError("found --stratified and --clusters; expected one of them or none.")
    items = read_population(population, reading, predicted)
    kept, called = Store(store or only_store()), name or Path(population).stem
    design: Design = "stratified" if stratified else "clustered" if clusters else "simple"
    before = None if reason.strip() else drawn_before(kept, called, items, n, design)
    found = before or drawn_from(
        kept, called, items, n, design=design, right=dict(right), reason=reason
    )
    tasks = blind_tasks(items, found.items, found.seed)
    names = {name: reading[name] for name in ("item", "rater", "label")}
    text = written_tasks(tasks, items.scale.names, form, names)
    say_or_write(text, output)
    say_aside(f"drawn{' before' if before else ''}: {found.in_words}")
    return 0
