"""What is new in a delivery that holds earlier items too, in words that a log and a page share."""

from agreement_pipeline.estimates import ROUND, value_by_scope
from agreement_pipeline.policy.policy import Policy
from agreement_pipeline.ratings import FIRST_DELIVERED, Ratings
from agreement_pipeline.text import counted, in_words, joined

DEFAULT_MEASURE = "krippendorff_alpha"
MAX_ROUNDS_NAMED = 5


def find_headline_measure(policy: Policy) -> str | None:
    of_rounds = (
        rule.measure for rule in policy.rules if rule.effect == "hold" and rule.scope == "round"
    )
    return next(of_rounds, None)


def describe_new_items(ratings: Ratings, policy: Policy) -> str:
    """How many items came before, and how far raters agree on them and on the new ones.

    Empty if none came before, or if nobody looked.
    """
    if (origin := ratings.origin) is None:
        return ""
    sentences = []
    strata = ratings.strata.get(FIRST_DELIVERED)
    if n_elsewhere := sum(origin.items_before.values()):
        rounds = joined([*origin.items_before], MAX_ROUNDS_NAMED)
        if not strata:
            n_items = ratings.n_items
            verb = "is new or has" if n_items == 1 else "are new or have"
            sentences.append(f"{counted(n_items, 'item')} {verb} new ratings.")
        sentences.append(
            f"{counted(n_elsewhere, 'item')} more came before without a new rating since, and "
            f"{'counts' if n_elsewhere == 1 else 'count'} with {rounds}."
        )
    if strata:
        measure = find_headline_measure(policy) or DEFAULT_MEASURE
        earlier_deliveries = [name for name in strata if name != origin.delivery]
        new_deliveries = [name for name in strata if name == origin.delivery]
        parts = [
            (earlier_deliveries, "came before"),
            (new_deliveries, "are new" if earlier_deliveries else "are in it"),
        ]
        part_phrases = [
            _describe_agreement_on_part(
                ratings.select_strata(FIRST_DELIVERED, deliveries), part_phrase, measure
            )
            for deliveries, part_phrase in parts
            if deliveries
        ]
        sentences.insert(0, f"{'; '.join(part_phrases)}.")
    return " ".join(sentences)


def _describe_agreement_on_part(part: Ratings, part_phrase: str, measure: str) -> str:
    value = value_by_scope(part, measure, "round").get(ROUND)
    agreement_phrase = "" if value is None else f", with {measure} {in_words(value)}"
    return f"{counted(part.n_items, 'item')} {part_phrase}{agreement_phrase}"
