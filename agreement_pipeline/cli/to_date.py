from collections.abc import Sequence

from agreement_pipeline.cli.options import (
    INPUT,
    command,
    interval_options,
    measure_option,
    output_option,
    store_option,
)
from agreement_pipeline.cli.output import say_aside, say_results
from agreement_pipeline.estimates import applicable_measures, require_defined, survey
from agreement_pipeline.evidence import estimate_rows
from agreement_pipeline.intervals import Inference


@command(
    "agreement-pipeline to-date --store .agreement/store/moderation --measure alpha",
    name="to-date",
)
@store_option(group=INPUT, required=True, help="The folder or the URL of a store.")
@measure_option("all that the level allows")
@interval_options
@output_option
def to_date(
    store: str,
    measure: Sequence[str],
    confidence_level: float,
    n_resamples: int,
    output: str,
) -> int:
    """Print the agreement of all rounds of a store together.

    Each round is counted once. An item of several rounds counts in each of them. Replicates are
    those within a round. Held rounds count too, and are named. Intervals treat all items as one
    sample, so they are too narrow if rounds differ. No policy uses these values.
    """
    from agreement_pipeline.projects import to_date
    from agreement_pipeline.store import Store, of_event
    from agreement_pipeline.text import counted, listed

    inference = Inference(confidence_level, n_resamples)
    inference.require_enough_resamples()
    opened_store = Store(store)
    ratings = to_date(opened_store)
    decision_by_round = {
        entry["round"]: entry["decision"] for entry in of_event("decided", opened_store.history())
    }
    if held_rounds := [name for name, decision in decision_by_round.items() if decision == "held"]:
        say_aside(f"with {counted(len(held_rounds), 'held round')}: {listed(held_rounds)}")
    names = measure or applicable_measures(ratings)
    for name in names:
        require_defined(ratings.scale, name)
    scopes = ("round", "category", "classifier")
    say_results(survey(ratings, names, inference, scopes=scopes), estimate_rows, output)
    return 0
