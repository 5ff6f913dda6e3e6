from pathlib import Path
from typing import Any, get_args

import click

from agreement_pipeline.cli.options import (
    FILE,
    OF_TABLES,
    OUTPUT,
    POLICY,
    REPETITIONS,
    SHARE,
    SHARES,
    TABLE_HELP,
    OneOf,
    ReadBy,
    command,
    given_options,
    number_of,
    option,
    output_option,
    policy_option,
    read_table,
    table_options,
)
from agreement_pipeline.cli.output import say_aside, say_results
from agreement_pipeline.errors import PolicyError
from agreement_pipeline.evidence import build_plan_figure, plan_rows
from agreement_pipeline.policy import (
    DEFAULT_EXPECTED_VALUE,
    DEFAULT_LABELS_PER_ITEM,
    DEFAULT_PREVALENCE,
    DEFAULT_PROBABILITY,
    N_ROUNDS,
    Policy,
    advise_on_label,
    describe_drawn_part_needed,
    estimate_chance,
    load_policy,
    warn_of_unplanned_look,
)
from agreement_pipeline.policy import plan as plan_items
from agreement_pipeline.ratings import Ratings, TrainingLabel, Trains, default_label
from agreement_pipeline.report import svg_file
from agreement_pipeline.text import listed

ASSUMED, SIMULATION = "Without a table", "Simulation"
WRONG = 0.02


AGREEMENT = number_of("value", "at most 1, which is perfect agreement", lambda value: value <= 1)
SEVERAL = number_of(
    "n",
    "a whole number from 2, since agreement compares labels",
    lambda n: n >= 2 and n.is_integer(),
    int,
)


def _parse_image_path(text: str) -> Path:
    path = Path(text)
    if path.suffix != ".svg" or not path.parent.is_dir():
        raise ValueError(f"found {text}; expected a name ending in .svg, in an existing folder.")
    return path


def _draw_sentence(
    policy: Policy,
    wrong: float,
    probability: float,
    earlier: Ratings | None,
    **expected: Any,
) -> str:
    from agreement_pipeline.models import items_to_draw

    if policy.silver is None:
        return ""
    max_wrong, raters = policy.silver.most_wrong, policy.silver.majority_of
    level = policy.confidence_level
    n = items_to_draw(max_wrong, wrong, probability=probability, confidence_level=level)
    draw = f"draw {n:,} items" if n else "no draw of 10,000 items or fewer is enough"
    sentence = (
        f"of a round that a classifier labelled: {draw}, if {wrong:.2%} of its labels are wrong "
        f"and the limit of {max_wrong:.2%} is to be met with {probability:.0%}; {raters} people "
        "label each item"
    )
    if n is None or policy.looks is not None:
        return sentence
    chance = estimate_chance(policy, n, earlier, labels_an_item=raters, **expected)
    agreement = "is over the cut-off" if earlier is not None else f"is {expected['expected']:g}"
    return (
        f"{sentence}. If their agreement {agreement}, they meet the rules on agreement there with "
        f"{chance:.0%}, and the round meets both with about {chance * probability:.0%}"
    )


@command(
    "agreement-pipeline plan --policy standard --expected 0.85",
    "agreement-pipeline plan earlier.csv --policy standard --plot plan.svg",
)
@click.argument(
    "file", type=FILE, required=False, help=f"An earlier round to plan from. {TABLE_HELP}"
)
@table_options
@policy_option
@option(
    "--expected",
    group=ASSUMED,
    type=AGREEMENT,
    default=DEFAULT_EXPECTED_VALUE,
    help="The value expected of each measure.",
)
@option(
    "--prevalence",
    group=ASSUMED,
    type=SHARES,
    default=",".join(map(str, DEFAULT_PREVALENCE)),
    help="The share of each category.",
)
@option(
    "--labels-an-item",
    group=ASSUMED,
    type=SEVERAL,
    multiple=True,
    default=DEFAULT_LABELS_PER_ITEM,
    help="Raters of an item, or times a rater meets it. Repeat for more.",
)
@option(
    "--probability",
    group=SIMULATION,
    type=SHARE,
    default=DEFAULT_PROBABILITY,
    help="How often a round is to decide.",
)
@option(
    "--rounds",
    group=SIMULATION,
    type=REPETITIONS,
    default=N_ROUNDS,
    help="Rounds simulated for each number of items.",
)
@option(
    "--wrong",
    group=SIMULATION,
    type=SHARE,
    default=WRONG,
    help="The share of a classifier's labels that is wrong, if the policy has a limit of it.",
)
@option(
    "--trains",
    group=POLICY,
    type=OneOf(get_args(TrainingLabel)),
    metavar="LABEL",
    show_default="plurality, or mean of numbers",
    help="The label of which rules with the scope label speak. "
    f"{', '.join(get_args(TrainingLabel))}.",
)
@output_option
@option(
    "--plot",
    group=OUTPUT,
    type=ReadBy("file", _parse_image_path, "file"),
    help="Write the curves as an SVG image.",
)
@click.pass_context
def plan(
    ctx: click.Context,
    /,
    file: Path | None,
    policy: Path,
    probability: float,
    rounds: int,
    wrong: float,
    trains: TrainingLabel | None,
    output: str,
    plot: Path | None,
    **options: Any,
) -> int:
    """Print how many items a round needs, so that the rules of a policy can decide.

    The plan is made from an earlier round, or else from assumptions about the next one. A rule on
    the training label has a plan for each number of raters, and a line says what would help. If a
    classifier labels the rounds, a line says how many items to draw.
    """
    typed_options = given_options(ctx, *([ASSUMED] if file else OF_TABLES))
    if typed_options and file:
        raise PolicyError(
            f"{file}: found a table with {listed(typed_options)}; expected a table, or what to "
            "assume without one. Leave one of them out."
        )
    if typed_options:
        raise PolicyError(
            f"plan without a table: found {listed(typed_options)}; expected a table to read with "
            "it, since a plan without one takes categories without order, one for each share of "
            "--prevalence. Name the file of an earlier round, or leave it out."
        )
    judged_by = load_policy(policy)
    earlier = read_table(file, options) if file else None
    label = Trains(trains) if trains else None
    plans = plan_items(
        judged_by,
        earlier,
        **{name: options[name] for name in ("expected", "prevalence", "labels_an_item")},
        probability=probability,
        n_rounds=rounds,
        where=str(file),
        trains=label,
    )
    say_results(plans, plan_rows, output)
    for rule in judged_by.rules:
        if earlier is not None and rule.scope == "label":
            say_aside(advise_on_label(earlier, rule.reliable, label))
            items_by_ratings = {
                int(each.labels_an_item): each.n_items
                for each in plans
                if each.measure == rule.measure and each.n_items is not None
            }
            trained = label.label if label else default_label(earlier.scale)
            if sentence := describe_drawn_part_needed(trained, items_by_ratings):
                say_aside(f"{sentence} Draw them: agreement-pipeline draw --second-panel ROUND.")
    if cost := warn_of_unplanned_look(judged_by):
        say_aside(cost)
    if silver := _draw_sentence(
        judged_by,
        wrong,
        probability,
        earlier,
        expected=options["expected"],
        prevalence=options["prevalence"],
    ):
        say_aside(silver)
    figure = build_plan_figure(plans) if plot else None
    if plot and figure:
        plot.write_text(svg_file(figure), encoding="utf-8")
    elif plot:
        say_aside(f"{plot}: not written, since no rounds were simulated")
    return 0
