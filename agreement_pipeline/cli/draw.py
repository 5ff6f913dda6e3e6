from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click
from click.core import ParameterSource

from agreement_pipeline.cli.options import (
    COLUMNS,
    INPUT,
    SOURCE,
    TABLES_HELP,
    ReadBy,
    command,
    find_only_store,
    number_of,
    option,
    population_options,
    read_population,
    table_options,
    tasks_options,
)
from agreement_pipeline.cli.output import say_aside, write_tasks
from agreement_pipeline.evidence import FORMS
from agreement_pipeline.text import joined

if TYPE_CHECKING:
    from agreement_pipeline.models import Design
    from agreement_pipeline.store import Store

OPTIONS_OF_ROUNDS = ("relabelled", "second_panel", "n", "store", "form", "output")


def _label_and_share(text: str) -> tuple[str, float]:
    label, _, share = text.rpartition("=")
    try:
        probability = float(share)
    except ValueError:
        probability = -1.0
    if not label or not 0 <= probability <= 1:
        raise ValueError(f"found {text}; expected a label and a share, as offensive=0.7.")
    return label, probability


def _refuse_other_options() -> None:
    """The items, texts and categories of a round are in the store."""
    context = click.get_current_context()
    names = [
        parameter.opts[0]
        for parameter in context.command.params
        if context.get_parameter_source(str(parameter.name)) is ParameterSource.COMMANDLINE
        and parameter.name not in OPTIONS_OF_ROUNDS
    ]
    if names:
        raise click.UsageError(
            f"found {joined(names)} with a round of the store; expected none of these, since the "
            "store has its items, texts and categories. Leave them out."
        )


def _draw_of_round(
    store: "Store",
    relabelled: str | None,
    second_panel: str | None,
    n_items: int,
    form: str,
    output: Path | None,
) -> int:
    from agreement_pipeline.evidence import blind_tasks, write_tasks_as_text
    from agreement_pipeline.policy import RoundRatings
    from agreement_pipeline.release import sample_name
    from agreement_pipeline.store import draw_items

    round_name = relabelled or second_panel or ""
    with store.reading():
        version, ratings = store.present(round_name), store.ratings(round_name)
        items = draw_items(store, version, ratings, n_items)
    if relabelled:
        name = sample_name(RoundRatings(round_name, version.ratings_digest))
        step = f"Let the same raters label them, and deliver them as {name}."
    else:
        name = f"{round_name}-second-panel-{version.ratings_digest[:8]}"
        step = (
            "Let other raters label them: one for a rating more, or as many as label an item now "
            f"for a second panel. Deliver {round_name} again with their labels."
        )
    tasks = blind_tasks(ratings, items, name)
    write_tasks(tasks, write_tasks_as_text(tasks, ratings.scale.names, form), form, output)
    of_round = f"{len(items):,} of the items of {round_name} ({version.ratings_digest[:12]})"
    say_aside(f"drawn: {of_round}. {step}")
    return 0


@command(
    "agreement-pipeline draw predictions.csv --n 200 --output tasks.csv",
    "agreement-pipeline draw predictions.csv --predicted label --n 200 --stratified",
    "agreement-pipeline draw predictions.csv --cluster thread --n 40 --clusters",
    "agreement-pipeline draw --relabelled 2026-W01 --n 200 --output tasks.csv",
    "agreement-pipeline draw --second-panel 2026-W01 --n 300 --output tasks.csv",
)
@click.argument(
    "population",
    type=SOURCE,
    required=False,
    help=f"{TABLES_HELP} None with --relabelled or --second-panel.",
)
@option(
    "--relabelled",
    group=INPUT,
    metavar="ROUND",
    help="Draw from a round of the store, whose raters labelled it again after it was held. They "
    "label the drawn items once more, without seeing earlier labels.",
)
@option(
    "--second-panel",
    group=INPUT,
    metavar="ROUND",
    help="Draw from a round of the store. Other raters label the drawn items too, so that two "
    "panels can be compared.",
)
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
    population: str | Path | None,
    relabelled: str | None,
    second_panel: str | None,
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

    The draw is recorded in the log before anybody labels the items, and nobody chooses the seed.
    The tasks do not show the classifier's labels. A population has one draw: the same command
    writes its tasks again, and another draw needs --reason.

    To draw from a round of the store, no classifier is needed. The sample follows from the labels
    of the round and the store, and a larger --n extends it.
    """
    from agreement_pipeline.evidence import blind_tasks, write_tasks_as_text
    from agreement_pipeline.models import draw as drawn_from
    from agreement_pipeline.models import drawn_before
    from agreement_pipeline.store import Store

    n_sources = 3 - (population, relabelled, second_panel).count(None)
    if n_sources != 1:
        raise click.UsageError(
            f"found {n_sources} of a population, --relabelled and --second-panel; expected one of "
            "them. Say what to draw from."
        )
    if population is None:
        _refuse_other_options()
        place = Store(store or find_only_store())
        return _draw_of_round(place, relabelled, second_panel, n, form, output)
    if stratified and clusters:
        raise click.UsageError("found --stratified and --clusters; expected one of them or none.")
    items = read_population(population, reading, predicted)
    opened_store, population_name = Store(store or find_only_store()), name or Path(population).stem
    design: Design = "stratified" if stratified else "clustered" if clusters else "simple"
    same_draw = (
        None if reason.strip() else drawn_before(opened_store, population_name, items, n, design)
    )
    draw_made = same_draw or drawn_from(
        opened_store, population_name, items, n, design=design, right=dict(right), reason=reason
    )
    tasks = blind_tasks(items, draw_made.items, draw_made.seed)
    names = {name: reading[name] for name in ("item", "rater", "label")}
    text = write_tasks_as_text(tasks, items.scale.names, form, names)
    write_tasks(tasks, text, form, output)
    say_aside(f"drawn{' before' if same_draw else ''}: {draw_made.in_words}")
    return 0
